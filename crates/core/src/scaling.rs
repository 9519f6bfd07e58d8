//! What is done to inputs before a kernel sees them. Part of the model, so that no caller has to repeat it by
//! hand.

mod feature;
mod row_weights;
mod spread;

use crate::inputs::{Dense, Inputs, Sparse, Values};
use crate::linalg::power_of_two;
use crate::names::display_and_parse_names;
use crate::{Error, Result};
pub(crate) use feature::FeatureSpread;
use row_weights::RowWeights;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which scaling, as written in settings, files and on the command line: `auto`, `none`, `mixed`, `standard`, `spread`
/// or `unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScalingKind {
    /// What suits the inputs: `mixed` for features, `none` for a Gram matrix. [`Scaling::fit`] decides; a fitted
    /// scaling is never of this kind.
    Auto,
    /// See [`Scaling::None`].
    #[default]
    None,
    /// See [`Scaling::Mixed`].
    Mixed,
    /// See [`Scaling::Standard`].
    Standard,
    /// See [`Scaling::Spread`].
    Spread,
    /// See [`Scaling::Unit`].
    Unit,
}

impl ScalingKind {
    /// All of them.
    pub const ALL: [ScalingKind; 6] = [
        ScalingKind::Auto,
        ScalingKind::None,
        ScalingKind::Mixed,
        ScalingKind::Standard,
        ScalingKind::Spread,
        ScalingKind::Unit,
    ];

    /// The kind that this one stands for with these inputs: itself, unless it is `auto`.
    pub fn resolve(self, inputs: &Inputs<'_>) -> ScalingKind {
        match (self, inputs) {
            (ScalingKind::Auto, Inputs::Gram(_)) => ScalingKind::None,
            (ScalingKind::Auto, _) => ScalingKind::Mixed,
            (kind, _) => kind,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ScalingKind::Auto => "auto",
            ScalingKind::None => "none",
            ScalingKind::Mixed => "mixed",
            ScalingKind::Standard => "standard",
            ScalingKind::Spread => "spread",
            ScalingKind::Unit => "unit",
        }
    }
}

display_and_parse_names!(ScalingKind, "scaling");

/// A map of inputs, with its numbers.
///
/// A scaled value depends on the values of its own row and on the numbers here, and on nothing else: not on
/// the rows that come with it, nor on how they are stored. Single and double precision, dense and sparse,
/// whole or in chunks, equal inputs become the same bits, in double precision.
///
/// ```
/// use kinfolk::inputs::{Dense, Inputs};
/// use kinfolk::{Scaling, ScalingKind};
/// let x: Inputs = Dense::f64(&[0.0, 5.0, 2.0, 5.0], 2, 2)?.into();
/// let scaling = Scaling::fit(ScalingKind::Standard, &x)?;
/// assert_eq!(scaling, Scaling::Standard { mean: vec![1.0, 5.0], factor: vec![1.0, 1.0] });
/// let Inputs::Dense(scaled) = scaling.apply(&x)? else { panic!() };
/// assert_eq!(scaled.as_f64(), Some(&[-1.0, 0.0, 1.0, 0.0][..]));
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Scaling {
    /// Inputs stay as they are.
    #[default]
    None,
    /// `(x_j - mean_j) factor_j` for dense inputs, `x_j factor_j` for sparse ones. A feature of numbers is divided by
    /// its standard deviation, one of two values (yes and no, a word that is there or not) by half the distance
    /// between them (Gelman 2008). Where both values are frequent that is nearly the same. But the deviation of a
    /// rare value is small: divided by it, a value that 3 of 2,000 rows have would lie 26 deviations away, as if it
    /// mattered more than any number.
    Mixed {
        /// Whether means are subtracted.
        centred: bool,
        /// Mean of each feature.
        mean: Vec<f64>,
        /// One over its standard deviation, or over half the distance of its two values; of a constant feature as
        /// with [`Standard`](Self::Standard) and [`Spread`](Self::Spread).
        factor: Vec<f64>,
    },
    /// `(x_j - mean_j) factor_j`: every feature has mean 0 and variance 1, as after scikit-learn's
    /// `StandardScaler`.
    Standard {
        /// Mean of each feature.
        mean: Vec<f64>,
        /// One over its population standard deviation; 1 for a constant feature.
        factor: Vec<f64>,
    },
    /// `x_j factor_j`: every feature has variance 1 and zeros stay zeros, so sparse inputs stay sparse. In a
    /// linear model with an intercept of each task, predictions are those of standard scaling.
    Spread {
        /// Mean of each feature, which is not subtracted: a task without rows has the mean of the predictions of others
        /// there. Empty in files that were written before it was kept.
        mean: Vec<f64>,
        /// One over the population standard deviation of each feature. For a constant feature one over its absolute
        /// value, 1 if that is zero.
        factor: Vec<f64>,
    },
    /// `x / |x|`: every row has unit length. A zero row stays zero.
    Unit,
}

