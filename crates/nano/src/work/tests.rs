//! The kernels that only other targets use, against the definition. Those of this machine are tested from
//! outside.

use lanework_arch::Portable;
use lanework_testkit::cases::Rng;

use super::body;
use super::portable::ScalarSearch;
use super::precomputed::Precomputed;
use super::scalar::validate;
use super::table::Backend;

#[test]
fn the_generic_body_equals_the_definition() {
    let mut rng = Rng::new(1);
    for _ in 0..1000 {
        let root = std::array::from_fn(|_| rng.next_u64() as u8);
        let nonces = [rng.next_u64(), rng.next_u64()];
        let expected = nonces.map(|nonce| validate(&root, nonce));
        let constants = &Precomputed::new(&root).constants;
        assert_eq!(body::values_2(Portable, constants, nonces), expected);

        let mut value = [0];
        ScalarSearch.values(constants, nonces[0], &mut value);
        assert_eq!(value[0], expected[0]);
        let scan = |count, threshold| ScalarSearch.scan(constants, nonces[0], count, threshold);
        assert_eq!(scan(0, 0), None);
        assert_eq!(scan(1, value[0]), Some(0));
        assert_eq!(scan(1, value[0] + 1), None);
    }
}
