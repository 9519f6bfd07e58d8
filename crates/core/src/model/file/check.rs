//! Checks of a model before it is written and after it was read.

use crate::linalg::psd;
use crate::model::{About, Model, Predictor};
use crate::regularizer::AtomSpec;
use crate::tensors::wrong;
use crate::{Certificate, Form, Kernel, Matrix, RegularizerKind, Result};

/// Everything that is not an array: sizes, names and parameters.
pub(super) fn about(about: &About) -> Result<()> {
    let in_about = |error| wrong("about", error);
    sizes(about)?;
    let n_tasks = about.tasks.len();
    certificate(&about.certificate, n_tasks)?;
    about.tasks.check_distinct().map_err(in_about)?;
    about.kernel.check_resolved().map_err(in_about)?;
    if !(about.bias.is_finite() && about.bias >= 0.0) {
        return Err(wrong("about", format!("bias = {}: must be finite and not negative", about.bias)));
    }
    about.problem.losses(n_tasks).map_err(in_about)?;
    empty_tasks(about.empty_tasks.as_deref().unwrap_or_default(), n_tasks)?;
    for (what, labels) in [("task_labels", &about.task_labels), ("rarer_labels", &about.rarer_labels)] {
        if labels.as_ref().is_some_and(|labels| labels.len() != n_tasks) {
            return Err(wrong("about", format!("{what} must have a number for each task")));
        }
    }
    atoms(&about.problem.atoms, n_tasks)?;
    output(&about.problem.output, n_tasks)
}

/// Names, weights and sizes. As for regularisers, semidefinite matrices are a matter of [`crate::Problem::new`].
fn atoms(atoms: &[AtomSpec], n_tasks: usize) -> Result<()> {
    for (j, atom) in atoms.iter().enumerate() {
        atom.check_size(n_tasks).map_err(|error| wrong("about", error))?;
        if atoms[..j].iter().any(|other| other.name == atom.name) {
            return Err(wrong("about", format!("there are two atoms {:?}", atom.name)));
        }
    }
    Ok(())
}

fn empty_tasks(tasks: &[u32], n_tasks: usize) -> Result<()> {
    let in_range = tasks.iter().all(|&t| (t as usize) < n_tasks) && tasks.len() < n_tasks;
    if in_range && tasks.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    Err(wrong("about", "empty_tasks must increase, be below the number of tasks and leave one task out"))
}

fn sizes(about: &About) -> Result<()> {
    let About { n_inputs, n_features, n_observations, complete, .. } = *about;
    let n_tasks = about.tasks.len();
    if n_observations == 0 {
        return Err(wrong("about", "there are no observations"));
    }
    for (what, size) in [("tasks", n_tasks), ("inputs", n_inputs), ("features", n_features)] {
        if size == 0 {
            return Err(wrong("about", format!("there are no {what}")));
        }
        if size >= u32::MAX as usize {
            return Err(wrong("about", format!("{size} {what} are too many")));
        }
    }
    if complete && n_inputs.checked_mul(n_tasks) != Some(n_observations) {
        let why = format!(
            "{n_inputs} inputs with all of {n_tasks} tasks each do not make {n_observations} observations"
        );
        return Err(wrong("about", why));
    }
    if about.kernel == Kernel::Precomputed && n_features != n_inputs {
        let why =
            format!("a precomputed kernel of {n_inputs} inputs has {n_inputs} columns, not {n_features}");
        return Err(wrong("about", why));
    }
    Ok(())
}

/// Parameters in range and matrices of the right size. Whether those are positive semidefinite costs a
/// decomposition and is needed only to certify or refit: [`crate::Problem::new`] checks it then.
fn output(output: &RegularizerKind, n_tasks: usize) -> Result<()> {
    let matrix = match output {
        RegularizerKind::Fixed { theta } => theta,
        RegularizerKind::Frobenius { prior } | RegularizerKind::Exp { prior: Some(prior) } => prior,
        _ => return output.build().map(|_| ()).map_err(|error| wrong("about", error)),
    };
    if matrix.len() == n_tasks && matrix.iter().all(|row| row.len() == n_tasks) {
        return Ok(());
    }
    Err(wrong(
        "about",
        format!("the matrix of the {} regulariser is not {n_tasks} x {n_tasks}", output.name()),
    ))
}

