//! Seconds and arithmetic rates on a real one-vs-all problem. Driven by `benches/banking77.py`, which
//! prepares the data, times scikit-learn in the same run and writes the record.
//!
//! `banking77 MODE DIR INPUTS FEATURES CLASSES THREADS DTYPE ...` prints JSON lines.

#![allow(clippy::print_stdout, missing_docs)]

use faer::{Accum, MatMut, MatRef, Par};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::solver::{Sdca, SolveRequest, Solver, VisitOrder};
use kinfolk::{
    Dataset, DatasetOptions, Intercept, LossKind, Observations, Problem, ProblemSpec, RegularizerKind,
    Settings, Silent, Start, fit,
};
use std::time::Instant;

struct BenchArgs {
    mode: String,
    dir: String,
    n: usize,
    d: usize,
    t: usize,
    threads: usize,
    dtype: String,
    rest: Vec<String>,
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    let Some(mode) = args.next() else {
        println!("run benches/banking77.py instead");
        return;
    };
    let mut next = || args.next().expect("see the head of this file");
    let dir = next();
    let mut number = || next().parse().expect("a number");
    let (n, d, t, threads) = (number(), number(), number(), number());
    let dtype = next();
    let args = BenchArgs { mode, dir, n, d, t, threads, dtype, rest: args.collect() };
    let inputs = load_inputs(&args);
    let classes: Vec<u32> = read(&args, "label.u32")
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")))
        .collect();
    let observations = Observations::multi_class(&classes, args.t).expect("labels in range");
    match args.mode.as_str() {
        "spectral" => spectral(&args, &inputs, &observations),
        "sdca" => sdca(&args, &inputs, &observations),
        "peak" => peak(&args, &inputs, &observations),
        other => panic!("no mode {other}"),
    }
}

fn read(args: &BenchArgs, name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/{name}", args.dir)).expect("a file written by banking77.py")
}

fn load_inputs(args: &BenchArgs) -> Inputs<'static> {
    let bytes = read(args, &format!("x.{}", args.dtype));
    let dense = match args.dtype.as_str() {
        "f32" => {
            let x =
                bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("4 bytes"))).collect();
            Dense::f32_owned(x, args.n, args.d)
        }
        _ => {
            let x =
                bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes"))).collect();
            Dense::f64_owned(x, args.n, args.d)
        }
    };
    dense.expect("finite features").into()
}

fn spec(loss: LossKind, k: u32, c: f64) -> ProblemSpec {
    ProblemSpec {
        loss: loss.into(),
        output: RegularizerKind::Power { k },
        c,
        lambda: 1.0,
        atoms: vec![],
        intercept: Intercept::None,
    }
}

/// `rest`: k, repetitions, then the values of C. Everything is timed: data set, eigenbasis, solve,
/// certificate, model.
fn spectral(args: &BenchArgs, inputs: &Inputs<'_>, observations: &Observations) {
    let k: u32 = args.rest[0].parse().expect("k");
    let repetitions: usize = args.rest[1].parse().expect("repetitions");
    for c in args.rest[2..].iter().map(|c| c.parse::<f64>().expect("C")) {
        let mut seconds = vec![];
        let mut result = None;
        for _ in 0..repetitions {
            let start = Instant::now();
            let options = DatasetOptions { threads: args.threads, ..DatasetOptions::default() };
            let data = Dataset::new(inputs, observations, options).expect("a data set");
            let problem = Problem::new(&data, spec(LossKind::Squared, k, c)).expect("a problem");
            let fit = fit(&problem, &Settings { tolerance: 1e-6, ..Settings::default() }).expect("a fit");
            seconds.push(start.elapsed().as_secs_f64());
            result = Some((fit.certificate().rel_gap(), fit.passes, fit.solver, fit.certificate().form));
        }
        let (gap, passes, solver, form) = result.expect("at least one repetition");
        println!(
            "{{\"k\":{k},\"c\":{c},\"threads\":{},\"dtype\":\"{}\",\"solver\":\"{solver}\",\
             \"passes\":{passes},\"rel_gap\":{gap:e},\
             \"form\":\"{form:?}\",\"seconds\":{seconds:?}}}",
            args.threads, args.dtype
        );
    }
}

