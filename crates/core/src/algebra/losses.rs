//! Losses on a device: what it has to know about a loss, and the sums it returns.

use super::DeviceMatrix;

/// A loss, as numbers that a device can compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LossForm {
    /// `log(1 + exp(-y z))`.
    Logistic,
    /// The loss with the conjugate `factor y u + quad u^2 / 2 + eps |u|`.
    Quadratic {
        /// Coefficient of `y u`.
        factor: f64,
        /// Curvature.
        quad: f64,
        /// Half the jump of the slope at u = 0.
        eps: f64,
        /// Domain of the conjugate for labels that are not negative.
        plus: (f64, f64),
        /// Domain of the conjugate for negative labels.
        minus: (f64, f64),
    },
}

/// Observations of one loss and one weight: every input (row) has a label for every task (column).
#[derive(Debug, Clone, Copy)]
pub struct LossTable<'a> {
    /// The loss.
    pub form: LossForm,
    /// Labels.
    pub labels: &'a DeviceMatrix,
    /// Predictions without intercepts.
    pub scores: &'a DeviceMatrix,
    /// The intercept of each task.
    pub intercept: &'a [f64],
    /// The weight of every observation.
    pub weight: f64,
    /// Weight of a proximal term, as in [`DerivativeBlock`](crate::loss::DerivativeBlock).
    pub mu: f64,
    /// Its centres; `None` for zeros.
    pub centre: Option<&'a DeviceMatrix>,
}

/// Sums over the rows, one number for each column.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSums {
    /// Losses, times their weight.
    pub value: Vec<f64>,
    /// Duals `-w L'`.
    pub kappa: Vec<f64>,
    /// Sizes of the duals.
    pub size: Vec<f64>,
    /// Curvatures `w L''`.
    pub curvature: Vec<f64>,
}

/// Sums over the rows, one number for each column.
#[derive(Debug, Clone, PartialEq)]
pub struct TermSums {
    /// Fenchel-Young terms, times their weight.
    pub gap: Vec<f64>,
    /// Losses, times their weight.
    pub value: Vec<f64>,
    /// Conjugates, times their weight.
    pub conj: Vec<f64>,
    /// Duals.
    pub kappa: Vec<f64>,
    /// Sizes of duals.
    pub size: Vec<f64>,
    /// Observations that are out of the ordinary: duals outside their domain, predictions that are not finite, terms
    /// that are negative beyond rounding. Where there are any, the other sums mean nothing.
    pub odd: Vec<f64>,
}

/// Duals and curvatures of all observations, with their sums.
#[derive(Debug)]
pub struct Answers {
    /// Sums over the rows.
    pub sums: AnswerSums,
    /// Duals `-w L'`.
    pub kappa: DeviceMatrix,
    /// Curvatures `w L''`.
    pub curvature: DeviceMatrix,
}
