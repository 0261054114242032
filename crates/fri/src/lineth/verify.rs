//! The verifier: scalar, on one thread, and without trust in the proof.
//!
//! All lengths are compared with those that follow from parameters and statement before anything is hashed or
//! allocated by them. After that every index below is within bounds.

use lanework_arch::Choice;
use lanework_field::koala::Ext6;
use lanework_field::{Field, KoalaBear, batch_inverse};
use lanework_hash::{Compression, DIGEST_LEN, Digest, MerkleDamgard, Poseidon2, RowHasher};
use lanework_merkle::lineth::header;

use super::params::{InputTree, Level, Opened, Plan};
use super::proof::{InputCap, InputOpening, Proof, Row, RunningOpening};
use super::quotient::{Quotient, point};
use super::{Challenges, Error, Params, Part, Statement};

/// Checks that `proof` proves `statement`. `challenges` have absorbed the statement.
///
/// # Errors
/// What is wrong with the statement, the first thing that is wrong with the proof, or
/// [`Error::NoChallenge`], [`Error::Positions`] and [`Error::Position`] for challenges that do not suffice.
pub fn verify<C: Challenges + ?Sized>(
    params: &Params,
    statement: &Statement<'_>,
    challenges: &mut C,
    proof: &Proof,
) -> Result<(), Error> {
    let plan = Plan::new(params, statement.batches, statement.zeta)?;
    plan.check_claims(statement.claims)?;
    check_lengths(&plan, proof)?;

    let mut alphas = Vec::new();
    for round in 0..plan.rounds() {
        alphas.push(challenges.alpha().ok_or(Error::NoChallenge { round })?);
        match proof.round_roots.get(round as usize) {
            Some(root) => challenges.absorb_root(root),
            None => challenges.absorb_final(&proof.final_polynomial),
        }
    }
    let positions = challenges.positions(plan.queries, plan.log_layer(0));
    plan.check_positions(&positions)?;

    let permutation = Poseidon2::<16>::new(params.constants(), Choice::portable());
    let hash = MerkleDamgard::new(permutation);
    check_caps(&plan, &hash, proof)?;
    let verifier = Verifier {
        levels: (0..=plan.rounds())
            .map(|round| {
                let level = plan.level_at(round)?;
                // The boundary level has no round of its own and takes the challenge of the last one.
                let alpha = match alphas.get(round as usize) {
                    Some(alpha) => alpha.square(),
                    None => *alphas.last()?,
                };
                let quotient = Quotient::new(level, statement.zeta, statement.claims, alpha);
                Some((level, quotient))
            })
            .collect(),
        plan: &plan,
        hash,
        alphas,
        proof,
    };
    let mut boundary = None;
    for (query, &position) in positions.iter().enumerate() {
        verifier.check_paths(query, position)?;
        verifier.check_folding(query, position)?;
        let value = verifier.check_boundary(query, position)?;
        if *boundary.get_or_insert(value) != value {
            return Err(Error::BoundaryValue { query });
        }
    }
    Ok(())
}

fn check(part: Part, got: usize, expected: usize) -> Result<(), Error> {
    if got == expected {
        Ok(())
    } else {
        Err(Error::Length {
            part,
            expected,
            got,
        })
    }
}

/// Nodes of a cap.
fn nodes_len(depth: u32) -> usize {
    if depth == 0 { 0 } else { 1 << depth }
}

