//! The terms of the certificate that come from losses: one pass over the data.
//!
//! Two things are called weights: the matrix W (`weights: &Matrix`), which gives predictions, and the weights
//! of observations (`w`).

use super::intercepts;
use crate::backend::{Columns, Interrupt, Panel, RowBlock, STREAM_ROWS, row_blocks};
use crate::intercept::balance;
use crate::loss::TermBlock;
use crate::{Error, Matrix, Problem, Result, linalg};
use rayon::prelude::*;

/// Sums of losses (`value`) and of conjugates (`conj`), the Fenchel-Young terms of each task (`gap`), and the
/// intercepts at which they were computed.
pub(crate) struct LossTerms {
    pub(crate) value: f64,
    pub(crate) conj: f64,
    pub(crate) gap: Vec<f64>,
    pub(crate) intercept: Vec<f64>,
}

impl LossTerms {
    fn zero(n_tasks: usize) -> Self {
        LossTerms { value: 0.0, conj: 0.0, gap: vec![0.0; n_tasks], intercept: vec![0.0; n_tasks] }
    }
}

/// One pass over the data: predictions F from the weights W, then the terms of every observation. With intercepts,
/// all predictions are kept until the intercepts are known: the given ones, or the best ones for these predictions.
pub(super) fn loss_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    weights: &Matrix,
    intercept: Option<&[f64]>,
    interrupt: &mut Interrupt<'_>,
) -> Result<LossTerms> {
    let blocks = row_blocks(problem.observations(), STREAM_ROWS);
    let Some(rho) = problem.intercept_costs() else {
        return sum_blocks(problem, &blocks, interrupt, |k, scratch| {
            scratch.predict(problem, weights, &blocks[k]);
            block_terms(problem, kappa, &blocks[k], scratch)
        });
    };
    let scores = all_scores(problem, weights, &blocks, interrupt)?;
    let intercept = match intercept {
        Some(given) => given.to_vec(),
        None => intercepts::best(problem, kappa, (&blocks, &scores), rho),
    };
    let mut terms = sum_blocks(problem, &blocks, interrupt, |k, scratch| {
        scratch.scores.clone_from(&scores[k]);
        intercepts::add(&intercept, blocks[k].columns, &mut scratch.scores);
        block_terms(problem, kappa, &blocks[k], scratch)
    })?;
    let sums = balance::task_sums(problem, kappa);
    intercepts::add_terms(problem, &sums, rho, &intercept, &mut terms)?;
    Ok(LossTerms { intercept, ..terms })
}

fn all_scores(
    problem: &Problem<'_>,
    weights: &Matrix,
    blocks: &[RowBlock],
    interrupt: &mut Interrupt<'_>,
) -> Result<Vec<Matrix>> {
    if blocks.iter().all(|block| block.columns == Columns::All)
        && let Some(all) = problem.data().backend().scores_of_all(weights)?
    {
        return Ok(blocks.par_iter().map(|block| rows_of(&all, &block.rows)).collect());
    }
    let mut scores: Vec<Matrix> = Vec::with_capacity(blocks.len());
    interrupt.in_rounds(blocks.len(), 4 * problem.data().threads(), |round| {
        scores.par_extend(blocks[round].par_iter().map_init(TermScratch::default, |scratch, block| {
            scratch.predict(problem, weights, block);
            std::mem::take(&mut scratch.scores)
        }));
    })?;
    Ok(scores)
}

/// Some rows of a matrix.
fn rows_of(m: &Matrix, rows: &[u32]) -> Matrix {
    let mut out = Matrix::zeros(rows.len(), m.cols());
    rows.iter().enumerate().for_each(|(j, &i)| out.row_mut(j).copy_from_slice(m.row(i as usize)));
    out
}

/// Predictions of all observations for the weights W, without offsets and intercepts.
pub(crate) fn predictions(
    problem: &Problem<'_>,
    weights: &Matrix,
    interrupt: &mut Interrupt<'_>,
) -> Result<Vec<f64>> {
    let blocks = row_blocks(problem.observations(), STREAM_ROWS);
    let scores = all_scores(problem, weights, &blocks, interrupt)?;
    Ok(by_observation(problem, &blocks, &scores))
}

