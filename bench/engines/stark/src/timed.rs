//! Types of a prover that note how long each call into them takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use p3_commit::{BatchOpening, BatchOpeningRef, Mmcs};
use p3_dft::{Layout, TwoAdicSubgroupDft};
use p3_field::TwoAdicField;
use p3_matrix::dense::{RowMajorMatrix, RowMajorMatrixViewMut};
use p3_matrix::{Dimensions, Matrix};

/// The time spent in something since the last look.
#[derive(Debug)]
pub(crate) struct Clock(AtomicU64);

/// Transforms, of whatever kind.
pub(crate) static TRANSFORMS: Clock = Clock::new();
/// Commitments to matrices, those of FRI included.
pub(crate) static TREES: Clock = Clock::new();
/// Opened rows and paths.
pub(crate) static ROWS: Clock = Clock::new();

impl Clock {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }

    fn time<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.add(start.elapsed());
        result
    }
}

/// A transform that is timed.
#[derive(Clone, Default, Debug)]
pub(crate) struct TimedDft<D>(pub(crate) D);

impl<F: TwoAdicField, D: TwoAdicSubgroupDft<F>> TwoAdicSubgroupDft<F> for TimedDft<D> {
    type Evaluations = D::Evaluations;

    fn dft_batch(&self, matrix: RowMajorMatrix<F>) -> Self::Evaluations {
        TRANSFORMS.time(|| self.0.dft_batch(matrix))
    }

    fn coset_dft_batch(&self, matrix: RowMajorMatrix<F>, shift: F) -> Self::Evaluations {
        TRANSFORMS.time(|| self.0.coset_dft_batch(matrix, shift))
    }

    fn idft_batch(&self, matrix: RowMajorMatrix<F>) -> RowMajorMatrix<F> {
        TRANSFORMS.time(|| self.0.idft_batch(matrix))
    }

    fn coset_idft_batch(&self, matrix: RowMajorMatrix<F>, shift: F) -> RowMajorMatrix<F> {
        TRANSFORMS.time(|| self.0.coset_idft_batch(matrix, shift))
    }

    fn coset_lde_batch(
        &self,
        matrix: RowMajorMatrix<F>,
        added_bits: usize,
        shift: F,
    ) -> Self::Evaluations {
        TRANSFORMS.time(|| self.0.coset_lde_batch(matrix, added_bits, shift))
    }

    fn coset_lde_batch_with_transform<T>(
        &self,
        matrix: RowMajorMatrix<F>,
        added_bits: usize,
        shift: F,
        transform: T,
    ) -> Self::Evaluations
    where
        T: FnOnce(&mut RowMajorMatrixViewMut<'_, F>, Layout),
    {
        TRANSFORMS.time(|| {
            self.0
                .coset_lde_batch_with_transform(matrix, added_bits, shift, transform)
        })
    }
}

/// A commitment scheme that is timed.
#[derive(Clone, Debug)]
pub(crate) struct TimedMmcs<M>(pub(crate) M);

impl<T: Send + Sync + Clone, C: Mmcs<T>> Mmcs<T> for TimedMmcs<C> {
    type ProverData<M> = C::ProverData<M>;
    type Commitment = C::Commitment;
    type Proof = C::Proof;
    type MultiProof = C::MultiProof;
    type Error = C::Error;

    fn commit<M: Matrix<T>>(&self, inputs: Vec<M>) -> (Self::Commitment, Self::ProverData<M>) {
        TREES.time(|| self.0.commit(inputs))
    }

    fn open_batch<M: Matrix<T>>(
        &self,
        index: usize,
        data: &Self::ProverData<M>,
    ) -> BatchOpening<T, Self> {
        let (rows, proof) = ROWS.time(|| self.0.open_batch(index, data)).unpack();
        BatchOpening::new(rows, proof)
    }

    fn get_matrices<'a, M: Matrix<T>>(&self, data: &'a Self::ProverData<M>) -> Vec<&'a M> {
        self.0.get_matrices(data)
    }

    fn verify_batch(
        &self,
        commit: &Self::Commitment,
        dimensions: &[Dimensions],
        index: usize,
        opening: BatchOpeningRef<'_, T, Self>,
    ) -> Result<(), Self::Error> {
        let opening = BatchOpeningRef::new(opening.opened_values, opening.opening_proof);
        self.0.verify_batch(commit, dimensions, index, opening)
    }

    fn open_multi_batch<M: Matrix<T>>(
        &self,
        indices: &[usize],
        data: &Self::ProverData<M>,
    ) -> (Vec<Vec<Vec<T>>>, Self::MultiProof) {
        ROWS.time(|| self.0.open_multi_batch(indices, data))
    }

    fn verify_multi_batch<R: AsRef<[T]> + PartialEq>(
        &self,
        commit: &Self::Commitment,
        dimensions: &[Dimensions],
        indices: &[usize],
        opened_values: &[Vec<R>],
        proof: &Self::MultiProof,
    ) -> Result<(), Self::Error> {
        self.0
            .verify_multi_batch(commit, dimensions, indices, opened_values, proof)
    }
}
