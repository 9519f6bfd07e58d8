//! Kernels to choose from.

use super::{Study, screen};
use crate::{Result, StudyObserver};
use kinfolk::kernel::Gamma;
use kinfolk::{Inputs, Kernel, Observations, Scaling};

/// With more inputs, RBF kernels are tried only if they are clearly better on some of the rows.
const MANY_INPUTS: usize = 1500;

/// With more inputs only the linear kernel is tried unless others are asked for: kernel matrices would take much
/// longer than everything else.
const MAX_INPUTS: usize = 6000;

/// The same for many inputs with more kernel values than this, times the labels of an input: a pass over the
/// observations takes so many products.
const MAX_PRODUCTS: f64 = 2.5e8;

/// With fewer, nothing can be learned about the kernel.
const MIN_INPUTS: usize = 20;

/// Inputs whose distances are looked at.
const SAMPLE_INPUTS: usize = 200;

/// Widths of RBF kernels in units of the median distance: from almost linear to local.
const WIDTHS: [f64; 3] = [3.0, 1.0, 1.0 / 3.0];

/// Which kernels a candidate is tried with.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum KernelGrid {
    /// That of the study.
    #[default]
    Study,
    /// These, neighbours alike.
    These(Vec<Kernel>),
    /// If the study does not say which one: the linear one, and RBF with a few widths unless there are many inputs.
    Auto,
}

impl KernelGrid {
    /// The largest number of kernels that it may be.
    pub(super) fn most(&self) -> usize {
        match self {
            KernelGrid::Study => 1,
            KernelGrid::These(all) => all.len(),
            KernelGrid::Auto => 1 + WIDTHS.len(),
        }
    }

    /// RBF kernels next to those of these that are, with gammas half way to their neighbours.
    pub(super) fn next_widths(&self, kernels: &[Option<Kernel>]) -> Vec<Option<Kernel>> {
        if *self != KernelGrid::Auto {
            return vec![];
        }
        kernels.iter().flatten().flat_map(next_widths).map(Some).collect()
    }

    /// The kernels in their order, without those that are hopeless on some of the rows; `None` is that of the study.
    pub(super) fn kernels(
        &self,
        study: &Study<'_>,
        observer: &dyn StudyObserver,
    ) -> Result<Vec<Option<Kernel>>> {
        Ok(match self {
            KernelGrid::Study => vec![None],
            KernelGrid::These(all) => all.iter().cloned().map(Some).collect(),
            KernelGrid::Auto if !tries_kernels(study) => vec![None],
            KernelGrid::Auto => {
                let all = [vec![Kernel::Linear], rbf_kernels(study)?].concat();
                screen::promising(study, all, observer)?.into_iter().map(Some).collect()
            }
        })
    }
}

/// The next wider and the next narrower RBF kernel; none for other kernels.
pub(super) fn next_widths(kernel: &Kernel) -> Vec<Kernel> {
    let Kernel::Rbf { gamma: Gamma::Value(gamma) } = kernel else { return vec![] };
    let next = [1.0 / NEXT_GAMMA, NEXT_GAMMA].map(|factor| rounded(factor * gamma));
    let usable = next.into_iter().filter(|gamma| gamma.is_finite() && *gamma > 0.0);
    usable.map(|gamma| Kernel::Rbf { gamma: Gamma::Value(gamma) }).collect()
}

/// Gamma of the next width, in units of this one's: half way to the next of [`WIDTHS`].
pub(crate) const NEXT_GAMMA: f64 = 3.0;

/// Whether kernels are tried on such data: the study does not say which one, and there are neither few nor many rows.
pub(crate) fn tries_kernels(study: &Study<'_>) -> bool {
    let is_open = study.spec.kernel.is_none() && !matches!(study.inputs, Inputs::Gram(_));
    is_open && study.inputs.n_inputs() >= MIN_INPUTS && !too_many_for_kernels(study.observations)
}

/// Whether kernel matrices of so many rows would take much longer than everything else.
pub(crate) fn too_many_for_kernels(observations: &Observations) -> bool {
    let n_inputs = observations.n_inputs();
    let products = n_inputs as f64 * observations.len() as f64;
    n_inputs > MANY_INPUTS && (n_inputs > MAX_INPUTS || products > MAX_PRODUCTS)
}

/// Whether inputs are so many that kernels are tried only if they are clearly better on some of them.
pub(crate) fn must_be_clearly_better(n_inputs: usize) -> bool {
    n_inputs > MANY_INPUTS
}

/// RBF kernels that may suit the inputs: none if all inputs are equal.
pub(crate) fn rbf_kernels(study: &Study<'_>) -> Result<Vec<Kernel>> {
    let median = median_distance(study)?;
    let gammas = WIDTHS.iter().map(|width| rounded(0.5 / (width * median).powi(2)));
    let usable = gammas.filter(|gamma| gamma.is_finite() && *gamma > 0.0);
    Ok(usable.map(|gamma| Kernel::Rbf { gamma: Gamma::Value(gamma) }).collect())
}

/// Two digits: the width need not be exact, and the number is for people too.
pub(crate) fn rounded(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

/// The median distance between scaled inputs, of evenly spaced ones if there are many.
fn median_distance(study: &Study<'_>) -> Result<f64> {
    let n = study.inputs.n_inputs();
    let m = n.min(SAMPLE_INPUTS);
    let rows: Vec<u32> = (0..m).map(|i| (i * n / m) as u32).collect();
    let weights = study.observations.input_weights();
    let scaling = Scaling::fit_weighted(study.spec.scale, study.inputs, weights.as_deref())?;
    let some = study.inputs.select_rows(&rows);
    let scaled = scaling.apply(&some)?;
    let d = scaled.n_features();
    let mut x = vec![0.0; m * d];
    let all: Vec<u32> = (0..m as u32).collect();
    match &scaled {
        Inputs::Dense(dense) => dense.load(&all, &mut x),
        Inputs::Sparse(sparse) => sparse.load(&all, &mut x),
        _ => return Ok(f64::NAN),
    }
    let rows: Vec<&[f64]> = x.chunks(d.max(1)).collect();
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    // Equal inputs say nothing about the scale of the others.
    let mut distances: Vec<f64> =
        pairs.map(|(i, j)| square(rows[i], rows[j]).sqrt()).filter(|distance| *distance > 0.0).collect();
    if distances.is_empty() {
        return Ok(f64::NAN);
    }
    let middle = distances.len() / 2;
    Ok(*distances.select_nth_unstable_by(middle, f64::total_cmp).1)
}
