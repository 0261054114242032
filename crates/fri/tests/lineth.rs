//! Openings by lineth's FRI: against published values, against the definition, and with everything wrong that
//! can be wrong.

use lanework_arch::Choice;
use lanework_arch::memory::Pages;
use lanework_arch::threads::Threads;
use lanework_field::koala::Ext6;
use lanework_field::{Field, KoalaBear};
use lanework_fri::lineth::{
    Batch, Challenges, Committed, Error, Fixed, Opened, Params, Part, Proof, Revealed, Row,
    Statement, cap_depth, claims, open, verify,
};
use lanework_fri::{Committer, Format, MemoryMode, ProverData, Sponge, Table, Tree, commit};
use lanework_hash::{Digest, RoundConstants};
use lanework_merkle::{Builder, lineth};
use lanework_testkit::cases::Rng;
use lanework_testkit::vectors::{Vector, koalabear};
use lanework_transcript::codec;
use lanework_transcript::lineth::FiatShamir;

/// The columns of a table, in natural order.
#[derive(Clone, Debug, Default)]
struct Columns {
    log_rows: u32,
    base: Vec<Vec<KoalaBear>>,
    extension: Vec<Vec<Ext6>>,
}

impl Columns {
    fn table(&self) -> Table<'static> {
        let base: Vec<_> = self.base.iter().map(Vec::as_slice).collect();
        let extension: Vec<_> = self.extension.iter().map(Vec::as_slice).collect();
        Table::copied(&base, &extension, Pages::Normal).unwrap()
    }
}

/// Commitments and what is opened of them.
struct Case {
    params: Params,
    data: Vec<ProverData<Table<'static>>>,
    batches: Vec<Batch>,
    zeta: Ext6,
    claims: Vec<Ext6>,
}

impl Case {
    /// Commits to `tables` and computes the claims. `opened` has the shifts.
    fn new(
        params: Params,
        memory: MemoryMode,
        tables: &[Vec<Columns>],
        opened: Vec<Vec<Opened>>,
        zeta: Ext6,
    ) -> Self {
        let commitments = lanework_fri::Params::builder(Format::Lineth)
            .log_inv_rate(params.log_inv_rate())
            .memory(memory)
            .build()
            .unwrap();
        let committer = Committer::new(commitments).unwrap();
        let mut data = Vec::new();
        let mut batches = Vec::new();
        for (tables, opened) in tables.iter().zip(opened) {
            let tables = tables.iter().map(Columns::table).collect();
            let (commitment, batch, _) = committer.commit(tables).unwrap();
            data.push(batch);
            batches.push(Batch {
                root: commitment.root().unwrap(),
                tables: opened,
            });
        }
        let mut case = Self {
            params,
            data,
            batches,
            zeta,
            claims: Vec::new(),
        };
        case.claims = claims(
            &case.params,
            Choice::best(),
            &case.committed(),
            &case.batches,
            zeta,
        )
        .unwrap();
        case
    }

    fn committed(&self) -> Vec<Committed<'_>> {
        self.data
            .iter()
            .map(|data| Committed::new(data).unwrap())
            .collect()
    }

    fn statement(&self) -> Statement<'_> {
        Statement {
            batches: &self.batches,
            zeta: self.zeta,
            claims: &self.claims,
        }
    }

    fn open(&self, challenges: &mut impl Challenges) -> Proof {
        open(
            &self.params,
            Choice::best(),
            &self.committed(),
            &self.statement(),
            challenges,
        )
        .unwrap()
    }

    fn verify(&self, challenges: &mut impl Challenges, proof: &Proof) -> Result<(), Error> {
        verify(&self.params, &self.statement(), challenges, proof)
    }

    /// A transcript that has absorbed the statement.
    fn transcript(&self) -> FiatShamir {
        let mut transcript = FiatShamir::new(&RoundConstants::<16>::gnark(), Choice::portable());
        for batch in &self.batches {
            transcript.absorb(&batch.root.0);
        }
        transcript.absorb_extension(&[self.zeta]);
        transcript.absorb_extension(&self.claims);
        transcript
    }
}

fn element(limbs: [u32; 6]) -> Ext6 {
    Ext6::from_canonical(limbs).unwrap()
}

fn elements(limbs: Vec<[u32; 6]>) -> Vec<Ext6> {
    limbs.into_iter().map(element).collect()
}

fn lifted(first_limbs: &[u32]) -> Vec<Ext6> {
    let element = |&limb| Ext6::from_base(KoalaBear::new(limb));
    first_limbs.iter().map(element).collect()
}

fn digest(words: [u32; 8]) -> Digest {
    Digest(words.map(KoalaBear::new))
}

fn digests(words: Vec<[u32; 8]>) -> Vec<Digest> {
    words.into_iter().map(digest).collect()
}

fn extension_row(cells: Vec<[u32; 6]>) -> Row {
    Row {
        base: Vec::new(),
        extension: elements(cells),
    }
}

fn pair(rows: Vec<Vec<[u32; 6]>>) -> [Row; 2] {
    let rows: Vec<Row> = rows.into_iter().map(extension_row).collect();
    rows.try_into().unwrap()
}

/// A list of columns in the published form.
#[derive(serde::Deserialize)]
struct Published {
    size_log2: u32,
    ext_first_limbs: Vec<Vec<u32>>,
}

impl Published {
    fn columns(&self) -> Columns {
        Columns {
            log_rows: self.size_log2,
            base: Vec::new(),
            extension: self
                .ext_first_limbs
                .iter()
                .map(|limbs| lifted(limbs))
                .collect(),
        }
    }
}

fn fri_params(vector: &Vector) -> Params {
    Params::new(
        vector.input("log_codeword_size"),
        vector.input("log_plaintext_size"),
        vector.input("log_final_poly_size"),
        vector.input("num_queries"),
    )
    .unwrap()
}

fn normal_flow() -> (Case, Fixed) {
    let commitment = koalabear().get("lineth_normal_flow_commit");
    let claims = koalabear().get("lineth_normal_flow_claims");
    let fri = koalabear().get("lineth_normal_flow_fold");
    let queries = koalabear().get("lineth_normal_flow_queries");
    let tables: Vec<Published> = commitment.input("tables");
    let tables: Vec<Columns> = tables.iter().map(Published::columns).collect();
    let shifts: Vec<Vec<usize>> = claims.input("shifts");
    let mut shifts = shifts.into_iter();
    let opened = tables.iter().map(|columns| Opened {
        log_rows: columns.log_rows,
        base: Vec::new(),
        extension: shifts.by_ref().take(columns.extension.len()).collect(),
    });
    let opened = opened.collect();
    let zeta = element(claims.input("zeta"));
    let case = Case::new(
        fri_params(fri),
        MemoryMode::Keep,
        &[tables],
        vec![opened],
        zeta,
    );
    let alphas = elements(fri.input("fold_alphas"));
    (case, Fixed::new(alphas, queries.input("query_positions")))
}

