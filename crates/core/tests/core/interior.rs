//! The interior point method: every loss it knows, hostile weights, degenerate data.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::solver::{InteriorPoint, Solver};
use kinfolk::{
    Dataset, DatasetOptions, Error, Fit, Fitter, Form, LossKind, Losses, Observations, Problem,
    RegularizerKind, Settings, SolverKind, Start, Status, certify, fit,
};

/// A relative gap by the interior point method.
fn interior(tolerance: f64) -> Settings {
    let solver = SolverKind::InteriorPoint;
    Settings { tolerance, max_passes: 100, solver, ..Settings::default() }
}

fn losses() -> Vec<LossKind> {
    LossKind::all_examples().into_iter().filter(|loss| *loss != LossKind::Logistic).collect()
}

/// The examples of these names.
fn outputs(n_tasks: usize, names: &[&str]) -> Vec<RegularizerKind> {
    let all = RegularizerKind::entrywise_examples(n_tasks);
    let named = |name: &&str| all.iter().find(|o| o.to_string() == **name).expect("an example").clone();
    names.iter().map(named).collect()
}

const FOUR: [&str; 4] = ["power:1", "power:4", "exp", "cosh"];

/// The gap is within the tolerance, and a second computation finds the same one. The fit is certified unless rounding
/// is larger than the tolerance.
fn check(name: &str, problem: &Problem<'_>, tolerance: f64) -> Fit {
    let fit = fit(problem, &interior(tolerance)).unwrap();
    let (gap, error) = (fit.certificate().rel_gap(), fit.certificate().rel_error());
    assert!(gap <= tolerance, "{name}: gap {gap:e} after {} steps", fit.passes);
    let expected = if error <= tolerance { Status::Certified } else { Status::Imprecise };
    assert_eq!(fit.status(), expected, "{name}: rounding {error:e}");
    assert_eq!(fit.solver, "interior-point");
    let again = certify(problem, fit.model.alpha().unwrap(), fit.model.v()).unwrap();
    assert_eq!(again, *fit.certificate(), "{name}");
    fit
}

/// Their intervals [dual, primal] both hold the optimum; certified values agree.
#[test]
fn agrees_with_coordinate_ascent() {
    for shape in SHAPES {
        for loss in losses() {
            for output in outputs(TASKS, &FOUR) {
                let name = format!("{shape:?} {loss} {output}");
                let setup = Setup::dense(shape, &loss);
                let data = setup.data();
                let problem = problem_of(&data, loss.clone(), output, 1.0);
                let ours = check(&name, &problem, 1e-9);
                let other = fit(&problem, &Settings { max_passes: 2000, ..sdca(1e-8) }).unwrap();
                let (a, b) = (ours.certificate(), other.certificate());
                assert_overlap(&name, a, b, 1e-12);
                if other.status() == Status::Certified {
                    assert_close(&name, &[a.primal], &[b.primal], 1e-7);
                }
            }
        }
    }
}

#[test]
fn every_source_of_inputs() {
    for source in SOURCES.into_iter().filter(|source| *source != Source::RbfOnTheFly) {
        for shape in SHAPES {
            for loss in [LossKind::Hinge, LossKind::Epsilon { epsilon: 0.1 }, LossKind::Squared] {
                for output in RegularizerKind::entrywise_examples(TASKS) {
                    let name = format!("{source:?} {shape:?} {loss} {output}");
                    let setup = Setup::new(source, &Sample::new(shape, 1), &loss);
                    let data = setup.data();
                    let problem = problem_of(&data, loss.clone(), output, 1.0);
                    check(&name, &problem, 1e-8);
                }
            }
        }
    }
}

#[test]
fn any_regularisation() {
    let names = ["power:1", "power:2", "power:4", "exp", "cosh"];
    for shape in SHAPES {
        for loss in losses() {
            for output in outputs(TASKS, &names) {
                let setup = Setup::dense(shape, &loss);
                let data = setup.data();
                for exponent in -8..=8 {
                    let name = format!("{shape:?} {loss} {output} C = 1e{exponent}");
                    let c = 10f64.powi(exponent);
                    let problem = problem_of(&data, loss.clone(), output.clone(), c);
                    check(&name, &problem, 1e-6);
                }
            }
        }
    }
}

