//! Tasks without observations borrow from the others by way of atoms.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    Dataset, DatasetOptions, Intercept, Kernel, LossKind, Model, Observations, Problem, ProblemSpec,
    RegularizerKind, Scaling, ScalingKind, Settings, TaskNames, fit,
};

const FILLED: usize = 4;
const ROWS: usize = 24;
const FEATURES: usize = 3;

fn inputs() -> Vec<f64> {
    (0..ROWS * FEATURES).map(|e| f64::from(((e * 37 + 11) % 29) as u32) / 14.0 - 1.0).collect()
}

/// Four tasks with rows, and `empty` ones after them. Labels are in this unit.
fn fitted(
    x: &[f64],
    empty: usize,
    output: RegularizerKind,
    atoms: Vec<AtomSpec>,
    intercept: Intercept,
    kernel: Kernel,
    (unit, c): (f64, f64),
) -> Model {
    let task: Vec<u32> = (0..ROWS).map(|i| (i % FILLED) as u32).collect();
    let label =
        |i: usize| unit * (x[3 * i] - 0.5 * x[3 * i + 1] + 0.2 * (i % FILLED) as f64 * x[3 * i + 2] + 0.3);
    let observations = Observations::multi_task(&task, (0..ROWS).map(label).collect()).unwrap();
    let names = (0..FILLED + empty).map(|t| format!("t{t}")).collect();
    let observations = observations.with_task_names(TaskNames::Strings(names)).unwrap();
    let inputs: Inputs<'_> = Dense::f64(x, ROWS, FEATURES).unwrap().into();
    let data =
        Dataset::new(&inputs, &observations, DatasetOptions { kernel, ..DatasetOptions::default() }).unwrap();
    let spec = ProblemSpec { output, atoms, intercept, c, ..ProblemSpec::default() };
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    fit(&Problem::new(&data, spec).unwrap(), &settings).unwrap().model
}

fn atoms(n: usize) -> Vec<AtomSpec> {
    let falling = |r: usize, s: usize| 0.6f64.powi(r.abs_diff(s) as i32);
    let rows = (0..n).map(|r| (0..n).map(|s| falling(r, s)).collect()).collect();
    vec![
        AtomSpec::new("common", 3.0, AtomKind::Common),
        AtomSpec::new("likeness", 2.0, AtomKind::Matrix { rows }),
    ]
}

fn outputs() -> [RegularizerKind; 4] {
    [
        RegularizerKind::Power { k: 1 },
        RegularizerKind::Power { k: 2 },
        RegularizerKind::Exp { prior: None },
        RegularizerKind::Cosh,
    ]
}

/// A row of Theta gives the task of that row back, with rows of its own or without, however large the units are.
#[test]
fn a_task_that_is_related_like_another_is_that_task() {
    let x = inputs();
    let new: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    for output in outputs() {
        for kernel in [Kernel::Linear, "rbf:0.5".parse().unwrap()] {
            for unit in [1e-60, 1.0, 1e60] {
                if unit != 1.0 && !matches!(output, RegularizerKind::Power { k: 1 }) {
                    continue;
                }
                let model =
                    fitted(&x, 2, output.clone(), atoms(6), Intercept::None, kernel.clone(), (unit, 2.0));
                let all = model.predict_all(&new).unwrap();
                for t in 0..6 {
                    let task = model.borrowed_task(model.theta().row(t)).unwrap();
                    let found = model.predict_borrowed(&new, &task).unwrap();
                    for (i, p) in found.iter().enumerate() {
                        let close = (p - all[(i, t)]).abs() <= 1e-6 * unit;
                        assert!(close, "{output}, {kernel}, unit {unit}, task {t}: {p} {}", all[(i, t)]);
                    }
                    assert_eq!(
                        model.borrowed_empty_task(4).unwrap(),
                        Some(model.borrowed_task(model.theta().row(4)).unwrap())
                    );
                }
            }
        }
    }
}

