//! One nonce at a time in the integer registers of x86-64, in one loop of assembly.
//!
//! The state has one word more than there are registers for it beside the stack and the operands in
//! memory. v9, v10 and v11 live in memory, and `r11` holds the one that is worked on: between its sum
//! and the use of it there is then no trip to memory. A compiler moves other words as well, more often.
//!
//! The AVX2 kernel runs the same text in the shadow of its vectors.
#![expect(unsafe_code, reason = "inline assembly")]

use std::arch::asm;
use std::mem::offset_of;

use lanework_arch::Isa;

use super::precomputed::Constants;
use super::table::Backend;

/// What the loop keeps in memory beside the constants.
#[repr(C)]
pub(super) struct Integers {
    /// The nonce of the next bundle.
    pub nonce: u64,
    /// The value of the last one.
    pub value: u64,
    /// v9, v10 and v11.
    pub words: [u64; 3],
    /// The registers that the compiler does not lend.
    pub saved: [u64; 2],
    pub threshold: u64,
    /// The nonces of a bundle.
    pub step: u64,
    /// The bundles not done yet.
    pub left: u64,
}

impl Integers {
    pub(super) fn new(nonce: u64, threshold: u64, step: u64, bundles: u64) -> Self {
        Self {
            nonce,
            value: 0,
            words: [0; 3],
            saved: [0; 2],
            threshold,
            step,
            left: bundles,
        }
    }
}

/// The place of a word of the state.
macro_rules! place {
    (0) => {
        "rax"
    };
    (1) => {
        "rbx"
    };
    (2) => {
        "rcx"
    };
    (3) => {
        "rdx"
    };
    (4) => {
        "rdi"
    };
    (5) => {
        "rbp"
    };
    (6) => {
        "r8"
    };
    (7) => {
        "r9"
    };
    (8) => {
        "r10"
    };
    (9) => {
        "[rsi + {word_9}]"
    };
    (10) => {
        "[rsi + {word_10}]"
    };
    (11) => {
        "[rsi + {word_11}]"
    };
    (12) => {
        "r12"
    };
    (13) => {
        "r13"
    };
    (14) => {
        "r14"
    };
    (15) => {
        "r15"
    };
    // In memory: the nonce, or a field of the constants.
    ([m0]) => {
        "[rsi + {nonce}]"
    };
    ([$name:ident]) => {
        concat!("[rsi + {", stringify!($name), "}]")
    };
}

/// One instruction on two words, the first of which is in a register.
macro_rules! integer {
    ($instruction:ident, $d:tt, $b:tt) => {
        concat!(
            stringify!($instruction),
            " ",
            place!($d),
            ", ",
            place!($b),
            "\n"
        )
    };
}

/// Rotates d to the right.
macro_rules! integer_rotate {
    ($d:tt, $bits:tt) => {
        concat!("ror ", place!($d), ", ", $bits, "\n")
    };
}

/// c += d, if c is in a register.
macro_rules! integer_sum {
    (9, $d:tt) => {
        ""
    };
    (10, $d:tt) => {
        ""
    };
    (11, $d:tt) => {
        ""
    };
    ($c:tt, $d:tt) => {
        integer!(add, $c, $d)
    };
}

/// b ^= c, with c += d before that if c is in memory.
macro_rules! integer_mix {
    ($b:tt, 9, $d:tt) => {
        integer_mix!(memory, $b, 9, 9, $d)
    };
    ($b:tt, 10, $d:tt) => {
        integer_mix!(memory, $b, 10, 10, $d)
    };
    ($b:tt, 11, $d:tt) => {
        integer_mix!(memory, $b, 11, 11, $d)
    };
    ($b:tt, $c:tt, $d:tt) => {
        integer!(xor, $b, $c)
    };
    // b ^= c = from + d
    (memory, $b:tt, $c:tt, $from:tt, $d:tt) => {
        concat!(
            "mov r11, ",
            place!($from),
            "\n",
            "add r11, ",
            place!($d),
            "\n",
            "mov ",
            place!($c),
            ", r11\n",
            "xor ",
            place!($b),
            ", r11\n",
        )
    };
}

