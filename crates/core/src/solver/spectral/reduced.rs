//! The problem reduced to statistics, and a point of it.

use super::square::{Aim, Square};
use super::statistics::{SquaredStatistics, unexplained};
use crate::algebra::{Algebra, Host};
use crate::dataset::Moments;
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::search::curved;
use crate::solver::newton_system::{self, Smooth};
use crate::{Certificate, Matrix, Problem, Result};

/// `min over V of psi(V) = gamma/2 |Y - X W|^2 + <Theta, V'V> - sum phi(V'V) / 2 - const`, `Theta =
/// phi'(V'V)`, `W = V Theta`.
pub(super) struct Reduced<'a, A: Algebra = Host> {
    pub(super) data: SquaredStatistics<'a, A>,
    pub(super) output: &'a SumRegularizer,
    unit: f64,
}

/// A V with what follows from it; psi less what no weights can explain.
pub(super) type VPoint<M = Matrix> = newton_system::VPoint<(), M>;

impl<A: Algebra + Copy> Smooth for Reduced<'_, A> {
    type Side = ();
    type Algebra = A;

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn algebra(&self) -> A {
        self.data.algebra
    }

    fn losses(&self, w: &A::Mat) -> (f64, ()) {
        (self.data.excess_loss(w, &self.image(w)), ())
    }
}

impl<'a> Reduced<'a> {
    /// In memory, in a basis where X'X is `square`.
    pub(super) fn in_memory(
        problem: &'a Problem<'a>,
        square: &'a dyn Square<Host>,
        Moments { moment, label_square }: &'a Moments,
    ) -> Result<Self> {
        let algebra = Host { threads: problem.data().threads() };
        Reduced::new(problem, square, (moment, *label_square), algebra)
    }
}

impl<'a, A: Algebra + Copy> Reduced<'a, A> {
    /// From X'X, X'Y and |Y|^2.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        square: &'a dyn Square<A>,
        (moment, label_square): (&'a A::Mat, f64),
        algebra: A,
    ) -> Result<Self> {
        let floor = match square.values() {
            Some(values) => unexplained(values, moment, label_square, &algebra),
            None => 0.0,
        };
        let data =
            SquaredStatistics { square, moment, label_square, floor, gamma: problem.gamma(0), algebra };
        Ok(Reduced { data, output: problem.entrywise()?, unit: problem.unit() })
    }

