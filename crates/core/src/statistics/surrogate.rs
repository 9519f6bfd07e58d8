//! A small data set with the same moments as the rows.
//!
//! For every W and b, the squared losses of a task add up to the same number on two data sets whose weights, means,
//! X'X, X'y and y'y agree. So the objective is the same function, its minimum too, and a certificate about one data
//! set is a certificate about the other. From X'X = R'R (eigenvectors; directions that are only rounding are left out)
//! and `B = R'^-1 X'Y`, the centred rows
//!
//! ```text
//! [ R   B ]      one for each direction of the features
//! [ 0   e ]      with e_t^2 = y_t'y_t - |B_t|^2, what no weights can explain
//! ```
//!
//! have these moments. Products of labels of different tasks do not matter to the loss. The rows are rotated so that
//! they add up to zero, with one row more, and the means are added: all rows of a task then have the same weight.

use super::moments::RowMoments;
use super::{Layout, Statistics};
use crate::inputs::{Dense, Inputs};
use crate::linalg::{self, power_of_two, view};
use crate::pool::Pool;
use crate::{Error, Matrix, Observations, Result, Scaling, TargetScaling};
use rayon::prelude::*;

/// Data that stand for the rows of [`Statistics`] in a fit with the squared loss.
#[derive(Debug)]
pub struct Surrogate {
    /// Scaled.
    pub inputs: Inputs<'static>,
    /// Scaled.
    pub observations: Observations,
    /// Some of the rows themselves, scaled; `None` if none were kept.
    pub sample: Option<(Inputs<'static>, Observations)>,
    /// The weight of all rows in units of that of the sample.
    pub sample_factor: f64,
}

/// What a column is multiplied with, after this was subtracted from it.
#[derive(Debug, Clone, Copy)]
struct ColumnScale {
    centre: f64,
    factor: f64,
}

/// Rows of a surrogate: features, labels, and the weight of each row.
struct SurrogateRows {
    x: Matrix,
    y: Matrix,
    weight: f64,
}

impl Statistics {
    /// A data set with the same moments, in scaled units: at most as many rows as features and two more, for all tasks
    /// together or for each.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows; if scaled values leave the range of double precision.
    pub fn surrogate(&self, scaling: &Scaling, targets: Option<&TargetScaling>) -> Result<Surrogate> {
        let features: Vec<ColumnScale> = (0..self.n_features)
            .map(|j| match scaling.mean_and_factor() {
                Some((mean, factor)) => {
                    ColumnScale { centre: mean.map_or(0.0, |mean| mean[j]), factor: factor[j] }
                }
                None => ColumnScale { centre: 0.0, factor: 1.0 },
            })
            .collect();
        let label = |t: usize| ColumnScale {
            centre: targets.and_then(|scaling| scaling.centre()).map_or(0.0, |centre| centre[t]),
            factor: targets.map_or(1.0, |scaling| 1.0 / scaling.spread()[t]),
        };
        let t = self.tasks.len();
        let (inputs, observations) = match &self.layout {
            Layout::Shared(None) => return Err(Error::Empty { what: "the list of rows" }),
            Layout::Shared(Some(own)) => {
                let labels: Vec<ColumnScale> = (0..t).map(label).collect();
                let SurrogateRows { x, y, weight } = rows_of(own, &features, &labels)?;
                let observations = Observations::multi_output(y.as_slice(), y.rows(), t)?;
                (dense(x)?, observations.with_task_weights(&vec![weight; t])?)
            }
            Layout::PerTask(tasks) => {
                let known: Vec<(usize, &RowMoments)> =
                    tasks.iter().enumerate().filter_map(|(t, own)| Some((t, own.as_ref()?))).collect();
                let of_task = |(t, own): &(usize, &RowMoments)| rows_of(own, &features, &[label(*t)]);
                let pool = Pool::new(self.threads)?;
                let rows: Vec<SurrogateRows> =
                    pool.install(|| known.par_iter().map(of_task).collect::<Result<_>>())?;
                stacked(&known, &rows, (self.n_features, t))?
            }
        };
        let (names, sample) = (self.tasks.clone(), self.scaled_sample(scaling, targets)?);
        let total: f64 = (0..observations.len()).map(|o| observations.weight(o)).sum();
        let sample_factor = total / self.sample.weight();
        Ok(Surrogate { inputs, observations: observations.with_task_names(names)?, sample, sample_factor })
    }

    /// The rows that were kept, scaled.
    pub(super) fn scaled_sample(
        &self,
        scaling: &Scaling,
        targets: Option<&TargetScaling>,
    ) -> Result<Option<(Inputs<'static>, Observations)>> {
        let Some((inputs, own)) = self.sample.data(self.n_features, self.tasks.len())? else {
            return Ok(None);
        };
        let own = own.with_task_names(self.tasks.clone())?;
        let own = targets.map_or(Ok(own.clone()), |scaling| scaling.apply(&own))?;
        Ok(Some((scaling.apply(&inputs)?.into_owned(), own)))
    }
}

fn dense(x: Matrix) -> Result<Inputs<'static>> {
    let (rows, cols) = (x.rows(), x.cols());
    Ok(Dense::f64_owned(x.into_vec(), rows, cols)?.into())
}

