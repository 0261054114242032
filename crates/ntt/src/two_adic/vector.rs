//! What the body needs of a vector, and how any [`Lanes`] provide it.
#![expect(unsafe_code, reason = "loads and stores of vectors")]

use lanework_field::KoalaBear;
use lanework_field::koala::lanes::{Kernel, Lanes, Prepared};

/// A vector of elements in the middle of a transform.
///
/// In registers and in working memory an element may be any number congruent to it; how far it may
/// grow between two reductions is the business of the back end. Everywhere else it is a word of 32
/// bits: below p in messages and codewords, of any range in the lines the passes leave for each
/// other. A line is two vectors.
///
/// # Safety
/// The pointers of the functions are valid for what each says it reads or writes. Words of tables
/// are made by [`Vector::word`].
pub(crate) trait Vector: Copy {
    const NAME: &'static str;
    const LOG_LEN: u32;
    const LEN: usize = 1 << Self::LOG_LEN;

    /// The proof that the instructions exist.
    type Token: Copy + Send + Sync;
    /// One lane in working memory.
    type Cell: Copy;
    /// A constant in memory, ready for use.
    type Twiddle: Copy + Send + Sync;
    /// The same constant for all lanes.
    type Constant: Copy;
    /// A constant per lane.
    type Factor: Copy + Send + Sync;
    /// Vectors of plain words, for moving elements about.
    type Words: Lanes;

    /// Runs `kernel`, compiled with the instructions of this type.
    fn run<K: Kernel>(token: Self::Token, kernel: K) -> K::Output;
    /// The token of the vectors of words.
    fn words(token: Self::Token) -> <Self::Words as Lanes>::Token;

    /// What tables hold of a constant.
    fn word(constant: KoalaBear) -> u32;
    /// Prepares `len` words, rounded up to whole vectors.
    unsafe fn expand(
        token: Self::Token,
        words: *const u32,
        twiddles: *mut Self::Twiddle,
        len: usize,
    );
    unsafe fn constant(token: Self::Token, twiddle: *const Self::Twiddle) -> Self::Constant;
    /// Prepares a vector of words.
    unsafe fn factor(token: Self::Token, words: *const u32) -> Self::Factor;
    /// Prepares a vector of words times a constant.
    unsafe fn factor_times(
        token: Self::Token,
        words: *const u32,
        constant: &Self::Constant,
    ) -> Self::Factor;

    unsafe fn load_cells(token: Self::Token, cells: *const Self::Cell) -> Self;
    unsafe fn store_cells(self, cells: *mut Self::Cell);
    /// A vector of a message.
    unsafe fn load_message(token: Self::Token, elements: *const KoalaBear) -> Self;
    /// One of the two vectors of a line.
    unsafe fn load_half<const HALF: usize>(token: Self::Token, line: *const KoalaBear) -> Self;
    /// Writes a line of two vectors that come out of a product or [`Vector::reduce`].
    unsafe fn store_line(first: Self, second: Self, line: *mut KoalaBear);
    /// Writes final elements that come out of a product or [`Vector::reduce`]: the lanes of the two
    /// vectors by turns.
    unsafe fn store_alternating(even: Self, odd: Self, elements: *mut KoalaBear);
    /// The same past the caches, where the back end can. `elements` begin a cache line, and
    /// [`Vector::fence`] comes before anyone else looks.
    #[inline(always)]
    unsafe fn stream_alternating(even: Self, odd: Self, elements: *mut KoalaBear) {
        // SAFETY: bounds: the caller's.
        unsafe { Self::store_alternating(even, odd, elements) };
    }
    /// Orders what has been streamed before what this thread stores later.
    fn fence() {}
    /// The same as `store_alternating`, one vector after the other.
    unsafe fn store_consecutive(first: Self, second: Self, elements: *mut KoalaBear);

    /// The same elements in the range of a line.
    fn reduce(self) -> Self;
    /// (a + c b, a - c b).
    fn butterfly(self, other: Self, constant: &Self::Constant) -> (Self, Self);
    /// The same with a constant per lane.
    fn butterfly_by(self, other: Self, factor: &Self::Factor) -> (Self, Self);
    /// The product, in the range of a line.
    fn mul_by(self, factor: &Self::Factor) -> Self;
    /// See [`Lanes::interleave`].
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self);

    /// Has the instructions before a layer stay before those after it. Compilers like to finish
    /// one chain of butterflies before the next, which leaves most units idle.
    #[inline(always)]
    fn keep_order<const N: usize>(_: &mut [Self; N]) {}
}

/// Montgomery words of 32 bits, always below p.
#[derive(Copy, Clone)]
pub(crate) struct Montgomery<L>(L);

impl<L: Lanes> Vector for Montgomery<L> {
    const NAME: &'static str = L::ISA.name();
    const LOG_LEN: u32 = L::LEN.ilog2();

