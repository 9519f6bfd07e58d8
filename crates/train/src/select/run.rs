//! All fits of a cross-validation, several at a time.

use super::holdout::Listener;
use super::{Candidate, Row, Scored, Study, Watch, certified, part, part::Part};
use crate::metric::{self, Score};
use crate::{Params, Result, folds::Cut};
use kinfolk::{Claim, Dataset, Fit, Inputs, Observations};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One fit, seen from the test rows of its fold.
struct Outcome {
    score: Score,
    /// Of the test rows, if they are to be scored together.
    predictions: Vec<f64>,
    c: f64,
    rel_gap: f64,
    certified: bool,
    seconds: f64,
}

/// A fold in use: its training part and its test rows.
struct Fold {
    part: Part,
    test_inputs: Inputs<'static>,
    test: Observations,
}

/// A path of fits: one fold, one candidate, one setting of its parameters.
struct Path<'a> {
    fold: usize,
    candidate: usize,
    params: &'a Params,
}

/// The rows of all candidates; `None` if the watch said stop.
pub(super) fn rows(
    study: &Study<'_>,
    candidates: &[Candidate],
    cut: &Cut,
    watch: &dyn Watch,
) -> Result<Option<Vec<Row>>> {
    study.metric.check(study.observations, &study.loss)?;
    let threads = threads(study);
    let total = cut.tested * candidates.iter().map(|c| c.params.len() * c.points.len()).sum::<usize>();
    let done = AtomicUsize::new(0);
    let mut outcomes = vec![];
    // As many folds at a time as threads: each holds a copy of its rows and what its kernel needs.
    let numbers: Vec<usize> = (0..cut.tested).collect();
    for group in numbers.chunks(threads) {
        let parts: Vec<Fold> =
            group.iter().map(|&f| fold(study, &cut.fold_of, f as u32)).collect::<Result<_>>()?;
        let data: Vec<Dataset<'_>> = parts.iter().map(|p| p.part.dataset(study, 1)).collect::<Result<_>>()?;
        let paths = paths(parts.len(), candidates);
        let run = |path: &Path<'_>| {
            let count = || watch.fitted(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            fit_path(
                study,
                &parts[path.fold],
                &data[path.fold],
                &candidates[path.candidate],
                path.params,
                watch,
                &count,
            )
        };
        let Some(found) = in_parallel(&paths, threads, run)? else { return Ok(None) };
        outcomes.push(found);
    }
    Ok(Some(gather(study, &cut.fold_of, candidates, outcomes)))
}

fn threads(study: &Study<'_>) -> usize {
    match study.options.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    }
}

fn fold(study: &Study<'_>, fold_of: &[u32], number: u32) -> Result<Fold> {
    let of = |test: bool| -> Vec<u32> {
        (0..fold_of.len() as u32).filter(|&i| (fold_of[i as usize] == number) == test).collect()
    };
    let (train, test) = (of(false), of(true));
    Ok(Fold {
        part: Part::new(study, &train)?,
        test_inputs: part::test_inputs(study.inputs, &test, &train)?,
        test: study.observations.select_inputs(&test)?,
    })
}

/// Long paths first would be better still; candidates are few and alike.
fn paths(n_folds: usize, candidates: &[Candidate]) -> Vec<Path<'_>> {
    let of = |fold: usize| {
        candidates.iter().enumerate().flat_map(move |(candidate, c)| {
            c.params.iter().map(move |params| Path { fold, candidate, params })
        })
    };
    (0..n_folds).flat_map(of).collect()
}

