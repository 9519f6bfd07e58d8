//! Cross-validation on small generated tasks.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::{
    Dataset, DatasetOptions, Intercept, LossKind, Observations, ScalingKind, Settings, Silent, Start,
    TargetScale,
};
use kinfolk_train::select::{Candidate, Scored, Selection, Study, cross_validate, repeat};
use kinfolk_train::{
    Data, FitSpec, Measure, Metric, Params, PreparedData, StudyObserver, Training, Unobserved, Weight, find,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tasks with the same weights up to sign: kin, but pooling them is hopeless.
fn mirrored(n_tasks: u32, rows: usize, d: usize) -> (Vec<f64>, Observations) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut uniform = || rng.random::<f64>() * 2.0 - 1.0;
    let w: Vec<f64> = (0..d).map(|_| uniform()).collect();
    let (mut x, mut y, mut task) = (vec![], vec![], vec![]);
    for t in 0..n_tasks {
        for _ in 0..rows {
            let row: Vec<f64> = (0..d).map(|_| uniform()).collect();
            let sign = if t % 2 == 0 { 1.0 } else { -1.0 };
            y.push(sign * row.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() + 0.3 * uniform());
            x.extend(row);
            task.push(t);
        }
    }
    (x, Observations::multi_task(&task, y).unwrap())
}

fn study<'a>(inputs: &'a Inputs<'a>, observations: &'a Observations) -> Study<'a> {
    let spec = FitSpec {
        intercept: Some(Intercept::None),
        scale: ScalingKind::None,
        target_scale: TargetScale::None,
        threads: 2,
        seed: 1,
        loss: "squared".parse().unwrap(),
        ..FitSpec::default()
    };
    let mut study = Study::new(inputs, observations, LossKind::Squared.into(), spec);
    (study.metric, study.folds, study.scored) = (Some(Metric::new(Measure::R2)), 3, Scored::ByFold);
    study
}

fn candidate(method: &str) -> Candidate {
    let settings = vec![method.parse().unwrap()];
    Candidate::on_weights(settings, [0.1, 1.0, 10.0].map(Weight::Relative).to_vec())
}

#[test]
fn kin_are_better_learned_together_and_words_say_so() {
    let (x, obs) = mirrored(8, 9, 6);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 6).unwrap());
    let study = study(&inputs, &obs);
    let candidates = [candidate("stl"), candidate("pooled"), candidate("fmtl:k=1")];
    let selection = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
    assert_eq!(selection.rows.len(), 9);
    let winner = &selection.rows[selection.winner];
    assert_eq!(winner.method.name(), "fmtl");
    assert!(winner.rel_gap.unwrap() <= 1e-3 && winner.uncertified == 0);
    let comparison = selection.compare(2, 0);
    assert!(comparison.gain > 0.0);
    let words = comparison.in_words(obs.task_names());
    assert!(words.starts_with("fmtl:k=1,output=power is better than stl by"), "{words}");
    // The winner, fitted to everything.
    let schema = Training::new(&study.spec, Data::Arrays(&inputs, &obs)).unwrap().schema;
    let fit = study.refit(winner, &schema, &mut Silent).unwrap();
    assert!(fit.model.correlation()[(0, 1)] < -0.5 && fit.model.correlation()[(0, 2)] > 0.5);
    // The same bits again.
    let again = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
    assert!(again.rows.iter().zip(&selection.rows).all(|(a, b)| a.mean == b.mean && a.c == b.c));
}

#[test]
fn winners_are_scored_on_rows_they_never_saw() {
    let (x, obs) = mirrored(4, 20, 5);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 5).unwrap());
    let study = study(&inputs, &obs);
    let candidates = [candidate("stl"), candidate("fmtl:k=1")];
    let mut heard = 0;
    let results = repeat(&study, &candidates, 0.4, 2, &Unobserved, &mut |_| heard += 1).unwrap().unwrap();
    assert_eq!((results.len(), heard), (4, 4));
    assert!(results.iter().all(|r| r.test.per_task.len() == 4 && r.rel_gap <= 1e-3));
    assert_ne!(results[0].test, results[2].test);
}

#[test]
fn an_observer_counts_and_stops() {
    struct StopAfter(usize, AtomicUsize);
    impl StudyObserver for StopAfter {
        fn done(&self, _: &str, done: usize, of: usize) {
            assert_eq!(of, 9);
            self.1.fetch_max(done, Ordering::Relaxed);
        }
        fn stop(&self) -> bool {
            self.1.load(Ordering::Relaxed) >= self.0
        }
    }
    let (x, obs) = mirrored(3, 9, 3);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 3).unwrap());
    let candidates = [candidate("stl")];
    let run = |observer: &StopAfter| cross_validate(&study(&inputs, &obs), &candidates, observer).unwrap();
    let observer = StopAfter(100, AtomicUsize::new(0));
    assert!(run(&observer).is_some());
    assert_eq!(observer.1.into_inner(), 9);
    assert!(run(&StopAfter(2, AtomicUsize::new(0))).is_none());
}

#[test]
fn every_method_fits_a_toy_problem_to_its_certificate() {
    let (x, obs) = mirrored(4, 10, 3);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 3).unwrap());
    let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
    let loss = LossKind::Squared.into();
    let prepared = PreparedData::new(&data, &loss, Intercept::None);
    let settings = Settings { tolerance: 1e-6, ..Settings::default() };
    let job = prepared.job(None, &settings);
    for method in kinfolk_train::registry() {
        let params = Params::parse(method.name(), method.params(), &[]).unwrap();
        let fit = method.fit(&job, &params, Weight::Relative(1.0), Start::Cold, &mut Silent).unwrap();
        assert!(fit.certificate().rel_gap() <= 1e-6, "{}", method.name());
        let start = fit.model.alpha().map_or(Start::Cold, Start::Warm);
        let near = method.fit(&job, &params, Weight::Relative(1.5), start, &mut Silent).unwrap();
        assert!(near.certificate().rel_gap() <= 1e-6, "{}", method.name());
    }
}