#[test]
fn the_published_normal_flow() {
    #[derive(serde::Deserialize)]
    struct Query {
        position: usize,
        bottom_pair_self_then_sibling: Vec<Vec<[u32; 6]>>,
        transmitted_siblings: Vec<[u32; 8]>,
        running_layer_1: Layer,
    }

    #[derive(serde::Deserialize)]
    struct Layer {
        leaf: [u32; 8],
        siblings: Vec<[u32; 8]>,
    }

    #[derive(serde::Deserialize)]
    struct Shown {
        size_log2: u32,
        rows: Vec<[u32; 6]>,
    }

    let (case, challenges) = normal_flow();
    let commitment = koalabear().get("lineth_normal_flow_commit");
    let expected = koalabear().get("lineth_normal_flow_claims");
    assert_eq!(case.batches[0].root, digest(commitment.output("root")));
    assert_eq!(
        case.claims,
        elements(expected.output("claims_in_canonical_order"))
    );

    let proof = case.open(&mut challenges.clone());
    let fri = koalabear().get("lineth_normal_flow_fold");
    assert_eq!(proof.round_roots, [digest(fri.output("layer_1_root"))]);
    assert_eq!(
        proof.round_caps,
        [digests(fri.output("layer_1_cap_depth_1"))]
    );
    assert_eq!(proof.final_polynomial, elements(fri.output("final_poly")));
    let constant: Vec<Ext6> = elements(fri.output("layer_2_codeword"));
    assert!(
        constant
            .iter()
            .all(|&value| value == proof.final_polynomial[0])
    );

    let queries = koalabear().get("lineth_normal_flow_queries");
    let layer: Vec<Ext6> = elements(fri.output("layer_1"));
    let published: Vec<Query> = queries.output("queries");
    assert_eq!(proof.input_queries.len(), published.len());
    for (index, query) in published.into_iter().enumerate() {
        assert_eq!(challenges.positions[index], query.position);
        let [input] = &proof.input_queries[index][..] else {
            panic!("one tree")
        };
        assert_eq!(input.bottom, pair(query.bottom_pair_self_then_sibling));
        assert_eq!(input.siblings, digests(query.transmitted_siblings));
        assert_eq!(input.pairs, []);
        let [running] = &proof.running_queries[index][..] else {
            panic!("one layer")
        };
        assert_eq!(running.leaf, digest(query.running_layer_1.leaf));
        assert_eq!(running.leaf.0[..6], layer[query.position >> 1].0);
        assert_eq!(running.siblings, digests(query.running_layer_1.siblings));
    }

    let nodes = digests(commitment.output("cap_depth_2_nodes"));
    assert_eq!(proof.input_caps[0].nodes, nodes);
    let shown: Vec<Shown> = queries.output("revealed_tables");
    let shown = shown.into_iter().map(|table| Revealed {
        log_rows: table.size_log2,
        rows: table
            .rows
            .into_iter()
            .map(|row| extension_row(vec![row]))
            .collect(),
    });
    assert_eq!(proof.input_caps[0].tables, shown.collect::<Vec<_>>());
    assert_eq!(case.verify(&mut challenges.clone(), &proof), Ok(()));
}

fn boundary_round() -> (Case, Fixed) {
    let vector = koalabear().get("lineth_boundary_round");
    let batches: Vec<Published> = vector.input("batches");
    let tables: Vec<Vec<Columns>> = batches.iter().map(|batch| vec![batch.columns()]).collect();
    let opened = batches
        .iter()
        .map(|batch| vec![Opened::at(batch.size_log2, 0, 1, &[0])]);
    let opened = opened.collect();
    let zeta = element(vector.input("zeta"));
    let case = Case::new(fri_params(vector), MemoryMode::Keep, &tables, opened, zeta);
    let alphas = elements(vector.input("fold_alphas"));
    (case, Fixed::new(alphas, vector.input("query_positions")))
}

#[test]
fn the_published_boundary_round() {
    #[derive(serde::Deserialize)]
    struct Query {
        batch_0_bottom_pair: Vec<Vec<[u32; 6]>>,
        batch_0_transmitted_siblings_top_down: Vec<[u32; 8]>,
        batch_1_bottom_pair: Vec<Vec<[u32; 6]>>,
        batch_1_transmitted_siblings_top_down: Vec<[u32; 8]>,
        layer_1_leaf: [u32; 8],
        layer_1_siblings_top_down: Vec<[u32; 8]>,
    }

    let (case, challenges) = boundary_round();
    let vector = koalabear().get("lineth_boundary_round");
    let roots: Vec<Digest> = case.batches.iter().map(|batch| batch.root).collect();
    assert_eq!(roots, digests(vector.output("roots")));
    assert_eq!(case.claims, elements(vector.output("claims")));
    let proof = case.open(&mut challenges.clone());
    assert_eq!(proof.round_roots, [digest(vector.output("layer_1_root"))]);
    assert_eq!(proof.round_caps, [vec![]]);
    assert_eq!(
        proof.final_polynomial,
        elements(vector.output("final_poly"))
    );
    let query: Query = vector.output("query_5");
    let [first, second] = &proof.input_queries[0][..] else {
        panic!("two trees")
    };
    assert_eq!(first.bottom, pair(query.batch_0_bottom_pair));
    assert_eq!(
        first.siblings,
        digests(query.batch_0_transmitted_siblings_top_down)
    );
    assert_eq!(first.pairs, [None, None, None]);
    assert_eq!(second.bottom, pair(query.batch_1_bottom_pair));
    assert_eq!(
        second.siblings,
        digests(query.batch_1_transmitted_siblings_top_down)
    );
    let running = &proof.running_queries[0][0];
    assert_eq!(running.leaf, digest(query.layer_1_leaf));
    assert_eq!(running.siblings, digests(query.layer_1_siblings_top_down));
    for cap in &proof.input_caps {
        assert_eq!((cap.nodes.len(), cap.tables.len()), (0, 0));
    }
    assert_eq!(case.verify(&mut challenges.clone(), &proof), Ok(()));

    // All values of the layers, by one query for each.
    let layer = elements(vector.output("layer_1"));
    let last = elements(vector.output("layer_2_codeword"));
    for (position, value) in layer.iter().enumerate() {
        let mut challenges = Fixed::new(challenges.alphas.clone(), vec![2 * position]);
        let proof = case.open(&mut challenges.clone());
        assert_eq!(proof.running_queries[0][0].leaf.0[..6], value.0);
        let x = point(position / 2, 2);
        let [constant, slope] = proof.final_polynomial[..] else {
            panic!("two coefficients")
        };
        assert_eq!(constant + slope * x, last[position / 2]);
        assert_eq!(case.verify(&mut challenges, &proof), Ok(()));
    }
    // The quotient is the published constant at all positions: half of the difference of the values 401, 402.
    let quotients = elements(vector.output("boundary_quotient_all_positions"));
    for (position, &quotient) in quotients.iter().enumerate() {
        let row = case.data[1].codewords()[0].row(position);
        let value: Vec<KoalaBear> = row.collect();
        let value = Ext6(value.try_into().unwrap());
        let denominator = Ext6::from_base(point(position, 2)) - case.zeta;
        assert_eq!((value - case.claims[1]), quotient * denominator);
    }
}

#[test]
fn a_false_claim_at_the_boundary_is_refused() {
    let (mut case, challenges) = boundary_round();
    let proof = case.open(&mut challenges.clone());
    let vector = koalabear().get("lineth_boundary_round_corrupted_claim");
    case.claims = elements(vector.input("claims"));
    assert_eq!(
        case.verify(&mut challenges.clone(), &proof),
        Err(Error::BoundaryPair { query: 0 })
    );
    let opened = open(
        &case.params,
        Choice::best(),
        &case.committed(),
        &case.statement(),
        &mut challenges.clone(),
    );
    assert_eq!(opened, Err(Error::FalseClaim));
}

#[test]
fn the_published_zero_codeword() {
    let vector = koalabear().get("lineth_fold_zero_codeword");
    let log_codeword = vector.input("log_codeword_size");
    let log_rows = vector.input("num_rounds");
    let params = Params::new(log_codeword, log_rows, 0, 1).unwrap();
    let zeros = Columns {
        log_rows,
        base: vec![vec![KoalaBear::ZERO; 1 << log_rows]],
        extension: Vec::new(),
    };
    let opened = vec![vec![Opened::at(log_rows, 1, 0, &[0])]];
    let zeta = element([5, 1, 0, 0, 0, 0]);
    let case = Case::new(params, MemoryMode::Keep, &[vec![zeros]], opened, zeta);
    assert_eq!(case.claims, [Ext6::ZERO]);
    let alphas = lifted(&vector.input::<Vec<u32>>("fold_alphas_first_limb"));
    let challenges = Fixed::new(alphas, vector.input("query_positions"));
    let proof = case.open(&mut challenges.clone());
    assert_eq!(proof.round_roots, digests(vector.output("layer_roots")));
    assert_eq!(
        proof.final_polynomial,
        elements(vector.output("final_poly"))
    );
    assert_eq!(case.verify(&mut challenges.clone(), &proof), Ok(()));
}

