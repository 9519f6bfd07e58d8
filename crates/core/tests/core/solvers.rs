//! Solvers that share nothing but the certificate: each must bring its gap below the tolerance, and their
//! intervals [dual, primal] must all hold the optimum.

use crate::common::*;
use kinfolk::{
    Fit, Fitter, LossKind, Problem, RegularizerKind, Settings, SolverKind, Start, Status, certify,
    certify_duals, fit,
};

const LAMBDA: f64 = 0.5;

fn settings(solver: SolverKind, tolerance: f64) -> Settings {
    Settings { tolerance, max_passes: 3000, solver, ..Settings::default() }
}

/// Every solver that suits a problem, but for coordinate ascent, whose passes grow without bound with C.
fn suitable(problem: &Problem<'_>) -> Vec<SolverKind> {
    let ascent = |kind: &SolverKind| matches!(kind, SolverKind::Sdca | SolverKind::SdcaSequential);
    let suits = |kind: &SolverKind| !ascent(kind) && kind.build().suits(problem).is_ok();
    SolverKind::ALL.into_iter().filter(suits).collect()
}

fn agree(name: &str, fits: &[Fit]) {
    for a in fits {
        for b in fits {
            let rounding = 1e-12 * a.certificate().primal.abs().max(b.certificate().primal.abs());
            let (dual, primal) = (a.certificate().dual, b.certificate().primal);
            assert!(
                dual <= primal + rounding,
                "{name}: {} proves {dual}, {} found {primal}",
                a.solver,
                b.solver
            );
        }
    }
}

/// Every pair of loss and regulariser by every solver that takes it, where regularisation is strong, moderate
/// and weak.
fn every_solver_certifies_every_pair(source: Source) {
    for shape in SHAPES {
        for loss in LossKind::all_examples() {
            let setup = Setup::new(source, &Sample::new(shape, 1), &loss);
            let data = setup.data();
            for output in RegularizerKind::entrywise_examples(TASKS) {
                for c in [0.03, 1.0, 30.0] {
                    let problem = problem_of(&data, loss.clone(), output.clone(), c);
                    let mut fits = vec![];
                    for solver in suitable(&problem) {
                        let name = format!("{source:?} {shape:?} {loss} {output} C = {c} {solver}");
                        let solved = fit(&problem, &settings(solver, 1e-6)).unwrap();
                        let gap = solved.certificate().rel_gap();
                        assert_eq!(solved.status(), Status::Certified, "{name}: {gap:e} {:?}", solved.reason);
                        let alpha = solved.model.alpha().unwrap();
                        let again = certify(&problem, alpha, solved.model.v()).unwrap();
                        assert_eq!(again, *solved.certificate(), "{name}");
                        fits.push(solved);
                    }
                    agree(&format!("{source:?} {shape:?} {loss} {output} C = {c}"), &fits);
                }
            }
        }
    }
}

test_sources! {
    every_solver_certifies_every_pair:
    features => Dense,
    kernels => Rbf,
}

/// Four decades of C on either side.
#[test]
fn the_automatic_choice_certifies_any_regularisation() {
    for shape in [Shape::Own, Shape::Shared] {
        for loss in [
            LossKind::Squared,
            LossKind::Logistic,
            LossKind::Hinge,
            LossKind::SquaredHinge,
            LossKind::Epsilon { epsilon: 0.1 },
        ] {
            let setup = Setup::new(Source::Dense, &Sample::new(shape, 4), &loss);
            let data = setup.data();
            for k in [1, 2, 4] {
                for exponent in -4..=4 {
                    let c = 10f64.powi(exponent);
                    let problem = problem_of(&data, loss.clone(), power(k), c);
                    let solved = fit(&problem, &settings(SolverKind::Auto, 1e-6)).unwrap();
                    let gap = solved.certificate().rel_gap();
                    let name = format!("{shape:?} {loss} k = {k} C = {c}");
                    assert_eq!(solved.status(), Status::Certified, "{name}: {gap:e} {:?}", solved.reason);
                }
            }
        }
    }
}

/// Refitting from a solution does no work, whichever solver it is.
#[test]
fn a_solution_is_where_it_ends() {
    for (loss, shape) in
        [(LossKind::Squared, Shape::Shared), (LossKind::Logistic, Shape::Own), (LossKind::Hinge, Shape::Own)]
    {
        let setup = Setup::new(Source::Dense, &Sample::new(shape, 2), &loss);
        let data = setup.data();
        let problem = problem_of(&data, loss, power(1), 1.0);
        let tight = fit(&problem, &settings(SolverKind::Sdca, 1e-7)).unwrap();
        let alpha = tight.model.alpha().unwrap();
        for solver in SolverKind::ALL.into_iter().filter(|kind| kind.build().suits(&problem).is_ok()) {
            let again = Fitter::new(&settings(solver, 1e-6)).start(Start::Warm(alpha)).fit(&problem).unwrap();
            assert_eq!((again.passes, again.status()), (0, Status::Certified), "{solver}");
            assert_eq!(again.model.alpha(), Some(alpha), "{solver}");
        }
    }
}

/// A point of another method is certified or handed over: it never claims a limit that no solver reached.
#[test]
fn points_of_other_methods_are_certified_or_handed_over() {
    let setup = Setup::new(Source::Dense, &Sample::new(Shape::Own, 2), &LossKind::Hinge);
    let data = setup.data();
    let problem_spec = spec(LossKind::Hinge, power(1), 1.0, LAMBDA);
    let problem = Problem::new(&data, problem_spec).unwrap();
    let solved = fit(&problem, &settings(SolverKind::Auto, 1e-7)).unwrap();
    let alpha = solved.model.alpha().unwrap();
    let limits = Settings { max_passes: 1, ..settings(SolverKind::Auto, 1e-6) };
    let zeros = vec![0.0; alpha.len()];
    for (alpha, status) in [(alpha, Status::Certified), (&zeros[..], Status::HandedOver)] {
        let given = certify_duals(&problem, alpha, solved.model.v(), &limits, ("another", 18)).unwrap();
        assert_eq!((given.status(), given.solver, given.passes), (status, "another", 18));
    }
}

/// Same seed and threads, same bits.
#[test]
fn twice_is_the_same() {
    for (loss, solver) in [
        (LossKind::Logistic, SolverKind::Newton),
        (LossKind::Hinge, SolverKind::Proximal),
        (LossKind::Hinge, SolverKind::InteriorPoint),
        (LossKind::SquaredHinge, SolverKind::Auto),
    ] {
        for threads in [1, 2] {
            let mut setup = Setup::new(Source::Dense, &Sample::new(Shape::Shared, 3), &loss);
            setup.options.threads = threads;
            let run = || {
                let problem_spec = spec(loss.clone(), power(2), 30.0, LAMBDA);
                setup.fit(problem_spec, &settings(solver, 1e-6)).model.to_bytes().unwrap()
            };
            assert_eq!(run(), run(), "{loss} {solver} on {threads} threads");
        }
    }
}
