use std::fmt;

use lanework_arch::Choice;
use lanework_field::KoalaBear as Element;
use lanework_hash::{Poseidon2, RoundConstants};
use p3_field::PackedValue;
use p3_koala_bear::KoalaBear;
use p3_poseidon2::{ExternalLayerConstants, poseidon2_round_numbers_128};
use p3_symmetric::{CryptographicPermutation, Permutation};
use rand::distr::StandardUniform;
use rand::{Rng, RngExt};

use crate::cast;

/// Poseidon2 of width 16 or 24: the permutation of Plonky3's `Poseidon2KoalaBear<WIDTH>` for the same
/// constants, with kernels chosen when the program runs.
///
/// It permutes one state with little latency, as challengers want it, and
/// [`LaneworkSponge`](crate::LaneworkSponge) and [`LaneworkCompression`](crate::LaneworkCompression) run
/// many states through it at once. Clones share the prepared constants.
///
/// ```
/// use lanework_plonky3::LaneworkPoseidon2;
/// use p3_koala_bear::{KoalaBear, default_koalabear_poseidon2_16};
/// use p3_symmetric::Permutation;
///
/// let state: [KoalaBear; 16] = std::array::from_fn(|i| KoalaBear::new(i as u32));
/// let permuted = LaneworkPoseidon2::<16>::default().permute(state);
/// assert_eq!(permuted, default_koalabear_poseidon2_16().permute(state));
/// ```
#[derive(Clone)]
pub struct LaneworkPoseidon2<const WIDTH: usize> {
    pub(crate) permutation: Poseidon2<WIDTH>,
    pub(crate) choice: Choice,
    constants: RoundConstants<WIDTH>,
}

/// The cube is a permutation of the field, and the S-box of every Poseidon2 over it.
const SBOX_DEGREE: u64 = 3;

/// What is the same for both widths, but for the type of the constants that a width has.
macro_rules! constructors {
    ($width:literal, $default:ident) => {
        impl LaneworkPoseidon2<$width> {
            /// The permutation with the given constants, as `Poseidon2KoalaBear::new`.
            ///
            /// # Panics
            /// If there are fewer than six external rounds.
            pub fn new(
                external_constants: ExternalLayerConstants<KoalaBear, $width>,
                internal_constants: Vec<KoalaBear>,
            ) -> Self {
                let rows = |rows: &[[KoalaBear; $width]]| -> Vec<[Element; $width]> {
                    rows.iter().map(|row| row.map(cast::element)).collect()
                };
                let initial = rows(external_constants.get_initial_constants());
                let terminal = rows(external_constants.get_terminal_constants());
                let rounds = initial.len() + terminal.len();
                assert!(rounds >= 6, "at least six external rounds: {rounds}");
                let internal = cast::elements(&internal_constants).to_vec();
                let constants = RoundConstants::<$width>::new(initial, internal, terminal);
                // `ExternalLayerConstants` has refused unequal halves.
                Self::prepared(
                    constants.unwrap_or_else(|error| panic!("{error}")),
                    Choice::best(),
                )
            }

            /// The permutation with constants drawn from `rng`, as `Poseidon2KoalaBear::new_from_rng`.
            ///
            /// # Panics
            /// If `rounds_f` is odd or less than six.
            pub fn new_from_rng<R: Rng>(rounds_f: usize, rounds_p: usize, rng: &mut R) -> Self {
                let external = ExternalLayerConstants::new_from_rng(rounds_f, rng);
                let internal = rng.sample_iter(StandardUniform).take(rounds_p).collect();
                Self::new(external, internal)
            }

            /// The permutation with constants drawn from `rng` and the numbers of rounds for 128 bits of
            /// security, as `Poseidon2KoalaBear::new_from_rng_128`.
            pub fn new_from_rng_128<R: Rng>(rng: &mut R) -> Self {
                let rounds = poseidon2_round_numbers_128::<KoalaBear>($width, SBOX_DEGREE);
                let (rounds_f, rounds_p) = rounds.unwrap_or_else(|error| panic!("{error}"));
                Self::new_from_rng(rounds_f, rounds_p, rng)
            }

            /// The same permutation with the kernels of `choice` instead of the best of this CPU.
            #[must_use]
            pub fn with_choice(self, choice: Choice) -> Self {
                Self::prepared(self.constants, choice)
            }

            fn prepared(constants: RoundConstants<$width>, choice: Choice) -> Self {
                Self {
                    permutation: Poseidon2::<$width>::new(&constants, choice),
                    choice,
                    constants,
                }
            }
        }

        impl Default for LaneworkPoseidon2<$width> {
            #[doc = concat!("The permutation of Plonky3's `", stringify!($default), "`.")]
            fn default() -> Self {
                Self::prepared(RoundConstants::<$width>::plonky3_default(), Choice::best())
            }
        }

        #[doc = concat!("The permutation of Plonky3's function of this name: [`LaneworkPoseidon2::<", stringify!($width), ">::default`].")]
        pub fn $default() -> LaneworkPoseidon2<$width> {
            LaneworkPoseidon2::default()
        }
    };
}

constructors!(16, default_koalabear_poseidon2_16);
constructors!(24, default_koalabear_poseidon2_24);

impl<const WIDTH: usize> LaneworkPoseidon2<WIDTH> {
    /// The name of the kernel for many states.
    pub fn kernel(&self) -> &'static str {
        self.permutation.kernel()
    }
}

/// States of single elements, and of the vectors that a build for particular instructions packs them
/// into.
impl<P: PackedValue<Value = KoalaBear>, const WIDTH: usize> Permutation<[P; WIDTH]>
    for LaneworkPoseidon2<WIDTH>
{
    fn permute_mut(&self, state: &mut [P; WIDTH]) {
        /// The widest vectors of Plonky3 hold this many; wider ones would come in parts.
        const PART: usize = 16;
        let word = |vector: &P, lane: usize| cast::element(vector.as_slice()[lane]);
        if P::WIDTH == 1 {
            let mut single = state.each_ref().map(|vector| word(vector, 0));
            self.permutation.permute(&mut single);
            *state = single.map(|word| P::broadcast(cast::to_plonky3(word)));
            return;
        }
        for first in (0..P::WIDTH).step_by(PART) {
            let len = PART.min(P::WIDTH - first);
            let mut states = [[Element::ZERO; WIDTH]; PART];
            for (lane, single) in states[..len].iter_mut().enumerate() {
                *single = state.each_ref().map(|vector| word(vector, first + lane));
            }
            self.permutation.permute_many(&mut states[..len]);
            for (i, vector) in state.iter_mut().enumerate() {
                let lanes = &mut vector.as_slice_mut()[first..first + len];
                for (lane, single) in lanes.iter_mut().zip(&states) {
                    *lane = cast::to_plonky3(single[i]);
                }
            }
        }
    }
}

impl<P: PackedValue<Value = KoalaBear>, const WIDTH: usize> CryptographicPermutation<[P; WIDTH]>
    for LaneworkPoseidon2<WIDTH>
{
}

impl<const WIDTH: usize> fmt::Debug for LaneworkPoseidon2<WIDTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneworkPoseidon2")
            .field("width", &WIDTH)
            .field("kernel", &self.kernel())
            .finish_non_exhaustive()
    }
}
