//! Tables made by generators, for tests and measurements.

use std::fmt;
use std::str::FromStr;

use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_field::KoalaBear;
use lanework_field::koala::spec::P;

use crate::{ColumnSource, Error, Shape, Table};

/// Which cells to make. Written `lineth:SEED` or `random:SEED`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Generator {
    /// The cells of lineth's published benchmark, whose roots are known.
    Lineth {
        /// Its seed.
        seed: u64,
    },
    /// Independent uniform cells.
    Random {
        /// Its seed.
        seed: u64,
    },
}

impl FromStr for Generator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error = || Error::Generator {
            text: text.to_owned(),
        };
        let (name, seed) = text.split_once(':').ok_or_else(error)?;
        let seed = seed.parse().map_err(|_| error())?;
        match name {
            "lineth" => Ok(Self::Lineth { seed }),
            "random" => Ok(Self::Random { seed }),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lineth { seed } => write!(f, "lineth:{seed}"),
            Self::Random { seed } => write!(f, "random:{seed}"),
        }
    }
}

impl Generator {
    /// A table of 2^`log_rows` rows of `width` base columns, made on the current threads.
    ///
    /// # Errors
    /// [`Error::Memory`].
    ///
    /// # Panics
    /// If `log_rows` is not below the bits of an address.
    pub fn table(self, log_rows: u32, width: usize, pages: Pages) -> Result<Table<'static>, Error> {
        assert!(
            log_rows < usize::BITS,
            "no address space has 2^{log_rows} rows"
        );
        let rows_len = 1 << log_rows;
        let mut cells = Slab::zeroed(width.saturating_mul(rows_len), pages)?;
        let groups = cells.chunks_mut(COLUMNS * rows_len).enumerate();
        Threads::current().for_each(groups, |(index, columns)| {
            let columns = columns.chunks_exact_mut(rows_len).enumerate();
            let columns = columns
                .map(|(i, column)| ((index * COLUMNS + i) as u64, column))
                .collect();
            match self {
                Self::Lineth { seed } => lineth(seed, log_rows, columns),
                Self::Random { seed } => random(seed, columns),
            }
        });
        Table::slab(cells, Shape::base(log_rows, width))
    }
}

/// The columns that [`Generator::table`] makes, each of them when it is asked for.
///
/// ```
/// use lanework_arch::memory::Pages;
/// use lanework_field::KoalaBear;
/// use lanework_fri::ColumnSource;
/// use lanework_fri::synthetic::{Columns, Generator};
///
/// let generator = Generator::Random { seed: 1 };
/// let columns = Columns::new(generator, 4, 9);
/// let mut buffer = [KoalaBear::ZERO; 16];
/// let table = generator.table(4, 9, Pages::Normal)?;
/// assert_eq!(columns.column(7, &mut buffer), table.column(7));
/// # Ok::<(), lanework_fri::Error>(())
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Columns {
    generator: Generator,
    shape: Shape,
}

impl Columns {
    /// The columns of 2^`log_rows` rows of `width` base columns.
    pub fn new(generator: Generator, log_rows: u32, width: usize) -> Self {
        Self {
            generator,
            shape: Shape::base(log_rows, width),
        }
    }
}

impl ColumnSource for Columns {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn column<'a>(&'a self, index: usize, buffer: &'a mut [KoalaBear]) -> &'a [KoalaBear] {
        let width = self.shape.base_width;
        assert!(index < width, "a table of {width} columns has no {index}");
        let column = vec![(index as u64, &mut *buffer)];
        match self.generator {
            Generator::Lineth { seed } => lineth(seed, self.shape.log_rows, column),
            Generator::Random { seed } => random(seed, column),
        }
        buffer
    }
}

/// Columns made side by side, because each step of a generator waits for the one before.
const COLUMNS: usize = 4;

/// xorshift64* from a start that depends on seed, height and column; its outputs are fed back, and
/// reduced modulo p for the cells. Source: lineth-monorepo, the benchmark of
/// `prover-ray/crypto/koalabear/fri`.
fn lineth(seed: u64, log_rows: u32, mut columns: Vec<(u64, &mut [KoalaBear])>) {
    let start = |column: u64| {
        seed ^ (log_rows as u64 + 1).wrapping_mul(0x9e37_79b1_85eb_ca87)
            ^ (column + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
    };
    let step = |mut x: u64| {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        x.wrapping_mul(2685821657736338717)
    };
    if let [(a, cells_a), (b, cells_b), (c, cells_c), (d, cells_d)] = &mut columns[..] {
        let mut state = [*a, *b, *c, *d].map(start);
        let rows = cells_a
            .iter_mut()
            .zip(cells_b.iter_mut())
            .zip(cells_c.iter_mut().zip(&mut **cells_d));
        for ((a, b), (c, d)) in rows {
            state = state.map(step);
            [*a, *b, *c, *d] = state.map(KoalaBear::from_u64);
        }
    } else {
        for (column, cells) in columns {
            let mut x = start(column);
            for cell in cells {
                x = step(x);
                *cell = KoalaBear::from_u64(x);
            }
        }
    }
}

/// `SplitMix64` with one stream for each column, scaled to [0, p).
fn random(seed: u64, columns: Vec<(u64, &mut [KoalaBear])>) {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for (column, cells) in columns {
        let start = mix(mix(seed).wrapping_add(column));
        for (row, cell) in (1..).zip(cells) {
            let z = mix(start.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(row)));
            *cell = KoalaBear::new((((z >> 32) * P as u64) >> 32) as u32);
        }
    }
}
