//! What the machine offers and how Lanework uses it: instruction sets, caches, memory, files and
//! threads.
//!
//! Use it to choose kernels for the CPU at hand, and for what safe code cannot do by itself.
//!
//! | module | what it has |
//! |---|---|
//! | the root | [`Choice`] of an instruction set, and the tokens that prove one to a kernel |
//! | [`cpu`] | the CPU's name, its cores, its caches |
//! | [`files`] | reads at given positions, for data larger than memory |
//! | [`memory`] | zeroed slabs on huge pages, disjoint views, streaming stores, peak memory |
//! | [`threads`] | how many threads, whose pool, and loops over work items |
//!
//! ```
//! use lanework_arch::memory::{Pages, Slab, row_blocks};
//! use lanework_arch::threads::Threads;
//! use lanework_arch::{Choice, cpu::Cpu};
//!
//! println!("{} with {}", Cpu::detect().brand, Choice::best());
//! // 16 columns of 1024 rows, written 100 rows at a time.
//! let mut table = Slab::<u32>::zeroed(16 << 10, Pages::Normal)?;
//! Threads::current().for_each(row_blocks(&mut table, 1 << 10, 100), |mut block| {
//!     for (i, column) in block.columns_mut().enumerate() {
//!         column.fill(i as u32);
//!     }
//! });
//! assert_eq!(table[5 << 10], 5);
//! # Ok::<(), lanework_arch::memory::Error>(())
//! ```

pub mod cpu;
pub mod files;
mod isa;
pub mod memory;
pub mod threads;

pub use isa::{
    Avx2, Avx2Gfni, Avx2Pclmul, Avx2Vpclmul, Avx512, Avx512Gfni, Avx512Ifma, Avx512Vpclmul, Choice,
    ChoiceError, Feature, Features, Isa, Neon, NeonPmull, NeonSha3, Portable,
};
