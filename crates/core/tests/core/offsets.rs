//! Offsets: `z -> L(y, z + offset)` for every loss, regulariser and solver.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    CScale, CertifyOptions, Dataset, Error, Fit, Intercept, LossKind, Model, Observations, Problem,
    ProblemSpec, RegularizerKind, Settings, SolverKind, Status, certify, fit,
};

const LAMBDA: f64 = 0.5;

fn settings(solver: SolverKind, tolerance: f64) -> Settings {
    Settings { tolerance, max_passes: 20_000, solver, ..Settings::default() }
}

/// A sample whose observations have offsets of about this size.
fn with_offsets(shape: Shape, loss: &LossKind, size: f64) -> Setup {
    let mut setup = Setup::dense(shape, loss);
    let mut random = Random(7);
    let offsets = (0..setup.observations.len()).map(|_| size * random.fine()).collect();
    setup.observations = setup.observations.with_offsets(offsets).unwrap();
    setup
}

fn without_offsets(setup: &Setup) -> Observations {
    let obs = setup.observations.clone();
    let zeros = vec![0.0; obs.len()];
    obs.with_offsets(zeros).unwrap()
}

/// `C sum of L(y, z + share offset)` at the model's own predictions.
fn loss_sum(setup: &Setup, loss: &LossKind, fit: &Fit, c: f64, share: f64) -> f64 {
    let (obs, z) = (&setup.observations, fit.model.predict_all(&setup.inputs).unwrap());
    let loss = loss.build().unwrap();
    let term = |o: usize| loss.value(obs.label(o), z[(obs.input(o), obs.task(o))] + share * obs.offset(o));
    c * (0..obs.len()).map(term).sum::<f64>()
}

fn outputs() -> Vec<RegularizerKind> {
    [RegularizerKind::entrywise_examples(TASKS), RegularizerKind::spectral_examples()].concat()
}

/// Every pair by every solver that takes it: certified, with a certificate whose parts fit together and whose
/// losses are those of the model's predictions plus offsets.
#[test]
fn every_solver_certifies_every_pair() {
    for shape in SHAPES {
        for loss in LossKind::all_examples() {
            let setup = with_offsets(shape, &loss, 1.0);
            let data = setup.data();
            let plain = without_offsets(&setup);
            let plain = Dataset::new(&setup.inputs, &plain, setup.options.clone()).unwrap();
            for output in outputs() {
                let problem_spec = spec(loss.clone(), output.clone(), 1.0, LAMBDA);
                let problem = Problem::new(&data, problem_spec.clone()).unwrap();
                for solver in SolverKind::ALL {
                    let name = format!("{shape:?} {loss} {output} {solver}");
                    // Coordinate ascent is slow on some of them: see `combinations.rs`.
                    let tolerance = if solver == SolverKind::Sdca { 1e-3 } else { 1e-6 };
                    let solved = match fit(&problem, &settings(solver, tolerance)) {
                        Err(Error::Unsuitable { .. }) => continue,
                        other => other.unwrap(),
                    };
                    assert_eq!(solved.status(), Status::Certified, "{name}: {}", solved.certificate());
                    let (primal, dual, gap) =
                        (solved.certificate().primal, solved.certificate().dual, solved.certificate().gap);
                    let rounding = 1e-12 * (primal.abs() + dual.abs() + gap);
                    assert!(
                        (primal - dual - gap).abs() <= rounding,
                        "{name}: {primal} - {dual} is not {gap:e}"
                    );
                    // Without offsets the same point has the same regularisation, and other losses.
                    let alpha = solved.model.alpha().unwrap();
                    let other = Problem::new(&plain, problem_spec.clone()).unwrap();
                    let other = certify(&other, alpha, solved.model.v()).unwrap();
                    let difference = loss_sum(&setup, &loss, &solved, 1.0, 1.0)
                        - loss_sum(&setup, &loss, &solved, 1.0, 0.0);
                    assert!((primal - other.primal - difference).abs() <= 1e-10 * primal.abs(), "{name}");
                }
            }
        }
    }
}

/// For the squared loss an offset is a label lower by as much.
#[test]
fn an_offset_is_a_shifted_label_for_the_squared_loss() {
    let loss = LossKind::Squared;
    for shape in SHAPES {
        let setup = with_offsets(shape, &loss, 2.0);
        let obs = &setup.observations;
        let shifted = (0..obs.len()).map(|o| obs.label(o) - obs.offset(o)).collect();
        let shifted = without_offsets(&setup).with_labels(shifted).unwrap();
        let shifted = Dataset::new(&setup.inputs, &shifted, setup.options.clone()).unwrap();
        let data = setup.data();
        let scales = [&data, &shifted].map(|data| {
            let scale = CScale::new(data, &loss.clone().into(), Intercept::None).unwrap();
            scale.weights(&power(1), None, 1.0).unwrap().c
        });
        assert_close("C", &scales[..1], &scales[1..], 1e-14);
        for output in outputs() {
            for solver in SolverKind::ALL {
                let name = format!("{shape:?} {output} {solver}");
                let solve = |data: &Dataset<'_>| {
                    let problem = problem_of(data, loss.clone(), output.clone(), 1.0);
                    fit(&problem, &settings(solver, 1e-9))
                };
                let (a, b) = match (solve(&data), solve(&shifted)) {
                    (Err(Error::Unsuitable { .. }), Err(Error::Unsuitable { .. })) => continue,
                    (a, b) => (a.unwrap(), b.unwrap()),
                };
                assert_close(&name, &[a.certificate().primal], &[b.certificate().primal], 2e-9);
                assert_close(&name, a.model.theta().as_slice(), b.model.theta().as_slice(), 3e-4);
            }
        }
    }
}

