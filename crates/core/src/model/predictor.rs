//! From inputs to predictions.

use super::About;
use crate::backend::inverse_norm;
use crate::inputs::Inputs;
use crate::linalg::{self, axpy, dot, view, view_mut};
use crate::{Dataset, Error, Kernel, Matrix, Result, kernel};

/// How predictions are made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Predictor {
    /// `F(x, t) = <x, w_t>` (features x tasks); for the cosine kernel x has unit length first. The last row
    /// belongs to the constant feature if there is a bias.
    Weights(Matrix),
    /// `F(x, t) = sum_i coefficient_it (k(x, x_i) + bias^2)`.
    Kernel(KernelExpansion),
}

/// The inputs a kernel model needs to remember.
#[derive(Debug, Clone)]
pub struct KernelExpansion {
    /// The inputs with a coefficient that is not zero; `None` for a precomputed kernel, where all count.
    pub support: Option<Inputs<'static>>,
    /// Which training inputs they were.
    pub rows: Vec<u32>,
    /// Their coefficients (support x tasks).
    pub coefficients: Matrix,
}

/// Inputs handled at a time.
const ROWS: usize = 256;

impl Predictor {
    /// From weights (features x tasks) or coefficients (inputs x tasks), whichever the data set has.
    pub(super) fn new(data: &Dataset<'_>, function: Matrix) -> Self {
        if data.backend().coordinates_are_state() {
            return Predictor::Weights(function);
        }
        let all = 0..function.rows() as u32;
        if *data.kernel() == Kernel::Precomputed {
            return Predictor::Kernel(KernelExpansion {
                support: None,
                rows: all.collect(),
                coefficients: function,
            });
        }
        let rows: Vec<u32> = all.filter(|&i| function.row(i as usize).iter().any(|c| *c != 0.0)).collect();
        let mut coefficients = Matrix::zeros(rows.len(), function.cols());
        for (to, &from) in rows.iter().enumerate() {
            coefficients.row_mut(to).copy_from_slice(function.row(from as usize));
        }
        let support = Some(data.inputs().select_rows(&rows));
        Predictor::Kernel(KernelExpansion { support, rows, coefficients })
    }

    /// Weights, or the coefficients of the inputs that are remembered.
    pub(super) fn function(&self) -> &Matrix {
        match self {
            Predictor::Weights(weights) => weights,
            Predictor::Kernel(expansion) => &expansion.coefficients,
        }
    }

    /// `Err` unless these are inputs that the model can predict.
    pub(super) fn check_inputs(&self, about: &About, inputs: &Inputs<'_>) -> Result<()> {
        if inputs.n_features() != about.n_features || matches!(inputs, Inputs::Gram(_)) {
            let what = if about.kernel == Kernel::Precomputed { "training inputs" } else { "features" };
            return Err(Error::Incompatible(format!(
                "the model was fitted on {} {what}; the inputs to predict are {} with {} columns",
                about.n_features,
                inputs.kind(),
                inputs.n_features()
            )));
        }
        Ok(())
    }

    /// All tasks (inputs x tasks), or the given one of each input (inputs x 1). The inputs are checked and
    /// scaled.
    pub(super) fn predict(
        &self,
        about: &About,
        inputs: &Inputs<'_>,
        tasks: Option<&[u32]>,
    ) -> Result<Matrix> {
        match self {
            Predictor::Weights(weights) => Ok(by_weights(weights, about, inputs, tasks)),
            Predictor::Kernel(KernelExpansion { support, coefficients, .. }) => {
                by_kernel((support.as_ref(), coefficients), about, inputs, tasks)
            }
        }
    }
}

