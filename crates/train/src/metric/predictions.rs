//! Labels with what was predicted for them, ready to be scored.

use super::class_probabilities::{ClassRow, best_exponent, class_probabilities, ln_class_probabilities};
use super::{Measure, Metric, RowLoss, Score};
use crate::Result;
use kinfolk::loss::Loss;
use kinfolk::{Inputs, LossKind, Losses, Model, Observations, TargetScale, metrics};

/// Labels and predictions of several tasks.
///
/// Predictions may come from several folds, each with a model of its own. Scores that compare rows with each
/// other (AUC, average precision) then compare rows of the same fold only: the model of a fold without the
/// positive rows predicts less for all of its rows.
#[derive(Debug)]
pub struct Predictions {
    losses: Vec<LossKind>,
    n_tasks: usize,
    rows: Vec<PredictedRow>,
    /// What probabilities of classes are raised to before they are divided by their sum.
    class_exponent: f64,
    /// Whether labels of tasks can be compared, so that errors of all tasks are in one unit.
    one_unit: bool,
}

#[derive(Debug, Clone, Copy)]
struct PredictedRow {
    input: u32,
    task: u32,
    fold: u32,
    label: f64,
    score: f64,
    weight: f64,
    /// What one would predict without inputs, if known from other rows.
    baseline: Option<f64>,
}

/// A row as the formula of a measure takes it.
#[derive(Debug, Clone, Copy)]
struct MeasuredRow {
    input: u32,
    task: u32,
    fold: u32,
    label: f64,
    score: f64,
    weight: f64,
    /// Weight among the rows of all tasks.
    pooled_weight: f64,
}

impl Predictions {
    /// None yet, for tasks with these losses.
    ///
    /// # Errors
    /// If there are losses for another number of tasks.
    pub fn new(losses: &Losses, n_tasks: usize) -> Result<Self> {
        let losses = match losses {
            Losses::Same(loss) => vec![loss.clone(); n_tasks],
            Losses::PerTask(all) if all.len() == n_tasks => all.clone(),
            Losses::PerTask(all) => {
                let why = format!("{} losses for {n_tasks} tasks", all.len());
                return Err(crate::Error::Study(why));
            }
        };
        Ok(Predictions { losses, n_tasks, rows: vec![], class_exponent: 1.0, one_unit: false })
    }

    /// The same with probabilities of classes to this power; see [`class_probabilities`].
    pub fn with_class_exponent(self, class_exponent: f64) -> Self {
        Predictions { class_exponent, ..self }
    }

    /// The same for labels that are scaled like this: if all tasks are scaled as one, their labels can be compared, and
    /// errors of the rows of all tasks together are in one unit. Otherwise each task's are in a unit of its own.
    pub fn with_target_scale(self, scale: TargetScale) -> Self {
        Predictions { one_unit: matches!(scale, TargetScale::Common | TargetScale::Pooled), ..self }
    }

    /// The exponent of probabilities of classes that is best for these rows; `None` if they are not of three classes
    /// or more, or have no probabilities.
    pub(crate) fn best_class_exponent(&self) -> Option<f64> {
        let is_logistic = self.losses.iter().all(|loss| *loss == LossKind::Logistic);
        if self.n_tasks < 3 || !is_logistic || !self.is_of_classes(Measure::LogLoss) {
            return None;
        }
        let row = |input: &[PredictedRow]| {
            let class = input.iter().position(|row| row.label > 0.0)?;
            let scores: Vec<f64> = input.iter().map(|row| row.score).collect();
            Some(ClassRow::new(&scores, class, input[class].weight))
        };
        let rows: Vec<ClassRow> = self.rows.chunks(self.n_tasks).filter_map(row).collect();
        Some(best_exponent(&rows))
    }

    /// Makes room for tasks up to so many, with the loss of the first one.
    pub fn reach(&mut self, n_tasks: usize) {
        if let Some(loss) = self.losses.first().cloned() {
            self.losses.resize(n_tasks.max(self.n_tasks), loss);
            self.n_tasks = self.losses.len();
        }
    }

    /// Adds the prediction for an observation. Of one-vs-all observations, all of an input must follow each
    /// other.
    pub fn push(&mut self, observations: &Observations, o: usize, prediction: f64, weight: f64) {
        self.push_row(observations, o, prediction, weight, 0, None);
    }

    /// Adds a prediction of a fold; the baseline is what its training rows say about the task without inputs.
    pub(crate) fn push_held_out(
        &mut self,
        observations: &Observations,
        o: usize,
        prediction: f64,
        fold: u32,
        baseline: f64,
    ) {
        self.push_row(observations, o, prediction, observations.weight(o), fold, Some(baseline));
    }

