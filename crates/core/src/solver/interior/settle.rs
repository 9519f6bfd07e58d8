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
use crate::linalg::{axpy, dot, inner, times, view};
use crate::output::OutputRegularizer;
use crate::solver::vspace::direct::Direct;
use crate::solver::vspace::{Derivative, gram};

/// Newton's steps, and products with E for each.
const STEPS: usize = 12;
const PRODUCTS: usize = 12;

/// The ends of a step.
pub(super) struct Ends<'a> {
    pub(super) output: &'a dyn OutputRegularizer,
    pub(super) direct: &'a Direct<'a>,
    /// V1 and W1.
    pub(super) v: &'a Matrix,
    pub(super) w: &'a Matrix,
    pub(super) threads: usize,
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

    /// V at the compromise, nearly: the square of the slope that is left is at most `enough`, if all goes well. And how far it is
    /// from what the step wanted, in units of the gap. `back` leads from V1 to where the step began.
    pub(super) fn settle(&self, back: impl FnOnce() -> Vec<f64>, enough: f64) -> (Matrix, f64) {
        let mut best = self.at(vec![0.0; self.direct.unknowns()]);
        // E is at least the unit matrix.
        if dot(&best.slope, &best.slope) <= enough {
            return (best.v, enough);
        }
        best = self.on_ray(best, &back());
        for _ in 0..STEPS {
            let strain = dot(&best.slope, &best.slope);
            if strain <= enough || strain.is_nan() {
                break;
            }
            let Some(step) = self.newton(&best, 0.1 * enough) else { break };
            let fall = -dot(&best.slope, &step);
            let mut t = 1.0;
            let next = loop {
                let mut y = best.y.clone();
                axpy(&mut y, t, &step);
                let trial = self.at(y);
                // Next to the solution the values are too much alike to tell.
                if trial.value <= best.value - 0.1 * t * fall
                    || dot(&trial.slope, &trial.slope) <= 0.3 * strain
                {
                    break Some(trial);
                }
                t *= 0.3;
                if t < 1e-5 {
                    break None;
                }
            };
            match next {
                Some(next) => best = next,
                None => break,
            }
        }
        let off = dot(&best.y, &best.y) + dot(&best.slope, &best.slope);
        (best.v, off)
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
    /// present one.
    fn newton(&self, at: &Trial, enough: f64) -> Option<Vec<f64>> {
        let derivative = Derivative::new(self.output, &at.v, &at.gram, &at.theta, self.threads);
        let mut rest: Vec<f64> = at.slope.iter().map(|g| -g).collect();
        let enough = enough.max(1e-4 * dot(&rest, &rest));
        let (mut x, mut p) = (vec![0.0; rest.len()], self.direct.precondition(&rest));
        let mut product = dot(&rest, &p);
        for _ in 0..PRODUCTS {
            let mut ep = self.direct.collect(&derivative.apply(&self.direct.spread(&p)));
            axpy(&mut ep, 1.0, &p);
            let alpha = product / dot(&p, &ep);
            axpy(&mut x, alpha, &p);
            axpy(&mut rest, -alpha, &ep);
            let left = dot(&rest, &rest);
            if left <= enough || left.is_nan() {
                break;
            }
            let z = self.direct.precondition(&rest);
            let next = dot(&rest, &z);
            let beta = next / product;
            product = next;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        }
        x.iter().all(|x| x.is_finite()).then_some(x)
    }
}
