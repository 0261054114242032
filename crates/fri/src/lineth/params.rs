//! Parameters and statements, and what follows from both of them: levels, trees, lengths.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use lanework_field::Field;
use lanework_field::koala::Ext6;
use lanework_hash::{Digest, RoundConstants};

use super::Error;

/// The parameters of openings.
#[derive(Clone, Debug)]
pub struct Params {
    log_codeword: u32,
    log_plaintext: u32,
    log_final: u32,
    queries: usize,
    constants: RoundConstants<16>,
}

impl Params {
    /// The parameters for columns of at most 2^`log_plaintext` values with codewords of at most 2^`log_codeword`
    /// cells, so of inverse rate 2^(`log_codeword` - `log_plaintext`); folding ends at a polynomial of
    /// 2^`log_final` coefficients, of which lineth's own proofs have one.
    ///
    /// A proof works with the largest size it opens in the place of `log_plaintext`, at the same rate.
    ///
    /// # Errors
    /// [`Error::Code`], [`Error::FinalSize`], [`Error::NoQueries`].
    pub fn new(
        log_codeword: u32,
        log_plaintext: u32,
        log_final: u32,
        queries: usize,
    ) -> Result<Self, Error> {
        /// log2 of the largest order of a root of unity.
        const LOG_LONGEST: u32 = 24;
        if log_codeword <= log_plaintext || log_codeword > LOG_LONGEST {
            return Err(Error::Code {
                log_codeword,
                log_plaintext,
            });
        }
        if log_final > log_plaintext {
            return Err(Error::FinalSize {
                log_final,
                log_plaintext,
            });
        }
        if queries == 0 {
            return Err(Error::NoQueries);
        }
        Ok(Self {
            log_codeword,
            log_plaintext,
            log_final,
            queries,
            constants: RoundConstants::<16>::gnark(),
        })
    }

    /// Sets the constants of the permutation, which are gnark-crypto's otherwise.
    #[must_use]
    pub fn with_constants(self, constants: RoundConstants<16>) -> Self {
        Self { constants, ..self }
    }

    /// log2 of the longest codeword.
    pub fn log_codeword(&self) -> u32 {
        self.log_codeword
    }

    /// log2 of the largest column.
    pub fn log_plaintext(&self) -> u32 {
        self.log_plaintext
    }

    /// log2 of the coefficients of the final polynomial.
    pub fn log_final(&self) -> u32 {
        self.log_final
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// log2 of codeword length over column length.
    pub fn log_inv_rate(&self) -> u32 {
        self.log_codeword - self.log_plaintext
    }

    /// The constants of the permutation.
    pub fn constants(&self) -> &RoundConstants<16> {
        &self.constants
    }
}

/// Levels below the root at which a tree of 2^`log_leaves` leaves is cut when `queries` leaves are opened: as
/// many as make room for the queries, but with a step left below. 0 is no cap at all.
pub fn cap_depth(queries: usize, log_leaves: u32) -> u32 {
    if queries <= 1 || log_leaves <= 1 {
        return 0;
    }
    ((queries - 1).ilog2() + 1).min(log_leaves - 1)
}

/// A table of a batch and where its columns are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// log2 of its rows.
    pub log_rows: u32,
    /// The shifts of each base column: at least one, all different and below the number of rows.
    pub base: Vec<Vec<usize>>,
    /// The shifts of each extension column.
    pub extension: Vec<Vec<usize>>,
}

impl Opened {
    /// The table of 2^`log_rows` rows of so many columns, all opened at the same shifts.
    pub fn at(log_rows: u32, base_width: usize, ext_width: usize, shifts: &[usize]) -> Self {
        Self {
            log_rows,
            base: vec![shifts.to_vec(); base_width],
            extension: vec![shifts.to_vec(); ext_width],
        }
    }

    /// The shifts of all columns in order.
    pub(super) fn columns(&self) -> impl Iterator<Item = &[usize]> {
        self.base.iter().chain(&self.extension).map(Vec::as_slice)
    }

    fn has_shape_of(&self, other: &Self) -> bool {
        let shape = |table: &Self| (table.log_rows, table.base.len(), table.extension.len());
        shape(self) == shape(other)
    }
}

/// A commitment and where it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The commitment.
    pub root: Digest,
    /// All its tables, in any order.
    pub tables: Vec<Opened>,
}

/// What a proof is about. All of it must come from the caller, who has absorbed it, never from the proof.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The commitments.
    pub batches: &'a [Batch],
    /// The point.
    pub zeta: Ext6,
    /// The values claimed, in canonical order.
    pub claims: &'a [Ext6],
}

