//! The paper's largest shape on a device: seconds of upload, fit and certificate, each apart. Run by `benches/gpu.py`,
//! which times cupy on the same shape and writes the record.
//!
//! `largest ROWS FEATURES TASKS REPEATS [cpu]` prints JSON lines.

#![allow(clippy::print_stdout, missing_docs)]

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Intercept, LossKind, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, SolverKind, certify, fit,
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

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [rows, features, tasks, repeats] = &args[..4.min(args.len())] else {
        println!("run benches/gpu.py instead");
        return;
    };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let (rows, features, tasks, repeats) = (number(rows), number(features), number(tasks), number(repeats));
    let on_cpu = args.get(4).is_some_and(|place| place == "cpu");
    let (inputs, observations) = classes(rows, features, tasks);
    let started = Instant::now();
    let device = (!on_cpu).then(|| kinfolk_gpu::open(0, None).expect("a device"));
    println!("{{\"open_seconds\": {:.4}}}", started.elapsed().as_secs_f64());
    let options = || DatasetOptions { device: device.clone(), memory: 64 << 30, ..DatasetOptions::default() };
    let plain = Dataset::new(&inputs, &observations, DatasetOptions::default()).expect("a data set");
    let scale = CScale::new(&plain, &LossKind::Squared.into(), Intercept::Free).expect("a scale");
    for k in [1u32, 2, 4] {
        let output = RegularizerKind::Power { k };
        for relative in [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0] {
            if k > 1 && relative != 1.0 && relative != 10.0 {
                continue;
            }
            let c = scale.weights(&output, None, relative).expect("weights").c;
            for _ in 0..repeats {
                // A new data set each time: nothing is kept from the fit before.
                let started = Instant::now();
                let data = Dataset::new(&inputs, &observations, options()).expect("a data set");
                let upload = started.elapsed().as_secs_f64();
                let spec = ProblemSpec {
                    loss: LossKind::Squared.into(),
                    output: output.clone(),
                    c,
                    ..ProblemSpec::default()
                };
                let problem = Problem::new(&data, spec).expect("a problem");
                let settings =
                    Settings { solver: SolverKind::Spectral, tolerance: 1e-6, ..Settings::default() };
                let started = Instant::now();
                let fitted = fit(&problem, &settings).expect("a fit");
                let seconds = started.elapsed().as_secs_f64();
                let started = Instant::now();
                let again =
                    certify(&problem, fitted.model.alpha().expect("duals"), None).expect("a certificate");
                let certificate = started.elapsed().as_secs_f64();
                println!(
                    "{{\"k\": {k}, \"relative_c\": {relative}, \"upload_seconds\": {upload:.4}, \"fit_seconds\": \
                     {seconds:.4}, \"certificate_seconds\": {certificate:.4}, \"status\": \"{}\", \"gap\": {:.2e}, \
                     \"gap_of_duals\": {:.2e}, \"primal\": {:.12e}, \"passes\": {}}}",
                    fitted.status(),
                    fitted.certificate().rel_gap(),
                    again.rel_gap(),
                    fitted.certificate().primal,
                    fitted.passes
                );
            }
        }
    }
}
