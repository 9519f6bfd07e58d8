//! How many questions Newton's method takes about rows that are elsewhere, with a preconditioner from some of them.
//!
//! `sampled_newton FIRST LAST` draws problems with these seeds and prints a line of JSON for each: products with second
//! derivatives and evaluations of losses, of Newton's method in memory, of rows that are asked with a preconditioner
//! from all of them, and with one from a fixed sample. All three begin at the solution for the sample.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::rows::{Question, ResidentRows, Rows, RowsSetting};
use kinfolk::solver::newton_work_so_far;
use kinfolk::{
    CScale, Dataset, DatasetOptions, Error, Intercept, LossKind, Losses, Observations, Problem, ProblemSpec,
    RegularizerKind, Result, Scaling, ScalingKind, Settings, Silent, SolverKind, Statistics,
    StatisticsOptions, Status, fit, fit_rows,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    fn count(&mut self, low: usize, high: usize) -> usize {
        self.between((low as f64).ln(), (high as f64 + 1.0).ln()).exp() as usize
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next() as usize % all.len()].clone()
    }
}

/// A problem, and what it is.
struct Drawn {
    inputs: Inputs<'static>,
    labels: Observations,
    loss: LossKind,
    output: RegularizerKind,
    strength: f64,
    about: Value,
}

fn draw(seed: u64) -> Drawn {
    let mut random = Draw(seed.wrapping_mul(0x1234_5678_9abc_def1));
    // Losses with kinks ask so much more that blocks are cheaper up to four times as many features.
    let losses = ["logistic", "squared_hinge", "huber:0.5"];
    let loss: LossKind = random.one_of(&losses).parse().unwrap();
    let shared = random.uniform() < 0.5;
    // So many features that a question for each product costs less than blocks of all tasks.
    let (tasks, d) = match shared {
        true => (random.count(12, 20), random.count(120, 160)),
        false => (random.count(3, 5), random.count(395, 430)),
    };
    let n = random.count(2000, 3000);
    let decay = random.between(0.0, 1.2);
    // Three reflections turn the axes.
    let mirrors: Vec<Vec<f64>> = (0..3)
        .map(|_| {
            let axis: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            axis.into_iter().map(|x| x / length).collect()
        })
        .collect();
    let mut x = Vec::with_capacity(n * d);
    for _ in 0..n {
        let mut row: Vec<f64> = (0..d).map(|j| random.normal() * (1.0 + j as f64).powf(-decay)).collect();
        for axis in &mirrors {
            let along: f64 = 2.0 * row.iter().zip(axis).map(|(x, a)| x * a).sum::<f64>();
            row.iter_mut().zip(axis).for_each(|(x, a)| *x -= along * a);
        }
        x.extend(row);
    }
    let common: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let own: Vec<f64> = (0..tasks * d).map(|_| 0.7 * random.normal()).collect();
    let score =
        |i: usize, t: usize| -> f64 { (0..d).map(|j| x[i * d + j] * (common[j] + own[t * d + j])).sum() };
    let spread = ((0..200).map(|i| score(i, 0).powi(2)).sum::<f64>() / 200.0).sqrt();
    let noise = random.between(0.2, 1.5);
    let (mut row, mut task, mut label) = (vec![], vec![], vec![]);
    for i in 0..n {
        for t in if shared { 0..tasks } else { i % tasks..i % tasks + 1 } {
            let y = score(i, t) / spread + noise * random.normal();
            row.push(i as u32);
            task.push(t as u32);
            label.push(if loss.is_classification() { if y < 0.3 { -1.0 } else { 1.0 } } else { y });
        }
    }
    let output = RegularizerKind::Power { k: random.one_of(&[1, 2, 4]) };
    let strength = random.one_of(&[0.1, 1.0, 10.0, 100.0]);
    let about = json!({
        "seed": seed, "loss": loss.to_string(), "shared": shared, "tasks": tasks, "rows": n, "features": d,
        "decay": decay, "noise": noise, "output": output.to_string(), "strength": strength,
    });
    let labels = Observations::from_triples(n, tasks, row, task, label).unwrap();
    Drawn { inputs: Dense::f64_owned(x, n, d).unwrap().into(), labels, loss, output, strength, about }
}

