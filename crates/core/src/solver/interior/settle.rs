//! Where a step ends that is straight neither in V nor in W.
//!
//! A step wants V to become `V1 = V + t dV`, so that the duals fit, and W to become `W1 = W + t dW`, so that the predictions do;
//! but W grows with a high power of V, and both cannot be had. With `V = V1 + L y`, L L' the curvature of the losses, the fair
//! compromise is where
//! `psi(y) = |y|^2 / 2 + R(V1 + L y) - <W1, L y>`, `R(V) = sum phi(V'V) / 2`,
//! is least. It is convex, its slope is `y + L'(W(V) - W1)`, and its second derivative at V is the matrix E of the step itself, with
//! another B: Newton's method, with conjugate gradients that have the factor of E at hand. No data are touched. Where losses
//! count for little (L small) the step is straight in V; where they are all that counts, straight in W.

use crate::Matrix;
use crate::linalg::{self, axpy, dot, inner, times, view};
use crate::output::OutputRegularizer;
use crate::solver::vspace::direct::Direct;
use crate::solver::vspace::{Derivative, gram};

/// Newton's steps, and products with E for each.
const STEPS: usize = 12;
const PRODUCTS: usize = 12;
/// Conjugate gradients that leave more than this of the slope are not worth their while, if there is another way: this many
/// times E is factorised anew.
const POOR: f64 = 0.1;
const FACTORS: usize = 8;

/// The ends of a step.
pub(super) struct Ends<'a> {
    pub(super) output: &'a dyn OutputRegularizer,
    pub(super) direct: &'a Direct<'a>,
    /// V1 and W1.
    pub(super) v: &'a Matrix,
    pub(super) w: &'a Matrix,
    pub(super) threads: usize,
}

/// Where a step ends.
pub(super) struct Settled {
    pub(super) v: Matrix,
    /// How far from what the step wanted, in units of the gap.
    pub(super) off: f64,
    /// Of E, besides that of the step.
    pub(super) factorisations: usize,
}

/// A y on the way.
struct Trial {
    y: Vec<f64>,
    v: Matrix,
    gram: Matrix,
    theta: Matrix,
    /// psi and its derivative.
    value: f64,
    slope: Vec<f64>,
}

