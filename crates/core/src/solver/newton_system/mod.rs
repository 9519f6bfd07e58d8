//! The problem as a smooth one in V, and Newton's method for it.
//!
//! With `W = V Theta`, `Theta = phi'(V'V)` (nothing is ever divided by Theta) the objective is `psi(V) =
//! losses(X W) + <Theta, V'V> - sum phi(V'V) / 2`, and the derivative of W is `B[U] = U Theta + V (phi''(V'V)
//! o (U'V + V'U))`. Each atom S adds `w phi'(<S, V'V>) S` to Theta and `V w phi''(<S, V'V>) <S, U'V + V'U> S` to
//! B[U]. `kappa` are the duals `-gamma L'(F)` at the predictions F, and D the curvatures of the losses. psi is
//! least where `r = V - X'kappa` is zero, and Newton's step solves `(I + S B) dV = -r`, where
//! `S[U] = X'(D o X U)`. V stays in the span of the inputs, so all of this is the same for every kernel.

pub(super) mod blocks;
pub(super) mod direct;
pub(super) mod gmres;
pub(super) mod kronecker;
pub(super) mod linear;
pub(super) mod search;

use crate::Matrix;
use crate::algebra::{Algebra, Host};
use crate::design::Curvature;
use crate::linalg::{self, inner};
use crate::regularizer::{Atom, SumRegularizer};
use kronecker::TaskCurvature;
use std::sync::atomic::{AtomicU64, Ordering};

/// Products with second derivatives, and evaluations of losses, by all solvers of this process.
static WORK: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn count(which: usize) {
    WORK[which].fetch_add(1, Ordering::Relaxed);
}

/// How many products with second derivatives, and how many evaluations of losses, Newton's method took in this process:
/// for benchmarks.
#[doc(hidden)]
pub fn newton_work_so_far() -> [u64; 2] {
    [WORK[0].load(Ordering::Relaxed), WORK[1].load(Ordering::Relaxed)]
}

/// Losses as a function of the weights W, and the regulariser.
pub(super) trait Smooth: Sync {
    /// What evaluating the losses computes in addition to their value.
    type Side;
    /// Where V and W lie.
    type Algebra: Algebra + Copy;

    fn output(&self) -> &SumRegularizer;

    fn algebra(&self) -> Self::Algebra;

    /// Sum of the losses at weights W, and the rest of the evaluation.
    fn losses(&self, w: &MatOf<Self>) -> (f64, Self::Side);
}

/// The type of a large matrix.
pub(super) type MatIn<A> = <A as Algebra>::Mat;

/// The type of V and W.
pub(super) type MatOf<P> = <<P as Smooth>::Algebra as Algebra>::Mat;

/// A point of a problem.
pub(super) type PointOf<P> = VPoint<<P as Smooth>::Side, MatOf<P>>;

/// A V with what follows from it.
#[derive(Debug, Clone)]
pub(super) struct VPoint<S, M = Matrix> {
    pub(super) v: M,
    pub(super) gram: Matrix,
    pub(super) theta: Matrix,
    pub(super) w: M,
    pub(super) psi: f64,
    pub(super) side: S,
}

impl<S, M> VPoint<S, M> {
    pub(super) fn at<P>(model: &P, v: M) -> Self
    where
        P: Smooth<Side = S>,
        P::Algebra: Algebra<Mat = M>,
    {
        let algebra = model.algebra();
        let gram = algebra.gram(&v);
        let theta = model.output().theta(&gram);
        let w = algebra.times_small(&v, &theta);
        count(1);
        let (losses, side) = model.losses(&w);
        let psi = losses + inner(&theta, &gram) - 0.5 * model.output().value(&gram);
        VPoint { v, gram, theta, w, psi: if psi.is_nan() { f64::INFINITY } else { psi }, side }
    }

    pub(super) fn derivative<'a, A: Algebra<Mat = M>>(
        &'a self,
        output: &'a SumRegularizer,
        algebra: A,
    ) -> Derivative<'a, A> {
        Derivative::new(output, (&self.v, &self.gram, &self.theta), algebra)
    }
}

