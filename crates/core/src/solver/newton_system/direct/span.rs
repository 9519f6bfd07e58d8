//! Newton's step with all that belongs to L: for right-hand sides in its span, given in a way that does not
//! cancel.

use super::{Derivative, Direct, system, transposed};
use crate::Matrix;
use crate::design::Design;
use crate::linalg::{self, axpy, dot, times, view};
use std::ops::Range;

/// What [`Direct::solve_pull`] finds.
#[derive(Debug)]
pub(in crate::solver) struct Pulled {
    /// x.
    pub(in crate::solver) x: Matrix,
    /// `x + r = L y`: what the changes of the duals add up to.
    sum: Matrix,
    y: Vec<f64>,
    /// How many times smaller y is than the terms of which it is the sum.
    pub(in crate::solver) cancelled: f64,
}

impl Direct<'_> {
    /// Number of columns of L.
    pub(in crate::solver) fn unknowns(&self) -> usize {
        self.columns.rows()
    }

    /// `L y`.
    pub(in crate::solver) fn spread(&self, y: &[f64]) -> Matrix {
        let mut x = Matrix::zeros(self.of_task.len(), self.columns.cols());
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| axpy(x.row_mut(task), y[a], self.columns.row(a)));
        }
        transposed(&x)
    }

    /// `L'w`.
    pub(in crate::solver) fn collect(&self, w: &Matrix) -> Vec<f64> {
        let (w, mut y) = (transposed(w), vec![0.0; self.columns.rows()]);
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| y[a] = dot(self.columns.row(a), w.row(task)));
        }
        y
    }

    /// The Cholesky factor of E.
    pub(in crate::solver) fn factor(&self) -> &Matrix {
        &self.factor
    }

    /// The same with another B.
    pub(in crate::solver) fn factor_at(&self, derivative: &Derivative<'_>) -> Option<Matrix> {
        let mut factor = system(&self.columns, &self.of_task, derivative);
        linalg::cholesky(&mut factor, derivative.threads()).then_some(factor)
    }

    /// x for the right-hand side `w - r`, `w = X'(M pull)`, where M are the curvatures of the entries. Written as
    /// `L c - r` it becomes `x = L y - r`, `y = E^-1 (c + L'B[r])`: large parts of c are never added and
    /// subtracted again.
    pub(in crate::solver) fn solve_pull(
        &self,
        design: &Design,
        w: &Matrix,
        pull: &[f64],
        r: &Matrix,
    ) -> Pulled {
        let br = transposed(&self.derivative.apply(r));
        let w = transposed(w);
        let mut y = vec![0.0; self.columns.rows()];
        for (task, range) in self.of_task.iter().enumerate() {
            let y = &mut y[range.clone()];
            match &self.rows[task] {
                Some(rows) => {
                    for (y, &(i, d)) in y.iter_mut().zip(rows) {
                        *y = d.sqrt() * pull[design.entry(i as usize, task)];
                    }
                    if let Some(centring) = self.centring {
                        centring.apply_root(task, rows.iter().map(|row| row.1), y);
                    }
                }
                None => self.forward_substitute(range.start, w.row(task), y),
            }
            for (j, y) in y.iter_mut().enumerate() {
                *y += dot(self.columns.row(range.start + j), br.row(task));
            }
        }
        let before = dot(&y, &y).sqrt();
        linalg::cholesky_solve(&self.factor, &mut y);
        let cancelled = before / dot(&y, &y).sqrt();
        let sum = self.spread(&y);
        let x = sum.minus(r);
        Pulled { x, sum, y, cancelled }
    }

    /// Makes the change of predictions, intercepts included, agree with that of the duals, `D (pull - df)`:
    /// these must add up to `x + r = L y`, but are differences of numbers that may be a great many times
    /// larger. Rows that are columns of L have their duals in y; others are moved by `S^-1` of what they lack.
    pub(in crate::solver) fn reconcile(
        &self,
        design: &Design,
        curvatures: &[f64],
        pull: &[f64],
        pulled: &Pulled,
        df: &mut [f64],
    ) {
        let threads = self.derivative.threads();
        let duals: Vec<f64> = (0..df.len()).map(|i| curvatures[i] * (pull[i] - df[i])).collect();
        let lack = pulled.sum.minus(&design.backward(&duals, threads));
        let lack = transposed(&lack);
        let mut shift = Matrix::zeros(lack.rows(), lack.cols());
        for (task, range) in self.of_task.iter().enumerate().filter(|(task, _)| self.rows[*task].is_none()) {
            let mut z = vec![0.0; range.len()];
            self.forward_substitute(range.start, lack.row(task), &mut z);
            let out = shift.row_mut(task);
            for j in (0..range.len()).rev() {
                let column = self.columns.row(range.start + j);
                out[j] = over(z[j] - dot(&column[j + 1..], &out[j + 1..]), column[j]);
            }
        }
        let mut shift = design.forward(&transposed(&shift), threads);
        if let Some(centring) = self.centring {
            let means: Vec<f64> =
                centring.means(design, curvatures, &shift).iter().map(|mean| -mean).collect();
            design.add_to_tasks(&means, &mut shift);
        }
        df.iter_mut().zip(&shift).for_each(|(df, shift)| *df -= shift);
        for (task, range) in self.of_task.iter().enumerate() {
            let Some(rows) = &self.rows[task] else { continue };
            let mut y = pulled.y[range.clone()].to_vec();
            if let Some(centring) = self.centring {
                centring.apply_root(task, rows.iter().map(|row| row.1), &mut y);
            }
            for (&(i, d), y) in rows.iter().zip(&y) {
                let entry = design.entry(i as usize, task);
                df[entry] = pull[entry] - y / d.sqrt();
            }
        }
    }

    /// y with `L y = x`, nearly, for an x in the span of L.
    pub(in crate::solver) fn represent(&self, x: &Matrix) -> Vec<f64> {
        let (x, mut y) = (transposed(x), vec![0.0; self.columns.rows()]);
        for (task, range) in self.of_task.iter().enumerate() {
            let y = &mut y[range.clone()];
            match &self.rows[task] {
                None => self.forward_substitute(range.start, x.row(task), y),
                Some(_) => self.least_squares(range, x.row(task), y),
            }
        }
        y
    }

    /// y with `L_r'L_r y = L_r'x`.
    fn least_squares(&self, range: &Range<usize>, x: &[f64], y: &mut [f64]) {
        let own = view(&self.columns).subrows(range.start, range.len());
        let mut gram = times(own, own.transpose(), 1);
        linalg::semidefinite_cholesky(&mut gram);
        range.clone().zip(y.iter_mut()).for_each(|(a, y)| *y = dot(self.columns.row(a), x));
        for j in 0..y.len() {
            let known = dot(&gram.row(j)[..j], &y[..j]);
            y[j] = over(y[j] - known, gram[(j, j)]);
        }
        for j in (0..y.len()).rev() {
            let known: f64 = (j + 1..y.len()).map(|i| gram[(i, j)] * y[i]).sum();
            y[j] = over(y[j] - known, gram[(j, j)]);
        }
    }

    /// `L_r^-1 w` of a task with a triangular factor.
    fn forward_substitute(&self, start: usize, w: &[f64], out: &mut [f64]) {
        let mut rest = w.to_vec();
        for (j, y) in out.iter_mut().enumerate() {
            let column = self.columns.row(start + j);
            *y = over(rest[j], column[j]);
            axpy(&mut rest[j..], -*y, &column[j..]);
        }
    }
}

