//! What free intercepts cost on random problems: processor time without intercepts and with free ones, in turns.
//!
//! `cargo bench -p kinfolk --bench random_intercepts -- SEED [NUMBER [THREADS]]` draws problems of every kind: own or
//! shared rows, 1 to 100 tasks, inputs with and without a mean, balanced and unbalanced classes, all losses of the
//! solver benchmark, k = 1, 2, 4, and C from 1e-4 to 1e4 times the middle. One line of JSON for each, then the medians.

#![allow(clippy::print_stdout, missing_docs)]

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Fit, Intercept, LossKind, Observations, Problem, ProblemSpec,
    RegularizerKind, Result, Settings, fit,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::time::{Duration, Instant};

/// Seconds that a fit may take.
const CAP_SECONDS: f64 = 20.0;
/// A fit is repeated until both kinds took this long together.
const LONG_SECONDS: f64 = 0.3;
const MAX_REPEATS: usize = 7;

struct RandomProblem {
    x: Vec<f64>,
    features: usize,
    observations: Observations,
    loss: LossKind,
    k: u32,
    /// C over the middle of its range.
    factor: f64,
    about: String,
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())]
}

/// The sum of four uniform numbers, of variance one.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>() * 3f64.sqrt()
}

impl RandomProblem {
    fn draw(rng: &mut ChaCha8Rng) -> Result<Self> {
        let losses = ["squared", "logistic", "hinge", "squared_hinge", "epsilon:0.1"];
        let loss: LossKind = pick(rng, &losses).parse()?;
        let (shared, tasks) = (rng.random_bool(0.5), pick(rng, &[1, 2, 5, 10, 30, 100]));
        let features = pick(rng, &[3, 10, 40, 150]);
        let rows_of_task = pick(rng, &[8, 30, 100, 300]);
        let rows = if shared { rows_of_task * tasks.min(10) } else { rows_of_task * tasks };
        let (mean, share, k) = (pick(rng, &[0.0, 1.0]), pick(rng, &[0.5, 0.2, 0.03]), pick(rng, &[1, 2, 4]));
        let factor = 10f64.powf(rng.random_range(-4.0..4.0));
        let centre: Vec<f64> = (0..features).map(|_| mean * normal(rng)).collect();
        let x: Vec<f64> = (0..rows * features).map(|i| centre[i % features] + normal(rng)).collect();
        let common: Vec<f64> = (0..features).map(|_| normal(rng)).collect();
        let weights: Vec<f64> =
            (0..tasks * features).map(|i| common[i % features] + 0.5 * normal(rng)).collect();
        // Numbers far from zero, or classes of which one is rare.
        let level: Vec<f64> = (0..tasks).map(|_| 3.0 * normal(rng)).collect();
        let size = (features as f64).sqrt();
        let cut = 1.5 * quantile(1.0 - share);
        let mut label = |row: usize, task: usize| {
            let x = &x[row * features..(row + 1) * features];
            let w = &weights[task * features..(task + 1) * features];
            let along: f64 = x.iter().zip(w).zip(&centre).map(|((x, w), c)| (x - c) * w).sum();
            let z = along / size + normal(rng);
            match loss.is_classification() {
                true if z > cut => 1.0,
                true => -1.0,
                false => level[task] + z,
            }
        };
        let observations = if shared {
            let table: Vec<f64> = (0..rows * tasks).map(|i| label(i / tasks, i % tasks)).collect();
            Observations::multi_output(&table, rows, tasks)?
        } else {
            let task: Vec<u32> = (0..rows).map(|i| (i % tasks) as u32).collect();
            let labels = (0..rows).map(|i| label(i, i % tasks)).collect();
            Observations::multi_task(&task, labels)?
        };
        let about = format!(
            "{} rows={rows} d={features} T={tasks} {loss} k={k} C={factor:.1e} share={share} mean={mean}",
            if shared { "shared" } else { "own" }
        );
        Ok(RandomProblem { x, features, observations, loss, k, factor, about })
    }