/// Without a round of folding, revisions of lineth disagree on the challenge that combines the columns, so the
/// statement is refused. What does not depend on the challenge is reproduced.
#[test]
fn a_statement_without_rounds_is_refused() {
    let vector = koalabear().get("lineth_d1_top_level");
    let limbs: Vec<Vec<u32>> = vector.input("ext_first_limbs");
    let columns = Columns {
        log_rows: 0,
        base: Vec::new(),
        extension: limbs.iter().map(|limbs| lifted(limbs)).collect(),
    };
    let commitments = lanework_fri::Params::builder(Format::Lineth)
        .log_inv_rate(2)
        .build();
    let (commitment, data, _) = commit(&commitments.unwrap(), vec![columns.table()]).unwrap();
    let Tree::Lineth(tree) = data.tree() else {
        panic!("format")
    };
    let [position]: [usize; 1] = vector.input("query_positions");
    let codeword = &data.codewords()[0];
    let rows = [position, position ^ 1].map(|index| {
        let limbs: Vec<KoalaBear> = codeword.row(index).collect();
        Row {
            base: Vec::new(),
            extension: vec![Ext6(limbs.try_into().unwrap())],
        }
    });
    assert_eq!(rows, pair(vector.output("leaf_pair_rows")));
    let sibling = tree.level(1)[position >> 1 ^ 1];
    assert_eq!(
        vec![sibling],
        digests(vector.output("transmitted_siblings"))
    );
    // The quotient of a constant and its value is zero.
    assert_eq!(rows[0].extension, elements(vector.input("claims")));
    assert_eq!(elements(vector.output("final_poly")), [Ext6::ZERO]);

    let log_codeword = vector.input("log_codeword_size");
    let params = Params::new(log_codeword, vector.input("log_plaintext_size"), 0, 1).unwrap();
    let batches = [Batch {
        root: commitment.root().unwrap(),
        tables: vec![Opened::at(0, 0, 1, &[0])],
    }];
    let zeta = element(vector.input("zeta"));
    let committed = [Committed::new(&data).unwrap()];
    let refused = Error::NoRounds { log_rows: 0 };
    assert_eq!(
        claims(&params, Choice::best(), &committed, &batches, zeta),
        Err(refused.clone())
    );
    let claims = elements(vector.input("claims"));
    let statement = Statement {
        batches: &batches,
        zeta,
        claims: &claims,
    };
    let challenges = Fixed::new(Vec::new(), vec![position]);
    let opened = open(
        &params,
        Choice::best(),
        &committed,
        &statement,
        &mut challenges.clone(),
    );
    assert_eq!(opened, Err(refused.clone()));
    let verified = verify(
        &params,
        &statement,
        &mut challenges.clone(),
        &Proof::default(),
    );
    assert_eq!(verified, Err(refused));
}

#[test]
fn published_depths_of_caps() {
    let vector = koalabear().get("lineth_merkle_cap_depth");
    let cases: Vec<(usize, u32)> = vector.input("queries_height");
    let depths: Vec<u32> = vector.output("depth");
    for ((queries, log_leaves), depth) in cases.into_iter().zip(depths) {
        assert_eq!(
            cap_depth(queries, log_leaves),
            depth,
            "{queries} {log_leaves}"
        );
    }
}

/// The point of `position` in a domain of 2^`log_len` points in bit-reversed order.
fn point(position: usize, log_len: u32) -> KoalaBear {
    let reversed = (0..log_len).fold(0, |e, bit| e << 1 | position >> bit & 1);
    KoalaBear::two_adic_generator(log_len).pow(reversed as u64)
}

/// Values of a column of either kind.
fn values(tables: &Columns, column: usize) -> Vec<Ext6> {
    match column.checked_sub(tables.base.len()) {
        None => tables.base[column]
            .iter()
            .copied()
            .map(Ext6::from_base)
            .collect(),
        Some(column) => tables.extension[column].clone(),
    }
}

/// The polynomial with these values on the subgroup, in natural order.
fn coefficients(values: &[Ext6]) -> Vec<Ext6> {
    let len = values.len() as u64;
    let root = KoalaBear::two_adic_generator(len.ilog2());
    let scale = KoalaBear::from_u64(len).inverse().unwrap();
    let inverse = |exponent: u64| root.pow((len - exponent % len) % len) * scale;
    (0..len)
        .map(|k| {
            let terms = values.iter().zip(0..);
            terms.map(|(&value, i)| value * inverse(k * i)).sum()
        })
        .collect()
}

fn evaluate(coefficients: &[Ext6], x: Ext6) -> Ext6 {
    let terms = coefficients.iter().rev();
    terms.fold(Ext6::ZERO, |value, &coefficient| value * x + coefficient)
}

/// Sizes, widths, values and shifts at random: up to three batches of tables of 2^`log_final` to 2^6 rows.
fn random_tables(rng: &mut Rng, log_final: u32) -> (Vec<Vec<Columns>>, Vec<Vec<Opened>>) {
    let max = rng.in_range(log_final as usize + 1..7) as u32;
    let mut tables = Vec::new();
    let mut opened = Vec::new();
    for batch in 0..rng.in_range(1..4) {
        let mut sizes: Vec<u32> = (log_final..max).filter(|_| rng.below(3) == 0).collect();
        if batch == 0 || sizes.is_empty() || rng.below(2) == 0 {
            sizes.push(max);
        }
        if rng.below(2) == 0 {
            sizes.reverse();
        }
        let mut columns = Vec::new();
        let mut shifts = Vec::new();
        for log_rows in sizes {
            let (base, extension) = (rng.in_range(0..4), rng.in_range(0..3));
            let base = if extension == 0 { base.max(1) } else { base };
            let cells = |rng: &mut Rng| -> Vec<KoalaBear> {
                (0..1 << log_rows)
                    .map(|_| KoalaBear::from_u64(rng.next_u64()))
                    .collect()
            };
            columns.push(Columns {
                log_rows,
                base: (0..base).map(|_| cells(rng)).collect(),
                extension: (0..extension)
                    .map(|_| (0..1 << log_rows).map(|_| random(rng)).collect())
                    .collect(),
            });
            let some = |rng: &mut Rng| -> Vec<usize> {
                let mut shifts: Vec<usize> = vec![rng.in_range(0..1 << log_rows)];
                for _ in 0..rng.below(3) {
                    let shift = rng.in_range(0..1 << log_rows);
                    if !shifts.contains(&shift) {
                        shifts.push(shift);
                    }
                }
                shifts
            };
            shifts.push(Opened {
                log_rows,
                base: (0..base).map(|_| some(rng)).collect(),
                extension: (0..extension).map(|_| some(rng)).collect(),
            });
        }
        tables.push(columns);
        opened.push(shifts);
    }
    if rng.below(4) == 0 {
        // The same commitment once more, opened elsewhere.
        let mut again = opened[0].clone();
        again[0].base.fill(vec![0]);
        tables.push(tables[0].clone());
        opened.push(again);
    }
    (tables, opened)
}

fn random(rng: &mut Rng) -> Ext6 {
    Ext6([0; 6].map(|_| KoalaBear::from_u64(rng.next_u64())))
}

