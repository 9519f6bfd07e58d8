//! The same problem where inputs and labels lie on a device: predictions, duals and curvatures stay there.
//!
//! Inputs are rotated into the eigenbasis of X'X (less their mean if intercepts are free), where the preconditioner of
//! `kronecker.rs` is at home.

use super::generic::{DualModel, NewtonModel, shortened};
use super::model::BALANCED;
use super::start::QuadraticModel;
use crate::algebra::{Algebra, DeviceMatrix, OnDevice, Op};
use crate::backend::{DeviceSquare, ResidentBackend};
use crate::device_losses::{DeviceLosses, InterceptAim, Smoothing};
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::kronecker::{Kronecker, TaskCurvature};
use crate::solver::newton_system::linear::{self, Linear};
use crate::solver::newton_system::{self, Derivative, Smooth, gmres};
use crate::solver::{Poll, Settings, SolveRequest, Solver, SolverRun, Spectral, Start};
use crate::{Matrix, Problem, Result};
use std::sync::Mutex;

/// The problem with smooth losses on a device.
pub(in crate::solver) struct DeviceModel<'a> {
    problem: &'a Problem<'a>,
    losses: DeviceLosses<'a>,
    output: &'a SumRegularizer,
    square: &'a DeviceSquare,
    /// The rotated inputs.
    inputs: &'a DeviceMatrix,
    /// What was evaluated last: where the next search for intercepts starts.
    last: Mutex<Option<LastOnDevice>>,
    mu: f64,
    /// kappa / gamma.
    centre: Option<DeviceMatrix>,
}

/// Predictions without intercepts, the best intercepts, and duals and curvatures of the losses there.
#[derive(Debug)]
pub(in crate::solver) struct DeviceAnswer {
    scores: DeviceMatrix,
    intercept: Vec<f64>,
    kappa: DeviceMatrix,
    curvature: DeviceMatrix,
}

/// Curvatures d and intercepts, and for each task the sums of d and of d z, z the predictions.
struct LastOnDevice {
    curvature: DeviceMatrix,
    intercept: Vec<f64>,
    sums: Vec<f64>,
    weighted: Vec<f64>,
}

type DevicePoint = newton_system::VPoint<DeviceAnswer, DeviceMatrix>;

/// Size of the first predictions, in units of the labels, at most.
const MAX_FIRST_PREDICTION: f64 = 10.0;

/// Duals of classes count at least for this share of their bound where intercepts are looked for.
const LEAST_DUALS: f64 = 1e-6;

/// Whether solvers in V can solve such a problem on a device.
pub(in crate::solver) fn suits(problem: &Problem<'_>) -> bool {
    let is_tall = problem.data().resident().is_some_and(ResidentBackend::is_tall);
    is_tall && problem.entrywise().is_ok() && DeviceLosses::of(problem).is_ok_and(|losses| losses.is_some())
}

impl<'a> DeviceModel<'a> {
    /// `None` if the problem is not solved on a device.
    pub(in crate::solver) fn of(problem: &'a Problem<'a>) -> Result<Option<Self>> {
        if !suits(problem) {
            return Ok(None);
        }
        let Some(losses) = DeviceLosses::of(problem)? else { return Ok(None) };
        let square = losses.resident.square(problem.is_centred())?;
        let inputs = losses.resident.rotated(problem.is_centred())?;
        let (output, last) = (problem.entrywise()?, Mutex::new(None));
        Ok(Some(DeviceModel { problem, losses, output, square, inputs, last, mu: 0.0, centre: None }))
    }

    /// `X'kappa`: the V of duals.
    fn state(&self, kappa: &DeviceMatrix) -> DeviceMatrix {
        self.losses.device().product(self.inputs, Op::Transposed, kappa, Op::Plain)
    }

    /// The best intercepts for these predictions, to first order.
    fn guess(&self, last: Option<&LastOnDevice>, scores: &DeviceMatrix) -> Vec<f64> {
        let (Some(last), Some(rho)) = (last, self.losses.rho) else { return vec![0.0; scores.cols] };
        let weighted = self.losses.device().column_products(&last.curvature, scores);
        let guess = |task: usize| {
            let step = (weighted[task] - last.weighted[task]) / (last.sums[task] + rho[task]);
            if step.is_finite() { last.intercept[task] - step } else { last.intercept[task] }
        };
        (0..scores.cols).map(guess).collect()
    }

    /// A V with smaller predictions, if they are far larger than labels: then a search along its ray would have a long
    /// way to go, and intercepts would lose their digits on it.
    fn bounded(&self, mut v: DeviceMatrix) -> DeviceMatrix {
        let Some(degree) = self.output.degree() else { return v };
        let (algebra, device) = (self.algebra(), self.losses.device());
        let theta = self.output.theta(&algebra.gram(&v));
        let scores = device.product(self.inputs, Op::Plain, &algebra.times_small(&v, &theta), Op::Plain);
        let size = |m: &DeviceMatrix| algebra.inner(m, m).sqrt();
        let share = MAX_FIRST_PREDICTION * size(self.losses.labels) / size(&scores);
        if share < 1.0 && share > 0.0 {
            device.scale(&mut v, share.powf(1.0 / f64::from(2 * degree - 1)));
        }
        v
    }