/// What follows from parameters and batches.
pub(super) struct Plan<'a> {
    pub(super) log_inv_rate: u32,
    /// log2 of the largest table.
    pub(super) log_rows: u32,
    pub(super) log_final: u32,
    pub(super) queries: usize,
    /// The sizes there are, the largest first.
    pub(super) levels: Vec<Level<'a>>,
    pub(super) trees: Vec<InputTree<'a>>,
    /// The tree of each batch.
    pub(super) tree_of: Vec<usize>,
    pub(super) claims_len: usize,
}

/// The tables of one size.
pub(super) struct Level<'a> {
    pub(super) log_rows: u32,
    /// With their batches, in order.
    pub(super) tables: Vec<(usize, &'a Opened)>,
    /// Where their claims are.
    pub(super) claims: Range<usize>,
}

/// An input tree that is opened.
pub(super) struct InputTree<'a> {
    /// The first batch that has it.
    pub(super) batch: usize,
    pub(super) root: Digest,
    /// The smallest table first.
    pub(super) tables: Vec<&'a Opened>,
    /// log2 of its largest table.
    pub(super) log_rows: u32,
    /// log2 of its leaves.
    pub(super) height: u32,
    /// The level of the cap.
    pub(super) depth: u32,
}

impl InputTree<'_> {
    /// The index of the table with pairs at `level` of the tree, if there is one.
    pub(super) fn table_at(&self, level: u32) -> Option<usize> {
        let below = self.tables.len() - 1;
        let log_inv_rate = self.height - self.log_rows;
        let is_there = |table: &&Opened| table.log_rows + log_inv_rate == level + 1;
        self.tables[..below].iter().position(is_there)
    }

    /// The tables whose auxiliary digests lie above the cap.
    pub(super) fn revealed(&self) -> &[&Opened] {
        let log_inv_rate = self.height - self.log_rows;
        let is_above = |table: &&Opened| table.log_rows + log_inv_rate <= self.depth;
        &self.tables[..self.tables.partition_point(is_above)]
    }

    /// Siblings on the path of an opening, which are as many as the levels at which there may be pairs.
    pub(super) fn siblings_len(&self) -> usize {
        (self.height - 1 - self.depth) as usize
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(params: &Params, batches: &'a [Batch], zeta: Ext6) -> Result<Self, Error> {
        let log_inv_rate = params.log_inv_rate();
        let log_final = params.log_final;
        let sizes = batches.iter().enumerate().map(|(batch, value)| {
            check_tables(params, batch, &value.tables)?;
            let largest = value.tables.iter().map(|table| table.log_rows).max();
            largest.ok_or(Error::NoTables { batch })
        });
        let sizes: Vec<u32> = sizes.collect::<Result<_, _>>()?;
        let log_rows = sizes.iter().copied().max().ok_or(Error::NoBatches)?;
        if log_rows == log_final {
            return Err(Error::NoRounds { log_rows });
        }

        let mut levels = Vec::new();
        let mut claims_len = 0;
        for log_rows in (log_final..=log_rows).rev() {
            let mut tables = Vec::new();
            let start = claims_len;
            for (batch, value) in batches.iter().enumerate() {
                if let Some(table) = value.tables.iter().find(|table| table.log_rows == log_rows) {
                    claims_len += table.columns().map(<[usize]>::len).sum::<usize>();
                    tables.push((batch, table));
                }
            }
            if !tables.is_empty() {
                levels.push(Level {
                    log_rows,
                    tables,
                    claims: start..claims_len,
                });
            }
        }
        let boundary = levels
            .last()
            .is_some_and(|level| level.log_rows == log_final);
        if boundary && log_final > 1 {
            return Err(Error::Boundary { log_final });
        }

        // The smaller domains are parts of the largest.
        if zeta.pow(1 << (log_rows + log_inv_rate)) == Ext6::ONE {
            return Err(Error::ZetaInDomain);
        }
        let mut columns = batches
            .iter()
            .flat_map(|batch| &batch.tables)
            .flat_map(Opened::columns);
        if zeta == Ext6::ZERO && columns.any(|shifts| shifts.len() > 1) {
            return Err(Error::ZetaZero);
        }

        let mut plan = Self {
            log_inv_rate,
            log_rows,
            log_final,
            queries: params.queries,
            levels,
            trees: Vec::new(),
            tree_of: vec![0; batches.len()],
            claims_len,
        };
        plan.add_trees(batches, &sizes)?;
        Ok(plan)
    }

    /// Finds the trees in the order in which they are met in canonical order: each first with its largest table.
    fn add_trees(&mut self, batches: &'a [Batch], sizes: &[u32]) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..batches.len()).collect();
        order.sort_by_key(|&batch| Reverse(sizes[batch]));
        let mut by_root = HashMap::new();
        for batch in order {
            let mut tables: Vec<&Opened> = batches[batch].tables.iter().collect();
            tables.sort_by_key(|table| table.log_rows);
            let root = batches[batch].root;
            let tree = *by_root.entry(root).or_insert(self.trees.len());
            self.tree_of[batch] = tree;
            if let Some(tree) = self.trees.get(tree) {
                let alike = |(table, other): (&&Opened, &&Opened)| table.has_shape_of(other);
                let same_len = tree.tables.len() == tables.len();
                if !(same_len && tree.tables.iter().zip(&tables).all(alike)) {
                    return Err(Error::SameRoot {
                        first: tree.batch,
                        second: batch,
                    });
                }
                continue;
            }
            let height = sizes[batch] + self.log_inv_rate;
            self.trees.push(InputTree {
                batch,
                root,
                tables,
                log_rows: sizes[batch],
                height,
                depth: cap_depth(self.queries, height),
            });
        }
        Ok(())
    }

    /// Rounds of folding: at least one.
    pub(super) fn rounds(&self) -> u32 {
        self.log_rows - self.log_final
    }

    /// log2 of the values of running layer `layer`, which is 0 before the first round.
    pub(super) fn log_layer(&self, layer: u32) -> u32 {
        self.log_rows + self.log_inv_rate - layer
    }

    /// The running layers that are committed to.
    pub(super) fn layers(&self) -> Range<u32> {
        1..self.rounds()
    }

    /// The level of the cap of the tree over running layer `layer`.
    pub(super) fn layer_depth(&self, layer: u32) -> u32 {
        cap_depth(self.queries, self.log_layer(layer))
    }

    /// The columns that enter at round `round`.
    pub(super) fn level_at(&self, round: u32) -> Option<&Level<'a>> {
        let mut levels = self.levels.iter();
        levels.find(|level| self.log_rows - level.log_rows == round)
    }

    /// The level that is not folded.
    pub(super) fn boundary(&self) -> Option<&Level<'a>> {
        self.level_at(self.rounds())
    }

    pub(super) fn check_claims(&self, claims: &[Ext6]) -> Result<(), Error> {
        let (expected, got) = (self.claims_len, claims.len());
        if expected == got {
            Ok(())
        } else {
            Err(Error::Claims { expected, got })
        }
    }

    pub(super) fn check_positions(&self, positions: &[usize]) -> Result<(), Error> {
        let (expected, got) = (self.queries, positions.len());
        if expected != got {
            return Err(Error::Positions { expected, got });
        }
        let log_len = self.log_layer(0);
        match positions
            .iter()
            .position(|position| position >> log_len != 0)
        {
            None => Ok(()),
            Some(query) => Err(Error::Position {
                query,
                position: positions[query],
                log_len,
            }),
        }
    }
}

