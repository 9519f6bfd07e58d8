//! Whether the parts of a stored model are those that its certified point and its data imply.

use super::About;
use super::induced::Induced;
use super::{KernelExpansion, Model, Predictor};
use crate::inputs::Inputs;
use crate::{Certificate, Form, Losses, Matrix, Observations, Result, Scaling, TargetScaling};
use std::collections::BTreeSet;
use std::fmt;

/// Entries may differ by this share of the size that they can have.
///
/// An honest file differs only if it was written on another machine: sums are then rounded differently. That
/// is about 1e-12 for sums, and up to 1e-8 for square roots of eigenvalues near zero, which Theta of a
/// spectral regulariser contains. A forger gains nothing from 1e-6: predictions change by no more than that
/// share.
pub const MODEL_TOLERANCE: f64 = 1e-6;

/// Objective values, bounds and gaps may differ by this share of the objective value: they are sums of terms
/// of one sign, and rounded differently on another machine.
pub const CERTIFICATE_TOLERANCE: f64 = 1e-12;

/// What rounding may add to the gap is known up to this factor.
const ROUNDING_FACTOR: f64 = 10.0;

/// Sizes below this share of the largest one are taken as this share: below, entries are rounding errors.
const SMALLEST_SIZE: f64 = 1e-8;

/// A part of a model file that is not what the certified point and the data imply.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Mismatch {
    /// A tensor of the file, or `certificate`, `status` or `claim`.
    pub part: &'static str,
    /// What was found and what was expected.
    pub why: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.why)
    }
}

impl Mismatch {
    pub(super) fn new(part: &'static str, why: String) -> Self {
        Mismatch { part, why }
    }
}

/// Theta and the predictor. `inputs` are those of the data, scaled; `sizes` those of the function of each
/// task.
pub(super) fn induced_parts(
    model: &Model,
    induced: &Induced,
    inputs: &Inputs<'_>,
    sizes: &[f64],
) -> Vec<Mismatch> {
    let sizes = with_floor(sizes);
    let function = &induced.function;
    let close = |(j, s): (usize, usize), x: f64| (x - function[(j, s)]).abs() <= MODEL_TOLERANCE * sizes[s];
    let mut found: Vec<Mismatch> = theta(&model.theta, &induced.theta).into_iter().collect();
    found.extend(atoms(model, induced));
    match &model.predictor {
        Predictor::Weights(weights) => found.extend(first_apart("weights", weights, |j, s| {
            (function[(j, s)], close((j, s), weights[(j, s)]))
        })),
        Predictor::Kernel(KernelExpansion { support, rows, coefficients }) => {
            found.extend(support_rows(rows, function, &close));
            if let Some(support) = support {
                found.extend(support_inputs(support, rows, inputs));
            }
            found.extend(first_apart("coefficients", coefficients, |k, s| {
                let j = rows[k] as usize;
                (function[(j, s)], close((j, s), coefficients[(k, s)]))
            }));
        }
    }
    found
}

/// Entry (r, s) of a positive semidefinite matrix is at most `(theta_rr theta_ss)^(1/2)`.
fn theta(stored: &Matrix, expected: &Matrix) -> Option<Mismatch> {
    let diagonal: Vec<f64> = (0..expected.rows()).map(|r| expected[(r, r)].abs()).collect();
    let diagonal = with_floor(&diagonal);
    first_apart("theta", stored, |r, s| {
        let size = (diagonal[r] * diagonal[s]).sqrt();
        (expected[(r, s)], (stored[(r, s)] - expected[(r, s)]).abs() <= MODEL_TOLERANCE * size)
    })
}

/// Coefficients of atoms are as exact as the largest entry of Theta, shares as one.
fn atoms(model: &Model, induced: &Induced) -> Option<Mismatch> {
    let largest = induced.theta.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let sqrt_tasks = (induced.theta.rows() as f64).sqrt();
    let (stored, expected) = (&model.atoms, &induced.atoms);
    [
        ("atom_coefficient", &stored.coefficients, &expected.coefficients, largest * sqrt_tasks),
        ("atom_share", &stored.shares, &expected.shares, 1.0),
    ]
    .into_iter()
    .find_map(|(part, stored, expected, size)| {
        let close = |j: &usize| (stored[*j] - expected[*j]).abs() <= MODEL_TOLERANCE * size;
        let j = (0..expected.len()).find(|j| !close(j))?;
        let (found, right) = (stored[j], expected[j]);
        Some(Mismatch::new(part, format!("entry {j} is {found}, the certified point gives {right}")))
    })
}

