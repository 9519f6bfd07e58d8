//! Rows that are elsewhere: the model of all losses, however they are cut, is the one of rows in memory.

use crate::common::Random;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk::rows::{PreparedRows, Question, ResidentRows, Rows, RowsSetting};
use kinfolk::{
    CertifyOptions, Dataset, DatasetOptions, Error, Fit, Flow, Intercept, LossKind, Observations, Observer,
    Problem, ProblemSpec, RegularizerKind, Scaling, ScalingKind, Settings, Silent, Statistics,
    StatisticsOptions, Status, fit, fit_rows,
};
use std::sync::Mutex;

/// Which rows have which labels.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Own,
    Shared,
    Missing,
}

/// Rows of kindred tasks.
struct Table {
    d: usize,
    tasks: usize,
    x: Vec<f64>,
    labels: Vec<Vec<(u32, f64)>>,
}

impl Table {
    fn new(shape: Shape, (n, d, tasks): (usize, usize, usize), loss: &LossKind) -> Self {
        let mut random = Random(n as u64 + d as u64);
        let common: Vec<f64> = (0..d).map(|_| random.fine()).collect();
        let own: Vec<f64> = (0..tasks * d).map(|_| 0.4 * random.fine()).collect();
        let (mut x, mut labels) = (vec![], vec![]);
        for i in 0..n {
            let row: Vec<f64> = (0..d).map(|j| random.fine() + 0.3 * (j % 3) as f64).collect();
            let mut label = |t: usize| {
                let z: f64 = (0..d).map(|j| row[j] * (common[j] + own[t * d + j])).sum();
                let y = z + 0.7 * random.fine() + 0.3 * t as f64;
                let sign = if y < 0.5 { -1.0 } else { 1.0 };
                (t as u32, if loss.is_classification() { sign } else { y })
            };
            labels.push(match shape {
                Shape::Own => vec![label(i % tasks)],
                Shape::Shared => (0..tasks).map(&mut label).collect(),
                Shape::Missing => (0..tasks).filter(|t| (i + t) % 4 != 0).map(&mut label).collect(),
            });
            x.extend(row);
        }
        Table { d, tasks, x, labels }
    }

    /// Rows of one of so many parts.
    fn part(&self, part: usize, parts: usize) -> (Inputs<'static>, Observations) {
        let n = self.labels.len();
        let rows = n * part / parts..n * (part + 1) / parts;
        let x = self.x[rows.start * self.d..rows.end * self.d].to_vec();
        let inputs = Dense::f64_owned(x, rows.len(), self.d).unwrap().into();
        let each = || rows.clone().flat_map(|i| self.labels[i].iter().map(move |own| (i - rows.start, own)));
        let (input, task) = (each().map(|(i, _)| i as u32).collect(), each().map(|(_, own)| own.0).collect());
        let label = each().map(|(_, own)| own.1).collect();
        let weights: Vec<f64> = each().map(|(i, _)| 1.0 + ((i + rows.start) % 3) as f64).collect();
        let observations = Observations::from_triples(rows.len(), self.tasks, input, task, label).unwrap();
        (inputs, observations.with_weights(&weights).unwrap())
    }

    fn parts(&self, parts: usize) -> Vec<(Inputs<'static>, Observations)> {
        (0..parts).map(|part| self.part(part, parts)).collect()
    }
}

fn problem_spec(loss: &LossKind, intercept: Intercept) -> ProblemSpec {
    let output = RegularizerKind::Power { k: 2 };
    ProblemSpec { loss: loss.clone().into(), output, c: 0.3, intercept, ..ProblemSpec::default() }
}

fn settings(tolerance: f64) -> Settings {
    Settings { tolerance, ..Settings::default() }
}

/// A fit of rows in parts, and the number of questions it took.
fn fit_parts(table: &Table, parts: usize, spec: &ProblemSpec, tolerance: f64) -> (Fit, usize) {
    let held = table.parts(parts);
    let rows = ResidentRows::new(held.iter().map(|(inputs, labels)| (inputs, labels)).collect(), 1);
    let fit = fit_asked(table, &rows, spec, tolerance, &mut Silent).unwrap();
    (fit, rows.questions())
}

