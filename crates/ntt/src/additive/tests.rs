//! Every kernel and every plan against the definition, and the definition against published values.

use std::sync::Mutex;

use blake2::{Blake2s256, Digest};
use lanework_arch::cpu::Caches;
use lanework_arch::memory::{Pages, Slab};
use lanework_arch::threads::Threads;
use lanework_arch::{Choice, Feature};
use lanework_field::Field;
use lanework_field::gf2::{B64, T64};
use lanework_testkit::isas;
use lanework_testkit::vectors::{binary, word, words};
use serde_json::Value;

use super::{Definition, Encoder, Network, Representation, Shape, Transform};
use crate::Error;
use crate::plan::Sweeps;

/// Every back end of this CPU: all bundles, and those that lower one by the features that matter here.
fn choices() -> Vec<Choice> {
    let mut choices = Vec::new();
    for choice in Choice::available() {
        choices.push(choice);
        let gfni = choice.without(Feature::Gfni);
        let wide = gfni.without(Feature::Vpclmulqdq);
        let none = wide.without(Feature::Pclmulqdq).without(Feature::Pmull);
        for lowered in [gfni, wide, none] {
            if choices.last() != Some(&lowered) {
                choices.push(lowered);
            }
        }
    }
    choices
}

/// Words by the published rule of the vectors.
fn random(len: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..len).map(|_| next()).collect()
}

fn tower(words: &[u64]) -> Vec<T64> {
    words.iter().map(|&word| T64(word)).collect()
}

fn polynomial(words: &[u64]) -> Vec<B64> {
    words.iter().map(|&word| B64(word)).collect()
}

/// The codeword in words of the tower.
fn expected(shape: Shape, rows: &[u64], representation: Representation) -> Vec<u64> {
    let definition = Definition::cantor(shape.log_rows + shape.log_inv_rate);
    let rows: Vec<T64> = match representation {
        Representation::Tower => tower(rows),
        Representation::Polynomial => rows.iter().map(|&word| B64(word).into()).collect(),
    };
    definition
        .encode(&rows, shape.lanes)
        .iter()
        .map(|x| x.0)
        .collect()
}

fn lanes_of(rows: &[u64], lanes: usize) -> Vec<Vec<u64>> {
    (0..lanes)
        .map(|lane| rows.iter().skip(lane).step_by(lanes).copied().collect())
        .collect()
}

#[test]
fn the_definition_has_the_published_polynomials() {
    let monomial = &binary()["monomial"];
    let definition = Definition::monomial(21);
    for (name, row, first) in [
        ("W_1(e_c)_c=2..7", 1, 2),
        ("W_2(e_c)_c=3..8", 2, 3),
        ("W_5(e_c)_c=6..11", 5, 6),
    ] {
        for (i, want) in words(&monomial[name]).into_iter().enumerate() {
            assert_eq!(
                definition.subspace_value(row, 1 << (first + i)),
                B64(want),
                "{name} {i}"
            );
        }
    }
    for entry in monomial["twiddles_log_domain_21"].as_array().unwrap() {
        let layer = entry["layer"].as_u64().unwrap() as u32;
        let block = entry["block"].as_u64().unwrap();
        assert_eq!(
            definition.twiddle(layer, block),
            B64(word(&entry["t"])),
            "{entry}"
        );
    }
    for entry in binary()["cantor"]["twiddles_T"].as_array().unwrap() {
        let block = entry["block"].as_u64().unwrap();
        assert_eq!(T64::omega(2 * block), T64(word(&entry["t"])), "{entry}");
    }
}

#[test]
fn twiddles_of_the_cantor_basis_depend_on_the_block_alone() {
    let definition = Definition::cantor(21);
    for layer in 0..21_u32 {
        for block in [
            0, 1, 2, 3, 5, 127, 128, 255, 256, 3000, 32767, 32768, 777_777, 1_048_575,
        ] {
            if block >> layer == 0 {
                assert_eq!(
                    definition.twiddle(layer, block),
                    T64::omega(2 * block),
                    "{layer} {block}"
                );
            }
        }
    }
    // The weights of a verifier.
    for position in [0_u64, 1, 77, 54321, 2_097_151] {
        for i in 0..21 {
            assert_eq!(
                definition.subspace_value(i, position),
                T64::omega(position >> i)
            );
        }
    }
}

