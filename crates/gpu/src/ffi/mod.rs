//! The only unsafe code: calls of the driver, cuBLAS, cuSOLVER and our kernels, with arguments that were checked here.
//!
//! Matrices are row-major, cuBLAS is column-major: what we call `m` is `m'` to cuBLAS. So a product `a b` is asked for
//! as `b' a'`, and a triangular solve from the left as one from the right.
#![allow(unsafe_code)]

use cudarc::cublas::{self, CudaBlas, sys as blas};
use cudarc::cusolver::{DnHandle, sys as solver};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg,
    sys as driver,
};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;

mod copies;
mod dense;
mod elements;
mod losses;

use copies::Staging;
pub(crate) use losses::{ColumnSums, LossArrays};

/// The kernels, compiled for every device since Volta.
const PTX: &str = include_str!("../kernels.ptx");
/// Threads of a block.
const BLOCK_THREADS: u32 = 256;
/// Blocks of a launch at most; threads take several elements where there are more.
const MAX_BLOCKS: usize = 1 << 16;
/// Rows that a thread adds up for a sum over a column.
const RUN_ROWS: usize = 128;

/// Numbers on the device.
pub(crate) type Numbers = CudaSlice<f64>;
/// What went wrong, in words.
pub(crate) type Outcome<T> = Result<T, String>;

/// The shared libraries, by the names that people know. Those that cannot be loaded are returned.
pub(crate) fn missing_libraries() -> Vec<&'static str> {
    // SAFETY: these functions only try to load a library.
    let present = unsafe {
        [
            ("the NVIDIA driver (libcuda.so)", cudarc::driver::sys::is_culib_present()),
            ("cuBLAS (libcublas.so.12 or .13)", cublas::sys::is_culib_present()),
            ("cuSOLVER (libcusolver.so.11 or .12)", solver::is_culib_present()),
        ]
    };
    present.into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect()
}

/// A device with one stream: everything happens in order.
#[derive(Debug)]
pub(crate) struct Cuda {
    pub(crate) context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    blas: CudaBlas,
    solver: DnHandle,
    kernels: Kernels,
    staging: Staging,
}

macro_rules! kernels {
    ($($name:ident),*) => {
        #[derive(Debug)]
        struct Kernels { $($name: CudaFunction),* }

        impl Kernels {
            fn load(context: &Arc<CudaContext>) -> Outcome<Kernels> {
                let module = context.load_module(Ptx::from_src(PTX)).map_err(words)?;
                Ok(Kernels { $($name: module.load_function(stringify!($name)).map_err(words)?),* })
            }
        }
    };
}
kernels!(
    axpy,
    scale,
    widen,
    scale_columns,
    scale_rows,
    add_outer,
    divide_shifted,
    gaussian,
    add_diagonal,
    mirror,
    clear_upper,
    invert_diagonal,
    transpose,
    column_parts,
    column_sums,
    row_products,
    multiply,
    add_to_columns,
    loss_answers,
    loss_terms
);

fn words(error: impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    match text.contains("OUT_OF_MEMORY") || text.contains("ALLOC_FAILED") {
        true => format!("its memory is used up ({text})"),
        false => text,
    }
}

fn blocks(elements: usize) -> u32 {
    elements.div_ceil(BLOCK_THREADS as usize).clamp(1, MAX_BLOCKS) as u32
}

/// One thread for each element, or for several of them.
fn each(elements: usize) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks(elements), 1, 1), block_dim: (BLOCK_THREADS, 1, 1), shared_mem_bytes: 0 }
}

fn long(n: usize) -> i64 {
    n as i64
}

/// Launches a kernel with these arguments.
macro_rules! launch {
    ($cuda:expr, $kernel:ident, $config:expr, $($argument:expr),*) => {{
        // SAFETY: callers check that arrays have as many elements as the sizes among the arguments say.
        unsafe { $cuda.stream.launch_builder(&$cuda.kernels.$kernel)$(.arg($argument))*.launch($config) }
            .map(|_| ())
            .map_err(words)
    }};
}
use launch;

impl Cuda {
    pub(crate) fn open(ordinal: usize) -> Outcome<Self> {
        let context = CudaContext::new(ordinal).map_err(words)?;
        // SAFETY: arrays never leave the one stream, so nothing has to wait for anything.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(words)?;
        keep_freed_memory(&context)?;
        let blas = CudaBlas::new(stream.clone()).map_err(words)?;
        // Plain f64: no emulation, whatever the environment asks for.
        // SAFETY: the handle is valid.
        unsafe { cublas::sys::cublasSetMathMode(*blas.handle(), blas::cublasMath_t::CUBLAS_DEFAULT_MATH) }
            .result()
            .map_err(words)?;
        let solver = DnHandle::new(stream.clone()).map_err(words)?;
        solver
            .set_deterministic_mode(solver::cusolverDeterministicMode_t::CUSOLVER_DETERMINISTIC_RESULTS)
            .map_err(words)?;
        let kernels = Kernels::load(&context)?;
        let staging = Staging::new(&context)?;
        Ok(Cuda { context, stream, blas, solver, kernels, staging })
    }

    fn bind(&self) -> Outcome<()> {
        self.context.bind_to_thread().map_err(words)
    }

    /// Room for so many numbers, all of which the caller writes.
    fn room(&self, n: usize) -> Outcome<Numbers> {
        // SAFETY: callers write every number before they read one.
        unsafe { self.stream.alloc::<f64>(n) }.map_err(words)
    }
}

/// Memory that was freed is kept for the next array: asking the driver each time takes longer than most operations.
fn keep_freed_memory(context: &CudaContext) -> Outcome<()> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut pool: driver::CUmemoryPool = std::ptr::null_mut();
    let mut everything = u64::MAX;
    // SAFETY: the device is valid; the attribute is a u64.
    unsafe {
        driver::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()).result().map_err(words)?;
        driver::cuMemPoolSetAttribute(
            pool,
            driver::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut everything).cast(),
        )
        .result()
        .map_err(words)
    }
}
