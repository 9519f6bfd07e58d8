//! From W back to V: where `V phi'(V'V)` is a given W.
//!
//! W is the gradient of the convex `R(V) = sum phi(V'V) / 2`, so V minimises `R(V) - <W, V>`: Newton's method, its steps by
//! conjugate gradients with `. Theta` for `B`. No data are touched. W grows with a high power of V: a step that is straight in W
//! is a tame one in V, not the other way round.

use super::search::curved;
use super::{Derivative, gram};
use crate::Matrix;
use crate::linalg::{self, axpy, dot, inner, times, view};
use crate::output::OutputRegularizer;

const STEPS: usize = 30;
const PRODUCTS: usize = 40;

/// A V on the way from a guess to the one with weights `target`.
struct Trial {
    v: Matrix,
    gram: Matrix,
    theta: Matrix,
    /// What W still lacks, and its size.
    rest: Matrix,
    off: f64,
    /// R(V) - <target, V>.
    value: f64,
}

impl Trial {
    fn new(output: &dyn OutputRegularizer, target: &Matrix, v: Matrix, threads: usize) -> Self {
        let gram = gram(&v, threads);
        let theta = output.theta(&gram);
        let mut rest = target.clone();
        axpy(rest.as_mut_slice(), -1.0, times(view(&v), view(&theta), threads).as_slice());
        let value = 0.5 * output.phi_sum(&gram) - inner(target, &v);
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let off = or_infinite(norm(&rest));
        Trial { v, gram, theta, rest, off, value: or_infinite(value) }
    }
}

/// A V with weights within `accuracy` of `target`, from one of two guesses or from the columns of `target` themselves; the best
/// found, which may be a guess.
pub(in crate::solver) fn invert(
    output: &dyn OutputRegularizer,
    target: &Matrix,
    guesses: [&Matrix; 2],
    accuracy: f64,
    threads: usize,
) -> Matrix {
    let at = |v: Matrix| Trial::new(output, target, v, threads);
    let guesses = guesses.map(Matrix::clone).into_iter().chain(from_columns(output, target, threads));
    let Some(mut best) = guesses.map(at).min_by(|a, b| a.off.total_cmp(&b.off)) else {
        return target.clone();
    };
    for _ in 0..STEPS {
        if !(best.off > accuracy) || !best.off.is_finite() {
            break;
        }
        let derivative = Derivative::new(output, &best.v, &best.gram, &best.theta, threads);
        let tolerance = (0.3 * accuracy / best.off).clamp(1e-4, 0.1);
        let Some(step) = conjugate_gradients(&derivative, &best.rest, tolerance) else { break };
        let slope = inner(&best.rest, &step);
        let mut t = 1.0;
        let next = loop {
            let mut v = best.v.clone();
            axpy(v.as_mut_slice(), t, step.as_slice());
            let trial = at(v);
            // Next to the solution the values are too much alike to tell.
            if trial.value <= best.value - 0.1 * t * slope || trial.off <= 0.5 * best.off {
                break Some(trial);
            }
            t *= 0.4;
            if t < 1e-6 {
                break None;
            }
        };
        match next {
            Some(next) => best = next,
            None => break,
        }
    }
    if std::env::var_os("IPM_TRACE").is_some() {
        eprintln!("        inverted to {:.2e} of accuracy", best.off / accuracy);
    }
    best.v
}

/// As if Theta were diagonal, for regularisers that have a degree: columns like those of W, with the lengths that fit.
fn from_columns(output: &dyn OutputRegularizer, w: &Matrix, threads: usize) -> Option<Matrix> {
    let power = f64::from(2 * output.degree()? - 1);
    let mut squares = vec![0.0; w.cols()];
    for j in 0..w.rows() {
        squares.iter_mut().zip(w.row(j)).for_each(|(sum, w)| *sum += w * w);
    }
    let factors: Vec<f64> = squares.iter().map(|s| s.max(1e-300).powf(0.5 / power - 0.5)).collect();
    let mut v = w.clone();
    for j in 0..v.rows() {
        v.row_mut(j).iter_mut().zip(&factors).for_each(|(v, factor)| *v *= factor);
    }
    let still = Matrix::zeros(w.rows(), w.cols());
    curved(output, [w, &still], 0.0, &v, threads)
}

/// d with `B[d] = rest`, to this relative accuracy; `None` if numbers ran out.
fn conjugate_gradients(derivative: &Derivative<'_>, rest: &Matrix, tolerance: f64) -> Option<Matrix> {
    let (values, basis) = linalg::eigen(derivative.theta).ok()?;
    let floor = 1e-10 * values.iter().fold(0.0f64, |a, &b| a.max(b));
    let precondition = |r: &Matrix| {
        let mut z = times(view(r), view(&basis), derivative.threads);
        for j in 0..z.rows() {
            z.row_mut(j).iter_mut().zip(&values).for_each(|(z, l)| *z /= l.max(0.0) + floor);
        }
        times(view(&z), view(&basis).transpose(), derivative.threads)
    };
    let mut x = Matrix::zeros(rest.rows(), rest.cols());
    let mut r = rest.clone();
    let mut z = precondition(&r);
    let mut p = z.clone();
    let (mut rz, first) = (inner(&r, &z), norm(rest));
    for _ in 0..PRODUCTS {
        let bp = derivative.apply(&p);
        let curvature = inner(&p, &bp);
        if !(curvature > 0.0 && rz.is_finite()) {
            break;
        }
        let alpha = rz / curvature;
        axpy(x.as_mut_slice(), alpha, p.as_slice());
        axpy(r.as_mut_slice(), -alpha, bp.as_slice());
        if norm(&r) <= tolerance * first {
            break;
        }
        z = precondition(&r);
        let next = inner(&r, &z);
        let beta = next / rz;
        rz = next;
        p.as_mut_slice().iter_mut().zip(z.as_slice()).for_each(|(p, z)| *p = z + beta * *p);
    }
    x.as_slice().iter().all(|x| x.is_finite()).then_some(x)
}

fn norm(m: &Matrix) -> f64 {
    dot(m.as_slice(), m.as_slice()).sqrt()
}
