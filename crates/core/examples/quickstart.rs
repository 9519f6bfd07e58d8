//! A tour of kinfolk in one file: `cargo run --release --example quickstart`, with `-- 7` at the end for
//! another seed.
//!
//! Twenty regression tasks have a few noisy rows each. Eighteen come in three groups of kin, two are related
//! to nobody, and the learner is not told which is which. We compare
//!
//! - every task for itself,
//! - all tasks leaning on their common mean,
//! - kinfolk, which learns *how* the tasks are related (the task matrix Theta) together with the tasks
//!   themselves,
//! - and, to see what there was to gain, a learner that is told the true groups.
//!
//! All of them are the same convex problem with different output regularisers, go through the same solver,
//! and come with a certificate: a proven bound on how far from optimal the model is.

#![allow(clippy::print_stdout)]

use kinfolk::inputs::Dense;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Inputs, Intercept, LossKind, Matrix, Model, Observations, Problem,
    ProblemSpec, RegularizerKind, Result, Settings, TaskNames, Weights, certify, fit,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

const TASKS: [&str; 20] = [
    "A1", "A2", "A3", "A4", "A5", "A6", "B1", "B2", "B3", "B4", "B5", "B6", "C1", "C2", "C3", "C4", "C5",
    "C6", "X", "Y",
];
/// The truth to be found: the group of each task.
const GROUPS: [usize; 20] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 4];
const N_GROUPS: usize = 5;
const FEATURES: usize = 30;
/// Rows of each task to fit on and to choose C on: together fewer than the features, so no task gets far
/// alone.
const FIT_ROWS: usize = 14;
const HELD_OUT_ROWS: usize = 6;
const TEST_ROWS: usize = 500;
/// Size of the noise in the labels, and of what a task has for itself; the signal has size 1.
const NOISE: f64 = 0.3;
const OWN: f64 = 0.2;

/// The weights of the losses to choose from: small is cautious, large trusts the rows.
const C_VALUES: [f64; 8] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(0), |text| text.parse())?;
    let world = World::new(seed);
    println!(
        "{} tasks, {FEATURES} features, {} training rows per task, seed {seed}\n",
        TASKS.len(),
        FIT_ROWS + HELD_OUT_ROWS
    );

    print_header();
    let mut results = vec![];
    for method in methods() {
        let result = choose_and_fit(method, &world)?;
        print_row(&result, &world)?;
        results.push(result);
    }
    println!("\ntest R2: the noise leaves {:.2} to be explained", 1.0 / (1.0 + NOISE * NOISE));
    println!("rel. gap and passes: of the final fit; seconds: for choosing C and the final fit");

    // Which kinfolk model would we hand out? The test rows have no say in that.
    let learned = results.iter().filter(|result| result.method.learns_theta);
    let best = learned.min_by(|a, b| a.held_out_error.total_cmp(&b.held_out_error)).expect("four of them");
    println!("\nSmallest held-out error among the four: {}.", best.method.name);
    print_certificate(&best.fit.model, &world)?;
    print_groups(&best.fit.model);
    print_picture(&best.fit.model);
    Ok(())
}

// What is compared.

/// A name, and the problems among which the held-out rows choose (each for all values of C).
struct Contender {
    name: String,
    learns_theta: bool,
    candidates: Vec<ProblemSpec>,
}

fn methods() -> Vec<Contender> {
    let same = |r, s| f64::from(r == s);
    let kin = |r: usize, s: usize| f64::from(GROUPS[r] == GROUPS[s]);
    // Every task is a part shared with others plus a part of its own; `share` is the weight of the first. The
    // diagonal stays 1, so that C means the same as for tasks alone.
    let shares = [0.1, 0.5, 0.9];

    let alone = vec![spec(fixed(same), 1.0)];
    let mean = shares.map(|share| spec(fixed(|r, s| share + (1.0 - share) * same(r, s)), 1.0));
    let told = shares.map(|share| spec(fixed(|r, s| share * kin(r, s) + (1.0 - share) * same(r, s)), 1.0));
    // Larger k asks for a sparser Theta: of faint relations, all there is to see in so few rows, it keeps
    // less. For the power family lambda is no more than another scale for C; for exp it is a choice of its
    // own.
    let power = |k| vec![spec(RegularizerKind::Power { k }, 1.0)];
    let exp = [1.0, 10.0, 100.0].map(|lambda| spec(RegularizerKind::Exp { prior: None }, lambda));

    let method =
        |name: &str, learns_theta, candidates| Contender { name: name.into(), learns_theta, candidates };
    vec![
        method("each task alone", false, alone),
        method("common mean", false, mean.into()),
        method("kinfolk k = 1", true, power(1)),
        method("kinfolk k = 2", true, power(2)),
        method("kinfolk k = 4", true, power(4)),
        method("kinfolk exp", true, exp.into()),
        method("(told the groups)", false, told.into()),
    ]
}

