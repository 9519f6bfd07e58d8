//! All fits of a cross-validation, several at a time.

use super::folds::{self, Cut};
use super::study::n_fits;
use super::training_fold::TrainingFold;
use super::{Candidate, Scored, Study};
use crate::metric::{self, Score};
use crate::observer::{RoundObserver, StopObserver};
use crate::parallel::{in_parallel, threads_or_cores};
use crate::{Error, FitSpec, MethodSpec, Metric, PreparedData, Result, StudyObserver, Weight, nan};
use kinfolk::{Claim, Dataset, Fit, Start, Status};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How one setting did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The method with its parameters.
    pub method: MethodSpec,
    /// Weight of the losses.
    pub weight: Weight,
    /// C in the first fold: with a strength, it differs a little from fold to fold.
    pub c: f64,
    /// What it is chosen by, see [`Scored`].
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
    /// Mean score over folds.
    #[serde(deserialize_with = "nan::from_null")]
    pub mean: f64,
    /// Standard deviation over folds.
    #[serde(deserialize_with = "nan::from_null")]
    pub sd: f64,
    /// Largest relative gap of the fits; `None` if some have none.
    pub rel_gap: Option<f64>,
    /// Number of fits that ended before their tolerance.
    pub uncertified: usize,
    /// Seconds of fitting, all folds together.
    pub seconds: f64,
    /// Score of each fold.
    #[serde(skip)]
    pub folds: Vec<Score>,
    #[serde(skip)]
    pub(super) candidate: usize,
}

impl Row {
    /// Which of the candidates it belongs to.
    pub fn candidate(&self) -> usize {
        self.candidate
    }

    /// With the same setting on other folds; `before` is the number of repeats that are in this one.
    fn join(&mut self, more: Row, before: usize) {
        self.score += (more.score - self.score) / (before + 1) as f64;
        self.folds.extend(more.folds);
        let scores: Vec<f64> = self.folds.iter().map(|fold| fold.mean).collect();
        (self.mean, self.sd) = mean_and_sd(&scores);
        self.rel_gap = self.rel_gap.zip(more.rel_gap).map(|(a, b)| a.max(b));
        self.uncertified += more.uncertified;
        self.seconds += more.seconds;
    }
}

/// What cross-validation found.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The score.
    pub metric: Metric,
    /// How often the data were cut into folds.
    pub repeats: usize,
    /// All settings, candidate by candidate.
    pub rows: Vec<Row>,
    /// For each candidate its best row.
    pub best: Vec<usize>,
    /// The best row of all.
    pub winner: usize,
}

/// Cross-validates all candidates on the same folds. `None` if the observer said stop.
///
/// # Errors
/// If there are too many folds, or a candidate or the metric does not suit the data.
pub fn cross_validate(
    study: &Study<'_>,
    candidates: &[Candidate],
    observer: &dyn StudyObserver,
) -> Result<Option<Selection>> {
    if study.repeats == 0 {
        return Err(Error::Study("folds must be cut at least once".into()));
    }
    let mut all: Vec<Row> = vec![];
    for round in 0..study.repeats {
        let seed = study.seed.wrapping_add((round as u64) << 32);
        let cut = Cut { fold_of: folds::folds(study.observations, study.folds, seed)?, tested: study.folds };
        let counted = RoundObserver { observer, round, of: study.repeats };
        let Some(rows) = rows(study, candidates, &cut, &counted)? else { return Ok(None) };
        if round == 0 {
            all = rows;
        } else {
            all.iter_mut().zip(rows).for_each(|(row, more)| row.join(more, round));
        }
    }
    Ok(Some(Selection::new(study.metric, study.repeats, candidates.len(), all)))
}

impl Selection {
    /// Finds the best row of each candidate, and of all.
    pub(super) fn new(metric: Metric, repeats: usize, n_candidates: usize, rows: Vec<Row>) -> Selection {
        let better = |a: f64, b: f64| {
            let (a, b) = if metric.higher_is_better() { (a, b) } else { (b, a) };
            a > b || (b.is_nan() && !a.is_nan())
        };
        // Of equal scores the first: the smallest weight.
        let best_of = |list: &[usize]| {
            let pick =
                |best: usize, row: usize| if better(rows[row].score, rows[best].score) { row } else { best };
            list.iter().copied().reduce(pick)
        };
        let of_candidate =
            |c: usize| -> Vec<usize> { (0..rows.len()).filter(|&row| rows[row].candidate == c).collect() };
        let best: Vec<usize> = (0..n_candidates).filter_map(|c| best_of(&of_candidate(c))).collect();
        let winner = best_of(&best).unwrap_or(0);
        Selection { metric, repeats, rows, best, winner }
    }
}

/// One fit, seen from the test rows of its fold.
struct FoldScore {
    score: Score,
    /// Of the test rows, if they are to be scored together.
    predictions: Vec<f64>,
    c: f64,
    rel_gap: f64,
    certified: bool,
    seconds: f64,
}

/// A path of fits: one fold, one candidate, one setting of its parameters.
struct Path<'a> {
    fold: usize,
    candidate: &'a Candidate,
    method: &'a MethodSpec,
}

