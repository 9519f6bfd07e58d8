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

extern "C" __global__ void widen(size n, const float* x, double* y) {
    EACH(i, n) y[i] = (double)x[i];
}

extern "C" __global__ void scale_columns(size n, size cols, const double* factors, double* x) {
    EACH(i, n) x[i] *= factors[i % cols];
}

extern "C" __global__ void multiply(size n, const double* x, double* y) {
    EACH(i, n) y[i] *= x[i];
}

extern "C" __global__ void add_to_columns(size n, size cols, const double* values, double* x) {
    EACH(i, n) x[i] += values[i % cols];
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

// Values of an RBF kernel from inner products.
extern "C" __global__ void gaussian(size n, const double* squares, double gamma, double shift, double scale, double* x) {
    EACH(i, n * n) {
        size row = i / n, column = i % n;
        double distance = row == column ? 0.0 : squares[row] + squares[column] - 2.0 * x[i];
        x[i] = scale * (exp(-gamma * (distance > 0.0 ? distance : 0.0)) + shift);
    }
}

extern "C" __global__ void add_diagonal(size n, double shift, double* m) {
    EACH(i, n) m[i * (n + 1)] += shift;
}

// Inverses of the triangles of BASE_ROWS rows along the diagonal of a lower triangle (column-major, zeros above it), in
// their place: one block of threads for each, and one thread for each column.
#define BASE_ROWS 64
extern "C" __global__ void invert_diagonal(size n, double* m) {
    __shared__ double lower[BASE_ROWS][BASE_ROWS + 1];
    size first = blockIdx.x * (size)BASE_ROWS;
    int rows = n - first < BASE_ROWS ? (int)(n - first) : BASE_ROWS, j = threadIdx.x;
    double* corner = m + first * (n + 1);
    for (int i = 0; i < rows; i++)
        if (j < rows) lower[i][j] = corner[j * n + i];
    __syncthreads();
    if (j >= rows) return;
    double x[BASE_ROWS];
#pragma unroll 1
    for (int i = 0; i < rows; i++) {
        double sum = i == j ? 1.0 : 0.0;
#pragma unroll 4
        for (int k = j; k < i; k++) sum -= lower[i][k] * x[k];
        x[i] = i < j ? 0.0 : sum / lower[i][i];
        corner[j * n + i] = x[i];
    }
}

// Leaves the triangle that cuBLAS calls lower (column-major), zero elsewhere.
extern "C" __global__ void clear_upper(size n, double* m) {
    EACH(i, n * n) if (i % n < i / n) m[i] = 0.0;
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

// Losses, as `LossForm` in the core has them. A quadratic one has the conjugate
// factor y u + quad u^2 / 2 + eps |u| on an interval that depends on the sign of the label y.
struct Form {
    double is_logistic, factor, quad, eps, low_plus, high_plus, low_minus, high_minus;
};

// A dual, the curvature and the value of a loss at a prediction.
struct Answer {
    double dual, curvature, value;
};

static __device__ void interval(Form f, double y, double* low, double* high) {
    *low = y < 0.0 ? f.low_minus : f.low_plus;
    *high = y < 0.0 ? f.high_minus : f.high_plus;
}

static __device__ Answer quadratic_answer(Form f, double y, double z, double mu, double centre) {
    double low, high;
    interval(f, y, &low, &high);
    double rest = f.factor * y - z, pull = rest + mu * centre, stiffness = f.quad + mu;
    double soft = copysign(fmax(fabs(pull) - f.eps, 0.0), pull);
    // Without any curvature, zero over zero is zero.
    double dual = fmin(fmax(soft == 0.0 ? 0.0 : soft / stiffness, -high), -low), off = dual - centre;
    bool is_free = dual > -high && dual < -low && (soft != 0.0 || f.eps == 0.0);
    double value = dual * rest - f.eps * fabs(dual) - 0.5 * f.quad * dual * dual - 0.5 * mu * off * off;
    return Answer{dual, is_free ? 1.0 / stiffness : 0.0, value};
}

static __device__ Answer logistic_answer(double y, double z) {
    double margin = y * z, e = exp(-fabs(margin)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
    return Answer{y * (margin > 0.0 ? small : large), small * large, fmax(-margin, 0.0) + log1p(e)};
}

static __device__ Answer answer(Form f, double y, double z, double mu, double centre) {
    return f.is_logistic != 0.0 ? logistic_answer(y, z) : quadratic_answer(f, y, z, mu, centre);
}

// L + L* - z u of a quadratic conjugate as a sum of terms that are not negative; a is the dual at z.
static __device__ double quadratic_term(Form f, double y, double z, double u, double a) {
    double low, high;
    interval(f, y, &low, &high);
    double rest = f.factor * y - z, best = -a, step = u - best, bend = 0.5 * f.quad * step * step;
    if (best == 0.0 && fabs(rest) <= f.eps) return u * rest + f.eps * fabs(u) + bend;
    double sign = best == 0.0 ? 0.0 : copysign(1.0, best), kink = f.eps * (fabs(u) - sign * u);
    if (best > low && best < high && best != 0.0) return bend + kink;
    return step * (rest + f.quad * best + f.eps * sign) + bend + kink;
}

// v log(v / p) - v + p with d = v - p, as in the core.
static __device__ double divergence(double v, double p, double log_p, double d) {
    if (fabs(d) >= 0.1 * (v + p)) return v > 0.0 ? v * (log(v) - log_p) - d : p;
    double t = d / (v + p), sum = d * t, power = 2.0 * v * t;
    for (double odd = 3.0; odd < 18.0; odd += 2.0) {
        power *= t * t;
        sum += power / odd;
    }
    return sum;
}

static __device__ double v_log_v(double v) {
    return v == 0.0 ? 0.0 : v * log(v);
}

static __device__ double logistic_conjugate(double v) {
    return v_log_v(v) + (v < 0.5 ? (1.0 - v) * log1p(-v) : v_log_v(1.0 - v));
}

static __device__ double logistic_term(double m, double v) {
    double e = exp(-fabs(m)), small = e / (1.0 + e), large = 1.0 / (1.0 + e), tail = log1p(e);
    double p = m > 0.0 ? small : large, q = m > 0.0 ? large : small;
    double d = m >= 0.0 ? v - p : q - (1.0 - v);
    return divergence(v, p, -(fmax(m, 0.0) + tail), d) + divergence(1.0 - v, q, -(fmax(-m, 0.0) + tail), -d);
}

// Sums of some numbers over runs of rows: part p of sum k of column j goes to parts[(p * count + k) * cols + j].
#define COLUMN_RUN(cols, run, count)                                                \
    size j = blockIdx.x * (size)blockDim.x + threadIdx.x, first = blockIdx.y * run; \
    if (j >= cols) return;                                                          \
    size end = first + run < rows ? first + run : rows;                             \
    double sums[count] = {};
#define STORE_SUMS(cols, count) \
    for (int k = 0; k < count; k++) parts[(blockIdx.y * count + k) * cols + j] = sums[k];

// Sums of losses, of duals, of their sizes and of curvatures; duals and curvatures themselves if there is room for them.
extern "C" __global__ void loss_answers(size rows, size cols, size run, Form form, double weight, double mu,
                                        const double* labels, const double* scores, const double* intercept,
                                        const double* centre, size has_centre, size keeps, double* kappa,
                                        double* curvature, double* parts) {
    COLUMN_RUN(cols, run, 4)
    for (size i = first; i < end; i++) {
        size at = i * cols + j;
        Answer a = answer(form, labels[at], scores[at] + intercept[j], mu, has_centre ? centre[at] : 0.0);
        if (keeps) {
            kappa[at] = weight * a.dual;
            curvature[at] = weight * a.curvature;
        }
        sums[0] += weight * a.value;
        sums[1] += weight * a.dual;
        sums[2] += weight * fabs(a.dual);
        sums[3] += weight * a.curvature;
    }
    STORE_SUMS(cols, 4)
}

// Sums of Fenchel-Young terms, losses, conjugates, duals and their sizes; how many observations need a closer look.
extern "C" __global__ void loss_terms(size rows, size cols, size run, Form form, double weight, const double* labels,
                                      const double* scores, const double* intercept, const double* kappa,
                                      double* parts) {
    const double EPSILON = 2.220446049250313e-16;
    COLUMN_RUN(cols, run, 6)
    for (size i = first; i < end; i++) {
        size at = i * cols + j;
        double y = labels[at], z = scores[at] + intercept[j], quotient = -kappa[at] / weight, low, high;
        interval(form, y, &low, &high);
        double u = fmin(fmax(quotient, low), high), conjugate, term;
        Answer a = answer(form, y, z, 0.0, 0.0);
        if (form.is_logistic != 0.0) {
            conjugate = logistic_conjugate(fabs(u));
            term = logistic_term(y * z, fabs(u));
        } else {
            conjugate = u * (form.factor * y + 0.5 * form.quad * u + copysign(form.eps, u));
            term = quadratic_term(form, y, z, u, a.dual);
        }
        double noise = 64.0 * EPSILON * (fabs(a.value) + fabs(conjugate) + fabs(z * u));
        bool plain = isfinite(z) && fabs(quotient - u) <= 4.0 * EPSILON * fabs(u) && term >= -noise;
        sums[0] += weight * fmax(term, 0.0);
        sums[1] += weight * a.value;
        sums[2] += weight * conjugate;
        sums[3] += kappa[at];
        sums[4] += fabs(kappa[at]);
        sums[5] += plain ? 0.0 : 1.0;
    }
    STORE_SUMS(cols, 6)
}