fn with_floor(sizes: &[f64]) -> Vec<f64> {
    let floor = SMALLEST_SIZE * sizes.iter().copied().fold(0.0, f64::max);
    sizes.iter().map(|size| size.max(floor)).collect()
}

/// The first entry that is not close; `expected(row, column)` gives the right value and whether the entry is
/// close.
fn first_apart(
    part: &'static str,
    stored: &Matrix,
    expected: impl Fn(usize, usize) -> (f64, bool),
) -> Option<Mismatch> {
    let entries = (0..stored.rows()).flat_map(|r| (0..stored.cols()).map(move |s| (r, s)));
    entries.map(|(r, s)| (r, s, expected(r, s))).find(|(.., (_, close))| !close).map(|(r, s, (right, _))| {
        let found = stored[(r, s)];
        Mismatch::new(part, format!("entry ({r}, {s}) is {found}, the certified point gives {right}"))
    })
}

/// Inputs that are not listed must have no coefficients.
fn support_rows(
    rows: &[u32],
    function: &Matrix,
    close: &dyn Fn((usize, usize), f64) -> bool,
) -> Option<Mismatch> {
    let listed: BTreeSet<usize> = rows.iter().map(|&i| i as usize).collect();
    let mut others = (0..function.rows()).filter(|i| !listed.contains(i));
    others.find(|&i| (0..function.cols()).any(|s| !close((i, s), 0.0))).map(|i| {
        Mismatch::new("support_rows", format!("training input {i} is not listed, but it has coefficients"))
    })
}

/// Support inputs must be the rows of the data that `rows` names.
fn support_inputs(support: &Inputs<'_>, rows: &[u32], inputs: &Inputs<'_>) -> Option<Mismatch> {
    (0..rows.len()).find_map(|k| {
        let (stored, expected) = (entries(support, k), entries(inputs, rows[k] as usize));
        let size = expected.iter().map(|(_, x)| x.abs()).fold(0.0, f64::max);
        let same = stored.len() == expected.len()
            && stored
                .iter()
                .zip(&expected)
                .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= MODEL_TOLERANCE * size);
        if same {
            return None;
        }
        // Zeros that are stored count here: their places may be right.
        let mut places = vec![];
        support.for_each_in_row(k, |j, _| places.push(j));
        let part = match support {
            Inputs::Sparse(_) if places.len() != expected.len() => "support_indptr",
            Inputs::Sparse(_) if places.iter().zip(&expected).any(|(a, b)| *a != b.0) => "support_indices",
            Inputs::Sparse(_) => "support_values",
            _ => "support",
        };
        Some(Mismatch::new(part, format!("row {k} is not training input {}", rows[k])))
    })
}

/// The entries of a row that are not zero.
fn entries(inputs: &Inputs<'_>, row: usize) -> Vec<(usize, f64)> {
    let mut out = vec![];
    inputs.for_each_in_row(row, |j, x| {
        if x != 0.0 {
            out.push((j, x));
        }
    });
    out
}

/// The numbers of standard and spread scaling against those that their rules give for these inputs, which
/// count by the weights of their observations. Weights of classes do not count: where the stored numbers do
/// not fit with all weights, they may fit without those.
pub(super) fn scaling(
    stored: &Scaling,
    inputs: &Inputs<'_>,
    observations: &Observations,
) -> Result<Vec<Mismatch>> {
    let found = scaling_by_weights(stored, inputs, observations)?;
    if found.is_empty() || observations.uniform_weight().is_some() {
        return Ok(found);
    }
    let given = scaling_by_weights(stored, inputs, &observations.clone().without_class_balance()?)?;
    Ok(if given.is_empty() { given } else { found })
}