    fn smoothing(&self) -> Smoothing<'_> {
        Smoothing { mu: self.mu, centre: self.centre.as_ref() }
    }

    /// Where to begin: given duals, or those of the losses at the predictions of a quadratic model; with their V.
    pub(in crate::solver) fn first(
        &mut self,
        run: &mut SolverRun<'_>,
    ) -> Result<(DeviceMatrix, DeviceMatrix)> {
        let resident = self.losses.resident;
        let (device, labels) = (&*resident.device.0, self.losses.labels);
        if let Some(kappa) = &run.given {
            let kappa = device.upload(kappa, labels.rows, labels.cols);
            return Ok((self.state(&kappa), kappa));
        }
        let QuadraticModel { spec, gain } = QuadraticModel::of(self.problem)?;
        let model = Problem::new(self.problem.data(), spec)?;
        let settings = Settings { tolerance: super::start::MODEL_TOLERANCE, ..Settings::clone(run.settings) };
        let request = SolveRequest { problem: &model, settings: &settings.check()?, start: Start::Cold };
        let solution = Spectral.solve(request, &mut Poll(&mut run.clock))?;
        // Its duals are residuals, from which the predictions follow.
        let mut scores = device.upload(&solution.kappa, labels.rows, labels.cols);
        device.scale(&mut scores, -gain / model.gamma(0));
        device.add_scaled(&mut scores, gain, labels);
        // Losses with kinks are made as smooth as a parabola is.
        let is_smooth = self.problem.only_loss().is_some_and(|loss| loss.is_smooth());
        self.mu = if is_smooth { 0.0 } else { 1.0 };
        let zeros = vec![0.0; labels.cols];
        let kappa = device.loss_answers(&self.losses.table(&scores, &zeros, self.smoothing())).kappa;
        let point = shortened(self, newton_system::VPoint::at(self, self.bounded(self.state(&kappa))));
        self.mu = 0.0;
        self.losses.resident.device.check()?;
        Ok((point.v, point.side.kappa))
    }
}

impl<'a> Smooth for DeviceModel<'a> {
    type Side = DeviceAnswer;
    type Algebra = OnDevice<'a>;

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn algebra(&self) -> OnDevice<'a> {
        let resident = self.losses.resident;
        OnDevice { device: &*resident.device.0, threads: self.problem.data().threads() }
    }

    fn losses(&self, w: &DeviceMatrix) -> (f64, DeviceAnswer) {
        let device = self.losses.device();
        let scores = device.product(self.inputs, Op::Plain, w, Op::Plain);
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let guess = self.guess(last.as_ref(), &scores);
        let aim = InterceptAim { guess, share: BALANCED, least: LEAST_DUALS };
        let intercept = self.losses.best_intercepts(&scores, self.smoothing(), aim);
        let answers = device.loss_answers(&self.losses.table(&scores, &intercept, self.smoothing()));
        *last = self.losses.rho.map(|_| LastOnDevice {
            curvature: answers.curvature.clone(),
            intercept: intercept.clone(),
            sums: answers.sums.curvature.clone(),
            weighted: device.column_products(&answers.curvature, &scores),
        });
        let cost = self
            .losses
            .rho
            .map_or(0.0, |rho| 0.5 * rho.iter().zip(&intercept).map(|(rho, b)| rho * b * b).sum::<f64>());
        let value = answers.sums.value.iter().sum::<f64>() + cost;
        (value, DeviceAnswer { scores, intercept, kappa: answers.kappa, curvature: answers.curvature })
    }
}

impl<'a> NewtonModel for DeviceModel<'a> {
    type Curvature<'c>
        = DeviceCurvature<'c, 'a>
    where
        Self: 'c;

    fn residual(&self, point: &DevicePoint) -> DeviceMatrix {
        self.algebra().minus(&point.v, &self.state(&point.side.kappa))
    }

    fn curvature<'c>(&'c self, point: &'c DevicePoint) -> DeviceCurvature<'c, 'a> {
        DeviceCurvature::new(self, &point.side.curvature)
    }

    fn direction(
        &self,
        _: &mut Linear,
        (curvature, derivative): (&DeviceCurvature<'_, 'a>, &Derivative<'_, OnDevice<'a>>),
        residual: &DeviceMatrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<DeviceMatrix> {
        let operator = Kronecker::new(curvature, derivative)?;
        let (mut dv, _) = gmres::solve(&operator, residual, tolerance, linear::MAX_STEPS, stop)?;
        derivative.algebra.scale(&mut dv, -1.0);
        Some(dv)
    }
}

