//! Sixteen nonces with AVX-512 in 512-bit vectors, or eight in 256-bit vectors, in one loop of
//! assembly.
//!
//! A bundle is two states of a vector per word. A half-round of one state is four chains of dependent
//! operations, too few to fill the ports where an operation takes two cycles or where there are three
//! ports; the next bundle is further away than a core looks ahead. So two states take turns, half a
//! half-round each. Together they fill the 32 registers to the last one, which is why everything else is
//! an operand in memory: a constant is a word that the instruction itself repeats over the lanes, and
//! the nonces are a vector. A compiler would rather load these into registers, and then has to put words
//! of the state on the stack.
#![expect(unsafe_code, reason = "inline assembly")]

use std::arch::asm;
use std::array;
use std::mem::offset_of;

use lanework_arch::{Avx512, Isa};

use super::precomputed::Constants;
use super::table::Backend;

/// The register of a word of a state, which is written `(zmm low)` or `(zmm high)`, or with `ymm`.
macro_rules! word {
    (($v:ident low), $i:tt) => {
        concat!(stringify!($v), $i)
    };
    (($v:ident high), 0) => {
        concat!(stringify!($v), 16)
    };
    (($v:ident high), 1) => {
        concat!(stringify!($v), 17)
    };
    (($v:ident high), 2) => {
        concat!(stringify!($v), 18)
    };
    (($v:ident high), 3) => {
        concat!(stringify!($v), 19)
    };
    (($v:ident high), 4) => {
        concat!(stringify!($v), 20)
    };
    (($v:ident high), 5) => {
        concat!(stringify!($v), 21)
    };
    (($v:ident high), 6) => {
        concat!(stringify!($v), 22)
    };
    (($v:ident high), 7) => {
        concat!(stringify!($v), 23)
    };
    (($v:ident high), 8) => {
        concat!(stringify!($v), 24)
    };
    (($v:ident high), 9) => {
        concat!(stringify!($v), 25)
    };
    (($v:ident high), 10) => {
        concat!(stringify!($v), 26)
    };
    (($v:ident high), 11) => {
        concat!(stringify!($v), 27)
    };
    (($v:ident high), 12) => {
        concat!(stringify!($v), 28)
    };
    (($v:ident high), 13) => {
        concat!(stringify!($v), 29)
    };
    (($v:ident high), 14) => {
        concat!(stringify!($v), 30)
    };
    (($v:ident high), 15) => {
        concat!(stringify!($v), 31)
    };
}

/// An operand: a word, or in memory `[m0]`, the nonces of the state, or a field of [`Constants`] for
/// all lanes.
macro_rules! operand {
    (($v:ident low), [m0]) => {
        "[{run} + {nonces_low}]"
    };
    (($v:ident high), [m0]) => {
        "[{run} + {nonces_high}]"
    };
    ($s:tt, [$name:ident]) => {
        concat!(
            "qword ptr [{constants} + {",
            stringify!($name),
            "}]{{1to{lanes}}}"
        )
    };
    ($s:tt, $i:tt) => {
        word!($s, $i)
    };
}

/// d = a + b.
macro_rules! add {
    ($s:tt, $d:tt, $a:tt, $b:tt) => {
        concat!(
            "vpaddq ",
            word!($s, $d),
            ", ",
            word!($s, $a),
            ", ",
            operand!($s, $b),
            "\n"
        )
    };
}

/// d = a ^ b.
macro_rules! xor {
    ($s:tt, $d:tt, $a:tt, $b:tt) => {
        concat!(
            "vpxorq ",
            word!($s, $d),
            ", ",
            word!($s, $a),
            ", ",
            operand!($s, $b),
            "\n"
        )
    };
}

/// Rotates d to the right.
macro_rules! rotate {
    ($s:tt, $d:tt, $bits:tt) => {
        concat!(
            "vprorq ",
            word!($s, $d),
            ", ",
            word!($s, $d),
            ", ",
            $bits,
            "\n"
        )
    };
}

