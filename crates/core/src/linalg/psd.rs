//! Checks whether a matrix is symmetric and positive semidefinite, up to rounding. The error says where it is
//! not.

use super::{eigen, eigenvalues};
use crate::{Error, Matrix, Result};

/// What counts as rounding, relative to the largest entry (symmetry) or the largest eigenvalue.
const TOLERANCE: f64 = 1e-8;

/// `Ok` if `m` is square, finite, symmetric to 1e-8 of its largest entry, and has no eigenvalue below -1e-8
/// times its largest. Costs one eigenvalue computation on the calling thread, O(n^3), unless
/// a look at the rows is enough.
pub(crate) fn check_psd(what: &'static str, m: &Matrix) -> Result<()> {
    check_symmetric(what, m)?;
    let largest_entry = max_abs(m);
    if largest_entry == 0.0 {
        return Ok(());
    }
    if is_constant_plus_dominant(m) {
        return Ok(());
    }
    let scaled: Vec<f64> = m.as_slice().iter().map(|x| x / largest_entry).collect();
    let eigenvalues = eigenvalues(&scaled, m.rows())
        .ok_or_else(|| Error::NotPsd { what, detail: "its eigenvalues cannot be computed".into() })?;
    let smallest = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
    let floor = -TOLERANCE * largest;
    if smallest >= floor {
        return Ok(());
    }
    Err(Error::NotPsd { what, detail: explain(m, largest_entry, floor, smallest) })
}

/// Whether a symmetric matrix is a constant that is not negative plus a matrix whose diagonal dominates each row, as
/// those of independent, equal and pooled tasks are: both are positive semidefinite. O(n^2).
fn is_constant_plus_dominant(m: &Matrix) -> bool {
    let n = m.rows();
    let off_diagonal = |r: usize| m.row(r).iter().enumerate().filter(move |(s, _)| *s != r).map(|(_, x)| *x);
    let least = (0..n).flat_map(off_diagonal).fold(f64::INFINITY, f64::min);
    let constant = if least.is_finite() { least.max(0.0) } else { 0.0 };
    let rest = |r: usize| off_diagonal(r).map(|x| (x - constant).abs()).sum::<f64>();
    (0..n).all(|r| m[(r, r)] - constant >= rest(r))
}

/// `m` after [`check_psd`], with the rounding it forgives removed: exactly symmetric, no diagonal entry below
/// zero.
pub(crate) fn checked(what: &'static str, mut m: Matrix) -> Result<Matrix> {
    check_psd(what, &m)?;
    for r in 0..m.rows() {
        m[(r, r)] = m[(r, r)].max(0.0);
        for s in 0..r {
            let (here, mirror) = (m[(r, s)], m[(s, r)]);
            let mean = if here == mirror { here } else { 0.5 * here + 0.5 * mirror };
            m[(r, s)] = mean;
            m[(s, r)] = mean;
        }
    }
    Ok(m)
}

/// A symmetric matrix without its negative eigenvalues.
#[derive(Debug, Clone, PartialEq)]
pub struct NearestPsd {
    /// The nearest positive semidefinite matrix in the Frobenius norm; the matrix itself if it is one up to rounding.
    pub matrix: Matrix,
    /// The smallest eigenvalue as a share of the largest: not negative if nothing was changed.
    pub smallest_share: f64,
}

/// The positive semidefinite matrix nearest to a symmetric one. Costs one eigendecomposition.
///
/// # Errors
/// If it is not square, finite and symmetric to 1e-8 of its largest entry, or has no positive eigenvalue.
pub fn nearest_psd(what: &'static str, m: &Matrix) -> Result<NearestPsd> {
    check_symmetric(what, m)?;
    let (n, largest_entry) = (m.rows(), max_abs(m));
    if largest_entry == 0.0 {
        return Ok(NearestPsd { matrix: m.clone(), smallest_share: 0.0 });
    }
    let mut scaled = m.clone();
    scaled.as_mut_slice().iter_mut().for_each(|x| *x /= largest_entry);
    let (values, vectors) = eigen(&scaled)?;
    let (smallest, largest) = (values[0], values[n - 1]);
    if largest <= 0.0 {
        return Err(Error::NotPsd { what, detail: "it has no positive eigenvalue".into() });
    }
    let smallest_share = smallest / largest;
    if smallest_share >= -TOLERANCE {
        return Ok(NearestPsd { matrix: m.clone(), smallest_share: smallest_share.max(0.0) });
    }
    let mut matrix = Matrix::zeros(n, n);
    for r in 0..n {
        for s in 0..=r {
            let term = |k: usize| values[k].max(0.0) * vectors[(r, k)] * vectors[(s, k)];
            matrix[(r, s)] = (0..n).map(term).sum::<f64>() * largest_entry;
            matrix[(s, r)] = matrix[(r, s)];
        }
    }
    Ok(NearestPsd { matrix, smallest_share })
}

/// The first half of [`check_psd`]: square, finite, symmetric. O(n^2).
pub(crate) fn check_symmetric(what: &'static str, m: &Matrix) -> Result<()> {
    let (rows, columns) = (m.rows(), m.cols());
    if rows != columns {
        return Err(Error::NotSquare { what, rows, columns });
    }
    if rows == 0 {
        return Err(Error::Empty { what });
    }
    for row in 0..rows {
        for (column, &value) in m.row(row).iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::Entry {
                    what,
                    row,
                    column,
                    value,
                    expected: "which is not a finite number",
                });
            }
        }
    }
    let allowed = TOLERANCE * max_abs(m);
    for row in 0..rows {
        for column in 0..row {
            let (value, mirror) = (m[(row, column)], m[(column, row)]);
            if (value - mirror).abs() > allowed {
                return Err(Error::Asymmetric { what, row, column, value, mirror });
            }
        }
    }
    Ok(())
}