    type Token = L::Token;
    type Cell = KoalaBear;
    type Twiddle = Prepared;
    type Constant = Prepared;
    type Factor = L::Multiplier;
    type Words = L;

    #[inline(always)]
    fn run<K: Kernel>(token: L::Token, kernel: K) -> K::Output {
        L::run(token, kernel)
    }

    #[inline(always)]
    fn words(token: L::Token) -> L::Token {
        token
    }

    #[inline(always)]
    fn word(constant: KoalaBear) -> u32 {
        constant.montgomery_word()
    }

    #[inline(always)]
    unsafe fn expand(_: L::Token, words: *const u32, twiddles: *mut Prepared, len: usize) {
        for i in 0..len {
            // SAFETY: bounds: the caller's; layout: words of tables are those of elements.
            unsafe {
                twiddles
                    .add(i)
                    .write(Prepared::new(words.cast::<KoalaBear>().add(i).read()));
            };
        }
    }

    #[inline(always)]
    unsafe fn constant(_: L::Token, twiddle: *const Prepared) -> Prepared {
        // SAFETY: bounds: the caller's.
        unsafe { twiddle.read() }
    }

    #[inline(always)]
    unsafe fn factor(token: L::Token, words: *const u32) -> L::Multiplier {
        // SAFETY: bounds: the caller's; layout: words of tables are those of elements.
        unsafe { L::load(token, words.cast()) }.prepare()
    }

    #[inline(always)]
    unsafe fn factor_times(
        token: L::Token,
        words: *const u32,
        constant: &Prepared,
    ) -> L::Multiplier {
        // SAFETY: bounds: the caller's; layout: words of tables are those of elements.
        unsafe { L::load(token, words.cast()) }
            .mul_prepared(constant)
            .prepare()
    }

    #[inline(always)]
    unsafe fn load_cells(token: L::Token, cells: *const KoalaBear) -> Self {
        // SAFETY: bounds: the caller's.
        Self(unsafe { L::load(token, cells) })
    }

    #[inline(always)]
    unsafe fn store_cells(self, cells: *mut KoalaBear) {
        // SAFETY: bounds: the caller's.
        unsafe { self.0.store(cells) }
    }

    #[inline(always)]
    unsafe fn load_message(token: L::Token, elements: *const KoalaBear) -> Self {
        // SAFETY: bounds: the caller's.
        Self(unsafe { L::load(token, elements) })
    }

    #[inline(always)]
    unsafe fn load_half<const HALF: usize>(token: L::Token, line: *const KoalaBear) -> Self {
        // SAFETY: bounds: the caller's.
        Self(unsafe { L::load(token, line.add(HALF * L::LEN)) })
    }

    #[inline(always)]
    unsafe fn store_line(first: Self, second: Self, line: *mut KoalaBear) {
        // SAFETY: bounds: the caller's.
        unsafe {
            first.0.store(line);
            second.0.store(line.add(L::LEN));
        }
    }

    #[inline(always)]
    unsafe fn store_alternating(even: Self, odd: Self, elements: *mut KoalaBear) {
        // The choice of the vector, the lowest bit of a position, changes places with each bit of
        // the lane in turn.
        let (mut a, mut b) = (even.0, odd.0);
        (a, b) = a.interleave::<1>(b);
        (a, b) = a.interleave::<2>(b);
        (a, b) = a.interleave::<4>(b);
        (a, b) = a.interleave::<8>(b);
        // SAFETY: bounds: the caller's.
        unsafe { Self::store_line(Self(a), Self(b), elements) };
    }

    #[inline(always)]
    unsafe fn store_consecutive(first: Self, second: Self, elements: *mut KoalaBear) {
        // SAFETY: bounds: the caller's.
        unsafe { Self::store_line(first, second, elements) };
    }

    #[inline(always)]
    fn reduce(self) -> Self {
        self
    }

    #[inline(always)]
    fn butterfly(self, other: Self, constant: &Prepared) -> (Self, Self) {
        let product = other.0.mul_prepared(constant);
        (Self(self.0 + product), Self(self.0 - product))
    }

    #[inline(always)]
    fn butterfly_by(self, other: Self, factor: &L::Multiplier) -> (Self, Self) {
        let product = other.0.mul_by(factor);
        (Self(self.0 + product), Self(self.0 - product))
    }

    #[inline(always)]
    fn mul_by(self, factor: &L::Multiplier) -> Self {
        Self(self.0.mul_by(factor))
    }

    #[inline(always)]
    fn interleave<const BLOCK: usize>(self, other: Self) -> (Self, Self) {
        let (lower, upper) = self.0.interleave::<BLOCK>(other.0);
        (Self(lower), Self(upper))
    }
}
