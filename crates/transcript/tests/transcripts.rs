//! Transcripts against published values, against Python's `hashlib`, and against each other.

use lanework_arch::Choice;
use lanework_field::KoalaBear;
use lanework_field::koala::Ext6;
use lanework_hash::{Digest, RoundConstants};
use lanework_testkit::vectors::koalabear;
use lanework_transcript::lineth::FiatShamir;
use lanework_transcript::{Duplex, Error, Function, GRINDING_BITS_MAX, Transcript};

fn functions() -> [Function; 4] {
    [
        Function::plonky3(),
        Function::gnark(),
        Function::blake3(),
        Function::blake2s(),
    ]
}

fn duplex(choice: Choice) -> Duplex {
    Duplex::new(&RoundConstants::<16>::plonky3_default(), choice)
}

fn elements(range: std::ops::Range<u32>) -> Vec<KoalaBear> {
    range.map(KoalaBear::new).collect()
}

fn samples(duplex: &mut Duplex, count: usize) -> Vec<u32> {
    (0..count).map(|_| duplex.sample().to_canonical()).collect()
}

#[test]
fn the_duplex_is_plonky3s() {
    for choice in Choice::available() {
        let vector = koalabear().get("p3_duplex_challenger_16_8");
        let mut challenger = duplex(choice);
        challenger.observe_slice(&elements(1..4));
        assert_eq!(
            samples(&mut challenger, 2),
            vector.output::<Vec<u32>>("base_samples")
        );
        challenger.observe(KoalaBear::new(4));
        assert_eq!(
            samples(&mut challenger, 4),
            vector.output::<Vec<u32>>("ext_sample")
        );
        assert_eq!(challenger.sample_bits(10), vector.output::<usize>("bits"));

        let vector = koalabear().get("p3_duplex_challenger_full_block");
        let mut challenger = duplex(choice);
        challenger.observe_slice(&elements(0..8));
        assert_eq!(
            samples(&mut challenger, 9),
            vector.output::<Vec<u32>>("base_samples")
        );
    }
}

#[test]
fn the_smallest_witness_is_found() {
    let vector = koalabear().get("p3_grind_8_bits_smallest");
    let observed: Vec<u32> = vector.input("observed");
    let bits: u32 = vector.input("bits");
    for choice in Choice::available() {
        let mut prover = duplex(choice);
        prover.observe_slice(
            &observed
                .iter()
                .copied()
                .map(KoalaBear::new)
                .collect::<Vec<_>>(),
        );
        let mut verifier = prover.clone();
        let witness = prover.grind(bits).unwrap();
        assert_eq!(
            witness.to_canonical(),
            vector.output::<u32>("smallest_witness")
        );
        assert!(verifier.check_witness(bits, witness));
        assert_eq!(prover.sample(), verifier.sample());
    }
}

/// As many elements pending as there can be, so that the nonce completes a block or starts one.
#[test]
fn grinding_works_behind_any_number_of_elements() {
    for function in functions() {
        for pending in 0..20 {
            let mut prover = Transcript::new(&function, "pending", Choice::best());
            prover.absorb_elements(&elements(0..pending));
            let mut verifier = prover.clone();
            let mut other = prover.clone();
            let nonce = prover.grind(9).unwrap();
            verifier.check_grinding(9, nonce).unwrap();
            assert_eq!(prover.squeeze_elements::<3>(), verifier.squeeze_elements());
            // A nonce is luck at one in 512.
            let wrong = other.check_grinding(9, nonce + 1);
            if let Err(error) = wrong {
                assert_eq!(
                    error,
                    Error::TooLittleWork {
                        bits: 9,
                        nonce: nonce + 1
                    }
                );
            }
            assert_ne!(prover.squeeze_elements::<3>(), other.squeeze_elements());
        }
    }
}