#[test]
fn the_definition_has_the_published_codewords() {
    let check = |entries: &Value, encode: &dyn Fn(&[u64], u32) -> Vec<u64>| {
        for entry in entries.as_array().unwrap() {
            let message = words(&entry["message"]);
            let log_inv_rate = entry["log_inv_rate"].as_u64().unwrap() as u32;
            let log_len = message.len().ilog2() + log_inv_rate;
            assert_eq!(
                encode(&message, log_len),
                words(&entry["codeword"]),
                "{entry}"
            );
        }
    };
    check(&binary()["monomial"]["encode_K"], &|message, log_len| {
        let code = Definition::monomial(log_len).encode(&polynomial(message), 1);
        code.iter().map(|x| x.0).collect()
    });
    check(&binary()["cantor"]["encode_T"], &|message, log_len| {
        let code = Definition::cantor(log_len).encode(&tower(message), 1);
        code.iter().map(|x| x.0).collect()
    });
    for entry in binary()["cantor"]["encode_K_message"].as_array().unwrap() {
        let message = words(&entry["message_K"]);
        let log_len = message.len().ilog2() + entry["log_inv_rate"].as_u64().unwrap() as u32;
        let code = Definition::cantor_polynomial(log_len).encode(&polynomial(&message), 1);
        assert_eq!(code, polynomial(&words(&entry["codeword_K"])));
        let code: Vec<T64> = code.into_iter().map(T64::from).collect();
        assert_eq!(code, tower(&words(&entry["codeword_T"])));
    }
}

#[test]
fn the_definition_is_the_value_of_a_polynomial() {
    fn check<F: Field>(definition: &Definition<F>, message: &[F]) {
        let code = definition.encode(message, 1);
        for (position, &value) in code.iter().enumerate() {
            let direct: F = (0..message.len())
                .map(|u| {
                    let bits = (0..6).filter(|i| u >> i & 1 == 1);
                    let factors = bits.map(|i| definition.subspace_value(i, position as u64));
                    message[u] * factors.product()
                })
                .sum();
            assert_eq!(value, direct, "{position}");
        }
    }
    for (log_rows, log_inv_rate) in [(0, 1), (1, 3), (3, 2), (6, 1), (5, 3)] {
        let message = random(1 << log_rows, u64::from(log_rows));
        check(
            &Definition::cantor(log_rows + log_inv_rate),
            &tower(&message),
        );
        check(
            &Definition::monomial(log_rows + log_inv_rate),
            &polynomial(&message),
        );
    }
}

#[test]
fn networks_undo_and_transpose_each_other() {
    let definition = Definition::monomial(6);
    let (x, y) = (polynomial(&random(64, 1)), polynomial(&random(64, 2)));
    let (mut forward, mut transposed) = (x.clone(), y.clone());
    definition.run(Network::Forward, 1..5, &mut forward, 1);
    definition.run(Network::Transposed, 1..5, &mut transposed, 1);
    let dot = |a: &[B64], b: &[B64]| a.iter().zip(b).map(|(&a, &b)| a * b).sum::<B64>();
    assert_eq!(dot(&forward, &y), dot(&x, &transposed));
    definition.run(Network::Inverse, 1..5, &mut forward, 1);
    assert_eq!(forward, x);
}

