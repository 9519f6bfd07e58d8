//! Intercepts: optima of an independent conic solver, and the laws that intercepts obey.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Error, Fit, Intercept, Kernel, LossKind, Losses, Observations, Problem,
    ProblemSpec, RegularizerKind, Settings, SolverKind, certify, fit,
};
use proptest::prelude::*;
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn settings(tolerance: f64, solver: SolverKind) -> Settings {
    Settings { tolerance, solver, max_passes: 20_000, ..Settings::default() }
}

/// 72 optima of `tests/golden/intercepts_and_atoms.json`, found by a conic solver on the primal.
#[test]
fn a_conic_solver_agrees_for_every_solver() {
    let path = format!("{}/tests/golden/intercepts_and_atoms.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path);
    let golden: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let x: Vec<f64> = golden["X"].as_array().unwrap().iter().flat_map(numbers).collect();
    let task: Vec<u32> = numbers(&golden["task"]).iter().map(|t| *t as u32).collect();
    let inputs: Inputs<'_> = Dense::f64_owned(x, 30, 5).unwrap().into();
    let mut solved = 0;
    for cell in golden["cells"].as_array().unwrap() {
        let loss: LossKind = match cell["loss"].as_str().unwrap() {
            "epsilon" => "epsilon:0.1".parse().unwrap(),
            name => name.parse().unwrap(),
        };
        let labels = numbers(&golden[if loss.is_classification() { "y_class" } else { "y_number" }]);
        let observations = Observations::multi_task(&task, labels.clone()).unwrap();
        let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
        let (c, lambda) = (cell["C"].as_f64().unwrap(), cell["lam"].as_f64().unwrap());
        // K rows of each task cost what a size of B costs: C K = 1 / B^2.
        let intercepts = match (cell["intercept"].as_str().unwrap(), cell["B"].as_f64()) {
            ("ridge", Some(size)) => vec![Intercept::Ridge(size), Intercept::Shrunk(1.0 / (c * size * size))],
            (name, _) => vec![name.parse().unwrap()],
        };
        let output = RegularizerKind::Power { k: 1 };
        let atom = |name: &str, kind| AtomSpec::new(name, cell[format!("w_{name}")].as_f64().unwrap(), kind);
        let atoms = vec![atom("common", AtomKind::Common), atom("own", AtomKind::Own)];
        let spec = |intercept| ProblemSpec {
            loss: loss.clone().into(),
            output: output.clone(),
            c,
            lambda,
            atoms: atoms.clone(),
            intercept,
        };
        for (intercept, solver) in
            intercepts.iter().flat_map(|own| SolverKind::ALL.map(|solver| (*own, solver)))
        {
            let problem = Problem::new(&data, spec(intercept)).unwrap();
            if solver.build().suits(&problem).is_err() {
                continue;
            }
            let Fit { model, .. } = fit(&problem, &settings(1e-10, solver)).unwrap();
            let (certificate, what) = (model.certificate(), format!("{solver}, {intercept} on {cell}"));
            let optimum = cell["optimum"].as_f64().unwrap();
            assert!(certificate.rel_gap() <= 1e-7, "{what}: {certificate}");
            assert!((certificate.primal / optimum - 1.0).abs() <= 1e-6, "{what}: {certificate}");
            assert!(certificate.dual <= optimum * (1.0 + 1e-6), "{what}: {certificate}");
            let theta: Vec<f64> = cell["theta"].as_array().unwrap().iter().flat_map(numbers).collect();
            for (got, want) in model.theta().as_slice().iter().zip(&theta) {
                assert!((got - want).abs() <= 1e-4 * (1.0 + want.abs()), "{what}: Theta {got} {want}");
            }
            match model.intercept() {
                Some(b) => {
                    let golden = numbers(&cell["b"]);
                    let close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-4 * (1.0 + want.abs());
                    // The best intercepts of the hinge loss are an interval: the other solver may have another one.
                    let as_good = loss == LossKind::Hinge && {
                        let z = model.predict(&inputs, &task).unwrap();
                        let losses = |other: &[f64]| -> f64 {
                            let shift = |i: usize| other[task[i] as usize] - b[task[i] as usize];
                            let hinge = |i: usize| (1.0 - labels[i] * (z[i] + shift(i))).max(0.0);
                            (0..z.len()).map(hinge).sum()
                        };
                        c * (losses(&golden) - losses(b)).abs() <= 1e-6 * optimum
                    };
                    assert!(b.iter().zip(&golden).all(close) || as_good, "{what}: b {b:?}");
                }
                None => assert!(cell["b"].is_null(), "{what}"),
            }
            solved += 1;
        }
    }
    assert!(solved >= 96 * 4, "{solved}");
}

/// A random problem: own rows for each task, or all labels for all inputs.
#[derive(Debug, Clone)]
struct Random {
    x: Vec<f64>,
    task: Option<Vec<u32>>,
    y: Vec<f64>,
    loss: LossKind,
    k: u32,
    c: f64,
}

const ROWS: usize = 18;
const FEATURES: usize = 3;
const TASKS: usize = 3;

fn random() -> impl Strategy<Value = Random> {
    let losses = prop::sample::select(LossKind::all_examples());
    let value = || -2.0..2.0f64;
    let x = prop::collection::vec(value(), ROWS * FEATURES);
    let y = prop::collection::vec(value(), ROWS * TASKS);
    (x, y, losses, any::<bool>(), 1..3u32, -1.0..1.0f64).prop_map(|(x, y, loss, shared, k, c)| {
        let sign = |y: f64| if y > 0.3 { 1.0 } else { -1.0 };
        let y: Vec<f64> = y.into_iter().map(|y| if loss.is_classification() { sign(y) } else { y }).collect();
        let task = (!shared).then(|| (0..ROWS as u32).map(|i| i % TASKS as u32).collect());
        let y = if shared { y } else { y[..ROWS].to_vec() };
        Random { x, task, y, loss, k, c: 10f64.powf(c) }
    })
}

impl Random {
    fn observations(&self) -> Observations {
        match &self.task {
            Some(task) => Observations::multi_task(task, self.y.clone()).unwrap(),
            None => Observations::multi_output(&self.y, ROWS, TASKS).unwrap(),
        }
    }

    fn fit_to(&self, observations: &Observations, intercept: Intercept, kernel: Kernel) -> Fit {
        let inputs: Inputs<'_> = Dense::f64(&self.x, self.x.len() / FEATURES, FEATURES).unwrap().into();
        let options = DatasetOptions { kernel, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, observations, options).unwrap();
        let output = RegularizerKind::Power { k: self.k };
        let spec = ProblemSpec {
            loss: self.loss.clone().into(),
            output,
            c: self.c,
            lambda: 1.0,
            atoms: vec![],
            intercept,
        };
        let fit = fit(&Problem::new(&data, spec).unwrap(), &settings(1e-11, SolverKind::Auto)).unwrap();
        assert!(fit.certificate().rel_gap() <= 1e-8, "{} {:?} {intercept}", fit.certificate(), fit.reason);
        fit
    }

    /// Whether free intercepts cost nothing: not those of a task with one class and the logistic loss.
    fn is_free(&self) -> bool {
        Losses::from(self.loss.clone()).tasks_without_optimum(&self.observations()).unwrap().is_empty()
    }

    fn fit(&self) -> Fit {
        self.fit_to(&self.observations(), Intercept::Free, Kernel::Linear)
    }

    fn predictions(&self, fit: &Fit) -> Vec<f64> {
        let inputs: Inputs<'_> = Dense::f64(&self.x[..ROWS * FEATURES], ROWS, FEATURES).unwrap().into();
        fit.model.predict_all(&inputs).unwrap().into_vec()
    }
}

/// Objective values agree to rounding, predictions to what a gap of 1e-11 allows where they are unique.
fn assert_close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * (1.0 + want.abs()), "{what}: {got} instead of {want}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Adding c_t to the labels of a task adds it to the predictions and changes nothing else.
    #[test]
    fn labels_may_be_shifted(problem in random(), shift in prop::array::uniform3(-1e3..1e3f64)) {
        prop_assume!(!problem.loss.is_classification());
        let mut shifted = problem.clone();
        let task_of = |i: usize| match &problem.task { Some(task) => task[i] as usize, None => i % TASKS };
        shifted.y.iter_mut().enumerate().for_each(|(i, y)| *y += shift[task_of(i)]);
        let (one, other) = (problem.fit(), shifted.fit());
        let (a, b) = (one.certificate().primal, other.certificate().primal);
        prop_assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
        let expected: Vec<f64> =
            problem.predictions(&one).iter().enumerate().map(|(i, z)| z + shift[i % TASKS]).collect();
        assert_close("predictions", &problem.predictions(&other), &expected, 2e-3);
        assert_close("Theta", other.model.theta().as_slice(), one.model.theta().as_slice(), 2e-3);
    }

    /// Adding a vector to all inputs changes nothing.
    #[test]
    fn inputs_may_be_shifted(problem in random(), shift in prop::array::uniform3(-100.0..100.0f64)) {
        prop_assume!(problem.is_free());
        let mut shifted = problem.clone();
        shifted.x.iter_mut().enumerate().for_each(|(j, x)| *x += shift[j % FEATURES]);
        let (one, other) = (problem.fit(), shifted.fit());
        let (a, b) = (one.certificate().primal, other.certificate().primal);
        prop_assert!((a - b).abs() <= 1e-8 * a.abs(), "{a} {b}");
        prop_assert!(other.certificate().rel_gap() <= 1e-8, "{}", other.certificate());
    }

    /// An observation of weight two is the same as two observations.
    #[test]
    fn weights_are_repetitions(problem in random(), twice in 0..ROWS) {
        prop_assume!(problem.task.is_some());
        let mut weights = vec![1.0; ROWS];
        weights[twice] = 2.0;
        let weighted = problem.observations().with_weights(&weights).unwrap();
        let mut repeated = problem.clone();
        repeated.x.extend_from_slice(&problem.x[twice * FEATURES..(twice + 1) * FEATURES]);
        repeated.y.push(problem.y[twice]);
        repeated.task.as_mut().unwrap().push(problem.task.as_ref().unwrap()[twice]);
        for intercept in [Intercept::Free, Intercept::Ridge(0.7)] {
            let one = problem.fit_to(&weighted, intercept, Kernel::Linear);
            let other = repeated.fit_to(&repeated.observations(), intercept, Kernel::Linear);
            let (a, b) = (one.certificate().primal, other.certificate().primal);
            prop_assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
        }
    }

    /// A very large B is a free intercept, a very small one is none.
    #[test]
    fn ridge_lies_between_free_and_none(problem in random()) {
        prop_assume!(problem.is_free());
        let observations = problem.observations();
        let value = |intercept| problem.fit_to(&observations, intercept, Kernel::Linear).certificate().primal;
        let (free, none) = (value(Intercept::Free), value(Intercept::None));
        let (large, middle, small) =
            (value(Intercept::Ridge(1e3)), value(Intercept::Ridge(1.0)), value(Intercept::Ridge(1e-3)));
        let slack = 1e-8 * none.abs();
        prop_assert!((large - free).abs() <= 1e-4 * none.abs(), "{large} {free}");
        prop_assert!((small - none).abs() <= 1e-4 * none.abs(), "{small} {none}");
        prop_assert!(free <= middle + slack && middle <= none + slack, "{free} {middle} {none}");
    }

    /// The same for kernels, whose Gram matrix is centred instead of the features.
    #[test]
    fn a_linear_kernel_matrix_is_the_same(problem in random()) {
        let observations = problem.observations();
        let one = problem.fit();
        let polynomial = "poly:1:1:0".parse().unwrap_or(Kernel::Linear);
        let other = problem.fit_to(&observations, Intercept::Free, polynomial);
        let (a, b) = (one.certificate().primal, other.certificate().primal);
        prop_assert!((a - b).abs() <= 1e-8 * a.abs(), "{a} {b}");
    }
}

