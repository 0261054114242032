//! Slices of elements, by the kernels of a choice of instructions.

use lanework_arch::Choice;

use super::body::{
    AddMultiples, AddScaled, AddScaledExtension, Dot, DotExtension, DotMixed, Double,
    DoubleExtension, FoldBase, FoldExtension, Mul, MulExtension, Scale, ScaleExtension, Square,
};
use super::clmul::Proof;
use super::{B64, B192};

/// Arithmetic on slices of [`B64`] and [`B192`], by the kernels of one instruction set.
///
/// Slices may have any length. Where several are given they must have the lengths that the operation says;
/// anything else panics.
///
/// ```
/// use lanework_arch::Choice;
/// use lanework_field::gf2::{B64, Rows};
///
/// let rows = Rows::new(Choice::best());
/// let mut values = [B64(1), B64(2), B64(3)];
/// rows.scale(B64(1 << 63), &mut values);
/// assert_eq!(rows.dot(&values, &[B64(2); 3]), B64(0x1b) * (B64(1) + B64(2) + B64(3)));
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Rows {
    proof: Proof,
}

fn words(elements: &[B64]) -> &[u64] {
    bytemuck::cast_slice(elements)
}

fn words_mut(elements: &mut [B64]) -> &mut [u64] {
    bytemuck::cast_slice_mut(elements)
}

fn limbs(elements: &[B192]) -> &[u64] {
    bytemuck::cast_slice(elements)
}

fn limbs_mut(elements: &mut [B192]) -> &mut [u64] {
    bytemuck::cast_slice_mut(elements)
}

#[track_caller]
fn same_len(left: usize, right: usize) {
    assert_eq!(left, right, "one element for each");
}

impl Rows {
    /// The widest kernels within `choice`.
    pub fn new(choice: Choice) -> Self {
        Self {
            proof: Proof::new(choice),
        }
    }

    /// All kernels that this CPU runs, the widest first.
    pub fn available() -> Vec<Self> {
        let proofs = Proof::all(Choice::best());
        proofs.map(|proof| Self { proof }).collect()
    }

