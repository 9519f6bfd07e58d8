//! From small groups to large ones, as long as they pay.

use super::hull::Hull;
use super::lattice::Lattice;
use crate::observer::{SearchObserver, after_search};
use crate::{Job, Result};
use kinfolk::{
    Certificate, Fit, Fitter, Flow, Matrix, Observer, Problem, ProblemSpec, RegularizerKind, Settings,
    Status, certify,
};
use std::fmt;
use std::time::Instant;

/// Rounds for one set of groups: at the end, and while more groups may follow and the bound is loose.
const MAX_ROUNDS: usize = 300;
const MAX_ROUNDS_GROWING: usize = 12;
/// Groups added at a time at least, even if none of them promises an improvement alone.
const FEWEST_NEW_GROUPS: usize = 3;
/// Additions of groups in a row that may fail to help.
const MAX_IDLE_ADDITIONS: usize = 3;
/// Rounds in a row that may fail to help. The weight of a new group has to grow first.
const MAX_IDLE_ROUNDS: usize = 5;
/// Accuracy of the inner duals as a share of the relative gap. The inner gap changes with the square of the
/// duals, the bound of the search in proportion to them.
const INNER_GAP_SHARE: f64 = 0.1;
/// Relative gap beyond which the better objective decides, not the smaller gap.
const LOOSE_REL_GAP: f64 = 0.1;
/// Range of inner tolerances.
const MAX_INNER_TOLERANCE: f64 = 1e-4;
const MIN_INNER_TOLERANCE: f64 = 1e-14;
/// Factor per round for the smoothing that keeps weights above zero.
const SMOOTHING_RATIO_PER_ROUND: f64 = 0.85;

/// A set of groups, and weights for them.
pub(super) struct Search<'a> {
    job: &'a Job<'a>,
    c: f64,
    lattice: Lattice,
    largest: usize,
    hull: Hull,
    gamma: Vec<f64>,
    alpha: Option<Vec<f64>>,
    best: Option<Best>,
    /// The least objective seen, whatever its bound.
    least_primal: f64,
    passes: usize,
}

/// The best groups so far.
struct Best {
    alpha: Vec<f64>,
    theta: Matrix,
    bound: SearchBound,
    /// Squared dual norm within these groups. Another group helps if its own is larger.
    dual_norm: f64,
}

/// The lattice norm of the function that duals induce, and the conjugate norm of the duals.
struct Norms {
    /// Half the squared norm of f, and an upper bound on its conjugate.
    primal: f64,
    dual: f64,
    /// The latter if there were no other groups.
    inside: f64,
    /// The squared dual norm of nodes that share a budget.
    shared: f64,
    /// New gamma before smoothing, `d_v (sum of |f_w|^2)^(1/2)`.
    shares: Vec<f64>,
}

/// Bounds on the problem over all groups, computed by this method alone: no certificate.
struct SearchBound {
    primal: f64,
    dual: f64,
    gap: f64,
}

impl SearchBound {
    /// From the certificate for a given Theta, whose own norm `square / 2` is replaced by those of the
    /// lattice.
    fn new(inner: &Certificate, norms: &Norms, square: f64) -> Self {
        let primal = inner.primal - 0.5 * square + norms.primal;
        let dual = inner.dual + 0.5 * square - norms.dual;
        SearchBound { primal, dual, gap: inner.gap + (norms.primal + norms.dual - square).max(0.0) }
    }

    fn rel_gap(&self) -> f64 {
        relative(self.gap, self.primal, self.dual)
    }

    /// The relative gap if no other groups could be used.
    fn gap_within(&self, norms: &Norms) -> f64 {
        let others = norms.dual - norms.inside;
        relative((self.gap - others).max(0.0), self.primal, self.dual + others)
    }

    fn is_better_than(&self, old: &SearchBound) -> bool {
        if self.rel_gap() > LOOSE_REL_GAP && old.rel_gap() > LOOSE_REL_GAP {
            self.primal < old.primal
        } else {
            self.gap < old.gap
        }
    }
}

impl fmt::Display for SearchBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SearchBound { primal, dual, .. } = self;
        write!(f, "bound of the search over groups: objective {primal}, with any groups not below {dual}")
    }
}

fn relative(gap: f64, primal: f64, dual: f64) -> f64 {
    if gap == 0.0 { 0.0 } else { gap / primal.abs().max(dual.abs()) }
}

/// Sum of the products of entries.
fn inner(a: &Matrix, b: &Matrix) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
}

