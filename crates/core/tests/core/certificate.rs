//! Primal, dual and gap at arbitrary points, against the formulas written out with loops.

use crate::common::*;
use kinfolk::inputs::{Dense, Gram, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::loss::Loss;
use kinfolk::regularizer::Entrywise;
use kinfolk::{
    Dataset, DatasetOptions, Form, Intercept, Kernel, LossKind, Matrix, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, Status, certify, fit,
};

const C: f64 = 0.7;
const LAMBDA: f64 = 1.3;

/// The problem written out: kernel values between observations, labels, tasks, weights.
struct Plain {
    kernel: Vec<Vec<f64>>,
    label: Vec<f64>,
    task: Vec<usize>,
    weight: Vec<f64>,
    loss: Box<dyn Loss>,
    output: Box<dyn Entrywise>,
}

/// `sum_ij a_i k_ij b_j` for every pair of tasks.
fn task_gram(plain: &Plain, a: &[f64]) -> Matrix {
    let mut gram = Matrix::zeros(TASKS, TASKS);
    for (i, row) in plain.kernel.iter().enumerate() {
        for (j, k) in row.iter().enumerate() {
            gram[(plain.task[i], plain.task[j])] += a[i] * k * a[j];
        }
    }
    gram
}

fn over_two_lambda(gram: &Matrix) -> Matrix {
    let values = gram.as_slice().iter().map(|g| g / (2.0 * LAMBDA)).collect();
    Matrix::from_vec(values, TASKS, TASKS).unwrap()
}

/// C sum w L(y, F) + <Theta, G> / 2 + lambda sum phi*(Theta), for a function with expansion coefficients `a`.
fn primal(plain: &Plain, a: &[f64]) -> f64 {
    let gram = task_gram(plain, a);
    let theta = plain.output.theta(&over_two_lambda(&gram));
    let mut value = 0.0;
    for (i, row) in plain.kernel.iter().enumerate() {
        let f: f64 =
            row.iter().enumerate().map(|(j, k)| theta[(plain.task[i], plain.task[j])] * k * a[j]).sum();
        value += C * plain.weight[i] * plain.loss.value(plain.label[i], f);
    }
    for r in 0..TASKS {
        for s in 0..TASKS {
            value +=
                0.5 * theta[(r, s)] * gram[(r, s)] + LAMBDA * plain.output.phi_conj((r, s), theta[(r, s)]);
        }
    }
    value
}

/// -C sum w L*(y, -alpha / C w) - lambda sum phi(rho).
fn dual(plain: &Plain, alpha: &[f64]) -> f64 {
    let mut value = -LAMBDA * plain.output.phi_sum(&over_two_lambda(&task_gram(plain, alpha)));
    for (i, a) in alpha.iter().enumerate() {
        let c = C * plain.weight[i];
        value -= c * plain.loss.conj(plain.label[i], -a / c);
    }
    value
}

/// Duals inside their domains, some of them at an end.
fn feasible(plain: &Plain, random: &mut Random) -> Vec<f64> {
    let one = |i: usize| {
        let (low, high) = plain.loss.conj_domain(plain.label[i]);
        let (low, high) = (low.max(-2.0), high.min(2.0));
        let share = (0.75 * random.fine() + 0.5).clamp(0.0, 1.0);
        -C * plain.weight[i] * (low + share * (high - low))
    };
    (0..plain.label.len()).map(one).collect()
}

/// Coordinates of the function with these coefficients: X'A for linear kernels, A itself for others.
fn coordinates(sample: &Sample, kernel: &Kernel, a: &[f64]) -> Matrix {
    let dim = if *kernel == Kernel::Linear { FEATURES } else { sample.n_inputs() };
    let mut v = Matrix::zeros(dim, TASKS);
    for (o, a) in a.iter().enumerate() {
        let (input, task) = (sample.input[o] as usize, sample.task[o] as usize);
        if *kernel == Kernel::Linear {
            (0..FEATURES).for_each(|j| v[(j, task)] += a * sample.x[input * FEATURES + j]);
        } else {
            v[(input, task)] += a;
        }
    }
    v
}

#[test]
fn certificates_are_the_formulas() {
    for shape in SHAPES {
        let sample = Sample::new(shape, 20);
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.25) }] {
            for loss in LossKind::all_examples() {
                for output in RegularizerKind::entrywise_examples(TASKS) {
                    let mut random = Random(21);
                    let weight: Vec<f64> = (0..24).map(|_| 1.0 + 0.5 * random.fine()).collect();
                    let row = |o: usize| &sample.x[sample.input[o] as usize * FEATURES..][..FEATURES];
                    let value = |x: &[f64], z: &[f64]| match kernel {
                        Kernel::Linear => x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>(),
                        _ => (-0.25 * x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum::<f64>()).exp(),
                    };
                    let plain = Plain {
                        kernel: (0..24).map(|i| (0..24).map(|j| value(row(i), row(j))).collect()).collect(),
                        label: sample.labels(&loss),
                        task: sample.task.iter().map(|&t| t as usize).collect(),
                        weight: weight.clone(),
                        loss: loss.build().unwrap(),
                        output: entrywise(&output),
                    };
                    let (inputs, observations) =
                        (dense(&sample.x), sample.observations(&loss).with_weights(&weight).unwrap());
                    let options = DatasetOptions { kernel: kernel.clone(), ..linear() };
                    let data = Dataset::new(&inputs, &observations, options).unwrap();
                    let problem = Problem::new(&data, spec(loss.clone(), output.clone(), C, LAMBDA)).unwrap();
                    let alpha = feasible(&plain, &mut random);
                    let name = format!("{shape:?} {kernel} {loss} {output}");
                    // Roundings of some hundred terms, which powers and exponentials multiply.
                    let close = |what: &str, got: f64, want: f64, size: f64| {
                        assert!(
                            (got - want).abs() <= 1e-11 * size,
                            "{name}: {what} {got:e} instead of {want:e}"
                        );
                    };
                    let one = certify(&problem, &alpha, None).unwrap();
                    let (p, d) = (primal(&plain, &alpha), dual(&plain, &alpha));
                    assert_eq!(one.form, Form::OnePoint);
                    close("primal", one.primal, p, p.abs());
                    close("dual", one.dual, d, p.abs() + d.abs());
                    close("gap", one.gap, p - d, p.abs() + d.abs());
                    // Another primal point: as good a certificate, of another pair.
                    let other: Vec<f64> = alpha.iter().map(|a| 0.8 * a + 0.05 * random.fine()).collect();
                    let v = coordinates(&sample, &kernel, &other);
                    let two = certify(&problem, &alpha, Some(&v)).unwrap();
                    let p = primal(&plain, &other);
                    assert_eq!(two.form, Form::TwoPoint);
                    close("primal", two.primal, p, p.abs());
                    close("dual", two.dual, d, p.abs() + d.abs());
                    close("two-point gap", two.gap, p - d, p.abs() + d.abs());
                    // The point that alpha induces, given explicitly, is the same point.
                    let v = coordinates(&sample, &kernel, &alpha);
                    let same = certify(&problem, &alpha, Some(&v)).unwrap();
                    close("primal", same.primal, one.primal, one.primal.abs());
                    close("gap", same.gap, one.gap, one.primal.abs() + d.abs());
                }
            }
        }
    }
}