#[test]
fn grinding_of_no_bits_changes_nothing() {
    for function in functions() {
        let mut transcript = Transcript::new(&function, "none", Choice::best());
        let mut same = transcript.clone();
        assert_eq!(transcript.grind(0), Ok(0));
        assert_eq!(transcript.check_grinding(0, 0), Ok(()));
        let refused = transcript.check_grinding(0, 7);
        assert_eq!(refused, Err(Error::UnexpectedNonce { nonce: 7 }));
        assert_eq!(transcript.squeeze_elements::<4>(), same.squeeze_elements());
        let (bits, max) = (GRINDING_BITS_MAX + 1, GRINDING_BITS_MAX);
        assert_eq!(
            transcript.grind(bits),
            Err(Error::TooMuchGrinding { bits, max })
        );
    }
    let mut transcript = Transcript::new(&Function::plonky3(), "none", Choice::best());
    let nonce = u64::from(lanework_field::koala::spec::P);
    let refused = transcript.check_grinding(1, nonce);
    assert_eq!(refused, Err(Error::NonCanonicalNonce { nonce }));
}

/// Whatever is absorbed, and however it is split and typed, the challenges differ.
#[test]
fn different_messages_have_different_challenges() {
    for function in functions() {
        let start = |label: &str| Transcript::new(&function, label, Choice::best());
        let with = |absorb: &dyn Fn(&mut Transcript)| {
            let mut transcript = start("label");
            absorb(&mut transcript);
            transcript.squeeze_elements::<4>()
        };
        let zeros = [KoalaBear::ZERO; 16];
        let mut challenges = vec![
            start("label").squeeze_elements::<4>(),
            start("labels").squeeze_elements(),
            start("").squeeze_elements(),
            with(&|t| t.absorb_bytes(b"")),
            with(&|t| t.absorb_bytes(b"\0")),
            with(&|t| t.absorb_bytes(b"\0\0\0")),
            with(&|t| t.absorb_bytes(b"\0\0\0\0")),
            with(&|t| t.absorb_integers(&[])),
            with(&|t| t.absorb_integers(&[0])),
            with(&|t| t.absorb_integers(&[1 << 24])),
            with(&|t| t.absorb_integers(&[1 << 48])),
            with(&|t| t.absorb_integers(&[u64::MAX])),
            with(&|t| t.absorb_elements(&[])),
            with(&|t| t.absorb_elements(&zeros[..1])),
            with(&|t| t.absorb_elements(&zeros[..8])),
            with(&|t| t.absorb_elements(&zeros)),
            with(&|t| {
                t.absorb_elements(&zeros[..8]);
                t.absorb_elements(&zeros[8..]);
            }),
            with(&|t| t.absorb_digests(&[Digest::ZERO])),
            with(&|t| t.absorb_digests(&[Digest::ZERO; 2])),
        ];
        let count = challenges.len();
        challenges.sort_by_key(|challenge| challenge.map(KoalaBear::to_canonical));
        challenges.dedup();
        assert_eq!(challenges.len(), count, "{function}");
    }
}

#[test]
fn indices_are_below_their_bound_and_spread() {
    for function in functions() {
        let mut transcript = Transcript::new(&function, "indices", Choice::best());
        assert_eq!(transcript.squeeze_indices(3, 0), [0; 3]);
        let indices = transcript.squeeze_indices(4000, 4);
        for index in 0..16 {
            let count = indices.iter().filter(|&&other| other == index).count();
            assert!(
                (150..350).contains(&count),
                "{function}: {index} {count} times of 250"
            );
        }
        assert!(
            transcript
                .squeeze_indices(100, 24)
                .iter()
                .any(|&index| index >= 1 << 23)
        );
    }
}

