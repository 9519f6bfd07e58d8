//! How alike the fitted functions of tasks are.

use kinfolk::inputs::{Dense, Gram, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::model::Predictor;
use kinfolk::{
    Dataset, DatasetOptions, Intercept, Kernel, Matrix, Model, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, fit,
};

const ROWS: usize = 24;
const FEATURES: usize = 3;

fn rbf(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma: Gamma::Value(gamma) }
}

fn inputs() -> Vec<f64> {
    (0..ROWS * FEATURES).map(|e| f64::from(((e * 37 + 11) % 29) as u32) / 14.0 - 1.0).collect()
}

/// Every input has all three tasks; the second is minus the first, the third is about another feature.
fn fitted(kernel: Kernel, bias: f64, unit: f64) -> Model {
    let x = inputs();
    let label = |i: usize| [x[3 * i] + 2.0, -3.0 * x[3 * i] + 1.0, x[3 * i + 1]].map(|y| unit * y);
    let observations =
        Observations::multi_output(&(0..ROWS).flat_map(label).collect::<Vec<f64>>(), ROWS, 3).unwrap();
    let inputs: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    let options = DatasetOptions { kernel, bias, ..DatasetOptions::default() };
    let data = Dataset::new(&inputs, &observations, options).unwrap();
    // Alone, so that functions are in the unit of the labels for the same C.
    let theta = (0..3).map(|r| (0..3).map(|s| if r == s { 1.0 } else { 0.0 }).collect()).collect();
    let (output, intercept) = (RegularizerKind::Fixed { theta }, Intercept::Free);
    let spec = ProblemSpec { output, intercept, c: 10.0, ..ProblemSpec::default() };
    let settings = Settings { tolerance: 1e-9, ..Settings::default() };
    fit(&Problem::new(&data, spec).unwrap(), &settings).unwrap().model
}

fn correlation_of(gram: impl Fn(usize, usize) -> f64) -> Matrix {
    let entries = (0..9).map(|e| gram(e / 3, e % 3) / (gram(e / 3, e / 3) * gram(e % 3, e % 3)).sqrt());
    Matrix::from_vec(entries.collect(), 3, 3).unwrap()
}

fn assert_close(a: &Matrix, b: &Matrix) {
    let far = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Sums of some hundred products.
    assert!(far < 1e-12, "{far:e}");
}

#[test]
fn linear_functions_are_as_alike_as_their_coefficients() {
    for bias in [0.0, 1.5] {
        let model = fitted(Kernel::Linear, bias, 1.0);
        let weights = model.weights().unwrap();
        let gram =
            |s: usize, t: usize| (0..weights.rows()).map(|j| weights[(j, s)] * weights[(j, t)]).sum::<f64>();
        assert_close(&model.function_correlation().unwrap().unwrap(), &correlation_of(gram));
    }
}

#[test]
fn functions_of_a_kernel_are_compared_in_its_space() {
    for bias in [0.0, 0.7] {
        let model = fitted(rbf(0.8), bias, 1.0);
        let Predictor::Kernel(expansion) = model.predictor() else { panic!("a kernel expansion") };
        let (x, c) = (inputs(), &expansion.coefficients);
        let value = |i: u32, j: u32| {
            let (i, j) = (i as usize, j as usize);
            let d2: f64 = (0..FEATURES).map(|k| (x[3 * i + k] - x[3 * j + k]).powi(2)).sum();
            (-0.8 * d2).exp() + bias * bias
        };
        let pairs: Vec<(usize, usize)> =
            (0..c.rows()).flat_map(|i| (0..c.rows()).map(move |j| (i, j))).collect();
        let gram = |s: usize, t: usize| {
            let term = |&(i, j): &(usize, usize)| {
                c[(i, s)] * value(expansion.rows[i], expansion.rows[j]) * c[(j, t)]
            };
            pairs.iter().map(term).sum::<f64>()
        };
        assert_close(&model.function_correlation().unwrap().unwrap(), &correlation_of(gram));
    }
}

/// Theta is another question: these tasks lend each other nothing.
#[test]
fn opposite_tasks_are_opposite_functions_in_any_unit() {
    for kernel in [Kernel::Linear, rbf(0.8)] {
        let plain = fitted(kernel.clone(), 0.0, 1.0).function_correlation().unwrap().unwrap();
        assert!(plain[(0, 1)] < -0.95 && plain[(0, 2)].abs() < 0.5, "{plain:?}");
        for unit in [1e-140, 1e140] {
            let other = fitted(kernel.clone(), 0.0, unit).function_correlation().unwrap().unwrap();
            // To the tolerance of the fit.
            assert!((other[(0, 1)] - plain[(0, 1)]).abs() < 1e-3, "{unit:e}: {other:?} {plain:?}");
        }
    }
}

#[test]
fn what_a_model_does_not_keep_is_not_guessed() {
    let values: Vec<f64> = (0..16).map(|e| if e % 5 == 0 { 1.0 } else { 0.3 }).collect();
    let inputs = Inputs::from(Gram::new(&values, 4).unwrap());
    let observations = Observations::multi_output(&[1.0, 2.0, 0.5, 1.0, -1.0, 0.0, 0.2, 1.1], 4, 2).unwrap();
    let options = DatasetOptions { kernel: Kernel::Precomputed, ..DatasetOptions::default() };
    let data = Dataset::new(&inputs, &observations, options).unwrap();
    let model =
        fit(&Problem::new(&data, ProblemSpec::default()).unwrap(), &Settings::default()).unwrap().model;
    assert_eq!(model.function_correlation().unwrap(), None);
}

#[test]
fn a_task_without_a_function_is_like_none() {
    let x = inputs();
    let task: Vec<u32> = (0..ROWS).map(|i| (i % 2) as u32).collect();
    let label = (0..ROWS).map(|i| if i % 2 == 0 { x[3 * i] } else { 0.0 }).collect();
    let observations = Observations::multi_task(&task, label).unwrap();
    let inputs: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    for kernel in [Kernel::Linear, rbf(1.0)] {
        let options = DatasetOptions { kernel, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        // Tasks that are learned alone: the second, whose labels are all zero, is the function zero.
        let output = RegularizerKind::Fixed { theta: vec![vec![1.0, 0.0], vec![0.0, 1.0]] };
        let spec = ProblemSpec { output, ..ProblemSpec::default() };
        let model = fit(&Problem::new(&data, spec).unwrap(), &Settings::default()).unwrap().model;
        let alike = model.function_correlation().unwrap().unwrap();
        assert_eq!(alike.as_slice(), [1.0, 0.0, 0.0, 0.0]);
    }
}
