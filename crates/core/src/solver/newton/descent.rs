//! Newton steps on a smooth problem.

use super::generic::NewtonModel;
use crate::solver::newton_system::linear::Linear;
use crate::solver::newton_system::search::line_search;
use crate::solver::newton_system::{MatOf, NewtonStep, PointOf};

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
    pub(in crate::solver) fn step<M: NewtonModel>(
        &mut self,
        model: &M,
        point: &PointOf<M>,
        residual: &MatOf<M>,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<PointOf<M>> {
        let curvature = model.curvature(point);
        let derivative = point.derivative(model.output(), model.algebra());
        let mut tighten = 1.0;
        while tighten >= TIGHTEST {
            let derivatives = (&curvature, &derivative);
            let dv = model.direction(&mut self.linear, derivatives, residual, tighten * tolerance, stop);
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
