//! The problem reduced to statistics, and a point of it.

use super::statistics::{Square, SquaredStatistics, unexplained};
use crate::backend::{Banded, Interrupt, OrthonormalBasis, Spectrum, Subspace};
use crate::dataset::Moments;
use crate::linalg::{self, view};
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::search::curved;
use crate::solver::newton_system::{self, Smooth};
use crate::{Certificate, Matrix, Problem, Result};

/// `min over V of psi(V) = gamma/2 |Y - X W|^2 + <Theta, V'V> - sum phi(V'V) / 2 - const`, `Theta =
/// phi'(V'V)`, `W = V Theta`.
pub(super) struct Reduced<'a> {
    pub(super) data: SquaredStatistics<'a>,
    pub(super) output: &'a SumRegularizer,
    pub(super) threads: usize,
    pub(super) basis: &'a dyn OrthonormalBasis,
    unit: f64,
}

/// A V with what follows from it; psi less what no weights can explain.
pub(super) type VPoint = newton_system::VPoint<()>;

impl Smooth for Reduced<'_> {
    type Side = ();

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn losses(&self, w: &Matrix) -> (f64, ()) {
        (self.data.excess_loss(w), ())
    }
}

impl<'a> Reduced<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        (spectrum, moments): (&'a Spectrum, &'a Moments),
    ) -> Result<Self> {
        Reduced::diagonal(problem, (spectrum, &spectrum.values), moments)
    }

    pub(super) fn banded(
        problem: &'a Problem<'a>,
        (banded, moments): (&'a Banded, &'a Moments),
    ) -> Result<Self> {
        Reduced::of(problem, (banded, Square::Banded(&banded.band)), moments, 0.0)
    }

    /// The same for functions of a subspace. What it says of gaps holds within the subspace only.
    pub(super) fn in_subspace(
        problem: &'a Problem<'a>,
        (subspace, moments): (&'a Subspace, &'a Moments),
    ) -> Result<Self> {
        Reduced::diagonal(problem, (subspace, &subspace.values), moments)
    }

    fn diagonal(
        problem: &'a Problem<'a>,
        (basis, values): (&'a dyn OrthonormalBasis, &'a [f64]),
        moments: &'a Moments,
    ) -> Result<Self> {
        let floor = unexplained(values, &moments.moment, moments.label_square);
        Reduced::of(problem, (basis, Square::Diagonal(values)), moments, floor)
    }

    fn of(
        problem: &'a Problem<'a>,
        (basis, square): (&'a dyn OrthonormalBasis, Square<'a>),
        Moments { moment, label_square }: &'a Moments,
        floor: f64,
    ) -> Result<Self> {
        let (label_square, gamma) = (*label_square, problem.gamma(0));
        let data = SquaredStatistics { square, moment, label_square, floor, gamma };
        let (output, threads) = (problem.entrywise()?, problem.data().threads());
        Ok(Reduced { data, output, threads, basis, unit: problem.unit() })
    }

    /// Eigenvalues of X'X.
    pub(super) fn values(&self) -> &'a [f64] {
        match self.data.square {
            Square::Diagonal(values) => values,
            Square::Banded(_) => unreachable!("alternation, the only user of a band, needs no eigenvalues"),
        }
    }

    /// `(I + gamma s_j X'X)^-1 x_j` in place of every column j.
    pub(super) fn solve_shifted(&self, s: &[f64], x: &mut Matrix) {
        let rates: Vec<f64> = s.iter().map(|s| self.data.gamma * s).collect();
        match self.data.square {
            Square::Banded(band) => band.solve_shifted(&rates, x, self.threads),
            Square::Diagonal(values) => {
                for (j, &l) in values.iter().enumerate() {
                    x.row_mut(j).iter_mut().zip(&rates).for_each(|(x, rate)| *x /= 1.0 + l * rate);
                }
            }
        }
    }

    pub(super) fn times(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a), view(b), self.threads)
    }

    /// `a' b`.
    pub(super) fn cross(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a).transpose(), view(b), self.threads)
    }

    pub(super) fn point(&self, v: Matrix) -> VPoint {
        VPoint::at(self, v)
    }

    /// The same problem with the tasks rotated so that X'Y is `moment`. Only for regularisers whose value a
    /// rotation does not change.
    pub(super) fn turned<'b>(&self, moment: &'b Matrix) -> Reduced<'b>
    where
        'a: 'b,
    {
        let SquaredStatistics { square, label_square, floor, gamma, .. } = self.data;
        let data = SquaredStatistics { square, moment, label_square, floor, gamma };
        Reduced { data, output: self.output, threads: self.threads, basis: self.basis, unit: self.unit }
    }

    /// W of V.
    pub(super) fn weights(&self, v: &Matrix) -> Matrix {
        self.times(v, &self.output.theta(&linalg::gram(v, self.threads)))
    }

    /// The objective of weights whose regulariser is `price`, in the problem's units.
    pub(super) fn objective(&self, w: &Matrix, price: f64) -> f64 {
        self.unit * (self.data.loss(w) + price)
    }

    /// V and the duals of its W.
    pub(super) fn certify(&self, v: &Matrix) -> Certificate {
        self.data.certify_point(self.output, v, self.threads).in_units(self.unit)
    }

    /// The duals of W and the point they induce: worse, but needs no V beside the duals.
    pub(super) fn certify_induced(&self, w: &Matrix) -> Certificate {
        self.data.certify(self.output, w, self.threads).in_units(self.unit)
    }

    /// The V of given duals.
    pub(super) fn rotated_state(&self, problem: &Problem<'_>, kappa: &[f64]) -> Result<Matrix> {
        let duals = (problem.observations(), kappa);
        self.basis.rotated(problem.data().backend(), duals, self.threads, &mut Interrupt::never())
    }

    /// V for the best Theta that is diagonal, i.e. independent tasks: `V_r = gamma b_r / (1 + gamma l s_r)`
    /// with `s_r = phi'(|V_r|^2)`, where both sides meet since the right one falls with s_r. Returns the s_r
    /// too.
    pub(super) fn cold_start(&self) -> (Matrix, Vec<f64>) {
        let (t, gamma) = (self.data.moment.cols(), self.data.gamma);
        let (mut low, mut high) = (vec![-300.0f64; t], vec![300.0f64; t]);
        let (mut s, mut squares) = (vec![0.0; t], vec![0.0; t]);
        for _ in 0..22 {
            for r in 0..t {
                (s[r], squares[r]) = ((0.5 * (low[r] + high[r])).exp(), 0.0);
            }
            for (j, &l) in self.values().iter().enumerate() {
                let rate = gamma * l;
                for ((sum, b), s) in squares.iter_mut().zip(self.data.moment.row(j)).zip(&s) {
                    let v = gamma * b / (1.0 + rate * s);
                    *sum += v * v;
                }
            }
            for r in 0..t {
                let slope = self.output.diagonal(r, squares[r]);
                if slope.is_nan() || slope > s[r] { low[r] = s[r].ln() } else { high[r] = s[r].ln() }
            }
        }
        let mut v = self.data.moment.clone();
        for (j, &l) in self.values().iter().enumerate() {
            v.row_mut(j).iter_mut().zip(&s).for_each(|(x, s)| *x *= gamma / (1.0 + gamma * l * s));
        }
        (v, s)
    }

    /// The cold start of independent tasks, `own` their scales, adjusted for related tasks, which increase
    /// each other's weights: columns of V are rescaled so that those of W keep their lengths, and the common
    /// part of all tasks gets the share that makes psi smallest. `None` if that is no better.
    pub(super) fn in_company(&self, alone: &VPoint, own: &[f64]) -> Option<VPoint> {
        let mut w = alone.v.clone();
        for j in 0..w.rows() {
            w.row_mut(j).iter_mut().zip(own).for_each(|(x, s)| *x *= s);
        }
        let still = Matrix::zeros(w.rows(), w.cols());
        let mut best: Option<VPoint> = None;
        for doubled in 0..20 {
            let v = self.with_common_part(own, f64::from(1 << doubled));
            let point = self.point(curved(self.output, [&w, &still], 0.0, &v, self.threads)?);
            match &best {
                Some(best) if best.psi <= point.psi => break,
                _ => best = Some(point),
            }
        }
        best.filter(|best| best.psi < alone.psi)
    }

    /// V for `Theta = diag(own)`, but for the mean of the tasks, for which it is `1 + share` times as large.
    fn with_common_part(&self, own: &[f64], share: f64) -> Matrix {
        let (t, gamma) = (own.len() as f64, self.data.gamma);
        let of_mean = (1.0 + share) * (own.iter().map(|s| s.ln()).sum::<f64>() / t).exp();
        let mut v = self.data.moment.clone();
        for (j, &l) in self.values().iter().enumerate() {
            let (row, rate) = (v.row_mut(j), gamma * l);
            let mean = row.iter().sum::<f64>() / t;
            let common = gamma * mean / (1.0 + rate * of_mean);
            row.iter_mut().zip(own).for_each(|(x, s)| *x = gamma * (*x - mean) / (1.0 + rate * s) + common);
        }
        v
    }
}
