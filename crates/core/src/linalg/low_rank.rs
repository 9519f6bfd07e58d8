//! Eigenvectors of a large matrix of low rank, without those of the matrix itself.

use super::{dot, eigen};
use crate::{Matrix, Result};

/// Eigenvalues (increasing) and eigenvectors (columns) of a positive semidefinite matrix given by its lower triangle,
/// whose rank is at most `rank`; those of value zero may be left out.
///
/// Cholesky's method with pivots gives `M = L L'` with few columns: for `L'L = Q D Q'` the eigenvectors are
/// `L Q D^-1/2`. Where the rank is not small this would be slower than the eigenvectors of all of M, which are then
/// computed instead.
pub(crate) fn eigen_of_rank(m: &Matrix, rank: usize) -> Result<(Vec<f64>, Matrix)> {
    let d = m.rows();
    if rank > d / 2 {
        return eigen(m);
    }
    let (factor, r) = pivoted_cholesky(m, rank);
    if r == 0 {
        return Ok((vec![], Matrix::zeros(d, 0)));
    }
    let rows = || factor.chunks_exact(rank).map(|row| &row[..r]);
    let mut small = Matrix::zeros(r, r);
    for row in rows() {
        for (i, &value) in row.iter().enumerate() {
            small.row_mut(i)[..=i].iter_mut().zip(row).for_each(|(sum, other)| *sum += value * other);
        }
    }
    let (values, turn) = eigen(&small)?;
    // Rounding is no direction.
    let first = values.iter().position(|value| *value > 0.0).unwrap_or(r);
    let mut vectors = Matrix::zeros(d, r - first);
    for (i, row) in rows().enumerate() {
        for (j, out) in vectors.row_mut(i).iter_mut().enumerate() {
            let sum: f64 = row.iter().enumerate().map(|(k, value)| value * turn[(k, first + j)]).sum();
            *out = sum / values[first + j].sqrt();
        }
    }
    Ok((values[first..].to_vec(), vectors))
}

/// L of at most `rank` columns, row-major, and how many of them there are. Ends where rounding is all that is left.
fn pivoted_cholesky(m: &Matrix, rank: usize) -> (Vec<f64>, usize) {
    let d = m.rows();
    let mut left: Vec<f64> = (0..d).map(|i| m[(i, i)]).collect();
    let largest = left.iter().copied().fold(0.0, f64::max);
    let noise = d as f64 * f64::EPSILON * largest;
    let mut factor = vec![0.0; d * rank];
    for k in 0..rank {
        let at = |best: usize, i: usize| if left[i] > left[best] { i } else { best };
        let pivot = (0..d).fold(0, at);
        if left[pivot] <= noise {
            return (factor, k);
        }
        let root = left[pivot].sqrt();
        let known: Vec<f64> = factor[pivot * rank..pivot * rank + k].to_vec();
        for (i, left) in left.iter_mut().enumerate() {
            let own = &mut factor[i * rank..(i + 1) * rank];
            let value = (m[(i.max(pivot), i.min(pivot))] - dot(&own[..k], &known)) / root;
            own[k] = value;
            *left = if i == pivot { 0.0 } else { (*left - value * value).max(0.0) };
        }
    }
    (factor, rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_directions_are_those_of_the_whole_matrix() {
        let (d, rows) = (12, 3);
        let x: Vec<Vec<f64>> =
            (0..rows).map(|r| (0..d).map(|j| ((r * 7 + j * 5) % 11) as f64 - 4.0).collect()).collect();
        let mut m = Matrix::zeros(d, d);
        for i in 0..d {
            (0..=i).for_each(|j| m[(i, j)] = x.iter().map(|row| row[i] * row[j]).sum());
        }
        let (all, _) = eigen(&m).unwrap();
        for rank in [rows, rows + 2] {
            let (values, vectors) = eigen_of_rank(&m, rank).unwrap();
            assert_eq!((values.len(), vectors.cols()), (rows, rows));
            for (j, value) in values.iter().enumerate() {
                assert!((value - all[d - rows + j]).abs() < 1e-10 * all[d - 1]);
            }
            for i in 0..d {
                for j in 0..=i {
                    let back: f64 = (0..rows).map(|k| vectors[(i, k)] * values[k] * vectors[(j, k)]).sum();
                    assert!((back - m[(i, j)]).abs() < 1e-10 * all[d - 1], "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_directions() {
        let (values, vectors) = eigen_of_rank(&Matrix::zeros(4, 4), 1).unwrap();
        assert_eq!((values.len(), vectors.rows(), vectors.cols()), (0, 4, 0));
        assert!(eigen_of_rank(&Matrix::zeros(4, 4), 0).unwrap().0.is_empty());
    }
}
