//! Products, eigenvectors and factors of matrices.

use super::{
    Cuda, DevicePtr, DevicePtrMut, LaunchConfig, Numbers, Outcome, PushKernelArg, blas, each, launch, long,
    solver, words,
};
use cudarc::cusolver::DnParams;
use kinfolk::algebra::Op;

impl Cuda {
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
        self.square_of_columns(a, (rows, cols), blas::cublasOperation_t::CUBLAS_OP_N)
    }

    /// What cuBLAS, for which the matrix has columns of `cols` numbers, calls `a a'`, or `a'a` if transposed: both
    /// triangles.
    fn square_of_columns(
        &self,
        a: &Numbers,
        (rows, cols): (usize, usize),
        op: blas::cublasOperation_t,
    ) -> Outcome<Numbers> {
        assert_eq!(a.len(), rows * cols, "size of a matrix");
        let mut out = self.stream.alloc_zeros::<f64>(cols * cols).map_err(words)?;
        if a.is_empty() {
            return Ok(out);
        }
        self.bind()?;
        {
            let (pointer_a, _a) = a.device_ptr(&self.stream);
            let (pointer_out, _out) = out.device_ptr_mut(&self.stream);
            // SAFETY: sizes were checked above; with a transposed matrix, callers have a square.
            unsafe {
                blas::cublasDsyrk_v2_64(
                    *self.blas.handle(),
                    blas::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
                    op,
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

    /// The inverse of `m + shift I`, through its Cholesky factor L: `L^-T L^-1`. `None` if there is none. A product
    /// with the inverse takes a tenth of the time of two triangular solves.
    pub(crate) fn shifted_inverse(&self, m: &Numbers, n: usize, shift: f64) -> Outcome<Option<Numbers>> {
        let Some(mut factor) = self.shifted_factor(m, n, shift)? else { return Ok(None) };
        let small = n.div_ceil(BASE_ROWS) as u32;
        let config = LaunchConfig {
            grid_dim: (small, 1, 1),
            block_dim: (BASE_ROWS as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        launch!(self, invert_diagonal, config, &(n as u64), &mut factor)?;
        // The first half is shorter than the second by less than the rows of a small triangle.
        let mut scratch = self.room((n.div_ceil(2) + BASE_ROWS).pow(2))?;
        {
            let (l, _l) = factor.device_ptr_mut(&self.stream);
            let (scratch, _scratch) = scratch.device_ptr_mut(&self.stream);
            self.invert_lower(Corner { at: l as *mut f64, width: n, rows: n }, scratch as *mut f64)?;
        }
        self.square_of_columns(&factor, (n, n), blas::cublasOperation_t::CUBLAS_OP_T).map(Some)
    }

    /// The lower triangle L with `L L' = m + shift I`; `None` if there is none.
    pub(crate) fn root(&self, m: &Numbers, n: usize, shift: f64) -> Outcome<Option<Numbers>> {
        let Some(factor) = self.shifted_factor(m, n, shift)? else { return Ok(None) };
        self.transposed(&factor, n, n).map(Some)
    }

    /// The same in columns, as cuSOLVER has it: zeros above it.
    fn shifted_factor(&self, m: &Numbers, n: usize, shift: f64) -> Outcome<Option<Numbers>> {
        assert_eq!(m.len(), n * n, "a square matrix");
        self.bind()?;
        let mut factor = self.stream.clone_dtod(m).map_err(words)?;
        launch!(self, add_diagonal, each(n), &(n as u64), &shift, &mut factor)?;
        if !self.cholesky(&mut factor, n)? {
            return Ok(None);
        }
        launch!(self, clear_upper, each(n * n), &(n as u64), &mut factor)?;
        Ok(Some(factor))
    }

    /// The Cholesky factor in place of the triangle that cuSOLVER calls lower; `false` if there is none.
    fn cholesky(&self, m: &mut Numbers, n: usize) -> Outcome<bool> {
        let size = i32::try_from(n).map_err(|_| "the matrix is too large".to_owned())?;
        let lower = solver::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;
        let mut info = self.stream.alloc_zeros::<i32>(1).map_err(words)?;
        {
            let (a, _a) = m.device_ptr_mut(&self.stream);
            let (info, _info) = info.device_ptr_mut(&self.stream);
            let (handle, a, info, mut length) = (self.solver.cu(), a as *mut f64, info as *mut i32, 0);
            // SAFETY: the array has n^2 numbers; this call only asks for a size.
            unsafe { solver::cusolverDnDpotrf_bufferSize(handle, lower, size, a, size, &mut length) }
                .result()
                .map_err(words)?;
            let mut scratch = self.room(length.max(1) as usize)?;
            let (scratch, _scratch) = scratch.device_ptr_mut(&self.stream);
            // SAFETY: as above, with scratch space of the size asked for.
            unsafe {
                solver::cusolverDnDpotrf(handle, lower, size, a, size, scratch as *mut f64, length, info)
            }
            .result()
            .map_err(words)?;
        }
        let info = self.stream.clone_dtoh(&info).map_err(words)?;
        self.stream.synchronize().map_err(words)?;
        Ok(info == [0])
    }

    /// The inverse of a lower triangle (column-major, zeros above it) in its place, where small triangles along the
    /// diagonal are inverted already. By halves: the inverse of `[A 0; B C]` is `[A^-1 0; -C^-1 B A^-1, C^-1]`, so all
    /// of it is products. `scratch` has room for a quarter of the square, and for some rows more.
    fn invert_lower(&self, l: Corner, scratch: *mut f64) -> Outcome<()> {
        if l.rows <= BASE_ROWS {
            return Ok(());
        }
        let first = l.rows.div_ceil(BASE_ROWS) / 2 * BASE_ROWS;
        let second = l.rows - first;
        // SAFETY: both parts, and the one below the first, lie inside the square.
        let (a, b, c) = unsafe {
            let below = l.at.add(first);
            let (a, c) =
                (Corner { rows: first, ..l }, Corner { at: below.add(first * l.width), rows: second, ..l });
            (a, below, c)
        };
        self.invert_lower(a, scratch)?;
        self.invert_lower(c, scratch)?;
        let [width, first, second] = [l.width, first, second].map(long);
        let plain = blas::cublasOperation_t::CUBLAS_OP_N;
        let handle = *self.blas.handle();
        // SAFETY: shapes fit, and scratch has room for second x first numbers.
        unsafe {
            blas::cublasDgemm_v2_64(
                handle, plain, plain, second, first, first, &1.0, b, width, a.at, width, &0.0, scratch,
                second,
            )
            .result()
            .map_err(words)?;
            blas::cublasDgemm_v2_64(
                handle, plain, plain, second, first, second, &-1.0, c.at, width, scratch, second, &0.0, b,
                width,
            )
            .result()
            .map_err(words)
        }
    }
}

/// A lower triangle inside a larger square, in columns of `width` numbers.
#[derive(Clone, Copy)]
struct Corner {
    at: *mut f64,
    width: usize,
    rows: usize,
}

/// Rows of the triangles along the diagonal that one block of threads inverts; as in kernels.cu.
const BASE_ROWS: usize = 64;

fn default_params() -> Outcome<DnParams> {
    let (function, algorithm) =
        (solver::cusolverDnFunction_t::CUSOLVERDN_GETRF, solver::cusolverAlgMode_t::CUSOLVER_ALG_0);
    DnParams::new(function, algorithm).map_err(words)
}
