//! Metrics: scikit-learn's numbers, and laws that they must obey.

use kinfolk::Matrix;
use kinfolk::metrics::{self, Metric, PerTask};
use proptest::prelude::*;
use serde_json::Value;

/// Metrics with their names.
macro_rules! named {
    ($($name:ident),*) => { [$((stringify!($name), metrics::$name as Metric)),*] };
}

/// Those for two classes first.
const TWO_CLASSES: usize = 7;
const METRICS: [(&str, Metric); 12] = named![
    accuracy,
    balanced_accuracy,
    auc,
    pr_auc,
    f1_macro,
    log_loss,
    brier,
    r2,
    explained_variance,
    rmse,
    nrmse,
    mae
];

fn all() -> impl Iterator<Item = (&'static str, Metric)> {
    METRICS.into_iter()
}

fn golden(key: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sklearn.json");
    let mut values: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    serde_json::from_value(values[key].take()).unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

fn close(what: &str, got: Option<f64>, expected: f64) {
    let got = got.unwrap_or_else(|| panic!("{what} is undefined"));
    assert!((got - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{what}: {got} and {expected}");
}

#[test]
fn scikit_learn_finds_the_same() {
    for (key, some) in [("two_classes", &METRICS[..TWO_CLASSES]), ("numbers", &METRICS[TWO_CLASSES..])] {
        for case in golden(key) {
            let (label, score, weight) = (list(&case["label"]), list(&case["score"]), list(&case["weight"]));
            for (name, metric) in some {
                let expected = |how: &str| case[how][name].as_f64().unwrap();
                close(name, metric(&label, &score, None), expected("plain"));
                close(name, metric(&label, &score, Some(&weight)), expected("weighted"));
            }
        }
    }
    for case in golden("many_classes") {
        let class: Vec<u32> = serde_json::from_value(case["label"].clone()).unwrap();
        let (t, weight) = (case["classes"].as_u64().unwrap() as usize, list(&case["weight"]));
        let score = Matrix::from_vec(list(&case["score"]), class.len(), t).unwrap();
        for (how, weight) in [("plain", None), ("weighted", Some(&weight[..]))] {
            let expected = &case[how];
            close(
                how,
                metrics::class_accuracy(&class, &score, weight),
                expected["accuracy"].as_f64().unwrap(),
            );
            for k in 1..t {
                let expected = expected["top"][k.to_string()].as_f64().unwrap();
                close(how, metrics::top_k_accuracy(k, &class, &score, weight), expected);
            }
            assert_eq!(metrics::top_k_accuracy(t, &class, &score, weight), Some(1.0));
            assert_eq!(metrics::top_k_accuracy(0, &class, &score, weight), Some(0.0));
        }
    }
}

#[test]
fn what_does_not_exist_is_no_number() {
    for (name, metric) in all() {
        assert_eq!(metric(&[], &[], None), None, "{name}");
        assert_eq!(metric(&[1.0, -1.0], &[1.0, 2.0], Some(&[0.0, 0.0])), None, "{name}");
        for nan in [0, 1] {
            let (mut label, mut score) = ([1.0, -1.0, 1.0], [0.3, 0.2, -0.1]);
            label[nan] = f64::NAN;
            assert_eq!(metric(&label, &score, None), None, "{name}");
            label[nan] = 1.0 - 2.0 * nan as f64;
            score[nan] = f64::NAN;
            assert_eq!(metric(&label, &score, None), None, "{name}");
            // Unless nobody looks at it.
            let mut weight = [1.0; 3];
            weight[nan] = 0.0;
            assert_eq!(
                metric(&label, &score, Some(&weight)).is_some(),
                nan == 0 || !needs_both(name),
                "{name}"
            );
        }
        let one_class = metric(&[1.0, 1.0], &[0.5, -0.5], None);
        assert_eq!(one_class.is_some(), !needs_both(name), "{name}: {one_class:?}");
    }
    let nothing = Matrix::zeros(0, 3);
    assert_eq!(metrics::class_accuracy(&[], &nothing, None), None);
    assert_eq!(metrics::class_accuracy(&[0], &Matrix::zeros(1, 3), Some(&[0.0])), None);
}

/// Of labels 1, 1 and others these are undefined; of 1, -1 they are not.
fn needs_both(name: &str) -> bool {
    matches!(name, "auc" | "pr_auc" | "balanced_accuracy" | "r2" | "explained_variance" | "nrmse")
}

#[test]
fn ties_and_thresholds() {
    // A score of zero is a "no".
    assert_eq!(metrics::accuracy(&[1.0, -1.0], &[0.0, 0.0], None), Some(0.5));
    assert_eq!(metrics::accuracy(&[1.0, -1.0], &[5e-324, -0.0], None), Some(1.0));
    assert_eq!(metrics::auc(&[1.0, -1.0], &[0.0, -0.0], None), Some(0.5));
    assert_eq!(metrics::auc(&[1.0, 0.0], &[f64::INFINITY, f64::NEG_INFINITY], None), Some(1.0));
    // Of equal scores the first class wins.
    let equal = Matrix::zeros(3, 3);
    assert_eq!(metrics::class_accuracy(&[0, 1, 2], &equal, None), Some(1.0 / 3.0));
    assert_eq!(metrics::top_k_accuracy(2, &[0, 1, 2], &equal, None), Some(2.0 / 3.0));
    assert_eq!(metrics::top_k_accuracy(3, &[0, 1, 7], &equal, None), Some(2.0 / 3.0), "there is no class 7");
}

#[test]
fn numbers_of_any_size() {
    for unit in [1e-300, 1e-160, 1.0, 1e160, 1e307] {
        let (label, score) = ([1.0, 2.0, 4.0].map(|y| y * unit), [1.0, 2.5, 4.5].map(|z| z * unit));
        close("rmse", metrics::rmse(&label, &score, None).map(|r| r / unit), (0.5f64 / 3.0).sqrt());
        let errors = metrics::mae(&label, &score, None).map(|mae| mae / unit);
        close("mae", errors, 1.0 / 3.0);
        close("r2", metrics::r2(&label, &score, None), 1.0 - 0.5 / (14.0 / 3.0));
        close("nrmse", metrics::nrmse(&label, &score, None), (0.5f64 / (14.0 / 3.0)).sqrt());
        // Errors 0, 1/2, 1/2 have the mean 1/3 and the squares 1/9 + 1/36 + 1/36 around it.
        let explained = 1.0 - (1.0 / 6.0) / (14.0 / 3.0);
        close("explained_variance", metrics::explained_variance(&label, &score, None), explained);
    }
    // The mean of equal labels is not always one of them, in floating point.
    assert_eq!(metrics::mean(&[0.1; 7], None), Some(0.1));
    assert_eq!(metrics::mean(&[1.0, 4.0, f64::NAN], Some(&[2.0, 1.0, 0.0])), Some(2.0));
    for metric in [metrics::r2, metrics::explained_variance, metrics::nrmse] {
        assert_eq!(metric(&[0.1; 7], &[0.2; 7], None), None);
    }
    for metric in [metrics::r2, metrics::explained_variance] {
        assert_eq!(metric(&[0.0, 1.0], &[0.0, f64::INFINITY], None), Some(f64::NEG_INFINITY));
    }
    assert_eq!(metrics::log_loss(&[1.0], &[-1e300], None), Some(1e300));
    assert_eq!(metrics::log_loss(&[1.0, -1.0], &[800.0, -800.0], None), Some(0.0));
}

#[test]
fn means_over_tasks() {
    let (tasks, labels) = ([2, 0, 2, 0, 3], [1.0, 3.0, 2.0, 5.0, 9.0]);
    let scores = [1.0, 3.0, 3.0, 4.0, 0.0];
    let r2 = PerTask::new(metrics::r2, 5, &tasks, &labels, &scores, None);
    assert_eq!(r2.values, [Some(0.5), None, Some(-1.0), None, None]);
    assert_eq!((r2.mean(), r2.n_defined(), r2.n_undefined()), (Some(-0.25), 2, 1));
    let none = PerTask::new(metrics::auc, 2, &[], &[], &[], None);
    assert_eq!((none.mean(), none.n_defined(), none.n_undefined(), none.counts), (None, 0, 0, vec![0, 0]));
}

/// Labels, scores with ties, and whole weights.
fn sample() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<u8>)> {
    let score = prop_oneof![-3.0..3.0, (-3i8..4).prop_map(f64::from)];
    let row = (any::<bool>(), score, 0u8..4);
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let label = rows.iter().map(|row| if row.0 { 1.0 } else { -1.0 }).collect();
        (label, rows.iter().map(|row| row.1).collect(), rows.iter().map(|row| row.2).collect())
    })
}