/// x / pivot; zero where the pivot is, which is where a factor of a singular matrix has no direction.
fn over(x: f64, pivot: f64) -> f64 {
    if pivot > 0.0 { x / pivot } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Host;
    use crate::backend::Interrupt;
    use crate::design::Curvature;
    use crate::inputs::{Dense, Inputs};
    use crate::linalg::gram;
    use crate::regularizer::{Power, SumRegularizer};
    use crate::{Dataset, DatasetOptions, Observations};

    const FEATURES: usize = 4;

    /// Numbers that look random.
    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|i| ((i as f64 + seed) * 12.9898).sin() * 1.7).collect()
    }

    fn norm(m: &Matrix) -> f64 {
        dot(m.as_slice(), m.as_slice()).sqrt()
    }

    /// Two tasks with more rows than features, one with fewer, one without.
    #[test]
    fn pulls_and_right_hand_sides_have_the_same_solution() {
        let task: Vec<u32> = (0..16)
            .map(|i| {
                if i < 7 {
                    0
                } else if i < 14 {
                    1
                } else {
                    3
                }
            })
            .collect();
        let observations = Observations::multi_task(&task, vec![1.0; 16]).unwrap();
        let inputs: Inputs<'_> = Dense::f64_owned(numbers(16 * FEATURES, 0.5), 16, FEATURES).unwrap().into();
        let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
        let design = data.design(false, &mut Interrupt::never()).unwrap().1;
        let d: Vec<f64> = numbers(16, 3.0).iter().map(|x| x * x + 0.1).collect();
        let (d, n) = (design.gather(&d), design.len());
        let v = Matrix::from_vec(numbers(FEATURES * 4, 7.0), FEATURES, 4).unwrap();
        let output = SumRegularizer::new(Power::new(2).unwrap());
        let gram = gram(&v, 1);
        let theta = output.theta(&gram);
        let derivative = Derivative::new(&output, (&v, &gram, &theta), Host { threads: 1 });
        let curvature = Curvature::new(design, d.clone(), None, 1);
        let direct = Direct::new(design, &curvature, &derivative).unwrap();

        let pull = numbers(n, 11.0);
        let weighted: Vec<f64> = pull.iter().zip(&d).map(|(pull, d)| pull * d).collect();
        let w = design.backward(&weighted, 1);
        let r = design.backward(&design.gather(&numbers(16, 13.0)), 1);
        let pulled = direct.solve_pull(design, &w, &pull, &r);
        let rhs = w.minus(&r);
        let mut off = direct.solve(&rhs);
        off.add_scaled(-1.0, &pulled.x);
        assert!(norm(&off) <= 1e-10 * norm(&rhs), "{off:?}");

        // Predictions already agree with the duals; if they did not, they would be made to.
        let exact = design.forward(&derivative.apply(&pulled.x), 1);
        let mut df: Vec<f64> = exact.iter().zip(numbers(n, 17.0)).map(|(f, e)| f + 1e-3 * e).collect();
        direct.reconcile(design, &d, &pull, &pulled, &mut df);
        let duals: Vec<f64> = (0..n).map(|i| d[i] * (pull[i] - df[i])).collect();
        let mut lack = design.backward(&duals, 1);
        lack.add_scaled(-1.0, &pulled.sum);
        assert!(norm(&lack) <= 1e-10 * norm(&pulled.sum), "{lack:?}");

        let mut again = direct.spread(&direct.represent(&pulled.sum));
        again.add_scaled(-1.0, &pulled.sum);
        assert!(norm(&again) <= 1e-10 * norm(&pulled.sum), "{again:?}");
    }
}
