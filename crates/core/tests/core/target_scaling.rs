//! Scaling of labels: its numbers, hostile scales, and the laws of units.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Error, Intercept, LossKind, Losses, Model, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, TargetScale, TargetScaling, TaskNames, fit,
};
use proptest::prelude::*;

const SQUARED: LossKind = LossKind::Squared;

fn scaling(scale: TargetScale, task: &[u32], label: &[f64], centred: bool) -> TargetScaling {
    let observations = Observations::multi_task(task, label.to_vec()).unwrap();
    TargetScaling::fit(scale, &observations, &SQUARED.into(), centred).unwrap().unwrap()
}

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-14 * b.abs(), "{got:?}, expected {expected:?}");
    }
}

#[test]
fn each_task_has_its_own_mean_and_deviation() {
    let (task, label) = ([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 40.0]);
    let own = scaling(TargetScale::Task, &task, &label, true);
    close(own.centre().unwrap(), &[2.0, 20.0]);
    close(own.spread(), &[1.0, 200.0f64.sqrt()]);
    let common = scaling(TargetScale::Common, &task, &label, true);
    assert_eq!(common.centre(), own.centre());
    close(common.spread(), &[100.5f64.sqrt(); 2]);
    // Without centres, spreads are root mean squares.
    let bare = scaling(TargetScale::Task, &task, &label, false);
    assert_eq!(bare.centre(), None);
    close(bare.spread(), &[5.0f64.sqrt(), 600.0f64.sqrt()]);
}

/// With few labels, `auto` draws spreads together; from six on, it leaves them alone.
#[test]
fn spreads_of_few_labels_are_drawn_together() {
    let labels = |tasks: u32, rows: u32, size: fn(u32) -> f64| -> (Vec<u32>, Vec<f64>) {
        let place = |i: u32| (i / rows, size(i / rows) * (f64::from(i) * 2.4).sin());
        (0..tasks * rows).map(place).unzip()
    };
    let kind = |task: &[u32], label: &[f64]| scaling(TargetScale::Auto, task, label, true).kind();
    let (task, label) = labels(8, 4, |_| 1.0);
    assert_eq!(kind(&task, &label), TargetScale::Shrunk);
    let spread = scaling(TargetScale::Auto, &task, &label, true).spread().to_vec();
    assert!(spread.iter().all(|s| (s / spread[0] - 1.0).abs() < 1e-12), "{spread:?}");
    assert_eq!(scaling(TargetScale::Shrunk, &task, &label, true).spread(), spread);
    // Units that differ truly are kept, nearly, and a unit of all tasks does not matter.
    let (task, label) = labels(8, 4, |t| [1.0, 1000.0][t as usize % 2]);
    let own = scaling(TargetScale::Task, &task, &label, true);
    let drawn = scaling(TargetScale::Auto, &task, &label, true);
    let ratio = |t: usize| drawn.spread()[t] / own.spread()[t];
    assert!((0..8).all(|t| (0.7..2.0).contains(&ratio(t))), "{drawn:?}");
    let large: Vec<f64> = label.iter().map(|y| 1e100 * y).collect();
    let large = scaling(TargetScale::Auto, &task, &large, true);
    large.spread().iter().zip(drawn.spread()).for_each(|(a, b)| assert!((a / b / 1e100 - 1.0).abs() < 1e-9));
    let (task, label) = labels(8, 6, |_| 1.0);
    assert_eq!(kind(&task, &label), TargetScale::Task);
    assert_eq!(scaling(TargetScale::Shrunk, &task, &label, true).kind(), TargetScale::Task);
}

#[test]
fn weights_are_repetitions_and_offsets_are_subtracted() {
    let offset = [0.5, 7.0, -2.0];
    let with = |task: &[u32], label: &[f64], offset: &[f64]| {
        let observations = Observations::multi_task(task, label.to_vec()).unwrap();
        observations.with_offsets(offset.to_vec()).unwrap()
    };
    let weighted = with(&[0, 0, 0], &[1.0, 3.0, 4.0], &offset).with_weights(&[1e-200, 3e-200, 0.0]).unwrap();
    let repeated = with(&[0, 0, 0, 0], &[1.0, 3.0, 3.0, 3.0], &[0.5, 7.0, 7.0, 7.0]);
    let less = Observations::multi_task(&[0; 4], vec![0.5, -4.0, -4.0, -4.0]).unwrap();
    let of =
        |y: &Observations| TargetScaling::fit(TargetScale::Task, y, &SQUARED.into(), true).unwrap().unwrap();
    for other in [&repeated, &less] {
        close(of(&weighted).centre().unwrap(), of(other).centre().unwrap());
        close(of(&weighted).spread(), of(other).spread());
    }
    let scaled = of(&repeated).apply(&repeated).unwrap();
    let residuals: Vec<f64> = (0..4).map(|o| scaled.label(o) - scaled.offset(o)).collect();
    close(&residuals, of(&less).apply(&less).unwrap().labels());
}

