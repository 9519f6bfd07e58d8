//! Objective values of an independent conic solver, and of a numpy prototype, met to their accuracy.
//! `golden/make_golden.py` made the numbers.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::solver::{Sdca, SolveRequest, Solver, VisitOrder};
use kinfolk::{
    Dataset, DatasetOptions, Fit, Intercept, Kernel, LossKind, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, Silent, Start, fit,
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

fn output(v: &Value) -> RegularizerKind {
    match v["kind"].as_str().unwrap() {
        "power" => RegularizerKind::Power { k: v["k"].as_u64().unwrap() as u32 },
        "exp" => RegularizerKind::Exp { prior: None },
        "cosh" => RegularizerKind::Cosh,
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
    let spec = ProblemSpec {
        loss: loss(&v["loss"]).into(),
        output: output(&v["output"]),
        c,
        lambda,
        atoms: vec![],
        intercept: Intercept::None,
    };
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
    assert_eq!(instances.len(), 122);
    for v in instances {
        let name = v["name"].as_str().unwrap();
        let fit = solve(&instance(v), 1e-8);
        let want = v["objective"].as_f64().unwrap();
        // The optimum lies between dual and primal, and so does the conic solver's to its own accuracy.
        let (low, high) =
            (fit.certificate().dual - 1e-8 * want.abs(), fit.certificate().primal + 1e-8 * want.abs());
        println!("{name}: gap {:.1e} after {} passes", fit.certificate().rel_gap(), fit.passes);
        assert!(low <= want && want <= high, "{name}: {want} is not in [{low}, {high}]");
        assert!(fit.certificate().rel_gap() <= 1e-6, "{name}: gap {}", fit.certificate().rel_gap());
        assert!(
            (fit.certificate().primal - want).abs() <= 1e-6 * want.abs(),
            "{name}: {} is not {want}",
            fit.certificate().primal
        );
    }
}

/// The rows of `prototype.json`, whose data are formulas.
mod prototype {
    use super::*;

    const WEIGHTS: [[f64; 3]; 3] = [[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [-1.0, 0.5, 0.5]];

    fn input(i: usize) -> [f64; 3] {
        [0, 1, 2].map(|j| (((i + 1) * (j + 1)) as f64).sin())
    }

    fn target(i: usize, task: usize, phase: usize) -> f64 {
        let signal: f64 = input(i).iter().zip(WEIGHTS[task]).map(|(x, w)| x * w).sum();
        signal + 0.1 * ((5 * (i + 1) + phase) as f64).cos()
    }

    /// Twelve inputs, task i mod 3.
    fn d1(labels: Option<Vec<f64>>) -> (Inputs<'static>, Observations) {
        let x: Vec<f64> = (0..12).flat_map(input).collect();
        let task: Vec<u32> = (0..12).map(|i| i % 3).collect();
        let y = labels.unwrap_or_else(|| (0..12).map(|i| target(i, i % 3, 0)).collect());
        (Dense::f64_owned(x, 12, 3).unwrap().into(), Observations::multi_task(&task, y).unwrap())
    }

    /// Six shared inputs.
    fn d2() -> (Inputs<'static>, Observations) {
        let x: Vec<f64> = (0..6).flat_map(input).collect();
        let y: Vec<f64> = (0..18).map(|o| target(o / 3, o % 3, o % 3)).collect();
        (Dense::f64_owned(x, 6, 3).unwrap().into(), Observations::multi_output(&y, 6, 3).unwrap())
    }

    pub(super) fn output(name: &str) -> RegularizerKind {
        match name {
            "exp" => RegularizerKind::Exp { prior: None },
            "cosh" => RegularizerKind::Cosh,
            power => RegularizerKind::Power { k: power.strip_prefix("power").unwrap().parse().unwrap() },
        }
    }

    /// The problem of a row, with C: "squared without the half" is twice the squared loss.
    pub(super) fn problem(golden: &Value, loss: &str, output_name: &str, kernel: Kernel) -> Instance {
        let (kind, c) = match loss {
            "squared_no_half" => (LossKind::Squared, 2.0),
            "epsilon" => (LossKind::Epsilon { epsilon: 0.1 }, 1.0),
            "squared_epsilon" => (LossKind::SquaredEpsilon { epsilon: 0.1 }, 1.0),
            "smoothed_hinge" => (LossKind::SmoothedHinge { gamma: 0.5 }, 1.0),
            "huber" => (LossKind::Huber { delta: 0.2 }, 1.0),
            "quantile" => (LossKind::Quantile { q: 0.3 }, 1.0),
            plain => (plain.parse().unwrap(), 1.0),
        };
        let (inputs, observations) = d1(kind.is_classification().then(|| numbers(&golden["d1"]["labels"])));
        let options = DatasetOptions { kernel, threads: 1, ..DatasetOptions::default() };
        let spec = ProblemSpec {
            loss: kind.into(),
            output: output(output_name),
            c,
            lambda: 0.5,
            atoms: vec![],
            intercept: Intercept::None,
        };
        Instance { inputs, observations, options, spec }
    }

    pub(super) fn shared(output_name: &str) -> Instance {
        let (inputs, observations) = d2();
        let options = DatasetOptions { threads: 1, ..DatasetOptions::default() };
        let loss = LossKind::Squared.into();
        let spec = ProblemSpec {
            loss,
            output: output(output_name),
            c: 1.0,
            lambda: 0.5,
            atoms: vec![],
            intercept: Intercept::None,
        };
        Instance { inputs, observations, options, spec }
    }

    /// Calls `visit(output, loss, entry)` for the entries of a table output -> loss -> entry.
    pub(super) fn each_entry(table: &Value, mut visit: impl FnMut(&str, &str, &Value)) -> usize {
        let mut count = 0;
        for (output, row) in table.as_object().unwrap().iter().filter(|(name, _)| *name != "kernel") {
            for (loss, entry) in row.as_object().unwrap() {
                visit(output, loss, entry);
                count += 1;
            }
        }
        count
    }
}

/// The table gives ten digits of a conic solver, of which it promises seven.
fn assert_objective(name: &str, fit: &Fit, want: &Value) {
    let (want, got) = (want.as_f64().unwrap(), fit.certificate().primal);
    assert!(fit.certificate().rel_gap() <= 1e-8, "{name}: gap {:e}", fit.certificate().rel_gap());
    assert!((got - want).abs() <= 1e-7 * want.abs(), "{name}: {got} is not {want}");
}

/// Six digits are given, so that half a unit of the last is 5e-7 of one; the solver's own error is below 1e-6
/// at a gap of 1e-12, since the objective grows with the square of the distance.
fn assert_theta(name: &str, fit: &Fit, want: &Value) {
    let (want, theta) = (numbers(want), fit.model.theta());
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    for (want, rs) in want.iter().zip(pairs) {
        assert!((theta[rs] - want).abs() <= 2e-6, "{name} {rs:?}: {} is not {want}", theta[rs]);
        assert_eq!(theta[rs], theta[(rs.1, rs.0)]);
    }
}

#[test]
fn objectives_of_the_prototype() {
    let golden = read("prototype.json");
    let mut count = 0;
    for table in ["objective", "objective_other_losses"] {
        count += prototype::each_entry(&golden["d1"][table], |output, loss, want| {
            let instance = prototype::problem(&golden, loss, output, Kernel::Linear);
            assert_objective(&format!("{loss} {output}"), &solve(&instance, 1e-8), want);
        });
    }
    count += prototype::each_entry(&golden["d1"]["rbf_objective"], |output, loss, want| {
        let kernel = Kernel::Rbf { gamma: Gamma::Value(0.5) };
        let instance = prototype::problem(&golden, loss, output, kernel);
        assert_objective(&format!("rbf {loss} {output}"), &solve(&instance, 1e-8), want);
    });
    count += prototype::each_entry(&golden["d2"]["objective"], |output, _, want| {
        assert_objective(&format!("shared {output}"), &solve(&prototype::shared(output), 1e-8), want);
    });
    assert_eq!(count, 15 + 16 + 4 + 1);
}

#[test]
fn task_matrices_of_the_prototype() {
    let golden = read("prototype.json");
    let mut count = prototype::each_entry(&golden["d1"]["theta"], |output, loss, want| {
        let instance = prototype::problem(&golden, loss, output, Kernel::Linear);
        assert_theta(&format!("{loss} {output}"), &solve(&instance, 1e-13), want);
    });
    count += prototype::each_entry(&golden["d2"]["theta"], |output, _, want| {
        assert_theta(&format!("shared {output}"), &solve(&prototype::shared(output), 1e-13), want);
    });
    assert_eq!(count, 6);
}

/// Exact coordinate steps, once around, from zero: every digit is determined, duals included.
#[test]
fn one_cyclic_pass_of_the_prototype() {
    let golden = read("prototype.json");
    let runs = golden["d1"]["one_cyclic_pass"]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for run in runs {
        let (loss, output) = (run["loss"].as_str().unwrap(), run["output"].as_str().unwrap());
        let name = format!("{loss} {output}");
        let instance = prototype::problem(&golden, loss, output, Kernel::Linear);
        let data = Dataset::new(&instance.inputs, &instance.observations, instance.options.clone()).unwrap();
        let problem = Problem::new(&data, instance.spec.clone()).unwrap();
        let settings = Settings { tolerance: 1e-300, max_passes: 1, ..Settings::default() }.check().unwrap();
        let solver = Sdca { order: VisitOrder::Cyclic, ..Sdca::default() };
        let solution = solver
            .solve(
                SolveRequest { problem: &problem, settings: &settings, start: Start::Warm(&[0.0; 12]) },
                &mut Silent,
            )
            .unwrap();
        assert_eq!(solution.passes, 1);
        for (got, want) in [
            (solution.certificate().dual, run["dual"].as_f64().unwrap()),
            (solution.certificate().primal, run["primal"].as_f64().unwrap()),
        ] {
            assert!((got - want).abs() <= 1e-9, "{name}: {got} is not {want}");
        }
        for (o, (kappa, want)) in solution.kappa.iter().zip(numbers(&run["a"])).enumerate() {
            let alpha = kappa * problem.unit();
            assert!((alpha - want).abs() <= 1e-8, "{name}: alpha[{o}] is {alpha}, not {want}");
        }
    }
}
