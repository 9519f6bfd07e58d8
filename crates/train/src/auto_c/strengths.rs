//! The strengths of a method on the folds.
//!
//! All strengths are tried on the first folds; those that are close to the best there are fitted on all folds, and the
//! best of these is taken. A strength that is worse by more than a standard error on the first folds is hardly ever
//! the best on all of them, and never by much.

use super::scoring::{FoldScoring, Folds, HeldOutPredictions};
use super::search::{self, StrengthTrial};
use crate::metric::is_better;
use crate::observer::StopObserver;
use crate::parallel::in_parallel;
use crate::select::TrainingFold;
use crate::{FitSpec, MethodSpec, PreparedData, Result, StudyObserver, Weight, predict};
use kinfolk::{CScale, Dataset, Observations, Start};
use std::ops::Range;

/// Strengths that are fitted on all folds if they are close to each other.
pub(super) const CONTENDERS: usize = 2;

/// A strength that is worse than the best by more standard errors than this is not close.
const CLOSE: f64 = 1.0;

/// The folds, ready to be fitted.
pub(super) struct Strengths<'a> {
    pub(super) spec: FitSpec,
    pub(super) open: &'a [TrainingFold],
    prepared: Vec<PreparedData<'a>>,
    pub(super) scoring: &'a FoldScoring<'a>,
    pub(super) threads: usize,
    pub(super) observer: &'a dyn StudyObserver,
    /// For each fold, the duals of its fits so far, with their steps.
    warm: Vec<Vec<(i32, Vec<f64>)>>,
}

/// A strength, with what its fits predict.
#[derive(Debug, Clone)]
pub(super) struct StrengthFit {
    pub(super) trial: StrengthTrial,
    pub(super) predicted: HeldOutPredictions,
}

/// The strengths that were tried for a method.
pub(super) struct MethodTrials {
    pub(super) tried: Vec<StrengthTrial>,
    /// The best one on all folds; `None` if the observer said stop before.
    pub(super) best: Option<StrengthFit>,
}

/// What the fit of a fold predicts for its test rows, and its duals.
struct FoldTrial {
    predictions: Vec<f64>,
    alpha: Vec<f64>,
}

/// The scale of C for all rows, and their weight.
#[derive(Clone, Copy)]
pub(super) struct ScaleOfAll<'a> {
    pub(super) c_scale: &'a CScale,
    pub(super) weight: f64,
}

impl<'a> ScaleOfAll<'a> {
    pub(super) fn new(c_scale: &'a CScale, observations: &Observations) -> Self {
        ScaleOfAll { c_scale, weight: total_weight(observations) }
    }

    /// The scale for a random part of the rows.
    fn of_part(&self, part: &Observations) -> CScale {
        self.c_scale.of_share(self.share_of(part))
    }

    /// The share of all rows that a part has.
    pub(super) fn share_of(&self, part: &Observations) -> f64 {
        total_weight(part) / self.weight
    }
}

pub(super) fn total_weight(observations: &Observations) -> f64 {
    (0..observations.len()).map(|o| observations.weight(o)).sum()
}

