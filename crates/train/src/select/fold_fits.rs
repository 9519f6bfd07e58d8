//! The fits of one cut into folds, several at a time.

use super::growth::SettingGrid;
use super::training_fold::TrainingFold;
use super::{FoldRows, Study};
use crate::metric;
use crate::observer::StopObserver;
use crate::parallel::{in_parallel, threads_or_cores};
use crate::{FitSpec, PreparedData, Result, StudyObserver, Trained};
use kinfolk::{Dataset, Start, Status};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scores a model of a fold, given the number of the fold, in place of the metric of the study. Larger is better.
pub type FoldScorer<'a> = dyn Fn(usize, &Trained) -> Result<f64> + Sync + 'a;

/// One fit, seen from the test rows of its fold.
pub(super) struct FoldFit {
    pub(super) predicted: Predicted,
    pub(super) c: f64,
    pub(super) rel_gap: f64,
    pub(super) certified: bool,
    pub(super) seconds: f64,
}

/// What a fit says about the test rows.
pub(super) enum Predicted {
    /// Predictions for their observations.
    Rows(Vec<f64>),
    /// The score of the caller.
    Scored(f64),
}

/// A path of fits: one setting along its weights on one fold.
struct Path<'a> {
    fold: usize,
    grid: &'a SettingGrid,
}

/// All fits: fold by fold, in each grid by grid, in each weight by weight. `None` if the observer said stop.
pub(super) fn fold_fits(
    study: &Study<'_>,
    grids: &[SettingGrid],
    folds: &[FoldRows],
    scorer: Option<&FoldScorer<'_>>,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<Vec<FoldFit>>>> {
    let threads = threads_or_cores(study.spec.threads);
    let total = folds.len() * grids.iter().map(|grid| grid.weights.len()).sum::<usize>();
    let done = AtomicUsize::new(0);
    // Fits run side by side: each has one thread.
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    let mut all = vec![];
    // As many folds at a time as threads: each holds a copy of its rows and what its kernel needs.
    for (g, group) in folds.chunks(threads).enumerate() {
        let in_use: Vec<TrainingFold> =
            group.iter().map(|rows| TrainingFold::new(study, rows)).collect::<Result<_>>()?;
        let data: Vec<Dataset<'_>> =
            in_use.iter().map(|f| f.training.dataset(&spec)).collect::<Result<_>>()?;
        let prepare = |data| PreparedData::new(data, &study.losses, spec.intercept).with_atoms(&spec);
        let prepared: Vec<PreparedData<'_>> = data.iter().map(prepare).collect::<Result<_>>()?;
        let run = |path: &Path<'_>| {
            let count = || observer.done("", done.fetch_add(1, Ordering::Relaxed) + 1, total);
            let number = g * threads + path.fold;
            let score = |trained: &Trained| scorer.map(|scorer| scorer(number, trained)).transpose();
            fit_path(study, &in_use[path.fold], &prepared[path.fold], path, &score, observer, &count)
        };
        let Some(found) = in_parallel(&paths(in_use.len(), grids), threads, run)? else {
            return Ok(None);
        };
        all.extend(found);
    }
    Ok(Some(all))
}

/// Fold by fold, each over all grids.
fn paths(n_folds: usize, grids: &[SettingGrid]) -> Vec<Path<'_>> {
    (0..n_folds).flat_map(|fold| grids.iter().map(move |grid| Path { fold, grid })).collect()
}

/// Fits the weights of a grid in turn, each from the last; `None` if the observer said stop.
fn fit_path(
    study: &Study<'_>,
    fold: &TrainingFold,
    prepared: &PreparedData<'_>,
    path: &Path<'_>,
    score: &dyn Fn(&Trained) -> Result<Option<f64>>,
    observer: &dyn StudyObserver,
    count: &dyn Fn(),
) -> Result<Option<Vec<FoldFit>>> {
    let mut fits = vec![];
    let mut last: Option<Trained> = None;
    for &weight in &path.grid.weights {
        let began = std::time::Instant::now();
        let alpha = last.as_ref().and_then(|trained| trained.model.alpha());
        let start = alpha.map_or(Start::Cold, Start::Warm);
        let spec = study.spec.with_method(path.grid.method.clone(), weight);
        let trained = fold.training.fit_to(prepared, &spec, start, &mut StopObserver(observer))?;
        if observer.stop() {
            return Ok(None);
        }
        let seconds = began.elapsed().as_secs_f64();
        let predicted = match score(&trained)? {
            Some(score) => Predicted::Scored(score),
            None => Predicted::Rows(metric::predict(&trained.model, &fold.test_inputs, &fold.test)?),
        };
        fits.push(FoldFit {
            predicted,
            c: trained.model.about().problem.c,
            rel_gap: trained.model.certificate().rel_gap(),
            certified: trained.model.status() == Some(Status::Certified),
            seconds,
        });
        count();
        last = Some(trained);
    }
    Ok(Some(fits))
}
