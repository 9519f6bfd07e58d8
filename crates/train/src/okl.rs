//! Output kernel learning by block coordinate descent, Dinuzzo and others: the squared loss on shared inputs.
//!
//! The problem of [`sylvester`](crate::sylvester) is ours for k = 1: `ld = lambda^(1/3) / C`, `L = lambda^(1/3) Theta`, `alpha = C ld A`, and our objective
//! is lambda^(1/3) times theirs. So the fast form is [`fmtl`](crate::fmtl) itself.

use crate::alternation::{spectral, symmetrise};
use crate::given::{Engine, FORMS, Published};
use crate::sylvester::{Basis, Point, check};
use crate::{Claim, Job, Losses, Params, Result};
use kinfolk::{Fit, Matrix, Observer, OutputKind, Problem};

/// Frobenius norm of Theta.
pub(crate) const OKL: Engine = Engine {
    name: "okl",
    title: "output kernel learning",
    learns: "Theta, Frobenius norm",
    reference: "Dinuzzo, Ong, Gehler and Pillonetto, Learning output kernels with block coordinate descent, ICML 2011",
    problem: "min C sum_i (y_i - F(x_i, t_i))^2 / 2 + |F|^2 / 2 + lambda |Theta|^2 / 2 over F and Theta: fmtl with k = 1",
    params: &[FORMS],
    cost: "fast: as fmtl; published: m^3 once, then m T^2 + T^3 for each of up to thousands of rounds; reduced: with the number of features for m",
    losses: Losses::Squared,
    output: |_, _| OutputKind::Power { k: 1 },
    published: Some(Published { forms: &["published", "reduced"], run: published, claim: Claim::Optimal }),
};

/// A-step and L-step in turns. The L-step may leave the cone: then it is projected, and where that does not help a projected gradient
/// step is taken, so that the objective never rises.
fn published(
    job: &Job<'_>,
    params: &Params,
    problem: &Problem<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    check("okl", job)?;
    let basis = Basis::new("okl", job, problem, params.word("form") == "reduced")?;
    basis.run(job, problem, "published okl", step, observer)
}

fn step(basis: &Basis, point: Point) -> Result<Point> {
    let (second, first) = (basis.moment(&point.a, 2), basis.moment(&point.a, 1));
    // The Lyapunov equation (R + ld) L' + L' (R + ld) = R L + L R + ld A'K A, R = A'K^2 A.
    let mut right = second.times(&point.l);
    let other = point.l.times(&second);
    for (x, (y, z)) in right.as_mut_slice().iter_mut().zip(other.as_slice().iter().zip(first.as_slice())) {
        *x += y + basis.ld * z;
    }
    let (values, turn) = second.eigen()?;
    let mut inner = turn.transposed().times(&right).times(&turn);
    for i in 0..values.len() {
        for j in 0..values.len() {
            inner[(i, j)] /= values[i].max(0.0) + values[j].max(0.0) + 2.0 * basis.ld;
        }
    }
    let mut l = turn.times(&inner).times(&turn.transposed());
    symmetrise(&mut l);
    let next = basis.point(positive_part(&l)?)?;
    if next.objective < point.objective {
        return Ok(next);
    }
    gradient_step(basis, point, &first)
}

/// Along `-(L - A'K A / 2)`, projected, as far as the objective falls.
fn gradient_step(basis: &Basis, point: Point, first: &Matrix) -> Result<Point> {
    let mut gradient = point.l.clone();
    gradient.as_mut_slice().iter_mut().zip(first.as_slice()).for_each(|(g, f)| *g -= 0.5 * f);
    let mut length = 1.0;
    while length > 1e-12 {
        let mut l = point.l.clone();
        l.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(l, g)| *l -= length * g);
        let next = basis.point(positive_part(&l)?)?;
        let moved = next.l.as_slice().iter().zip(point.l.as_slice());
        let slope: f64 = moved.zip(gradient.as_slice()).map(|((new, old), g)| g * (new - old)).sum();
        if next.objective <= point.objective + 1e-4 * slope && slope < 0.0 {
            return Ok(next);
        }
        length *= 0.5;
    }
    Ok(point)
}

/// Negative eigenvalues become zero.
fn positive_part(m: &Matrix) -> Result<Matrix> {
    spectral(m, <[f64]>::to_vec)
}