impl DualModel for DeviceModel<'_> {
    type Duals = DeviceMatrix;

    fn problem(&self) -> &Problem<'_> {
        self.problem
    }

    fn duals(&self, point: &DevicePoint) -> DeviceMatrix {
        point.side.kappa.clone()
    }

    fn in_order(&self, duals: &DeviceMatrix) -> Result<Vec<f64>> {
        let kappa = self.losses.device().download(duals);
        self.losses.resident.device.check()?;
        Ok(kappa)
    }

    fn coordinates(&self, v: &DeviceMatrix) -> Result<Matrix> {
        let (resident, device) = (self.losses.resident, self.losses.device());
        let (_, frame) = self.square.spectrum(&resident.device)?;
        resident.coordinates(&device.product(frame, Op::Plain, v, Op::Plain))
    }

    fn centre_at(&mut self, duals: &DeviceMatrix) {
        let mut centre = duals.clone();
        self.losses.device().scale(&mut centre, 1.0 / self.problem.gamma(0));
        self.centre = Some(centre);
    }

    fn centre(&self) -> Result<Vec<f64>> {
        self.centre.as_ref().map_or(Ok(vec![]), |centre| self.in_order(centre))
    }

    fn set_mu(&mut self, mu: f64) {
        self.mu = mu;
    }

    fn mu(&self) -> f64 {
        self.mu
    }

    /// `sum of -kappa z` at predictions `t z + b`.
    fn loss_slope<'p>(&'p self, point: &'p DevicePoint) -> Box<dyn Fn(f64) -> f64 + 'p> {
        let (device, answer) = (self.losses.device(), &point.side);
        Box::new(move |t| {
            let mut scores = answer.scores.clone();
            device.scale(&mut scores, t);
            let table = self.losses.table(&scores, &answer.intercept, Smoothing::default());
            -device.column_products(&device.loss_answers(&table).kappa, &answer.scores).iter().sum::<f64>()
        })
    }
}

/// The second derivative of the losses in W, with the intercepts as functions of W: see `design/curvature.rs`.
pub(in crate::solver) struct DeviceCurvature<'c, 'a> {
    model: &'c DeviceModel<'a>,
    values: &'c DeviceMatrix,
    /// Of each task: `sum(d) / (sum(d) + rho) / sum(d)`; nothing without intercepts.
    shares: Option<Vec<f64>>,
}

impl<'c, 'a> DeviceCurvature<'c, 'a> {
    fn new(model: &'c DeviceModel<'a>, values: &'c DeviceMatrix) -> Self {
        let shares = model.losses.rho.map(|rho| {
            let sums = model.losses.resident.column_sums(values);
            let share = |(sum, rho): (&f64, &f64)| if *sum > 0.0 { 1.0 / (sum + rho) } else { 0.0 };
            sums.iter().zip(rho).map(share).collect()
        });
        DeviceCurvature { model, values, shares }
    }
}

impl<'a> TaskCurvature for DeviceCurvature<'_, 'a> {
    type Algebra = OnDevice<'a>;

    fn apply(&self, u: &DeviceMatrix) -> DeviceMatrix {
        let (device, inputs) = (self.model.losses.device(), self.model.inputs);
        let mut f = device.product(inputs, Op::Plain, u, Op::Plain);
        if let Some(shares) = &self.shares {
            let sums = device.column_products(self.values, &f);
            let means: Vec<f64> = sums.iter().zip(shares).map(|(sum, share)| -share * sum).collect();
            device.add_to_columns(&mut f, &means);
        }
        device.multiply(&mut f, self.values);
        device.product(inputs, Op::Transposed, &f, Op::Plain)
    }

    fn shape(&self) -> (Vec<f64>, Vec<f64>) {
        let (device, inputs) = (self.model.losses.device(), self.model.inputs);
        let (n, t) = (self.values.rows, self.values.cols);
        let ones = device.upload(&vec![1.0; t], t, 1);
        let weights = device.download(&device.product(self.values, Op::Plain, &ones, Op::Plain));
        let mut weighted = inputs.clone();
        device.scale_rows(&mut weighted, &weights);
        let mut lam = device.column_products(&weighted, inputs);
        let squares = device.upload(&device.row_products(inputs, inputs), n, 1);
        let mut traces = device.download(&device.product(self.values, Op::Transposed, &squares, Op::Plain));
        if let Some(shares) = &self.shares {
            let moments = device.product(inputs, Op::Transposed, self.values, Op::Plain);
            let mut scaled = moments.clone();
            device.scale_columns(&mut scaled, shares);
            let less = |from: &mut Vec<f64>, squares: Vec<f64>| {
                from.iter_mut().zip(squares).for_each(|(x, square)| *x = (*x - square).max(0.0));
            };
            less(&mut lam, device.row_products(&scaled, &moments));
            less(&mut traces, device.column_products(&scaled, &moments));
        }
        lam.iter_mut().for_each(|lam| *lam /= t as f64);
        (lam, traces)
    }
}
