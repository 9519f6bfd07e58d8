//! k = 1: closed forms for W given Theta and for Theta given W, taken in turn.
//!
//! Given `Theta = U diag(s) U'`: `V U = (I + gamma s_j X'X)^-1 gamma b U` and `W = V Theta`. Given W: `Theta
//! = (g W'W)^(1/3)` with phi'(z) = g z; then `W Theta^-1` is the V whose own Theta this is. A round costs a
//! few products and one eigendecomposition of the size of Theta, far less than a Newton step. If Theta is
//! well conditioned, a few rounds are enough. Newton's method takes over as soon as it is expected to end
//! earlier. A round only solves equations with X'X, so a band is enough. Newton's method needs the
//! eigenbasis, which may cost more than everything else.

use super::statistics::Square;
use super::{Ended, Reduced, SpectralSearch, VPoint};
use crate::linalg::{self, view};
use crate::regularizer::SumRegularizer;
use crate::{Matrix, Result};
use std::ops::ControlFlow;

/// What Newton needs to finish costs about as much as this many rounds.
const NEWTON_ROUNDS: f64 = 9.0;

/// How many rounds eigenvectors cost: about 10 d^3 operations, against d T (12 T + 400) for products and
/// equations.
fn eigen_rounds(d: usize, t: usize) -> f64 {
    let (d, t) = (d as f64, t as f64);
    10.0 * d * d / (t * (12.0 * t + 400.0))
}

/// Rounds to a certificate at the present pace. Duals that certify themselves take a gap some fifty times
/// smaller.
fn rounds_left(gap: f64, last: f64, tolerance: f64) -> f64 {
    let pace = (last / gap).ln();
    if pace > 0.0 { (50.0 * gap / tolerance).ln() / pace } else { f64::INFINITY }
}

/// `Theta = basis diag(values) basis'` (tasks x directions), and X'Y in that basis. The regulariser of k = 1
/// is a sum of squares, the same in every basis: a whole round, its certificate included, stays there.
struct Turned {
    values: Vec<f64>,
    basis: Matrix,
    moment: Matrix,
}

/// The first Theta.
pub(super) enum FirstTheta<'a> {
    Diagonal(&'a [f64]),
    OfPoint(&'a VPoint),
}

/// g of `phi'(z) = g z`, if that is all there is.
pub(super) fn gain(output: &SumRegularizer) -> Option<f64> {
    let is_square = output.degree() == Some(2) && output.atoms().is_empty();
    output.entries().linear_slope().filter(|_| is_square)
}

/// The end of the search, or a point from which to go on, if there is a better one than at the start.
pub(super) fn run(
    search: &mut SpectralSearch<'_, '_>,
    from: FirstTheta<'_>,
) -> ControlFlow<Ended, Option<VPoint>> {
    let reduced = search.reduced;
    let Some(gain) = gain(reduced.output) else { return ControlFlow::Continue(None) };
    let Ok(mut theta) = first(reduced, from) else { return ControlFlow::Continue(None) };
    let patience = NEWTON_ROUNDS
        + match reduced.data.square {
            Square::Diagonal(_) => 0.0,
            Square::Banded(band) => eigen_rounds(band.len(), theta.values.len()),
        };
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
            None if rounds_left(gap, last, search.tolerance) > patience => break,
            _ => last = gap,
        }
    }
    ControlFlow::Continue(v.map(|v| back(&v, &theta)))
}

