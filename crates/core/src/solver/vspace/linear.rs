//! Which way to solve for Newton's step: a factorisation or an iteration, whichever should take less.

use super::direct::{self, Direct};
use super::{Derivative, iterative};
use crate::Matrix;
use crate::design::{Curvature, Design};

/// Krylov vectors at most.
pub(in crate::solver) const MAX_STEPS: usize = 100;
/// A factorisation of this size is the largest thought of: its matrix has 8 n^2 bytes.
pub(in crate::solver) const MAX_UNKNOWNS: usize = 6000;

/// Chooses by the arithmetic that either way takes, and remembers how many products the last iterations took.
#[derive(Debug)]
pub(in crate::solver) struct Linear {
    expected_steps: f64,
    /// Products and factorisations made.
    pub(in crate::solver) products: usize,
    pub(in crate::solver) factorisations: usize,
}

impl Default for Linear {
    fn default() -> Self {
        Linear { expected_steps: 20.0, products: 0, factorisations: 0 }
    }
}

impl Linear {
    /// dV with `(I + S B) dV = -r`, to this tolerance if by iteration.
    pub(in crate::solver) fn step(
        &mut self,
        design: &Design,
        curvature: &Curvature<'_>,
        derivative: &Derivative<'_>,
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Matrix> {
        let mut dv = match self.prefers_direct(design, curvature) {
            true => {
                self.factorisations += 1;
                Direct::new(design, curvature, derivative)?.solve(residual)
            }
            false => {
                let (dv, steps) =
                    iterative::solve(curvature, derivative, residual, tolerance, MAX_STEPS, stop)?;
                self.products += steps;
                self.expected_steps = 0.5 * (self.expected_steps + steps as f64);
                dv
            }
        };
        dv.as_mut_slice().iter_mut().for_each(|x| *x = -*x);
        Some(dv)
    }

    fn prefers_direct(&self, design: &Design, curvature: &Curvature<'_>) -> bool {
        let (rank, t) = (design.rank() as f64, design.n_tasks() as f64);
        let free = curvature.counts();
        let n = direct::unknowns(design, &free);
        if n > MAX_UNKNOWNS {
            return false;
        }
        let moments: f64 =
            free.iter().filter(|&&f| f > design.rank()).map(|&f| f as f64 * rank * (rank + 1.0)).sum();
        let n = n as f64;
        let direct = moments + n * n * rank + n * n * n / 3.0 + 30.0 * n * n;
        let product = curvature.work() + 6.0 * rank * t * t + self.expected_steps * rank * t;
        direct < self.expected_steps * (2.0 * product + 1e5)
    }
}