#[test]
fn honest_proofs_are_accepted() {
    let mut rng = Rng::new(1);
    let (mut boundaries, mut pairs, mut caps) = (0, 0, 0);
    for round in 0..150 {
        let log_final = round % 2;
        let (tables, opened) = random_tables(&mut rng, log_final);
        let log_inv_rate = rng.in_range(1..3) as u32;
        let log_plaintext = rng.in_range(6..9) as u32;
        let queries = rng.in_range(1..21);
        let params = Params::new(
            log_plaintext + log_inv_rate,
            log_plaintext,
            log_final,
            queries,
        )
        .unwrap();
        let memory = [MemoryMode::Keep, MemoryMode::Consume][rng.in_range(0..2)];
        let zeta = random(&mut rng);
        let case = Case::new(params, memory, &tables, opened, zeta);
        let proof = case.open(&mut case.transcript());
        assert_eq!(case.verify(&mut case.transcript(), &proof), Ok(()));
        let bytes = proof.to_bytes();
        assert_eq!(Proof::from_bytes(&bytes).unwrap(), proof);

        let sizes = tables.iter().flatten().map(|columns| columns.log_rows);
        boundaries += usize::from(sizes.min() == Some(log_final));
        let openings = proof.input_queries.iter().flatten();
        pairs += openings
            .flat_map(|opening| &opening.pairs)
            .flatten()
            .count();
        caps += proof
            .input_caps
            .iter()
            .map(|cap| cap.tables.len())
            .sum::<usize>();
        let roots: Vec<Digest> = case.batches.iter().map(|batch| batch.root).collect();
        let distinct = (0..roots.len()).filter(|&index| !roots[..index].contains(&roots[index]));
        assert_eq!(proof.input_caps.len(), distinct.count());
    }
    assert!(
        boundaries > 20 && pairs > 20 && caps > 20,
        "{boundaries} {pairs} {caps}"
    );
}

/// Claims and all running values, computed one by one as the reference defines them.
#[test]
fn claims_and_layers_follow_the_definition() {
    let mut rng = Rng::new(2);
    for round in 0..20 {
        let log_final = round % 2;
        let (tables, opened) = random_tables(&mut rng, log_final);
        let largest = tables
            .iter()
            .flatten()
            .map(|columns| columns.log_rows)
            .max()
            .unwrap();
        let log_inv_rate = 1 + round / 2 % 2;
        let log_len = largest + log_inv_rate;
        let params = Params::new(log_len, largest, log_final, 1 << log_len).unwrap();
        let zeta = random(&mut rng);
        let case = Case::new(params, MemoryMode::Keep, &tables, opened.clone(), zeta);
        let alphas: Vec<Ext6> = (log_final..largest).map(|_| random(&mut rng)).collect();
        let challenges = Fixed::new(alphas.clone(), (0..1 << log_len).collect());
        let proof = case.open(&mut challenges.clone());
        assert_eq!(case.verify(&mut challenges.clone(), &proof), Ok(()));

        let mut claims = case.claims.iter().copied();
        let mut running = vec![Ext6::ZERO; 1 << log_len];
        for (round, &alpha) in (0..).zip(&alphas) {
            let log_rows = largest - round;
            let root = KoalaBear::two_adic_generator(log_rows);
            // Coefficients, and points with their values.
            let mut columns = Vec::new();
            for (tables, opened) in tables.iter().zip(&opened) {
                for (table, opened) in tables.iter().zip(opened) {
                    if table.log_rows != log_rows {
                        continue;
                    }
                    let shifts = opened.base.iter().chain(&opened.extension);
                    for (column, shifts) in shifts.enumerate() {
                        let f = coefficients(&values(table, column));
                        let openings: Vec<_> = shifts
                            .iter()
                            .map(|&shift| {
                                let z = zeta * root.pow(shift as u64);
                                let value = evaluate(&f, z);
                                assert_eq!(claims.next(), Some(value));
                                (z, value)
                            })
                            .collect();
                        columns.push((f, openings));
                    }
                }
            }
            let log_len = log_len - round;
            for (position, value) in running.iter_mut().enumerate() {
                let x = Ext6::from_base(point(position, log_len));
                if columns.is_empty() {
                    continue;
                }
                for (f, openings) in columns.iter().rev() {
                    *value *= alpha.square();
                    for &(z, y) in openings {
                        *value += (evaluate(f, x) - y) * (x - z).inverse().unwrap();
                    }
                }
            }
            let half = KoalaBear::new(2).inverse().unwrap();
            running = (0..running.len() / 2)
                .map(|t| {
                    let (low, high) = (running[2 * t], running[2 * t + 1]);
                    let inverse = point(2 * t, log_len).inverse().unwrap();
                    (low + high) * half + alpha * (low - high) * half * inverse
                })
                .collect();
            let layer = round as usize + 1;
            for (position, openings) in proof.running_queries.iter().enumerate() {
                let value = running[position >> layer];
                if let Some(opening) = openings.get(layer - 1) {
                    assert_eq!(opening.leaf.0[..6], value.0);
                } else {
                    let x = point(position >> layer, log_len - 1);
                    let x = Ext6::from_base(x);
                    assert_eq!(evaluate(&proof.final_polynomial, x), value);
                }
            }
        }
    }
}

/// Large enough for several chunks of rows, and for more columns than are added at once.
#[test]
fn every_choice_and_any_threads_give_the_same_proof() {
    let mut rng = Rng::new(3);
    let mut columns = |log_rows: u32, base: usize, extension: usize| Columns {
        log_rows,
        base: (0..base)
            .map(|_| {
                (0..1 << log_rows)
                    .map(|_| KoalaBear::from_u64(rng.next_u64()))
                    .collect()
            })
            .collect(),
        extension: (0..extension)
            .map(|_| (0..1 << log_rows).map(|_| random(&mut rng)).collect())
            .collect(),
    };
    let tables = vec![
        vec![columns(11, 35, 2), columns(9, 3, 1)],
        vec![columns(10, 1, 0)],
    ];
    let opened = vec![
        vec![Opened::at(11, 35, 2, &[0, 1]), Opened::at(9, 3, 1, &[511])],
        vec![Opened::at(10, 1, 0, &[0])],
    ];
    let params = Params::new(12, 11, 0, 30).unwrap();
    let zeta = element([1, 2, 3, 4, 5, 6]);
    let case = Case::new(params, MemoryMode::Keep, &tables, opened, zeta);
    let proof = case.open(&mut case.transcript());
    assert_eq!(case.verify(&mut case.transcript(), &proof), Ok(()));
    for choice in Choice::available() {
        for threads in [1, 3] {
            let threads = Threads::new(threads.try_into().unwrap()).unwrap();
            let (values, again) = threads.install(|| {
                let committed = case.committed();
                let values = claims(&case.params, choice, &committed, &case.batches, zeta);
                let mut transcript = case.transcript();
                let statement = case.statement();
                let again = open(
                    &case.params,
                    choice,
                    &committed,
                    &statement,
                    &mut transcript,
                );
                (values, again)
            });
            assert_eq!(values.unwrap(), case.claims, "{choice}");
            assert_eq!(again.unwrap(), proof, "{choice}");
        }
    }
}

/// One batch of sizes 8, 4 and 1: a pair inside the paths, a table in the cap, two running layers with caps.
fn branches() -> (Case, Fixed) {
    let mut rng = Rng::new(4);
    let mut columns = |log_rows: u32, base: usize, extension: usize| Columns {
        log_rows,
        base: (0..base)
            .map(|_| {
                (0..1 << log_rows)
                    .map(|_| KoalaBear::from_u64(rng.next_u64()))
                    .collect()
            })
            .collect(),
        extension: (0..extension)
            .map(|_| (0..1 << log_rows).map(|_| random(&mut rng)).collect())
            .collect(),
    };
    let tables = vec![vec![columns(3, 1, 1), columns(2, 2, 0), columns(0, 1, 1)]];
    let opened = vec![vec![
        Opened::at(3, 1, 1, &[0, 3]),
        Opened::at(2, 2, 0, &[1]),
        Opened::at(0, 1, 1, &[0]),
    ]];
    let params = Params::new(4, 3, 0, 2).unwrap();
    let zeta = element([9, 8, 7, 6, 5, 4]);
    let case = Case::new(params, MemoryMode::Keep, &tables, opened, zeta);
    let alphas = (0..3).map(|_| random(&mut rng)).collect();
    (case, Fixed::new(alphas, vec![5, 10]))
}

