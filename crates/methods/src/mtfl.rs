//! Features shared by latent groups of tasks, after Jawanpuria and Nath: a reconstruction.
//!
//! A function for every group w of tasks, close to a common mean within it: kernel `k(x, z) Th_w`, `Th_w = 1_w 1_w' / mu + diag(1_w)`. The norm
//! is hierarchical over the lattice of groups, `Om = sum_v b^|v| (sum over w containing v of |f_w|^2)^(1/2)`: a group can only be
//! used if all its subgroups are, so that few groups are, and they can be searched from small to large.
//!
//! With weights gamma on the simplex the squared norm is a minimum over task matrices `Theta = sum_w delta_w Th_w`,
//! `1 / delta_w = sum over v in w of b^2|v| / gamma_v`: the inner problem is that of a given Theta.

use crate::alternation::rows;
use crate::params::Allowed;
use crate::{Job, Method, Param, Params, Point, Result};
use kinfolk::{
    Certificate, Fit, Flow, Matrix, Observer, OutputKind, Problem, ProblemSpec, Settings, Status, Weights,
    certify_priced, fit_near,
};

/// Groups of tasks, as far as they help.
#[derive(Debug)]
pub(crate) struct Mtfl;

const PARAMS: &[Param] = &[
    Param {
        name: "mu",
        meaning: "within a group: large for tasks on their own, small for one model",
        allowed: Allowed::Number(1e-9, 1e9),
        default: "1",
        grid: &["0.1", "1", "10"],
        only_with: None,
    },
    Param {
        name: "b",
        meaning: "how much dearer a group is for every task in it",
        allowed: Allowed::Number(1.01, 100.0),
        default: "2",
        grid: &["1.5", "2"],
        only_with: None,
    },
    Param {
        name: "largest",
        meaning: "tasks of a group at most: one of m tasks brings 2^m - 1 groups with it",
        allowed: Allowed::Integer(1, 12),
        default: "6",
        grid: &["6"],
        only_with: None,
    },
];

/// Rounds for one set of groups, and groups added at a time.
const ROUNDS: usize = 300;
const ADDED: usize = 3;
/// Additions of groups that may fail to help, one after another.
const PATIENCE: usize = 5;
/// Inner problems are solved until their duals are as close as this share of the gap that is left: gaps only change with the square of
/// duals, bounds in proportion to them.
const INNER: f64 = 0.1;
/// Beyond this gap the better objective is the better fit.
const LOOSE: f64 = 0.1;
const LOOSEST: f64 = 1e-4;
const TIGHTEST: f64 = 1e-14;
/// What keeps weights above zero shrinks by this in each round.
const SHRINK: f64 = 0.85;

impl Method for Mtfl {
    fn name(&self) -> &'static str {
        "mtfl"
    }

    fn title(&self) -> &'static str {
        "groups of tasks on a lattice"
    }

    fn learns(&self) -> &'static str {
        "which groups of tasks are close, out of all 2^T"
    }

    fn reference(&self) -> &'static str {
        "after Jawanpuria and Nath, A convex feature learning formulation for latent task structure discovery, ICML 2012"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn problem(&self) -> &'static str {
        "min C sum_i L + (sum_v b^|v| (sum_(w in D(v)) |f_w|^2)^(1/2))^2 / 2 over functions f_w of all groups w of tasks"
    }

    fn about(&self) -> &'static str {
        "A reconstruction: of the original the lattice of groups, the closeness within them and the search from small groups to large ones are \
         known, the exponent, the weights of the nodes and the combination of base kernels are not. Here the kernel given is the only base \
         kernel, the norm within a node is the Euclidean one, and a node costs b to the power of its size. \
         What a fit reports is about this problem; its model file keeps the certificate of the Theta found, as given."
    }

    fn cost(&self) -> &'static str {
        "a fit of a given Theta in each of up to hundreds of rounds for each set of groups; with many tasks its bound is loose"
    }

    /// Theta is made up of groups with diagonal about one.
    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights> {
        let t = job.data.observations().n_tasks();
        let share = (t as f64).recip() * (1.0 + 1.0 / params.number("mu")) / params.number("b").powi(2);
        let theta = (0..t).map(|r| (0..t).map(|s| if r == s { share } else { 0.0 }).collect()).collect();
        Ok(match point {
            Point::C(c) => Weights { c, lambda: 1.0 },
            Point::Strength(g) => job.yardstick.weights(&OutputKind::Fixed { theta }, Some(1.0), g)?,
        })
    }

    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let Weights { c, .. } = self.weights(job, params, point)?;
        let t = job.data.observations().n_tasks();
        let lattice = Lattice { n_tasks: t, mu: params.number("mu"), b: params.number("b") };
        let mut search = Search {
            job,
            c,
            lattice,
            largest: params.integer("largest") as usize,
            groups: (0..t).map(|task| vec![task]).collect(),
            alpha: near.map(<[f64]>::to_vec),
            gamma: vec![(t as f64).recip(); t],
            best: None,
            least_primal: f64::INFINITY,
            passes: 0,
        };
        search.run(observer)
    }
}

