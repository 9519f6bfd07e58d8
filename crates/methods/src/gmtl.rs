//! With whom to share: groups of tasks, each with a low-dimensional subspace of its own, Kang, Grauman and Sha.

use crate::params::Allowed;
use crate::{Claim, Job, Method, Param, Params, Point, Result};
use kinfolk::{Fit, Flow, Matrix, Observer, OutputKind, Problem, ProblemSpec, Settings, Weights, fit_near};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Groups and their subspaces. Not convex in the groups; given them, it is.
#[derive(Debug)]
pub(crate) struct Gmtl;

const PARAMS: &[Param] = &[
    Param {
        name: "groups",
        meaning: "how many; more always cost less, and as many as tasks share nothing",
        allowed: Allowed::Integer(1, u32::MAX),
        default: "3",
        grid: &["2", "3", "5"],
        only_with: None,
    },
    Param {
        name: "restarts",
        meaning: "first guesses of the groups: all tasks in one, then at random",
        allowed: Allowed::Integer(1, 1000),
        default: "8",
        grid: &["8"],
        only_with: None,
    },
];

/// While groups are looked for, fits need not be better than this.
const ROUGH: f64 = 1e-2;
/// Rounds of a restart at most, and the relative fall of the objective at which it ends.
const ROUNDS: usize = 20;
const FALL: f64 = 1e-4;

impl Method for Gmtl {
    fn name(&self) -> &'static str {
        "gmtl"
    }

    fn title(&self) -> &'static str {
        "groups of tasks with subspaces of their own"
    }

    fn learns(&self) -> &'static str {
        "groups, and within each a task matrix of trace one"
    }

    fn reference(&self) -> &'static str {
        "Kang, Grauman and Sha, Learning with whom to share in multi-task feature learning, ICML 2011"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn problem(&self) -> &'static str {
        "min C sum_i L + sum_g |W_g|_*^2 / 2 over W and partitions of the tasks into groups g: squared trace norms"
    }

    fn cost(&self) -> &'static str {
        "that of mtrl for each round of each restart, and G T^2 small eigenvalue problems between rounds"
    }

    fn claim(&self, _: &Params) -> Claim {
        Claim::Given("the groups")
    }

    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights> {
        let groups = even_groups(job.data.observations().n_tasks(), params.integer("groups"));
        Ok(match point {
            Point::C(c) => Weights { c, lambda: 1.0 },
            Point::Strength(g) => job.yardstick.weights(&output(groups), Some(1.0), g)?,
        })
    }

    fn fit(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        _near: Option<&Fit>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let Weights { c, .. } = self.weights(job, params, point)?;
        let t = job.data.observations().n_tasks();
        let most = params.integer("groups").min(t as u32);
        let mut random = ChaCha8Rng::seed_from_u64(job.settings.seed);
        let mut best: Option<(Vec<u32>, Fit)> = None;
        for restart in 0..params.integer("restarts") {
            let start = (0..t).map(|_| if restart == 0 { 0 } else { random.random_range(0..most) }).collect();
            let found = search(job, c, start, most, observer)?;
            let better = |fit: &Fit| found.1.certificate.primal < fit.certificate.primal;
            if best.as_ref().is_none_or(|(_, fit)| better(fit)) {
                best = Some(found);
            }
            if observer.poll() == Flow::Stop || most == 1 {
                break;
            }
        }
        let Some((groups, rough)) = best else { unreachable!("there is at least one restart") };
        fit_groups(job, c, groups, job.settings.tolerance, rough.model.alpha(), observer)
    }
}

fn output(groups: Vec<u32>) -> OutputKind {
    OutputKind::Relationship { l1: 0.0, l2: 1.0, groups: Some(groups) }
}

/// Groups of equal size, to choose C by.
fn even_groups(n_tasks: usize, groups: u32) -> Vec<u32> {
    (0..n_tasks as u32).map(|task| task % groups.max(1)).collect()
}