/// No model, however far from the solution, has an objective below any dual value, however far.
#[test]
fn weak_duality() {
    let sample = Sample::new(Shape::Missing, 22);
    let inputs = dense(&sample.x);
    for loss in LossKind::all_examples() {
        let observations = sample.observations(&loss);
        let data = Dataset::new(&inputs, &observations, linear()).unwrap();
        for output in RegularizerKind::entrywise_examples(TASKS) {
            let problem = Problem::new(&data, spec(loss.clone(), output.clone(), C, LAMBDA)).unwrap();
            let best = fit(&problem, &sdca(1e-3)).unwrap().certificate().clone();
            let mut random = Random(23);
            for size in [0.01, 0.3, 1.0] {
                let alpha: Vec<f64> = (0..24)
                    .map(|o| {
                        let built = loss.build().unwrap();
                        let (low, high) = built.conj_domain(observations.label(o));
                        -C * size
                            * (0.5 * random.fine() + 0.5)
                            * if random.fine() < 0.0 { low } else { high }.clamp(-2.0, 2.0)
                    })
                    .collect();
                let certificate = certify(&problem, &alpha, None).unwrap();
                assert!(
                    certificate.dual <= best.primal && best.dual <= certificate.primal,
                    "{loss} {output} {size}"
                );
            }
        }
    }
}