/// The lattice of all groups, and its norm.
#[derive(Debug, Clone, Copy)]
struct Lattice {
    n_tasks: usize,
    mu: f64,
    b: f64,
}

impl Lattice {
    /// What a node costs.
    fn cost(&self, group: &[usize]) -> f64 {
        self.b.powi(group.len() as i32)
    }

    /// `<Th_w, R>`.
    fn size(&self, group: &[usize], gram: &Matrix) -> f64 {
        let all: f64 = group.iter().flat_map(|&r| group.iter().map(move |&s| gram[(r, s)])).sum();
        let own: f64 = group.iter().map(|&r| gram[(r, r)]).sum();
        (all / self.mu + own).max(0.0)
    }

    /// The part of the dual norm that all supersets of a group make up together, in closed form.
    fn bound(&self, group: &[usize], gram: &Matrix) -> f64 {
        let z = (1.0 + self.b).powi(-2);
        let share = |r: usize| if group.contains(&r) { 1.0 } else { z / (1.0 + z) };
        let (mut all, mut own) = (0.0, 0.0);
        for r in 0..self.n_tasks {
            own += gram[(r, r)] * share(r);
            for s in (0..self.n_tasks).filter(|&s| s != r) {
                all += gram[(r, s)] * share(r) * share(s);
            }
        }
        let others = (self.n_tasks - group.len()) as i32;
        let scale = self.b.powi(-2 * group.len() as i32) * (1.0 + z).powi(others);
        scale * ((all + own) / self.mu + own).max(0.0)
    }
}

/// A search from small groups to large ones. Groups are sorted lists of tasks, closed under taking subsets.
struct Search<'a> {
    job: &'a Job<'a>,
    c: f64,
    lattice: Lattice,
    largest: usize,
    groups: Vec<Vec<usize>>,
    gamma: Vec<f64>,
    alpha: Option<Vec<f64>>,
    best: Option<Fit>,
    /// The least objective seen, whatever its bound.
    least_primal: f64,
    passes: usize,
}

/// What the duals say of the groups in use.
struct Norms {
    /// Omega(f), and an upper bound on its dual norm, both halved squares.
    primal: f64,
    dual: f64,
    /// The latter if there were no other groups.
    inside: f64,
    /// New gamma before smoothing, `d_v (sum of |f_w|^2)^(1/2)`.
    shares: Vec<f64>,
}

impl Search<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> Result<Fit> {
        let (mut least, mut idle) = (f64::INFINITY, 0);
        loop {
            let stopped = self.solve(observer)?;
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

    /// Rounds of inner problem and new weights, until the groups in use have no more to give; whether an observer said stop.
    fn solve(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let mut smoothing = 0.01;
        for _ in 0..ROUNDS {
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
            }
            let tolerance = self.job.settings.tolerance;
            if stopped || observer.poll() == Flow::Stop {
                return Ok(true);
            }
            // Steps that no longer pay, while the gap is a matter of other groups.
            let fall = (before - self.least_primal) / self.least_primal.abs();
            let settled = within <= 0.3 * tolerance || (fall < 0.01 * tolerance && within < 0.1 * gap);
            if gap <= tolerance || settled || self.passes >= self.job.settings.max_passes {
                return Ok(false);
            }
            let total: f64 = norms.shares.iter().sum();
            let floor = smoothing * total / norms.shares.len() as f64;
            smoothing *= SHRINK;
            let sum = total + floor * norms.shares.len() as f64;
            self.gamma = norms.shares.iter().map(|share| (share + floor) / sum).collect();
        }
        Ok(false)
    }

    /// The relative gap that would be left if no other groups could be used.
    fn gap_within(fit: &Fit, norms: &Norms) -> f64 {
        let Certificate { primal, dual, gap, .. } = fit.certificate;
        (gap - (norms.dual - norms.inside)).max(0.0) / primal.abs().max(dual.abs())
    }

    /// Weights of the groups' task matrices.
    fn delta(&self) -> Vec<f64> {
        let inverse = |w: &Vec<usize>| -> f64 {
            let below = self.groups.iter().zip(&self.gamma).filter(|(v, _)| v.iter().all(|t| w.contains(t)));
            below.map(|(v, gamma)| self.lattice.cost(v).powi(2) / gamma).sum()
        };
        self.groups.iter().map(|w| inverse(w).recip()).collect()
    }

