//! A fit can be stopped at any time, even before it has begun, and leaves a usable model with its true
//! certificate.

use crate::common::{Random, power, problem_of, spec};
use kinfolk::inputs::{Dense, Inputs, Sparse};
use kinfolk::kernel::Gamma;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Flow, Kernel, LossKind, Observations, Observer, Problem, Settings,
    SolverKind, Start, Status, certify,
};
use std::time::{Duration, Instant};

const TASKS: usize = 3;

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    (0..n).map(|_| random.fine()).collect()
}

/// Says stop at this poll.
struct StopAt {
    poll: usize,
    polls: usize,
    said: Option<Instant>,
}

impl StopAt {
    fn new(poll: usize) -> Self {
        StopAt { poll, polls: 0, said: None }
    }
}

impl Observer for StopAt {
    fn poll(&mut self) -> Flow {
        self.polls += 1;
        if self.polls < self.poll {
            return Flow::Continue;
        }
        self.said.get_or_insert_with(Instant::now);
        Flow::Stop
    }
}

struct Case {
    name: &'static str,
    inputs: Inputs<'static>,
    kernel: Kernel,
    memory: u64,
    loss: LossKind,
    solver: SolverKind,
}

fn dense(n: usize, d: usize) -> Inputs<'static> {
    Dense::f64_owned(numbers(n * d, 1), n, d).unwrap().into()
}

/// Every fourth entry.
fn sparse(n: usize, d: usize) -> Inputs<'static> {
    let indices: Vec<u32> =
        (0..n).flat_map(|i| (0..d).filter(move |j| (i + j) % 4 == 0)).map(|j| j as u32).collect();
    let indptr: Vec<usize> =
        (0..=n).map(|rows| (0..rows).map(|i| (0..d).filter(|j| (i + j) % 4 == 0).count()).sum()).collect();
    let values = numbers(indices.len(), 1);
    Sparse::f64(indptr, indices, values, d).unwrap().into()
}

fn cases() -> Vec<Case> {
    let case = |name, inputs, kernel: &Kernel, loss: LossKind, solver| {
        let (kernel, memory) = (kernel.clone(), DatasetOptions::default().memory);
        Case { name, inputs, kernel, memory, loss, solver }
    };
    let (linear, rbf) = (&Kernel::Linear, &Kernel::Rbf { gamma: Gamma::Value(0.1) });
    let (squared, hinge) = (|| LossKind::Squared, || LossKind::Hinge);
    vec![
        case("X'X", dense(3000, 6), linear, squared(), SolverKind::Spectral),
        case("X'X, sparse", sparse(3000, 8), linear, squared(), SolverKind::Spectral),
        case("XX'", dense(300, 320), linear, squared(), SolverKind::Spectral),
        case("XX', sparse", sparse(150, 200), linear, squared(), SolverKind::Spectral),
        case("K, spectral", dense(400, 5), rbf, squared(), SolverKind::Spectral),
        case("K", dense(400, 5), rbf, hinge(), SolverKind::Sdca),
        case("linear", dense(2000, 5), linear, hinge(), SolverKind::Sdca),
        Case {
            memory: 8 * 2 * 400 * 128,
            ..case("K in panels", dense(400, 5), rbf, hinge(), SolverKind::Sdca)
        },
    ]
}

fn observations(n: usize, loss: &LossKind) -> Observations {
    let sign = |y: &f64| if loss.is_classification() { y.signum() } else { *y };
    let table: Vec<f64> = numbers(n * TASKS, 2).iter().map(sign).collect();
    Observations::multi_output(&table, n, TASKS).unwrap()
}

fn assert_usable(name: &str, problem: &Problem<'_>, fit: &Fit) {
    let again = certify(problem, fit.model.alpha().unwrap(), fit.model.v()).unwrap();
    assert_eq!(again, *fit.certificate(), "{name}");
    assert!(fit.certificate().gap.is_finite(), "{name}");
    let predictions = fit.model.predict_all(problem.data().inputs()).unwrap();
    assert!(predictions.as_slice().iter().all(|z| z.is_finite()), "{name}");
    // The spectral solver reports certificates of reduced data, and grades what it found once more.
    if fit.solver != "spectral" {
        assert_eq!(fit.trace.last().map(|point| point.gap), Some(fit.certificate().gap), "{name}");
    }
}

#[test]
fn every_moment_is_a_moment_to_stop() {
    for Case { name, inputs, kernel, memory, loss, solver } in cases() {
        let observations = observations(inputs.n_inputs(), &loss);
        let options = DatasetOptions { kernel, memory, threads: 2, ..DatasetOptions::default() };
        let new = || Dataset::new(&inputs, &observations, options.clone()).unwrap();
        let spec = spec(loss, power(2), 10.0, 0.5);
        let settings = Settings { tolerance: 1e-8, max_passes: 6, solver, ..Settings::default() };
        let mut observer = StopAt::new(usize::MAX);
        let data = new();
        let whole =
            Fitter::new(&settings).observer(&mut observer).fit(&Problem::new(&data, spec.clone()).unwrap());
        let (whole, polls) = (whole.unwrap(), observer.polls);
        assert!(polls > 4, "{name}: {polls} polls");
        let mut stopped = 0;
        for poll in (1..8).chain((8..polls).step_by(1 + polls / 4)) {
            let (name, data) = (format!("{name}, poll {poll} of about {polls}"), new());
            let problem = Problem::new(&data, spec.clone()).unwrap();
            let mut observer = StopAt::new(poll);
            let part = Fitter::new(&settings).observer(&mut observer).fit(&problem).unwrap();
            // Rounds depend on how quick they are, so there may be fewer; and what is certified is not stopped.
            let expected = if observer.said.is_some() { Status::Stopped } else { whole.status() };
            assert!([expected, Status::Certified].contains(&part.status()), "{name}: {:?}", part.status());
            stopped += usize::from(part.status() == Status::Stopped);
            assert_usable(&name, &problem, &part);
            // Half-done work is forgotten.
            let again = Fitter::new(&settings).fit(&problem).unwrap();
            assert_eq!(again.model.to_bytes().unwrap(), whole.model.to_bytes().unwrap(), "{name}");
        }
        assert!(stopped > 2, "{name}: {stopped} stopped");
    }
}

