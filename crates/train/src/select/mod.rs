//! Which method, with which parameters: cross-validation on the same folds for all.

mod compare;
mod grid;
mod holdout;
mod part;
mod run;
mod splits;

pub use compare::Comparison;
pub use grid::{Axis, candidates, candidates_from};
pub use holdout::{Held, Holdout, holdout};
pub use run::mean_and_sd;
pub use splits::{SplitResult, repeat};

use crate::metric::Score;
use crate::{Method, Metric, Params, Point, Result, folds};
use kinfolk::ScalingKind;
use kinfolk::{DatasetOptions, Fit, Inputs, Losses, Observations, Observer, Settings, Status};
use part::Part;
use serde::Serialize;

/// What is to be learned, and how methods are to be compared on it.
#[derive(Debug, Clone)]
pub struct Study<'a> {
    /// Inputs as they are in the file.
    pub inputs: &'a Inputs<'a>,
    /// Observations.
    pub observations: &'a Observations,
    /// Loss, or losses.
    pub loss: Losses,
    /// Kernel, bias, memory; `threads` is how many fits run at a time.
    pub options: DatasetOptions,
    /// How features are scaled, anew on every training part.
    pub scaling: ScalingKind,
    /// Whether both classes of a task get the same weight, anew on every training part.
    pub balanced: bool,
    /// Weight of the output regulariser, where that is a parameter of its own.
    pub lambda: Option<f64>,
    /// When a fit ends.
    pub settings: Settings,
    /// The score.
    pub metric: Metric,
    /// Number of folds.
    pub folds: usize,
    /// How often the data are cut into folds anew: with few rows, one cut alone is a matter of luck.
    pub repeats: usize,
    /// What settings are chosen by.
    pub scored: Scored,
    /// Of folds and splits.
    pub seed: u64,
}

/// What settings are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scored {
    /// The mean over folds of the score of each.
    #[default]
    ByFold,
    /// The score of all rows, each predicted once, by the fit of the fold that left it out: with few rows of a task in a fold, far less noise.
    Together,
}

/// A method with the parameters and points to choose from.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The method.
    pub method: &'static dyn Method,
    /// Settings of its parameters.
    pub params: Vec<Params>,
    /// Strengths or values of C, increasing.
    pub points: Vec<Point>,
}

/// How one setting did.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name of the method.
    pub method: &'static str,
    /// Its parameters.
    pub params: Params,
    /// Strength or C.
    pub point: Point,
    /// C in the first fold: with a strength, it differs a little from fold to fold.
    pub c: f64,
    /// What it is chosen by, see [`Scored`].
    pub score: f64,
    /// Mean score over folds.
    pub mean: f64,
    /// Standard deviation over folds.
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
    pub(crate) place: (usize, usize),
}

impl Row {
    /// Which of the candidates it belongs to.
    pub fn candidate(&self) -> usize {
        self.place.0
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

/// Listens to a study, from several threads at once.
pub trait Watch: Sync {
    /// So many of all fits are done.
    fn fitted(&self, _done: usize, _of: usize) {}
    /// Asked many times a second: whether to stop.
    fn stop(&self) -> bool {
        false
    }
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// What cross-validation found.
#[derive(Debug, Clone, Serialize)]
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

/// Cross-validates all candidates on the same folds. `None` if the watch said stop.
pub fn cross_validate(
    study: &Study<'_>,
    candidates: &[Candidate],
    watch: &dyn Watch,
) -> Result<Option<Selection>> {
    if study.repeats == 0 {
        return Err(crate::Error::Study("folds must be cut at least once".into()));
    }
    let mut all: Vec<Row> = vec![];
    for repeat in 0..study.repeats {
        let seed = study.seed.wrapping_add((repeat as u64) << 32);
        let cut =
            folds::Cut { fold_of: folds::folds(study.observations, study.folds, seed)?, tested: study.folds };
        let counted = splits::Counted { watch, before: repeat, of: study.repeats };
        let Some(rows) = run::rows(study, candidates, &cut, &counted)? else { return Ok(None) };
        if repeat == 0 {
            all = rows;
        } else {
            all.iter_mut().zip(rows).for_each(|(row, more)| row.join(more, repeat));
        }
    }
    Ok(Some(of_rows(study.metric, study.repeats, candidates.len(), all)))
}

/// The best row of each candidate, and of all.
fn of_rows(metric: Metric, repeats: usize, n_candidates: usize, rows: Vec<Row>) -> Selection {
    let better = |a: f64, b: f64| {
        let (a, b) = if metric.higher_is_better() { (a, b) } else { (b, a) };
        a > b || (b.is_nan() && !a.is_nan())
    };
    // Of equal scores the first: the smallest strength.
    let best_of = |list: &[usize]| {
        let pick =
            |best: usize, row: usize| if better(rows[row].score, rows[best].score) { row } else { best };
        list.iter().copied().reduce(pick)
    };
    let of_candidate =
        |c: usize| -> Vec<usize> { (0..rows.len()).filter(|&row| rows[row].place.0 == c).collect() };
    let best: Vec<usize> = (0..n_candidates).filter_map(|c| best_of(&of_candidate(c))).collect();
    let winner = best_of(&best).unwrap_or(0);
    Selection { metric, repeats, rows, best, winner }
}

/// Fits a setting to all the data of a study.
pub fn refit(
    study: &Study<'_>,
    row: &Row,
    candidate: &Candidate,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let part = Part::whole(study)?;
    let data = part.dataset(study, study.options.threads)?;
    part.fit(study, &data, candidate.method, &row.params, row.point, None, observer)
}

/// Whether a fit ended as it should.
fn certified(fit: &Fit) -> bool {
    fit.status() == Status::Certified
}
