//! Where large products are computed.

use crate::{Error, Result};
use kinfolk::algebra::DeviceHandle;
use kinfolk::{Inputs, Kernel, LossKind, Losses, Observations, backend};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Where large products are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceSetting {
    /// On a GPU if there is one and the work is large enough, else on the processor.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On the CUDA device of this number.
    Cuda(usize),
}

impl fmt::Display for DeviceSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSetting::Auto => f.write_str("auto"),
            DeviceSetting::Cpu => f.write_str("cpu"),
            DeviceSetting::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl FromStr for DeviceSetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "auto" => Ok(DeviceSetting::Auto),
            "cpu" => Ok(DeviceSetting::Cpu),
            "cuda" => Ok(DeviceSetting::Cuda(0)),
            other => match other.strip_prefix("cuda:").and_then(|number| number.parse().ok()) {
                Some(ordinal) => Ok(DeviceSetting::Cuda(ordinal)),
                None => {
                    Err(Error::Spec(format!("device {text:?}: it is none of auto, cpu, cuda, cuda:NUMBER")))
                }
            },
        }
    }
}

impl From<DeviceSetting> for String {
    fn from(device: DeviceSetting) -> Self {
        device.to_string()
    }
}

impl TryFrom<String> for DeviceSetting {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// Operations from which on a device is worth the time that it takes to start.
const MIN_DEVICE_OPERATIONS: f64 = 1e11;

impl DeviceSetting {
    /// The device that is asked for by number; `None` for `cpu` and `auto`.
    ///
    /// # Errors
    /// If there is no such device, or something that it needs is missing.
    pub fn given(self, memory: Option<u64>) -> Result<Option<DeviceHandle>> {
        match self {
            DeviceSetting::Cuda(ordinal) => {
                kinfolk_gpu::open(ordinal, memory).map(Some).map_err(|error| Error::Device(error.to_string()))
            }
            _ => Ok(None),
        }
    }

    /// The device for a fit: the one asked for, or with `auto` the first one, if there is one that pays.
    ///
    /// # Errors
    /// If a device that is asked for is not there.
    pub(crate) fn for_fit(self, memory: Option<u64>, work: &DeviceWork<'_>) -> Result<Option<DeviceHandle>> {
        if self != DeviceSetting::Auto || !work.pays() {
            return self.given(memory);
        }
        let device = kinfolk_gpu::open(0, memory).ok();
        Ok(device.filter(|device| work.bytes() <= device.0.memory()))
    }
}

/// What a fit is about, as far as it matters for a device.
pub(crate) struct DeviceWork<'a> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) observations: &'a Observations,
    pub(crate) losses: &'a Losses,
    pub(crate) kernel: Option<&'a Kernel>,
}

impl DeviceWork<'_> {
    /// Whether solvers of this problem run on a device: dense features or an RBF kernel of them, a label for every
    /// task, one loss and equal weights. Offsets only with the squared loss.
    pub(crate) fn suits(&self) -> bool {
        let has_features = matches!(self.kernel, None | Some(Kernel::Linear | Kernel::Cosine))
            && self.inputs.n_features() <= self.inputs.n_inputs();
        matches!(self.inputs, Inputs::Dense(_))
            && (has_features || self.has_rbf())
            && self.observations.is_complete()
            && self.observations.uniform_weight().is_some()
            && (crate::train::all_losses(self.losses, |loss| *loss == LossKind::Squared)
                || matches!(self.losses, Losses::Same(_)) && self.observations.offsets().is_none())
    }

    fn has_rbf(&self) -> bool {
        matches!(self.kernel, Some(Kernel::Rbf { .. }))
    }

    /// Features of the solver: those of the inputs, or as many as there are rows of a kernel matrix.
    fn dim(&self) -> usize {
        if self.has_rbf() { self.inputs.n_inputs() } else { self.inputs.n_features() }
    }

    /// X'X, equations with it, and products for all tasks.
    fn pays(&self) -> bool {
        let [n, d, t] = [self.inputs.n_inputs(), self.dim(), self.observations.n_tasks()];
        let [n, d, t] = [n as f64, d as f64, t as f64];
        self.suits() && n * d * d + 20.0 * d * d * d + 8.0 * n * d * t >= MIN_DEVICE_OPERATIONS
    }

    fn bytes(&self) -> u64 {
        backend::device_bytes(self.inputs.n_inputs(), self.dim() + 1, self.observations.n_tasks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_and_printed() {
        for text in ["auto", "cpu", "cuda:0", "cuda:3"] {
            assert_eq!(text.parse::<DeviceSetting>().unwrap().to_string(), text);
        }
        assert_eq!("CUDA".parse::<DeviceSetting>().unwrap(), DeviceSetting::Cuda(0));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda 1"] {
            assert!(wrong.parse::<DeviceSetting>().is_err(), "{wrong}");
        }
    }
}
