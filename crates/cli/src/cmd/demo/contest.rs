//! The same rows for all methods, C by cross-validation, test rows once.

use super::world::World;
use crate::args::Global;
use crate::failure::{Failure, Result, of_method};
use crate::training::Training;
use kinfolk::{DatasetOptions, Fit, Observations, Settings, Silent};
use kinfolk_train::select::{
    Candidate, Scored, Selection, Study, Unwatched, candidates, cross_validate, refit,
};
use kinfolk_train::{Metric, predict};

/// Rows are few, so three folds.
pub(super) const FOLDS: usize = 3;
/// Of the final fits: leaves no doubt.
const TOLERANCE: f64 = 1e-6;

/// How all methods did.
pub(super) struct Contest {
    pub(super) metric: Metric,
    pub(super) settings: Settings,
    pub(super) entries: Vec<Entry>,
    pub(super) selection: Selection,
}

/// How one method did.
pub(super) struct Entry {
    pub(super) title: &'static str,
    pub(super) learns_theta: bool,
    /// Its best row of the selection.
    pub(super) row: usize,
    pub(super) c: f64,
    pub(super) cross_validated: f64,
    pub(super) test: f64,
    pub(super) fit: Fit,
}

pub(super) fn options(global: &Global) -> DatasetOptions {
    DatasetOptions { bias: 1.0, threads: global.threads, ..DatasetOptions::default() }
}

impl Contest {
    pub(super) fn run(training: &Training, world: &World, global: &Global) -> Result<Contest> {
        let metric = Metric::default_for(&training.observations);
        let settings = Settings { tolerance: TOLERANCE, seed: global.seed, ..Settings::default() };
        let study = Study {
            inputs: &training.inputs,
            observations: &training.observations,
            loss: training.loss.clone().into(),
            options: options(global),
            scaling: kinfolk::ScalingKind::None,
            balanced: false,
            lambda: None,
            settings: Settings { seed: global.seed, ..Settings::default() },
            metric,
            folds: FOLDS,
            repeats: 1,
            scored: Scored::ByFold,
            seed: global.seed,
        };
        let methods = methods(&training.observations, metric)?;
        let all: Vec<Candidate> = methods.iter().map(|(_, _, candidate)| candidate.clone()).collect();
        // Nobody listens who could say stop: Ctrl-C ends the demo at once.
        let selection = cross_validate(&study, &all, &Unwatched).map_err(of_method)?;
        let selection = selection.ok_or_else(|| Failure::output("the contest was stopped"))?;
        let final_study = Study { settings: settings.clone(), ..study.clone() };
        let test = world
            .test
            .observations_in(&training.recipe.label_encoding, training.observations.task_names())?;
        let mut entries = vec![];
        for ((title, learns_theta, candidate), &best) in methods.iter().zip(&selection.best) {
            let row = &selection.rows[best];
            let fit = refit(&final_study, row, candidate, &mut Silent).map_err(of_method)?;
            let predictions = predict(&fit.model, &world.test.inputs, &test).map_err(of_method)?;
            entries.push(Entry {
                title,
                learns_theta: *learns_theta,
                row: best,
                c: fit.model.about().problem.c,
                cross_validated: row.mean,
                test: metric.score(&test, &predictions).mean,
                fit,
            });
        }
        Ok(Contest { metric, settings, entries, selection })
    }

    /// The one that cross-validation would hand out; test rows have no say in it.
    pub(super) fn best_kinfolk(&self) -> &Entry {
        let learned = self.entries.iter().filter(|entry| entry.learns_theta);
        let better = |a, b| if b_is_better(self.metric, a, b) { b } else { a };
        learned.reduce(better).unwrap_or(&self.entries[0])
    }
}

fn b_is_better(metric: Metric, a: &Entry, b: &Entry) -> bool {
    match metric.higher_is_better() {
        true => b.cross_validated > a.cross_validated,
        false => b.cross_validated < a.cross_validated,
    }
}

/// Title, whether Theta is learned, and what to try. One model for all classes would be no classifier.
fn methods(observations: &Observations, metric: Metric) -> Result<Vec<(&'static str, bool, Candidate)>> {
    let mut words = vec![("each task alone", false, "stl")];
    if metric != Metric::ClassAccuracy && observations.n_tasks() > 1 {
        words.push(("one model for all", false, "pooled"));
    }
    words.extend([
        ("kinfolk k = 1", true, "fmtl:k=1"),
        ("kinfolk k = 2", true, "fmtl:k=2"),
        ("kinfolk k = 4", true, "fmtl:k=4"),
    ]);
    let mut all = vec![];
    for (title, learns, word) in words {
        let found = candidates(&[word.to_string()], &[]).map_err(of_method)?;
        all.extend(found.into_iter().map(|candidate| (title, learns, candidate)));
    }
    Ok(all)
}
