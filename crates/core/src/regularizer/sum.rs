//! Sums over the entries of Theta, with or without atoms.

use super::{Atom, AtomSpec, AtomStep, Entrywise, Pair, RowSlope, RowStep};
use crate::{Error, Matrix, Result};

/// The regulariser `R(rho) = sum_rs phi(rho_rs) + sum_j w_j phi(<S_j, rho>)` of the dual.
///
/// ```text
/// Theta    = phi'(rho) + sum_j a_j S_j,    a_j = w_j phi'(<S_j, rho>)
/// V(Theta) = min over Theta = M + sum_j a_j S_j of  sum phi*(M_rs) + sum_j w_j phi*(a_j / w_j)
/// ```
/// Theta is positive semidefinite whenever rho is: then `<S_j, rho>` is not negative, and neither is a_j.
/// Without atoms it is just the sum over entries. Solvers and the certificate know regularisers of this kind
/// only through this type.
#[derive(Debug)]
pub struct SumRegularizer {
    entries: Box<dyn Entrywise>,
    atoms: Vec<Atom>,
}

/// The pair that stands for an atom: phi is the same for all pairs where there are atoms.
const ATOM: Pair = (0, 0);

impl SumRegularizer {
    /// A sum over entries alone.
    pub fn new(entries: impl Entrywise + 'static) -> Self {
        SumRegularizer { entries: Box::new(entries), atoms: vec![] }
    }

    /// The same with atoms. Those of weight zero are left out, so that they change nothing.
    ///
    /// # Errors
    /// If an atom is not valid for this number of tasks, two have the same name, or phi is not the same for all
    /// pairs of tasks, or linear: then an atom means nothing.
    pub(super) fn with_atoms(self, atoms: &[AtomSpec], n_tasks: usize) -> Result<Self> {
        let mut built = vec![];
        for (j, spec) in atoms.iter().enumerate() {
            let fail = |why: String| Err(Error::Atom { name: spec.name.clone(), why });
            if atoms[..j].iter().any(|other| other.name == spec.name) {
                return fail("there are two of this name".into());
            }
            let atom = spec.build_for(n_tasks)?;
            if atom.weight() > 0.0 && !self.entries.takes_atoms() {
                return fail(format!(
                    "the {} regulariser has a given Theta or prior, or is linear; atoms go with power, exp, cosh and \
                     series",
                    self.entries.name()
                ));
            }
            built.push(atom);
        }
        built.retain(|atom| atom.weight() > 0.0);
        Ok(SumRegularizer { entries: self.entries, atoms: built })
    }

    /// phi of the entries.
    pub fn entries(&self) -> &dyn Entrywise {
        &*self.entries
    }

    /// phi of the entries, without atoms.
    pub fn into_entries(self) -> Box<dyn Entrywise> {
        self.entries
    }

    /// The atoms of positive weight.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The same in other units: Theta is multiplied by `gain` and rho by `rate`. Weights have no unit.
    pub(crate) fn scaled(&self, gain: f64, rate: f64) -> Self {
        SumRegularizer { entries: self.entries.scaled(gain, rate), atoms: self.atoms.clone() }
    }

    /// `Some(2k)` if R(a rho) = a^2k R(rho).
    pub(crate) fn degree(&self) -> Option<u32> {
        self.entries.degree()
    }

    /// a_j: what each atom contributes to Theta.
    pub fn coefficients(&self, rho: &Matrix) -> Vec<f64> {
        self.atoms.iter().map(|atom| atom.weight() * self.entries.dphi(ATOM, atom.value(rho))).collect()
    }

    /// Theta, exactly symmetric.
    pub fn theta(&self, rho: &Matrix) -> Matrix {
        let mut theta = self.entries.theta(rho);
        for (atom, a) in self.atoms.iter().zip(self.coefficients(rho)) {
            atom.add_to(a, &mut theta);
        }
        theta
    }

    /// R(rho).
    pub fn value(&self, rho: &Matrix) -> f64 {
        let atom = |atom: &Atom| atom.weight() * self.entries.phi(ATOM, atom.value(rho));
        self.entries.phi_sum(rho) + self.atoms.iter().map(atom).sum::<f64>()
    }

    /// `w_j phi''(<S_j, rho>)`: how fast each a_j changes.
    pub(crate) fn atom_curvatures(&self, rho: &Matrix) -> Vec<f64> {
        self.atoms.iter().map(|atom| atom.weight() * self.entries.d2phi(ATOM, atom.value(rho))).collect()
    }

    /// `R(other) + V(Theta) - <Theta, other>` for the Theta of rho: a sum of Fenchel-Young terms, none negative.
    pub fn fenchel_young(&self, rho: &Matrix, theta: &Matrix, other: &Matrix) -> f64 {
        let without_atoms;
        let of_entries = match self.atoms.is_empty() {
            true => theta,
            false => {
                without_atoms = self.entries.theta(rho);
                &without_atoms
            }
        };
        let mut sum = self.entries.fenchel_young_sum(other, of_entries);
        for atom in &self.atoms {
            let slope = self.entries.dphi(ATOM, atom.value(rho));
            sum += atom.weight() * not_negative(self.entries.fenchel_young(ATOM, atom.value(other), slope));
        }
        sum
    }

    /// `<Theta(factor rho), rho>`.
    pub(crate) fn pull(&self, rho: &Matrix, factor: f64) -> f64 {
        let atom = |atom: &Atom| {
            let z = atom.value(rho);
            if z == 0.0 { 0.0 } else { atom.weight() * self.entries.dphi(ATOM, factor * z) * z }
        };
        self.entries.pull_sum(rho, factor) + self.atoms.iter().map(atom).sum::<f64>()
    }

    /// Theta_rr where all tasks have rho_tt = rho and nothing in common.
    pub(crate) fn diagonal(&self, r: usize, rho: f64) -> f64 {
        let atom =
            |atom: &Atom| atom.weight() * self.entries.dphi(ATOM, atom.trace() * rho) * atom.diagonal(r);
        self.entries.dphi((r, r), rho) + self.atoms.iter().map(atom).sum::<f64>()
    }

    /// Slope and curvature of a coordinate step: those of the entries, and those of the atoms.
    pub(crate) fn row_slope(&self, row: &RowStep<'_>, atoms: &[AtomStep], step: f64) -> RowSlope {
        let mut out = self.entries.row_slope(row, step);
        if atoms.is_empty() {
            return out;
        }
        let value = |atom: &AtomStep| (atom.z + step * (2.0 * atom.b + row.a * atom.s * step)).max(0.0);
        let highest = atoms.iter().map(value).fold(0.0, f64::max);
        let log_scale = self.entries.log_scale(0.0, highest).max(out.log_scale);
        let shrink = (out.log_scale - log_scale).exp();
        for part in [&mut out.slope, &mut out.curvature, &mut out.size] {
            *part *= shrink;
        }
        out.log_scale = log_scale;
        for atom in atoms {
            let (d1, d2) = self.entries.scaled_slopes(ATOM, value(atom), log_scale);
            let along = atom.b + row.a * atom.s * step;
            out.slope += atom.weight * d1 * along;
            out.curvature += atom.weight * (2.0 * d2 * along * along + row.a * atom.s * d1);
            out.size += (atom.weight * d1 * along).abs();
        }
        out
    }
}

/// Rounding may make a zero negative: then it is zero. NaN (infinity minus infinity) proves nothing: then it is
/// infinite.
pub(crate) fn not_negative(term: f64) -> f64 {
    if term.is_nan() { f64::INFINITY } else { term.max(0.0) }
}