/// Tasks with one class, one row, equal labels or no rows are fitted; nothing is NaN.
#[test]
fn poor_tasks_are_fitted() {
    let x: Vec<f64> = (0..40).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let inputs: Inputs<'_> = Dense::f64_owned(x, 20, 2).unwrap().into();
    // Task 0: mixed. 1: one class or equal labels. 2: one row. 3: none.
    let task: Vec<u32> = (0..20).map(|i| if i < 12 { 0 } else { 1 + u32::from(i == 19) }).collect();
    for loss in LossKind::all_examples() {
        let label = |i: usize| match (loss.is_classification(), task[i]) {
            (true, 0) => [1.0, -1.0][i % 2],
            (true, _) => 1.0,
            (false, 0) => (i as f64).cos(),
            (false, _) => 3.0,
        };
        let names = kinfolk::TaskNames::Numbered(4);
        let observations = Observations::multi_task(&task, (0..20).map(label).collect());
        let observations = observations.unwrap().with_task_names(names).unwrap();
        let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
        let spec = ProblemSpec { loss: loss.clone().into(), c: 10.0, ..ProblemSpec::default() };
        let problem = Problem::new(&data, spec).unwrap();
        let fit = fit(&problem, &settings(1e-7, SolverKind::Auto)).unwrap();
        assert!(fit.certificate().rel_gap() <= 1e-6, "{loss:?}: {}", fit.certificate());
        let predictions = fit.model.predict_all(&inputs).unwrap();
        assert!(predictions.as_slice().iter().all(|z| z.is_finite()), "{loss:?}");
        if loss == LossKind::Squared {
            assert!((predictions[(0, 1)] - 3.0).abs() < 1e-6 && (predictions[(0, 2)] - 3.0).abs() < 1e-6);
        }
        assert_eq!(fit.model.intercept().unwrap()[3], 0.0);
    }
}

