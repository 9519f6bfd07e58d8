//! k = 1: closed forms for W given Theta and for Theta given W, taken in turn.
//!
//! Given `Theta = U diag(s) U'`: `V U = (I + gamma s_j X'X)^-1 gamma b U` and `W = V Theta`. Given W: `Theta
//! = (g W'W)^(1/3)` with phi'(z) = g z; then `W Theta^-1` is the V whose own Theta this is. A round costs a
//! few products and one eigendecomposition of the size of Theta, far less than a Newton step. If Theta is
//! well conditioned, a few rounds are enough. Newton's method takes over as soon as it is expected to end
//! earlier. A round only solves equations with X'X, so a band is enough. Newton's method needs the
//! eigenbasis, which may cost more than everything else.

use super::newton::NewtonAlgebra;
use super::square::Aim;
use super::{Ended, Reduced, SpectralSearch, VPoint};
use crate::algebra::Algebra;
use crate::backend::Interrupt;
use crate::linalg;
use crate::regularizer::SumRegularizer;
use crate::{Matrix, Result};
use std::ops::ControlFlow;

/// What Newton needs to finish costs about as much as this many rounds.
const NEWTON_ROUNDS: f64 = 9.0;

/// Rounds to a certificate at the present pace. Duals that certify themselves take a gap some fifty times
/// smaller.
fn rounds_left(gap: f64, last: f64, tolerance: f64) -> f64 {
    let pace = (last / gap).ln();
    if pace > 0.0 { (50.0 * gap / tolerance).ln() / pace } else { f64::INFINITY }
}

/// `Theta = basis diag(values) basis'` (tasks x directions), and X'Y in that basis. The regulariser of k = 1
/// is a sum of squares, the same in every basis: a whole round, its certificate included, stays there.
struct Turned<M> {
    values: Vec<f64>,
    basis: Matrix,
    moment: M,
    /// About `(I + gamma s_j X'X)^-1 X'Y` for these values, where it is known.
    guess: Option<M>,
}