#[test]
fn pooled_is_one_task_and_stl_is_each_alone() {
    let (x, obs) = mirrored(2, 12, 3);
    let inputs = Inputs::from(Dense::f64(&x, 24, 3).unwrap());
    let predictions = |obs: &Observations, inputs: &Inputs<'_>, name: &'static str| {
        let data = Dataset::new(inputs, obs, DatasetOptions::default()).unwrap();
        let loss = LossKind::Squared.into();
        let prepared = PreparedData::new(&data, &loss, Intercept::None);
        let settings = Settings { tolerance: 1e-10, max_passes: 100_000, ..Settings::default() };
        let job = prepared.job(None, &settings);
        let params = Params::parse(name, &[], &[]).unwrap();
        let fit = find(name).unwrap().fit(&job, &params, Weight::C(0.7), Start::Cold, &mut Silent).unwrap();
        fit.model.predict_all(inputs).unwrap()
    };
    let one_task = Observations::multi_task(&[0; 24], obs.labels().to_vec()).unwrap();
    let (pooled, alone) = (predictions(&obs, &inputs, "pooled"), predictions(&one_task, &inputs, "stl"));
    assert!((0..24).all(|i| (pooled[(i, 1)] - alone[(i, 0)]).abs() < 1e-4));
    let first = Inputs::from(Dense::f64(&x[..36], 12, 3).unwrap());
    let half = Observations::multi_task(&[0; 12], obs.labels()[..12].to_vec()).unwrap();
    let (both, own) = (predictions(&obs, &inputs, "stl"), predictions(&half, &first, "stl"));
    assert!((0..12).all(|i| (both[(i, 0)] - own[(i, 0)]).abs() < 1e-4));
}

/// Folds here have the same number of rows of each task: squared errors of all rows are means of those of the folds.
#[test]
fn rows_of_all_folds_can_be_scored_together() {
    let (x, obs) = mirrored(8, 9, 6);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 6).unwrap());
    let metric = Some(Metric::new(Measure::Rmse));
    let study = Study { metric, scored: Scored::Together, ..study(&inputs, &obs) };
    let candidates = [candidate("stl"), candidate("fmtl:k=1")];
    let selection = cross_validate(&study, &candidates, &Unobserved).unwrap().unwrap();
    for row in &selection.rows {
        let of_task = |t: usize| {
            let squares: f64 = row.folds.iter().map(|fold| fold.per_task[t].unwrap().powi(2)).sum();
            (squares / 3.0).sqrt()
        };
        let together = (0..8).map(of_task).sum::<f64>() / 8.0;
        assert!((row.score - together).abs() < 1e-12 && row.score > row.mean, "{} {together}", row.score);
    }
    let best = |c: usize| selection.rows[selection.best[c]].score;
    let least =
        |c: usize| selection.rows.iter().filter(|r| r.candidate() == c).map(|r| r.score).fold(9.0, f64::min);
    assert_eq!((best(0), best(1)), (least(0), least(1)));
}

/// Other folds, drawn as another seed would draw them; scores are means over all.
#[test]
fn folds_can_be_cut_more_than_once() {
    let (x, obs) = mirrored(8, 9, 6);
    let inputs = Inputs::from(Dense::f64(&x, obs.n_inputs(), 6).unwrap());
    let candidates = [candidate("stl"), candidate("fmtl:k=1")];
    let run = |repeats: usize, seed: u64| {
        let study = Study { repeats, seed, ..study(&inputs, &obs) };
        cross_validate(&study, &candidates, &Unobserved)
    };
    let found = |repeats: usize, seed: u64| run(repeats, seed).unwrap().unwrap();
    let (both, first, second) = (found(2, 5), found(1, 5), found(1, 5 + (1 << 32)));
    assert_eq!(both.rows.len(), first.rows.len());
    for ((row, a), b) in both.rows.iter().zip(&first.rows).zip(&second.rows) {
        assert_eq!(row.folds.len(), 6);
        assert!((row.score - 0.5 * (a.score + b.score)).abs() < 1e-12);
        assert!((row.mean - row.score).abs() < 1e-12 && a.score != b.score);
    }
    // The same rows again make no smaller error.
    let spread = |s: &Selection| s.compare(1, 0).standard_error;
    assert!(spread(&both) > 0.5 * spread(&first).min(spread(&second)));
    assert!(run(0, 5).unwrap_err().to_string().contains("at least once"));
}

/// Kin say something about a task without rows; strangers do not.
#[test]
fn whole_tasks_can_be_left_out() {
    let (mut x, mut y, mut task) = (vec![], vec![], vec![]);
    for i in 0..60u32 {
        let row: Vec<f64> = (0..3).map(|j| f64::from((i * 7 + j * 13) % 17) - 8.0).collect();
        y.push(row[0] - 2.0 * row[1] + 0.5 * row[2] + f64::from(i % 3));
        x.extend(row);
        task.push(i / 10);
    }
    let obs = Observations::multi_task(&task, y).unwrap();
    let inputs = Inputs::from(Dense::f64(&x, 60, 3).unwrap());
    let mut study = study(&inputs, &obs);
    (study.folds, study.whole_tasks) = (6, true);
    let selection = cross_validate(&study, &[candidate("fmtl:k=1")], &Unobserved).unwrap().unwrap();
    assert!(selection.rows[selection.winner].score > 0.8, "{:?}", selection.rows[selection.winner].score);
}
