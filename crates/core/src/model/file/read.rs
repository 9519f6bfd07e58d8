//! From bytes to a model, trusting nothing.

use super::{Envelope, FORMAT_VERSION, METADATA_KEY, check, wrong};
use crate::inputs::{Dense, Inputs, Sparse, Values};
use crate::model::atoms::AtomParts;
use crate::model::{About, Attachments, KernelExpansion, Model, Predictor};
use crate::{Error, Intercept, Kernel, Matrix, Result, Scaling, ScalingKind, TargetScale, TargetScaling};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The limit of the safetensors format.
const MAX_HEADER: u64 = 100_000_000;

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
    let (header, data) = split(bytes)?;
    let mut envelope = envelope(&header)?;
    let written_by = std::mem::take(&mut envelope.kinfolk_version);
    let text = envelope.about.get();
    if !has_checksum(text.as_bytes(), envelope.about_crc32) {
        return Err(wrong("about", "it does not match its checksum: the file is damaged"));
    }
    let about: About = serde_json::from_str(text).map_err(|error| wrong("about", error))?;
    check::about(&about)?;
    let attachments = attachments(envelope.attachments.as_deref(), envelope.attachments_crc32)?;
    let mut tensors = Tensors { header, data, checksums: envelope.tensors, taken: BTreeSet::new() };
    let model = Model { attachments, written_by, ..model(about, &mut tensors)? };
    tensors.finish(&model.about.kernel)?;
    Ok(model)
}

/// The header and the bytes of the tensors. Not `SafeTensors::deserialize`, whose sums can overflow.
fn split(bytes: &[u8]) -> Result<(Metadata, &[u8])> {
    let not_one =
        |why: String| Err(Error::Model(format!("not a safetensors file, or a truncated one: {why}")));
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return not_one(format!("it has {} bytes", bytes.len()));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER {
        return not_one(format!("a header of {length} bytes is longer than any"));
    }
    if length > rest.len() as u64 {
        return not_one(format!("the header should have {length} bytes, {} bytes follow", rest.len()));
    }
    let (header, data) = rest.split_at(length as usize);
    let header = std::str::from_utf8(header).map_err(|error| wrong("header", error))?;
    let header: Metadata = serde_json::from_str(header).map_err(|error| wrong("header", error))?;
    match (header.data_len(), data.len()) {
        (expected, got) if expected > got => {
            Err(Error::Model(format!("truncated: the tensors should have {expected} bytes, there are {got}")))
        }
        (expected, got) if expected < got => {
            Err(Error::Model(format!("{} bytes after the last tensor", got - expected)))
        }
        _ => Ok((header, data)),
    }
}

