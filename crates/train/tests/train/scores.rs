//! Scores of held-out predictions, and the choices that are made by them.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{LossKind, Losses, Observations, Silent, metrics};
use kinfolk_train::select::{
    Candidate, FoldOrder, FoldRows, HeldOut, Scored, Selection, SelectionResults, Study, candidates,
    cross_validate, cross_validate_on, folds,
};
use kinfolk_train::{Average, Data, FitSpec, Measure, Metric, Training, Unobserved, Weight};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn squared() -> Losses {
    LossKind::Squared.into()
}

fn metric(name: &str) -> Metric {
    name.parse().unwrap()
}

/// The folds of `kinfolk select`.
fn fold_rows(observations: &Observations, n_folds: usize) -> Vec<FoldRows> {
    let fold_of = folds::folds(observations, n_folds, FoldOrder::Balanced, 3).unwrap();
    let rows = |f: usize, test: bool| -> Vec<u32> {
        let inputs = 0..fold_of.len() as u32;
        inputs.filter(|&i| (fold_of[i as usize] as usize == f) == test).collect()
    };
    (0..n_folds).map(|f| FoldRows { train: rows(f, false), test: rows(f, true) }).collect()
}

#[test]
fn names_are_read_and_written() {
    for name in Metric::names() {
        assert_eq!(metric(name).to_string(), name);
        for prefix in ["mean-", "pooled-"] {
            let full = format!("{prefix}{name}");
            let shown = metric(&full).to_string();
            assert!(shown == full || shown == name, "{shown}");
            assert_eq!(metric(&shown), metric(&full));
        }
    }
    assert_eq!(metric("top-7").measure, Measure::TopK(7));
    assert_eq!(metric("class-accuracy").average, Average::Rows);
    assert_eq!(metric("mean-class-accuracy").to_string(), "mean-class-accuracy");
    assert_eq!(metric("mean-auc"), Metric::new(Measure::Auc));
    for wrong in ["top-0", "top-", "pooled-", "pooled-mean-r2", "R2", ""] {
        let error = wrong.parse::<Metric>().unwrap_err().to_string();
        assert!(error.contains("the metrics are r2, explained-variance, rmse"), "{error}");
    }
    let json = serde_json::to_string(&metric("pooled-r2")).unwrap();
    assert_eq!(json, "\"pooled-r2\"");
    assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric("pooled-r2"));
}

/// Two tasks of three rows, one row of a task per fold, by hand.
#[test]
fn r2_is_against_the_mean_of_the_training_rows() {
    let observations =
        Observations::multi_task(&[0, 1, 0, 1, 0, 1], vec![1., 10., 2., 20., 6., 60.]).unwrap();
    let fold = |test: [u32; 2]| FoldRows {
        train: (0..6).filter(|i| !test.contains(i)).collect(),
        test: test.into(),
    };
    let losses = squared();
    let held_out = HeldOut::new(&observations, &losses, &[fold([0, 1]), fold([2, 3]), fold([4, 5])]);
    // Means of the other two rows.
    assert_eq!(held_out.baseline(), [4.0, 40.0, 3.5, 35.0, 1.5, 15.0]);
    let baseline = held_out.baseline();
    let at_baseline = held_out.score(metric("r2"), &baseline).unwrap();
    assert!(at_baseline.per_task.iter().all(|r2| r2.unwrap().abs() < 1e-15));
    let score = held_out.score(metric("r2"), &[1., 10., 2., 20., 4., 60.]).unwrap();
    let expected = 1.0 - 4.0 / (9.0 + 2.25 + 20.25);
    assert!((score.per_task[0].unwrap() - expected).abs() < 1e-15 && score.per_task[1] == Some(1.0));
    assert!((score.value - 0.5 * (1.0 + expected)).abs() < 1e-15 && score.undefined == 0);
    let nrmse = held_out.score(metric("nrmse"), &[1., 10., 2., 20., 4., 60.]).unwrap();
    assert!((nrmse.per_task[0].unwrap() - (1.0 - expected).sqrt()).abs() < 1e-15);
    // A shift of all predictions is an error for R^2 only.
    let shifted = [2., 11., 3., 21., 7., 61.];
    let explained = held_out.score(metric("explained-variance"), &shifted).unwrap();
    assert!(explained.per_task.iter().all(|ev| (ev.unwrap() - 1.0).abs() < 1e-15));
    assert!(held_out.score(metric("r2"), &shifted).unwrap().per_task[0].unwrap() < 0.95);
}

