//! A shared representation of low dimension, Lapin, Schiele and Hein.
//!
//! `F(x, t) = <w_t, U'x>` with `|W|^2 / 2 + |U|^2 / 2` to pay: not convex in both, but in their product B, which pays its trace norm. The
//! original learns W and U in turns and for losses with kinks does not even reach a point where both are best; the balanced form
//! solves the convex problem.

use crate::alternation::{distance, graded, rows};
use crate::given::{Engine, Published};
use crate::kernel_matrix::{kernel_matrix, table};
use crate::params::Allowed;
use crate::{Claim, Job, Losses, Param, Params, Result};
use kinfolk::inputs::{Gram, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Fit, Flow, Kernel, Matrix, Observer, OutputKind, Problem, ProblemSpec, fit_near,
};

/// lambda = 1 makes it the trace norm itself.
pub(crate) const MTL_SDCA: Engine = Engine {
    name: "mtl-sdca",
    title: "a shared representation of low dimension",
    learns: "directions of the inputs that all tasks use",
    reference: "Lapin, Schiele and Hein, Scalable multitask representation learning for scene classification, CVPR 2014",
    problem: "min C sum_i L + |W|^2 / 2 + |U|^2 / 2 over W and U, F(x, t) = <w_t, U'x>: trace norm of U W",
    params: &[Param {
        name: "form",
        meaning: "balanced: the convex problem, certified; alternating: W and U in turns, as published",
        allowed: Allowed::Word(&["balanced", "alternating"]),
        default: "balanced",
        grid: &["balanced"],
        only_with: None,
    }],
    cost: "balanced: a fit of independent tasks, warm, in each of dozens to hundreds of rounds; alternating: kernel values of all inputs, and up to 200 fits",
    losses: Losses::All,
    output: |_, _| OutputKind::Trace { nu: 0.5 },
    published: Some(Published {
        forms: &["alternating"],
        run: alternating,
        claim: Claim::Given("the representation"),
    }),
};

/// Pairs of steps at most, and the change of duals, of their bounds, at which the released code ends.
const ROUNDS: usize = 100;
const CHANGE: f64 = 1e-3;

fn alternating(job: &Job<'_>, _: &Params, problem: &Problem<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let obs = job.data.observations();
    let (n, t) = (obs.n_inputs(), obs.n_tasks());
    let kernel = kernel_matrix("mtl-sdca", job, 4)?;
    let c = problem.spec().c / problem.spec().lambda.sqrt();
    let spec = |theta: &Matrix| ProblemSpec {
        loss: job.loss.clone(),
        output: OutputKind::Fixed { theta: rows(theta) },
        c,
        lambda: 1.0,
    };
    let identity = Matrix::identity(t);
    let alone = Problem::new(job.data, spec(&identity))?;
    let mut of_u = fit_near(&alone, job.settings, None, observer)?;
    // Inner products of representations of all inputs: at first those of the tasks on their own.
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
        let of_w = fit_near(&machines, job.settings, None, observer)?;
        let moved_w = duals(job, &of_w);
        let given = Problem::new(job.data, spec(&of_w.products))?;
        let next = fit_near(&given, job.settings, of_u.model.alpha(), observer)?;
        let moved_u = duals(job, &next);
        let trace: f64 = (0..t).map(|r| of_w.products[(r, r)]).sum();
        let objective = next.certificate.primal + 0.5 * trace;
        let change = distance(&moved_u, &duals_u).hypot(distance(&moved_w, &duals_w)) / c;
        let small = change / (2.0 * (n * t) as f64).sqrt() < CHANGE;
        let rose = objective > least;
        if !rose {
            (of_u, duals_u, duals_w, shared) = (next, moved_u, moved_w, of_w.products);
            least = objective;
        }
        if rose || small || round >= ROUNDS || observer.poll() == Flow::Stop {
            return graded(problem, &of_u, job.settings, ("alternating mtl-sdca", round));
        }
    }
    unreachable!("rounds are counted")
}

/// The duals of a fit as a table.
fn duals(job: &Job<'_>, fit: &Fit) -> Matrix {
    table(job.data.observations(), fit.model.alpha().unwrap_or_default())
}
