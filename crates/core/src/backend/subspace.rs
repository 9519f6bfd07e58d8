//! Some of the functions in the span of the inputs of a kernel, in orthonormal coordinates.

use super::{Backend, OrthonormalBasis};
use crate::linalg::{self, view};
use crate::{Matrix, Result};

/// Functions with the coefficients `P v`: `P'K P = I` and `P'K^2 P = diag(l)`. If intercepts are free, columns of P add
/// up to zero, and images are less their means.
#[derive(Debug)]
pub(crate) struct Subspace {
    /// l.
    pub(crate) values: Vec<f64>,
    /// P.
    frame: Matrix,
    /// `K P`.
    image: Matrix,
}

/// Directions whose functions are shorter than this, relative to the longest one squared, are rounding errors.
const NOISE: f64 = 1e-12;

impl Subspace {
    /// The functions in the span of orthonormal directions, with the images `K directions`.
    pub(crate) fn of((directions, images): (&Matrix, &Matrix), threads: usize) -> Result<Self> {
        let cross = |a: &Matrix, b: &Matrix| linalg::times(view(a).transpose(), view(b), threads);
        let mut inner = cross(directions, images);
        linalg::symmetrise(&mut inner);
        let whiten = linalg::whitening(&inner, NOISE)?;
        let mut outer =
            cross(&whiten, &linalg::times(view(&linalg::gram(images, threads)), view(&whiten), threads));
        linalg::symmetrise(&mut outer);
        let (values, turn) = linalg::eigen(&outer)?;
        let mix = linalg::times(view(&whiten), view(&turn), threads);
        Ok(Subspace {
            values: values.iter().map(|l| l.max(0.0)).collect(),
            frame: linalg::times(view(directions), view(&mix), threads),
            image: linalg::times(view(images), view(&mix), threads),
        })
    }

    /// `K P v`.
    pub(crate) fn images(&self, v: &Matrix, threads: usize) -> Matrix {
        linalg::times(view(&self.image), view(v), threads)
    }
}

impl OrthonormalBasis for Subspace {
    fn coordinates(&self, _backend: &dyn Backend, v: &Matrix, threads: usize) -> Matrix {
        linalg::times(view(&self.frame), view(v), threads)
    }

    fn projects_state(&self) -> bool {
        false
    }

    fn project_state(&self, state: Matrix, threads: usize) -> Matrix {
        linalg::times(view(&self.frame).transpose(), view(&state), threads)
    }

    fn project_coefficients(&self, z: Matrix, threads: usize) -> Matrix {
        linalg::times(view(&self.image).transpose(), view(&z), threads)
    }
}
