//! Kernels on many inputs, solved in a growing subspace instead of the eigenbasis: the same solutions as by Newton's
//! method, which knows only the eigenbasis.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Fit, Fitter, Flow, Intercept, Kernel, LossKind, Observations, Observer,
    Problem, ProblemSpec, RegularizerKind, Settings, SolverKind, Status, fit,
};

const ROWS: usize = 1000;
const FEATURES: usize = 4;

/// Inputs, every `repeat`-th of which is the one before it, and `tasks` kindred functions of them with noise.
fn table(tasks: usize, repeat: Option<usize>) -> (Inputs<'static>, Observations) {
    let mut random = Random(17);
    let mut x: Vec<f64> = vec![];
    for i in 0..ROWS {
        if repeat.is_some_and(|repeat| i % repeat == 1) {
            x.extend_from_within(x.len() - FEATURES..);
        } else {
            x.extend((0..FEATURES).map(|_| random.fine()));
        }
    }
    let weights: Vec<f64> = (0..FEATURES * tasks).map(|_| random.fine()).collect();
    let mut labels = vec![];
    for row in x.chunks(FEATURES) {
        let common = (3.0 * row[0]).sin() + row[1] * row[2] + 5.0;
        for own in weights.chunks(FEATURES) {
            let z: f64 = row.iter().zip(own).map(|(x, w)| x * w).sum();
            labels.push(common + 0.5 * (2.0 * z).tanh() + 0.3 * random.fine());
        }
    }
    let observations = Observations::multi_output(&labels, ROWS, tasks).unwrap();
    (Dense::f64_owned(x, ROWS, FEATURES).unwrap().into(), observations)
}

fn rbf(threads: usize) -> DatasetOptions {
    DatasetOptions { kernel: "rbf:0.3".parse::<Kernel>().unwrap(), threads, ..DatasetOptions::default() }
}

fn spec_of(data: &Dataset<'_>, (k, atoms): (u32, bool), intercept: Intercept, strength: f64) -> ProblemSpec {
    let scale = CScale::new(data, &LossKind::Squared.into(), intercept).unwrap();
    let output = RegularizerKind::Power { k };
    let atoms = match atoms {
        true => {
            vec![AtomSpec::new("common", 1.0, AtomKind::Common), AtomSpec::new("own", 0.5, AtomKind::Own)]
        }
        false => vec![],
    };
    let c = scale.weights(&output, None, strength).unwrap().c;
    ProblemSpec { loss: LossKind::Squared.into(), output, c, intercept, atoms, ..ProblemSpec::default() }
}

fn spectral(tolerance: f64) -> Settings {
    Settings { solver: SolverKind::Spectral, tolerance, ..Settings::default() }
}

fn certified(data: &Dataset<'_>, spec: ProblemSpec, settings: &Settings, what: &str) -> Fit {
    let found = fit(&Problem::new(data, spec).unwrap(), settings).unwrap();
    assert_eq!(found.status(), Status::Certified, "{what}: {}", found.certificate());
    found
}

#[test]
fn finds_what_newton_finds() {
    for repeat in [None, Some(2)] {
        let (inputs, observations) = table(3, repeat);
        let data = Dataset::new(&inputs, &observations, rbf(2)).unwrap();
        for intercept in [Intercept::Free, Intercept::None] {
            for output in [(1, false), (2, true), (4, false)] {
                for strength in [1e-2, 1.0, 1e3, 1e5] {
                    let what = format!("{repeat:?} {intercept:?} {output:?} strength {strength}");
                    let spec = spec_of(&data, output, intercept, strength);
                    let ours = certified(&data, spec.clone(), &spectral(1e-8), &what);
                    if strength == 1e5 {
                        // Too weak for Newton's method as it is.
                        continue;
                    }
                    let newton = Settings { solver: SolverKind::Newton, ..spectral(1e-8) };
                    let theirs = certified(&data, spec, &newton, &what);
                    let (a, b) = (ours.certificate().primal, theirs.certificate().primal);
                    assert!((a - b).abs() <= 3e-8 * b.abs(), "{what}: {a} {b}");
                    let (a, b) = (ours.model.theta(), theirs.model.theta());
                    let size = b.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-3 * size;
                    assert!(a.as_slice().iter().zip(b.as_slice()).all(near), "{what}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn has_the_same_bits_for_any_number_of_threads() {
    let (inputs, observations) = table(12, None);
    let duals = [1, 2, 3].map(|threads| {
        let data = Dataset::new(&inputs, &observations, rbf(threads)).unwrap();
        let spec = spec_of(&data, (2, true), Intercept::Free, 1.0);
        certified(&data, spec, &spectral(1e-6), "threads").model.alpha().unwrap().to_vec()
    });
    assert!(duals[0] == duals[1] && duals[0] == duals[2]);
}

#[test]
fn goes_on_from_the_duals_of_another_fit() {
    let (inputs, observations) = table(5, None);
    let data = Dataset::new(&inputs, &observations, rbf(2)).unwrap();
    let first = certified(&data, spec_of(&data, (2, true), Intercept::Free, 1.0), &spectral(1e-6), "first");
    let next = Problem::new(&data, spec_of(&data, (2, true), Intercept::Free, 3.0)).unwrap();
    let cold = fit(&next, &spectral(1e-6)).unwrap();
    let alpha = first.model.alpha().unwrap();
    let warm = Fitter::new(&spectral(1e-6)).warm(Some(alpha)).fit(&next).unwrap();
    assert_eq!((cold.status(), warm.status()), (Status::Certified, Status::Certified));
    let (a, b) = (cold.certificate().primal, warm.certificate().primal);
    assert!((a - b).abs() <= 2e-6 * b, "{a} {b}");
    let alpha = warm.model.alpha().unwrap();
    let again = Fitter::new(&spectral(1e-6)).warm(Some(alpha)).fit(&next).unwrap();
    assert!(again.status() == Status::Certified && again.passes <= 2, "{} passes", again.passes);
}

/// Says stop after some polls.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn poll(&mut self) -> Flow {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn stops_with_a_true_certificate() {
    let (inputs, observations) = table(5, None);
    for polls in [1, 2, 5, 10, 20, 40] {
        let data = Dataset::new(&inputs, &observations, rbf(2)).unwrap();
        let problem = Problem::new(&data, spec_of(&data, (2, true), Intercept::Free, 1e2)).unwrap();
        let mut observer = StopAfter(polls);
        let fit = Fitter::new(&spectral(1e-12)).observer(&mut observer).fit(&problem).unwrap();
        assert_eq!(fit.status(), Status::Stopped, "{polls} polls");
        assert!(fit.certificate().primal.is_finite() && fit.certificate().gap >= 0.0);
    }
}

/// The Gram matrix and its factor are within the budget, the eigenbasis is not.
#[test]
fn needs_less_memory_than_an_eigenbasis() {
    let (inputs, observations) = table(3, None);
    let options = DatasetOptions { memory: 4 * 8 * (ROWS * ROWS) as u64, ..rbf(1) };
    let data = Dataset::new(&inputs, &observations, options).unwrap();
    let spec = spec_of(&data, (1, false), Intercept::Free, 1.0);
    let settings = Settings { solver: SolverKind::Auto, ..spectral(1e-6) };
    assert_eq!(certified(&data, spec, &settings, "little memory").solver, "spectral");
}
