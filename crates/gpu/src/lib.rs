//! The matrices of kinfolk on a CUDA device.
//!
//! Nothing of CUDA is linked: the driver, cuBLAS and cuSOLVER are loaded when a device is opened. Programs that use
//! this crate run on machines without them, where [`open`] says what is missing.

mod device;
mod ffi;

pub use device::CudaDevice;

use kinfolk::algebra::DeviceHandle;
use std::sync::{Arc, Mutex};

/// Why there is no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Libraries that cannot be loaded.
    #[error("there is no CUDA device to use: {} cannot be loaded", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// No such device.
    #[error("there is no device cuda:{ordinal}; devices found: {count}")]
    Ordinal {
        /// The number asked for.
        ordinal: usize,
        /// Devices that there are.
        count: usize,
    },
    /// The device does not work.
    #[error("the device cuda:{ordinal} cannot be used: {reason}")]
    Failed {
        /// Its number.
        ordinal: usize,
        /// What happened.
        reason: String,
    },
}

/// Devices that are open: opening one takes longer than many fits.
static OPEN: Mutex<Vec<OpenDevice>> = Mutex::new(vec![]);

struct OpenDevice {
    ordinal: usize,
    memory: Option<u64>,
    /// CUDA works only in the process that started it, not in its forks.
    process: u32,
    device: DeviceHandle,
}

/// How many devices there are.
///
/// # Errors
/// If a library is missing, or the driver does not work.
pub fn count() -> Result<usize, OpenError> {
    let missing = ffi::missing_libraries();
    if !missing.is_empty() {
        return Err(OpenError::Missing(missing));
    }
    let count = cudarc::driver::CudaContext::device_count();
    let count = count.map_err(|error| OpenError::Failed { ordinal: 0, reason: format!("{error:?}") })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// The device with this number, whose matrices may take so many bytes (all that is free, if absent). It stays open
/// until the process ends.
///
/// # Errors
/// If a library is missing, there is no such device, or it does not work.
pub fn open(ordinal: usize, memory: Option<u64>) -> Result<DeviceHandle, OpenError> {
    let process = std::process::id();
    let mut open = OPEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if open.iter().any(|other| other.process != process) {
        let reason =
            "CUDA was started before this process was forked: start it in the new process only".into();
        return Err(OpenError::Failed { ordinal, reason });
    }
    let is_wanted = |other: &&OpenDevice| (other.ordinal, other.memory) == (ordinal, memory);
    if let Some(found) = open.iter().find(is_wanted) {
        return Ok(found.device.clone());
    }
    let count = count()?;
    if ordinal >= count {
        return Err(OpenError::Ordinal { ordinal, count });
    }
    let device = ffi::Cuda::open(ordinal).and_then(|cuda| CudaDevice::new(cuda, ordinal));
    let mut device = device.map_err(|reason| OpenError::Failed { ordinal, reason })?;
    if let Some(bytes) = memory {
        device.limit_memory(bytes);
    }
    let device = DeviceHandle(Arc::new(device));
    open.push(OpenDevice { ordinal, memory, process, device: device.clone() });
    Ok(device)
}