/// `B`, the derivative of W.
#[derive(Debug)]
pub(super) struct Derivative<'a, A: Algebra = Host> {
    pub(super) v: &'a A::Mat,
    pub(super) theta: &'a Matrix,
    /// Theta and phi''(V'V) where V is.
    theta_there: A::Mat,
    second_there: A::Mat,
    /// phi''(V'V).
    pub(super) second: Matrix,
    /// Atoms with the curvatures w phi''(<S, V'V>).
    pub(super) atoms: Vec<(&'a Atom, f64)>,
    pub(super) algebra: A,
}

impl<'a, A: Algebra> Derivative<'a, A> {
    /// From V, V'V and Theta.
    pub(super) fn new(
        output: &'a SumRegularizer,
        (v, gram, theta): (&'a A::Mat, &Matrix, &'a Matrix),
        algebra: A,
    ) -> Self {
        let second = output.entries().curvatures(gram);
        let atoms = output.atoms().iter().zip(output.atom_curvatures(gram)).collect();
        let (theta_there, second_there) = (algebra.put(theta), algebra.put(&second));
        Derivative { v, theta, theta_there, second_there, second, atoms, algebra }
    }

    /// B[U].
    pub(super) fn apply(&self, u: &A::Mat) -> A::Mat {
        let algebra = &self.algebra;
        if self.atoms.is_empty()
            && let Some(mixed) = algebra.mixed(u, self.v, &self.second_there)
        {
            let mut out = algebra.times(u, &self.theta_there);
            algebra.add_scaled(&mut out, 1.0, &algebra.times(self.v, &mixed));
            return out;
        }
        let mut mixed = algebra.cross(u, self.v);
        self.mix(&mut mixed);
        let mut out = algebra.times(u, &self.theta_there);
        algebra.add_times_small(&mut out, self.v, &mixed);
        out
    }

    /// `phi'' o (m + m')`, and for each atom `w phi'' <S, m + m'> S`, in place.
    pub(super) fn mix(&self, m: &mut Matrix) {
        let changes: Vec<f64> =
            self.atoms.iter().map(|(atom, second)| 2.0 * second * atom.inner(m)).collect();
        let of_row = |r: usize| {
            let entry = |s: usize| match s == r {
                true => m[(r, r)] * (2.0 * self.second[(r, r)]),
                false => (m[(r, s)] + m[(s, r)]) * self.second[(r, s)],
            };
            (0..m.cols()).map(entry).collect::<Vec<f64>>()
        };
        for (r, row) in linalg::map_rows(m.rows(), of_row).iter().enumerate() {
            m.row_mut(r).copy_from_slice(row);
        }
        for ((atom, _), change) in self.atoms.iter().zip(changes) {
            atom.add_to(change, m);
        }
    }
}

impl<A: Algebra> Derivative<'_, A> {
    /// `(I + S B)[U]`.
    fn newton<C: TaskCurvature<Algebra = A>>(&self, curvature: &C, u: &A::Mat) -> A::Mat {
        let mut sum = curvature.apply(&self.apply(u));
        self.algebra.add_scaled(&mut sum, 1.0, u);
        sum
    }

    pub(super) fn threads(&self) -> usize {
        self.algebra.threads()
    }
}

impl TaskCurvature for Curvature<'_> {
    type Algebra = Host;

    fn apply(&self, u: &Matrix) -> Matrix {
        Curvature::apply(self, u)
    }

    fn shape(&self) -> (Vec<f64>, Vec<f64>) {
        Curvature::shape(self)
    }
}

/// A step dV with the change dW of W and the slope of psi along it.
#[derive(Debug)]
pub(super) struct NewtonStep<M = Matrix> {
    pub(super) dv: M,
    pub(super) dw: M,
    pub(super) slope: f64,
}