/// The first or the second six steps of quarter-rounds `a b c d [message word]`, side by side.
macro_rules! integer_turn {
    ($first:tt, $second:tt, $($a:tt $b:tt $c:tt $d:tt [$($m:ident)?],)*) => {
        concat!(
            $($(integer!(add, $a, [$m]),)?)*
            $(integer!(add, $a, $b),)*
            $(integer!(xor, $d, $a),)*
            $(integer_rotate!($d, $first),)*
            $(integer_sum!($c, $d),)*
            $(integer_mix!($b, $c, $d),)*
            $(integer_rotate!($b, $second),)*
        )
    };
}

macro_rules! integer_half_round {
    ($($a:tt $b:tt $c:tt $d:tt [$($x:ident)?] [$($y:ident)?],)*) => {
        concat!(
            integer_turn!(32, 24, $($a $b $c $d [$($x)?],)*),
            integer_turn!(16, 63, $($a $b $c $d [$($y)?],)*),
        )
    };
}

/// Round 0: what depends on the nonce.
macro_rules! integer_first_round {
    (columns) => {
        concat!(
            integer!(mov, 0, [m0]),
            integer!(add, 0, [sum_0_4]),
            integer!(mov, 12, [initial_12]),
            integer!(xor, 12, 0),
            integer_rotate!(12, 32),
            integer!(mov, 8, [initial_8]),
            integer!(add, 8, 12),
            integer!(mov, 4, [initial_4]),
            integer!(xor, 4, 8),
            integer_rotate!(4, 24),
            integer_turn!(16, 63, 0 4 8 12 [m1],),
        )
    };
    (diagonals) => {
        concat!(
            integer!(add, 0, [v5]),
            integer!(mov, 3, [v3]), integer!(add, 3, 4),
            integer!(mov, 15, [v15]), integer!(xor, 15, 0),
            integer!(xor, 12, [sum_1_6]),
            integer!(mov, 14, [v14]), integer!(xor, 14, 3),
            integer_rotate!(15, 32), integer_rotate!(12, 32), integer_rotate!(14, 32),
            integer!(add, 8, [mixed_13]),
            integer!(mov, 5, [v5]), integer_mix!(memory, 5, 10, [v10], 15),
            integer!(mov, 6, [v6]), integer_mix!(memory, 6, 11, [v11], 12),
            integer!(mov, 7, [v7]), integer!(xor, 7, 8),
            integer_mix!(memory, 4, 9, [v9], 14),
            integer_rotate!(5, 24), integer_rotate!(6, 24),
            integer_rotate!(7, 24), integer_rotate!(4, 24),
            integer!(mov, 1, [sum_1_6]),
            integer!(mov, 2, [sum_2_7]),
            integer!(mov, 13, [mixed_13]),
            integer_turn!(16, 63, 0 5 10 15 [], 1 6 11 12 [], 2 7 8 13 [], 3 4 9 14 [],),
        )
    };
}

/// Round 11: what v0 and v8 need of it.
macro_rules! integer_last_round {
    (columns) => {
        concat!(
            integer_turn!(32, 24, 0 4 8 12 [], 1 5 9 13 [m4], 2 6 10 14 [], 3 7 11 15 [],),
            integer_turn!(16, 63, 1 5 9 13 [], 3 7 11 15 [],),
            integer!(add, 0, 4),
            integer!(add, 2, 6),
            integer!(xor, 12, 0),
            integer!(xor, 14, 2),
            integer_rotate!(12, 16),
            integer_rotate!(14, 16),
            integer!(add, 8, 12),
            "add r14, ", place!(10), "\n",
            "mov ", place!(10), ", r14\n",
        )
    };
    (diagonals) => {
        concat!(
            integer_turn!(32, 24, 0 5 10 15 [m1], 2 7 8 13 [],),
            integer!(add, 0, 5),
            integer!(add, 2, 7),
            integer!(xor, 13, 2),
            integer_rotate!(13, 16),
            integer!(add, 8, 13),
        )
    };
}

/// The digest, kept in memory, and the nonce of the next bundle.
macro_rules! integer_finish {
    () => {
        concat!(
            integer!(xor, 0, [h0]),
            integer!(xor, 0, 8),
            "mov [rsi + {value}], rax\n",
            "mov rcx, [rsi + {step}]\n",
            "add [rsi + {nonce}], rcx\n",
        )
    };
}

