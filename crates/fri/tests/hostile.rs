//! The verifiers against mutations of proofs, statements and parameters: nothing panics, nothing false is accepted,
//! little is allocated.
//!
//! `LANEWORK_MUTATIONS` is the number of mutations, of all tests together. A mutation that fails prints its seed;
//! with that as `LANEWORK_SEED` it is the first to be made. With `LANEWORK_WRITE_FIXTURES` set, the fixtures and the
//! seeds of the fuzz targets are written anew.

#[path = "hostile/cases.rs"]
mod cases;
#[path = "hostile/fixtures.rs"]
mod fixtures;

use std::collections::BTreeMap;
use std::env;

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::{Ext4, Ext6};
use lanework_fri::{
    Commitment, Extension, Format, Grinding, Header, Layer, OpenedBatch, OpenedTable, Params,
    Proof, ProofParams, RowOpening, RowVerifier, Shape, Shifts, Sponge, Statement, sample_point,
    verify,
};
use lanework_hash::{Digest, RoundConstants};
use lanework_security::fri::Regime;
use lanework_testkit::cases::Rng;
use lanework_transcript::Transcript;
use peak_alloc::PeakAlloc;

use cases::{Case, LinethCase, Outcome};

/// Counts the allocations of all threads.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The most that all tests together may have allocated at a time.
const HEAP_MAX: usize = 64 << 20;

/// How many mutations a test makes that has so many hundredths of them.
fn count(hundredths: u64) -> u64 {
    let all = match env::var("LANEWORK_MUTATIONS") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("LANEWORK_MUTATIONS: {text}")),
        Err(_) => 100_000,
    };
    all * hundredths / 100
}

/// Makes mutations, each from a seed of its own, and tells what became of them.
fn tally(
    what: &str,
    first_seed: u64,
    count: u64,
    mut mutation: impl FnMut(&mut Rng) -> &'static str,
) {
    let mut outcomes = BTreeMap::new();
    for seed in first_seed..first_seed + count {
        *outcomes.entry(mutation(&mut Rng::new(seed))).or_insert(0) += 1;
    }
    let peak = HEAP.peak_usage();
    eprintln!("{what}: {outcomes:?}; {peak} bytes allocated at most");
    // The message of a panic takes tens of megabytes: if another test failed as well, look there first.
    assert!(peak < HEAP_MAX, "{peak} bytes");
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Undecodable => "undecodable",
        Outcome::Refused => "refused",
        Outcome::Accepted => "the original",
    }
}

fn index(rng: &mut Rng, len: usize) -> usize {
    rng.below(len as u64) as usize
}

fn pick<'a, T>(rng: &mut Rng, list: &'a [T]) -> &'a T {
    &list[index(rng, list.len())]
}

fn pick_mut<'a, T>(rng: &mut Rng, list: &'a mut [T]) -> Option<&'a mut T> {
    let len = list.len();
    (len > 0).then(|| &mut list[index(rng, len)])
}

#[test]
fn honest_proofs_are_accepted() {
    for target in cases::targets() {
        let bytes = target.bytes();
        assert_eq!(target.judge(&bytes), Outcome::Accepted, "{}", target.name());
    }
}

#[test]
fn bytes_of_other_proofs_are_refused() {
    let targets = cases::targets();
    let all: Vec<Vec<u8>> = targets.iter().map(|target| target.bytes()).collect();
    for (own, target) in targets.iter().enumerate() {
        for (other, bytes) in all.iter().enumerate() {
            let accepted = target.judge(bytes) == Outcome::Accepted;
            assert_eq!(accepted, own == other, "{}", target.name());
        }
    }
}

/// Every prefix, and a byte more than there are.
#[test]
fn parts_of_proofs_are_undecodable() {
    for target in cases::targets() {
        let mut bytes = target.bytes();
        for len in 0..bytes.len() {
            assert_eq!(target.judge(&bytes[..len]), Outcome::Undecodable);
        }
        bytes.push(0);
        assert_eq!(target.judge(&bytes), Outcome::Undecodable);
    }
}