fn scaling_by_weights(
    stored: &Scaling,
    inputs: &Inputs<'_>,
    observations: &Observations,
) -> Result<Vec<Mismatch>> {
    let Some((mean, factor)) = stored.mean_and_factor() else { return Ok(vec![]) };
    let weights = observations.input_weights();
    let expected = Scaling::fit_weighted(stored.kind(), inputs, weights.as_deref())?;
    let Some((means, factors)) = expected.mean_and_factor() else { return Ok(vec![]) };
    // A mean may be off by a share of the standard deviation, 1 / factor.
    let deviation = |j: usize| 1.0 / factors[j];
    let kept = stored.means_not_subtracted().zip(expected.means_not_subtracted());
    let found = [
        kept.and_then(|(mean, means)| shifted("feature_mean", "feature", mean, means, deviation)),
        mean.zip(means).and_then(|(mean, means)| shifted("scale_mean", "feature", mean, means, deviation)),
        stretched("scale_factor", "feature", factor, factors),
    ];
    Ok(found.into_iter().flatten().collect())
}

/// The numbers of target scaling against those that its rule gives for these labels.
pub(super) fn target_scaling(
    stored: Option<&TargetScaling>,
    observations: &Observations,
    losses: &Losses,
) -> Result<Vec<Mismatch>> {
    let Some(stored) = stored else { return Ok(vec![]) };
    let centred = stored.centre().is_some();
    let Some(expected) = TargetScaling::fit(stored.kind(), observations, losses, centred)? else {
        let why = format!("it is {}, but these labels are classes, which are not scaled", stored.kind());
        return Ok(vec![Mismatch::new("target_scale", why)]);
    };
    let spread = |t: usize| expected.spread()[t];
    let centres = stored.centre().zip(expected.centre());
    let found = [
        centres.and_then(|(centre, right)| shifted("target_centre", "task", centre, right, spread)),
        stretched("target_scale", "task", stored.spread(), expected.spread()),
    ];
    Ok(found.into_iter().flatten().collect())
}

/// The first mean that is off by more than a share of its deviation.
fn shifted(
    part: &'static str,
    of: &str,
    stored: &[f64],
    right: &[f64],
    deviation: impl Fn(usize) -> f64,
) -> Option<Mismatch> {
    let allowed = |j: usize| MODEL_TOLERANCE * deviation(j) + CERTIFICATE_TOLERANCE * right[j].abs();
    let j = (0..right.len()).find(|&j| (stored[j] - right[j]).abs() > allowed(j))?;
    let (stored, right) = (stored[j], right[j]);
    Some(Mismatch::new(part, format!("{of} {j} has mean {stored} in the model, {right} in the data")))
}

/// The first factor that is off by more than a share of itself.
fn stretched(part: &'static str, of: &str, stored: &[f64], right: &[f64]) -> Option<Mismatch> {
    let j = (0..right.len()).find(|&j| (stored[j] - right[j]).abs() > MODEL_TOLERANCE * right[j])?;
    let (stored, right) = (stored[j], right[j]);
    Some(Mismatch::new(part, format!("{of} {j} has factor {stored} in the model, {right} by the data")))
}

/// The list of tasks without observations against the data.
pub(super) fn empty_tasks(about: &About, observations: &Observations) -> Option<Mismatch> {
    let (stored, right) = (about.empty_tasks.as_ref()?, super::empty_tasks(observations));
    let why = || format!("tasks {stored:?} have no observations by the model, {right:?} by the data");
    (*stored != right).then(|| Mismatch::new("empty_tasks", why()))
}

/// The numbers of observations of tasks against the data, and those of the rarer classes.
pub(super) fn task_labels(about: &About, observations: &Observations) -> Vec<Mismatch> {
    let labels = (&about.task_labels, super::task_labels(observations));
    let rarer = (&about.rarer_labels, super::rarer_labels(observations, &about.problem.loss));
    let differ = |part, of: &str, (stored, right): (&Option<Vec<u32>>, Option<Vec<u32>>)| {
        let (stored, right) = (stored.as_ref()?, right?);
        let t = (0..right.len()).find(|&t| stored[t] != right[t])?;
        let name = observations.task_names().name(t);
        let why =
            format!("task {name:?} has {} labels{of} by the model, {} by the data", stored[t], right[t]);
        Some(Mismatch::new(part, why))
    };
    let both = [differ("task_labels", "", labels), differ("rarer_labels", " of the rarer class", rarer)];
    both.into_iter().flatten().collect()
}

