//! The end of every solver that works in V: duals and a primal point, certified from the data.

use super::{Incumbent, badness, start};
use crate::backend::{Interrupt, OrthonormalBasis};
use crate::{Matrix, Problem, Result};

/// Certifies duals with the primal point that they induce if that is good enough, else also with the point of these
/// coordinates; the better of the two.
pub(super) fn certify(
    problem: &Problem<'_>,
    kappa: Vec<f64>,
    coordinates: impl FnOnce() -> Result<Matrix> + Send,
    tolerance: f64,
) -> Result<Incumbent> {
    let never = &mut Interrupt::never();
    let induced = Incumbent::induced(problem, kappa, never)?;
    if induced.rel_gap() <= tolerance {
        return Ok(induced);
    }
    let coordinates = problem.data().pool().install(coordinates)?;
    let mut pair = Incumbent::pair(problem, induced.kappa.clone(), coordinates.clone())?;
    if !pair.certificate().gap.is_finite() {
        // Duals of a poor point can be far too large; a fraction of them is better.
        let fraction = start::along(problem, induced.kappa.clone(), never)?;
        pair = Incumbent::pair(problem, fraction, coordinates)?;
    }
    let better = badness(pair.certificate()) < badness(induced.certificate());
    Ok(if better { pair } else { induced })
}

/// The same with the point whose coordinates in `basis` are `v`.
pub(super) fn certify_in(
    problem: &Problem<'_>,
    kappa: Vec<f64>,
    (basis, v): (&dyn OrthonormalBasis, &Matrix),
    tolerance: f64,
) -> Result<Incumbent> {
    let data = problem.data();
    certify(problem, kappa, || Ok(basis.coordinates(data.backend(), v, data.threads())), tolerance)
}

/// Coordinates of the backend for coordinates in the eigenbasis.
pub(super) fn coordinates(problem: &Problem<'_>, v: &Matrix) -> Result<Matrix> {
    let data = problem.data();
    let spectrum = data.eigenbasis(problem.is_centred(), &mut Interrupt::never())?;
    Ok(data.pool().install(|| spectrum.coordinates(data.backend(), v, data.threads())))
}
