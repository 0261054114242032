use lanework_arch::Choice;
use lanework_plonky3::{LaneworkCompression, LaneworkMmcs, LaneworkPoseidon2, LaneworkSponge};
use lanework_testkit::cases::Rng;
use p3_commit::{BatchOpeningRef, ExtensionMmcs, Mmcs};
use p3_field::extension::BinomialExtensionField;
use p3_field::{BasedVectorSpace, PrimeCharacteristicRing};
use p3_koala_bear::{KoalaBear, Poseidon2KoalaBear, default_koalabear_poseidon2_32};
use p3_matrix::dense::RowMajorMatrix;
use p3_matrix::{Dimensions, Matrix};
use p3_merkle_tree::{MerkleTreeError, MerkleTreeMmcs};
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};

use crate::{
    Packing, StockHash, choices, compress, elements, hash, in_pool, matrix, mmcs, stock_hash,
    stock_mmcs,
};

type Extension = BinomialExtensionField<KoalaBear, 4>;
type Narrow = PaddingFreeSponge<Poseidon2KoalaBear<16>, 16, 8, 8>;
type Wide = TruncatedPermutation<Poseidon2KoalaBear<32>, 4, 8, 32>;
type WideTree<H> = MerkleTreeMmcs<Packing, Packing, H, Wide, 4, 8>;

/// Heights and widths of batches: one row, odd heights, gaps between heights, several matrices of one height, in any
/// order.
fn shapes() -> Vec<Vec<(usize, usize)>> {
    vec![
        vec![(1, 1)],
        vec![(2, 3)],
        vec![(3, 2)],
        vec![(8, 1)],
        vec![(7, 5), (4, 9)],
        vec![(64, 33), (64, 1), (32, 17)],
        vec![(4, 40), (1000, 8), (500, 1), (250, 70), (1000, 130)],
        vec![(4096, 20), (16, 20), (1, 4)],
    ]
}

fn batch(rng: &mut Rng, shape: &[(usize, usize)]) -> Vec<RowMajorMatrix<KoalaBear>> {
    let matrices = shape
        .iter()
        .map(|&(height, width)| matrix(rng, height, width));
    matrices.collect()
}

fn dimensions(batch: &[RowMajorMatrix<KoalaBear>]) -> Vec<Dimensions> {
    batch.iter().map(Matrix::dimensions).collect()
}

/// Some indices below `height`, the ends among them, in no order and one twice.
fn indices(rng: &mut Rng, height: usize) -> Vec<usize> {
    let mut indices = vec![height - 1, 0];
    indices.extend((0..6).map(|_| rng.in_range(0..height)));
    indices.push(indices[3]);
    indices
}

#[test]
fn commitments_and_openings_are_the_stock_ones_and_the_stock_verifier_takes_them() {
    let mut rng = Rng::new(1);
    for choice in choices("plonky3-trees") {
        for (case, shape) in shapes().into_iter().enumerate() {
            // A cap over heights that are no powers of two is refused by everyone.
            let caps = shape.iter().all(|(height, _)| height.is_power_of_two());
            for cap_height in [0, 2, 20].into_iter().take(if caps { 3 } else { 1 }) {
                let batch = batch(&mut rng, &shape);
                let dims = dimensions(&batch);
                let max_height = shape.iter().map(|shape| shape.0).max().expect("a matrix");
                let (ours, stock) = (mmcs(choice, cap_height), stock_mmcs(cap_height));
                let (commitment, data) = in_pool(1 + case % 3, || ours.commit(batch.clone()));
                let (expected, stock_data) = stock.commit(batch);
                assert_eq!(commitment, expected, "{shape:?} cap {cap_height} {choice}");
                let same: Vec<_> = ours.get_matrices(&data);
                assert_eq!(same, stock.get_matrices(&stock_data));

                let indices = indices(&mut rng, max_height);
                for &index in &indices {
                    let opening = ours.open_batch(index, &data);
                    let expected = stock.open_batch(index, &stock_data);
                    assert_eq!(opening.opened_values, expected.opened_values);
                    assert_eq!(opening.opening_proof, expected.opening_proof);
                    let taken =
                        BatchOpeningRef::new(&opening.opened_values, &opening.opening_proof);
                    stock
                        .verify_batch(&commitment, &dims, index, taken)
                        .expect("an honest opening");
                    ours.verify_batch(&commitment, &dims, index, (&opening).into())
                        .expect("an honest opening");
                }
                for indices in [&indices[..], &indices[..1], &[]] {
                    let (rows, proof) = ours.open_multi_batch(indices, &data);
                    let (expected_rows, expected) = stock.open_multi_batch(indices, &stock_data);
                    assert_eq!(rows, expected_rows);
                    assert_eq!(proof.sibling_hashes, expected.sibling_hashes);
                    stock
                        .verify_multi_batch(&commitment, &dims, indices, &rows, &proof)
                        .expect("an honest opening");
                    ours.verify_multi_batch(&commitment, &dims, indices, &rows, &proof)
                        .expect("an honest opening");
                }
            }
        }
    }
}