impl<'a> Search<'a> {
    /// Starts with every task on its own.
    pub(super) fn new(
        job: &'a Job<'a>,
        c: f64,
        lattice: Lattice,
        largest: usize,
        near: Option<&[f64]>,
    ) -> Self {
        let t = lattice.n_tasks;
        Search {
            job,
            c,
            lattice,
            largest,
            hull: Hull::of_single_tasks(t),
            gamma: vec![lattice.first_weight(); t],
            alpha: near.map(<[f64]>::to_vec),
            best: None,
            least_primal: f64::INFINITY,
            passes: 0,
        }
    }

    /// The model of the best groups found. Its remark says what the search knows about all other groups.
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<Fit> {
        let began = Instant::now();
        self.search(&mut SearchObserver::new(observer, self.job.settings.max_time))?;
        let Some(best) = self.best.take() else { unreachable!("solved at least once") };
        let problem = self.inner_problem(&best.theta)?;
        let settings = after_search(self.job.settings, began);
        let mut fit = Fitter::new(&settings).warm(Some(&best.alpha)).observer(observer).fit(&problem)?;
        (fit.solver, fit.passes) = ("lattice", self.passes);
        if best.bound.primal.is_finite() && best.bound.dual.is_finite() {
            fit.model.set_remark(best.bound.to_string());
        }
        Ok(fit)
    }

    /// Adds groups as long as they pay.
    fn search(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let (mut least, mut idle) = (f64::INFINITY, 0);
        let mut stopped;
        loop {
            stopped = self.solve(MAX_ROUNDS_GROWING, observer)?;
            let Some(best) = &self.best else { unreachable!("solved at least once") };
            let done = best.bound.rel_gap() <= self.job.settings.tolerance;
            // With many tasks the bound over all groups is loose. Then the search ends when groups no longer
            // help.
            let primal = self.least_primal;
            idle = if least - primal > self.job.settings.tolerance * primal.abs() { 0 } else { idle + 1 };
            least = primal.min(least);
            if done
                || stopped
                || idle > MAX_IDLE_ADDITIONS
                || self.passes >= self.job.settings.max_passes
                || !self.grow()?
            {
                break;
            }
        }
        if !stopped {
            self.solve(MAX_ROUNDS, observer)?;
        }
        Ok(())
    }

