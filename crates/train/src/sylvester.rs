//! Output kernels from the eigenvectors of the inputs: the squared loss where every input has a label for every task.
//!
//! With one parameter ld, minimise `|Y - K A L|^2 / (2 ld) + <A'K A, L> / 2 + |L|^2 / 2` over A and positive semidefinite L. Given L, A solves a
//! Sylvester equation, at once in the eigenbases of K and L; rules for L given A are the business of [`okl`](crate::okl) and
//! [`convex_okl`](crate::convex_okl). As published the basis is that of K, of the size of the inputs. Only the eigenvectors of X'X matter, and
//! there are no more of them than features: the same iterations in that basis are the reduced form.

use crate::alternation::{rows, size, symmetrise};
use crate::kernel_matrix::kernel_matrix;
use crate::{Error, Job, Result};
use kinfolk::{
    Fit, Flow, LossKind, Matrix, Observer, OutputKind, Problem, ProblemSpec, Settings, fit_near, grade,
};

/// The first round with a certificate; from one to the next it is half as far again as it was so far.
const CHECK_FIRST: usize = 10;

/// The data in an eigenbasis of the inputs.
pub(crate) struct Basis {
    /// Eigenvalues of K.
    values: Vec<f64>,
    /// Rotated labels.
    labels: Matrix,
    /// Half the square of what no function of the inputs explains, over ld.
    beyond: f64,
    /// Eigenvectors of K, where A is to be had of all inputs.
    vectors: Option<Matrix>,
    pub(crate) ld: f64,
    /// From the objective here to that of the problem.
    scale: f64,
}

/// L, the best A for it, rotated, and the objective.
pub(crate) struct Point {
    pub(crate) l: Matrix,
    pub(crate) a: Matrix,
    pub(crate) objective: f64,
}

/// Whether iterations of this kind can be done for some data.
pub(crate) fn check(method: &'static str, job: &Job<'_>) -> Result<()> {
    let obs = job.data.observations();
    let squared = *job.loss == kinfolk::Losses::Same(LossKind::Squared);
    match squared && obs.is_complete() && obs.uniform_weight().is_some() {
        true => Ok(()),
        false => {
            let why = "this form needs the squared loss and a label of every input for every task, of equal weight; \
                       convex-okl in its default form has none of these limits"
                .to_string();
            Err(Error::Param { method, why })
        }
    }
}

impl Basis {
    /// Of K itself, or of X'X.
    pub(crate) fn new(
        method: &'static str,
        job: &Job<'_>,
        problem: &Problem<'_>,
        reduced: bool,
    ) -> Result<Self> {
        let (obs, spec) = (job.data.observations(), problem.spec());
        let root = spec.lambda.cbrt();
        let ld = root / (spec.c * obs.uniform_weight().unwrap_or(1.0));
        let square: f64 = obs.labels().iter().map(|y| y * y).sum();
        let (values, labels, vectors) = if reduced {
            let (values, mut labels) = job.data.sufficient_statistics()?;
            for (i, value) in values.iter().enumerate() {
                let scale = if *value > 0.0 { value.sqrt().recip() } else { 0.0 };
                labels.row_mut(i).iter_mut().for_each(|y| *y *= scale);
            }
            (values, labels, None)
        } else {
            let (values, vectors) = kernel_matrix(method, job, 4)?.eigen()?;
            let labels = Matrix::from_vec(obs.labels().to_vec(), obs.n_inputs(), obs.n_tasks())?;
            (values.iter().map(|v| v.max(0.0)).collect(), vectors.transposed().times(&labels), Some(vectors))
        };
        let within: f64 = labels.as_slice().iter().map(|y| y * y).sum();
        let beyond = if reduced { (square - within).max(0.0) / (2.0 * ld) } else { 0.0 };
        Ok(Basis { values, labels, beyond, vectors, ld, scale: root })
    }

    /// The Sylvester equation `K A L + ld A = Y`.
    pub(crate) fn point(&self, l: Matrix) -> Result<Point> {
        let (of_l, turn) = l.eigen()?;
        let mut a = self.labels.times(&turn);
        for (i, k) in self.values.iter().enumerate() {
            a.row_mut(i).iter_mut().zip(&of_l).for_each(|(a, l)| *a /= k * l.max(0.0) + self.ld);
        }
        let a = a.times(&turn.transposed());
        let fit: f64 = self.labels.as_slice().iter().zip(a.as_slice()).map(|(y, a)| y * a).sum();
        let objective = self.beyond + 0.5 * fit + 0.5 * size(&l) * size(&l);
        Ok(Point { l, a, objective })
    }

    /// `A' K^power A`.
    pub(crate) fn moment(&self, a: &Matrix, power: i32) -> Matrix {
        let mut scaled = a.clone();
        for (i, k) in self.values.iter().enumerate() {
            scaled.row_mut(i).iter_mut().for_each(|a| *a *= k.powi(power));
        }
        let mut moment = a.transposed().times(&scaled);
        symmetrise(&mut moment);
        moment
    }

    /// From L = I, step after step, until certified, or until the observer has seen enough.
    pub(crate) fn run(
        &self,
        job: &Job<'_>,
        problem: &Problem<'_>,
        name: &'static str,
        step: impl Fn(&Basis, Point) -> Result<Point>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let mut point = self.point(Matrix::identity(job.data.observations().n_tasks()))?;
        let mut check = CHECK_FIRST;
        for round in 1.. {
            point = step(self, point)?;
            let heard = observer.objective(self.scale * point.objective);
            let stop = heard == Flow::Stop || observer.poll() == Flow::Stop;
            if round == check || stop || round >= job.settings.max_passes {
                check = round + round / 2 + 1;
                let fit = self.graded(job, problem, &point, (name, round))?;
                let done = fit.certificate.rel_gap() <= job.settings.tolerance;
                if stop || done || round >= job.settings.max_passes {
                    return Ok(fit);
                }
            }
        }
        unreachable!("rounds are counted")
    }

    /// What a point amounts to for the problem.
    fn graded(
        &self,
        job: &Job<'_>,
        problem: &Problem<'_>,
        point: &Point,
        ended: (&'static str, usize),
    ) -> Result<Fit> {
        if let Some(vectors) = &self.vectors {
            let c = problem.spec().c * job.data.observations().uniform_weight().unwrap_or(1.0);
            let mut alpha = vectors.times(&point.a);
            alpha.as_mut_slice().iter_mut().for_each(|a| *a *= c * self.ld);
            return Ok(grade(problem, alpha.as_slice(), None, job.settings, ended)?);
        }
        // A of all inputs: the problem with this Theta given.
        let mut theta = point.l.clone();
        theta.as_mut_slice().iter_mut().for_each(|l| *l /= self.scale);
        let spec = ProblemSpec {
            loss: job.loss.clone(),
            output: OutputKind::Fixed { theta: rows(&theta) },
            c: problem.spec().c,
            lambda: 1.0,
        };
        let given = Problem::new(job.data, spec)?;
        let settings = Settings { tolerance: 0.1 * job.settings.tolerance, ..job.settings.clone() };
        let inner = fit_near(&given, &settings, None, &mut kinfolk::Silent)?;
        crate::alternation::graded(problem, &inner, job.settings, ended)
    }
}
