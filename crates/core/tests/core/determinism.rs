//! Same seed, same bits, for any number of threads; stopping early leaves a usable model with its true certificate;
//! paths.

use crate::common::*;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Flow, Kernel, LossKind, Observations, Observer, Problem,
    ProblemSpec, Progress, RegularizerKind, Settings, Silent, SolverKind, Start, Status, Weights, certify,
    fit,
};
use std::time::Duration;

/// Enough inputs for several blocks of every kind, and for products that are shared out between threads.
const MANY: usize = 700;

fn many_inputs() -> Vec<f64> {
    inputs(MANY, &mut Random(1))
}

/// Own inputs for each task, or every task for every input.
fn many_observations(shared: bool, loss: &LossKind) -> Observations {
    let mut random = Random(2);
    let mut label = |_| if loss.is_classification() { random.fine().signum() } else { random.fine() };
    if shared {
        let table: Vec<f64> = (0..MANY * TASKS).map(&mut label).collect();
        return Observations::multi_output(&table, MANY, TASKS).unwrap();
    }
    let task: Vec<u32> = (0..MANY).map(|i| (i % TASKS) as u32).collect();
    Observations::multi_task(&task, (0..MANY).map(label).collect()).unwrap()
}

fn kernels() -> [Kernel; 2] {
    [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.5) }]
}

/// Everything a fit leaves, as bits.
fn bits(fit: &Fit) -> Vec<u64> {
    let model = &fit.model;
    let mut values = vec![fit.certificate().primal, fit.certificate().dual, fit.certificate().gap];
    values.extend(fit.certificate().task_gaps.iter());
    values.extend(model.alpha().unwrap());
    values.extend(model.theta().as_slice());
    values.extend(model.weights().map_or(&[][..], |w| w.as_slice()));
    fit.trace.iter().for_each(|point| values.extend([point.primal, point.dual, point.gap]));
    values.iter().map(|v| v.to_bits()).collect()
}

struct Run {
    kernel: Kernel,
    loss: LossKind,
    shared: bool,
    threads: usize,
    settings: Settings,
}

