//! One body for every loss with every output regulariser on every source of inputs.

use crate::common::*;
use kinfolk::kernel::Gamma;
use kinfolk::solver::{Sdca, SolveRequest, Solver, VisitOrder};
use kinfolk::{
    Certificate, Dataset, DatasetOptions, Fit, Fitter, Kernel, LossKind, Matrix, Observations, Problem,
    RegularizerKind, Settings, Silent, SolverKind, Start, Status, certify, fit,
};

const C: f64 = 1.0;
const LAMBDA: f64 = 0.5;

/// What plain coordinate ascent does not bring to a relative gap of 1e-6 in 20000 passes, at the C given, and
/// the gap it must at least reach: about twice the one measured, which depends on the order of visits. A few
/// duals drift along the null space of the kernel matrix until they meet the box (docs/math.md, errata). The
/// automatic choice solves them all.
struct Hard {
    source: Source,
    shape: Shape,
    c: f64,
    loss: LossKind,
    outputs: &'static [&'static str],
    gap: f64,
}

fn hard() -> Vec<Hard> {
    let quantile = LossKind::Quantile { q: 0.3 };
    let (source, shape) = (Source::Cosine, Shape::Own);
    let powers = &["power:2", "power:3", "power:4"];
    let most = &[
        "power:1",
        "power:2",
        "power:3",
        "power:4",
        "exp",
        "exp:2,1,0.5;1,2,1;0.5,1,2",
        "cosh",
        "series:0.1,0.5,0,0.25",
    ];
    vec![
        // Measured: 4.2e-5, 4.7e-5, 4.9e-5.
        Hard { source, shape, c: 1.0, loss: LossKind::Absolute, outputs: powers, gap: 1e-4 },
        // Certified, but only after 14918 passes.
        Hard {
            source,
            shape,
            c: 1.0,
            loss: LossKind::Absolute,
            outputs: &["exp:2,1,0.5;1,2,1;0.5,1,2"],
            gap: 1e-6,
        },
        // Measured: 2.5e-5.
        Hard { source, shape, c: 1.0, loss: quantile.clone(), outputs: &["power:4"], gap: 5e-5 },
        // Measured: 1.4e-3, 1.8e-3, 2.0e-3.
        Hard { source, shape, c: 10.0, loss: LossKind::Absolute, outputs: powers, gap: 4e-3 },
        // Measured: from 7.8e-3 (cosh) to 1.5e-2 (exp with prior).
        Hard {
            source: Source::Bias,
            shape: Shape::Shared,
            c: 10.0,
            loss: LossKind::Absolute,
            outputs: most,
            gap: 3e-2,
        },
        // Measured: 5.4e-3.
        Hard {
            source: Source::Bias,
            shape: Shape::Shared,
            c: 10.0,
            loss: quantile,
            outputs: &["power:4"],
            gap: 1.1e-2,
        },
        // Measured: 1.1e-4.
        Hard {
            source: Source::Dense,
            shape: Shape::Missing,
            c: 10.0,
            loss: LossKind::Epsilon { epsilon: 0.1 },
            outputs: &["exp"],
            gap: 2.2e-4,
        },
    ]
}

fn is_hard(source: Source, shape: Shape, loss: &LossKind, output: &RegularizerKind) -> bool {
    let name = output.to_string();
    hard().iter().any(|h| {
        (h.source, h.shape, h.c) == (source, shape, C)
            && h.loss == *loss
            && h.outputs.contains(&name.as_str())
    })
}

fn outputs() -> Vec<RegularizerKind> {
    RegularizerKind::entrywise_examples(TASKS)
}

fn each_pair(mut body: impl FnMut(Shape, &LossKind, &RegularizerKind)) {
    for shape in SHAPES {
        for loss in LossKind::all_examples() {
            for output in outputs() {
                body(shape, &loss, &output);
            }
        }
    }
}