fn compress(left: &Digest, right: &Digest) -> Digest {
    use lanework_hash::Compression;
    hash().compress(left, right)
}

fn hash() -> lanework_hash::MerkleDamgard {
    let constants = RoundConstants::<16>::gnark();
    let permutation = lanework_hash::Poseidon2::<16>::new(&constants, Choice::portable());
    lanework_hash::MerkleDamgard::new(permutation)
}

fn bump(word: &mut KoalaBear) {
    *word += KoalaBear::ONE;
}

fn shorten<T>(list: &mut Vec<T>) {
    list.pop();
}

type Mutation = (fn(&mut Proof), Error);

#[test]
#[expect(clippy::too_many_lines, reason = "a table of one entry per field")]
fn each_field_of_a_proof_is_checked() {
    let (case, challenges) = branches();
    let honest = case.open(&mut challenges.clone());
    assert_eq!(case.verify(&mut challenges.clone(), &honest), Ok(()));
    let length = |part, expected, got| Error::Length {
        part,
        expected,
        got,
    };
    let (tree, query, log_rows) = (0, 1, 0);
    let path = Error::InputPath { query, tree };
    let mutations: Vec<Mutation> = vec![
        (
            |proof| shorten(&mut proof.input_caps),
            length(Part::InputCaps, 1, 0),
        ),
        (
            |proof| bump(&mut proof.input_caps[0].nodes[1].0[7]),
            Error::InputCap { tree },
        ),
        (
            |proof| proof.input_caps[0].nodes.swap(0, 1),
            Error::InputCap { tree },
        ),
        (
            |proof| shorten(&mut proof.input_caps[0].nodes),
            length(Part::InputNodes { tree }, 2, 1),
        ),
        (
            |proof| shorten(&mut proof.input_caps[0].tables),
            length(Part::RevealedTables { tree }, 1, 0),
        ),
        (
            |proof| proof.input_caps[0].tables[0].log_rows = 1,
            Error::RevealedSize {
                tree,
                expected: 0,
                got: 1,
            },
        ),
        (
            |proof| proof.input_caps[0].tables[0].rows.push(Row::default()),
            length(Part::RevealedRows { tree, log_rows }, 2, 3),
        ),
        (
            |proof| bump(&mut proof.input_caps[0].tables[0].rows[1].base[0]),
            Error::InputCap { tree },
        ),
        (
            |proof| shorten(&mut proof.input_caps[0].tables[0].rows[1].base),
            length(Part::BaseCells { tree, log_rows }, 1, 0),
        ),
        (
            |proof| {
                proof.input_caps[0].tables[0].rows[1]
                    .extension
                    .push(Ext6::ZERO);
            },
            length(Part::ExtensionCells { tree, log_rows }, 1, 2),
        ),
        (
            |proof| shorten(&mut proof.input_queries),
            length(Part::InputQueries, 2, 1),
        ),
        (
            |proof| shorten(&mut proof.input_queries[1]),
            length(Part::InputTrees { query }, 1, 0),
        ),
        (
            |proof| proof.input_queries.swap(0, 1),
            Error::InputPath { query: 0, tree },
        ),
        (
            |proof| bump(&mut proof.input_queries[1][0].siblings[0].0[0]),
            path.clone(),
        ),
        (
            |proof| proof.input_queries[1][0].siblings.swap(0, 1),
            path.clone(),
        ),
        (
            |proof| proof.input_queries[1][0].siblings.push(Digest::ZERO),
            length(Part::InputSiblings { query, tree }, 2, 3),
        ),
        (
            |proof| shorten(&mut proof.input_queries[1][0].pairs),
            length(Part::InputLevels { query, tree }, 2, 1),
        ),
        (
            |proof| proof.input_queries[1][0].pairs[1] = None,
            Error::MissingPair {
                query,
                tree,
                level: 2,
            },
        ),
        (
            |proof| proof.input_queries[1][0].pairs[0] = Some(<[Row; 2]>::default()),
            Error::UnexpectedPair {
                query,
                tree,
                level: 1,
            },
        ),
        (
            |proof| {
                proof.input_queries[1][0].pairs[1]
                    .iter_mut()
                    .for_each(|pair| pair.swap(0, 1));
            },
            path.clone(),
        ),
        (
            |proof| {
                let pair = proof.input_queries[1][0].pairs[1].as_mut().unwrap();
                bump(&mut pair[1].base[1]);
            },
            path.clone(),
        ),
        (
            |proof| {
                let pair = proof.input_queries[1][0].pairs[1].as_mut().unwrap();
                pair[1].base.pop();
            },
            length(Part::BaseCells { tree, log_rows: 2 }, 2, 1),
        ),
        (
            |proof| proof.input_queries[1][0].bottom.swap(0, 1),
            path.clone(),
        ),
        (
            |proof| bump(&mut proof.input_queries[1][0].bottom[0].base[0]),
            path.clone(),
        ),
        (
            |proof| bump(&mut proof.input_queries[1][0].bottom[1].extension[0].0[5]),
            path,
        ),
        (
            |proof| shorten(&mut proof.input_queries[1][0].bottom[1].extension),
            length(Part::ExtensionCells { tree, log_rows: 3 }, 1, 0),
        ),
        (
            |proof| shorten(&mut proof.round_roots),
            length(Part::RoundRoots, 2, 1),
        ),
        (
            |proof| bump(&mut proof.round_roots[1].0[0]),
            Error::RunningCap { layer: 2 },
        ),
        (
            |proof| proof.round_roots.swap(0, 1),
            Error::RunningCap { layer: 1 },
        ),
        (
            |proof| proof.round_caps.push(Vec::new()),
            length(Part::RoundCaps, 2, 3),
        ),
        (
            |proof| shorten(&mut proof.round_caps[1]),
            length(Part::RoundNodes { layer: 2 }, 2, 1),
        ),
        (
            |proof| bump(&mut proof.round_caps[1][1].0[3]),
            Error::RunningCap { layer: 2 },
        ),
        (
            |proof| bump(&mut proof.final_polynomial[0].0[2]),
            Error::Final { query: 0 },
        ),
        (
            |proof| proof.final_polynomial.push(Ext6::ZERO),
            length(Part::FinalPolynomial, 1, 2),
        ),
        (
            |proof| shorten(&mut proof.running_queries),
            length(Part::RunningQueries, 2, 1),
        ),
        (
            |proof| shorten(&mut proof.running_queries[1]),
            length(Part::RunningLayers { query }, 2, 1),
        ),
        (
            |proof| proof.running_queries[1].swap(0, 1),
            length(Part::RunningSiblings { query, layer: 1 }, 2, 1),
        ),
        (
            |proof| bump(&mut proof.running_queries[1][0].leaf.0[0]),
            Error::RunningPath { query, layer: 1 },
        ),
        (
            |proof| bump(&mut proof.running_queries[1][1].leaf.0[7]),
            Error::RunningPath { query, layer: 2 },
        ),
        (
            |proof| bump(&mut proof.running_queries[1][0].siblings[0].0[0]),
            Error::RunningPath { query, layer: 1 },
        ),
        (
            |proof| shorten(&mut proof.running_queries[1][0].siblings),
            length(Part::RunningSiblings { query, layer: 1 }, 2, 1),
        ),
    ];
    for (index, (mutate, error)) in mutations.into_iter().enumerate() {
        let mut proof = honest.clone();
        mutate(&mut proof);
        let verified = case.verify(&mut challenges.clone(), &proof);
        assert_eq!(verified, Err(error), "mutation {index}");
    }
}

