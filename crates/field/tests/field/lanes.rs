//! Every vector type against the scalar field.

use lanework_arch::{Choice, Portable};
use lanework_field::koala::lanes::{Lanes, PortableLanes};
use lanework_testkit::{isas, koala_lanes_suite};
#[cfg(target_arch = "aarch64")]
use {lanework_arch::Neon, lanework_field::koala::lanes::NeonLanes};
#[cfg(target_arch = "x86_64")]
use {
    lanework_arch::{Avx2, Avx512},
    lanework_field::koala::lanes::{Avx2Lanes, Avx512Lanes},
};

koala_lanes_suite!(portable, PortableLanes, Some(Portable));
#[cfg(target_arch = "x86_64")]
koala_lanes_suite!(avx2, Avx2Lanes, Avx2::new(Choice::best()));
#[cfg(target_arch = "x86_64")]
koala_lanes_suite!(avx512, Avx512Lanes, Avx512::new(Choice::best()));
#[cfg(target_arch = "aarch64")]
koala_lanes_suite!(neon, NeonLanes, Neon::new(Choice::best()));

#[test]
fn every_instruction_set_of_this_machine_has_a_suite() {
    let mut suites = vec![PortableLanes::ISA];
    #[cfg(target_arch = "x86_64")]
    suites.extend([Avx2Lanes::ISA, Avx512Lanes::ISA]);
    #[cfg(target_arch = "aarch64")]
    suites.push(NeonLanes::ISA);

    let available: Vec<_> = Choice::available().into_iter().map(Choice::isa).collect();
    assert!(
        available.iter().all(|isa| suites.contains(isa)),
        "{available:?} {suites:?}"
    );
    let names: Vec<_> = available
        .into_iter()
        .map(lanework_arch::Isa::name)
        .collect();
    isas::report("field", &names);
}
