//! Units and levels of tasks that are left to the data: one unit and intercepts drawn together where that predicts
//! held-out rows better, and free ones elsewhere.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{Intercept, Kernel, LossKind, Observations, Silent, Start, TargetScale};
use kinfolk_train::select::Study;
use kinfolk_train::{Data, FitSpec, Trained, Unobserved, predict, train};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Rows = (Inputs<'static>, Observations);

/// Sum of twelve uniform numbers, less six: nearly normal.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Rows for learning and for testing of tasks with the same slopes, levels apart by `apart`, and units `unit(t)`.
fn schools(seed: u64, apart: f64, unit: impl Fn(usize) -> f64, rows: usize) -> (Rows, Rows) {
    const TASKS: usize = 30;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let levels: Vec<f64> = (0..TASKS).map(|_| apart * normal(&mut rng)).collect();
    let mut draw = |rows: usize| {
        let n = TASKS * rows;
        let x: Vec<f64> = (0..2 * n).map(|_| normal(&mut rng)).collect();
        let task: Vec<u32> = (0..n).map(|i| (i % TASKS) as u32).collect();
        let label = |i: usize| {
            let t = i % TASKS;
            unit(t) * (levels[t] + x[2 * i] - 0.5 * x[2 * i + 1] + normal(&mut rng))
        };
        let labels: Vec<f64> = (0..n).map(label).collect();
        (Dense::f64_owned(x, n, 2).unwrap().into(), Observations::multi_task(&task, labels).unwrap())
    };
    (draw(rows), draw(50))
}

fn classes((inputs, observations): Rows) -> Rows {
    let signs = observations.labels().iter().map(|y| 1f64.copysign(y - 0.8)).collect();
    (inputs, observations.with_labels(signs).unwrap())
}

fn fit(spec: &FitSpec, (inputs, observations): &Rows) -> Trained {
    train(spec, Data::Arrays(inputs, observations), Start::Cold, &mut Silent).unwrap()
}

fn open() -> FitSpec {
    FitSpec { threads: 1, tol: 1e-8, ..FitSpec::default() }
}

fn free() -> FitSpec {
    FitSpec { intercept: Some(Intercept::Free), ..open() }
}

fn squared_error(trained: &Trained, (inputs, observations): &Rows) -> f64 {
    let predicted = predict(&trained.model, inputs, observations).unwrap();
    let errors = predicted.iter().zip(observations.labels()).map(|(z, y)| (z - y).powi(2));
    errors.sum::<f64>() / predicted.len() as f64
}

fn is_drawn(trained: &Trained) -> bool {
    matches!(trained.model.about().problem.intercept, Intercept::Shrunk(_))
}

#[test]
fn levels_that_can_be_compared_are_drawn_together() {
    let (mut drawn_ones, mut gain, mut coverage) = (0.0, 0.0, 0.0);
    for seed in 0..6 {
        let (rows, test) = schools(seed, 0.1, |_| 1.0, 4);
        let drawn = fit(&open(), &rows);
        if !is_drawn(&drawn) {
            continue;
        }
        drawn_ones += 1.0;
        assert_eq!(drawn.model.about().target_scale, TargetScale::Pooled);
        let note = drawn.outcome.auto_c.as_ref().unwrap().note.clone().unwrap_or_default();
        assert!(note.contains("predicts better than free"), "{note}");
        gain += 1.0 - squared_error(&drawn, &test) / squared_error(&fit(&free(), &rows), &test);
        // Intervals are in the unit of all tasks then.
        let widths = drawn.half_widths(0.9, None).unwrap().known;
        let predicted = predict(&drawn.model, &test.0, &test.1).unwrap();
        let is_inside = |o: &usize| (predicted[*o] - test.1.label(*o)).abs() <= widths[test.1.task(*o)];
        coverage += (0..predicted.len()).filter(is_inside).count() as f64 / predicted.len() as f64;
        // The spec is what was asked for: it makes the same choice again.
        assert_eq!((&drawn.spec, drawn.spec_mismatches()), (&open(), vec![]));
        assert_eq!(fit(&drawn.spec, &rows).to_bytes().unwrap(), drawn.to_bytes().unwrap());
        let check = drawn.model.check(&rows.0, &rows.1, &Default::default()).unwrap();
        assert!(check.mismatches.is_empty(), "{:?}", check.mismatches);
    }
    assert!(drawn_ones >= 4.0, "{drawn_ones}");
    assert!(gain / drawn_ones > 0.05, "{}", gain / drawn_ones);
    assert!((0.85..0.95).contains(&(coverage / drawn_ones)), "{}", coverage / drawn_ones);
}

#[test]
fn levels_of_classes_are_drawn_together() {
    let spec = FitSpec { loss: "logistic".parse().unwrap(), ..open() };
    let log_loss = |trained: &Trained, (inputs, observations): &Rows| {
        let scores = predict(&trained.model, inputs, observations).unwrap();
        let losses = scores.iter().zip(observations.labels()).map(|(z, y)| (-z * y).exp().ln_1p());
        losses.sum::<f64>() / scores.len() as f64
    };
    let (mut drawn_ones, mut gain) = (0, 0.0);
    for seed in 0..6 {
        let (rows, test) = schools(seed, 0.0, |_| 1.0, 6);
        let (rows, test) = (classes(rows), classes(test));
        let drawn = fit(&spec, &rows);
        if is_drawn(&drawn) {
            drawn_ones += 1;
            let free = fit(&FitSpec { loss: spec.loss.clone(), ..free() }, &rows);
            gain += log_loss(&free, &test) - log_loss(&drawn, &test);
        }
    }
    assert!(drawn_ones >= 2 && gain > 0.0, "{drawn_ones} {gain}");
}

#[test]
fn levels_that_are_far_apart_and_units_of_their_own_stay_free() {
    for seed in 0..3 {
        for (apart, other) in [(20.0, 1.0), (0.2, 1000.0)] {
            let (rows, _) = schools(seed, apart, |t| if t % 2 == 0 { 1.0 } else { other }, 8);
            let trained = fit(&open(), &rows);
            assert!(!is_drawn(&trained), "{seed}, {apart}, {other}: {:?}", trained.outcome.auto_c);
            assert_eq!(trained.spec, open());
        }
    }
}

#[test]
fn what_is_given_stays() {
    let (rows, _) = schools(0, 0.2, |_| 1.0, 4);
    for spec in [free(), FitSpec { target_scale: TargetScale::Common, ..open() }] {
        assert!(!is_drawn(&fit(&spec, &rows)));
    }
}

#[test]
fn the_unit_and_the_zero_of_all_labels_do_not_matter() {
    let (rows, test) = schools(1, 0.2, |_| 1.0, 4);
    let plain = fit(&open(), &rows);
    let own = predict(&plain.model, &test.0, &test.1).unwrap();
    for (unit, zero) in [(1.0, 1000.0), (1e6, 0.0), (1e-6, 0.01)] {
        let labels = rows.1.labels().iter().map(|y| unit * y + zero).collect();
        let other = (rows.0.clone(), rows.1.clone().with_labels(labels).unwrap());
        let trained = fit(&open(), &other);
        assert_eq!(trained.model.about().problem.intercept, plain.model.about().problem.intercept);
        let predicted = predict(&trained.model, &test.0, &test.1).unwrap();
        for (a, b) in own.iter().zip(&predicted) {
            assert!((a - (b - zero) / unit).abs() < 1e-3, "{unit} {zero}: {a} {b}");
        }
    }
}

#[test]
fn a_weight_of_two_is_a_repetition() {
    let ((inputs, observations), test) = schools(2, 0.2, |_| 1.0, 4);
    let weights: Vec<f64> = (0..observations.len()).map(|i| 1.0 + (i * 7 % 3) as f64).collect();
    let rows: Vec<u32> = weights.iter().enumerate().flat_map(|(i, n)| vec![i as u32; *n as usize]).collect();
    let repeated = (inputs.select_rows(&rows), observations.select_inputs(&rows).unwrap());
    let weighted = (inputs, observations.with_weights(&weights).unwrap());
    let [a, b] = [fit(&open(), &weighted), fit(&open(), &repeated)];
    assert!(is_drawn(&a));
    assert_eq!(a.model.about().problem.intercept, b.model.about().problem.intercept);
    let [a, b] = [a, b].map(|fit| predict(&fit.model, &test.0, &test.1).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn select_decides_about_levels_as_fit_does() {
    let mut drawn = 0;
    for seed in 0..4 {
        let ((inputs, observations), _) = schools(seed, 0.1, |_| 1.0, 4);
        let study = |spec: FitSpec| Study::new(&inputs, &observations, LossKind::Squared.into(), spec);
        // Without a look at kernels, as select decides before it looks at them.
        let spec = FitSpec { kernel: Some(Kernel::Linear), ..open() };
        let fitted = fit(&spec, &(inputs.clone(), observations.clone()));
        let mut open_study = study(spec);
        let found = open_study.settle_levels(&Unobserved).unwrap();
        let of_fit = fitted.model.about().problem.intercept;
        assert_eq!(found, is_drawn(&fitted).then_some(of_fit));
        assert_eq!(open_study.spec.intercept, found);
        drawn += usize::from(found.is_some());
        assert_eq!(study(free()).settle_levels(&Unobserved).unwrap(), None);
    }
    assert!(drawn >= 2, "{drawn}");
}