/// Rows of five tasks: mixed classes, then 3, 30 and 3 labels of one class, of which the last are negative, and one
/// label. Labels of weight zero do not count.
fn tasks_of_one_class() -> (Vec<f64>, Vec<u32>, Vec<f64>, Vec<f64>) {
    let task: Vec<u32> = [(0, 24), (1, 4), (2, 30), (3, 3), (4, 1)]
        .iter()
        .flat_map(|&(task, rows)| std::iter::repeat_n(task, rows))
        .collect();
    let x: Vec<f64> = (0..task.len() * 3).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
    let label = |(i, &t): (usize, &u32)| match t {
        0 => f64::signum(x[3 * i] + 0.4 * x[3 * i + 1] + 0.1),
        1 if i == 24 => -1.0,
        3 => -1.0,
        _ => 1.0,
    };
    let y: Vec<f64> = task.iter().enumerate().map(label).collect();
    let weight = (0..task.len()).map(|i| if i == 24 { 0.0 } else { 1.0 }).collect();
    (x, task, y, weight)
}

/// With the logistic loss, a free intercept has no best value for labels of one class: it is penalised there, and
/// nowhere else.
#[test]
fn tasks_of_one_class_have_probabilities_between_zero_and_one() {
    let (x, task, y, weight) = tasks_of_one_class();
    let inputs: Inputs<'_> = Dense::f64(&x, task.len(), 3).unwrap().into();
    let observations = Observations::multi_task(&task, y.clone()).unwrap().with_weights(&weight).unwrap();
    for (kernel, c) in ["linear", "rbf:0.5"].iter().flat_map(|k| [1e-3, 1.0, 1e3].map(|c| (k, c))) {
        let options = DatasetOptions { kernel: kernel.parse().unwrap(), ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        let atoms = vec![AtomSpec::new("common", 1.0, AtomKind::Common)];
        let spec = ProblemSpec { loss: LossKind::Logistic.into(), c, atoms, ..ProblemSpec::default() };
        let problem = Problem::new(&data, spec.clone()).unwrap();
        let mut primals = vec![];
        for solver in SolverKind::ALL.into_iter().filter(|solver| solver.build().suits(&problem).is_ok()) {
            // Coordinate ascent takes long where C is large.
            if c > 100.0 && matches!(solver, SolverKind::Sdca | SolverKind::SdcaSequential) {
                continue;
            }
            let what = format!("{kernel} {solver}, C = {c}");
            let fit = fit(&problem, &settings(1e-8, solver)).unwrap();
            assert!(fit.certificate().rel_gap() <= 1e-7, "{what}: {}", fit.certificate());
            primals.push(fit.certificate().primal);
            let again = certify(&problem, fit.model.alpha().unwrap(), fit.model.v()).unwrap();
            assert_eq!(again, *fit.certificate(), "{what}");
            let b = fit.model.intercept().unwrap();
            assert!(b[1] > 0.0 && b[2] > 0.0 && b[3] < 0.0 && b[4] > 0.0, "{what}: {b:?}");
            // More rows, more certainty. With a large C, features say what intercepts would.
            assert!(c > 1.0 || (b[4] < b[1] && b[1] < b[2] && b[2] < 5.0), "{what}: {b:?}");
        }
        assert!(primals.len() >= 2);
        let spread = primals.iter().fold(0.0, |m, p| f64::max(m, (p / primals[0] - 1.0).abs()));
        assert!(spread < 1e-6, "{kernel} {c}: {primals:?}");
    }
    // Without features the intercepts are what the rule says, whatever C is: n / (1 + exp(b)) = b.
    let nothing: Inputs<'_> = Dense::f64_owned(vec![0.0; task.len()], task.len(), 1).unwrap().into();
    let data = Dataset::new(&nothing, &observations, DatasetOptions::default()).unwrap();
    for c in [1e-6, 1.0, 1e6] {
        let spec = ProblemSpec { loss: LossKind::Logistic.into(), c, ..ProblemSpec::default() };
        let fit = fit(&Problem::new(&data, spec).unwrap(), &settings(1e-9, SolverKind::Auto)).unwrap();
        let b = fit.model.intercept().unwrap();
        for (task, rows) in [(1, 3.0), (2, 30.0), (3, -3.0), (4, 1.0)] {
            let off = rows / (1.0 + b[task].abs().exp()) - b[task];
            assert!(off.abs() < 1e-6, "C = {c}, task {task}: {off}");
        }
    }
}

#[test]
fn unbalanced_duals_are_refused() {
    let inputs: Inputs<'_> = Dense::f64(&[1.0, 2.0, 3.0], 3, 1).unwrap().into();
    let observations = Observations::multi_task(&[0, 0, 0], vec![1.0, 2.0, 4.0]).unwrap();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let problem = Problem::new(&data, ProblemSpec::default()).unwrap();
    let error = certify(&problem, &[0.1, 0.1, 0.1], None).unwrap_err();
    assert!(matches!(error, Error::DualSum { .. }), "{error}");
    assert!(certify(&problem, &[0.1, -0.2, 0.1], None).unwrap().dual.is_finite());
}

/// Kernel values that are nearly equal: what is left after centring is small, and rounding must not become a direction.
#[test]
fn flat_kernels_are_solved() {
    let (rows, features, tasks) = (240, 8, 6);
    for seed in 0..12u32 {
        let number = |i: usize| ((i as f64 + 1.0) * (12.9898 + f64::from(seed))).sin() * 43_758.547;
        let x: Vec<f64> = (0..rows * features).map(|i| number(i).fract() * 2.0).collect();
        let task: Vec<u32> = (0..rows as u32).map(|i| i % tasks).collect();
        let label = |i: usize| if x[i * features] + 0.8 * number(i + 7).fract() > 0.1 { 1.0 } else { -1.0 };
        let observations = Observations::multi_task(&task, (0..rows).map(label).collect()).unwrap();
        let inputs: Inputs<'_> = Dense::f64(&x, rows, features).unwrap().into();
        for gamma in [1e-3f64, 1e-4, 1e-6] {
            let kernel = format!("rbf:{gamma}").parse::<Kernel>().unwrap();
            let options = DatasetOptions { kernel, ..DatasetOptions::default() };
            let data = Dataset::new(&inputs, &observations, options).unwrap();
            for (loss, strength) in [(LossKind::Logistic, 1.0), (LossKind::SquaredHinge, 10.0)] {
                let scale = CScale::new(&data, &loss.clone().into(), Intercept::Free).unwrap();
                let c = scale.weights(&RegularizerKind::Power { k: 2 }, None, strength).unwrap().c;
                let spec = ProblemSpec {
                    loss: loss.into(),
                    output: RegularizerKind::Power { k: 2 },
                    c,
                    ..ProblemSpec::default()
                };
                let problem = Problem::new(&data, spec).unwrap();
                let Fit { model, passes, .. } = fit(&problem, &settings(1e-6, SolverKind::Newton)).unwrap();
                let what =
                    format!("seed {seed}, gamma {gamma}, C {c}, {passes} passes: {}", model.certificate());
                assert!(model.certificate().rel_gap() <= 1e-6 && passes < 60, "{what}");
            }
        }
    }
}
