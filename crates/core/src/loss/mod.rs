//! Losses: convex functions z -> L(y, z) of a prediction z, one file each.
//!
//! A loss is known through itself and through its conjugate `L*(y, u) = sup over z of u z - L(y, z)`. The
//! dual variable of an observation with weight c is `alpha = -c u`. A new loss implements [`QuadraticLoss`]
//! if its conjugate is linear or quadratic (nine of the ten here), else [`Loss`]. `docs/add-a-loss.md` walks
//! through `huber.rs`.

mod absolute;
mod derivatives;
mod epsilon;
mod evaluate;
mod form;
mod hinge;
mod huber;
mod kind;
mod logistic;
mod observed;
mod quadratic;
mod quantile;
mod smoothed_hinge;
mod softened;
mod squared;
mod squared_epsilon;
mod squared_hinge;

pub use absolute::Absolute;
pub use derivatives::{DerivativeBlock, LossDerivatives, PredictionShift};
pub use epsilon::Epsilon;
pub(crate) use evaluate::{Evaluated, LossEntries};
pub use hinge::Hinge;
pub use huber::Huber;
pub use kind::LossKind;
pub use logistic::Logistic;
pub(crate) use observed::ObservedLoss;
pub use quadratic::{QuadraticConjugate, QuadraticLoss};
pub use quantile::Quantile;
pub use smoothed_hinge::SmoothedHinge;
pub use squared::Squared;
pub use squared_epsilon::SquaredEpsilon;
pub use squared_hinge::SquaredHinge;

use crate::Error;
use crate::algebra::LossForm;
use crate::linalg::sum_pairs;
use std::fmt::Debug;

/// A convex loss z -> L(y, z) and its conjugate u -> L*(y, u).
///
/// Slopes are intervals `(left, right)`: equal where the function is smooth, different at a kink, infinite at
/// the end of a domain. Everything is a plain function of two numbers; no loss knows of solvers, tasks or
/// weights.
pub trait Loss: Debug + Send + Sync {
    /// What the loss is like, whatever the label.
    fn properties(&self) -> LossProperties;

