//! Inputs, labels, C and lambda far from one, and data with nothing in them: always numbers, always an honest
//! certificate.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    Certificate, Dataset, Fit, Intercept, LossKind, Observations, Problem, ProblemSpec, RegularizerKind,
    Settings, SolverKind, Status, certify, fit,
};

fn exp() -> RegularizerKind {
    RegularizerKind::Exp { prior: None }
}

fn outputs() -> Vec<RegularizerKind> {
    vec![power(1), power(2), power(4), exp(), RegularizerKind::Cosh]
}

const LOSSES: [LossKind; 3] = [LossKind::Squared, LossKind::Hinge, LossKind::Logistic];

fn scaled(sample: &Sample, s: f64) -> Sample {
    let x = sample.x.iter().map(|x| s * x).collect();
    Sample { x, ..sample.clone() }
}

/// Few passes: these tests are about numbers, not about speed.
fn quick(tolerance: f64) -> Settings {
    Settings { max_passes: 1000, ..sdca(tolerance) }
}

/// Numbers throughout, a certificate that can be recomputed, and for coordinate ascent no worse than doing
/// nothing (whose dual is 0).
fn assert_sound(name: &str, setup: &Setup, problem: &Problem<'_>, fit: &Fit) {
    let Certificate { primal, dual, gap, .. } = *fit.certificate();
    let model = &fit.model;
    let finite = |what: &str, values: &[f64]| {
        assert!(values.iter().all(|v| v.is_finite()), "{name}: {what} {values:?}");
    };
    finite("primal, dual, gap", &[primal, dual, gap]);
    finite("theta", model.theta().as_slice());
    finite("correlation", model.correlation().as_slice());
    finite("alpha", model.alpha().unwrap());
    finite("predictions", setup.predict(fit).as_slice());
    assert!(gap >= 0.0 && fit.certificate().rel_gap() >= 0.0, "{name}: {gap}");
    assert!(dual >= 0.0 || fit.solver != "sdca", "{name}: {dual}");
    assert!(dual <= primal * (1.0 + 1e-14), "{name}: {dual} {primal}");
    assert_eq!(fit.status() == Status::Certified, fit.certificate().rel_error() <= 1e-6, "{name}");
    // Not bit by bit: duals may be so small that alpha is not a normal number.
    let again = certify(problem, model.alpha().unwrap(), model.v()).unwrap();
    assert_close(name, &[again.primal, again.dual, again.gap], &[primal, dual, gap], 1e-9);
}

/// Calls `check(name, loss, output, c, lambda, problem, fit)` for every loss, regulariser, C and lambda at
/// scale s.
fn each_problem(s: f64, check: impl Fn(&str, &LossKind, &RegularizerKind, (f64, f64), &Fit)) {
    for loss in LOSSES {
        let setup = Setup::new(Source::Dense, &scaled(&Sample::new(Shape::Own, 1), s), &loss);
        let data = setup.data();
        for output in outputs() {
            for c in [1e-6, 1.0, 1e6] {
                for lambda in [1e-6, 1.0, 1e6] {
                    let name = format!("inputs {s:e} C {c:e} lambda {lambda:e} {loss} {output}");
                    let problem = Problem::new(&data, spec(loss.clone(), output.clone(), c, lambda)).unwrap();
                    let fit = fit(&problem, &quick(1e-6)).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_sound(&name, &setup, &problem, &fit);
                    check(&name, &loss, &output, (c, lambda), &fit);
                }
            }
        }
    }
}

/// Where regularisation counts for something: a thousand passes must do. Elsewhere the squared loss is an
/// ill-conditioned least squares problem, and the hinge loss has an optimum below C times the rounding of a
/// margin.
fn must_be_solved(s: f64, loss: &LossKind, output: &RegularizerKind, (c, lambda): (f64, f64)) -> bool {
    match loss {
        LossKind::Logistic => s <= 1.0 || *output != exp(),
        LossKind::Hinge => s <= 1.0 && (c <= 1.0 || *output != exp()),
        _ => s <= 1e-100 || (s <= 1.0 && c <= 1.0 && lambda >= 1.0),
    }
}

fn every_problem_is_sound(s: f64) {
    each_problem(s, |name, loss, output, parameters, fit| {
        if must_be_solved(s, loss, output, parameters) {
            let gap = fit.certificate().rel_gap();
            assert!(gap <= 1e-6, "{name}: gap {gap:e} after {} passes", fit.passes);
        }
    });
}

