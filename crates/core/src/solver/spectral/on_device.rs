//! The same on a device that holds the inputs: X'X, its eigenvectors and all points stay there.
//!
//! For k = 1 without atoms, alternation solves equations with X'X as it is ([`PlainSquare`]): no eigenvectors needed.
//! In all other cases Newton's method works in the eigenbasis. The duals of the weights found are certified like those
//! of any solver; products with the inputs are the device's.

use super::alternation::{self, FirstTheta};
use super::dense::PlainSquare;
use super::square::Diagonal;
use super::{Ended, Reduced, SpectralSearch, VPoint, certified};
use crate::Result;
use crate::algebra::{Algebra, DeviceMatrix, OnDevice, Op};
use crate::backend::ResidentBackend;
use crate::dataset::DeviceMoments;
use crate::solver::{SolverOutcome, SolverRun};
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
        match flow {
            ControlFlow::Break(ended) => {
                let kappa = self.duals(run, &ended.point.v, &ended.point)?;
                let certified =
                    certified(run, (kappa, ended.status), || self.resident.coordinates(&ended.point.v))?;
                Ok(certified)
            }
            ControlFlow::Continue(Some(point)) => {
                Ok(ControlFlow::Continue(Some(self.duals(run, &point.v, &point)?)))
            }
            ControlFlow::Continue(None) => Ok(ControlFlow::Continue(None)),
        }
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
        let v = device.product(frame, Op::Plain, &ended.point.v, Op::Plain);
        let kappa = self.duals(run, &v, &ended.point)?;
        let certified = certified(run, (kappa, ended.status), || self.resident.coordinates(&v))?;
        Ok(match certified {
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

    /// The duals `gamma (Y - X W)` of the weights `W = V Theta` of a point, for its V in the basis of the features.
    fn duals(&self, run: &SolverRun<'_>, v: &DeviceMatrix, point: &VPoint<DeviceMatrix>) -> Result<Vec<f64>> {
        let (problem, resident, device) = (run.problem, self.resident, &*self.resident.device.0);
        let weights = self.algebra().times_small(v, &point.theta);
        let mut kappa = device.product(&resident.inputs, Op::Plain, &weights, Op::Plain);
        device.add_scaled(&mut kappa, -1.0, problem.data().device_labels(resident)?);
        device.scale(&mut kappa, -problem.gamma(0));
        if problem.is_centred() {
            // Free intercepts take the means away. The second time takes what rounding left.
            for _ in 0..2 {
                let n = resident.inputs.rows.max(1) as f64;
                let means: Vec<f64> = resident.column_sums(&kappa).iter().map(|sum| -sum / n).collect();
                device.add_to_columns(&mut kappa, &means);
            }
        }
        let kappa = device.download(&kappa);
        resident.device.check()?;
        Ok(kappa)
    }
}
