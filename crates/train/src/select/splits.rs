//! Selection repeated on random training parts, each winner scored on rows it did not see.

use super::study::StudyRows;
use super::{Candidate, Row, Study, cross_validate, training_fold};
use crate::metric::{self, Score};
use crate::observer::RoundObserver;
use crate::{Error, MethodSpec, Metric, Result, StudyObserver, Weight};
use kinfolk::Kernel;
use kinfolk_io::FoldKeys;
use serde::Serialize;

/// What a candidate reached on one split.
#[derive(Debug, Clone, Serialize)]
pub struct SplitResult {
    /// Which split.
    pub split: usize,
    /// Seed of the split and of its folds.
    pub seed: u64,
    /// The method, with parameters by cross-validation on the training part.
    pub method: MethodSpec,
    /// The kernel, if that is chosen too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Weight of the losses, chosen the same way.
    pub weight: Weight,
    /// C of the fit to the whole training part.
    pub c: f64,
    /// Relative gap of that fit.
    pub rel_gap: f64,
    /// The metric by which it was chosen.
    pub chosen_by: Metric,
    /// The metric of the score on the rest.
    pub metric: Metric,
    /// Score on the rest.
    pub test: Score,
}

/// For each of several random parts with this share of the rows: selects on the part, fits each candidate's
/// best setting to all of it, and scores that on the rest. `each` gets the results as they come. `None` if
/// the observer said stop.
///
/// # Errors
/// If a candidate or the metric does not suit the data.
pub fn repeat(
    study: &Study<'_>,
    candidates: &[Candidate],
    share: f64,
    n_splits: usize,
    observer: &dyn StudyObserver,
    each: &mut dyn FnMut(&SplitResult),
) -> Result<Option<Vec<SplitResult>>> {
    if n_splits > 1 && matches!(study.fold_keys, Some(FoldKeys::Times(_))) {
        return Err(Error::Study("a split by time is always the same: there can be only one".into()));
    }
    let mut results: Vec<SplitResult> = vec![];
    for split in 0..n_splits {
        let seed = study.seed.wrapping_add(split as u64);
        let (train, test) = study.split(share, seed)?;
        let rows = StudyRows::new(study, &train)?;
        let own = Study { seed, ..study.of_rows(&rows) };
        let counted = RoundObserver { observer, round: split, of: n_splits };
        let Some(selection) = cross_validate(&own, candidates, &counted)? else { return Ok(None) };
        let test_inputs = training_fold::test_inputs(study.inputs, &test, &train)?;
        let test = study.observations.select_inputs(&test)?;
        let metric = match results.first() {
            Some(first) => first.metric,
            None => study.defined_metric(&test)?,
        };
        let best: Vec<&Row> = selection.best.iter().map(|&best| &selection.rows[best]).collect();
        for (row, fit) in best.iter().zip(own.refit_all(&best, observer)?) {
            let predictions = metric::predict(&fit.model, &test_inputs, &test)?;
            let result = SplitResult {
                split,
                seed,
                method: row.method.clone(),
                kernel: row.kernel.clone(),
                weight: row.weight,
                c: fit.model.about().problem.c,
                rel_gap: fit.certificate().rel_gap(),
                chosen_by: selection.metric,
                metric,
                test: metric.score(&test, &study.losses, &predictions)?,
            };
            each(&result);
            results.push(result);
        }
        if observer.stop() {
            return Ok(None);
        }
    }
    Ok(Some(results))
}
