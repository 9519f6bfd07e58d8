//! The end of every solver that works in V: duals and a primal point, certified from the data.

use super::start;
use crate::backend::{Interrupt, OrthonormalBasis};
use crate::certificate::{Graded, certify_normal};
use crate::{Matrix, Problem, Result};

/// Duals certified with the primal point that they induce if that is good enough, else with the one whose coordinates in a
/// basis are `v`; whichever is better.
pub(super) fn certify(
    problem: &Problem<'_>,
    kappa: Vec<f64>,
    (basis, v): (&dyn OrthonormalBasis, &Matrix),
    tolerance: f64,
) -> Result<(Vec<f64>, Option<Matrix>, Graded)> {
    let never = &mut Interrupt::never();
    let induced = certify_normal(problem, &kappa, None, never)?;
    if induced.certificate.rel_gap() <= tolerance {
        return Ok((kappa, None, induced));
    }
    let data = problem.data();
    let coordinates = data.pool().install(|| basis.coordinates(data.backend(), v, data.threads()));
    let mut pair = (kappa.clone(), certify_normal(problem, &kappa, Some(&coordinates), never)?);
    if !pair.1.certificate.gap.is_finite() {
        // Duals of a poor point can be beyond all bounds; a fraction of them is not.
        let fraction = start::along(problem, kappa.clone(), never)?;
        let graded = certify_normal(problem, &fraction, Some(&coordinates), never)?;
        pair = (fraction, graded);
    }
    // Far from a solution relative gaps are all alike, and gaps may be infinite while one of the points is still usable.
    let badness = |graded: &Graded| (graded.certificate.gap, graded.certificate.primal);
    if badness(&pair.1) < badness(&induced) {
        return Ok((pair.0, Some(coordinates), pair.1));
    }
    Ok((kappa, None, induced))
}

/// Coordinates of the backend for those in the eigenbasis.
pub(super) fn coordinates(problem: &Problem<'_>, v: &Matrix) -> Result<Matrix> {
    let data = problem.data();
    let spectrum = data.eigenbasis(&mut Interrupt::never())?;
    Ok(data.pool().install(|| spectrum.coordinates(data.backend(), v, data.threads())))
}
