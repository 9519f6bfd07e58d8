//! Estimated time of solvers on a problem, in nanoseconds of a machine of 2020; only ratios matter. It is
//! computed from sizes, never measured: the same problem is solved the same way every time.

use crate::design::Design;
use crate::{Observations, Problem};

/// Operations of a matrix product per nanosecond and thread.
const PRODUCT_FLOPS_PER_NS: f64 = 25.0;

/// Threads that the estimates assume. Not those of the machine: the same problem is solved the same way on all of them.
const ASSUMED_THREADS: f64 = 2.0;

/// Sizes of a problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    observations: f64,
    /// Rows of inputs, entries, features (rank at most), tasks.
    rows: f64,
    entries: f64,
    rank: f64,
    tasks: f64,
    table: bool,
    /// Unknowns of a factorised Newton system.
    pub(super) unknowns: usize,
    /// One coordinate step.
    step: f64,
    /// Making the eigenbasis and the rotated inputs, zero if they exist already.
    setup: f64,
}

impl Cost {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let (obs, backend) = (problem.observations(), problem.data().backend());
        let (inputs, dim) = (backend.n_inputs(), backend.dim());
        let rank = dim.min(inputs);
        let (rows, entries) = Design::size(obs);
        let small = rank as f64;
        let moment = inputs as f64 * dim as f64 * small;
        let rotate = 2.0 * rows as f64 * dim as f64 * small;
        let setup = if problem.data().has_design(problem.is_centred()) {
            0.0
        } else {
            (moment + rotate) / (PRODUCT_FLOPS_PER_NS * ASSUMED_THREADS) + small.powi(3) / 5.0
        };
        Cost {
            observations: obs.len() as f64,
            rows: rows as f64,
            entries: entries as f64,
            rank: small,
            tasks: obs.n_tasks() as f64,
            table: rows < entries || obs.n_tasks() == 1,
            unknowns: unknowns(obs, rank),
            step: coordinate_step(problem),
            setup,
        }
    }

    /// A pass of coordinate ascent: scores and updates of blocks of 64 inputs, then the steps.
    pub(super) fn sdca_pass(&self) -> f64 {
        let block = 64.0;
        let products = if self.table {
            2.0 * self.rows * self.rank * (2.0 * self.tasks + block)
        } else {
            2.0 * self.observations * self.rank * (self.tasks + block)
        };
        products / (PRODUCT_FLOPS_PER_NS * self.shared(products)) + self.observations * self.step
    }

    /// Effective threads for the products of a pass: products of small blocks run on one thread.
    fn shared(&self, products: f64) -> f64 {
        let of_a_block = products / (self.rows / 64.0).max(1.0);
        if of_a_block > 1e7 { 0.8 * ASSUMED_THREADS } else { 1.0 }
    }

    /// One pass over all rows, for all their tasks.
    fn pass(&self) -> f64 {
        let rate = if self.table { PRODUCT_FLOPS_PER_NS } else { 0.2 * PRODUCT_FLOPS_PER_NS };
        2.0 * self.entries * self.rank / (rate * ASSUMED_THREADS)
    }

    /// Forming and factorising a system with all rows in it.
    fn factorise(&self) -> f64 {
        let n = self.unknowns as f64;
        let moments = self.entries * self.rank * self.rank;
        (moments + n * n * self.rank + n * n * n / 3.0) / (0.6 * PRODUCT_FLOPS_PER_NS * ASSUMED_THREADS)
            + 5.0 * n * n
    }

    /// A Newton step where nearly all entries have a curvature.
    fn smooth_step(&self) -> f64 {
        let answers = 6.0 * self.entries / ASSUMED_THREADS;
        let iterations =
            10.0 * (2.0 * self.pass() + 10.0 * self.rank * self.tasks * self.tasks / PRODUCT_FLOPS_PER_NS);
        3.0 * self.pass() + answers + (iterations + self.blocks()).min(self.factorise())
    }

    /// Factors of all tasks' blocks, with as many exact rows as
    /// [`Blocks`](crate::solver::newton_system::blocks) would take.
    fn blocks(&self) -> f64 {
        let budget = 4.0 * self.entries / self.tasks * self.rank;
        let affordable = (0..4).fold(0.0, |f: f64, _| (budget / (self.rank + f)).sqrt());
        let rows = affordable.min(self.rank).min(1024.0).min(self.entries / self.tasks);
        self.tasks * rows * rows * (self.rank + rows) / (0.5 * PRODUCT_FLOPS_PER_NS * ASSUMED_THREADS)
    }

    /// A Newton step where few entries have a curvature.
    fn kinked_step(&self) -> f64 {
        let answers = 6.0 * self.entries / ASSUMED_THREADS;
        let free = 0.4 * self.rank * self.tasks;
        let iterations = 12.0 * (8.0 * free * self.rank / (0.25 * PRODUCT_FLOPS_PER_NS * ASSUMED_THREADS));
        5.0 * self.pass() + answers + iterations
    }

    pub(super) fn newton(&self) -> f64 {
        self.setup + 8.0 * (self.smooth_step() + STEP_OVERHEAD_NS)
    }

    pub(super) fn proximal(&self) -> f64 {
        self.setup + 40.0 * (self.kinked_step() + 1.5 * STEP_OVERHEAD_NS)
    }

    pub(super) fn interior_point(&self) -> f64 {
        let loops = 60.0 * self.entries / ASSUMED_THREADS;
        self.setup + 20.0 * (6.0 * self.pass() + loops + 2.0 * self.factorise() + 0.6 * STEP_OVERHEAD_NS)
    }
}

/// Overhead of any step.
const STEP_OVERHEAD_NS: f64 = 3e5;

/// Unknowns of a factorised system: the rank of each task's inputs at most.
fn unknowns(obs: &Observations, rank: usize) -> usize {
    obs.task_counts().iter().map(|&n| n.min(rank)).sum()
}

/// A coordinate step: a closed form for quadratic conjugates with k = 1, else some evaluations of a row of T
/// slopes.
fn coordinate_step(problem: &Problem<'_>) -> f64 {
    let obs = problem.observations();
    let t = obs.n_tasks() as f64;
    let quadratic = (0..obs.n_tasks()).all(|task| problem.loss(task).has_quadratic_conjugate());
    let evaluations = if quadratic { 3.0 } else { 5.0 };
    let output = problem.normal_regularizer().entrywise().map(|output| output.entries());
    match (output.and_then(|o| o.linear_slope()), output.and_then(|o| o.degree())) {
        (Some(_), _) if quadratic => 50.0 + 0.3 * t,
        (Some(_), _) => 280.0 + 3.6 * t,
        (None, Some(_)) => evaluations * (45.0 + 0.9 * t),
        (None, None) => evaluations * (60.0 + EXP_SLOPE_NS * t),
    }
}

/// A slope that is not a power needs exponentials.
const EXP_SLOPE_NS: f64 = 8.0;