    fn push_row(
        &mut self,
        observations: &Observations,
        o: usize,
        score: f64,
        weight: f64,
        fold: u32,
        baseline: Option<f64>,
    ) {
        let (input, task) = (observations.input(o) as u32, observations.task(o) as u32);
        let label = observations.label(o);
        self.rows.push(PredictedRow { input, task, fold, label, score, weight, baseline });
    }

    /// Number of rows of each task.
    pub fn counts(&self) -> Vec<usize> {
        self.count(|_| true)
    }

    /// Number of rows of each task with a positive label.
    pub fn positive_counts(&self) -> Vec<usize> {
        self.count(|row| row.label > 0.0)
    }

    fn count(&self, counts: impl Fn(&PredictedRow) -> bool) -> Vec<usize> {
        let mut of_task = vec![0; self.n_tasks];
        self.rows.iter().filter(|row| counts(row)).for_each(|row| of_task[row.task as usize] += 1);
        of_task
    }

    /// The score of all rows.
    pub fn score(&self, metric: Metric) -> Score {
        self.score_of(metric, &self.measured(metric.measure), |_| true)
    }

    /// The score of the rows of each fold. What is measured in units of a task, such as R^2, has the units of the
    /// task's rows in all folds, so that folds of one row have a score.
    pub(crate) fn fold_scores(&self, metric: Metric, n_folds: usize) -> Vec<Score> {
        let measured = self.measured(metric.measure);
        (0..n_folds).map(|fold| self.score_of(metric, &measured, |own| own as usize == fold)).collect()
    }

    /// The score of each fold as if it were all there is, each task around the mean of its rows in the fold.
    pub(crate) fn separate_scores(&self, metric: Metric, n_folds: usize) -> Vec<Score> {
        let score = |fold: usize| {
            let own = self.rows.iter().filter(|row| row.fold as usize == fold);
            let rows = own.map(|row| PredictedRow { baseline: None, ..*row }).collect();
            Predictions { rows, losses: self.losses.clone(), ..*self }.score(metric)
        };
        (0..n_folds).map(score).collect()
    }

    /// The loss of the fit for each row.
    pub(crate) fn row_losses(&self) -> Vec<RowLoss> {
        let loss = |row: &MeasuredRow| RowLoss { input: row.input, loss: row.score, weight: row.weight };
        self.measured(Measure::Loss).iter().map(loss).collect()
    }

    /// Squared errors in units of the task, with the weights of R^2 of all rows together.
    pub(crate) fn row_errors(&self) -> Vec<RowLoss> {
        let error = |row: &MeasuredRow| RowLoss {
            input: row.input,
            loss: row.label * row.label,
            weight: row.pooled_weight,
        };
        self.measured(Measure::R2).iter().map(error).collect()
    }

    /// Of classes, 1 for each input whose class does not have the highest score, else 0.
    pub(crate) fn class_errors(&self) -> Vec<RowLoss> {
        let error = |row: &MeasuredRow| RowLoss {
            input: row.input,
            loss: if row.score.is_nan() { f64::NAN } else { f64::from(row.score > 0.0) },
            weight: row.weight,
        };
        self.measured(Measure::ClassAccuracy).iter().map(error).collect()
    }

    fn score_of(&self, metric: Metric, measured: &[MeasuredRow], wanted: impl Fn(u32) -> bool) -> Score {
        let mut has_rows = vec![false; self.n_tasks];
        for row in self.rows.iter().filter(|row| row.weight > 0.0 && wanted(row.fold)) {
            has_rows[row.task as usize] = true;
        }
        let of_classes = self.is_of_classes(metric.measure);
        if of_classes {
            has_rows = vec![false; self.n_tasks];
        }
        // Each input of classes has a value of its own then.
        let measure = match metric.measure {
            Measure::LogLoss | Measure::Brier if of_classes => Measure::Loss,
            own => own,
        };
        let mut all = ScoreColumns::default();
        let mut of_task = vec![ScoreColumns::default(); self.n_tasks];
        for row in measured.iter().filter(|row| wanted(row.fold)) {
            of_task[row.task as usize].push(row, row.weight);
            all.push(row, row.pooled_weight);
        }
        let per_task = of_task.iter().map(|rows| rows.measure(measure)).collect();
        Score::new(metric, per_task, all.measure(measure), &has_rows)
    }

    /// Whether the measure is one of inputs with their classes.
    fn is_of_classes(&self, measure: Measure) -> bool {
        let is_input = |rows: &[PredictedRow]| {
            let positive = rows.iter().filter(|row| row.label > 0.0).count();
            rows.len() == self.n_tasks && positive == 1 && rows.iter().all(|row| row.input == rows[0].input)
        };
        match measure {
            Measure::ClassAccuracy | Measure::TopK(_) => true,
            Measure::LogLoss | Measure::Brier => {
                self.n_tasks > 1 && !self.rows.is_empty() && self.rows.chunks(self.n_tasks).all(is_input)
            }
            _ => false,
        }
    }