/// One turn of a state: the first or the second six steps of the four quarter-rounds
/// `a b c d [message word]`, side by side.
macro_rules! turn {
    ($s:tt, $first:tt, $second:tt,
     $($a:tt $b:tt $c:tt $d:tt [$($m:ident)?],)*) => {
        concat!(
            $($(add!($s, $a, $a, [$m]),)?)*
            $(add!($s, $a, $a, $b),)*
            $(xor!($s, $d, $d, $a),)*
            $(rotate!($s, $d, $first),)*
            $(add!($s, $c, $c, $d),)*
            $(xor!($s, $b, $b, $c),)*
            $(rotate!($s, $b, $second),)*
        )
    };
}

/// A half-round of both states, whose quarter-rounds are `a b c d [message words x] [y]`.
macro_rules! half_round {
    ($v:ident, $($a:tt $b:tt $c:tt $d:tt [$($x:ident)?] [$($y:ident)?],)*) => {
        concat!(
            turn!(($v low), 32, 24, $($a $b $c $d [$($x)?],)*),
            turn!(($v high), 32, 24, $($a $b $c $d [$($x)?],)*),
            turn!(($v low), 16, 63, $($a $b $c $d [$($y)?],)*),
            turn!(($v high), 16, 63, $($a $b $c $d [$($y)?],)*),
        )
    };
}

/// Round 0: what depends on the nonce.
macro_rules! first_round {
    (columns_1, $s:tt) => {
        concat!(
            "vmovdqa64 ", word!($s, 0), ", ", operand!($s, [m0]), "\n",
            add!($s, 0, 0, [sum_0_4]),
            xor!($s, 12, 0, [initial_12]),
            rotate!($s, 12, 32),
            add!($s, 8, 12, [initial_8]),
            xor!($s, 4, 8, [initial_4]),
            rotate!($s, 4, 24),
        )
    };
    (columns_2, $s:tt) => {
        turn!($s, 16, 63, 0 4 8 12 [m1],)
    };
    (diagonals_1, $s:tt) => {
        concat!(
            add!($s, 0, 0, [v5]), add!($s, 3, 4, [v3]),
            xor!($s, 15, 0, [v15]), xor!($s, 12, 12, [sum_1_6]), xor!($s, 14, 3, [v14]),
            rotate!($s, 15, 32), rotate!($s, 12, 32), rotate!($s, 14, 32),
            add!($s, 10, 15, [v10]), add!($s, 11, 12, [v11]),
            add!($s, 8, 8, [mixed_13]), add!($s, 9, 14, [v9]),
            xor!($s, 5, 10, [v5]), xor!($s, 6, 11, [v6]), xor!($s, 7, 8, [v7]), xor!($s, 4, 4, 9),
            rotate!($s, 5, 24), rotate!($s, 6, 24), rotate!($s, 7, 24), rotate!($s, 4, 24),
        )
    };
    (diagonals_2, $s:tt) => {
        concat!(
            add!($s, 0, 0, 5), add!($s, 1, 6, [sum_1_6]),
            add!($s, 2, 7, [sum_2_7]), add!($s, 3, 3, 4),
            xor!($s, 15, 15, 0), xor!($s, 12, 12, 1), xor!($s, 13, 2, [mixed_13]), xor!($s, 14, 14, 3),
            rotate!($s, 15, 16), rotate!($s, 12, 16), rotate!($s, 13, 16), rotate!($s, 14, 16),
            add!($s, 10, 10, 15), add!($s, 11, 11, 12), add!($s, 8, 8, 13), add!($s, 9, 9, 14),
            xor!($s, 5, 5, 10), xor!($s, 6, 6, 11), xor!($s, 7, 7, 8), xor!($s, 4, 4, 9),
            rotate!($s, 5, 63), rotate!($s, 6, 63), rotate!($s, 7, 63), rotate!($s, 4, 63),
        )
    };
}

