//! Predictors and task matrix in turns: the inner problem has a given Theta, the outer step a closed form.

use kinfolk::model::Predictor;
use kinfolk::{
    Fit, Fitter, Flow, Intercept, Matrix, Observer, Problem, ProblemSpec, Progress, RegularizerKind, Settings,
};
use kinfolk_train::{Job, Result};

/// An outer iteration.
pub(super) struct Alternation<'a> {
    /// Theta from the inner products of the tasks' functions.
    pub(super) theta: &'a dyn Fn(&Matrix) -> Result<Matrix>,
    /// Relative change of Theta at which the published code ends.
    pub(super) min_change: f64,
    /// Rounds at most.
    pub(super) max_rounds: usize,
}

/// Tolerance of inner problems, as a fraction of that of the whole.
const INNER_TOLERANCE: f64 = 0.1;

impl Alternation<'_> {
    /// The last inner fit, certified for the whole problem. `first` must be positive definite.
    pub(super) fn fit(
        &self,
        job: &Job<'_>,
        problem: &Problem<'_>,
        first: Matrix,
        name: &'static str,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let (inner, rounds) = self.run(job, problem.spec().c, first, observer)?;
        certified(problem, &inner, job.settings, (name, rounds))
    }

    /// The last inner fit and the number of rounds.
    fn run(
        &self,
        job: &Job<'_>,
        c: f64,
        mut theta: Matrix,
        observer: &mut dyn Observer,
    ) -> Result<(Fit, usize)> {
        let settings =
            Settings { tolerance: INNER_TOLERANCE * job.settings.tolerance, ..job.settings.clone() };
        let mut alpha: Option<Vec<f64>> = None;
        for round in 1.. {
            let output = RegularizerKind::Fixed { theta: rows(&theta) };
            let spec = ProblemSpec {
                loss: job.loss.clone(),
                output,
                c,
                lambda: 1.0,
                atoms: vec![],
                intercept: Intercept::None,
            };
            let problem = Problem::new(job.data, spec)?;
            let mut inner = Inner { observer, stopped: false };
            let fit = Fitter::new(&settings).warm(alpha.as_deref()).observer(&mut inner).fit(&problem)?;
            let stopped = inner.stopped;
            let next = (self.theta)(&fit.products)?;
            let change = distance(&next, &theta) / size(&theta);
            if stopped || change <= self.min_change || round >= self.max_rounds {
                return Ok((fit, round));
            }
            alpha = fit.model.alpha().map(<[f64]>::to_vec);
            theta = next;
        }
        unreachable!("rounds are counted")
    }
}

/// Forwards requests to stop to an inner fit and hides its progress reports.
struct Inner<'a> {
    observer: &'a mut dyn Observer,
    stopped: bool,
}

impl Observer for Inner<'_> {
    fn progress(&mut self, _: &Progress<'_>) -> Flow {
        self.poll()
    }

    fn poll(&mut self) -> Flow {
        let flow = self.observer.poll();
        self.stopped |= flow == Flow::Stop;
        flow
    }
}

/// A function of the eigenvalues of a symmetric matrix.
pub(super) fn spectral(m: &Matrix, values: impl Fn(&[f64]) -> Vec<f64>) -> Result<Matrix> {
    let (old, vectors) = m.eigen()?;
    let new = values(&old.iter().map(|s| s.max(0.0)).collect::<Vec<_>>());
    let mut scaled = vectors.clone();
    for r in 0..scaled.rows() {
        scaled.row_mut(r).iter_mut().zip(&new).for_each(|(x, value)| *x *= value);
    }
    let mut out = scaled.times(&vectors.transposed());
    symmetrise(&mut out);
    Ok(out)
}

pub(super) fn symmetrise(m: &mut Matrix) {
    for r in 0..m.rows() {
        for s in 0..r {
            let mean = 0.5 * (m[(r, s)] + m[(s, r)]);
            (m[(r, s)], m[(s, r)]) = (mean, mean);
        }
    }
}

/// A list of rows.
pub(super) fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.rows()).map(|r| m.row(r).to_vec()).collect()
}

/// Frobenius norm.
pub(super) fn size(m: &Matrix) -> f64 {
    m.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(super) fn distance(a: &Matrix, b: &Matrix) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The weights of a model, features x tasks, or its coefficients, inputs x tasks.
pub(super) fn weights(fit: &Fit) -> Matrix {
    match fit.model.predictor() {
        Predictor::Weights(weights) => weights.clone(),
        Predictor::Kernel(expansion) => {
            let coefficients = &expansion.coefficients;
            let mut all = Matrix::zeros(fit.model.about().n_inputs, coefficients.cols());
            for (from, &to) in expansion.rows.iter().enumerate() {
                all.row_mut(to as usize).copy_from_slice(coefficients.row(from));
            }
            all
        }
        other => unreachable!("a predictor of another kind: {other:?}"),
    }
}

/// The fit of the whole problem that an inner fit with a given Theta stands for.
pub(super) fn certified(
    problem: &Problem<'_>,
    inner: &Fit,
    settings: &Settings,
    ended: (&'static str, usize),
) -> Result<Fit> {
    let alpha = inner.model.alpha().unwrap_or_default();
    let separable = problem.spec().output.is_entrywise();
    let own = (!separable).then(|| weights(inner));
    Ok(kinfolk::certify_duals(problem, alpha, own.as_ref(), settings, ended)?)
}