/// The first Theta.
pub(super) enum FirstTheta<'a, M> {
    Diagonal(&'a [f64]),
    OfPoint(&'a VPoint<M>),
}

/// g of `phi'(z) = g z`, if that is all there is.
pub(super) fn gain(output: &SumRegularizer) -> Option<f64> {
    let is_square = output.degree() == Some(2) && output.atoms().is_empty();
    output.entries().linear_slope().filter(|_| is_square)
}

/// Tolerance of the equations of a round, relative to the root of the gap before it.
const TOLERANCE_SHARE: f64 = 0.03;

/// The end of the search, or a point from which to go on, if there is a better one than at the start.
pub(super) fn run<A: NewtonAlgebra>(
    search: &mut SpectralSearch<'_, '_, A>,
    from: FirstTheta<'_, A::Mat>,
) -> ControlFlow<Ended<A::Mat>, Option<VPoint<A::Mat>>> {
    let reduced = search.reduced;
    let algebra = &reduced.data.algebra;
    let Some(gain) = gain(reduced.output) else { return ControlFlow::Continue(None) };
    let Ok(mut theta) = first(reduced, from) else { return ControlFlow::Continue(None) };
    let patience = NEWTON_ROUNDS + reduced.data.square.rounds_of_eigenvectors(reduced.n_tasks());
    let (mut last, mut v) = (f64::INFINITY, None);
    let back =
        |v: &A::Mat, theta: &Turned<A::Mat>| reduced.point(algebra.times_small_transposed(v, &theta.basis));
    loop {
        let rates = reduced.rates(&theta.values);
        let ready = search.clock.unless_stopped(|i| reduced.data.square.prepare(algebra, &rates, i));
        let Ok(Some(true)) = ready else { break };
        let tolerance = (TOLERANCE_SHARE * last.min(1e-3).sqrt()).max(1e-9);
        let tell = &mut |objective| search.clock.objective(objective);
        let Ok((next_v, next_theta)) = round(reduced, gain, &theta, tolerance, tell) else { break };
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
fn first<A: Algebra + Copy>(
    reduced: &Reduced<'_, A>,
    from: FirstTheta<'_, A::Mat>,
) -> Result<Turned<A::Mat>> {
    let algebra = &reduced.data.algebra;
    let (d, t) = algebra.shape(reduced.data.moment);
    let (values, basis) = match from {
        FirstTheta::Diagonal(values) if t <= d || d == 0 => {
            let moment = reduced.data.moment.clone();
            let basis = Matrix::identity(t);
            return Ok(Turned { values: values.to_vec(), basis, moment, guess: None });
        }
        FirstTheta::OfPoint(point) if t <= d || d == 0 => algebra.eigen(&point.theta)?,
        _ => {
            let span = linalg::orthonormal(&linalg::transposed(&algebra.get(reduced.data.moment)));
            let image = match from {
                FirstTheta::OfPoint(point) => times(&point.theta, &span, algebra.threads()),
                FirstTheta::Diagonal(values) => {
                    let mut image = span.clone();
                    for (r, scale) in values.iter().enumerate() {
                        image.row_mut(r).iter_mut().for_each(|x| *x *= scale);
                    }
                    image
                }
            };
            let mut inner =
                linalg::times(linalg::view(&span).transpose(), linalg::view(&image), algebra.threads());
            linalg::symmetrise(&mut inner);
            let (values, turn) = algebra.eigen(&inner)?;
            (values, times(&span, &turn, algebra.threads()))
        }
    };
    let moment = algebra.times_small(reduced.data.moment, &basis);
    Ok(Turned { values, basis, moment, guess: None })
}

/// The product of small matrices.
fn times(a: &Matrix, b: &Matrix, threads: usize) -> Matrix {
    linalg::times(linalg::view(a), linalg::view(b), threads)
}

/// Probes of [`independent`], which only has to be near.
const PROBES: usize = 4;
const PROBE_TOLERANCE: f64 = 0.1;

/// About the best Theta that is diagonal, i.e. independent tasks: `s = h(s)`, `h(s) = g |V(s)|^2` with `V =
/// (I + gamma s X'X)^-1 gamma b`. That is at most `h(0)`, and from there on h falls like a power of s between
/// 0 and -2, which two probes tell.
pub(super) fn independent<A: Algebra + Copy>(reduced: &Reduced<'_, A>, gain: f64) -> Result<Vec<f64>> {
    let algebra = &reduced.data.algebra;
    let squares = |v: &A::Mat| {
        let sums = algebra.column_products(v, v);
        sums.iter().map(|sum| gain * reduced.data.gamma.powi(2) * sum).collect::<Vec<f64>>()
    };
    let mut s = squares(reduced.data.moment);
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None;
    for _ in 0..PROBES {
        let mut v = reduced.data.moment.clone();
        reduced.data.square.prepare(algebra, &reduced.rates(&s), &mut Interrupt::never())?;
        reduced.solve_shifted(&s, &mut v, Aim { from: None, tolerance: PROBE_TOLERANCE });
        let h = squares(&v);
        let next = (0..s.len()).map(|r| {
            let fall = last.as_ref().map_or(1.0, |(s0, h0)| -(h[r] / h0[r]).ln() / (s[r] / s0[r]).ln());
            let fall = if fall.is_nan() { 1.0 } else { fall.clamp(0.0, 2.0) };
            if h[r] > 0.0 { s[r] * (h[r] / s[r]).powf(1.0 / (1.0 + fall)) } else { 0.0 }
        });
        let next = next.collect();
        last = Some((std::mem::replace(&mut s, next), h));
    }
    Ok(s)
}

/// W for this Theta, as the V whose own Theta is best for that W, and that Theta. `tell` gets to know the
/// objective of W.
fn round<A: Algebra + Copy>(
    reduced: &Reduced<'_, A>,
    gain: f64,
    theta: &Turned<A::Mat>,
    tolerance: f64,
    tell: &mut dyn FnMut(f64),
) -> Result<(A::Mat, Turned<A::Mat>)> {
    let (gamma, algebra) = (reduced.data.gamma, &reduced.data.algebra);
    let s: Vec<f64> = theta.values.iter().map(|s| s.max(0.0)).collect();
    let mut solution = theta.moment.clone();
    reduced.solve_shifted(&s, &mut solution, Aim { from: theta.guess.as_ref(), tolerance });
    let guess = reduced.data.square.takes_steps().then(|| solution.clone());
    let mut w = solution;
    algebra.scale_columns(&mut w, &s.iter().map(|s| gamma * s).collect::<Vec<f64>>());
    let (cubes, turn) = algebra.eigen(&algebra.gram(&w))?;
    let values: Vec<f64> = cubes.iter().map(|x| (gain * x.max(0.0)).cbrt()).collect();
    // <Theta, V'V> - phi(V'V) / 2 with V'V = Theta / g.
    let price = 0.75 * values.iter().map(|s| s * s / gain).sum::<f64>();
    tell(reduced.turned(&theta.moment).objective(&w, price));
    let mut v = algebra.times_small(&w, &turn);
    let floor = f64::EPSILON * values.iter().fold(0.0f64, |a, &b| a.max(b));
    let inverse = |s: &f64| if *s > floor { 1.0 / s } else { 0.0 };
    algebra.scale_columns(&mut v, &values.iter().map(inverse).collect::<Vec<f64>>());
    let next = Turned {
        values,
        basis: times(&theta.basis, &turn, algebra.threads()),
        moment: algebra.times_small(&theta.moment, &turn),
        guess: guess.map(|solution| algebra.times_small(&solution, &turn)),
    };
    Ok((v, next))
}