impl<M> NewtonStep<M> {
    /// The step dV, if psi falls along it.
    pub(super) fn down<A: Algebra<Mat = M>>(
        derivative: &Derivative<'_, A>,
        residual: &M,
        dv: M,
    ) -> Option<NewtonStep<M>> {
        let dw = derivative.apply(&dv);
        let slope = derivative.algebra.inner(residual, &dw);
        (slope < 0.0).then_some(NewtonStep { dv, dw, slope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Interrupt;
    use crate::inputs::{Dense, Inputs};
    use crate::linalg::gram;
    use crate::regularizer::{AtomKind, AtomSpec, RegularizerKind};
    use crate::{Dataset, DatasetOptions, Observations};

    /// Pseudo-random numbers.
    fn numbers(n: usize, mut seed: u64) -> Vec<f64> {
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    /// All three ways to solve a Newton system, for a table and for own rows, with all or few curvatures.
    #[test]
    fn newton_systems_are_solved() {
        let (m, d, t) = (30, 6, 3);
        let x = numbers(m * d, 1);
        let inputs = Inputs::from(Dense::f64(&x, m, d).unwrap());
        let own: Vec<u32> = (0..m as u32).map(|i| i % t as u32).collect();
        for obs in [
            Observations::multi_output(&numbers(m * t, 2), m, t).unwrap(),
            Observations::multi_task(&own, numbers(m, 3)).unwrap(),
        ] {
            let data = Dataset::new(&inputs, &obs, DatasetOptions::default()).unwrap();
            let design = data.design(false, &mut Interrupt::never()).unwrap().1;
            let plain =
                [(1.0, None), (0.15, None), (1.0, Some(0.0)), (0.15, Some(3.0))].map(|case| (case, 0.0));
            for ((share, rho), weight) in
                plain.into_iter().chain([((1.0, None), 3.0), ((0.15, Some(0.0)), 3.0)])
            {
                let free = |z: f64| if z.abs() <= share { 1.0 + z } else { 0.0 };
                let curvatures = numbers(design.len(), 4).into_iter().map(free).collect();
                let rho: Option<Vec<f64>> = rho.map(|rho| vec![rho; t]);
                let curvature = Curvature::new(design, curvatures, rho.as_deref(), 1);
                let v = Matrix::from_vec(numbers(design.rank() * t, 5), design.rank(), t).unwrap();
                let atoms =
                    [("common", AtomKind::Common), ("two", AtomKind::Groups { groups: vec![0, 1, 0] })]
                        .map(|(name, kind)| AtomSpec::new(name, weight, kind));
                let output = RegularizerKind::Power { k: 2 }.build_with_atoms(&atoms, t).unwrap();
                let (output, gram) = (output.entrywise().unwrap(), gram(&v, 1));
                let theta = output.theta(&gram);
                let derivative = Derivative::new(output, (&v, &gram, &theta), Host { threads: 1 });
                let w = Matrix::from_vec(numbers(design.rank() * t, 6), design.rank(), t).unwrap();
                let never = &mut || false;
                let blocks = blocks::Blocks::new(design, &curvature, &derivative, 16.0).unwrap();
                let kronecker = kronecker::Kronecker::new(&curvature, &derivative).unwrap();
                // Products in single precision end where their rounding begins.
                for (x, precision) in [
                    (direct::Direct::new(design, &curvature, &derivative).unwrap().solve(&w), 1e-5),
                    (gmres::solve(&blocks, &w, 1e-7, 60, never).unwrap().0, 1e-4),
                    (gmres::solve(&kronecker, &w, 1e-7, 60, never).unwrap().0, 1e-4),
                ] {
                    let back = derivative.newton(&curvature, &x);
                    let size = back.as_slice().iter().fold(1.0f64, |m, x| m.max(x.abs()));
                    for (got, want) in back.as_slice().iter().zip(w.as_slice()) {
                        assert!((got - want).abs() <= precision * size, "{got} instead of {want}");
                    }
                }
            }
        }
    }
}
