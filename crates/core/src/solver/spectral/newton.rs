//! Newton's method in V with a curved line search, for any regulariser.
//!
//! With the second derivative `B[U] = U Theta + V (phi''(V'V) o (U'V + V'U))` the step solves
//! `(I + gamma l B) dV = -(V - gamma (b - l W))`. W is homogeneous of degree `p = 4k - 1` in V, so that a straight step in
//! V overshoots W by `(1 + t)^p`: columns are rescaled until those of W have the length that the linear model wants.

use super::gmres::{self, Operator};
use super::{Ended, Point, Reduced, Search, Status};
use crate::Matrix;
use crate::linalg::{self, axpy, dot, inner, view};

/// How much tighter than usual the linear solves may become after failed line searches.
const TIGHTEST: f64 = 1e-3;

pub(super) fn run(search: &mut Search<'_, '_>, mut point: Point) -> Ended {
    let reduced = search.reduced;
    let (mut tighten, mut certify) = (1.0, true);
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
        match direction(reduced, &point, tolerance, &mut stop)
            .and_then(|step| line_search(reduced, &point, &step))
        {
            Some(next) => (point, tighten, certify) = (next, 1.0, true),
            None if tighten > TIGHTEST => (tighten, certify) = (tighten * 0.1, false),
            None => {
                let status = if search.polished > 0 { Status::Certified } else { Status::Stalled };
                return Ended { point, status };
            }
        }
    }
}

/// A step dV with the change dW of W and the slope of psi along it.
struct Step {
    dv: Matrix,
    dw: Matrix,
    slope: f64,
}

/// `B[U]`, the derivative of W.
struct Derivative<'a> {
    reduced: &'a Reduced<'a>,
    point: &'a Point,
    /// phi''(V'V).
    second: Matrix,
}

impl Derivative<'_> {
    fn apply(&self, u: &Matrix) -> Matrix {
        let (reduced, Point { v, theta, .. }) = (self.reduced, self.point);
        let mut mixed = reduced.cross(u, v);
        self.mix(&mut mixed);
        let mut out = reduced.times(u, theta);
        linalg::add_product(linalg::view_mut(&mut out), view(v), view(&mixed), reduced.threads);
        out
    }

    /// `phi'' o (m + m')`, in place.
    fn mix(&self, m: &mut Matrix) {
        for r in 0..m.rows() {
            for s in 0..=r {
                let both = m[(r, s)] + m[(s, r)];
                m[(r, s)] = both * self.second[(r, s)];
                m[(s, r)] = both * self.second[(s, r)];
            }
        }
    }
}

fn direction(
    reduced: &Reduced<'_>,
    point: &Point,
    tolerance: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Step> {
    let t = point.gram.rows();
    let mut second = Matrix::zeros(t, t);
    for r in 0..t {
        for s in 0..t {
            second[(r, s)] = reduced.output.d2phi((r, s), point.gram[(r, s)]);
        }
    }
    let derivative = Derivative { reduced, point, second };
    let mut residual = point.v.clone();
    axpy(residual.as_mut_slice(), -1.0, reduced.data.induced(&point.w).as_slice());
    let operator = System::new(reduced, &derivative)?;
    let mut dv = gmres::solve(&operator, &residual, tolerance, stop)?;
    dv.as_mut_slice().iter_mut().for_each(|x| *x = -*x);
    let dw = derivative.apply(&dv);
    let slope = inner(&residual, &dw);
    (slope < 0.0).then_some(Step { dv, dw, slope })
}

/// `I + gamma l B`, preconditioned by `I + gamma l (. Theta)`, which the eigenvectors of Theta diagonalise.
struct System<'a> {
    reduced: &'a Reduced<'a>,
    derivative: &'a Derivative<'a>,
    basis: Matrix,
    values: Vec<f64>,
    /// 1 / (1 + gamma l_i om_j), and the weights of the energy norm.
    inverse: Matrix,
    weight: Matrix,
}

impl<'a> System<'a> {
    fn new(reduced: &'a Reduced<'a>, derivative: &'a Derivative<'a>) -> Option<Self> {
        let (om, basis) = linalg::eigen(&derivative.point.theta).ok()?;
        let floor = 1e-8 * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let (d, t) = (reduced.data.values.len(), om.len());
        let (mut inverse, mut weight) = (Matrix::zeros(d, t), Matrix::zeros(d, t));
        for (i, &l) in reduced.data.values.iter().enumerate() {
            for j in 0..t {
                let om = om[j].max(0.0);
                inverse[(i, j)] = 1.0 / (1.0 + reduced.data.gamma * l * om);
                weight[(i, j)] = (om * inverse[(i, j)] + floor).sqrt();
            }
        }
        let values = om.iter().map(|om| om.max(0.0)).collect();
        (floor > 0.0).then_some(System { reduced, derivative, basis, values, inverse, weight })
    }
}