/// All kernel values have a constant of 1e16. It cancels in scores, and only rounding errors are left of them. A gap
/// that is computed from such scores proves nothing, even if it is small.
#[test]
fn rounding_is_no_proof() {
    let sample = Sample::new(Shape::Missing, 5);
    let inputs = dense(&sample.x);
    let observations = sample.observations(&LossKind::Squared);
    for (bias, is_precise) in [(0.0, true), (1.0, true), (1e4, true), (1e8, false)] {
        let data = Dataset::new(&inputs, &observations, DatasetOptions { bias, ..linear() }).unwrap();
        let problem = Problem::new(&data, spec(LossKind::Squared, power(1), 0.1, LAMBDA)).unwrap();
        let best = fit(&problem, &Settings { tolerance: 1e-6, ..Settings::default() }).unwrap();
        let alpha = best.model.alpha().unwrap();
        let of_duals = certify(&problem, alpha, None).unwrap();
        let is_small = of_duals.rounding <= 1e-6 * best.certificate().primal;
        assert_eq!(is_small, is_precise, "bias {bias}: {of_duals}, rounding {}", of_duals.rounding);
        assert!(of_duals.rel_error() >= of_duals.rel_gap());
    }
    let hinge = sample.observations(&LossKind::Hinge);
    let data = Dataset::new(&inputs, &hinge, linear()).unwrap();
    let problem = Problem::new(&data, spec(LossKind::Hinge, power(4), 1e6, 1e-6)).unwrap();
    let fit = fit(&problem, &sdca(1e-6)).unwrap();
    assert!(fit.certificate().rel_gap() <= 1e-6);
    assert_eq!(
        fit.status(),
        Status::Imprecise,
        "{}, rounding {}",
        fit.certificate(),
        fit.certificate().rounding
    );
}

/// Offsets and intercepts meet the labels up to their last digits, and the losses that are left are those of the
/// roundings of `(z + b) + offset`.
#[test]
fn rounding_of_sums_is_no_proof() {
    let inputs = Inputs::from(Dense::f64(&[0.0; 3], 3, 1).unwrap());
    let labels = vec![1.0, -0.7, 0.3];
    for loss in [LossKind::Absolute, LossKind::Epsilon { epsilon: 1e-15 }, LossKind::Squared] {
        for (apart, is_precise) in [(1e-3, true), (1e-15, false)] {
            let offsets = labels.iter().map(|y| y * (1.0 + apart)).collect();
            let observations = Observations::multi_task(&[0, 1, 2], labels.clone()).unwrap();
            let observations = observations.with_offsets(offsets).unwrap();
            let data = Dataset::new(&inputs, &observations, linear()).unwrap();
            let spec =
                ProblemSpec { intercept: Intercept::Ridge(0.01), ..spec(loss.clone(), power(1), 1e4, 1.0) };
            let fit = fit(
                &Problem::new(&data, spec).unwrap(),
                &Settings { tolerance: 1e-3, ..Settings::default() },
            );
            let (fit, case) = (fit.unwrap(), format!("{loss}, {apart:e}"));
            let is_certified = fit.status() == Status::Certified;
            assert_eq!(is_certified, is_precise, "{case}: {:?}", fit.certificate());
        }
    }
    // Labels that are met exactly: rounding is no part of an objective of zero.
    let one = Inputs::from(Dense::f64(&[1.0], 1, 1).unwrap());
    let observations = Observations::multi_task(&[0], vec![2.5]).unwrap().with_offsets(vec![1.0]).unwrap();
    let data = Dataset::new(&one, &observations, linear()).unwrap();
    for loss in [LossKind::Squared, LossKind::Absolute] {
        let spec = ProblemSpec { intercept: Intercept::Free, ..spec(loss, power(1), 1.0, 1.0) };
        let met = fit(&Problem::new(&data, spec).unwrap(), &Settings::default()).unwrap();
        assert_eq!((met.status(), met.certificate().primal), (Status::Certified, 0.0));
    }
    // Far labels, which are met up to what their differences are.
    for (far, is_precise) in [(0.0, true), (1e5, true), (1e14, false)] {
        let inputs = Inputs::from(Dense::f64(&[1.0, 2.0, 4.0, -3.0], 4, 1).unwrap());
        let labels = [1.0, 3.0, 2.0, -5.0].map(|y| y + far).to_vec();
        let observations = Observations::multi_task(&[0, 0, 1, 1], labels).unwrap();
        let data = Dataset::new(&inputs, &observations, linear()).unwrap();
        let spec = ProblemSpec { intercept: Intercept::Free, ..spec(LossKind::Absolute, power(1), 1.0, 1.0) };
        let fit = fit(&Problem::new(&data, spec).unwrap(), &sdca(1e-9)).unwrap();
        let certificate = fit.certificate();
        assert_eq!(certificate.rel_error() <= 1e-8, is_precise, "{far:e}: {certificate:?}");
    }
}

