//! The ends of the spectrum of a symmetric matrix: exactly, or from a few Lanczos steps.

const LANCZOS_STEPS: usize = 8;

/// Smallest and largest eigenvalue of the row-major n x n matrix, of which one triangle is read. n > 0.
pub(super) fn extremes(values: &[f64], n: usize) -> Option<(f64, f64)> {
    let eigenvalues = crate::linalg::eigenvalues(values, n)?;
    Some((eigenvalues[0], eigenvalues[n - 1]))
}

/// Smallest and largest Ritz value of K / `scale`, from the Krylov space of a fixed pseudo-random vector:
/// both are values `z'Kz / (scale z'z)` of actual vectors z, so a negative one proves that K is not positive
/// semidefinite.
pub(super) fn lanczos(values: &[f64], n: usize, scale: f64) -> Option<(f64, f64)> {
    let mut basis: Vec<Vec<f64>> = vec![normalised(pseudo_random(n))?];
    let mut tridiagonal = vec![0.0; LANCZOS_STEPS * LANCZOS_STEPS];
    for step in 0..LANCZOS_STEPS {
        let mut next: Vec<f64> = values.chunks_exact(n).map(|row| dot(row, &basis[step]) / scale).collect();
        tridiagonal[step * LANCZOS_STEPS + step] = dot(&next, &basis[step]);
        // Twice is enough to keep the basis orthogonal to rounding.
        for v in basis.iter().chain(&basis) {
            let along = dot(&next, v);
            next.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
        }
        let size = dot(&next, &next).sqrt();
        // The diagonal of K / scale is at most 1, so its entries are, too: below this there is only rounding
        // left.
        let exhausted = size <= 1e-12 * n as f64;
        if exhausted || step + 1 == LANCZOS_STEPS {
            let m = step + 1;
            let rows = tridiagonal.chunks_exact(LANCZOS_STEPS).take(m);
            let square: Vec<f64> = rows.flat_map(|row| &row[..m]).copied().collect();
            return extremes(&square, m);
        }
        tridiagonal[step * LANCZOS_STEPS + step + 1] = size;
        tridiagonal[(step + 1) * LANCZOS_STEPS + step] = size;
        basis.push(normalised(next)?);
    }
    None
}

fn normalised(mut v: Vec<f64>) -> Option<Vec<f64>> {
    let norm = dot(&v, &v).sqrt();
    v.iter_mut().for_each(|x| *x /= norm);
    (norm > 0.0 && norm.is_finite()).then_some(v)
}

/// Numbers in [-1, 1) from the SplitMix64 sequence: the same on every machine.
fn pseudo_random(n: usize) -> Vec<f64> {
    let mut state = 0_u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::linalg::sum_pairs(a, b, |x, y| x * y)
}
