//! The certificate of what a solver in the eigenbasis of the inputs ends with: duals, and a V that may be better than theirs.

use super::start;
use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::linalg::{self, view};
use crate::{Matrix, Problem, Result};

/// Certifies feasible duals with the primal point that they induce or, if that one is not good enough, with that of V, given
/// in the eigenbasis. The duals, the coordinates of V if they are part of the certificate, and the certificate.
pub(crate) fn grade(
    problem: &Problem<'_>,
    kappa: Vec<f64>,
    v_rotated: &Matrix,
    tolerance: f64,
) -> Result<(Vec<f64>, Option<Matrix>, Graded)> {
    let never = &mut Interrupt::never();
    let induced = certify_normal(problem, &kappa, None, never)?;
    if induced.certificate.rel_gap() <= tolerance {
        return Ok((kappa, None, induced));
    }
    let frame = &problem.data().eigenbasis(never)?.frame;
    let coordinates = linalg::times(view(frame), view(v_rotated), problem.data().threads());
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