fn statistics_of(table: &Table) -> Statistics {
    let sample_rows = table.labels.len().div_ceil(4);
    let mut statistics = Statistics::new(&StatisticsOptions { sample_rows, ..StatisticsOptions::default() });
    let (inputs, labels) = table.part(0, 1);
    statistics.update(&inputs, &labels).unwrap();
    statistics
}

fn fit_asked(
    table: &Table,
    rows: &dyn Rows,
    spec: &ProblemSpec,
    tolerance: f64,
    observer: &mut dyn Observer,
) -> kinfolk::Result<Fit> {
    fit_scaled(table, rows, spec, (tolerance, ScalingKind::Auto), observer)
}

fn fit_scaled(
    table: &Table,
    rows: &dyn Rows,
    spec: &ProblemSpec,
    (tolerance, scaling): (f64, ScalingKind),
    observer: &mut dyn Observer,
) -> kinfolk::Result<Fit> {
    let statistics = statistics_of(table);
    let scaling = statistics.scaling(scaling).unwrap();
    let (inputs, labels) = statistics.stand_in(&scaling, None).unwrap().unwrap();
    let data = Dataset::new(&inputs, &labels, DatasetOptions::default()).unwrap();
    let problem = Problem::new(&data, spec.clone()).unwrap();
    let mut start = fit(&problem, &settings(1e-3)).unwrap().model;
    start.set_scaling(scaling.clone()).unwrap();
    let mut fit = fit_rows(&problem, &start, &statistics, rows, &settings(tolerance), observer)?;
    fit.model.set_scaling(scaling).unwrap();
    Ok(fit)
}

/// The fit of all rows in memory.
fn fit_in_memory(table: &Table, spec: &ProblemSpec, tolerance: f64) -> Fit {
    let (raw, labels) = table.part(0, 1);
    let scaling =
        Scaling::fit_weighted(ScalingKind::Standard, &raw, labels.input_weights().as_deref()).unwrap();
    let inputs = scaling.apply(&raw).unwrap();
    let data = Dataset::new(&inputs, &labels, DatasetOptions::default()).unwrap();
    fit(&Problem::new(&data, spec.clone()).unwrap(), &settings(tolerance)).unwrap()
}

#[test]
fn every_loss_has_the_optimum_of_rows_in_memory() {
    for loss in LossKind::all_examples() {
        for (shape, intercept) in [
            (Shape::Own, Intercept::Free),
            (Shape::Shared, Intercept::None),
            (Shape::Shared, Intercept::Free),
            (Shape::Missing, Intercept::Ridge(2.0)),
        ] {
            let (table, spec) = (Table::new(shape, (900, 6, 3), &loss), problem_spec(&loss, intercept));
            let in_memory = fit_in_memory(&table, &spec, 1e-7);
            let (fit, questions) = fit_parts(&table, 3, &spec, 1e-6);
            let case = format!("{loss}, {shape:?}, {intercept}: {questions} questions");
            let (a, b) = (in_memory.certificate(), fit.certificate());
            assert_eq!(fit.status(), Status::Certified, "{case}: {b}");
            assert!((a.primal - b.primal).abs() <= 2e-6 * a.primal, "{case}: {a} and {b}");
            // The model alone and the rows in memory give the same certificate.
            let (inputs, labels) = table.part(0, 1);
            let checked = fit.model.check(&inputs, &labels, &CertifyOptions::default()).unwrap();
            assert!(checked.mismatches.is_empty(), "{case}: {:?}", checked.mismatches);
            assert!(checked.certificate.rel_gap() <= 1.01e-6, "{case}: {}", checked.certificate);
            // So do two passes over parts, here and as numbers from elsewhere.
            let mut passes = fit.model.certify_parts(&CertifyOptions::default()).unwrap();
            for pass in 0..2 {
                let mut elsewhere = passes.to_numbers();
                if loss != LossKind::Squared && pass == 0 {
                    assert_eq!(elsewhere, [0.0, 0.0]);
                    let mut other = fit.model.certify_parts(&CertifyOptions::default()).unwrap();
                    let (inputs, labels) = table.part(0, 4);
                    other.add(&inputs, &labels).unwrap();
                    elsewhere = other.to_numbers();
                    passes.add_numbers(&elsewhere).unwrap();
                }
                let from = usize::from(loss != LossKind::Squared && pass == 0);
                (from..4).for_each(|part| {
                    let (inputs, labels) = table.part(part, 4);
                    passes.add(&inputs, &labels).unwrap();
                });
                if !passes.again().unwrap() {
                    break;
                }
            }
            let c = passes.finish().unwrap();
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y.abs();
            let expected = &checked.certificate;
            assert!(
                close(c.primal, expected.primal) && close(c.dual, expected.dual),
                "{case}: {c}, {expected}"
            );
        }
    }
}