/// Where coordinate ascent does not get to 1e-6 in 20000 passes: see `hard_pairs_come_close` in
/// `combinations.rs`.
#[test]
fn pairs_that_are_hard_for_coordinate_ascent() {
    let epsilon = LossKind::Epsilon { epsilon: 0.1 };
    let quantile = LossKind::Quantile { q: 0.3 };
    let hard = [
        (Source::Cosine, Shape::Own, 1.0, LossKind::Absolute),
        (Source::Cosine, Shape::Own, 1.0, quantile.clone()),
        (Source::Cosine, Shape::Own, 10.0, LossKind::Absolute),
        (Source::Bias, Shape::Shared, 10.0, LossKind::Absolute),
        (Source::Bias, Shape::Shared, 10.0, quantile),
        (Source::Dense, Shape::Missing, 10.0, epsilon),
    ];
    for (source, shape, c, loss) in hard {
        let setup = Setup::new(source, &Sample::new(shape, 1), &loss);
        let data = setup.data();
        for output in RegularizerKind::entrywise_examples(TASKS) {
            let name = format!("{source:?} {shape:?} C = {c} {loss} {output}");
            let problem = problem_of(&data, loss.clone(), output, c);
            let fit = check(&name, &problem, 1e-8);
            assert!(fit.passes <= 40, "{name}: {} steps", fit.passes);
        }
    }
}

/// Fits everything to 1e-6 at weak and strong regularisation.
fn fits(name: &str, inputs: &Inputs<'_>, observations: &Observations, losses: &[LossKind]) {
    let data = Dataset::new(inputs, observations, linear()).unwrap();
    for loss in losses {
        for output in outputs(observations.n_tasks(), &FOUR) {
            for c in [1e-6, 1.0, 1e6] {
                let name = format!("{name}: {loss} {output} C = {c}");
                let problem = problem_of(&data, loss.clone(), output.clone(), c);
                check(&name, &problem, 1e-6);
            }
        }
    }
}

