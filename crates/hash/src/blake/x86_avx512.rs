//! Sixteen messages with AVX-512, or two streams of sixteen that take turns in one loop of assembly.
//!
//! Rotations go to one port only, and so do the shuffles that transpose sixteen rows into words of all
//! rows, to the other. One state, with its four chains of dependent operations, leaves gaps in both, and
//! its shuffles come all at once. So there are two streams, half a compression apart: while one of them
//! transposes its next block, which needs its sixteen registers, the other one is in the middle of its
//! rounds. Together they fill the 32 registers, which is why the words of a block are operands in memory.
//! A compiler would rather load these into registers, and then has to put words of the state on the
//! stack.
//!
//! ```text
//! low:   load  R0  R1  R2  R3  R4  R5  R6  end  load  R0  R1  R2
//! high:   R3   R4  R5  R6 end load R0  R1  R2    R3   R4  R5  R6
//! ```
//!
//! The loop does jobs: a block of sixteen rows each. Rust writes down the jobs of some rows and puts
//! together the blocks that are not whole. A last sixteen rows go through the body that all instruction
//! sets share.
#![expect(unsafe_code, reason = "vector intrinsics and inline assembly")]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm512_add_epi32, _mm512_castsi256_si512,
    _mm512_inserti64x4, _mm512_maskz_loadu_epi8, _mm512_ror_epi32, _mm512_set1_epi32,
    _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use lanework_arch::Avx512;

use super::Function;
use super::body::{self, Lanes};
use super::layout::{Layout, Part};
use super::spec::{BLOCK_BYTES, Blake2sMixing, Blake3Mixing, IV, schedule};
use super::table::{Backend, Rows};
use crate::ByteDigest;

/// Rows in a vector.
const LANES: usize = 16;

/// A word of each of sixteen messages.
///
/// Invariant: a value is only made from a token or from other values, so wherever one exists, so do the
/// instructions.
#[derive(Copy, Clone)]
struct Avx512Lanes(__m512i);

impl Lanes for Avx512Lanes {
    type Token = Avx512;

    const LEN: usize = LANES;

    #[inline(always)]
    fn splat(_: Avx512, word: u32) -> Self {
        // SAFETY: feature: the token.
        Self(unsafe { _mm512_set1_epi32(word as i32) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate<const BITS: u32>(self) -> Self {
        // SAFETY: feature: `self` exists.
        Self(unsafe {
            match BITS {
                16 => _mm512_ror_epi32::<16>(self.0),
                12 => _mm512_ror_epi32::<12>(self.0),
                8 => _mm512_ror_epi32::<8>(self.0),
                _ => _mm512_ror_epi32::<7>(self.0),
            }
        })
    }

    #[inline(always)]
    unsafe fn load(_: Avx512, blocks: *const u8, pitch: usize) -> [Self; 16] {
        // SAFETY: feature: the token; bounds: the caller vouches for the blocks.
        unsafe { load(blocks, pitch) }.map(Self)
    }

    #[inline(always)]
    unsafe fn store(state: [Self; 8], digests: *mut u8) {
        // SAFETY: feature: `state` exists; bounds: the caller vouches for the digests.
        unsafe { store(&state.map(|word| word.0), digests) };
    }
}

/// Four vectors of four words, transposed within each quarter.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab_low, cd_low),
        _mm512_unpackhi_epi64(ab_low, cd_low),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Word w of each of sixteen blocks.
///
/// # Safety
/// The blocks are readable.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(blocks: *const u8, pitch: usize) -> [__m512i; 16] {
    // Eight words of rows i and i + 4 side by side.
    let rows = |first: usize, at: usize| {
        transpose(std::array::from_fn(|i| {
            let low: *const __m256i = blocks.wrapping_add((first + i) * pitch + 32 * at).cast();
            let high: *const __m256i = blocks
                .wrapping_add((first + i + 4) * pitch + 32 * at)
                .cast();
            // SAFETY: bounds: the caller vouches for the blocks.
            unsafe {
                let low = _mm512_castsi256_si512(_mm256_loadu_si256(low));
                _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(high))
            }
        }))
    };
    let half = |at: usize| -> [__m512i; 8] {
        let (a, b) = (rows(0, at), rows(8, at));
        std::array::from_fn(|i| match i {
            0..4 => _mm512_shuffle_i32x4::<0x88>(a[i], b[i]),
            _ => _mm512_shuffle_i32x4::<0xdd>(a[i - 4], b[i - 4]),
        })
    };
    let halves = [half(0), half(1)];
    std::array::from_fn(|i| halves[i / 8][i % 8])
}

/// Writes sixteen digests.
///
/// # Safety
/// There is room for them.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(state: &[__m512i; 8], digests: *mut u8) {
    let [a, b, c, d, e, f, g, h] = *state;
    let (low, high) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
    for pair in 0..2 {
        let halves = |i: usize| {
            let (low, high) = (low[2 * pair + i], high[2 * pair + i]);
            (
                _mm512_shuffle_i32x4::<0x44>(low, high),
                _mm512_shuffle_i32x4::<0xee>(low, high),
            )
        };
        let ((a, c), (b, d)) = (halves(0), halves(1));
        let pairs = [
            _mm512_shuffle_i32x4::<0x88>(a, b),
            _mm512_shuffle_i32x4::<0xdd>(a, b),
            _mm512_shuffle_i32x4::<0x88>(c, d),
            _mm512_shuffle_i32x4::<0xdd>(c, d),
        ];
        for (i, digests_2) in pairs.into_iter().enumerate() {
            // SAFETY: bounds: the caller vouches for sixteen digests.
            unsafe {
                _mm512_storeu_si512(digests.wrapping_add(128 * i + 64 * pair).cast(), digests_2);
            };
        }
    }
}