#[test]
fn every_index_opens() {
    let mut rng = Rng::new(2);
    let ours = mmcs(Choice::best(), 1);
    let batch = batch(&mut rng, &[(16, 3), (4, 2), (16, 1)]);
    let dims = dimensions(&batch);
    let (commitment, data) = ours.commit(batch.clone());
    for index in 0..16 {
        let opening = ours.open_batch(index, &data);
        assert_eq!(opening.opening_proof.len(), 3);
        for (matrix, row) in batch.iter().zip(&opening.opened_values) {
            let place = index * matrix.height() / 16;
            assert_eq!(row[..], *matrix.row_slice(place).expect("a row"));
        }
        ours.verify_batch(&commitment, &dims, index, (&opening).into())
            .expect("an honest opening");
    }
    let all: Vec<_> = (0..16).collect();
    let (_, proof) = ours.open_multi_batch(&all, &data);
    assert!(
        proof.sibling_hashes.is_empty(),
        "nothing is left to be told"
    );
}

#[test]
fn what_was_changed_is_refused() {
    let mut rng = Rng::new(3);
    let ours = mmcs(Choice::best(), 0);
    let batch = batch(&mut rng, &[(32, 5), (8, 3)]);
    let dims = dimensions(&batch);
    let (commitment, data) = ours.commit(batch);
    let verify = |dims: &[Dimensions], index, rows: &[Vec<KoalaBear>], proof: &Vec<_>| {
        ours.verify_batch(&commitment, dims, index, BatchOpeningRef::new(rows, proof))
    };
    let (rows, proof) = ours.open_batch(13, &data).unpack();
    verify(&dims, 13, &rows, &proof).expect("an honest opening");
    for matrix in 0..2 {
        let mut rows = rows.clone();
        rows[matrix][2] += KoalaBear::ONE;
        let refused = verify(&dims, 13, &rows, &proof);
        assert!(matches!(refused, Err(MerkleTreeError::CapMismatch)));
    }
    for level in 0..proof.len() {
        let mut proof = proof.clone();
        proof[level][7] += KoalaBear::ONE;
        let refused = verify(&dims, 13, &rows, &proof);
        assert!(matches!(refused, Err(MerkleTreeError::CapMismatch)));
    }
    assert!(verify(&dims, 12, &rows, &proof).is_err(), "another index");
    assert!(
        verify(&dims, 32, &rows, &proof).is_err(),
        "an index too far"
    );
    assert!(
        verify(&dims[..1], 13, &rows, &proof).is_err(),
        "a matrix fewer"
    );
    assert!(verify(&dims, 13, &rows, &proof[1..].to_vec()).is_err());
    let mut wide = dims.clone();
    wide[0].width += 1;
    assert!(verify(&wide, 13, &rows, &proof).is_err(), "another width");

    let indices = [3, 13, 3];
    let (rows, proof) = ours.open_multi_batch(&indices, &data);
    let verify = |rows: &[Vec<Vec<KoalaBear>>], proof: &_| {
        ours.verify_multi_batch(&commitment, &dims, &indices, rows, proof)
    };
    verify(&rows, &proof).expect("an honest opening");
    for query in 0..3 {
        let mut rows = rows.clone();
        rows[query][1][0] += KoalaBear::ONE;
        assert!(verify(&rows, &proof).is_err());
    }
    let mut short = proof.clone();
    short.sibling_hashes.pop();
    assert!(verify(&rows, &short).is_err());
    let mut changed = proof;
    changed.sibling_hashes[0][0] += KoalaBear::ONE;
    assert!(verify(&rows, &changed).is_err());
}