/// The rows of all candidates; `None` if the observer said stop.
pub(super) fn rows(
    study: &Study<'_>,
    candidates: &[Candidate],
    cut: &Cut,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<Row>>> {
    study.metric.check(study.observations, &study.losses)?;
    let threads = threads_or_cores(study.spec.threads);
    let total = cut.tested * n_fits(candidates);
    let done = AtomicUsize::new(0);
    // Fits run side by side: each has one thread.
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    let mut scores = vec![];
    // As many folds at a time as threads: each holds a copy of its rows and what its kernel needs.
    let numbers: Vec<usize> = (0..cut.tested).collect();
    for group in numbers.chunks(threads) {
        let folds: Vec<TrainingFold> =
            group.iter().map(|&f| TrainingFold::new(study, &cut.fold_of, f as u32)).collect::<Result<_>>()?;
        let data: Vec<Dataset<'_>> =
            folds.iter().map(|f| f.training.dataset(&spec)).collect::<Result<_>>()?;
        let prepared: Vec<PreparedData<'_>> =
            data.iter().map(|data| PreparedData::new(data, &study.losses)).collect();
        let run = |path: &Path<'_>| {
            let count = || observer.done("", done.fetch_add(1, Ordering::Relaxed) + 1, total);
            fit_path(study, &folds[path.fold], &prepared[path.fold], path, observer, &count)
        };
        let Some(found) = in_parallel(&paths(folds.len(), candidates), threads, run)? else {
            return Ok(None);
        };
        scores.extend(found);
    }
    Ok(Some(gather(study, &cut.fold_of, candidates, &scores)))
}

/// Fold by fold, each over all settings.
fn paths(n_folds: usize, candidates: &[Candidate]) -> Vec<Path<'_>> {
    let of = |fold: usize| {
        let path = move |candidate| move |method| Path { fold, candidate, method };
        candidates.iter().flat_map(move |candidate| candidate.settings.iter().map(path(candidate)))
    };
    (0..n_folds).flat_map(of).collect()
}

/// Fits the weights of a candidate in turn, each from the last; `None` if the observer said stop.
fn fit_path(
    study: &Study<'_>,
    fold: &TrainingFold,
    prepared: &PreparedData<'_>,
    path: &Path<'_>,
    observer: &dyn StudyObserver,
    count: &dyn Fn(),
) -> Result<Option<Vec<FoldScore>>> {
    let (settings, lambda) = (study.spec.settings(), study.spec.lambda);
    let mut scores = vec![];
    let mut last: Option<Fit> = None;
    for &weight in &path.candidate.weights {
        let began = std::time::Instant::now();
        let alpha = last.as_ref().and_then(|fit| fit.model.alpha());
        let start = alpha.map_or(Start::Cold, Start::Warm);
        let mut fit =
            prepared.fit(path.method, weight, lambda, &settings, start, &mut StopObserver(observer))?;
        fit.model.set_scaling(fold.training.scaling.clone())?;
        if observer.stop() {
            return Ok(None);
        }
        let seconds = began.elapsed().as_secs_f64();
        let predictions = metric::predict(&fit.model, &fold.test_inputs, &fold.test)?;
        scores.push(FoldScore {
            score: study.metric.score(&fold.test, &predictions),
            predictions: if study.scored == Scored::Together { predictions } else { vec![] },
            c: fit.model.about().problem.c,
            rel_gap: fit.certificate().rel_gap(),
            certified: fit.status() == Status::Certified,
            seconds,
        });
        count();
        last = Some(fit);
    }
    Ok(Some(scores))
}

/// From scores by fold and path to rows.
fn gather(
    study: &Study<'_>,
    fold_of: &[u32],
    candidates: &[Candidate],
    by_path: &[Vec<FoldScore>],
) -> Vec<Row> {
    let of = |(c, candidate): (usize, &'_ Candidate)| -> Vec<(usize, MethodSpec)> {
        candidate.settings.iter().map(|method| (c, method.clone())).collect()
    };
    let settings: Vec<(usize, MethodSpec)> = candidates.iter().enumerate().flat_map(of).collect();
    let mut rows = vec![];
    for (s, (candidate, method)) in settings.iter().enumerate() {
        for (place, &weight) in candidates[*candidate].weights.iter().enumerate() {
            let of_folds: Vec<&FoldScore> =
                by_path.iter().skip(s).step_by(settings.len()).map(|path| &path[place]).collect();
            let scores: Vec<f64> = of_folds.iter().map(|o| o.score.mean).collect();
            let (mean, sd) = mean_and_sd(&scores);
            let proved = method.method().claim(method.params()) == Claim::Optimal;
            rows.push(Row {
                method: method.clone(),
                weight,
                c: of_folds[0].c,
                score: match study.scored {
                    Scored::ByFold => mean,
                    Scored::Together => together(study, fold_of, &of_folds),
                },
                mean,
                sd,
                rel_gap: proved.then(|| of_folds.iter().map(|o| o.rel_gap).fold(0.0, f64::max)),
                uncertified: of_folds.iter().filter(|o| !o.certified).count(),
                seconds: of_folds.iter().map(|o| o.seconds).sum(),
                folds: of_folds.iter().map(|o| o.score.clone()).collect(),
                candidate: *candidate,
            });
        }
    }
    rows
}

/// The score of all rows, each predicted by the fit of the fold that left it out.
fn together(study: &Study<'_>, fold_of: &[u32], of_folds: &[&FoldScore]) -> f64 {
    let observations = study.observations;
    let mut all = vec![f64::NAN; observations.len()];
    for (fold, scores) in of_folds.iter().enumerate() {
        let inputs = (0..fold_of.len()).filter(|&i| fold_of[i] as usize == fold);
        let own = inputs.flat_map(|i| observations.of_input(i));
        own.zip(&scores.predictions).for_each(|(o, z)| all[o] = *z);
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