/// The number of the register of a word of the state of a stream.
macro_rules! number {
    (low 0) => {
        "0"
    };
    (low 1) => {
        "1"
    };
    (low 2) => {
        "2"
    };
    (low 3) => {
        "3"
    };
    (low 4) => {
        "4"
    };
    (low 5) => {
        "5"
    };
    (low 6) => {
        "6"
    };
    (low 7) => {
        "7"
    };
    (low 8) => {
        "8"
    };
    (low 9) => {
        "9"
    };
    (low 10) => {
        "10"
    };
    (low 11) => {
        "11"
    };
    (low 12) => {
        "12"
    };
    (low 13) => {
        "13"
    };
    (low 14) => {
        "14"
    };
    (low 15) => {
        "15"
    };
    (high 0) => {
        "16"
    };
    (high 1) => {
        "17"
    };
    (high 2) => {
        "18"
    };
    (high 3) => {
        "19"
    };
    (high 4) => {
        "20"
    };
    (high 5) => {
        "21"
    };
    (high 6) => {
        "22"
    };
    (high 7) => {
        "23"
    };
    (high 8) => {
        "24"
    };
    (high 9) => {
        "25"
    };
    (high 10) => {
        "26"
    };
    (high 11) => {
        "27"
    };
    (high 12) => {
        "28"
    };
    (high 13) => {
        "29"
    };
    (high 14) => {
        "30"
    };
    (high 15) => {
        "31"
    };
}

/// A register of 64 bytes.
macro_rules! zmm {
    ($s:ident $i:tt) => {
        concat!("zmm", number!($s $i))
    };
}

/// Its low 32 bytes.
macro_rules! ymm {
    ($s:ident $i:tt) => {
        concat!("ymm", number!($s $i))
    };
}

/// A line of assembly: a mnemonic and its operands.
macro_rules! line {
    ($name:literal, $first:expr $(, $operand:expr)*) => {
        concat!($name, " ", $first $(, ", ", $operand)*, "\n")
    };
}

/// Vector `i` of a field of the frame that is there for each stream.
macro_rules! own {
    (low, $field:ident $i:tt) => {
        concat!(
            "zmmword ptr [{frame} + {",
            stringify!($field),
            "} + 64*",
            $i,
            "]"
        )
    };
    (high, words $i:tt) => {
        concat!("zmmword ptr [{frame} + {words} + 1024 + 64*", $i, "]")
    };
    (high, states $i:tt) => {
        concat!("zmmword ptr [{frame} + {states} + 512 + 64*", $i, "]")
    };
}

