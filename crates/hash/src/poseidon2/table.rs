//! The switch: which back end computes many instances, what each must provide, and the safe
//! functions over it that check lengths and do the tails.
#![expect(
    unsafe_code,
    reason = "hands checked slices to the kernels as pointers"
)]

use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use lanework_arch::Neon;
#[cfg(target_arch = "x86_64")]
use lanework_arch::{Avx2, Avx512, Avx512Ifma};
use lanework_arch::{Choice, Feature, Isa};
use lanework_field::KoalaBear;
#[cfg(target_arch = "aarch64")]
use lanework_field::koala::lanes::NeonLanes;
#[cfg(target_arch = "x86_64")]
use lanework_field::koala::lanes::{Avx2Lanes, Avx512Lanes};

use super::RoundConstants;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::body::Body;
use super::portable::OneByOne;
use super::single::Single;
#[cfg(target_arch = "x86_64")]
use super::x86_avx512_ifma::{Ifma16, Ifma24};
use crate::digest::DIGEST_LEN;
use crate::{Cell, Digest, Part};

/// Where the cells of consecutive rows come from: the cell of row `r` is at `base + r * step`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct CellSource {
    /// The cell of row 0. With `step` 0, a block of [`LANES_MAX`] equal words.
    pub base: *const KoalaBear,
    /// 1 for a column, 0 for a constant.
    pub step: usize,
}

/// How the blocks of a row enter the state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absorb {
    /// Padding-free sponge: block words overwrite lanes 0..`rate`, then the state is permuted; a
    /// short last block overwrites its own lanes only. The digest is lanes 0..8.
    Sponge {
        /// Words per block.
        rate: usize,
    },
    /// Merkle-Damgard chain (width 16): the state is lanes 0..8, the block lanes 8..16; the next
    /// state is lanes 8..16 of the permuted state plus the block. Blocks are 8 cells each; the
    /// caller has padded the cells to a multiple of 8.
    Chain,
}

/// What a two-to-one compression does after the permutation (width 16).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// The digest is lanes 0..8 (Plonky3's truncated permutation).
    Truncate,
    /// The digest is lanes 8..16 plus the right input (gnark-crypto, lineth).
    Forward,
}

/// Two-to-one compressions `out[i] = C(left[i * stride], right[i * stride])`, and then
/// `out[i] = C(out[i], aux[i])` if `aux` is not null.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Pairs {
    pub left: *const Digest,
    pub right: *const Digest,
    /// 1, or 2 for adjacent inputs: `right` is then the digest after `left`.
    pub stride: usize,
    pub aux: *const Digest,
    /// May be `left` itself when `stride` is 1.
    pub out: *mut Digest,
    pub count: usize,
}

/// A back end that runs many instances of one permutation, with its constants prepared.
///
/// One implementation per instruction set and feature; each holds the token that proves its
/// instructions exist. Counts are multiples of [`Many::lanes`]; wrappers do the tails.
pub(crate) trait Many<const WIDTH: usize>: Send + Sync {
    /// The name in reports: `avx512-ifma`, `avx512`, `avx2`, `neon`, `portable`.
    fn name(&self) -> &'static str;

    /// Instances per step, at most [`LANES_MAX`]: counts given to the other functions are
    /// multiples of this.
    fn lanes(&self) -> usize;

    /// Permutes every state.
    fn permute(&self, states: &mut [[KoalaBear; WIDTH]]);

    /// Digests of rows `first_row .. first_row + out.len()`, absorbing `cells` from the zero state; or a part
    /// of that. Where `part` does not start a row, `out` has the words that its state begins with, and where it
    /// does not end one, gets those to go on with: lanes `absorb.carried(WIDTH)`. A part is made of what
    /// [`RowHasher::absorb_rows`](crate::RowHasher::absorb_rows) asks for.
    ///
    /// # Safety
    /// Every source with step 1 is readable at rows `first_row .. first_row + out.len()`, and every
    /// source with step 0 at [`LANES_MAX`] words.
    unsafe fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[CellSource],
        first_row: usize,
        out: &mut [Digest],
    );

    /// Compressions of pairs (width 16 only).
    ///
    /// # Safety
    /// The pointers of `pairs` are valid for its count and stride.
    unsafe fn compress(&self, feed: Feed, pairs: &Pairs);
}

/// The most instances any back end runs at once.
pub(crate) const LANES_MAX: usize = 32;

