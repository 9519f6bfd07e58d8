//! Task relationships as in the released code of Zhang and Yeung: W and the task matrix Om in turns.

use super::alternation::{Alternation, spectral};
use super::{Published, PublishedTask};
use kinfolk::regularizer::{Relationship, SpectralFunction};
use kinfolk::{Fit, Matrix, Observer};
use kinfolk_train::{Claim, MTRL, MethodInfo, Result};

pub(super) const PUBLISHED: Published = Published {
    info: MethodInfo {
        name: "mtrl-published",
        title: "task relationships, weights and task matrix in turns",
        cost: "a fit of given Theta in each of up to 100 rounds",
        is_resumable: false,
        ..MTRL.info
    },
    engine: &MTRL,
    iteration: alternate,
    claim: Claim::Optimal,
};

/// Added to the eigenvalues of W'W, as in the released code.
const EIGENVALUE_FLOOR: f64 = 1e-8;
/// Relative change of Om at which the released code ends.
const MIN_CHANGE: f64 = 1e-3;
const MAX_ROUNDS: usize = 100;

/// Once an eigenvalue is at its floor the eigenvectors hardly change any more, and the iteration ends above
/// the optimum.
fn alternate(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, params, problem } = *task;
    let relationship = Relationship::new(params.number("l1")?, 1.0)?;
    let t = job.data.observations().n_tasks();
    let theta_of = |squares: &[f64]| {
        let floored: Vec<f64> = squares.iter().map(|s| s + EIGENVALUE_FLOOR).collect();
        relationship.theta(&floored)
    };
    let first = spectral(&Matrix::identity(t), |_| relationship.theta(&vec![1.0; t]))?;
    let update = |products: &Matrix| spectral(products, theta_of);
    let alternation = Alternation { theta: &update, min_change: MIN_CHANGE, max_rounds: MAX_ROUNDS };
    alternation.fit(job, problem, first, PUBLISHED.info.name, observer)
}