/// A field of the job of a stream, or of the `next` job of the low stream.
macro_rules! job {
    (low, $field:ident) => {
        concat!("qword ptr [{jobs} + {", stringify!($field), "}]")
    };
    (high, $field:ident) => {
        concat!(
            "qword ptr [{jobs} + {job_bytes} + {",
            stringify!($field),
            "}]"
        )
    };
    (next, $field:ident) => {
        concat!(
            "qword ptr [{jobs} + 2*{job_bytes} + {",
            stringify!($field),
            "}]"
        )
    };
}

/// The first or the second half of four quarters `a b c d word`, side by side.
macro_rules! half_quarters {
    ($s:ident, $d_bits:literal, $b_bits:literal, $($a:tt $b:tt $c:tt $d:tt $m:tt,)*) => {
        concat!(
            $(line!("vpaddd", zmm!($s $a), zmm!($s $a), own!($s, words $m)),)*
            $(line!("vpaddd", zmm!($s $a), zmm!($s $a), zmm!($s $b)),)*
            $(line!("vpxord", zmm!($s $d), zmm!($s $d), zmm!($s $a)),)*
            $(line!("vprord", zmm!($s $d), zmm!($s $d), $d_bits),)*
            $(line!("vpaddd", zmm!($s $c), zmm!($s $c), zmm!($s $d)),)*
            $(line!("vpxord", zmm!($s $b), zmm!($s $b), zmm!($s $c)),)*
            $(line!("vprord", zmm!($s $b), zmm!($s $b), $b_bits),)*
        )
    };
}

/// A quarter of the work of a round, whose order of words is the last sixteen arguments.
macro_rules! turn_with {
    ($s:ident 0 $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $($rest:tt)*) => {
        half_quarters!($s, 16, 12, 0 4 8 12 $a, 1 5 9 13 $c, 2 6 10 14 $e, 3 7 11 15 $g,)
    };
    ($s:ident 1 $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $($rest:tt)*) => {
        half_quarters!($s, 8, 7, 0 4 8 12 $b, 1 5 9 13 $d, 2 6 10 14 $f, 3 7 11 15 $h,)
    };
    ($s:ident 2 $i:tt $j:tt $k:tt $l:tt $m:tt $n:tt $o:tt $p:tt
     $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt) => {
        half_quarters!($s, 16, 12, 0 5 10 15 $a, 1 6 11 12 $c, 2 7 8 13 $e, 3 4 9 14 $g,)
    };
    ($s:ident 3 $i:tt $j:tt $k:tt $l:tt $m:tt $n:tt $o:tt $p:tt
     $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt) => {
        half_quarters!($s, 8, 7, 0 5 10 15 $b, 1 6 11 12 $d, 2 7 8 13 $f, 3 4 9 14 $h,)
    };
}

macro_rules! turn {
    ($s:ident, $function:ident $round:tt, $turn:tt) => {
        schedule!($function $round, turn_with, $s $turn)
    };
}

/// A round of one stream.
macro_rules! round {
    ($s:ident, $function:ident $round:tt) => {
        concat!(
            turn!($s, $function $round, 0),
            turn!($s, $function $round, 1),
            turn!($s, $function $round, 2),
            turn!($s, $function $round, 3),
        )
    };
}

/// A round of each stream, by turns.
macro_rules! rounds {
    ($s:ident, $o:ident, $function:ident $round:tt $other_round:tt) => {
        concat!(
            turn!($s, $function $round, 0),
            turn!($o, $function $other_round, 0),
            turn!($s, $function $round, 1),
            turn!($o, $function $other_round, 1),
            turn!($s, $function $round, 2),
            turn!($o, $function $other_round, 2),
            turn!($s, $function $round, 3),
            turn!($o, $function $other_round, 3),
        )
    };
}

/// The low and the high halves of the groups of four words of two registers, by turns.
macro_rules! unpack {
    ($s:ident, $low:literal, $high:literal, $($a:tt $b:tt => $x:tt $y:tt,)*) => {
        concat!(
            $(
                line!($low, zmm!($s $x), zmm!($s $a), zmm!($s $b)),
                line!($high, zmm!($s $y), zmm!($s $a), zmm!($s $b)),
            )*
        )
    };
}

