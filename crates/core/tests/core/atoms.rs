//! Atoms: the laws of the regulariser with atoms, and every solver with every regulariser that takes them.

use faer::{Mat, Side};
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::{AtomKind, AtomSpec, SumRegularizer};
use kinfolk::{
    Dataset, DatasetOptions, Error, Fit, Intercept, LossKind, Matrix, Observations, Problem, ProblemSpec,
    Regularizer, RegularizerKind, Settings, SolverKind, certify, fit,
};
use proptest::prelude::*;

const TASKS: usize = 4;
const FEATURES: usize = 3;
const ROWS: usize = 24;

/// One atom of each kind.
fn atoms(weights: [f64; 4]) -> Vec<AtomSpec> {
    let falling = |r: usize, s: usize| 3.0 * (-0.6f64).powi(r.abs_diff(s) as i32);
    let rows = (0..TASKS).map(|r| (0..TASKS).map(|s| falling(r, s)).collect()).collect();
    let kinds = [
        AtomKind::Common,
        AtomKind::Own,
        AtomKind::Groups { groups: vec![5, 0, 0, 5] },
        AtomKind::Matrix { rows },
    ];
    let named = ["common", "own", "region", "likeness"].into_iter().zip(kinds).zip(weights);
    named.map(|((name, kind), weight)| AtomSpec::new(name, weight, kind)).collect()
}

fn kinds() -> Vec<RegularizerKind> {
    vec![
        RegularizerKind::Power { k: 1 },
        RegularizerKind::Power { k: 2 },
        RegularizerKind::Power { k: 4 },
        RegularizerKind::Exp { prior: None },
        RegularizerKind::Cosh,
        RegularizerKind::Series { coefficients: vec![0.1, 0.5, 0.0, 0.25] },
    ]
}

fn sum(kind: &RegularizerKind, atoms: &[AtomSpec]) -> SumRegularizer {
    match kind.build_with_atoms(atoms, TASKS).unwrap() {
        Regularizer::Entrywise(regularizer) => regularizer,
        Regularizer::Spectral(_) => panic!("{kind} takes no atoms"),
    }
}

/// V'V for a V of any rank.
fn gram(v: &[f64]) -> Matrix {
    let rank = v.len() / TASKS;
    let mut m = Matrix::zeros(TASKS, TASKS);
    for r in 0..TASKS {
        for s in 0..TASKS {
            m[(r, s)] = (0..rank).map(|j| v[j * TASKS + r] * v[j * TASKS + s]).sum();
        }
    }
    m
}

fn inner(a: &Matrix, b: &Matrix) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
}

fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0f64, n)
}