/// The same chain, written down once more in Python, whose `hashlib` has BLAKE2s.
#[test]
fn the_chain_is_as_documented() {
    let program = r#"
import hashlib
P = 0x7f000001
state, pending = bytes(32), b""
def h(role, data):
    return hashlib.blake2s(state + bytes([role]) + data).digest()
def absorb(data):
    global state, pending
    pending += data
    while len(pending) >= 512:
        state, pending = h(1, pending[:512]), pending[512:]
def frame(kind, count):
    absorb(kind.to_bytes(8, "little") + count.to_bytes(8, "little"))
frame(1, 5); absorb(b"chain")
frame(4, 1000)
for i in range(1000):
    absorb(i.to_bytes(4, "little"))
frame(3, 2); absorb((2**40).to_bytes(8, "little") + (7).to_bytes(8, "little"))
state, pending = h(2, pending), b""
stream = b"".join(h(3, i.to_bytes(8, "little")) for i in range(8))
words = [int.from_bytes(stream[i:i + 4], "little") >> 1 for i in range(0, 256, 4)]
print(*[word for word in words if word < P][:40])
"#;
    let output = std::process::Command::new("python3")
        .args(["-c", program])
        .output();
    let Ok(output) = output else {
        assert!(
            !std::env::var("LANEWORK_REQUIRE").is_ok_and(|list| list.contains("python3")),
            "python3 is required"
        );
        eprintln!("skipped: no python3");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let expected: Vec<u32> = text
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();

    let mut transcript = Transcript::new(&Function::blake2s(), "chain", Choice::best());
    transcript.absorb_elements(&elements(0..1000));
    transcript.absorb_integers(&[1 << 40, 7]);
    let got = transcript
        .squeeze_elements::<40>()
        .map(KoalaBear::to_canonical);
    assert_eq!(&got[..], &expected[..]);
}

#[test]
fn every_choice_and_any_threads_find_the_same_nonce() {
    for function in functions() {
        let nonce = |choice, threads| {
            let threads = lanework_arch::threads::Threads::new(threads).unwrap();
            threads.install(|| {
                let mut transcript = Transcript::new(&function, "nonce", choice);
                transcript.grind(12).unwrap()
            })
        };
        let one = nonce(Choice::portable(), std::num::NonZero::new(1).unwrap());
        for choice in Choice::available() {
            assert_eq!(
                nonce(choice, std::num::NonZero::new(3).unwrap()),
                one,
                "{function} {choice}"
            );
        }
    }
}

fn fiat_shamir(choice: Choice) -> FiatShamir {
    FiatShamir::new(&RoundConstants::<16>::gnark(), choice)
}

#[test]
fn published_lineth_transcripts() {
    for choice in Choice::available() {
        for vector in koalabear().with_prefix("lineth_fiat_shamir") {
            let mut transcript = fiat_shamir(choice);
            let base: Vec<u32> = vector.input("absorb_base");
            let base: Vec<_> = base.into_iter().map(KoalaBear::new).collect();
            let extension: Vec<[u32; 6]> = vector.input("absorb_ext");
            let extension = extension.into_iter().map(Ext6::from_canonical);
            transcript.absorb(&base);
            transcript.absorb_extension(&extension.collect::<Result<Vec<_>, _>>().unwrap());
            assert_eq!(
                transcript.squeeze_digest().to_canonical(),
                vector.output::<[u32; 8]>("digest")
            );
            assert_eq!(
                transcript.squeeze_extension().to_canonical(),
                vector.output::<[u32; 6]>("ext")
            );
        }
        let vector = koalabear().get("lineth_query_positions");
        let mut transcript = fiat_shamir(choice);
        transcript.absorb(&elements(1..4));
        assert_eq!(
            transcript.squeeze_indices(10, 10),
            vector.output::<Vec<usize>>("integers")
        );
    }
}

#[test]
fn the_lineth_transcript_is_a_chain_with_a_zero_after_every_squeeze() {
    use lanework_hash::{MerkleDamgard, Poseidon2, RowHasher};

    let constants = RoundConstants::<16>::gnark();
    let hash = MerkleDamgard::new(Poseidon2::<16>::new(&constants, Choice::portable()));
    assert_eq!(
        fiat_shamir(Choice::portable()).squeeze_digest(),
        Digest::ZERO
    );
    for len in [1, 7, 8, 9, 16, 23] {
        let message = elements(5..5 + len);
        let mut transcript = fiat_shamir(Choice::portable());
        // However it is cut.
        let (first, second) = message.split_at(message.len() / 3);
        transcript.absorb(first);
        transcript.absorb(second);
        assert_eq!(transcript.squeeze_digest(), hash.hash_slice(&message));
        let (blocks, rest) = message.split_at(message.len() / 8 * 8);
        let padding = rest.len().next_multiple_of(8) - rest.len();
        let zeros = vec![KoalaBear::ZERO; padding];
        let after = [KoalaBear::ZERO, KoalaBear::ONE];
        let whole = [blocks, &zeros, rest, &after].concat();
        let mut again = transcript.clone();
        again.absorb(&[KoalaBear::ONE]);
        assert_eq!(again.squeeze_digest(), hash.hash_slice(&whole));
        assert_ne!(again.squeeze_digest(), transcript.squeeze_digest());
    }
}