/// Halves of two blocks into one register.
macro_rules! row_pairs {
    ($s:ident, $at:literal, $($i:tt $low:literal $high:literal,)*) => {
        concat!(
            $(
                line!("vmovdqu64", ymm!($s $i), concat!("ymmword ptr [", $low, " + ", $at, "]")),
                line!("vinserti64x4", zmm!($s $i), zmm!($s $i),
                      concat!("ymmword ptr [", $high, " + ", $at, "]"), 1),
            )*
        )
    };
}

/// Stores words of all rows: each of two words is in one register for eight rows and in another for the
/// eight others.
macro_rules! gather {
    ($s:ident, $($a:tt $b:tt => $x:tt $low:tt $y:tt $high:tt,)*) => {
        concat!(
            $(
                line!("vshufi32x4", zmm!($s $x), zmm!($s $a), zmm!($s $b), 0x88),
                line!("vshufi32x4", zmm!($s $y), zmm!($s $a), zmm!($s $b), 0xdd),
                line!("vmovdqa64", own!($s, words $low), zmm!($s $x)),
                line!("vmovdqa64", own!($s, words $high), zmm!($s $y)),
            )*
        )
    };
}

/// Half of each block, transposed within groups of four words.
macro_rules! transpose_rows {
    ($s:ident, $at:literal) => {
        concat!(
            row_pairs!($s, $at,
                0 "{rows_0}" "{rows_4}",
                1 "{rows_0} + {pitch}" "{rows_4} + {pitch}",
                2 "{rows_0} + 2*{pitch}" "{rows_4} + 2*{pitch}",
                3 "{rows_0} + {pitch_3}" "{rows_4} + {pitch_3}",
                4 "{rows_8}" "{rows_12}",
                5 "{rows_8} + {pitch}" "{rows_12} + {pitch}",
                6 "{rows_8} + 2*{pitch}" "{rows_12} + 2*{pitch}",
                7 "{rows_8} + {pitch_3}" "{rows_12} + {pitch_3}",
            ),
            transpose_fours!($s),
        )
    };
}

/// Both groups of four registers, each transposed within groups of four words.
macro_rules! transpose_fours {
    ($s:ident) => {
        concat!(
            unpack!($s, "vpunpckldq", "vpunpckhdq",
                0 1 => 8 9, 2 3 => 10 11, 4 5 => 12 13, 6 7 => 14 15,),
            unpack!($s, "vpunpcklqdq", "vpunpckhqdq",
                8 10 => 0 1, 9 11 => 2 3, 12 14 => 4 5, 13 15 => 6 7,),
        )
    };
}

/// The addresses of every fourth row from the address in `rows_0` on.
macro_rules! addresses {
    () => {
        concat!(
            line!("lea", "{rows_4}", "[{rows_0} + 4*{pitch}]"),
            line!("lea", "{rows_8}", "[{rows_0} + 8*{pitch}]"),
            line!("lea", "{rows_12}", "[{rows_4} + 8*{pitch}]"),
        )
    };
}

macro_rules! prefetch {
    ($($address:literal)*) => {
        concat!($("prefetcht1 byte ptr [", $address, "]\n",)*)
    };
}

/// A quarter of the way from the rows of a job to the words of its blocks.
macro_rules! load {
    ($s:ident, $job:ident, 0) => {
        concat!(
            line!("mov", "{rows_0}", job!($job, blocks)),
            line!("mov", "{pitch}", job!($job, job_pitch)),
            line!("lea", "{pitch_3}", "[{pitch} + 2*{pitch}]"),
            addresses!(),
            transpose_rows!($s, 0),
        )
    };
    ($s:ident, $job:ident, 1) => {
        gather!($s,
            0 4 => 8 0 12 4, 1 5 => 9 1 13 5, 2 6 => 10 2 14 6, 3 7 => 11 3 15 7,)
    };
    ($s:ident, $job:ident, 2) => {
        transpose_rows!($s, 32)
    };
    ($s:ident, $job:ident, 3) => {
        concat!(
            gather!($s,
                0 4 => 8 8 12 12, 1 5 => 9 9 13 13, 2 6 => 10 10 14 14, 3 7 => 11 11 15 15,),
            line!("mov", "{rows_0}", job!($job, ahead)),
            addresses!(),
            prefetch!(
                "{rows_0}" "{rows_0} + {pitch}" "{rows_0} + 2*{pitch}" "{rows_0} + {pitch_3}"
                "{rows_4}" "{rows_4} + {pitch}" "{rows_4} + 2*{pitch}" "{rows_4} + {pitch_3}"
                "{rows_8}" "{rows_8} + {pitch}" "{rows_8} + 2*{pitch}" "{rows_8} + {pitch_3}"
                "{rows_12}" "{rows_12} + {pitch}" "{rows_12} + 2*{pitch}" "{rows_12} + {pitch_3}"
            ),
        )
    };
}

