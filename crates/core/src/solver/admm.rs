//! ADMM, the alternating direction method of multipliers, for spectral regularisers: functions of Theta that
//! are no sum over its entries.
//!
//! `min over W of losses(X W) + Omega(W)`, with a second copy Z of the weights for the penalty:
//!
//! ```text
//! W <- argmin losses(X W) + rho |W - (Z - U)|^2 / 2       independent tasks with offsets X (Z - U)
//! Z <- argmin Omega(Z) + rho |Z - (W + U)|^2 / 2          singular values of W + U, shrunk
//! U <- U + W - Z
//! ```
//!
//! The first line, the loss subproblem, is an ordinary problem that another solver solves; its duals are
//! those of the whole problem, whose weights are Z. No eigenvalue of Theta has to be kept away from zero: at
//! the solution most of them are zero.

use super::{
    Algorithm, CheckedSettings, Clock, Incumbent, Poll, Settings, SolveRequest, Solver, SolverOutcome,
    SolverRun, Start, Status, finish, newton, start,
};
use crate::design::Design;
use crate::linalg::{self, axpy, inner, view};
use crate::regularizer::{Fixed, Regularizer, SpectralRegularizer, SumRegularizer};
use crate::{Dataset, Error, Matrix, Problem, ProblemSpec, Result};

/// Alternating direction method of multipliers.
#[derive(Debug, Clone, Copy)]
pub struct Admm {
    inner: &'static dyn Solver,
}

impl Admm {
    /// With this solver for the loss subproblems.
    pub const fn new(inner: &'static dyn Solver) -> Self {
        Admm { inner }
    }
}

/// Steps go further than to the new weights by this factor, the usual one.
const OVER_RELAXATION: f64 = 1.6;
/// Relative accuracy of the loss subproblem, as a fraction of the current gap; halved after every slow round.
const INNER_GAP_SHARE: f64 = 0.03;
/// A round is slow if it leaves more than this fraction of the gap.
const SLOW_ROUND_GAP_RATIO: f64 = 0.95;
/// The accuracy is at least the square of this share of the gap: the largest eigenvalue of the duals' task
/// Gram matrix changes in proportion to the duals, gaps only with their square.
const MIN_INNER_GAP_SHARE: f64 = 0.1;
const MAX_INNER_TOLERANCE: f64 = 1e-2;
const MIN_INNER_TOLERANCE: f64 = 1e-14;
/// Passes of a loss subproblem: few, since the next round goes on from there; doubled whenever the rounds
/// between two budget checks leave more than half of the gap.
const FIRST_INNER_PASSES: usize = 5;
const MAX_INNER_PASSES: usize = 300;
const ROUNDS_PER_BUDGET_CHECK: usize = 10;
/// Rounds between updates of rho, and the last round with one: with updates for ever it need not converge.
const RHO_UPDATE_ROUNDS: usize = 5;
const LAST_RHO_UPDATE_ROUND: usize = 400;
/// rho changes if the ratio of the two residuals is larger than this, or smaller than its inverse.
const MAX_RESIDUAL_RATIO: f64 = 4.0;
/// Rounds without a better bound or better weights after which it has stalled.
const MAX_IDLE_ROUNDS: usize = 200;

const NAME: &str = "admm";
const ENTRYWISE: &str = "Theta is regularised entry by entry, for which there are better solvers";

impl Algorithm for Admm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        match problem.regularizer() {
            Regularizer::Spectral(_) => Ok(()),
            Regularizer::Entrywise(_) => Err(ENTRYWISE.into()),
        }
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        // What the solver of the subproblem needs, and six matrices of weights.
        let (backend, obs) = (problem.data().backend(), problem.observations());
        let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
        newton::memory(problem).saturating_add(8 * (6 * point + 4 * obs.len() as u64))
    }

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let problem = run.problem;
        let Regularizer::Spectral(regularizer) = problem.normal_regularizer() else {
            return Err(Error::Unsuitable { solver: NAME, why: ENTRYWISE.into() });
        };
        let ready = run.clock.unless_stopped(|interrupt| {
            problem.data().prepare(interrupt)?;
            Ok(problem.data().design(problem.is_centred(), interrupt)?.1)
        })?;
        let kappa = run.given.take().unwrap_or_else(|| start::zeros(problem));
        let best = Incumbent::zero_function(problem, kappa)?;
        if let Some(status) = run.report(&best) {
            return Ok(best.ended(status));
        }
        let Some(design) = ready else { return Ok(best.ended(Status::Stopped)) };
        Rounds::new(run, regularizer, (design, self.inner), &best.kappa).run(best, run)
    }
}

/// The three variables of the iteration and what they depend on.
struct Rounds<'a> {
    problem: &'a Problem<'a>,
    regularizer: &'a SpectralRegularizer,
    design: &'a Design,
    settings: &'a CheckedSettings,
    inner: &'static dyn Solver,
    rho: f64,
    z: Matrix,
    u: Matrix,
    kappa: Vec<f64>,
}

impl<'a> Rounds<'a> {
    fn new(
        run: &SolverRun<'a>,
        regularizer: &'a SpectralRegularizer,
        (design, inner): (&'a Design, &'static dyn Solver),
        kappa: &[f64],
    ) -> Self {
        let SolverRun { problem, settings, .. } = *run;
        let z = Matrix::zeros(design.rank(), problem.observations().n_tasks());
        // At a solution rho U is the function of the duals.
        let u = design.backward(&design.gather(kappa), problem.data().threads());
        let kappa = kappa.to_vec();
        Rounds { problem, regularizer, design, settings, inner, rho: 1.0, z, u, kappa }
    }

    fn threads(&self) -> usize {
        self.problem.data().threads()
    }