#[test]
fn transforms_of_a_block_equal_the_definition() {
    let mut names = Vec::new();
    for choice in choices() {
        names.push(choice.to_string());
        for representation in [Representation::Tower, Representation::Polynomial] {
            let transform = Transform::new(7, 3, 12, representation, choice).unwrap();
            let definition = Definition::cantor(19);
            for block in [0, 1, 2, 3, 9, 31, 32, 63, 64, 127, 128, 1000, 4095] {
                let original = random(3 << 7, block as u64);
                for network in [Network::Forward, Network::Inverse, Network::Transposed] {
                    // The other blocks are zeros and stay so.
                    let mut all = vec![T64(0); 3 << 19];
                    let place = block * (3 << 7)..(block + 1) * (3 << 7);
                    all[place.clone()].copy_from_slice(&tower(&original));
                    run_block(&definition, network, &mut all[place.clone()], block, 12);
                    let mut rows = original.clone();
                    if representation == Representation::Polynomial {
                        for x in &mut rows {
                            *x = B64::from(T64(*x)).0;
                        }
                    }
                    match network {
                        Network::Forward => transform.forward(&mut rows, block),
                        Network::Inverse => transform.inverse(&mut rows, block),
                        Network::Transposed => transform.transposed(&mut rows, block),
                    }
                    if representation == Representation::Polynomial {
                        for x in &mut rows {
                            *x = T64::from(B64(*x)).0;
                        }
                    }
                    assert_eq!(
                        tower(&rows),
                        all[place],
                        "{transform:?} {block} {network:?}"
                    );
                }
            }
        }
    }
    isas::report("additive", &names);
}

/// The layers from `layer` on, on one block of `layer`, three lanes.
fn run_block(
    definition: &Definition<T64>,
    network: Network,
    rows: &mut [T64],
    block: usize,
    layer: u32,
) {
    // A transform of the block's size with the twiddles of the block: the definition of a larger domain on
    // the whole of which only this block is not zero.
    let log_rows = definition.log_len() - layer;
    let layers: Vec<u32> = match network {
        Network::Forward => (0..log_rows).collect(),
        _ => (0..log_rows).rev().collect(),
    };
    for i in layers {
        let half = 3_usize << (log_rows - 1 - i);
        for (inner, rows) in rows.chunks_exact_mut(2 * half).enumerate() {
            let t = definition.twiddle(layer + i, ((block << i) + inner) as u64);
            let (low, high) = rows.split_at_mut(half);
            for (u, v) in low.iter_mut().zip(high) {
                match network {
                    Network::Forward => {
                        *u += t * *v;
                        *v += *u;
                    }
                    Network::Inverse => {
                        *v += *u;
                        *u += t * *v;
                    }
                    Network::Transposed => {
                        *u += *v;
                        *v += t * *u;
                    }
                }
            }
        }
    }
}

/// Caches that lead to every number of passes.
fn caches() -> Vec<Caches> {
    [64, 512, 4 << 10, 32 << 10, 2 << 20]
        .map(|l2| Caches::new(48 << 10, l2, 0))
        .into()
}

#[test]
fn the_planner_is_driven_to_every_number_of_passes() {
    let passes = |log_rows, lanes: usize, caches| {
        let sweeps = Sweeps::new(log_rows, 1, 8 * lanes, caches, 1);
        assert_eq!(sweeps.gathered.iter().sum::<u32>() + sweeps.deep, log_rows);
        assert!(sweeps.gathered.iter().all(|&layers| layers > 0));
        sweeps.gathered.len()
    };
    let mut seen = [false; 4];
    for caches in caches() {
        for log_rows in 0..=14 {
            for lanes in [1, 3, 8, 20, 64, 256] {
                seen[passes(log_rows, lanes, caches).min(3)] = true;
            }
        }
    }
    assert_eq!(seen, [true; 4], "none, one, two and more gathered passes");
}

#[test]
fn codewords_equal_the_definition_for_every_kernel_and_plan() {
    let shapes = [
        (0, 1, 1),
        (1, 2, 3),
        (2, 7, 2),
        (3, 1, 8),
        (4, 2, 3),
        (6, 3, 64),
        (6, 1, 7),
        (9, 1, 5),
        (10, 2, 13),
        (8, 4, 16),
        (12, 1, 8),
        (13, 1, 1),
    ];
    for (log_rows, log_inv_rate, lanes) in shapes {
        let shape = Shape {
            log_rows,
            log_inv_rate,
            lanes,
        };
        let rows = random(shape.message_len(), 7);
        let lane_words = lanes_of(&rows, lanes);
        let lane_refs: Vec<&[u64]> = lane_words.iter().map(Vec::as_slice).collect();
        for representation in [Representation::Tower, Representation::Polynomial] {
            let want = expected(shape, &rows, representation);
            for choice in choices() {
                // Without vectors this is slow, and plans do not depend on the kernel.
                let plans = caches();
                let all = choice == Choice::best() || shape.codeword_len() < 1 << 12;
                for caches in if all { &plans[..] } else { &plans[2..3] } {
                    for threads in [1, 2] {
                        let encoder = Encoder::new(shape, choice, *caches, threads).unwrap();
                        check_encoder(&encoder, &lane_refs, representation, &want, threads);
                    }
                }
            }
        }
    }
}