/// The state before the first round.
macro_rules! begin {
    ($s:ident, $job:ident) => {
        concat!(
            line!("mov", "{rows_0}", job!($job, state)),
            line!("mov", "{rows_4}", job!($job, tail)),
            begin!($s, "vmovdqa64", "zmmword ptr [{rows_0} + 64*",
                0 0, 1 1, 2 2, 3 3, 4 4, 5 5, 6 6, 7 7,),
            begin!($s, "vpbroadcastd", "dword ptr [{frame} + {iv} + 4*", 8 0, 9 1, 10 2, 11 3,),
            begin!($s, "vpbroadcastd", "dword ptr [{rows_4} + 4*", 12 0, 13 1, 14 2, 15 3,),
        )
    };
    ($s:ident, $name:literal, $address:literal, $($i:tt $at:tt,)*) => {
        concat!($(line!($name, zmm!($s $i), concat!($address, $at, "]")),)*)
    };
}

/// The chaining value after the last round, and the digests if the block is the last one.
macro_rules! end {
    ($s:ident, $function:ident) => {
        concat!(
            line!("mov", "{rows_0}", job!($s, state)),
            end!($s, $function: 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15,),
            line!("mov", "{rows_0}", job!($s, digests)),
            line!("test", "{rows_0}", "{rows_0}"),
            "jz 4f\n",
            transpose_fours!($s),
            end!($s, digests:
                0 4 8 12 "0" "128" "256" "384",
                1 5 9 13 "32" "160" "288" "416",
                2 6 10 14 "64" "192" "320" "448",
                3 7 11 15 "96" "224" "352" "480",
            ),
            "4:\n",
        )
    };
    ($s:ident, blake3: $($i:tt $j:tt,)*) => {
        concat!(
            $(
                line!("vpxord", zmm!($s $i), zmm!($s $i), zmm!($s $j)),
                line!("vmovdqa64", own!($s, states $i), zmm!($s $i)),
            )*
        )
    };
    ($s:ident, blake2s: $($i:tt $j:tt,)*) => {
        concat!(
            $(
                line!("vpternlogd", zmm!($s $i), zmm!($s $j),
                      concat!("zmmword ptr [{rows_0} + 64*", $i, "]"), 0x96),
                line!("vmovdqa64", own!($s, states $i), zmm!($s $i)),
            )*
        )
    };
    ($s:ident, digests: $($a:tt $b:tt $x:tt $y:tt $p:literal $q:literal $r:literal $t:literal,)*) => {
        concat!(
            $(
                line!("vmovdqa64", zmm!($s $x), "zmmword ptr [{frame} + {orders}]"),
                line!("vpermi2q", zmm!($s $x), zmm!($s $a), zmm!($s $b)),
                line!("vmovdqa64", zmm!($s $y), "zmmword ptr [{frame} + {orders} + 64]"),
                line!("vpermi2q", zmm!($s $y), zmm!($s $a), zmm!($s $b)),
                line!("vmovdqu64", concat!("ymmword ptr [{rows_0} + ", $p, "]"), ymm!($s $x)),
                line!("vextracti64x4", concat!("ymmword ptr [{rows_0} + ", $q, "]"), zmm!($s $x), 1),
                line!("vmovdqu64", concat!("ymmword ptr [{rows_0} + ", $r, "]"), ymm!($s $y)),
                line!("vextracti64x4", concat!("ymmword ptr [{rows_0} + ", $t, "]"), zmm!($s $y), 1),
            )*
        )
    };
}

