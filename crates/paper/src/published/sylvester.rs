//! The squared loss where every input has a label for every task: iterations in an eigenbasis of the inputs.
//!
//! With one parameter ld, minimise `|Y - K A L|^2 / (2 ld) + <A'K A, L> / 2 + |L|^2 / 2` over A and positive
//! semidefinite L. This is ours for k = 1 with `ld = lambda^(1/3) / C`, `L = lambda^(1/3) Theta` and `alpha
//! = C ld A`. Given L, A solves a Sylvester equation, which is diagonal in the eigenbases of K and L;
//! [`okl`](super::okl) and [`convex_okl`](super::convex_okl) differ in how they choose L given A. The
//! published basis is that of K, as large as the number of inputs. Only the eigenvectors of X'X matter, and
//! there are no more of them than features: the same iterations in that basis are the reduced form.

use super::alternation::{certified, rows, size, symmetrise};
use super::kernel_matrix::kernel_matrix;
use kinfolk::{
    Fit, Fitter, Flow, Intercept, LossKind, Matrix, Observer, Problem, ProblemSpec, RegularizerKind,
    Settings, certify_duals,
};
use kinfolk_train::{Error, Job, Result};

/// The first round with a certificate; every next one comes after half as many rounds again.
const FIRST_CHECK: usize = 10;

/// The data in an eigenbasis of the inputs.
pub(super) struct InputBasis {
    /// Eigenvalues of K.
    values: Vec<f64>,
    /// Rotated labels.
    labels: Matrix,
    /// Half the squared norm of the labels outside the basis, over ld.
    residual: f64,
    /// Eigenvectors of K; none in the reduced form.
    vectors: Option<Matrix>,
    pub(super) ld: f64,
    /// The objective of the problem over the one here.
    scale: f64,
}

/// L, the best A for it, in the basis, and the objective.
pub(super) struct Iterate {
    pub(super) l: Matrix,
    pub(super) a: Matrix,
    pub(super) objective: f64,
}

/// An error if the data or the loss do not suit iterations of this kind.
pub(super) fn check(method: &'static str, job: &Job<'_>) -> Result<()> {
    let obs = job.data.observations();
    let squared = *job.loss == kinfolk::Losses::Same(LossKind::Squared);
    match squared && obs.is_complete() && obs.uniform_weight().is_some() {
        true => Ok(()),
        false => {
            let why =
                "it needs the squared loss and a label of every input for every task, of equal weight; \
                       convex-okl has none of these limits"
                    .to_string();
            Err(Error::Param { method, why })
        }
    }
}

/// ld, and the objective of the problem over the one here.
fn parameters(job: &Job<'_>, problem: &Problem<'_>) -> (f64, f64) {
    let spec = problem.spec();
    let root = spec.lambda.cbrt();
    (root / (spec.c * job.data.observations().uniform_weight().unwrap_or(1.0)), root)
}

impl InputBasis {
    /// Of the kernel matrix, as published.
    pub(super) fn of_kernel(method: &'static str, job: &Job<'_>, problem: &Problem<'_>) -> Result<Self> {
        let obs = job.data.observations();
        let (values, vectors) = kernel_matrix(method, job, 4)?.eigen()?;
        let labels = Matrix::from_vec(obs.labels().to_vec(), obs.n_inputs(), obs.n_tasks())?;
        let labels = vectors.transposed().times(&labels);
        let values = values.iter().map(|v| v.max(0.0)).collect();
        let (ld, scale) = parameters(job, problem);
        Ok(InputBasis { values, labels, residual: 0.0, vectors: Some(vectors), ld, scale })
    }