fn check_lengths(plan: &Plan<'_>, proof: &Proof) -> Result<(), Error> {
    let (trees, queries) = (plan.trees.len(), plan.queries);
    check(Part::InputCaps, proof.input_caps.len(), trees)?;
    for (tree, (shape, cap)) in plan.trees.iter().zip(&proof.input_caps).enumerate() {
        let part = Part::InputNodes { tree };
        check(part, cap.nodes.len(), nodes_len(shape.depth))?;
        let expected = shape.revealed();
        let part = Part::RevealedTables { tree };
        check(part, cap.tables.len(), expected.len())?;
        for (opened, table) in expected.iter().zip(&cap.tables) {
            let log_rows = opened.log_rows;
            if table.log_rows != log_rows {
                return Err(Error::RevealedSize {
                    tree,
                    expected: log_rows,
                    got: table.log_rows,
                });
            }
            let rows_len = 1 << (log_rows + plan.log_inv_rate);
            let part = Part::RevealedRows { tree, log_rows };
            check(part, table.rows.len(), rows_len)?;
            check_rows(tree, opened, &table.rows)?;
        }
    }
    check(Part::InputQueries, proof.input_queries.len(), queries)?;
    for (query, openings) in proof.input_queries.iter().enumerate() {
        check(Part::InputTrees { query }, openings.len(), trees)?;
        for (tree, (shape, opening)) in plan.trees.iter().zip(openings).enumerate() {
            check_opening(query, tree, shape, opening)?;
        }
    }

    let layers = plan.layers().len();
    check(Part::RoundRoots, proof.round_roots.len(), layers)?;
    check(Part::RoundCaps, proof.round_caps.len(), layers)?;
    for (layer, cap) in plan.layers().zip(&proof.round_caps) {
        let part = Part::RoundNodes { layer };
        check(part, cap.len(), nodes_len(plan.layer_depth(layer)))?;
    }
    let final_len = 1 << plan.log_final;
    check(
        Part::FinalPolynomial,
        proof.final_polynomial.len(),
        final_len,
    )?;
    check(Part::RunningQueries, proof.running_queries.len(), queries)?;
    for (query, openings) in proof.running_queries.iter().enumerate() {
        check(Part::RunningLayers { query }, openings.len(), layers)?;
        for (layer, opening) in plan.layers().zip(openings) {
            let expected = plan.log_layer(layer) - plan.layer_depth(layer);
            let part = Part::RunningSiblings { query, layer };
            check(part, opening.siblings.len(), expected as usize)?;
        }
    }
    Ok(())
}

fn check_opening(
    query: usize,
    tree: usize,
    shape: &InputTree<'_>,
    opening: &InputOpening,
) -> Result<(), Error> {
    let expected = shape.siblings_len();
    let part = Part::InputSiblings { query, tree };
    check(part, opening.siblings.len(), expected)?;
    let part = Part::InputLevels { query, tree };
    check(part, opening.pairs.len(), expected)?;
    for (level, pair) in (shape.depth..).zip(&opening.pairs) {
        match (shape.table_at(level), pair) {
            (None, None) => {}
            (Some(table), Some(pair)) => check_rows(tree, shape.tables[table], pair)?,
            (Some(_), None) => return Err(Error::MissingPair { query, tree, level }),
            (None, Some(_)) => return Err(Error::UnexpectedPair { query, tree, level }),
        }
    }
    check_rows(tree, shape.tables[shape.tables.len() - 1], &opening.bottom)
}

fn check_rows(tree: usize, opened: &Opened, rows: &[Row]) -> Result<(), Error> {
    let log_rows = opened.log_rows;
    for row in rows {
        let part = Part::BaseCells { tree, log_rows };
        check(part, row.base.len(), opened.base.len())?;
        let part = Part::ExtensionCells { tree, log_rows };
        check(part, row.extension.len(), opened.extension.len())?;
    }
    Ok(())
}

/// The digest of a row, or of a pair with the even one first.
fn hash_rows(hash: &MerkleDamgard, opened: &Opened, rows: &[&Row]) -> Digest {
    let mut message = header(opened.base.len(), opened.extension.len()).to_vec();
    message.extend(rows.iter().flat_map(|row| row.cells()));
    hash.hash_slice(&message)
}

fn check_caps(plan: &Plan<'_>, hash: &MerkleDamgard, proof: &Proof) -> Result<(), Error> {
    for (tree, (shape, cap)) in plan.trees.iter().zip(&proof.input_caps).enumerate() {
        let InputCap { nodes, tables } = cap;
        let mut nodes = nodes.clone();
        for level in (0..shape.depth).rev() {
            nodes = parents(hash, &nodes);
            let Some(table) = shape.table_at(level) else {
                continue;
            };
            for (node, pair) in nodes.iter_mut().zip(tables[table].rows.chunks_exact(2)) {
                let digest = hash_rows(hash, shape.tables[table], &[&pair[0], &pair[1]]);
                *node = hash.compress(node, &digest);
            }
        }
        if shape.depth > 0 && nodes != [shape.root] {
            return Err(Error::InputCap { tree });
        }
    }
    let roots = proof.round_roots.iter().zip(&proof.round_caps);
    for (layer, (&root, cap)) in plan.layers().zip(roots) {
        let mut nodes = cap.clone();
        for _ in 0..plan.layer_depth(layer) {
            nodes = parents(hash, &nodes);
        }
        if !cap.is_empty() && nodes != [root] {
            return Err(Error::RunningCap { layer });
        }
    }
    Ok(())
}