#[test]
fn mutated_bytes_are_refused() {
    let targets = cases::targets();
    let all: Vec<Vec<u8>> = targets.iter().map(|target| target.bytes()).collect();
    tally("bytes", 1 << 32, count(60), |rng| {
        let own = index(rng, targets.len());
        let mut bytes = all[own].clone();
        if rng.below(16) == 0 {
            bytes.truncate(*pick(rng, &[4, 6, 31, 39, 43]));
            random_words(rng, &mut bytes);
        } else {
            for _ in 0..=rng.below(3) {
                mutate_bytes(rng, &mut bytes, &all);
            }
        }
        name(targets[own].judge(&bytes))
    });
}

/// Appends words such as proofs have: small numbers, elements, anything.
fn random_words(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.below(300) {
        let word = match rng.below(4) {
            0 => rng.below(4) as u32,
            1 => *pick(rng, &WORDS),
            2 => rng.next_u32(),
            _ => rng.next_u32() >> 2,
        };
        bytes.extend(word.to_le_bytes());
    }
}

/// Words at which something may change: lengths, elements and what is none.
const WORDS: [u32; 14] = [
    0,
    1,
    2,
    24,
    25,
    1 << 12,
    (1 << 12) + 1,
    0x7f00_0000,
    0x7f00_0001,
    1 << 29,
    1 << 30,
    1 << 31,
    u32::MAX - 1,
    u32::MAX,
];

fn mutate_bytes(rng: &mut Rng, bytes: &mut Vec<u8>, donors: &[Vec<u8>]) {
    let len = bytes.len();
    let at = index(rng, len + 1);
    let end = (at + 1 + index(rng, 40)).min(len);
    match rng.below(12) {
        0 | 1 if at < len => bytes[at] ^= 1 << rng.below(8),
        2 if at < len => bytes[at] = *pick(rng, &[0, 1, 2, 4, 6, 0x7f, 0x80, 0xff]),
        3 => bytes.truncate(at),
        4 => random_words(rng, bytes),
        5 => {
            bytes.drain(at..end);
        }
        6 => {
            let chunk = bytes[at..end].to_vec();
            let to = index(rng, len + 1);
            bytes.splice(to..to, chunk);
        }
        // From another proof, at the same place or at any other.
        7 => {
            let donor = pick(rng, donors);
            let from = match rng.below(2) {
                0 => at.min(donor.len()),
                _ => index(rng, donor.len() + 1),
            };
            if rng.below(2) == 0 {
                bytes.truncate(at);
                bytes.extend_from_slice(&donor[from..]);
            } else {
                let until = (from + end - at).min(donor.len());
                bytes.splice(at..end, donor[from..until].iter().copied());
            }
        }
        8 if at + 8 <= len => {
            let half = index(rng, (len - at) / 2) + 1;
            let (left, right) = bytes[at..at + 2 * half].split_at_mut(half);
            left.swap_with_slice(right);
        }
        // Another word, most often in the place of a small one, which is a length.
        _ => {
            for attempt in 0..64 {
                let at = index(rng, len.saturating_sub(4) + 1);
                let Some(word) = bytes.get_mut(at..at + 4) else {
                    break;
                };
                let before = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                if before < 256 || attempt == 63 || rng.below(16) == 0 {
                    let after = match rng.below(3) {
                        0 => before.wrapping_add(1),
                        1 => before.wrapping_sub(1),
                        _ => *pick(rng, &WORDS),
                    };
                    word.copy_from_slice(&after.to_le_bytes());
                    break;
                }
            }
        }
    }
}

#[test]
fn mutated_proofs_are_refused() {
    let (four, six) = (cases::cases::<Ext4>(), cases::cases::<Ext6>());
    tally("proofs", 2 << 32, count(20), |rng| match rng.below(2) {
        0 => mutated_proof(rng, &four),
        _ => mutated_proof(rng, &six),
    });
}

fn mutated_proof<E: Extension>(rng: &mut Rng, cases: &[Case<E>]) -> &'static str {
    let case = pick(rng, cases);
    let mut proof = case.proof.clone();
    for _ in 0..=rng.below(2) {
        let donor = &pick(rng, cases).proof;
        mutate_proof(rng, &mut proof, donor);
    }
    if usize::from(proof.header.degree) == E::DEGREE && proof.layers.len() <= 24 {
        assert!(Proof::from_bytes(&proof.to_bytes()).as_ref() == Ok(&proof));
    }
    let accepted = case.verify(&case.statement, &proof).is_ok();
    assert_eq!(accepted, proof == case.proof, "{}", case.name);
    if accepted { "the original" } else { "refused" }
}

