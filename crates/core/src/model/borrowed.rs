//! Tasks without training observations: what they borrow from the others.

use super::Model;
use crate::inputs::Dense;
use crate::linalg::{dot, eigen};
use crate::regularizer::AtomKind;
use crate::{Error, Inputs, Kernel, Matrix, Result};

/// Eigenvalues of Theta below this share of the largest count as zero.
const EIGENVALUE_FLOOR: f64 = 1e-11;

/// A task without observations of its own, as a mixture of the tasks of a model.
///
/// With a known relation `Theta_new,s` to every task, `F(x, new) = sum_s Theta_new,s (V'x)_s`. Its prediction at the
/// mean of the training inputs and the unit of its labels, in the caller's units, are means of those of the tasks with
/// observations, weighted by `max(Theta_new,s, 0)`, all with the same weight if none is positive. Of classes it is the
/// weighted median of predictions: a task whose labels are all of one class has an intercept far from those of the
/// others.
#[derive(Debug, Clone, PartialEq)]
pub struct BorrowedTask {
    /// F(x, new) as a sum of the functions of all tasks: `F(x, s) = sum_r Theta_sr (V'x)_r`.
    mixture: Vec<f64>,
    /// Intercept in the caller's units.
    constant: f64,
    /// Unit of its labels.
    unit: f64,
}

impl Model {
    /// The task of this relation to every task of the model, a row of Theta as it would be with the new task.
    ///
    /// Such a row is in the range of Theta, since Theta with the new task is positive semidefinite. So the mixture is
    /// `Theta^+ row`, and V is not needed.
    ///
    /// # Errors
    /// If there is not one finite number for each task.
    pub fn borrowed_task(&self, row: &[f64]) -> Result<BorrowedTask> {
        let n_tasks = self.theta.rows();
        if row.len() != n_tasks {
            return Err(Error::Length {
                what: "the relation of a new task",
                got: row.len(),
                expected: n_tasks,
            });
        }
        if let Some(column) = row.iter().position(|x| !x.is_finite()) {
            let (value, expected) = (row[column], "which is not a finite number");
            return Err(Error::Entry { what: "the relation of a new task", row: 0, column, value, expected });
        }
        let learned: Vec<usize> = (0..n_tasks).filter(|&t| !self.is_empty_task(t)).collect();
        let largest = learned.iter().map(|&t| row[t].max(0.0)).fold(0.0, f64::max);
        let weights: Vec<f64> = match largest > 0.0 {
            // In units of the largest no sum overflows.
            true => learned.iter().map(|&t| row[t].max(0.0) / largest).collect(),
            false => vec![1.0; learned.len()],
        };
        let sum: f64 = weights.iter().sum();
        let mean = |value: &dyn Fn(usize) -> f64| -> f64 {
            learned.iter().zip(&weights).map(|(&t, w)| w / sum * value(t)).sum()
        };
        let scaling = self.target_scaling.as_ref();
        let (mixture, at_mean) = (self.mixture(row)?, self.functions_at_mean()?);
        let function = |t: usize| at_mean.as_ref().map_or(0.0, |at_mean| at_mean[t]);
        let own = |t: usize| function(t) + self.intercept.as_ref().map_or(0.0, |intercept| intercept[t]);
        let constant = |t: usize| scaling.map_or(own(t), |scaling| scaling.unscale(t, own(t)));
        let unit = |t: usize| scaling.map_or(1.0, |scaling| scaling.spread()[t]);
        let constant = match self.predicts_classes() {
            true => median(learned.iter().map(|&t| constant(t)).zip(weights.iter().copied()).collect()),
            false => mean(&constant),
        };
        let unit = mean(&unit);
        let constant = constant - unit * at_mean.map_or(0.0, |at_mean| dot(&at_mean, &mixture));
        Ok(BorrowedTask { mixture, constant, unit })
    }

    /// Functions of all tasks at the mean of the training inputs, for linear models with intercepts whose inputs were
    /// scaled without subtracting it; else `None`. Intercepts belong to the input zero, which may be far from all
    /// inputs.
    fn functions_at_mean(&self) -> Result<Option<Vec<f64>>> {
        let (Some(mean), Kernel::Linear, Some(_)) =
            (self.scaling.means_not_subtracted(), &self.about.kernel, &self.intercept)
        else {
            return Ok(None);
        };
        let mean = Inputs::from(Dense::f64(mean, 1, mean.len())?);
        let all = self.predictor.predict(&self.about, &self.scaling.apply(&mean)?, None)?;
        Ok(Some(all.row(0).to_vec()))
    }

    pub(super) fn predicts_classes(&self) -> bool {
        (0..self.theta.rows()).all(|t| self.about.problem.loss.is_classification(t))
    }

