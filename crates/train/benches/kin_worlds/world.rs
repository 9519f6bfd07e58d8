//! Random worlds: tasks with a common part, groups, both, or nothing in common.

use kinfolk::Observations;
use kinfolk::inputs::{Dense, Inputs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What tasks have in common.
pub(crate) const RELATIONS: [&str; 6] = ["common", "groups", "both", "none", "same", "factors"];

/// What labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers.
    Numbers,
    /// Two classes.
    Signs,
    /// One class of many for each row: one task for each class.
    Classes,
}

/// What a world is like.
#[derive(Debug, Clone)]
pub(crate) struct WorldSpec {
    pub relation: &'static str,
    pub kind: Kind,
    pub shared_rows: bool,
    pub n_tasks: usize,
    pub n_features: usize,
    /// Training rows of each task; for shared rows, of all tasks.
    pub n_rows: usize,
    /// Share of the variance of the labels that is noise.
    pub noise: f64,
    /// Whether the function is not linear.
    pub curved: bool,
    pub seed: u64,
}

/// Rows to train and to test on.
pub(crate) struct World {
    pub train: (Inputs<'static>, Observations),
    pub test: (Inputs<'static>, Observations),
    /// The group of each task.
    pub groups: Vec<u32>,
}

/// Test rows of each task, or of all.
const TEST_ROWS: usize = 100;
const TEST_ROWS_SHARED: usize = 1000;

/// A world of each kind in turn.
pub(crate) fn draw(seed: u64) -> WorldSpec {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let relation = RELATIONS[seed as usize % RELATIONS.len()];
    let kind = match rng.random_range(0..8) {
        0..4 => Kind::Numbers,
        4..7 => Kind::Signs,
        _ => Kind::Classes,
    };
    let shared_rows = kind == Kind::Classes || rng.random_bool(0.35);
    let n_tasks = [3, 5, 10, 30, 100][rng.random_range(0..5)];
    let n_features = [5, 10, 20, 50][rng.random_range(0..4)];
    let n_rows = match shared_rows {
        true => [20, 50, 100, 300][rng.random_range(0..4)],
        false => [4, 8, 15, 40, 100][rng.random_range(0..5)],
    };
    let noise = [0.1, 0.4, 0.7][rng.random_range(0..3)];
    let n_rows = if shared_rows { n_rows } else { n_rows.min(2000 / n_tasks).max(4) };
    let n_rows = if kind == Kind::Classes { n_rows.max(4 * n_tasks) } else { n_rows };
    WorldSpec { relation, kind, shared_rows, n_tasks, n_features, n_rows, noise, curved: false, seed }
}

pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random::<f64>().max(1e-300), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn normals(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

/// Coefficients of the tasks, and their groups.
fn coefficients(spec: &WorldSpec, rng: &mut ChaCha8Rng) -> (Vec<Vec<f64>>, Vec<u32>) {
    let (t, d) = (spec.n_tasks, spec.n_features);
    let n_groups = (t / 4).clamp(2, 6);
    let groups: Vec<u32> = (0..t).map(|_| rng.random_range(0..n_groups as u32)).collect();
    let common = normals(rng, d);
    let of_group: Vec<Vec<f64>> = (0..n_groups).map(|_| normals(rng, d)).collect();
    let factors: Vec<Vec<f64>> = (0..3).map(|_| normals(rng, d)).collect();
    // Shares of the squared norm: common part, part of the group, own part, factors.
    let [a, b, c, f]: [f64; 4] = match spec.relation {
        "common" => [0.8, 0.0, 0.2, 0.0],
        "groups" => [0.0, 0.8, 0.2, 0.0],
        "both" => [0.4, 0.4, 0.2, 0.0],
        "none" => [0.0, 0.0, 1.0, 0.0],
        "same" => [1.0, 0.0, 0.0, 0.0],
        _ => [0.0, 0.0, 0.1, 0.9],
    };
    let all = groups.iter().map(|&g| {
        let own = normals(rng, d);
        let mix: Vec<f64> = normals(rng, 3).iter().map(|x| x / 3f64.sqrt()).collect();
        let one = |j: usize| {
            let low: f64 = factors.iter().zip(&mix).map(|(factor, m)| factor[j] * m).sum();
            let sum = a.sqrt() * common[j] + b.sqrt() * of_group[g as usize][j] + c.sqrt() * own[j];
            (sum + f.sqrt() * low) / (d as f64).sqrt()
        };
        (0..d).map(one).collect()
    });
    (all.collect(), groups)
}

/// The value of a function of a row.
fn value(spec: &WorldSpec, x: &[f64], w: &[f64]) -> f64 {
    let bend = |x: f64| if spec.curved { 1.5 * (2.0 * x).sin() } else { x };
    x.iter().zip(w).map(|(x, w)| bend(*x) * w).sum()
}

pub(crate) fn build(spec: &WorldSpec) -> World {
    let mut rng = ChaCha8Rng::seed_from_u64(spec.seed ^ 0x9E37_79B9);
    let (w, groups) = coefficients(spec, &mut rng);
    let decay = [0.0, 0.5, 1.0][rng.random_range(0..3)];
    let shift: Vec<f64> = normals(&mut rng, spec.n_tasks);
    let mut part = |rows: usize| {
        let (d, t) = (spec.n_features, spec.n_tasks);
        let n = if spec.shared_rows { rows } else { rows * t };
        let mut x: Vec<f64> = vec![];
        for _ in 0..n {
            let row = (0..d).map(|j| normal(&mut rng) * ((j + 1) as f64).powf(-decay));
            x.extend(row.collect::<Vec<_>>());
        }
        let power: f64 = (0..d).map(|j| ((j + 1) as f64).powf(-2.0 * decay)).sum::<f64>() / d as f64;
        let (signal, noise) = ((1.0 - spec.noise).sqrt() / power.sqrt(), spec.noise.sqrt());
        let mut label = |i: usize, task: usize| {
            signal * value(spec, &x[i * d..(i + 1) * d], &w[task]) + noise * normal(&mut rng) + shift[task]
        };
        let observations = match (spec.kind, spec.shared_rows) {
            (Kind::Classes, _) => {
                let class = (0..n).map(|i| {
                    let scores: Vec<f64> = (0..t).map(|task| label(i, task) - 0.7 * shift[task]).collect();
                    (0..t).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0) as u32
                });
                Observations::multi_class(&class.collect::<Vec<u32>>(), t)
            }
            (kind, true) => {
                let y: Vec<f64> = (0..n * t).map(|o| label(o / t, o % t)).collect();
                Observations::multi_output(&of_kind(kind, y, &shift, |o| o % t), n, t)
            }
            (kind, false) => {
                let y: Vec<f64> = (0..n).map(|i| label(i, i % t)).collect();
                let task: Vec<u32> = (0..n).map(|i| (i % t) as u32).collect();
                Observations::multi_task(&task, of_kind(kind, y, &shift, |o| o % t))
            }
        };
        let inputs = Dense::f64_owned(x, n, d).expect("sizes fit").into();
        (inputs, observations.expect("labels are valid"))
    };
    let train = part(spec.n_rows);
    let test = part(if spec.shared_rows { TEST_ROWS_SHARED } else { TEST_ROWS });
    World { train, test, groups }
}

/// Signs around half of each task's shift, so that classes are not balanced.
fn of_kind(kind: Kind, y: Vec<f64>, shift: &[f64], task: impl Fn(usize) -> usize) -> Vec<f64> {
    match kind {
        Kind::Numbers => y,
        _ => y.iter().enumerate().map(|(o, y)| if *y > 0.5 * shift[task(o)] { 1.0 } else { -1.0 }).collect(),
    }
}