/// Vectors are kept in the eigenbasis of Theta, `z~ = z U`, where the first part of B costs nothing:
/// `B[z] U = z~ diag(om) + V (M U)`, `M = phi'' o (z'V + V'z)`, `z'V = U z~'V`.
impl Operator for System<'_> {
    fn enter(&self, r: &Matrix) -> Matrix {
        let mut x = self.reduced.times(r, &self.basis);
        x.as_mut_slice().iter_mut().zip(self.weight.as_slice()).for_each(|(x, w)| *x *= w);
        x
    }

    fn precondition(&self, x: &Matrix) -> Matrix {
        let mut z = x.clone();
        let factors = self.inverse.as_slice().iter().zip(self.weight.as_slice());
        z.as_mut_slice().iter_mut().zip(factors).for_each(|(z, (inverse, weight))| *z *= inverse / weight);
        z
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        let (reduced, v) = (self.reduced, &self.derivative.point.v);
        let mut mixed = reduced.times(&self.basis, &reduced.cross(z, v));
        self.derivative.mix(&mut mixed);
        let mut out = reduced.times(v, &reduced.times(&mixed, &self.basis));
        for (j, &l) in reduced.data.values.iter().enumerate() {
            let rate = reduced.data.gamma * l;
            let factors = self.values.iter().zip(self.weight.row(j));
            for ((x, z), (om, weight)) in out.row_mut(j).iter_mut().zip(z.row(j)).zip(factors) {
                *x = (z + rate * (z * om + *x)) * weight;
            }
        }
        out
    }

    fn leave(&self, z: Matrix) -> Matrix {
        linalg::times(view(&z), view(&self.basis).transpose(), self.reduced.threads)
    }
}

/// The better of the curved and the straight point at the first t that makes psi fall enough. The second one is only looked
/// at if the first is not good: the straight one where W is nearly linear in V (k = 1), else the curved one.
fn line_search(reduced: &Reduced<'_>, point: &Point, step: &Step) -> Option<Point> {
    let straight_first = reduced.output.degree().is_none_or(|degree| degree == 2);
    let mut t = 1.0;
    while t > 1e-6 {
        let enough = |share: f64| point.psi + share * t * step.slope + 1e-14 * point.psi.abs();
        let mut straight = point.v.clone();
        axpy(straight.as_mut_slice(), t, step.dv.as_slice());
        let mut best: Option<Point> = None;
        for is_straight in [straight_first, !straight_first] {
            if best.as_ref().is_some_and(|best| best.psi <= enough(0.3)) {
                break;
            }
            let v =
                if is_straight { Some(straight.clone()) } else { curved(reduced, point, step, t, &straight) };
            let trial = v.map(|v| reduced.point(v));
            best = match (best, trial) {
                (Some(best), Some(trial)) => Some(if trial.psi < best.psi { trial } else { best }),
                (best, trial) => best.or(trial),
            };
        }
        match best {
            Some(best) if best.psi <= enough(1e-4) => return Some(best),
            _ => t *= 0.4,
        }
    }
    None
}

/// `(V + t dV) diag(s)` with `|W_r|` near `|W_r + t dW_r|`.
fn curved(reduced: &Reduced<'_>, point: &Point, step: &Step, t: f64, straight: &Matrix) -> Option<Matrix> {
    let degree = reduced.output.degree()?;
    let power = f64::from(2 * degree - 1);
    let n = point.gram.rows();
    let target = column_squares(point, step, t);
    let gram = reduced.cross(straight, straight);
    let mut scale = vec![1.0f64; n];
    for _ in 0..if degree == 2 { 1 } else { 4 } {
        let mut scaled = gram.clone();
        for r in 0..n {
            for s in 0..n {
                scaled[(r, s)] *= scale[r] * scale[s];
            }
        }
        let theta = reduced.output.theta(&scaled);
        let both = reduced.times(&theta, &scaled);
        for r in 0..n {
            let now = dot(both.row(r), theta.row(r));
            scale[r] *= (target[r] / now.max(1e-300)).powf(0.5 / power).clamp(0.2, 5.0);
        }
    }
    let mut v = straight.clone();
    for j in 0..v.rows() {
        v.row_mut(j).iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
    }
    v.as_slice().iter().all(|x| x.is_finite()).then_some(v)
}

/// `|W_r + t dW_r|^2` of every column.
fn column_squares(point: &Point, step: &Step, t: f64) -> Vec<f64> {
    let mut squares = vec![0.0; point.w.cols()];
    for j in 0..point.w.rows() {
        for (sum, (w, dw)) in squares.iter_mut().zip(point.w.row(j).iter().zip(step.dw.row(j))) {
            *sum += (w + t * dw) * (w + t * dw);
        }
    }
    squares.iter().map(|s| s.max(1e-300)).collect()
}
