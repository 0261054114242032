//! Every kernel against the definition.

use lanework_testkit::cases::Rng;

use super::{Kernel, Precomputed, validate};

#[test]
fn every_lane_of_every_kernel_equals_the_definition() {
    let mut rng = Rng::new(1);
    for _ in 0..200 {
        let root = std::array::from_fn(|_| rng.next_u64() as u8);
        let start = rng.next_u64();
        let precomputed = Precomputed::new(&root);
        for kernel in Kernel::available() {
            let mut values = [0; 77];
            kernel.difficulties(&precomputed, start, &mut values);
            for (i, value) in (0..).zip(values) {
                assert_eq!(
                    value,
                    validate(&root, start.wrapping_add(i)),
                    "{kernel} {i}"
                );
            }
        }
    }
}
