//! Output kernel learning by block coordinate descent, Dinuzzo and others: the squared loss on shared inputs.
//!
//! With one parameter ld the original minimises `|Y - K A L|^2 / (2 ld) + <A'K A, L> / 2 + |L|^2 / 2` over A and positive
//! semidefinite L. That is our problem for k = 1: `ld = lambda^(1/3) / C`, `L = lambda^(1/3) Theta`, `alpha = C ld A`, and our objective
//! is lambda^(1/3) times theirs. So the fast form is [`fmtl`](crate::fmtl) itself.

use crate::alternation::{size, symmetrise};
use crate::given::{Engine, FORM, Published};
use crate::kernel_matrix::kernel_matrix;
use crate::{Claim, Error, Job, Losses, Params, Result};
use kinfolk::{Fit, Flow, Matrix, Observer, OutputKind, Problem};

/// Frobenius norm of Theta.
pub(crate) const OKL: Engine = Engine {
    name: "okl",
    title: "output kernel learning",
    learns: "Theta, Frobenius norm",
    reference: "Dinuzzo, Ong, Gehler and Pillonetto, Learning output kernels with block coordinate descent, ICML 2011",
    problem: "min C sum_i (y_i - F(x_i, t_i))^2 / 2 + |F|^2 / 2 + lambda |Theta|^2 / 2 over F and Theta: fmtl with k = 1",
    params: &[FORM],
    cost: "fast: as fmtl; published: m^3 once, then m T^2 + T^3 for each of up to thousands of rounds",
    losses: Losses::Squared,
    output: |_, _| OutputKind::Power { k: 1 },
    published: Some(Published { form: "published", run: published, claim: Claim::Optimal }),
};

/// Rounds between certificates.
const CHECK_EVERY: usize = 10;

/// A-step and L-step in turns. The L-step may leave the cone: then it is projected, and where that does not help a projected gradient
/// step is taken, so that the objective never rises.
fn published(job: &Job<'_>, _: &Params, problem: &Problem<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let obs = job.data.observations();
    if !obs.is_complete() || obs.uniform_weight().is_none() {
        let why = "its published iteration needs a label of every input for every task, of equal weight; \
                   convex-okl has none of these limits"
            .to_string();
        return Err(Error::Param { method: "okl", why });
    }
    let spec = problem.spec();
    let c = spec.c * obs.uniform_weight().unwrap_or(1.0);
    let descent = Descent::new(job, spec.lambda.cbrt() / c)?;
    let mut point = descent.point(Matrix::identity(obs.n_tasks()))?;
    for round in 1.. {
        point = descent.step(point)?;
        let stop = observer.poll() == Flow::Stop;
        if round % CHECK_EVERY == 0 || stop || round >= job.settings.max_passes {
            let alpha = descent.duals(&point, c);
            let fit =
                kinfolk::grade(problem, alpha.as_slice(), None, job.settings, ("published okl", round))?;
            if stop || fit.certificate.rel_gap() <= job.settings.tolerance || round >= job.settings.max_passes
            {
                return Ok(fit);
            }
        }
    }
    unreachable!("rounds are counted")
}

/// The data in the eigenbasis of K.
struct Descent {
    /// Eigenvalues and eigenvectors of K.
    values: Vec<f64>,
    basis: Matrix,
    /// Rotated labels.
    labels: Matrix,
    ld: f64,
}

/// L, the best A for it, rotated, and the objective times ld.
struct Point {
    l: Matrix,
    a: Matrix,
    objective: f64,
}

impl Descent {
    fn new(job: &Job<'_>, ld: f64) -> Result<Self> {
        let (values, basis) = kernel_matrix("okl", job, 4)?.eigen()?;
        let obs = job.data.observations();
        let labels = Matrix::from_vec(obs.labels().to_vec(), obs.n_inputs(), obs.n_tasks())?;
        let labels = basis.transposed().times(&labels);
        Ok(Descent { values: values.iter().map(|v| v.max(0.0)).collect(), basis, labels, ld })
    }

    /// The Sylvester equation `K A L + ld A = Y`, solved in both eigenbases.
    fn point(&self, l: Matrix) -> Result<Point> {
        let (of_l, turn) = l.eigen()?;
        let mut a = self.labels.times(&turn);
        for (i, k) in self.values.iter().enumerate() {
            a.row_mut(i).iter_mut().zip(&of_l).for_each(|(a, l)| *a /= k * l.max(0.0) + self.ld);
        }
        let a = a.times(&turn.transposed());
        let fit: f64 = self.labels.as_slice().iter().zip(a.as_slice()).map(|(y, a)| y * a).sum();
        let objective = 0.5 * fit + 0.5 * size(&l) * size(&l);
        Ok(Point { l, a, objective })
    }

    /// `A' K^power A`.
    fn moment(&self, a: &Matrix, power: i32) -> Matrix {
        let mut scaled = a.clone();
        for (i, k) in self.values.iter().enumerate() {
            scaled.row_mut(i).iter_mut().for_each(|a| *a *= k.powi(power));
        }
        let mut moment = a.transposed().times(&scaled);
        symmetrise(&mut moment);
        moment
    }

    fn step(&self, point: Point) -> Result<Point> {
        let (second, first) = (self.moment(&point.a, 2), self.moment(&point.a, 1));
        // The Lyapunov equation (R + ld) L' + L' (R + ld) = R L + L R + ld A'K A, R = A'K^2 A.
        let mut right = second.times(&point.l);
        let other = point.l.times(&second);
        for (x, (y, z)) in right.as_mut_slice().iter_mut().zip(other.as_slice().iter().zip(first.as_slice()))
        {
            *x += y + self.ld * z;
        }
        let (values, turn) = second.eigen()?;
        let mut inner = turn.transposed().times(&right).times(&turn);
        for i in 0..values.len() {
            for j in 0..values.len() {
                inner[(i, j)] /= values[i].max(0.0) + values[j].max(0.0) + 2.0 * self.ld;
            }
        }
        let mut l = turn.times(&inner).times(&turn.transposed());
        symmetrise(&mut l);
        let next = self.point(positive_part(&l)?)?;
        if next.objective < point.objective {
            return Ok(next);
        }
        self.gradient_step(point, &first)
    }

    /// Along `-(L - A'K A / 2)`, projected, as far as the objective falls.
    fn gradient_step(&self, point: Point, first: &Matrix) -> Result<Point> {
        let mut gradient = point.l.clone();
        gradient.as_mut_slice().iter_mut().zip(first.as_slice()).for_each(|(g, f)| *g -= 0.5 * f);
        let mut length = 1.0;
        while length > 1e-12 {
            let mut l = point.l.clone();
            l.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(l, g)| *l -= length * g);
            let next = self.point(positive_part(&l)?)?;
            let moved = next.l.as_slice().iter().zip(point.l.as_slice());
            let slope: f64 = moved.zip(gradient.as_slice()).map(|((new, old), g)| g * (new - old)).sum();
            if next.objective <= point.objective + 1e-4 * slope && slope < 0.0 {
                return Ok(next);
            }
            length *= 0.5;
        }
        Ok(point)
    }

    /// The duals of a point, inputs x tasks.
    fn duals(&self, point: &Point, c: f64) -> Matrix {
        let mut a = self.basis.times(&point.a);
        a.as_mut_slice().iter_mut().for_each(|a| *a *= c * self.ld);
        a
    }
}

/// Negative eigenvalues become zero.
fn positive_part(m: &Matrix) -> Result<Matrix> {
    crate::alternation::spectral(m, <[f64]>::to_vec)
}
