//! Losses and penalty in iteration, for penalties of Theta that are no sum over its entries.
//!
//! `min over W of losses(X W) + Omega(W)` with a copy Z of the weights for the penalty (the alternating direction method of multipliers):
//!
//! ```text
//! W <- argmin losses(X W) + rho |W - (Z - U)|^2 / 2       independent tasks at predictions moved by X (Z - U)
//! Z <- argmin Omega(Z) + rho |Z - (W + U)|^2 / 2          singular values of W + U, shrunk
//! U <- U + W - Z
//! ```
//!
//! The first line is a problem like any other, for which every loss and kernel has a solver; its duals are those of the whole
//! problem, whose weights are Z. No eigenvalue of Theta has to be kept away from zero: at the solution most of them are.

use super::{
    Auto, CheckedSettings, Clock, Poll, Settings, Solution, Solver, Start, Status, finish, newton, start,
};
use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::design::Design;
use crate::linalg::{self, axpy, inner, view};
use crate::regularizer::{Fixed, Regularizer, SpectralRegularizer};
use crate::{Dataset, Error, Matrix, Observer, Problem, ProblemSpec, Result};

/// Alternating direction method of multipliers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Admm;

/// A little further than to the new weights: the usual factor.
const OVER_RELAXATION: f64 = 1.6;
/// The first line is solved to this share of the gap that is left, and to half the share from the round on that brings little.
const INNER_GAP_SHARE: f64 = 0.03;
/// A round that leaves more than this of the gap brings little.
const SLOW_ROUND_GAP_RATIO: f64 = 0.95;
/// Never closer than to the square of this share of the gap: the largest eigenvalue of the task Gram matrix of the duals changes in
/// proportion to them, gaps only with their square.
const MIN_INNER_GAP_SHARE: f64 = 0.1;
const MAX_INNER_TOLERANCE: f64 = 1e-2;
const MIN_INNER_TOLERANCE: f64 = 1e-14;
/// Passes of one first line: few, since the next one goes on from there; twice as many whenever the rounds of a spell leave more than half
/// of the gap.
const FIRST_INNER_PASSES: usize = 5;
const MAX_INNER_PASSES: usize = 300;
const ROUNDS_PER_BUDGET_CHECK: usize = 10;
/// Rounds between looks at rho, and the round after which it stays: what changes for ever need not converge.
const RHO_UPDATE_ROUNDS: usize = 5;
const LAST_RHO_UPDATE_ROUND: usize = 400;
/// Residuals this far apart ask for another rho.
const MAX_RESIDUAL_RATIO: f64 = 4.0;
/// Rounds without a better bound or better weights after which there is nothing more to come.
const MAX_IDLE_ROUNDS: usize = 200;

/// Why not here.
const BETTER_SOLVERS: &str = "Theta is regularised entry by entry, for which there are better solvers";

impl Solver for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        match problem.regularizer() {
            Regularizer::Spectral(_) => Ok(()),
            Regularizer::Entrywise(_) => Err(BETTER_SOLVERS.into()),
        }
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        // What the solvers of the first line need, and half a dozen matrices of weights.
        let (backend, obs) = (problem.data().backend(), problem.observations());
        let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
        newton::memory(problem).saturating_add(8 * (6 * point + 4 * obs.len() as u64))
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let Regularizer::Spectral(regularizer) = problem.normal_regularizer() else {
            return Err(Error::Unsuitable { solver: self.name(), why: BETTER_SOLVERS.into() });
        };
        start.passes(self.name(), settings.seed)?;
        let given = start.kappa(problem)?.map(|kappa| start::warm(problem, kappa));
        let mut clock = Clock::new(self.name(), settings, observer);
        let data = problem.data();
        let ready = |interrupt: &mut Interrupt<'_>| {
            data.prepare(interrupt)?;
            data.design(interrupt).map(|_| ())
        };
        let nothing = |kappa: Option<Vec<f64>>| {
            kappa.unwrap_or_else(|| start::warm(problem, vec![0.0; problem.observations().len()]))
        };
        match clock.interrupting(ready) {
            Err(Error::Interrupted) => {
                let best = Best::new(problem, nothing(given))?;
                let status = clock.report(&best.graded.certificate, None).unwrap_or(Status::Stopped);
                return Ok(best.solution(status, clock));
            }
            other => other?,
        }
        let design = data.design(&mut Interrupt::never())?.1;
        let best = Best::new(problem, nothing(given))?;
        let iteration = Iteration::new(problem, regularizer, design, settings, &best.kappa);
        iteration.run(best, clock)
    }
}