/// Every pair on one source of inputs: solved, graded, refitted, and graded again with its Theta given.
fn every_pair_is_certified(source: Source) {
    each_pair(|shape, loss, output| {
        if is_hard(source, shape, loss, output) {
            return;
        }
        let name = format!("{source:?} {shape:?} {loss} {output}");
        let setup = Setup::new(source, &Sample::new(shape, 1), loss);
        let data = setup.data();
        let problem = problem_of(&data, loss.clone(), output.clone(), C);
        let solved = fit(&problem, &sdca(1e-6)).unwrap();
        assert_eq!(solved.status(), Status::Certified, "{name}: gap {:e}", solved.certificate().rel_gap());
        assert!(solved.certificate().rel_gap() <= 1e-6, "{name}");
        check_certificate(&name, &problem, &solved);
        dual_never_falls(&name, &solved);
        refitting_does_nothing(&name, &problem, &solved);
        gap_is_unchanged_when_theta_is_fixed(&name, &setup, &solved);
    });
}

/// The certificate can be recomputed from alpha, bit by bit, and its parts fit together.
fn check_certificate(name: &str, problem: &Problem<'_>, solved: &Fit) {
    let Certificate { primal, dual, gap, ref task_gaps, .. } = *solved.certificate();
    let again = certify(problem, solved.model.alpha().unwrap(), solved.model.v()).unwrap();
    assert_eq!(again, *solved.certificate(), "{name}");
    assert_eq!(solved.model.certificate(), solved.certificate(), "{name}");
    assert!(gap >= 0.0 && task_gaps.iter().all(|g| *g >= 0.0), "{name}: {task_gaps:?}");
    // A few roundings of each of some hundred terms.
    let rounding = 1e-13 * (primal.abs() + dual.abs() + gap);
    assert!((task_gaps.iter().sum::<f64>() - gap).abs() <= rounding, "{name}");
    assert!((primal - dual - gap).abs() <= rounding, "{name}: {primal} - {dual} is not {gap:e}");
}

fn dual_never_falls(name: &str, solved: &Fit) {
    for pair in solved.trace.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        // Sums of some hundred terms; steps stop at 1e-12 of the terms of their slope.
        let rounding = 1e-12 * before.primal.abs().max(before.dual.abs());
        assert!(after.dual >= before.dual - rounding, "{name}: {before:?} to {after:?}");
        assert!(after.dual <= solved.certificate().primal + rounding, "{name}: weak duality, {after:?}");
    }
}

fn refitting_does_nothing(name: &str, problem: &Problem<'_>, solved: &Fit) {
    let alpha = solved.model.alpha().unwrap();
    let settings = Settings { seed: 5, ..sdca(1e-6) };
    let again = Fitter::new(&settings).start(Start::Warm(alpha)).fit(problem).unwrap();
    assert_eq!((again.passes, again.status()), (0, Status::Certified), "{name}");
    assert_eq!(again.model.alpha(), Some(alpha), "{name}");
    assert_eq!(again.model.theta(), solved.model.theta(), "{name}");
}

/// Theta = phi'(rho) makes its own part of the gap vanish, so that only the losses' terms remain: those of
/// the problem with this Theta given.
fn gap_is_unchanged_when_theta_is_fixed(name: &str, setup: &Setup, solved: &Fit) {
    let given = RegularizerKind::Fixed { theta: rows(solved.model.theta()) };
    let data = setup.data();
    let problem = problem_of(&data, solved.model.about().problem.loss.clone(), given, C);
    let certificate = certify(&problem, solved.model.alpha().unwrap(), None).unwrap();
    let off = (certificate.gap - solved.certificate().gap).abs();
    // Predictions differ by roundings, and the gap by those times the duals.
    assert!(off <= 1e-13 * solved.certificate().primal.abs(), "{name}: {off:e}");
}

test_sources! {
    every_pair_is_certified:
    dense => Dense,
    single_precision => Single,
    sparse => Sparse,
    precomputed => Precomputed,
    rbf => Rbf,
    rbf_on_the_fly => RbfOnTheFly,
    linear_with_bias => Bias,
    cosine => Cosine,
}

