//! How far to go: a step that Newton's model thinks right can be far too long for a regulariser that grows fast.

use super::atoms::Atoms;
use crate::Matrix;
use crate::linalg::{inner, symmetrise, times, view};
use crate::output::OutputRegularizer;

/// The regulariser along a direction: `G(t) = G + t (V'dV + dV'V) + t^2 dV'dV`.
#[derive(Debug)]
pub(super) struct Ray<'a> {
    output: &'a dyn OutputRegularizer,
    gram: &'a Matrix,
    first: Matrix,
    second: Matrix,
}

impl<'a> Ray<'a> {
    pub(super) fn new(
        output: &'a dyn OutputRegularizer,
        gram: &'a Matrix,
        v: &Matrix,
        dv: &Matrix,
        threads: usize,
    ) -> Self {
        let mut first = times(view(v).transpose(), view(dv), threads);
        first.as_mut_slice().iter_mut().for_each(|x| *x *= 2.0);
        symmetrise(&mut first);
        let mut second = times(view(dv).transpose(), view(dv), threads);
        symmetrise(&mut second);
        Ray { output, gram, first, second }
    }

    /// Derivative of `sum phi(G(t)) / 2`.
    fn slope(&self, t: f64) -> f64 {
        let (mut gram, mut change) = (self.gram.clone(), self.first.clone());
        let terms = gram.as_mut_slice().iter_mut().zip(change.as_mut_slice());
        for ((g, d), s) in terms.zip(self.second.as_slice()) {
            *g += t * (*d + t * s);
            *d += 2.0 * t * s;
        }
        0.5 * inner(&self.output.theta(&gram), &change)
    }

    /// The largest of the steps up to `longest` at the end of which what is minimised, barriers of weight `tau` included, does
    /// not rise steeply: less than it falls at the beginning.
    pub(super) fn guard(&self, atoms: &Atoms, tau: f64, longest: f64) -> f64 {
        let slope = |t: f64| self.slope(t) + atoms.barrier_slope(t, tau);
        let steep = slope(0.0).abs();
        if slope(longest) <= 0.9 * steep {
            return longest;
        }
        let (mut low, mut high) = (0.0, longest);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if slope(middle) <= 0.3 * steep { low = middle } else { high = middle }
            if high - low < 0.01 * high {
                break;
            }
        }
        if low > 0.0 { low } else { high }
    }
}