/// The rows of all tasks below each other.
fn stacked(
    known: &[(usize, &RowMoments)],
    rows: &[SurrogateRows],
    (n_features, n_tasks): (usize, usize),
) -> Result<(Inputs<'static>, Observations)> {
    let n: usize = rows.iter().map(|own| own.x.rows()).sum();
    if n == 0 {
        return Err(Error::Empty { what: "the list of rows" });
    }
    let (mut x, mut y, mut task) = (Vec::with_capacity(n * n_features), vec![], vec![]);
    let mut weights = vec![1.0; n_tasks];
    for ((t, _), own) in known.iter().zip(rows) {
        x.extend_from_slice(own.x.as_slice());
        y.extend_from_slice(own.y.as_slice());
        task.resize(y.len(), *t as u32);
        weights[*t] = own.weight;
    }
    let observations = Observations::from_triples(n, n_tasks, (0..n as u32).collect(), task, y)?;
    Ok((dense(Matrix::from_vec(x, n, n_features)?)?, observations.with_task_weights(&weights)?))
}

fn rows_of(own: &RowMoments, features: &[ColumnScale], labels: &[ColumnScale]) -> Result<SurrogateRows> {
    let (d, k) = (features.len(), labels.len());
    // Features and labels in units of their own spread: the small ones are factored as exactly as the large ones.
    let spread = |square: f64| power_of_two(square.sqrt());
    let x_spread: Vec<f64> = (0..d).map(|j| spread(own.xx[(j, j)])).collect();
    let y_spread: Vec<f64> = own.yy.iter().map(|square| spread(*square)).collect();
    let (mut xx, mut xy) = (own.xx.clone(), own.xy.clone());
    for i in 0..d {
        xx.row_mut(i).iter_mut().zip(&x_spread).for_each(|(s, own)| *s /= x_spread[i] * own);
        xy.row_mut(i).iter_mut().zip(&y_spread).for_each(|(s, own)| *s /= x_spread[i] * own);
    }
    // Few rows have few directions, however many features there are.
    let (values, vectors) = linalg::eigen_of_rank(&xx, usize::try_from(own.rows).unwrap_or(usize::MAX))?;
    let noise = d as f64 * f64::EPSILON * values.last().copied().unwrap_or(0.0).max(0.0);
    let kept: Vec<usize> = (0..values.len()).filter(|&j| values[j] > noise).collect();
    // Rows are B: the labels along each direction.
    let along = match values.len() {
        0 => Matrix::zeros(0, k),
        _ => linalg::times(view(&vectors).transpose(), view(&xy), 1),
    };
    let mut rest: Vec<f64> =
        own.yy.iter().zip(&y_spread).map(|(square, spread)| square / spread / spread).collect();
    let mut directions = Matrix::zeros(kept.len() + 1, d + k);
    for (row, &j) in kept.iter().enumerate() {
        let root = values[j].sqrt();
        let (x, y) = directions.row_mut(row).split_at_mut(d);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = vectors[(i, j)] * root);
        for ((y, along), rest) in y.iter_mut().zip(along.row(j)).zip(&mut rest) {
            *y = along / root;
            *rest -= *y * *y;
        }
    }
    let last = directions.row_mut(kept.len());
    last[d..].iter_mut().zip(&rest).for_each(|(y, rest)| *y = rest.max(0.0).sqrt());
    let scale = |j: usize| if j < d { features[j] } else { labels[j - d] };
    let size = |j: usize| if j < d { x_spread[j] } else { y_spread[j - d] };
    let n = kept.len() + 2;
    let weight = own.weight / n as f64;
    let (mut x, mut y) = (Matrix::zeros(n, d), Matrix::zeros(n, k));
    for j in 0..d + k {
        let (ColumnScale { centre, factor }, unit) = (scale(j), own.unit[j]);
        let mean = ((own.mean[j] - centre / unit) + own.mean_rest[j]) * unit * factor;
        let to_units = size(j) * unit * factor / weight.sqrt();
        let column = |row: usize| directions[(row, j)] * to_units;
        let sum: f64 = (0..n - 1).map(column).sum();
        // A reflection that takes the first axis to the direction of all ones: the columns after the first are
        // orthonormal and add up to zero.
        let (root, share) = ((n as f64).sqrt(), 1.0 / (n as f64 - (n as f64).sqrt()));
        for row in 0..n {
            let value = mean + if row == 0 { sum / root } else { column(row - 1) - sum * share };
            if j < d { x[(row, j)] = value } else { y[(row, j - d)] = value }
        }
    }
    Ok(SurrogateRows { x, y, weight })
}
