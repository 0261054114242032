use lanework_plonky3::{LaneworkCompression, LaneworkPoseidon2, LaneworkSponge};
use lanework_testkit::cases::Rng;
use p3_challenger::{CanObserve, CanSample, CanSampleBits, DuplexChallenger, GrindingChallenger};
use p3_field::{PackedValue, PrimeCharacteristicRing};
use p3_koala_bear::{
    KOALABEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, KOALABEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    KOALABEAR_POSEIDON2_RC_16_INTERNAL, KoalaBear, Poseidon2KoalaBear,
    default_koalabear_poseidon2_16, default_koalabear_poseidon2_24,
};
use p3_poseidon2::ExternalLayerConstants;
use p3_symmetric::{
    CryptographicHasher, PaddingFreeSponge, Permutation, PseudoCompressionFunction,
};
use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::{Packing, choices, compress, elements, hash, stock_compress, stock_hash};

type Scalar = [KoalaBear; 8];

/// Ours and the stock permutation permute alike, single states and packed ones.
fn assert_same<const WIDTH: usize>(
    ours: &LaneworkPoseidon2<WIDTH>,
    stock: &impl Permutation<[KoalaBear; WIDTH]>,
) {
    /// More lanes than any vector has, and not a power of two.
    const LANES: usize = 19;
    let mut rng = Rng::new(1);
    let mut packed = [[KoalaBear::ZERO; LANES]; WIDTH];
    let mut expected = packed;
    for lane in 0..LANES {
        let state: [KoalaBear; WIDTH] = elements(&mut rng, WIDTH).try_into().expect("a state");
        let permuted = stock.permute(state);
        assert_eq!(ours.permute(state), permuted, "{ours:?}");
        for i in 0..WIDTH {
            (packed[i][lane], expected[i][lane]) = (state[i], permuted[i]);
        }
    }
    assert_eq!(ours.permute(packed), expected, "{ours:?}");
}

#[test]
fn permutations_are_the_stock_ones_however_they_are_made() {
    for choice in choices("plonky3-hash") {
        let external = || {
            ExternalLayerConstants::new(
                KOALABEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL.to_vec(),
                KOALABEAR_POSEIDON2_RC_16_EXTERNAL_FINAL.to_vec(),
            )
        };
        let internal = KOALABEAR_POSEIDON2_RC_16_INTERNAL.to_vec();
        let ours = LaneworkPoseidon2::<16>::new(external(), internal.clone());
        let stock = Poseidon2KoalaBear::<16>::new(external(), internal);
        assert_same(&ours.with_choice(choice), &stock);

        let ours = lanework_plonky3::default_koalabear_poseidon2_16();
        assert_same(&ours.with_choice(choice), &default_koalabear_poseidon2_16());
        let ours = lanework_plonky3::default_koalabear_poseidon2_24();
        assert_same(&ours.with_choice(choice), &default_koalabear_poseidon2_24());

        for seed in 0..3 {
            let rng = || SmallRng::seed_from_u64(seed);
            let ours = LaneworkPoseidon2::<16>::new_from_rng_128(&mut rng());
            let stock = Poseidon2KoalaBear::<16>::new_from_rng_128(&mut rng());
            assert_same(&ours.with_choice(choice), &stock);
            let ours = LaneworkPoseidon2::<24>::new_from_rng_128(&mut rng());
            let stock = Poseidon2KoalaBear::<24>::new_from_rng_128(&mut rng());
            assert_same(&ours.with_choice(choice), &stock);
            let ours = LaneworkPoseidon2::<24>::new_from_rng(6, 11, &mut rng());
            let stock = Poseidon2KoalaBear::<24>::new_from_rng(6, 11, &mut rng());
            assert_same(&ours.with_choice(choice), &stock);
        }
    }
}

#[test]
#[should_panic(expected = "at least six external rounds: 4")]
fn too_few_rounds_are_refused() {
    LaneworkPoseidon2::<16>::new_from_rng(4, 20, &mut SmallRng::seed_from_u64(1));
}

