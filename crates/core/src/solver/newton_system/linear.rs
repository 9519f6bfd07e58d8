//! Chooses how to solve for Newton's step: by factorisation or one of two iterations, whichever is cheapest.

use super::Derivative;
use super::blocks::{Blocks, exact_rows};
use super::direct::{self, Direct};
use super::gmres;
use super::kronecker::Kronecker;
use crate::Matrix;
use crate::design::{Curvature, Design};

/// Krylov vectors at most.
pub(in crate::solver) const MAX_STEPS: usize = 60;
/// The largest factorisation allowed; its matrix has 8 n^2 bytes.
pub(in crate::solver) const MAX_UNKNOWNS: usize = 6000;
/// With fewer iterations than the first the number of exact rows is halved, with more than the second it is
/// doubled.
const FEW_STEPS: f64 = 6.0;
const MANY_STEPS: f64 = 12.0;
/// Number of steps that an iteration counts as if it did not converge.
const UNCONVERGED: f64 = 8.0 * MAX_STEPS as f64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Direct,
    Blocks,
    Kronecker,
}

/// A Newton system `(I + S B) dV = -r`.
pub(in crate::solver) struct System<'a> {
    pub(in crate::solver) design: &'a Design,
    pub(in crate::solver) curvature: &'a Curvature<'a>,
    pub(in crate::solver) derivative: &'a Derivative<'a>,
    pub(in crate::solver) residual: &'a Matrix,
}

/// Chooses by the arithmetic that each way takes, and remembers how many products the last iterations took.
#[derive(Debug)]
pub(in crate::solver) struct Linear {
    blocks_steps: f64,
    kronecker_steps: f64,
    /// What exact rows of the blocks may cost, in products.
    effort: f64,
}

impl Default for Linear {
    fn default() -> Self {
        Linear { blocks_steps: 8.0, kronecker_steps: 32.0, effort: 4.0 }
    }
}

impl Linear {
    /// dV, to this tolerance if by iteration; by factorisation if an iteration does not converge and the
    /// system is small enough.
    pub(in crate::solver) fn step(
        &mut self,
        system: &System<'_>,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Matrix> {
        let (mut dv, mut converged) = (None, true);
        let mut way = self.choose(system);
        while dv.is_none() || !converged {
            let System { design, curvature, derivative, residual } = *system;
            let solved = match way {
                Way::Direct => Direct::new(design, curvature, derivative).map(|e| (e.solve(residual), 0)),
                Way::Blocks => Blocks::new(design, curvature, derivative, self.effort)
                    .and_then(|operator| gmres::solve(&operator, residual, tolerance, MAX_STEPS, stop)),
                Way::Kronecker => Kronecker::new(curvature, derivative)
                    .and_then(|operator| gmres::solve(&operator, residual, tolerance, MAX_STEPS, stop)),
            };
            let Some((solution, steps)) = solved else { break };
            converged = steps < MAX_STEPS;
            dv = Some(solution);
            let steps = if converged { steps as f64 } else { UNCONVERGED };
            match way {
                Way::Direct => {}
                Way::Blocks => {
                    self.blocks_steps = 0.5 * (self.blocks_steps + steps);
                    self.effort = match steps {
                        ..FEW_STEPS => (0.5 * self.effort).max(0.25),
                        MANY_STEPS.. => (2.0 * self.effort).min(32.0),
                        _ => self.effort,
                    };
                }
                Way::Kronecker => self.kronecker_steps = 0.5 * (self.kronecker_steps + steps),
            }
            let next = self.choose(system);
            if next == way {
                break;
            }
            way = next;
        }
        let mut dv = dv?;
        dv.scale(-1.0);
        Some(dv)
    }

    fn choose(&self, system: &System<'_>) -> Way {
        let System { design, curvature, .. } = *system;
        let (rank, t, free) = (design.rank() as f64, design.n_tasks() as f64, curvature.counts());
        let n = direct::unknowns(design, &free);
        let product = 2.0 * curvature.work() + 6.0 * rank * t * t;
        let exact: Vec<f64> = free.iter().map(|&f| exact_rows(design, f, self.effort) as f64).collect();
        // Rows one by one take about four times as long as the same arithmetic in a matrix product.
        let (build, solve) =
            exact.iter().fold((0.0, 0.0), |(b, s), f| (b + f * f * rank + f * f * f, s + 16.0 * f * rank));
        let vectors = |steps: f64| 8.0 * steps * rank * t;
        let blocks = build + self.blocks_steps * (product + solve + vectors(self.blocks_steps));
        let turns = 8.0 * rank * t * t;
        let kronecker =
            30.0 * t * t * t + self.kronecker_steps * (product + turns + vectors(self.kronecker_steps));
        let iterative = if blocks <= kronecker { (Way::Blocks, blocks) } else { (Way::Kronecker, kronecker) };
        if n > MAX_UNKNOWNS {
            return iterative.0;
        }
        let moments: f64 =
            free.iter().filter(|&&f| f > design.rank()).map(|&f| f as f64 * rank * (rank + 1.0)).sum();
        let n = n as f64;
        let direct = moments + n * n * rank + n * n * n / 3.0 + 30.0 * n * n;
        if direct < iterative.1 + 1e6 { Way::Direct } else { iterative.0 }
    }
}
