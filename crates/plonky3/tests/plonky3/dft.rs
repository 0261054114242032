use lanework_arch::Choice;
use lanework_arch::cpu::Caches;
use lanework_plonky3::LaneworkDft;
use lanework_testkit::cases::Rng;
use p3_dft::{Layout, Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::extension::BinomialExtensionField;
use p3_field::{BasedVectorSpace, Field, PrimeCharacteristicRing, TwoAdicField};
use p3_koala_bear::KoalaBear;
use p3_matrix::Matrix;
use p3_matrix::bitrev::{BitReversedMatrixView, BitReversibleMatrix};
use p3_matrix::dense::RowMajorMatrix;

use crate::{choices, elements, in_pool, matrix};

type Stock = Radix2DitParallel<KoalaBear>;
type Extension = BinomialExtensionField<KoalaBear, 4>;

fn shifts() -> [KoalaBear; 3] {
    [
        KoalaBear::ONE,
        KoalaBear::GENERATOR,
        KoalaBear::new(123_456_789),
    ]
}

/// A result as it lies in memory, and in order.
fn both(
    result: BitReversedMatrixView<RowMajorMatrix<KoalaBear>>,
) -> [RowMajorMatrix<KoalaBear>; 2] {
    let stored = result.bit_reverse_rows().to_row_major_matrix();
    let ordered = stored.clone().bit_reverse_rows().to_row_major_matrix();
    [stored, ordered]
}

#[test]
fn extensions_are_the_stock_ones() {
    let stock = Stock::default();
    let mut rng = Rng::new(1);
    let mut cases = vec![(16, 2, 1), (13, 97, 1)];
    for log_height in 0..=9 {
        for width in [1, 3, 16, 33, 70, 130] {
            cases.push((log_height, width, (log_height + width) % 4));
        }
    }
    let choices = choices("plonky3-dft");
    for (log_height, width, added_bits) in cases {
        let shift = shifts()[width % 3];
        let matrix = matrix(&mut rng, 1 << log_height, width);
        let expected = both(stock.coset_lde_batch(matrix.clone(), added_bits, shift));
        for &choice in &choices {
            let dft = LaneworkDft::with_choice(choice, Caches::detect());
            // Wide matrices are cut into strips, others into columns; with more threads, wide ones too.
            for threads in 1..=3 {
                let result = in_pool(threads, || {
                    both(dft.coset_lde_batch(matrix.clone(), added_bits, shift))
                });
                assert!(
                    result == expected,
                    "2^{log_height} x {width}, {added_bits} bits, {choice}, {threads} threads"
                );
            }
        }
    }
}

#[test]
fn transforms_are_the_stock_ones() {
    let stock = Stock::default();
    let mut rng = Rng::new(2);
    for choice in choices("plonky3-dft") {
        let dft = LaneworkDft::with_choice(choice, Caches::detect());
        for log_height in [0, 1, 2, 3, 5, 8, 11] {
            for width in [1, 2, 17, 70] {
                let matrix = matrix(&mut rng, 1 << log_height, width);
                let given = || matrix.clone();
                assert!(both(dft.dft_batch(given())) == both(stock.dft_batch(given())));
                assert!(dft.idft_batch(given()) == stock.idft_batch(given()));
                assert!(both(dft.lde_batch(given(), 2)) == both(stock.lde_batch(given(), 2)));
                for shift in shifts() {
                    assert!(
                        both(dft.coset_dft_batch(given(), shift))
                            == both(stock.coset_dft_batch(given(), shift))
                    );
                    assert!(
                        dft.coset_idft_batch(given(), shift)
                            == stock.coset_idft_batch(given(), shift)
                    );
                    // There and back.
                    let values = dft.coset_dft_batch(given(), shift).to_row_major_matrix();
                    assert!(dft.coset_idft_batch(values, shift) == given());
                }
            }
        }
    }
}

#[test]
fn values_are_those_of_the_polynomial() {
    let dft = LaneworkDft::default();
    let coefficients = elements(&mut Rng::new(3), 16);
    let shift = KoalaBear::new(77);
    let at = |x: KoalaBear| {
        let powers = x.powers().zip(&coefficients);
        powers.map(|(power, &c)| power * c).sum::<KoalaBear>()
    };
    let points = |log_len| {
        let root = KoalaBear::two_adic_generator(log_len);
        root.shifted_powers(shift).take(1 << log_len)
    };
    let values: Vec<_> = points(4).map(at).collect();
    assert_eq!(dft.coset_dft(coefficients.clone(), shift), values);
    assert_eq!(dft.coset_idft(values, shift), coefficients);
    let on_subgroup = dft.dft(coefficients.clone());
    assert_eq!(dft.idft(on_subgroup.clone()), coefficients);
    let extended: Vec<_> = points(6).map(at).collect();
    assert_eq!(dft.coset_lde(on_subgroup, 2, shift), extended);
}

#[test]
fn algebras_are_transformed_by_coordinates() {
    let (dft, stock) = (LaneworkDft::default(), Stock::default());
    let cells = elements(&mut Rng::new(4), 4 * 3 * 64);
    let matrix = RowMajorMatrix::new(Extension::reconstitute_from_base(cells), 3);
    let given = || matrix.clone();
    let shift = KoalaBear::GENERATOR;
    assert_eq!(
        dft.dft_algebra_batch(given()),
        stock.dft_algebra_batch(given())
    );
    assert_eq!(
        dft.idft_algebra_batch(given()),
        stock.idft_algebra_batch(given())
    );
    assert_eq!(
        dft.coset_dft_algebra_batch(given(), shift),
        stock.coset_dft_algebra_batch(given(), shift)
    );
    assert_eq!(
        dft.coset_idft_algebra_batch(given(), shift),
        stock.coset_idft_algebra_batch(given(), shift)
    );
    assert_eq!(
        dft.lde_algebra_batch(given(), 2),
        stock.lde_algebra_batch(given(), 2)
    );
    assert_eq!(
        dft.coset_lde_algebra_batch(given(), 1, shift),
        stock.coset_lde_algebra_batch(given(), 1, shift)
    );
    let vector: Vec<_> = given().values.into_iter().take(64).collect();
    assert_eq!(dft.dft_algebra(vector.clone()), stock.dft_algebra(vector));
}

#[test]
fn callbacks_see_what_they_are_promised() {
    let (dft, stock) = (LaneworkDft::default(), Stock::default());
    let matrix = matrix(&mut Rng::new(5), 32, 5);
    let shift = KoalaBear::GENERATOR;
    let expected = both(stock.coset_lde_batch(matrix.clone(), 1, shift))[0].clone();
    let double = |dft_values: RowMajorMatrix<KoalaBear>| {
        let values = dft_values
            .values
            .iter()
            .map(PrimeCharacteristicRing::double);
        RowMajorMatrix::new(values.collect(), 5)
    };
    let transformed =
        dft.coset_lde_batch_with_transform(matrix.clone(), 1, shift, |view, layout| {
            assert_eq!(layout, Layout::Natural);
            for cell in &mut *view.values {
                *cell = cell.double();
            }
        });
    let transformed = transformed.bit_reverse_rows().to_row_major_matrix();
    assert_eq!(transformed, double(expected.clone()));
    let seen = std::sync::Mutex::new(vec![KoalaBear::ZERO; 64 * 5]);
    let result = dft.coset_lde_batch_with_blocks(
        matrix,
        1,
        shift,
        |_, _| {},
        |_| {
            |first: usize, block: p3_matrix::dense::RowMajorMatrixView<'_, KoalaBear>| {
                let mut seen = seen.lock().expect("no panic");
                seen[first * 5..][..block.values.len()].copy_from_slice(block.values);
            }
        },
    );
    assert_eq!(result.bit_reverse_rows().to_row_major_matrix(), expected);
    assert_eq!(seen.into_inner().expect("no panic"), expected.values);
}

