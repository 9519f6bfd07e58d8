//! Task relationships: the matrix-variate prior of Zhang and Yeung.

use crate::alternation::{Alternation, spectral};
use crate::given::{Engine, FORM, Published};
use crate::params::Allowed;
use crate::{Claim, Job, Losses, Param, Params, Result};
use kinfolk::output::{Penalty, Relationship};
use kinfolk::{Fit, Matrix, Observer, OutputKind, Problem};

/// The relationship costs 1; scale goes into C.
pub(crate) const MTRL: Engine = Engine {
    name: "mtrl",
    title: "task relationships of trace one",
    learns: "Om, a task matrix of trace one",
    reference: "Zhang and Yeung, A convex formulation for learning task relationships, UAI 2010",
    problem: "min C sum_i L + l1 |W|^2 / 2 + tr(W Om^-1 W') / 2 over W and Om, tr Om = 1: trace norm, squared",
    params: &[
        Param {
            name: "l1",
            meaning: "weight of each task on its own, beside 1 for what they share; large: independent tasks",
            allowed: Allowed::Number(0.0, 1e9),
            default: "0",
            grid: &["0", "1", "100"],
            only_with: None,
        },
        FORM,
    ],
    cost: "a fit of independent tasks, warm, in each of dozens to hundreds of rounds",
    losses: Losses::All,
    output: |_, params| OutputKind::Relationship { l1: params.number("l1"), l2: 1.0, groups: None },
    published: Some(Published { forms: &["published"], run: published, claim: Claim::Optimal }),
};

/// The floor under eigenvalues of W'W, and when to end, of the code that was released.
const FLOOR: f64 = 1e-8;
const CHANGE: f64 = 1e-3;
const ROUNDS: usize = 100;

/// W and Om in turns. Once an eigenvalue is at its floor the others hardly turn any more, and the iteration ends above the optimum.
fn published(
    job: &Job<'_>,
    params: &Params,
    problem: &Problem<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let relationship = Relationship::new(params.number("l1"), 1.0)?;
    let t = job.data.observations().n_tasks();
    let theta_of = |squares: &[f64]| {
        let floored: Vec<f64> = squares.iter().map(|s| s + FLOOR).collect();
        relationship.theta(&floored)
    };
    let first = spectral(&Matrix::identity(t), |_| relationship.theta(&vec![1.0; t]))?;
    let update = |products: &Matrix| spectral(products, theta_of);
    let alternation = Alternation { theta: &update, change: CHANGE, rounds: ROUNDS };
    alternation.fit(job, problem, first, "published mtrl", observer)
}