/// The first half of a compression of stream `$o`, beside a round of the other.
macro_rules! load_beside {
    ($s:ident, $function:ident $round:tt, $o:ident, $job:ident) => {
        concat!(
            turn!($s, $function $round, 0),
            load!($o, $job, 0),
            turn!($s, $function $round, 1),
            load!($o, $job, 1),
            turn!($s, $function $round, 2),
            load!($o, $job, 2),
            turn!($s, $function $round, 3),
            load!($o, $job, 3),
            begin!($o, $job),
        )
    };
}

/// The first half of a compression on its own.
macro_rules! first_half {
    (blake3, $o:ident, $job:ident) => {
        concat!(
            load!($o, $job, 0), load!($o, $job, 1), load!($o, $job, 2), load!($o, $job, 3),
            begin!($o, $job),
            round!($o, blake3 0), round!($o, blake3 1), round!($o, blake3 2),
        )
    };
    (blake2s, $o:ident, $job:ident) => {
        concat!(
            load!($o, $job, 0), load!($o, $job, 1), load!($o, $job, 2), load!($o, $job, 3),
            begin!($o, $job),
            round!($o, blake2s 0), round!($o, blake2s 1), round!($o, blake2s 2),
            round!($o, blake2s 3), round!($o, blake2s 4),
        )
    };
}

/// The second half of a compression on its own.
macro_rules! second_half {
    (blake3, $s:ident) => {
        concat!(
            round!($s, blake3 3), round!($s, blake3 4), round!($s, blake3 5), round!($s, blake3 6),
            end!($s, blake3),
        )
    };
    (blake2s, $s:ident) => {
        concat!(
            round!($s, blake2s 5), round!($s, blake2s 6), round!($s, blake2s 7),
            round!($s, blake2s 8), round!($s, blake2s 9),
            end!($s, blake2s),
        )
    };
}

/// The second half of a compression of stream `$s` beside the first half of one of stream `$o`.
macro_rules! both_halves {
    (blake3, $s:ident, $o:ident, $job:ident) => {
        concat!(
            load_beside!($s, blake3 3, $o, $job),
            rounds!($s, $o, blake3 4 0),
            rounds!($s, $o, blake3 5 1),
            rounds!($s, $o, blake3 6 2),
            end!($s, blake3),
        )
    };
    (blake2s, $s:ident, $o:ident, $job:ident) => {
        concat!(
            load_beside!($s, blake2s 5, $o, $job),
            rounds!($s, $o, blake2s 6 0),
            rounds!($s, $o, blake2s 7 1),
            rounds!($s, $o, blake2s 8 2),
            rounds!($s, $o, blake2s 9 3),
            end!($s, blake2s),
            round!($o, blake2s 4),
        )
    };
}

/// Does `left` pairs of jobs.
macro_rules! work {
    ($function:ident, $frame:ident, $jobs:ident, $left:ident) => {
        asm!(
            first_half!($function, low, low),
            ".p2align 4",
            "2:",
            both_halves!($function, low, high, high),
            "dec {left}",
            "jz 3f",
            both_halves!($function, high, low, next),
            "add {jobs}, 2*{job_bytes}",
            "jmp 2b",
            "3:",
            second_half!($function, high),
            frame = in(reg) $frame,
            jobs = inout(reg) $jobs => _,
            left = inout(reg) $left => _,
            rows_0 = out(reg) _,
            rows_4 = out(reg) _,
            rows_8 = out(reg) _,
            rows_12 = out(reg) _,
            pitch = out(reg) _,
            pitch_3 = out(reg) _,
            words = const offset_of!(Frame, words),
            states = const offset_of!(Frame, states),
            orders = const offset_of!(Frame, orders),
            iv = const offset_of!(Frame, iv),
            job_bytes = const size_of::<Job>(),
            blocks = const offset_of!(Job, blocks),
            job_pitch = const offset_of!(Job, pitch),
            ahead = const offset_of!(Job, ahead),
            state = const offset_of!(Job, state),
            tail = const offset_of!(Job, tail),
            digests = const offset_of!(Job, digests),
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            options(nostack),
        )
    };
}