#[test]
fn a_matrix_with_room_for_its_extension_does_not_move() {
    for width in [2, 200] {
        let mut values = Vec::with_capacity(width * 128);
        values.extend(elements(&mut Rng::new(6), width * 64));
        let place = values.as_ptr();
        let matrix = RowMajorMatrix::new(values, width);
        let extended = LaneworkDft::default().coset_lde_batch(matrix, 1, KoalaBear::GENERATOR);
        let extended = extended.bit_reverse_rows().to_row_major_matrix();
        assert_eq!((extended.values.as_ptr(), extended.height()), (place, 128));
    }
}

#[test]
fn a_shift_of_zero_is_left_to_the_stock_type() {
    let (dft, stock) = (LaneworkDft::default(), Stock::default());
    let matrix = matrix(&mut Rng::new(7), 16, 3);
    let zero = KoalaBear::ZERO;
    assert_eq!(
        both(dft.coset_lde_batch(matrix.clone(), 1, zero)),
        both(stock.coset_lde_batch(matrix.clone(), 1, zero))
    );
    assert_eq!(
        both(dft.coset_dft_batch(matrix.clone(), zero)),
        both(stock.coset_dft_batch(matrix, zero))
    );
}

#[test]
fn plans_of_many_shapes_are_made_and_forgotten() {
    let dft = LaneworkDft::with_choice(Choice::best(), Caches::detect());
    let matrix = matrix(&mut Rng::new(8), 8, 2);
    for shift in (1..200).map(KoalaBear::new) {
        let expected = both(Stock::default().coset_lde_batch(matrix.clone(), 1, shift));
        assert_eq!(
            both(dft.clone().coset_lde_batch(matrix.clone(), 1, shift)),
            expected
        );
    }
}

#[test]
#[should_panic(expected = "a power of two of rows")]
fn other_heights_are_refused() {
    LaneworkDft::default().dft_batch(matrix(&mut Rng::new(9), 3, 2));
}

#[test]
#[should_panic(expected = "2^")]
fn extensions_beyond_the_subgroups_are_refused() {
    let matrix = matrix(&mut Rng::new(10), 4, 1);
    LaneworkDft::default().coset_lde_batch(matrix, 23, KoalaBear::GENERATOR);
}
