//! Fits of statistics are fits of the rows behind them.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{Observations, Silent, Start, Statistics, StatisticsOptions};
use kinfolk_train::{Data, FitSpec, Trained, train};

const TASKS: usize = 4;
const FEATURES: usize = 6;

/// Rows of kindred tasks, each with one label.
fn rows(n: usize) -> (Vec<f64>, Vec<u32>, Vec<f64>) {
    let noise = |i: usize| (i as f64 * 12.9898).sin() * 43758.5453 % 1.0;
    let x: Vec<f64> = (0..n * FEATURES).map(noise).collect();
    let task: Vec<u32> = (0..n as u32).map(|i| i % TASKS as u32).collect();
    let label = |i: usize| {
        let own = |j: usize| 1.0 + 0.2 * ((task[i] as usize * FEATURES + j) as f64).cos();
        let z: f64 = (0..FEATURES).map(|j| x[i * FEATURES + j] * own(j)).sum();
        10.0 + z + 0.7 * noise(7 * i + 3)
    };
    let y = (0..n).map(label).collect();
    (x, task, y)
}

fn data(n: usize) -> (Inputs<'static>, Observations) {
    let (x, task, y) = rows(n);
    (Dense::f64_owned(x, n, FEATURES).unwrap().into(), Observations::multi_task(&task, y).unwrap())
}

fn statistics(n: usize, parts: usize, sample_rows: usize) -> Statistics {
    let (inputs, observations) = data(n);
    let all: Vec<u32> = (0..n as u32).collect();
    let mut own = Statistics::new(&StatisticsOptions { sample_rows, ..StatisticsOptions::default() });
    for rows in all.chunks(n.div_ceil(parts)) {
        own.update(&inputs.select_rows(rows), &observations.select_inputs(rows).unwrap()).unwrap();
    }
    own
}

fn of_statistics(spec: &FitSpec, statistics: &Statistics) -> kinfolk_train::Result<Trained> {
    train(spec, Data::Statistics(statistics), Start::Cold, &mut Silent)
}

#[test]
fn c_is_chosen_as_on_the_rows() {
    let spec = FitSpec { tol: 1e-9, ..FitSpec::default() };
    let (inputs, observations) = data(240);
    let of_rows = train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent).unwrap();
    let trained = of_statistics(&spec, &statistics(240, 3, 3000)).unwrap();
    let (a, b) = (of_rows.outcome.auto_c.unwrap(), trained.outcome.auto_c.unwrap());
    // Folds are cut by the order of the rows, which is another one here: the choice is near the other.
    assert!(b.strength >= a.strength / 10.0 && b.strength <= 10.0 * a.strength, "{a:?} {b:?}");
    assert!((a.score - b.score).abs() <= 0.1, "{a:?} {b:?}");
    assert!(trained.outcome.residuals.is_some());
    // With what was chosen on the rows the models are the same.
    let method = spec.method.with_weights_of(&of_rows.model);
    let c = kinfolk_train::Weight::C(of_rows.model.about().problem.c);
    let spec = FitSpec { c, method, intercept: Some(of_rows.model.about().problem.intercept), ..spec };
    let same = of_statistics(&spec, &statistics(240, 3, 3000)).unwrap();
    let (a, b) = (of_rows.model.predict_all(&inputs).unwrap(), same.model.predict_all(&inputs).unwrap());
    let apart = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart <= 1e-3, "{apart}");
    let checked = same.model.check(&inputs, &observations, &Default::default()).unwrap();
    assert!(checked.mismatches.is_empty(), "{:?}", checked.mismatches);
    assert!(checked.certificate.rel_gap() <= 1e-8, "{}", checked.certificate);
}

#[test]
fn cutting_does_not_change_the_choice_of_c() {
    let spec = FitSpec { tol: 1e-15, ..FitSpec::default() };
    let fit = |parts: usize| of_statistics(&spec, &statistics(900, parts, 200)).unwrap();
    let (one, many) = (fit(1), fit(17));
    let strength = |fit: &Trained| fit.outcome.auto_c.as_ref().unwrap().strength;
    assert_eq!(strength(&one), strength(&many));
    let (inputs, _) = data(900);
    let (a, b) = (one.model.predict_all(&inputs).unwrap(), many.model.predict_all(&inputs).unwrap());
    let apart = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart <= 1e-6, "{apart:e}");
}

#[test]
fn what_sums_do_not_tell_is_refused() {
    let refused = |change: &dyn Fn(&mut FitSpec), sample_rows: usize, expected: &str| {
        let mut spec = FitSpec::default();
        change(&mut spec);
        let message = of_statistics(&spec, &statistics(60, 2, sample_rows)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    refused(&|spec| spec.loss = "hinge".parse().unwrap(), 10, "statistics are for the squared loss");
    refused(&|spec| spec.kernel = Some(kinfolk::Kernel::Cosine), 10, "statistics are for the linear kernel");
    refused(&|spec| spec.scale = kinfolk::ScalingKind::Unit, 10, "unit scaling is about whole rows");
    refused(&|_| {}, 0, "give C itself, as a number");
    let empty = Statistics::new(&StatisticsOptions::default());
    assert!(of_statistics(&FitSpec::default(), &empty).is_err());
    let spec = FitSpec { c: kinfolk_train::Weight::C(1.0), ..FitSpec::default() };
    assert!(of_statistics(&spec, &statistics(60, 2, 0)).is_ok());
}
