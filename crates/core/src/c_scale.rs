//! The scale of C: a relative C without units, the same for every regulariser, kernel, loss and number of
//! tasks and rows.
//!
//! The effect of C on a task is that of an independent task with the parameter `C Theta_tt`: predictions are
//! `C Theta_tt K kappa` with duals kappa that do not exceed the slopes r of the losses at zero. The *relative
//! C*, which users know as *strength*,
//! ```text
//! g = C Theta_tt (mean of k(x, x)) (size of r) / (size of the labels)
//! ```
//! has no unit: at g = 1 a single row at its bound predicts itself. To find the C of a relative C, we need
//! Theta_tt at the solution, which is `phi'(C^2 c / 2 lambda)` with `c = kappa' K kappa`. The squared loss
//! tells what kappa is like: `kappa = (I + g K^)^-1 r`, with K^ of mean diagonal 1. From `K^ = U diag(l) U'`
//! for a sample of each task's rows,
//! ```text
//! c(g) = (mean of k(x, x)) sum_i (u_i' r)^2 l_i / (1 + g l_i)^2
//! ```
//! is cheap for all g, and one increasing equation in C remains. See docs/math.md, "The scale of C".

use crate::backend::Panel;
use crate::intercept::Intercept;
use crate::intercept::best::{TaskPredictions, best_intercept};
use crate::intercept::cost::{COST_WITHOUT_OPTIMUM, without_optimum};
use crate::linalg;
use crate::loss::{Loss, ObservedLoss};
use crate::regularizer::{AtomSpec, Regularizer, RegularizerKind};
use crate::{Dataset, Losses, Matrix, Observations, ProblemSpec, Result};

/// Rows of a task that are looked at.
const SAMPLE_ROWS: usize = 128;

/// Tasks that are looked at.
const SAMPLE_TASKS: usize = 12;

/// The scale of C for a data set and its losses.
///
/// ```
/// # use kinfolk::{CScale, Dataset, DatasetOptions, Intercept, LossKind, Observations, RegularizerKind};
/// # use kinfolk::inputs::{Dense, Inputs};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let c_scale = CScale::new(&data, &LossKind::Hinge.into(), Intercept::Free)?;
/// // C for k = 4: in the middle of the useful range, and over all of it.
/// let output = RegularizerKind::Power { k: 4 };
/// let middle = c_scale.weights(&output, None, CScale::MIDDLE)?;
/// let range = CScale::grid().map(|relative_c| c_scale.weights(&output, None, relative_c).map(|w| w.c));
/// # assert!(middle.c > 0.0 && middle.lambda == 1.0 && range.len() == 13);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CScale {
    n_tasks: usize,
    /// Logarithm of the mean of k(x, x).
    ln_kernel: f64,
    /// Logarithms of the sizes of slopes and labels.
    ln_slope: f64,
    ln_label: f64,
    /// For each task looked at `(l_i, (u_i' r)^2)`, scaled up to all of its rows; r of size one.
    spectra: Vec<Vec<(f64, f64)>>,
}

/// C and lambda.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of the losses.
    pub c: f64,
    /// Weight of the output regulariser.
    pub lambda: f64,
}

impl CScale {
    /// The middle of [`grid`](Self::grid), which serves most data.
    pub const MIDDLE: f64 = 1.0;

    /// Values that cover the useful range: half a decade apart, smallest first.
    pub fn grid() -> [f64; 13] {
        std::array::from_fn(|i| Self::MIDDLE * 10f64.powf(0.5 * (i as f64 - 6.0)))
    }

