//! What a primal and dual point implies for a model: Theta and the function that predicts.

use super::atoms::AtomParts;
use super::scaled;
use crate::backend::{self, Expansion};
use crate::certificate::Graded;
use crate::linalg::{self, view};
use crate::regularizer::Regularizer;
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;
use std::borrow::Cow;

/// Theta and the function of a certified point, in the caller's units.
pub(super) struct Induced {
    pub(super) theta: Matrix,
    /// Weights (features x tasks), or coefficients (inputs x tasks).
    pub(super) function: Matrix,
    pub(super) atoms: AtomParts,
}

impl Induced {
    /// Of duals `kappa` and coordinates `v`, if the point is not that of the duals, in the problem's own
    /// units.
    pub(super) fn new(
        problem: &Problem<'_>,
        kappa: &[f64],
        v: Option<&Matrix>,
        graded: &Graded,
    ) -> Result<Self> {
        let data = problem.data();
        let (coordinates, backend) = (coordinates(problem, kappa, v, graded), data.backend());
        let mut function = match problem.regularizer() {
            Regularizer::Spectral(_) => coordinates.into_owned(),
            Regularizer::Entrywise(_) => data.pool().install(|| {
                if backend.coordinates_are_state() {
                    return backend::state_times(backend, &coordinates, &graded.theta, data.threads());
                }
                Ok(linalg::times(view(&coordinates), view(&graded.theta), data.threads()))
            })?,
        };
        let unit = function_unit(problem);
        data.pool().install(|| function.as_mut_slice().par_iter_mut().for_each(|x| *x *= unit));
        Ok(Induced {
            theta: scaled(graded.theta.clone(), problem.theta_unit()),
            function,
            atoms: AtomParts::new(problem, graded),
        })
    }
}

/// The size that the function of each task can have at any row: `max_j sum_r |V_jr| |Theta_rs|`. Rounding
/// errors are relative to this, not to the function itself, which may be a small difference of large terms.
pub(super) fn function_sizes(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&Matrix>,
    graded: &Graded,
) -> Vec<f64> {
    let coordinates = coordinates(problem, kappa, v, graded);
    let n_tasks = coordinates.cols();
    let theta = match problem.regularizer() {
        Regularizer::Spectral(_) => Matrix::identity(n_tasks),
        Regularizer::Entrywise(_) => graded.theta.clone(),
    };
    let mut sizes = vec![0.0f64; n_tasks];
    for j in 0..coordinates.rows() {
        for (s, size) in sizes.iter_mut().enumerate() {
            let terms = coordinates.row(j).iter().enumerate().map(|(r, v)| (v * theta[(r, s)]).abs());
            *size = size.max(terms.sum());
        }
    }
    sizes.iter().map(|size| size * function_unit(problem)).collect()
}

fn coordinates<'m>(
    problem: &Problem<'_>,
    kappa: &[f64],
    v: Option<&'m Matrix>,
    graded: &'m Graded,
) -> Cow<'m, Matrix> {
    let backend = problem.data().backend();
    match v {
        Some(v) => Cow::Borrowed(v),
        None if backend.coordinates_are_state() => Cow::Borrowed(&graded.state),
        None => {
            let duals = Expansion::Duals(problem.observations(), kappa);
            Cow::Owned(backend::coordinates(backend, duals, &graded.state))
        }
    }
}

/// Theta^ = omega sigma Theta and V = omega coordinate_unit V^ leave coordinate_unit / sigma.
fn function_unit(problem: &Problem<'_>) -> f64 {
    let backend = problem.data().backend();
    backend.coordinate_unit() / backend.unit()
}
