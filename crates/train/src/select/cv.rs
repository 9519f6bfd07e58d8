//! Cross-validation of all candidates on the same folds.

use super::fold_fits::{FoldFit, FoldScorer, Predicted, fold_fits};
use super::growth::SettingGrid;
use super::held_out::FoldedScore;
use super::open_folds::{self, with_open_folds};
use super::search::CandidateSearch;
use super::{Candidate, FoldRows, GrownGrid, HeldOut, KernelGrid, Study, must_be_clearly_better};
use crate::observer::{LaterObserver, RoundObserver};
use crate::parallel::threads_or_cores;
use crate::{
    Error, MethodSpec, Metric, NewTaskErrors, Residuals, Result, Score, StudyObserver, Trained, Weight, nan,
};
use kinfolk::{Claim, Kernel, TargetScale, TargetScaling};
use serde::{Deserialize, Serialize};

/// How one setting did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The method with its parameters.
    pub method: MethodSpec,
    /// The kernel, if that is chosen too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Weight of the losses.
    pub weight: Weight,
    /// C in the first fold: with a strength, it differs a little from fold to fold.
    pub c: f64,
    /// What it is chosen by, see [`Scored`](super::Scored). NaN if it is undefined.
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
    /// Mean score over the folds where it is defined.
    #[serde(deserialize_with = "nan::from_null")]
    pub mean: f64,
    /// Standard deviation over these folds; NaN if there are fewer than two.
    #[serde(deserialize_with = "nan::from_null")]
    pub sd: f64,
    /// Largest relative gap of the fits; `None` if some have none.
    pub rel_gap: Option<f64>,
    /// Number of fits that ended before their tolerance.
    pub uncertified: usize,
    /// Seconds of fitting, all folds together.
    pub seconds: f64,
    /// What it is chosen by, task by task: the mean over all cuts into folds.
    #[serde(skip)]
    pub held_out: Option<Score>,
    /// Score of each fold.
    #[serde(skip)]
    pub folds: Vec<Score>,
    /// What it is chosen by, for each cut into folds.
    #[serde(skip)]
    cuts: Vec<Score>,
    /// Errors of held-out rows of the first cut, for numbers.
    #[serde(skip)]
    residuals: Option<Residuals>,
    /// The exponent of probabilities of classes that is best for held-out rows of the first cut.
    #[serde(skip)]
    class_exponent: Option<f64>,
    /// Errors for tasks that had no training rows in their fold, of the first cut.
    #[serde(skip)]
    new_task_errors: Option<NewTaskErrors>,
    #[serde(skip)]
    pub(super) candidate: usize,
    /// Which of the settings of all candidates it belongs to.
    #[serde(skip)]
    pub(super) place: usize,
}

impl Row {
    /// Which of the candidates it belongs to.
    pub fn candidate(&self) -> usize {
        self.candidate
    }

    /// Keeps what held-out rows say about errors in a model of the same setting, for intervals and probabilities.
    pub fn give_errors_to(&self, trained: &mut Trained) {
        let outcome = &mut trained.outcome;
        outcome.residuals = self.residuals.clone().or(outcome.residuals.take());
        outcome.new_task_errors = self.new_task_errors.clone().or(outcome.new_task_errors.take());
        outcome.class_exponent = self.class_exponent.or(outcome.class_exponent);
    }

    /// Errors for tasks that had no training rows in their fold, if there were any.
    pub(crate) fn into_new_task_errors(self) -> Option<NewTaskErrors> {
        self.new_task_errors
    }

    /// With the same setting on other folds.
    fn join(&mut self, more: Row) {
        self.cuts.extend(more.cuts);
        self.folds.extend(more.folds);
        self.rel_gap = self.rel_gap.zip(more.rel_gap).map(|(a, b)| a.max(b));
        self.uncertified += more.uncertified;
        self.seconds += more.seconds;
        self.average();
    }