/// Adding an empty task to a problem whose S has it already leaves the others alone: the prediction for it is that for
/// a new task of the smaller problem.
#[test]
fn an_empty_task_is_a_new_task() {
    let x = inputs();
    let new: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    let s = |r: usize, t: usize| 0.6f64.powi(r.abs_diff(t) as i32);
    let norm = |n: usize| (0..n * n).map(|e| s(e / n, e % n).powi(2)).sum::<f64>().sqrt();
    let kind =
        |n: usize| AtomKind::Matrix { rows: (0..n).map(|r| (0..n).map(|t| s(r, t)).collect()).collect() };
    // w phi(<S, rho>) with phi(z) = z^2 / 2: another norm is another weight.
    let (small, large) = (5.0, 5.0 * (norm(5) / norm(4)).powi(2));
    let fitted = |n: usize, weight: f64| {
        let atoms = vec![AtomSpec::new("likeness", weight, kind(n))];
        fitted(
            &x,
            n - FILLED,
            RegularizerKind::Power { k: 1 },
            atoms,
            Intercept::Free,
            Kernel::Linear,
            (1.0, 2.0),
        )
    };
    let (four, five) = (fitted(4, small), fitted(5, large));
    let a = four.atoms()[0].coefficient / norm(4);
    let row: Vec<f64> = (0..4).map(|t| a * s(4, t)).collect();
    let as_new = four.predict_borrowed(&new, &four.borrowed_task(&row).unwrap()).unwrap();
    let empty = five.borrowed_empty_task(4).unwrap().unwrap();
    let as_empty = five.predict_borrowed(&new, &empty).unwrap();
    for (a, b) in as_new.iter().zip(&as_empty) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn nothing_is_borrowed_without_atoms_and_wrong_rows_are_refused() {
    let x = inputs();
    let new: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    let power = RegularizerKind::Power { k: 1 };
    let plain = fitted(&x, 1, power.clone(), vec![], Intercept::Free, Kernel::Linear, (1.0, 2.0));
    assert_eq!((plain.borrowed_empty_task(4).unwrap(), plain.common_task().unwrap()), (None, None));
    let all = plain.predict_all(&new).unwrap();
    let mean = plain.predict_mean(&new).unwrap();
    assert!((mean[0] - (0..4).map(|t| all[(0, t)]).sum::<f64>() / 4.0).abs() < 1e-12);
    // With a large weight of common all tasks have one function, and so has any other.
    let common = vec![AtomSpec::new("common", 1e9, AtomKind::Common)];
    let shared = fitted(&x, 0, power, common, Intercept::None, Kernel::Linear, (1.0, 1e-3));
    let (all, any) = (shared.predict_all(&new).unwrap(), shared.predict_mean(&new).unwrap());
    (0..ROWS).for_each(|i| assert!((all[(i, 0)] - any[i]).abs() < 1e-4));
    assert!(plain.borrowed_task(&[1.0]).is_err() && plain.borrowed_task(&[f64::NAN; 5]).is_err());
}

/// An intercept of labels of one class says little about tasks that are not known.
#[test]
fn a_task_of_one_class_does_not_decide_about_unknown_tasks() {
    let task: Vec<u32> = (0..40).map(|i| i % 4).collect();
    let x: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let label = |i: usize| if task[i] == 3 || x[i] + 0.4 * (i as f64).cos() < 0.0 { -1.0 } else { 1.0 };
    let observations = Observations::multi_task(&task, (0..40).map(label).collect()).unwrap();
    let inputs: Inputs<'_> = Dense::f64(&x, 40, 1).unwrap().into();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    for atoms in [vec![], vec![AtomSpec::new("common", 1.0, AtomKind::Common)]] {
        let spec = ProblemSpec { loss: LossKind::Logistic.into(), atoms, ..ProblemSpec::default() };
        let model = fit(&Problem::new(&data, spec).unwrap(), &Settings::default()).unwrap().model;
        let b = model.intercept().unwrap();
        assert!(b[3] < -1.0 && b[..3].iter().all(|b| b.abs() < 1.0), "{b:?}");
        let mean = model.predict_mean(&inputs).unwrap().iter().sum::<f64>() / 40.0;
        assert!(mean.abs() < 1.0, "{mean}");
    }
}

/// Adding a constant to features changes no prediction of a task without rows, whether scaling takes means away or not.
#[test]
fn shifts_of_features_do_not_matter() {
    let predicted = |kind: ScalingKind, shift: f64| {
        let x: Vec<f64> = inputs().iter().map(|x| x + shift).collect();
        let raw: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
        let scaling = Scaling::fit(kind, &raw).unwrap();
        let Inputs::Dense(scaled) = scaling.apply(&raw).unwrap() else { panic!("dense stays dense") };
        let scaled = scaled.as_f64().unwrap().to_vec();
        let shifted = |x: f64| x - shift;
        let labels: Vec<f64> = x.chunks(3).map(|row| shifted(row[0]) - 0.5 * shifted(row[1])).collect();
        let task: Vec<u32> = (0..ROWS).map(|i| (i % FILLED) as u32).collect();
        let labels = labels.iter().zip(&task).map(|(y, t)| y * (1.0 + 0.3 * f64::from(*t))).collect();
        let observations = Observations::multi_task(&task, labels).unwrap();
        let scaled: Inputs<'_> = Dense::f64(&scaled, ROWS, FEATURES).unwrap().into();
        let data = Dataset::new(&scaled, &observations, DatasetOptions::default()).unwrap();
        let atoms = vec![AtomSpec::new("common", 3.0, AtomKind::Common)];
        let settings = Settings { tolerance: 1e-10, ..Settings::default() };
        let problem = Problem::new(&data, ProblemSpec { atoms, ..ProblemSpec::default() }).unwrap();
        let mut model = fit(&problem, &settings).unwrap().model;
        model.set_scaling(scaling).unwrap();
        let task = model.common_task().unwrap().expect("there is a common part");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let found = model.predict_borrowed(&raw, &task).unwrap();
        let task = again.common_task().unwrap().expect("there is a common part");
        assert_eq!(again.predict_borrowed(&raw, &task).unwrap(), found);
        found
    };
    let want = predicted(ScalingKind::Standard, 0.0);
    for (kind, shift) in
        [(ScalingKind::Standard, 300.0), (ScalingKind::Spread, 0.0), (ScalingKind::Spread, 300.0)]
    {
        for (got, want) in predicted(kind, shift).iter().zip(&want) {
            assert!((got - want).abs() < 1e-4, "{kind} {shift}: {got} instead of {want}");
        }
    }
}