static ZERO_CELL: [KoalaBear; LANES_MAX] = [KoalaBear::ZERO; LANES_MAX];

/// One choice for each back end of this CPU, plainest first.
pub(crate) fn available() -> Vec<Choice> {
    let mut choices = Vec::new();
    for choice in Choice::available() {
        if choice.isa() == Isa::Avx512 && choice.has(Feature::Ifma) {
            choices.push(choice.without(Feature::Ifma));
        }
        choices.push(choice);
    }
    choices
}

/// The back end for `choice`, unless that is AVX-512 with IFMA, whose type depends on the width.
fn many<const WIDTH: usize>(
    constants: &RoundConstants<WIDTH>,
    choice: Choice,
) -> Box<dyn Many<WIDTH>> {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(token) = Avx512::new(choice) {
            return Box::new(Body::<Avx512Lanes, WIDTH>::new("avx512", token, constants));
        }
        if let Some(token) = Avx2::new(choice) {
            return Box::new(Body::<Avx2Lanes, WIDTH>::new("avx2", token, constants));
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(token) = Neon::new(choice) {
        return Box::new(Body::<NeonLanes, WIDTH>::new("neon", token, constants));
    }
    let _ = choice;
    Box::new(OneByOne::new(constants))
}

/// The kernels of one permutation: one for a single state, one for many.
pub(crate) struct Kernels<const WIDTH: usize> {
    one: Single<WIDTH>,
    many: Box<dyn Many<WIDTH>>,
}

impl Kernels<16> {
    pub(crate) fn new(constants: &RoundConstants<16>, choice: Choice) -> Self {
        let one = Single::new(constants, choice);
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = Avx512Ifma::new(choice)
            && let Some(many) = Ifma16::new(token, constants)
        {
            return Self {
                one,
                many: Box::new(many),
            };
        }
        Self {
            one,
            many: many(constants, choice),
        }
    }

    /// The compression of one pair.
    pub(crate) fn compress_one(&self, feed: Feed, left: &Digest, right: &Digest) -> Digest {
        self.one.compress(feed, left, right)
    }

    /// `parents[i] = C(children[2 i], children[2 i + 1])`, and then `C(parents[i], aux[i])`.
    pub(crate) fn compress_children(
        &self,
        feed: Feed,
        children: &[Digest],
        aux: Option<&[Digest]>,
        parents: &mut [Digest],
    ) {
        assert_eq!(children.len(), 2 * parents.len(), "two children per parent");
        if let Some(aux) = aux {
            assert_eq!(aux.len(), parents.len(), "one auxiliary digest per parent");
        }
        if parents.is_empty() {
            return;
        }
        let pairs = Pairs {
            left: children.as_ptr(),
            right: children[1..].as_ptr(),
            stride: 2,
            aux: aux.map_or(std::ptr::null(), <[_]>::as_ptr),
            out: parents.as_mut_ptr(),
            count: parents.len(),
        };
        // SAFETY: bounds: the lengths were compared above, and the pointers are of those slices.
        unsafe { self.compress(feed, pairs) };
    }

    /// `nodes[i] = C(nodes[i], right[i])`.
    pub(crate) fn compress_into(&self, feed: Feed, nodes: &mut [Digest], right: &[Digest]) {
        assert_eq!(nodes.len(), right.len(), "one right input per node");
        let count = nodes.len();
        let out = nodes.as_mut_ptr();
        let pairs = Pairs {
            left: out.cast_const(),
            right: right.as_ptr(),
            stride: 1,
            aux: std::ptr::null(),
            out,
            count,
        };
        // SAFETY: bounds: the lengths were compared above, and the pointers are of those slices.
        unsafe { self.compress(feed, pairs) };
    }

    /// Compresses any number of pairs.
    ///
    /// # Safety
    /// As [`Many::compress`].
    unsafe fn compress(&self, feed: Feed, pairs: Pairs) {
        let whole = pairs.count - pairs.count % self.many.lanes();
        if whole > 0 {
            // SAFETY: bounds: a prefix of what the caller vouches for, a multiple of the lanes.
            unsafe {
                let whole = Pairs {
                    count: whole,
                    ..pairs
                };
                self.many.compress(feed, &whole);
            };
        }
        let rest = pairs.count - whole;
        if rest == 0 {
            return;
        }
        let mut left = [Digest::ZERO; LANES_MAX];
        let mut right = [Digest::ZERO; LANES_MAX];
        let mut aux = [Digest::ZERO; LANES_MAX];
        for i in 0..rest {
            let at = whole + i;
            // SAFETY: bounds: `at` is below the count that the caller vouches for.
            unsafe {
                left[i] = pairs.left.add(at * pairs.stride).read();
                right[i] = pairs.right.add(at * pairs.stride).read();
                if !pairs.aux.is_null() {
                    aux[i] = pairs.aux.add(at).read();
                }
            }
        }
        if self.is_few(rest) {
            for i in 0..rest {
                left[i] = self.compress_one(feed, &left[i], &right[i]);
                if !pairs.aux.is_null() {
                    left[i] = self.compress_one(feed, &left[i], &aux[i]);
                }
            }
        } else {
            let padded = Pairs {
                left: left.as_ptr(),
                right: right.as_ptr(),
                stride: 1,
                aux: if pairs.aux.is_null() {
                    pairs.aux
                } else {
                    aux.as_ptr()
                },
                out: left.as_mut_ptr(),
                count: self.many.lanes(),
            };
            // SAFETY: bounds: the arrays hold `LANES_MAX` digests, at least the lanes.
            unsafe { self.many.compress(feed, &padded) };
        }
        for (i, digest) in left[..rest].iter().enumerate() {
            // SAFETY: bounds: `whole + i` is below the count that the caller vouches for.
            unsafe { pairs.out.add(whole + i).write(*digest) };
        }
    }
}

impl Kernels<24> {
    pub(crate) fn new(constants: &RoundConstants<24>, choice: Choice) -> Self {
        let one = Single::new(constants, choice);
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = Avx512Ifma::new(choice)
            && let Some(many) = Ifma24::new(token, constants)
        {
            return Self {
                one,
                many: Box::new(many),
            };
        }
        Self {
            one,
            many: many(constants, choice),
        }
    }
}

impl<const WIDTH: usize> Kernels<WIDTH> {
    pub(crate) fn name(&self) -> &'static str {
        self.many.name()
    }

    /// Whether so few instances are faster one after the other than in a padded batch.
    fn is_few(&self, count: usize) -> bool {
        count <= self.many.lanes() / 8
    }

    pub(crate) fn permute_one(&self, state: &mut [KoalaBear; WIDTH]) {
        self.one.permute(state);
    }

    pub(crate) fn permute_many(&self, states: &mut [[KoalaBear; WIDTH]]) {
        let (whole, rest) = states.split_at_mut(states.len() - states.len() % self.many.lanes());
        self.many.permute(whole);
        if self.is_few(rest.len()) {
            for state in rest {
                self.one.permute(state);
            }
        } else {
            let mut padded = [[KoalaBear::ZERO; WIDTH]; LANES_MAX];
            padded[..rest.len()].copy_from_slice(rest);
            self.many.permute(&mut padded[..self.many.lanes()]);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }

    /// The digest of one message.
    pub(crate) fn hash_one(&self, absorb: Absorb, message: &[KoalaBear]) -> Digest {
        let (part, state) = (Part::Whole, Digest::ZERO);
        self.one
            .hash(absorb, part, state, message.len(), |i| message[i])
    }

    /// The digests of `rows` of the table with the columns `cells`, or a part of them.
    pub(crate) fn hash_rows(
        &self,
        absorb: Absorb,
        part: Part,
        cells: &[Cell<'_>],
        rows: Range<usize>,
        out: &mut [Digest],
    ) {
        assert!(rows.start <= rows.end, "rows in ascending order");
        assert_eq!(rows.len(), out.len(), "one digest per row");
        for cell in cells {
            if let Cell::Column(column) = cell {
                assert!(
                    rows.end <= column.len(),
                    "row {} of a column of {}",
                    rows.end,
                    column.len()
                );
            }
        }
        absorb.check(part, WIDTH, cells.len());
        if cells.is_empty() {
            if part.starts() {
                out.fill(Digest::ZERO);
            }
            return;
        }
        let constants = constant_blocks(cells);
        let lanes = self.many.lanes();
        let (whole, rest) = out.split_at_mut(out.len() - out.len() % lanes);
        if !whole.is_empty() {
            let sources = sources(absorb, cells, &constants, |_, column| column.as_ptr());
            // SAFETY: bounds: every column holds the rows, as asserted above, and a constant has a
            // block of `LANES_MAX` words.
            unsafe {
                self.many
                    .hash_rows(absorb, part, &sources, rows.start, whole);
            };
        }
        let first = rows.start + whole.len();
        if self.is_few(rest.len()) {
            for (i, digest) in rest.iter_mut().enumerate() {
                *digest = self.one.hash(absorb, part, *digest, cells.len(), |c| {
                    cells[c].at(first + i)
                });
            }
        } else {
            let mut block = vec![KoalaBear::ZERO; cells.len() * lanes];
            for (words, cell) in block.chunks_exact_mut(lanes).zip(cells) {
                if let Cell::Column(column) = cell {
                    words[..rest.len()].copy_from_slice(&column[first..first + rest.len()]);
                }
            }
            let sources = sources(absorb, cells, &constants, |i, _| {
                block[i * lanes..].as_ptr()
            });
            let mut digests = [Digest::ZERO; LANES_MAX];
            digests[..rest.len()].copy_from_slice(rest);
            // SAFETY: bounds: the block holds `lanes` words for each column, and a constant has a
            // block of `LANES_MAX` words.
            unsafe {
                self.many
                    .hash_rows(absorb, part, &sources, 0, &mut digests[..lanes]);
            };
            rest.copy_from_slice(&digests[..rest.len()]);
        }
    }
}

impl Absorb {
    /// The first of the eight lanes of a state that are carried from one part of a row to the next: the
    /// others are overwritten, or zero.
    #[inline(always)]
    pub(crate) fn carried(self, width: usize) -> usize {
        match self {
            Self::Sponge { .. } => width - DIGEST_LEN,
            Self::Chain => 0,
        }
    }

    /// The first lane of a state that is in `out` after `part`.
    #[inline(always)]
    pub(crate) fn left(self, part: Part, width: usize) -> usize {
        if part.ends() { 0 } else { self.carried(width) }
    }

    /// Asserts that a row may have a part of `cell_count` cells.
    fn check(self, part: Part, width: usize, cell_count: usize) {
        if part == Part::Whole {
            return;
        }
        let block_len = match self {
            Self::Sponge { rate } => rate,
            Self::Chain => DIGEST_LEN,
        };
        if let Self::Sponge { rate } = self {
            assert!(
                width - rate <= DIGEST_LEN,
                "{} words to be carried",
                width - rate
            );
        }
        if part.ends() {
            assert!(cell_count >= block_len, "a whole block in the last part");
        } else {
            assert!(
                cell_count.is_multiple_of(block_len),
                "parts of whole blocks"
            );
        }
    }

    /// Where zeros are inserted into a row of `cell_count` cells, and how many.
    pub(crate) fn padding(self, cell_count: usize) -> (usize, usize) {
        match self {
            Self::Sponge { .. } => (cell_count, 0),
            Self::Chain => {
                let short = cell_count % DIGEST_LEN;
                (
                    cell_count - short,
                    if short == 0 { 0 } else { DIGEST_LEN - short },
                )
            }
        }
    }
}

fn constant_blocks(cells: &[Cell<'_>]) -> Vec<[KoalaBear; LANES_MAX]> {
    cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Constant(word) => Some([*word; LANES_MAX]),
            Cell::Column(_) => None,
        })
        .collect()
}

/// The sources of a row's cells, padded as `absorb` wants; `column` says where column i begins.
fn sources(
    absorb: Absorb,
    cells: &[Cell<'_>],
    constants: &[[KoalaBear; LANES_MAX]],
    column: impl Fn(usize, &[KoalaBear]) -> *const KoalaBear,
) -> Vec<CellSource> {
    let mut constants = constants.iter();
    let mut list: Vec<_> = cells
        .iter()
        .enumerate()
        .map(|(i, cell)| match cell {
            Cell::Constant(_) => {
                let block = constants.next().unwrap_or(&ZERO_CELL);
                CellSource {
                    base: block.as_ptr(),
                    step: 0,
                }
            }
            Cell::Column(words) => CellSource {
                base: column(i, words),
                step: 1,
            },
        })
        .collect();
    let (at, zeros) = absorb.padding(cells.len());
    let zero = CellSource {
        base: ZERO_CELL.as_ptr(),
        step: 0,
    };
    list.splice(at..at, std::iter::repeat_n(zero, zeros));
    list
}
