//! Output kernel learning as published by Dinuzzo and others: block coordinate descent, the squared loss on
//! shared inputs.

use super::alternation::{spectral, symmetrise};
use super::sylvester::{InputBasis, Iterate, check};
use super::{Published, PublishedTask};
use kinfolk::{Fit, Matrix, Observer};
use kinfolk_train::{Claim, MethodInfo, OKL, Result};

pub(super) const PUBLISHED: Published = Published {
    info: MethodInfo {
        name: "okl-published",
        title: "output kernel learning by block coordinate descent",
        cost: "m^3 once, then m T^2 + T^3 for each of up to thousands of rounds",
        is_resumable: false,
        ..OKL.info
    },
    engine: &OKL,
    iteration: descend,
    claim: Claim::Optimal,
};

pub(super) const REDUCED: Published = Published {
    info: MethodInfo {
        name: "okl-reduced",
        title: "the iteration of okl-published on no more eigenvectors than there are features",
        cost: "as okl-published, with the number of features for m",
        is_resumable: false,
        ..PUBLISHED.info
    },
    iteration: descend_reduced,
    ..PUBLISHED
};

fn descend(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, problem, .. } = *task;
    check(PUBLISHED.info.name, job)?;
    InputBasis::of_kernel(PUBLISHED.info.name, job, problem)?.run(
        job,
        problem,
        PUBLISHED.info.name,
        step,
        observer,
    )
}

fn descend_reduced(task: &PublishedTask<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let PublishedTask { job, problem, .. } = *task;
    check(REDUCED.info.name, job)?;
    InputBasis::of_features(job, problem)?.run(job, problem, REDUCED.info.name, step, observer)
}

/// A-step and L-step in turns. The L-step may leave the cone: then it is projected. If the projected point
/// does not lower the objective, a projected gradient step is taken instead, so that the objective never
/// rises.
fn step(basis: &InputBasis, at: Iterate) -> Result<Iterate> {
    let (second, first) = (basis.moment(&at.a, 2), basis.moment(&at.a, 1));
    // The Lyapunov equation (R + ld) L' + L' (R + ld) = R L + L R + ld A'K A, R = A'K^2 A.
    let mut right = second.times(&at.l);
    let other = at.l.times(&second);
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
    let next = basis.best_for(positive_part(&l)?)?;
    if next.objective < at.objective {
        return Ok(next);
    }
    gradient_step(basis, at, &first)
}

/// Along `-(L - A'K A / 2)`, projected, as far as the objective falls.
fn gradient_step(basis: &InputBasis, at: Iterate, first: &Matrix) -> Result<Iterate> {
    let mut gradient = at.l.clone();
    gradient.as_mut_slice().iter_mut().zip(first.as_slice()).for_each(|(g, f)| *g -= 0.5 * f);
    let mut length = 1.0;
    while length > 1e-12 {
        let mut l = at.l.clone();
        l.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(l, g)| *l -= length * g);
        let next = basis.best_for(positive_part(&l)?)?;
        let moved = next.l.as_slice().iter().zip(at.l.as_slice());
        let slope: f64 = moved.zip(gradient.as_slice()).map(|((new, old), g)| g * (new - old)).sum();
        if next.objective <= at.objective + 1e-4 * slope && slope < 0.0 {
            return Ok(next);
        }
        length *= 0.5;
    }
    Ok(at)
}

/// Negative eigenvalues become zero.
fn positive_part(m: &Matrix) -> Result<Matrix> {
    spectral(m, <[f64]>::to_vec)
}
