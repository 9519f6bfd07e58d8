//! Newton's method in V with a curved line search, for any regulariser: the step solves
//! `(I + gamma l B) dV = -(V - gamma (b - l W))`.

use super::{Ended, Reduced, SpectralSearch, Status, VPoint};
use crate::Matrix;
use crate::linalg::single::SinglePrecision;
use crate::linalg::{self, axpy, view};
use crate::solver::newton_system::blocks::TaskBlocks;
use crate::solver::newton_system::gmres::{self, Operator};
use crate::solver::newton_system::search::line_search;
use crate::solver::newton_system::{Derivative, NewtonStep};

/// Krylov vectors at most.
pub(super) const MAX_STEPS: usize = 60;

/// How much tighter than usual the linear solves may become after failed line searches.
const TIGHTEST: f64 = 1e-3;

/// A share of psi that a step far from the end takes away.
const FAST: f64 = 0.05;

pub(super) fn run(search: &mut SpectralSearch<'_, '_>, mut point: VPoint) -> Ended {
    let reduced = search.reduced;
    let (mut tighten, mut certify) = (1.0, true);
    let mut by_tasks = None;
    let mut gap = f64::INFINITY;
    loop {
        if certify {
            let (new_gap, status) = search.report(reduced, &point.v);
            gap = new_gap;
            if let Some(status) = status
                && search.is_final(&point.w, reduced, status)
            {
                return Ended { point, status };
            }
        }
        if !certify && search.clock.is_over() {
            let status = search.clock.must_stop().unwrap_or(Status::PassLimit);
            return Ended { point, status };
        }
        search.clock.passes += 1;
        // Tight enough to square the gap, but no tighter than what is left to do.
        let wanted = 0.3 * (search.tolerance / gap).sqrt();
        let tolerance = tighten * gap.sqrt().max(wanted).clamp(1e-4, 0.1);
        // Stopped on the way there is no direction; the next round sees why.
        let mut stop = || search.clock.must_stop().is_some();
        match direction(reduced, &point, tolerance, &mut by_tasks, &mut stop)
            .and_then(|step| line_search(reduced, &point, &step))
        {
            Some(next) => {
                // While psi falls fast there is nothing to certify.
                certify = point.psi - next.psi <= FAST * point.psi.abs() || search.clock.is_over();
                (point, tighten) = (next, 1.0);
            }
            None if tighten > TIGHTEST => (tighten, certify) = (tighten * 0.1, false),
            None => {
                let status = if search.polished > 0 { Status::Certified } else { Status::Stalled };
                return Ended { point, status };
            }
        }
    }
}

/// The Newton step. `by_tasks` remembers which preconditioner does better.
fn direction(
    reduced: &Reduced<'_>,
    point: &VPoint,
    tolerance: f64,
    by_tasks: &mut Option<bool>,
    stop: &mut dyn FnMut() -> bool,
) -> Option<NewtonStep> {
    let derivative = point.derivative(reduced.output, reduced.threads);
    let residual = point.v.minus(&reduced.data.induced(&point.w));
    let mut tasks_apart = by_tasks.unwrap_or_else(|| TaskBlocks::any_close(&derivative, &point.gram));
    let (mut dv, mut steps) = solve(reduced, &derivative, &residual, tasks_apart, tolerance, stop)?;
    if steps == MAX_STEPS && by_tasks.is_none() {
        tasks_apart = !tasks_apart;
        (dv, steps) = solve(reduced, &derivative, &residual, tasks_apart, tolerance, stop)?;
    }
    // One that fails has another try when the other fails too.
    *by_tasks = (steps < MAX_STEPS).then_some(tasks_apart);
    dv.scale(-1.0);
    NewtonStep::down(&derivative, &residual, dv)
}

/// `(I + gamma l B)^-1 residual` and the dimensions it took, with the preconditioner that keeps tasks apart
/// or the one that does not.
fn solve(
    reduced: &Reduced<'_>,
    derivative: &Derivative<'_>,
    residual: &Matrix,
    tasks_apart: bool,
    tolerance: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(Matrix, usize)> {
    if tasks_apart {
        let operator = Apart::new(reduced, derivative, tolerance)?;
        let right = linalg::transposed(residual);
        let (dv, steps) = gmres::solve(&operator, &right, tolerance, MAX_STEPS, stop)?;
        return Some((linalg::transposed(&dv), steps));
    }
    let operator = Joint::new(reduced, derivative, tolerance)?;
    let (dv, steps) = gmres::solve(&operator, &operator.enter(residual), tolerance, MAX_STEPS, stop)?;
    Some((operator.leave(&dv), steps))
}

/// `I + gamma l B`, preconditioned task by task: better where Theta changes fast along V, and off its
/// diagonal little is left. Vectors have one row per task.
struct Apart<'a> {
    rates: Vec<f64>,
    derivative: &'a Derivative<'a>,
    factors: Factors,
    blocks: TaskBlocks,
}

/// V and Theta, as exact as the solution is to be.
enum Factors {
    /// V' in place of V.
    Exact(Matrix),
    Single {
        v: SinglePrecision,
        theta: SinglePrecision,
    },
}

/// Solutions better than this need products in double precision.
const SINGLE_PRECISION_TOLERANCE: f64 = 1e-5;

