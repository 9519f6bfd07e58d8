//! Linear models as people write them: a coefficient for each feature, and a constant.

use super::{Model, Predictor};
use crate::Matrix;

/// `prediction of task t = intercept_t + sum_j weights_jt x_j`, for inputs and predictions in the caller's units.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearCoefficients {
    /// (features x tasks)
    pub weights: Matrix,
    /// One for each task.
    pub intercept: Vec<f64>,
}

impl Model {
    /// The coefficients of a model with the linear kernel; with the cosine kernel or unit scaling, for inputs of
    /// length one. `None` for other kernels.
    ///
    /// Units are those of the caller: of features before scaling and of labels before scaling.
    /// [`weights`](Self::weights) and [`theta`](Self::theta) are about scaled ones, in which tasks can be compared.
    pub fn linear_coefficients(&self) -> Option<LinearCoefficients> {
        let Predictor::Weights(scaled) = &self.predictor else { return None };
        let (d, n_tasks) = (self.about.n_features, scaled.cols());
        let (mean, factor) = self.scaling.mean_and_factor().unwrap_or((None, &[]));
        let mut weights = Matrix::zeros(d, n_tasks);
        let mut intercept = vec![0.0; n_tasks];
        for t in 0..n_tasks {
            let spread = self.target_scaling.as_ref().map_or(1.0, |scaling| scaling.spread()[t]);
            let mut constant = self.intercept.as_ref().map_or(0.0, |intercept| intercept[t]);
            if scaled.rows() > d {
                constant += scaled[(d, t)] * self.about.bias;
            }
            for j in 0..d {
                let weight = scaled[(j, t)] * factor.get(j).unwrap_or(&1.0);
                constant -= weight * mean.map_or(0.0, |mean| mean[j]);
                weights[(j, t)] = weight * spread;
            }
            let scaling = self.target_scaling.as_ref();
            intercept[t] = scaling.map_or(constant, |scaling| scaling.unscale(t, constant));
        }
        Some(LinearCoefficients { weights, intercept })
    }
}