#[test]
fn a_warm_start_survives_a_stop() {
    let Case { inputs, kernel, loss, solver, .. } = cases().remove(0);
    let observations = observations(inputs.n_inputs(), &loss);
    let options = DatasetOptions { kernel, threads: 1, ..DatasetOptions::default() };
    let data = Dataset::new(&inputs, &observations, options.clone()).unwrap();
    let problem = problem_of(&data, loss, power(2), 10.0);
    let settings = Settings { tolerance: 1e-8, max_passes: 6, solver, ..Settings::default() };
    let first = Fitter::new(&settings).fit(&problem).unwrap();
    let alpha = first.model.alpha().unwrap();
    let fresh = Dataset::new(&inputs, &observations, options).unwrap();
    let problem = Problem::new(&fresh, problem.spec().clone()).unwrap();
    let settings = Settings { tolerance: 1e-14, ..settings };
    let part =
        Fitter::new(&settings).start(Start::Warm(alpha)).observer(&mut StopAt::new(2)).fit(&problem).unwrap();
    assert_eq!(part.status(), Status::Stopped);
    assert_eq!(part.model.alpha(), Some(alpha));
    assert_eq!(part.certificate().gap, first.certificate().gap);
}

#[test]
fn time_that_is_over_ends_the_setup() {
    for Case { name, inputs, kernel, memory, loss, solver } in cases() {
        let observations = observations(inputs.n_inputs(), &loss);
        let options = DatasetOptions { kernel, memory, threads: 2, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        let problem = problem_of(&data, loss, power(1), 10.0);
        let settings =
            Settings { tolerance: 1e-9, solver, max_time: Some(Duration::ZERO), ..Settings::default() };
        let part = Fitter::new(&settings).fit(&problem).unwrap();
        assert_eq!(part.status(), Status::TimeLimit, "{name}");
        assert_usable(name, &problem, &part);
    }
}

/// Seconds from the word stop to the model, on 20,000 inputs of 1,000 features: run with
/// `cargo test --release -p kinfolk --test core interrupt:: -- --ignored --nocapture`. Needs 5 GB of memory.
#[test]
#[ignore = "takes a minute and 5 GB"]
fn within_a_second() {
    let (n, d) = (20_000, 1_000);
    let inputs = dense(n, d);
    let rbf = Kernel::Rbf { gamma: Gamma::Value(1e-3) };
    for (kernel, memory, loss) in [
        (Kernel::Linear, 4 << 30, LossKind::Squared),
        (Kernel::Linear, 4 << 30, LossKind::Hinge),
        (rbf.clone(), 4 << 30, LossKind::Hinge),
        (rbf, 1 << 30, LossKind::Hinge),
    ] {
        let observations = observations(n, &loss);
        for poll in [1, 3, 5, 20, 500] {
            let options = DatasetOptions { kernel: kernel.clone(), memory, ..DatasetOptions::default() };
            let data = Dataset::new(&inputs, &observations, options).unwrap();
            let problem = problem_of(&data, loss.clone(), power(2), 1.0);
            let (mut observer, began) = (StopAt::new(poll), Instant::now());
            let settings = Settings { tolerance: 1e-9, ..Settings::default() };
            let fit = Fitter::new(&settings).observer(&mut observer).fit(&problem).unwrap();
            let total = began.elapsed().as_secs_f64();
            let waited = observer.said.map_or(0.0, |said| said.elapsed().as_secs_f64());
            let (status, gap) = (fit.status(), fit.certificate().rel_gap());
            println!(
                "{kernel} {memory} {loss} poll {poll}: {status:?} at a gap of {gap:.0e}, {waited:.2} s after the stop \
                 at {:.2} s",
                total - waited
            );
            assert!(waited < 1.0);
        }
    }
}

/// A pool whose threads take up other work while they wait must not wait for itself.
#[test]
fn many_fits_share_one_data_set() {
    let inputs = dense(300, 5);
    let observations = observations(300, &LossKind::Squared);
    let kernel = Kernel::Rbf { gamma: Gamma::Value(0.1) };
    for round in 0..5 {
        let options = DatasetOptions { kernel: kernel.clone(), threads: 2, ..DatasetOptions::default() };
        let data = Dataset::new(&inputs, &observations, options).unwrap();
        let run = |i: usize| {
            let spec = spec(LossKind::Squared, power(2), 10.0, 0.5);
            let solver = if i.is_multiple_of(2) { SolverKind::Spectral } else { SolverKind::Sdca };
            let settings = Settings { max_passes: 3, solver, ..Settings::default() };
            let mut observer = StopAt::new(if i == round { 1 } else { usize::MAX });
            Fitter::new(&settings).observer(&mut observer).fit(&Problem::new(&data, spec).unwrap()).unwrap()
        };
        std::thread::scope(|scope| {
            for i in 0..6 {
                let run = &run;
                scope.spawn(move || run(i));
            }
        });
    }
}
