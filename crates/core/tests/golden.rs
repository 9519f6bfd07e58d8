//! Objective values of an independent conic solver, and of the literature notes, met to their accuracy.
//! `golden/make_golden.py` made the numbers.

#![allow(clippy::unwrap_used)] // helpers outside test functions

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Kernel, LossKind, Observations, OutputKind, Problem, ProblemSpec, Settings,
    fit,
};
use serde_json::Value;

fn read(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn indices(v: &Value) -> Vec<u32> {
    v.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn loss(v: &Value) -> LossKind {
    let kind = v["kind"].as_str().unwrap();
    let text = match v["param"].as_f64() {
        Some(param) => format!("{kind}:{param}"),
        None => kind.to_string(),
    };
    text.parse().unwrap()
}

fn output(v: &Value) -> OutputKind {
    match v["kind"].as_str().unwrap() {
        "power" => OutputKind::Power { k: v["k"].as_u64().unwrap() as u32 },
        "exp" => OutputKind::Exp { prior: None },
        "cosh" => OutputKind::Cosh,
        other => panic!("unknown regulariser {other}"),
    }
}

struct Instance {
    inputs: Inputs<'static>,
    observations: Observations,
    options: DatasetOptions,
    spec: ProblemSpec,
}

fn instance(v: &Value) -> Instance {
    let size = |name: &str| v[name].as_u64().unwrap() as usize;
    let (n, d, t) = (size("n_inputs"), size("n_features"), size("n_tasks"));
    let inputs = Dense::f64_owned(numbers(&v["x"]), n, d).unwrap().into();
    let observations =
        Observations::from_triples(n, t, indices(&v["input"]), indices(&v["task"]), numbers(&v["label"]))
            .and_then(|obs| obs.with_weights(&numbers(&v["weight"])))
            .unwrap();
    let kernel = match v["kernel"]["kind"].as_str().unwrap() {
        "linear" => Kernel::Linear,
        "rbf" => Kernel::Rbf { gamma: Gamma::Value(v["kernel"]["gamma"].as_f64().unwrap()) },
        other => panic!("unknown kernel {other}"),
    };
    let bias = v["bias"].as_f64().unwrap_or(0.0).sqrt();
    let options = DatasetOptions { kernel, bias, threads: 1, ..DatasetOptions::default() };
    let (c, lambda) = (v["c"].as_f64().unwrap(), v["lambda"].as_f64().unwrap());
    let spec = ProblemSpec { loss: loss(&v["loss"]).into(), output: output(&v["output"]), c, lambda };
    Instance { inputs, observations, options, spec }
}

fn solve(instance: &Instance, tolerance: f64) -> Fit {
    let data = Dataset::new(&instance.inputs, &instance.observations, instance.options.clone()).unwrap();
    let problem = Problem::new(&data, instance.spec.clone()).unwrap();
    fit(&problem, &Settings { tolerance, max_passes: 20_000, ..Settings::default() }).unwrap()
}

#[test]
fn a_conic_solver_agrees() {
    let golden = read("golden.json");
    let instances = golden["instances"].as_array().unwrap();
    assert!(instances.len() >= 24);
    for v in instances {
        let name = v["name"].as_str().unwrap();
        let fit = solve(&instance(v), 1e-8);
        let want = v["objective"].as_f64().unwrap();
        // The optimum lies between dual and primal, and so does the conic solver's to its own accuracy.
        let (low, high) =
            (fit.certificate.dual - 1e-8 * want.abs(), fit.certificate.primal + 1e-8 * want.abs());
        println!("{name}: gap {:.1e} after {} passes", fit.certificate.rel_gap(), fit.passes);
        assert!(low <= want && want <= high, "{name}: {want} is not in [{low}, {high}]");
        assert!(fit.certificate.rel_gap() <= 1e-6, "{name}: gap {}", fit.certificate.rel_gap());
        assert!(
            (fit.certificate.primal - want).abs() <= 1e-6 * want.abs(),
            "{name}: {} is not {want}",
            fit.certificate.primal
        );
    }
}
