//! A loss at predictions moved by a number of each observation's own.

use super::{Loss, QuadraticConjugate, ResponseBlock, response};
use std::sync::Arc;

/// `z -> L_i(y_i, z + offset_i)` for observation i, whose number takes the place of the label. Its conjugate is
/// `u -> L_i*(y_i, u) - offset_i u`. Solvers see a loss like any other.
#[derive(Debug)]
pub(crate) struct Shifted {
    pub(crate) losses: Arc<ObservationLosses>,
    pub(crate) offsets: Vec<f64>,
}

/// Losses and labels of all observations.
#[derive(Debug)]
pub(crate) struct ObservationLosses {
    /// Distinct losses, and which one each observation has.
    pub(crate) losses: Vec<Box<dyn Loss>>,
    pub(crate) loss_of: Vec<u32>,
    pub(crate) labels: Vec<f64>,
}

impl Shifted {
    /// Loss, label and offset of an observation. Solvers ask losses about label 1 before they look at any data: without a second
    /// observation, the first one answers.
    fn of(&self, number: f64) -> (&dyn Loss, f64, f64) {
        let ObservationLosses { losses, loss_of, labels } = &*self.losses;
        let i = (number as usize).min(labels.len() - 1);
        (&*losses[loss_of[i] as usize], labels[i], self.offsets[i])
    }
}

impl Loss for Shifted {
    fn name(&self) -> &'static str {
        "shifted"
    }

    fn check_label(&self, _number: f64) -> Result<(), &'static str> {
        Ok(())
    }

    fn value(&self, number: f64, z: f64) -> f64 {
        let (loss, y, offset) = self.of(number);
        loss.value(y, z + offset)
    }

    fn slope(&self, number: f64, z: f64) -> (f64, f64) {
        let (loss, y, offset) = self.of(number);
        loss.slope(y, z + offset)
    }

    fn curvature(&self, number: f64, z: f64) -> f64 {
        let (loss, y, offset) = self.of(number);
        loss.curvature(y, z + offset)
    }

    fn conj(&self, number: f64, u: f64) -> f64 {
        let (loss, y, offset) = self.of(number);
        loss.conj(y, u) - offset * u
    }

    fn conj_domain(&self, number: f64) -> (f64, f64) {
        let (loss, y, _) = self.of(number);
        loss.conj_domain(y)
    }

    fn conj_slope(&self, number: f64, u: f64) -> (f64, f64) {
        let (loss, y, offset) = self.of(number);
        let (left, right) = loss.conj_slope(y, u);
        (left - offset, right - offset)
    }

    fn conj_curvature(&self, number: f64, u: f64) -> f64 {
        let (loss, y, _) = self.of(number);
        loss.conj_curvature(y, u)
    }

    fn quadratic_conjugate(&self, number: f64) -> Option<QuadraticConjugate> {
        let (loss, y, offset) = self.of(number);
        loss.quadratic_conjugate(y).map(|shape| QuadraticConjugate { y: shape.y - offset, ..shape })
    }

    fn fenchel_young(&self, number: f64, z: f64, u: f64) -> f64 {
        let (loss, y, offset) = self.of(number);
        loss.fenchel_young(y, z + offset, u)
    }

    fn is_smooth(&self) -> bool {
        self.losses.losses.iter().all(|loss| loss.is_smooth())
    }

    fn respond(&self, block: &mut ResponseBlock<'_>) {
        block.fill(|number, z, mu, centre| match self.quadratic_conjugate(number) {
            Some(shape) => shape.respond(z, mu, centre),
            None => {
                let (loss, y, offset) = self.of(number);
                response::smooth(loss, y, z + offset)
            }
        });
    }
}