/// Swaps, drops, repeats, exchanges or takes over elements of a list.
fn alter<T: Clone>(rng: &mut Rng, list: &mut Vec<T>, donor: &[T]) {
    let len = list.len();
    match rng.below(7) {
        0 if len > 0 => list.swap(index(rng, len), index(rng, len)),
        1 if len > 0 => drop(list.remove(index(rng, len))),
        2 if len > 0 => list.insert(index(rng, len + 1), pick(rng, list).clone()),
        3 if len > 0 && !donor.is_empty() => list[index(rng, len)] = pick(rng, donor).clone(),
        4 => list.extend(donor.first().cloned()),
        5 => *list = donor.to_vec(),
        6 if rng.below(4) == 0 => list.clear(),
        _ => list.reverse(),
    }
}

fn element(rng: &mut Rng) -> KoalaBear {
    match rng.below(4) {
        0 => KoalaBear::ZERO,
        1 => KoalaBear::ONE,
        2 => KoalaBear::NEG_ONE,
        _ => KoalaBear::from_u64(rng.next_u64()),
    }
}

fn extension<E: Extension>(rng: &mut Rng) -> E {
    match rng.below(4) {
        0 => E::from(element(rng)),
        _ => E::from_limbs(&(0..E::DEGREE).map(|_| element(rng)).collect::<Vec<_>>()),
    }
}

fn nonce(rng: &mut Rng, before: u64) -> u64 {
    match rng.below(4) {
        0 => before.wrapping_add(1),
        1 => rng.below(1 << 5),
        2 => *pick(rng, &[0, 0x7f00_0000, 0x7f00_0001, 1 << 32, u64::MAX]),
        _ => rng.next_u64(),
    }
}

