//! GMRES, right-preconditioned, on matrices as vectors.

use crate::Matrix;
use crate::linalg::{axpy, dot};

/// A linear operator with a preconditioner, in the coordinates whose norm is to be made small.
pub(in crate::solver) trait Operator {
    /// A right-hand side in those coordinates.
    fn enter(&self, r: &Matrix) -> Matrix;
    /// The preconditioned vector.
    fn precondition(&self, x: &Matrix) -> Matrix;
    /// The operator on a preconditioned vector; the result in the coordinates of [`enter`](Self::enter).
    fn apply(&self, z: &Matrix) -> Matrix;
    /// A preconditioned vector back in the original space.
    fn leave(&self, z: Matrix) -> Matrix;
}

const MIN_STEPS: usize = 2;

/// x with `|operator x - r| <= tolerance |r|`, or the best in a Krylov space of `limit` dimensions, and the number of its
/// dimensions; `None` if numbers ran out, or as soon as `stop()`.
pub(in crate::solver) fn solve(
    operator: &impl Operator,
    r: &Matrix,
    tolerance: f64,
    limit: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(Matrix, usize)> {
    let mut first = operator.enter(r);
    let size = norm(&first);
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    scale(&mut first, 1.0 / size);
    let mut basis = vec![first];
    // Columns of the triangular factor, the rotations that made it, and the rotated right-hand side.
    let (mut columns, mut rotations, mut rhs) = (vec![], vec![], vec![size]);
    for step in 0..limit {
        if stop() {
            return None;
        }
        let mut next = operator.apply(&operator.precondition(&basis[step]));
        let mut column = vec![0.0; step + 2];
        let before = norm(&next);
        orthogonalise(&mut next, &basis, &mut column);
        // Twice is enough, and once unless nearly everything was taken away.
        if norm(&next) < 0.1 * before {
            orthogonalise(&mut next, &basis, &mut column);
        }
        let length = norm(&next);
        column[step + 1] = length;
        if !length.is_finite() {
            return None;
        }
        for (i, &(c, s)) in rotations.iter().enumerate() {
            (column[i], column[i + 1]) = rotate(c, s, column[i], column[i + 1]);
        }
        let hypot = column[step].hypot(length);
        if hypot == 0.0 {
            break;
        }
        let (c, s) = (column[step] / hypot, length / hypot);
        column[step] = hypot;
        rotations.push((c, s));
        let (top, rest) = rotate(c, s, rhs[step], 0.0);
        rhs[step] = top;
        rhs.push(rest);
        columns.push(column);
        if (rest.abs() <= tolerance * size && step + 1 >= MIN_STEPS) || length <= 1e-14 * hypot {
            break;
        }
        scale(&mut next, 1.0 / length);
        basis.push(next);
    }
    let n = columns.len();
    let mut y = vec![0.0; n];
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| columns[j][i] * y[j]).sum();
        y[i] = (rhs[i] - sum) / columns[i][i];
    }
    let mut x = Matrix::zeros(basis[0].rows(), basis[0].cols());
    for (y, q) in y.iter().zip(&basis) {
        axpy(x.as_mut_slice(), *y, q.as_slice());
    }
    Some((operator.leave(operator.precondition(&x)), n))
}

/// Takes the directions of the basis out of a vector and adds what was taken to `column`.
fn orthogonalise(v: &mut Matrix, basis: &[Matrix], column: &mut [f64]) {
    for (entry, q) in column.iter_mut().zip(basis) {
        let share = dot(q.as_slice(), v.as_slice());
        *entry += share;
        axpy(v.as_mut_slice(), -share, q.as_slice());
    }
}

fn rotate(c: f64, s: f64, a: f64, b: f64) -> (f64, f64) {
    (c * a + s * b, c * b - s * a)
}

fn norm(m: &Matrix) -> f64 {
    dot(m.as_slice(), m.as_slice()).sqrt()
}

fn scale(m: &mut Matrix, factor: f64) {
    m.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Diagonal(Vec<f64>);

    impl Operator for Diagonal {
        fn enter(&self, r: &Matrix) -> Matrix {
            r.clone()
        }
        fn precondition(&self, x: &Matrix) -> Matrix {
            x.clone()
        }
        fn leave(&self, z: Matrix) -> Matrix {
            z
        }
        fn apply(&self, z: &Matrix) -> Matrix {
            let product = self.0.iter().zip(z.as_slice()).map(|(a, b)| a * b).collect();
            Matrix::from_vec(product, z.rows(), z.cols()).unwrap()
        }
    }

    #[test]
    fn a_diagonal_system_is_solved() {
        let operator = Diagonal(vec![1.0, 2.0, 5.0, 10.0]);
        let r = Matrix::from_vec(vec![1.0, 1.0, 1.0, -3.0], 2, 2).unwrap();
        let x = solve(&operator, &r, 1e-12, 10, &mut || false).unwrap().0;
        for (x, want) in x.as_slice().iter().zip([1.0, 0.5, 0.2, -0.3]) {
            assert!((x - want).abs() < 1e-12);
        }
    }
}