/// Round 11: what v0 and v8 need of it.
macro_rules! last_round {
    (columns_1, $s:tt) => {
        turn!($s, 32, 24, 0 4 8 12 [], 1 5 9 13 [m4], 2 6 10 14 [], 3 7 11 15 [],)
    };
    (columns_2, $s:tt) => {
        concat!(
            add!($s, 0, 0, 4), add!($s, 1, 1, 5), add!($s, 2, 2, 6), add!($s, 3, 3, 7),
            xor!($s, 12, 12, 0), xor!($s, 13, 13, 1), xor!($s, 14, 14, 2), xor!($s, 15, 15, 3),
            rotate!($s, 12, 16), rotate!($s, 13, 16), rotate!($s, 14, 16), rotate!($s, 15, 16),
            add!($s, 8, 8, 12), add!($s, 9, 9, 13), add!($s, 10, 10, 14), add!($s, 11, 11, 15),
            xor!($s, 5, 5, 9), xor!($s, 7, 7, 11),
            rotate!($s, 5, 63), rotate!($s, 7, 63),
        )
    };
    (diagonals_1, $s:tt) => {
        turn!($s, 32, 24, 0 5 10 15 [m1], 2 7 8 13 [],)
    };
    (diagonals_2, $s:tt) => {
        concat!(
            add!($s, 0, 0, 5),
            add!($s, 2, 2, 7),
            xor!($s, 13, 13, 2),
            rotate!($s, 13, 16),
            add!($s, 8, 8, 13),
        )
    };
}

/// Both states of one part of the first or the last round.
macro_rules! both {
    ($v:ident, $round:ident: $($part:ident),*) => {
        concat!($($round!($part, ($v low)), $round!($part, ($v high)),)*)
    };
}

/// The digests of a state: kept, compared with the threshold, and the nonces of the next bundle.
macro_rules! finish {
    ($s:tt, $values:literal, $hits:literal) => {
        concat!(
            "vpternlogq ",
            word!($s, 0),
            ", ",
            word!($s, 8),
            ", ",
            operand!($s, [h0]),
            ", 0x96\n",
            "vmovdqa64 ",
            word!($s, 1),
            ", ",
            operand!($s, [m0]),
            "\n",
            "vmovdqa64 ",
            $values,
            ", ",
            word!($s, 0),
            "\n",
            "vpaddq ",
            word!($s, 1),
            ", ",
            word!($s, 1),
            ", qword ptr [{run} + {step}]{{1to{lanes}}}\n",
            "vpcmpnltuq ",
            $hits,
            ", ",
            word!($s, 0),
            ", qword ptr [{run} + {threshold}]{{1to{lanes}}}\n",
            "vmovdqa64 ",
            operand!($s, [m0]),
            ", ",
            word!($s, 1),
            "\n",
        )
    };
}

/// Searches bundle after bundle. `$left` counts those not done yet, and stays where it is if there is
/// a hit.
macro_rules! search {
    ($v:ident, $lanes:tt, $constants:expr, $run:expr, $left:ident) => {
        asm!(
            ".p2align 4",
            "2:",
            both!($v, first_round: columns_1, columns_2, diagonals_1, diagonals_2),
            middle_rounds!(half_round $v,),
            both!($v, last_round: columns_1, columns_2, diagonals_1, diagonals_2),
            finish!(($v low), "[{run} + {values_low}]", "k1"),
            finish!(($v high), "[{run} + {values_high}]", "k2"),
            "kortestw k1, k2",
            "jnz 3f",
            "dec {left}",
            "jnz 2b",
            "3:",
            constants = in(reg) $constants,
            run = in(reg) $run,
            left = inout(reg) $left,
            lanes = const $lanes,
            m1 = const offset_of!(Constants, m1),
            m2 = const offset_of!(Constants, m2),
            m3 = const offset_of!(Constants, m3),
            m4 = const offset_of!(Constants, m4),
            sum_0_4 = const offset_of!(Constants, sum_0_4),
            initial_4 = const offset_of!(Constants, initial_4),
            initial_8 = const offset_of!(Constants, initial_8),
            initial_12 = const offset_of!(Constants, initial_12),
            v3 = const offset_of!(Constants, v3),
            v5 = const offset_of!(Constants, v5),
            v6 = const offset_of!(Constants, v6),
            v7 = const offset_of!(Constants, v7),
            v9 = const offset_of!(Constants, v9),
            v10 = const offset_of!(Constants, v10),
            v11 = const offset_of!(Constants, v11),
            v14 = const offset_of!(Constants, v14),
            v15 = const offset_of!(Constants, v15),
            sum_1_6 = const offset_of!(Constants, sum_1_6),
            sum_2_7 = const offset_of!(Constants, sum_2_7),
            mixed_13 = const offset_of!(Constants, mixed_13),
            h0 = const offset_of!(Constants, h0),
            nonces_low = const offset_of!(Run<$lanes>, nonces),
            nonces_high = const offset_of!(Run<$lanes>, nonces) + 8 * $lanes,
            values_low = const offset_of!(Run<$lanes>, values),
            values_high = const offset_of!(Run<$lanes>, values) + 8 * $lanes,
            threshold = const offset_of!(Run<$lanes>, threshold),
            step = const offset_of!(Run<$lanes>, step),
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            out("k1") _, out("k2") _,
            options(nostack),
        )
    };
}