#[test]
fn tasks_without_a_spread_take_the_usual_one() {
    // Spreads 1, 2 and 40; then one label, equal labels, none.
    let task = [0, 0, 1, 1, 2, 2, 3, 4, 4];
    let label = [0.0, 2.0, 0.0, 4.0, 0.0, 80.0, 1e9, 0.1 + 0.2, 0.1 + 0.2];
    let observations = Observations::multi_task(&task, label.to_vec()).unwrap();
    let names = TaskNames::Strings(["a", "b", "c", "d", "e", "f"].map(String::from).to_vec());
    let observations = observations.with_task_names(names).unwrap();
    let own = TargetScaling::fit(TargetScale::Task, &observations, &SQUARED.into(), true).unwrap().unwrap();
    assert_eq!(own.spread(), [1.0, 2.0, 40.0, 2.0, 2.0, 2.0]);
    assert_eq!(own.centre().unwrap(), [1.0, 2.0, 40.0, 1e9, 0.1 + 0.2, 0.0]);
    assert_eq!(own.apply(&observations).unwrap().labels()[6..], [0.0; 3]);
    let alone = scaling(TargetScale::Task, &[0, 1, 1], &[5.0, 7.0, 7.0], true);
    assert_eq!(alone.spread(), [1.0, 1.0]);
    assert_eq!(scaling(TargetScale::Common, &[0], &[5.0], true).spread(), [1.0]);
}

#[test]
fn classes_stay_as_they_are() {
    let signs = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    let fitted =
        |y: &Observations, losses: Losses| TargetScaling::fit(TargetScale::Task, y, &losses, true).unwrap();
    assert_eq!(fitted(&signs, LossKind::Hinge.into()), None);
    assert_eq!(fitted(&signs, SQUARED.into()), None);
    let mixed = signs.with_labels(vec![1.0, -1.0, 0.0, 4.0]).unwrap();
    let both = fitted(&mixed, Losses::PerTask(vec![LossKind::Hinge, SQUARED])).unwrap();
    assert_eq!((both.centre().unwrap(), both.spread()), (&[0.0, 2.0][..], &[1.0, 2.0][..]));
    assert_eq!(TargetScaling::fit(TargetScale::None, &mixed, &SQUARED.into(), true).unwrap(), None);
}

#[test]
fn pooled_labels_have_one_mean_and_one_spread() {
    // Means 2 and 20 of 2 and 3 labels count as 2/5 and 3/6.
    let (task, label) = ([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 40.0]);
    let centre = (0.4 * 2.0 + 0.5 * 20.0) / 0.9;
    let square: f64 = label.iter().map(|y: &f64| (y - centre).powi(2)).sum();
    for unit in [1e-300, 1.0, 1e150] {
        let label: Vec<f64> = label.iter().map(|y| unit * y).collect();
        let own = scaling(TargetScale::Pooled, &task, &label, true);
        close(own.centre().unwrap(), &[unit * centre; 2]);
        close(own.spread(), &[unit * (square / 5.0).sqrt(); 2]);
    }
    let bare = scaling(TargetScale::Pooled, &task, &label, false);
    assert_eq!(bare.centre(), None);
    close(bare.spread(), &[(label.iter().map(|y| y * y).sum::<f64>() / 5.0).sqrt(); 2]);
    assert_eq!(scaling(TargetScale::Pooled, &[0, 1, 1], &[5.0; 3], true).spread(), [1.0; 2]);
}