/// Runs `scores(rows, out)` over all inputs and picks the tasks asked for.
fn in_blocks(
    n: usize,
    n_tasks: usize,
    tasks: Option<&[u32]>,
    mut scores: impl FnMut(&[u32], &mut Matrix),
) -> Matrix {
    let mut out = Matrix::zeros(n, if tasks.is_some() { 1 } else { n_tasks });
    let all: Vec<u32> = (0..n as u32).collect();
    let mut block = Matrix::default();
    for rows in all.chunks(ROWS) {
        block.reset(rows.len(), n_tasks);
        scores(rows, &mut block);
        for (row, &i) in rows.iter().enumerate() {
            match tasks {
                Some(tasks) => out[(i as usize, 0)] = block[(row, tasks[i as usize] as usize)],
                None => out.row_mut(i as usize).copy_from_slice(block.row(row)),
            }
        }
    }
    out
}

fn by_weights(weights: &Matrix, about: &About, inputs: &Inputs<'_>, tasks: Option<&[u32]>) -> Matrix {
    let (d, t, n) = (about.n_features, weights.cols(), inputs.n_inputs());
    let norm = |i: u32| match about.kernel {
        Kernel::Cosine => inverse_norm(inputs, i as usize),
        _ => 1.0,
    };
    let mut x = Matrix::default();
    in_blocks(n, t, tasks, |rows, out| {
        match inputs {
            Inputs::Sparse(sparse) => {
                for (row, &i) in rows.iter().enumerate() {
                    let factor = norm(i);
                    sparse
                        .row(i as usize)
                        .for_each(|(j, x)| axpy(out.row_mut(row), factor * x, weights.row(j)));
                }
            }
            Inputs::Dense(dense) => {
                x.reset(rows.len(), d);
                dense.load(rows, x.as_mut_slice());
                if about.kernel == Kernel::Cosine {
                    for (row, &i) in rows.iter().enumerate() {
                        let factor = norm(i);
                        x.row_mut(row).iter_mut().for_each(|v| *v *= factor);
                    }
                }
                linalg::product(view_mut(out), view(&x), view(weights).subrows(0, d), 1);
            }
            Inputs::Gram(_) => unreachable!("refused above"),
        }
        if weights.rows() > d {
            for row in 0..rows.len() {
                axpy(out.row_mut(row), about.bias, weights.row(d));
            }
        }
    })
}

/// `sum_i coefficient_it (k(x, x_i) + bias^2)` for these inputs x.
pub(super) fn by_kernel(
    (support, coefficients): (Option<&Inputs<'_>>, &Matrix),
    about: &About,
    inputs: &Inputs<'_>,
    tasks: Option<&[u32]>,
) -> Result<Matrix> {
    let (n, t) = (inputs.n_inputs(), coefficients.cols());
    let (mut values, mut scratch) = (Matrix::default(), Default::default());
    let all: Vec<u32> = (0..coefficients.rows() as u32).collect();
    let shift = about.bias * about.bias;
    if let Some(support) = support {
        about.kernel.check_pair(inputs, support)?;
    }
    Ok(in_blocks(n, t, tasks, |rows, out| {
        values.reset(rows.len(), all.len());
        match (support, inputs) {
            (Some(support), _) => {
                kernel::block(&about.kernel, inputs, rows, support, &all, &mut values, &mut scratch)
            }
            (None, Inputs::Dense(dense)) => dense.load(rows, values.as_mut_slice()),
            (None, _) => {
                for (row, &i) in rows.iter().enumerate() {
                    inputs.for_each_in_row(i as usize, |j, k| values[(row, j)] = k);
                }
            }
        }
        values.as_mut_slice().iter_mut().for_each(|k| *k += shift);
        match tasks {
            Some(tasks) if t > 8 => {
                // One task per row: a dot product each, not a product with all columns.
                for (row, &i) in rows.iter().enumerate() {
                    let task = tasks[i as usize] as usize;
                    let column: Vec<f64> = (0..all.len()).map(|j| coefficients[(j, task)]).collect();
                    out[(row, task)] = dot(values.row(row), &column);
                }
            }
            _ => linalg::product(view_mut(out), view(&values), view(coefficients), 1),
        }
    }))
}