#[test]
fn small_inputs() {
    [1e-150, 1e-100, 1e-6].into_iter().for_each(every_problem_is_sound);
}

#[test]
fn middling_inputs() {
    [1.0, 1e6].into_iter().for_each(every_problem_is_sound);
}

#[test]
fn large_inputs() {
    [1e100, 1e150].into_iter().for_each(every_problem_is_sound);
}

#[test]
fn every_source_at_every_scale() {
    for s in [1e-150, 1e-6, 1e6, 1e100] {
        let sample = scaled(&Sample::new(Shape::Missing, 1), s);
        for source in SOURCES.into_iter().filter(|source| *source != Source::Single) {
            let loss = LossKind::Logistic;
            let setup = Setup::new(source, &sample, &loss);
            let data = setup.data();
            for output in [power(2), RegularizerKind::Cosh] {
                let name = format!("inputs {s:e} {source:?} {output}");
                let problem = Problem::new(&data, spec(loss.clone(), output.clone(), 1.0, 1.0)).unwrap();
                let fit = fit(&problem, &quick(1e-6)).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_sound(&name, &setup, &problem, &fit);
                assert!(fit.certificate().rel_gap() <= 1e-6, "{name}: gap {:e}", fit.certificate().rel_gap());
            }
        }
    }
}

/// The cosine kernel sees directions only, of rows as small and as large as numbers can be.
#[test]
fn the_cosine_kernel_knows_no_scale() {
    let sample = Sample::new(Shape::Own, 1);
    let run = |factors: [f64; 3]| {
        let factor = |i: usize| factors[i / FEATURES % 3];
        let x = sample.x.iter().enumerate().map(|(i, x)| factor(i) * x).collect();
        let setup = Setup::new(Source::Cosine, &Sample { x, ..sample.clone() }, &LossKind::Hinge);
        let settings = Settings { max_passes: 20, ..sdca(1e-300) };
        let fit = setup.fit(spec(LossKind::Hinge, power(2), 1.0, 0.5), &settings);
        let theta = fit.model.theta().clone();
        (setup.predict(&fit), theta)
    };
    let (predictions, theta) = run([1.0; 3]);
    for factors in [[1e-300; 3], [1e300; 3], [1e-300, 1.0, 1e300], [1e-160, 1e-10, 1e160]] {
        let (other, other_theta) = run(factors);
        assert_close(&format!("{factors:?}"), other.as_slice(), predictions.as_slice(), 1e-9);
        assert_close(&format!("{factors:?}"), other_theta.as_slice(), theta.as_slice(), 1e-9);
    }
}

/// Next to a constant feature of ordinary size, tiny inputs are as good as none.
#[test]
fn a_constant_feature_beside_tiny_inputs() {
    let run = |s: f64| {
        let sample = scaled(&Sample::new(Shape::Own, 1), s);
        let setup = Setup::new(Source::Bias, &sample, &LossKind::Squared);
        let fit = setup.fit(spec(LossKind::Squared, power(1), 1.0, 0.5), &quick(1e-10));
        assert_eq!(fit.status(), Status::Certified, "{s:e}");
        fit.model.predict_all(&setup.inputs).unwrap()
    };
    let nothing = run(0.0);
    for s in [1e-100, 1e-160, 1e-200, 1e-300] {
        assert_close(&format!("{s:e}"), run(s).as_slice(), nothing.as_slice(), 1e-4);
    }
}

#[test]
fn the_fourth_power_does_not_mind_a_million() {
    for s in [1e-6, 1e6] {
        let sample = scaled(&Sample::new(Shape::Shared, 1), s);
        for loss in LOSSES {
            let setup = Setup::new(Source::Dense, &sample, &loss);
            let solver = if loss == LossKind::Squared { SolverKind::Spectral } else { SolverKind::Sdca };
            let settings = Settings { solver, ..sdca(1e-6) };
            let fit = setup.fit(spec(loss.clone(), power(4), 1.0, 1.0), &settings);
            let gap = fit.certificate().rel_gap();
            assert_eq!(fit.status(), Status::Certified, "inputs {s:e} {loss}: gap {gap:e}");
        }
    }
}