fn spec(output: RegularizerKind, lambda: f64) -> ProblemSpec {
    ProblemSpec {
        loss: LossKind::Squared.into(),
        output,
        c: 1.0,
        lambda,
        atoms: vec![],
        intercept: Intercept::None,
    }
}

/// A task matrix that is given, not learned.
fn fixed(entry: impl Fn(usize, usize) -> f64) -> RegularizerKind {
    let row = |r| (0..TASKS.len()).map(|s| entry(r, s)).collect();
    RegularizerKind::Fixed { theta: (0..TASKS.len()).map(row).collect() }
}

// Fitting.

struct Outcome {
    method: Contender,
    held_out_error: f64,
    fit: Fit,
    seconds: f64,
}

fn choose_and_fit(method: Contender, world: &World) -> Result<Outcome> {
    let start = Instant::now();
    let (spec, held_out_error) = choose(&method.candidates, world)?;
    let fit = fit_all_rows(spec, world)?;
    Ok(Outcome { method, held_out_error, fit, seconds: start.elapsed().as_secs_f64() })
}

/// The problem whose model has the smallest error on held-out rows, with that error.
fn choose(candidates: &[ProblemSpec], world: &World) -> Result<(ProblemSpec, f64)> {
    let (inputs, observations) = (world.fit_rows.inputs()?, world.fit_rows.observations()?);
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
    let mut best = (candidates[0].clone(), f64::INFINITY);
    for spec in candidates {
        // Every fit starts from the one before. The default tolerance, a relative gap of 1e-3, is enough for
        // a choice.
        let weights = C_VALUES.map(|c| Weights { c, lambda: spec.lambda });
        for fit in Fitter::new(&Settings::default()).path(&data, spec, &weights)? {
            let error = mean_squared_error(&fit.model, &world.held_out_rows)?;
            if error < best.1 {
                best = (fit.model.about().problem.clone(), error);
            }
        }
    }
    Ok(best)
}

/// The final model: all training rows, and a gap that leaves no doubt.
fn fit_all_rows(spec: ProblemSpec, world: &World) -> Result<Fit> {
    let (inputs, observations) = (world.train_rows.inputs()?, world.train_rows.observations()?);
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
    let problem = Problem::new(&data, spec)?;
    fit(&problem, &Settings { tolerance: 1e-6, ..Settings::default() })
}

// Scores.

fn mean_squared_error(model: &Model, rows: &Rows) -> Result<f64> {
    let predictions = model.predict(&rows.inputs()?, &rows.tasks)?;
    let squares = predictions.iter().zip(&rows.labels).map(|(z, y)| (y - z).powi(2));
    Ok(squares.sum::<f64>() / rows.labels.len() as f64)
}

/// Explained variance, `1 - (squared error) / (squared deviation from the task's mean)`, averaged over the
/// tasks.
fn mean_r2(model: &Model, rows: &Rows) -> Result<f64> {
    let predictions = model.predict(&rows.inputs()?, &rows.tasks)?;
    let r2_of = |task: usize| {
        let of_task = || (0..predictions.len()).filter(|&i| rows.tasks[i] as usize == task);
        let mean = of_task().map(|i| rows.labels[i]).sum::<f64>() / of_task().count() as f64;
        let error: f64 = of_task().map(|i| (rows.labels[i] - predictions[i]).powi(2)).sum();
        let deviation: f64 = of_task().map(|i| (rows.labels[i] - mean).powi(2)).sum();
        1.0 - error / deviation
    };
    Ok((0..TASKS.len()).map(r2_of).sum::<f64>() / TASKS.len() as f64)
}

