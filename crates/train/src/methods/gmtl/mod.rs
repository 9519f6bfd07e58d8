//! With whom to share: groups of tasks, each with a low-dimensional subspace of its own, Kang, Grauman and Sha.

mod initial_groups;
mod reassign;

use crate::method::duals;
use crate::observer::{SearchObserver, after_search};
use crate::params::Allowed;
use crate::{Claim, FitRequest, Job, Method, MethodInfo, Param, Params, Result, Weight};
use kinfolk::{
    Fit, Fitter, Flow, Matrix, Observer, Problem, ProblemSpec, RegularizerKind, Settings, Weights,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::time::Instant;

/// How groups are improved, from the inner products of the tasks' functions, the groups that these were
/// fitted with, the number of groups at most and a source of random numbers.
pub type Regroup = fn(&Matrix, &[u32], u32, &mut ChaCha8Rng) -> Result<Vec<u32>>;

/// Groups and their subspaces. Not convex in the groups; given them, it is.
#[derive(Debug)]
pub struct Gmtl {
    /// What it is.
    pub info: MethodInfo,
    /// The step between two fits.
    pub regroup: Regroup,
}

/// Groups that single tasks move between.
pub const GMTL: Gmtl = Gmtl {
    info: MethodInfo {
        name: "gmtl",
        title: "groups of tasks with subspaces of their own",
        learns: "groups, and within each a task matrix of trace one",
        reference: "Kang, Grauman and Sha, Learning with whom to share in multi-task feature learning, ICML 2011",
        problem: "min C sum_i L + sum_g |W_g|_*^2 / 2 over W and partitions of the tasks into groups g: \
                  squared trace norms",
        params: PARAMS,
        cost: "that of mtrl for each round of each restart, and G T^2 small eigenvalue problems between rounds",
        is_resumable: false,
        ..MethodInfo::DEFAULTS
    },
    regroup: |products, groups, most, _| reassign::regroup(products, groups.to_vec(), most),
};

const PARAMS: &[Param] = &[
    Param {
        name: "groups",
        meaning: "how many; more always cost less, and as many as tasks, or more, share nothing",
        allowed: Allowed::Integer(1, u32::MAX),
        default: "3",
        grid: &["1", "3", "1000000"],
        only_with: None,
    },
    Param {
        name: "restarts",
        meaning: "first guesses of the groups: those alike when all are one group, those alike when each is \
                  alone, one group, then at random",
        allowed: Allowed::Integer(1, 1000),
        default: "8",
        grid: &["3"],
        only_with: None,
    },
];

/// While groups are looked for, fits need not be better than this.
const SEARCH_TOLERANCE: f64 = 1e-2;
/// Rounds of a restart at most, and the relative fall of the objective at which it ends.
const MAX_ROUNDS: usize = 20;
const FALL: f64 = 1e-4;

impl Method for Gmtl {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn claim(&self, _: &Params) -> Claim {
        Claim::Given("the groups".into())
    }

    fn weights(&self, job: &Job<'_>, params: &Params, weight: Weight) -> Result<Weights> {
        let groups = even_groups(job.data.observations().n_tasks(), params.integer("groups")?);
        job.with_lambda(1.0).weights(&output(groups), weight)
    }

    fn solve(&self, request: &FitRequest<'_>, observer: &mut dyn Observer) -> Result<Fit> {
        let FitRequest { job, params, weight, start } = *request;
        let Weights { c, .. } = self.weights(job, params, weight)?;
        let t = job.data.observations().n_tasks();
        let most = params.integer("groups")?.min(t as u32);
        // All in one, or each alone: there is nothing to look for.
        if most == 1 || most == t as u32 {
            return fit_groups(job, c, even_groups(t, most), job.settings.tolerance, duals(start), observer);
        }
        let mut random = ChaCha8Rng::seed_from_u64(job.settings.seed);
        let mut best: Option<(Vec<u32>, Fit)> = None;
        let began = Instant::now();
        let mut searching = SearchObserver::new(&mut *observer, job.settings.max_time);
        for restart in 0..params.integer("restarts")? {
            let start = guess(job, c, restart, most, &mut random, &mut searching)?;
            let found = search(
                job,
                c,
                start,
                &mut |fit, groups| (self.regroup)(&fit.products, groups, most, &mut random),
                &mut searching,
            )?;
            let better = |fit: &Fit| found.1.certificate().primal < fit.certificate().primal;
            if best.as_ref().is_none_or(|(_, fit)| better(fit)) {
                best = Some(found);
            }
            if searching.poll() == Flow::Stop {
                break;
            }
        }
        let Some((groups, rough)) = best else { unreachable!("there is at least one restart") };
        let settings = after_search(job.settings, began);
        let job = Job { settings: &settings, ..*job };
        fit_groups(&job, c, groups, settings.tolerance, rough.model.alpha(), observer)
    }
}

/// A group of one task has nothing to learn, and if all are so, neither has the method.
fn output(groups: Vec<u32>) -> RegularizerKind {
    let different: BTreeSet<u32> = groups.iter().copied().collect();
    if different.len() == groups.len() {
        return RegularizerKind::independent(groups.len());
    }
    RegularizerKind::Relationship { l1: 0.0, l2: 1.0, groups: Some(groups) }
}

/// Where a restart begins: with tasks that are alike if all are one group, with tasks that are alike if each
/// is alone, with one group, then at random. Weights bend to the groups they are fitted with, and moves of
/// single tasks do not lead far away from these.
fn guess(
    job: &Job<'_>,
    c: f64,
    restart: u32,
    most: u32,
    random: &mut ChaCha8Rng,
    observer: &mut dyn Observer,
) -> Result<Vec<u32>> {
    let t = job.data.observations().n_tasks() as u32;
    let seen_from = match restart {
        0 => vec![0; t as usize],
        1 => (0..t).collect(),
        2 => return Ok(vec![0; t as usize]),
        _ => return Ok((0..t).map(|_| random.random_range(0..most)).collect()),
    };
    let fit = fit_groups(job, c, seen_from, SEARCH_TOLERANCE.max(job.settings.tolerance), None, observer)?;
    Ok(initial_groups::groups(&fit.products, most))
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
    let spec = ProblemSpec {
        loss: job.loss.clone(),
        output: output(groups),
        c,
        lambda: 1.0,
        atoms: vec![],
        intercept: job.intercept,
    };
    let problem = Problem::new(job.data, spec)?;
    let settings = Settings { tolerance, ..job.settings.clone() };
    Ok(Fitter::new(&settings).warm(alpha).observer(observer).fit(&problem)?)
}

/// New groups for a fit and its groups.
type NextGroups<'a> = dyn FnMut(&Fit, &[u32]) -> Result<Vec<u32>> + 'a;

/// Fits weights and groups in turn, starting from some groups. The objective never rises.
fn search(
    job: &Job<'_>,
    c: f64,
    mut groups: Vec<u32>,
    regroup: &mut NextGroups<'_>,
    observer: &mut dyn Observer,
) -> Result<(Vec<u32>, Fit)> {
    let rough = SEARCH_TOLERANCE.max(job.settings.tolerance);
    let mut fit = fit_groups(job, c, groups.clone(), rough, None, observer)?;
    for _ in 0..MAX_ROUNDS {
        let moved = regroup(&fit, &groups)?;
        if moved == groups || observer.poll() == Flow::Stop {
            break;
        }
        let next = fit_groups(job, c, moved.clone(), rough, fit.model.alpha(), observer)?;
        let fall = fit.certificate().primal - next.certificate().primal;
        if fall > 0.0 {
            (groups, fit) = (moved, next);
        }
        if fall <= FALL * fit.certificate().primal {
            break;
        }
    }
    Ok((groups, fit))
}