/// For powers only `tau = C^((4k-1)/(2k-1)) / lambda` counts, and inputs times s are `tau` times
/// `s^(4k/(2k-1))` (docs/math.md, \"One hyper-parameter\"). All factors are powers of two here, so that the
/// solvers do the same arithmetic but for the roots in `tau`.
#[test]
fn scaling_inputs_c_and_lambda_together_changes_no_prediction() {
    for loss in LossKind::all_examples() {
        let sample = Sample::new(Shape::Missing, 4);
        for k in [1, 2, 4] {
            let odd = 2 * k - 1;
            let run = |s_exponent: i32, c_exponent: i32| {
                let two = |exponent: i32| f64::from(exponent).exp2();
                let (s, c) = (two(s_exponent), two(c_exponent));
                let lambda_exponent = (4 * k * s_exponent + (4 * k - 1) * c_exponent) / odd;
                let setup = Setup::new(Source::Dense, &scaled(&sample, s), &loss);
                let settings = Settings { max_passes: 20, ..sdca(1e-300) };
                let fit =
                    setup.fit(spec(loss.clone(), power(k as u32), c, 0.5 * two(lambda_exponent)), &settings);
                let predictions = fit.model.predict_all(&setup.inputs).unwrap();
                let kappa: Vec<f64> = fit.model.alpha().unwrap().iter().map(|a| a / c).collect();
                (predictions, kappa, fit.certificate().primal / c)
            };
            let (predictions, kappa, primal) = run(0, 0);
            // Multiples of 105 = 1 * 3 * 5 * 7 are divisible by every 2k - 1.
            for (s_exponent, c_exponent) in [(105, 0), (-105, 0), (0, 105), (0, -105), (-210, 105), (21, -21)]
            {
                let name = format!("{loss} k = {k} inputs 2^{s_exponent} C 2^{c_exponent}");
                let (other, other_kappa, other_primal) = run(s_exponent, c_exponent);
                assert_close(&name, other.as_slice(), predictions.as_slice(), 1e-9);
                assert_close(&name, &other_kappa, &kappa, 1e-9);
                assert_close(&name, &[other_primal], &[primal], 1e-9);
            }
        }
    }
}

#[test]
fn one_observation() {
    for loss in LossKind::all_examples() {
        for output in RegularizerKind::entrywise_examples(1) {
            let name = format!("{loss} {output}");
            let inputs = dense(&[1.0, 2.0, 0.0, -1.0, 0.5]);
            let observations = Observations::multi_task(&[0], vec![1.0]).unwrap();
            let setup = Setup { fresh: inputs.clone(), inputs, observations, options: linear() };
            let data = setup.data();
            let problem = problem_of(&data, loss.clone(), output.clone(), 2.0);
            let fit = fit(&problem, &quick(1e-10)).unwrap();
            assert_eq!(fit.status(), Status::Certified, "{name}");
            // Nothing pulls the prediction beyond the label, or below zero.
            let prediction = setup.predict(&fit)[(0, 0)];
            let most = if loss == LossKind::Logistic { f64::INFINITY } else { 1.0 + 1e-6 };
            assert!(prediction >= 0.0 && prediction <= most, "{name}: {prediction}");
        }
    }
}