/// A word of all lanes.
type Word = [u32; LANES];

/// What the loop keeps in memory.
#[repr(C, align(64))]
struct Frame {
    /// The blocks of the two streams.
    words: [[Word; 16]; 2],
    /// The chaining values of the two streams.
    states: [[Word; 8]; 2],
    /// The chaining value before the first block.
    start: [Word; 8],
    /// Where digests come from when eight words of them are in two vectors.
    orders: [[u64; 8]; 2],
    iv: [u32; 4],
}

/// One block of each of sixteen rows.
#[derive(Copy, Clone)]
#[repr(C)]
struct Job {
    blocks: *const u8,
    pitch: usize,
    /// Where blocks will be read later.
    ahead: *const u8,
    /// The chaining value before the block.
    state: *const [Word; 8],
    tail: *const [u32; 4],
    /// Where the digests go if the block is the last one, otherwise null.
    digests: *mut ByteDigest,
}

const _: () = {
    assert!(offset_of!(Frame, words).is_multiple_of(64) && size_of::<[Word; 16]>() == 1024);
    assert!(offset_of!(Frame, states).is_multiple_of(64) && size_of::<[Word; 8]>() == 512);
    assert!(offset_of!(Frame, start).is_multiple_of(64));
    assert!(offset_of!(Frame, orders).is_multiple_of(64));
};

impl Job {
    const NONE: Self = Self {
        blocks: ptr::null(),
        pitch: 0,
        ahead: ptr::null(),
        state: ptr::null(),
        tail: ptr::null(),
        digests: ptr::null_mut(),
    };
}

/// Pairs of jobs between two starts of the loop. One pair of rows has so many blocks at most.
const PAIRS_MAX: usize = 32;

/// Jobs between two starts of the loop whose blocks are staged.
const STAGED_MAX: usize = 16;

/// Blocks of sixteen rows that are not whole, put together.
#[repr(C, align(64))]
struct Staged([MaybeUninit<[[u8; BLOCK_BYTES]; LANES]>; STAGED_MAX]);

/// Puts together the blocks of sixteen rows of which `part` is a part.
///
/// # Safety
/// The part is readable in sixteen rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn stage(
    part: Part,
    rows: *const u8,
    pitch: usize,
    blocks: &mut MaybeUninit<[[u8; BLOCK_BYTES]; LANES]>,
) -> *const u8 {
    let mask = ((1_u64 << part.len) - 1) << part.front;
    let to: *mut __m512i = blocks.as_mut_ptr().cast();
    for lane in 0..LANES {
        let row = rows
            .wrapping_add(lane * pitch + part.from)
            .wrapping_sub(part.front);
        // SAFETY: bounds: the caller vouches for the bytes in the mask, and lanes are below 16.
        unsafe {
            let block = _mm512_maskz_loadu_epi8(mask, row.cast());
            _mm512_storeu_si512(to.add(lane), block);
        }
    }
    to.cast_const().cast()
}

/// Hashes an even number of batches of sixteen rows, in two streams.
macro_rules! streams {
    ($name:ident, $function:ident) => {
        /// # Safety
        /// As [`Backend::hash`], and the rows are a multiple of 32.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $name(layout: &Layout, rows: &Rows) {
            let mut frame = Frame::new(layout);
            let mut staged = Staged([const { MaybeUninit::uninit() }; STAGED_MAX]);
            let mut jobs = [Job::NONE; 2 * PAIRS_MAX];
            let per_run = rows_per_run(layout);
            for first in (0..rows.count).step_by(per_run) {
                let count = per_run.min(rows.count - first);
                let rows = rows.part(first, count);
                let frame: *mut Frame = &raw mut frame;
                // SAFETY: bounds: the rows are some of those that the caller vouches for.
                let left = unsafe { fill(layout, &rows, frame, &mut staged, &mut jobs) };
                let jobs = jobs.as_ptr();
                // SAFETY: bounds: there are `left` pairs of jobs, whose rows and digests the caller
                // vouches for; other operands in memory are in the frame; layout: the frame is
                // aligned, as asserted above.
                unsafe { work!($function, frame, jobs, left) };
            }
        }
    };
}

streams!(blake3_streams, blake3);
streams!(blake2s_streams, blake2s);