/// Rows in memory whose questions are counted by their names.
struct Counted<'a>(ResidentRows<'a>, Mutex<BTreeMap<&'static str, usize>>);

impl Rows for Counted<'_> {
    fn begin(&self, setting: &RowsSetting) -> Result<()> {
        self.0.begin(setting)
    }

    fn ask(&self, question: &Question) -> Result<Vec<f64>> {
        *self.1.lock().unwrap().entry(question.name()).or_default() += 1;
        self.0.ask(question)
    }

    fn reads_again(&self) -> bool {
        false
    }
}

const TOLERANCE: f64 = 1e-6;
const SAMPLE_ROWS: usize = 600;

fn compare(drawn: &Drawn) -> Result<Value> {
    let Drawn { inputs, labels, loss, .. } = drawn;
    let options = DatasetOptions::default();
    let mut statistics =
        Statistics::new(&StatisticsOptions { sample_rows: SAMPLE_ROWS, ..StatisticsOptions::default() });
    statistics.update(inputs, labels)?;
    let scaling = statistics.scaling(ScalingKind::Standard)?;
    let scaled = Scaling::apply(&scaling, inputs)?;
    let all = Dataset::new(&scaled, labels, options.clone())?;
    let losses: Losses = loss.clone().into();
    let scale = CScale::new(&all, &losses, Intercept::Free)?;
    let weights = scale.weights(&drawn.output, None, drawn.strength)?;
    let spec = ProblemSpec {
        loss: losses,
        output: drawn.output.clone(),
        c: weights.c,
        lambda: weights.lambda,
        intercept: Intercept::Free,
        ..ProblemSpec::default()
    };
    let (some, some_labels) = statistics.stand_in(&scaling, None)?.unwrap();
    let sample = Dataset::new(&some, &some_labels, options)?;
    let (of_all, of_some) = (Problem::new(&all, spec.clone())?, Problem::new(&sample, spec)?);
    let settings = |tolerance: f64| Settings { tolerance, max_passes: 2000, ..Settings::default() };
    let mut start = fit(&of_some, &settings(1e-3))?.model;
    start.set_scaling(scaling)?;
    let mut said = json!({});
    let (before, began) = (newton_work_so_far(), Instant::now());
    let memory = fit(&of_all, &Settings { solver: SolverKind::Newton, ..settings(TOLERANCE) })?;
    let after = newton_work_so_far();
    said["memory"] = json!({
        "products": after[0] - before[0], "looks": after[1] - before[1],
        "certified": memory.status() == Status::Certified, "seconds": began.elapsed().as_secs_f64(),
    });
    for (name, problem) in [("all", &of_all), ("sample", &of_some)] {
        let rows = Counted(ResidentRows::new(vec![(inputs, labels)], 0), Mutex::default());
        let began = Instant::now();
        // A start that is known by the duals of the sample does not suit other rows.
        let found = match fit_rows(problem, &start, &statistics, &rows, &settings(TOLERANCE), &mut Silent) {
            Err(Error::Incompatible(_)) if name == "all" => continue,
            found => found?,
        };
        said[name] = json!({
            "questions": *rows.1.lock().unwrap(), "certified": found.status() == Status::Certified,
            "gap": found.certificate().rel_gap(), "seconds": began.elapsed().as_secs_f64(),
        });
    }
    Ok(said)
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [first, last] = numbers[..] else {
        println!("sampled_newton FIRST LAST: seeds of problems");
        return;
    };
    for seed in first..=last {
        let drawn = draw(seed);
        let said = compare(&drawn).unwrap_or_else(|error| json!({"error": error.to_string()}));
        println!("{}", json!({"problem": drawn.about, "found": said}));
    }
}