fn certificate(certificate: &Certificate, n_tasks: usize) -> Result<()> {
    let Certificate { primal, dual, gap, rounding, ref task_gaps, .. } = *certificate;
    if task_gaps.len() != n_tasks {
        return Err(wrong("certificate", format!("{} task gaps for {n_tasks} tasks", task_gaps.len())));
    }
    for (what, value) in [("primal", primal), ("dual", dual)] {
        if value.is_nan() {
            return Err(wrong("certificate", format!("{what} is NaN")));
        }
    }
    for value in task_gaps.iter().chain([&gap]) {
        if value.is_nan() || *value < 0.0 {
            return Err(wrong("certificate", format!("a gap of {value}; it must not be negative")));
        }
    }
    if rounding.is_nan() || rounding < 0.0 {
        return Err(wrong("certificate", format!("rounding of {rounding}; it must not be negative")));
    }
    Ok(())
}

/// The numbers in the arrays, whose shapes fit already.
pub(super) fn arrays(model: &Model) -> Result<()> {
    psd::check_symmetric("theta", &model.theta).map_err(|error| crate::Error::Model(error.to_string()))?;
    match &model.predictor {
        Predictor::Weights(weights) => finite_matrix("weights", weights)?,
        Predictor::Kernel(expansion) => {
            finite_matrix("coefficients", &expansion.coefficients)?;
            support_rows(&expansion.rows, model.about.n_inputs)?;
        }
    }
    if model.scaling.kind() != model.about.scaling {
        let (found, named) = (model.scaling.kind(), model.about.scaling);
        return Err(wrong("scaling", format!("it is {found}, about says {named}")));
    }
    model.about.check_scaling(&model.scaling).map_err(|error| wrong("scaling", error))?;
    if let Some(scaling) = &model.target_scaling {
        scaling.check_numbers().map_err(|error| wrong("target_scale", error))?;
    }
    for (name, values, most) in
        [("atom_coefficient", &model.atoms.coefficients, f64::MAX), ("atom_share", &model.atoms.shares, 1.0)]
    {
        if let Some(j) = values.iter().position(|x| !(0.0..=most).contains(x)) {
            return Err(wrong(name, format!("entry {j} is {}, out of its range", values[j])));
        }
    }
    if let Some(intercept) = &model.intercept {
        finite("intercept", intercept)?;
    }
    if let Some(v) = &model.v {
        finite_matrix("v", v)?;
    }
    if let Some(alpha) = &model.alpha {
        finite("alpha", alpha)?;
        let stored = match (model.about.problem.output.is_entrywise(), model.v.is_some()) {
            (false, _) => Form::Weights,
            (true, true) => Form::TwoPoint,
            (true, false) => Form::OnePoint,
        };
        if model.about.certificate.form != stored {
            let why = match stored {
                Form::OnePoint => "it is about a primal point of its own, but there is no tensor v",
                Form::TwoPoint => "it is about the primal point induced by alpha, but there is a tensor v",
                Form::Weights => {
                    "it is not about weights, but the regulariser is a function of the eigenvalues of Theta"
                }
            };
            return Err(wrong("certificate", why));
        }
    }
    if let Some(weight) = &model.observation_weights {
        finite("observation_weight", weight)?;
        if let Some(o) = weight.iter().position(|w| *w < 0.0) {
            return Err(wrong("observation_weight", format!("entry {o} is {}, below zero", weight[o])));
        }
        if weight.iter().all(|w| *w == 0.0) {
            return Err(wrong("observation_weight", "all are zero"));
        }
    }
    Ok(())
}

fn support_rows(rows: &[u32], n_inputs: usize) -> Result<()> {
    if let Some(i) = rows.windows(2).position(|pair| pair[0] >= pair[1]) {
        let why = format!("entry {} is {}, after {}; they must increase", i + 1, rows[i + 1], rows[i]);
        return Err(wrong("support_rows", why));
    }
    match rows.last() {
        Some(&last) if last as usize >= n_inputs => {
            Err(wrong("support_rows", format!("input {last} is out of range, there were {n_inputs} inputs")))
        }
        _ => Ok(()),
    }
}

fn finite_matrix(name: &str, m: &Matrix) -> Result<()> {
    match m.as_slice().iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let (row, column) = (i / m.cols(), i % m.cols());
            Err(wrong(name, format!("entry ({row}, {column}) is {}, not a finite number", m.as_slice()[i])))
        }
    }
}

fn finite(name: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => Err(wrong(name, format!("entry {i} is {}, not a finite number", values[i]))),
    }
}
