//! Problems large enough for a band instead of eigenvectors (k = 1, squared loss, shared inputs): the same
//! solutions as by Newton's method, which knows no bands.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Kernel, LossKind, Observations, Problem, Settings, SolverKind,
    Status, fit,
};

const N_TASKS: usize = 3;

/// `rows` inputs whose features fall off, and kindred tasks; every `repeat`-th row is the one before it.
fn table(rows: usize, features: usize, repeat: Option<usize>) -> (Inputs<'static>, Observations) {
    let mut random = Random(17);
    let mut x: Vec<f64> = vec![];
    for i in 0..rows {
        if repeat.is_some_and(|repeat| i % repeat == 1) {
            x.extend_from_within(x.len() - features..);
        } else {
            x.extend((0..features).map(|j| random.fine() / (1.0 + 0.05 * j as f64)));
        }
    }
    let weights: Vec<f64> = (0..features * (N_TASKS + 1)).map(|_| random.fine()).collect();
    let (common, own) = weights.split_at(features);
    let mut labels = vec![];
    for row in x.chunks(features) {
        let dot = |w: &[f64]| row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        labels.extend(own.chunks(features).map(|own| dot(common) + 0.5 * dot(own)));
    }
    labels.iter_mut().for_each(|y| *y += 0.2 * random.fine());
    let observations = Observations::multi_output(&labels, rows, N_TASKS).unwrap();
    (Dense::f64_owned(x, rows, features).unwrap().into(), observations)
}

fn solved(data: &Dataset<'_>, c: f64, solver: SolverKind, tolerance: f64) -> Fit {
    let problem = Problem::new(data, spec(LossKind::Squared, power(1), c, 1.0)).unwrap();
    fit(&problem, &Settings { solver, tolerance, ..Settings::default() }).unwrap()
}

/// Spectral is certified, and what it finds is what Newton's method finds; with next to no regularisation
/// alternation is slow.
fn check(name: &str, (inputs, observations): &(Inputs<'static>, Observations), kernel: Kernel) {
    let options = DatasetOptions { kernel, ..DatasetOptions::default() };
    let data = Dataset::new(inputs, observations, options).unwrap();
    for c in [1e-3, 1.0, 1e3, 1e6] {
        let banded = solved(&data, c, SolverKind::Spectral, 1e-8);
        assert_eq!((banded.status(), banded.solver), (Status::Certified, "spectral"), "{name} C {c}");
        let other = solved(&data, c, SolverKind::Newton, 1e-9);
        assert_eq!(other.status(), Status::Certified, "{name} C {c}");
        let (ours, theirs) = (banded.certificate().primal, other.certificate().primal);
        assert!((ours - theirs).abs() <= 1e-7 * theirs.abs(), "{name} C {c}: {ours} {theirs}");
        let size = other.model.theta().as_slice().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        for (a, b) in banded.model.theta().as_slice().iter().zip(other.model.theta().as_slice()) {
            assert!((a - b).abs() <= 1e-3 * size, "{name} C {c}: Theta {a} {b}");
        }
    }
}

#[test]
fn more_inputs_than_features() {
    check("tall", &table(260, 130, None), Kernel::Linear);
}

#[test]
fn more_features_than_inputs() {
    check("wide", &table(125, 180, None), Kernel::Linear);
}

#[test]
fn a_kernel() {
    check("rbf", &table(130, 6, None), Kernel::Rbf { gamma: Gamma::Value(0.5) });
}

/// Dependent inputs have no triangular root, and get eigenvectors.
#[test]
fn inputs_that_occur_twice() {
    check("repeated", &table(130, 180, Some(10)), Kernel::Linear);
}

/// From a solution nearby, and the same bits every time, whatever was computed before.
#[test]
fn warm_starts_and_determinism() {
    let (inputs, observations) = table(260, 130, None);
    let fresh = || Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let data = fresh();
    let near = solved(&data, 0.5, SolverKind::Spectral, 1e-8);
    let problem = Problem::new(&data, spec(LossKind::Squared, power(1), 1.0, 1.0)).unwrap();
    let settings = Settings { solver: SolverKind::Spectral, tolerance: 1e-8, ..Settings::default() };
    let warm = Fitter::new(&settings)
        .start(kinfolk::Start::Warm(near.model.alpha().unwrap()))
        .fit(&problem)
        .unwrap();
    assert_eq!(warm.status(), Status::Certified);
    let first = solved(&fresh(), 1.0, SolverKind::Spectral, 1e-8);
    let other = fresh();
    // Newton's method leaves an eigenbasis behind.
    solved(&other, 1.0, SolverKind::Newton, 1e-3);
    let second = solved(&other, 1.0, SolverKind::Spectral, 1e-8);
    assert_eq!(first.model.alpha(), second.model.alpha());
    assert_eq!(first.model.theta().as_slice(), second.model.theta().as_slice());
}