/// Scores of blocks in the order of the observations.
fn by_observation(problem: &Problem<'_>, blocks: &[RowBlock], scores: &[Matrix]) -> Vec<f64> {
    let obs = problem.observations();
    let mut out = vec![0.0; obs.len()];
    for (block, scores) in blocks.iter().zip(scores) {
        for (row, &i) in block.rows.iter().enumerate() {
            for o in obs.of_input(i as usize) {
                out[o] = scores[(row, if block.columns == Columns::All { obs.task(o) } else { 0 })];
            }
        }
    }
    out
}

/// The duals that answer to predictions of the weights W and these intercepts, `kappa = -gamma L'(y, F)`, and the terms
/// of both, those of intercepts aside.
pub(crate) fn answer_terms(
    problem: &Problem<'_>,
    weights: &Matrix,
    intercept: Option<&[f64]>,
    interrupt: &mut Interrupt<'_>,
) -> Result<(Vec<f64>, LossTerms)> {
    let answer = |(o, z): (usize, f64)| -problem.gamma(o) * problem.loss_at(o).mean_slope(z);
    let answers = |z: Vec<f64>| z.into_iter().enumerate().map(answer).collect();
    terms_of_answers(problem, (weights, intercept), answers, interrupt)
}

/// The same for duals that are another function of the predictions of all observations, which lack their offsets.
pub(crate) fn terms_of_answers(
    problem: &Problem<'_>,
    (weights, intercept): (&Matrix, Option<&[f64]>),
    answers: impl FnOnce(Vec<f64>) -> Vec<f64>,
    interrupt: &mut Interrupt<'_>,
) -> Result<(Vec<f64>, LossTerms)> {
    let blocks = row_blocks(problem.observations(), STREAM_ROWS);
    let mut scores = all_scores(problem, weights, &blocks, interrupt)?;
    if let Some(intercept) = intercept {
        blocks
            .iter()
            .zip(&mut scores)
            .for_each(|(block, own)| intercepts::add(intercept, block.columns, own));
    }
    let kappa = answers(by_observation(problem, &blocks, &scores));
    let terms = sum_blocks(problem, &blocks, interrupt, |k, scratch| {
        scratch.scores.clone_from(&scores[k]);
        block_terms(problem, &kappa, &blocks[k], scratch)
    })?;
    Ok((kappa, terms))
}

/// The terms of all blocks, added up in order.
fn sum_blocks(
    problem: &Problem<'_>,
    blocks: &[RowBlock],
    interrupt: &mut Interrupt<'_>,
    terms: impl Fn(usize, &mut TermScratch) -> Result<LossTerms> + Sync,
) -> Result<LossTerms> {
    let mut parts: Vec<Result<LossTerms>> = Vec::with_capacity(blocks.len());
    interrupt.in_rounds(blocks.len(), 4 * problem.data().threads(), |round| {
        parts
            .par_extend(round.into_par_iter().map_init(TermScratch::default, |scratch, k| terms(k, scratch)));
    })?;
    let mut total = LossTerms::zero(problem.observations().n_tasks());
    for part in parts {
        let part = part?;
        total.value += part.value;
        total.conj += part.conj;
        linalg::axpy(&mut total.gap, 1.0, &part.gap);
    }
    Ok(total)
}

#[derive(Default)]
struct TermScratch {
    panel: Panel,
    scores: Matrix,
    columns: Vec<TaskEntries>,
    weights: Vec<f64>,
    terms: Vec<f64>,
}

/// The observations of one task within a block.
#[derive(Default)]
struct TaskEntries {
    observation: Vec<u32>,
    y: Vec<f64>,
    z: Vec<f64>,
    offset: Vec<f64>,
    w: Vec<f64>,
    kappa: Vec<f64>,
}

/// Observations of one loss: labels, scores, offsets (none where all are zero), weights and duals.
struct Entries<'a> {
    y: &'a [f64],
    z: &'a mut [f64],
    offset: &'a [f64],
    w: &'a [f64],
    kappa: &'a [f64],
}

impl TermScratch {
    /// Computes the scores of a block.
    fn predict(&mut self, problem: &Problem<'_>, weights: &Matrix, block: &RowBlock) {
        let backend = problem.data().backend();
        backend.load(&block.rows, &mut self.panel);
        backend.scores(&mut self.panel, block.columns, weights, &mut self.scores, 1);
    }
}