/// `rest`: loss, k, C, passes, then orders: `sequential` or block sizes.
fn sdca(args: &BenchArgs, inputs: &Inputs<'_>, observations: &Observations) {
    let loss: LossKind = args.rest[0].parse().expect("a loss");
    let k: u32 = args.rest[1].parse().expect("k");
    let c: f64 = args.rest[2].parse().expect("C");
    let passes: usize = args.rest[3].parse().expect("passes");
    let options = DatasetOptions { threads: args.threads, ..DatasetOptions::default() };
    let data = Dataset::new(inputs, observations, options).expect("a data set");
    let problem = Problem::new(&data, spec(loss.clone(), k, c)).expect("a problem");
    let (n, d, t) = (args.n as f64, args.d as f64, args.t as f64);
    println!("{{\"product_gflops\":{:.2},\"threads\":{}}}", product_rate(args), args.threads);
    for order in &args.rest[4..] {
        let order = match order.as_str() {
            "sequential" => VisitOrder::Sequential,
            size => VisitOrder::Blocked(size.parse().expect("a block size")),
        };
        let epoch = epoch_seconds(&problem, order, passes);
        // Products: scores and update, 2 n d T each; kernel values of the blocks, 2 n d B. Steps, per
        // observation (k = 1): its share of G b0 and G d 4 T, bringing G up to date 4 T, correcting scores B.
        // What the cubics cost is not counted.
        let block = if let VisitOrder::Blocked(size) = order { size as f64 } else { 1.0 };
        let products = if order == VisitOrder::Sequential {
            2.0 * n * d * t * (t + 1.0)
        } else {
            4.0 * n * d * t + 2.0 * n * d * block
        };
        let steps = n * t * (8.0 * t + block);
        println!(
            "{{\"order\":\"{order:?}\",\"loss\":\"{loss}\",\"k\":{k},\"c\":{c},\
             \"epoch_seconds\":{epoch:.5},\"product_gflop\":{:.3},\
             \"step_gflop\":{:.3},\"gflops\":{:.2}}}",
            products / 1e9,
            steps / 1e9,
            (products + steps) / 1e9 / epoch
        );
    }
}

/// Rate of faer's product (inputs x features) (features x classes).
fn product_rate(args: &BenchArgs) -> f64 {
    let x = vec![0.5f64; args.n * args.d];
    let v = vec![0.25f64; args.d * args.t];
    let mut out = vec![0.0f64; args.n * args.t];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().expect("threads");
    let par = if args.threads > 1 { Par::rayon(args.threads) } else { Par::Seq };
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let start = Instant::now();
        pool.install(|| {
            faer::linalg::matmul::matmul(
                MatMut::from_row_major_slice_mut(&mut out, args.n, args.t),
                Accum::Replace,
                MatRef::from_row_major_slice(&x, args.n, args.d),
                MatRef::from_row_major_slice(&v, args.d, args.t),
                1.0,
                par,
            );
        });
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * (args.n * args.d * args.t) as f64 / best / 1e9
}

/// Seconds of an average pass without certificates: the time of `passes` passes less that of none.
fn epoch_seconds(problem: &Problem<'_>, order: VisitOrder, passes: usize) -> f64 {
    let run = |max_passes| {
        let settings =
            Settings { tolerance: 1e-300, max_passes, ..Settings::default() }.check().expect("settings");
        let start = Instant::now();
        Sdca { order, check_every: Some(usize::MAX) }
            .solve(SolveRequest { problem, settings: &settings, start: Start::Cold }, &mut Silent)
            .expect("a solution");
        start.elapsed().as_secs_f64()
    };
    let once = run(1);
    (run(1 + passes) - once) / passes as f64
}

/// Peak memory of one fit by the system's own account, against the arrays that go in and come out.
fn peak(args: &BenchArgs, inputs: &Inputs<'_>, observations: &Observations) {
    let before = resident("VmRSS");
    let options = DatasetOptions { threads: args.threads, ..DatasetOptions::default() };
    let data = Dataset::new(inputs, observations, options).expect("a data set");
    let solver = args.rest[0].parse::<String>().expect("a solver");
    let problem =
        Problem::new(&data, spec(if solver == "sdca" { LossKind::Hinge } else { LossKind::Squared }, 1, 1.0))
            .expect("a problem");
    let settings = Settings { tolerance: 1e-6, max_passes: 20, ..Settings::default() };
    let fit = fit(&problem, &settings).expect("a fit");
    let width = if args.dtype == "f32" { 4 } else { 8 };
    let arrays =
        args.n * args.d * width + 2 * 8 * args.n * args.t + 8 * args.d * args.t + 8 * args.t * args.t;
    println!(
        "{{\"solver\":\"{}\",\"dtype\":\"{}\",\"threads\":{},\
         \"resident_before\":{before},\"peak\":{},\"arrays\":{arrays},\"x\":{},\"y\":{}}}",
        fit.solver,
        args.dtype,
        args.threads,
        resident("VmHWM"),
        args.n * args.d * width,
        8 * args.n * args.t
    );
}

fn resident(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}
