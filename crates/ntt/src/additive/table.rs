//! The switch: which kernels run an additive transform.

use lanework_arch::Choice;
use lanework_field::gf2::clmul::{Clmul, Generic, dispatch};

use super::body::{Body, Transform};
#[allow(unused_imports, reason = "which of them depends on the target")]
use super::form::{Polynomial, Tower};

/// The kernels of `choice` for blocks below 2^`log_blocks`.
pub(super) fn kernels(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    #[cfg(target_arch = "x86_64")]
    {
        use lanework_arch::Avx512Gfni;
        use lanework_field::gf2::bytes::Avx512Bytes;
        if let Some(token) = Avx512Gfni::new(choice) {
            return Box::new(Body::<Tower<Avx512Bytes>>::new(
                "avx512-gfni",
                token,
                log_blocks,
            ));
        }
    }
    polynomial(choice, log_blocks)
}

/// The kernels of `choice` that multiply carry-less.
pub(super) fn polynomial(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    struct Make(u32);

    impl Generic for Make {
        type Output = Box<dyn Transform>;

        #[inline(always)]
        fn run<W: Clmul>(self, token: W::Token) -> Self::Output {
            Box::new(Body::<Polynomial<W>>::new(W::NAME, token, self.0))
        }
    }

    dispatch(choice, Make(log_blocks))
}