impl<'a> Strengths<'a> {
    pub(super) fn new(
        (open, data): (&'a [TrainingFold], &'a [Dataset<'a>]),
        scale: ScaleOfAll<'_>,
        (spec, threads): (FitSpec, usize),
        scoring: &'a FoldScoring<'a>,
        observer: &'a dyn StudyObserver,
    ) -> Result<Self> {
        let prepare = |(fold, data): (&'a TrainingFold, &'a Dataset<'a>)| {
            let prepared = PreparedData::new(data, &fold.training.losses, spec.intercept());
            prepared.with_c_scale(scale.of_part(data.observations())).with_atoms(&spec)
        };
        let prepared = open.iter().zip(data).map(prepare).collect::<Result<_>>()?;
        let warm = vec![vec![]; open.len()];
        Ok(Strengths { spec, open, prepared, scoring, threads, observer, warm })
    }

    /// The best strength of a method, searched from this one. At most so many are fitted on all folds.
    pub(super) fn search(&mut self, method: &MethodSpec, start: i32, most: usize) -> Result<MethodTrials> {
        let looked = self.look(method, start)?;
        self.decide(method, looked, most)
    }

    /// Tries strengths of a method on the first folds, from this one, until the best is known or the observer says
    /// stop.
    pub(super) fn look(&mut self, method: &MethodSpec, start: i32) -> Result<Vec<StrengthFit>> {
        // Duals of another method are no start.
        self.warm.iter_mut().for_each(Vec::clear);
        let mut looked: Vec<StrengthFit> = vec![];
        loop {
            let trials: Vec<StrengthTrial> = looked.iter().map(|tried| tried.trial).collect();
            let Some(step) = search::next(&trials, start) else { break };
            let Some(values) = self.predictions(method, step, 0..self.scoring.n_first)? else { break };
            looked.push(self.tried(Folds::First, step, values)?);
        }
        Ok(looked)
    }

    /// Tries one strength on all folds; `None` if the observer said stop.
    pub(super) fn on_all_folds(&mut self, method: &MethodSpec, step: i32) -> Result<Option<StrengthFit>> {
        let predictions = self.predictions(method, step, 0..self.open.len())?;
        predictions.map(|values| self.tried(Folds::All, step, values)).transpose()
    }

    /// Of the strengths that were tried on the first folds, the best on all folds.
    pub(super) fn decide(
        &mut self,
        method: &MethodSpec,
        looked: Vec<StrengthFit>,
        most: usize,
    ) -> Result<MethodTrials> {
        let mut found = MethodTrials { tried: looked.iter().map(|tried| tried.trial).collect(), best: None };
        let first = self.scoring.n_first;
        for (i, tried) in contenders(looked, most) {
            let step = tried.trial.step;
            let Some(others) = self.predictions(method, step, first..self.open.len())? else { break };
            let tried = self.tried(Folds::All, step, [tried.predicted.values, others].concat())?;
            found.tried[i] = tried.trial;
            let best = found.best.as_ref().map_or(f64::INFINITY, |best| best.trial.loss);
            if tried.trial.loss < best {
                found.best = Some(tried);
            }
        }
        Ok(found)
    }

    fn tried(&self, folds: Folds, step: i32, values: Vec<f64>) -> Result<StrengthFit> {
        let score = self.scoring.score(folds, &values)?;
        let predicted = self.scoring.predicted(folds, values)?;
        Ok(StrengthFit { trial: StrengthTrial::new(step, score, &predicted.losses), predicted })
    }

    /// Predictions for the test rows of some folds; `None` if the observer said stop.
    fn predictions(
        &mut self,
        method: &MethodSpec,
        step: i32,
        folds: Range<usize>,
    ) -> Result<Option<Vec<f64>>> {
        let weight = Weight::Relative(search::strength(step));
        let spec = self.spec.with_method(method.clone(), weight);
        let fit = |&f: &usize| -> Result<Option<FoldTrial>> {
            let fold = &self.open[f];
            let nearest = self.warm[f].iter().min_by_key(|(tried, _)| (tried - step).abs());
            let start = nearest.map_or(Start::Cold, |(_, alpha)| Start::Warm(alpha));
            let mut observer = StopObserver(self.observer);
            let trained = fold.training.fit_to(&self.prepared[f], &spec, start, &mut observer)?;
            if self.observer.stop() {
                return Ok(None);
            }
            let predictions = predict(&trained.model, &fold.test_inputs, &fold.test)?;
            Ok(Some(FoldTrial { predictions, alpha: trained.model.alpha().unwrap_or_default().to_vec() }))
        };
        let folds: Vec<usize> = folds.collect();
        let Some(found) = in_parallel(&folds, self.threads, fit)? else { return Ok(None) };
        let mut predictions = vec![];
        for (f, fold) in folds.into_iter().zip(found) {
            predictions.extend(fold.predictions);
            if !fold.alpha.is_empty() {
                self.warm[f].push((step, fold.alpha));
            }
        }
        Ok(Some(predictions))
    }
}

/// The strengths that are close to the best, the best first, with their places in the list.
fn contenders(looked: Vec<StrengthFit>, most: usize) -> Vec<(usize, StrengthFit)> {
    let mut sorted: Vec<(usize, StrengthFit)> =
        looked.into_iter().enumerate().filter(|(_, tried)| tried.trial.loss.is_finite()).collect();
    sorted.sort_by(|(_, a), (_, b)| a.trial.order(&b.trial));
    sorted.truncate(most);
    let Some((_, best)) = sorted.first().cloned() else { return vec![] };
    sorted.retain(|(_, tried)| !is_better(&best.predicted.losses, &tried.predicted.losses, CLOSE));
    sorted
}