fn alike(a: Option<f64>, b: Option<f64>) -> bool {
    let (x, y) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
    a.is_some() == b.is_some() && (x - y).abs() <= 1e-12 * x.abs().max(1.0)
}

proptest! {
    #[test]
    fn weights_are_repetitions((label, score, weight) in sample()) {
        let repeat = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&weight).flat_map(|(v, w)| std::iter::repeat_n(*v, usize::from(*w))).collect()
        };
        let weight: Vec<f64> = weight.iter().map(|w| f64::from(*w)).collect();
        for (name, metric) in all() {
            let (a, b) = (metric(&label, &score, Some(&weight)), metric(&repeat(&label), &repeat(&score), None));
            prop_assert!(alike(a, b), "{}: {:?} {:?}", name, a, b);
            let scaled: Vec<f64> = weight.iter().map(|w| 0.37 * w).collect();
            prop_assert!(alike(a, metric(&label, &score, Some(&scaled))), "{}", name);
        }
    }

    #[test]
    fn order_does_not_matter((label, score, _) in sample(), shift in 0usize..40) {
        let turned = |values: &[f64]| {
            let mut values = values.to_vec();
            let middle = shift % values.len();
            values.rotate_left(middle);
            values.reverse();
            values
        };
        for (name, metric) in all() {
            let (a, b) = (metric(&label, &score, None), metric(&turned(&label), &turned(&score), None));
            prop_assert!(alike(a, b), "{}: {:?} {:?}", name, a, b);
        }
        // Counts are exact.
        let (a, b) = (metrics::auc(&label, &score, None), metrics::auc(&turned(&label), &turned(&score), None));
        prop_assert_eq!(a.map(f64::to_bits), b.map(f64::to_bits));
    }

    #[test]
    fn auc_counts_pairs((label, score, weight) in sample()) {
        let weight: Vec<f64> = weight.iter().map(|w| f64::from(*w)).collect();
        let (mut wins, mut pairs) = (0.0, 0.0);
        for i in (0..label.len()).filter(|&i| label[i] > 0.0) {
            for j in (0..label.len()).filter(|&j| label[j] < 0.0) {
                let w = weight[i] * weight[j];
                pairs += w;
                let indicator = |holds: bool| f64::from(u8::from(holds));
                wins += w * indicator(score[i] > score[j]) + 0.5 * w * indicator(score[i] == score[j]);
            }
        }
        let expected = (pairs > 0.0).then(|| wins / pairs);
        prop_assert!(alike(metrics::auc(&label, &score, Some(&weight)), expected));
    }

    #[test]
    fn rows_of_different_groups_are_not_compared((label, score, weight) in sample(), n_groups in 1u32..5) {
        let weight: Vec<f64> = weight.iter().map(|w| f64::from(*w)).collect();
        let group: Vec<u32> = (0..label.len() as u32).map(|i| i % n_groups).collect();
        let of_group = |g: u32, values: &[f64]| -> Vec<f64> {
            values.iter().zip(&group).filter(|(_, own)| **own == g).map(|(value, _)| *value).collect()
        };
        let mut sums = [[0.0; 2]; 2];
        for g in 0..n_groups {
            let (label, score, weight) = (of_group(g, &label), of_group(g, &score), of_group(g, &weight));
            let class = |up: bool| -> f64 {
                label.iter().zip(&weight).filter(|(y, _)| (**y > 0.0) == up).map(|(_, w)| *w).sum()
            };
            if let Some(auc) = metrics::auc(&label, &score, Some(&weight)) {
                sums[0][0] += auc * class(true) * class(false);
                sums[0][1] += class(true) * class(false);
            }
            if let Some(pr_auc) = metrics::pr_auc(&label, &score, Some(&weight)) {
                sums[1][0] += pr_auc * class(true);
                sums[1][1] += class(true);
            }
        }
        let expected = sums.map(|[sum, all]| (all > 0.0).then(|| sum / all));
        prop_assert!(alike(metrics::auc_within(&group, &label, &score, Some(&weight)), expected[0]));
        prop_assert!(alike(metrics::pr_auc_within(&group, &label, &score, Some(&weight)), expected[1]));
        // A shift of all scores of a group changes nothing.
        let moved: Vec<f64> = score.iter().zip(&group).map(|(s, g)| s + 8.0 * f64::from(*g)).collect();
        if (0..n_groups).all(|g| ordered(&of_group(g, &score), &of_group(g, &moved))) {
            prop_assert!(alike(metrics::auc_within(&group, &label, &moved, Some(&weight)), expected[0]));
        }
    }

    #[test]
    fn auc_sees_the_order_of_scores_only((label, score, _) in sample()) {
        let auc = metrics::auc(&label, &score, None);
        let map = |f: &dyn Fn(f64) -> f64| score.iter().map(|s| f(*s)).collect::<Vec<f64>>();
        for risen in [map(&|s| 8.0 * s - 3.0), map(&|s| s.powi(3)), map(&f64::exp), map(&|s| 1e300 * s)] {
            // Rounding may make two scores equal that were not.
            if ordered(&score, &risen) {
                prop_assert_eq!(metrics::auc(&label, &risen, None), auc);
            }
        }
        let other = |values: &[f64]| values.iter().map(|v| -v).collect::<Vec<f64>>();
        let complement = auc.map(|auc| 1.0 - auc);
        prop_assert!(alike(metrics::auc(&label, &other(&score), None), complement));
        prop_assert!(alike(metrics::auc(&other(&label), &score, None), complement));
        prop_assert!(auc.is_none_or(|auc| (0.0..=1.0).contains(&auc)));
    }

    #[test]
    fn the_first_of_the_top_is_the_highest(
        scores in prop::collection::vec((-2i8..3).prop_map(f64::from), 12),
        classes in prop::collection::vec(0u32..4, 3),
    ) {
        let scores = Matrix::from_vec(scores, 3, 4).unwrap();
        let first = |i: usize| {
            let highest = scores.row(i).iter().copied().fold(f64::NEG_INFINITY, f64::max);
            scores.row(i).iter().position(|s| *s == highest).unwrap() as u32
        };
        let right = (0..3).filter(|&i| first(i) == classes[i]).count() as f64 / 3.0;
        prop_assert_eq!(metrics::class_accuracy(&classes, &scores, None), Some(right));
        let top: Vec<f64> = (0..5).map(|k| metrics::top_k_accuracy(k, &classes, &scores, None).unwrap()).collect();
        prop_assert!(top.windows(2).all(|w| w[0] <= w[1]) && top[0] == 0.0 && top[4] == 1.0);
    }

    #[test]
    fn units_of_labels_cancel((label, score, _) in sample(), shift in -5.0..5.0) {
        let moved = |values: &[f64]| values.iter().map(|v| 4.0 * (v + shift)).collect::<Vec<f64>>();
        for metric in [metrics::r2, metrics::explained_variance, metrics::nrmse] {
            let (a, b) = (metric(&label, &score, None), metric(&moved(&label), &moved(&score), None));
            prop_assert!(alike(a, b), "{:?} {:?}", a, b);
        }
        for metric in [metrics::rmse, metrics::mae] {
            let four = metric(&label, &score, None).map(|value| 4.0 * value);
            prop_assert!(alike(four, metric(&moved(&label), &moved(&score), None)));
        }
        // An error that is the same everywhere does not matter to the explained variance.
        let shifted: Vec<f64> = score.iter().map(|s| s + shift).collect();
        let explained = metrics::explained_variance(&label, &score, None);
        prop_assert!(alike(explained, metrics::explained_variance(&label, &shifted, None)));
        let r2 = metrics::r2(&label, &score, None);
        prop_assert!(r2.is_none_or(|r2| r2 <= explained.unwrap() + 1e-12 && explained.unwrap() <= 1.0));
        let nrmse = metrics::nrmse(&label, &score, None);
        prop_assert!(alike(r2, nrmse.map(|nrmse| 1.0 - nrmse * nrmse)));
        prop_assert!(metrics::mae(&label, &score, None) <= metrics::rmse(&label, &score, None).map(|r| r + 1e-12));
    }

    #[test]
    fn scores_of_two_classes_are_in_their_range((label, score, _) in sample()) {
        for (name, metric) in METRICS.into_iter().take(TWO_CLASSES) {
            let value = metric(&label, &score, None);
            prop_assert!(value.is_none_or(|v| v >= 0.0 && (name == "log_loss" || v <= 1.0)), "{} {:?}", name, value);
        }
        // Classes that change places: the same, where both count.
        let other = |values: &[f64]| values.iter().map(|v| -v).collect::<Vec<f64>>();
        if score.iter().all(|s| *s != 0.0) {
            for metric in [metrics::accuracy, metrics::balanced_accuracy, metrics::f1_macro, metrics::brier] {
                let (a, b) = (metric(&label, &score, None), metric(&other(&label), &other(&score), None));
                prop_assert!(alike(a, b), "{:?} {:?}", a, b);
            }
        }
    }
}

/// Whether b has the order of a, ties included.
fn ordered(a: &[f64], b: &[f64]) -> bool {
    (0..a.len()).all(|i| (0..a.len()).all(|j| a[i].partial_cmp(&a[j]) == b[i].partial_cmp(&b[j])))
}