impl<'a> Apart<'a> {
    fn new(reduced: &Reduced<'_>, derivative: &'a Derivative<'a>, tolerance: f64) -> Option<Self> {
        let rates: Vec<f64> = reduced.values().iter().map(|l| reduced.data.gamma * l).collect();
        let blocks = TaskBlocks::diagonal(derivative, &rates)?;
        let factors = match tolerance < SINGLE_PRECISION_TOLERANCE {
            true => Factors::Exact(linalg::transposed(derivative.v)),
            false => Factors::Single {
                v: SinglePrecision::new(derivative.v),
                theta: SinglePrecision::new(derivative.theta),
            },
        };
        Some(Apart { rates, derivative, factors, blocks })
    }

    /// `B[U]' = Theta U' + M V'`, `M = phi'' o (U'V + V'U)`, for `z = U'`.
    fn mixed(&self, z: &Matrix) -> Matrix {
        let Derivative { v, theta, threads, .. } = *self.derivative;
        match &self.factors {
            Factors::Exact(rows) => {
                let mut mixed = linalg::times(view(z), view(v), threads);
                self.derivative.mix(&mut mixed);
                let mut out = linalg::times(view(theta), view(z), threads);
                linalg::add_product(linalg::view_mut(&mut out), view(&mixed), view(rows), threads);
                out
            }
            Factors::Single { v, theta } => {
                let z = SinglePrecision::new(z);
                let mut mixed = z.times(v, threads);
                self.derivative.mix(&mut mixed);
                let mut out = theta.times(&z, threads);
                axpy(
                    out.as_mut_slice(),
                    1.0,
                    SinglePrecision::new(&mixed).times_transposed(v, threads).as_slice(),
                );
                out
            }
        }
    }
}

impl Operator for Apart<'_> {
    fn precondition(&self, v: &Matrix) -> Matrix {
        self.blocks.precondition(v)
    }

    fn weigh(&self, v: &Matrix) -> Matrix {
        self.blocks.weigh(v)
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        let mut out = self.mixed(z);
        for t in 0..out.rows() {
            let row = out.row_mut(t).iter_mut().zip(z.row(t)).zip(&self.rates);
            row.for_each(|((x, z), rate)| *x = z + rate * *x);
        }
        out
    }
}

/// `I + gamma l B`, preconditioned by `I + gamma l (. Theta)`, which the eigenvectors U of Theta diagonalise.
///
/// Vectors are kept in the eigenbasis of Theta, `z~ = z U`, where the first part of B costs nothing:
/// `B[z] U = z~ diag(om) + V (M U)`, `M = phi'' o (z'V + V'z)`, `z'V = U z~'V`.
struct Joint<'a> {
    reduced: &'a Reduced<'a>,
    derivative: &'a Derivative<'a>,
    basis: Matrix,
    values: Vec<f64>,
    /// What stands for eigenvalues of zero in the norm.
    floor: f64,
    /// 1 / (1 + gamma l_i om_j).
    inverse: Matrix,
    /// V and the basis in single precision, if that is enough.
    rough: Option<(SinglePrecision, SinglePrecision)>,
}

impl<'a> Joint<'a> {
    fn new(reduced: &'a Reduced<'a>, derivative: &'a Derivative<'a>, tolerance: f64) -> Option<Self> {
        let (om, basis) = linalg::eigen(derivative.theta).ok()?;
        let floor = 1e-8 * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let values: Vec<f64> = om.iter().map(|om| om.max(0.0)).collect();
        let mut inverse = Matrix::zeros(reduced.values().len(), om.len());
        for (i, &l) in reduced.values().iter().enumerate() {
            let rate = reduced.data.gamma * l;
            inverse.row_mut(i).iter_mut().zip(&values).for_each(|(x, om)| *x = 1.0 / (1.0 + rate * om));
        }
        let rough = (tolerance >= SINGLE_PRECISION_TOLERANCE)
            .then(|| (SinglePrecision::new(derivative.v), SinglePrecision::new(&basis)));
        (floor > 0.0).then_some(Joint { reduced, derivative, basis, values, floor, inverse, rough })
    }

    fn enter(&self, r: &Matrix) -> Matrix {
        self.reduced.times(r, &self.basis)
    }

    fn leave(&self, z: &Matrix) -> Matrix {
        linalg::times(view(z), view(&self.basis).transpose(), self.reduced.threads)
    }
}

impl Operator for Joint<'_> {
    fn precondition(&self, v: &Matrix) -> Matrix {
        let mut z = v.clone();
        z.as_mut_slice().iter_mut().zip(self.inverse.as_slice()).for_each(|(z, inverse)| *z *= inverse);
        z
    }

    fn weigh(&self, v: &Matrix) -> Matrix {
        let mut out = v.clone();
        for j in 0..out.rows() {
            out.row_mut(j).iter_mut().zip(&self.values).for_each(|(x, om)| *x *= om + self.floor);
        }
        out
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        let (reduced, threads) = (self.reduced, self.reduced.threads);
        let mut out = match &self.rough {
            Some((v, basis)) => {
                let crossed = SinglePrecision::new(z).cross(v, threads);
                let mut mixed = basis.times(&SinglePrecision::new(&crossed), threads);
                self.derivative.mix(&mut mixed);
                v.times(&SinglePrecision::new(&SinglePrecision::new(&mixed).times(basis, threads)), threads)
            }
            None => {
                let v = self.derivative.v;
                let mut mixed = reduced.times(&self.basis, &reduced.cross(z, v));
                self.derivative.mix(&mut mixed);
                reduced.times(v, &reduced.times(&mixed, &self.basis))
            }
        };
        for (j, &l) in reduced.values().iter().enumerate() {
            let rate = reduced.data.gamma * l;
            for ((x, z), om) in out.row_mut(j).iter_mut().zip(z.row(j)).zip(&self.values) {
                *x = z + rate * (z * om + *x);
            }
        }
        out
    }
}