    /// Looks at a sample of the data. With intercepts, slopes are those at the best constant of each task, labels are
    /// taken less this constant, and kernel values less their means in the task.
    pub fn new(data: &Dataset<'_>, losses: &Losses, intercept: Intercept) -> Result<Self> {
        let (obs, backend) = (data.observations(), data.backend());
        let spec = ProblemSpec { loss: losses.clone(), intercept, ..ProblemSpec::default() };
        let (losses, loss_of_task) = spec.losses(obs.n_tasks())?;
        let has_intercept = intercept != Intercept::None;
        let loss_of = |task: usize| &*losses[loss_of_task[task]];
        let unbounded = if has_intercept { without_optimum(obs, loss_of) } else { vec![] };
        let samples: Vec<Sample> = samples(obs)
            .into_iter()
            .map(|sample| match unbounded.get(sample.task) {
                Some(unbounded) => {
                    let free = if *unbounded { COST_WITHOUT_OPTIMUM } else { 0.0 };
                    // In units of C, which is not known yet.
                    let cost = if let Intercept::Shrunk(rows) = intercept { rows } else { free };
                    let loss = loss_of(sample.task);
                    sample.with_best_constant(obs, loss, cost)
                }
                None => sample,
            })
            .collect();
        let slope = |sample: &Sample, o: usize| {
            let loss = &*losses[loss_of_task[sample.task]];
            -ObservedLoss { loss, y: obs.label(o), offset: obs.offset(o) }.mean_slope(sample.constant)
        };
        // What a prediction should be like.
        let aim = |sample: &Sample, o: usize| match losses[loss_of_task[sample.task]].is_classification() {
            true => obs.label(o),
            false => obs.label(o) - obs.offset(o) - sample.constant,
        };
        let all = || samples.iter().flat_map(|sample| sample.observations.iter().map(move |&o| (sample, o)));
        let or_one = |size: f64| if size.is_finite() && size > 0.0 { size } else { 1.0 };
        let slope_size = or_one(root_mean_square(all().map(|(sample, o)| (slope(sample, o), obs.weight(o)))));
        let label_size = or_one(root_mean_square(all().map(|(sample, o)| (aim(sample, o), obs.weight(o)))));
        // Tasks with the same inputs share the kernel values and their eigenvectors.
        let mut kernels: Vec<SampleKernel> = vec![];
        let mut kernel_of_sample = vec![];
        for sample in &samples {
            let rows: Vec<u32> = sample.observations.iter().map(|&o| obs.input(o) as u32).collect();
            let roots: Vec<f64> = sample.observations.iter().map(|&o| obs.weight(o).sqrt()).collect();
            if kernels.last().is_none_or(|kernel| kernel.rows != rows || kernel.roots != roots) {
                kernels.push(SampleKernel::new(data, rows, roots, has_intercept));
            }
            kernel_of_sample.push(kernels.len() - 1);
        }
        let mean = match has_intercept {
            true => {
                let sums = kernels.iter().map(SampleKernel::trace_and_weight);
                let (trace, weight) =
                    sums.fold((0.0, 0.0), |(t, w), (trace, weight)| (t + trace, w + weight));
                or_one(trace / weight)
            }
            false => or_one(mean_diagonal(backend.diagonal(), obs)),
        };
        let bases: Vec<(Vec<f64>, Matrix)> =
            kernels.iter().map(|kernel| kernel.eigenbasis(mean)).collect::<Result<_>>()?;
        let mut spectra = vec![];
        for (sample, &kernel) in samples.iter().zip(&kernel_of_sample) {
            let ((values, vectors), roots) = (&bases[kernel], &kernels[kernel].roots);
            let mut inner = vec![0.0; values.len()];
            for (i, &o) in sample.observations.iter().enumerate() {
                linalg::axpy(&mut inner, roots[i] * slope(sample, o) / slope_size, vectors.row(i));
            }
            let scale_up = |(l, q): (&f64, &f64)| (l.max(0.0) / sample.share, q * q / sample.share);
            spectra.push(values.iter().zip(&inner).map(scale_up).collect());
        }
        Ok(CScale {
            n_tasks: obs.n_tasks(),
            ln_kernel: backend.unit().ln() + mean.ln(),
            ln_slope: slope_size.ln(),
            ln_label: label_size.ln(),
            spectra,
        })
    }

    /// The scale for a random part of the rows with this share of their weight, the same in each task.
    pub fn of_share(&self, share: f64) -> CScale {
        let smaller = |&(l, q): &(f64, f64)| (l * share, q * share);
        let spectra = self.spectra.iter().map(|values| values.iter().map(smaller).collect()).collect();
        CScale { spectra, ..self.clone() }
    }

