//! From small groups to large ones, as long as they pay.

use super::hull::Hull;
use super::lattice::Lattice;
use crate::{Job, Result};
use kinfolk::{
    Certificate, Fit, Flow, Matrix, Observer, OutputKind, Problem, ProblemSpec, Settings, Status,
    certify_priced, fit_near,
};

/// Rounds for one set of groups; and while more of them are to come and the bound says nothing yet.
const ROUNDS: usize = 300;
const ROUNDS_GROWING: usize = 12;
/// Groups added at a time at least, where none of them promises anything by itself but the bound is not yet met.
const FEWEST: usize = 3;
/// Additions of groups that may fail to help, one after another; and rounds: the weight of a new group has to grow before it does.
const PATIENCE: usize = 3;
const CALM: usize = 5;
/// Inner problems are solved until their duals are as close as this share of the gap that is left: gaps only change with the square of
/// duals, bounds in proportion to them.
const INNER: f64 = 0.1;
/// Beyond this gap the better objective is the better fit.
const LOOSE: f64 = 0.1;
const LOOSEST: f64 = 1e-4;
const TIGHTEST: f64 = 1e-14;
/// What keeps weights above zero shrinks by this in each round.
const SHRINK: f64 = 0.85;

/// A set of groups, and weights for them.
pub(super) struct Search<'a> {
    job: &'a Job<'a>,
    c: f64,
    lattice: Lattice,
    largest: usize,
    hull: Hull,
    gamma: Vec<f64>,
    alpha: Option<Vec<f64>>,
    best: Option<Fit>,
    /// The dual norm of the best within its groups, squared: what another group has to beat.
    dual_norm: f64,
    /// The least objective seen, whatever its bound.
    least_primal: f64,
    passes: usize,
}

