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
use crate::linalg;
use crate::loss::ObservedLoss;
use crate::regularizer::{Regularizer, RegularizerKind};
use crate::{Dataset, Losses, Matrix, Observations, ProblemSpec, Result};

/// Rows of a task that are looked at.
const SAMPLE_ROWS: usize = 128;

/// Tasks that are looked at.
const SAMPLE_TASKS: usize = 12;

/// The scale of C for a data set and its losses.
///
/// ```
/// # use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, RegularizerKind, CScale};
/// # use kinfolk::inputs::{Dense, Inputs};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let c_scale = CScale::new(&data, &LossKind::Hinge.into())?;
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

    /// Looks at a sample of the data.
    pub fn new(data: &Dataset<'_>, losses: &Losses) -> Result<Self> {
        let (obs, backend) = (data.observations(), data.backend());
        let spec = ProblemSpec { loss: losses.clone(), output: RegularizerKind::Cosh, c: 1.0, lambda: 1.0 };
        let (losses, loss_of_task) = spec.losses(obs.n_tasks())?;
        let samples = samples(obs);
        let slope = |o: usize| {
            let loss = &*losses[loss_of_task[obs.task(o)]];
            -ObservedLoss { loss, y: obs.label(o), offset: obs.offset(o) }.mean_slope(0.0)
        };
        // What a prediction should be like.
        let aim = |o: usize| match losses[loss_of_task[obs.task(o)]].is_classification() {
            true => obs.label(o),
            false => obs.label(o) - obs.offset(o),
        };
        let all = || samples.iter().flat_map(|sample| &sample.observations);
        let or_one = |size: f64| if size.is_finite() && size > 0.0 { size } else { 1.0 };
        let slope_size = or_one(root_mean_square(all().map(|&o| slope(o))));
        let label_size = or_one(root_mean_square(all().map(|&o| aim(o))));
        let mean = backend.diagonal().iter().sum::<f64>() / backend.n_inputs() as f64;
        let mean = or_one(mean);
        let mut spectra = vec![];
        let mut shared: Option<KernelEigenbasis> = None;
        for Sample { observations, share } in &samples {
            let rows: Vec<u32> = observations.iter().map(|&o| obs.input(o) as u32).collect();
            let roots: Vec<f64> = observations.iter().map(|&o| obs.weight(o).sqrt()).collect();
            // Tasks with the same inputs share the eigenvectors.
            if shared.as_ref().is_none_or(|basis| basis.rows != rows || basis.roots != roots) {
                let (mut panel, mut gram) = (Panel::default(), Matrix::default());
                backend.load(&rows, &mut panel);
                data.pool().install(|| backend.gram(&mut panel, &mut gram, data.threads()));
                for (i, a) in roots.iter().enumerate() {
                    for (j, b) in roots.iter().enumerate() {
                        gram[(i, j)] *= a * b / mean;
                    }
                }
                let (values, vectors) = linalg::eigen(&gram)?;
                shared = Some(KernelEigenbasis { rows, roots, values, vectors });
            }
            let Some(KernelEigenbasis { roots, values, vectors, .. }) = &shared else { continue };
            let mut inner = vec![0.0; values.len()];
            for (i, &o) in observations.iter().enumerate() {
                linalg::axpy(&mut inner, roots[i] * slope(o) / slope_size, vectors.row(i));
            }
            let scale_up = |(l, q): (&f64, &f64)| (l.max(0.0) / share, q * q / share);
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

    /// C and lambda of this relative C. Without `lambda`, it is 1 where C and lambda are one parameter
    /// (powers, a given Theta), and else such that rho is about 1 for a task with itself: then Theta is as
    /// far from its shape at zero as from that of its tail.
    pub fn weights(&self, output: &RegularizerKind, lambda: Option<f64>, relative_c: f64) -> Result<Weights> {
        let regularizer = output.build_for(self.n_tasks)?;
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

/// Eigenvalues and eigenvectors (columns) of the kernel on some rows, each weighted by a root.
struct KernelEigenbasis {
    rows: Vec<u32>,
    roots: Vec<f64>,
    values: Vec<f64>,
    vectors: Matrix,
}

/// Some observations of a task.
struct Sample {
    observations: Vec<usize>,
    /// Which part of the task's observations these are.
    share: f64,
}

/// Evenly spaced observations of evenly spaced tasks.
fn samples(obs: &Observations) -> Vec<Sample> {
    let counts = obs.task_counts();
    let with_rows: Vec<usize> = (0..counts.len()).filter(|&t| counts[t] > 0).collect();
    let stride = with_rows.len().div_ceil(SAMPLE_TASKS);
    let mut slot_of_task = vec![None; counts.len()];
    with_rows.iter().step_by(stride.max(1)).enumerate().for_each(|(s, &t)| slot_of_task[t] = Some(s));
    let mut found: Vec<Vec<usize>> = vec![vec![]; with_rows.len().div_ceil(stride.max(1))];
    let mut seen = vec![0usize; counts.len()];
    for o in 0..obs.len() {
        let task = obs.task(o);
        let Some(slot) = slot_of_task[task] else { continue };
        // The j-th of n is taken if it is the first to reach the next of m equal parts.
        let (n, m, j) = (counts[task], counts[task].min(SAMPLE_ROWS), seen[task]);
        if j * m / n != (j + 1) * m / n {
            found[slot].push(o);
        }
        seen[task] += 1;
    }
    let share = |list: &Vec<usize>| list.len() as f64 / counts[obs.task(list[0])] as f64;
    found.into_iter().map(|list| Sample { share: share(&list), observations: list }).collect()
}

/// Without overflow of the squares.
fn root_mean_square(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let peak = values.clone().fold(0.0f64, |peak, v| peak.max(v.abs()));
    if peak == 0.0 || !peak.is_finite() {
        return peak;
    }
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + (v / peak) * (v / peak), n + 1.0));
    peak * (sum / n).sqrt()
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
        look(&CScale::new(&data, &loss.into()).unwrap())
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