    /// Name in messages and files.
    fn name(&self) -> &'static str {
        self.properties().name
    }

    /// Whether labels are -1 and +1; else they are real numbers.
    fn is_classification(&self) -> bool {
        self.properties().is_classification
    }

    /// `Err(what is expected)` if `y` is not a label of this loss.
    fn check_label(&self, y: f64) -> Result<(), &'static str> {
        match self.is_classification() {
            true if y.abs() != 1.0 => Err("-1 or +1 (convert 0/1 labels by 2*y - 1)"),
            false if !y.is_finite() => Err("a finite number (leave out missing labels)"),
            _ => Ok(()),
        }
    }

    /// L(y, z).
    fn value(&self, y: f64, z: f64) -> f64;

    /// Left and right derivative of L(y, .) at z.
    fn slope(&self, y: f64, z: f64) -> (f64, f64);

    /// Second derivative of L(y, .) at z; 0 on linear pieces, the larger one-sided value where it jumps.
    fn curvature(&self, y: f64, z: f64) -> f64;

    /// L*(y, u); infinite outside the domain.
    fn conj(&self, y: f64, u: f64) -> f64;

    /// The closed interval where L*(y, .) is finite.
    fn conj_domain(&self, y: f64) -> (f64, f64);

    /// Left and right derivative of L*(y, .) at a point u of the domain, ignoring the domain's ends
    /// (the derivative of the formula; logistic: infinite at the ends).
    fn conj_slope(&self, y: f64, u: f64) -> (f64, f64);

    /// Second derivative of L*(y, .) at u; 0 on linear pieces.
    fn conj_curvature(&self, y: f64, u: f64) -> f64;

    /// The least second derivative of L*(y, .), for every label: 0 if the loss has a kink.
    fn conj_modulus(&self) -> f64 {
        self.properties().conj_modulus
    }

    /// Whether the loss is linear from some prediction on, so that duals may lie at the ends of their domain.
    fn has_linear_tail(&self) -> bool {
        self.properties().has_linear_tail
    }

    /// Whether there is a [`quadratic_conjugate`](Self::quadratic_conjugate), for every label.
    fn has_quadratic_conjugate(&self) -> bool {
        false
    }

    /// The conjugate as a linear or quadratic function with at most one kink, if it is one: opens the way to
    /// closed-form coordinate steps.
    fn quadratic_conjugate(&self, _y: f64) -> Option<QuadraticConjugate> {
        None
    }

    /// [`quadratic_conjugate`](Self::quadratic_conjugate) of many labels, appended to `out` as far as there
    /// are any. Called through a vtable once per input; the loop inside is compiled for each loss.
    fn quadratic_conjugates(&self, labels: &[f64], out: &mut Vec<QuadraticConjugate>) {
        out.extend(labels.iter().filter_map(|&y| self.quadratic_conjugate(y)));
    }

    /// `L(y, z) + L*(y, u) - z u`, which is never negative (Fenchel-Young), for u in the domain: what one
    /// observation of weight one adds to the duality gap. Overridden where a form without cancellation
    /// exists.
    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        self.value(y, z) + self.conj(y, u) - z * u
    }

    /// The loss as numbers, for devices; `None` if it has no such form.
    fn form(&self) -> Option<LossForm> {
        None
    }

    /// Whether the loss has a derivative everywhere.
    fn is_smooth(&self) -> bool {
        self.conj_modulus() > 0.0
    }

    /// Values and derivatives at many predictions. Called through a vtable once per block; the loop inside is
    /// compiled for each loss.
    fn derivatives(&self, block: &mut DerivativeBlock<'_>) {
        block.fill(|y, z, _, _| derivatives::smooth(self, y, z));
    }

    /// Slope and curvature of L(y, .) at the prediction whose slope is u, changed by `shift`. Overridden where the
    /// prediction itself need not be known.
    fn shifted(&self, y: f64, u: f64, shift: &PredictionShift) -> (f64, f64) {
        let (left, right) = self.conj_slope(y, u);
        let z = 0.5 * (left + right) + shift.by;
        let (left, right) = self.slope(y, z);
        (0.5 * (left + right), self.curvature(y, z))
    }

    /// The Fenchel-Young terms of many observations and the sums of their losses and conjugates, for the
    /// certificate, where `u = -kappa / w`. Called through a vtable once per block; the loop inside is
    /// compiled for each loss.
    fn block_terms(&self, block: &mut TermBlock<'_>) {
        for start in (0..block.y.len()).step_by(CHUNK_OBSERVATIONS) {
            let mut sums = ChunkSums {
                values: [0.0; CHUNK_OBSERVATIONS],
                conjs: [0.0; CHUNK_OBSERVATIONS],
                noises: [0.0; CHUNK_OBSERVATIONS],
                strays: [0.0; CHUNK_OBSERVATIONS],
            };
            let end = (start + CHUNK_OBSERVATIONS).min(block.y.len());
            pulp::Arch::new().dispatch(ChunkTerms { loss: self, block, sums: &mut sums, start, end });
            block.add_up(start, end, &sums);
        }
    }
}

/// What a loss is like, whatever the label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossProperties {
    /// See [`Loss::name`].
    pub name: &'static str,
    /// See [`Loss::is_classification`].
    pub is_classification: bool,
    /// See [`Loss::conj_modulus`].
    pub conj_modulus: f64,
    /// See [`Loss::has_linear_tail`].
    pub has_linear_tail: bool,
}

/// What [`ChunkTerms`] leaves behind besides the terms.
struct ChunkSums {
    values: [f64; CHUNK_OBSERVATIONS],
    conjs: [f64; CHUNK_OBSERVATIONS],
    noises: [f64; CHUNK_OBSERVATIONS],
    /// How far u had to be moved into its domain, beyond rounding.
    strays: [f64; CHUNK_OBSERVATIONS],
}

/// The terms of a chunk, compiled for the widest instructions of this machine.
struct ChunkTerms<'a, 'b, L: ?Sized> {
    loss: &'a L,
    block: &'a mut TermBlock<'b>,
    sums: &'a mut ChunkSums,
    start: usize,
    end: usize,
}

impl<L: Loss + ?Sized> pulp::WithSimd for ChunkTerms<'_, '_, L> {
    type Output = ();

