//! What some rows answer to a question: numbers, in the caller's units, that add up.

use super::question::{GradeAt, TaskSquares};
use super::{PreparedRows, Question, RowsPoint, RowsSetting};
use crate::backend::{self, Backend, Expansion, Interrupt};
use crate::certificate::{predictions, row_errors, terms_of_answers};
use crate::inputs::Inputs;
use crate::intercept::cost::label_directions;
use crate::linalg::{self, view, view_mut};
use crate::loss::{Evaluated, LossEntries};
use crate::{Dataset, DatasetOptions, Error, Matrix, Problem, Result};
use rayon::prelude::*;

impl RowsSetting {
    /// What rows answer to a question.
    ///
    /// # Errors
    /// If labels do not suit the loss, or predictions leave the range of double precision in a certificate.
    pub fn answer(&self, question: &Question, rows: &PreparedRows, threads: usize) -> Result<Vec<f64>> {
        let options = DatasetOptions { threads, memory: u64::MAX, ..DatasetOptions::default() };
        let data = Dataset::new(&rows.inputs, &rows.observations, options)?;
        let problem = Problem::new(&data, self.spec())?;
        let expected = (rows.inputs.n_features(), rows.observations.n_tasks());
        let suits = |point: &RowsPoint| {
            (point.weights.rows(), point.weights.cols()) == expected && point.intercept.len() == expected.1
        };
        if !question.points().iter().all(suits) {
            return Err(Error::Incompatible("a question about rows is about other features or tasks".into()));
        }
        let asked = AskedRows { problem: &problem, inputs: &rows.inputs, backend: data.backend() };
        data.pool().install(|| match question {
            Question::Look(point, blocks) => asked.look(point, *blocks),
            Question::Values(points) => {
                let value = |point: &RowsPoint| Ok(problem.unit() * asked.evaluate(point)?.value);
                points.iter().map(value).collect()
            }
            Question::Curve(point, direction) => asked.curve(point, direction),
            Question::Balance(point) => asked.balance(point),
            Question::Grade(point, at) => asked.grade(point, at),
        })
    }
}

/// Rows with their losses. Inside, everything is in the units of this problem; answers are in those of the caller.
struct AskedRows<'a> {
    problem: &'a Problem<'a>,
    inputs: &'a Inputs<'a>,
    backend: &'a dyn Backend,
}

/// Rows of a block X'DX that are multiplied at a time.
const BLOCK_ROWS: usize = 512;