/// Eigenvalues and a basis of the first Theta. With more tasks than features, X'Y is nothing but zeros in
/// most directions of the tasks, and so are V, W and Theta: a basis of the others will do.
fn first(reduced: &Reduced<'_>, from: FirstTheta<'_>) -> Result<Turned> {
    let (d, t) = (reduced.data.moment.rows(), reduced.data.moment.cols());
    let (values, basis) = match from {
        FirstTheta::Diagonal(values) if t <= d || d == 0 => {
            let moment = reduced.data.moment.clone();
            return Ok(Turned { values: values.to_vec(), basis: Matrix::identity(t), moment });
        }
        FirstTheta::OfPoint(point) if t <= d || d == 0 => linalg::eigen(&point.theta)?,
        _ => {
            let span = linalg::orthonormal(&linalg::transposed(reduced.data.moment));
            let image = match from {
                FirstTheta::OfPoint(point) => reduced.times(&point.theta, &span),
                FirstTheta::Diagonal(values) => {
                    let mut image = span.clone();
                    for (r, scale) in values.iter().enumerate() {
                        image.row_mut(r).iter_mut().for_each(|x| *x *= scale);
                    }
                    image
                }
            };
            let mut inner = reduced.cross(&span, &image);
            linalg::symmetrise(&mut inner);
            let (values, turn) = linalg::eigen(&inner)?;
            (values, reduced.times(&span, &turn))
        }
    };
    let moment = reduced.times(reduced.data.moment, &basis);
    Ok(Turned { values, basis, moment })
}

/// Probes of [`independent`], which only has to be near.
const PROBES: usize = 4;

/// About the best Theta that is diagonal, i.e. independent tasks: `s = h(s)`, `h(s) = g |V(s)|^2` with `V =
/// (I + gamma s X'X)^-1 gamma b`. That is at most `h(0)`, and from there on h falls like a power of s between
/// 0 and -2, which two probes tell.
pub(super) fn independent(reduced: &Reduced<'_>, gain: f64) -> Vec<f64> {
    let squares = |v: &Matrix| {
        let mut sums = vec![0.0; v.cols()];
        for j in 0..v.rows() {
            sums.iter_mut().zip(v.row(j)).for_each(|(sum, v)| *sum += v * v);
        }
        sums.iter().map(|sum| gain * reduced.data.gamma.powi(2) * sum).collect::<Vec<f64>>()
    };
    let mut s = squares(reduced.data.moment);
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None;
    for _ in 0..PROBES {
        let mut v = reduced.data.moment.clone();
        reduced.solve_shifted(&s, &mut v);
        let h = squares(&v);
        let next = (0..s.len()).map(|r| {
            let fall = last.as_ref().map_or(1.0, |(s0, h0)| -(h[r] / h0[r]).ln() / (s[r] / s0[r]).ln());
            let fall = if fall.is_nan() { 1.0 } else { fall.clamp(0.0, 2.0) };
            if h[r] > 0.0 { s[r] * (h[r] / s[r]).powf(1.0 / (1.0 + fall)) } else { 0.0 }
        });
        let next = next.collect();
        last = Some((std::mem::replace(&mut s, next), h));
    }
    s
}

/// W for this Theta, as the V whose own Theta is best for that W, and that Theta. `tell` gets to know the
/// objective of W.
fn round(
    reduced: &Reduced<'_>,
    gain: f64,
    theta: &Turned,
    tell: &mut dyn FnMut(f64),
) -> Result<(Matrix, Turned)> {
    let (gamma, mut w) = (reduced.data.gamma, theta.moment.clone());
    let s: Vec<f64> = theta.values.iter().map(|s| s.max(0.0)).collect();
    reduced.solve_shifted(&s, &mut w);
    for j in 0..w.rows() {
        w.row_mut(j).iter_mut().zip(&s).for_each(|(x, s)| *x *= gamma * s);
    }
    let (cubes, turn) = linalg::eigen(&linalg::gram(&w, reduced.threads))?;
    let values: Vec<f64> = cubes.iter().map(|x| (gain * x.max(0.0)).cbrt()).collect();
    // <Theta, V'V> - phi(V'V) / 2 with V'V = Theta / g.
    let price = 0.75 * values.iter().map(|s| s * s / gain).sum::<f64>();
    tell(reduced.turned(&theta.moment).objective(&w, price));
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