    /// The scale for some of the tasks, chosen at random.
    pub fn of_tasks(&self, n_tasks: usize) -> CScale {
        CScale { n_tasks, ..self.clone() }
    }

    /// The relative C that regularises `to` tasks as much as this one regularises `from` tasks.
    ///
    /// What tasks share is one direction of Theta, and its eigenvalue grows with the number of tasks where Theta_tt
    /// does not: for `phi'(z) ~ z^(2k-1)` like `T^(1/(4k-1))`, since `W = V Theta` with `V'V ~ v^2`, `Theta ~ T
    /// v^(4k-2)` has the size `w = T v^(4k-1)`.
    pub fn for_more_tasks(output: &RegularizerKind, relative_c: f64, from: usize, to: usize) -> f64 {
        match output {
            RegularizerKind::Power { k } => {
                relative_c * (from as f64 / to as f64).powf(1.0 / (4.0 * f64::from(*k) - 1.0))
            }
            _ => relative_c,
        }
    }

    /// C and lambda of this relative C. Without `lambda`, it is 1 where C and lambda are one parameter
    /// (powers, a given Theta), and else such that rho is about 1 for a task with itself: then Theta is as
    /// far from its shape at zero as from that of its tail.
    pub fn weights(&self, output: &RegularizerKind, lambda: Option<f64>, relative_c: f64) -> Result<Weights> {
        self.weights_with_atoms(output, &[], lambda, relative_c)
    }

    /// The same for a regulariser with atoms, which make Theta larger and so C smaller.
    pub fn weights_with_atoms(
        &self,
        output: &RegularizerKind,
        atoms: &[AtomSpec],
        lambda: Option<f64>,
        relative_c: f64,
    ) -> Result<Weights> {
        let regularizer = output.build_with_atoms(atoms, self.n_tasks)?;
        let one_parameter = matches!(output, RegularizerKind::Power { .. } | RegularizerKind::Fixed { .. })
            || !output.is_entrywise();
        let ln_gram = self.ln_gram(relative_c);
        // What ln(C Theta_tt) should be.
        let aim = relative_c.ln() + self.ln_label - self.ln_slope - self.ln_kernel;
        let Some(lambda) = lambda.or(one_parameter.then_some(1.0)) else {
            let c = aim - self.diagonal(&regularizer, 1.0).ln();
            return Ok(Weights { c: in_range(c), lambda: in_range(2.0 * c + ln_gram - 2f64.ln()) });
        };
        // ln C + ln phi'(exp(2 ln C + ln c - ln 2 lambda)) increases with ln C; bisection finds it to the
        // last bit in 64 rounds.
        let (mut low, mut high) = (-700.0, 700.0);
        for _ in 0..64 {
            let ln_c = 0.5 * (low + high);
            let rho = (2.0 * ln_c + ln_gram - (2.0 * lambda).ln()).exp();
            let above = ln_c + self.diagonal(&regularizer, rho).ln() > aim;
            if above { high = ln_c } else { low = ln_c }
        }
        Ok(Weights { c: in_range(0.5 * (low + high)), lambda })
    }

    /// Logarithm of c, the diagonal of the task Gram matrix for duals per unit of C, averaged over tasks.
    fn ln_gram(&self, relative_c: f64) -> f64 {
        let term = |&(l, q): &(f64, f64)| q * l / ((1.0 + relative_c * l) * (1.0 + relative_c * l));
        let sum: f64 = self.spectra.iter().flatten().map(term).sum();
        let mean = sum / self.spectra.len().max(1) as f64;
        let mean = if mean.is_finite() && mean > 0.0 { mean } else { 1.0 };
        self.ln_kernel + 2.0 * self.ln_slope + mean.ln()
    }

    /// Mean of Theta_tt where rho_tt is the same for all tasks.
    fn diagonal(&self, regularizer: &Regularizer, rho: f64) -> f64 {
        (0..self.n_tasks).map(|t| regularizer.typical_theta(t, rho)).sum::<f64>() / self.n_tasks as f64
    }
}