    /// The rows as the formula takes them.
    fn measured(&self, measure: Measure) -> Vec<MeasuredRow> {
        let plain = |row: &PredictedRow| MeasuredRow {
            input: row.input,
            task: row.task,
            fold: row.fold,
            label: row.label,
            score: row.score,
            weight: row.weight,
            pooled_weight: row.weight,
        };
        match measure {
            Measure::R2 | Measure::Nrmse => self.in_units_of_tasks(false),
            Measure::ExplainedVariance => self.in_units_of_tasks(true),
            Measure::ClassAccuracy | Measure::TopK(_) => self.places(),
            Measure::LogLoss if self.is_of_classes(measure) => {
                self.of_inputs(|scores, own| -ln_class_probabilities(scores, self.class_exponent)[own])
            }
            Measure::Brier if self.is_of_classes(measure) => self.of_inputs(|scores, own| {
                let probabilities = class_probabilities(scores, self.class_exponent).into_iter().enumerate();
                probabilities.map(|(c, p)| (p - f64::from(u8::from(c == own))).powi(2)).sum()
            }),
            Measure::Loss => {
                let losses: Vec<Option<Box<dyn Loss>>> = self.losses.iter().map(|l| l.build().ok()).collect();
                let value = |row: &PredictedRow| {
                    let loss = losses[row.task as usize].as_ref();
                    let value = loss.map_or(f64::NAN, |loss| loss.value(row.label, row.score));
                    MeasuredRow { score: value, ..plain(row) }
                };
                self.rows.iter().map(value).collect()
            }
            _ => self.rows.iter().map(plain).collect(),
        }
    }

    /// Labels and predictions less the baseline of their row, over the root mean square of the task's labels less
    /// their baselines. Without a baseline it is the mean of the task's labels. `without_mean` removes the means
    /// of errors and of deviations. A task whose labels do not deviate has no rows. Among the rows of all tasks, those
    /// of a task weigh as precisely as its unit is known, or, if there is one unit for all, by the square of its own.
    fn in_units_of_tasks(&self, without_mean: bool) -> Vec<MeasuredRow> {
        let mut of_task: Vec<Vec<&PredictedRow>> = vec![vec![]; self.n_tasks];
        self.rows.iter().for_each(|row| of_task[row.task as usize].push(row));
        let (mut measured, mut ln_squares, mut totals) = (vec![], vec![], vec![]);
        for rows in of_task.iter().filter(|rows| !rows.is_empty()) {
            let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
            let labels: Vec<f64> = rows.iter().map(|row| row.label).collect();
            let Some(own_mean) = metrics::mean(&labels, Some(&weights)) else { continue };
            let baseline: Vec<f64> = rows.iter().map(|row| row.baseline.unwrap_or(own_mean)).collect();
            let mut deviations: Vec<f64> = labels.iter().zip(&baseline).map(|(y, b)| y - b).collect();
            let mut errors: Vec<f64> = rows.iter().map(|row| row.label - row.score).collect();
            if without_mean {
                subtract_mean(&mut deviations, &weights);
                subtract_mean(&mut errors, &weights);
            }
            let zeros = vec![0.0; rows.len()];
            let unit = metrics::rmse(&deviations, &zeros, Some(&weights));
            let Some(unit) = unit.filter(|unit| *unit > 0.0 && unit.is_finite()) else { continue };
            ln_squares.push(2.0 * unit.ln());
            totals.push(weights.iter().sum::<f64>());
            measured.push(
                rows.iter()
                    .enumerate()
                    .map(|(i, row)| MeasuredRow {
                        input: row.input,
                        task: row.task,
                        fold: row.fold,
                        label: errors[i] / unit,
                        score: 0.0,
                        weight: row.weight,
                        pooled_weight: row.weight,
                    })
                    .collect::<Vec<_>>(),
            );
        }
        let of_task = match self.one_unit {
            true => relative(&ln_squares),
            false => metrics::precision_weights(&ln_squares, &totals),
        };
        for (rows, of_task) in measured.iter_mut().zip(of_task) {
            rows.iter_mut().for_each(|row| row.pooled_weight *= of_task);
        }
        let mut measured = measured.concat();
        if measured.iter().all(|row| row.pooled_weight == 0.0) {
            measured.iter_mut().for_each(|row| row.pooled_weight = row.weight);
        }
        measured
    }

    /// One row for each input, of the task that is its class: how many classes have higher scores. Of equal
    /// scores those of the first classes are taken to be higher.
    fn places(&self) -> Vec<MeasuredRow> {
        self.of_inputs(|scores, own| {
            let before = |c: usize| scores[c] > scores[own] || (scores[c] == scores[own] && c < own);
            let place = (0..scores.len()).filter(|c| before(*c)).count() as f64;
            if scores.iter().any(|score| score.is_nan()) { f64::NAN } else { place }
        })
    }