/// What the loop reads and writes beside the constants.
#[repr(C, align(64))]
struct Run<const LANES: usize> {
    /// The nonces of the two states of the next bundle.
    nonces: [[u64; LANES]; STATES],
    /// The values of the last bundle.
    values: [[u64; LANES]; STATES],
    threshold: u64,
    /// The nonces of a bundle.
    step: u64,
}

const STATES: usize = 2;

/// The loop for vectors of `LANES` words.
#[derive(Copy, Clone, Debug)]
pub(super) struct Avx512Search<const LANES: usize>(Avx512);

/// The entry for one width.
trait Entry<const LANES: usize> {
    /// Searches `bundles` bundles, which is not 0. Returns how many are left with and after the first
    /// one with a hit.
    fn enter(self, constants: &Constants, run: &mut Run<LANES>, bundles: u64) -> u64;
}

macro_rules! entry {
    ($lanes:literal, $v:ident) => {
        impl Entry<$lanes> for Avx512Search<$lanes> {
            fn enter(self, constants: &Constants, run: &mut Run<$lanes>, bundles: u64) -> u64 {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn entry(constants: &Constants, run: &mut Run<$lanes>, mut left: u64) -> u64 {
                    let constants: *const Constants = constants;
                    let run: *mut Run<$lanes> = run;
                    // SAFETY: bounds: operands in memory are fields of the two structs, or whole
                    // vectors of the arrays in `Run`; layout: those are aligned, as asserted below.
                    unsafe { search!($v, $lanes, constants, run, left) };
                    left
                }
                // SAFETY: feature: the token in `self`.
                unsafe { entry(constants, run, bundles) }
            }
        }

        const _: () = {
            assert!(align_of::<Run<$lanes>>().is_multiple_of(8 * $lanes));
            assert!(offset_of!(Run<$lanes>, nonces).is_multiple_of(8 * $lanes));
            assert!(offset_of!(Run<$lanes>, values).is_multiple_of(8 * $lanes));
        };
    };
}

entry!(8, zmm);
entry!(4, ymm);

impl<const LANES: usize> Run<LANES> {
    fn new(start: u64, threshold: u64) -> Self {
        let nonce = |state, lane| start.wrapping_add((state * LANES + lane) as u64);
        Self {
            nonces: array::from_fn(|state| array::from_fn(|lane| nonce(state, lane))),
            values: [[0; LANES]; STATES],
            threshold,
            step: (STATES * LANES) as u64,
        }
    }
}

impl<const LANES: usize> Avx512Search<LANES> {
    pub(super) fn new(token: Avx512) -> Self {
        Self(token)
    }
}

impl<const LANES: usize> Backend for Avx512Search<LANES>
where
    Self: Entry<LANES>,
{
    fn name(&self) -> &'static str {
        if LANES == 8 { "avx512" } else { "avx512vl" }
    }

    fn isa(&self) -> Isa {
        Isa::Avx512
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn bundle_len(&self) -> usize {
        STATES * LANES
    }

    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
        if bundles == 0 {
            return None;
        }
        let left = self.enter(constants, &mut Run::new(start, threshold), bundles);
        (left > 0).then(|| bundles - left)
    }

    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
        let mut run = Run::new(start, u64::MAX);
        for bundle in out.chunks_exact_mut(STATES * LANES) {
            self.enter(constants, &mut run, 1);
            bundle.copy_from_slice(run.values.as_flattened());
        }
    }
}