fn envelope(header: &Metadata) -> Result<Envelope> {
    let Some(text) = header.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY)) else {
        return Err(Error::Model(format!(
            "a safetensors file without an entry {METADATA_KEY:?} in its metadata: not a model of kinfolk"
        )));
    };
    /// What every version of the format has.
    #[derive(Deserialize)]
    struct Versions {
        format_version: u64,
        kinfolk_version: String,
    }
    let in_metadata = |error| wrong("metadata", error);
    let Versions { format_version: version, kinfolk_version } =
        serde_json::from_str(text).map_err(in_metadata)?;
    if version > u64::from(FORMAT_VERSION) {
        return Err(Error::Model(format!(
            "format version {version}, written by kinfolk {kinfolk_version}, is newer than version {FORMAT_VERSION}, \
             the newest that kinfolk {} reads",
            env!("CARGO_PKG_VERSION")
        )));
    }
    if version == 0 {
        return Err(Error::Model("format version 0 does not exist".into()));
    }
    serde_json::from_str(text).map_err(in_metadata)
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
    if alpha.is_none() && (v.is_some() || observation_weights.is_some()) {
        let what = if v.is_some() { "v" } else { "observation_weight" };
        return Err(wrong(what, "of no use without alpha, which is missing"));
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
    let scaling = scaling(about.scaling, about.n_features, tensors)?;
    let target_scaling = target_scaling(about.target_scale, n_tasks, tensors)?;
    let intercept = match about.problem.intercept {
        Intercept::None => None,
        Intercept::Free | Intercept::Ridge(_) => Some(tensors.doubles("intercept", &[n_tasks])?),
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

fn scaling(kind: ScalingKind, n_features: usize, tensors: &mut Tensors<'_>) -> Result<Scaling> {
    let features = [n_features];
    Ok(match kind {
        ScalingKind::Auto => {
            return Err(wrong("about", "scaling auto is a wish, not what was done to the inputs"));
        }
        ScalingKind::None => Scaling::None,
        ScalingKind::Unit => Scaling::Unit,
        ScalingKind::Spread => {
            // Files of 0.1.0 do not have it.
            let mean = tensors.if_listed("feature_mean", |tensors, name| tensors.doubles(name, &features))?;
            Scaling::Spread {
                mean: mean.unwrap_or_default(),
                factor: tensors.doubles("scale_factor", &features)?,
            }
        }
        ScalingKind::Standard => {
            let mean = tensors.doubles("scale_mean", &features)?;
            Scaling::Standard { mean, factor: tensors.doubles("scale_factor", &features)? }
        }
    })
}

fn target_scaling(
    kind: TargetScale,
    n_tasks: usize,
    tensors: &mut Tensors<'_>,
) -> Result<Option<TargetScaling>> {
    if kind == TargetScale::None {
        return Ok(None);
    }
    let centre = tensors.if_listed("target_centre", |tensors, name| tensors.doubles(name, &[n_tasks]))?;
    let spread = tensors.doubles("target_scale", &[n_tasks])?;
    Ok(Some(TargetScaling::from_parts(kind, centre, spread)))
}

fn support(n: usize, n_features: usize, tensors: &mut Tensors<'_>) -> Result<Inputs<'static>> {
    if tensors.checksums.contains_key("support") {
        let values = tensors.values("support", &[n, n_features])?;
        let dense = Dense::of_any_length(values, n, n_features).map_err(|error| wrong("support", error))?;
        return Ok(dense.into());
    }
    let bytes = tensors.take("support_indptr", &[Dtype::U64], Some(&[n + 1]))?.1;
    let indptr: std::result::Result<Vec<usize>, _> =
        bytes.as_chunks().0.iter().map(|x| u64::from_le_bytes(*x).try_into()).collect();
    let indptr = indptr.map_err(|error| wrong("support_indptr", error))?;
    let indices = tensors.integers("support_indices")?;
    let values = tensors.values("support_values", &[indices.len()])?;
    let sparse = Sparse::of_any_length(Cow::Owned(indptr), Cow::Owned(indices), values, n_features);
    Ok(sparse.map_err(|error| wrong("support", error))?.into())
}

/// The tensors of a file, each to be taken once.
struct Tensors<'a> {
    header: Metadata,
    data: &'a [u8],
    /// Of those listed.
    checksums: BTreeMap<String, u32>,
    /// Names of those taken so far.
    taken: BTreeSet<String>,
}

impl<'a> Tensors<'a> {
    /// A tensor of one of these types, and of this shape or else any list.
    fn take(
        &mut self,
        name: &str,
        dtypes: &[Dtype],
        shape: Option<&[usize]>,
    ) -> Result<(&TensorInfo, &'a [u8])> {
        let in_tensor = |why: String| Err(wrong(format!("tensor {name}"), why));
        let Some(&checksum) = self.checksums.get(name) else {
            return in_tensor("missing in the list of tensors in the metadata".into());
        };
        let Some(info) = self.header.info(name) else {
            return in_tensor("missing".into());
        };
        self.taken.insert(name.into());
        if !dtypes.contains(&info.dtype) {
            return in_tensor(format!("its type is {:?}, expected {}", info.dtype, one_of(dtypes)));
        }
        match shape {
            Some(shape) if info.shape != shape => {
                return in_tensor(format!("its shape is {:?}, expected {shape:?}", info.shape));
            }
            None if info.shape.len() != 1 => {
                return in_tensor(format!("its shape is {:?}, expected a list", info.shape));
            }
            _ => {}
        }
        let (start, end) = info.data_offsets;
        let Some(bytes) = self.data.get(start..end) else {
            return in_tensor(format!("bytes {start} to {end} are not in the file"));
        };
        if !has_checksum(bytes, checksum) {
            return in_tensor("it does not match its checksum: the file is damaged".into());
        }
        Ok((info, bytes))
    }

    /// `read(name)` if a tensor of this name is listed.
    fn if_listed<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &str) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.checksums.contains_key(name) { read(self, name).map(Some) } else { Ok(None) }
    }

    fn doubles(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        Ok(to_f64(self.take(name, &[Dtype::F64], Some(shape))?.1))
    }

    fn matrix(&mut self, name: &str, rows: usize, cols: usize) -> Result<Matrix> {
        let values = self.doubles(name, &[rows, cols])?;
        Matrix::from_vec(values, rows, cols).map_err(|error| wrong(format!("tensor {name}"), error))
    }

    fn integers(&mut self, name: &str) -> Result<Vec<u32>> {
        let bytes = self.take(name, &[Dtype::U32], None)?.1;
        Ok(bytes.as_chunks().0.iter().map(|x| u32::from_le_bytes(*x)).collect())
    }

    fn values(&mut self, name: &str, shape: &[usize]) -> Result<Values<'static>> {
        let (info, bytes) = self.take(name, &[Dtype::F32, Dtype::F64], Some(shape))?;
        Ok(match info.dtype {
            Dtype::F32 => Values::F32(bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect()),
            _ => Values::F64(Cow::Owned(to_f64(bytes))),
        })
    }

    /// `Err` if a tensor is left over that could be mistaken for a part of the model.
    fn finish(self, kernel: &Kernel) -> Result<()> {
        if let Some(name) = self.checksums.keys().find(|name| !self.taken.contains(*name)) {
            let why = format!("it has no place in a model of the {} kernel", kernel.name());
            return Err(wrong(format!("tensor {name}"), why));
        }
        match NAMES.iter().find(|name| self.header.info(name).is_some() && !self.taken.contains(**name)) {
            Some(name) => Err(wrong(format!("tensor {name}"), "not in the list of tensors in the metadata")),
            None => Ok(()),
        }
    }
}

/// Whether bytes have this CRC-32. No fuzzer guesses one, so under a fuzzer all do.
fn has_checksum(bytes: &[u8], checksum: u32) -> bool {
    cfg!(fuzzing) || crc32fast::hash(bytes) == checksum
}

fn to_f64(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()
}

fn one_of(dtypes: &[Dtype]) -> String {
    dtypes.iter().map(|dtype| format!("{dtype:?}")).collect::<Vec<_>>().join(" or ")
}
