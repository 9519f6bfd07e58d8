//! All fits of a cross-validation, several at a time.

use super::folds::{self, FoldRows};
use super::study::n_fits;
use super::training_fold::TrainingFold;
use super::{Candidate, Scored, Study};
use crate::metric::{self, Score};
use crate::observer::{RoundObserver, StopObserver};
use crate::parallel::{in_parallel, threads_or_cores};
use crate::{Error, FitSpec, MethodSpec, Metric, PreparedData, Result, StudyObserver, Trained, Weight, nan};
use kinfolk::{Claim, Dataset, Start, Status};
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
        let fold_of = folds::folds(study.observations, study.folds, seed)?;
        let folds = FoldRows::all(&fold_of, study.folds);
        let counted = RoundObserver { observer, round, of: study.repeats };
        let Some(rows) = rows(study, candidates, &folds, None, &counted)? else { return Ok(None) };
        if round == 0 {
            all = rows;
        } else {
            all.iter_mut().zip(rows).for_each(|(row, more)| row.join(more, round));
        }
    }
    Ok(Some(Selection::new(study.metric, study.repeats, candidates.len(), all)))
}

/// Scores a model of a fold, given the number of the fold, in place of the metric of the study. Larger is better.
pub type FoldScorer<'a> = dyn Fn(usize, &Trained) -> Result<f64> + Sync + 'a;

/// Cross-validates all candidates on the folds of a caller, perhaps with a score of a caller. `None` if the
/// observer said stop.
///
/// # Errors
/// If there are no folds, a candidate or the metric does not suit the data, or the scorer fails.
pub fn cross_validate_on(
    study: &Study<'_>,
    candidates: &[Candidate],
    folds: &[FoldRows],
    scorer: Option<&FoldScorer<'_>>,
    observer: &dyn StudyObserver,
) -> Result<Option<Selection>> {
    if folds.is_empty() {
        return Err(Error::Study("cross-validation needs at least one fold".into()));
    }
    let rows = rows(study, candidates, folds, scorer, observer)?;
    Ok(rows.map(|rows| Selection::new(study.metric, 1, candidates.len(), rows)))
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
fn rows(
    study: &Study<'_>,
    candidates: &[Candidate],
    folds: &[FoldRows],
    scorer: Option<&FoldScorer<'_>>,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<Row>>> {
    if scorer.is_none() {
        study.metric.check(study.observations, &study.losses)?;
    }
    let threads = threads_or_cores(study.spec.threads);
    let total = folds.len() * n_fits(candidates);
    let done = AtomicUsize::new(0);
    // Fits run side by side: each has one thread.
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    let mut scores = vec![];
    // As many folds at a time as threads: each holds a copy of its rows and what its kernel needs.
    for (g, group) in folds.chunks(threads).enumerate() {
        let in_use: Vec<TrainingFold> =
            group.iter().map(|rows| TrainingFold::new(study, rows)).collect::<Result<_>>()?;
        let data: Vec<Dataset<'_>> =
            in_use.iter().map(|f| f.training.dataset(&spec)).collect::<Result<_>>()?;
        let prepared: Vec<PreparedData<'_>> =
            data.iter().map(|data| PreparedData::new(data, &study.losses)).collect();
        let run = |path: &Path<'_>| {
            let count = || observer.done("", done.fetch_add(1, Ordering::Relaxed) + 1, total);
            let number = g * threads + path.fold;
            let score = |trained: &Trained| scorer.map(|scorer| scorer(number, trained)).transpose();
            fit_path(study, &in_use[path.fold], &prepared[path.fold], path, &score, observer, &count)
        };
        let Some(found) = in_parallel(&paths(in_use.len(), candidates), threads, run)? else {
            return Ok(None);
        };
        scores.extend(found);
    }
    Ok(Some(gather(study, folds, candidates, &scores)))
}

/// Fold by fold, each over all settings.
fn paths(n_folds: usize, candidates: &[Candidate]) -> Vec<Path<'_>> {
    let of = |fold: usize| {
        let path = move |candidate| move |method| Path { fold, candidate, method };
        candidates.iter().flat_map(move |candidate| candidate.settings.iter().map(path(candidate)))
    };
    (0..n_folds).flat_map(of).collect()
}

/// Fits the weights of a candidate in turn, each from the last; `None` if the observer said stop. Models that
/// `score` does not score are scored by the metric of the study.
fn fit_path(
    study: &Study<'_>,
    fold: &TrainingFold,
    prepared: &PreparedData<'_>,
    path: &Path<'_>,
    score: &dyn Fn(&Trained) -> Result<Option<f64>>,
    observer: &dyn StudyObserver,
    count: &dyn Fn(),
) -> Result<Option<Vec<FoldScore>>> {
    let mut scores = vec![];
    let mut last: Option<Trained> = None;
    for &weight in &path.candidate.weights {
        let began = std::time::Instant::now();
        let alpha = last.as_ref().and_then(|trained| trained.model.alpha());
        let start = alpha.map_or(Start::Cold, Start::Warm);
        let spec = FitSpec { method: path.method.clone(), c: weight, ..study.spec.clone() };
        let trained = fold.training.fit_to(prepared, &spec, start, &mut StopObserver(observer))?;
        if observer.stop() {
            return Ok(None);
        }
        let seconds = began.elapsed().as_secs_f64();
        let (score, predictions) = match score(&trained)? {
            Some(mean) => (Score { mean, per_task: vec![] }, vec![]),
            None => {
                let predictions = metric::predict(&trained.model, &fold.test_inputs, &fold.test)?;
                (study.metric.score(&fold.test, &predictions), predictions)
            }
        };
        scores.push(FoldScore {
            score,
            predictions: if study.scored == Scored::Together { predictions } else { vec![] },
            c: trained.model.about().problem.c,
            rel_gap: trained.model.certificate().rel_gap(),
            certified: trained.model.status() == Some(Status::Certified),
            seconds,
        });
        count();
        last = Some(trained);
    }
    Ok(Some(scores))
}

/// From scores by fold and path to rows.
fn gather(
    study: &Study<'_>,
    folds: &[FoldRows],
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
                    Scored::Together => together(study, folds, &of_folds),
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
fn together(study: &Study<'_>, folds: &[FoldRows], of_folds: &[&FoldScore]) -> f64 {
    let observations = study.observations;
    let mut all = vec![f64::NAN; observations.len()];
    for (fold, scores) in folds.iter().zip(of_folds) {
        let own = fold.test.iter().flat_map(|&i| observations.of_input(i as usize));
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
