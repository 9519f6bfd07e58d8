//! A shared representation as published by Lapin, Schiele and Hein: weights W and representation U in turns.

use super::alternation::{certified, distance, rows};
use super::kernel_matrix::{kernel_matrix, table};
use super::{Published, PublishedTask};
use kinfolk::inputs::{Gram, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Flow, Intercept, Kernel, Matrix, Observer, Problem, ProblemSpec,
    RegularizerKind,
};
use kinfolk_train::{Claim, Job, MTL_SDCA, MethodInfo, Result};

pub(super) const PUBLISHED: Published = Published {
    info: MethodInfo {
        name: "mtl-sdca-published",
        title: "a shared representation of low dimension, weights and representation in turns",
        cost: "kernel values of all inputs, and up to 200 fits",
        is_resumable: false,
        ..MTL_SDCA.info
    },
    engine: &MTL_SDCA,
    iteration: alternate,
    claim: Claim::Given(std::borrow::Cow::Borrowed("the representation")),
};

/// Pairs of steps at most.
const MAX_ROUNDS: usize = 100;
/// Root mean square change of the duals, as a fraction of C, at which the released code ends.
const MIN_CHANGE: f64 = 1e-3;

fn alternate(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, problem, .. } = *task;
    let obs = job.data.observations();
    let (n, t) = (obs.n_inputs(), obs.n_tasks());
    let kernel = kernel_matrix(PUBLISHED.info.name, job, 4)?;
    let c = problem.spec().c / problem.spec().lambda.sqrt();
    let spec = |theta: &Matrix| ProblemSpec {
        loss: job.loss.clone(),
        output: RegularizerKind::Fixed { theta: rows(theta) },
        c,
        lambda: 1.0,
        atoms: vec![],
        intercept: Intercept::None,
    };
    let identity = Matrix::identity(t);
    let alone = Problem::new(job.data, spec(&identity))?;
    let mut of_u = Fitter::new(job.settings).observer(observer).fit(&alone)?;
    // Inner products of the rows of W. The first representation is the weights of independent tasks.
    let mut shared = identity.clone();
    let (mut duals_u, mut duals_w) = (duals(job, &of_u), Matrix::zeros(n, t));
    let mut least = f64::INFINITY;
    for round in 1.. {
        let scores = kernel.times(&duals_u);
        let inputs =
            Inputs::from(Gram::new(scores.times(&shared).times(&scores.transposed()).into_vec(), n)?);
        let options = DatasetOptions { kernel: Kernel::Precomputed, bias: 0.0, ..job.data.options().clone() };
        let data = Dataset::new(&inputs, obs, options)?;
        let machines = Problem::new(&data, spec(&identity))?;
        let of_w = Fitter::new(job.settings).observer(observer).fit(&machines)?;
        let moved_w = duals(job, &of_w);
        let given = Problem::new(job.data, spec(&of_w.products))?;
        let next = Fitter::new(job.settings).warm(of_u.model.alpha()).observer(observer).fit(&given)?;
        let moved_u = duals(job, &next);
        let trace: f64 = (0..t).map(|r| of_w.products[(r, r)]).sum();
        let objective = next.certificate().primal + 0.5 * trace;
        let change = distance(&moved_u, &duals_u).hypot(distance(&moved_w, &duals_w)) / c;
        let small = change / (2.0 * (n * t) as f64).sqrt() < MIN_CHANGE;
        let rose = objective > least;
        if !rose {
            (of_u, duals_u, duals_w, shared) = (next, moved_u, moved_w, of_w.products);
            least = objective;
        }
        if rose || small || round >= MAX_ROUNDS || observer.poll() == Flow::Stop {
            return certified(problem, &of_u, job.settings, (PUBLISHED.info.name, round));
        }
    }
    unreachable!("rounds are counted")
}

/// The duals of a fit as a table.
fn duals(job: &Job<'_>, fit: &Fit) -> Matrix {
    table(job.data.observations(), fit.model.alpha().unwrap_or_default())
}
