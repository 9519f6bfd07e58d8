//! Directions that span a subspace of coefficients, and their images.

use crate::linalg::{self, view};
use crate::{Matrix, Result};

/// Directions, inputs x dimensions, and their images `K directions`.
pub(super) struct Span {
    pub(super) directions: Matrix,
    pub(super) images: Matrix,
}

/// Columns that depend on the others up to this square are left out.
const DEPENDENT: f64 = 1e-10;

impl Span {
    pub(super) fn dimension(&self) -> usize {
        self.directions.cols()
    }

    /// The same span, with orthonormal directions.
    pub(super) fn orthonormal(mut self, threads: usize) -> Result<Span> {
        self.normalise();
        let whiten = linalg::whitening(&linalg::gram(&self.directions, threads), DEPENDENT)?;
        let of = |m: &Matrix| linalg::times(view(m), view(&whiten), threads);
        Ok(Span { directions: of(&self.directions), images: of(&self.images) })
    }

    /// Adds what is orthogonal to these directions, which are orthonormal.
    pub(super) fn extend(&mut self, mut other: Span, threads: usize) -> Result<()> {
        other.normalise();
        // The second time removes what rounding errors left.
        for _ in 0..2 {
            let mut shares =
                linalg::times(view(&self.directions).transpose(), view(&other.directions), threads);
            shares.scale(-1.0);
            for (to, from) in [(&mut other.directions, &self.directions), (&mut other.images, &self.images)] {
                linalg::add_product(linalg::view_mut(to), view(from), view(&shares), threads);
            }
        }
        let added = other.orthonormal(threads)?;
        self.directions = beside(&self.directions, &added.directions);
        self.images = beside(&self.images, &added.images);
        Ok(())
    }

    /// Divides each direction and its image by the length of the direction.
    fn normalise(&mut self) {
        let mut squares = vec![0.0; self.dimension()];
        for i in 0..self.directions.rows() {
            squares.iter_mut().zip(self.directions.row(i)).for_each(|(sum, x)| *sum += x * x);
        }
        let scales: Vec<f64> = squares.iter().map(|s| if *s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect();
        for m in [&mut self.directions, &mut self.images] {
            for i in 0..m.rows() {
                m.row_mut(i).iter_mut().zip(&scales).for_each(|(x, scale)| *x *= scale);
            }
        }
    }
}

/// Two matrices side by side.
fn beside(left: &Matrix, right: &Matrix) -> Matrix {
    let mut both = Matrix::zeros(left.rows(), left.cols() + right.cols());
    for i in 0..left.rows() {
        let (first, second) = both.row_mut(i).split_at_mut(left.cols());
        first.copy_from_slice(left.row(i));
        second.copy_from_slice(right.row(i));
    }
    both
}
