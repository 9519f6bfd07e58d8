//! Convex learning of tasks and their structure, Ciliberto and others: any loss, own inputs, and an alternation that converges.
//!
//! The original minimises `(1/N) sum (y - f)^2 + lc tr(A^-1 W'W) + g F(A)`. Divided by 2 lc that is ours with `C = 1 / (N lc)`,
//! `lambda = g / lc` and Theta = A: [`fmtl`](crate::fmtl) with k = 1 for the Frobenius norm, the trace norm of the weights for the
//! trace. For `F` the cluster set see [`cmtl`](crate::cmtl).

use crate::alternation::{Alternation, spectral};
use crate::given::{Engine, FORMS, Published};
use crate::params::Allowed;
use crate::sylvester::{self, Basis, Point};
use crate::{Claim, Error, Job, Losses, Param, Params, Result};
use kinfolk::{Fit, Matrix, Observer, OutputKind, Problem};

/// Frobenius norm or trace of Theta.
pub(crate) const CONVEX_OKL: Engine = Engine {
    name: "convex-okl",
    title: "convex learning of tasks and structure",
    learns: "Theta, Frobenius norm or trace",
    reference: "Ciliberto, Mroueh, Poggio and Rosasco, Convex learning of multiple tasks and their structure, ICML 2015",
    problem: "min C sum_i L + |F|^2 / 2 + lambda |Theta|^2 / 2 over F and Theta: fmtl with k = 1; or lambda tr(Theta) / 2",
    params: &[
        Param {
            name: "structure",
            meaning: "what is paid for Theta",
            allowed: Allowed::Word(&["frobenius", "trace"]),
            default: "frobenius",
            grid: &["frobenius"],
            only_with: None,
        },
        FORMS,
    ],
    cost: "fast: as fmtl, for the trace as mtrl; published: a fit of given Theta in each of up to 1,000 rounds, on shared inputs with the squared loss as okl",
    losses: Losses::All,
    output: |_, params| match params.word("structure") {
        "trace" => OutputKind::Trace { nu: 0.5 },
        _ => OutputKind::Power { k: 1 },
    },
    published: Some(Published { forms: &["published", "reduced"], run: published, claim: Claim::Optimal }),
};

/// The floor under eigenvalues of W'W, and when to end, of the code that was released.
const FLOOR: f64 = 1e-8;
const CHANGE: f64 = 1e-4;
const ROUNDS: usize = 1000;

/// Supervised step and structure step in turns, from Theta = I.
fn published(
    job: &Job<'_>,
    params: &Params,
    problem: &Problem<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let spec = problem.spec();
    let trace = params.word("structure") == "trace";
    let reduced = params.word("form") == "reduced";
    if reduced && trace {
        let why = "the reduced form is for the Frobenius norm".to_string();
        return Err(Error::Param { method: "convex-okl", why });
    }
    if reduced || (!trace && sylvester::check("convex-okl", job).is_ok()) {
        sylvester::check("convex-okl", job)?;
        let basis = Basis::new("convex-okl", job, problem, reduced)?;
        return basis.run(job, problem, "published convex-okl", step, observer);
    }
    let eigenvalue = |s: &f64| match trace {
        true => ((s + FLOOR) / spec.lambda).sqrt(),
        false => ((s + FLOOR) / (2.0 * spec.lambda)).cbrt(),
    };
    let update = |products: &Matrix| spectral(products, |squares| squares.iter().map(eigenvalue).collect());
    let alternation = Alternation { theta: &update, change: CHANGE, rounds: ROUNDS };
    let first = Matrix::identity(job.data.observations().n_tasks());
    alternation.fit(job, problem, first, "published convex-okl", observer)
}

/// On shared inputs the supervised step is a Sylvester equation; then `L = (W'W / 2)^(1/3)`, `W'W = L A'K A L`.
fn step(basis: &Basis, point: Point) -> Result<Point> {
    let products = point.l.times(&basis.moment(&point.a, 1)).times(&point.l);
    let root = |squares: &[f64]| squares.iter().map(|s| ((s + FLOOR) / 2.0).cbrt()).collect();
    basis.point(spectral(&products, root)?)
}