#[test]
fn a_task_without_training_rows_is_compared_with_the_other_tasks() {
    let observations = Observations::multi_task(&[0, 0, 1, 1, 2], vec![1., 3., 5., 7., 9.]).unwrap();
    let losses = squared();
    let folds = [FoldRows { train: vec![0, 1, 2, 3], test: vec![4] }];
    assert_eq!(HeldOut::new(&observations, &losses, &folds).baseline(), [4.0]);
    // Offsets are a known part of predictions.
    let observations = observations.with_offsets(vec![1., 1., 0., 0., 100.]).unwrap();
    assert_eq!(HeldOut::new(&observations, &losses, &folds).baseline(), [0.5 * (1.0 + 6.0) + 100.0]);
}

/// Three tiny tasks with labels that are nearly equal do not decide over three large ones.
#[test]
fn tiny_tasks_do_not_decide_alone() {
    let mut task: Vec<u32> = (0..90).map(|i| i % 3).collect();
    let mut label: Vec<f64> = (0..90).map(|i| f64::from(i % 7)).collect();
    for t in 3..6 {
        task.extend([t, t]);
        label.extend([1.0, 1.0 + 1e-6]);
    }
    let observations = Observations::multi_task(&task, label.clone()).unwrap();
    let losses = squared();
    let held_out = HeldOut::new(&observations, &losses, &fold_rows(&observations, 5));
    let predictions: Vec<f64> = held_out.baseline();
    let off: Vec<f64> = predictions.iter().map(|z| z + 0.01).collect();
    let pooled = held_out.score(metric("pooled-r2"), &off).unwrap();
    assert!(pooled.value > -0.01 && pooled.mean.unwrap() < -1e6, "{pooled:?}");
    // Unless all are as small.
    let small = Observations::multi_task(&task[90..], label[90..].to_vec()).unwrap();
    let losses = squared();
    let held_out = HeldOut::new(&small, &losses, &fold_rows(&small, 2));
    assert!(!held_out.score(metric("pooled-r2"), &held_out.baseline()).unwrap().value.is_nan());
}

/// The fold that tests the only positive row has a model without positive rows, whose scores are low for all rows.
#[test]
fn ranks_are_compared_within_folds() {
    let label = [1.0, -1.0, -1.0, -1.0, -1.0, -1.0];
    let observations = Observations::multi_task(&[0; 6], label.to_vec()).unwrap();
    let fold = |test: [u32; 2]| FoldRows {
        train: (0..6).filter(|i| !test.contains(i)).collect(),
        test: test.into(),
    };
    let folds = [fold([0, 1]), fold([2, 3]), fold([4, 5])];
    let losses = LossKind::Hinge.into();
    let held_out = HeldOut::new(&observations, &losses, &folds);
    let predictions = [-5.0, -6.0, 0.5, 0.1, 0.2, 0.3];
    for name in ["auc", "pr-auc", "pooled-auc"] {
        assert_eq!(held_out.score(metric(name), &predictions).unwrap().value, 1.0, "{name}");
    }
    assert_eq!(metrics::auc(&label, &predictions, None), Some(0.2), "across folds");
}

#[test]
fn classes_are_scored_by_rows_and_by_classes() {
    let observations = Observations::multi_class(&[0, 0, 0, 1], 3).unwrap();
    let losses = LossKind::Hinge.into();
    // The first three rows: right, second, third; the last: right.
    let predictions = [3., 2., 1., 2., 3., 1., 1., 3., 2., 1., 2., 0.];
    let score = metric("class-accuracy").score(&observations, &losses, &predictions).unwrap();
    assert_eq!((score.value, score.pooled, score.undefined), (0.5, Some(0.5), 0));
    assert_eq!(score.per_task, [Some(1.0 / 3.0), Some(1.0), None]);
    let mean = metric("mean-class-accuracy").score(&observations, &losses, &predictions).unwrap();
    assert_eq!(mean.value, 2.0 / 3.0);
    assert_eq!(metric("top-2").score(&observations, &losses, &predictions).unwrap().value, 0.75);
    assert_eq!(metric("top-3").score(&observations, &losses, &predictions).unwrap().value, 1.0);
    let nan = [f64::NAN; 12];
    assert!(metric("top-2").score(&observations, &losses, &nan).unwrap().value.is_nan());
}