fn parents(hash: &MerkleDamgard, nodes: &[Digest]) -> Vec<Digest> {
    let (pairs, _) = nodes.as_chunks::<2>();
    let parent = |[left, right]: &[Digest; 2]| hash.compress(left, right);
    pairs.iter().map(parent).collect()
}

/// The parent of `node`, which is at `index` of its level, and `sibling`.
fn parent(hash: &MerkleDamgard, index: usize, node: &Digest, sibling: &Digest) -> Digest {
    if index & 1 == 0 {
        hash.compress(node, sibling)
    } else {
        hash.compress(sibling, node)
    }
}

/// The pair in the order in which it lies in memory, the first one being at `index`.
fn even_first(index: usize, [own, conjugate]: &[Row; 2]) -> [&Row; 2] {
    if index & 1 == 0 {
        [own, conjugate]
    } else {
        [conjugate, own]
    }
}

/// What all queries are checked with.
struct Verifier<'a> {
    plan: &'a Plan<'a>,
    hash: MerkleDamgard,
    alphas: Vec<Ext6>,
    /// What enters in each round; the last one is the boundary level.
    levels: Vec<Option<(&'a Level<'a>, Quotient)>>,
    proof: &'a Proof,
}

impl Verifier<'_> {
    fn check_paths(&self, query: usize, position: usize) -> Result<(), Error> {
        for (tree, shape) in self.plan.trees.iter().enumerate() {
            let opening = &self.proof.input_queries[query][tree];
            let index = position >> (self.plan.log_rows - shape.log_rows);
            let expected = match &self.proof.input_caps[tree].nodes[..] {
                [] => shape.root,
                nodes => nodes[index >> (shape.height - shape.depth)],
            };
            if self.climb(shape, index, opening) != expected {
                return Err(Error::InputPath { query, tree });
            }
        }
        for (at, layer) in self.plan.layers().enumerate() {
            let RunningOpening { leaf, siblings } = &self.proof.running_queries[query][at];
            let mut index = position >> layer;
            let mut node = *leaf;
            for sibling in siblings.iter().rev() {
                node = parent(&self.hash, index, &node, sibling);
                index >>= 1;
            }
            let expected = match &self.proof.round_caps[at][..] {
                [] => self.proof.round_roots[at],
                nodes => nodes[index],
            };
            if node != expected {
                return Err(Error::RunningPath { query, layer });
            }
        }
        Ok(())
    }

    /// The node of an input tree at the level of the cap, above the leaf at `index`.
    fn climb(&self, shape: &InputTree<'_>, mut index: usize, opening: &InputOpening) -> Digest {
        let hash = &self.hash;
        let leaf = |row| hash_rows(hash, shape.tables[shape.tables.len() - 1], &[row]);
        let [own, conjugate] = &opening.bottom;
        let mut node = parent(hash, index, &leaf(own), &leaf(conjugate));
        let levels = shape.depth..shape.height - 1;
        let steps = levels.zip(opening.siblings.iter().zip(&opening.pairs));
        for (level, (sibling, pair)) in steps.rev() {
            index >>= 1;
            node = parent(hash, index, &node, sibling);
            // `index` is that of the child, so of the row on the path.
            if let (Some(table), Some(pair)) = (shape.table_at(level), pair) {
                let rows = even_first(index, pair);
                let digest = hash_rows(hash, shape.tables[table], &rows);
                node = hash.compress(&node, &digest);
            }
        }
        node
    }

    fn check_folding(&self, query: usize, position: usize) -> Result<(), Error> {
        let mut x = point(position, self.plan.log_layer(0));
        let mut folded = Ext6::ZERO;
        for (round, &alpha) in (0..).zip(&self.alphas) {
            let mut pair = [Ext6::ZERO; 2];
            if round > 0 {
                pair = self.running_pair(query, round)?;
                if pair[0] != folded {
                    return Err(Error::Fold {
                        query,
                        layer: round,
                    });
                }
            }
            if let Some((level, quotient)) = &self.levels[round as usize] {
                pair = self.combine(query, position >> round, (level, quotient), pair, x)?;
            }
            let [own, conjugate] = pair;
            let half = KoalaBear::ONE.halve();
            // A root of unity is not zero.
            let inverse = x.inverse().unwrap_or_default();
            folded = (own + conjugate) * half + alpha * (own - conjugate) * (inverse * half);
            x = x.square();
        }
        let coefficients = self.proof.final_polynomial.iter().rev();
        let value = coefficients.fold(Ext6::ZERO, |value, &coefficient| value * x + coefficient);
        if folded == value {
            Ok(())
        } else {
            Err(Error::Final { query })
        }
    }

    /// The values of a running layer at the position and at its conjugate.
    fn running_pair(&self, query: usize, layer: u32) -> Result<[Ext6; 2], Error> {
        let opening = &self.proof.running_queries[query][layer as usize - 1];
        let element = |leaf: &Digest| {
            let (limbs, padding) = leaf.0.split_at(Ext6::DEGREE);
            let mut element = Ext6::ZERO;
            element.0.copy_from_slice(limbs);
            let is_zero = padding == [KoalaBear::ZERO; DIGEST_LEN - Ext6::DEGREE];
            is_zero.then_some(element)
        };
        // At least one step is left below a cap.
        let conjugate = opening.siblings.last().and_then(element);
        match (element(&opening.leaf), conjugate) {
            (Some(own), Some(conjugate)) => Ok([own, conjugate]),
            _ => Err(Error::Padding { query, layer }),
        }
    }

    /// The value of the boundary level at the position.
    fn check_boundary(&self, query: usize, position: usize) -> Result<Option<Ext6>, Error> {
        let rounds = self.plan.rounds();
        let Some((level, quotient)) = &self.levels[rounds as usize] else {
            return Ok(None);
        };
        let position = position >> rounds;
        let x = point(position, self.plan.log_layer(rounds));
        let zeros = [Ext6::ZERO; 2];
        let [own, conjugate] = self.combine(query, position, (level, quotient), zeros, x)?;
        if own != conjugate {
            return Err(Error::BoundaryPair { query });
        }
        if level.log_rows == 0 {
            for &(batch, opened) in &level.tables {
                let [own, conjugate] = self.rows(query, position, batch, opened)?;
                if own != conjugate {
                    return Err(Error::BoundaryRows { query });
                }
            }
        }
        Ok(Some(own))
    }

    /// What the columns of a level make of the values `running` at x and -x, x being the point of `position`.
    fn combine(
        &self,
        query: usize,
        position: usize,
        (level, quotient): (&Level<'_>, &Quotient),
        running: [Ext6; 2],
        x: KoalaBear,
    ) -> Result<[Ext6; 2], Error> {
        let mut sums = [0; 2].map(|_| vec![Ext6::ZERO; quotient.groups_len()]);
        let mut columns = quotient.columns.iter();
        for &(batch, opened) in &level.tables {
            let rows = self.rows(query, position, batch, opened)?;
            let columns = columns.by_ref().take(opened.columns().count());
            for (index, column) in columns.enumerate() {
                for (sums, row) in sums.iter_mut().zip(rows) {
                    sums[column.group] += match index.checked_sub(row.base.len()) {
                        None => column.coefficient * row.base[index],
                        Some(index) => column.coefficient * row.extension[index],
                    };
                }
            }
        }
        let mut inverses = vec![Ext6::ZERO; quotient.points_len()];
        let mut value = |x, running, sums: &[Ext6]| {
            quotient.denominators(x, &mut inverses);
            batch_inverse(&mut inverses);
            quotient.value(running, sums, &inverses)
        };
        Ok([
            value(x, running[0], &sums[0]),
            value(-x, running[1], &sums[1]),
        ])
    }

    /// The row of a table at `position` of its codewords, and the conjugate one.
    fn rows(
        &self,
        query: usize,
        position: usize,
        batch: usize,
        opened: &Opened,
    ) -> Result<[&Row; 2], Error> {
        let tree = self.plan.tree_of[batch];
        let shape = &self.plan.trees[tree];
        let opening = &self.proof.input_queries[query][tree];
        let [own, conjugate] = if opened.log_rows == shape.log_rows {
            &opening.bottom
        } else {
            let level = opened.log_rows + self.plan.log_inv_rate - 1;
            let missing = Error::MissingPair { query, tree, level };
            let Some(below) = level.checked_sub(shape.depth) else {
                let table = shape.table_at(level).ok_or(missing)?;
                let rows = &self.proof.input_caps[tree].tables[table].rows;
                return Ok([&rows[position], &rows[position ^ 1]]);
            };
            opening.pairs[below as usize].as_ref().ok_or(missing)?
        };
        Ok([own, conjugate])
    }
}
