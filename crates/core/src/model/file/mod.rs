//! Model files: one [safetensors](https://github.com/huggingface/safetensors) file per model, readable from
//! any language.
//!
//! | Tensor | Type | Shape | Present |
//! |---|---|---|---|
//! | `theta` | f64 | tasks x tasks | always |
//! | `alpha` | f64 | inputs x tasks if every input has every task, else observations | unless the duals were dropped |
//! | `v` | f64 | features (+ 1 with a bias) x tasks, or inputs x tasks | if `alpha` does not induce the primal point |
//! | `intercept` | f64 | tasks | if the problem has intercepts: what is added to the predictions of each task |
//! | `atom_coefficient` | f64 | atoms | if the problem has atoms: how much of each is in Theta |
//! | `atom_share` | f64 | atoms | the same: the share of each in the model |
//! | `observation_weight` | f64 | observations | with `alpha`, if the weights are not all one |
//! | `weights` | f64 | features (+ 1 with a bias) x tasks | linear and cosine kernels |
//! | `coefficients` | f64 | support x tasks | all other kernels; precomputed: inputs x tasks |
//! | `support_rows` | u32 | support | all other kernels but precomputed: which training inputs these are, increasing |
//! | `support` | f32, f64 | support x features | the same kernels, dense inputs |
//! | `support_indptr` | u64 | support + 1 | the same kernels, sparse inputs |
//! | `support_indices` | u32 | entries | the same |
//! | `support_values` | f32, f64 | entries | the same |
//! | `scale_mean` | f64 | features | standard and mixed scaling of dense inputs: what is subtracted from inputs |
//! | `feature_mean` | f64 | features | spread and mixed scaling: means of features, if they are not subtracted |
//! | `scale_factor` | f64 | features | standard, spread and mixed scaling: what they are then multiplied with |
//! | `target_centre` | f64 | tasks | scaled labels, if they were centred: what was subtracted from them |
//! | `target_scale` | f64 | tasks | scaled labels: what they were then divided by |
//!
//! The entry `kinfolk` of `__metadata__` is JSON:
//!
//! ```text
//! {"format_version": 2, "kinfolk_version": "0.2.0",
//!  "tensors": {"alpha": 2893241, "theta": 91827364, ...},        CRC-32 of the bytes of every tensor of the model
//!  "about_crc32": 1234567, "about": {...},                       CRC-32 of the text of `about`, an About
//!  "attachments_crc32": 7654321, "attachments": {"key": ...}}    the same for what callers attached, if they did
//! ```
//!
//! with the CRC-32 of zlib. Support inputs are scaled already, as the kernel sees them. Numbers come back to
//! the last bit; an infinite objective value is the string `"inf"`.
//!
//! Reading trusts nothing: checksums, types, shapes against each other and against the sizes in `about`,
//! finiteness and ranges are checked, and whatever is wrong is an [`Error::Model`]. Tensors that are not
//! listed under `tensors` are not part of the model and are left alone, unless they have a name of the table
//! above.

mod check;
mod read;
mod write;

use super::Model;
#[cfg(doc)]
use crate::Error;
use crate::Result;
use crate::tensors::{self, FileKind};
use std::path::Path;

/// The newest version of the format of model files that this version of the crate reads, and the one it
/// writes.
pub const FORMAT_VERSION: u32 = 2;

/// What makes a safetensors file a model file.
const FILE_KIND: FileKind = FileKind { key: "kinfolk", name: "a model", newest_version: FORMAT_VERSION };

impl Model {
    /// Writes the model to a file, replacing one that is there.
    ///
    /// The new file is written beside the old one, flushed to the disk and then renamed, so that at any
    /// moment there is either the old file or the whole new one. On failure the old file is as it was.
    ///
    /// ```
    /// use kinfolk::inputs::{Dense, Inputs};
    /// use kinfolk::{Dataset, Model, Observations, RegularizerKind, Problem, ProblemSpec, Settings, fit};
    ///
    /// let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
    /// let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
    /// let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
    /// let data = Dataset::new(&inputs, &observations, Default::default())?;
    /// let output = RegularizerKind::Power { k: 1 };
    /// let spec = ProblemSpec { output, c: 10.0, ..ProblemSpec::default() };
    /// let model = fit(&Problem::new(&data, spec)?, &Settings::default())?.model;
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("sensors.safetensors");
    /// model.save(&path)?;
    /// let loaded = Model::load(&path)?;
    /// assert_eq!(loaded.predict_all(&inputs)?, model.predict_all(&inputs)?); // the same bits
    ///
    /// // Anyone with the file and the data can check how good the model is.
    /// let certificate = loaded.certify(&inputs, &observations, &Default::default())?;
    /// assert!((certificate.gap - model.certificate().gap).abs() <= 1e-12 * certificate.primal);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if the system refuses, or if something that is not a file has this name;
    /// [`Error::Model`] if the model itself is not fit for use, with infinite values of Theta for example.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        tensors::save(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads a model from a file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Model`] if it is not a sound model file; the
    /// message says why.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        tensors::load(path.as_ref(), Model::from_bytes)
    }

    /// The contents of a model file. The same model gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Model`] as for [`save`](Self::save).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        check::about(&self.about)?;
        check::arrays(self)?;
        write::to_bytes(self)
    }

    /// Reads a model from the contents of a model file.
    ///
    /// # Errors
    /// [`Error::Model`] as for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let model = read::from_bytes(bytes)?;
        check::arrays(&model)?;
        Ok(model)
    }
}