fn max_abs(m: &Matrix) -> f64 {
    m.as_slice().iter().fold(0.0, |max, v| v.abs().max(max))
}

/// The simplest sign of an eigenvalue below `floor`: a diagonal entry, two rows, or the eigenvalue itself.
fn explain(m: &Matrix, unit: f64, floor: f64, smallest: f64) -> String {
    let n = m.rows();
    for r in 0..n {
        if m[(r, r)] / unit < floor {
            return format!("entry ({r}, {r}) is {}, a diagonal entry must not be negative", m[(r, r)]);
        }
    }
    for r in 0..n {
        for s in 0..r {
            let (a, b, c) = (m[(r, r)] / unit, m[(r, s)] / unit, m[(s, s)] / unit);
            // Smaller eigenvalue of [a b; b c].
            if 0.5 * (a + c) - (0.5 * (a - c)).hypot(b) < floor {
                return format!(
                    "entry ({r}, {s}) is {}, too large for the diagonal entries {} and {}",
                    m[(r, s)],
                    m[(r, r)],
                    m[(s, s)]
                );
            }
        }
    }
    format!("its smallest eigenvalue is {:e}", smallest * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize, data: &[f64]) -> Matrix {
        Matrix::from_vec(data.to_vec(), n, n).unwrap()
    }

    fn message(n: usize, data: &[f64]) -> String {
        check_psd("prior", &matrix(n, data)).unwrap_err().to_string()
    }

    #[test]
    fn psd_matrices_pass_at_every_scale() {
        for unit in [1e-300, 1e-8, 1.0, 1e300] {
            for data in [[2.0, 1.0, 1.0, 2.0], [1.0, -1.0, -1.0, 1.0], [0.0; 4]] {
                check_psd("prior", &matrix(2, &data.map(|v| v * unit))).unwrap();
            }
        }
    }

    #[test]
    fn a_look_at_the_rows_is_enough_for_simple_matrices_only() {
        let is_simple = |n: usize, data: &[f64]| is_constant_plus_dominant(&matrix(n, data));
        assert!(is_simple(1, &[0.0]) && is_simple(2, &[1.0, 0.0, 0.0, 1.0]) && is_simple(2, &[1.0; 4]));
        assert!(is_simple(3, &[3.0, 2.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 3.0]));
        assert!(is_simple(2, &[2.0, -1.0, -1.0, 1.0]));
        assert!(!is_simple(1, &[-1.0]) && !is_simple(2, &[1.0, 2.0, 2.0, 1.0]) && !is_simple(2, &[-1.0; 4]));
        assert!(!is_simple(2, &[1.0, -2.0, -2.0, 3.0]));
    }

    #[test]
    fn rounding_is_forgiven_and_removed() {
        let m = checked("prior", matrix(2, &[1.0, 1e-10, 3e-10, -1e-12])).unwrap();
        assert_eq!(m.as_slice(), [1.0, 2e-10, 2e-10, 0.0]);
    }

    #[test]
    fn negative_eigenvalues_are_cut_off() {
        // Eigenvalues 3 and -1, vectors (1, 1) and (1, -1).
        for unit in [1e-300, 1.0, 1e300] {
            let cut = nearest_psd("prior", &matrix(2, &[1.0, 2.0, 2.0, 1.0].map(|x| x * unit))).unwrap();
            assert!((cut.smallest_share + 1.0 / 3.0).abs() < 1e-14);
            assert!(cut.matrix.as_slice().iter().all(|x| (x / unit - 1.5).abs() < 1e-14), "{cut:?}");
            check_psd("prior", &cut.matrix).unwrap();
        }
        let same = matrix(2, &[2.0, 1.0, 1.0, 2.0]);
        assert_eq!(
            nearest_psd("prior", &same).unwrap(),
            NearestPsd { matrix: same, smallest_share: 1.0 / 3.0 }
        );
        assert!(nearest_psd("prior", &matrix(1, &[-1.0])).is_err());
        assert_eq!(nearest_psd("prior", &matrix(1, &[0.0])).unwrap().smallest_share, 0.0);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            message(2, &[1.0, 0.5, 0.25, 1.0]),
            "prior is not symmetric: entry (1, 0) is 0.25, entry (0, 1) is 0.5"
        );
        assert!(message(2, &[1.0, f64::NAN, 0.0, 1.0]).contains("entry (0, 1) is NaN"));
        assert!(message(2, &[1.0, 0.0, 0.0, -2.0]).contains("entry (1, 1) is -2"));
        assert!(message(2, &[1.0, 2.0, 2.0, 3.0]).contains("entry (1, 0) is 2, too large"));
        // All 2 x 2 minors are fine: eigenvalues 1.9, 1.9, -0.8.
        let three = message(3, &[1.0, -0.9, -0.9, -0.9, 1.0, -0.9, -0.9, -0.9, 1.0]);
        assert!(
            three.contains("smallest eigenvalue is -8.0") || three.contains("smallest eigenvalue is -7.99"),
            "{three}"
        );
        let wide = check_psd("prior", &Matrix::zeros(2, 3)).unwrap_err();
        assert!(matches!(wide, Error::NotSquare { rows: 2, columns: 3, .. }));
        assert!(matches!(check_psd("prior", &Matrix::zeros(0, 0)), Err(Error::Empty { what: "prior" })));
    }
}
