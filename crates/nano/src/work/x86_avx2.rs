//! Five nonces with AVX2 and the integer registers, in one loop of assembly.
//!
//! Sixteen registers hold the sixteen words of a vector state, but a rotation by 63 takes a register
//! more. So v11 lives in memory. It is only ever added to and mixed into v6 or v7, in a register that is
//! free for rotations in between, at no cost but the trips to memory.
//!
//! There is no room for a second state, and the four chains of operations of one do not keep the ports
//! busy. What fills the gaps is another nonce in the integer registers, half a half-round at a time: a core
//! has ports for integers alone.
#![expect(unsafe_code, reason = "inline assembly")]

use std::arch::asm;
use std::array;
use std::mem::offset_of;

use lanework_arch::{Avx2, Isa};

use super::precomputed::Constants;
use super::table::Backend;
use super::x86_64_scalar::Integers;

/// Nonces in a vector.
const LANES: usize = 4;

/// Nonces in a bundle: those of the vector, and the one in the integer registers.
const BUNDLE_LEN: usize = LANES + 1;

/// The place of a word of the state.
macro_rules! vector {
    (0) => {
        "ymm0"
    };
    (1) => {
        "ymm1"
    };
    (2) => {
        "ymm2"
    };
    (3) => {
        "ymm3"
    };
    (4) => {
        "ymm4"
    };
    (5) => {
        "ymm5"
    };
    (6) => {
        "ymm6"
    };
    (7) => {
        "ymm7"
    };
    (8) => {
        "ymm8"
    };
    (9) => {
        "ymm9"
    };
    (10) => {
        "ymm10"
    };
    (11) => {
        "[rsi + {vector_11}]"
    };
    (12) => {
        "ymm12"
    };
    (13) => {
        "ymm13"
    };
    (14) => {
        "ymm14"
    };
    (15) => {
        "ymm15"
    };
    // The register without a word.
    (free) => {
        "ymm11"
    };
    // In memory: the nonces, or a field of the constants.
    ([m0]) => {
        "[rsi + {nonces}]"
    };
    ([$name:ident]) => {
        concat!("[rsi + {", stringify!($name), "}]")
    };
}

/// d = a + b.
macro_rules! add {
    ($d:tt, $a:tt, $b:tt) => {
        concat!(
            "vpaddq ",
            vector!($d),
            ", ",
            vector!($a),
            ", ",
            vector!($b),
            "\n"
        )
    };
}

/// d = a ^ b.
macro_rules! xor {
    ($d:tt, $a:tt, $b:tt) => {
        concat!(
            "vpxor ",
            vector!($d),
            ", ",
            vector!($a),
            ", ",
            vector!($b),
            "\n"
        )
    };
}

/// Rotates d to the right.
macro_rules! rotate {
    ($d:tt, 32) => {
        concat!("vpshufd ", vector!($d), ", ", vector!($d), ", 0xb1\n")
    };
    ($d:tt, 24) => {
        concat!(
            "vpshufb ",
            vector!($d),
            ", ",
            vector!($d),
            ", [rsi + {rotate_24}]\n"
        )
    };
    ($d:tt, 16) => {
        concat!(
            "vpshufb ",
            vector!($d),
            ", ",
            vector!($d),
            ", [rsi + {rotate_16}]\n"
        )
    };
    ($d:tt, 63) => {
        concat!(
            add!(free, $d, $d),
            "vpsrlq ",
            vector!($d),
            ", ",
            vector!($d),
            ", 63\n",
            "vpor ",
            vector!($d),
            ", ",
            vector!($d),
            ", ",
            vector!(free),
            "\n",
        )
    };
}

/// c += d, and b ^= c.
macro_rules! mix {
    ($b:tt, 11, $d:tt) => {
        mix!($b, 11, 11, $d)
    };
    ($b:tt, $c:tt, $d:tt) => {
        concat!(add!($c, $c, $d), xor!($b, $b, $c))
    };
    // c = from + d in memory, and b = with ^ c.
    ($b:tt, 11, $from:tt, $d:tt) => {
        mix!($b, $b, 11, $from, $d)
    };
    ($b:tt, $with:tt, 11, $from:tt, $d:tt) => {
        concat!(
            add!(free, $d, $from),
            "vmovdqa ",
            vector!(11),
            ", ",
            vector!(free),
            "\n",
            xor!($b, free, $with),
        )
    };
}