/// Data with nothing, or nothing new, in them.
#[test]
fn degenerate_data() {
    let ones = |n: usize| vec![1.0; n * FEATURES];
    let copies = |row: [f64; FEATURES], n: usize| row.repeat(n);
    let task: Vec<u32> = (0..12).map(|i| i % 3).collect();
    let alternating: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut some_zero = inputs(12, &mut Random(3));
    some_zero[..3 * FEATURES].fill(0.0);
    let cases = [
        ("all inputs zero", vec![0.0; 12 * FEATURES], alternating.clone()),
        ("some inputs zero", some_zero, alternating.clone()),
        ("constant features", ones(12), alternating.clone()),
        ("equal rows, equal labels", copies([1.0, 0.0, -2.0, 0.5, 0.0], 12), vec![1.0; 12]),
        ("all labels 1", inputs(12, &mut Random(1)), vec![1.0; 12]),
        ("all labels -1", inputs(12, &mut Random(1)), vec![-1.0; 12]),
    ];
    for (what, x, label) in cases {
        for loss in LossKind::all_examples() {
            for output in RegularizerKind::entrywise_examples(TASKS) {
                for source in
                    [Source::Dense, Source::Sparse, Source::Precomputed, Source::Rbf, Source::Cosine]
                {
                    let name = format!("{what} {loss} {output} {source:?}");
                    let input = (0..12).collect();
                    let sample = Sample { x: x.clone(), input, task: task.clone(), label: label.clone() };
                    let setup = Setup::new(source, &sample, &loss);
                    let data = setup.data();
                    let problem = problem_of(&data, loss.clone(), output.clone(), 1.0);
                    let fit = fit(&problem, &sdca(1e-6)).unwrap_or_else(|error| panic!("{name}: {error}"));
                    let gap = fit.certificate().rel_gap();
                    assert_eq!(fit.status(), Status::Certified, "{name}: gap {gap:e} after {}", fit.passes);
                    let predictions = setup.predict(&fit);
                    assert!(predictions.as_slice().iter().all(|f| f.is_finite()), "{name}: {predictions:?}");
                    if what == "all inputs zero" && source != Source::Rbf {
                        assert!(predictions.as_slice().iter().all(|f| *f == 0.0), "{name}: {predictions:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn zero_inputs_in_the_spectral_solver() {
    for output in RegularizerKind::entrywise_examples(TASKS) {
        for source in [Source::Dense, Source::Precomputed] {
            for (what, x, label) in [
                ("zero inputs", vec![0.0; 8 * FEATURES], Sample::new(Shape::Shared, 1).label),
                ("zero labels", Sample::new(Shape::Shared, 1).x, vec![0.0; 24]),
                ("equal rows", vec![1.0; 8 * FEATURES], Sample::new(Shape::Shared, 1).label),
            ] {
                let name = format!("{what} {output} {source:?}");
                let sample = Sample { x, label, ..Sample::new(Shape::Shared, 1) };
                let setup = Setup::new(source, &sample, &LossKind::Squared);
                let settings = Settings { solver: SolverKind::Spectral, ..sdca(1e-6) };
                let data = setup.data();
                let problem = problem_of(&data, LossKind::Squared, output.clone(), 1.0);
                let fit = fit(&problem, &settings).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_sound(&name, &setup, &problem, &fit);
                assert_eq!(fit.status(), Status::Certified, "{name}: gap {:e}", fit.certificate().rel_gap());
            }
        }
    }
}

/// Rows of zeros and a C that no dual comes near: steps of duals on those rows are not bounded by anything else, and
/// leave the range of double precision. The model is then the best one that has numbers.
#[test]
fn a_huge_c_with_rows_of_zeros_ends_with_numbers() {
    let x = [0.42, -0.68, 0.0, 0.0, 0.0, 0.0, -0.9, -0.3, 0.0, 0.0, -0.07, -0.11]
        .into_iter()
        .chain([0.0, 0.0, 0.73, 0.19, 0.47, -1.0, -0.42, -0.18, -1.0, 0.35, 0.0, 0.0])
        .collect::<Vec<f64>>();
    let inputs: Inputs<'_> = Dense::f64(&x, 12, 2).unwrap().into();
    let labels = vec![-1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
    let observations = Observations::multi_task(&[1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1], labels).unwrap();
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let prior = vec![vec![15.8, -94.6], vec![-94.6, 1501.7]];
    for output in [RegularizerKind::Frobenius { prior }, power(1), power(4)] {
        for (c, solver) in [(1e101, SolverKind::Sdca), (1e140, SolverKind::Sdca), (1e140, SolverKind::Auto)] {
            let name = format!("{output}, C {c:e}, {solver}");
            let spec =
                ProblemSpec { intercept: Intercept::Free, ..spec(LossKind::Hinge, output.clone(), c, 1.0) };
            let problem = Problem::new(&data, spec).unwrap();
            let settings = Settings { solver, ..quick(1e-6) };
            let fit = fit(&problem, &settings).unwrap_or_else(|error| panic!("{name}: {error}"));
            // All labels of the wrong side: no model needs to be worse than zero.
            assert!(fit.certificate().primal <= 12.0 * c, "{name}: {}", fit.certificate());
        }
    }
}

/// Weights are of moderate size beside inputs of 1e-134, although products of these inputs and duals are below double
/// precision.
#[test]
fn weights_of_tiny_inputs_do_not_vanish() {
    let x: Vec<f64> = (0..16).map(|i| 1e-134 * (f64::from(i) - 7.3)).collect();
    let labels = (0..16).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let inputs: Inputs<'_> = Dense::f64(&x, 16, 1).unwrap().into();
    let observations = Observations::multi_task(&[0; 16], labels).unwrap();
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let output = RegularizerKind::Fixed { theta: vec![vec![1.0]] };
    let problem = Problem::new(&data, spec(LossKind::Hinge, output, 0.002, 1.0)).unwrap();
    let fit = fit(&problem, &quick(1e-6)).unwrap();
    let expected: f64 = x.iter().zip(fit.model.alpha().unwrap()).map(|(x, a)| x * a).sum();
    let found = fit.model.predict_all(&Dense::f64(&[1.0], 1, 1).unwrap().into()).unwrap()[(0, 0)];
    assert!(expected != 0.0 && (found / expected - 1.0).abs() < 1e-9, "{found:e} is not {expected:e}");
}

/// Labels so small beside inputs so large that duals are below double precision: a model could not be proved.
#[test]
fn duals_below_double_precision_are_an_error() {
    let x: Vec<f64> = (0..8).map(|i| 1e134 * (f64::from(i) - 3.3)).collect();
    let labels = (0..8).map(|i| 1e-45 * f64::from(i % 3)).collect();
    let inputs: Inputs<'_> = Dense::f64(&x, 8, 1).unwrap().into();
    let observations = Observations::multi_task(&[0; 8], labels).unwrap();
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let output = RegularizerKind::Fixed { theta: vec![vec![1.0]] };
    let problem = Problem::new(&data, spec(LossKind::Absolute, output, 0.01, 1.0)).unwrap();
    let error = fit(&problem, &quick(1e-2)).unwrap_err().to_string();
    assert!(error.contains("scale the inputs or the labels"), "{error}");
}

/// C so large beside large inputs that numbers of the model are infinite, or none at all.
#[test]
fn a_model_beyond_double_precision_is_an_error() {
    let x = [1e73, 5e72, -3e72, 8e72];
    let inputs: Inputs<'_> = Dense::f64(&x, 4, 1).unwrap().into();
    let observations = Observations::multi_task(&[0, 0, 1, 1], vec![5e72, 2e72, -1e72, 6e72]).unwrap();
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let theta = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    for (output, name) in [(RegularizerKind::Fixed { theta }, "a weight"), (power(1), "theta")] {
        let problem = Problem::new(&data, spec(LossKind::Squared, output, 1e150, 1.0)).unwrap();
        let error = fit(&problem, &Settings::default()).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains("scale the inputs or the labels"), "{error}");
    }
}

/// Labels that every prediction 0 already fits: no dual moves, no input is remembered.
#[test]
fn nothing_to_learn() {
    for source in SOURCES {
        for output in RegularizerKind::entrywise_examples(TASKS) {
            let sample = Sample { label: vec![0.05; 24], ..Sample::new(Shape::Missing, 1) };
            let loss = LossKind::Epsilon { epsilon: 0.1 };
            let setup = Setup::new(source, &sample, &loss);
            let fit = setup.fit(spec(loss, output.clone(), 1.0, 0.5), &sdca(1e-6));
            assert_eq!(
                (fit.status(), fit.certificate().primal),
                (Status::Certified, 0.0),
                "{source:?} {output}"
            );
            assert!(setup.predict(&fit).as_slice().iter().all(|f| *f == 0.0), "{source:?} {output}");
        }
    }
}

/// Regression with labels of this size; `check(name, fit)` after the usual assertions.
fn each_regression(size: f64, solver: SolverKind, check: impl Fn(&str, &Fit)) {
    let mut sample = Sample::new(Shape::Shared, 1);
    sample.label.iter_mut().for_each(|y| *y *= size);
    let suits = |loss: &LossKind| match solver {
        SolverKind::Spectral => *loss == LossKind::Squared,
        _ => !loss.is_classification(),
    };
    for loss in LossKind::all_examples().iter().filter(|loss| suits(loss)) {
        let setup = Setup::new(Source::Dense, &sample, loss);
        let data = setup.data();
        for output in outputs() {
            let name = format!("labels {size:e} {loss} {output} {solver:?}");
            let problem = Problem::new(&data, spec(loss.clone(), output.clone(), 1.0, 1.0)).unwrap();
            let settings = Settings { solver, ..quick(1e-6) };
            let fit = fit(&problem, &settings).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_sound(&name, &setup, &problem, &fit);
            check(&name, &fit);
        }
    }
}

#[test]
fn labels_of_any_size_in_coordinate_ascent() {
    for size in [1e-100, 1e-10, 1e10, 1e100] {
        each_regression(size, SolverKind::Sdca, |_, _| {});
    }
}

#[test]
fn labels_of_many_sizes_in_the_spectral_solver() {
    for size in [1e-100, 1e-10, 1e-3, 1e3, 1e5] {
        each_regression(size, SolverKind::Spectral, |name, fit| {
            assert_eq!(fit.status(), Status::Certified, "{name}: gap {:e}", fit.certificate().rel_gap());
        });
    }
}

#[test]
fn huge_labels_in_the_spectral_solver() {
    for size in [1e10, 1e50, 1e100] {
        each_regression(size, SolverKind::Spectral, |_, _| {});
    }
}