/// Leaves of a running tree that a dishonest prover has put there.
#[test]
fn running_leaves_must_be_elements_that_fold() {
    let (case, challenges) = boundary_round();
    let honest = case.open(&mut challenges.clone());
    let layer_position = challenges.positions[0] >> 1;
    let forge = |mutate: fn(&mut Proof)| {
        let mut proof = honest.clone();
        mutate(&mut proof);
        let opening = &proof.running_queries[0][0];
        let mut node = opening.leaf;
        for (bit, sibling) in opening.siblings.iter().rev().enumerate() {
            node = match layer_position >> bit & 1 {
                0 => compress(&node, sibling),
                _ => compress(sibling, &node),
            };
        }
        proof.round_roots[0] = node;
        case.verify(&mut challenges.clone(), &proof)
    };
    assert_eq!(forge(|_| {}), Ok(()));
    let padding = Err(Error::Padding { query: 0, layer: 1 });
    for forged in [
        forge(|proof| bump(&mut proof.running_queries[0][0].leaf.0[6])),
        forge(|proof| bump(&mut proof.running_queries[0][0].leaf.0[7])),
        forge(|proof| bump(&mut proof.running_queries[0][0].siblings[2].0[6])),
        forge(|proof| bump(&mut proof.running_queries[0][0].siblings[2].0[7])),
    ] {
        assert_eq!(forged, padding);
    }
    let fold = Err(Error::Fold { query: 0, layer: 1 });
    assert_eq!(
        forge(|proof| bump(&mut proof.running_queries[0][0].leaf.0[0])),
        fold
    );
    let last = Err(Error::Final { query: 0 });
    assert_eq!(
        forge(|proof| bump(&mut proof.running_queries[0][0].siblings[2].0[0])),
        last
    );
}

/// The tree over these rows of one table of extension columns, and whatever other tables there are.
fn forged_tree(tables: &[(Vec<Vec<KoalaBear>>, usize, usize)]) -> lineth::Tree {
    let hash = hash();
    let builder = Builder::new(&hash, &hash);
    let tables = tables.iter().map(|(columns, base, extension)| {
        let columns = columns.iter().map(Vec::as_slice).collect();
        let cells = lanework_merkle::Table::new(columns).unwrap();
        lineth::Table::new(cells, *base, *extension).unwrap()
    });
    lineth::Tree::build(&builder, &tables.collect::<Vec<_>>(), None).unwrap()
}

/// A column of size 1 committed as (w + c, w - c), with the claim w + c zeta: the quotient is c at x and at -x, so
/// that the pair is constant, but no polynomial of degree 0 has these values.
#[test]
fn a_forged_column_of_size_1_is_refused() {
    let (mut case, challenges) = normal_flow();
    let mut proof = case.open(&mut challenges.clone());
    let (w, c) = (KoalaBear::new(99), KoalaBear::new(5));
    let rows = [w + c, w - c];
    let mut tables = Vec::new();
    for codeword in case.data[0].codewords() {
        let shape = codeword.shape();
        let mut columns: Vec<Vec<KoalaBear>> = (0..shape.columns_len())
            .map(|column| codeword.column(column).to_vec())
            .collect();
        if shape.log_rows == 0 {
            columns[0] = rows.to_vec();
        }
        tables.push((columns, shape.base_width, shape.ext_width));
    }
    case.batches[0].root = forged_tree(&tables).root();
    // The table is shown with the cap, above which it enters the tree.
    let revealed = &mut proof.input_caps[0].tables[0].rows;
    for (row, value) in revealed.iter_mut().zip(rows) {
        row.extension = vec![Ext6::from_base(value)];
    }
    *case.claims.last_mut().unwrap() = Ext6::from_base(w) + case.zeta * c;
    let verified = case.verify(&mut challenges.clone(), &proof);
    assert_eq!(verified, Err(Error::BoundaryRows { query: 0 }));
    // Any other claim fails at the pair.
    *case.claims.last_mut().unwrap() = Ext6::from_base(w);
    let verified = case.verify(&mut challenges.clone(), &proof);
    assert_eq!(verified, Err(Error::BoundaryPair { query: 0 }));
}

/// A column of size 2 whose quotient is q(x) = 1 + x^2: constant on every pair, but not the same on all.
#[test]
fn a_forged_column_of_size_2_is_refused() {
    let (mut case, mut challenges) = boundary_round();
    case.params = Params::new(4, 3, 1, 2).unwrap();
    challenges.positions = vec![5, 9];
    let mut proof = case.open(&mut challenges.clone());
    assert_eq!(case.verify(&mut challenges.clone(), &proof), Ok(()));
    let claim = element([401, 0, 0, 0, 0, 3]);
    let value = |position| {
        let x = Ext6::from_base(point(position, 2));
        claim + (x - case.zeta) * (Ext6::ONE + x * x)
    };
    let rows = [0, 1, 2, 3].map(value);
    let limbs = (0..6).map(|limb| rows.iter().map(|row| row.0[limb]).collect());
    let tree = forged_tree(&[(limbs.collect(), 0, 1)]);
    case.batches[1].root = tree.root();
    proof.input_caps[1].nodes = tree.level(1).to_vec();
    for (query, position) in challenges.positions.iter().enumerate() {
        let index = position >> 2;
        proof.input_queries[query][1].bottom = [index, index ^ 1].map(|index| Row {
            base: Vec::new(),
            extension: vec![rows[index]],
        });
    }
    case.claims[1] = claim;
    let verified = case.verify(&mut challenges.clone(), &proof);
    assert_eq!(verified, Err(Error::BoundaryValue { query: 1 }));
}

/// Changes the list number `left` that it is shown.
struct ListMutation {
    left: usize,
    done: bool,
    change: Change,
}

#[derive(Copy, Clone)]
enum Change {
    Shorten,
    Lengthen,
    Swap,
}

impl ListMutation {
    fn list<T: Clone + PartialEq>(&mut self, list: &mut Vec<T>) {
        if self.done {
            return;
        }
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        self.done = true;
        match (self.change, list.len()) {
            (_, 0) => {}
            (Change::Shorten, _) => drop(list.pop()),
            (Change::Lengthen, _) => list.extend_from_within(..1),
            (Change::Swap, len) => list.swap(0, len - 1),
        }
    }

    fn row(&mut self, row: &mut Row) {
        self.list(&mut row.base);
        self.list(&mut row.extension);
    }

    /// Whether there were as many lists.
    fn apply(mut self, proof: &mut Proof) -> bool {
        for query in &mut proof.input_queries {
            for opening in query.iter_mut() {
                self.list(&mut opening.siblings);
                opening
                    .pairs
                    .iter_mut()
                    .flatten()
                    .flatten()
                    .for_each(|row| self.row(row));
                self.list(&mut opening.pairs);
                opening.bottom.iter_mut().for_each(|row| self.row(row));
            }
            self.list(query);
        }
        self.list(&mut proof.input_queries);
        for cap in &mut proof.input_caps {
            self.list(&mut cap.nodes);
            for table in &mut cap.tables {
                table.rows.iter_mut().for_each(|row| self.row(row));
                self.list(&mut table.rows);
            }
            self.list(&mut cap.tables);
        }
        self.list(&mut proof.input_caps);
        self.list(&mut proof.round_roots);
        proof.round_caps.iter_mut().for_each(|cap| self.list(cap));
        self.list(&mut proof.round_caps);
        self.list(&mut proof.final_polynomial);
        for query in &mut proof.running_queries {
            for opening in query.iter_mut() {
                self.list(&mut opening.siblings);
            }
            self.list(query);
        }
        self.list(&mut proof.running_queries);
        self.done
    }
}

