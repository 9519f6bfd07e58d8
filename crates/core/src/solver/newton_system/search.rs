//! The curved line search.
//!
//! W is homogeneous of degree `p = 4k - 1` in V, so that a straight step in V overshoots W by `(1 + t)^p`:
//! columns are rescaled until those of W have the length that the linear model wants.

use super::{MatOf, NewtonStep, PointOf, Smooth, VPoint};
use crate::algebra::Algebra;
use crate::linalg::{dot, times, view};
use crate::regularizer::SumRegularizer;

/// The better of the curved and the straight point at the first t for which psi falls enough. The second one
/// is only tried if the first is not good: first the straight one if W is nearly linear in V (k = 1), else
/// the curved one.
pub(in crate::solver) fn line_search<M: Smooth>(
    model: &M,
    point: &PointOf<M>,
    step: &NewtonStep<MatOf<M>>,
) -> Option<PointOf<M>> {
    let algebra = model.algebra();
    let straight_first = model.output().degree().is_none_or(|degree| degree == 2);
    let mut t = 1.0;
    while t > 1e-6 {
        let enough = |share: f64| point.psi + share * t * step.slope + 1e-14 * point.psi.abs();
        let mut straight = point.v.clone();
        algebra.add_scaled(&mut straight, t, &step.dv);
        let mut best: Option<PointOf<M>> = None;
        for is_straight in [straight_first, !straight_first] {
            if best.as_ref().is_some_and(|best| best.psi <= enough(0.3)) {
                break;
            }
            let v = if is_straight {
                Some(straight.clone())
            } else {
                curved(model.output(), [&point.w, &step.dw], t, &straight, algebra)
            };
            let trial = v.map(|v| VPoint::at(model, v));
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

/// `(V + t dV) diag(s)` with `|W_r|` near `|W_r + t dW_r|`, for regularisers that have a degree.
pub(in crate::solver) fn curved<A: Algebra>(
    output: &SumRegularizer,
    [w, dw]: [&A::Mat; 2],
    t: f64,
    straight: &A::Mat,
    algebra: A,
) -> Option<A::Mat> {
    let degree = output.degree()?;
    let power = f64::from(2 * degree - 1);
    // |W_r + t dW_r|^2.
    let mut wanted = w.clone();
    algebra.add_scaled(&mut wanted, t, dw);
    let target = algebra.column_products(&wanted, &wanted);
    let n = target.len();
    let gram = algebra.gram(straight);
    let mut scale = vec![1.0f64; n];
    for _ in 0..if degree == 2 { 1 } else { 4 } {
        let mut scaled = gram.clone();
        for r in 0..n {
            for s in 0..n {
                scaled[(r, s)] *= scale[r] * scale[s];
            }
        }
        let theta = output.theta(&scaled);
        let both = times(view(&theta), view(&scaled), algebra.threads());
        for r in 0..n {
            let now = dot(both.row(r), theta.row(r));
            let change = (target[r].max(1e-300) / now.max(1e-300)).powf(0.5 / power);
            scale[r] *= change.clamp(0.2, 5.0);
        }
    }
    let mut v = straight.clone();
    algebra.scale_columns(&mut v, &scale);
    algebra.inner(&v, &v).is_finite().then_some(v)
}
