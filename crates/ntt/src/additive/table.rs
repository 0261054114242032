//! The switch: which kernels run an additive transform.

use lanework_arch::Choice;
use lanework_field::gf2::bytes::{self, TowerWords};
use lanework_field::gf2::clmul::{self, Clmul};

use super::body::{Body, TowerTransform, Transform};
use super::form::{Polynomial, Tower};

/// The kernels of `choice` on words of the tower, for blocks below 2^`log_blocks`.
pub(super) fn tower(choice: Choice, log_blocks: u32) -> Box<dyn TowerTransform> {
    struct Make(u32);

    impl bytes::Generic for Make {
        type Output = Box<dyn TowerTransform>;

        #[inline(always)]
        fn run<W: TowerWords>(self, token: W::Token) -> Self::Output {
            Box::new(Body::<Tower<W>>::new(W::NAME, token, self.0))
        }
    }

    bytes::dispatch(choice, Make(log_blocks))
}

/// The kernels of `choice` on words of the polynomial representation, for blocks below 2^`log_blocks`.
pub(super) fn polynomial(choice: Choice, log_blocks: u32) -> Box<dyn Transform> {
    struct Make(u32);

    impl clmul::Generic for Make {
        type Output = Box<dyn Transform>;

        #[inline(always)]
        fn run<W: Clmul>(self, token: W::Token) -> Self::Output {
            Box::new(Body::<Polynomial<W>>::new(W::NAME, token, self.0))
        }
    }

    clmul::dispatch(choice, Make(log_blocks))
}