impl AskedRows<'_> {
    fn look(&self, point: &RowsPoint, blocks: TaskSquares) -> Result<Vec<f64>> {
        let SoftEvaluated { value, kappa, curvature, falls } = self.evaluate(point)?;
        let unit = self.problem.unit();
        let mut out = vec![unit * value];
        out.extend(self.task_sums(&kappa, |kappa| kappa.max(0.0)));
        out.extend(self.task_sums(&kappa, |kappa| kappa.min(0.0)));
        out.extend(self.task_sums(&curvature, |curvature| curvature));
        out.extend(self.state(&kappa)?.into_vec());
        out.extend(self.state(&curvature)?.into_vec());
        if point.smoothing > 0.0 {
            out.extend(self.task_sums(&falls, |fall| fall));
            out.extend(self.state(&falls)?.into_vec());
        }
        if blocks == TaskSquares::Wanted {
            self.blocks(&curvature).iter().for_each(|block| out.extend(lower(block)));
        }
        Ok(out)
    }

    fn curve(&self, point: &RowsPoint, direction: &Matrix) -> Result<Vec<f64>> {
        let curvature = self.evaluate(point)?.curvature;
        let mut change = self.predict(direction)?;
        change.iter_mut().zip(&curvature).for_each(|(change, d)| *change *= d);
        let mut out = self.state(&change)?.into_vec();
        out.extend(self.task_sums(&change, |change| change));
        Ok(out)
    }

    fn balance(&self, point: &RowsPoint) -> Result<Vec<f64>> {
        let kappa = self.evaluate(point)?.kappa;
        let mut out = self.task_sums(&kappa, |kappa| kappa.max(0.0));
        out.extend(self.task_sums(&kappa, |kappa| kappa.min(0.0)));
        let problem = self.problem;
        out.extend(label_directions(problem.observations(), |task| problem.loss(task)).concat());
        Ok(out)
    }

    fn grade(&self, point: &RowsPoint, GradeAt { factors, errors }: &GradeAt) -> Result<Vec<f64>> {
        let (problem, unit) = (self.problem, self.problem.unit());
        let obs = problem.observations();
        if factors.len() != obs.n_tasks() || errors.len() != obs.n_tasks() {
            return Err(Error::Incompatible("a question about rows is about other tasks".into()));
        }
        let (mut predictions, mut curvature) = (vec![], vec![]);
        let answers = |z: Vec<f64>| {
            predictions.clone_from(&z);
            let found = evaluated(problem, z, point.smoothing);
            curvature = found.curvature;
            let mut kappa = found.kappa;
            kappa.iter_mut().enumerate().for_each(|(o, kappa)| {
                *kappa *= factors[obs.task(o)][usize::from(*kappa < 0.0)];
            });
            kappa
        };
        let weights = self.own_weights(&point.weights);
        let at = (&weights, Some(&point.intercept[..]));
        let (kappa, terms) = terms_of_answers(problem, at, answers, &mut Interrupt::never())?;
        let mut out = self.counts().to_vec();
        out.extend([unit * terms.value, unit * terms.conj]);
        out.extend(terms.gap.iter().map(|gap| unit * gap));
        out.extend(self.task_sums(&kappa, |kappa| kappa));
        let scale = self.backend.unit() / self.backend.coordinate_unit();
        let errors: Vec<_> = errors.iter().map(|error| error.scaled(scale)).collect();
        let errors = row_errors(problem, (&kappa, &predictions), |o| curvature[o], &errors);
        out.extend(errors.scaled(unit, self.backend.coordinate_unit()).to_numbers());
        out.extend(self.state(&kappa)?.into_vec());
        Ok(out)
    }

    fn counts(&self) -> [f64; 2] {
        let obs = self.problem.observations();
        [obs.n_inputs() as f64, obs.len() as f64]
    }

    /// Weights in the units of the backend.
    fn own_weights(&self, weights: &Matrix) -> Matrix {
        let mut own = weights.clone();
        own.scale(self.backend.unit() / self.backend.coordinate_unit());
        own
    }

    /// Predictions of all observations, without offsets and intercepts.
    fn predict(&self, weights: &Matrix) -> Result<Vec<f64>> {
        predictions(self.problem, &self.own_weights(weights), &mut Interrupt::never())
    }

    /// Losses, duals and curvatures at a point.
    fn evaluate(&self, point: &RowsPoint) -> Result<SoftEvaluated> {
        let mut z = self.predict(&point.weights)?;
        let obs = self.problem.observations();
        z.iter_mut().enumerate().for_each(|(o, z)| *z += point.intercept[obs.task(o)]);
        Ok(evaluated(self.problem, z, point.smoothing))
    }

    /// Sums over the observations of each task, of values in the problem's own units.
    fn task_sums(&self, values: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
        let (obs, unit) = (self.problem.observations(), self.problem.unit());
        let mut sums = vec![0.0; obs.n_tasks()];
        values.iter().enumerate().for_each(|(o, value)| sums[obs.task(o)] += unit * of(*value));
        sums
    }

    /// `X'a` for values a of all observations.
    fn state(&self, values: &[f64]) -> Result<Matrix> {
        let duals = Expansion::Duals(self.problem.observations(), values);
        let threads = self.problem.data().threads();
        let mut state = backend::state_of(self.backend, duals, threads, &mut Interrupt::never())?;
        state.scale(self.problem.unit() * self.backend.coordinate_unit());
        Ok(state)
    }

    /// X'DX of each task, its lower triangle.
    fn blocks(&self, curvature: &[f64]) -> Vec<Matrix> {
        let (obs, unit, d) = (self.problem.observations(), self.problem.unit(), self.inputs.n_features());
        let mut of_task: Vec<Vec<(u32, f64)>> = vec![vec![]; obs.n_tasks()];
        for (o, curvature) in curvature.iter().enumerate().filter(|(_, curvature)| **curvature > 0.0) {
            of_task[obs.task(o)].push((obs.input(o) as u32, (unit * curvature).sqrt()));
        }
        let block = |own: &Vec<(u32, f64)>| {
            let mut block = Matrix::zeros(d, d);
            for part in own.chunks(BLOCK_ROWS) {
                let rows: Vec<u32> = part.iter().map(|(row, _)| *row).collect();
                let mut x = Matrix::zeros(rows.len(), d);
                self.inputs.load(&rows, x.as_mut_slice());
                for (i, (_, root)) in part.iter().enumerate() {
                    x.row_mut(i).iter_mut().for_each(|x| *x *= root);
                }
                linalg::add_gram_lower(view_mut(&mut block), view(&x), 1.0, 1);
            }
            block
        };
        of_task.par_iter().map(block).collect()
    }
}