    /// One row for each input, of the task that is its class: a value of the scores of all classes and its own.
    fn of_inputs(&self, value: impl Fn(&[f64], usize) -> f64) -> Vec<MeasuredRow> {
        let row = |input: &[PredictedRow]| {
            let own = input.iter().position(|row| row.label > 0.0)?;
            let (row, scores) = (&input[own], input.iter().map(|row| row.score).collect::<Vec<f64>>());
            Some(MeasuredRow {
                input: row.input,
                task: row.task,
                fold: row.fold,
                label: 0.0,
                score: value(&scores, own),
                weight: row.weight,
                pooled_weight: row.weight,
            })
        };
        self.rows.chunks(self.n_tasks.max(1)).filter_map(row).collect()
    }
}

/// Numbers with these logarithms, relative to the largest.
fn relative(logarithms: &[f64]) -> Vec<f64> {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter().map(|ln| (ln - largest).exp()).collect()
}

fn subtract_mean(values: &mut [f64], weights: &[f64]) {
    if let Some(mean) = metrics::mean(values, Some(weights)).filter(|mean| mean.is_finite()) {
        values.iter_mut().for_each(|value| *value -= mean);
    }
}

/// Some rows, column by column.
#[derive(Debug, Clone, Default)]
struct ScoreColumns {
    folds: Vec<u32>,
    labels: Vec<f64>,
    scores: Vec<f64>,
    weights: Vec<f64>,
}

impl ScoreColumns {
    fn push(&mut self, row: &MeasuredRow, weight: f64) {
        self.folds.push(row.fold);
        self.labels.push(row.label);
        self.scores.push(row.score);
        self.weights.push(weight);
    }

    fn measure(&self, measure: Measure) -> Option<f64> {
        let (labels, scores, weights) = (&self.labels[..], &self.scores[..], Some(&self.weights[..]));
        let within_place = |k: u32| {
            let hit = |place: &f64| if place.is_nan() { f64::NAN } else { f64::from(k) - place };
            let hits: Vec<f64> = scores.iter().map(hit).collect();
            metrics::accuracy(&vec![1.0; hits.len()], &hits, weights)
        };
        match measure {
            Measure::R2 | Measure::ExplainedVariance => {
                metrics::rmse(labels, scores, weights).map(|nrmse| 1.0 - nrmse * nrmse)
            }
            Measure::Rmse | Measure::Nrmse => metrics::rmse(labels, scores, weights),
            Measure::Mae => metrics::mae(labels, scores, weights),
            Measure::Auc => metrics::auc_within(&self.folds, labels, scores, weights),
            Measure::PrAuc => metrics::pr_auc_within(&self.folds, labels, scores, weights),
            Measure::Accuracy => metrics::accuracy(labels, scores, weights),
            Measure::BalancedAccuracy => metrics::balanced_accuracy(labels, scores, weights),
            Measure::F1Macro => metrics::f1_macro(labels, scores, weights),
            Measure::LogLoss => metrics::log_loss(labels, scores, weights),
            Measure::Brier => metrics::brier(labels, scores, weights),
            Measure::Loss => metrics::mean(scores, weights),
            Measure::ClassAccuracy => within_place(1),
            Measure::TopK(k) => within_place(k),
        }
    }
}

/// Predictions of a model for observations of these inputs, in their order, with their offsets. For a task without
/// training observations it is what atoms say about it, or the mean of the predictions of the others.
///
/// # Errors
/// If the inputs do not suit the model.
pub fn predict(model: &Model, inputs: &Inputs<'_>, observations: &Observations) -> Result<Vec<f64>> {
    let one_each = observations.len() == inputs.n_inputs()
        && (0..observations.len()).all(|o| observations.input(o) == o);
    let mut predictions = if one_each {
        let tasks: Vec<u32> = (0..observations.len()).map(|o| observations.task(o) as u32).collect();
        model.predict(inputs, &tasks)?
    } else {
        let all = model.predict_all(inputs)?;
        (0..observations.len()).map(|o| all[(observations.input(o), observations.task(o))]).collect()
    };
    let mut has_rows = vec![false; observations.n_tasks()];
    (0..observations.len()).for_each(|o| has_rows[observations.task(o)] = true);
    for t in (0..observations.n_tasks()).filter(|&t| has_rows[t] && model.is_empty_task(t)) {
        let of_task = match model.borrowed_empty_task(t)? {
            Some(task) => model.predict_borrowed(inputs, &task)?,
            None => model.predict_mean(inputs)?,
        };
        for o in (0..observations.len()).filter(|&o| observations.task(o) == t) {
            predictions[o] = of_task[observations.input(o)];
        }
    }
    observations.add_offsets(&mut predictions);
    Ok(predictions)
}