    /// The problem for a given Theta.
    fn inner_problem(&self, theta: &Matrix) -> Result<Problem<'a>> {
        let output = RegularizerKind::Fixed { theta: rows(theta) };
        let spec = ProblemSpec {
            loss: self.job.loss.clone(),
            output,
            c: self.c,
            lambda: 1.0,
            atoms: vec![],
            intercept: self.job.intercept,
        };
        Ok(Problem::new(self.job.data, spec)?)
    }

    /// Rounds of inner problem and new weights, until the groups in use cannot improve further; at most `few`
    /// rounds while the bound is loose. Returns whether an observer said stop.
    fn solve(&mut self, few: usize, observer: &mut dyn Observer) -> Result<bool> {
        let (mut smoothing, mut calm) = (0.01, 0);
        for round in 0..MAX_ROUNDS {
            let delta = self.delta();
            let theta = self.theta(&delta);
            let problem = self.inner_problem(&theta)?;
            let left = self.best.as_ref().map_or(1e-2, |best| best.bound.rel_gap().min(1e-2));
            let tolerance = (INNER_GAP_SHARE * left).powi(2).clamp(MIN_INNER_TOLERANCE, MAX_INNER_TOLERANCE);
            let settings = Settings { tolerance, ..self.job.settings.clone() };
            let fit = Fitter::new(&settings).warm(self.alpha.as_deref()).observer(observer).fit(&problem)?;
            self.passes += 1;
            let alpha = fit.model.alpha().unwrap_or_default().to_vec();
            let gram = self.job.data.task_gram(&alpha)?;
            let norms = self.norms(&delta, &gram);
            let bound = SearchBound::new(&certify(&problem, &alpha, None)?, &norms, inner(&theta, &gram));
            let within = bound.gap_within(&norms);
            let before = self.least_primal;
            self.least_primal = before.min(bound.primal);
            self.alpha = Some(alpha.clone());
            let gap = bound.rel_gap();
            if self.best.as_ref().is_none_or(|old| bound.is_better_than(&old.bound)) {
                self.best = Some(Best { alpha, theta, bound, dual_norm: norms.shared });
            }
            let tolerance = self.job.settings.tolerance;
            if fit.status() == Status::Stopped || observer.poll() == Flow::Stop {
                return Ok(true);
            }
            // Whether steps no longer help while the gap comes from other groups.
            let fall = (before - self.least_primal) / self.least_primal.abs();
            let small = if gap > LOOSE_REL_GAP { 0.3 * tolerance } else { 0.01 * tolerance };
            calm = if fall < small { calm + 1 } else { 0 };
            let settled = within <= 0.3 * tolerance || (calm > MAX_IDLE_ROUNDS && within < 0.1 * gap);
            let enough = round >= few && gap > LOOSE_REL_GAP;
            if gap <= tolerance || settled || enough || self.passes >= self.job.settings.max_passes {
                return Ok(false);
            }
            self.reweight(&norms.shares, smoothing);
            smoothing *= SMOOTHING_RATIO_PER_ROUND;
        }
        Ok(false)
    }

    /// Weights in proportion to the shares, with `smoothing` times their mean added to each.
    fn reweight(&mut self, shares: &[f64], smoothing: f64) {
        let total: f64 = shares.iter().sum();
        let floor = smoothing * total / shares.len() as f64;
        let sum = total + floor * shares.len() as f64;
        let weights = self.gamma[self.lattice.given()..].iter_mut();
        weights.zip(shares).for_each(|(gamma, share)| *gamma = (share + floor) / sum);
    }

    /// Weights of the groups' task matrices.
    fn delta(&self) -> Vec<f64> {
        let groups = self.hull.groups();
        let shares: Vec<f64> =
            groups.iter().zip(&self.gamma).map(|(v, gamma)| self.lattice.cost(v).powi(2) / gamma).collect();
        self.hull.below().iter().map(|below| below.iter().map(|&v| shares[v]).sum::<f64>().recip()).collect()
    }

    fn theta(&self, delta: &[f64]) -> Matrix {
        let t = self.lattice.n_tasks;
        let mut theta = Matrix::zeros(t, t);
        for (group, delta) in self.hull.groups().iter().zip(delta) {
            for &r in group {
                theta[(r, r)] += delta;
                group.iter().for_each(|&s| theta[(r, s)] += delta / self.lattice.mu);
            }
        }
        theta
    }

    fn norms(&self, delta: &[f64], gram: &Matrix) -> Norms {
        let groups = self.hull.groups();
        let mut squares = vec![0.0; groups.len()];
        for ((group, below), delta) in groups.iter().zip(self.hull.below()).zip(delta) {
            let square = delta * delta * self.lattice.size(group, gram);
            below.iter().for_each(|&v| squares[v] += square);
        }
        let costs: Vec<f64> = groups.iter().map(|v| self.lattice.cost(v)).collect();
        // The given weights are one: both sides pay the squares themselves.
        let (alone, squares) = squares.split_at(self.lattice.given());
        let alone: f64 = alone.iter().zip(&costs).map(|(square, cost)| cost * cost * square).sum();
        let costs = &costs[self.lattice.given()..];
        let shares: Vec<f64> = squares.iter().zip(costs).map(|(square, cost)| cost * square.sqrt()).collect();
        let norm: f64 = shares.iter().sum();
        let parts = squares.iter().zip(costs).zip(&self.gamma[self.lattice.given()..]);
        let shared = parts.map(|((square, cost), gamma)| (cost / gamma).powi(2) * square).fold(0.0, f64::max);
        let bounds = self.hull.sources().iter().map(|group| self.lattice.bound(group, gram));
        let beyond = bounds.fold(0.0, f64::max);
        Norms {
            primal: 0.5 * (alone + norm * norm),
            dual: 0.5 * (alone + shared.max(beyond)),
            inside: 0.5 * (alone + shared),
            shared,
            shares,
        }
    }

    /// Takes the most promising groups into use, as many as there are tasks; false if there are none that are
    /// small enough. Groups are ranked by their own dual norm: with many tasks the bound over all supersets
    /// depends on little but their number.
    fn grow(&mut self) -> Result<bool> {
        let Some(best) = &self.best else { return Ok(false) };
        let gram = self.job.data.task_gram(&best.alpha)?;
        let allowed = self.hull.sources().iter().filter(|group| group.len() <= self.largest);
        let mut ranked: Vec<(f64, Vec<usize>)> =
            allowed.map(|group| (self.lattice.gain(group, &gram), group.clone())).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let pay = ranked.iter().filter(|(gain, _)| *gain > best.dual_norm).count();
        ranked.truncate(pay.min(self.lattice.n_tasks).max(FEWEST_NEW_GROUPS));
        if ranked.is_empty() {
            return Ok(false);
        }
        let small = 0.01 / self.gamma.len() as f64;
        self.gamma.extend(ranked.iter().map(|_| small));
        self.hull.extend(ranked.into_iter().map(|(_, group)| group).collect());
        let weights = &mut self.gamma[self.lattice.given()..];
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|gamma| *gamma /= sum);
        Ok(true)
    }
}

/// A matrix as rows.
fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.rows()).map(|r| m.row(r).to_vec()).collect()
}