/// Labels that are near 1e12 and differ by one: the last digits decide about an objective of one a row.
#[test]
fn kinks_far_apart_or_of_few_rows_are_solved() {
    // No label outside of the tube: the mean loss, which the first smoothing follows, is next to nothing.
    let wide = LossKind::Epsilon { epsilon: 1.2 };
    // Tasks of ten rows, whose intercepts have a kink on each side and nothing else near.
    let small = [LossKind::Epsilon { epsilon: 0.1 }, LossKind::Absolute, LossKind::Hinge];
    let problems = [(wide.clone(), 900, 4, 1.0), (wide, 900, 4, 100.0)];
    for (loss, n, tasks, c) in problems.into_iter().chain(small.map(|loss| (loss, 140, 14, 30.0))) {
        let table = Table::new(Shape::Own, (n, 5, tasks), &loss);
        let spec = ProblemSpec { c, ..problem_spec(&loss, Intercept::Free) };
        let (found, questions) = fit_parts(&table, 3, &spec, 1e-5);
        let certificate = found.certificate();
        assert_eq!(found.model.status(), Some(Status::Certified), "{loss} at {c}: {certificate:?}");
        assert!(questions < 500, "{loss} at {c}: {questions} questions");
        let memory = fit_in_memory(&table, &spec, 1e-6).certificate().primal;
        assert!(
            (certificate.primal - memory).abs() <= 2e-5 * memory,
            "{loss} at {c}: {certificate:?}, {memory}"
        );
    }
}

#[test]
fn rounding_counts_as_for_rows_in_memory() {
    for loss in [LossKind::Squared, LossKind::Absolute, LossKind::Huber { delta: 0.5 }] {
        let mut table = Table::new(Shape::Own, (300, 4, 3), &loss);
        for (shift, is_precise) in [(0.0, true), (1e12, false)] {
            table.labels.iter_mut().flatten().for_each(|(_, y)| *y += shift);
            let spec = problem_spec(&loss, Intercept::Free);
            let (fit, _) = fit_parts(&table, 3, &spec, 1e-3);
            let (here, there) = (fit.certificate(), fit_in_memory(&table, &spec, 1e-3));
            let case = format!("{loss} at {shift:e}: {here}, rounding {:e}", here.rounding);
            let in_memory = there.certificate().rounding;
            assert!(here.rounding > 0.0 && in_memory > 0.0, "{case}");
            assert_eq!(here.rounding <= 1e-6 * here.primal, is_precise, "{case}");
            assert!((1e-2..1e2).contains(&(here.rounding / in_memory)), "{case}, in memory {in_memory:e}");
            // From the model and its rows.
            let mut passes = fit.model.certify_parts(&CertifyOptions::default()).unwrap();
            let (inputs, labels) = table.part(0, 1);
            passes.add(&inputs, &labels).unwrap();
            if passes.again().unwrap() {
                passes.add(&inputs, &labels).unwrap();
            }
            let again = passes.finish().unwrap().rounding;
            assert!((0.5..2.0).contains(&(again / here.rounding)), "{case}, again {again:e}");
        }
    }
}

#[test]
fn many_features_and_tasks_lead_to_the_same_optimum() {
    for (loss, shape) in [
        (LossKind::Logistic, (2500, 160, 8)),
        (LossKind::Huber { delta: 1.0 }, (2500, 160, 8)),
        (LossKind::Hinge, (3000, 40, 5)),
    ] {
        let spec = problem_spec(&loss, Intercept::Free);
        let table = Table::new(Shape::Shared, shape, &loss);
        let in_memory = fit_in_memory(&table, &spec, 1e-6);
        let (fit, questions) = fit_parts(&table, 2, &spec, 1e-5);
        let (a, b) = (in_memory.certificate(), fit.certificate());
        assert_eq!(fit.status(), Status::Certified, "{loss}: {questions} questions, {b}");
        assert!((a.primal - b.primal).abs() <= 2e-5 * a.primal, "{loss}: {a} and {b}");
    }
}