/// A task of one class begins at the log-odds of all tasks; labels stay, and offsets come back.
#[test]
fn classes_begin_at_the_log_odds_that_tasks_have_in_common() {
    let logistic = Losses::from(LossKind::Logistic);
    let (task, label) = ([0, 0, 0, 1, 1, 2], vec![1.0, -1.0, -1.0, -1.0, 1.0, -1.0]);
    let observations = Observations::multi_task(&task, label).unwrap();
    let fitted = |y: &Observations, kind, losses: &Losses| TargetScaling::fit(kind, y, losses, true).unwrap();
    // Of 3, 2 and 1 labels with the shares 1/3, 1/2 and 0.
    let share = (0.5 / 3.0 + 0.4 * 0.5) / (0.5 + 0.4 + 0.25);
    let expected: f64 = share / (1.0 - share);
    let own = fitted(&observations, TargetScale::Auto, &logistic).unwrap();
    close(own.centre().unwrap(), &[expected.ln(); 3]);
    assert_eq!((own.kind(), own.spread()), (TargetScale::Task, &[1.0; 3][..]));
    for offset in [0.0, 0.25] {
        let given = observations.clone().with_offsets(vec![offset; 6]).unwrap();
        let scaled = own.apply(&given).unwrap();
        assert_eq!(scaled.labels(), observations.labels());
        close(scaled.offsets().unwrap(), &[expected.ln() + offset; 6]);
        let back = own.undo(&scaled).unwrap();
        assert!((0..6).all(|o| (back.offset(o) - offset).abs() < 1e-15), "{back:?}");
        // Offsets are no part of the shares.
        assert_eq!(fitted(&given, TargetScale::Auto, &logistic).unwrap(), own);
    }
    assert_eq!(own.unscale(2, 0.0), own.centre().unwrap()[2]);
    // With both classes everywhere nothing draws to it, unless that is asked for.
    let both = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    assert_eq!(fitted(&both, TargetScale::Auto, &logistic), None);
    assert_eq!(fitted(&both, TargetScale::Pooled, &logistic).unwrap().centre(), Some(&[0.0; 2][..]));
    // One class everywhere says nothing about the odds.
    let one = Observations::multi_task(&[0, 0, 1, 1], vec![1.0; 4]).unwrap();
    assert_eq!(fitted(&one, TargetScale::Pooled, &logistic), None);
    assert_eq!(fitted(&observations, TargetScale::Pooled, &LossKind::Hinge.into()), None);
}

#[test]
fn hostile_scales_are_scaled_and_what_is_out_of_range_is_said() {
    for unit in [1e-300, 1e-150, 1e150, 1e300] {
        let own = scaling(TargetScale::Task, &[0, 0, 1, 1], &[unit, 3.0 * unit, 1.0, 2.0], true);
        close(own.spread(), &[unit, 0.5]);
        let common = scaling(TargetScale::Common, &[0, 0, 1, 1], &[unit, 3.0 * unit, 1.0, 3.0], true);
        assert!(common.spread()[0].is_finite() && common.spread()[0] >= 0.5f64.sqrt(), "{common:?}");
    }
    let ends = Observations::multi_task(&[0, 0], vec![-f64::MAX, f64::MAX]).unwrap();
    let own = TargetScaling::fit(TargetScale::Task, &ends, &SQUARED.into(), true).unwrap().unwrap();
    assert_eq!(own.apply(&ends).unwrap().labels(), [-1.0, 1.0]);
    let beyond = ends.clone().with_offsets(vec![f64::MAX, -f64::MAX]).unwrap();
    let error = TargetScaling::fit(TargetScale::Task, &beyond, &SQUARED.into(), true).unwrap_err();
    assert!(
        matches!(&error, Error::Incompatible(why) if why.contains("target spread of task 0 is inf")),
        "{error}"
    );
    let tiny = scaling(TargetScale::Task, &[0, 0], &[0.0, 2e-300], true);
    let error = tiny.apply(&ends).unwrap_err().to_string();
    assert!(error.starts_with("observation 0: label -1") && error.contains("of task 0"), "{error}");
    let error = own.apply(&Observations::multi_task(&[0, 1], vec![0.0; 2]).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "the target scaling has 1 centres and 1 spreads, there are 2 tasks");
}

#[test]
fn names() {
    crate::common::names_round_trip(TargetScale::ALL);
    let error = "class".parse::<TargetScale>().unwrap_err().to_string();
    assert_eq!(
        error,
        "target scale \"class\" is not understood: it is one of auto, task, shrunk, common, pooled, none"
    );
}

const ROWS: usize = 24;
const FEATURES: usize = 3;
const TASKS: usize = 3;

fn inputs(x: &[f64]) -> Inputs<'_> {
    Dense::f64(x, ROWS, FEATURES).unwrap().into()
}

fn of_rows(label: Vec<f64>) -> Observations {
    let task: Vec<u32> = (0..ROWS as u32).map(|i| i % TASKS as u32).collect();
    Observations::multi_task(&task, label).unwrap()
}