/// Fits the points of a candidate in turn, each from the last; `None` if the watch said stop.
fn fit_path(
    study: &Study<'_>,
    fold: &Fold,
    data: &Dataset<'_>,
    candidate: &Candidate,
    params: &Params,
    watch: &dyn Watch,
    count: &dyn Fn(),
) -> Result<Option<Vec<Outcome>>> {
    let mut outcomes = vec![];
    let mut last = None;
    for &point in &candidate.points {
        let start = std::time::Instant::now();
        let fit = fold.part.fit(
            study,
            data,
            candidate.method,
            params,
            point,
            last.as_ref().and_then(|fit: &Fit| fit.model.alpha()),
            &mut Listener(watch),
        )?;
        if watch.stop() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        let predictions = metric::predict(&fit.model, &fold.test_inputs, &fold.test)?;
        outcomes.push(Outcome {
            score: study.metric.score(&fold.test, &predictions),
            predictions: if study.scored == Scored::Together { predictions } else { vec![] },
            c: fit.model.about().problem.c,
            rel_gap: fit.certificate().rel_gap(),
            certified: certified(&fit),
            seconds,
        });
        count();
        last = Some(fit);
    }
    Ok(Some(outcomes))
}

/// Applies a function to all items on some threads; results in the order of the items, the first error if there is one,
/// `None` as soon as one is.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<Option<R>> + Sync,
) -> Result<Option<Vec<R>>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<Option<R>>)>> = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    let result = work(item);
                    let ended = !matches!(result, Ok(Some(_)));
                    results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((i, result));
                    if ended {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// From outcomes by fold and path to rows.
fn gather(
    study: &Study<'_>,
    fold_of: &[u32],
    candidates: &[Candidate],
    groups: Vec<Vec<Vec<Outcome>>>,
) -> Vec<Row> {
    let settings: Vec<(usize, usize)> = candidates
        .iter()
        .enumerate()
        .flat_map(|(c, candidate)| (0..candidate.params.len()).map(move |p| (c, p)))
        .collect();
    // Paths of a group are fold by fold, each over all settings.
    let by_fold: Vec<Vec<Outcome>> = groups.into_iter().flatten().collect();
    let mut rows = vec![];
    for (s, &(c, p)) in settings.iter().enumerate() {
        for (point_index, &point) in candidates[c].points.iter().enumerate() {
            let of_folds: Vec<&Outcome> =
                by_fold.iter().skip(s).step_by(settings.len()).map(|path| &path[point_index]).collect();
            let scores: Vec<f64> = of_folds.iter().map(|o| o.score.mean).collect();
            let (mean, sd) = mean_and_sd(&scores);
            rows.push(Row {
                method: candidates[c].method.name(),
                params: candidates[c].params[p].clone(),
                point,
                c: of_folds[0].c,
                score: match study.scored {
                    Scored::ByFold => mean,
                    Scored::Together => together(study, fold_of, &of_folds),
                },
                mean,
                sd,
                rel_gap: (candidates[c].method.claim(&candidates[c].params[p]) == Claim::Optimal)
                    .then(|| of_folds.iter().map(|o| o.rel_gap).fold(0.0, f64::max)),
                uncertified: of_folds.iter().filter(|o| !o.certified).count(),
                seconds: of_folds.iter().map(|o| o.seconds).sum(),
                folds: of_folds.iter().map(|o| o.score.clone()).collect(),
                place: (c, p),
            });
        }
    }
    rows
}

/// The score of all rows, each predicted by the fit of the fold that left it out.
fn together(study: &Study<'_>, fold_of: &[u32], of_folds: &[&Outcome]) -> f64 {
    let observations = study.observations;
    let mut all = vec![f64::NAN; observations.len()];
    for (fold, outcome) in of_folds.iter().enumerate() {
        let inputs = (0..fold_of.len()).filter(|&i| fold_of[i] as usize == fold);
        let own = inputs.flat_map(|i| observations.of_input(i));
        own.zip(&outcome.predictions).for_each(|(o, z)| all[o] = *z);
    }
    study.metric.score(observations, &all).mean
}

/// Mean and standard deviation (n - 1); the latter zero for one value.
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if n > 1.0 { (square / (n - 1.0)).sqrt() } else { 0.0 })
}