    fn theta(&self, delta: &[f64]) -> Matrix {
        let t = self.lattice.n_tasks;
        let mut theta = Matrix::zeros(t, t);
        for (group, delta) in self.groups.iter().zip(delta) {
            for &r in group {
                theta[(r, r)] += delta;
                group.iter().for_each(|&s| theta[(r, s)] += delta / self.lattice.mu);
            }
        }
        theta
    }

    fn norms(&self, delta: &[f64], gram: &Matrix) -> Norms {
        let sizes: Vec<f64> = self.groups.iter().map(|w| self.lattice.size(w, gram)).collect();
        let above = |v: &Vec<usize>| -> f64 {
            let supersets = self.groups.iter().enumerate().filter(|(_, w)| v.iter().all(|t| w.contains(t)));
            supersets.map(|(i, _)| delta[i] * delta[i] * sizes[i]).sum()
        };
        let squares: Vec<f64> = self.groups.iter().map(above).collect();
        let costs: Vec<f64> = self.groups.iter().map(|v| self.lattice.cost(v)).collect();
        let shares: Vec<f64> =
            squares.iter().zip(&costs).map(|(square, cost)| cost * square.sqrt()).collect();
        let norm: f64 = shares.iter().sum();
        let inside = squares.iter().zip(&costs).zip(&self.gamma);
        let inside =
            inside.map(|((square, cost), gamma)| (cost / gamma).powi(2) * square).fold(0.0, f64::max);
        let beyond = self.sources(gram).first().map_or(0.0, |(bound, _)| *bound);
        Norms { primal: 0.5 * norm * norm, dual: 0.5 * inside.max(beyond), inside: 0.5 * inside, shares }
    }

    /// Groups not in use all of whose subgroups are.
    fn sources(&self, gram: &Matrix) -> Vec<(f64, Vec<usize>)> {
        let mut found: Vec<(f64, Vec<usize>)> = vec![];
        for group in &self.groups {
            for task in group[group.len() - 1] + 1..self.lattice.n_tasks {
                let mut larger = group.clone();
                larger.push(task);
                let closed = (0..larger.len()).all(|leave| {
                    let mut smaller = larger.clone();
                    smaller.remove(leave);
                    self.groups.contains(&smaller)
                });
                if closed && !self.groups.contains(&larger) {
                    found.push((self.lattice.bound(&larger, gram), larger));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found
    }

    /// Takes the most promising groups into use; false if there are none, or they are larger than allowed.
    fn grow(&mut self) -> Result<bool> {
        let Some(best) = &self.best else { return Ok(false) };
        let gram = self.job.data.task_gram(best.model.alpha().unwrap_or_default())?;
        let sources = self.sources(&gram);
        let allowed = sources.into_iter().filter(|(_, group)| group.len() <= self.largest);
        let chosen: Vec<Vec<usize>> = allowed.take(ADDED).map(|(_, group)| group).collect();
        if chosen.is_empty() {
            return Ok(false);
        }
        let small = 0.01 / self.groups.len() as f64;
        self.gamma.extend(chosen.iter().map(|_| small));
        self.groups.extend(chosen);
        let sum: f64 = self.gamma.iter().sum();
        self.gamma.iter_mut().for_each(|gamma| *gamma /= sum);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_all_supersets_is_their_sum() {
        let t = 5;
        let lattice = Lattice { n_tasks: t, mu: 0.7, b: 1.8 };
        let mut gram = Matrix::zeros(t, t);
        for r in 0..t {
            for s in 0..t {
                let product: f64 =
                    (0..3).map(|i| ((r * 3 + i) as f64).sin() * ((s * 3 + i) as f64).sin()).sum();
                gram[(r, s)] = product;
            }
        }
        for group in [vec![1], vec![0, 3], vec![0, 2, 4]] {
            let mut sum = 0.0;
            for mask in 0u32..1 << t {
                let superset: Vec<usize> = (0..t).filter(|&task| mask >> task & 1 == 1).collect();
                if !group.iter().all(|task| superset.contains(task)) {
                    continue;
                }
                // Sum of b^|v| over all v between the group and the superset.
                let between = superset.len() - group.len();
                let costs = lattice.cost(&group) * (1.0 + lattice.b).powi(between as i32);
                sum += lattice.size(&superset, &gram) / (costs * costs);
            }
            assert!((lattice.bound(&group, &gram) - sum).abs() < 1e-12 * sum);
        }
    }
}