/// What goes on between losses and penalty.
struct Iteration<'a> {
    problem: &'a Problem<'a>,
    regularizer: &'a SpectralRegularizer,
    design: &'a Design,
    settings: &'a CheckedSettings,
    rho: f64,
    z: Matrix,
    u: Matrix,
    kappa: Vec<f64>,
}

impl<'a> Iteration<'a> {
    fn new(
        problem: &'a Problem<'a>,
        regularizer: &'a SpectralRegularizer,
        design: &'a Design,
        settings: &'a CheckedSettings,
        kappa: &[f64],
    ) -> Self {
        let z = Matrix::zeros(design.rank(), problem.observations().n_tasks());
        // At a solution rho U is the function of the duals.
        let u = design.backward(&design.gather(kappa), problem.data().threads());
        let kappa = kappa.to_vec();
        Iteration { problem, regularizer, design, settings, rho: 1.0, z, u, kappa }
    }

    fn threads(&self) -> usize {
        self.problem.data().threads()
    }

    fn run(mut self, mut best: Best, mut clock: Clock<'_>) -> Result<Solution> {
        if let Some(status) = clock.report(&best.graded.certificate, None) {
            return Ok(best.solution(status, clock));
        }
        let (mut idle, mut share) = (0, INNER_GAP_SHARE);
        let (mut passes, mut gap_at_last_check) = (FIRST_INNER_PASSES, f64::INFINITY);
        for round in 1.. {
            let gap = best.graded.certificate.rel_gap();
            let tolerance = (share * gap)
                .max((MIN_INNER_GAP_SHARE * gap).powi(2))
                .clamp(MIN_INNER_TOLERANCE, MAX_INNER_TOLERANCE);
            let moved = self.solve_losses(tolerance, passes, &mut clock)?;
            let before = self.z.clone();
            let apart = self.apply_penalty(moved)?;
            clock.passes += 1;
            let better =
                best.offer(self.problem, start::allowed(self.problem, self.kappa.clone())?, &self.z)?;
            idle = if better { 0 } else { idle + 1 };
            if best.graded.certificate.rel_gap() > SLOW_ROUND_GAP_RATIO * gap {
                share *= 0.5;
            }
            if round % ROUNDS_PER_BUDGET_CHECK == 0 {
                let gap = best.graded.certificate.rel_gap();
                if gap > 0.5 * gap_at_last_check {
                    passes = (2 * passes).min(MAX_INNER_PASSES);
                }
                gap_at_last_check = gap;
            }
            if let Some(status) = clock.report(&best.graded.certificate, None) {
                return Ok(best.solution(status, clock));
            }
            if idle > MAX_IDLE_ROUNDS {
                return Ok(best.solution(Status::Stalled, clock));
            }
            if round % RHO_UPDATE_ROUNDS == 0 && round <= LAST_RHO_UPDATE_ROUND {
                let mut change = self.z.clone();
                axpy(change.as_mut_slice(), -1.0, before.as_slice());
                let size = |m: &Matrix| inner(m, m).sqrt();
                self.balance(apart / size(&self.z), size(&change) / size(&self.u));
            }
        }
        unreachable!("the clock ends the rounds")
    }

    /// The first line; the new weights, relaxed.
    fn solve_losses(&mut self, tolerance: f64, max_passes: usize, clock: &mut Clock<'_>) -> Result<Matrix> {
        let mut centre = self.z.clone();
        axpy(centre.as_mut_slice(), -1.0, self.u.as_slice());
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
        let solution = Auto.solve(&problem, &settings, Start::Warm(&alpha), &mut Poll(clock))?;
        let unit = problem.unit() / self.problem.unit();
        self.kappa = solution.kappa.iter().map(|k| k * unit).collect();
        let gathered = self.design.gather(&self.kappa);
        let mut w = pool.install(|| self.design.backward(&gathered, self.threads()));
        w.as_mut_slice().iter_mut().for_each(|x| *x *= OVER_RELAXATION / self.rho);
        axpy(w.as_mut_slice(), OVER_RELAXATION, centre.as_slice());
        axpy(w.as_mut_slice(), 1.0 - OVER_RELAXATION, self.z.as_slice());
        Ok(w)
    }

