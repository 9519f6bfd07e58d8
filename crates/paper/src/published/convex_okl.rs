//! Convex learning of tasks and their structure as published by Ciliberto and others: supervised step and
//! structure step in turns.

use super::alternation::{Alternation, spectral};
use super::sylvester::{self, InputBasis, Iterate};
use super::{Published, PublishedTask};
use kinfolk::{Fit, Matrix, Observer};
use kinfolk_train::{CONVEX_OKL, Claim, Error, MethodInfo, Result};

pub(super) const PUBLISHED: Published = Published {
    info: MethodInfo {
        name: "convex-okl-published",
        title: "convex learning of tasks and structure, supervised and structure step in turns",
        cost: "a fit of given Theta in each of up to 1,000 rounds; on shared inputs with the squared loss \
               as okl-published",
        is_resumable: false,
        ..CONVEX_OKL.info
    },
    engine: &CONVEX_OKL,
    iteration: alternate,
    claim: Claim::Optimal,
};

pub(super) const REDUCED: Published = Published {
    info: MethodInfo {
        name: "convex-okl-reduced",
        title: "the iteration of convex-okl-published on no more eigenvectors than there are features",
        cost: "as okl-reduced",
        is_resumable: false,
        ..PUBLISHED.info
    },
    iteration: alternate_reduced,
    ..PUBLISHED
};

/// Added to the eigenvalues of W'W, as in the released code.
const EIGENVALUE_FLOOR: f64 = 1e-8;
/// Relative change of Theta at which the released code ends.
const MIN_CHANGE: f64 = 1e-4;
const MAX_ROUNDS: usize = 1000;

fn alternate(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, params, problem } = *task;
    let trace = params.word("structure")? == "trace";
    if !trace && sylvester::check(PUBLISHED.info.name, job).is_ok() {
        let basis = InputBasis::of_kernel(PUBLISHED.info.name, job, problem)?;
        return basis.run(job, problem, PUBLISHED.info.name, step, observer);
    }
    let lambda = problem.spec().lambda;
    let eigenvalue = |s: &f64| match trace {
        true => ((s + EIGENVALUE_FLOOR) / lambda).sqrt(),
        false => ((s + EIGENVALUE_FLOOR) / (2.0 * lambda)).cbrt(),
    };
    let update = |products: &Matrix| spectral(products, |squares| squares.iter().map(eigenvalue).collect());
    let alternation = Alternation { theta: &update, min_change: MIN_CHANGE, max_rounds: MAX_ROUNDS };
    let first = Matrix::identity(job.data.observations().n_tasks());
    alternation.fit(job, problem, first, PUBLISHED.info.name, observer)
}

fn alternate_reduced(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, params, problem } = *task;
    if params.word("structure")? == "trace" {
        let why = "the reduced form is for the Frobenius norm".to_string();
        return Err(Error::Param { method: REDUCED.info.name, why });
    }
    sylvester::check(REDUCED.info.name, job)?;
    InputBasis::of_features(job, problem)?.run(job, problem, REDUCED.info.name, step, observer)
}

/// On shared inputs the supervised step is a Sylvester equation; then `L = (W'W / 2)^(1/3)`, `W'W = L A'K A L`.
fn step(basis: &InputBasis, at: Iterate) -> Result<Iterate> {
    let products = at.l.times(&basis.moment(&at.a, 1)).times(&at.l);
    let root = |squares: &[f64]| squares.iter().map(|s| ((s + EIGENVALUE_FLOOR) / 2.0).cbrt()).collect();
    basis.best_for(spectral(&products, root)?)
}
