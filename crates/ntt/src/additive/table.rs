//! The switch: which kernels run an additive transform.

use lanework_arch::{Choice, Isa};

use super::body::{Body, Transform};
#[allow(unused_imports, reason = "which of them depends on the target")]
use super::form::Tower;

/// The kernels of `choice` for blocks below 2^`log_blocks`.
pub(super) fn kernels(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    #[cfg(target_arch = "x86_64")]
    {
        use lanework_arch::Avx512Gfni;
        use lanework_field::gf2::bytes::Avx512Bytes;
        if let Some(token) = Avx512Gfni::new(choice) {
            return Box::new(Body::<Tower<Avx512Bytes>>::new("avx512-gfni", token, log_blocks));
        }
    }
    let _ = (choice, Isa::Portable);
    unimplemented!()
}