#[test]
fn any_cutting_gives_the_same_model_in_as_many_questions() {
    for loss in [LossKind::Logistic, LossKind::Hinge, LossKind::Epsilon { epsilon: 0.1 }] {
        let (table, spec) =
            (Table::new(Shape::Own, (900, 6, 3), &loss), problem_spec(&loss, Intercept::Free));
        let (whole, questions) = fit_parts(&table, 1, &spec, 1e-6);
        for parts in [3, 16] {
            let (cut, more) = fit_parts(&table, parts, &spec, 1e-6);
            assert!(
                2 * more <= 3 * questions,
                "{loss}: {more} questions in {parts} parts, {questions} in one"
            );
            let apart = (whole.certificate().primal - cut.certificate().primal).abs();
            assert!(apart <= 2e-6 * whole.certificate().primal, "{loss}, {parts} parts: {apart:e}");
        }
        // Equal cutting, equal bits.
        let again = fit_parts(&table, 16, &spec, 1e-6).0;
        assert_eq!(fit_parts(&table, 16, &spec, 1e-6).0.model.weights(), again.model.weights());
    }
}

#[test]
fn settings_and_questions_survive_their_bytes() {
    /// Rows behind bytes, as in another process.
    struct Behind {
        parts: Vec<(Inputs<'static>, Observations)>,
        prepared: Mutex<(Vec<u8>, Vec<PreparedRows>)>,
    }
    impl Rows for Behind {
        fn begin(&self, setting: &RowsSetting) -> kinfolk::Result<()> {
            let bytes = setting.to_bytes()?;
            assert_eq!(RowsSetting::from_bytes(&bytes)?, *setting);
            let prepared = self.parts.iter().map(|(x, y)| setting.prepare(x, y).unwrap()).collect();
            *self.prepared.lock().unwrap() = (bytes, prepared);
            Ok(())
        }
        fn ask(&self, question: &Question) -> kinfolk::Result<Vec<f64>> {
            let bytes = question.to_bytes()?;
            let (setting, prepared) = &*self.prepared.lock().unwrap();
            let (setting, back) = (RowsSetting::from_bytes(setting)?, Question::from_bytes(&bytes)?);
            assert_eq!(back, *question);
            assert!(Question::from_bytes(&bytes[..bytes.len() - 1]).is_err());
            let mut sum = None;
            for rows in prepared {
                kinfolk::rows::add_answer(&mut sum, setting.answer(&back, rows, 1)?)?;
            }
            Ok(sum.unwrap())
        }
        fn reads_again(&self) -> bool {
            false
        }
    }
    let loss = LossKind::Hinge;
    let (table, spec) =
        (Table::new(Shape::Missing, (300, 4, 3), &loss), problem_spec(&loss, Intercept::Free));
    let behind = Behind { parts: table.parts(3), prepared: Mutex::default() };
    let fit = fit_asked(&table, &behind, &spec, 1e-4, &mut Silent).unwrap();
    assert_eq!(fit.model.weights(), fit_parts(&table, 3, &spec, 1e-4).0.model.weights());
}

/// Rows that fail at some question.
struct Failing<'a> {
    rows: ResidentRows<'a>,
    at: usize,
    error: fn() -> Error,
}

impl Rows for Failing<'_> {
    fn begin(&self, setting: &RowsSetting) -> kinfolk::Result<()> {
        self.rows.begin(setting)
    }
    fn ask(&self, question: &Question) -> kinfolk::Result<Vec<f64>> {
        if self.rows.questions() >= self.at { Err((self.error)()) } else { self.rows.ask(question) }
    }
    fn reads_again(&self) -> bool {
        true
    }
}

