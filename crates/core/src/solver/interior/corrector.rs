//! The end of a step, corrected for the curvature of the regulariser.
//!
//! A step aims at `V1 = V + t dV`, so that the duals fit, and at `W1 = W + t dW`, so that the predictions
//! fit. W grows with a high power of V, so a point cannot do both. With `V = V1 + L y`, where L L' is the
//! curvature of the losses, the compromise is the minimum of `psi(y) = |y|^2 / 2 + R(V1 + L y) - <W1, L y>`,
//! `R(V) = sum phi(V'V) / 2`. This function is convex, its gradient is `y + L'(W(V) - W1)`, and its second
//! derivative at V is the matrix E of the step with another B. It is minimised by Newton's method with
//! conjugate gradients, preconditioned by the factor of E. No data are read. Where losses count little (L
//! small) the step is straight in V; where only they count, it is straight in W.

use crate::Matrix;
use crate::algebra::Host;
use crate::linalg::{self, axpy, dot, gram, inner, times, view};
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::Derivative;
use crate::solver::newton_system::direct::Direct;

/// Newton steps, and conjugate gradient steps for each of them.
const MAX_NEWTON_STEPS: usize = 12;
const MAX_CG_STEPS: usize = 12;
/// If conjugate gradients leave more than this share of the squared gradient, E is factorised again instead,
/// at most `MAX_FACTORISATIONS` times.
const CG_RESIDUAL_TOO_LARGE: f64 = 0.1;
const MAX_FACTORISATIONS: usize = 8;

/// The two aims of a step.
pub(super) struct Corrector<'a> {
    pub(super) output: &'a SumRegularizer,
    pub(super) direct: &'a Direct<'a>,
    /// V1 and W1.
    pub(super) v: &'a Matrix,
    pub(super) w: &'a Matrix,
    pub(super) threads: usize,
}

/// Where a step ends.
pub(super) struct Corrected {
    pub(super) v: Matrix,
    /// Distance from the aims of the step, in units of the gap.
    pub(super) off: f64,
    /// Factorisations of E besides that of the step.
    pub(super) factorisations: usize,
}

/// A point that is tried.
struct TrialPoint {
    y: Vec<f64>,
    v: Matrix,
    gram: Matrix,
    theta: Matrix,
    /// psi and its derivative.
    value: f64,
    slope: Vec<f64>,
}

