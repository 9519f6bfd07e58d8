//! The same on a device that holds the inputs: X'X, its eigenvectors and all points stay there.
//!
//! For k = 1 without atoms, alternation solves equations with X'X as it is ([`PlainSquare`]): no eigenvectors needed.
//! In all other cases Newton's method works in the eigenbasis. The duals of the weights found are certified like those
//! of any solver; products with the inputs are the device's.

use super::alternation::{self, FirstTheta};
use super::dense::PlainSquare;
use super::square::Diagonal;
use super::{Ended, Reduced, SpectralSearch, VPoint, certified, kappa_of};
use crate::algebra::{Algebra, DeviceMatrix, OnDevice, Op};
use crate::backend::ResidentBackend;
use crate::dataset::DeviceMoments;
use crate::solver::{SolverOutcome, SolverRun};
use crate::{Matrix, Result};
use std::ops::ControlFlow;

/// The outcome; or the duals it reached, if any, where the solver in memory should go on.
pub(super) fn run(
    run: &mut SolverRun<'_>,
    resident: &ResidentBackend<'_>,
) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
    let (problem, data) = (run.problem, run.problem.data());
    let centred = problem.is_centred();
    let moments = data.device_moments(resident, centred)?;
    let on_device = OnDeviceRun { resident, moments, threads: data.threads() };
    data.pool().install(|| {
        if let Some(gain) = alternation::gain(problem.entrywise()?) {
            match on_device.by_alternation(run, gain, centred)? {
                ControlFlow::Break(outcome) => return Ok(ControlFlow::Break(outcome)),
                ControlFlow::Continue(reached) => run.given = reached.or(run.given.take()),
            }
        }
        on_device.in_eigenbasis(run, centred).map(ControlFlow::Break)
    })
}

struct OnDeviceRun<'a> {
    resident: &'a ResidentBackend<'a>,
    moments: &'a DeviceMoments,
    threads: usize,
}

impl OnDeviceRun<'_> {
    fn algebra(&self) -> OnDevice<'_> {
        OnDevice { device: &*self.resident.device.0, threads: self.threads }
    }

    /// Alternation without eigenvectors.
    fn by_alternation(
        &self,
        run: &mut SolverRun<'_>,
        gain: f64,
        centred: bool,
    ) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
        let (problem, algebra) = (run.problem, self.algebra());
        let square = self.resident.square(centred)?;
        let dense = PlainSquare::new(&algebra, &square.matrix, square.mean_of_diagonal);
        let DeviceMoments { moment, label_square } = self.moments;
        let reduced = Reduced::new(problem, &dense, (moment, *label_square), algebra)?;
        let mut search = SpectralSearch::new(&reduced, run.settings.tolerance, &mut run.clock);
        let flow = match &run.given {
            Some(kappa) => {
                let first = reduced.point(self.state(kappa));
                alternation::run(&mut search, FirstTheta::OfPoint(&first))
            }
            None => {
                let first = alternation::independent(&reduced, gain)?;
                alternation::run(&mut search, FirstTheta::Diagonal(&first))
            }
        };
        self.resident.device.check()?;
        Ok(match flow {
            ControlFlow::Break(ended) => {
                let (kappa, coordinates) = self.found(run, &ended.point, None)?;
                certified(run, (kappa, ended.status), coordinates)?
            }
            ControlFlow::Continue(Some(point)) => {
                ControlFlow::Continue(Some(self.found(run, &point, None)?.0))
            }
            ControlFlow::Continue(None) => ControlFlow::Continue(None),
        })
    }

    /// Newton's method, after alternation where that helps.
    fn in_eigenbasis(&self, run: &mut SolverRun<'_>, centred: bool) -> Result<SolverOutcome> {
        let (problem, algebra, device) = (run.problem, self.algebra(), &*self.resident.device.0);
        let (values, frame) = self.resident.square(centred)?.spectrum(&self.resident.device)?;
        let turn = |m: &DeviceMatrix| device.product(frame, Op::Transposed, m, Op::Plain);
        let (diagonal, moment) = (Diagonal(values), turn(&self.moments.moment));
        let reduced = Reduced::new(problem, &diagonal, (&moment, self.moments.label_square), algebra)?;
        let mut search = SpectralSearch::new(&reduced, run.settings.tolerance, &mut run.clock);
        let ended: Ended<DeviceMatrix> = match &run.given {
            Some(kappa) => search.warm(reduced.point(turn(&self.state(kappa)))),
            None => search.cold(),
        };
        self.resident.device.check()?;
        let (kappa, coordinates) = self.found(run, &ended.point, Some(frame))?;
        Ok(match certified(run, (kappa, ended.status), coordinates)? {
            ControlFlow::Break(outcome) => outcome,
            ControlFlow::Continue(_) => run.give_up()?,
        })
    }

    /// `X'kappa`.
    fn state(&self, kappa: &[f64]) -> DeviceMatrix {
        let (device, inputs) = (&*self.resident.device.0, &self.resident.inputs);
        let kappa = device.upload(kappa, inputs.rows, kappa.len() / inputs.rows.max(1));
        device.product(inputs, Op::Transposed, &kappa, Op::Plain)
    }

    /// The duals of a point, and the coordinates of its V: those in the frame P, if there is one, times P.
    fn found(
        &self,
        run: &SolverRun<'_>,
        point: &VPoint<DeviceMatrix>,
        frame: Option<&DeviceMatrix>,
    ) -> Result<(Vec<f64>, Matrix)> {
        let (algebra, device) = (self.algebra(), &*self.resident.device.0);
        let turned = frame.map(|frame| device.product(frame, Op::Plain, &point.v, Op::Plain));
        let v = turned.as_ref().unwrap_or(&point.v);
        let weights = algebra.times_small(v, &point.theta);
        let scores = device.product(&self.resident.inputs, Op::Plain, &weights, Op::Plain);
        let (scores, coordinates) = (device.download(&scores), algebra.get(v));
        self.resident.device.check()?;
        Ok((kappa_of(run.problem, &scores), coordinates))
    }
}
