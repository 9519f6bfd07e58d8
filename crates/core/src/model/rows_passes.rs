//! The two passes over rows that certify a model of losses other than the squared one.

use super::Model;
use crate::backend::{Backend, FeatureBackend};
use crate::certificate::RowsGrade;
use crate::intercept::cost::costs_of_directions;
use crate::rows::{
    BalanceSums, GradeAt, GradeSums, Question, RowsPoint, RowsSetting, add_answer, balancing_factors,
};
use crate::{Certificate, Error, Inputs, Observations, Result};

/// What is asked now, and the answers so far.
#[derive(Debug)]
pub(super) struct RowsPasses {
    setting: RowsSetting,
    question: Question,
    sum: Option<Vec<f64>>,
    /// Units of the kernel and of coordinates that suit the first rows.
    units: Option<(f64, f64)>,
    /// The costs of intercepts, once they are known.
    rho: Option<Vec<f64>>,
}

impl RowsPasses {
    pub(super) fn new(model: &Model) -> Result<Self> {
        let Some(weights) = model.weights() else {
            return Err(Error::Incompatible("a model of rows that are elsewhere must have weights".into()));
        };
        let none = || vec![0.0; model.tasks().len()];
        let point = RowsPoint {
            weights: weights.clone(),
            intercept: model.intercept().map_or_else(none, <[f64]>::to_vec),
            smoothing: model.about.smoothing,
        };
        let (setting, question) = (model.rows_setting(), Question::Balance(point));
        Ok(RowsPasses { setting, question, sum: None, units: None, rho: None })
    }

    pub(super) fn add(
        &mut self,
        inputs: &Inputs<'_>,
        observations: &Observations,
        threads: usize,
    ) -> Result<()> {
        let rows = self.setting.prepare(inputs, observations)?;
        if self.units.is_none() {
            let backend = FeatureBackend::new(&rows.inputs, false, 0.0)?;
            self.units = Some((backend.unit(), backend.coordinate_unit()));
        }
        add_answer(&mut self.sum, self.setting.answer(&self.question, &rows, threads)?)
    }

    /// Goes on to the next pass, if there is one.
    pub(super) fn next(&mut self, model: &Model) -> Result<bool> {
        let Question::Balance(point) = &self.question else { return Ok(false) };
        let sums = BalanceSums::from_numbers(&self.sum.take().unwrap_or_default(), model.tasks().len())?;
        let spec = &model.about.problem;
        self.rho = costs_of_directions(spec.intercept, spec.c, &sums.directions);
        let factors = balancing_factors(&sums.positive, &sums.negative, self.rho.as_deref());
        let errors = self.grade(model, point)?.errors()?;
        self.question = Question::Grade(point.clone(), GradeAt { factors, errors });
        Ok(true)
    }

    /// Units, and the answers.
    pub(super) fn to_numbers(&self) -> Vec<f64> {
        match (self.units, &self.sum) {
            (Some((kernel, coordinate)), Some(sum)) => [&[kernel, coordinate][..], sum].concat(),
            _ => vec![],
        }
    }

    pub(super) fn add_numbers(&mut self, numbers: &[f64]) -> Result<()> {
        let [kernel, coordinate, answer @ ..] = numbers else {
            return Err(Error::Incompatible("these are not the sums of a pass with this model".into()));
        };
        self.units.get_or_insert((*kernel, *coordinate));
        add_answer(&mut self.sum, answer.to_vec())
    }

    pub(super) fn finish(self, model: &Model) -> Result<Certificate> {
        let Question::Grade(point, _) = &self.question else { return Err(once_more()) };
        let shape = (point.weights.rows(), point.weights.cols());
        let sums = GradeSums::from_numbers(self.sum.as_deref().unwrap_or_default(), shape)?;
        self.grade(model, point)?.certificate(&sums, model.tasks())
    }

    fn grade<'a>(&'a self, model: &'a Model, point: &'a RowsPoint) -> Result<RowsGrade<'a>> {
        let (Some(v), Some(units)) = (&model.v, self.units) else { return Err(once_more()) };
        let (spec, rho) = (&model.about.problem, self.rho.as_deref());
        Ok(RowsGrade { spec, units, v, intercept: &point.intercept, rho })
    }
}

fn once_more() -> Error {
    Error::Incompatible("all rows have to be added once more".into())
}