    fn fit(&self, intercept: Intercept, threads: usize) -> Result<(Fit, f64)> {
        let (began, before) = (Instant::now(), cpu_seconds());
        let inputs: Inputs<'_> = Dense::f64(&self.x, self.x.len() / self.features, self.features)?.into();
        let options = DatasetOptions { threads, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &self.observations, options)?;
        let output = RegularizerKind::Power { k: self.k };
        // The same C for both kinds: that of fits with intercepts.
        let scale = CScale::new(&data, &self.loss.clone().into(), Intercept::Free)?;
        let weights = scale.weights(&output, None, CScale::MIDDLE)?;
        let spec = ProblemSpec {
            loss: self.loss.clone().into(),
            output,
            c: weights.c * self.factor,
            lambda: weights.lambda,
            atoms: vec![],
            intercept,
        };
        let settings = Settings {
            tolerance: 1e-6,
            max_passes: usize::MAX,
            max_time: Some(Duration::from_secs_f64(CAP_SECONDS)),
            ..Settings::default()
        };
        let fit = fit(&Problem::new(&data, spec)?, &settings)?;
        let took = began.elapsed().as_secs_f64();
        // Before the threads of the data set end.
        let cpu = cpu_seconds().zip(before).map(|(after, before)| after - before);
        Ok((fit, cpu.unwrap_or(took)))
    }
}

/// Processor time of all threads alive, where the system tells: other programs do not disturb it.
fn cpu_seconds() -> Option<f64> {
    let mut total = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        total += text.split(' ').next()?.parse::<f64>().ok()? * 1e-9;
    }
    Some(total)
}

/// Of the standard normal distribution, roughly.
fn quantile(share: f64) -> f64 {
    (share / (1.0 - share)).ln() / 1.7
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<()> {
    let numbers: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let (Some(&seed), number) = (numbers.first(), numbers.get(1).copied().unwrap_or(100)) else {
        println!("cargo bench -p kinfolk --bench random_intercepts -- SEED [NUMBER [THREADS]]");
        return Ok(());
    };
    let threads = numbers.get(2).copied().unwrap_or(1) as usize;
    let (mut ratios, mut unsolved) = (vec![], vec![0, 0]);
    for index in 0..number {
        let problem = RandomProblem::draw(&mut ChaCha8Rng::seed_from_u64(seed * 1_000_000 + index))?;
        let kinds = [Intercept::None, Intercept::Free];
        let (mut seconds, mut fits) = ([vec![], vec![]], vec![]);
        for round in 0..MAX_REPEATS {
            for (kind, seconds) in kinds.iter().zip(&mut seconds) {
                let (fit, took) = problem.fit(*kind, threads)?;
                seconds.push(took);
                if round == 0 {
                    fits.push(fit);
                }
            }
            if seconds.iter().flatten().sum::<f64>() > LONG_SECONDS {
                break;
            }
        }
        let solved: Vec<bool> = fits.iter().map(|fit| fit.certificate().rel_gap() <= 1e-6).collect();
        unsolved.iter_mut().zip(&solved).for_each(|(count, solved)| *count += usize::from(!solved));
        let [none, free] = seconds.map(median);
        if solved == [true, true] {
            ratios.push((problem.loss.to_string(), problem.factor, free / none));
        }
        let ran = |fit: &Fit| json!([fit.solver, fit.passes, fit.certificate().rel_gap(), fit.reason]);
        println!(
            "{}",
            json!({"problem": problem.about, "index": index, "ratio": free / none, "none": none, "free": free,
                   "solved": solved, "ran": fits.iter().map(ran).collect::<Vec<_>>()})
        );
    }
    println!("not solved: {} without intercepts, {} with free ones", unsolved[0], unsolved[1]);
    for loss in ["", "squared", "logistic", "hinge", "squared_hinge", "epsilon:0.1"] {
        for (low, high) in [(0.0, f64::INFINITY), (0.0, 1e-2), (1e-2, 1e2), (1e2, f64::INFINITY)] {
            let own =
                ratios.iter().filter(|(of, c, _)| (loss.is_empty() || of == loss) && (low..high).contains(c));
            let own: Vec<f64> = own.map(|(_, _, ratio)| *ratio).collect();
            let name = if loss.is_empty() { "all" } else { loss };
            println!(
                "{name:13} C {low:6.0e} to {high:6.0e}: {:3} problems, median ratio {:.2}",
                own.len(),
                median(own)
            );
        }
    }
    Ok(())
}
