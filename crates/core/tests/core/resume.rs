//! A fit that was interrupted and resumed ends with the same bits as one that was not.

use crate::common::*;
use kinfolk::solver::{Sdca, Solution, SolveRequest, Solver, VisitOrder};
use kinfolk::{
    Error, Fitter, Flow, LossKind, Observer, Problem, Progress, RegularizerKind, Settings, Silent, Snapshot,
    SolverKind, Start, Status, fit,
};

/// Keeps the snapshots of all certificates; says stop at some certificate or poll.
#[derive(Default)]
struct Camera {
    snapshots: Vec<Option<Snapshot>>,
    stop_at_report: Option<usize>,
    stop_at_poll: Option<usize>,
    polls: usize,
}

impl Observer for Camera {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        let snapshot = progress.snapshot();
        if let Some(snapshot) = &snapshot {
            assert_eq!((snapshot.passes, snapshot.solver.as_str()), (progress.passes, progress.solver));
        }
        self.snapshots.push(snapshot);
        if self.stop_at_report == Some(self.snapshots.len()) { Flow::Stop } else { Flow::Continue }
    }

    fn poll(&mut self) -> Flow {
        self.polls += 1;
        if self.stop_at_poll.is_some_and(|n| self.polls >= n) { Flow::Stop } else { Flow::Continue }
    }
}

/// All that a solver leaves, as bits.
fn bits(solution: &Solution) -> (Vec<u64>, usize, Status) {
    let certificate = solution.certificate();
    let values = solution.kappa.iter().chain([&certificate.primal, &certificate.dual, &certificate.gap]);
    (values.map(|x| x.to_bits()).collect(), solution.passes, solution.status)
}

/// As from a file.
fn stored(snapshot: &Snapshot) -> Snapshot {
    let text = serde_json::to_string(snapshot).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Interrupts a fit at every certificate, resumes each time, and compares. Whether there was one to interrupt
/// at.
fn interrupt_everywhere(name: &str, problem: &Problem<'_>, solver: &Sdca, settings: &Settings) -> bool {
    let settings = settings.clone().check().unwrap();
    let mut camera = Camera::default();
    let whole =
        solver.solve(SolveRequest { problem, settings: &settings, start: Start::Cold }, &mut camera).unwrap();
    for stop in 1..=camera.snapshots.len() {
        let mut other = Camera { stop_at_report: Some(stop), ..Camera::default() };
        let part = solver
            .solve(SolveRequest { problem, settings: &settings, start: Start::Cold }, &mut other)
            .unwrap();
        let Some(snapshot) = &other.snapshots[stop - 1] else {
            // Only the last certificate may be out of turn.
            assert_eq!(stop, camera.snapshots.len(), "{name}");
            continue;
        };
        assert_eq!(other.snapshots[..], camera.snapshots[..stop], "{name}");
        assert_eq!(part.passes, snapshot.passes, "{name}");
        let resumed = solver
            .solve(
                SolveRequest { problem, settings: &settings, start: Start::Resume(&stored(snapshot)) },
                &mut Silent,
            )
            .unwrap();
        assert_eq!(bits(&resumed), bits(&whole), "{name}, resumed after pass {}", snapshot.passes);
        let trace = |solution: &Solution| {
            let points = solution.trace.iter().map(|p| (p.passes, p.primal.to_bits(), p.gap.to_bits()));
            points.collect::<Vec<_>>()
        };
        assert_eq!(trace(&resumed)[..], trace(&whole)[stop - 1..], "{name}");
    }
    camera.snapshots.len() > 3
}

#[test]
fn every_certificate_is_a_place_to_resume_from() {
    let mut interrupted = 0;
    for shape in SHAPES {
        let sample = Sample::new(shape, 3);
        for loss in
            [LossKind::Hinge, LossKind::Squared, LossKind::Logistic, LossKind::Epsilon { epsilon: 0.1 }]
        {
            for source in [Source::Dense, Source::Sparse, Source::Rbf, Source::RbfOnTheFly, Source::Bias] {
                for order in [
                    VisitOrder::Blocked(64),
                    VisitOrder::Blocked(3),
                    VisitOrder::Sequential,
                    VisitOrder::Cyclic,
                ] {
                    let output = match source {
                        Source::Dense => power(1),
                        Source::Sparse => RegularizerKind::Exp { prior: None },
                        _ => power(2),
                    };
                    let mut setup = Setup::new(source, &sample, &loss);
                    setup.options.threads = 1 + usize::from(source == Source::Rbf);
                    let data = setup.data();
                    let problem = problem_of(&data, loss.clone(), output, 3.0);
                    for check_every in [None, Some(3)] {
                        let name = format!("{shape:?} {loss} {source:?} {order:?} {check_every:?}");
                        let settings = Settings { tolerance: 1e-5, max_passes: 16, seed: 5, ..sdca(1.0) };
                        let solver = Sdca { order, check_every };
                        interrupted += usize::from(interrupt_everywhere(&name, &problem, &solver, &settings));
                    }
                }
            }
        }
    }
    assert!(interrupted > 300, "{interrupted}");
}

#[test]
fn long_fits_too() {
    // Rounding errors are shed in between, every twenty passes.
    let setup = Setup::dense(Shape::Own, &LossKind::Absolute);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Absolute, power(2), 30.0);
    let settings = Settings { max_passes: 230, ..sdca(1e-14) };
    for check_every in [None, Some(50)] {
        let solver = Sdca { check_every, ..Sdca::default() };
        assert!(interrupt_everywhere("long", &problem, &solver, &settings));
    }
    let mut camera = Camera::default();
    let checked = settings.check().unwrap();
    let whole = Sdca::default()
        .solve(SolveRequest { problem: &problem, settings: &checked, start: Start::Cold }, &mut camera)
        .unwrap();
    let passes: Vec<usize> = whole.trace.iter().map(|point| point.passes).collect();
    assert!(passes.windows(2).all(|pair| pair[1] - pair[0] <= 20), "{passes:?}");
    // A limit between two certificates adds one, which is not on the way of a longer fit.
    assert_eq!(passes.last(), Some(&230));
    assert_eq!(camera.snapshots.last(), Some(&None));
}