fn weights() -> impl Strategy<Value = [f64; 4]> {
    let weight = || prop_oneof![1 => Just(0.0), 4 => (-2.0..2.0f64).prop_map(|e| 10f64.powf(e))];
    [weight(), weight(), weight(), weight()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Theta is the derivative of R.
    #[test]
    fn theta_is_the_derivative(v in numbers(3 * TASKS), u in numbers(3 * TASKS), w in weights()) {
        for kind in kinds() {
            let output = sum(&kind, &atoms(w));
            let at = |step: f64| gram(&v.iter().zip(&u).map(|(v, u)| v + step * u).collect::<Vec<_>>());
            let h = 1e-4;
            let (theta, rho) = (output.theta(&at(0.0)), at(0.0));
            let mut direction = at(h);
            direction.as_mut_slice().iter_mut().zip(at(-h).as_slice()).for_each(|(x, y)| *x = (*x - y) / (2.0 * h));
            let difference = (output.value(&at(h)) - output.value(&at(-h))) / (2.0 * h);
            let slope = inner(&theta, &direction);
            let size = 1.0 + output.value(&rho).abs() + slope.abs();
            prop_assert!((difference - slope).abs() <= 2e-5 * size, "{kind}: {difference} {slope}");
        }
    }

    /// R(other) + V(Theta) >= <Theta, other>, with equality where Theta is that of `other`.
    #[test]
    fn fenchel_young(v in numbers(2 * TASKS), u in numbers(2 * TASKS), w in weights()) {
        for kind in kinds() {
            let output = sum(&kind, &atoms(w));
            let (rho, other) = (gram(&v), gram(&u));
            let theta = output.theta(&rho);
            let price = inner(&theta, &rho) - output.value(&rho);
            let expected = output.value(&other) + price - inner(&theta, &other);
            let size = output.value(&other).abs() + price.abs() + inner(&theta, &other).abs();
            let terms = output.fenchel_young(&rho, &theta, &other);
            prop_assert!(terms >= 0.0 && (terms - expected).abs() <= 1e-11 * size, "{kind}: {terms} {expected}");
            prop_assert!(output.fenchel_young(&rho, &theta, &rho) <= 1e-12 * size, "{kind}");
        }
    }

    /// Theta is positive semidefinite, and the parts of atoms in it are not negative.
    #[test]
    fn theta_is_semidefinite(v in numbers(2 * TASKS), w in weights()) {
        for kind in kinds() {
            let output = sum(&kind, &atoms(w));
            let (theta, rho) = (output.theta(&gram(&v)), gram(&v));
            prop_assert!(output.coefficients(&rho).iter().all(|a| *a >= 0.0), "{kind}");
            let dense = Mat::from_fn(TASKS, TASKS, |r, s| theta[(r, s)]);
            let eigenvalues = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
            prop_assert!(eigenvalues[0] >= -1e-12 * eigenvalues[TASKS - 1], "{kind}: {eigenvalues:?}");
        }
    }

    /// Atoms of weight zero change no bit.
    #[test]
    fn weight_zero_is_no_atom(v in numbers(3 * TASKS)) {
        for kind in RegularizerKind::entrywise_examples(TASKS) {
            let (with, without) = (sum(&kind, &atoms([0.0; 4])), sum(&kind, &[]));
            prop_assert_eq!(with.theta(&gram(&v)), without.theta(&gram(&v)));
            prop_assert_eq!(with.value(&gram(&v)).to_bits(), without.value(&gram(&v)).to_bits());
        }
    }
}

fn settings(solver: SolverKind) -> Settings {
    Settings { tolerance: 1e-9, solver, max_passes: 20_000, ..Settings::default() }
}

/// Related tasks with noise: own rows for each task, or a table of labels of all tasks.
fn data(shared: bool, is_class: bool) -> (Vec<f64>, Observations) {
    let x: Vec<f64> = (0..ROWS * FEATURES).map(|i| (i as f64 * 1.7 + 0.3).sin() * 1.5).collect();
    let label = |i: usize, t: usize| {
        let row = &x[i * FEATURES..(i + 1) * FEATURES];
        let z =
            row[0] - 0.5 * row[1] + 0.3 * (t as f64 - 1.0) * row[2] + 0.3 * ((i * 7 + t) as f64).cos() + 0.1;
        if is_class { z.signum() } else { z }
    };
    let observations = match shared {
        true => {
            let y: Vec<f64> = (0..ROWS * TASKS).map(|e| label(e / TASKS, e % TASKS)).collect();
            Observations::multi_output(&y, ROWS, TASKS)
        }
        false => {
            let task: Vec<u32> = (0..ROWS as u32).map(|i| i % TASKS as u32).collect();
            Observations::multi_task(&task, (0..ROWS).map(|i| label(i, i % TASKS)).collect())
        }
    };
    (x.clone(), observations.unwrap())
}

/// Fits with every solver that suits; all find the same value.
fn fit_all(shared: bool, spec: &ProblemSpec) -> Vec<Fit> {
    let is_class = spec.loss.is_classification(0);
    let (x, observations) = data(shared, is_class);
    let inputs: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let problem = Problem::new(&data, spec.clone()).unwrap();
    let mut fits: Vec<Fit> = vec![];
    for solver in SolverKind::ALL.into_iter().filter(|solver| solver.build().suits(&problem).is_ok()) {
        let fit = fit(&problem, &settings(solver)).unwrap();
        let what = format!("{solver}, shared {shared}, {spec:?}: {}", fit.certificate());
        // Coordinate ascent is slow with free intercepts and losses with kinks.
        let is_slow = matches!(solver, SolverKind::Sdca | SolverKind::SdcaSequential);
        assert!(fit.certificate().rel_gap() <= if is_slow { 1e-6 } else { 1e-8 }, "{what}");
        let again = certify(&problem, fit.model.alpha().unwrap(), fit.model.v()).unwrap();
        assert!((again.primal / fit.certificate().primal - 1.0).abs() <= 1e-9, "{what}: {again}");
        if let Some(first) = fits.first() {
            let (a, b) = (first.certificate().primal, fit.certificate().primal);
            assert!((a / b - 1.0).abs() <= 1e-6, "{what}: {a}");
        }
        fits.push(fit);
    }
    fits
}

#[test]
fn every_solver_takes_atoms() {
    for output in kinds() {
        for loss in ["squared", "hinge", "logistic", "epsilon:0.1"] {
            for (shared, intercept) in
                [(true, Intercept::Free), (false, Intercept::Free), (false, Intercept::None)]
            {
                let loss: LossKind = loss.parse().unwrap();
                let (output, atoms) = (output.clone(), atoms([3.0, 1.0, 2.0, 0.5]));
                let (c, lambda) = (0.5, 0.7);
                let spec = ProblemSpec { loss: loss.into(), output, atoms, c, lambda, intercept };
                assert!(fit_all(shared, &spec).len() >= 5, "{spec:?}");
            }
        }
    }
}

/// With a large weight of one atom, Theta is a multiple of it: one model for all tasks, or independent tasks.
#[test]
fn large_weights_give_pooled_and_independent_models() {
    for k in [1, 2, 4] {
        for (kind, theta) in [(AtomKind::Common, vec![vec![1.0; TASKS]; TASKS]), (AtomKind::Own, identity())]
        {
            for (shared, loss) in
                [(true, "squared"), (false, "squared"), (false, "hinge"), (false, "logistic")]
            {
                let loss: LossKind = loss.parse().unwrap();
                // What counts is C Theta, which is of the order of w C^(4k-1) for the atom and C^(4k-1) for the rest.
                let weight = 10f64.powi(9 * k as i32);
                let c = weight.powf(-1.0 / f64::from(4 * k - 1));
                let atoms = vec![AtomSpec::new("only", weight, kind.clone())];
                let output = RegularizerKind::Power { k };
                let spec = ProblemSpec { loss: loss.into(), output, atoms, c, ..ProblemSpec::default() };
                let learned = &fit_all(shared, &spec)[0];
                let scale = learned.model.theta()[(0, 0)];
                let theta = theta.iter().map(|row| row.iter().map(|x| scale * x).collect()).collect();
                let output = RegularizerKind::Fixed { theta };
                let given = ProblemSpec { output, atoms: vec![], ..spec.clone() };
                let given = &fit_all(shared, &given)[0];
                let (x, _) = data(shared, false);
                let inputs: Inputs<'_> = Dense::f64(&x, ROWS, FEATURES).unwrap().into();
                let predict = |fit: &Fit| fit.model.predict_all(&inputs).unwrap().into_vec();
                for (got, want) in predict(learned).iter().zip(predict(given)) {
                    assert!((got - want).abs() <= 1e-4 * (1.0 + want.abs()), "{spec:?}: {got} {want}");
                }
            }
        }
    }
}

fn identity() -> Vec<Vec<f64>> {
    (0..TASKS).map(|r| (0..TASKS).map(|s| f64::from(u8::from(r == s))).collect()).collect()
}

/// The same fit gives the same bits; atoms of weight zero change none.
#[test]
fn fits_are_deterministic() {
    for shared in [true, false] {
        let spec = ProblemSpec { atoms: atoms([3.0, 1.0, 2.0, 0.5]), ..ProblemSpec::default() };
        let without = ProblemSpec { atoms: atoms([0.0; 4]), ..ProblemSpec::default() };
        for (one, other) in [(&spec, &spec), (&without, &ProblemSpec::default())] {
            for (one, other) in fit_all(shared, one).iter().zip(fit_all(shared, other)) {
                assert_eq!(one.model.theta(), other.model.theta());
                assert_eq!(one.model.alpha(), other.model.alpha());
            }
        }
    }
}

#[test]
fn atoms_are_refused_where_they_mean_nothing() {
    let spectral = RegularizerKind::spectral_examples();
    for kind in RegularizerKind::entrywise_examples(TASKS).into_iter().chain(spectral) {
        let takes = match &kind {
            RegularizerKind::Power { .. } | RegularizerKind::Cosh | RegularizerKind::Series { .. } => true,
            RegularizerKind::Exp { prior } => prior.is_none(),
            _ => false,
        };
        match kind.build_with_atoms(&atoms([0.0, 0.0, 1.0, 0.0]), TASKS) {
            Ok(_) => assert!(takes, "{kind}"),
            Err(Error::Atom { name, why }) => {
                assert!(!takes && name == "region" && why.contains(kind.name()), "{kind}: {why}");
            }
            Err(error) => panic!("{kind}: {error}"),
        }
        assert!(kind.build_with_atoms(&atoms([0.0; 4]), TASKS).is_ok(), "{kind}");
    }
    let twice = [atoms([1.0; 4]), atoms([1.0; 4])].concat();
    let error = RegularizerKind::Cosh.build_with_atoms(&twice, TASKS).unwrap_err();
    assert_eq!(error.to_string(), "atom \"common\": there are two of this name");
}
