//! The device that holds inputs and labels: products and states stay there, and it adds up the terms of each task.

use super::place::Place;
use super::{LossTerms, intercepts};
use crate::algebra::{Algebra, DeviceMatrix, OnDevice, Op};
use crate::backend::{Expansion, Interrupt};
use crate::device_losses::{DeviceLosses, InterceptAim, Smoothing};
use crate::linalg::symmetrise;
use crate::{Matrix, Problem, Result};

/// Duals on the device.
pub(super) struct OnDevicePlace<'a> {
    problem: &'a Problem<'a>,
    losses: DeviceLosses<'a>,
    duals: DeviceMatrix,
}

impl<'a> OnDevicePlace<'a> {
    /// `None` if losses are not computed on a device, or coordinates are not states.
    pub(super) fn of(problem: &'a Problem<'_>, kappa: &[f64]) -> Result<Option<Self>> {
        if !problem.data().backend().coordinates_are_state() {
            return Ok(None);
        }
        let Some(losses) = DeviceLosses::of(problem)? else { return Ok(None) };
        let duals = losses.device().upload(kappa, losses.labels.rows, losses.labels.cols);
        Ok(Some(OnDevicePlace { problem, losses, duals }))
    }

    fn algebra(&self) -> OnDevice<'_> {
        OnDevice { device: self.losses.device(), threads: self.problem.data().threads() }
    }

    fn gram_of(&self, state: &DeviceMatrix) -> Result<Matrix> {
        let mut gram = self.algebra().cross(state, state);
        self.losses.resident.device.check()?;
        symmetrise(&mut gram);
        Ok(gram)
    }
}

impl Place for OnDevicePlace<'_> {
    type State = DeviceMatrix;

    fn state(&self, expansion: Expansion<'_>, _: &mut Interrupt<'_>) -> Result<DeviceMatrix> {
        Ok(match expansion {
            Expansion::Coordinates(v) => self.losses.resident.upload(v),
            Expansion::Duals(..) => {
                let inputs = &self.losses.resident.inputs;
                self.losses.device().product(inputs, Op::Transposed, &self.duals, Op::Plain)
            }
        })
    }

    fn gram(&self, _: Expansion<'_>, state: &DeviceMatrix) -> Result<Matrix> {
        self.gram_of(state)
    }

    fn gram_of_difference(
        &self,
        (_, state): (&Matrix, &DeviceMatrix),
        (_, state_a): (Expansion<'_>, &DeviceMatrix),
    ) -> Result<Matrix> {
        self.gram_of(&self.algebra().minus(state, state_a))
    }

    fn weights(&self, state: &DeviceMatrix, theta: &Matrix) -> Result<DeviceMatrix> {
        Ok(self.algebra().times_small(state, theta))
    }

    /// `None` if there are observations out of the ordinary: the code for memory says what is wrong with them.
    fn loss_terms(
        &self,
        _: &[f64],
        weights: &DeviceMatrix,
        intercept: Option<&[f64]>,
        _: &mut Interrupt<'_>,
    ) -> Result<Option<LossTerms>> {
        let (losses, device) = (&self.losses, self.losses.device());
        let scores = device.product(&losses.resident.inputs, Op::Plain, weights, Op::Plain);
        let plain = Smoothing::default();
        let intercept = match intercept {
            Some(given) if losses.rho.is_some() => given.to_vec(),
            _ => {
                let guess = vec![0.0; weights.cols];
                let aim = InterceptAim { guess, share: losses.rounding(), least: 0.0 };
                losses.best_intercepts(&scores, plain, aim)
            }
        };
        let sums = device.loss_terms(&losses.table(&scores, &intercept, plain), &self.duals);
        losses.resident.device.check()?;
        if sums.odd.iter().any(|count| *count != 0.0) {
            return Ok(None);
        }
        let (value, conj) = (sums.value.iter().sum(), sums.conj.iter().sum());
        let mut terms = LossTerms { value, conj, gap: sums.gap, intercept: vec![] };
        if let Some(rho) = losses.rho {
            let sums: Vec<(f64, f64)> = sums.kappa.into_iter().zip(sums.size).collect();
            intercepts::add_terms(self.problem, &sums, rho, &intercept, &mut terms)?;
        }
        Ok(Some(LossTerms { intercept, ..terms }))
    }

    fn in_memory(&self, state: DeviceMatrix) -> Result<Matrix> {
        let state = self.algebra().get(&state);
        self.losses.resident.device.check()?;
        Ok(state)
    }
}