/// All kernel values are 1e10, so two points differ by nothing if their coefficients have the same sum. What is
/// computed of that distance is a sum of terms of 1e10. With duals at the ends of their intervals nothing else has
/// rounding.
#[test]
fn distances_of_cancelling_points_have_rounding_of_first_order() {
    let (x, k) = ([1e5; 4], [1e10; 16]);
    // Scores are 4e10, and the duals those of the residuals: the distance is all that the gap has.
    let observations = Observations::multi_task(&[0; 4], vec![4e10 + 1.0; 4]).unwrap();
    let rounding = |inputs: &Inputs<'_>, kernel: Kernel, v: Matrix| {
        let data = Dataset::new(inputs, &observations, DatasetOptions { kernel, ..linear() }).unwrap();
        let output = RegularizerKind::Fixed { theta: vec![vec![1.0]] };
        let problem = Problem::new(&data, spec(LossKind::Squared, output, 1.0, 1.0)).unwrap();
        certify(&problem, &[1.0; 4], Some(&v)).unwrap().rounding
    };
    let coefficients = Matrix::from_vec(vec![2.0, 0.0, 1.0, 1.0], 4, 1).unwrap();
    let of_kernel = rounding(&Gram::new(&k[..], 4).unwrap().into(), Kernel::Precomputed, coefficients);
    // Coefficients of size 1e5 times states of size 2e5.
    assert!((1e-6..1e-4).contains(&of_kernel), "{of_kernel:e}");
    let weights = Matrix::from_vec(vec![4e5], 1, 1).unwrap();
    let of_features = rounding(&Dense::f64(&x, 4, 1).unwrap().into(), Kernel::Linear, weights);
    assert!(of_features < 1e-8, "{of_features:e}");
}

#[test]
fn duals_at_the_ends_of_their_intervals_have_rounding() {
    let inputs = Inputs::from(Dense::f64(&[1e5; 4], 4, 1).unwrap());
    let observations = Observations::multi_task(&[0; 4], vec![1.0; 4]).unwrap();
    let data = Dataset::new(&inputs, &observations, linear()).unwrap();
    let output = RegularizerKind::Fixed { theta: vec![vec![1.0]] };
    let problem = Problem::new(&data, spec(LossKind::Hinge, output, 1.0, 1.0)).unwrap();
    // Four scores of 4e10, each with an error of its last digit, and slopes of one.
    let rounding = certify(&problem, &[1.0; 4], None).unwrap().rounding;
    assert!((1e-6..1e-3).contains(&rounding), "{rounding:e}");
}