/// The number of this logarithm, within the range of normal numbers.
fn in_range(ln: f64) -> f64 {
    ln.exp().clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// The kernel on some rows, each with the root of its weight.
struct SampleKernel {
    rows: Vec<u32>,
    roots: Vec<f64>,
    values: Matrix,
}

impl SampleKernel {
    fn new(data: &Dataset<'_>, rows: Vec<u32>, roots: Vec<f64>, centred: bool) -> Self {
        let (mut panel, mut values) = (Panel::default(), Matrix::default());
        data.backend().load(&rows, &mut panel);
        data.pool().install(|| data.backend().gram(&mut panel, &mut values, data.threads()));
        if centred {
            centre(&mut values, &roots);
        }
        SampleKernel { rows, roots, values }
    }

    /// Sums of `weight k(x, x)` and of weights.
    fn trace_and_weight(&self) -> (f64, f64) {
        let weights = || self.roots.iter().map(|root| root * root);
        (weights().enumerate().map(|(i, weight)| weight * self.values[(i, i)]).sum(), weights().sum())
    }

    /// Eigenvalues and eigenvectors (columns) of the weighted kernel in units of `mean`.
    fn eigenbasis(&self, mean: f64) -> Result<(Vec<f64>, Matrix)> {
        let mut gram = self.values.clone();
        for (i, a) in self.roots.iter().enumerate() {
            for (j, b) in self.roots.iter().enumerate() {
                gram[(i, j)] *= a * b / mean;
            }
        }
        linalg::eigen(&gram)
    }
}

/// Kernel values of inputs less their weighted mean.
fn centre(values: &mut Matrix, roots: &[f64]) {
    let n = roots.len();
    let total: f64 = roots.iter().map(|root| root * root).sum();
    if total <= 0.0 {
        return;
    }
    let weights: Vec<f64> = roots.iter().map(|root| root * root / total).collect();
    let means: Vec<f64> = (0..n).map(|i| linalg::dot(values.row(i), &weights)).collect();
    let mean = linalg::dot(&means, &weights);
    for i in 0..n {
        values.row_mut(i).iter_mut().zip(&means).for_each(|(x, other)| *x -= means[i] + other - mean);
    }
}

/// Some observations of a task.
struct Sample {
    task: usize,
    observations: Vec<usize>,
    /// The best constant prediction, where tasks have intercepts.
    constant: f64,
    /// Which part of the task's observations these are.
    share: f64,
}

impl Sample {
    /// The intercept costs `cost b^2 / 2`, in units of C.
    fn with_best_constant(self, obs: &Observations, loss: &dyn Loss, cost: f64) -> Self {
        let mut own = TaskPredictions::empty(loss);
        self.observations.iter().for_each(|&o| own.push(obs.label(o), obs.offset(o), obs.weight(o)));
        Sample { constant: best_intercept(own, cost), ..self }
    }
}

/// Evenly spaced observations of evenly spaced tasks; those without weight do not count.
fn samples(obs: &Observations) -> Vec<Sample> {
    let counting = || (0..obs.len()).filter(|&o| obs.weight(o) > 0.0);
    let mut counts = vec![0usize; obs.n_tasks()];
    let mut weights = vec![0.0; obs.n_tasks()];
    for o in counting() {
        counts[obs.task(o)] += 1;
        weights[obs.task(o)] += obs.weight(o);
    }
    let with_rows: Vec<usize> = (0..counts.len()).filter(|&t| counts[t] > 0).collect();
    let stride = with_rows.len().div_ceil(SAMPLE_TASKS);
    let mut slot_of_task = vec![None; counts.len()];
    with_rows.iter().step_by(stride.max(1)).enumerate().for_each(|(s, &t)| slot_of_task[t] = Some(s));
    let mut found: Vec<Vec<usize>> = vec![vec![]; with_rows.len().div_ceil(stride.max(1))];
    let mut seen = vec![0usize; counts.len()];
    for o in counting() {
        let task = obs.task(o);
        let Some(slot) = slot_of_task[task] else { continue };
        // The j-th of n is taken if it is the first to reach the next of m equal parts.
        let (n, m, j) = (counts[task], counts[task].min(SAMPLE_ROWS), seen[task]);
        if j * m / n != (j + 1) * m / n {
            found[slot].push(o);
        }
        seen[task] += 1;
    }
    let sample = |observations: Vec<usize>| {
        let task = obs.task(observations[0]);
        let share = observations.iter().map(|&o| obs.weight(o)).sum::<f64>() / weights[task];
        Sample { task, share, observations, constant: 0.0 }
    };
    found.into_iter().map(sample).collect()
}

/// Of values with their weights, without overflow of the squares.
fn root_mean_square(values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let peak = values.clone().fold(0.0f64, |peak, (v, _)| peak.max(v.abs()));
    if peak == 0.0 || !peak.is_finite() {
        return peak;
    }
    let (sum, weight) =
        values.fold((0.0, 0.0), |(sum, weight), (v, w)| (sum + w * (v / peak) * (v / peak), weight + w));
    peak * (sum / weight).sqrt()
}

/// Mean of k(x, x); inputs count by the weights of their observations.
fn mean_diagonal(diagonal: &[f64], obs: &Observations) -> f64 {
    match obs.input_weights() {
        None => diagonal.iter().sum::<f64>() / diagonal.len() as f64,
        Some(weights) => linalg::dot(diagonal, &weights) / weights.iter().sum::<f64>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Dense, Inputs};
    use crate::{DatasetOptions, LossKind};

    /// Two tasks of ten rows with labels of this scale and inputs of that.
    fn with_scales<R>(label: f64, input: f64, loss: LossKind, look: impl Fn(&CScale) -> R) -> R {
        let x: Vec<f64> = (0..60).map(|i| input * f64::from((i * 7919) % 31 - 15)).collect();
        let y: Vec<f64> = (0..20).map(|i| label * f64::from((i * 104_729) % 17 - 8)).collect();
        let task: Vec<u32> = (0..20).map(|i| i / 10).collect();
        let inputs = Inputs::from(Dense::f64(&x, 20, 3).unwrap());
        let obs = Observations::multi_task(&task, y).unwrap();
        let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
        look(&CScale::new(&data, &loss.into(), Intercept::None).unwrap())
    }

    #[test]
    fn larger_relative_c_gives_larger_c_for_every_regulariser() {
        for output in RegularizerKind::entrywise_examples(2) {
            for loss in [LossKind::Squared, LossKind::Epsilon { epsilon: 0.1 }] {
                let c = with_scales(1.0, 1.0, loss, |c_scale| {
                    CScale::grid().map(|g| c_scale.weights(&output, Some(1.0), g).unwrap().c)
                });
                assert!(c.windows(2).all(|w| 0.0 < w[0] && w[0] < w[1]), "{output}: {c:?}");
            }
        }
    }

    #[test]
    fn units_of_labels_and_inputs_cancel() {
        // With K -> s^2 K and y -> u y the solution of the squared loss with p = 2 keeps its shape if C -> C
        // / (u s^2)^(2/3).
        let c = |u, s| {
            let output = RegularizerKind::Power { k: 1 };
            with_scales(u, s, LossKind::Squared, |c_scale| c_scale.weights(&output, None, 0.1).unwrap().c)
        };
        for (u, s) in [(1.0, 8.0), (1e6, 1.0), (1e-40, 1e30), (1e120, 1e-60)] {
            let expected = -2.0 / 3.0 * (f64::ln(u) + 2.0 * f64::ln(s));
            let got = (c(u, s) / c(1.0, 1.0)).ln();
            assert!((got - expected).abs() < 1e-9 * expected.abs().max(1.0), "{u} {s}: {got} {expected}");
        }
    }

    #[test]
    fn a_given_task_matrix_needs_no_look_at_the_labels() {
        let output = RegularizerKind::independent(2);
        let c = |label| {
            with_scales(label, 1.0, LossKind::Squared, |c_scale| {
                c_scale.weights(&output, None, 1.0).unwrap().c
            })
        };
        assert!((c(1.0) / c(100.0) - 1.0).abs() < 1e-12);
    }
}