/// The optimal value as a function of the offsets has the slope -alpha.
#[test]
fn duals_are_slopes_in_the_offsets() {
    for loss in LossKind::all_examples() {
        let setup = with_offsets(Shape::Own, &loss, 0.5);
        let n = setup.observations.len();
        for output in [power(1), RegularizerKind::Cosh, RegularizerKind::Trace { nu: 0.3 }] {
            let optimum = |step: f64| {
                let moved = (0..n).map(|o| setup.observations.offset(o) + step * (o as f64).sin()).collect();
                let obs = setup.observations.clone().with_offsets(moved).unwrap();
                let data = Dataset::new(&setup.inputs, &obs, setup.options.clone()).unwrap();
                let problem = problem_of(&data, loss.clone(), output.clone(), 1.0);
                fit(&problem, &settings(SolverKind::Auto, 1e-10)).unwrap()
            };
            let (before, here, after) = (optimum(-1e-4), optimum(0.0), optimum(1e-4));
            let measured = (after.certificate().primal - before.certificate().primal) / 2e-4;
            let alpha = here.model.alpha().unwrap();
            let slope: f64 = alpha.iter().enumerate().map(|(o, a)| -a * (o as f64).sin()).sum();
            let size: f64 = alpha.iter().map(|a| a.abs()).sum();
            assert!((measured - slope).abs() <= 2e-3 * size, "{loss} {output}: {measured} {slope}");
        }
    }
}

/// One observation of one task, `min over w of C L(y, w + offset) + w^2 / 2`, against a search on the line.
#[test]
fn one_observation_has_the_minimum_of_a_line_search() {
    let inputs = Inputs::from(Dense::f64_owned(vec![1.0], 1, 1).unwrap());
    for loss in LossKind::all_examples() {
        for (y, offset) in [(1.0, 0.3), (1.0, -2.0), (-1.0, 0.7), (1.0, 1e4)] {
            let obs = Observations::multi_task(&[0], vec![y]).unwrap().with_offsets(vec![offset]).unwrap();
            let data = Dataset::new(&inputs, &obs, linear()).unwrap();
            let output = RegularizerKind::independent(1);
            let problem = problem_of(&data, loss.clone(), output, 0.8);
            let solved = fit(&problem, &settings(SolverKind::Auto, 1e-9)).unwrap();
            let built = loss.build().unwrap();
            let value = |w: f64| 0.8 * built.value(y, w + offset) + 0.5 * w * w;
            let best = golden_section(value, -2.0 * offset.abs() - 4.0, 2.0 * offset.abs() + 4.0);
            let (got, name) = (solved.certificate().primal, format!("{loss} {y} {offset}"));
            assert!((got - best).abs() <= 1e-8 * best.abs() + 1e-12, "{name}: {got} {best}");
        }
    }
}

fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..200 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if f(left) < f(right) { high = right } else { low = left }
    }
    f(0.5 * (low + high))
}

/// Offsets that are all zero change no bit.
#[test]
fn zero_offsets_are_none() {
    for loss in LossKind::all_examples() {
        for output in outputs() {
            let bits = |zeros: bool| {
                let mut setup = Setup::dense(Shape::Missing, &loss);
                if zeros {
                    setup.observations = without_offsets(&setup);
                }
                let problem_spec = spec(loss.clone(), output.clone(), 1.0, LAMBDA);
                setup.fit(problem_spec, &settings(SolverKind::Auto, 1e-6)).model.to_bytes().unwrap()
            };
            assert_eq!(bits(false), bits(true), "{loss} {output}");
        }
    }
}

/// Offsets far larger than anything the inputs can predict.
#[test]
fn huge_offsets_are_certified() {
    for loss in LossKind::all_examples() {
        for size in [1e4, 1e8] {
            let setup = with_offsets(Shape::Shared, &loss, size);
            for output in [power(1), power(3), RegularizerKind::independent(TASKS)] {
                let problem_spec = spec(loss.clone(), output.clone(), 1e-3, LAMBDA);
                let solved = setup.fit(problem_spec, &settings(SolverKind::Auto, 1e-6));
                let name = format!("{loss} {output} {size:e}");
                assert_eq!(solved.status(), Status::Certified, "{name}: {}", solved.certificate());
            }
        }
    }
}

/// A model is certified on observations with the same offsets, and on no others.
#[test]
fn a_model_is_certified_with_its_offsets() {
    let loss = LossKind::Hinge;
    let setup = with_offsets(Shape::Own, &loss, 1.0);
    for output in [power(2), RegularizerKind::Trace { nu: 0.3 }] {
        let problem_spec = ProblemSpec { output, ..spec(loss.clone(), RegularizerKind::Cosh, 1.0, LAMBDA) };
        let solved = setup.fit(problem_spec, &settings(SolverKind::Auto, 1e-6));
        let model = Model::from_bytes(&solved.model.to_bytes().unwrap()).unwrap();
        let certify = |obs: &Observations| {
            model.certify(&setup.inputs, obs, &CertifyOptions::default()).unwrap().rel_gap()
        };
        assert!(certify(&setup.observations) <= 1e-6 * (1.0 + 1e-9));
        assert!(certify(&without_offsets(&setup)) > 1e-3);
    }
}
