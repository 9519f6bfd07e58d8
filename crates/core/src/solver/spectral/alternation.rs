//! k = 1: closed forms for W given Theta and for Theta given W, taken in turn.
//!
//! Given `Theta = U diag(s) U'`: `V U = gamma b U / (1 + gamma l_i s_j)` and `W = V Theta`. Given W: `Theta = (g W'W)^(1/3)`
//! with phi'(z) = g z; then `W Theta^-1` is the V whose own Theta this is. A round costs a few products and one
//! eigendecomposition of the size of Theta, far less than a Newton step, and where Theta is well conditioned a handful of
//! rounds is all it takes. Handed over to Newton as soon as it slows down.

use super::{Ended, Point, Reduced, Search, Status};
use crate::linalg::{self, view};
use crate::{Matrix, Result};
use std::ops::ControlFlow;

/// A round that reduces the gap by less than this factor is the last.
const SLOW: f64 = 3.0;

/// `Theta = basis diag(values) basis'`.
struct Eigen {
    values: Vec<f64>,
    basis: Matrix,
}

/// The end of the search, or a point from which to go on. `scale` is the Theta to start from, a multiple of the identity;
/// without one it is that of the point.
pub(super) fn run(
    search: &mut Search<'_, '_>,
    mut point: Point,
    scale: Option<f64>,
) -> ControlFlow<Ended, Point> {
    let reduced = search.reduced;
    let gain = match (reduced.output.degree(), reduced.output.linear_slope()) {
        (Some(2), Some(gain)) => gain,
        _ => return ControlFlow::Continue(point),
    };
    let mut theta = match scale {
        Some(s) => Eigen { values: vec![s; point.theta.rows()], basis: Matrix::identity(point.theta.rows()) },
        None => match linalg::eigen(&point.theta) {
            Ok((values, basis)) => Eigen { values, basis },
            Err(_) => return ControlFlow::Continue(point),
        },
    };
    let mut last = f64::INFINITY;
    loop {
        let Ok((next, next_theta)) = round(reduced, gain, &theta) else {
            return ControlFlow::Continue(point);
        };
        search.clock.passes += 1;
        let (gap, status) = search.report(&next);
        if !next.psi.is_finite() {
            return ControlFlow::Continue(point);
        }
        (point, theta) = (next, next_theta);
        match status {
            Some(Status::Certified) if !search.induced_too(&point) => last = gap,
            Some(status) => return ControlFlow::Break(Ended { point, status }),
            None if gap * SLOW > last => return ControlFlow::Continue(point),
            None => last = gap,
        }
    }
}

/// W for this Theta, as the point with the Theta that is best for that W.
fn round(reduced: &Reduced<'_>, gain: f64, theta: &Eigen) -> Result<(Point, Eigen)> {
    let mut w = reduced.times(reduced.data.moment, &theta.basis);
    let gamma = reduced.data.gamma;
    for (j, &l) in reduced.data.values.iter().enumerate() {
        for (x, s) in w.row_mut(j).iter_mut().zip(&theta.values) {
            let s = s.max(0.0);
            *x *= gamma * s / (1.0 + gamma * l * s);
        }
    }
    // W and W'W here in the eigenbasis of the old Theta.
    let mut square = reduced.cross(&w, &w);
    linalg::symmetrise(&mut square);
    let (cubes, turn) = linalg::eigen(&square)?;
    let values: Vec<f64> = cubes.iter().map(|x| (gain * x.max(0.0)).cbrt()).collect();
    let basis = reduced.times(&theta.basis, &turn);
    let mut v = reduced.times(&w, &turn);
    let floor = f64::EPSILON * values.iter().fold(0.0f64, |a, &b| a.max(b));
    for j in 0..v.rows() {
        for (x, s) in v.row_mut(j).iter_mut().zip(&values) {
            *x = if *s > floor { *x / s } else { 0.0 };
        }
    }
    let v = linalg::times(view(&v), view(&basis).transpose(), reduced.threads);
    Ok((reduced.point(v), Eigen { values, basis }))
}