#[test]
fn lists_that_are_shorter_longer_or_in_another_order_are_refused() {
    for (case, challenges) in [normal_flow(), boundary_round(), branches()] {
        let honest = case.open(&mut challenges.clone());
        let mut refused = 0;
        for change in [Change::Shorten, Change::Lengthen, Change::Swap] {
            for left in 0.. {
                let mut proof = honest.clone();
                let mutation = ListMutation {
                    left,
                    done: false,
                    change,
                };
                if !mutation.apply(&mut proof) {
                    break;
                }
                let verified = case.verify(&mut challenges.clone(), &proof);
                assert_eq!(verified.is_ok(), proof == honest, "{verified:?}");
                refused += usize::from(verified.is_err());
            }
        }
        assert!(refused > 20, "{refused}");
    }
}

#[test]
fn no_byte_of_a_proof_can_be_another() {
    for (case, challenges) in [normal_flow(), boundary_round(), branches()] {
        let honest = case.open(&mut challenges.clone()).to_bytes();
        for at in 0..honest.len() {
            for flip in [0x01, 0x80] {
                let mut bytes = honest.clone();
                bytes[at] ^= flip;
                if let Ok(proof) = Proof::from_bytes(&bytes) {
                    assert_eq!(proof.to_bytes(), bytes);
                    let verified = case.verify(&mut challenges.clone(), &proof);
                    assert!(verified.is_err(), "byte {at}");
                    assert!(case.verify(&mut case.transcript(), &proof).is_err());
                }
            }
        }
    }
}

#[test]
fn bytes_at_random_are_read_or_refused() {
    let mut rng = Rng::new(5);
    let (case, challenges) = branches();
    let honest = case.open(&mut challenges.clone()).to_bytes();
    for _ in 0..3000 {
        let mut bytes = honest.clone();
        for _ in 0..rng.in_range(1..5) {
            let at = rng.in_range(0..bytes.len());
            match rng.below(4) {
                0 => bytes[at] = rng.next_u32() as u8,
                1 => bytes[at] = 0,
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, rng.next_u32() as u8),
            }
        }
        if let Ok(proof) = Proof::from_bytes(&bytes) {
            let verified = case.verify(&mut challenges.clone(), &proof);
            assert_eq!(verified.is_ok(), bytes == honest);
        }
    }
}

#[test]
fn a_proof_has_one_encoding() {
    let (case, challenges) = boundary_round();
    let proof = case.open(&mut challenges.clone());
    let bytes = proof.to_bytes();
    // Written from the published values by another program.
    assert_eq!(bytes, include_bytes!("proofs/lineth_boundary_round.bin"));
    assert_eq!(Proof::from_bytes(&bytes).unwrap(), proof);
    for len in 0..bytes.len() {
        assert!(Proof::from_bytes(&bytes[..len]).is_err(), "{len}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(
        Proof::from_bytes(&longer),
        Err(codec::Error::Trailing { got: 1 })
    );
    let empty = Proof::default();
    assert_eq!(Proof::from_bytes(&empty.to_bytes()), Ok(empty));
    // A length without what it counts.
    let mut bomb = bytes[..6].to_vec();
    bomb.extend(u32::MAX.to_le_bytes());
    assert!(matches!(
        Proof::from_bytes(&bomb),
        Err(codec::Error::TooLong { .. })
    ));
}

#[test]
fn another_statement_is_not_proven() {
    for (case, challenges) in [normal_flow(), boundary_round(), branches()] {
        let proof = case.open(&mut challenges.clone());
        let transcript_proof = case.open(&mut case.transcript());
        assert_eq!(
            case.verify(&mut case.transcript(), &transcript_proof),
            Ok(())
        );
        let refused = |params: &Params, statement: &Statement<'_>| {
            // With the same challenges, and with those of a transcript that saw the honest statement.
            let fixed = verify(params, statement, &mut challenges.clone(), &proof);
            let squeezed = verify(params, statement, &mut case.transcript(), &transcript_proof);
            assert!(fixed.is_err() && squeezed.is_err(), "{statement:?}");
        };
        let params = &case.params;
        for batch in 0..case.batches.len() {
            for word in 0..8 {
                let mut batches = case.batches.clone();
                bump(&mut batches[batch].root.0[word]);
                refused(
                    params,
                    &Statement {
                        batches: &batches,
                        ..case.statement()
                    },
                );
            }
            for table in 0..case.batches[batch].tables.len() {
                let mut batches = case.batches.clone();
                let opened = &mut batches[batch].tables[table];
                let shifts = opened
                    .base
                    .iter_mut()
                    .chain(&mut opened.extension)
                    .next()
                    .unwrap();
                shifts[0] = (shifts[0] + 1) % (1 << opened.log_rows);
                if batches != case.batches && opened_once(&batches) {
                    refused(
                        params,
                        &Statement {
                            batches: &batches,
                            ..case.statement()
                        },
                    );
                }
                let mut batches = case.batches.clone();
                batches[batch].tables.remove(table);
                refused(
                    params,
                    &Statement {
                        batches: &batches,
                        ..case.statement()
                    },
                );
            }
        }
        for limb in 0..6 {
            let mut statement = case.statement();
            bump(&mut statement.zeta.0[limb]);
            refused(params, &statement);
            for claim in 0..case.claims.len() {
                let mut claims = case.claims.clone();
                bump(&mut claims[claim].0[limb]);
                refused(
                    params,
                    &Statement {
                        claims: &claims,
                        ..case.statement()
                    },
                );
            }
        }
        let fewer = &case.claims[1..];
        refused(
            params,
            &Statement {
                claims: fewer,
                ..case.statement()
            },
        );
        let (log_codeword, log_rows) = (params.log_codeword(), params.log_plaintext());
        let (log_final, queries) = (params.log_final(), params.queries());
        for params in [
            Params::new(log_codeword, log_rows, log_final, queries + 1),
            Params::new(log_codeword + 1, log_rows, log_final, queries),
            Params::new(log_codeword, log_rows, 1 - log_final, queries),
            Params::new(log_codeword, log_rows, 2, queries),
        ] {
            refused(&params.unwrap(), &case.statement());
        }
        let constants = RoundConstants::<16>::plonky3_default();
        refused(&params.clone().with_constants(constants), &case.statement());
    }
}