fn mutate_proof<E: Extension>(rng: &mut Rng, proof: &mut Proof<E>, donor: &Proof<E>) {
    match rng.below(12) {
        0 => mutate_header(rng, &mut proof.header),
        1 => proof.batch_nonce = nonce(rng, proof.batch_nonce),
        2 => proof.query_nonce = nonce(rng, proof.query_nonce),
        3 => alter(rng, &mut proof.layers, &donor.layers),
        4 | 5 => {
            let other =
                pick_mut(rng, &mut donor.layers.clone()).map_or_else(empty, |layer| layer.clone());
            if let Some(layer) = pick_mut(rng, &mut proof.layers) {
                match rng.below(8) {
                    0 => alter(rng, &mut layer.commitment, &other.commitment),
                    1 => layer.nonce = nonce(rng, layer.nonce),
                    2 => alter(rng, &mut layer.values, &other.values),
                    3 => alter(rng, &mut layer.siblings, &other.siblings),
                    4 => change_digest(rng, &mut layer.commitment),
                    5 => change_digest(rng, &mut layer.siblings),
                    6 => change(rng, &mut layer.values),
                    _ => *layer = other,
                }
            }
        }
        6 => alter(rng, &mut proof.final_polynomial, &donor.final_polynomial),
        7 => change(rng, &mut proof.final_polynomial),
        8 => alter(rng, &mut proof.batches, &donor.batches),
        _ => {
            let other = pick(rng, &donor.batches).clone();
            if let Some(batch) = pick_mut(rng, &mut proof.batches) {
                match rng.below(6) {
                    0 => alter(rng, &mut batch.rows, &other.rows),
                    1 => alter(rng, &mut batch.siblings, &other.siblings),
                    2 => change_digest(rng, &mut batch.siblings),
                    3 => *batch = other,
                    action => {
                        let other = pick(rng, &other.rows).clone();
                        if let Some(rows) = pick_mut(rng, &mut batch.rows) {
                            if action == 4 {
                                alter(rng, rows, &other);
                            } else if let Some(cell) = pick_mut(rng, rows) {
                                *cell = element(rng);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn empty<E>() -> Layer<E> {
    Layer {
        commitment: Vec::new(),
        nonce: 0,
        values: Vec::new(),
        siblings: Vec::new(),
    }
}

fn change<E: Extension>(rng: &mut Rng, values: &mut [E]) {
    if let Some(value) = pick_mut(rng, values) {
        *value = extension(rng);
    }
}

fn change_digest(rng: &mut Rng, digests: &mut [Digest]) {
    if let Some(digest) = pick_mut(rng, digests) {
        digest.0[index(rng, 8)] = element(rng);
    }
}

fn mutate_header(rng: &mut Rng, header: &mut Header) {
    let word = *pick(rng, &WORDS);
    match rng.below(10) {
        0 => header.format = word as u8,
        1 => header.degree = word as u8,
        2 => header.log_inv_rate = word as u8,
        3 => header.cap_height = word,
        4 => header.log_arity = word as u8,
        5 => header.log_final_len = word as u8,
        6 => header.queries = word,
        7 => header.grinding.batch = word,
        8 => header.grinding.fold = word,
        _ => header.grinding.query = word,
    }
}

#[test]
fn mutated_statements_and_parameters_are_refused() {
    let (four, six) = (cases::cases::<Ext4>(), cases::cases::<Ext6>());
    let lineth = cases::lineth_cases();
    tally("statements", 3 << 32, count(20), |rng| match rng.below(5) {
        0 => mutated_statement(rng, &four),
        1 => mutated_statement(rng, &six),
        2 => mutated_lineth_statement(rng, &lineth),
        3 => mutated_params(rng, &four),
        _ => mutated_params(rng, &six),
    });
}

fn mutated_statement<E: Extension>(rng: &mut Rng, cases: &[Case<E>]) -> &'static str {
    let case = pick(rng, cases);
    let mut statement = case.statement.clone();
    for _ in 0..=rng.below(2) {
        let donor = &pick(rng, cases).statement;
        mutate_statement(rng, &mut statement, donor);
    }
    let accepted = case.verify(&statement, &case.proof).is_ok();
    assert_eq!(accepted, statement == case.statement, "{}", case.name);
    touch(rng, case, &statement);
    if accepted { "the original" } else { "refused" }
}

/// Everything else that takes statements gives some answer too.
fn touch<E: Extension>(rng: &mut Rng, case: &Case<E>, statement: &Statement<E>) {
    let mut transcript = Transcript::new(&case.function, cases::LABEL, Choice::portable());
    let (params, proof_params) = (&case.params, &case.proof_params);
    sample_point::<E>(params, proof_params, &mut transcript, &statement.batches);
    let column = size(rng);
    for (index, batch) in statement.batches.iter().enumerate() {
        let shapes: Vec<Shape> = batch.tables.iter().map(|table| table.shape).collect();
        let positions: Vec<usize> = (0..rng.below(4)).map(|_| size(rng)).collect();
        let opening = match case.proof.batches.get(index) {
            Some(opening) if rng.below(2) == 0 => opening.clone(),
            _ => RowOpening {
                rows: vec![Vec::new(); shapes.len()],
                siblings: Vec::new(),
            },
        };
        // Any answer will do: nothing is what is asked for if there are no positions.
        let _ = RowVerifier::new(params).verify(&batch.commitment, &shapes, &positions, &opening);
        for table in 0..batch.tables.len() {
            let values = statement.values(index, table, column);
            assert!(
                values.is_none_or(|values| values.len() <= statement.claims[index][table].len())
            );
        }
    }
    let tables = || statement.batches.iter().flat_map(|batch| &batch.tables);
    for regime in [
        Regime::UniqueDecoding,
        Regime::ListDecoding,
        Regime::Conjectured,
    ] {
        let _ = proof_params.security::<E>(regime, params, tables());
    }
    if rng.below(16) == 0 {
        let _ = ProofParams::builder().for_security::<E>(
            *pick(rng, &[0, 1, 60, 100, u32::MAX]),
            Regime::UniqueDecoding,
            params,
            tables(),
        );
    }
}

/// Sizes, most of them absurd.
fn size(rng: &mut Rng) -> usize {
    match rng.below(3) {
        0 => index(rng, 5),
        1 => *pick(
            rng,
            &[
                31,
                32,
                63,
                64,
                1 << 24,
                1 << 31,
                u32::MAX as usize,
                1 << 32,
                usize::MAX / 6,
                usize::MAX / 4 + 1,
                usize::MAX / 2,
                usize::MAX / 2 + 1,
                usize::MAX - 1,
                usize::MAX,
            ],
        ),
        _ => rng.next_u64() as usize,
    }
}

fn mutate_shape(rng: &mut Rng, shape: &mut Shape) {
    match rng.below(5) {
        0 => shape.log_rows = *pick(rng, &[0, 1, 5, 20, 23, 24, 31, 32, 63, 64, u32::MAX]),
        1 => shape.base_width = size(rng),
        2 => shape.ext_width = size(rng),
        3 => shape.ext_degree = size(rng),
        _ => {
            *shape = Shape {
                log_rows: shape.log_rows.wrapping_add(1),
                ..*shape
            }
        }
    }
}

fn any_shifts(rng: &mut Rng) -> Shifts {
    Shifts::from_runs((0..rng.below(4)).map(|_| {
        let shifts = (0..rng.below(4)).map(|_| size(rng)).collect();
        (size(rng), shifts)
    }))
}

fn mutate_statement<E: Extension>(
    rng: &mut Rng,
    statement: &mut Statement<E>,
    donor: &Statement<E>,
) {
    let other: OpenedBatch = pick(rng, &donor.batches).clone();
    let others: Vec<Vec<E>> = pick(rng, &donor.claims).clone();
    match rng.below(12) {
        0 => {
            let root = KoalaBear::two_adic_generator(rng.below(25) as u32);
            statement.zeta = match rng.below(3) {
                0 => extension(rng),
                1 => E::from(root.pow(rng.next_u64())),
                _ => E::from(KoalaBear::GENERATOR * root),
            };
        }
        1 => alter(rng, &mut statement.batches, &donor.batches),
        2 => alter(rng, &mut statement.claims, &donor.claims),
        3 | 4 => {
            let other = pick(rng, &others);
            if let Some(batch) = pick_mut(rng, &mut statement.claims) {
                match (rng.below(3), pick_mut(rng, batch)) {
                    (0, Some(claims)) => alter(rng, claims, other),
                    (1, Some(claims)) => change(rng, claims),
                    _ => alter(rng, batch, &others),
                }
            }
        }
        5 => {
            if let Some(batch) = pick_mut(rng, &mut statement.batches) {
                let mut digests = batch.commitment.digests().to_vec();
                match rng.below(2) {
                    0 => alter(rng, &mut digests, other.commitment.digests()),
                    _ => change_digest(rng, &mut digests),
                }
                batch.commitment = Commitment::new(digests);
            }
        }
        6 => {
            if let Some(batch) = pick_mut(rng, &mut statement.batches) {
                alter(rng, &mut batch.tables, &other.tables);
            }
        }
        _ => {
            let batch = pick_mut(rng, &mut statement.batches);
            if let Some(table) = batch.and_then(|batch| pick_mut(rng, &mut batch.tables)) {
                mutate_table(rng, table);
            }
        }
    }
}

fn mutate_table(rng: &mut Rng, table: &mut OpenedTable) {
    match rng.below(4) {
        0 => table.shifts = any_shifts(rng),
        1 => table.shifts = Shifts::uniform(size(rng), &[0, size(rng)]),
        // Shifts of as many columns as the shape has.
        2 => {
            mutate_shape(rng, &mut table.shape);
            let Shape {
                base_width,
                ext_width,
                ..
            } = table.shape;
            let mut shifts = vec![0, size(rng)];
            shifts.truncate(1 + index(rng, 2));
            table.shifts = Shifts::uniform(base_width.saturating_add(ext_width), &shifts);
        }
        _ => mutate_shape(rng, &mut table.shape),
    }
}

fn mutated_params<E: Extension>(rng: &mut Rng, cases: &[Case<E>]) -> &'static str {
    let case = pick(rng, cases);
    let format = match rng.below(4) {
        0 => Format::Lineth,
        1 => Format::Plonky3 {
            sponge: Sponge::Width16,
        },
        2 => Format::Plonky3 {
            sponge: Sponge::Width24,
        },
        _ => case.params.format(),
    };
    let mut params = Params::builder(format).log_inv_rate(case.params.log_inv_rate());
    match rng.below(4) {
        0 => params = params.log_inv_rate(rng.below(6) as u32),
        1 => params = params.cap_height(*pick(rng, &[0, 1, 2, 24, 31, 32, 63, 64, u32::MAX])),
        _ => params = params.cap_height(case.params.cap_height()),
    }
    let foreign = rng.below(8) == 0;
    if foreign {
        params = params.constants16(match format {
            Format::Lineth => RoundConstants::<16>::plonky3_default(),
            _ => RoundConstants::<16>::gnark(),
        });
    }
    let Ok(params) = params.build() else {
        return "no parameters";
    };
    let own = case.proof_params;
    let word = |rng: &mut Rng| *pick(rng, &[0, 1, 2, 3, 4, 5, 10, 24, 25, 1 << 16, u32::MAX]);
    let mut proof_params = ProofParams::builder()
        .log_arity(own.log_arity())
        .log_final_len(own.log_final_len())
        .queries(own.queries())
        .grinding(own.grinding());
    match rng.below(8) {
        0 => proof_params = proof_params.log_arity(word(rng)),
        1 => proof_params = proof_params.log_final_len(word(rng)),
        2 => proof_params = proof_params.queries(word(rng)),
        3 => {
            proof_params = proof_params.grinding(Grinding {
                batch: word(rng),
                fold: word(rng),
                query: word(rng),
            });
        }
        _ => {}
    }
    let Ok(proof_params) = proof_params.build() else {
        return "no parameters";
    };
    // A header of these parameters, lest it alone make the difference.
    let mut proof = case.proof.clone();
    proof.header = Header::new::<E>(&params, &proof_params);
    let result = verify(
        &params,
        &proof_params,
        &mut Transcript::new(&case.function, cases::LABEL, Choice::portable()),
        &case.statement,
        &proof,
    );
    let same = proof == case.proof && !foreign;
    assert_eq!(result.is_ok(), same, "{}", case.name);
    if same { "the original" } else { "refused" }
}

fn mutated_lineth_statement(rng: &mut Rng, cases: &[LinethCase]) -> &'static str {
    let mut case = pick(rng, cases).clone();
    let donor = pick(rng, cases);
    for _ in 0..=rng.below(2) {
        match rng.below(5) {
            0 => case.zeta = extension(rng),
            1 => alter(rng, &mut case.claims, &donor.claims),
            2 => change(rng, &mut case.claims),
            3 => alter(rng, &mut case.batches, &donor.batches),
            _ => {
                let other = pick(rng, &donor.batches);
                let Some(batch) = pick_mut(rng, &mut case.batches) else {
                    continue;
                };
                match rng.below(6) {
                    0 => batch.root.0[index(rng, 8)] = element(rng),
                    1 => alter(rng, &mut batch.tables, &other.tables),
                    action => {
                        let Some(table) = pick_mut(rng, &mut batch.tables) else {
                            continue;
                        };
                        let log_rows = [0, 1, 3, 4, 5, 6, 24, 31, 32, 64, u32::MAX];
                        let some: Vec<usize> = (0..rng.below(3)).map(|_| size(rng)).collect();
                        match action {
                            2 => table.log_rows = *pick(rng, &log_rows),
                            3 => alter(rng, &mut table.base, &[some]),
                            4 => alter(rng, &mut table.extension, &[some]),
                            _ => {
                                if let Some(shifts) = pick_mut(rng, &mut table.base) {
                                    *shifts = some;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let honest = cases.iter().find(|other| other.name == case.name);
    let honest = honest.expect("one of them");
    // Tables of a batch may come in any order.
    let sorted = |case: &LinethCase| {
        let mut batches = case.batches.clone();
        for batch in &mut batches {
            batch.tables.sort_by_key(|table| table.log_rows);
        }
        batches
    };
    let same =
        case.zeta == honest.zeta && case.claims == honest.claims && sorted(&case) == sorted(honest);
    // The transcript of these proofs holds roots, point and claims alone; so do the challenges here.
    let accepted = case.verify(&case.proof).is_ok();
    assert!(!accepted || same, "{}: {:?}", case.name, case.batches);
    if accepted { "the original" } else { "refused" }
}