impl Scaling {
    /// The scaling of this kind for these training inputs.
    ///
    /// A feature is constant, as in scikit-learn, if its standard deviation is no more than what rounding may
    /// leave of equal values: `n eps |mean|` for n inputs.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for standard scaling of sparse inputs, for a feature whose deviation is below the
    /// range of double precision, and for any scaling of a Gram matrix but `auto`, which is none.
    pub fn fit(kind: ScalingKind, inputs: &Inputs<'_>) -> Result<Scaling> {
        Scaling::fit_weighted(kind, inputs, None)
    }

    /// The same where some inputs count more than others: a weight of 2 is a repetition, one of 0 an input that is not
    /// there. [`Observations::input_weights`](crate::Observations::input_weights) gives such weights.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::Length`] if there is not one weight for each input.
    pub fn fit_weighted(kind: ScalingKind, inputs: &Inputs<'_>, weights: Option<&[f64]>) -> Result<Scaling> {
        let (n, given) = (inputs.n_inputs(), weights.map(<[f64]>::len));
        if let Some(got) = given.filter(|got| *got != n) {
            return Err(Error::Length { what: "the list of weights of inputs", got, expected: n });
        }
        let weights = &RowWeights::new(weights, n);
        let scaling = match (kind.resolve(inputs), inputs) {
            (ScalingKind::Unit, _) => Scaling::Unit,
            (ScalingKind::None, _) => Scaling::None,
            (kind, Inputs::Gram(_)) => Scaling::of_features(kind, false, &[], 0.0)?,
            (kind @ ScalingKind::Spread, _) | (kind, Inputs::Sparse(_)) => {
                Scaling::of_features(kind, false, &spread::features(inputs, weights), n as f64)?
            }
            (kind, Inputs::Dense(x)) => Scaling::of_features(kind, true, &features(x, weights), n as f64)?,
        };
        scaling.check_form(inputs)?;
        Ok(scaling)
    }

    /// A scaling of features with these moments in n inputs, one by one; only dense inputs can be `centred`.
    pub(crate) fn of_features(
        kind: ScalingKind,
        centred: bool,
        features: &[FeatureSpread],
        n: f64,
    ) -> Result<Scaling> {
        let mean = features.iter().map(FeatureSpread::mean).collect();
        let factor = |(j, own): (usize, &FeatureSpread)| match kind {
            ScalingKind::Mixed => own.factor_by_values(n, centred, j),
            _ => own.factor(n, centred, j),
        };
        let factor = features.iter().enumerate().map(factor).collect::<Result<_>>()?;
        Ok(match kind {
            ScalingKind::Mixed => Scaling::Mixed { centred, mean, factor },
            ScalingKind::Spread => Scaling::Spread { mean, factor },
            _ => Scaling::Standard { mean, factor },
        })
    }

    /// Its name.
    pub fn kind(&self) -> ScalingKind {
        match self {
            Scaling::None => ScalingKind::None,
            Scaling::Mixed { .. } => ScalingKind::Mixed,
            Scaling::Standard { .. } => ScalingKind::Standard,
            Scaling::Spread { .. } => ScalingKind::Spread,
            Scaling::Unit => ScalingKind::Unit,
        }
    }

    /// The inputs, scaled; a view of them if there is nothing to do.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for forms of inputs that [`fit`](Self::fit) refuses, another number of
    /// features, and a value so far from the training inputs that it leaves the range of double precision.
    pub fn apply<'a>(&self, inputs: &'a Inputs<'_>) -> Result<Inputs<'a>> {
        self.check_form(inputs)?;
        match (self, inputs) {
            (
                Scaling::Standard { mean, factor } | Scaling::Mixed { centred: true, mean, factor },
                Inputs::Dense(x),
            ) => {
                self.check_features(x.cols())?;
                Ok(standardised(x, mean, factor)?.into())
            }
            (
                Scaling::Spread { factor, .. } | Scaling::Mixed { centred: false, factor, .. },
                Inputs::Dense(_) | Inputs::Sparse(_),
            ) => {
                self.check_features(inputs.n_features())?;
                spread::apply(inputs, factor)
            }
            (Scaling::Unit, Inputs::Dense(x)) => Ok(unit_dense(x)?.into()),
            (Scaling::Unit, Inputs::Sparse(x)) => Ok(unit_sparse(x)?.into()),
            _ => Ok(inputs.view()),
        }
    }