/// A model of raw labels that scales them by task.
fn model(x: &[f64], observations: &Observations, loss: &LossKind) -> Model {
    let scaling =
        TargetScaling::fit(TargetScale::Task, observations, &loss.clone().into(), true).unwrap().unwrap();
    let (inputs, scaled) = (inputs(x), scaling.apply(observations).unwrap());
    let options = DatasetOptions { bias: 1.0, threads: 1, ..DatasetOptions::default() };
    let data = Dataset::new(&inputs, &scaled, options).unwrap();
    let output = RegularizerKind::Power { k: 1 };
    let spec = ProblemSpec {
        loss: loss.clone().into(),
        output,
        intercept: Intercept::None,
        ..ProblemSpec::default()
    };
    let problem = Problem::new(&data, spec).unwrap();
    let settings = Settings { tolerance: 1e-13, max_passes: 20_000, ..Settings::default() };
    let mut model = fit(&problem, &settings).unwrap().model;
    model.set_target_scaling(Some(scaling)).unwrap();
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A task's labels in other units: its predictions follow, those of others stay, and so does Theta.
    #[test]
    fn predictions_follow_the_units_of_labels(
        x in prop::collection::vec(-1.0f64..1.0, ROWS * FEATURES),
        y in prop::collection::vec(-1.0f64..1.0, ROWS),
        offset in prop::collection::vec(-1.0f64..1.0, ROWS),
        (factor, shift) in (prop_oneof![Just(1e-6), Just(0.5), Just(-3.0), Just(1e6)], -10.0f64..10.0),
        changed in 0..TASKS,
    ) {
        for loss in [SQUARED, LossKind::Epsilon { epsilon: 0.25 }] {
            let plain = of_rows(y.clone()).with_offsets(offset.clone()).unwrap();
            let unit = |o: usize, value: f64| if plain.task(o) == changed { factor * value } else { value };
            let moved = |o: usize| if plain.task(o) == changed { factor * (y[o] + shift) } else { y[o] };
            let other = of_rows((0..ROWS).map(moved).collect());
            let other = other.with_offsets((0..ROWS).map(|o| unit(o, offset[o])).collect()).unwrap();
            let (before, after) = (model(&x, &plain, &loss), model(&x, &other, &loss));
            let (old, new) = (before.predict_all(&inputs(&x)).unwrap(), after.predict_all(&inputs(&x)).unwrap());
            for i in 0..ROWS {
                for t in 0..TASKS {
                    let expected = if t == changed { factor * (old[(i, t)] + shift) } else { old[(i, t)] };
                    let size = if t == changed { factor.abs() * (1.0 + shift.abs()) } else { 1.0 };
                    prop_assert!((new[(i, t)] - expected).abs() <= 1e-9 * size, "{loss}: {} {expected}", new[(i, t)]);
                }
            }
            // A negative factor turns the function of the task around: so do its relations to the others.
            for r in 0..TASKS {
                for s in 0..TASKS {
                    let sign = if (r == changed) != (s == changed) { factor.signum() } else { 1.0 };
                    let (old, new) = (before.theta()[(r, s)], after.theta()[(r, s)]);
                    prop_assert!((new - sign * old).abs() <= 1e-9 * (1.0 + old.abs()), "{loss}: {new} {old}");
                }
            }
        }
    }
}

#[test]
fn the_mean_of_all_tasks_leaves_out_those_without_observations() {
    let x: Vec<f64> = (0..ROWS * FEATURES).map(|i| (i as f64 * 0.7).sin()).collect();
    let names = TaskNames::Strings(["a", "b", "c", "empty", "weightless"].map(String::from).to_vec());
    let label = (0..ROWS).map(|i| (i as f64 * 1.3).cos() + 100.0).collect();
    let model = model(&x, &of_rows(label).with_task_names(names).unwrap(), &SQUARED);
    assert_eq!(model.about().empty_tasks.as_deref(), Some(&[3, 4][..]));
    assert!(model.is_empty_task(3) && !model.is_empty_task(2));
    let (all, mean) = (model.predict_all(&inputs(&x)).unwrap(), model.predict_mean(&inputs(&x)).unwrap());
    for (i, mean) in mean.iter().enumerate() {
        let expected = (all[(i, 0)] + all[(i, 1)] + all[(i, 2)]) / 3.0;
        assert!((mean - expected).abs() < 1e-12 * expected.abs());
    }
}

#[test]
fn linear_coefficients_are_in_the_units_of_the_caller() {
    let x: Vec<f64> = (0..ROWS * FEATURES).map(|i| (i as f64 * 0.7).sin()).collect();
    let model = model(&x, &of_rows((0..ROWS).map(|i| 1e3 + (i * i) as f64).collect()), &SQUARED);
    let coefficients = model.linear_coefficients().unwrap();
    let all = model.predict_all(&inputs(&x)).unwrap();
    for i in 0..ROWS {
        for t in 0..TASKS {
            let terms = (0..FEATURES).map(|j| coefficients.weights[(j, t)] * x[i * FEATURES + j]);
            let by_hand = coefficients.intercept[t] + terms.sum::<f64>();
            assert!((by_hand - all[(i, t)]).abs() <= 1e-12 * by_hand.abs());
        }
    }
}
