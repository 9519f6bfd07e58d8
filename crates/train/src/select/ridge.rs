//! Kernel ridge regression on some hundred rows: how well a kernel may predict, in a moment, since the error of each
//! row in a fit without it has a closed form. With `A` the kernel matrix of the rows and their tasks,
//! ```text
//! error_i = [(A + s I)^-1 y]_i / [(A + s I)^-1]_ii
//! ```

use super::{Study, folds};
use crate::metric::{RowLoss, bound, mean};
use crate::{Result, StudyObserver, Training};
use kinfolk::kernel::{self, Scratch};
use kinfolk::{Inputs, Kernel, Matrix, Observations};

/// Rows that are looked at first.
pub(crate) const ROWS_OF_A_LOOK: usize = 500;

/// Rows of a second look, where the first one is in doubt.
pub(crate) const ROWS_OF_A_LONG_LOOK: usize = 1200;

/// Values of s, in units of the mean of the kernel's diagonal.
const SHIFTS: [f64; 8] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// A constant that stands for intercepts that cost nothing, in the same units.
const CONSTANT: f64 = 1e3;

/// Of tasks with rows of their own, the share of the kernel that they have in common.
const COMMON_SHARE: f64 = 0.5;

/// Squared errors of some rows of a study, at most so many, with each of these kernels; `None` if the observer says
/// stop.
pub(crate) fn ridge_errors(
    study: &Study<'_>,
    kernels: &[Kernel],
    most: usize,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<Vec<RowLoss>>>> {
    let n = study.inputs.n_inputs();
    let rows = match n > most {
        true => folds::split(study.observations, most as f64 / n as f64, study.seed)?.0,
        false => (0..n as u32).collect(),
    };
    let training = Training::of_rows(&study.spec, study.inputs, study.observations, &study.losses, &rows)?;
    let targets = RidgeTargets::new(&training.observations);
    let mut all = vec![];
    for kernel in kernels {
        if observer.stop() {
            return Ok(None);
        }
        all.push(targets.errors(kernel, &training.inputs)?);
    }
    Ok(Some(all))
}

/// What kernel ridge regression is to predict.
struct RidgeTargets {
    /// A row for each input; a column for each task, or one column if each input has one task. Labels less the mean of
    /// their task; zero where there is none.
    labels: Matrix,
    /// The task of each input, if each has one.
    task: Option<Vec<usize>>,
}

impl RidgeTargets {
    fn new(observations: &Observations) -> Self {
        let (n, tasks) = (observations.n_inputs(), observations.n_tasks());
        let has_one_task = observations.len() <= n;
        let mut labels = Matrix::zeros(n, if has_one_task { 1 } else { tasks });
        let mut task = vec![0; n];
        let value = |o: usize| observations.label(o) - observations.offset(o);
        let (mut sums, mut counts) = (vec![0.0; tasks], vec![0.0; tasks]);
        for o in 0..observations.len() {
            sums[observations.task(o)] += value(o);
            counts[observations.task(o)] += 1.0;
        }
        for o in 0..observations.len() {
            let (i, t) = (observations.input(o), observations.task(o));
            labels[(i, if has_one_task { 0 } else { t })] = value(o) - sums[t] / counts[t];
            task[i] = t;
        }
        RidgeTargets { labels, task: has_one_task.then_some(task) }
    }

    /// Squared errors of rows that were left out, one at a time, at the best shift.
    fn errors(&self, kernel: &Kernel, inputs: &Inputs<'_>) -> Result<Vec<RowLoss>> {
        let (values, vectors) = self.kernel_matrix(kernel, inputs)?.eigen()?;
        let parts = vectors.transposed().times(&self.labels);
        let errors = SHIFTS.map(|shift| {
            let inverse: Vec<f64> = values.iter().map(|value| 1.0 / (value.max(0.0) + shift)).collect();
            let mut scaled = parts.clone();
            (0..scaled.rows()).for_each(|k| scaled.row_mut(k).iter_mut().for_each(|x| *x *= inverse[k]));
            let solved = vectors.times(&scaled);
            let row = |i: usize| {
                let diagonal: f64 = vectors.row(i).iter().zip(&inverse).map(|(v, q)| v * v * q).sum();
                let squares: f64 = solved.row(i).iter().map(|x| (x / diagonal).powi(2)).sum();
                RowLoss { input: i as u32, loss: squares, weight: 1.0 }
            };
            (0..solved.rows()).map(row).collect::<Vec<_>>()
        });
        let bounded = errors.into_iter().map(|mut rows| {
            bound(&mut rows);
            rows
        });
        let least = bounded.min_by(|a, b| mean(a).total_cmp(&mean(b)));
        Ok(least.unwrap_or_default())
    }

    /// The matrix A: kernel values with a mean diagonal of one, times how much tasks have in common, and intercepts.
    fn kernel_matrix(&self, kernel: &Kernel, inputs: &Inputs<'_>) -> Result<Matrix> {
        let rows: Vec<u32> = (0..inputs.n_inputs() as u32).collect();
        let mut matrix = Matrix::default();
        let kernel = kernel.resolve(inputs)?;
        kernel::block(&kernel, inputs, &rows, inputs, &rows, &mut matrix, &mut Scratch::default());
        let n = rows.len();
        let mean = (0..n).map(|i| matrix[(i, i)]).sum::<f64>() / n as f64;
        let unit = if mean > 0.0 && mean.is_finite() { mean.recip() } else { 1.0 };
        for i in 0..n {
            for j in 0..n {
                let is_same = self.task.as_ref().is_none_or(|task| task[i] == task[j]);
                let (factor, constant) = if is_same { (1.0, CONSTANT) } else { (COMMON_SHARE, 0.0) };
                matrix[(i, j)] = unit * factor * matrix[(i, j)] + constant;
            }
        }
        Ok(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    /// `x` with `a x = b` for a small positive definite matrix, by its eigenvectors.
    fn solved(a: &Matrix, b: &Matrix) -> Matrix {
        let (values, vectors) = a.eigen().expect("eigenvectors");
        let mut parts = vectors.transposed().times(b);
        (0..parts.rows()).for_each(|k| parts.row_mut(k).iter_mut().for_each(|x| *x /= values[k]));
        vectors.times(&parts)
    }

    #[test]
    fn errors_are_those_of_fits_without_the_row() {
        let x = [0.0_f64, 0.3, 1.1, 1.4, 2.0, 2.2, 2.9, 3.1];
        let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
        let inputs = Inputs::from(Dense::f64(&x, 8, 1).expect("inputs"));
        let observations = Observations::multi_task(&[0, 0, 0, 0, 1, 1, 1, 1], y).expect("observations");
        let targets = RidgeTargets::new(&observations);
        let matrix = targets.kernel_matrix(&Kernel::Linear, &inputs).expect("kernel");
        let squares = SHIFTS.map(|shift| -> f64 {
            let error = |i: usize| {
                let others: Vec<usize> = (0..8).filter(|j| *j != i).collect();
                let entry = |(a, b): (usize, usize)| matrix[(a, b)] + if a == b { shift } else { 0.0 };
                let pairs = others.iter().flat_map(|&a| others.iter().map(move |&b| (a, b)));
                let part = Matrix::from_vec(pairs.map(entry).collect(), 7, 7).expect("matrix");
                let labels = others.iter().map(|&j| targets.labels[(j, 0)]).collect();
                let weights = solved(&part, &Matrix::from_vec(labels, 7, 1).expect("labels"));
                let predicted: f64 =
                    others.iter().zip(weights.as_slice()).map(|(&j, w)| matrix[(i, j)] * w).sum();
                (targets.labels[(i, 0)] - predicted).powi(2)
            };
            let row = |i: usize| RowLoss { input: i as u32, loss: error(i), weight: 1.0 };
            let mut rows: Vec<RowLoss> = (0..8).map(row).collect();
            bound(&mut rows);
            mean(&rows)
        });
        let least = squares.into_iter().fold(f64::INFINITY, f64::min);
        let found = mean(&targets.errors(&Kernel::Linear, &inputs).expect("errors"));
        assert!((found - least).abs() < 1e-6 * least, "{found} {least}");
    }

    #[test]
    fn labels_of_tables_are_columns_and_missing_ones_the_mean() {
        let own = Observations::multi_task(&[0, 1, 0], vec![1.0, 5.0, 3.0]).expect("observations");
        assert_eq!(RidgeTargets::new(&own).labels.as_slice(), [-1.0, 0.0, 1.0]);
        let labels = [1.0, 2.0, 3.0, f64::NAN, 5.0, 4.0];
        let table = Observations::multi_output(&labels, 3, 2).expect("observations");
        assert_eq!(RidgeTargets::new(&table).labels.as_slice(), [-2.0, -1.0, 0.0, 0.0, 2.0, 1.0]);
    }
}