#[test]
fn degenerate_data() {
    let all = losses();
    let ones = |n: usize| Dense::f64_owned(vec![1.0; n * FEATURES], n, FEATURES).unwrap().into();
    let signs = |n: usize| (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect::<Vec<f64>>();
    fits("one observation", &ones(1), &Observations::multi_task(&[0], vec![1.0]).unwrap(), &all);
    let task = [0, 1, 0, 1, 0, 1];
    fits("the same input", &ones(6), &Observations::multi_task(&task, signs(6)).unwrap(), &all);
    let equal = Observations::multi_task(&task, vec![1.0; 6]).unwrap();
    fits("all labels equal", &dense(&inputs(6, &mut Random(3))), &equal, &all);
    let zeros: Inputs<'_> = Dense::f64_owned(vec![0.0; 6 * FEATURES], 6, FEATURES).unwrap().into();
    fits("inputs that are zero", &zeros, &equal, &all);
    let twice = Observations::from_triples(2, 1, vec![0, 0, 1, 0], vec![0; 4], signs(4)).unwrap();
    fits("contradicting labels", &dense(&inputs(2, &mut Random(4))), &twice, &all);
    let empty = Observations::from_triples(4, 3, vec![0, 1, 2, 3], vec![2, 2, 0, 0], signs(4)).unwrap();
    fits("a task without observations", &dense(&inputs(4, &mut Random(5))), &empty, &all);
    let mut x = inputs(12, &mut Random(6));
    x.chunks_mut(FEATURES).for_each(|row| (row[1], row[3]) = (1.0, 0.0));
    let (input, task) = ((0..12).collect(), (0..12).map(|i| i % 2).collect());
    let weighted = Observations::from_triples(12, 2, input, task, signs(12)).unwrap();
    let weights: Vec<f64> = (0..12).map(|i| if i < 2 { 0.0 } else { 10f64.powi(i - 7) }).collect();
    fits("constant features, weights", &dense(&x), &weighted.with_weights(&weights).unwrap(), &all);
    let zero = Observations::multi_task(&[0, 1], vec![0.0, 0.0]).unwrap();
    let regression: Vec<LossKind> = all.iter().filter(|loss| !loss.is_classification()).cloned().collect();
    fits("labels that are zero", &dense(&inputs(2, &mut Random(7))), &zero, &regression);
}

#[test]
fn each_task_its_own_loss() {
    let sample = Sample::new(Shape::Missing, 2);
    let setup = Setup::new(Source::Dense, &sample, &LossKind::Hinge);
    let data = setup.data();
    let mixed =
        vec![LossKind::Hinge, LossKind::Epsilon { epsilon: 0.2 }, LossKind::SquaredEpsilon { epsilon: 0.1 }];
    for output in outputs(TASKS, &FOUR) {
        for c in [1e-4, 1.0, 1e4] {
            let losses = Losses::PerTask(mixed.clone());
            let problem = problem_of(&data, losses, output.clone(), c);
            check(&format!("{output} C = {c}"), &problem, 1e-8);
        }
    }
}

#[test]
fn refuses_what_it_cannot_do() {
    let setup = Setup::dense(Shape::Shared, &LossKind::Logistic);
    let data = setup.data();
    let output = power(1);
    let problem = problem_of(&data, LossKind::Logistic, output.clone(), 1.0);
    let error = fit(&problem, &interior(1e-3)).unwrap_err();
    assert!(matches!(error, Error::Unsuitable { solver: "interior-point", .. }), "{error}");
    assert!(error.to_string().contains("conjugate of the logistic loss"), "{error}");

    let (n, d) = (3100, 1600);
    let inputs: Inputs<'_> = Dense::f64_owned(vec![1.0; n * d], n, d).unwrap().into();
    let task: Vec<u32> = (0..n as u32).map(|i| i % 4).collect();
    let observations = Observations::multi_task(&task, vec![1.0; n]).unwrap();
    let wide = Dataset::new(&inputs, &observations, linear()).unwrap();
    let problem = problem_of(&wide, LossKind::Hinge, output, 1.0);
    assert_eq!(InteriorPoint.suits(&problem), Ok(()));
    // 4 x 775 columns of 1600 numbers, the system, the eigenbasis and the inputs in it.
    assert!(InteriorPoint.memory(&problem) > 8 * (3100 * 3100 + 3100 * 1600 + 1600 * 1600) as u64);
    let all = Observations::multi_output(&vec![1.0; n * 4], n, 4).unwrap();
    let larger = Dataset::new(&inputs, &all, linear()).unwrap();
    let problem = problem_of(&larger, LossKind::Hinge, power(1), 1.0);
    let why = InteriorPoint.suits(&problem).unwrap_err();
    assert_eq!(why, "it would factorise systems of 6400 unknowns, at most 6000");
}

#[test]
fn ends_with_what_it_has() {
    let setup = Setup::dense(Shape::Own, &LossKind::Hinge);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Hinge, power(2), 100.0);
    for steps in 0..6 {
        let settings = Settings { max_passes: steps, ..interior(1e-9) };
        let fit = fit(&problem, &settings).unwrap();
        assert_eq!((fit.status(), fit.passes), (Status::PassLimit, steps));
        assert!(fit.certificate().gap.is_finite() && fit.certificate().rel_gap() <= 1.0);
    }
    // More than double precision has: still a model, and what it is worth.
    let fit = fit(&problem, &interior(1e-300)).unwrap();
    assert!(matches!(fit.status(), Status::Stalled | Status::PassLimit), "{}", fit.status());
    assert!(fit.certificate().rel_gap() <= 1e-9, "{:e}", fit.certificate().rel_gap());
}

#[test]
fn refitting_does_nothing() {
    let setup = Setup::dense(Shape::Shared, &LossKind::Hinge);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Hinge, power(1), 1.0);
    let solved = fit(&problem, &interior(1e-6)).unwrap();
    assert_eq!(solved.certificate().form, Form::OnePoint);
    let start = Start::Warm(solved.model.alpha().unwrap());
    let again = Fitter::new(&interior(1e-6)).start(start).fit(&problem).unwrap();
    assert_eq!((again.passes, again.model.alpha()), (0, solved.model.alpha()));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let loss = LossKind::Epsilon { epsilon: 0.1 };
    let mut random = Random(8);
    let (n, d, t) = (900, 24, 7);
    let x: Vec<f64> = (0..n * d).map(|_| random.fine()).collect();
    let y: Vec<f64> = (0..n * t).map(|_| random.fine()).collect();
    let inputs: Inputs<'_> = Dense::f64_owned(x, n, d).unwrap().into();
    let observations = Observations::multi_output(&y, n, t).unwrap();
    let run = |threads: usize| {
        let options = DatasetOptions { threads, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        let problem = problem_of(&data, loss.clone(), power(2), 1.0);
        let fit = check("random labels", &problem, 1e-8);
        (fit.certificate().clone(), fit.model.alpha().unwrap().to_vec(), fit.passes)
    };
    let one = run(1);
    for threads in [1, 2, 3, 5] {
        assert_eq!(one, run(threads));
    }
}
