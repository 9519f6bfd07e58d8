//! The best point found so far: duals, a primal point, and the certificate of both.

use super::start;
use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::intercept::balance::balanced;
use crate::{Certificate, Matrix, Problem, Result};

/// Duals and a primal point with their certificate, in the problem's own units. Duals are balanced if intercepts are
/// free; intercepts are the best ones for the primal point.
#[derive(Debug, Clone)]
pub(crate) struct Incumbent {
    /// Dual variables in observation order.
    pub(crate) kappa: Vec<f64>,
    /// Coordinates of the primal point; `None` stands for the point that the duals induce.
    pub(crate) v: Option<Matrix>,
    pub(crate) graded: Graded,
}

impl Incumbent {
    /// Duals with the primal point that they induce.
    pub(crate) fn induced(
        problem: &Problem<'_>,
        kappa: Vec<f64>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Self> {
        let kappa = balanced(problem, kappa);
        let graded = certify_normal(problem, &kappa, None, interrupt)?;
        Ok(Incumbent { kappa, v: None, graded })
    }

    /// Duals with the primal point of these coordinates.
    pub(crate) fn pair(problem: &Problem<'_>, kappa: Vec<f64>, v: Matrix) -> Result<Self> {
        let kappa = balanced(problem, kappa);
        let graded = certify_normal(problem, &kappa, Some(&v), &mut Interrupt::never())?;
        Ok(Incumbent { kappa, v: Some(v), graded })
    }

    /// Duals with the zero function; zero duals if the bound of the given ones is not finite.
    pub(crate) fn zero_function(problem: &Problem<'_>, kappa: Vec<f64>) -> Result<Self> {
        let zero = Matrix::zeros(problem.data().backend().dim(), problem.observations().n_tasks());
        let given = Incumbent::pair(problem, kappa, zero.clone())?;
        if given.certificate().dual.is_finite() {
            return Ok(given);
        }
        Incumbent::pair(problem, start::zeros(problem), zero)
    }

    pub(crate) fn certificate(&self) -> &Certificate {
        &self.graded.certificate
    }

    pub(crate) fn rel_gap(&self) -> f64 {
        self.certificate().rel_gap()
    }

    /// Takes over another point if its gap is smaller.
    pub(crate) fn replace_if_better(&mut self, other: Incumbent) {
        if other.certificate().gap < self.certificate().gap {
            *self = other;
        }
    }

    /// Keeps the better of two primal points and the better of two duals, which need not come from the same
    /// round; of two equal ones the newer. `v` are coordinates of the backend. Whether anything became strictly better.
    pub(crate) fn offer(&mut self, problem: &Problem<'_>, kappa: Vec<f64>, v: Matrix) -> Result<bool> {
        let new = Incumbent::pair(problem, kappa, v)?;
        let (old, offered) = (self.certificate(), new.certificate());
        let improved = offered.primal < old.primal || offered.dual > old.dual;
        match (offered.primal <= old.primal, offered.dual >= old.dual, self.v.take()) {
            (true, true, _) => *self = new,
            (true, false, _) => {
                if let Some(v) = new.v {
                    *self = Incumbent::pair(problem, std::mem::take(&mut self.kappa), v)?;
                }
            }
            (false, true, Some(v)) => *self = Incumbent::pair(problem, new.kappa, v)?,
            // Without coordinates of its own the old primal point would change with the duals.
            (false, _, v) => self.v = v,
        }
        Ok(improved)
    }
}
