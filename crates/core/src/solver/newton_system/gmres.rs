//! GMRES, right-preconditioned, on matrices as vectors, in the energy norm of the preconditioned system.
//!
//! For `A = I + S B` with a preconditioner P near A, the natural size of a residual r is `<r, Theta P^-1 r>`:
//! what the Newton model still has to gain. `P^-1 r` is needed anyway, so the norm is free. Truncated
//! solutions are good directions in this norm; in the plain one they are not.

use crate::algebra::Algebra;
use crate::linalg::dot;

/// A linear operator with a preconditioner.
pub(in crate::solver) trait Operator {
    /// Where vectors lie.
    type Algebra: Algebra;
    fn algebra(&self) -> &Self::Algebra;
    /// `P^-1 v`.
    fn precondition(&self, v: &Vector<Self>) -> Vector<Self>;
    /// `v Theta`, or what stands for it in the norm: positive where Theta is singular.
    fn weigh(&self, v: &Vector<Self>) -> Vector<Self>;
    /// `A z`.
    fn apply(&self, z: &Vector<Self>) -> Vector<Self>;
}

/// A matrix as a vector.
type Vector<O> = <<O as Operator>::Algebra as Algebra>::Mat;

const MIN_STEPS: usize = 2;
/// A vector that keeps less than this share of its squared length is made orthogonal once more.
const CANCELLED: f64 = 1e-2;

/// x with `|A x - r| <= tolerance |r|`, or the best in a Krylov space of `limit` dimensions, and the number
/// of its dimensions; `None` if numbers overflow, or as soon as `stop()` is true.
pub(in crate::solver) fn solve<O: Operator>(
    operator: &O,
    r: &Vector<O>,
    tolerance: f64,
    limit: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(Vector<O>, usize)> {
    let algebra = operator.algebra();
    let (mut basis, mut images) = (vec![], vec![]);
    let (first, image, size) = normalised(operator, r.clone());
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    basis.push(first);
    images.push(image);
    // Columns of the triangular factor, the rotations that made it, and the rotated right-hand side.
    let (mut columns, mut rotations, mut rhs) = (vec![], vec![], vec![size]);
    for step in 0..limit {
        if stop() {
            return None;
        }
        let mut column = vec![0.0; step + 2];
        super::count(0);
        let mut next = operator.apply(&images[step]);
        orthogonalise(operator, &mut next, &basis, &images, &mut column);
        let taken = dot(&column, &column);
        let (mut vector, mut image, mut length) = normalised(operator, next);
        if length * length < CANCELLED * taken {
            // Only a small part is left, and it may be mostly rounding errors.
            algebra.scale(&mut vector, length);
            orthogonalise(operator, &mut vector, &basis, &images, &mut column);
            (vector, image, length) = normalised(operator, vector);
        }
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
        basis.push(vector);
        images.push(image);
    }
    let n = columns.len();
    let mut y = vec![0.0; n];
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| columns[j][i] * y[j]).sum();
        y[i] = (rhs[i] - sum) / columns[i][i];
    }
    let mut x = images[0].clone();
    algebra.scale(&mut x, y.first().copied().unwrap_or(0.0));
    let others = 1.min(n)..n;
    algebra.add_multiples(&mut x, 1.0, &y[others.clone()], &images[others]);
    Some((x, n))
}

/// The vector scaled to length one, its preconditioned image, and its former length.
fn normalised<O: Operator>(operator: &O, mut v: Vector<O>) -> (Vector<O>, Vector<O>, f64) {
    let algebra = operator.algebra();
    let mut z = operator.precondition(&v);
    let length = algebra.inner(&operator.weigh(&v), &z).max(0.0).sqrt();
    if length > 0.0 {
        algebra.scale(&mut v, 1.0 / length);
        algebra.scale(&mut z, 1.0 / length);
    }
    (v, z, length)
}

/// Takes the directions of the basis out of a vector, and adds what was taken to `column`.
fn orthogonalise<O: Operator>(
    operator: &O,
    v: &mut Vector<O>,
    basis: &[Vector<O>],
    images: &[Vector<O>],
    column: &mut [f64],
) {
    let algebra = operator.algebra();
    let shares = algebra.inner_products(images, &operator.weigh(v));
    algebra.add_multiples(v, -1.0, &shares, basis);
    column.iter_mut().zip(&shares).for_each(|(entry, share)| *entry += share);
}

fn rotate(c: f64, s: f64, a: f64, b: f64) -> (f64, f64) {
    (c * a + s * b, c * b - s * a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::algebra::Host;

    struct Diagonal(Vec<f64>);

    impl Operator for Diagonal {
        type Algebra = Host;
        fn algebra(&self) -> &Host {
            &Host { threads: 1 }
        }
        fn precondition(&self, v: &Matrix) -> Matrix {
            v.clone()
        }
        fn weigh(&self, v: &Matrix) -> Matrix {
            let mut out = v.clone();
            out.scale(3.0);
            out
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
        let (x, steps) = solve(&operator, &r, 1e-12, 10, &mut || false).unwrap();
        assert_eq!(steps, 4);
        for (x, want) in x.as_slice().iter().zip([1.0, 0.5, 0.2, -0.3]) {
            assert!((x - want).abs() < 1e-12);
        }
    }
}
