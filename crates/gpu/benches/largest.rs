//! The paper's largest shape on a device: seconds of upload, fit and certificate, each apart. Run by `benches/gpu.py`,
//! which times cupy on the same shape and writes the record.
//!
//! `largest ROWS FEATURES TASKS REPEATS [cpu] [others]` prints JSON lines: of the squared loss, or of others.

#![allow(clippy::print_stdout, missing_docs)]

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Intercept, LossKind, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, certify, fit,
};
use std::time::Instant;

/// Pseudo-random numbers between -1 and 1, the sum of four uniform ones.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    }

    fn normal(&mut self) -> f32 {
        1.7 * (self.uniform() + self.uniform() + self.uniform() + self.uniform())
    }
}

/// Rows of unit length around the means of classes, no entry below zero, as embeddings of images are.
fn classes(rows: usize, features: usize, tasks: usize) -> (Inputs<'static>, Observations) {
    let mut random = Random(1);
    let means: Vec<f32> = (0..tasks * features).map(|_| random.normal()).collect();
    let labels: Vec<u32> = (0..rows).map(|i| (i % tasks) as u32).collect();
    let mut x = Vec::with_capacity(rows * features);
    for &label in &labels {
        let mean = &means[label as usize * features..(label as usize + 1) * features];
        let start = x.len();
        x.extend(mean.iter().map(|mean| (mean + 2.5 * random.normal()).max(0.0)));
        let length = x[start..].iter().map(|x| x * x).sum::<f32>().sqrt();
        x[start..].iter_mut().for_each(|x| *x /= length);
    }
    let inputs = Dense::f32_owned(x, rows, features).expect("as many numbers as said");
    (inputs.into(), Observations::multi_class(&labels, tasks).expect("labels in range"))
}

/// What is fitted: a loss, k, relative values of C and a tolerance.
struct Case {
    loss: LossKind,
    k: u32,
    relative: &'static [f64],
    tolerance: f64,
}

fn cases(losses: &str) -> Vec<Case> {
    let case = |loss, k, relative, tolerance| Case { loss, k, relative, tolerance };
    match losses {
        "squared" => vec![
            case(LossKind::Squared, 1, &[0.01, 0.1, 1.0, 10.0, 100.0, 1000.0], 1e-6),
            case(LossKind::Squared, 2, &[1.0, 10.0], 1e-6),
            case(LossKind::Squared, 4, &[1.0, 10.0], 1e-6),
        ],
        _ => [LossKind::Logistic, LossKind::SquaredHinge, LossKind::Hinge]
            .into_iter()
            .flat_map(|loss| [1e-3, 1e-6].map(|tolerance| case(loss.clone(), 1, &[1.0], tolerance)))
            .collect(),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [rows, features, tasks, repeats] = &args[..4.min(args.len())] else {
        println!("run benches/gpu.py instead");
        return;
    };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let (rows, features, tasks, repeats) = (number(rows), number(features), number(tasks), number(repeats));
    let on_cpu = args[4..].iter().any(|arg| arg == "cpu");
    let others = args[4..].iter().any(|arg| arg == "others");
    let (inputs, observations) = classes(rows, features, tasks);
    let started = Instant::now();
    let device = (!on_cpu).then(|| kinfolk_gpu::open(0, None).expect("a device"));
    println!("{{\"open_seconds\": {:.4}}}", started.elapsed().as_secs_f64());
    let options = || DatasetOptions { device: device.clone(), memory: 64 << 30, ..DatasetOptions::default() };
    let plain = Dataset::new(&inputs, &observations, DatasetOptions::default()).expect("a data set");
    for Case { loss, k, relative, tolerance } in cases(if others { "others" } else { "squared" }) {
        let scale = CScale::new(&plain, &loss.clone().into(), Intercept::Free).expect("a scale");
        let output = RegularizerKind::Power { k };
        for &relative in relative {
            let c = scale.weights(&output, None, relative).expect("weights").c;
            for _ in 0..repeats {
                // A new data set each time: nothing is kept from the fit before.
                let started = Instant::now();
                let data = Dataset::new(&inputs, &observations, options()).expect("a data set");
                let upload = started.elapsed().as_secs_f64();
                let loss = loss.clone().into();
                let spec = ProblemSpec { loss, output: output.clone(), c, ..ProblemSpec::default() };
                let problem = Problem::new(&data, spec).expect("a problem");
                let settings = Settings { tolerance, ..Settings::default() };
                let started = Instant::now();
                let fitted = fit(&problem, &settings).expect("a fit");
                let seconds = started.elapsed().as_secs_f64();
                let (alpha, v) = (fitted.model.alpha().expect("duals"), fitted.model.v());
                let started = Instant::now();
                let again = certify(&problem, alpha, v).expect("a certificate");
                let certificate = started.elapsed().as_secs_f64();
                println!(
                    "{{\"loss\": \"{}\", \"k\": {k}, \"relative_c\": {relative}, \"tolerance\": {tolerance:e}, \
                     \"upload_seconds\": {upload:.4}, \"fit_seconds\": {seconds:.4}, \"certificate_seconds\": \
                     {certificate:.4}, \"status\": \"{}\", \"solver\": \"{}\", \"gap\": {:.2e}, \"gap_again\": {:.2e}, \
                     \"primal\": {:.12e}, \"passes\": {}}}",
                    problem.only_loss().map_or("several", |loss| loss.name()),
                    fitted.status(),
                    fitted.solver,
                    fitted.certificate().rel_gap(),
                    again.rel_gap(),
                    fitted.certificate().primal,
                    fitted.passes
                );
            }
        }
    }
}