/// Joins the two clusters with the largest average correlation until `n_clusters` are left.
fn cluster(correlation: &Matrix, n_clusters: usize) -> Vec<Vec<usize>> {
    let average = |a: &[usize], b: &[usize]| {
        let pairs = a.iter().flat_map(|&r| b.iter().map(move |&s| (r, s)));
        pairs.map(|pair| correlation[pair]).sum::<f64>() / (a.len() * b.len()) as f64
    };
    let mut clusters: Vec<Vec<usize>> = (0..correlation.rows()).map(|t| vec![t]).collect();
    while clusters.len() > n_clusters {
        let pairs = (0..clusters.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let likeness = |&(a, b): &(usize, usize)| average(&clusters[a], &clusters[b]);
        let (a, b) = pairs.max_by(|p, q| likeness(p).total_cmp(&likeness(q))).expect("two clusters or more");
        let joined = clusters.swap_remove(b);
        clusters[a].extend(joined);
    }
    clusters.iter_mut().for_each(|cluster| cluster.sort_unstable());
    clusters.sort_unstable();
    clusters
}

/// How well clusters agree with the true groups: the adjusted Rand index, 1 if they are the same, about 0 by
/// chance.
fn agreement(clusters: &[Vec<usize>]) -> f64 {
    let cluster_of = |t: usize| clusters.iter().position(|cluster| cluster.contains(&t));
    let (mut in_group, mut in_cluster, mut in_both) = (0.0, 0.0, 0.0);
    for (r, s) in pairs() {
        let (group, cluster) = (GROUPS[r] == GROUPS[s], cluster_of(r) == cluster_of(s));
        in_group += f64::from(group);
        in_cluster += f64::from(cluster);
        in_both += f64::from(group && cluster);
    }
    let by_chance = in_group * in_cluster / pairs().count() as f64;
    (in_both - by_chance) / (0.5 * (in_group + in_cluster) - by_chance)
}

/// Every pair of different tasks, once.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..TASKS.len()).flat_map(|r| (0..r).map(move |s| (r, s)))
}

// Printing.

fn print_header() {
    println!("method               C   held-out error   test R2   rel. gap   solver   passes   seconds");
}

fn print_row(result: &Outcome, world: &World) -> Result<()> {
    let Outcome { method, held_out_error, fit, seconds } = result;
    println!(
        "{:17} {:>4} {held_out_error:16.3} {:9.3} {:10.0e}   {:6} {:8} {seconds:9.2}",
        method.name,
        fit.model.about().problem.c,
        mean_r2(&fit.model, &world.test_rows)?,
        fit.certificate().rel_gap(),
        fit.solver,
        fit.passes,
    );
    Ok(())
}

/// The certificate needs no trust in the solver: it follows from the data and the duals, so we compute it
/// again.
fn print_certificate(model: &Model, world: &World) -> Result<()> {
    let (inputs, observations) = (world.train_rows.inputs()?, world.train_rows.observations()?);
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
    let problem = Problem::new(&data, model.about().problem.clone())?;
    let certificate = certify(&problem, model.alpha().expect("kept by fit"), model.v())?;
    println!("\nIts certificate, recomputed from the data and the duals:");
    println!("  no model can have an objective below {:.6};", certificate.dual);
    println!("  this one has                         {:.6}.", certificate.primal);
    Ok(())
}

fn print_groups(model: &Model) {
    let correlation = model.correlation();
    let average = |kin: bool| {
        let chosen: Vec<f64> =
            pairs().filter(|&(r, s)| (GROUPS[r] == GROUPS[s]) == kin).map(|pair| correlation[pair]).collect();
        chosen.iter().sum::<f64>() / chosen.len() as f64
    };
    let clusters = cluster(&correlation, N_GROUPS);
    println!(
        "\nIts Theta as correlations: {:.2} on average between kin, {:.2} else.",
        average(true),
        average(false)
    );
    println!(
        "Cut into as many clusters as there are groups (adjusted Rand index {:.2}; 1 = the truth):",
        agreement(&clusters)
    );
    for cluster in clusters {
        let names: Vec<String> = cluster.iter().map(|&t| model.tasks().name(t)).collect();
        println!("  {}", names.join(" "));
    }
}