/// As scikit-learn has them: `log_loss`, and `brier_score_loss` without `scale_by_half`.
#[test]
fn log_loss_and_brier_score_of_classes_are_those_of_the_right_class() {
    let observations = Observations::multi_class(&[0, 2], 3).unwrap();
    // The logit of 0.6 is ln 1.5, of 0.2 it is -ln 4: the probabilities are 0.6, 0.2 and 0.2.
    let (high, low) = (1.5f64.ln(), -(4.0f64.ln()));
    let predictions = [high, low, low, high, low, low];
    let score =
        |name: &str| metric(name).score(&observations, &LossKind::Logistic.into(), &predictions).unwrap();
    let alike = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    let all = score("pooled-log-loss");
    alike(all.value, -(0.6f64.ln() + 0.2f64.ln()) / 2.0);
    alike(all.per_task[0].unwrap(), -(0.6f64.ln()));
    assert_eq!((all.per_task[1], all.undefined), (None, 0));
    alike(score("pooled-brier").value, (0.24 + 1.04) / 2.0);
    // Labels that are not one class each are those of tasks.
    let observations = Observations::multi_task(&[0, 1, 0, 1], vec![1.0, -1.0, -1.0, -1.0]).unwrap();
    let of_tasks = metric("pooled-log-loss").score(&observations, &LossKind::Logistic.into(), &[0.0; 4]);
    alike(of_tasks.unwrap().value, 2f64.ln());
}

/// Tasks of at least two rows, labels, predictions.
fn problem() -> impl Strategy<Value = (Vec<u32>, Vec<f64>, Vec<f64>)> {
    let row = (0u32..4, -3.0..3.0f64, -3.0..3.0f64);
    prop::collection::vec(row, 6..60).prop_map(|rows| {
        let task = rows.iter().map(|row| row.0).chain(0..4).chain(0..4).collect();
        let label = rows.iter().map(|row| row.1).chain([1.0; 8]).collect();
        (task, label, rows.iter().map(|row| row.2).chain([0.5; 8]).collect())
    })
}

fn alike(a: Option<f64>, b: Option<f64>) -> bool {
    let (x, y) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
    a.is_some() == b.is_some() && (x - y).abs() <= 1e-9 * x.abs().max(1.0)
}