impl Corrector<'_> {
    fn at(&self, y: Vec<f64>) -> TrialPoint {
        let shift = self.direct.spread(&y);
        let mut v = self.v.clone();
        v.add_scaled(1.0, &shift);
        let gram = gram(&v, self.threads);
        let theta = self.output.theta(&gram);
        let mut off = times(view(&v), view(&theta), self.threads);
        off.add_scaled(-1.0, self.w);
        let mut slope = self.direct.collect(&off);
        axpy(&mut slope, 1.0, &y);
        let value = 0.5 * dot(&y, &y) + 0.5 * self.output.value(&gram) - inner(self.w, &shift);
        TrialPoint { y, v, gram, theta, value: if value.is_nan() { f64::INFINITY } else { value }, slope }
    }

    /// V at the compromise, nearly: the square of the slope that is left is at most `enough`, if all goes
    /// well. `back` leads from V1 to where the step began.
    pub(super) fn correct(&self, back: impl FnOnce() -> Vec<f64>, enough: f64) -> Corrected {
        let mut best = self.at(vec![0.0; self.direct.unknowns()]);
        let (mut fresh, mut factorisations) = (None, 0);
        if dot(&best.slope, &best.slope) <= enough {
            return Corrected { v: best.v, off: enough, factorisations: 0 };
        }
        best = self.on_ray(best, &back());
        for _ in 0..MAX_NEWTON_STEPS {
            let squared_slope = dot(&best.slope, &best.slope);
            if squared_slope <= enough || squared_slope.is_nan() {
                break;
            }
            let derivative = Derivative::new(
                self.output,
                (&best.v, &best.gram, &best.theta),
                Host { threads: self.threads },
            );
            let factor = fresh.as_ref().unwrap_or(self.direct.factor());
            let (mut step, left) = self.newton(&best.slope, &derivative, factor, 0.1 * enough);
            if (left > CG_RESIDUAL_TOO_LARGE * squared_slope || left.is_nan())
                && factorisations < MAX_FACTORISATIONS
            {
                // B has changed too much on the way for the factor to be of help.
                let Some(factor) = self.direct.factor_at(&derivative) else { break };
                step = best.slope.iter().map(|g| -g).collect();
                linalg::cholesky_solve(&factor, &mut step);
                fresh = Some(factor);
                factorisations += 1;
            }
            match self.search(&best, &step, squared_slope) {
                Some(next) => best = next,
                None => break,
            }
        }
        let off = dot(&best.y, &best.y) + dot(&best.slope, &best.slope);
        Corrected { v: best.v, off, factorisations }
    }

    /// A point along a step where psi, or its slope, is enough less. Far beyond the solution, where R is all
    /// that counts and grows like a power p, Newton's steps are p - 1 times too short: longer ones are tried.
    fn search(&self, from: &TrialPoint, step: &[f64], squared_slope: f64) -> Option<TrialPoint> {
        let at = |t: f64| {
            let mut y = from.y.clone();
            axpy(&mut y, t, step);
            self.at(y)
        };
        let (fall, mut t) = (-dot(&from.slope, step), 1.0);
        let mut best = loop {
            let trial = at(t);
            // Next to the solution the values are too much alike to tell.
            if trial.value <= from.value - 0.1 * t * fall
                || dot(&trial.slope, &trial.slope) <= 0.3 * squared_slope
            {
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
    fn on_ray(&self, first: TrialPoint, back: &[f64]) -> TrialPoint {
        let slope = |trial: &TrialPoint| {
            if trial.value.is_finite() { dot(&trial.slope, back) } else { f64::NEG_INFINITY }
        };
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

    /// Newton's step, nearly: conjugate gradients until the square of the slope that is left is `enough`, or
    /// a small part of the present one. And what is left.
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
        for _ in 0..MAX_CG_STEPS {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Interrupt;
    use crate::design::Curvature;
    use crate::inputs::{Dense, Inputs};
    use crate::regularizer::Power;
    use crate::{Dataset, DatasetOptions, Observations};

    /// A step far too long in V: where it ends, slopes are small, whatever the losses weigh.
    #[test]
    fn steps_end_where_v_and_w_are_in_balance() {
        let x = (0..40).map(|i| (f64::from(i) * 1.7).sin()).collect();
        let inputs: Inputs<'_> = Dense::f64_owned(x, 20, 2).unwrap().into();
        let task: Vec<u32> = (0..20).map(|i| i % 2).collect();
        let observations = Observations::multi_task(&task, vec![1.0; 20]).unwrap();
        let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
        let design = data.design(false, &mut Interrupt::never()).unwrap().1;
        let v = Matrix::from_vec(vec![0.5, 0.3, -0.2, 0.4], 2, 2).unwrap();
        for (k, weight) in [(1, 1e-8), (1, 1.0), (1, 1e8), (4, 1e-8), (4, 1.0), (4, 1e8)] {
            let output = SumRegularizer::new(Power::new(k).unwrap());
            let gram = gram(&v, 1);
            let theta = output.theta(&gram);
            let derivative = Derivative::new(&output, (&v, &gram, &theta), Host { threads: 1 });
            let curvature = Curvature::new(design, vec![weight; 20], None, 1);
            let direct = Direct::new(design, &curvature, &derivative).unwrap();
            let dv = Matrix::from_vec(vec![30.0, -20.0, 10.0, 5.0], 2, 2).unwrap();
            let (mut v1, mut w1) = (v.clone(), times(view(&v), view(&theta), 1));
            v1.add_scaled(1.0, &dv);
            w1.add_scaled(1.0, &derivative.apply(&dv));
            let corrector = Corrector { output: &output, direct: &direct, v: &v1, w: &w1, threads: 1 };
            let back = || direct.represent(&dv).iter().map(|y| -y).collect();
            let enough = 1e-6 * dot(w1.as_slice(), w1.as_slice()) * weight;
            let corrected = corrector.correct(back, enough);
            let shift = corrected.v.minus(&v1);
            let end = corrector.at(direct.represent(&shift));
            let slope = dot(&end.slope, &end.slope);
            assert!(slope <= 1.01 * enough.max(1e-12), "k = {k}, weight {weight}: {slope:e} {enough:e}");
        }
    }
}