    /// The name of the kernels, for reports.
    pub fn name(self) -> &'static str {
        self.proof.name()
    }

    /// Writes the products x y to `out`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mul(self, x: &[B64], y: &[B64], out: &mut [B64]) {
        same_len(x.len(), y.len());
        same_len(x.len(), out.len());
        let (x, y, out) = (words(x), words(y), words_mut(out));
        self.proof.run(Mul { x, y, out });
    }

    /// Squares every value.
    pub fn square(self, values: &mut [B64]) {
        let values = words_mut(values);
        self.proof.run(Square { values });
    }

    /// Multiplies every value by `factor`.
    pub fn scale(self, factor: B64, values: &mut [B64]) {
        let (factor, values) = (factor.0, words_mut(values));
        self.proof.run(Scale { factor, values });
    }

    /// Adds `factor` x to the values.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_scaled(self, factor: B64, x: &[B64], values: &mut [B64]) {
        same_len(x.len(), values.len());
        let (factor, x, values) = (factor.0, words(x), words_mut(values));
        self.proof.run(AddScaled { factor, x, values });
    }

    /// The sum of x y.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn dot(self, x: &[B64], y: &[B64]) -> B64 {
        same_len(x.len(), y.len());
        let (x, y) = (words(x), words(y));
        self.proof.run(Dot { x, y }).reduce()
    }

    /// The sum of x y, for x in K.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn dot_mixed(self, x: &[B64], y: &[B192]) -> B192 {
        same_len(x.len(), y.len());
        let (x, y) = (words(x), limbs(y));
        self.proof.run(DotMixed { x, y }).reduce()
    }

    /// The sum of x y.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn dot_extension(self, x: &[B192], y: &[B192]) -> B192 {
        same_len(x.len(), y.len());
        let (x, y) = (limbs(x), limbs(y));
        self.proof.run(DotExtension { x, y }).reduce()
    }

    /// Writes the products x y to `out`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mul_extension(self, x: &[B192], y: &[B192], out: &mut [B192]) {
        same_len(x.len(), y.len());
        same_len(x.len(), out.len());
        let (x, y, out) = (limbs(x), limbs(y), limbs_mut(out));
        self.proof.run(MulExtension { x, y, out });
    }

    /// Multiplies every value by `factor`.
    pub fn scale_extension(self, factor: B192, values: &mut [B192]) {
        let (factor, values) = (factor.words(), limbs_mut(values));
        self.proof.run(ScaleExtension { factor, values });
    }

    /// Multiplies every value by `factor`, which is in K.
    pub fn scale_extension_by_base(self, factor: B64, values: &mut [B192]) {
        let (factor, values) = (factor.0, limbs_mut(values));
        self.proof.run(Scale { factor, values });
    }

    /// Adds `factor` x to the values.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_scaled_extension(self, factor: B192, x: &[B192], values: &mut [B192]) {
        same_len(x.len(), values.len());
        let (factor, x, values) = (factor.words(), limbs(x), limbs_mut(values));
        self.proof.run(AddScaledExtension { factor, x, values });
    }

    /// Adds `factor` x to the values, for `factor` in K.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_scaled_extension_by_base(self, factor: B64, x: &[B192], values: &mut [B192]) {
        same_len(x.len(), values.len());
        let (factor, x, values) = (factor.0, limbs(x), limbs_mut(values));
        self.proof.run(AddScaled { factor, x, values });
    }

    /// Adds `factor` x to the values, for x in K.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_multiples(self, factor: B192, x: &[B64], values: &mut [B192]) {
        same_len(x.len(), values.len());
        let (factor, x, values) = (factor.words(), words(x), limbs_mut(values));
        self.proof.run(AddMultiples { factor, x, values });
    }

    /// Sets the lowest variable of the multilinear polynomial with the values x on the hypercube to `point`:
    /// `out[i] = x[2 i] + point (x[2 i] + x[2 i + 1])`.
    ///
    /// # Panics
    /// If `x` is not twice as long as `out`.
    pub fn fold_base(self, point: B192, x: &[B64], out: &mut [B192]) {
        same_len(x.len(), 2 * out.len());
        let (factor, x, out) = (point.words(), words(x), limbs_mut(out));
        self.proof.run(FoldBase { factor, x, out });
    }

    /// As [`Rows::fold_base`], for values in E.
    ///
    /// # Panics
    /// If `x` is not twice as long as `out`.
    pub fn fold_extension(self, point: B192, x: &[B192], out: &mut [B192]) {
        same_len(x.len(), 2 * out.len());
        let (factor, x, out) = (point.words(), limbs(x), limbs_mut(out));
        self.proof.run(FoldExtension { factor, x, out });
    }

    /// The 2^n values eq(`point`, v) for v on the hypercube, where coordinate 0 of the `point` belongs to bit 0 of
    /// the index: the product of 1 + `point[j]` + `v[j]`.
    pub fn eq_table(self, point: &[B192]) -> Vec<B192> {
        let mut table = vec![B192::ZERO; 1 << point.len()];
        self.fill_eq_table(B192::ONE, point, &mut table);
        table
    }

    /// Fills `table` with `scale` times the values of [`Rows::eq_table`].
    ///
    /// # Panics
    /// If the length of the `table` is not 2^n for n coordinates.
    pub fn fill_eq_table(self, scale: B192, point: &[B192], table: &mut [B192]) {
        assert_eq!(table.len(), 1 << point.len(), "a value per vertex");
        table[0] = scale;
        for (j, coordinate) in point.iter().enumerate() {
            let (lower, upper) = limbs_mut(&mut table[..2 << j]).split_at_mut(3 << j);
            let factor = coordinate.words();
            self.proof.run(DoubleExtension {
                factor,
                lower,
                upper,
            });
        }
    }

    /// As [`Rows::eq_table`], for a point over K.
    pub fn eq_table_base(self, point: &[B64]) -> Vec<B64> {
        let mut table = vec![B64::ZERO; 1 << point.len()];
        self.fill_eq_table_base(B64::ONE, point, &mut table);
        table
    }

    /// As [`Rows::fill_eq_table`], for a point over K.
    ///
    /// # Panics
    /// If the length of the `table` is not 2^n for n coordinates.
    pub fn fill_eq_table_base(self, scale: B64, point: &[B64], table: &mut [B64]) {
        assert_eq!(table.len(), 1 << point.len(), "a value per vertex");
        table[0] = scale;
        for (j, coordinate) in point.iter().enumerate() {
            let (lower, upper) = words_mut(&mut table[..2 << j]).split_at_mut(1 << j);
            let factor = coordinate.0;
            self.proof.run(Double {
                factor,
                lower,
                upper,
            });
        }
    }
}