#[test]
fn limits_count_the_whole_fit_and_may_change() {
    let setup = Setup::dense(Shape::Missing, &LossKind::Hinge);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Hinge, power(2), 3.0);
    let settings = |max_passes, tolerance| Settings { max_passes, ..sdca(tolerance) };
    let whole = fit(&problem, &settings(40, 1e-14)).unwrap();
    assert_eq!(whole.status(), Status::PassLimit);
    let mut camera = Camera::default();
    let part = Fitter::new(&settings(7, 1e-3)).observer(&mut camera).fit(&problem).unwrap();
    assert!(part.passes <= 7);
    let snapshot = camera.snapshots.iter().flatten().last().unwrap();
    let resume = |settings: &Settings| Fitter::new(settings).resume(snapshot).fit(&problem);
    let resumed = resume(&settings(40, 1e-14)).unwrap();
    assert_eq!((resumed.passes, resumed.status()), (40, Status::PassLimit));
    assert_eq!(resumed.model.alpha(), whole.model.alpha());
    assert_eq!(resumed.model.to_bytes().unwrap(), whole.model.to_bytes().unwrap());
    // Nothing is left to do.
    let done = resume(&settings(snapshot.passes, 1e-14)).unwrap();
    assert_eq!((done.passes, done.status()), (snapshot.passes, Status::PassLimit));
    assert_eq!(done.model.alpha(), Some(&snapshot.alpha[..]));
}

#[test]
fn a_pass_that_was_cut_short_leaves_no_snapshot() {
    let setup = Setup::dense(Shape::Own, &LossKind::Hinge);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Hinge, power(2), 3.0);
    let settings = Settings { solver: SolverKind::SdcaSequential, ..sdca(1e-14) };
    let whole = fit(&problem, &Settings { max_passes: 60, ..settings.clone() }).unwrap();
    let mut cut = 0;
    for poll in (1..200).step_by(7) {
        let mut camera = Camera { stop_at_poll: Some(poll), ..Camera::default() };
        let part = Fitter::new(&settings).observer(&mut camera).fit(&problem).unwrap();
        assert_eq!(part.status(), Status::Stopped);
        cut += usize::from(camera.snapshots.last() == Some(&None));
        // The last snapshot there is lies on the way.
        let snapshot = camera.snapshots.iter().flatten().last().unwrap();
        let settings = Settings { max_passes: 60, ..settings.clone() };
        let resumed = Fitter::new(&settings).resume(snapshot).fit(&problem).unwrap();
        assert_eq!(resumed.model.alpha(), whole.model.alpha(), "poll {poll}");
    }
    assert!(cut > 20, "{cut}");
}

#[test]
fn a_kernel_fit_that_was_stopped_before_its_first_certificate_leaves_no_other_start() {
    for source in [Source::Rbf, Source::RbfOnTheFly] {
        let sample = Sample::new(Shape::Own, 3);
        let setup = Setup::new(source, &sample, &LossKind::Hinge);
        let settings = Settings { solver: SolverKind::Sdca, max_passes: 30, ..sdca(1e-14) };
        let data = setup.data();
        let problem = problem_of(&data, LossKind::Hinge, power(1), 3.0);
        let whole = fit(&problem, &settings).unwrap();
        for poll in 1..20 {
            // Fresh data: the Gram matrix is computed during the fit.
            let data = setup.data();
            let problem = problem_of(&data, LossKind::Hinge, power(1), 3.0);
            let mut camera = Camera { stop_at_poll: Some(poll), ..Camera::default() };
            Fitter::new(&settings).observer(&mut camera).fit(&problem).unwrap();
            let Some(snapshot) = camera.snapshots.iter().flatten().last() else { continue };
            let resumed = Fitter::new(&settings).resume(snapshot).fit(&problem).unwrap();
            assert_eq!(resumed.model.alpha(), whole.model.alpha(), "{source:?}, poll {poll}");
        }
    }
}

