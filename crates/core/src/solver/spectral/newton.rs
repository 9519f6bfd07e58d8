//! Newton's method in V with a curved line search, for any regulariser: the step solves
//! `(I + gamma l B) dV = -(V - gamma (b - l W))`.

use super::{Ended, Reduced, SpectralSearch, Status, VPoint};
use crate::Matrix;
use crate::algebra::{Algebra, Host, OnDevice};
use crate::linalg::single::SinglePrecision;
use crate::linalg::{self, axpy, view};
use crate::solver::newton_system::blocks::TaskBlocks;
use crate::solver::newton_system::gmres::{self, Operator};
use crate::solver::newton_system::search::line_search;
use crate::solver::newton_system::{Derivative, NewtonStep};
use std::convert::Infallible;

/// What else Newton's method uses, where it is there.
pub(super) trait NewtonAlgebra: Algebra + Copy {
    /// V and a basis of the tasks in single precision.
    type Rough: Sync;

    /// V and a basis in single precision, if that is exact enough for this tolerance.
    fn rough(&self, v: &Self::Mat, basis: &Matrix, tolerance: f64) -> Option<Self::Rough>;

    /// `V M basis`, `M = phi'' o (m + m')` with `m = basis z'V`.
    fn rough_mixed(rough: &Self::Rough, derivative: &Derivative<'_, Self>, z: &Self::Mat) -> Self::Mat;

    /// [`solve`] with the preconditioner that keeps tasks apart, if there is one.
    fn solve_apart(
        reduced: &Reduced<'_, Self>,
        derivative: &Derivative<'_, Self>,
        residual: &Self::Mat,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<(Self::Mat, usize)>;

    /// Whether there is one.
    const CAN_SOLVE_APART: bool;
}

impl NewtonAlgebra for Host {
    type Rough = (SinglePrecision, SinglePrecision);

    const CAN_SOLVE_APART: bool = true;

    fn rough(&self, v: &Matrix, basis: &Matrix, tolerance: f64) -> Option<Self::Rough> {
        let is_enough = tolerance >= SINGLE_PRECISION_TOLERANCE;
        is_enough.then(|| (SinglePrecision::new(v), SinglePrecision::new(basis)))
    }

    fn rough_mixed((v, basis): &Self::Rough, derivative: &Derivative<'_>, z: &Matrix) -> Matrix {
        let threads = derivative.threads();
        let crossed = SinglePrecision::new(z).cross(v, threads);
        let mut mixed = basis.times(&SinglePrecision::new(&crossed), threads);
        derivative.mix(&mut mixed);
        v.times(&SinglePrecision::new(&SinglePrecision::new(&mixed).times(basis, threads)), threads)
    }

    fn solve_apart(
        reduced: &Reduced<'_>,
        derivative: &Derivative<'_>,
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<(Matrix, usize)> {
        let operator = Apart::new(reduced, derivative, tolerance)?;
        let right = linalg::transposed(residual);
        let (dv, steps) = gmres::solve(&operator, &right, tolerance, MAX_STEPS, stop)?;
        Some((linalg::transposed(&dv), steps))
    }
}

impl NewtonAlgebra for OnDevice<'_> {
    type Rough = Infallible;

    const CAN_SOLVE_APART: bool = false;

    fn rough(&self, _: &Self::Mat, _: &Matrix, _: f64) -> Option<Infallible> {
        None
    }

    fn rough_mixed(rough: &Infallible, _: &Derivative<'_, Self>, _: &Self::Mat) -> Self::Mat {
        match *rough {}
    }

    fn solve_apart(
        _: &Reduced<'_, Self>,
        _: &Derivative<'_, Self>,
        _: &Self::Mat,
        _: f64,
        _: &mut dyn FnMut() -> bool,
    ) -> Option<(Self::Mat, usize)> {
        None
    }
}

/// Krylov vectors at most.
pub(super) const MAX_STEPS: usize = 60;

/// How much tighter than usual the linear solves may become after failed line searches.
const TIGHTEST: f64 = 1e-3;

/// A share of psi that a step far from the end takes away.
const FAST: f64 = 0.05;

pub(super) fn run<A: NewtonAlgebra>(
    search: &mut SpectralSearch<'_, '_, A>,
    mut point: VPoint<A::Mat>,
) -> Ended<A::Mat> {
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
fn direction<A: NewtonAlgebra>(
    reduced: &Reduced<'_, A>,
    point: &VPoint<A::Mat>,
    tolerance: f64,
    by_tasks: &mut Option<bool>,
    stop: &mut dyn FnMut() -> bool,
) -> Option<NewtonStep<A::Mat>> {
    let algebra = reduced.data.algebra;
    let derivative = point.derivative(reduced.output, algebra);
    let residual = algebra.minus(&point.v, &reduced.data.induced(&reduced.image(&point.w)));
    let mut tasks_apart =
        A::CAN_SOLVE_APART && by_tasks.unwrap_or_else(|| TaskBlocks::any_close(&derivative, &point.gram));
    let (mut dv, mut steps) = solve(reduced, &derivative, &residual, tasks_apart, tolerance, stop)?;
    if steps == MAX_STEPS && by_tasks.is_none() && A::CAN_SOLVE_APART {
        tasks_apart = !tasks_apart;
        (dv, steps) = solve(reduced, &derivative, &residual, tasks_apart, tolerance, stop)?;
    }
    // One that fails has another try when the other fails too.
    *by_tasks = (steps < MAX_STEPS).then_some(tasks_apart);
    algebra.scale(&mut dv, -1.0);
    NewtonStep::down(&derivative, &residual, dv)
}

/// `(I + gamma l B)^-1 residual` and the dimensions it took, with the preconditioner that keeps tasks apart
/// or the one that does not.
fn solve<A: NewtonAlgebra>(
    reduced: &Reduced<'_, A>,
    derivative: &Derivative<'_, A>,
    residual: &A::Mat,
    tasks_apart: bool,
    tolerance: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(A::Mat, usize)> {
    if tasks_apart {
        return A::solve_apart(reduced, derivative, residual, tolerance, stop);
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
        let Derivative { v, theta, .. } = *self.derivative;
        let threads = self.derivative.threads();
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
    type Algebra = Host;

    fn algebra(&self) -> &Host {
        &self.derivative.algebra
    }

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
struct Joint<'a, A: NewtonAlgebra> {
    derivative: &'a Derivative<'a, A>,
    basis: Matrix,
    values: Vec<f64>,
    /// What stands for eigenvalues of zero in the norm.
    floor: f64,
    /// gamma l.
    rates: Vec<f64>,
    /// V and the basis in single precision, if that is enough.
    rough: Option<A::Rough>,
}

impl<'a, A: NewtonAlgebra> Joint<'a, A> {
    fn new(reduced: &Reduced<'_, A>, derivative: &'a Derivative<'a, A>, tolerance: f64) -> Option<Self> {
        let algebra = &derivative.algebra;
        let (om, basis) = algebra.eigen(derivative.theta).ok()?;
        let floor = 1e-8 * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let values: Vec<f64> = om.iter().map(|om| om.max(0.0)).collect();
        let rates = reduced.rates(reduced.values());
        let rough = algebra.rough(derivative.v, &basis, tolerance);
        (floor > 0.0).then_some(Joint { derivative, basis, values, floor, rates, rough })
    }

    fn enter(&self, r: &A::Mat) -> A::Mat {
        self.derivative.algebra.times_small(r, &self.basis)
    }

    fn leave(&self, z: &A::Mat) -> A::Mat {
        self.derivative.algebra.times_small_transposed(z, &self.basis)
    }
}

impl<A: NewtonAlgebra> Operator for Joint<'_, A> {
    type Algebra = A;

    fn algebra(&self) -> &A {
        &self.derivative.algebra
    }

    fn precondition(&self, v: &A::Mat) -> A::Mat {
        let mut z = v.clone();
        self.algebra().divide_shifted(&mut z, &self.rates, &self.values);
        z
    }

    fn weigh(&self, v: &A::Mat) -> A::Mat {
        let mut out = v.clone();
        let factors: Vec<f64> = self.values.iter().map(|om| om + self.floor).collect();
        self.algebra().scale_columns(&mut out, &factors);
        out
    }

    /// `z + gamma l (z diag(om) + V M U)`.
    fn apply(&self, z: &A::Mat) -> A::Mat {
        let (algebra, derivative) = (self.algebra(), self.derivative);
        let mut out = match &self.rough {
            Some(rough) => A::rough_mixed(rough, derivative, z),
            None => {
                let threads = algebra.threads();
                let times = |a: &Matrix, b: &Matrix| linalg::times(view(a), view(b), threads);
                let mut mixed = times(&self.basis, &algebra.cross(z, derivative.v));
                derivative.mix(&mut mixed);
                algebra.times_small(derivative.v, &times(&mixed, &self.basis))
            }
        };
        let mut own = z.clone();
        algebra.scale_columns(&mut own, &self.values);
        algebra.add_scaled(&mut out, 1.0, &own);
        algebra.scale_rows(&mut out, &self.rates);
        algebra.add_scaled(&mut out, 1.0, z);
        out
    }
}
