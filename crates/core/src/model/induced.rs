//! What a primal and dual point implies for a model: Theta and the function that predicts.

use super::atoms::AtomParts;
use super::scaled;
use crate::backend::{self, Expansion};
use crate::certificate::Graded;
use crate::linalg::{self, view};
use crate::regularizer::Regularizer;
use crate::{Matrix, Problem};

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
    pub(super) fn new(problem: &Problem<'_>, kappa: &[f64], v: Option<&Matrix>, graded: &Graded) -> Self {
        let data = problem.data();
        let coordinates = coordinates(problem, kappa, v, graded);
        let function = match problem.regularizer() {
            Regularizer::Spectral(_) => coordinates,
            Regularizer::Entrywise(_) => {
                data.pool().install(|| linalg::times(view(&coordinates), view(&graded.theta), data.threads()))
            }
        };
        Induced {
            theta: scaled(graded.theta.clone(), problem.theta_unit()),
            function: scaled(function, function_unit(problem)),
            atoms: AtomParts::new(problem, graded),
        }
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

fn coordinates(problem: &Problem<'_>, kappa: &[f64], v: Option<&Matrix>, graded: &Graded) -> Matrix {
    let expansion = match v {
        Some(v) => Expansion::Coordinates(v),
        None => Expansion::Duals(problem.observations(), kappa),
    };
    backend::coordinates(problem.data().backend(), expansion, &graded.state)
}

/// Theta^ = omega sigma Theta and V = omega coordinate_unit V^ leave coordinate_unit / sigma.
fn function_unit(problem: &Problem<'_>) -> f64 {
    let backend = problem.data().backend();
    backend.coordinate_unit() / backend.unit()
}