fn check_encoder(
    encoder: &Encoder,
    lanes: &[&[u64]],
    representation: Representation,
    want: &[u64],
    threads: usize,
) {
    let shape = encoder.shape();
    let pool = Threads::new(threads.try_into().unwrap()).unwrap();
    pool.install(|| {
        let len = shape.message_len();
        let mut rows = Slab::<u64>::zeroed(len, Pages::Normal).unwrap();
        encoder.rows_of(lanes, representation, &mut rows);
        // Twice into one buffer: what is there before must not matter. On a cache line and off it.
        let mut buffer = Slab::<u64>::zeroed(shape.codeword_len() + 1, Pages::Normal).unwrap();
        buffer.fill(0x5555);
        for shift in [0, 1, 0] {
            let code = &mut buffer[shift..shift + shape.codeword_len()];
            encoder.encode(&rows, code).unwrap();
            assert!(code == want, "{encoder:?} {threads} {shift}");
            code[len..].fill(0x3333);
            encoder.rows_of(lanes, representation, &mut code[..len]);
            encoder.encode_in_place(code).unwrap();
            assert!(code == want, "in place {encoder:?} {threads} {shift}");
        }
        // Some parts only, and every block once, when it is finished.
        let replicas = (1 << shape.log_inv_rate) / 2..1 << shape.log_inv_rate;
        let mut code = Slab::<u64>::zeroed(len * replicas.len(), Pages::Normal).unwrap();
        encoder.rows_of(lanes, representation, &mut code[..len]);
        let blocks = replicas.len() * shape.rows() / encoder.block_rows();
        let seen = Mutex::new(Vec::new());
        let start = replicas.start * len;
        encoder
            .encode_blocks(
                None,
                &mut code,
                replicas,
                (0..blocks).map(Some).collect(),
                |block, rows| {
                    let first = start + block * encoder.block_rows() * shape.lanes;
                    assert!(
                        rows == &want[first..first + rows.len()],
                        "block {block} {encoder:?}"
                    );
                    seen.lock().unwrap().push(block);
                },
            )
            .unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..blocks));
    });
}

#[test]
fn blocks_that_are_wanted_are_computed_whatever_the_others_are() {
    let shape = Shape {
        log_rows: 9,
        log_inv_rate: 2,
        lanes: 5,
    };
    let rows = random(shape.message_len(), 8);
    let want = expected(shape, &rows, Representation::Tower);
    for caches in caches() {
        let encoder = Encoder::new(shape, Choice::best(), caches, 1).unwrap();
        let per_part = shape.rows() / encoder.block_rows();
        let all = 4 * per_part;
        for wanted in [
            vec![],
            vec![0],
            vec![all - 1],
            vec![per_part],
            vec![1 % all, all / 2, all / 2 + 1],
        ] {
            let mut parts = vec![None; all + 2];
            for &block in &wanted {
                parts[block] = Some(block);
            }
            parts.truncate(all);
            let expected: Vec<usize> = parts.iter().copied().flatten().collect();
            let mut code = vec![0x77; shape.codeword_len()];
            code[..rows.len()].copy_from_slice(&rows);
            let seen = Mutex::new(Vec::new());
            encoder
                .encode_blocks(None, &mut code, 0..4, parts, |block, words| {
                    let first = block * words.len();
                    assert!(
                        words == &want[first..first + words.len()],
                        "{block} {encoder:?}"
                    );
                    seen.lock().unwrap().push(block);
                })
                .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, expected);
        }
    }
}