fn fit_groups(
    job: &Job<'_>,
    c: f64,
    groups: Vec<u32>,
    tolerance: f64,
    alpha: Option<&[f64]>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let spec = ProblemSpec { loss: job.loss.clone(), output: output(groups), c, lambda: 1.0 };
    let problem = Problem::new(job.data, spec)?;
    let settings = Settings { tolerance, ..job.settings.clone() };
    Ok(fit_near(&problem, &settings, alpha, observer)?)
}

/// Weights and groups in turns from some groups; never worse than before.
fn search(
    job: &Job<'_>,
    c: f64,
    mut groups: Vec<u32>,
    most: u32,
    observer: &mut dyn Observer,
) -> Result<(Vec<u32>, Fit)> {
    let rough = ROUGH.max(job.settings.tolerance);
    let mut fit = fit_groups(job, c, groups.clone(), rough, None, observer)?;
    for _ in 0..ROUNDS {
        let moved = regroup(&fit.products, groups.clone(), most)?;
        if moved == groups || observer.poll() == Flow::Stop {
            break;
        }
        let next = fit_groups(job, c, moved.clone(), rough, fit.model.alpha(), observer)?;
        let fall = fit.certificate.primal - next.certificate.primal;
        if fall > 0.0 {
            (groups, fit) = (moved, next);
        }
        if fall <= FALL * fit.certificate.primal {
            break;
        }
    }
    Ok((groups, fit))
}

/// Moves single tasks to the group where the sum of squared trace norms is least, until none moves. The sum is concave in soft
/// memberships, so hard ones lose nothing.
fn regroup(products: &Matrix, mut groups: Vec<u32>, most: u32) -> Result<Vec<u32>> {
    let mut prices: Vec<f64> = (0..most).map(|g| price(products, &groups, g)).collect::<Result<_>>()?;
    loop {
        let mut moved = false;
        for task in 0..groups.len() {
            let own = groups[task];
            let mut best = (0.0, own, prices[own as usize], prices[own as usize]);
            let mut trial = groups.clone();
            trial[task] = u32::MAX;
            let without = price(products, &trial, own)?;
            for other in (0..most).filter(|&g| g != own) {
                trial[task] = other;
                let with = price(products, &trial, other)?;
                let change = without + with - prices[own as usize] - prices[other as usize];
                if change < best.0 {
                    best = (change, other, without, with);
                }
            }
            let (change, other, without, with) = best;
            if change < -1e-12 * prices.iter().sum::<f64>() {
                (prices[own as usize], prices[other as usize]) = (without, with);
                groups[task] = other;
                moved = true;
            }
        }
        if !moved {
            return Ok(groups);
        }
    }
}

/// The squared trace norm of a group's weights, from `W'W`.
fn price(products: &Matrix, groups: &[u32], group: u32) -> Result<f64> {
    let tasks: Vec<usize> = (0..groups.len()).filter(|&task| groups[task] == group).collect();
    if tasks.is_empty() {
        return Ok(0.0);
    }
    let mut own = Matrix::zeros(tasks.len(), tasks.len());
    for (i, &r) in tasks.iter().enumerate() {
        tasks.iter().enumerate().for_each(|(j, &s)| own[(i, j)] = products[(r, s)]);
    }
    let norm: f64 = own.eigen()?.0.iter().map(|s| s.max(0.0).sqrt()).sum();
    Ok(norm * norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_use_the_same_direction_end_in_one_group() {
        // Tasks 0, 2 and 4 along one direction, 1 and 3 along another.
        let w: [[f64; 2]; 5] = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, -1.5], [-1.0, 0.1]];
        let mut products = Matrix::zeros(5, 5);
        for r in 0..5 {
            for s in 0..5 {
                products[(r, s)] = w[r][0] * w[s][0] + w[r][1] * w[s][1];
            }
        }
        let groups = regroup(&products, vec![0; 5], 2).unwrap();
        assert!(groups[0] == groups[2] && groups[2] == groups[4] && groups[1] == groups[3]);
        assert_ne!(groups[0], groups[1]);
    }
}