    /// Without branches or running sums, so that the compiler can do several observations at once.
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let ChunkTerms { loss, block, sums, start, end } = self;
        let n = (end - start).min(CHUNK_OBSERVATIONS);
        let (y, z) = (&block.y[start..end][..n], &block.z[start..end][..n]);
        let (w, kappa) = (&block.w[start..end][..n], &block.kappa[start..end][..n]);
        let terms = &mut block.terms[start..end][..n];
        for j in 0..n {
            // Rounding of the quotient must not carry u out of the domain.
            let (low, high) = loss.conj_domain(y[j]);
            let quotient = if w[j] == 0.0 { -kappa[j] } else { -kappa[j] / w[j] };
            let u = if w[j] == 0.0 { 0.0 } else { quotient.max(low).min(high) };
            sums.strays[j] = (quotient - u).abs() - 4.0 * f64::EPSILON * u.abs();
            let (value, conj) = (loss.value(y[j], z[j]), loss.conj(y[j], u));
            sums.values[j] = value;
            sums.conjs[j] = conj;
            sums.noises[j] = 64.0 * f64::EPSILON * (value.abs() + conj.abs() + (z[j] * u).abs());
            terms[j] = loss.fenchel_young(y[j], z[j], u);
        }
    }
}

/// Observations handled at a time by [`Loss::block_terms`].
const CHUNK_OBSERVATIONS: usize = 64;

impl TermBlock<'_> {
    /// Adds up a chunk and checks its terms.
    fn add_up(&mut self, start: usize, end: usize, sums: &ChunkSums) {
        let n = end - start;
        let (w, z, kappa) = (&self.w[start..end], &self.z[start..end], &self.kappa[start..end]);
        let terms = &mut self.terms[start..end];
        let ChunkSums { values, conjs, noises, strays } = sums;
        // Nearly always everything is in order, and the sums need no look at single observations.
        let mut plain = true;
        for j in 0..n {
            plain &= w[j] != 0.0 && z[j].is_finite() && strays[j] <= 0.0 && terms[j] >= -noises[j];
        }
        if plain {
            self.value += sum_pairs(w, &values[..n], |w, value| w * value);
            self.conj += sum_pairs(w, &conjs[..n], |w, conj| w * conj);
            terms.iter_mut().zip(w).for_each(|(term, w)| *term = w * term.max(0.0));
            return;
        }
        for j in 0..n {
            // A quotient of two infinities is none: an infinite dual is feasible where the domain is
            // unbounded.
            if strays[j] > 0.0 || (strays[j].is_nan() && !kappa[j].is_infinite()) {
                self.outside = self.outside.or(Some(start + j));
            }
            if w[j] == 0.0 {
                terms[j] = 0.0; // even if its loss is infinite
            } else if !z[j].is_finite() {
                (self.value, terms[j]) = (f64::INFINITY, f64::INFINITY);
                self.conj += w[j] * conjs[j];
            } else {
                self.value += w[j] * values[j];
                self.conj += w[j] * conjs[j];
                if terms[j] < -noises[j] || terms[j].is_nan() {
                    self.negative = self.negative.or(Some((start + j, w[j] * terms[j])));
                }
                terms[j] = w[j] * terms[j].max(0.0);
            }
        }
    }
}

/// Observations with one loss, and what [`Loss::block_terms`] finds for them.
#[derive(Debug)]
pub struct TermBlock<'a> {
    /// Labels.
    pub y: &'a [f64],
    /// Predictions.
    pub z: &'a [f64],
    /// Weights c_i; 0 means that the observation does not count.
    pub w: &'a [f64],
    /// Dual variables, inside their domain.
    pub kappa: &'a [f64],
    /// The Fenchel-Young terms, times w.
    pub terms: &'a mut [f64],
    /// Sum of w L(y, z).
    pub value: f64,
    /// Sum of w L*(y, u).
    pub conj: f64,
    /// First dual outside its domain.
    pub outside: Option<usize>,
    /// First term that was negative beyond rounding: position and value. A bug in the loss.
    pub negative: Option<(usize, f64)>,
}

/// The parameter of a loss, if it is finite and `in_range`.
fn checked(name: &'static str, value: f64, in_range: bool, expected: &'static str) -> crate::Result<f64> {
    if value.is_finite() && in_range { Ok(value) } else { Err(Error::Parameter { name, value, expected }) }
}