impl Ends<'_> {
    fn at(&self, y: Vec<f64>) -> Trial {
        let shift = self.direct.spread(&y);
        let mut v = self.v.clone();
        axpy(v.as_mut_slice(), 1.0, shift.as_slice());
        let gram = gram(&v, self.threads);
        let theta = self.output.theta(&gram);
        let mut off = times(view(&v), view(&theta), self.threads);
        axpy(off.as_mut_slice(), -1.0, self.w.as_slice());
        let mut slope = self.direct.collect(&off);
        axpy(&mut slope, 1.0, &y);
        let value = 0.5 * dot(&y, &y) + 0.5 * self.output.phi_sum(&gram) - inner(self.w, &shift);
        Trial { y, v, gram, theta, value: if value.is_nan() { f64::INFINITY } else { value }, slope }
    }

    /// V at the compromise, nearly: the square of the slope that is left is at most `enough`, if all goes well. `back` leads
    /// from V1 to where the step began.
    pub(super) fn settle(&self, back: impl FnOnce() -> Vec<f64>, enough: f64) -> Settled {
        let mut best = self.at(vec![0.0; self.direct.unknowns()]);
        let mut fresh: Vec<Matrix> = vec![];
        if dot(&best.slope, &best.slope) <= enough {
            return Settled { v: best.v, off: enough, factorisations: 0 };
        }
        best = self.on_ray(best, &back());
        for _ in 0..STEPS {
            let strain = dot(&best.slope, &best.slope);
            if strain <= enough || strain.is_nan() {
                break;
            }
            let derivative = Derivative::new(self.output, &best.v, &best.gram, &best.theta, self.threads);
            let factor = fresh.last().unwrap_or(self.direct.factor());
            let (mut step, left) = self.newton(&best.slope, &derivative, factor, 0.1 * enough);
            if (left > POOR * strain || left.is_nan()) && fresh.len() < FACTORS {
                // B has changed too much on the way for the factor to be of help.
                let Some(factor) = self.direct.factor_at(&derivative) else { break };
                step = best.slope.iter().map(|g| -g).collect();
                linalg::cholesky_solve(&factor, &mut step);
                fresh.push(factor);
            }
            match self.search(&best, &step, strain) {
                Some(next) => best = next,
                None => break,
            }
        }
        let off = dot(&best.y, &best.y) + dot(&best.slope, &best.slope);
        Settled { v: best.v, off, factorisations: fresh.len() }
    }

    /// A point along a step where psi, or its slope, is enough less. Far beyond the solution, where R is all that counts and grows
    /// like a power p, Newton's steps are p - 1 times too short: longer ones are tried.
    fn search(&self, from: &Trial, step: &[f64], strain: f64) -> Option<Trial> {
        let at = |t: f64| {
            let mut y = from.y.clone();
            axpy(&mut y, t, step);
            self.at(y)
        };
        let (fall, mut t) = (-dot(&from.slope, step), 1.0);
        let mut best = loop {
            let trial = at(t);
            // Next to the solution the values are too much alike to tell.
            if trial.value <= from.value - 0.1 * t * fall || dot(&trial.slope, &trial.slope) <= 0.3 * strain {
                break trial;
            }
            t *= 0.3;
            if t < 1e-5 {
                return None;
            }
        };
        while (1.0..64.0).contains(&t) && dot(&best.slope, step) < -0.1 * fall {
            t *= 1.5;
            let longer = at(t);
            if longer.value >= best.value {
                break;
            }
            best = longer;
        }
        Some(best)
    }

    /// The least psi between V1 and the beginning.
    fn on_ray(&self, first: Trial, back: &[f64]) -> Trial {
        let slope =
            |trial: &Trial| if trial.value.is_finite() { dot(&trial.slope, back) } else { f64::NEG_INFINITY };
        if slope(&first) >= 0.0 {
            return first;
        }
        let at = |share: f64| self.at(back.iter().map(|y| share * y).collect());
        let mut best = at(1.0);
        if slope(&best) <= 0.0 {
            return best;
        }
        // A step can be many orders of magnitude too long: bisection on the exponent of what is kept of it.
        let (mut low, mut high) = (-35.0, 0.0);
        for _ in 0..12 {
            let middle: f64 = 0.5 * (low + high);
            let trial = at(1.0 - middle.exp());
            *(if slope(&trial) > 0.0 { &mut low } else { &mut high }) = middle;
            if trial.value < best.value {
                best = trial;
            }
        }
        best
    }

    /// Newton's step, nearly: conjugate gradients until the square of the slope that is left is `enough`, or a small part of the
    /// present one. And what is left.
    fn newton(
        &self,
        slope: &[f64],
        derivative: &Derivative<'_>,
        factor: &Matrix,
        enough: f64,
    ) -> (Vec<f64>, f64) {
        let precondition = |r: &[f64]| {
            let mut z = r.to_vec();
            linalg::cholesky_solve(factor, &mut z);
            z
        };
        let mut rest: Vec<f64> = slope.iter().map(|g| -g).collect();
        let mut left = dot(&rest, &rest);
        let enough = enough.max(1e-4 * left);
        let (mut x, mut p) = (vec![0.0; rest.len()], precondition(&rest));
        let mut product = dot(&rest, &p);
        for _ in 0..PRODUCTS {
            let mut ep = self.direct.collect(&derivative.apply(&self.direct.spread(&p)));
            axpy(&mut ep, 1.0, &p);
            let alpha = product / dot(&p, &ep);
            axpy(&mut x, alpha, &p);
            axpy(&mut rest, -alpha, &ep);
            left = dot(&rest, &rest);
            if left <= enough || left.is_nan() {
                break;
            }
            let z = precondition(&rest);
            let next = dot(&rest, &z);
            let beta = next / product;
            product = next;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        }
        (x, left)
    }
}
