//! X'X as it is: equations `(I + rates_j X'X) z_j = c_j` by conjugate gradients behind one Cholesky factor.
//!
//! With `sigma_j = 1 / rates_j` they are `(X'X + sigma_j I) z_j = sigma_j c_j`. The factor of `X'X + sigma_0 I`
//! preconditions all of them: the condition is at most `max(sigma_j, sigma_0) / min(sigma_j, sigma_0)`. Each column has
//! its own step lengths; products with X'X and with the factor are shared by all columns.

use super::square::{Aim, Square};
use crate::Result;
use crate::algebra::Algebra;
use crate::backend::Interrupt;
use std::sync::Mutex;

/// X'X, with the factor that was made last.
pub(super) struct PlainSquare<'a, A: Algebra> {
    matrix: &'a A::Mat,
    n_features: usize,
    /// Mean of the diagonal of X'X.
    scale: f64,
    factor: Mutex<Option<Shifted<A::Factor>>>,
}

/// The Cholesky factor of `X'X + shift I`.
struct Shifted<F> {
    shift: f64,
    factor: F,
}

/// Factor by which the shift may differ from the middle of those wanted, before another Cholesky factor is made.
const MAX_SHIFT_RATIO: f64 = 4.0;
/// Shifts of columns that hardly matter count as if they were this much larger than the smallest.
const MAX_SHIFT_SPREAD: f64 = 1e6;
/// Steps of conjugate gradients at most.
const MAX_STEPS: usize = 60;

impl<'a, A: Algebra> PlainSquare<'a, A> {
    /// `scale` is the mean of the diagonal.
    pub(super) fn new(algebra: &A, matrix: &'a A::Mat, scale: f64) -> Self {
        PlainSquare { matrix, n_features: algebra.shape(matrix).0, scale, factor: Mutex::new(None) }
    }

    /// `1 / rates`, in a range in which equations can be solved.
    fn shifts(&self, rates: &[f64]) -> Vec<f64> {
        let largest = rates.iter().fold(0.0f64, |a, &b| a.max(b));
        let least = (1.0 / largest).clamp(1e-14 * self.scale, f64::MAX / MAX_SHIFT_SPREAD);
        rates.iter().map(|rate| (1.0 / rate).clamp(least, MAX_SHIFT_SPREAD * least)).collect()
    }
}

/// The geometric mean, in which large rates count for more.
fn middle(shifts: &[f64]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for shift in shifts {
        let weight = shift.sqrt().recip();
        sum += weight * shift.ln();
        total += weight;
    }
    (sum / total).exp()
}

impl<A: Algebra> Square<A> for PlainSquare<'_, A> {
    fn times(&self, algebra: &A, w: &A::Mat) -> A::Mat {
        algebra.times(self.matrix, w)
    }

    fn prepare(&self, algebra: &A, rates: &[f64], interrupt: &mut Interrupt<'_>) -> Result<bool> {
        let wanted = middle(&self.shifts(rates));
        let mut kept = self.factor.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.as_ref().is_some_and(|kept| (kept.shift / wanted).ln().abs() <= MAX_SHIFT_RATIO.ln()) {
            return Ok(true);
        }
        // The old factor makes room for the new one.
        *kept = None;
        let made = algebra.shifted_cholesky(self.matrix, wanted, interrupt)?;
        *kept = made.map(|factor| Shifted { shift: wanted, factor });
        Ok(kept.is_some())
    }

    /// With `r = sigma c - (X'X + sigma I) z` and P the preconditioner, `rate^2 r'P^-1 r` summed over columns is about
    /// what the objective still has to gain, and `rate c'z` what it gains in all. Their ratio is the square of the
    /// tolerance at the end.
    fn solve_shifted(&self, algebra: &A, rates: &[f64], x: &mut A::Mat, aim: Aim<'_, A>) {
        let shifts = self.shifts(rates);
        let kept = self.factor.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(Shifted { factor, .. }) = &*kept else {
            // Nobody takes NaN for a solution.
            return algebra.scale(x, f64::NAN);
        };
        let right = x.clone();
        let mut rest = x.clone();
        algebra.scale_columns(&mut rest, &shifts);
        let shifted = |z: &A::Mat| {
            let (mut out, mut own) = (algebra.times(self.matrix, z), z.clone());
            algebra.scale_columns(&mut own, &shifts);
            algebra.add_scaled(&mut out, 1.0, &own);
            out
        };
        match aim.from {
            Some(from) => {
                *x = from.clone();
                algebra.add_scaled(&mut rest, -1.0, &shifted(from));
            }
            None => algebra.scale(x, 0.0),
        }
        let mut step = rest.clone();
        algebra.solve(factor, &mut step);
        let mut energies = algebra.column_products(&rest, &step);
        for _ in 0..MAX_STEPS {
            let mut image = shifted(&step);
            let curvatures = algebra.column_products(&step, &image);
            let lengths: Vec<f64> = energies.iter().zip(&curvatures).map(|(e, c)| ratio(*e, *c)).collect();
            let mut taken = step.clone();
            algebra.scale_columns(&mut taken, &lengths);
            algebra.add_scaled(x, 1.0, &taken);
            algebra.scale_columns(&mut image, &lengths);
            algebra.add_scaled(&mut rest, -1.0, &image);
            let mut next = rest.clone();
            algebra.solve(factor, &mut next);
            let new = algebra.column_products(&rest, &next);
            let left: f64 = new.iter().zip(&shifts).map(|(energy, shift)| energy / (shift * shift)).sum();
            let gain = algebra.column_products(&right, x);
            let gain: f64 = gain.iter().zip(&shifts).map(|(gain, shift)| gain / shift).sum();
            // NaN ends it, too.
            let goes_on = left.abs() > aim.tolerance * aim.tolerance * gain.abs();
            if !goes_on {
                return;
            }
            let turns: Vec<f64> = new.iter().zip(&energies).map(|(new, old)| ratio(*new, *old)).collect();
            algebra.scale_columns(&mut step, &turns);
            algebra.add_scaled(&mut step, 1.0, &next);
            energies = new;
        }
    }

    fn takes_steps(&self) -> bool {
        true
    }

    /// About 10 d^3 operations, against 18 d^2 T of a round.
    fn rounds_of_eigenvectors(&self, tasks: usize) -> f64 {
        10.0 * self.n_features as f64 / (18.0 * tasks as f64)
    }
}

/// a / b, and zero for columns that are solved.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