/// The certificate of a model from statistics against the one from its rows. Sums of squares were rounded, and the
/// bound may be that of other duals: the objectives are close, and no bound is above the objective of the other.
fn of_statistics(stored: &Certificate, recomputed: &Certificate, size: f64) -> Option<Mismatch> {
    let allowed = MODEL_TOLERANCE * size;
    // Where large terms of the bound cancel, the difference has lost digits that the gap still has.
    let allowed_sum = recomputed.rounding.max(CERTIFICATE_TOLERANCE * size);
    let same = (stored.primal - recomputed.primal).abs() <= allowed
        && stored.dual - recomputed.primal <= allowed
        && recomputed.dual - stored.primal <= allowed
        && fits_together(stored, allowed_sum);
    // Of rows in parts the estimate is a coarser one, of duals that answer to predictions. More of it claims less.
    if same && stored.rounding < recomputed.rounding && !same_rounding(stored, recomputed, allowed) {
        return Some(rounding_mismatch(stored, recomputed));
    }
    let why = || format!("it is not that of the data given: stored {stored}; recomputed {recomputed}");
    (!same).then(|| Mismatch::new("certificate", why()))
}

/// Whether what rounding may add is the same estimate. It is about errors, which are others on another machine.
fn same_rounding(stored: &Certificate, recomputed: &Certificate, negligible: f64) -> bool {
    let (a, b) = (stored.rounding, recomputed.rounding);
    a == b || a.max(b) <= negligible || a.max(b) <= ROUNDING_FACTOR * a.min(b)
}

fn rounding_mismatch(stored: &Certificate, recomputed: &Certificate) -> Mismatch {
    let (found, right) = (stored.rounding, recomputed.rounding);
    Mismatch::new("certificate", format!("rounding may add {found:.1e} by the file, {right:.1e} by the data"))
}

/// Whether the gap is that of objective and bound. Without a bound it is infinite.
fn fits_together(stored: &Certificate, allowed: f64) -> bool {
    let Certificate { primal, dual, gap, .. } = stored;
    let infinite = *dual == f64::NEG_INFINITY && *gap == f64::INFINITY;
    infinite || (primal - dual - gap).abs() <= allowed
}

/// The stored certificate against the recomputed one. If they differ, the part that explains it: the duals
/// decide about the bound, the primal point about the objective, weights of observations about both.
/// `induced` says whether Theta and the predictor are those of the stored point.
pub(super) fn certificate(model: &Model, recomputed: &Certificate, induced: bool) -> Option<Mismatch> {
    let stored = model.certificate();
    // Without infinite ones: everything is close to those.
    let finite = [stored.primal, stored.dual].into_iter().filter(|value| value.is_finite());
    let size = finite.map(f64::abs).fold(0.0, f64::max);
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= CERTIFICATE_TOLERANCE * size;
    if model.about.from_statistics {
        return of_statistics(stored, recomputed, size);
    }
    let primal = close(stored.primal, recomputed.primal);
    let dual = close(stored.dual, recomputed.dual);
    let rounding = same_rounding(stored, recomputed, CERTIFICATE_TOLERANCE * size);
    let parts = stored.task_gaps.len() == recomputed.task_gaps.len()
        && stored.task_gaps.iter().zip(&recomputed.task_gaps).all(|(a, b)| close(*a, *b));
    if primal && dual && parts && close(stored.gap, recomputed.gap) {
        return (!rounding).then(|| rounding_mismatch(stored, recomputed));
    }
    let (part, what) = match recomputed.form {
        Form::OnePoint if !induced => ("alpha", "the duals"),
        Form::TwoPoint | Form::Weights if primal && !dual => ("alpha", "the duals"),
        Form::TwoPoint | Form::Weights if dual || !induced => ("v", "the primal point"),
        _ if model.observation_weights.is_some() => ("observation_weight", "the weights of the observations"),
        _ => ("certificate", "the certificate"),
    };
    Some(Mismatch::new(
        part,
        format!(
            "{what} in the file, or the data given, are not those of the fit: stored {stored}; recomputed {recomputed}"
        ),
    ))
}