impl Run {
    /// From nothing: inputs, data set and pool are made anew every time.
    fn fit(&self) -> Fit {
        let inputs = dense(&many_inputs());
        let observations = many_observations(self.shared, &self.loss);
        let options = DatasetOptions { kernel: self.kernel.clone(), threads: self.threads, ..linear() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        let spec = spec(self.loss.clone(), power(2), 0.1, 0.5);
        fit(&Problem::new(&data, spec).unwrap(), &self.settings).unwrap()
    }
}

#[test]
fn same_seed_same_bits_with_any_number_of_threads() {
    for kernel in kernels() {
        for (solver, loss, shared) in [
            (SolverKind::Sdca, LossKind::Hinge, false),
            (SolverKind::Sdca, LossKind::Logistic, true),
            (SolverKind::SdcaSequential, LossKind::Hinge, false),
            (SolverKind::Spectral, LossKind::Squared, true),
            (SolverKind::Newton, LossKind::Logistic, false),
            (SolverKind::Proximal, LossKind::Hinge, true),
            (SolverKind::Auto, LossKind::Squared, false),
        ] {
            let run = |threads: usize| {
                let settings =
                    Settings { tolerance: 1e-4, max_passes: 4, seed: 7, solver, ..Settings::default() };
                Run { kernel: kernel.clone(), loss: loss.clone(), shared, threads, settings }.fit()
            };
            let first = bits(&run(1));
            for threads in [1, 2, 3, 5] {
                assert!(first == bits(&run(threads)), "{kernel} {solver:?} {loss} threads: {threads}");
            }
        }
    }
}

/// Wide enough for a band, and for moments and products that threads share.
#[test]
fn wide_inputs_have_the_same_bits_with_any_number_of_threads() {
    let (rows, features) = (300, 800);
    let mut random = Random(3);
    let x: Vec<f64> = (0..rows * features).map(|_| random.fine()).collect();
    let inputs = Inputs::from(Dense::f64_owned(x, rows, features).unwrap());
    for tasks in [3, 40] {
        let table: Vec<f64> = (0..rows * tasks).map(|_| random.fine()).collect();
        let observations = Observations::multi_output(&table, rows, tasks).unwrap();
        for (rows, k) in [(250, 1), (300, 2)] {
            let some: Vec<u32> = (0..rows).collect();
            let (inputs, observations) =
                (inputs.select_rows(&some), observations.select_inputs(&some).unwrap());
            let run = |threads: usize| {
                let options = DatasetOptions { threads, ..linear() };
                let data = Dataset::new(&inputs, &observations, options).unwrap();
                let problem = Problem::new(&data, spec(LossKind::Squared, power(k), 0.1, 0.5)).unwrap();
                bits(&fit(&problem, &Settings { max_passes: 4, ..Settings::default() }).unwrap())
            };
            let first = run(1);
            for threads in [2, 3, 5] {
                assert!(first == run(threads), "{tasks} tasks, k = {k}, {threads} threads");
            }
        }
    }
}

#[test]
fn another_seed_finds_the_same_optimum() {
    let loss = LossKind::Hinge;
    for shape in SHAPES {
        let setup = Setup::new(Source::Rbf, &Sample::new(shape, 1), &loss);
        for solver in [SolverKind::Sdca, SolverKind::SdcaSequential] {
            let run = |seed: u64| {
                let settings = Settings { seed, solver, ..sdca(1e-7) };
                setup.fit(spec(loss.clone(), power(2), 1.0, 0.5), &settings)
            };
            let first = run(0);
            for seed in 1..5 {
                let other = run(seed);
                assert_ne!(first.model.alpha(), other.model.alpha(), "a seed changes the order of visits");
                assert_eq!((first.status(), other.status()), (Status::Certified, Status::Certified));
                let (a, b) = (first.certificate(), other.certificate());
                assert!(a.dual <= b.primal && b.dual <= a.primal, "{a:?} {b:?}");
            }
        }
    }
}

/// Says stop after some reports, or some polls.
#[derive(Default)]
struct Impatient {
    reports: usize,
    polls: usize,
    stop_after_reports: Option<usize>,
    stop_after_polls: Option<usize>,
    notes: Vec<String>,
    last: Option<(f64, f64, f64)>,
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        self.reports += 1;
        let certificate = progress.certificate;
        self.last = Some((certificate.primal, certificate.dual, certificate.gap));
        if self.stop_after_reports.is_some_and(|n| self.reports >= n) { Flow::Stop } else { Flow::Continue }
    }

    fn poll(&mut self) -> Flow {
        self.polls += 1;
        if self.stop_after_polls.is_some_and(|n| self.polls >= n) { Flow::Stop } else { Flow::Continue }
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }
}

/// A model that can be used, with the certificate that anyone would compute for it.
fn assert_usable(name: &str, problem: &Problem<'_>, fit: &Fit) {
    let model = &fit.model;
    let again = certify(problem, model.alpha().unwrap(), model.v()).unwrap();
    assert_eq!(again, *fit.certificate(), "{name}");
    assert_eq!(model.certificate(), fit.certificate(), "{name}");
    let predictions = model.predict_all(problem.data().inputs()).unwrap();
    assert!(predictions.as_slice().iter().all(|f| f.is_finite()), "{name}");
    let (dual, primal) = (fit.certificate().dual, fit.certificate().primal);
    assert!(fit.certificate().gap.is_finite() && dual <= primal * (1.0 + 1e-14), "{name}: {dual} {primal}");
}