/// The first or the second six steps of quarter-rounds `a b c d [message word]`, side by side.
macro_rules! turn {
    ($first:tt, $second:tt, $($a:tt $b:tt $c:tt $d:tt [$($m:ident)?],)*) => {
        concat!(
            $($(add!($a, $a, [$m]),)?)*
            $(add!($a, $a, $b),)*
            $(xor!($d, $d, $a),)*
            $(rotate!($d, $first),)*
            $(mix!($b, $c, $d),)*
            $(rotate!($b, $second),)*
        )
    };
}

/// A half-round of the vectors and the integers.
macro_rules! half_round {
    ($($a:tt $b:tt $c:tt $d:tt [$($x:ident)?] [$($y:ident)?],)*) => {
        concat!(
            turn!(32, 24, $($a $b $c $d [$($x)?],)*),
            integer_turn!(32, 24, $($a $b $c $d [$($x)?],)*),
            turn!(16, 63, $($a $b $c $d [$($y)?],)*),
            integer_turn!(16, 63, $($a $b $c $d [$($y)?],)*),
        )
    };
}

/// Round 0: what depends on the nonces.
macro_rules! first_round {
    (columns) => {
        concat!(
            "vmovdqa ", vector!(0), ", ", vector!([m0]), "\n",
            add!(0, 0, [sum_0_4]),
            xor!(12, 0, [initial_12]),
            rotate!(12, 32),
            add!(8, 12, [initial_8]),
            xor!(4, 8, [initial_4]),
            rotate!(4, 24),
            turn!(16, 63, 0 4 8 12 [m1],),
        )
    };
    (diagonals) => {
        concat!(
            add!(0, 0, [v5]), add!(3, 4, [v3]),
            xor!(15, 0, [v15]), xor!(12, 12, [sum_1_6]), xor!(14, 3, [v14]),
            rotate!(15, 32), rotate!(12, 32), rotate!(14, 32),
            add!(10, 15, [v10]), mix!(6, [v6], 11, [v11], 12),
            add!(8, 8, [mixed_13]), add!(9, 14, [v9]),
            xor!(5, 10, [v5]), xor!(7, 8, [v7]), xor!(4, 4, 9),
            rotate!(5, 24), rotate!(6, 24), rotate!(7, 24), rotate!(4, 24),
            add!(0, 0, 5), add!(1, 6, [sum_1_6]), add!(2, 7, [sum_2_7]), add!(3, 3, 4),
            xor!(15, 15, 0), xor!(12, 12, 1), xor!(13, 2, [mixed_13]), xor!(14, 14, 3),
            rotate!(15, 16), rotate!(12, 16), rotate!(13, 16), rotate!(14, 16),
            mix!(5, 10, 15), mix!(6, 11, 12), mix!(7, 8, 13), mix!(4, 9, 14),
            rotate!(5, 63), rotate!(6, 63), rotate!(7, 63), rotate!(4, 63),
        )
    };
}

/// Round 11: what v0 and v8 need of it.
macro_rules! last_round {
    (columns) => {
        concat!(
            turn!(32, 24, 0 4 8 12 [], 1 5 9 13 [m4], 2 6 10 14 [], 3 7 11 15 [],),
            turn!(16, 63, 1 5 9 13 [], 3 7 11 15 [],),
            add!(0, 0, 4), add!(2, 2, 6),
            xor!(12, 12, 0), xor!(14, 14, 2),
            rotate!(12, 16), rotate!(14, 16),
            add!(8, 8, 12), add!(10, 10, 14),
        )
    };
    (diagonals) => {
        concat!(
            turn!(32, 24, 0 5 10 15 [m1], 2 7 8 13 [],),
            add!(0, 0, 5), add!(2, 2, 7),
            xor!(13, 13, 2),
            rotate!(13, 16),
            add!(8, 8, 13),
        )
    };
}

/// The digests, kept and compared with the threshold, and the nonces of the next bundle. The comparison
/// is one instruction for whole words, whatever the low half of the threshold; it takes them as signed.
macro_rules! finish {
    () => {
        concat!(
            xor!(0, 0, 8),
            xor!(0, 0, [h0]),
            "vmovdqa [rsi + {values}], ymm0\n",
            "vpxor ymm0, ymm0, [rsi + {sign}]\n",
            "vmovdqa ymm1, [rsi + {signed_threshold}]\n",
            "vpcmpgtq ymm0, ymm1, ymm0\n",
            "vmovdqa ymm1, ",
            vector!([m0]),
            "\n",
            "vpaddq ymm1, ymm1, [rsi + {steps}]\n",
            "vmovdqa ",
            vector!([m0]),
            ", ymm1\n",
            integer_finish!(),
            "vmovmskpd eax, ymm0\n",
            "cmp eax, 15\n",
            "jne 3f\n",
        )
    };
}