/// The loop around the text of one bundle, which leaves it at label 3 if there is a hit. `$run` is a
/// struct with the fields `constants` and `integers`.
macro_rules! integer_loop {
    ($run:ty, $pointer:expr, [$($text:expr,)*], [$($operands:tt)*]) => {
        asm!(
            "mov [rsi + {saved}], rbx",
            "mov [rsi + {saved} + 8], rbp",
            ".p2align 4",
            "2:",
            $($text,)*
            "mov rax, [rsi + {value}]",
            "cmp rax, [rsi + {threshold}]",
            "jae 3f",
            "dec qword ptr [rsi + {left}]",
            "jnz 2b",
            "3:",
            "mov rbx, [rsi + {saved}]",
            "mov rbp, [rsi + {saved} + 8]",
            in("rsi") $pointer,
            nonce = const offset_of!($run, integers.nonce),
            value = const offset_of!($run, integers.value),
            word_9 = const offset_of!($run, integers.words),
            word_10 = const offset_of!($run, integers.words) + 8,
            word_11 = const offset_of!($run, integers.words) + 16,
            saved = const offset_of!($run, integers.saved),
            threshold = const offset_of!($run, integers.threshold),
            step = const offset_of!($run, integers.step),
            left = const offset_of!($run, integers.left),
            m1 = const offset_of!($run, constants.m1),
            m2 = const offset_of!($run, constants.m2),
            m3 = const offset_of!($run, constants.m3),
            m4 = const offset_of!($run, constants.m4),
            sum_0_4 = const offset_of!($run, constants.sum_0_4),
            initial_4 = const offset_of!($run, constants.initial_4),
            initial_8 = const offset_of!($run, constants.initial_8),
            initial_12 = const offset_of!($run, constants.initial_12),
            v3 = const offset_of!($run, constants.v3),
            v5 = const offset_of!($run, constants.v5),
            v6 = const offset_of!($run, constants.v6),
            v7 = const offset_of!($run, constants.v7),
            v9 = const offset_of!($run, constants.v9),
            v10 = const offset_of!($run, constants.v10),
            v11 = const offset_of!($run, constants.v11),
            v14 = const offset_of!($run, constants.v14),
            v15 = const offset_of!($run, constants.v15),
            sum_1_6 = const offset_of!($run, constants.sum_1_6),
            sum_2_7 = const offset_of!($run, constants.sum_2_7),
            mixed_13 = const offset_of!($run, constants.mixed_13),
            h0 = const offset_of!($run, constants.h0),
            out("rax") _, out("rcx") _, out("rdx") _, out("rdi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            $($operands)*
            options(nostack),
        )
    };
}

/// The half-rounds of rounds 1 to 10, for a macro that takes quarter-rounds `a b c d [message words x] [y]`,
/// after what else it takes.
macro_rules! middle_rounds {
    ($half_round:ident $($more:tt)*) => {
        concat!(
            // Round 1.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [m4] [], 2 6 10 14 [] [], 3 7 11 15 [] [],),
            $half_round!($($more)* 0 5 10 15 [m1] [], 1 6 11 12 [m0] [m2], 2 7 8 13 [] [], 3 4 9 14 [] [m3],),
            // Round 2.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [] [m0], 2 6 10 14 [] [m2], 3 7 11 15 [] [],),
            $half_round!($($more)* 0 5 10 15 [] [], 1 6 11 12 [m3] [], 2 7 8 13 [] [m1], 3 4 9 14 [] [m4],),
            // Round 3.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [m3] [m1], 2 6 10 14 [] [], 3 7 11 15 [] [],),
            $half_round!($($more)* 0 5 10 15 [m2] [], 1 6 11 12 [] [], 2 7 8 13 [m4] [m0], 3 4 9 14 [] [],),
            // Round 4.
            $half_round!($($more)* 0 4 8 12 [] [m0], 1 5 9 13 [] [], 2 6 10 14 [m2] [m4], 3 7 11 15 [] [],),
            $half_round!($($more)* 0 5 10 15 [] [m1], 1 6 11 12 [] [], 2 7 8 13 [] [], 3 4 9 14 [m3] [],),
            // Round 5.
            $half_round!($($more)* 0 4 8 12 [m2] [], 1 5 9 13 [] [], 2 6 10 14 [m0] [], 3 7 11 15 [] [m3],),
            $half_round!($($more)* 0 5 10 15 [m4] [], 1 6 11 12 [] [], 2 7 8 13 [] [], 3 4 9 14 [m1] [],),
            // Round 6.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [m1] [], 2 6 10 14 [] [], 3 7 11 15 [m4] [],),
            $half_round!($($more)* 0 5 10 15 [m0] [], 1 6 11 12 [] [m3], 2 7 8 13 [] [m2], 3 4 9 14 [] [],),
            // Round 7.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [] [], 2 6 10 14 [] [m1], 3 7 11 15 [m3] [],),
            $half_round!($($more)* 0 5 10 15 [] [m0], 1 6 11 12 [] [m4], 2 7 8 13 [] [], 3 4 9 14 [m2] [],),
            // Round 8.
            $half_round!($($more)* 0 4 8 12 [] [], 1 5 9 13 [] [], 2 6 10 14 [] [m3], 3 7 11 15 [m0] [],),
            $half_round!($($more)* 0 5 10 15 [] [m2], 1 6 11 12 [] [], 2 7 8 13 [m1] [m4], 3 4 9 14 [] [],),
            // Round 9.
            $half_round!($($more)* 0 4 8 12 [] [m2], 1 5 9 13 [] [m4], 2 6 10 14 [] [], 3 7 11 15 [m1] [],),
            $half_round!($($more)* 0 5 10 15 [] [], 1 6 11 12 [] [], 2 7 8 13 [m3] [], 3 4 9 14 [] [m0],),
            // Round 10.
            $half_round!($($more)* 0 4 8 12 [m0] [m1], 1 5 9 13 [m2] [m3], 2 6 10 14 [m4] [], 3 7 11 15 [] [],),
            $half_round!($($more)* 0 5 10 15 [] [], 1 6 11 12 [] [], 2 7 8 13 [] [], 3 4 9 14 [] [],),
        )
    };
}

/// What the scalar loop reads and writes.
#[repr(C, align(64))]
struct Run {
    constants: Constants,
    integers: Integers,
}

/// The search without vectors.
#[derive(Copy, Clone, Debug)]
pub(super) struct ScalarSearch;

impl Run {
    fn new(constants: &Constants, start: u64, threshold: u64, bundles: u64) -> Self {
        let integers = Integers::new(start, threshold, 1, bundles);
        Self {
            constants: *constants,
            integers,
        }
    }

    /// Searches the bundles that are left, of which there is at least one, up to the first hit, which
    /// stays among those left.
    fn search(&mut self) {
        let run: *mut Self = self;
        // SAFETY: bounds: operands in memory are fields of the struct. The registers that are not
        // declared are put back.
        unsafe {
            integer_loop!(
                Run,
                run,
                [
                    integer_first_round!(columns),
                    integer_first_round!(diagonals),
                    middle_rounds!(integer_half_round),
                    integer_last_round!(columns),
                    integer_last_round!(diagonals),
                    integer_finish!(),
                ],
                []
            );
        }
    }
}

impl Backend for ScalarSearch {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn isa(&self) -> Isa {
        Isa::Portable
    }

    fn lanes(&self) -> usize {
        1
    }

    fn bundle_len(&self) -> usize {
        1
    }

    fn scan(&self, constants: &Constants, start: u64, bundles: u64, threshold: u64) -> Option<u64> {
        if bundles == 0 {
            return None;
        }
        let mut run = Run::new(constants, start, threshold, bundles);
        run.search();
        let left = run.integers.left;
        (left > 0).then(|| bundles - left)
    }

    fn values(&self, constants: &Constants, start: u64, out: &mut [u64]) {
        let mut run = Run::new(constants, start, u64::MAX, 1);
        for value in out {
            run.integers.left = 1;
            run.search();
            *value = run.integers.value;
        }
    }
}