#[test]
#[should_panic(expected = "3 rows, which has no place under 7")]
fn heights_that_do_not_fit_are_refused() {
    mmcs(Choice::best(), 0).commit(batch(&mut Rng::new(4), &[(7, 1), (3, 1)]));
}

#[test]
#[should_panic(expected = "no tables to commit to")]
fn nothing_to_commit_to_is_refused() {
    mmcs(Choice::best(), 0).commit::<RowMajorMatrix<KoalaBear>>(Vec::new());
}

#[test]
#[should_panic(expected = "index out of bounds: 8 of 8")]
fn an_index_too_far_is_not_opened() {
    let ours = mmcs(Choice::best(), 0);
    let (_, data) = ours.commit(batch(&mut Rng::new(5), &[(8, 1)]));
    ours.open_batch(8, &data);
}

#[test]
fn extension_matrices_are_committed_to_by_coordinates() {
    let mut rng = Rng::new(6);
    for choice in choices("plonky3-trees") {
        // The second is as wide as rows that are handed over in another way.
        for (height, width) in [(128, 2), (32, 50), (2, 1)] {
            let cells = elements(&mut rng, height * width * 4);
            let matrix = RowMajorMatrix::new(Extension::reconstitute_from_base(cells), width);
            let ours = ExtensionMmcs::<KoalaBear, Extension, _>::new(mmcs(choice, 0));
            let stock = ExtensionMmcs::<KoalaBear, Extension, _>::new(stock_mmcs(0));
            let (commitment, data) = ours.commit_matrix(matrix.clone());
            let (expected, stock_data) = stock.commit_matrix(matrix);
            assert_eq!(commitment, expected, "{height} x {width}, {choice}");
            let (rows, proof) = ours.open_multi_batch(&[1, 0], &data);
            let (expected_rows, expected) = stock.open_multi_batch(&[1, 0], &stock_data);
            assert_eq!(rows, expected_rows);
            assert_eq!(proof.sibling_hashes, expected.sibling_hashes);
        }
    }
}

#[test]
fn narrow_sponges_make_the_same_trees() {
    let mut rng = Rng::new(7);
    let permutation = LaneworkPoseidon2::<16>::default();
    let ours = LaneworkMmcs::<16, 8>::new(
        LaneworkSponge::new(permutation.clone()),
        LaneworkCompression::new(permutation),
        0,
    );
    let narrow = Narrow::new(p3_koala_bear::default_koalabear_poseidon2_16());
    let stock =
        MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(narrow, crate::stock_compress(), 0);
    for shape in shapes() {
        let batch = batch(&mut rng, &shape);
        assert_eq!(ours.commit(batch.clone()).0, stock.commit(batch).0);
    }
}

#[test]
fn the_stock_tree_takes_our_hashes() {
    let mut rng = Rng::new(8);
    for choice in choices("plonky3-trees") {
        for shape in shapes() {
            let batch = batch(&mut rng, &shape);
            let ours = MerkleTreeMmcs::<Packing, Packing, _, _, 2, 8>::new(
                hash(choice),
                compress(choice),
                0,
            );
            let (commitment, data) = ours.commit(batch.clone());
            let (expected, stock_data) = stock_mmcs(0).commit(batch.clone());
            assert_eq!(commitment, expected, "{shape:?} {choice}");
            let opening = ours.open_batch(0, &data);
            let expected = stock_mmcs(0).open_batch(0, &stock_data);
            assert_eq!(opening.opening_proof, expected.opening_proof);

            // Four children to a node, with the stock compression.
            let wide = || Wide::new(default_koalabear_poseidon2_32());
            let ours = WideTree::new(hash(choice), wide(), 0);
            let stock = WideTree::<StockHash>::new(stock_hash(), wide(), 0);
            assert_eq!(ours.commit(batch.clone()).0, stock.commit(batch).0);
        }
    }
}