    /// Eigenvalues of X'X.
    pub(super) fn values(&self) -> &'a [f64] {
        self.data.square.values().expect("alternation, the only user of other forms, needs no eigenvalues")
    }

    pub(super) fn n_tasks(&self) -> usize {
        self.data.algebra.shape(self.data.moment).1
    }

    /// `gamma s`.
    pub(super) fn rates(&self, s: &[f64]) -> Vec<f64> {
        s.iter().map(|s| self.data.gamma * s).collect()
    }

    /// `(I + gamma s_j X'X)^-1 x_j` in place of every column j.
    pub(super) fn solve_shifted(&self, s: &[f64], x: &mut A::Mat, aim: Aim<'_, A>) {
        self.data.square.solve_shifted(&self.data.algebra, &self.rates(s), x, aim);
    }

    /// `X'X w`.
    pub(super) fn image(&self, w: &A::Mat) -> A::Mat {
        self.data.square.times(&self.data.algebra, w)
    }

    pub(super) fn point(&self, v: A::Mat) -> VPoint<A::Mat> {
        VPoint::at(self, v)
    }

    /// The same problem with the tasks rotated so that X'Y is `moment`. Only for regularisers whose value a
    /// rotation does not change.
    pub(super) fn turned<'b>(&self, moment: &'b A::Mat) -> Reduced<'b, A>
    where
        'a: 'b,
    {
        let SquaredStatistics { square, label_square, floor, gamma, algebra, .. } = self.data;
        let data = SquaredStatistics { square, moment, label_square, floor, gamma, algebra };
        Reduced { data, output: self.output, unit: self.unit }
    }

    /// W of V.
    pub(super) fn weights(&self, v: &A::Mat) -> A::Mat {
        let algebra = &self.data.algebra;
        algebra.times_small(v, &self.output.theta(&algebra.gram(v)))
    }

    /// The objective of weights whose regulariser is `price`, in the problem's units.
    pub(super) fn objective(&self, w: &A::Mat, price: f64) -> f64 {
        self.unit * (self.data.loss(w, &self.image(w)) + price)
    }

    /// V and the duals of its W.
    pub(super) fn certify(&self, v: &A::Mat) -> Certificate {
        self.data.certify_point(self.output, v).in_units(self.unit)
    }

    /// The duals of W and the point they induce: worse, but needs no V beside the duals.
    pub(super) fn certify_induced(&self, w: &A::Mat) -> Certificate {
        self.data.certify(self.output, w).in_units(self.unit)
    }

    /// V for the best Theta that is diagonal, i.e. independent tasks: `V_r = gamma b_r / (1 + gamma l s_r)`
    /// with `s_r = phi'(|V_r|^2)`, where both sides meet since the right one falls with s_r. Returns the s_r
    /// too.
    pub(super) fn cold_start(&self) -> (A::Mat, Vec<f64>) {
        let (t, algebra) = (self.n_tasks(), &self.data.algebra);
        let (mut low, mut high) = (vec![-300.0f64; t], vec![300.0f64; t]);
        let mut s = vec![0.0; t];
        for _ in 0..22 {
            (0..t).for_each(|r| s[r] = (0.5 * (low[r] + high[r])).exp());
            let v = self.alone(&s);
            let squares = algebra.column_products(&v, &v);
            for r in 0..t {
                let slope = self.output.diagonal(r, squares[r]);
                if slope.is_nan() || slope > s[r] { low[r] = s[r].ln() } else { high[r] = s[r].ln() }
            }
        }
        (self.alone(&s), s)
    }

    /// `V_r = gamma b_r / (1 + gamma l s_r)`.
    fn alone(&self, s: &[f64]) -> A::Mat {
        let algebra = &self.data.algebra;
        let mut v = self.data.moment.clone();
        algebra.scale(&mut v, self.data.gamma);
        algebra.divide_shifted(&mut v, self.values(), &self.rates(s));
        v
    }

    /// The cold start of independent tasks, `own` their scales, adjusted for related tasks, which increase
    /// each other's weights: columns of V are rescaled so that those of W keep their lengths, and the common
    /// part of all tasks gets the share that makes psi smallest. `None` if that is no better.
    pub(super) fn in_company(&self, alone: &VPoint<A::Mat>, own: &[f64]) -> Option<VPoint<A::Mat>> {
        let algebra = self.data.algebra;
        let mut w = alone.v.clone();
        algebra.scale_columns(&mut w, own);
        let mut best: Option<VPoint<A::Mat>> = None;
        for doubled in 0..20 {
            let v = self.with_common_part(own, f64::from(1 << doubled));
            let point = self.point(curved(self.output, [&w, &w], 0.0, &v, algebra)?);
            match &best {
                Some(best) if best.psi <= point.psi => break,
                _ => best = Some(point),
            }
        }
        best.filter(|best| best.psi < alone.psi)
    }

    /// V for `Theta = diag(own)`, but for the mean of the tasks, for which it is `1 + share` times as large.
    fn with_common_part(&self, own: &[f64], share: f64) -> A::Mat {
        let (t, algebra) = (own.len(), &self.data.algebra);
        let of_mean = (1.0 + share) * (own.iter().map(|s| s.ln()).sum::<f64>() / t as f64).exp();
        let mut mean_of_all = Matrix::zeros(t, t);
        mean_of_all.as_mut_slice().fill(1.0 / t as f64);
        let mut common = algebra.times_small(self.data.moment, &mean_of_all);
        let mut v = algebra.minus(self.data.moment, &common);
        algebra.divide_shifted(&mut v, self.values(), &self.rates(own));
        algebra.divide_shifted(&mut common, self.values(), &self.rates(&vec![of_mean; t]));
        algebra.add_scaled(&mut v, 1.0, &common);
        algebra.scale(&mut v, self.data.gamma);
        v
    }
}
