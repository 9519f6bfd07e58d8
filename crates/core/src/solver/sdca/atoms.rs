//! Atoms during an ascent: their values `<S, G>` change with every step.

use crate::Matrix;
use crate::regularizer::{Atom, AtomStep, SumRegularizer};

/// The atoms with their values, and what the step at hand needs of them.
pub(super) struct AscentAtoms<'a> {
    output: &'a SumRegularizer,
    steps: Vec<AtomStep>,
    /// Every entry of Theta at rho = 0.
    pub(super) prior: f64,
}

impl<'a> AscentAtoms<'a> {
    pub(super) fn new(output: &'a SumRegularizer, gram: &Matrix) -> Self {
        let prior = if output.atoms().is_empty() { 0.0 } else { output.entries().dphi((0, 0), 0.0) };
        let step = |atom: &Atom| AtomStep { weight: atom.weight(), z: atom.value(gram), b: 0.0, s: 0.0 };
        AscentAtoms { output, steps: output.atoms().iter().map(step).collect(), prior }
    }

    /// Takes the values from a task Gram matrix.
    pub(super) fn reset(&mut self, gram: &Matrix) {
        for (step, atom) in self.steps.iter_mut().zip(self.output.atoms()) {
            step.z = atom.value(gram);
        }
    }

    /// The atoms along a coordinate of a task, whose input has these scores.
    #[inline(always)]
    pub(super) fn along(&mut self, task: usize, scores: &[f64]) -> &[AtomStep] {
        for (step, atom) in self.steps.iter_mut().zip(self.output.atoms()) {
            (step.b, step.s) = (atom.row_times(task, scores), atom.diagonal(task));
        }
        &self.steps
    }

    /// After a step along this coordinate, on an input with k(x, x) = a.
    #[inline(always)]
    pub(super) fn moved(&mut self, a: f64, step: f64) {
        for atom in &mut self.steps {
            atom.z = (atom.z + step * (2.0 * atom.b + a * atom.s * step)).max(0.0);
        }
    }
}