/// The terms of a block whose scores are in `scratch`.
fn block_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    block: &RowBlock,
    scratch: &mut TermScratch,
) -> Result<LossTerms> {
    let obs = problem.observations();
    let TermScratch { scores, columns, weights: w, terms, .. } = scratch;
    let mut out = LossTerms::zero(obs.n_tasks());
    let first = block.rows.first().map_or(0, |&i| i as usize);
    let neighbours = block.rows.iter().enumerate().all(|(j, &i)| i as usize == first + j);
    if let (true, true, Some(_)) = (obs.is_complete(), neighbours, problem.only_loss()) {
        // Every input has a label for every task and the rows are consecutive: no copies are needed.
        let t = obs.n_tasks();
        let span = first * t..(first + block.rows.len()) * t;
        w.clear();
        match problem.uniform_gamma() {
            Some(gamma) => w.resize(span.len(), gamma),
            None => w.extend(span.clone().map(|o| problem.gamma(o))),
        }
        let (y, kappa) = (&obs.labels()[span.clone()], &kappa[span.clone()]);
        let offset = obs.offsets().map_or(&[][..], |offset| &offset[span.clone()]);
        let entries = Entries { y, z: scores.as_mut_slice(), offset, w, kappa };
        out.add(problem, 0, entries, terms, |j| span.start + j)?;
        terms.chunks(t).for_each(|row| linalg::axpy(&mut out.gap, 1.0, row));
        return Ok(out);
    }
    columns.resize_with(obs.n_tasks(), TaskEntries::default);
    for (row, &i) in block.rows.iter().enumerate() {
        for o in obs.of_input(i as usize) {
            let task = obs.task(o);
            let table_column = if block.columns == Columns::All { task } else { 0 };
            let column = &mut columns[task];
            column.observation.push(o as u32);
            column.y.push(obs.label(o));
            column.z.push(scores[(row, table_column)]);
            column.offset.extend(obs.offsets().map(|offset| offset[o]));
            column.w.push(problem.gamma(o));
            column.kappa.push(kappa[o]);
        }
    }
    for (task, column) in columns.iter_mut().enumerate().filter(|(_, column)| !column.y.is_empty()) {
        let TaskEntries { observation, y, z, offset, w, kappa } = column;
        out.add(problem, task, Entries { y, z, offset, w, kappa }, terms, |j| observation[j] as usize)?;
        out.gap[task] += terms.iter().sum::<f64>();
        [y, z, offset, w, kappa].into_iter().for_each(|entries| entries.clear());
        observation.clear();
    }
    Ok(out)
}

impl LossTerms {
    /// Adds observations. Afterwards `terms` has their Fenchel-Young terms and `z` includes the offsets.
    fn add(
        &mut self,
        problem: &Problem<'_>,
        task: usize,
        Entries { y, z, offset, w, kappa }: Entries<'_>,
        terms: &mut Vec<f64>,
        number: impl Fn(usize) -> usize,
    ) -> Result<()> {
        if !offset.is_empty() {
            // The conjugate of `z -> L(y, z + offset)` is `L*(y, u) - offset u`, at `u = -kappa / w`.
            linalg::axpy(z, 1.0, offset);
            self.conj += linalg::dot(kappa, offset);
        }
        terms.clear();
        terms.resize(y.len(), 0.0);
        let (value, conj, outside, negative) = (0.0, 0.0, None, None);
        let mut block = TermBlock { y, z, w, kappa, terms, value, conj, outside, negative };
        problem.loss(task).block_terms(&mut block);
        if let Some(j) = block.outside {
            return Err(infeasible(problem, number(j), kappa[j]));
        }
        if let Some((j, term)) = block.negative {
            return Err(Error::NegativeGap { observation: number(j), term });
        }
        self.value += block.value;
        self.conj += block.conj;
        Ok(())
    }
}

/// The error for a dual outside the domain of its loss, where the dual value is minus infinity.
fn infeasible(problem: &Problem<'_>, observation: usize, kappa: f64) -> Error {
    let ((low, high), unit) = (problem.box_of(observation), problem.unit());
    Error::Infeasible { observation, value: kappa * unit, low: low * unit, high: high * unit }
}