#[test]
fn hard_pairs_come_close() {
    for Hard { source, shape, c, loss, outputs: names, gap } in hard() {
        let setup = Setup::new(source, &Sample::new(shape, 1), &loss);
        let known = outputs();
        for name in names {
            let output = known.iter().find(|o| o.to_string() == *name).expect("an example of this name");
            let fit = setup.fit(spec(loss.clone(), output.clone(), c, LAMBDA), &sdca(1e-6));
            let reached = fit.certificate().rel_gap();
            println!("{source:?} {shape:?} C = {c} {loss} {name}: {reached:.1e} after {} passes", fit.passes);
            assert!(reached <= gap, "{source:?} {shape:?} {loss} {name}: gap {reached:e}");
            dual_never_falls(name, &fit);
            // What coordinate ascent leaves open, the automatic choice closes.
            let auto = Settings { solver: SolverKind::Auto, ..sdca(1e-6) };
            let fit = setup.fit(spec(loss.clone(), output.clone(), c, LAMBDA), &auto);
            assert_eq!(
                fit.status(),
                Status::Certified,
                "{source:?} {shape:?} {loss} {name}: {:?}",
                fit.reason
            );
        }
    }
}

/// A fixed number of passes with one seed.
fn passes(number: usize) -> Settings {
    Settings { max_passes: number, ..sdca(1e-300) }
}

fn fit_and_predict(setup: &Setup, loss: &LossKind, output: &RegularizerKind, number: usize) -> (Fit, Matrix) {
    let fit = setup.fit(spec(loss.clone(), output.clone(), C, LAMBDA), &passes(number));
    let predictions = setup.predict(&fit);
    (fit, predictions)
}

/// The same seed means the same visits, hence the same iterates up to rounding, whatever the source of the
/// inputs: objective values, Theta and predictions agree far better than the gap of any of them would
/// promise. (Duals as well, but for singular kernel matrices nothing holds them in place.)
#[test]
fn forms_of_the_same_inputs_agree() {
    each_pair(|shape, loss, output| {
        let sample = Sample::new(shape, 2);
        let run = |source: Source| fit_and_predict(&Setup::new(source, &sample, loss), loss, output, 30);
        let agree = |one: Source, other: Source| {
            let name = format!("{one:?} {other:?} {shape:?} {loss} {output}");
            let ((a, a_predictions), (b, b_predictions)) = (run(one), run(other));
            let values = |fit: &Fit| [fit.certificate().primal, fit.certificate().dual];
            assert_close(&format!("{name}: values"), &values(&a), &values(&b), 1e-9);
            let (a_theta, b_theta) = (a.model.theta().as_slice(), b.model.theta().as_slice());
            assert_close(&format!("{name}: theta"), a_theta, b_theta, 1e-9);
            let (a_values, b_values) = (a_predictions.as_slice(), b_predictions.as_slice());
            assert_close(&format!("{name}: predictions"), a_values, b_values, 1e-9);
        };
        agree(Source::Dense, Source::Sparse);
        agree(Source::Dense, Source::Precomputed);
        agree(Source::Rbf, Source::RbfOnTheFly);
    });
}

/// Numbers that single precision holds exactly are the same numbers.
#[test]
fn single_precision_is_exact() {
    each_pair(|shape, loss, output| {
        let sample = Sample::new(shape, 3);
        let run = |source: Source| {
            let (fit, predictions) = fit_and_predict(&Setup::new(source, &sample, loss), loss, output, 5);
            (fit.certificate().clone(), fit.model.alpha().unwrap().to_vec(), predictions)
        };
        assert_eq!(run(Source::Dense), run(Source::Single), "{shape:?} {loss} {output}");
    });
}

#[test]
fn the_small_budget_is_kept() {
    let loss = LossKind::Squared;
    let sample = Sample::new(Shape::Own, 1);
    let is_quick_after = |source: Source, passes: usize| {
        let setup = Setup::new(source, &sample, &loss);
        let data = setup.data();
        assert_eq!(data.backend().is_quick(), source != Source::Rbf && source != Source::RbfOnTheFly);
        let problem = problem_of(&data, loss.clone(), power(1), C);
        fit(&problem, &Settings { max_passes: passes, ..sdca(1e-300) }).unwrap();
        data.backend().is_quick()
    };
    // The matrix is stored by the first fit, if there is room for it.
    assert!(is_quick_after(Source::Dense, 0));
    assert!(is_quick_after(Source::Rbf, 0));
    assert!(!is_quick_after(Source::RbfOnTheFly, 1));
}