impl Frame {
    fn new(layout: &Layout) -> Self {
        Self {
            words: [[[0; LANES]; 16]; 2],
            states: [[[0; LANES]; 8]; 2],
            start: layout.start.map(|word| [word; LANES]),
            orders: [[0, 1, 8, 9, 2, 3, 10, 11], [4, 5, 12, 13, 6, 7, 14, 15]],
            iv: [IV[0], IV[1], IV[2], IV[3]],
        }
    }
}

/// The rows between two starts of the loop, a multiple of 32.
fn rows_per_run(layout: &Layout) -> usize {
    let parts = (0..layout.blocks).map(|block| layout.part(block));
    let staged = parts.filter(|part| !part.is_whole()).count();
    let pairs = (PAIRS_MAX / layout.blocks).min(STAGED_MAX / (2 * staged.max(1)));
    2 * LANES * pairs
}

/// Writes the jobs of the rows, of the two streams by turns, and returns how many pairs there are.
///
/// # Safety
/// As [`Backend::hash`]; the rows are a multiple of 32, at most those of a run.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn fill(
    layout: &Layout,
    rows: &Rows,
    frame: *const Frame,
    staged: &mut Staged,
    jobs: &mut [Job],
) -> usize {
    let (mut pairs, mut used) = (0, 0);
    for first in (0..rows.count).step_by(2 * LANES) {
        for (block, tail) in layout.tails[..layout.blocks].iter().enumerate() {
            let part = layout.part(block);
            for stream in 0..2 {
                let first = first + stream * LANES;
                let base = rows.base.wrapping_add(first * rows.pitch);
                let (blocks, pitch, ahead) = if part.is_whole() {
                    let blocks = base.wrapping_add(part.from);
                    let ahead = blocks.wrapping_add(2 * LANES * rows.pitch);
                    (blocks, rows.pitch, ahead)
                } else {
                    // SAFETY: bounds: the part is within the rows, for which the caller vouches.
                    let blocks = unsafe { stage(part, base, rows.pitch, &mut staged.0[used]) };
                    used += 1;
                    (blocks, BLOCK_BYTES, blocks)
                };
                jobs[2 * pairs + stream] = Job {
                    blocks,
                    pitch,
                    ahead,
                    state: frame
                        .cast::<u8>()
                        .wrapping_add(if block == 0 {
                            offset_of!(Frame, start)
                        } else {
                            offset_of!(Frame, states) + stream * size_of::<[Word; 8]>()
                        })
                        .cast(),
                    tail,
                    digests: if block + 1 == layout.blocks {
                        rows.out.wrapping_add(first)
                    } else {
                        ptr::null_mut()
                    },
                };
            }
            pairs += 1;
        }
    }
    pairs
}

/// The back end.
#[derive(Copy, Clone, Debug)]
pub(super) struct Avx512Hash(Avx512);

impl Avx512Hash {
    pub(super) fn new(token: Avx512) -> Self {
        Self(token)
    }
}

impl Backend for Avx512Hash {
    fn name(&self) -> &'static str {
        "avx512"
    }

    fn lanes(&self) -> usize {
        LANES
    }

    unsafe fn hash(&self, function: Function, layout: &Layout, rows: &Rows) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn blake3(token: Avx512, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake3Mixing, Avx512Lanes>(token, layout, rows) };
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn blake2s(token: Avx512, layout: &Layout, rows: &Rows) {
            // SAFETY: as the caller's.
            unsafe { body::hash::<Blake2sMixing, Avx512Lanes>(token, layout, rows) };
        }
        let even = rows.count / (2 * LANES) * (2 * LANES);
        let (pairs, last) = (rows.part(0, even), rows.part(even, rows.count - even));
        // SAFETY: feature: the token in `self`; bounds: the caller vouches for the rows, and the first of
        // them are a multiple of 32.
        unsafe {
            match function {
                Function::Blake3 => {
                    blake3_streams(layout, &pairs);
                    blake3(self.0, layout, &last);
                }
                Function::Blake2s => {
                    blake2s_streams(layout, &pairs);
                    blake2s(self.0, layout, &last);
                }
            }
        }
    }
}