#[test]
fn digests_are_the_stock_ones() {
    let stock = stock_hash();
    let narrow_stock = PaddingFreeSponge::<_, 16, 8, 8>::new(default_koalabear_poseidon2_16());
    for choice in choices("plonky3-hash") {
        let ours = hash(choice);
        let narrow =
            LaneworkSponge::<16, 8>::new(LaneworkPoseidon2::<16>::default().with_choice(choice));
        let mut rng = Rng::new(2);
        for len in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100] {
            for count in [0, 1, 2, 15, 16, 17, 63, 64, 65, 150] {
                let input = elements(&mut rng, len * count);
                let mut expected = vec![[KoalaBear::ZERO; 8]; count];
                let mut digests = vec![[KoalaBear::ONE; 8]; count];
                stock.hash_many(&input, &mut expected);
                ours.hash_many(&input, &mut digests);
                assert_eq!(digests, expected, "{count} messages of {len}, {choice}");
                narrow_stock.hash_many(&input, &mut expected);
                narrow.hash_many(&input, &mut digests);
                assert_eq!(digests, expected, "{count} messages of {len}, {choice}");
            }
            let input = elements(&mut rng, len);
            let expected = stock.hash_slice(&input);
            assert_eq!(ours.hash_slice(&input), expected);
            assert_eq!(ours.hash_iter(input.clone()), expected);
            let (a, b) = input.split_at(len / 3);
            assert_eq!(ours.hash_iter_slices([a, b]), expected);
            // Vectors of this build.
            let packed: Vec<Packing> = input.iter().map(|&x| Packing::broadcast(x)).collect();
            let digest: [Packing; 8] = ours.hash_slice(&packed);
            assert_eq!(digest.map(|lanes| lanes.extract(0)), expected);
        }
    }
    const { assert!(<LaneworkSponge<24, 16> as CryptographicHasher<KoalaBear, Scalar>>::LANES > 1) };
    const { assert!(<LaneworkCompression as PseudoCompressionFunction<Scalar, 2>>::LANES > 1) };
}

#[test]
#[should_panic(expected = "messages of one length: 5 elements for 2 digests")]
fn messages_of_several_lengths_are_refused() {
    let mut digests = [[KoalaBear::ZERO; 8]; 2];
    hash(choices("plonky3-hash")[0]).hash_many(&[KoalaBear::ONE; 5], &mut digests);
}

#[test]
fn compressions_are_the_stock_ones() {
    let stock = stock_compress();
    for choice in choices("plonky3-hash") {
        let ours = compress(choice);
        let mut rng = Rng::new(3);
        for count in [0, 1, 2, 15, 16, 17, 63, 64, 65, 150] {
            let input = elements(&mut rng, 16 * count);
            let (digests, _) = input.as_chunks::<8>();
            let (pairs, _) = digests.as_chunks::<2>();
            let mut expected = vec![[KoalaBear::ZERO; 8]; count];
            let mut parents = expected.clone();
            stock.compress_many(pairs, &mut expected);
            ours.compress_many(pairs, &mut parents);
            assert_eq!(parents, expected, "{count} pairs, {choice}");
            for (&pair, &parent) in pairs.iter().zip(&expected) {
                assert_eq!(ours.compress(pair), parent);
                let packed = pair.map(|digest| digest.map(Packing::broadcast));
                assert_eq!(ours.compress(packed).map(|lanes| lanes.extract(0)), parent);
            }
        }
    }
}

#[test]
fn challengers_agree() {
    for choice in choices("plonky3-hash") {
        let ours = LaneworkPoseidon2::<16>::default().with_choice(choice);
        let mut ours = DuplexChallenger::<KoalaBear, _, 16, 8>::new(ours);
        let stock = default_koalabear_poseidon2_16();
        let mut stock = DuplexChallenger::<KoalaBear, _, 16, 8>::new(stock);
        for (round, &element) in elements(&mut Rng::new(4), 50).iter().enumerate() {
            ours.observe(element);
            stock.observe(element);
            if round % 3 == 0 {
                let sample: KoalaBear = ours.sample();
                assert_eq!(sample, stock.sample());
                assert_eq!(ours.sample_bits(20), stock.sample_bits(20));
            }
        }
        // A witness of either is one of the other.
        let (witness, other) = (ours.clone().grind(7), stock.clone().grind(7));
        assert!(stock.clone().check_witness(7, witness));
        assert!(ours.check_witness(7, other));
    }
}