    /// `Theta^+ row`.
    fn mixture(&self, row: &[f64]) -> Result<Vec<f64>> {
        let n_tasks = self.theta.rows();
        let largest = self.theta.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let mut mixture = vec![0.0; n_tasks];
        if largest == 0.0 {
            return Ok(mixture);
        }
        let scaled: Vec<f64> = self.theta.as_slice().iter().map(|x| x / largest).collect();
        let row: Vec<f64> = row.iter().map(|x| x / largest).collect();
        let (values, vectors) = eigen(&Matrix::from_vec(scaled, n_tasks, n_tasks)?)?;
        let floor = EIGENVALUE_FLOOR * values.last().copied().unwrap_or(0.0);
        for (k, &value) in values.iter().enumerate().filter(|(_, value)| **value > floor) {
            let vector: Vec<f64> = (0..n_tasks).map(|t| vectors[(t, k)]).collect();
            let part = dot(&vector, &row) / value;
            mixture.iter_mut().zip(&vector).for_each(|(m, v)| *m += part * v);
        }
        Ok(mixture)
    }

    /// Predictions for such a task.
    ///
    /// # Errors
    /// If the inputs do not suit the model.
    pub fn predict_borrowed(&self, inputs: &Inputs<'_>, task: &BorrowedTask) -> Result<Vec<f64>> {
        self.predictor.check_inputs(&self.about, inputs)?;
        let all = self.predictor.predict(&self.about, &self.scaling.apply(inputs)?, None)?;
        let predict = |i: usize| task.unit * dot(all.row(i), &task.mixture) + task.constant;
        Ok((0..all.rows()).map(predict).collect())
    }

    /// What the `common` atom says about a task of which nothing else is known; `None` without such an atom.
    ///
    /// # Errors
    /// If Theta has no eigenvalues.
    pub fn common_task(&self) -> Result<Option<BorrowedTask>> {
        let is_common = |relation: &AtomKind| *relation == AtomKind::Common;
        let atoms = self.about.problem.atoms.iter().zip(&self.atoms.coefficients);
        let Some((_, a)) = atoms.clone().find(|(atom, a)| is_common(&atom.relation) && **a > 0.0) else {
            return Ok(None);
        };
        let n_tasks = self.theta.rows();
        let entry = self.theta_of_strangers()? + a / n_tasks as f64;
        self.borrowed_task(&vec![entry; n_tasks]).map(Some)
    }

    /// The entry of Theta, atoms aside, between tasks of which nothing is known: phi'(0).
    ///
    /// # Errors
    /// If the regulariser of the model does not exist.
    pub fn theta_of_strangers(&self) -> Result<f64> {
        let regularizer = self.about.problem.output.build_for(self.theta.rows())?;
        Ok(regularizer.entrywise().map_or(0.0, |sum| sum.entries().dphi((0, 0), 0.0)))
    }

    /// A task of the model without observations, if atoms relate it to tasks that have some.
    ///
    /// # Errors
    /// If Theta has no eigenvalues.
    pub fn borrowed_empty_task(&self, t: usize) -> Result<Option<BorrowedTask>> {
        let related = |s: usize| !self.is_empty_task(s) && self.theta[(t, s)] != 0.0;
        if self.atoms.coefficients.is_empty() || !(0..self.theta.rows()).any(related) {
            return Ok(None);
        }
        self.borrowed_task(self.theta.row(t)).map(Some)
    }
}

/// The weighted median of numbers with their weights; the mean of the two middle ones if they share the weight.
pub(super) fn median(mut numbers: Vec<(f64, f64)>) -> f64 {
    numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * numbers.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut below = 0.0;
    for (i, &(number, weight)) in numbers.iter().enumerate() {
        below += weight;
        if below > half {
            return number;
        }
        if below == half {
            let next = numbers[i + 1..].iter().find(|(_, weight)| *weight > 0.0);
            return next.map_or(number, |(next, _)| 0.5 * number + 0.5 * next);
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_in_the_middle_of_the_weight() {
        let of = |numbers: &[(f64, f64)]| median(numbers.to_vec());
        assert_eq!(of(&[(3.0, 1.0), (1.0, 1.0), (-900.0, 1.0)]), 1.0);
        assert_eq!(of(&[(3.0, 1.0), (1.0, 1.0), (-900.0, 1.0), (4.0, 1.0)]), 2.0);
        assert_eq!(of(&[(3.0, 5.0), (1.0, 1.0), (-900.0, 2.0)]), 3.0);
        assert_eq!(of(&[(3.0, 1.0), (5.0, 0.0), (7.0, 1.0)]), 5.0);
        assert_eq!(of(&[]), 0.0);
    }
}
