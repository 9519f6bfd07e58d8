// Element-wise work and sums on row-major matrices of f64. Sums are taken in a fixed order: same bits in every run.
// kernels.ptx is made from this file by `python crates/gpu/ptx.py`.

typedef unsigned long long size;

#define EACH(i, n) for (size i = blockIdx.x * (size)blockDim.x + threadIdx.x; i < (n); i += (size)gridDim.x * blockDim.x)

extern "C" __global__ void axpy(size n, double factor, const double* x, double* y) {
    EACH(i, n) y[i] += factor * x[i];
}

extern "C" __global__ void scale(size n, double factor, double* x) {
    EACH(i, n) x[i] *= factor;
}

extern "C" __global__ void fill(size n, double value, double* x) {
    EACH(i, n) x[i] = value;
}

extern "C" __global__ void widen(size n, const float* x, double* y) {
    EACH(i, n) y[i] = (double)x[i];
}

extern "C" __global__ void scale_columns(size n, size cols, const double* factors, double* x) {
    EACH(i, n) x[i] *= factors[i % cols];
}

extern "C" __global__ void scale_rows(size n, size cols, const double* factors, double* x) {
    EACH(i, n) x[i] *= factors[i / cols];
}

extern "C" __global__ void add_outer(size n, size cols, double factor, const double* rows, const double* columns, double* x) {
    EACH(i, n) x[i] += factor * rows[i / cols] * columns[i % cols];
}

extern "C" __global__ void divide_shifted(size n, size cols, const double* rows, const double* columns, double* x) {
    EACH(i, n) x[i] /= 1.0 + rows[i / cols] * columns[i % cols];
}

extern "C" __global__ void add_diagonal(size n, double shift, double* m) {
    EACH(i, n) m[i * (n + 1)] += shift;
}

// Copies the triangle that cuBLAS calls lower (column-major) to the other one.
extern "C" __global__ void mirror(size n, double* m) {
    EACH(i, n * n) {
        size row = i / n, column = i % n;
        if (row > column) m[i] = m[column * n + row];
    }
}

extern "C" __global__ void transpose(size rows, size cols, const double* x, double* out) {
    __shared__ double tile[32][33];
    size column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (column < cols && row + j < rows) tile[j][threadIdx.x] = x[(row + j) * cols + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (column < rows && row + j < cols) out[(row + j) * rows + column] = tile[threadIdx.x][j];
}

// Sums over runs of rows: part p of column j goes to parts[p * cols + j].
extern "C" __global__ void column_parts(size rows, size cols, size run, const double* a, const double* b, double* parts) {
    size j = blockIdx.x * (size)blockDim.x + threadIdx.x, first = blockIdx.y * run;
    if (j >= cols) return;
    size end = first + run < rows ? first + run : rows;
    double sum = 0.0;
    for (size i = first; i < end; i++) sum += a[i * cols + j] * b[i * cols + j];
    parts[blockIdx.y * cols + j] = sum;
}

extern "C" __global__ void column_sums(size rows, size cols, const double* parts, double* out) {
    EACH(j, cols) {
        double sum = 0.0;
        for (size i = 0; i < rows; i++) sum += parts[i * cols + j];
        out[j] = sum;
    }
}

// One warp for each row.
extern "C" __global__ void row_products(size rows, size cols, const double* a, const double* b, double* out) {
    size row = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0.0;
    for (size j = lane; j < cols; j += 32) sum += a[row * cols + j] * b[row * cols + j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) out[row] = sum;
}
