//! How alike the fitted functions of tasks are.

use super::predictor::by_kernel;
use super::{Model, Predictor};
use crate::linalg::{self, view};
use crate::{Matrix, Result};

impl Model {
    /// Correlations of the fitted functions, `<f_s, f_t> / (|f_s| |f_t|)` with `f_t(x) = F(x, t)` and the inner product
    /// of the kernel's space, zero where a function is zero. With the linear kernel these are the cosines between
    /// coefficients of scaled features. `None` with a precomputed kernel, whose values the model does not keep.
    ///
    /// At 1 two tasks are predicted alike up to scale and intercept, below 0 they are opposite. Theta is another
    /// question: it says what tasks lend each other, and [`correlation`](Self::correlation) is about it.
    ///
    /// ```
    /// # use kinfolk::inputs::{Dense, Inputs};
    /// # use kinfolk::{Dataset, Observations, Problem, ProblemSpec, Settings, fit};
    /// let x = [-2.0, -1.0, 1.0, 2.0];
    /// let inputs = Inputs::from(Dense::f64(&x, 4, 1)?);
    /// let observations = Observations::multi_task(&[0, 1, 0, 1], vec![-2.0, 1.0, 1.0, -2.0])?;
    /// let data = Dataset::new(&inputs, &observations, Default::default())?;
    /// let model = fit(&Problem::new(&data, ProblemSpec::default())?, &Settings::default())?.model;
    /// let alike = model.function_correlation()?.expect("the kernel is linear");
    /// assert!((alike[(0, 1)] + 1.0).abs() < 1e-12);
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    ///
    /// # Errors
    /// If kernel values of the support inputs cannot be computed.
    pub fn function_correlation(&self) -> Result<Option<Matrix>> {
        let functions = in_units_of_largest(self.predictor.function());
        let gram = match &self.predictor {
            Predictor::Weights(_) => linalg::gram(&functions, 1),
            Predictor::Kernel(expansion) => {
                let Some(support) = &expansion.support else { return Ok(None) };
                // <f_s, f_t> = sum_i c_is f_t(x_i)
                let values = by_kernel((Some(support), &functions), &self.about, support, None)?;
                let mut gram = linalg::times(view(&functions).transpose(), view(&values), 1);
                linalg::symmetrise(&mut gram);
                gram
            }
        };
        Ok(Some(correlations(&gram)))
    }
}

/// `M_rs / sqrt(M_rr M_ss)`, zero where a task has nothing.
pub(super) fn correlations(m: &Matrix) -> Matrix {
    let t = m.rows();
    let mut out = Matrix::zeros(t, t);
    for r in 0..t {
        for s in 0..t {
            let size = m[(r, r)].sqrt() * m[(s, s)].sqrt();
            if size > 0.0 {
                out[(r, s)] = if r == s { 1.0 } else { (m[(r, s)] / size).clamp(-1.0, 1.0) };
            }
        }
    }
    out
}

/// Every column divided by its largest entry, so that no square leaves the range of numbers.
fn in_units_of_largest(m: &Matrix) -> Matrix {
    let mut largest = vec![0.0f64; m.cols()];
    for i in 0..m.rows() {
        largest.iter_mut().zip(m.row(i)).for_each(|(most, x)| *most = most.max(x.abs()));
    }
    let mut out = m.clone();
    for i in 0..m.rows() {
        for (x, &most) in out.row_mut(i).iter_mut().zip(&largest) {
            *x = if most > 0.0 { *x / most } else { 0.0 };
        }
    }
    out
}