/// Two solvers that share nothing but the certificate: their intervals [dual, primal] both hold the optimum.
#[test]
fn spectral_and_coordinate_ascent_agree() {
    // A kernel computed on the fly has inputs without labels here, and no room for an eigenbasis.
    for source in SOURCES.into_iter().filter(|source| *source != Source::RbfOnTheFly) {
        let setup = Setup::new(source, &Sample::new(Shape::Shared, 1), &LossKind::Squared);
        for output in outputs() {
            for c in [0.1, 1.0, 30.0] {
                let name = format!("{source:?} {output} C = {c}");
                let spec = spec(LossKind::Squared, output.clone(), c, LAMBDA);
                let ascent = setup.fit(spec.clone(), &sdca(1e-9));
                let spectral = setup.fit(spec, &Settings { solver: SolverKind::Spectral, ..sdca(1e-9) });
                assert_eq!((ascent.solver, spectral.solver), ("sdca", "spectral"));
                for fit in [&ascent, &spectral] {
                    assert_eq!(
                        fit.status(),
                        Status::Certified,
                        "{name} {}: {:e}",
                        fit.solver,
                        fit.certificate().rel_gap()
                    );
                }
                assert_overlap(&name, ascent.certificate(), spectral.certificate(), 1e-13);
            }
        }
    }
}

/// All orders of n things.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

/// A pass in blocks is a pass of exact steps, one observation at a time, in some order: whatever the solver
/// keeps up to date within a block must be exact, or no order gives the same duals.
#[test]
fn blocks_are_single_steps_in_another_order() {
    // (input, task): shared inputs; own inputs; both; observations given twice.
    let lists: [[(u32, u32); 4]; 4] = [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(0, 0), (1, 0), (2, 1), (3, 1)],
        [(0, 0), (0, 1), (1, 0), (2, 1)],
        [(0, 0), (0, 0), (0, 1), (1, 1)],
    ];
    let label = [1.0, -1.0, -1.0, 1.0];
    let settings = Settings { max_passes: 1, ..sdca(1e-300) }.check().unwrap();
    for (list, kernel) in lists.iter().flat_map(|list| kernels().map(|kernel| (list, kernel))) {
        let n = list.iter().map(|(input, _)| *input as usize + 1).max().unwrap();
        let inputs = crate::common::dense(&crate::common::inputs(n, &mut Random(5)));
        let options = DatasetOptions { kernel, ..linear() };
        for loss in [LossKind::Squared, LossKind::Hinge, LossKind::Logistic] {
            for output in RegularizerKind::entrywise_examples(2) {
                let pass = |order: &[usize], how: VisitOrder| {
                    let pick = |f: &dyn Fn(usize) -> u32| order.iter().map(|&o| f(o)).collect::<Vec<u32>>();
                    let (input, task) = (pick(&|o| list[o].0), pick(&|o| list[o].1));
                    let y: Vec<f64> = order.iter().map(|&o| label[o]).collect();
                    let observations = Observations::from_triples(n, 2, input, task, y.clone()).unwrap();
                    let data = Dataset::new(&inputs, &observations, options.clone()).unwrap();
                    let problem = problem_of(&data, loss.clone(), output.clone(), C);
                    let start: Vec<f64> = y.iter().map(|y| 0.3 * y / problem.unit()).collect();
                    let solver = Sdca { order: how, check_every: None };
                    let found = solver
                        .solve(
                            SolveRequest {
                                problem: &problem,
                                settings: &settings,
                                start: Start::Warm(&start),
                            },
                            &mut Silent,
                        )
                        .unwrap();
                    let mut alpha = vec![0.0; 4];
                    order.iter().zip(found.kappa).for_each(|(&o, kappa)| alpha[o] = kappa * problem.unit());
                    alpha
                };
                for size in [1, 2, 64] {
                    let blocked = pass(&[0, 1, 2, 3], VisitOrder::Blocked(size));
                    let closest = permutations(4)
                        .iter()
                        .map(|order| distance(&blocked, &pass(order, VisitOrder::Cyclic)))
                        .fold(f64::INFINITY, f64::min);
                    assert!(closest <= 1e-12, "{list:?} {loss} {output} blocks of {size}: {closest:e}");
                }
            }
        }
    }
}

fn kernels() -> [Kernel; 2] {
    [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.25) }]
}