/// What the duals say of the groups in use.
struct Norms {
    /// What is paid for f, and an upper bound on its conjugate.
    primal: f64,
    dual: f64,
    /// The latter if there were no other groups.
    inside: f64,
    /// The squared dual norm of nodes that share a budget.
    shared: f64,
    /// New gamma before smoothing, `d_v (sum of |f_w|^2)^(1/2)`.
    shares: Vec<f64>,
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
            dual_norm: 0.0,
            least_primal: f64::INFINITY,
            passes: 0,
        }
    }

    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<Fit> {
        let (mut least, mut idle) = (f64::INFINITY, 0);
        let mut stopped;
        loop {
            stopped = self.solve(ROUNDS_GROWING, observer)?;
            let Some(best) = &self.best else { unreachable!("solved at least once") };
            let done = best.certificate.rel_gap() <= self.job.settings.tolerance;
            // With many tasks the bound over all groups is loose: then groups that no longer help are the end.
            let primal = self.least_primal;
            idle = if least - primal > self.job.settings.tolerance * primal.abs() { 0 } else { idle + 1 };
            least = primal.min(least);
            if done
                || stopped
                || idle > PATIENCE
                || self.passes >= self.job.settings.max_passes
                || !self.grow()?
            {
                break;
            }
        }
        if !stopped {
            self.solve(ROUNDS, observer)?;
        }
        let Some(mut fit) = self.best.take() else { unreachable!("solved at least once") };
        let certified = fit.certificate.rel_gap() <= self.job.settings.tolerance;
        fit.status = match fit.status {
            Status::Stopped => Status::Stopped,
            _ if certified => Status::Certified,
            _ if self.passes >= self.job.settings.max_passes => Status::PassLimit,
            _ => Status::Stalled,
        };
        (fit.solver, fit.passes) = ("lattice", self.passes);
        Ok(fit)
    }

    /// Rounds of inner problem and new weights, until the groups in use have no more to give, `few` if the bound says nothing; whether an
    /// observer said stop.
    fn solve(&mut self, few: usize, observer: &mut dyn Observer) -> Result<bool> {
        let (mut smoothing, mut calm) = (0.01, 0);
        for round in 0..ROUNDS {
            let delta = self.delta();
            let theta = self.theta(&delta);
            let spec = ProblemSpec {
                loss: self.job.loss.clone(),
                output: OutputKind::Fixed { theta: rows(&theta) },
                c: self.c,
                lambda: 1.0,
            };
            let problem = Problem::new(self.job.data, spec)?;
            let left = self.best.as_ref().map_or(1e-2, |fit| fit.certificate.rel_gap().min(1e-2));
            let tolerance = (INNER * left).powi(2).clamp(TIGHTEST, LOOSEST);
            let settings = Settings { tolerance, ..self.job.settings.clone() };
            let mut fit = fit_near(&problem, &settings, self.alpha.as_deref(), observer)?;
            self.passes += 1;
            let alpha = fit.model.alpha().unwrap_or_default().to_vec();
            let norms = self.norms(&delta, &self.job.data.task_gram(&alpha)?);
            fit.certificate = certify_priced(&problem, &alpha, (norms.primal, norms.dual))?;
            let within = Self::gap_within(&fit, &norms);
            let before = self.least_primal;
            self.least_primal = before.min(fit.certificate.primal);
            self.alpha = Some(alpha);
            let better = |old: &Fit| {
                let (new, old) = (&fit.certificate, &old.certificate);
                if new.rel_gap() > LOOSE && old.rel_gap() > LOOSE {
                    new.primal < old.primal
                } else {
                    new.gap < old.gap
                }
            };
            let (gap, stopped) = (fit.certificate.rel_gap(), fit.status == Status::Stopped);
            if self.best.as_ref().is_none_or(better) {
                self.best = Some(fit);
                self.dual_norm = norms.shared;
            }
            let tolerance = self.job.settings.tolerance;
            if stopped || observer.poll() == Flow::Stop {
                return Ok(true);
            }
            // Steps that no longer pay, while the gap is a matter of other groups.
            let fall = (before - self.least_primal) / self.least_primal.abs();
            let small = if gap > LOOSE { 0.3 * tolerance } else { 0.01 * tolerance };
            calm = if fall < small { calm + 1 } else { 0 };
            let settled = within <= 0.3 * tolerance || (calm > CALM && within < 0.1 * gap);
            let enough = round >= few && gap > LOOSE;
            if gap <= tolerance || settled || enough || self.passes >= self.job.settings.max_passes {
                return Ok(false);
            }
            let total: f64 = norms.shares.iter().sum();
            let floor = smoothing * total / norms.shares.len() as f64;
            smoothing *= SHRINK;
            let sum = total + floor * norms.shares.len() as f64;
            let weights = self.gamma[self.lattice.given()..].iter_mut();
            weights.zip(&norms.shares).for_each(|(gamma, share)| *gamma = (share + floor) / sum);
        }
        Ok(false)
    }

    /// The relative gap that would be left if no other groups could be used.
    fn gap_within(fit: &Fit, norms: &Norms) -> f64 {
        let Certificate { primal, dual, gap, .. } = fit.certificate;
        let others = norms.dual - norms.inside;
        (gap - others).max(0.0) / primal.abs().max((dual + others).abs())
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

    /// Takes the most promising groups into use, as many as there are tasks; false if there are none, or they are larger than allowed.
    /// Ranked by what each has to say for itself: the bound over all its supersets sees little but their number once tasks are many.
    fn grow(&mut self) -> Result<bool> {
        let Some(best) = &self.best else { return Ok(false) };
        let gram = self.job.data.task_gram(best.model.alpha().unwrap_or_default())?;
        let allowed = self.hull.sources().iter().filter(|group| group.len() <= self.largest);
        let mut ranked: Vec<(f64, Vec<usize>)> =
            allowed.map(|group| (self.lattice.gain(group, &gram), group.clone())).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let pay = ranked.iter().filter(|(gain, _)| *gain > self.dual_norm).count();
        ranked.truncate(pay.min(self.lattice.n_tasks).max(FEWEST));
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

/// A list of rows.
fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.rows()).map(|r| m.row(r).to_vec()).collect()
}