proptest! {
    /// R^2 of all folds does not see units and offsets of a task, nor the order of its predictions in the folds. That
    /// of all rows together needs six rows of each task for that: with fewer, units are drawn to that of all tasks.
    #[test]
    fn units_of_tasks_do_not_matter(
        (task, label, predictions) in problem(),
        unit in 0.01..100.0f64,
        shift in -9.0..9.0f64,
    ) {
        let observations = Observations::multi_task(&task, label.clone()).unwrap();
        let rows = fold_rows(&observations, 3);
        let other = |t: u32, y: f64| if t == 1 { unit * y + shift } else { y };
        let moved: Vec<f64> = task.iter().zip(&label).map(|(t, y)| other(*t, *y)).collect();
        let moved = Observations::multi_task(&task, moved).unwrap();
        let tested: Vec<usize> = rows.iter().flat_map(|fold| fold.test.iter().map(|i| *i as usize)).collect();
        let predicted: Vec<f64> = tested.iter().map(|i| predictions[*i]).collect();
        let moved_predictions: Vec<f64> = tested.iter().map(|i| other(task[*i], predictions[*i])).collect();
        let losses = squared();
        let counts: Vec<usize> = observations.task_counts().into_iter().filter(|n| *n >= 2).collect();
        let many = counts.iter().sum::<usize>() >= 6 * counts.len();
        for name in ["r2", "pooled-r2", "explained-variance", "nrmse"] {
            let a = HeldOut::new(&observations, &losses, &rows).score(metric(name), &predicted).unwrap();
            let b = HeldOut::new(&moved, &losses, &rows).score(metric(name), &moved_predictions).unwrap();
            prop_assert!(alike(a.mean, b.mean), "{} {:?} {:?}", name, a, b);
            prop_assert!(!many || alike(a.pooled, b.pooled), "{} {:?} {:?}", name, a, b);
            prop_assert_eq!(a.undefined, b.undefined);
            prop_assert!(a.per_task.iter().zip(&b.per_task).all(|(a, b)| alike(*a, *b)));
        }
    }

    /// The order of tasks does not matter to their mean, nor to all rows together; a weight of two is a repetition.
    #[test]
    fn tasks_may_change_places_and_weights_are_repetitions((task, label, predictions) in problem()) {
        let signs: Vec<f64> = label.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
        let losses: Losses = LossKind::Logistic.into();
        let twice: Vec<usize> = (0..task.len()).flat_map(|i| vec![i; 1 + i % 2]).collect();
        let weight: Vec<f64> = (0..task.len()).map(|i| 1.0 + (i % 2) as f64).collect();
        for name in Metric::names().into_iter().filter(|name| !name.starts_with("class") && !name.starts_with("top")) {
            let numbers = matches!(metric(name).measure, Measure::R2 | Measure::ExplainedVariance | Measure::Nrmse);
            let labels = if numbers { &label } else { &signs };
            let plain = Observations::multi_task(&task, labels.clone()).unwrap();
            let turned: Vec<u32> = task.iter().map(|t| 3 - t).collect();
            let turned = Observations::multi_task(&turned, labels.clone()).unwrap();
            let a = metric(name).score(&plain, &losses, &predictions).unwrap();
            let b = metric(name).score(&turned, &losses, &predictions).unwrap();
            prop_assert!(alike(a.mean, b.mean) && alike(a.pooled, b.pooled), "{} {:?} {:?}", name, a, b);
            prop_assert!(a.per_task.iter().zip(b.per_task.iter().rev()).all(|(a, b)| alike(*a, *b)));
            let weighted = metric(name).score(&plain.with_weights(&weight).unwrap(), &losses, &predictions).unwrap();
            let pick = |values: &[f64]| -> Vec<f64> { twice.iter().map(|i| values[*i]).collect() };
            let tasks: Vec<u32> = twice.iter().map(|i| task[*i]).collect();
            let repeated = Observations::multi_task(&tasks, pick(labels)).unwrap();
            let repeated = metric(name).score(&repeated, &losses, &pick(&predictions)).unwrap();
            prop_assert!(alike(weighted.mean, repeated.mean), "{} {:?} {:?}", name, weighted, repeated);
            prop_assert!(alike(weighted.pooled, repeated.pooled), "{} {:?} {:?}", name, weighted, repeated);
        }
    }
}

/// Tasks with common weights and their own part, as arrays: inputs, tasks, labels.
struct Generated {
    x: Vec<f64>,
    task: Vec<u32>,
    label: Vec<f64>,
}

const FEATURES: usize = 6;

/// Weights of each task.
fn kin(rng: &mut ChaCha8Rng, n_tasks: usize, kinship: f64) -> Vec<Vec<f64>> {
    let common: Vec<f64> = (0..FEATURES).map(|_| normal(rng)).collect();
    let own = |rng: &mut ChaCha8Rng, c: &f64| kinship.sqrt() * c + (1.0 - kinship).sqrt() * normal(rng);
    (0..n_tasks).map(|_| common.iter().map(|c| own(rng, c)).collect()).collect()
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn generate(rng: &mut ChaCha8Rng, weights: &[Vec<f64>], rows: usize, noise: f64) -> Generated {
    let mut made = Generated { x: vec![], task: vec![], label: vec![] };
    for (t, w) in weights.iter().enumerate() {
        for _ in 0..rows {
            let row: Vec<f64> = (0..FEATURES).map(|_| normal(rng)).collect();
            let f: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
            made.label.push(f / (FEATURES as f64).sqrt() + noise * normal(rng));
            made.x.extend(row);
            made.task.push(t as u32);
        }
    }
    made
}

impl Generated {
    fn inputs(&self) -> Inputs<'_> {
        Inputs::from(Dense::f64(&self.x, self.task.len(), FEATURES).unwrap())
    }

    fn observations(&self) -> Observations {
        Observations::multi_task(&self.task, self.label.clone()).unwrap()
    }

    /// Positive is the largest label of each task, or all labels above one.
    fn signs(mut self, one_per_task: bool) -> Self {
        let n_tasks = 1 + *self.task.iter().max().unwrap();
        for t in 0..n_tasks {
            let own: Vec<usize> = (0..self.task.len()).filter(|&i| self.task[i] == t).collect();
            let largest = own.iter().map(|&i| self.label[i]).fold(f64::NEG_INFINITY, f64::max);
            let threshold = if one_per_task { largest } else { 1.0 };
            own.iter().for_each(|&i| self.label[i] = if self.label[i] >= threshold { 1.0 } else { -1.0 });
        }
        self
    }
}

