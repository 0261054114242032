use std::fmt;
use std::sync::Arc;

use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::TWO_ADICITY;

use super::bit_reverse::bit_reverse;
use super::table::{Sums, Transformation, transformation};
use crate::Error;

/// From coefficients to values, or back.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Coefficients to values.
    Forward,
    /// Values to coefficients.
    Inverse,
}

/// The order of the elements of a column.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Element i is at index i.
    Natural,
    /// Element i is at the index with the bits of i reversed.
    BitReversed,
}

/// The number-theoretic transform of one length, on a coset of the subgroup of that order.
///
/// It relates the coefficients `c_j` of a polynomial of degree below n with its values
/// f(`shift` w^i), where w is the root of unity of order n.
///
/// ```
/// use lanework_arch::{Choice, cpu::Caches};
/// use lanework_field::KoalaBear;
/// use lanework_ntt::{Direction, Order, Transform};
///
/// // 3 + 2 x at 5 and -5.
/// let shift = KoalaBear::new(5);
/// let plan = Transform::new(1, Direction::Forward, shift, Choice::best(), Caches::detect())?;
/// let mut column = [3, 2].map(KoalaBear::new);
/// let mut scratch = vec![KoalaBear::ZERO; plan.scratch_len()];
/// plan.apply(&mut column, Order::Natural, Order::Natural, &mut scratch);
/// assert_eq!(column, [KoalaBear::new(13), -KoalaBear::new(7)]);
/// # Ok::<(), lanework_ntt::Error>(())
/// ```
#[derive(Clone)]
pub struct Transform {
    log_len: u32,
    direction: Direction,
    /// What coefficient j of an inverse transform is multiplied by, to the power j.
    unshift: Option<KoalaBear>,
    kernel: Arc<dyn Transformation>,
}

impl Transform {
    /// Plans the transform of 2^`log_len` elements on `shift` H, with the instructions of `choice`
    /// and passes as large as `caches` allow.
    ///
    /// # Errors
    /// [`Error::NoSubgroup`] if `log_len` is above 24, [`Error::ZeroShift`].
    pub fn new(
        log_len: u32,
        direction: Direction,
        shift: KoalaBear,
        choice: Choice,
        caches: Caches,
    ) -> Result<Self, Error> {
        if log_len > TWO_ADICITY {
            return Err(Error::NoSubgroup { log_len });
        }
        let inverse_shift = shift.inverse().ok_or(Error::ZeroShift)?;
        let (sums, unshift) = match direction {
            Direction::Forward => (Sums::values(log_len, shift), None),
            Direction::Inverse => {
                let unshift = (shift != KoalaBear::ONE).then_some(inverse_shift);
                (Sums::coefficients(log_len), unshift)
            }
        };
        let kernel = transformation(sums, choice, caches);
        Ok(Self {
            log_len,
            direction,
            unshift,
            kernel,
        })
    }

    /// The number of elements.
    #[expect(clippy::len_without_is_empty, reason = "there is no empty transform")]
    pub fn len(&self) -> usize {
        1 << self.log_len
    }

    /// The elements of working memory that [`Transform::apply`] needs.
    pub fn scratch_len(&self) -> usize {
        self.kernel.scratch_len()
    }

    /// The name of the back end: `avx512-ifma`, `avx512`, `avx2`, `neon` or `portable`.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }

    /// Replaces a column by its transform. `input` and `output` are the orders of its elements
    /// before and after; from natural to bit-reversed takes the fewest trips to memory. What
    /// `scratch` holds afterwards has no meaning.
    ///
    /// # Panics
    /// If a slice has another length than the plan says.
    pub fn apply(
        &self,
        column: &mut [KoalaBear],
        input: Order,
        output: Order,
        scratch: &mut [KoalaBear],
    ) {
        assert_eq!(column.len(), self.len(), "length of the column");
        assert_eq!(
            scratch.len(),
            self.scratch_len(),
            "length of the scratch buffer"
        );
        if input == Order::BitReversed {
            bit_reverse(column);
        }
        self.kernel.transform(column, scratch);
        if let Some(unshift) = self.unshift {
            bit_reverse(column);
            let mut power = KoalaBear::ONE;
            for coefficient in &mut *column {
                *coefficient *= power;
                power *= unshift;
            }
            if output == Order::BitReversed {
                bit_reverse(column);
            }
        } else if output == Order::Natural {
            bit_reverse(column);
        }
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform")
            .field("log_len", &self.log_len)
            .field("direction", &self.direction)
            .field("kernel", &self.kernel())
            .finish_non_exhaustive()
    }
}