/// One character per pair of tasks, twice as wide as high so that the picture is square.
fn print_picture(model: &Model) {
    const SHADES: &[u8; 10] = b" .:-=+*#%@";
    let correlation = model.correlation();
    // Most pairs are not kin, so what is at the median or below it counts as unrelated.
    let mut sorted: Vec<f64> = pairs().map(|pair| correlation[pair]).collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    println!(
        "\nThe same, pair by pair, from the median {low:.2} or less (blank) to {high:.2} or more (@):\n"
    );
    for r in 0..TASKS.len() {
        let shade = |s: usize| {
            let height = (correlation[(r, s)] - low) / (high - low) * (SHADES.len() - 1) as f64;
            char::from(SHADES[(height.max(0.0).round() as usize).min(SHADES.len() - 1)])
        };
        let line: String = (0..TASKS.len()).flat_map(|s| [shade(s); 2]).collect();
        println!("  {:3}|{line}|", TASKS[r]);
    }
}

// Data.

/// Rows of all tasks, one below the other: inputs (row-major), the task of each row, and its label.
#[derive(Default)]
struct Rows {
    x: Vec<f64>,
    tasks: Vec<u32>,
    labels: Vec<f64>,
}

impl Rows {
    /// The inputs as kinfolk sees them: borrowed, not copied.
    fn inputs(&self) -> Result<Inputs<'_>> {
        Ok(Dense::f64(&self.x, self.tasks.len(), FEATURES)?.into())
    }

    /// Which row carries which label for which task.
    fn observations(&self) -> Result<Observations> {
        let names = TaskNames::Strings(TASKS.map(String::from).to_vec());
        Observations::multi_task(&self.tasks, self.labels.clone())?.with_task_names(names)
    }

    fn extend(&mut self, other: &Rows) {
        self.x.extend(&other.x);
        self.tasks.extend(&other.tasks);
        self.labels.extend(&other.labels);
    }
}

struct World {
    fit_rows: Rows,
    held_out_rows: Rows,
    /// Both of the above.
    train_rows: Rows,
    test_rows: Rows,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let weights = true_weights(&mut rng);
        let mut rows = |n| sample(&weights, n, &mut rng);
        let (fit_rows, held_out_rows, test_rows) = (rows(FIT_ROWS), rows(HELD_OUT_ROWS), rows(TEST_ROWS));
        let mut train_rows = Rows::default();
        train_rows.extend(&fit_rows);
        train_rows.extend(&held_out_rows);
        World { fit_rows, held_out_rows, train_rows, test_rows }
    }
}

/// A direction for each group, and close to it the weights of its tasks.
fn true_weights(rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let centres: Vec<Vec<f64>> = (0..N_GROUPS).map(|_| unit(normals(FEATURES, rng))).collect();
    let near = |centre: &Vec<f64>, rng: &mut ChaCha8Rng| {
        let own = unit(normals(FEATURES, rng));
        unit(centre.iter().zip(own).map(|(c, o)| c + OWN * o).collect())
    };
    GROUPS.iter().map(|&group| near(&centres[group], rng)).collect()
}

/// `n` rows for every task: `y = <w, x> + noise`.
fn sample(weights: &[Vec<f64>], n: usize, rng: &mut ChaCha8Rng) -> Rows {
    let mut rows = Rows::default();
    for (task, w) in weights.iter().enumerate() {
        for _ in 0..n {
            let x = normals(FEATURES, rng);
            let signal: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            rows.labels.push(signal + NOISE * normal(rng));
            rows.tasks.push(task as u32);
            rows.x.extend(x);
        }
    }
    rows
}

fn normals(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

/// A normally distributed number (Box-Muller).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Scaled to length 1.
fn unit(mut v: Vec<f64>) -> Vec<f64> {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.iter_mut().for_each(|x| *x /= length);
    v
}
