//! One method on one split of one set.

use crate::data::Loaded;
use crate::experiment::{ComparedMethod, Experiment, ItemKind, Set};
use crate::record::{Record, Tried, rounded};
use crate::split::{self, SplitRows};
use crate::{Error, Result, find};
use kinfolk::{Intercept, Observations, TargetScale};
use kinfolk_train::select::{
    Axis, Candidate, FoldOrder, Holdout, HoldoutResult, Row, Scored, Study, candidates_from, holdout,
};
use kinfolk_train::{Claim, ClassWeight, FitSpec, LossSpec, Params, StudyObserver, Weight};

/// Work to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitJob<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) set: &'a Set,
    pub(crate) method: &'a ComparedMethod,
    pub(crate) split: usize,
}

impl FitJob<'_> {
    pub(crate) fn key(&self) -> String {
        format!("{}/{}/{}", self.set.name, self.method.label, self.split)
    }

    /// The parameters and points to choose from.
    pub(crate) fn candidate(&self) -> Result<Candidate> {
        let wrong =
            |why: String| Error::experiment(&self.experiment.item, format!("{}: {why}", self.method.label));
        let strengths = self.method.strengths.as_ref().unwrap_or(&self.experiment.strengths);
        let strengths: Vec<String> = strengths.iter().map(f64::to_string).collect();
        let points = format!("strength={}", strengths.join(","));
        let axes = std::iter::once(&points).chain(&self.method.grid);
        let axes: Vec<Axis> = axes.map(|axis| axis.parse().map_err(wrong)).collect::<Result<_>>()?;
        let mut found = candidates_from(find, std::slice::from_ref(&self.method.method), &axes)?;
        found.pop().ok_or_else(|| wrong("it is no method".into()))
    }

    /// Chooses, fits and scores. `chosen` is what an earlier split has settled. `None` if the watch said stop.
    pub(crate) fn run(
        &self,
        loaded: &Loaded,
        chosen: Option<(&Params, Weight)>,
        observer: &dyn StudyObserver,
    ) -> Result<Option<Record>> {
        let seed = self.experiment.seed + self.split as u64;
        let mut rows = split::rows(loaded, &self.set.split, self.split, seed)?;
        if self.set.chosen_on_test {
            rows.train.extend(rows.validation.take().unwrap_or_default());
            rows.validation = Some(rows.test.clone());
        }
        let mut candidate = self.candidate()?;
        if let Some((params, weight)) = chosen {
            candidate.settings.truncate(1);
            candidate.settings.iter_mut().for_each(|method| *method = method.with_params(params.clone()));
            candidate.weights = vec![weight];
        }
        let scaled;
        let observations = match self.set.scale_labels {
            false => &loaded.observations,
            true => {
                scaled = scaled_labels(&loaded.observations, &rows.train)?;
                &scaled
            }
        };
        let loss = self.method.loss.clone().unwrap_or_else(|| self.set.loss.clone());
        let spec = FitSpec {
            loss: LossSpec::Same(loss.clone()),
            bias: self.set.bias,
            intercept: Some(Intercept::None),
            scale: self.set.scale,
            target_scale: TargetScale::None,
            class_weight: self.set.balanced.then_some(ClassWeight::Balanced),
            tol: self.experiment.tolerance,
            threads: 1,
            ..FitSpec::default()
        };
        let mut study = Study::new(&loaded.inputs, observations, loss.into(), spec);
        study.metric = Some(self.set.choose_by.unwrap_or(self.set.metric));
        (study.folds, study.seed, study.scored) = (self.experiment.folds, seed, Scored::ByFold);
        study.fold_order = FoldOrder::TaskFirst;
        let parts = Holdout {
            train: &rows.train,
            validation: rows.validation.as_deref(),
            test: &rows.test,
            refit: self.set.refit,
            score: self.set.metric,
        };
        let held = holdout(&study, &candidate, parts, observer)?;
        Ok(held.map(|held| self.record(loaded, &rows, &candidate, seed, held)))
    }

    fn record(
        &self,
        loaded: &Loaded,
        rows: &SplitRows,
        candidate: &Candidate,
        seed: u64,
        held: HoldoutResult,
    ) -> Record {
        let (method, point) = (&held.chosen.0, held.chosen.1);
        let params = method.params();
        let tried: Vec<Tried> = held.selection.iter().flat_map(|s| &s.rows).map(tried).collect();
        let weights = &candidate.weights;
        let at_the_edge = weights.len() > 1 && [weights.first(), weights.last()].contains(&Some(&point));
        let certified = method.method().claim(params) == Claim::Optimal;
        let keep_theta = self.experiment.kind == ItemKind::Theta;
        Record {
            set: self.set.name.clone(),
            method: self.method.label.clone(),
            split: self.split,
            seed,
            origin: loaded.origin,
            rows: (rows.train.len(), rows.test.len()),
            tasks: loaded.observations.n_tasks(),
            params: params.clone(),
            point,
            c: held.fit.model.about().problem.c,
            at_the_edge,
            score: held.test.value,
            per_task: held.test.per_task.iter().map(|score| score.map(rounded)).collect(),
            rel_gap: certified.then(|| held.fit.certificate().rel_gap()),
            seconds: rounded(held.fit.seconds),
            choosing: rounded(tried.iter().map(|t| t.seconds).sum()),
            tried,
            theta: if keep_theta { theta(&held) } else { vec![] },
            names: if keep_theta { names(&loaded.observations) } else { vec![] },
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

fn tried(row: &Row) -> Tried {
    Tried {
        params: row.method.params().clone(),
        point: row.weight,
        score: Some(rounded(row.mean)).filter(|score| score.is_finite()),
        rel_gap: row.rel_gap.map(rounded).filter(|gap| gap.is_finite()),
        seconds: rounded(row.seconds),
    }
}

/// Over its largest entry: scale is a matter of C.
fn theta(held: &HoldoutResult) -> Vec<Vec<f64>> {
    let theta = held.fit.model.theta();
    let largest = theta.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let scale = if largest > 0.0 { largest.recip() } else { 1.0 };
    let row = |r: usize| theta.row(r).iter().map(|x| (x * scale * 1e6).round() / 1e6).collect();
    (0..theta.rows()).map(row).collect()
}

fn names(observations: &Observations) -> Vec<String> {
    (0..observations.n_tasks()).map(|t| observations.task_names().name(t)).collect()
}

/// Labels of each task with mean 0 and variance 1 over the training rows.
fn scaled_labels(observations: &Observations, train: &[u32]) -> Result<Observations> {
    let (n, t) = (observations.len(), observations.n_tasks());
    let mut of_task = vec![vec![]; t];
    for o in train.iter().flat_map(|&i| observations.of_input(i as usize)) {
        of_task[observations.task(o)].push(observations.label(o));
    }
    let scales: Vec<(f64, f64)> = of_task
        .iter()
        .map(|labels| {
            let (mean, deviation) = kinfolk_train::select::mean_and_sd(labels);
            if labels.is_empty() { (0.0, 1.0) } else { (mean, if deviation > 0.0 { deviation } else { 1.0 }) }
        })
        .collect();
    let scaled = |o: usize| {
        let (mean, deviation) = scales[observations.task(o)];
        (observations.label(o) - mean) / deviation
    };
    let input = (0..n).map(|o| observations.input(o) as u32).collect();
    let task = (0..n).map(|o| observations.task(o) as u32).collect();
    let labels = (0..n).map(scaled).collect();
    let scaled = Observations::from_triples(observations.n_inputs(), t, input, task, labels)?;
    Ok(scaled.with_task_names(observations.task_names().clone())?)
}