/// What the loop reads and writes.
#[repr(C, align(32))]
struct Run {
    constants: Constants<[u64; LANES]>,
    /// The bytes from which a rotated word takes its own.
    rotate_24: [u8; 32],
    rotate_16: [u8; 32],
    nonces: [u64; LANES],
    values: [u64; LANES],
    vector_11: [u64; LANES],
    sign: [u64; LANES],
    signed_threshold: [u64; LANES],
    steps: [u64; LANES],
    integers: Integers,
}

/// Which byte of its 16 each byte is, after a rotation of words to the right by `bytes` bytes.
const fn rotation(bytes: u8) -> [u8; 32] {
    let mut from = [0; 32];
    let mut i = 0;
    while i < 32 {
        from[i] = i as u8 & 8 | (i as u8 + bytes) & 7;
        i += 1;
    }
    from
}

const SIGN: u64 = 1 << 63;

impl Run {
    fn new(constants: &Constants, start: u64, threshold: u64, bundles: u64) -> Self {
        let integer_nonce = start.wrapping_add(LANES as u64);
        Self {
            constants: constants.map(|word| [word; LANES]),
            rotate_24: const { rotation(3) },
            rotate_16: const { rotation(2) },
            nonces: array::from_fn(|lane| start.wrapping_add(lane as u64)),
            values: [0; LANES],
            vector_11: [0; LANES],
            sign: [SIGN; LANES],
            signed_threshold: [threshold ^ SIGN; LANES],
            steps: [BUNDLE_LEN as u64; LANES],
            integers: Integers::new(integer_nonce, threshold, BUNDLE_LEN as u64, bundles),
        }
    }
}

/// The search with AVX2.
#[derive(Copy, Clone, Debug)]
pub(super) struct Avx2Search(Avx2);

impl Avx2Search {
    pub(super) fn new(token: Avx2) -> Self {
        Self(token)
    }

    /// Searches the bundles that are left, of which there is at least one, up to the first one with a
    /// hit, which stays among those left.
    #[expect(
        clippy::unused_self,
        reason = "the token in it proves the instructions"
    )]
    fn search(self, run: &mut Run) {
        #[target_feature(enable = "avx2,bmi2")]
        fn entry(run: &mut Run) {
            let run: *mut Run = run;
            // SAFETY: bounds: operands in memory are fields of the struct; layout: it is aligned to 32
            // bytes, and so are those that the instructions want aligned, as asserted below. The
            // registers that are not declared are put back.
            unsafe {
                integer_loop!(
                    Run,
                    run,
                    [
                        first_round!(columns),
                        integer_first_round!(columns),
                        first_round!(diagonals),
                        integer_first_round!(diagonals),
                        middle_rounds!(half_round),
                        last_round!(columns),
                        integer_last_round!(columns),
                        last_round!(diagonals),
                        integer_last_round!(diagonals),
                        finish!(),
                    ],
                    [
                        rotate_24 = const offset_of!(Run, rotate_24),
                        rotate_16 = const offset_of!(Run, rotate_16),
                        nonces = const offset_of!(Run, nonces),
                        values = const offset_of!(Run, values),
                        vector_11 = const offset_of!(Run, vector_11),
                        sign = const offset_of!(Run, sign),
                        signed_threshold = const offset_of!(Run, signed_threshold),
                        steps = const offset_of!(Run, steps),
                        out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                        out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                        out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                        out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                    ]
                );
            }
        }
        // SAFETY: feature: the token in `self`.
        unsafe { entry(run) }
    }
}

const _: () = {
    assert!(offset_of!(Run, nonces).is_multiple_of(32));
    assert!(offset_of!(Run, values).is_multiple_of(32));
    assert!(offset_of!(Run, vector_11).is_multiple_of(32));
    assert!(offset_of!(Run, signed_threshold).is_multiple_of(32));
};

impl Backend for Avx2Search {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn isa(&self) -> Isa {
        Isa::Avx2
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn bundle_len(&self) -> usize {
        BUNDLE_LEN
    }

    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
        if bundles == 0 {
            return None;
        }
        let mut run = Run::new(constants, start, threshold, bundles);
        self.search(&mut run);
        let left = run.integers.left;
        (left > 0).then(|| bundles - left)
    }

    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
        let mut run = Run::new(constants, start, u64::MAX, 1);
        for bundle in out.chunks_exact_mut(BUNDLE_LEN) {
            run.integers.left = 1;
            self.search(&mut run);
            bundle[..LANES].copy_from_slice(&run.values);
            bundle[LANES] = run.integers.value;
        }
    }
}