/// Whether no column is opened twice at the same shift.
fn opened_once(batches: &[Batch]) -> bool {
    let tables = batches.iter().flat_map(|batch| &batch.tables);
    let mut columns = tables.flat_map(|opened| opened.base.iter().chain(&opened.extension));
    columns.all(|shifts| (1..shifts.len()).all(|at| !shifts[..at].contains(&shifts[at])))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of one entry per error")]
fn statements_that_cannot_be_are_refused() {
    let refusal = |params: (u32, u32, u32), tables: Vec<Vec<Opened>>, zeta| {
        let (log_codeword, log_plaintext, log_final) = params;
        let params = Params::new(log_codeword, log_plaintext, log_final, 1).unwrap();
        let tables = tables.into_iter().zip(1..);
        let batches = tables.map(|(tables, number)| Batch {
            root: digest([number, 0, 0, 0, 0, 0, 0, 0]),
            tables,
        });
        let batches: Vec<Batch> = batches.collect();
        let statement = Statement {
            batches: &batches,
            zeta,
            claims: &[],
        };
        verify(
            &params,
            &statement,
            &mut Fixed::default(),
            &Proof::default(),
        )
        .unwrap_err()
    };
    let zeta = element([0, 1, 0, 0, 0, 0]);
    let table = |log_rows| Opened::at(log_rows, 1, 1, &[0]);
    let (batch, log_rows, column) = (0, 3, 1);
    let with_shifts = |shifts: &[usize]| {
        let extension = vec![shifts.to_vec()];
        vec![vec![Opened {
            extension,
            ..table(3)
        }]]
    };
    let aliased = |shift| Error::AliasedShift {
        batch,
        log_rows,
        column,
        shift,
    };
    let small = (5, 4, 0);
    assert_eq!(refusal(small, vec![], zeta), Error::NoBatches);
    assert_eq!(
        refusal(small, vec![vec![table(2)], vec![]], zeta),
        Error::NoTables { batch: 1 }
    );
    let empty = vec![vec![table(4), Opened::at(3, 0, 0, &[0])]];
    assert_eq!(
        refusal(small, empty, zeta),
        Error::NoColumns { batch, log_rows }
    );
    let twice = vec![vec![table(3), table(3)]];
    assert_eq!(
        refusal(small, twice, zeta),
        Error::SameSize { batch, log_rows }
    );
    for log_rows in [5, 24, 31, 32, 64, u32::MAX] {
        let refused = refusal(small, vec![vec![table(log_rows)]], zeta);
        assert_eq!(
            refused,
            Error::TableTooLarge {
                batch,
                log_rows,
                max: 4
            }
        );
    }
    assert_eq!(
        refusal((5, 4, 2), vec![vec![table(4)], vec![table(1)]], zeta),
        Error::TableTooSmall {
            batch: 1,
            log_rows: 1,
            min: 2
        }
    );
    let none = Error::NoShifts {
        batch,
        log_rows,
        column,
    };
    assert_eq!(refusal(small, with_shifts(&[]), zeta), none);
    assert_eq!(refusal(small, with_shifts(&[2, 7, 2]), zeta), aliased(2));
    assert_eq!(refusal(small, with_shifts(&[0, 8]), zeta), aliased(8));
    assert_eq!(
        refusal(small, with_shifts(&[usize::MAX]), zeta),
        aliased(usize::MAX)
    );
    assert_eq!(
        refusal((5, 4, 3), vec![vec![table(3)]], zeta),
        Error::NoRounds { log_rows }
    );
    assert_eq!(
        refusal((5, 4, 2), vec![vec![table(3), table(2)]], zeta),
        Error::Boundary { log_final: 2 }
    );
    // Every point of the largest domain, which is that of the largest table and not of the parameters.
    for position in 0..16 {
        let inside = Ext6::from_base(point(position, 4));
        assert_eq!(
            refusal(small, vec![vec![table(3), table(1)]], inside),
            Error::ZetaInDomain
        );
    }
    let outside = Ext6::from_base(KoalaBear::two_adic_generator(5));
    let three = Error::Claims {
        expected: 3,
        got: 0,
    };
    assert_eq!(refusal(small, with_shifts(&[0, 1]), outside), three);
    assert_eq!(
        refusal(small, with_shifts(&[0, 1]), Ext6::ZERO),
        Error::ZetaZero
    );
    let two = Error::Claims {
        expected: 2,
        got: 0,
    };
    assert_eq!(refusal(small, with_shifts(&[5]), Ext6::ZERO), two);

    let error = |log_codeword, log_plaintext, log_final, queries| {
        Params::new(log_codeword, log_plaintext, log_final, queries).unwrap_err()
    };
    for (log_codeword, log_plaintext) in [(3, 3), (2, 3), (25, 24), (u32::MAX, 3)] {
        let refused = error(log_codeword, log_plaintext, 0, 1);
        assert_eq!(
            refused,
            Error::Code {
                log_codeword,
                log_plaintext
            }
        );
    }
    assert_eq!(
        error(5, 4, 5, 1),
        Error::FinalSize {
            log_final: 5,
            log_plaintext: 4
        }
    );
    assert_eq!(error(5, 4, 0, 0), Error::NoQueries);
}

#[test]
fn equal_roots_need_equal_shapes() {
    let (mut case, challenges) = boundary_round();
    let proof = case.open(&mut challenges.clone());
    case.batches[1].root = case.batches[0].root;
    assert_eq!(
        case.verify(&mut challenges.clone(), &proof),
        Err(Error::SameRoot {
            first: 0,
            second: 1
        })
    );
}

#[test]
fn challenges_that_do_not_suffice_are_refused() {
    let (case, challenges) = normal_flow();
    let proof = case.open(&mut challenges.clone());
    let both = |mut challenges: Fixed| {
        let committed = case.committed();
        let (params, statement) = (&case.params, case.statement());
        let mut again = challenges.clone();
        let opened = open(params, Choice::best(), &committed, &statement, &mut again);
        let verified = case.verify(&mut challenges, &proof).unwrap_err();
        assert_eq!(opened.unwrap_err(), verified);
        verified
    };
    let Fixed {
        alphas, positions, ..
    } = challenges;
    assert_eq!(
        both(Fixed::new(alphas[..1].to_vec(), positions.clone())),
        Error::NoChallenge { round: 1 }
    );
    assert_eq!(
        both(Fixed::new(alphas.clone(), positions[1..].to_vec())),
        Error::Positions {
            expected: 4,
            got: 3
        }
    );
    for position in [8, usize::MAX] {
        let refused = both(Fixed::new(alphas.clone(), vec![0, 1, position, 2]));
        let log_len = 3;
        assert_eq!(
            refused,
            Error::Position {
                query: 2,
                position,
                log_len
            }
        );
    }
}

#[test]
fn only_what_was_committed_is_opened() {
    let (case, challenges) = boundary_round();
    let try_open = |params: &Params, committed: &[Committed<'_>], statement: &Statement<'_>| {
        let opened = open(
            params,
            Choice::best(),
            committed,
            statement,
            &mut challenges.clone(),
        );
        opened.unwrap_err()
    };
    let committed = case.committed();
    let statement = case.statement();
    assert_eq!(
        try_open(&case.params, &committed[..1], &statement),
        Error::Commitments {
            expected: 2,
            got: 1
        }
    );
    let swapped = [committed[1], committed[0]];
    assert_eq!(
        try_open(&case.params, &swapped, &statement),
        Error::Shape { batch: 0 }
    );
    let mut batches = case.batches.clone();
    bump(&mut batches[1].root.0[0]);
    let other = Statement {
        batches: &batches,
        ..statement
    };
    assert_eq!(
        try_open(&case.params, &committed, &other),
        Error::Root { batch: 1 }
    );
    let params = Params::new(5, 3, 1, 1).unwrap();
    assert_eq!(
        try_open(&params, &committed, &statement),
        Error::Shape { batch: 0 }
    );
    let mut false_claims = case.claims.clone();
    bump(&mut false_claims[0].0[0]);
    let claims = &false_claims;
    let other = Statement {
        claims,
        ..statement
    };
    assert_eq!(
        try_open(&case.params, &committed, &other),
        Error::FalseClaim
    );

    let params = lanework_fri::Params::builder(Format::Lineth);
    let params = params.memory(MemoryMode::Streaming).build().unwrap();
    let columns = Columns {
        log_rows: 3,
        base: Vec::new(),
        extension: vec![vec![Ext6::ONE; 8]],
    };
    let (_, streamed, _) = commit(&params, vec![columns.table()]).unwrap();
    let without_codewords = [Committed::new(&streamed).unwrap(), committed[1]];
    assert_eq!(
        try_open(&case.params, &without_codewords, &statement),
        Error::Shape { batch: 0 }
    );

    let format = Format::Plonky3 {
        sponge: Sponge::Width16,
    };
    let params = lanework_fri::Params::builder(format).build().unwrap();
    let columns = Columns {
        log_rows: 1,
        base: vec![vec![KoalaBear::ONE; 2]],
        extension: Vec::new(),
    };
    let (_, data, _) = commit(&params, vec![columns.table()]).unwrap();
    assert_eq!(Committed::new(&data).unwrap_err(), Error::Format);
}