    fn average(&mut self) {
        let without_rows = self.cuts.first().map_or(0, Score::tasks_without_rows);
        let held_out = Score::average(&self.cuts, without_rows);
        let of_folds: Vec<f64> = self.folds.iter().map(|fold| fold.value).filter(|x| !x.is_nan()).collect();
        (self.mean, self.sd) = mean_and_sd(&of_folds);
        if of_folds.len() < 2 {
            self.sd = f64::NAN;
        }
        self.score = held_out.value;
        self.held_out = Some(held_out);
    }
}

/// Training rows of a fold where curved functions are tried on many rows.
const MAX_ROWS_OF_CURVES: usize = 1500;

/// What cross-validation found.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The score that settings were chosen by.
    pub metric: Metric,
    /// The one that was asked for, if it was another.
    pub instead_of: Option<ReplacedMetric>,
    /// Grids that grew because the best was at their edge.
    pub grown: Vec<GrownGrid>,
    /// How often the data were cut into folds.
    pub repeats: usize,
    /// Training rows of each fold, if these are only some of those that it has.
    pub fewer_rows: Option<usize>,
    /// Whether the search was stopped before its end.
    pub ended_early: bool,
    /// All settings, candidate by candidate.
    pub rows: Vec<Row>,
    /// For each candidate its best row.
    pub best: Vec<usize>,
    /// The best row of all.
    pub winner: usize,
}

/// A metric that settings could not be chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReplacedMetric {
    /// The metric.
    pub metric: Metric,
    /// Number of tasks for which it is undefined.
    pub undefined: usize,
    /// Number of tasks that are scored.
    pub tasks: usize,
}

/// Data cut into folds.
struct FoldCut<'a> {
    folds: Vec<FoldRows>,
    held_out: HeldOut<'a>,
}

/// Cross-validates all candidates on the same folds. `None` if the observer said stop.
///
/// # Errors
/// If there are too many folds, a candidate or the metric does not suit the data, or the scores of all settings
/// are undefined.
pub fn cross_validate(
    study: &Study<'_>,
    candidates: &[Candidate],
    observer: &dyn StudyObserver,
) -> Result<Option<Selection>> {
    of_cuts(study, study.cuts()?, None, (candidates, observer))
}

/// Cross-validates all candidates on the folds of a caller, perhaps with a score of a caller. `None` if the
/// observer said stop.
///
/// # Errors
/// As of [`cross_validate`], or if the scorer fails.
pub fn cross_validate_on(
    study: &Study<'_>,
    candidates: &[Candidate],
    folds: &[FoldRows],
    scorer: Option<&FoldScorer<'_>>,
    observer: &dyn StudyObserver,
) -> Result<Option<Selection>> {
    if folds.is_empty() {
        return Err(Error::Study("cross-validation needs at least one fold".into()));
    }
    of_cuts(study, vec![folds.to_vec()], scorer, (candidates, observer))
}

/// With fewer training rows in each fold where curved functions are among the settings of many rows.
fn of_cuts(
    study: &Study<'_>,
    cuts: Vec<Vec<FoldRows>>,
    scorer: Option<&FoldScorer<'_>>,
    (candidates, observer): (&[Candidate], &dyn StudyObserver),
) -> Result<Option<Selection>> {
    let kernels = |candidate: &Candidate| candidate.kernels.kernels(study, observer);
    let kernels: Vec<Vec<Option<Kernel>>> = candidates.iter().map(kernels).collect::<Result<_>>()?;
    let has_curves = candidates.iter().zip(&kernels).any(|(candidate, kernels)| {
        candidate.kernels == KernelGrid::Auto
            && kernels.len() > 1
            && must_be_clearly_better(study.inputs.n_inputs())
    });
    let limited = |rows: FoldRows| -> Result<FoldRows> {
        match has_curves && rows.train.len() > MAX_ROWS_OF_CURVES {
            false => Ok(rows),
            true => {
                let share = MAX_ROWS_OF_CURVES as f64 / rows.train.len() as f64;
                rows.with_share(study.observations, share, study.seed)
            }
        }
    };
    let cut = |folds: Vec<FoldRows>| -> Result<FoldCut<'_>> {
        Ok(FoldCut::new(study, folds.into_iter().map(limited).collect::<Result<_>>()?))
    };
    let cuts = cuts.into_iter().map(cut).collect::<Result<Vec<_>>>()?;
    let found = CrossValidation::new(study, &cuts, scorer)?.run(candidates, &kernels, observer)?;
    Ok(found.map(|found| Selection { fewer_rows: has_curves.then_some(MAX_ROWS_OF_CURVES), ..found }))
}

