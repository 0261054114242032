//! The switch: which kernels run an additive transform.

use lanework_arch::Choice;
use lanework_field::gf2::bytes::PortableBytes;

use super::body::{Body, Transform};
#[allow(unused_imports, reason = "which of them depends on the target")]
use super::form::Tower;

/// The kernels of `choice` for blocks below 2^`log_blocks`.
pub(super) fn kernels(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    #[cfg(target_arch = "x86_64")]
    {
        use lanework_arch::{Avx2, Avx2Gfni, Avx512, Avx512Gfni};
        use lanework_field::gf2::bytes::{Avx2Bytes, Avx2Tables, Avx512Bytes, Avx512Tables};
        if let Some(token) = Avx512Gfni::new(choice) {
            return Box::new(Body::<Tower<Avx512Bytes>>::new("avx512-gfni", token, log_blocks));
        }
        if let Some(token) = Avx2Gfni::new(choice) {
            return Box::new(Body::<Tower<Avx2Bytes>>::new("avx2-gfni", token, log_blocks));
        }
        if let Some(token) = Avx512::new(choice) {
            return Box::new(Body::<Tower<Avx512Tables>>::new("avx512-tables", token, log_blocks));
        }
        if let Some(token) = Avx2::new(choice) {
            return Box::new(Body::<Tower<Avx2Tables>>::new("avx2-tables", token, log_blocks));
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use lanework_arch::Neon;
        use lanework_field::gf2::bytes::NeonTables;
        if let Some(token) = Neon::new(choice) {
            return Box::new(Body::<Tower<NeonTables>>::new("neon-tables", token, log_blocks));
        }
    }
    let _ = choice;
    let token = lanework_arch::Portable;
    Box::new(Body::<Tower<PortableBytes>>::new("portable-bytes", token, log_blocks))
}