    fn run(mut self, mut best: Incumbent, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let (mut idle, mut share) = (0, INNER_GAP_SHARE);
        let (mut passes, mut gap_at_last_check) = (FIRST_INNER_PASSES, f64::INFINITY);
        for round in 1.. {
            let gap = best.rel_gap();
            let tolerance = (share * gap)
                .max((MIN_INNER_GAP_SHARE * gap).powi(2))
                .clamp(MIN_INNER_TOLERANCE, MAX_INNER_TOLERANCE);
            let moved = self.solve_losses(tolerance, passes, &mut run.clock)?;
            let before = self.z.clone();
            let apart = self.apply_penalty(moved)?;
            run.clock.passes += 1;
            let kappa = start::allowed(self.problem, self.kappa.clone())?;
            let better = best.offer(self.problem, kappa, finish::coordinates(self.problem, &self.z)?)?;
            idle = if better { 0 } else { idle + 1 };
            if best.rel_gap() > SLOW_ROUND_GAP_RATIO * gap {
                share *= 0.5;
            }
            if round % ROUNDS_PER_BUDGET_CHECK == 0 {
                if best.rel_gap() > 0.5 * gap_at_last_check {
                    passes = (2 * passes).min(MAX_INNER_PASSES);
                }
                gap_at_last_check = best.rel_gap();
            }
            if let Some(status) = run.report(&best) {
                return Ok(best.ended(status));
            }
            if idle > MAX_IDLE_ROUNDS {
                break;
            }
            if round % RHO_UPDATE_ROUNDS == 0 && round <= LAST_RHO_UPDATE_ROUND {
                let change = self.z.minus(&before);
                let size = |m: &Matrix| inner(m, m).sqrt();
                self.balance(apart / size(&self.z), size(&change) / size(&self.u));
            }
        }
        Ok(best.ended(Status::Stalled))
    }

    /// Solves the loss subproblem; the new weights, relaxed.
    fn solve_losses(&mut self, tolerance: f64, max_passes: usize, clock: &mut Clock<'_>) -> Result<Matrix> {
        let centre = self.z.minus(&self.u);
        let pool = self.problem.data().pool();
        let n = self.kappa.len();
        let mut offsets =
            pool.install(|| self.design.scatter(&self.design.forward(&centre, self.threads()), n));
        let obs = self.problem.observations();
        obs.offsets().into_iter().for_each(|own| axpy(&mut offsets, 1.0, own));
        let obs = obs.clone().with_offsets(offsets)?;
        let data = self.problem.data().with_observations(&obs);
        let problem = self.loss_subproblem(&data)?;
        let alpha: Vec<f64> = self.kappa.iter().map(|k| k * self.problem.unit()).collect();
        let settings = Settings {
            solver: Default::default(),
            tolerance,
            max_passes,
            max_time: None,
            ..Settings::clone(self.settings)
        };
        let settings = settings.check()?;
        let request = SolveRequest { problem: &problem, settings: &settings, start: Start::Warm(&alpha) };
        let solution = self.inner.solve(request, &mut Poll(clock))?;
        let unit = problem.unit() / self.problem.unit();
        self.kappa = solution.kappa.iter().map(|k| k * unit).collect();
        let gathered = self.design.gather(&self.kappa);
        let mut w = pool.install(|| self.design.backward(&gathered, self.threads()));
        w.scale(OVER_RELAXATION / self.rho);
        w.add_scaled(OVER_RELAXATION, &centre);
        w.add_scaled(1.0 - OVER_RELAXATION, &self.z);
        Ok(w)
    }

    /// Independent tasks at predictions moved by offsets, `Theta = I / rho`.
    fn loss_subproblem<'d>(&self, data: &'d Dataset<'d>) -> Result<Problem<'d>> {
        let t = data.observations().n_tasks();
        let mut theta = Matrix::identity(t);
        // Theta^ is I / rho in the problem's own units.
        let scale = self.problem.theta_unit() / self.rho;
        theta.scale(scale);
        let spec = ProblemSpec { lambda: 1.0, ..self.problem.spec().clone() };
        let regularizer = Regularizer::Entrywise(SumRegularizer::new(Fixed::diagonal(theta)));
        Problem::from_parts(data, spec.losses(t)?, regularizer, spec)
    }

    /// Updates Z and U; the distance of the two copies of the weights.
    fn apply_penalty(&mut self, w: Matrix) -> Result<f64> {
        let mut v = w.clone();
        v.add_scaled(1.0, &self.u);
        let threads = self.threads();
        let (regularizer, rho) = (self.regularizer, self.rho);
        self.z = self.problem.data().pool().install(|| {
            let rotation = regularizer.rotation(&linalg::gram(&v, threads))?;
            let factor = regularizer.shrinkage(&rotation, &rotation.squares(&v, &v, threads), 1.0 / rho);
            Ok::<_, Error>(linalg::times(view(&v), view(&factor), threads))
        })?;
        self.u = v;
        self.u.add_scaled(-1.0, &self.z);
        let mut apart = w;
        apart.add_scaled(-1.0, &self.z);
        Ok(inner(&apart, &apart).sqrt())
    }

    /// Changes rho if one of the relative residuals is much larger than the other.
    fn balance(&mut self, primal: f64, dual: f64) {
        let ratio = primal / dual;
        if !(ratio.is_finite() && ratio > 0.0)
            || (MAX_RESIDUAL_RATIO.recip()..=MAX_RESIDUAL_RATIO).contains(&ratio)
        {
            return;
        }
        let factor = ratio.sqrt().clamp(0.1, 10.0);
        self.rho *= factor;
        self.u.as_mut_slice().iter_mut().for_each(|x| *x /= factor);
    }
}
