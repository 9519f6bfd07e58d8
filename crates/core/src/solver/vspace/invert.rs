//! From W back to V: where `V phi'(V'V)` is a given W.
//!
//! W is the gradient of the convex `R(V) = sum phi(V'V) / 2`, so V minimises `R(V) - <W, V>`: Newton's method, its steps by
//! conjugate gradients with `. Theta` for `B`. No data are touched. W grows with a high power of V: a step that is straight in W
//! is a tame one in V, not the other way round.

use super::{Derivative, gram};
use crate::Matrix;
use crate::linalg::{self, axpy, dot, inner, times, view};
use crate::output::OutputRegularizer;

const STEPS: usize = 30;
const PRODUCTS: usize = 40;
/// Relative accuracy of W: it need not be exact, nobody takes W for anything but what V says.
const ACCURACY: f64 = 1e-3;

/// A V with weights near `target`, from a first guess; the best found, which may be the guess.
pub(in crate::solver) fn invert(
    output: &dyn OutputRegularizer,
    target: &Matrix,
    guesses: [&Matrix; 2],
    threads: usize,
) -> Matrix {
    let value = |v: &Matrix| {
        let value = 0.5 * output.phi_sum(&gram(v, threads)) - inner(target, v);
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let [one, other] = guesses;
    let mut v = if value(one) <= value(other) { one.clone() } else { other.clone() };
    let size = norm(target);
    for _ in 0..STEPS {
        let gram_v = gram(&v, threads);
        let theta = output.theta(&gram_v);
        let mut rest = target.clone();
        axpy(rest.as_mut_slice(), -1.0, times(view(&v), view(&theta), threads).as_slice());
        let off = norm(&rest) / size;
        if !(off > ACCURACY) {
            break;
        }
        let derivative = Derivative::new(output, &v, &gram_v, &theta, threads);
        let Some(step) = conjugate_gradients(&derivative, &rest, (0.1 * off).clamp(1e-4, 0.1)) else { break };
        let slope = inner(&rest, &step);
        let now = value(&v);
        let mut t = 1.0;
        let next = loop {
            let mut trial = v.clone();
            axpy(trial.as_mut_slice(), t, step.as_slice());
            // Rounding may hide the last of the descent.
            if value(&trial) <= now - 0.1 * t * slope + 1e-13 * now.abs() {
                break Some(trial);
            }
            t *= 0.5;
            if t < 1e-4 {
                break None;
            }
        };
        match next {
            Some(next) => v = next,
            None => break,
        }
    }
    if std::env::var_os("IPM_TRACE").is_some() {
        let mut rest = target.clone();
        axpy(rest.as_mut_slice(), -1.0, times(view(&v), view(&output.theta(&gram(&v, threads))), threads).as_slice());
        eprintln!("        inverted to {:.2e}", norm(&rest) / size);
    }
    v
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