fn spec(loss: &str) -> FitSpec {
    FitSpec { threads: 2, seed: 1, loss: loss.parse().unwrap(), ..FitSpec::default() }
}

/// Test scores of all settings after a fit to all rows, and that of the winner.
fn test_scores(study: &Study<'_>, found: &Selection, test: &Generated, metric: Metric) -> (Vec<f64>, f64) {
    let schema = Training::new(&study.spec, Data::Arrays(study.inputs, study.observations)).unwrap().schema;
    let observations = test.observations();
    let score = |row: usize| {
        let model = study.refit(&found.rows[row], &schema, &mut Silent).unwrap().model;
        let predictions = kinfolk_train::predict(&model, &test.inputs(), &observations).unwrap();
        metric.score(&observations, &study.losses, &predictions).unwrap().value
    };
    let all: Vec<f64> = (0..found.rows.len()).map(score).collect();
    let winner = all[found.winner];
    (all, winner)
}

/// Test scores of 30 tasks with 60 rows each are not known more exactly. Where a task's only positive row is held out,
/// a free intercept explains all of its training rows, and all settings have the same cross-validated AUC.
const TEST_NOISE: f64 = 0.02;

/// Over random problems: how far the test score of the winner is below that of the best setting, the standard error
/// of the winner's cross-validated score, and the last selection.
fn mean_regret(
    loss: LossKind,
    rows: usize,
    score: &str,
    make: &dyn Fn(Generated) -> Generated,
    test: &dyn Fn(Generated) -> Generated,
) -> (f64, f64, Selection) {
    let n_problems = 6;
    let (mut regret, mut noise, mut last) = (0.0, 0.0, None);
    for problem in 0..n_problems {
        let mut rng = ChaCha8Rng::seed_from_u64(100 + problem);
        let weights = kin(&mut rng, 30, if problem % 2 == 0 { 0.9 } else { 0.5 });
        let train = make(generate(&mut rng, &weights, rows, 0.3));
        let test = test(generate(&mut rng, &weights, 60, 0.3));
        let (inputs, observations) = (train.inputs(), train.observations());
        let spec = spec(&loss.to_string());
        let study = Study::new(&inputs, &observations, loss.clone().into(), spec);
        let candidates = candidates(&["fmtl:k=2".into()], &[]).unwrap();
        let found = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
        let (all, winner) = test_scores(&study, &found, &test, metric(score));
        let best = (0..all.len()).reduce(|a, b| if all[b] > all[a] { b } else { a }).unwrap();
        regret += all[best] - winner;
        noise += found.rows[found.winner].sd / (study.folds as f64).sqrt();
        last = Some(found);
    }
    (regret / n_problems as f64, (noise / n_problems as f64).max(TEST_NOISE), last.unwrap())
}

#[test]
fn thirty_tasks_of_five_rows_are_chosen_sensibly() {
    let (regret, noise, found) = mean_regret(LossKind::Squared, 5, "r2", &|made| made, &|made| made);
    assert_eq!((found.metric, found.undefined()), (metric("pooled-r2"), 0));
    assert!(regret < noise, "{regret} {noise}");
}

