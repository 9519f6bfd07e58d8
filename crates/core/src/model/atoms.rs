//! What the atoms of a problem contribute to a model.

use super::Model;
use crate::certificate::Graded;
use crate::linalg::inner;
use crate::regularizer::{AtomSpec, Regularizer};
use crate::{Matrix, Problem, Result};

/// An atom of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct AtomPart<'a> {
    /// Its name.
    pub name: &'a str,
    /// w, as it was given.
    pub weight: f64,
    /// a, as it was learned: a S is a part of Theta.
    pub coefficient: f64,
    /// Its share of the model, `a <S, rho> / <Theta, rho>`.
    pub share: f64,
}

/// Coefficients and shares of all atoms, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AtomParts {
    pub(super) coefficients: Vec<f64>,
    pub(super) shares: Vec<f64>,
}

impl AtomParts {
    /// Of a certified point, in the caller's units.
    pub(super) fn new(problem: &Problem<'_>, graded: &Graded) -> Self {
        let Regularizer::Entrywise(output) = problem.normal_regularizer() else {
            return AtomParts::default();
        };
        let Graded { theta, gram, .. } = graded;
        let (all, coefficients) = (inner(theta, gram), output.coefficients(gram));
        let atoms = output.atoms().iter().zip(&coefficients);
        let share = |part: f64| if part > 0.0 { (part / all).min(1.0) } else { 0.0 };
        let shares = atoms.map(|(atom, a)| share(a * atom.value(gram))).collect();
        let unit = problem.theta_unit();
        AtomParts { coefficients: coefficients.iter().map(|a| a * unit).collect(), shares }
    }
}

impl Model {
    /// The atoms with what was learned about them; none if the problem has none.
    pub fn atoms(&self) -> Vec<AtomPart<'_>> {
        let AtomParts { coefficients, shares } = &self.atoms;
        let all = self.about.problem.atoms.iter().zip(coefficients).zip(shares);
        all.map(|((spec, &coefficient), &share)| {
            let AtomSpec { name, weight, .. } = spec;
            AtomPart { name, weight: *weight, coefficient, share }
        })
        .collect()
    }

    /// Theta in parts: what the entries have learned by themselves, and `a S` of each atom. They add up to Theta.
    ///
    /// # Errors
    /// If the matrix of an atom is not positive semidefinite.
    pub fn theta_parts(&self) -> Result<(Matrix, Vec<Matrix>)> {
        let (mut entries, mut parts) = (self.theta.clone(), vec![]);
        for (spec, &a) in self.about.problem.atoms.iter().zip(&self.atoms.coefficients) {
            let atom = spec.build_for(self.theta.rows())?;
            let mut part = Matrix::zeros(self.theta.rows(), self.theta.cols());
            atom.add_to(a, &mut part);
            atom.add_to(-a, &mut entries);
            parts.push(part);
        }
        Ok((entries, parts))
    }
}
