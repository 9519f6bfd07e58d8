//! The line search where every look is a question: the whole step first, and if that is not good, many others at once.

use super::model::{RowsModel, RowsVPoint, locked};
use crate::Matrix;
use crate::linalg::{self, inner, view};
use crate::rows::{Question, RowsPoint};
use crate::solver::newton::{NewtonModel, mismatch};
use crate::solver::newton_system::search::curved;
use crate::solver::newton_system::{NewtonStep, Smooth, VPoint};

/// Parts of a step that are tried at once.
const PARTS: [f64; 9] = [1.0, 0.7, 0.45, 0.25, 0.12, 0.04, 0.01, 1e-3, 5e-5];
/// The fall of psi with which a whole step is good, and with which any is, as shares of what its slope promises.
const GOOD_FALL: f64 = 0.1;
const LEAST_FALL: f64 = 1e-4;
/// Changes of psi below this share of it may be rounding, since sums over all rows are behind it.
const ROUNDING_SHARE: f64 = 1e-11;

/// The best of the points that are tried, if psi falls enough there: straight ones and curved ones, as in
/// `newton_system/search.rs`.
pub(super) fn search(model: &RowsModel<'_>, point: &RowsVPoint, step: &NewtonStep) -> Option<RowsVPoint> {
    let straight_first = model.output().degree().is_none_or(|degree| degree == 2);
    let enough = |t: f64, share: f64| point.psi + share * t * step.slope + 1e-14 * point.psi.abs();
    let first = VPoint::at(model, trial(model, point, step, 1.0, straight_first)?);
    if first.psi <= enough(1.0, GOOD_FALL) {
        return Some(first);
    }
    // The fall is below the rounding of psi: a better derivative says that the step was good.
    let is_below_rounding = step.slope.abs() <= ROUNDING_SHARE * point.psi.abs();
    let miss = |at: &RowsVPoint| mismatch(model, at, &model.residual(at));
    if is_below_rounding && first.psi.is_finite() && miss(&first) < 0.5 * miss(point) {
        return Some(first);
    }
    let kinds = [straight_first, !straight_first];
    let tried = PARTS.iter().flat_map(|&t| kinds.map(|kind| (t, kind))).skip(1);
    let trials: Vec<(f64, Matrix)> =
        tried.filter_map(|(t, kind)| Some((t, trial(model, point, step, t, kind)?))).collect();
    let values = psi_at(model, &trials)?;
    let best = values.iter().zip(trials).filter(|(psi, (t, _))| **psi <= enough(*t, LEAST_FALL));
    let best = best.min_by(|one, other| one.0.total_cmp(other.0));
    let is_better = |(psi, _): &(&f64, (f64, Matrix))| **psi < first.psi;
    match best.filter(is_better) {
        Some((_, (_, v))) => Some(VPoint::at(model, v)).filter(|next| next.psi < point.psi),
        None => (first.psi <= enough(1.0, LEAST_FALL)).then_some(first),
    }
}

/// V after this part of a step.
fn trial(
    model: &RowsModel<'_>,
    point: &RowsVPoint,
    step: &NewtonStep,
    t: f64,
    straight: bool,
) -> Option<Matrix> {
    let mut v = point.v.clone();
    v.add_scaled(t, &step.dv);
    match straight {
        true => Some(v),
        false => curved(model.output(), [&point.w, &step.dw], t, &v, model.algebra()),
    }
}

/// psi at several V.
fn psi_at(model: &RowsModel<'_>, trials: &[(f64, Matrix)]) -> Option<Vec<f64>> {
    let (output, threads) = (model.output(), model.algebra().threads);
    let unit = model.problem.unit();
    let (mut points, mut rest) = (vec![], vec![]);
    for (_, v) in trials {
        let gram = linalg::gram(v, threads);
        let theta = output.theta(&gram);
        let w = linalg::times(view(v), view(&theta), threads);
        let intercept = locked(&model.base).guess(model, &w);
        rest.push(inner(&theta, &gram) - 0.5 * output.value(&gram) + model.intercept_cost(&intercept));
        points.push(RowsPoint { weights: model.asked_weights(&w), intercept, smoothing: model.mu });
    }
    let finite =
        |point: &RowsPoint| point.weights.as_slice().iter().chain(&point.intercept).all(|x| x.is_finite());
    // Points beyond double precision keep their places, at the weights of zero.
    for (point, rest) in points.iter_mut().zip(&mut rest).filter(|(point, _)| !finite(point)) {
        point.weights.as_mut_slice().fill(0.0);
        point.intercept.fill(0.0);
        *rest = f64::INFINITY;
    }
    let values = model.ask(&Question::Values(points))?;
    (values.len() == rest.len()).then(|| {
        let sum =
            |(value, rest): (&f64, f64)| if rest.is_nan() { f64::INFINITY } else { value / unit + rest };
        values.iter().zip(rest).map(sum).collect()
    })
}