    /// What is subtracted from features and what they are then multiplied with, where a scaling treats features one
    /// by one. No means are zeros.
    pub fn mean_and_factor(&self) -> Option<(Option<&[f64]>, &[f64])> {
        match self {
            Scaling::Standard { mean, factor } | Scaling::Mixed { centred: true, mean, factor } => {
                Some((Some(mean), factor))
            }
            Scaling::Spread { factor, .. } | Scaling::Mixed { centred: false, factor, .. } => {
                Some((None, factor))
            }
            Scaling::None | Scaling::Unit => None,
        }
    }

    /// The means of all features, if they are known and not subtracted.
    pub(crate) fn means_not_subtracted(&self) -> Option<&[f64]> {
        match self {
            Scaling::Spread { mean, .. } | Scaling::Mixed { centred: false, mean, .. }
                if !mean.is_empty() =>
            {
                Some(mean)
            }
            _ => None,
        }
    }

    /// `Err` if this is about another number of features.
    pub(crate) fn check_features(&self, n_features: usize) -> Result<()> {
        let Some((mean, factor)) = self.mean_and_factor() else { return Ok(()) };
        if factor.len() == n_features && mean.is_none_or(|mean| mean.len() == n_features) {
            return Ok(());
        }
        let means = mean.map_or(String::new(), |mean| format!("{} means and ", mean.len()));
        Err(Error::Incompatible(format!(
            "the scaling has {means}{} factors, there are {n_features} features",
            factor.len()
        )))
    }

    /// `Err` if a mean is not finite or a factor not positive.
    pub(crate) fn check_numbers(&self) -> Result<()> {
        let Some((mean, factor)) = self.mean_and_factor() else { return Ok(()) };
        let wrong = |what: &str, j: usize, value: f64, range: &str| {
            Err(Error::Incompatible(format!("the {what} of feature {j} is {value}, not a {range} number")))
        };
        let means = mean.or(self.means_not_subtracted()).unwrap_or_default();
        if let Some((j, m)) = means.iter().enumerate().find(|(_, m)| !m.is_finite()) {
            return wrong("mean", j, *m, "finite");
        }
        match factor.iter().position(|f| !(f.is_finite() && *f > 0.0)) {
            Some(j) => wrong("factor", j, factor[j], "positive finite"),
            None => Ok(()),
        }
    }

