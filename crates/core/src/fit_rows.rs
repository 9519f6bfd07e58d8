//! Fitting rows that are elsewhere: from a model of some rows to that of all of them.

use crate::backend::{self, Expansion, Interrupt};
use crate::certificate::Graded;
use crate::linalg::{self, view};
use crate::rows::Rows;
use crate::solver::Solution;
use crate::solver::rows::{self, RowsPointFound, RowsSolution, RowsStart};
use crate::{Error, Fit, Matrix, Model, Observer, Problem, Result, Settings, Statistics, Status};
use std::time::Instant;

/// Solves a problem whose rows are elsewhere, for any loss and the linear kernel.
///
/// `start` is a model of some rows that stand for all of them ([`Statistics::stand_in`]), with its scalings, and
/// `problem` its problem. The same problem is then solved for all rows, with C and the regulariser of the start. The
/// certificate is from all rows. The model has no duals: they are functions of its predictions.
///
/// ```
/// # use kinfolk::inputs::{Dense, Inputs};
/// use kinfolk::rows::ResidentRows;
/// use kinfolk::{Dataset, LossKind, Observations, Problem, ProblemSpec, Scaling, Settings, Silent, Statistics};
/// # let x: Vec<f64> = (0..80).map(|i| ((i * i * 7 + i) % 13) as f64 / 6.0 - 1.0).collect();
/// # let signs = |i: u32| if (i * 5 + i / 7) % 3 == 0 { -1.0 } else { 1.0 };
/// # let inputs = [0, 1].map(|part| Inputs::from(Dense::f64(&x[part * 40..][..40], 20, 2).unwrap()));
/// # let task: Vec<u32> = (0..20).map(|i| i % 2).collect();
/// # let signs_of = |part: u32| (0..20).map(|i| signs(part * 20 + i)).collect();
/// # let labels = [0, 1].map(|part| Observations::multi_task(&task, signs_of(part)).unwrap());
/// // Two parts of the rows, which may be anywhere.
/// let parts = vec![(&inputs[0], &labels[0]), (&inputs[1], &labels[1])];
/// let mut statistics = Statistics::new(&Default::default());
/// for (inputs, labels) in &parts {
///     statistics.update(inputs, labels)?; // the first pass
/// }
/// let (inputs, labels) = statistics.stand_in(&Scaling::None, None)?.unwrap();
/// let data = Dataset::new(&inputs, &labels, Default::default())?;
/// let problem = Problem::new(&data, ProblemSpec { loss: LossKind::Logistic.into(), ..ProblemSpec::default() })?;
/// let settings = Settings { tolerance: 1e-6, ..Settings::default() };
/// let start = kinfolk::fit(&problem, &settings)?.model;
/// let rows = ResidentRows::new(parts, 0);
/// let fit = kinfolk::fit_rows(&problem, &start, &statistics, &rows, &settings, &mut Silent)?;
/// assert!(fit.certificate().rel_gap() <= 1e-6);
/// # Ok::<(), kinfolk::Error>(())
/// ```
///
/// # Errors
/// [`Error::Incompatible`] for another kernel or other rows than those of the statistics; [`Error::NotEntrywise`]; what
/// the rows say; [`Error::Interrupted`] if it was stopped before there was a certificate.
pub fn fit_rows(
    problem: &Problem<'_>,
    start: &Model,
    statistics: &Statistics,
    rows: &dyn Rows,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let began = Instant::now();
    let (data, spec) = (problem.data(), problem.spec());
    if *data.kernel() != crate::Kernel::Linear || data.options().bias != 0.0 {
        let why = "rows that are elsewhere need the linear kernel without a constant feature";
        return Err(Error::Incompatible(why.into()));
    }
    if (statistics.n_features(), statistics.tasks()) != (data.inputs().n_features(), start.tasks()) {
        return Err(Error::Incompatible("the start is not a model of rows of these statistics".into()));
    }
    problem.entrywise()?;
    let settings = settings.clone().check()?;
    rows.begin(&start.rows_setting())?;
    let labels = problem.observations();
    let weight: f64 = (0..labels.len()).map(|o| spec.c * labels.weight(o)).sum();
    let mean_loss = start.certificate().primal / weight;
    let begin = RowsStart {
        v: first_v(problem, start)?,
        intercept: start.intercept().map_or_else(|| vec![0.0; labels.n_tasks()], <[f64]>::to_vec),
        mean_loss: if mean_loss > 0.0 && mean_loss.is_finite() { mean_loss } else { 1.0 },
        rho: statistics.intercept_costs(spec)?,
    };
    let RowsSolution { point, status, questions, trace } =
        rows::solve(problem, begin, rows, &settings, observer)?;
    check_counts(&point, statistics)?;
    let RowsPointFound { v, intercept, smoothing, theta, gram, certificate, .. } = point;
    let status = match status {
        Status::Certified if certificate.rel_error() > settings.tolerance => Status::Imprecise,
        other => other,
    };
    let threads = data.threads();
    let small = |a: &Matrix, b: &Matrix| linalg::times(view(a), view(b), threads);
    let mut products = data.pool().install(|| small(&small(&theta, &gram), &theta));
    products.scale(1.0 / data.backend().unit());
    let graded = Graded { certificate, theta, state: v.clone(), gram, intercept };
    let (kappa, solver) = (vec![0.0; labels.len()], "newton on rows");
    let passes = questions;
    let solution = Solution { kappa, v: Some(v), graded, status, solver, passes, trace, reason: None };
    let trace = solution.trace.clone();
    let mut model = Model::new(problem, solution)?;
    model.stands_for(statistics, smoothing);
    let seconds = began.elapsed().as_secs_f64();
    Ok(Fit { model, solver, reason: None, passes, seconds, trace, products })
}

/// V of a model, in the problem's own units.
fn first_v(problem: &Problem<'_>, start: &Model) -> Result<Matrix> {
    let (data, scale) = (problem.data(), problem.coordinate_scale());
    if let Some(v) = start.v() {
        let mut v = v.clone();
        v.scale(1.0 / scale);
        return Ok(v);
    }
    let Some(alpha) = start.alpha().filter(|alpha| alpha.len() == problem.observations().len()) else {
        return Err(Error::Incompatible("the start is not a model of this problem".into()));
    };
    let kappa: Vec<f64> = alpha.iter().map(|alpha| alpha / problem.unit()).collect();
    let (duals, never) = (Expansion::Duals(data.observations(), &kappa), &mut Interrupt::never());
    data.pool().install(|| backend::state_of(data.backend(), duals, data.threads(), never))
}

/// `Err` if the rows that were asked are not as many as those of the statistics.
fn check_counts(point: &RowsPointFound, statistics: &Statistics) -> Result<()> {
    let sizes = [("rows", statistics.n_inputs()), ("labels", statistics.n_observations())];
    for ((what, expected), got) in sizes.into_iter().zip(point.counts) {
        if got != expected as f64 {
            let why = format!("there were {expected} {what} at first and {got} later: did a file change?");
            return Err(Error::Incompatible(why));
        }
    }
    Ok(())
}
