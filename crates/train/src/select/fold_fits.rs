//! The fits of one cut into folds, several at a time.

use super::Study;
use super::growth::SettingGrid;
use super::open_folds::OpenFolds;
use crate::metric;
use crate::observer::StopObserver;
use crate::parallel::{in_parallel, threads_or_cores};
use crate::{FitSpec, Result, StudyObserver, Trained};
use kinfolk::{Start, Status};
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

/// All fits: fold by fold, in each grid by grid, in each weight by weight; `first` is the number of the first fold.
/// `None` if the observer said stop.
pub(super) fn fold_fits(
    study: &Study<'_>,
    grids: &[SettingGrid],
    folds: &OpenFolds<'_, '_>,
    first: usize,
    scorer: Option<&FoldScorer<'_>>,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<Vec<FoldFit>>>> {
    let threads = threads_or_cores(study.spec.threads);
    let total = folds.len() * grids.iter().map(|grid| grid.weights.len()).sum::<usize>();
    let done = AtomicUsize::new(0);
    let run = |path: &Path<'_>| {
        let count = || observer.done("", done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let score = |trained: &Trained| scorer.map(|scorer| scorer(first + path.fold, trained)).transpose();
        fit_path(study, folds, path, &score, observer, &count)
    };
    in_parallel(&paths(folds.len(), grids), threads, run)
}

/// Fold by fold, each over all grids.
fn paths(n_folds: usize, grids: &[SettingGrid]) -> Vec<Path<'_>> {
    (0..n_folds).flat_map(|fold| grids.iter().map(move |grid| Path { fold, grid })).collect()
}

/// Fits the weights of a grid in turn, each from the last; `None` if the observer said stop.
fn fit_path(
    study: &Study<'_>,
    folds: &OpenFolds<'_, '_>,
    path: &Path<'_>,
    score: &dyn Fn(&Trained) -> Result<Option<f64>>,
    observer: &dyn StudyObserver,
    count: &dyn Fn(),
) -> Result<Option<Vec<FoldFit>>> {
    let (fold, prepared) = (folds.fold(path.fold), folds.prepared(path.fold, &path.grid.kernel)?);
    let kernel = path.grid.kernel.clone().or(study.spec.kernel.clone());
    let mut fits = vec![];
    let mut last: Option<Trained> = None;
    for &weight in &path.grid.weights {
        let began = std::time::Instant::now();
        let alpha = last.as_ref().and_then(|trained| trained.model.alpha());
        let start = alpha.map_or(Start::Cold, Start::Warm);
        let kernel = kernel.clone();
        let spec = FitSpec { kernel, ..study.spec.with_method(path.grid.method.clone(), weight) };
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
