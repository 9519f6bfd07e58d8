//! Selection on some rows, the winner scored on others.

use super::{Candidate, Scored, Selection, Study, Watch, of_rows, part, part::Part, run};
use crate::metric::{self, Score};
use crate::{Metric, Result, folds};
use kinfolk::{Fit, Flow, Observer};

/// Which rows are for what.
#[derive(Debug, Clone, Copy)]
pub struct Holdout<'a> {
    /// To fit.
    pub train: &'a [u32],
    /// To choose by; folds of the training rows where there are none.
    pub validation: Option<&'a [u32]>,
    /// To score the choice, looked at only once it is made.
    pub test: &'a [u32],
    /// Whether the choice is fitted to the validation rows too.
    pub refit: bool,
    /// By which score; the study's metric is for choosing.
    pub score: Metric,
}

/// What a candidate reached.
#[derive(Debug)]
pub struct Held {
    /// All settings that were tried; `None` where there was but one.
    pub selection: Option<Selection>,
    /// The best of them, fitted to the training rows, and to the validation rows if so wanted.
    pub fit: Fit,
    /// Which that is: parameters and point are those of this candidate's list.
    pub chosen: (usize, usize),
    /// Its score on the test rows.
    pub test: Score,
}

/// Chooses a candidate's setting without the test rows, fits it to the training rows and scores it on the test rows. `None` if the
/// watch said stop.
pub fn holdout(
    study: &Study<'_>,
    candidate: &Candidate,
    rows: Holdout<'_>,
    watch: &dyn Watch,
) -> Result<Option<Held>> {
    let candidates = std::slice::from_ref(candidate);
    let (selection, chosen) = match candidate.params.len() * candidate.points.len() {
        1 => (None, (0, 0)),
        _ => {
            let Some(found) = choose(study, candidates, rows, watch)? else { return Ok(None) };
            let place = found.best[0];
            let chosen = (place / candidate.points.len(), place % candidate.points.len());
            (Some(found), chosen)
        }
    };
    let mut train = rows.train.to_vec();
    train.extend(rows.validation.filter(|_| rows.refit).unwrap_or_default());
    let own = Rows::new(study, &train)?;
    let own = own.study(study);
    let part = Part::whole(&own)?;
    let data = part.dataset(&own, own.options.threads)?;
    let (params, point) = (&candidate.params[chosen.0], candidate.points[chosen.1]);
    let fit = part.fit(&own, &data, candidate.method, params, point, None, &mut Listener(watch))?;
    if watch.stop() {
        return Ok(None);
    }
    let inputs = part::test_inputs(study.inputs, rows.test, &train)?;
    let test = study.observations.select_inputs(rows.test)?;
    let predictions = metric::predict(&fit.model, &inputs, &test)?;
    Ok(Some(Held { selection, fit, chosen, test: rows.score.score(&test, &predictions) }))
}

/// All settings, scored on the validation rows, or by folds of the training rows.
fn choose(
    study: &Study<'_>,
    candidates: &[Candidate],
    rows: Holdout<'_>,
    watch: &dyn Watch,
) -> Result<Option<Selection>> {
    let Some(validation) = rows.validation else {
        let own = Rows::new(study, rows.train)?;
        return super::cross_validate(&own.study(study), candidates, watch);
    };
    // One fold that is tested; the others only ever train.
    let known: Vec<u32> = rows.train.iter().chain(validation).copied().collect();
    let own = Rows::new(study, &known)?;
    let mut fold_of = vec![1; rows.train.len()];
    fold_of.resize(known.len(), 0);
    let cut = folds::Cut { fold_of, tested: 1 };
    let own = Study { scored: Scored::ByFold, ..own.study(study) };
    let rows = run::rows(&own, candidates, &cut, watch)?;
    Ok(rows.map(|rows| of_rows(study.metric, 1, candidates.len(), rows)))
}

/// Some rows of a study, copied.
struct Rows {
    inputs: kinfolk::Inputs<'static>,
    observations: kinfolk::Observations,
}

impl Rows {
    fn new(study: &Study<'_>, rows: &[u32]) -> Result<Self> {
        let inputs = study.inputs.select_rows(rows);
        Ok(Rows { inputs, observations: study.observations.select_inputs(rows)? })
    }

    fn study<'a>(&'a self, study: &Study<'_>) -> Study<'a> {
        Study {
            inputs: &self.inputs,
            observations: &self.observations,
            loss: study.loss.clone(),
            options: study.options.clone(),
            settings: study.settings.clone(),
            ..*study
        }
    }
}

/// A watch as a solver's observer.
pub(super) struct Listener<'a>(pub(super) &'a dyn Watch);

impl Observer for Listener<'_> {
    fn poll(&mut self) -> Flow {
        if self.0.stop() { Flow::Stop } else { Flow::Continue }
    }
}