fn check_tables(params: &Params, batch: usize, tables: &[Opened]) -> Result<(), Error> {
    let (min, max) = (params.log_final, params.log_plaintext);
    let mut seen = 0_u32;
    for table in tables {
        let log_rows = table.log_rows;
        if log_rows > max {
            return Err(Error::TableTooLarge {
                batch,
                log_rows,
                max,
            });
        }
        if log_rows < min {
            return Err(Error::TableTooSmall {
                batch,
                log_rows,
                min,
            });
        }
        if seen >> log_rows & 1 == 1 {
            return Err(Error::SameSize { batch, log_rows });
        }
        seen |= 1 << log_rows;
        if table.columns().next().is_none() {
            return Err(Error::NoColumns { batch, log_rows });
        }
        for (column, shifts) in table.columns().enumerate() {
            if shifts.is_empty() {
                return Err(Error::NoShifts {
                    batch,
                    log_rows,
                    column,
                });
            }
            let mut sorted = shifts.to_vec();
            sorted.sort_unstable();
            let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
            let aliased = twice.map(|pair| pair[0]);
            let aliased = aliased.or(sorted.last().copied().filter(|last| last >> log_rows != 0));
            if let Some(shift) = aliased {
                return Err(Error::AliasedShift {
                    batch,
                    log_rows,
                    column,
                    shift,
                });
            }
        }
    }
    Ok(())
}
