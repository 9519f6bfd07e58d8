//! The only unsafe code: calls of the driver, cuBLAS, cuSOLVER and our kernels, with arguments that were checked here.
//!
//! Matrices are row-major, cuBLAS is column-major: what we call `m` is `m'` to cuBLAS. So a product `a b` is asked for
//! as `b' a'`, and a triangular solve from the left as one from the right.
#![allow(unsafe_code)]

use cudarc::cublas::{self, CudaBlas, sys as blas};
use cudarc::cusolver::{DnHandle, DnParams, sys as solver};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg,
    sys as driver,
};
use cudarc::nvrtc::Ptx;
use kinfolk::algebra::Op;
use std::sync::Arc;

/// The kernels, compiled for every device since Volta.
const PTX: &str = include_str!("kernels.ptx");
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
    add_diagonal,
    mirror,
    transpose,
    column_parts,
    column_sums,
    row_products
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
        Ok(Cuda { context, stream, blas, solver, kernels })
    }

    fn bind(&self) -> Outcome<()> {
        self.context.bind_to_thread().map_err(words)
    }

    /// Room for so many numbers, all of which the caller writes.
    fn room(&self, n: usize) -> Outcome<Numbers> {
        // SAFETY: callers write every number before they read one.
        unsafe { self.stream.alloc::<f64>(n) }.map_err(words)
    }

    /// The driver has read the caller's memory when this returns.
    pub(crate) fn upload(&self, values: &[f64]) -> Outcome<Numbers> {
        self.stream.clone_htod(values).map_err(words)
    }

    pub(crate) fn upload_single(&self, values: &[f32]) -> Outcome<Numbers> {
        let single = self.stream.clone_htod(values).map_err(words)?;
        let n = values.len();
        let mut out = self.room(n)?;
        launch!(self, widen, each(n), &(n as u64), &single, &mut out)?;
        Ok(out)
    }

    pub(crate) fn download(&self, m: &Numbers) -> Outcome<Vec<f64>> {
        let out = self.stream.clone_dtoh(m).map_err(words)?;
        self.stream.synchronize().map_err(words)?;
        Ok(out)
    }

    /// `op(a) op(b)`, rows x cols, with `inner` columns of `op(a)`.
    pub(crate) fn product(
        &self,
        (a, op_a): (&Numbers, Op),
        (b, op_b): (&Numbers, Op),
        (rows, inner, cols): (usize, usize, usize),
    ) -> Outcome<Numbers> {
        assert!(a.len() == rows * inner && b.len() == inner * cols, "sizes of a product");
        if inner == 0 || rows * cols == 0 {
            return self.stream.alloc_zeros(rows * cols).map_err(words);
        }
        self.bind()?;
        let mut out = self.room(rows * cols)?;
        let of = |op: Op| match op {
            Op::Plain => blas::cublasOperation_t::CUBLAS_OP_N,
            Op::Transposed => blas::cublasOperation_t::CUBLAS_OP_T,
        };
        let width = |op: Op, plain: usize, transposed: usize| match op {
            Op::Plain => long(plain),
            Op::Transposed => long(transposed),
        };
        {
            let (pointer_a, _a) = a.device_ptr(&self.stream);
            let (pointer_b, _b) = b.device_ptr(&self.stream);
            let (pointer_out, _out) = out.device_ptr_mut(&self.stream);
            // SAFETY: sizes were checked above; leading dimensions are the widths of the rows.
            unsafe {
                blas::cublasDgemm_v2_64(
                    *self.blas.handle(),
                    of(op_b),
                    of(op_a),
                    long(cols),
                    long(rows),
                    long(inner),
                    &1.0,
                    pointer_b as *const f64,
                    width(op_b, cols, inner),
                    pointer_a as *const f64,
                    width(op_a, inner, rows),
                    &0.0,
                    pointer_out as *mut f64,
                    long(cols),
                )
            }
            .result()
            .map_err(words)?;
        }
        Ok(out)
    }

    /// `a'a` of a matrix rows x cols.
    pub(crate) fn gram(&self, a: &Numbers, (rows, cols): (usize, usize)) -> Outcome<Numbers> {
        assert_eq!(a.len(), rows * cols, "size of a matrix");
        let mut out = self.stream.alloc_zeros::<f64>(cols * cols).map_err(words)?;
        if a.is_empty() {
            return Ok(out);
        }
        self.bind()?;
        {
            let (pointer_a, _a) = a.device_ptr(&self.stream);
            let (pointer_out, _out) = out.device_ptr_mut(&self.stream);
            // SAFETY: sizes were checked above.
            unsafe {
                blas::cublasDsyrk_v2_64(
                    *self.blas.handle(),
                    blas::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
                    blas::cublasOperation_t::CUBLAS_OP_N,
                    long(cols),
                    long(rows),
                    &1.0,
                    pointer_a as *const f64,
                    long(cols),
                    &0.0,
                    pointer_out as *mut f64,
                    long(cols),
                )
            }
            .result()
            .map_err(words)?;
        }
        launch!(self, mirror, each(cols * cols), &(cols as u64), &mut out)?;
        Ok(out)
    }

    pub(crate) fn add_scaled(&self, y: &mut Numbers, factor: f64, x: &Numbers) -> Outcome<()> {
        assert_eq!(x.len(), y.len(), "sizes of a sum");
        let n = x.len();
        launch!(self, axpy, each(n), &(n as u64), &factor, x, y)
    }

    pub(crate) fn scale(&self, x: &mut Numbers, factor: f64) -> Outcome<()> {
        let n = x.len();
        launch!(self, scale, each(n), &(n as u64), &factor, x)
    }

    pub(crate) fn scale_columns(&self, x: &mut Numbers, factors: &[f64]) -> Outcome<()> {
        let (n, cols, factors) = (x.len(), factors.len() as u64, self.upload(factors)?);
        launch!(self, scale_columns, each(n), &(n as u64), &cols, &factors, x)
    }

    /// For as many columns as there are numbers for each factor.
    pub(crate) fn scale_rows(&self, x: &mut Numbers, factors: &[f64]) -> Outcome<()> {
        let (n, factors_there) = (x.len(), factors.len());
        assert!(factors_there > 0 && n.is_multiple_of(factors_there), "one factor for each row");
        let (cols, factors) = ((n / factors_there) as u64, self.upload(factors)?);
        launch!(self, scale_rows, each(n), &(n as u64), &cols, &factors, x)
    }

    pub(crate) fn add_outer(
        &self,
        x: &mut Numbers,
        factor: f64,
        rows: &[f64],
        columns: &[f64],
    ) -> Outcome<()> {
        assert_eq!(x.len(), rows.len() * columns.len(), "size of an outer product");
        let (n, cols) = (x.len(), columns.len() as u64);
        let (rows, columns) = (self.upload(rows)?, self.upload(columns)?);
        launch!(self, add_outer, each(n), &(n as u64), &cols, &factor, &rows, &columns, x)
    }

    pub(crate) fn divide_shifted(&self, x: &mut Numbers, rows: &[f64], columns: &[f64]) -> Outcome<()> {
        assert_eq!(x.len(), rows.len() * columns.len(), "size of an outer product");
        let (n, cols) = (x.len(), columns.len() as u64);
        let (rows, columns) = (self.upload(rows)?, self.upload(columns)?);
        launch!(self, divide_shifted, each(n), &(n as u64), &cols, &rows, &columns, x)
    }

    pub(crate) fn column_products(&self, a: &Numbers, b: &Numbers, cols: usize) -> Outcome<Vec<f64>> {
        assert!(a.len() == b.len() && cols > 0 && a.len().is_multiple_of(cols), "sizes of products");
        let (rows, width) = (a.len() / cols, cols as u64);
        let parts = rows.div_ceil(RUN_ROWS).clamp(1, 1 << 15);
        let run = rows.div_ceil(parts).max(1) as u64;
        let (mut sums, mut out) = (self.room(parts * cols)?, self.room(cols)?);
        let config = LaunchConfig { grid_dim: (blocks(cols), parts as u32, 1), ..each(1) };
        launch!(self, column_parts, config, &(rows as u64), &width, &run, a, b, &mut sums)?;
        launch!(self, column_sums, each(cols), &(parts as u64), &width, &sums, &mut out)?;
        self.download(&out)
    }

    pub(crate) fn row_products(&self, a: &Numbers, b: &Numbers, rows: usize) -> Outcome<Vec<f64>> {
        assert!(a.len() == b.len() && rows > 0 && a.len().is_multiple_of(rows), "sizes of products");
        let mut out = self.room(rows)?;
        let cols = (a.len() / rows) as u64;
        let per_block = BLOCK_THREADS as usize / 32;
        let config = LaunchConfig { grid_dim: (rows.div_ceil(per_block) as u32, 1, 1), ..each(1) };
        launch!(self, row_products, config, &(rows as u64), &cols, a, b, &mut out)?;
        self.download(&out)
    }

    /// Eigenvalues, and eigenvectors in columns, of a symmetric matrix n x n.
    pub(crate) fn eigen(&self, m: &Numbers, n: usize) -> Outcome<(Vec<f64>, Numbers)> {
        assert_eq!(m.len(), n * n, "a square matrix");
        self.bind()?;
        let mut vectors = self.stream.clone_dtod(m).map_err(words)?;
        let mut values = self.room(n)?;
        let mut info = self.stream.alloc_zeros::<i32>(1).map_err(words)?;
        {
            let (a, _a) = vectors.device_ptr_mut(&self.stream);
            let (w, _w) = values.device_ptr_mut(&self.stream);
            let (info, _info) = info.device_ptr_mut(&self.stream);
            let params = default_params()?;
            let (handle, params) = (self.solver.cu(), params.cu());
            let (job, lower) = (
                solver::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR,
                solver::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
            );
            let real = solver::cudaDataType::CUDA_R_64F;
            let (mut on_device, mut on_host) = (0usize, 0usize);
            // SAFETY: the arrays have n^2 and n numbers; this call only asks for sizes.
            unsafe {
                solver::cusolverDnXsyevd_bufferSize(
                    handle,
                    params,
                    job,
                    lower,
                    long(n),
                    real,
                    a as *const _,
                    long(n),
                    real,
                    w as *const _,
                    real,
                    &mut on_device,
                    &mut on_host,
                )
            }
            .result()
            .map_err(words)?;
            // SAFETY: scratch space, written before it is read.
            let mut scratch = unsafe { self.stream.alloc::<u8>(on_device) }.map_err(words)?;
            let mut host_scratch = vec![0u8; on_host];
            let (scratch, _scratch) = scratch.device_ptr_mut(&self.stream);
            // SAFETY: as above, with scratch space of the size asked for.
            unsafe {
                solver::cusolverDnXsyevd(
                    handle,
                    params,
                    job,
                    lower,
                    long(n),
                    real,
                    a as *mut _,
                    long(n),
                    real,
                    w as *mut _,
                    real,
                    scratch as *mut _,
                    on_device,
                    host_scratch.as_mut_ptr().cast(),
                    on_host,
                    info as *mut i32,
                )
            }
            .result()
            .map_err(words)?;
            // Scratch space in memory must last until the work is done.
            self.stream.synchronize().map_err(words)?;
        }
        let info = self.stream.clone_dtoh(&info).map_err(words)?;
        self.stream.synchronize().map_err(words)?;
        if info != [0] {
            return Err(format!("eigenvectors were not found (info {})", info[0]));
        }
        let vectors = self.transposed(&vectors, n, n)?;
        Ok((self.download(&values)?, vectors))
    }

    fn transposed(&self, m: &Numbers, rows: usize, cols: usize) -> Outcome<Numbers> {
        assert_eq!(m.len(), rows * cols, "size of a matrix");
        let mut out = self.room(rows * cols)?;
        let grid_dim = (cols.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1);
        let config = LaunchConfig { grid_dim, block_dim: (32, 8, 1), shared_mem_bytes: 0 };
        launch!(self, transpose, config, &(rows as u64), &(cols as u64), m, &mut out)?;
        Ok(out)
    }

    /// The Cholesky factor of `m + shift I`; `None` if there is none.
    pub(crate) fn shifted_cholesky(&self, m: &Numbers, n: usize, shift: f64) -> Outcome<Option<Numbers>> {
        assert_eq!(m.len(), n * n, "a square matrix");
        self.bind()?;
        let mut factor = self.stream.clone_dtod(m).map_err(words)?;
        launch!(self, add_diagonal, each(n), &(n as u64), &shift, &mut factor)?;
        let mut info = self.stream.alloc_zeros::<i32>(1).map_err(words)?;
        {
            let (a, _a) = factor.device_ptr_mut(&self.stream);
            let (info, _info) = info.device_ptr_mut(&self.stream);
            let lower = solver::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;
            let size = i32::try_from(n).map_err(|_| "the matrix is too large".to_owned())?;
            let (handle, mut length) = (self.solver.cu(), 0);
            // SAFETY: the array has n^2 numbers; this call only asks for a size.
            unsafe {
                solver::cusolverDnDpotrf_bufferSize(handle, lower, size, a as *mut f64, size, &mut length)
            }
            .result()
            .map_err(words)?;
            let mut scratch = self.room(length.max(1) as usize)?;
            let (scratch, _scratch) = scratch.device_ptr_mut(&self.stream);
            // SAFETY: as above, with scratch space of the size asked for.
            unsafe {
                solver::cusolverDnDpotrf(
                    handle,
                    lower,
                    size,
                    a as *mut f64,
                    size,
                    scratch as *mut f64,
                    length,
                    info as *mut i32,
                )
            }
            .result()
            .map_err(words)?;
        }
        let info = self.stream.clone_dtoh(&info).map_err(words)?;
        self.stream.synchronize().map_err(words)?;
        Ok((info == [0]).then_some(factor))
    }

    /// `m^-1 x` in place, for the factor of m and x with `cols` columns.
    pub(crate) fn solve(&self, factor: &Numbers, x: &mut Numbers, n: usize, cols: usize) -> Outcome<()> {
        assert!(factor.len() == n * n && x.len() == n * cols, "sizes of a system");
        self.bind()?;
        let (a, _a) = factor.device_ptr(&self.stream);
        let (b, _b) = x.device_ptr_mut(&self.stream);
        // X' <- X' L^-T, then X' <- X' L^-1.
        for op in [blas::cublasOperation_t::CUBLAS_OP_T, blas::cublasOperation_t::CUBLAS_OP_N] {
            // SAFETY: sizes were checked above.
            unsafe {
                blas::cublasDtrsm_v2_64(
                    *self.blas.handle(),
                    blas::cublasSideMode_t::CUBLAS_SIDE_RIGHT,
                    blas::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
                    op,
                    blas::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT,
                    long(cols),
                    long(n),
                    &1.0,
                    a as *const f64,
                    long(n),
                    b as *mut f64,
                    long(cols),
                )
            }
            .result()
            .map_err(words)?;
        }
        Ok(())
    }
}

fn default_params() -> Outcome<DnParams> {
    let (function, algorithm) =
        (solver::cusolverDnFunction_t::CUSOLVERDN_GETRF, solver::cusolverAlgMode_t::CUSOLVER_ALG_0);
    DnParams::new(function, algorithm).map_err(words)
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
