//! First and second derivatives of a loss at many predictions.

use super::{Loss, QuadraticConjugate};

/// Observations with one loss, and its derivatives at their predictions.
///
/// With `mu > 0` a loss is replaced by its smooth lower bound around a centre a0,
/// `L_mu(y, z) = max over a of -L*(y, -a) - a z - mu (a - a0)^2 / 2`, which touches it at the solution of
/// proximal point steps; a loss whose conjugate is not quadratic ignores mu.
#[derive(Debug)]
pub struct DerivativeBlock<'a> {
    /// Labels.
    pub y: &'a [f64],
    /// Predictions.
    pub z: &'a [f64],
    /// Weights; 0 means that the observation does not count.
    pub w: &'a [f64],
    /// Centres a0, as many as labels, or none for zeros.
    pub centre: &'a [f64],
    /// Weight of the proximal term.
    pub mu: f64,
    /// The duals `-w L'(y, z)`.
    pub kappa: &'a mut [f64],
    /// The curvatures `w L''(y, z)`.
    pub curvature: &'a mut [f64],
    /// Whether the sum of losses is wanted.
    pub with_value: bool,
    /// Sum of w L(y, z).
    pub value: f64,
}

/// Value and derivatives of one observation of weight one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossDerivatives {
    /// -L'(z).
    pub dual: f64,
    /// L''(z).
    pub curvature: f64,
    /// L(z).
    pub value: f64,
}

impl QuadraticConjugate {
    /// Value and derivatives of the loss with this conjugate. The dual solves
    /// `min over a in [-high, -low] of (z - y) a + quad a^2 / 2 + eps |a| + mu (a - a0)^2 / 2`.
    #[inline(always)]
    pub fn derivatives(&self, z: f64, mu: f64, centre: f64) -> LossDerivatives {
        let (pull, stiffness) = (self.y - z + mu * centre, self.quad + mu);
        let soft = (pull.abs() - self.eps).max(0.0).copysign(pull);
        // Without any curvature, zero over zero is zero.
        let dual = (if soft == 0.0 { 0.0 } else { soft / stiffness }).max(-self.high).min(-self.low);
        // Not `&&`, which would branch.
        let free = (dual > -self.high) & (dual < -self.low) & ((soft != 0.0) | (self.eps == 0.0));
        let off = dual - centre;
        LossDerivatives {
            dual,
            curvature: if free { stiffness.recip() } else { 0.0 },
            value: dual * (self.y - z)
                - self.eps * dual.abs()
                - 0.5 * self.quad * dual * dual
                - 0.5 * mu * off * off,
        }
    }
}

/// Observations handled at a time.
const CHUNK_OBSERVATIONS: usize = 64;

/// The derivatives of a chunk, compiled for the widest instructions of this machine.
struct DerivativeChunk<'a, 'b, F> {
    block: &'a mut DerivativeBlock<'b>,
    of: &'a F,
    start: usize,
    values: &'a mut [f64; CHUNK_OBSERVATIONS],
}

impl<F: Fn(f64, f64, f64, f64) -> LossDerivatives> pulp::WithSimd for DerivativeChunk<'_, '_, F> {
    type Output = usize;

    /// Without branches or running sums, so that the compiler can do several observations at once.
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
        let DerivativeChunk { block, of, start, values } = self;
        let n = (block.y.len() - start).min(CHUNK_OBSERVATIONS);
        let range = start..start + n;
        let (y, z, w) = (&block.y[range.clone()], &block.z[range.clone()], &block.w[range.clone()]);
        let zeros = [0.0; CHUNK_OBSERVATIONS];
        let centre = if block.centre.is_empty() { &zeros[..n] } else { &block.centre[range.clone()] };
        let (kappa, curvature) = (&mut block.kappa[range.clone()], &mut block.curvature[range]);
        let values = &mut values[..n];
        for j in 0..n {
            let at = of(y[j], z[j], block.mu, centre[j]);
            kappa[j] = w[j] * at.dual;
            curvature[j] = w[j] * at.curvature;
            values[j] = if w[j] == 0.0 { 0.0 } else { w[j] * at.value };
        }
        n
    }
}

impl DerivativeBlock<'_> {
    /// Fills the block with `of(y, z, mu, a0)` of each observation.
    #[inline(always)]
    pub(super) fn fill(&mut self, of: impl Fn(f64, f64, f64, f64) -> LossDerivatives) {
        let mut values = [0.0; CHUNK_OBSERVATIONS];
        for start in (0..self.y.len()).step_by(CHUNK_OBSERVATIONS) {
            let chunk = DerivativeChunk { block: &mut *self, of: &of, start, values: &mut values };
            let n = pulp::Arch::new().dispatch(chunk);
            self.value += values[..n].iter().sum::<f64>();
        }
    }
}

/// A change of a prediction, with its exponentials: many observations may have the same one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionShift {
    /// The change.
    pub by: f64,
    /// exp(change).
    pub exp: f64,
    /// exp(-change).
    pub exp_of_minus: f64,
}

impl PredictionShift {
    /// This change.
    pub fn new(by: f64) -> Self {
        PredictionShift { by, exp: by.exp(), exp_of_minus: (-by).exp() }
    }
}

/// Value and derivatives of a smooth loss.
#[inline(always)]
pub(super) fn smooth<L: Loss + ?Sized>(loss: &L, y: f64, z: f64) -> LossDerivatives {
    let (left, right) = loss.slope(y, z);
    LossDerivatives { dual: -0.5 * (left + right), curvature: loss.curvature(y, z), value: loss.value(y, z) }
}