#[test]
fn one_positive_row_per_task_is_chosen_sensibly() {
    let one = |made: Generated| made.signs(true);
    let (regret, noise, found) = mean_regret(LossKind::Hinge, 20, "auc", &one, &|made| made.signs(false));
    assert_eq!((found.metric, &found.instead_of), (metric("pooled-auc"), &None));
    assert!(regret < noise, "{regret} {noise}");
    let (regret, noise, found) = mean_regret(LossKind::Hinge, 5, "auc", &one, &|made| made.signs(false));
    assert_eq!(found.metric, metric("pooled-auc"));
    assert!(regret < noise, "{regret} {noise}");
}

/// Each row is a fold: no fold has both classes of a task, and another score is taken, aloud.
#[test]
fn rankings_need_both_classes_in_a_fold() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let weights = kin(&mut rng, 3, 0.5);
    let made = generate(&mut rng, &weights, 6, 0.3).signs(true);
    let (inputs, observations) = (made.inputs(), made.observations());
    let candidates = candidates(&["stl".into()], &["strength=0.1,1".parse().unwrap()]).unwrap();
    for (loss, instead) in [(LossKind::Hinge, "loss"), (LossKind::Logistic, "log-loss")] {
        let mut study = Study::new(&inputs, &observations, loss.clone().into(), spec(&loss.to_string()));
        study.folds = observations.len();
        for asked in [None, Some(metric("pr-auc"))] {
            study.metric = asked;
            let found = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
            let asked = asked.unwrap_or(metric("pooled-auc"));
            assert_eq!(found.metric, metric(instead));
            let note =
                format!("{asked} is undefined for 3 of 3 tasks in these folds: chosen by {instead} instead");
            assert_eq!(found.notes()[0], note);
        }
    }
}