#[test]
fn errors_of_rows_are_raised_and_interrupts_leave_the_best_model() {
    let loss = LossKind::Logistic;
    let (table, spec) = (Table::new(Shape::Own, (600, 5, 3), &loss), problem_spec(&loss, Intercept::Free));
    let held = table.parts(2);
    let rows = || ResidentRows::new(held.iter().map(|(inputs, labels)| (inputs, labels)).collect(), 1);
    let in_memory = fit_in_memory(&table, &spec, 1e-9);
    for at in 0..12 {
        let lost = || Error::Incompatible("shard 3 is lost".into());
        let failing = Failing { rows: rows(), at, error: lost };
        match fit_asked(&table, &failing, &spec, 1e-9, &mut Silent) {
            Ok(fit) => assert_eq!(fit.status(), Status::Certified),
            Err(error) => assert!(error.to_string().contains("shard 3"), "{error}"),
        }
        let stopped = Failing { rows: rows(), at, error: || Error::Interrupted };
        match fit_asked(&table, &stopped, &spec, 1e-9, &mut Silent) {
            Ok(fit) => {
                assert!(at > 1);
                let (a, b) = (in_memory.certificate(), fit.certificate());
                assert!(
                    b.dual <= a.primal * (1.0 + 1e-9) && b.primal >= a.dual * (1.0 - 1e-9),
                    "{a} and {b}"
                );
            }
            Err(error) => assert!(at < 8 && matches!(error, Error::Interrupted), "{error}"),
        }
    }
}

#[test]
fn tasks_of_one_class_or_without_rows_and_a_single_row_are_no_trouble() {
    let loss = LossKind::Logistic;
    let mut table = Table::new(Shape::Own, (600, 4, 4), &loss);
    table.labels.iter_mut().flatten().filter(|own| own.0 == 1).for_each(|own| own.1 = 1.0);
    table.labels.iter_mut().flatten().filter(|own| own.0 == 2).for_each(|own| own.0 = 0);
    let spec = problem_spec(&loss, Intercept::Free);
    let in_memory = fit_in_memory(&table, &spec, 1e-8);
    let (fit, _) = fit_parts(&table, 5, &spec, 1e-6);
    let (a, b) = (in_memory.certificate(), fit.certificate());
    assert_eq!(fit.status(), Status::Certified, "{b}");
    assert!((a.primal - b.primal).abs() <= 2e-6 * a.primal, "{a} and {b}");
    assert_eq!(fit.model.about().empty_tasks.as_deref(), Some(&[2][..]));
    for loss in LossKind::all_examples() {
        let one = Table::new(Shape::Shared, (1, 2, 2), &loss);
        let (fit, _) = fit_parts(&one, 1, &problem_spec(&loss, Intercept::Free), 1e-3);
        assert!(fit.certificate().primal.is_finite(), "{loss}");
    }
}

#[test]
fn a_pass_limit_ends_with_a_true_certificate() {
    struct Count(usize);
    impl Observer for Count {
        fn progress(&mut self, _: &kinfolk::Progress<'_>) -> Flow {
            self.0 += 1;
            if self.0 < 2 { Flow::Continue } else { Flow::Stop }
        }
    }
    let loss = LossKind::Hinge;
    let (table, spec) = (Table::new(Shape::Shared, (500, 5, 3), &loss), problem_spec(&loss, Intercept::Free));
    let held = table.parts(2);
    let rows = ResidentRows::new(held.iter().map(|(inputs, labels)| (inputs, labels)).collect(), 1);
    let fit = fit_asked(&table, &rows, &spec, 1e-12, &mut Count(0)).unwrap();
    assert_eq!(fit.status(), Status::Stopped);
    let in_memory = fit_in_memory(&table, &spec, 1e-7);
    assert!(fit.certificate().dual <= in_memory.certificate().primal);
}

/// Inputs so large that a step leaves double precision: the fit ends with the best point before, and nobody has
/// interrupted it.
#[test]
fn predictions_beyond_double_precision_are_no_interrupt() {
    let loss = LossKind::Absolute;
    for output in [RegularizerKind::Exp { prior: None }, RegularizerKind::Cosh] {
        for size in [1e20, 1e94] {
            let mut table = Table::new(Shape::Own, (12, 1, 2), &loss);
            table.x.iter_mut().for_each(|x| *x *= size);
            let spec =
                ProblemSpec { output: output.clone(), c: 0.76, ..problem_spec(&loss, Intercept::Free) };
            let held = table.parts(1);
            let rows = ResidentRows::new(held.iter().map(|(inputs, labels)| (inputs, labels)).collect(), 1);
            let fit = fit_scaled(&table, &rows, &spec, (1e-6, ScalingKind::None), &mut Silent).unwrap();
            assert_ne!(fit.status(), Status::Stopped, "{output}, {size:e}");
            assert!(fit.certificate().primal.is_finite(), "{output}, {size:e}: {}", fit.certificate());
        }
    }
}