#[test]
fn large_codewords_have_the_published_digests() {
    for entry in binary()["encode_digests"].as_array().unwrap() {
        let number = |key: &str| entry[key].as_u64().unwrap();
        let shape = Shape {
            log_rows: number("log_message") as u32,
            log_inv_rate: number("log_inv_rate") as u32,
            lanes: number("lanes") as usize,
        };
        let message = random(shape.message_len(), number("seed"));
        let lanes: Vec<&[u64]> = message.chunks(shape.rows()).collect();
        let code: Vec<u64> = if entry["instance"] == "cantor_T" {
            let mut code = vec![0; shape.codeword_len()];
            let encoder = Encoder::new(shape, Choice::best(), Caches::detect(), 2).unwrap();
            encoder.rows_of(&lanes, Representation::Tower, &mut code[..message.len()]);
            encoder.encode_in_place(&mut code).unwrap();
            code
        } else {
            let rows: Vec<B64> = (0..message.len())
                .map(|i| B64(lanes[i % shape.lanes][i / shape.lanes]))
                .collect();
            let definition = Definition::monomial(shape.log_rows + shape.log_inv_rate);
            definition
                .encode(&rows, shape.lanes)
                .iter()
                .map(|x| x.0)
                .collect()
        };
        let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        let digest = Blake2s256::digest(&bytes)
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(entry["blake2s256"], digest, "{entry}");
        for spot in entry["spot_words_lane0"].as_array().unwrap() {
            let position = spot["position"].as_u64().unwrap() as usize;
            assert_eq!(code[position * shape.lanes], word(&spot["word"]));
        }
    }
}

#[test]
fn lanes_of_the_extension_are_three_lanes_each() {
    let vector = &binary()["F192_lanes"];
    let limbs = |key: &str| -> Vec<u64> {
        vector[key]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(words)
            .collect()
    };
    let message = limbs("message_E");
    let shape = Shape {
        log_rows: (message.len() / 3).ilog2(),
        log_inv_rate: 1,
        lanes: 3,
    };
    for choice in choices() {
        let encoder = Encoder::new(shape, choice, Caches::detect(), 1).unwrap();
        let mut code = vec![0; shape.codeword_len()];
        let lanes = lanes_of(&message, 3);
        let lanes: Vec<&[u64]> = lanes.iter().map(Vec::as_slice).collect();
        encoder.rows_of(
            &lanes,
            Representation::Polynomial,
            &mut code[..message.len()],
        );
        encoder.encode_in_place(&mut code).unwrap();
        assert_eq!(code, limbs("codeword_cantor_T"), "{encoder:?}");
    }
}

#[test]
fn domains_end_at_32_bits() {
    let shape = Shape {
        log_rows: 30,
        log_inv_rate: 3,
        lanes: 1,
    };
    let error = Encoder::new(shape, Choice::best(), Caches::detect(), 1).unwrap_err();
    assert_eq!(error, Error::DomainTooLong { log_len: 33 });
    let shape = Shape {
        log_rows: u32::MAX,
        log_inv_rate: 3,
        lanes: 1,
    };
    assert!(Encoder::new(shape, Choice::best(), Caches::detect(), 1).is_err());
    assert!(Transform::new(20, 1, 13, Representation::Tower, Choice::best()).is_err());
}

#[test]
fn any_number_of_threads_is_planned_for() {
    let shape = Shape {
        log_rows: 10,
        log_inv_rate: 1,
        lanes: 3,
    };
    for threads in [0, usize::MAX] {
        assert!(Encoder::new(shape, Choice::best(), Caches::detect(), threads).is_ok());
    }
}

#[test]
fn lanes_that_no_memory_holds_are_refused() {
    for (log_rows, lanes) in [
        (10, 1 << 60),
        (3, usize::MAX),
        (30, 1 << 30),
        (0, 1 << 61),
        (5, 0),
    ] {
        let shape = Shape {
            log_rows,
            log_inv_rate: 1,
            lanes,
        };
        let encoder = || Encoder::new(shape, Choice::portable(), Caches::detect(), 1);
        assert!(std::panic::catch_unwind(encoder).is_err(), "{shape:?}");
        let transform = || {
            Transform::new(
                log_rows,
                lanes,
                1,
                Representation::Tower,
                Choice::portable(),
            )
        };
        assert!(std::panic::catch_unwind(transform).is_err(), "{shape:?}");
    }
}