/// A small study of numbers.
fn with_study(check: impl Fn(&Study<'_>, &Candidate)) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let weights = kin(&mut rng, 3, 0.5);
    let made = generate(&mut rng, &weights, 12, 0.01);
    let (inputs, observations) = (made.inputs(), made.observations());
    let mut study = Study::new(&inputs, &observations, squared(), spec("squared"));
    study.folds = 3;
    let weights = [1e-3, 1e-2].map(Weight::Relative).to_vec();
    let settings = vec!["stl".parse().unwrap()];
    check(&study, &Candidate { grows: true, ..Candidate::on_weights(settings, weights) });
}

#[test]
fn grids_grow_where_the_best_is_at_their_edge() {
    with_study(|study, candidate| {
        let run = |candidate: &Candidate| {
            cross_validate(study, std::slice::from_ref(candidate), &Unobserved).unwrap().unwrap()
        };
        let found = run(candidate);
        let strengths: Vec<f64> = found.rows.iter().map(|row| row.weight.number()).collect();
        let expected = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0];
        assert!(strengths.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{strengths:?}");
        assert_eq!((strengths.len(), found.grown.len(), found.winner), (6, 1, 5));
        let notes = found.notes().join("\n");
        assert!(notes.contains("which grew: strengths from 1.000e-3 to 1.000e2"), "{notes}");
        assert!(notes.contains("the best point is the last of the grid"), "{notes}");
        // The same scores as with a grid that was that long at once.
        let weights = found.rows.iter().map(|row| row.weight).collect();
        let long = run(&Candidate { weights, grows: false, ..candidate.clone() });
        assert!(long.rows.iter().zip(&found.rows).all(|(a, b)| (a.score - b.score).abs() < 1e-3));
        assert!(long.grown.is_empty() && long.winner == found.winner);
        // Lists of a caller do not grow.
        let fixed = run(&Candidate { grows: false, ..candidate.clone() });
        assert_eq!((fixed.rows.len(), fixed.grown.len(), fixed.notes().len()), (2, 0, 1));
        // Repeats are of the same grid.
        let again = Study { repeats: 2, ..study.clone() };
        let again = cross_validate(&again, std::slice::from_ref(candidate), &Unobserved).unwrap().unwrap();
        assert!(again.rows.len() == 6 && again.rows.iter().all(|row| row.folds.len() == 6));
    });
}

#[test]
fn undefined_scores_never_choose() {
    with_study(|study, candidate| {
        let candidates = std::slice::from_ref(candidate);
        let folds = fold_rows(study.observations, 3);
        let nan = |_: usize, _: &kinfolk_train::Trained| Ok(f64::NAN);
        let error = cross_validate_on(study, candidates, &folds, Some(&nan), &Unobserved).unwrap_err();
        assert!(error.to_string().contains("is undefined for all of its settings"), "{error}");
        // A setting that is undefined loses to any other, whatever the order.
        let some = |_: usize, trained: &kinfolk_train::Trained| {
            Ok(if trained.spec.c.number() < 5e-3 { f64::NAN } else { -trained.spec.c.number() })
        };
        let found = cross_validate_on(study, candidates, &folds, Some(&some), &Unobserved).unwrap().unwrap();
        assert!((found.rows[found.winner].weight.number() - 1e-2).abs() < 1e-9);
        assert!(found.notes()[0].contains("is undefined for 1 of 4 settings"), "{:?}", found.notes());
    });
    // Equal labels: nothing can be explained, and RMSE is taken.
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let weights = kin(&mut rng, 3, 0.5);
    let mut made = generate(&mut rng, &weights, 12, 0.01);
    made.label = made.task.iter().map(|t| f64::from(*t)).collect();
    let (inputs, observations) = (made.inputs(), made.observations());
    let candidates = candidates(&["stl".into()], &["strength=0.1,1".parse().unwrap()]).unwrap();
    for asked in [None, Some(metric("explained-variance"))] {
        let study = Study { metric: asked, ..Study::new(&inputs, &observations, squared(), spec("squared")) };
        let found = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
        assert_eq!(found.metric, metric("rmse"));
        assert!(found.notes()[0].contains("is undefined for 3 of 3 tasks"), "{:?}", found.notes());
    }
    // One task of two: it has no say, and that is said.
    let varied =
        |i: usize| f64::from(made.task[i]) + if made.task[i] > 0 { made.x[FEATURES * i] } else { 0.0 };
    let observations = Observations::multi_task(&made.task, (0..36).map(varied).collect()).unwrap();
    let study = Study::new(&inputs, &observations, squared(), spec("squared"));
    let found = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
    assert_eq!((found.metric, found.undefined()), (metric("pooled-r2"), 1));
    assert!(
        found.notes()[0].contains("pooled-r2 is undefined for 1 task, which had no say"),
        "{:?}",
        found.notes()
    );
}

/// Results of 0.1 had R^2 under the name of explained variance, and the mean of a score only.
#[test]
fn old_results_are_read_with_the_right_name() {
    with_study(|study, candidate| {
        let study = &Study { metric: Some(metric("r2")), scored: Scored::ByFold, ..study.clone() };
        let found = cross_validate(study, std::slice::from_ref(candidate), &Unobserved).unwrap().unwrap();
        let results = SelectionResults::new(study, &found);
        let schema =
            Training::new(&study.spec, Data::Arrays(study.inputs, study.observations)).unwrap().schema;
        let model = study.refit(&found.rows[found.winner], &schema, &mut Silent).unwrap().model;
        let mut json = serde_json::to_value(&results).unwrap();
        let read = SelectionResults::parse(&json.to_string(), &model).unwrap();
        assert_eq!((read.metric, read.cross_validated()), (metric("r2"), results.cross_validated()));
        json["metric"] = "explained-variance".into();
        let new = SelectionResults::parse(&json.to_string(), &model).unwrap();
        assert_eq!(new.metric, metric("explained-variance"));
        for name in ["notes", "instead_of", "undefined", "grown"] {
            json.as_object_mut().unwrap().remove(name);
        }
        for best in json["best"].as_array_mut().unwrap() {
            best.as_object_mut().unwrap().remove("held_out");
            for score in best["scores"].as_array_mut().unwrap() {
                let score = score.as_object_mut().unwrap();
                ["value", "pooled", "undefined"].iter().for_each(|name| drop(score.remove(*name)));
            }
        }
        let old = SelectionResults::parse(&json.to_string(), &model).unwrap();
        assert_eq!(old.metric, metric("r2"));
        let (a, b) = (old.cross_validated().unwrap(), results.cross_validated().unwrap());
        assert!((a.value - b.value).abs() < 1e-12 && a.per_task.len() == b.per_task.len());
    });
}
