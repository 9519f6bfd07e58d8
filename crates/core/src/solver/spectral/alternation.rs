//! k = 1: closed forms for W given Theta and for Theta given W, taken in turn.
//!
//! Given `Theta = U diag(s) U'`: `V U = gamma b U / (1 + gamma l_i s_j)` and `W = V Theta`. Given W: `Theta = (g W'W)^(1/3)`
//! with phi'(z) = g z; then `W Theta^-1` is the V whose own Theta this is. A round costs a few products and one
//! eigendecomposition of the size of Theta, far less than a Newton step, and where Theta is well conditioned a handful of
//! rounds is all it takes. Handed over to Newton as soon as that one would be done earlier.

use super::{Ended, Point, Reduced, Search};
use crate::linalg::{self, view};
use crate::{Matrix, Result};
use std::ops::ControlFlow;

/// What Newton needs to finish costs about as much as this many rounds.
const NEWTON_ROUNDS: f64 = 9.0;

/// Rounds to a certificate at the present pace. Duals that certify themselves take a gap some fifty times smaller.
fn rounds_left(gap: f64, last: f64, tolerance: f64) -> f64 {
    let pace = (last / gap).ln();
    if pace > 0.0 { (50.0 * gap / tolerance).ln() / pace } else { f64::INFINITY }
}

/// `Theta = basis diag(values) basis'` (tasks x directions), and X'Y in that basis. The regulariser of k = 1 is a sum of squares, the same in every
/// basis: a whole round, its certificate included, stays there.
struct Turned {
    values: Vec<f64>,
    basis: Matrix,
    moment: Matrix,
}

/// g of `phi'(z) = g z`, if that is all there is.
pub(super) fn gain(reduced: &Reduced<'_>) -> Option<f64> {
    reduced.output.linear_slope().filter(|_| reduced.output.degree() == Some(2))
}

/// The end of the search, or a point from which to go on. `diagonal` is the Theta to start from; without one it is that of
/// the point.
pub(super) fn run(
    search: &mut Search<'_, '_>,
    point: Point,
    diagonal: Option<Vec<f64>>,
) -> ControlFlow<Ended, Point> {
    let reduced = search.reduced;
    let Some(gain) = gain(reduced) else { return ControlFlow::Continue(point) };
    let Ok((values, basis)) = first(reduced, &point.theta, diagonal) else {
        return ControlFlow::Continue(point);
    };
    let moment = reduced.times(reduced.data.moment, &basis);
    let mut theta = Turned { values, basis, moment };
    let (mut last, mut v) = (f64::INFINITY, None);
    let back = |v: &Matrix, theta: &Turned| {
        reduced.point(linalg::times(view(v), view(&theta.basis).transpose(), reduced.threads))
    };
    while let Ok((next_v, next_theta)) =
        round(reduced, gain, &theta, &mut |objective| search.clock.objective(objective))
    {
        search.clock.passes += 1;
        let (gap, status) = search.report(&reduced.turned(&next_theta.moment), &next_v);
        if !gap.is_finite() {
            break;
        }
        theta = next_theta;
        let (now, turned) = (v.insert(next_v), reduced.turned(&theta.moment));
        match status {
            Some(status) if search.is_final(&turned.weights(now), &turned, status) => {
                return ControlFlow::Break(Ended { point: back(now, &theta), status });
            }
            None if rounds_left(gap, last, search.tolerance) > NEWTON_ROUNDS => break,
            _ => last = gap,
        }
    }
    ControlFlow::Continue(v.map_or(point, |v| back(&v, &theta)))
}

/// Eigenvalues and a basis of the first Theta. With more tasks than features, X'Y is nothing but zeros in most directions of the tasks,
/// and so are V, W and Theta: a basis of the others will do.
fn first(reduced: &Reduced<'_>, theta: &Matrix, diagonal: Option<Vec<f64>>) -> Result<(Vec<f64>, Matrix)> {
    let (d, t) = (reduced.data.moment.rows(), theta.rows());
    if t <= d || d == 0 {
        return match diagonal {
            Some(values) => Ok((values, Matrix::identity(t))),
            None => linalg::eigen(theta),
        };
    }
    let span = linalg::orthonormal(&linalg::transposed(reduced.data.moment));
    let mut image = match diagonal {
        None => reduced.times(theta, &span),
        Some(_) => span.clone(),
    };
    for (r, scale) in diagonal.iter().flatten().enumerate() {
        image.row_mut(r).iter_mut().for_each(|x| *x *= scale);
    }
    let mut inner = reduced.cross(&span, &image);
    linalg::symmetrise(&mut inner);
    let (values, turn) = linalg::eigen(&inner)?;
    Ok((values, reduced.times(&span, &turn)))
}

/// W for this Theta, as the V whose own Theta is best for that W, and that Theta. `tell` gets to know the objective of W.
fn round(
    reduced: &Reduced<'_>,
    gain: f64,
    theta: &Turned,
    tell: &mut dyn FnMut(f64),
) -> Result<(Matrix, Turned)> {
    let (gamma, mut w) = (reduced.data.gamma, theta.moment.clone());
    for (j, &l) in reduced.data.values.iter().enumerate() {
        for (x, s) in w.row_mut(j).iter_mut().zip(&theta.values) {
            let s = s.max(0.0);
            *x *= gamma * s / (1.0 + gamma * l * s);
        }
    }
    let mut square = reduced.cross(&w, &w);
    linalg::symmetrise(&mut square);
    let (cubes, turn) = linalg::eigen(&square)?;
    let values: Vec<f64> = cubes.iter().map(|x| (gain * x.max(0.0)).cbrt()).collect();
    // <Theta, V'V> - phi(V'V) / 2 with V'V = Theta / g.
    tell(reduced.objective(&w, 0.75 * values.iter().map(|s| s * s / gain).sum::<f64>()));
    let mut v = reduced.times(&w, &turn);
    let floor = f64::EPSILON * values.iter().fold(0.0f64, |a, &b| a.max(b));
    for j in 0..v.rows() {
        for (x, s) in v.row_mut(j).iter_mut().zip(&values) {
            *x = if *s > floor { *x / s } else { 0.0 };
        }
    }
    let (basis, moment) = (reduced.times(&theta.basis, &turn), reduced.times(&theta.moment, &turn));
    Ok((v, Turned { values, basis, moment }))
}
