//! Precomputed kernel values between all pairs of inputs.

use super::spectrum;
use crate::{Error, Result};
use std::borrow::Cow;

/// Up to this many inputs [`Gram::new`] looks at the eigenvalues.
const EXACT_UP_TO: usize = 1000;
/// Allowed difference of mirrored entries, over the largest diagonal entry.
const ASYMMETRY: f64 = 1e-8;
/// Allowed size of a negative eigenvalue, over the largest one.
const NEGATIVE: f64 = 1e-8;
/// Rows and columns visited together, so that both sides of the diagonal stay in cache.
const TILE_ROWS: usize = 64;

/// The Gram matrix `K_ij = k(x_i, x_j)` of n inputs: row-major, double precision, borrowed or owned.
///
/// Checked once, here: finite, symmetric, and positive semidefinite as far as a look at it can tell, see
/// [`new`](Self::new).
///
/// ```
/// use kinfolk::{Error, inputs::Gram};
/// assert!(Gram::new(vec![2.0, 1.0, 1.0, 2.0], 2).is_ok());
/// let wrong = Gram::new(vec![1.0, 3.0, 3.0, 1.0], 2); // eigenvalues 4 and -2
/// assert!(matches!(wrong, Err(Error::NotPsd { .. })));
/// ```
#[derive(Debug, Clone)]
pub struct Gram<'a> {
    values: Cow<'a, [f64]>,
    n: usize,
}

