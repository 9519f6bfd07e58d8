//! Selection repeated on random training parts, each winner scored on rows it never saw.

use super::{Candidate, Study, Watch, cross_validate, part, part::Part};
use crate::metric::{self, Score};
use crate::{Params, Point, Result, folds};
use kinfolk::Silent;
use serde::Serialize;

/// What a candidate reached on one split.
#[derive(Debug, Clone, Serialize)]
pub struct SplitResult {
    /// Which split.
    pub split: usize,
    /// Seed of the split and of its folds.
    pub seed: u64,
    /// Name of the method.
    pub method: &'static str,
    /// Its parameters, by cross-validation on the training part.
    pub params: Params,
    /// Strength or C, the same way.
    pub point: Point,
    /// C of the fit to the whole training part.
    pub c: f64,
    /// Relative gap of that fit.
    pub rel_gap: f64,
    /// Score on the rest.
    pub test: Score,
}

/// For each of several random parts with this share of the rows: selects on the part, fits each candidate's best setting to all
/// of it, and scores that on the rest. `each` gets the results as they come. `None` if the watch said stop.
pub fn repeat(
    study: &Study<'_>,
    candidates: &[Candidate],
    share: f64,
    n_splits: usize,
    watch: &dyn Watch,
    each: &mut dyn FnMut(&SplitResult),
) -> Result<Option<Vec<SplitResult>>> {
    let mut results = vec![];
    for split in 0..n_splits {
        let seed = study.seed.wrapping_add(split as u64);
        let (train, test) = folds::split(study.observations, share, seed)?;
        let inputs = study.inputs.select_rows(&train);
        let observations = study.observations.select_inputs(&train)?;
        let own = Study { inputs: &inputs, observations: &observations, seed, ..study.clone() };
        let counted = Counted { watch, before: split, of: n_splits };
        let Some(selection) = cross_validate(&own, candidates, &counted)? else { return Ok(None) };
        let part = Part::whole(&own)?;
        let data = part.dataset(&own, own.options.threads)?;
        let test_inputs = part::test_inputs(study.inputs, &test, &train)?;
        let test = study.observations.select_inputs(&test)?;
        for (candidate, &best) in candidates.iter().zip(&selection.best) {
            let row = &selection.rows[best];
            let fit = part.fit(&own, &data, candidate.method, &row.params, row.point, None, &mut Silent)?;
            let predictions = metric::predict(&fit.model, &test_inputs, &test)?;
            let result = SplitResult {
                split,
                seed,
                method: row.method,
                params: row.params.clone(),
                point: row.point,
                c: fit.model.about().problem.c,
                rel_gap: fit.certificate().rel_gap(),
                test: study.metric.score(&test, &predictions),
            };
            each(&result);
            results.push(result);
        }
        if watch.stop() {
            return Ok(None);
        }
    }
    Ok(Some(results))
}

/// A watch that counts over all splits, or repeats.
pub(super) struct Counted<'a> {
    pub(super) watch: &'a dyn Watch,
    pub(super) before: usize,
    pub(super) of: usize,
}

impl Watch for Counted<'_> {
    fn fitted(&self, done: usize, of: usize) {
        self.watch.fitted(self.before * of + done, self.of * of);
    }

    fn stop(&self) -> bool {
        self.watch.stop()
    }
}