/// Solvers with a problem each that takes them a while.
fn each_slow_problem(check: impl Fn(SolverKind, &Problem<'_>, &str)) {
    for (solver, loss, output) in [
        (SolverKind::Sdca, LossKind::Absolute, power(2)),
        (SolverKind::SdcaSequential, LossKind::Absolute, power(2)),
        (SolverKind::Spectral, LossKind::Squared, power(1)),
        (SolverKind::Spectral, LossKind::Squared, power(4)),
    ] {
        let setup = Setup::dense(Shape::Shared, &loss);
        let data = setup.data();
        let name = format!("{solver:?} {loss} {output}");
        check(solver, &problem_of(&data, loss, output, 10.0), &name);
    }
}

#[test]
fn an_observer_stops_a_fit() {
    each_slow_problem(|solver, problem, what| {
        let settings = Settings { solver, ..sdca(1e-14) };
        for (reports, polls) in [(Some(1), None), (Some(3), None), (None, Some(1)), (None, Some(4))] {
            let name = format!("{what} reports {reports:?} polls {polls:?}");
            let mut observer =
                Impatient { stop_after_reports: reports, stop_after_polls: polls, ..Impatient::default() };
            let fit = Fitter::new(&settings).observer(&mut observer).fit(problem).unwrap();
            assert_eq!(fit.status(), Status::Stopped, "{name}: {:e}", fit.certificate().rel_gap());
            assert_usable(&name, problem, &fit);
            if let Some(reports) = reports {
                assert_eq!(observer.reports, reports, "{name}");
                assert_eq!(fit.trace.len(), reports, "{name}");
            }
            if solver != SolverKind::Spectral {
                // What was last reported is what is returned.
                let certificate = fit.certificate();
                assert_eq!(
                    observer.last,
                    Some((certificate.primal, certificate.dual, certificate.gap)),
                    "{name}"
                );
            }
        }
    });
}

#[test]
fn time_runs_out() {
    each_slow_problem(|solver, problem, name| {
        let settings = Settings { solver, max_time: Some(Duration::ZERO), ..sdca(1e-14) };
        let fit = fit(problem, &settings).unwrap();
        assert_eq!(fit.status(), Status::TimeLimit, "{name}");
        assert_usable(name, problem, &fit);
    });
    // Without any work left to do, there is no hurry either.
    let setup = Setup::dense(Shape::Own, &LossKind::Squared);
    let settings = Settings { max_time: Some(Duration::from_secs(3600)), ..sdca(1e-6) };
    let fit = setup.fit(spec(LossKind::Squared, power(1), 1.0, 0.5), &settings);
    assert_eq!(fit.status(), Status::Certified);
}

#[test]
fn passes_run_out() {
    each_slow_problem(|solver, problem, what| {
        for max_passes in [0, 1, 3] {
            let name = format!("{what} passes: {max_passes}");
            let fit = fit(problem, &Settings { solver, max_passes, ..sdca(1e-14) }).unwrap();
            assert_eq!(fit.status(), Status::PassLimit, "{name}: {} passes", fit.passes);
            // The spectral solver starts with a round of alternation where it can.
            assert!(fit.passes <= max_passes.max(1), "{name}: {} passes", fit.passes);
            assert_usable(&name, problem, &fit);
        }
    });
}

/// Starting from zero duals, where everything is flat, costs a few passes and nothing else.
#[test]
fn any_start_will_do() {
    for shape in SHAPES {
        let sample = Sample::new(shape, 1);
        for loss in LossKind::all_examples() {
            let setup = Setup::new(Source::Rbf, &sample, &loss);
            let data = setup.data();
            for output in RegularizerKind::entrywise_examples(TASKS) {
                let name = format!("{shape:?} {loss} {output}");
                let problem = problem_of(&data, loss.clone(), output.clone(), 1.0);
                let cold = fit(&problem, &sdca(1e-6)).unwrap();
                // Ends of the domain (where there are any) are as good a start as its middle: solvers clip.
                for start in [0.0, 1e3, -1e3] {
                    let warm =
                        Fitter::new(&sdca(1e-6)).start(Start::Warm(&[start; 24])).fit(&problem).unwrap();
                    assert_eq!(warm.status(), Status::Certified, "{name} from {start}");
                    let name = format!("{name} from {start}");
                    assert_overlap(&name, cold.certificate(), warm.certificate(), 1e-12);
                }
            }
        }
    }
}

/// One fit per C, each from the one before.
fn fit_path(
    data: &Dataset<'_>,
    spec: &ProblemSpec,
    c_values: &[f64],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> kinfolk::Result<Vec<Fit>> {
    let weights: Vec<Weights> = c_values.iter().map(|&c| Weights { c, lambda: spec.lambda }).collect();
    Fitter::new(settings).observer(observer).path(data, spec, &weights)
}

fn path_spec(loss: &LossKind, output: &RegularizerKind) -> ProblemSpec {
    spec(loss.clone(), output.clone(), 1.0, 0.5)
}

#[test]
fn paths_are_certified_up_and_down() {
    let up = [0.01, 0.1, 1.0, 10.0];
    let down = [10.0, 1.0, 0.1, 0.01];
    for source in [Source::Dense, Source::Rbf] {
        // Shared inputs: the squared loss goes to the spectral solver.
        for loss in [LossKind::Squared, LossKind::Hinge, LossKind::Logistic, LossKind::Huber { delta: 1.0 }] {
            let setup = Setup::new(source, &Sample::new(Shape::Shared, 1), &loss);
            let data = setup.data();
            for output in RegularizerKind::entrywise_examples(TASKS) {
                let settings = Settings { solver: SolverKind::Auto, ..sdca(1e-6) };
                let run = |values: &[f64]| {
                    fit_path(&data, &path_spec(&loss, &output), values, &settings, &mut Silent).unwrap()
                };
                let (mut rising, mut falling) = (run(&up), run(&down));
                falling.reverse();
                for ((c, a), b) in up.iter().zip(&mut rising).zip(&mut falling) {
                    let name = format!("{source:?} {loss} {output} C {c}");
                    let problem =
                        Problem::new(&data, ProblemSpec { c: *c, ..path_spec(&loss, &output) }).unwrap();
                    for fit in [&*a, &*b] {
                        assert_eq!(fit.model.about().problem.c, *c, "{name}");
                        let gap = fit.certificate().rel_gap();
                        assert_eq!(
                            fit.status(),
                            Status::Certified,
                            "{name}: gap {gap:e} after {}",
                            fit.passes
                        );
                        assert_usable(&name, &problem, fit);
                    }
                    assert_overlap(&name, a.certificate(), b.certificate(), 1e-12);
                }
                // The optimum grows with C: it is a minimum of functions that do.
                for pair in rising.windows(2) {
                    assert!(pair[0].certificate().dual <= pair[1].certificate().primal, "{loss} {output}");
                }
            }
        }
    }
}

#[test]
fn a_path_ends_where_the_observer_says() {
    let loss = LossKind::Hinge;
    let setup = Setup::dense(Shape::Own, &loss);
    let data = setup.data();
    let spec = path_spec(&loss, &power(2));
    let values = [0.01, 0.1, 1.0, 10.0];
    let mut observer = Impatient::default();
    let all = fit_path(&data, &spec, &values, &sdca(1e-6), &mut observer).unwrap();
    assert_eq!(all.len(), 4);
    assert_eq!(observer.reports, all.iter().map(|fit| fit.trace.len()).sum::<usize>());
    // In the middle of the third fit.
    let middle = all[0].trace.len() + all[1].trace.len() + 1;
    let mut observer = Impatient { stop_after_reports: Some(middle), ..Impatient::default() };
    let some = fit_path(&data, &spec, &values, &sdca(1e-6), &mut observer).unwrap();
    let statuses: Vec<Status> = some.iter().map(|fit| fit.status()).collect();
    assert_eq!(statuses, [Status::Certified, Status::Certified, Status::Stopped]);
    assert_eq!(bits(&some[1]), bits(&all[1]));
    // Nothing to fit is fine; a wrong C is not, wherever it stands.
    assert!(fit_path(&data, &spec, &[], &sdca(1e-6), &mut Silent).unwrap().is_empty());
    assert!(fit_path(&data, &spec, &[1.0, -1.0], &sdca(1e-6), &mut Silent).is_err());
}

#[test]
fn the_choice_of_solver_is_told() {
    for (shape, solver, why) in [
        (Shape::Shared, "spectral", "squared loss on shared inputs"),
        (Shape::Own, "sdca", "coordinate ascent to begin with, then newton if it is slow"),
    ] {
        let setup = Setup::dense(shape, &LossKind::Squared);
        let data = setup.data();
        let problem = Problem::new(&data, path_spec(&LossKind::Squared, &RegularizerKind::Cosh)).unwrap();
        let mut observer = Impatient::default();
        let fit = Fitter::new(&Settings::default()).observer(&mut observer).fit(&problem).unwrap();
        assert_eq!(fit.solver, solver);
        assert!(fit.reason.clone().unwrap().contains(why), "{:?}", fit.reason);
        assert_eq!(observer.notes, [format!("{solver}: {}", fit.reason.unwrap())]);
    }
}