    fn check_form(&self, inputs: &Inputs<'_>) -> Result<()> {
        match (self, inputs) {
            (Scaling::None, _) => Ok(()),
            (_, Inputs::Gram(_)) => Err(Error::Incompatible(format!(
                "{} scaling is about features, the inputs are a Gram matrix of kernel values; scale the features \
                 before computing it",
                self.kind()
            ))),
            (Scaling::Standard { .. } | Scaling::Mixed { centred: true, .. }, Inputs::Sparse(_)) => {
                Err(Error::Incompatible(format!(
                    "{} scaling would fill sparse inputs, since a zero less the mean is none; give dense inputs or \
                     choose spread scaling, which subtracts no means",
                    self.kind()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Rows added up before their sum goes to the total: rounding errors grow with the number of blocks only.
const BLOCK: usize = 512;

/// Calls `visit(i, row)` for every row i, in double precision.
fn for_each_row(x: &Dense<'_>, rows: impl Iterator<Item = usize>, mut visit: impl FnMut(usize, &[f64])) {
    let mut row = vec![0.0; x.cols()];
    for i in rows {
        x.load_range(i..i + 1, &mut row);
        visit(i, &row);
    }
}

/// Weighted sums over all rows of `term(x_j, j)`, one for each feature.
fn column_sums(x: &Dense<'_>, weights: &RowWeights<'_>, term: impl Fn(f64, usize) -> f64) -> Vec<f64> {
    let (mut total, mut block) = (vec![0.0; x.cols()], vec![0.0; x.cols()]);
    for start in (0..x.rows()).step_by(BLOCK) {
        block.fill(0.0);
        let counted = (start..x.rows().min(start + BLOCK)).filter(|&i| weights.get(i) > 0.0);
        for_each_row(x, counted, |i, row| {
            let weight = weights.get(i);
            block.iter_mut().zip(row).enumerate().for_each(|(j, (sum, x))| *sum += weight * term(*x, j));
        });
        total.iter_mut().zip(&block).for_each(|(total, block)| *total += block);
    }
    total
}

/// Two passes over differences from the first row that counts, so that equal values have variance exactly 0, each
/// feature in units of a power of two, so that no square over- or underflows.
fn features(x: &Dense<'_>, weights: &RowWeights<'_>) -> Vec<FeatureSpread> {
    let d = x.cols();
    let total = weights.sum();
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    for_each_row(x, weights.rows(), |_, row| {
        low.iter_mut().zip(row).for_each(|(low, x)| *low = low.min(*x));
        high.iter_mut().zip(row).for_each(|(high, x)| *high = high.max(*x));
    });
    let mut others = vec![false; d];
    for_each_row(x, weights.rows(), |_, row| {
        let ends = low.iter().zip(&high).zip(row);
        others.iter_mut().zip(ends).for_each(|(others, ((low, high), x))| *others |= x != low && x != high);
    });
    let unit_of = |(low, high): (&f64, &f64)| power_of_two(if low > high { 0.0 } else { high.max(-low) });
    let unit: Vec<f64> = low.iter().zip(&high).map(unit_of).collect();
    let start = weights.rows().next().unwrap_or(0);
    let first: Vec<f64> = (0..d).map(|j| x.get(start, j) / unit[j]).collect();
    let mut offset = column_sums(x, weights, |x, j| x / unit[j] - first[j]);
    offset.iter_mut().for_each(|sum| *sum /= total);
    let squares = column_sums(x, weights, |x, j| {
        let difference = x / unit[j] - first[j] - offset[j];
        difference * difference
    });
    let spread = |j: usize| FeatureSpread {
        centre: first[j] + offset[j],
        deviation: (squares[j] / total).sqrt(),
        distance: (!others[j] && high[j] > low[j]).then(|| high[j] / unit[j] - low[j] / unit[j]),
        unit: unit[j],
    };
    (0..d).map(spread).collect()
}

fn standardised(x: &Dense<'_>, mean: &[f64], factor: &[f64]) -> Result<Dense<'static>> {
    let mut out = vec![0.0; x.rows() * x.cols()];
    x.load_range(0..x.rows(), &mut out);
    pulp::Arch::new().dispatch(Standardise { rows: &mut out, mean, factor });
    match Dense::of_any_length(Values::F64(Cow::Owned(out)), x.rows(), x.cols()) {
        Err(Error::NonFiniteInput { .. }) => standardised_by_halves(x, mean, factor),
        other => other,
    }
}

struct Standardise<'a> {
    rows: &'a mut [f64],
    mean: &'a [f64],
    factor: &'a [f64],
}

impl pulp::NullaryFnOnce for Standardise<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.rows.chunks_exact_mut(self.mean.len().max(1)) {
            let columns = row.iter_mut().zip(self.mean).zip(self.factor);
            columns.for_each(|((x, mean), factor)| *x = (*x - mean) * factor);
        }
    }
}

/// The same where some differences of two huge numbers are out of range, and their halves are not.
fn standardised_by_halves(x: &Dense<'_>, mean: &[f64], factor: &[f64]) -> Result<Dense<'static>> {
    let scaled = |x: f64, j: usize| match x - mean[j] {
        difference if difference.is_infinite() => (0.5 * x - 0.5 * mean[j]) * factor[j] * 2.0,
        difference => difference * factor[j],
    };
    let mut out = Vec::with_capacity(x.rows() * x.cols());
    for_each_row(x, 0..x.rows(), |_, row| out.extend(row.iter().enumerate().map(|(j, x)| scaled(*x, j))));
    Dense::of_any_length(Values::F64(Cow::Owned(out)), x.rows(), x.cols()).map_err(|error| match error {
        Error::NonFiniteInput { row, column, .. } => out_of_range(
            row,
            column,
            x.get(row, column),
            &format!("mean {} and ", mean[column]),
            factor[column],
        ),
        other => other,
    })
}

fn out_of_range(row: usize, column: usize, value: f64, mean: &str, factor: f64) -> Error {
    Error::Incompatible(format!(
        "input row {row}, column {column}: {value} is out of range once scaled by the training inputs' \
         {mean}factor {factor}"
    ))
}

/// Brings the entries of a row to unit length, whether or not their squares are numbers. One after the other,
/// so that zeros in between change no bit of the sum.
fn to_unit_length(row: &mut [f64]) {
    let unit = power_of_two(row.iter().fold(0.0, |max: f64, x| max.max(x.abs())));
    row.iter_mut().for_each(|x| *x /= unit);
    let length = row.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|x| *x /= length);
    }
}

fn unit_dense(x: &Dense<'_>) -> Result<Dense<'static>> {
    let mut out = vec![0.0; x.rows() * x.cols()];
    x.load_range(0..x.rows(), &mut out);
    out.chunks_exact_mut(x.cols()).for_each(to_unit_length);
    Dense::of_any_length(Values::F64(Cow::Owned(out)), x.rows(), x.cols())
}

fn unit_sparse(x: &Sparse<'_>) -> Result<Sparse<'static>> {
    let mut out = vec![0.0; x.nnz()];
    x.values().load(0..x.nnz(), &mut out);
    (0..x.rows()).for_each(|i| to_unit_length(&mut out[x.span(i)]));
    let (indptr, indices) = (x.indptr().to_vec(), x.indices().to_vec());
    Sparse::of_any_length(Cow::Owned(indptr), Cow::Owned(indices), Values::F64(Cow::Owned(out)), x.cols())
}
