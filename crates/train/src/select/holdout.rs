//! Selection on some rows, the winner scored on others.

use super::study::StudyRows;
use super::{
    Candidate, FoldRows, KernelGrid, Scored, Selection, Study, cross_validate, cross_validate_on,
    training_fold,
};
use crate::metric::{self, Score};
use crate::observer::StopObserver;
use crate::{MethodSpec, Metric, PreparedData, Result, StudyObserver, Training, Weight};
use kinfolk::{Fit, Start};

/// Which rows are for what.
#[derive(Debug, Clone, Copy)]
pub struct Holdout<'a> {
    /// To fit.
    pub train: &'a [u32],
    /// To choose by; folds of the training rows if absent.
    pub validation: Option<&'a [u32]>,
    /// To score the choice; used only after it is made.
    pub test: &'a [u32],
    /// Whether the choice is fitted to the validation rows too.
    pub refit: bool,
    /// The score of the test rows; the study's metric is for choosing.
    pub score: Metric,
}

/// What a candidate reached.
#[derive(Debug)]
pub struct HoldoutResult {
    /// All settings that were tried; `None` if there was only one.
    pub selection: Option<Selection>,
    /// The best of them, fitted to the training rows, and to the validation rows if so wanted.
    pub fit: Fit,
    /// Which one that is.
    pub chosen: (MethodSpec, Weight),
    /// Its score on the test rows.
    pub test: Score,
}

/// Chooses a candidate's setting without the test rows, fits it to the training rows and scores it on the
/// test rows. `None` if the observer said stop.
///
/// # Errors
/// If the candidate or a metric does not suit the data.
pub fn holdout(
    study: &Study<'_>,
    candidate: &Candidate,
    rows: Holdout<'_>,
    observer: &dyn StudyObserver,
) -> Result<Option<HoldoutResult>> {
    let mut spec = study.spec.clone();
    let (selection, chosen) = match (&candidate.settings[..], &candidate.weights[..]) {
        ([method], [weight]) if candidate.kernels == KernelGrid::Study => (None, (method.clone(), *weight)),
        _ => {
            let candidates = std::slice::from_ref(candidate);
            let Some(found) = choose(study, candidates, rows, observer)? else { return Ok(None) };
            let best = &found.rows[found.winner];
            let chosen = (best.method.clone(), best.weight);
            spec.kernel = best.kernel.clone().or(spec.kernel);
            (Some(found), chosen)
        }
    };
    let mut train = rows.train.to_vec();
    train.extend(rows.validation.filter(|_| rows.refit).unwrap_or_default());
    let training = Training::of_rows(&study.spec, study.inputs, study.observations, &study.losses, &train)?;
    let data = training.dataset(&spec)?;
    let prepared = PreparedData::new(&data, &study.losses, study.spec.intercept);
    let (method, weight) = (&chosen.0, chosen.1);
    let (settings, lambda) = (study.spec.settings(), study.spec.lambda);
    let mut fit =
        prepared.fit(method, weight, lambda, &settings, Start::Cold, &mut StopObserver(observer))?;
    training.set_scalings(&mut fit.model)?;
    if observer.stop() {
        return Ok(None);
    }
    let inputs = training_fold::test_inputs(study.inputs, rows.test, &train)?;
    let test = study.observations.select_inputs(rows.test)?;
    let predictions = metric::predict(&fit.model, &inputs, &test)?;
    let test = rows.score.score(&test, &study.losses, &predictions)?;
    Ok(Some(HoldoutResult { selection, fit, chosen, test }))
}

/// All settings, scored on the validation rows, or by folds of the training rows.
fn choose(
    study: &Study<'_>,
    candidates: &[Candidate],
    rows: Holdout<'_>,
    observer: &dyn StudyObserver,
) -> Result<Option<Selection>> {
    let Some(validation) = rows.validation else {
        let own = StudyRows::new(study, rows.train)?;
        return cross_validate(&study.of_rows(&own), candidates, observer);
    };
    let fold = FoldRows { train: rows.train.to_vec(), test: validation.to_vec() };
    let own = Study { scored: Scored::ByFold, ..study.clone() };
    cross_validate_on(&own, candidates, &[fold], None, observer)
}
