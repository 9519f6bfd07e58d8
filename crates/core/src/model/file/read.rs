//! From bytes to a model, trusting nothing.

use super::{FILE_KIND, check};
use crate::inputs::{Dense, Inputs, Sparse, Values};
use crate::model::atoms::AtomParts;
use crate::model::{About, Attachments, KernelExpansion, Model, Predictor};
use crate::tensors::{Tensors, has_checksum, to_f64, wrong};
use crate::{Intercept, Kernel, Result};
use safetensors::tensor::Dtype;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Every name that means something in some model.
const NAMES: [&str; 19] = [
    "theta",
    "intercept",
    "alpha",
    "v",
    "observation_weight",
    "atom_coefficient",
    "atom_share",
    "weights",
    "coefficients",
    "support_rows",
    "support",
    "support_indptr",
    "support_indices",
    "support_values",
    "scale_mean",
    "feature_mean",
    "scale_factor",
    "target_centre",
    "target_scale",
];

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Model> {
    let (envelope, mut tensors) = Tensors::open(bytes, &FILE_KIND)?;
    let about: About = serde_json::from_str(envelope.about.get()).map_err(|error| wrong("about", error))?;
    check::about(&about)?;
    let attachments = attachments(envelope.attachments.as_deref(), envelope.attachments_crc32)?;
    let written_by = envelope.kinfolk_version;
    let model = Model { attachments, written_by, ..model(about, &mut tensors)? };
    tensors.finish(&NAMES, &format!("a model of the {} kernel", model.about.kernel.name()))?;
    Ok(model)
}

fn attachments(text: Option<&RawValue>, checksum: Option<u32>) -> Result<Attachments> {
    match (text, checksum) {
        (None, None) => Ok(Attachments::default()),
        (Some(text), Some(checksum)) if has_checksum(text.get().as_bytes(), checksum) => {
            Attachments::from_json(text).map_err(|error| wrong("attachments", error))
        }
        _ => Err(wrong("attachments", "they do not match their checksum: the file is damaged")),
    }
}

fn model(about: About, tensors: &mut Tensors<'_>) -> Result<Model> {
    let n_tasks = about.tasks.len();
    let features = about.n_features + usize::from(about.bias != 0.0);
    let theta = tensors.matrix("theta", n_tasks, n_tasks)?;
    let table = [about.n_inputs, n_tasks];
    let list = [about.n_observations];
    let alpha = tensors.if_listed("alpha", |tensors, name| {
        tensors.doubles(name, if about.complete { &table } else { &list })
    })?;
    let rows = match about.kernel {
        Kernel::Linear | Kernel::Cosine => features,
        _ => about.n_inputs,
    };
    let v = tensors.if_listed("v", |tensors, name| tensors.matrix(name, rows, n_tasks))?;
    let observation_weights =
        tensors.if_listed("observation_weight", |tensors, name| tensors.doubles(name, &list))?;
    match about.from_statistics {
        true if alpha.is_some() => return Err(wrong("alpha", "a model from statistics has no duals")),
        true if v.is_none() => return Err(wrong("v", "missing, and a model from statistics needs it")),
        false if alpha.is_none() && v.is_some() => {
            return Err(wrong("v", "of no use without alpha, which is missing"));
        }
        _ if alpha.is_none() && observation_weights.is_some() => {
            return Err(wrong("observation_weight", "of no use without alpha, which is missing"));
        }
        _ => {}
    }
    let predictor = match about.kernel {
        Kernel::Linear | Kernel::Cosine => Predictor::Weights(tensors.matrix("weights", features, n_tasks)?),
        Kernel::Precomputed => Predictor::Kernel(KernelExpansion {
            coefficients: tensors.matrix("coefficients", about.n_inputs, n_tasks)?,
            support: None,
            rows: (0..about.n_inputs as u32).collect(),
        }),
        _ => {
            let rows = tensors.integers("support_rows")?;
            let support = Some(support(rows.len(), about.n_features, tensors)?);
            let coefficients = tensors.matrix("coefficients", rows.len(), n_tasks)?;
            Predictor::Kernel(KernelExpansion { support, rows, coefficients })
        }
    };
    let scaling = tensors.scaling(about.scaling, about.n_features)?;
    let target_scaling = tensors.target_scaling(about.target_scale, &about.problem.loss, n_tasks)?;
    let intercept = match about.problem.intercept {
        Intercept::None => None,
        _ => Some(tensors.doubles("intercept", &[n_tasks])?),
    };
    let atoms = match about.problem.atoms.len() {
        0 => AtomParts::default(),
        n => AtomParts {
            coefficients: tensors.doubles("atom_coefficient", &[n])?,
            shares: tensors.doubles("atom_share", &[n])?,
        },
    };
    let (attachments, written_by) = (Attachments::default(), String::new());
    Ok(Model {
        theta,
        alpha,
        v,
        observation_weights,
        predictor,
        intercept,
        atoms,
        scaling,
        target_scaling,
        attachments,
        written_by,
        about,
    })
}

fn support(n: usize, n_features: usize, tensors: &mut Tensors<'_>) -> Result<Inputs<'static>> {
    if tensors.lists("support") {
        let values = values(tensors, "support", &[n, n_features])?;
        let dense = Dense::of_any_length(values, n, n_features).map_err(|error| wrong("support", error))?;
        return Ok(dense.into());
    }
    let bytes = tensors.take("support_indptr", &[Dtype::U64], Some(&[n + 1]))?.1;
    let indptr: std::result::Result<Vec<usize>, _> =
        bytes.as_chunks().0.iter().map(|x| u64::from_le_bytes(*x).try_into()).collect();
    let indptr = indptr.map_err(|error| wrong("support_indptr", error))?;
    let indices = tensors.integers("support_indices")?;
    let values = values(tensors, "support_values", &[indices.len()])?;
    let sparse = Sparse::of_any_length(Cow::Owned(indptr), Cow::Owned(indices), values, n_features);
    Ok(sparse.map_err(|error| wrong("support", error))?.into())
}

/// A tensor in single or double precision.
fn values(tensors: &mut Tensors<'_>, name: &str, shape: &[usize]) -> Result<Values<'static>> {
    let (info, bytes) = tensors.take(name, &[Dtype::F32, Dtype::F64], Some(shape))?;
    Ok(match info.dtype {
        Dtype::F32 => Values::F32(bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect()),
        _ => Values::F64(Cow::Owned(to_f64(bytes))),
    })
}