impl<'a> FoldCut<'a> {
    fn new(study: &'a Study<'_>, folds: Vec<FoldRows>) -> Self {
        let held_out = HeldOut::new(study.observations, &study.losses, &folds)
            .with_target_scale(study.spec.target_scale());
        FoldCut { folds, held_out }
    }
}

/// Fits grids on the folds of all cuts; `None` if the observer said stop.
type GridFits<'a> = dyn Fn(&[SettingGrid], &dyn StudyObserver) -> Result<Option<Vec<Vec<FoldFit>>>> + 'a;

/// Everything but the candidates.
struct CrossValidation<'a> {
    study: &'a Study<'a>,
    cuts: &'a [FoldCut<'a>],
    scorer: Option<&'a FoldScorer<'a>>,
    metric: Metric,
    instead_of: Option<ReplacedMetric>,
    /// How the labels of all rows are scaled, if they are.
    target_scaling: Option<TargetScaling>,
}

impl<'a> CrossValidation<'a> {
    fn new(
        study: &'a Study<'a>,
        cuts: &'a [FoldCut<'a>],
        scorer: Option<&'a FoldScorer<'a>>,
    ) -> Result<Self> {
        let metric = study.metric();
        let target_scaling = study.target_scaling()?;
        let mut own = CrossValidation { study, cuts, scorer, metric, instead_of: None, target_scaling };
        if scorer.is_none() {
            metric.check(study.observations, &study.losses)?;
            (own.metric, own.instead_of) = defined_metric(study, &cuts[0].held_out)?;
        }
        Ok(own)
    }

    fn run<'c>(
        &self,
        candidates: &'c [Candidate],
        of_candidates: &[Vec<Option<Kernel>>],
        observer: &dyn StudyObserver,
    ) -> Result<Option<Selection>> {
        let mut kernels: Vec<Option<Kernel>> = vec![];
        let between: Vec<Option<Kernel>> = candidates
            .iter()
            .zip(of_candidates)
            .flat_map(|(candidate, own)| candidate.kernels.next_widths(own))
            .collect();
        for kernel in of_candidates.iter().flatten().chain(&between) {
            if !kernels.contains(kernel) {
                kernels.push(kernel.clone());
            }
        }
        let n_cuts = self.cuts.len();
        let search = |(number, candidate): (usize, &'c Candidate)| {
            CandidateSearch::new(candidate, number, &of_candidates[number], self.study.observations, n_cuts)
        };
        let searches = candidates.iter().enumerate().map(search).collect();
        let folds: Vec<FoldRows> = self.cuts.iter().flat_map(|cut| cut.folds.iter().cloned()).collect();
        if open_folds::fit_in_memory(self.study, folds.len()) {
            return with_open_folds(self.study, &folds, &kernels, |open| {
                self.search(
                    searches,
                    &|grids, observer| fold_fits(self.study, grids, open, 0, self.scorer, observer),
                    observer,
                )
            });
        }
        // As many folds at a time as threads: each holds a copy of its rows and what its kernel needs.
        let threads = threads_or_cores(self.study.spec.threads);
        let n_groups = folds.len().div_ceil(threads);
        let fits = |grids: &[SettingGrid], observer: &dyn StudyObserver| {
            let mut all = vec![];
            for (round, group) in folds.chunks(threads).enumerate() {
                let counted = RoundObserver { observer, round, of: n_groups };
                let found = with_open_folds(self.study, group, &kernels, |open| {
                    fold_fits(self.study, grids, open, round * threads, self.scorer, &counted)
                })?;
                let Some(found) = found else { return Ok(None) };
                all.extend(found);
            }
            Ok(Some(all))
        };
        self.search(searches, &fits, observer)
    }

    /// Asks the searches of all candidates what to fit until they end.
    fn search(
        &self,
        mut searches: Vec<CandidateSearch<'_>>,
        fits: &GridFits<'_>,
        observer: &dyn StudyObserver,
    ) -> Result<Option<Selection>> {
        let (mut rows, mut place, mut ended_early): (Vec<Row>, usize, bool) = (vec![], 0, false);
        loop {
            let next = searches.iter_mut().flat_map(|search| search.next(&rows, self.sign(), &mut place));
            let grids: Vec<SettingGrid> = next.collect();
            if grids.is_empty() {
                break;
            }
            let later = LaterObserver { observer, before: rows.iter().map(|row| row.folds.len()).sum() };
            let Some(found) = fits(&grids, &later)? else {
                // All candidates have rows after the first round.
                if rows.is_empty() || !observer.takes_best_so_far() {
                    return Ok(None);
                }
                ended_early = true;
                break;
            };
            rows.extend(self.rows(&grids, &found)?);
            rows.sort_by(|a, b| {
                let places = a.candidate.cmp(&b.candidate).then(a.place.cmp(&b.place));
                places.then(a.weight.number().total_cmp(&b.weight.number()))
            });
        }
        let (best, winner) = self.best(&searches, &rows)?;
        let grids = searches.iter().flat_map(|search| search.grids());
        Ok(Some(Selection {
            metric: self.metric,
            instead_of: self.instead_of,
            grown: grids.filter_map(SettingGrid::grown).collect(),
            repeats: self.cuts.len(),
            fewer_rows: None,
            ended_early,
            rows,
            best,
            winner,
        }))
    }

    /// What makes larger scores better ones.
    fn sign(&self) -> f64 {
        if self.scorer.is_some() || self.metric.higher_is_better() { 1.0 } else { -1.0 }
    }

    /// The best row of each candidate, and of all. A row whose score is undefined is never the best.
    fn best(&self, searches: &[CandidateSearch<'_>], rows: &[Row]) -> Result<(Vec<usize>, usize)> {
        // Of equal scores the first: the smallest weight.
        let pick = |best: usize, row: usize| {
            if self.sign() * rows[row].score > self.sign() * rows[best].score { row } else { best }
        };
        let best_of = |(candidate, search): (usize, &CandidateSearch<'_>)| {
            if let Some(chosen) = search.chosen(rows, self.sign()) {
                let same = |row: &Row| row.place == chosen.place && row.weight == chosen.weight;
                return rows.iter().position(same).ok_or_else(|| no_score(rows, candidate));
            }
            let own = (0..rows.len()).filter(|&row| rows[row].candidate == candidate);
            let best = own.filter(|&row| !rows[row].score.is_nan()).reduce(pick);
            best.ok_or_else(|| no_score(rows, candidate))
        };
        let best: Vec<usize> = searches.iter().enumerate().map(best_of).collect::<Result<_>>()?;
        let winner = best.iter().copied().reduce(pick);
        winner
            .map(|winner| (best, winner))
            .ok_or_else(|| Error::Study("there is nothing to choose from".into()))
    }

    /// The rows of some grids from their fits on the folds of all cuts.
    fn rows(&self, grids: &[SettingGrid], by_path: &[Vec<FoldFit>]) -> Result<Vec<Row>> {
        let (mut all, mut first): (Vec<Row>, usize) = (vec![], 0);
        for cut in self.cuts {
            let last = first + cut.folds.len() * grids.len();
            let rows = self.gather(cut, grids, &by_path[first..last])?;
            first = last;
            if all.is_empty() {
                all = rows;
            } else {
                all.iter_mut().zip(rows).for_each(|(row, more)| row.join(more));
            }
        }
        Ok(all)
    }

    /// From fits by fold and grid to rows.
    fn gather(&self, cut: &FoldCut<'_>, grids: &[SettingGrid], by_path: &[Vec<FoldFit>]) -> Result<Vec<Row>> {
        let mut rows = vec![];
        for (g, grid) in grids.iter().enumerate() {
            for (place, &weight) in grid.weights.iter().enumerate() {
                let of_folds: Vec<&FoldFit> =
                    by_path.iter().skip(g).step_by(grids.len()).map(|path| &path[place]).collect();
                let predictions = self.predictions(&of_folds);
                let FoldedScore { all, folds } = self.score(cut, &of_folds, &predictions)?;
                let proved = grid.method.method().claim(grid.method.params()) == Claim::Optimal;
                let mut row = Row {
                    method: grid.method.clone(),
                    kernel: grid.kernel.clone(),
                    weight,
                    c: of_folds[0].c,
                    score: f64::NAN,
                    mean: f64::NAN,
                    sd: f64::NAN,
                    rel_gap: proved.then(|| of_folds.iter().map(|fit| fit.rel_gap).fold(0.0, f64::max)),
                    uncertified: of_folds.iter().filter(|fit| !fit.certified).count(),
                    seconds: of_folds.iter().map(|fit| fit.seconds).sum(),
                    held_out: None,
                    folds,
                    cuts: vec![all],
                    residuals: self.residuals(cut, &predictions),
                    class_exponent: self.class_exponent(cut, &predictions),
                    new_task_errors: self.new_task_errors(cut, &predictions),
                    candidate: grid.candidate,
                    place: grid.place,
                };
                row.average();
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// Predictions of the fits of all folds; none if a caller scored them.
    fn predictions(&self, of_folds: &[&FoldFit]) -> Vec<f64> {
        let rows = of_folds.iter().filter_map(|fit| match &fit.predicted {
            Predicted::Rows(rows) => Some(rows),
            Predicted::Scored(_) => None,
        });
        rows.flatten().copied().collect()
    }

    fn score(&self, cut: &FoldCut<'_>, of_folds: &[&FoldFit], predictions: &[f64]) -> Result<FoldedScore> {
        if self.scorer.is_none() {
            return cut.held_out.folded(self.metric, self.study.scored, predictions);
        }
        let scores = of_folds.iter().filter_map(|fit| match &fit.predicted {
            Predicted::Scored(score) => Some(Score::of_caller(*score)),
            Predicted::Rows(_) => None,
        });
        let folds: Vec<Score> = scores.collect();
        Ok(FoldedScore { all: Score::average(&folds, 0), folds })
    }

    fn residuals(&self, cut: &FoldCut<'_>, predictions: &[f64]) -> Option<Residuals> {
        if self.scorer.is_some() {
            return None;
        }
        let spread = self.target_scaling.as_ref().map(TargetScaling::spread);
        let scale = self.target_scaling.as_ref().map_or(TargetScale::None, TargetScaling::kind);
        let errors = cut.held_out.errors(predictions, spread)?;
        let found = Residuals::new(self.study.observations.n_tasks(), errors, scale)?;
        Some(found.with_labels(&self.study.observations.task_counts(), scale))
    }

    fn class_exponent(&self, cut: &FoldCut<'_>, predictions: &[f64]) -> Option<f64> {
        if self.scorer.is_some() { None } else { cut.held_out.class_exponent(predictions) }
    }

    fn new_task_errors(&self, cut: &FoldCut<'_>, predictions: &[f64]) -> Option<NewTaskErrors> {
        if self.scorer.is_some() {
            return None;
        }
        let errors = cut.held_out.errors_of_new_tasks(predictions)?;
        NewTaskErrors::new(self.study.observations.n_tasks(), errors)
    }
}

/// The metric of a study, or one that always exists if the one asked for cannot be used.
pub(crate) fn defined_metric(
    study: &Study<'_>,
    held_out: &HeldOut<'_>,
) -> Result<(Metric, Option<ReplacedMetric>)> {
    let metric = study.metric();
    let (tasks, score) = held_out.score_of_zeros(metric, study.scored)?;
    match study.is_undefined(&score, tasks) {
        false => Ok((metric, None)),
        true => {
            let replaced = ReplacedMetric { metric, undefined: score.undefined, tasks };
            Ok((metric.always_defined(&study.losses), Some(replaced)))
        }
    }
}

impl Selection {
    /// Number of tasks for which the score of the winner is undefined.
    pub fn undefined(&self) -> usize {
        self.rows[self.winner].held_out.as_ref().map_or(0, |score| score.undefined)
    }

    /// What a reader should know about the choice, in words.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.undefined_notes();
        if self.ended_early {
            notes.push("the search ended early: settings that it did not come to may be better".to_string());
        }
        notes.extend(self.fewer_rows.map(|most| {
            format!(
                "curved functions are tried, so folds are fitted to at most {most} rows; the model has all rows, and \
                 may be better than its score (--kernel linear uses all rows of the folds)"
            )
        }));
        for GrownGrid { method, first, last } in &self.grown {
            let (method, first, last) = (method.brief(), first.number(), last.number());
            notes.push(format!(
                "the best of {method} was at the edge of the grid, which grew: strengths from {first:.3e} to {last:.3e}"
            ));
        }
        notes.extend(self.winner_at_edge().map(|end| {
            format!("the best point is the {end} of the grid: a wider one may have a better one")
        }));
        notes
    }

    /// What a reader should know about scores that are undefined, in words.
    pub fn undefined_notes(&self) -> Vec<String> {
        let Selection { metric, .. } = self;
        let mut notes = vec![];
        if let Some(ReplacedMetric { metric: asked, undefined, tasks }) = self.instead_of {
            notes.push(format!(
                "{asked} is undefined for {undefined} of {tasks} tasks in these folds: chosen by {metric} instead"
            ));
        }
        let undefined = self.undefined();
        if undefined > 0 {
            let tasks = if undefined == 1 { "task" } else { "tasks" };
            notes.push(format!(
                "{metric} is undefined for {undefined} {tasks}, which had no say in the choice"
            ));
        }
        let rows = self.rows.iter().filter(|row| row.score.is_nan()).count();
        if rows > 0 {
            notes.push(format!(
                "the score is undefined for {rows} of {} settings, none of which was chosen",
                self.rows.len()
            ));
        }
        notes
    }

    /// `first` or `last` if the winner has the smallest or largest weight that was tried for its setting.
    fn winner_at_edge(&self) -> Option<&'static str> {
        let winner = &self.rows[self.winner];
        let own: Vec<&Row> = self.rows.iter().filter(|row| row.place == winner.place).collect();
        match own.iter().position(|row| row.weight == winner.weight)? {
            _ if own.len() < 2 => None,
            0 => Some("first"),
            place if place + 1 == own.len() => Some("last"),
            _ => None,
        }
    }
}

fn no_score(rows: &[Row], candidate: usize) -> Error {
    let method = rows.iter().find(|row| row.candidate == candidate).map(|row| row.method.brief());
    Error::Study(format!(
        "the score of {} is undefined for all of its settings: nothing can be chosen by it",
        method.unwrap_or_default()
    ))
}

/// Mean and standard deviation (n - 1); the latter zero for one value.
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if n > 1.0 { (square / (n - 1.0)).sqrt() } else { 0.0 })
}