/// Losses with their derivatives, and how fast duals fall with mu: nothing without smoothing.
struct SoftEvaluated {
    value: f64,
    kappa: Vec<f64>,
    curvature: Vec<f64>,
    falls: Vec<f64>,
}

/// Observations handled at a time.
const CHUNK: usize = 8192;

/// Losses, duals and curvatures at predictions of all observations, which lack their offsets.
fn evaluated(problem: &Problem<'_>, mut z: Vec<f64>, smoothing: f64) -> SoftEvaluated {
    let obs = problem.observations();
    if let Some(offsets) = obs.offsets() {
        linalg::axpy(&mut z, 1.0, offsets);
    }
    if smoothing <= 0.0 {
        let gamma: Vec<f64> = (0..obs.len()).map(|o| problem.gamma(o)).collect();
        let loss_of = |o: usize| problem.loss(obs.task(o));
        let entries = LossEntries {
            labels: obs.labels(),
            z: &z,
            gamma: &gamma,
            centre: &[],
            mu: 0.0,
            only_loss: problem.only_loss(),
            loss_of: &loss_of,
        };
        let Evaluated { value, kappa, curvature } = entries.evaluate();
        return SoftEvaluated { value, kappa, curvature, falls: vec![] };
    }
    let starts: Vec<usize> = (0..z.len()).step_by(CHUNK).collect();
    let chunk = |&start: &usize| {
        let range = start..z.len().min(start + CHUNK);
        range.map(|o| softened(problem, o, z[o], smoothing)).collect::<Vec<[f64; 4]>>()
    };
    let all: Vec<[f64; 4]> = starts.par_iter().map(chunk).collect::<Vec<_>>().concat();
    let column = |j: usize| all.iter().map(|own| own[j]).collect::<Vec<f64>>();
    let value = all.chunks(CHUNK).map(|part| part.iter().map(|own| own[0]).sum::<f64>()).sum();
    SoftEvaluated { value, kappa: column(1), curvature: column(2), falls: column(3) }
}

/// Value, dual, curvature and fall of the dual of an observation, softened if its loss has kinks.
fn softened(problem: &Problem<'_>, o: usize, z: f64, mu: f64) -> [f64; 4] {
    let (obs, gamma) = (problem.observations(), problem.gamma(o));
    if gamma == 0.0 {
        return [0.0; 4];
    }
    let (loss, y) = (problem.only_loss().unwrap_or_else(|| problem.loss(obs.task(o))), obs.label(o));
    match loss.quadratic_conjugate(y).filter(|own| own.has_kinks()) {
        Some(conjugate) => {
            let own = conjugate.softened(z, mu);
            [own.value, own.dual, own.curvature, own.fall].map(|x| gamma * x)
        }
        None => {
            let (left, right) = loss.slope(y, z);
            [loss.value(y, z), -0.5 * (left + right), loss.curvature(y, z), 0.0].map(|x| gamma * x)
        }
    }
}

/// Curvatures of the observations of a problem at a point, in its own units.
pub(crate) fn observed_curvatures(problem: &Problem<'_>, point: &RowsPoint) -> Vec<f64> {
    let asked = AskedRows { problem, inputs: problem.data().inputs(), backend: problem.data().backend() };
    asked.evaluate(point).map_or_else(|_| vec![0.0; problem.observations().len()], |found| found.curvature)
}

/// The duals that answer to predictions of all observations, which lack their offsets.
pub(crate) fn answering_duals(problem: &Problem<'_>, z: Vec<f64>, smoothing: f64) -> Vec<f64> {
    evaluated(problem, z, smoothing).kappa
}

/// The lower triangle, row by row.
fn lower(block: &Matrix) -> impl Iterator<Item = f64> + '_ {
    (0..block.rows()).flat_map(|i| block.row(i)[..=i].iter().copied())
}
