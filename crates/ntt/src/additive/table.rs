//! The switch: which kernels run an additive transform.

use lanework_arch::Choice;
use lanework_field::gf2::bytes;
use lanework_field::gf2::clmul::{Clmul, Generic, dispatch};

use super::body::{Body, Transform};
use super::form::{Polynomial, Tower};

/// The kernels of `choice` for blocks below 2^`log_blocks`.
pub(super) fn kernels(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    struct Make(u32);

    impl bytes::Generic for Make {
        type Output = Box<dyn Transform>;

        #[inline(always)]
        fn run<W: bytes::TowerWords>(self, token: W::Token) -> Self::Output {
            Box::new(Body::<Tower<W>>::new(W::NAME, token, self.0))
        }
    }

    bytes::dispatch(choice, Make(log_blocks))
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