    /// Of X'X: the reduced form.
    pub(super) fn of_features(job: &Job<'_>, problem: &Problem<'_>) -> Result<Self> {
        let (values, mut labels) = job.data.sufficient_statistics()?;
        for (i, value) in values.iter().enumerate() {
            let scale = if *value > 0.0 { value.sqrt().recip() } else { 0.0 };
            labels.row_mut(i).iter_mut().for_each(|y| *y *= scale);
        }
        let square: f64 = job.data.observations().labels().iter().map(|y| y * y).sum();
        let within: f64 = labels.as_slice().iter().map(|y| y * y).sum();
        let (ld, scale) = parameters(job, problem);
        let residual = (square - within).max(0.0) / (2.0 * ld);
        Ok(InputBasis { values, labels, residual, vectors: None, ld, scale })
    }

    /// The best A for an L: the solution of the Sylvester equation `K A L + ld A = Y`.
    pub(super) fn best_for(&self, l: Matrix) -> Result<Iterate> {
        let (of_l, turn) = l.eigen()?;
        let mut a = self.labels.times(&turn);
        for (i, k) in self.values.iter().enumerate() {
            a.row_mut(i).iter_mut().zip(&of_l).for_each(|(a, l)| *a /= k * l.max(0.0) + self.ld);
        }
        let a = a.times(&turn.transposed());
        let fit: f64 = self.labels.as_slice().iter().zip(a.as_slice()).map(|(y, a)| y * a).sum();
        let objective = self.residual + 0.5 * fit + 0.5 * size(&l) * size(&l);
        Ok(Iterate { l, a, objective })
    }

    /// `A' K^power A`.
    pub(super) fn moment(&self, a: &Matrix, power: i32) -> Matrix {
        let mut scaled = a.clone();
        for (i, k) in self.values.iter().enumerate() {
            scaled.row_mut(i).iter_mut().for_each(|a| *a *= k.powi(power));
        }
        let mut moment = a.transposed().times(&scaled);
        symmetrise(&mut moment);
        moment
    }

    /// Steps from L = I until the tolerance is reached or the observer stops it.
    pub(super) fn run(
        &self,
        job: &Job<'_>,
        problem: &Problem<'_>,
        name: &'static str,
        step: impl Fn(&InputBasis, Iterate) -> Result<Iterate>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let mut at = self.best_for(Matrix::identity(job.data.observations().n_tasks()))?;
        let mut check = FIRST_CHECK;
        for round in 1.. {
            at = step(self, at)?;
            let heard = observer.objective(self.scale * at.objective);
            let stop = heard == Flow::Stop || observer.poll() == Flow::Stop;
            if round == check || stop || round >= job.settings.max_passes {
                check = round + round / 2 + 1;
                let fit = self.certified(job, problem, &at, (name, round))?;
                let done = fit.certificate().rel_gap() <= job.settings.tolerance;
                if stop || done || round >= job.settings.max_passes {
                    return Ok(fit);
                }
            }
        }
        unreachable!("rounds are counted")
    }

    /// The fit of the problem that an iterate stands for.
    fn certified(
        &self,
        job: &Job<'_>,
        problem: &Problem<'_>,
        at: &Iterate,
        ended: (&'static str, usize),
    ) -> Result<Fit> {
        if let Some(vectors) = &self.vectors {
            let c = problem.spec().c * job.data.observations().uniform_weight().unwrap_or(1.0);
            let mut alpha = vectors.times(&at.a);
            alpha.as_mut_slice().iter_mut().for_each(|a| *a *= c * self.ld);
            return Ok(certify_duals(problem, alpha.as_slice(), None, job.settings, ended)?);
        }
        // The reduced form has no A of all inputs: solve the problem with this Theta given.
        let mut theta = at.l.clone();
        theta.as_mut_slice().iter_mut().for_each(|l| *l /= self.scale);
        let spec = ProblemSpec {
            loss: job.loss.clone(),
            output: RegularizerKind::Fixed { theta: rows(&theta) },
            c: problem.spec().c,
            lambda: 1.0,
            atoms: vec![],
            intercept: Intercept::None,
        };
        let given = Problem::new(job.data, spec)?;
        let settings = Settings { tolerance: 0.1 * job.settings.tolerance, ..job.settings.clone() };
        let inner = Fitter::new(&settings).fit(&given)?;
        certified(problem, &inner, job.settings, ended)
    }
}
