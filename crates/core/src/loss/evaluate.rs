//! Losses of many observations with their derivatives, on several threads.

use super::{DerivativeBlock, Loss};
use rayon::prelude::*;

/// Observations in any order, each with its loss.
pub(crate) struct LossEntries<'a> {
    pub(crate) labels: &'a [f64],
    /// Predictions, with offsets and intercepts.
    pub(crate) z: &'a [f64],
    /// Weights; 0 means that the observation does not count.
    pub(crate) gamma: &'a [f64],
    /// Centres and weight of a proximal term, as in [`DerivativeBlock`]; none and zero for the losses themselves.
    pub(crate) centre: &'a [f64],
    pub(crate) mu: f64,
    /// The loss of all of them, if they share one.
    pub(crate) only_loss: Option<&'a dyn Loss>,
    pub(crate) loss_of: &'a (dyn (Fn(usize) -> &'a dyn Loss) + Sync),
}

/// Losses with their derivatives at given predictions.
pub(crate) struct Evaluated {
    pub(crate) value: f64,
    pub(crate) kappa: Vec<f64>,
    pub(crate) curvature: Vec<f64>,
}

/// Entries handled at a time.
const CHUNK: usize = 8192;

impl LossEntries<'_> {
    /// In fixed chunks, added up in order: same bits whatever the number of threads.
    pub(crate) fn evaluate(&self) -> Evaluated {
        let n = self.z.len();
        let (mut kappa, mut curvature) = (vec![0.0; n], vec![0.0; n]);
        let values: Vec<f64> = kappa
            .par_chunks_mut(CHUNK)
            .zip(curvature.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, (kappa, curvature))| {
                let start = chunk * CHUNK;
                if let Some(loss) = self.only_loss {
                    return self.fill(loss, start, kappa, curvature);
                }
                let single = kappa.chunks_mut(1).zip(curvature.chunks_mut(1)).enumerate();
                single.map(|(j, (k, c))| self.fill((self.loss_of)(start + j), start + j, k, c)).sum()
            })
            .collect();
        Evaluated { value: values.iter().sum(), kappa, curvature }
    }

    fn fill(&self, loss: &dyn Loss, start: usize, kappa: &mut [f64], curvature: &mut [f64]) -> f64 {
        let range = start..start + kappa.len();
        let centre = if self.centre.is_empty() { &[] } else { &self.centre[range.clone()] };
        let (y, z, w) = (&self.labels[range.clone()], &self.z[range.clone()], &self.gamma[range]);
        let (mu, with_value, value) = (self.mu, true, 0.0);
        let mut block = DerivativeBlock { y, z, w, centre, mu, kappa, curvature, with_value, value };
        loss.derivatives(&mut block);
        block.value
    }
}