    /// Independent tasks at predictions moved by offsets, `Theta = I / rho`.
    fn loss_subproblem<'d>(&self, data: &'d Dataset<'d>) -> Result<Problem<'d>> {
        let t = data.observations().n_tasks();
        let mut theta = Matrix::identity(t);
        // Theta^ is I / rho in the problem's own units.
        let scale = self.problem.theta_unit() / self.rho;
        theta.as_mut_slice().iter_mut().for_each(|x| *x *= scale);
        let spec = ProblemSpec { lambda: 1.0, ..self.problem.spec().clone() };
        let regularizer = Regularizer::Entrywise(Box::new(Fixed::diagonal(theta)));
        Problem::from_parts(data, spec.losses(t)?, regularizer, spec)
    }

    /// The other two lines; how far the two copies of the weights are apart.
    fn apply_penalty(&mut self, w: Matrix) -> Result<f64> {
        let mut v = w.clone();
        axpy(v.as_mut_slice(), 1.0, self.u.as_slice());
        let threads = self.threads();
        let (regularizer, rho) = (self.regularizer, self.rho);
        self.z = self.problem.data().pool().install(|| {
            let mut gram = linalg::times(view(&v).transpose(), view(&v), threads);
            linalg::symmetrise(&mut gram);
            let rotation = regularizer.rotation(&gram)?;
            let factor = regularizer.shrinkage(&rotation, &rotation.squares(&v, &v, threads), 1.0 / rho);
            Ok::<_, Error>(linalg::times(view(&v), view(&factor), threads))
        })?;
        self.u = v;
        axpy(self.u.as_mut_slice(), -1.0, self.z.as_slice());
        let mut apart = w;
        axpy(apart.as_mut_slice(), -1.0, self.z.as_slice());
        Ok(inner(&apart, &apart).sqrt())
    }

    /// Another rho where one residual, as a share of what it is to vanish against, is much larger than the other.
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

/// The best weights and the best duals seen, which need not be of the same round.
struct Best {
    kappa: Vec<f64>,
    w: Matrix,
    graded: Graded,
}

impl Best {
    /// No weights, and these duals if the penalty allows them.
    fn new(problem: &Problem<'_>, kappa: Vec<f64>) -> Result<Self> {
        let never = &mut Interrupt::never();
        let w = Matrix::zeros(problem.data().backend().dim(), problem.observations().n_tasks());
        let graded = certify_normal(problem, &kappa, Some(&w), never)?;
        if graded.certificate.dual.is_finite() {
            return Ok(Best { kappa, w, graded });
        }
        let kappa = start::warm(problem, vec![0.0; kappa.len()]);
        let graded = certify_normal(problem, &kappa, Some(&w), never)?;
        Ok(Best { kappa, w, graded })
    }

    /// Takes over what is better, if anything is.
    fn offer(&mut self, problem: &Problem<'_>, kappa: Vec<f64>, z: &Matrix) -> Result<bool> {
        let never = &mut Interrupt::never();
        let w = finish::coordinates(problem, z)?;
        let new = certify_normal(problem, &kappa, Some(&w), never)?;
        let (old, offered) = (&self.graded.certificate, &new.certificate);
        let (better_weights, better_duals) = (offered.primal < old.primal, offered.dual > old.dual);
        match (better_weights, better_duals) {
            (true, true) => *self = Best { kappa, w, graded: new },
            (true, false) => {
                self.graded = certify_normal(problem, &self.kappa, Some(&w), never)?;
                self.w = w;
            }
            (false, true) => {
                self.graded = certify_normal(problem, &kappa, Some(&self.w), never)?;
                self.kappa = kappa;
            }
            (false, false) => {}
        }
        Ok(better_weights || better_duals)
    }

    fn solution(self, status: Status, clock: Clock<'_>) -> Solution {
        let Best { kappa, w, graded } = self;
        let (passes, trace) = (clock.passes, clock.trace);
        let solver = "admm";
        Solution { kappa, v: Some(w), graded, status, solver, passes, trace, reason: None }
    }
}