#[test]
fn the_solver_that_was_chosen_goes_on() {
    for (shape, loss) in [(Shape::Own, LossKind::Squared), (Shape::Shared, LossKind::Hinge)] {
        let setup = Setup::dense(shape, &loss);
        let data = setup.data();
        let problem = problem_of(&data, loss, power(2), 3.0);
        let settings = Settings { tolerance: 1e-6, ..Settings::default() };
        let whole = fit(&problem, &settings).unwrap();
        let mut camera = Camera { stop_at_report: Some(3), ..Camera::default() };
        Fitter::new(&settings).observer(&mut camera).fit(&problem).unwrap();
        let snapshot = camera.snapshots[2].as_ref().unwrap();
        let resumed = Fitter::new(&settings).resume(snapshot).fit(&problem).unwrap();
        assert_eq!(resumed.model.to_bytes().unwrap(), whole.model.to_bytes().unwrap());
        assert!(resumed.reason.unwrap().contains("interrupted"));
    }
    // Spectral takes no snapshots: starting again gives the same bits.
    let setup = Setup::dense(Shape::Shared, &LossKind::Squared);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Squared, power(2), 3.0);
    let mut camera = Camera::default();
    Fitter::new(&Settings::default()).observer(&mut camera).fit(&problem).unwrap();
    assert!(camera.snapshots.iter().all(|snapshot| snapshot.is_none()) && !camera.snapshots.is_empty());
}

/// The eigenbasis solver ends at the limits of double precision; coordinate ascent goes on from there.
#[test]
fn passes_of_both_solvers_count() {
    let setup = Setup::dense(Shape::Shared, &LossKind::Squared);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Squared, power(4), 1e-3);
    let settings = Settings { tolerance: 1e-300, max_passes: 200, ..Settings::default() };
    let mut camera = Camera::default();
    let whole = Fitter::new(&settings).observer(&mut camera).fit(&problem).unwrap();
    assert!(whole.reason.clone().unwrap().contains("so sdca"), "{:?}", whole.reason);
    assert!(whole.passes <= 200 && whole.trace.windows(2).all(|w| w[0].passes <= w[1].passes));
    let snapshots: Vec<&Snapshot> = camera.snapshots.iter().flatten().collect();
    let spectral = whole.trace.iter().zip(&camera.snapshots).filter(|(_, s)| s.is_none()).count();
    assert!(spectral > 0 && snapshots[0].passes > 0, "the second solver counts on");
    for snapshot in snapshots {
        let resumed = Fitter::new(&settings).resume(snapshot).fit(&problem).unwrap();
        assert_eq!(resumed.passes, whole.passes);
        assert_eq!(resumed.trace.last().unwrap().gap, whole.trace.last().unwrap().gap);
    }
}

#[test]
fn another_solver_seed_or_problem_is_refused() {
    let setup = Setup::dense(Shape::Own, &LossKind::Hinge);
    let data = setup.data();
    let problem = problem_of(&data, LossKind::Hinge, power(2), 3.0);
    let snapshot =
        Snapshot { solver: "sdca".into(), seed: 1, passes: 3, previous: None, alpha: vec![0.0; 24] };
    let refusal = |settings: &Settings, snapshot: &Snapshot| {
        Fitter::new(settings).resume(snapshot).fit(&problem).unwrap_err()
    };
    let seed_1 = Settings { seed: 1, ..sdca(1e-3) };
    assert_eq!(
        refusal(&sdca(1e-3), &snapshot).to_string(),
        "the fit to resume was made with seed 1, not with 0"
    );
    assert_eq!(
        refusal(&Settings { solver: SolverKind::SdcaSequential, ..seed_1.clone() }, &snapshot).to_string(),
        "the fit to resume was made by solver sdca, not by sdca-sequential"
    );
    let sequential = Snapshot { solver: "sdca-sequential".into(), ..snapshot.clone() };
    let error = refusal(&Settings { solver: SolverKind::Auto, ..seed_1.clone() }, &sequential);
    assert_eq!(error.to_string(), "the fit to resume was made by solver sdca-sequential, not by sdca");
    let short = Snapshot { alpha: vec![0.0; 23], ..snapshot.clone() };
    assert!(matches!(refusal(&seed_1, &short), Error::Length { got: 23, expected: 24, .. }));
    assert!(Fitter::new(&seed_1).resume(&snapshot).fit(&problem).is_ok());
}