impl<'a> Gram<'a> {
    /// Borrows a slice or takes over a vector of `n * n` kernel values.
    ///
    /// # Errors
    /// - [`Error::Empty`], [`Error::Length`]: no inputs, or not `n * n` values;
    /// - [`Error::NonFiniteInput`]: the first NaN or infinity;
    /// - [`Error::GramAsymmetric`]: the first pair with `|K_ij - K_ji| > 1e-8 max K_ii`;
    /// - [`Error::NotPsd`]: the first `K_ii < 0`; the first pair with `|K_ij| > sqrt(K_ii K_jj)` beyond
    ///   rounding; an eigenvalue below `-1e-8` times the largest one. Eigenvalues are computed for up to 1000
    ///   inputs; beyond, a few Lanczos steps from one fixed pseudo-random vector search for a z with `z'Kz <
    ///   0`, which finds gross errors at the price of eight products with K. [`check_psd`](Self::check_psd)
    ///   is exact for any n.
    pub fn new(values: impl Into<Cow<'a, [f64]>>, n: usize) -> Result<Self> {
        let values = values.into();
        super::check_shape(n, n)?;
        if n.checked_mul(n) != Some(values.len()) {
            let expected = n.saturating_mul(n);
            return Err(Error::Length { what: "array of Gram matrix values", got: values.len(), expected });
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::NonFiniteInput { row: i / n, column: i % n, value: values[i] });
        }
        let gram = Gram { values, n };
        gram.check_pairs()?;
        if n <= EXACT_UP_TO {
            gram.check_psd()?
        } else {
            gram.check_psd_quickly()?
        }
        Ok(gram)
    }

    /// Number of inputs.
    pub fn n(&self) -> usize {
        self.n
    }

    /// All values, rows one after another.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// Row i: the values `k(x_i, x_j)` for all j.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// k(x_i, x_j).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        debug_assert!(j < self.n);
        self.values[i * self.n + j]
    }

    /// The Gram matrix of the given inputs, copied: those rows and columns. Inputs may repeat.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn select_rows(&self, rows: &[u32]) -> Gram<'static> {
        let values = rows.iter().flat_map(|&i| {
            let row = self.row(i as usize);
            rows.iter().map(move |&j| row[j as usize])
        });
        Gram { values: values.collect(), n: rows.len() }
    }

    /// The same matrix, borrowed.
    pub fn view(&self) -> Gram<'_> {
        Gram { values: Cow::Borrowed(&self.values), n: self.n }
    }

    /// The same matrix, free of the borrow: copied unless owned already.
    pub fn into_owned(self) -> Gram<'static> {
        Gram { values: Cow::Owned(self.values.into_owned()), n: self.n }
    }

    /// `Err` if the smallest eigenvalue is below `-1e-8` times the largest one. Costs about `4/3 n^3`
    /// operations and a copy of the matrix; [`new`](Self::new) has done this already for up to 1000 inputs.
    ///
    /// # Errors
    /// [`Error::NotPsd`] with both eigenvalues.
    pub fn check_psd(&self) -> Result<()> {
        let scale = self.max_diagonal();
        if scale == 0.0 {
            return Ok(()); // then all entries are zero
        }
        let scaled: Vec<f64> = self.values.iter().map(|v| v / scale).collect();
        let Some((min, max)) = spectrum::extremes(&scaled, self.n) else {
            return Err(not_psd("its eigenvalues could not be computed".into()));
        };
        if min < -NEGATIVE * max {
            let (min, max) = (min * scale, max * scale);
            return Err(not_psd(format!("its smallest eigenvalue is {min:e}, its largest {max:e}")));
        }
        Ok(())
    }

    fn check_psd_quickly(&self) -> Result<()> {
        let scale = self.max_diagonal();
        if scale == 0.0 {
            return Ok(());
        }
        let Some((min, max)) = spectrum::lanczos(&self.values, self.n, scale) else {
            return Ok(()); // no evidence either way
        };
        if min < -NEGATIVE * max.max(1.0) {
            let (min, max) = (min * scale, max * scale);
            return Err(not_psd(format!(
                "there is a vector z with z'Kz = {min:e} |z|^2; its largest eigenvalue is about {max:e}"
            )));
        }
        Ok(())
    }

    fn max_diagonal(&self) -> f64 {
        (0..self.n).map(|i| self.get(i, i)).fold(0.0, f64::max)
    }

    /// Symmetry, and the sign of every 1 x 1 and 2 x 2 principal minor.
    fn check_pairs(&self) -> Result<()> {
        if let Some(i) = (0..self.n).find(|&i| self.get(i, i) < 0.0) {
            return Err(not_psd(format!("entry ({i}, {i}) on its diagonal is {:e}", self.get(i, i))));
        }
        let max = self.max_diagonal();
        let roots: Vec<f64> = (0..self.n).map(|i| self.get(i, i).sqrt()).collect();
        let asymmetric = |i, j| (self.get(i, j) - self.get(j, i)).abs() > ASYMMETRY * max;
        // The absolute part is for entries that are zero but for rounding, as after centring.
        let too_large = |i: usize, j| self.get(i, j).abs() > roots[i] * roots[j] * (1.0 + 1e-6) + 1e-12 * max;
        let Some((row, column)) = first_pair(self.n, |i, j| asymmetric(i, j) || too_large(i, j)) else {
            return Ok(());
        };
        let (value, mirror) = (self.get(row, column), self.get(column, row));
        if asymmetric(row, column) {
            return Err(Error::GramAsymmetric { row, column, value, mirror });
        }
        let bound = roots[row] * roots[column];
        Err(not_psd(format!(
            "entry ({row}, {column}) is {value:e}, but the diagonal allows no more than {bound:e} in size"
        )))
    }
}

/// First pair i < j, by rows, that is `bad`. Visits tiles of the upper triangle and stops after the first bad
/// band.
fn first_pair(n: usize, bad: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
    (0..n).step_by(TILE_ROWS).find_map(|band| {
        let mut first = None;
        for tile in (band..n).step_by(TILE_ROWS) {
            for i in band..n.min(band + TILE_ROWS) {
                let found = (tile.max(i + 1)..n.min(tile + TILE_ROWS)).find(|&j| bad(i, j)).map(|j| (i, j));
                first = first.into_iter().chain(found).min();
            }
        }
        first
    })
}

fn not_psd(detail: String) -> Error {
    Error::NotPsd { what: "Gram matrix", detail }
}
