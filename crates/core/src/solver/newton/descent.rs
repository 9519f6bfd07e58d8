//! Newton steps on a smooth problem.

use super::model::{Smoothed, VPoint};
use crate::Matrix;
use crate::design::Curvature;
use crate::solver::newton_system::linear::{Linear, System};
use crate::solver::newton_system::search::line_search;
use crate::solver::newton_system::{NewtonStep, Smooth};

/// How much tighter than usual the linear solves may become after failed line searches.
const TIGHTEST: f64 = 1e-3;

/// Makes steps, and remembers what linear solves cost.
#[derive(Debug, Default)]
pub(in crate::solver) struct Descent {
    pub(in crate::solver) linear: Linear,
}

impl Descent {
    /// The point after a step. Linear systems are solved to this tolerance, or tighter if the line search
    /// fails, because a truncated solution need not be a descent direction. `None` if there is no descent
    /// direction, or as soon as `stop()`.
    pub(in crate::solver) fn step(
        &mut self,
        model: &Smoothed<'_>,
        point: &VPoint,
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<VPoint> {
        let curvature = Curvature::new(model.design, point.side.curvature.clone(), model.rho);
        let derivative = point.derivative(model.output(), model.algebra());
        let mut tighten = 1.0;
        while tighten >= TIGHTEST {
            let system =
                System { design: model.design, curvature: &curvature, derivative: &derivative, residual };
            let dv = self.linear.step(&system, tighten * tolerance, stop);
            if stop() {
                return None;
            }
            let next = dv
                .and_then(|dv| NewtonStep::down(&derivative, residual, dv))
                .and_then(|step| line_search(model, point, &step));
            if next.is_some() {
                return next;
            }
            tighten *= 0.1;
        }
        None
    }
}
