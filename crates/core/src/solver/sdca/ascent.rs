//! The state of an ascent, and a pass of it: blocks of inputs, inputs, steps.

use super::atoms::AscentAtoms;
use super::intercepts::AscentIntercepts;
use super::order::{Visit, Visits};
use crate::backend::{self, Columns, Expansion, Interrupt, Panel};
use crate::certificate::{Graded, predictions};
use crate::intercept::settle::{SettlePoint, settled};
use crate::linalg::aligned::{Aligned, AlignedRows};
use crate::linalg::{self, add_rows_simd, axpy_simd, axpy2_simd, dot_simd, fma, sweep_simd};
use crate::loss::QuadraticConjugate;
use crate::regularizer::{RowStep, SumRegularizer};
use crate::solver::{Clock, Incumbent};
use crate::step::{self, AddedSlope, Coordinate, RowSums, cubic};
use crate::{Matrix, Problem, Result};
use pulp::{Simd, WithSimd};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The duals, and everything that is updated together with them.
pub(super) struct Ascent<'a> {
    problem: &'a Problem<'a>,
    output: &'a SumRegularizer,
    atoms: AscentAtoms<'a>,
    linear: Option<f64>,
    /// Whether every loss has a quadratic conjugate.
    quadratic: bool,
    /// Whether Theta is anything but zero at rho = 0.
    prior: bool,
    pub(super) kappa: Vec<f64>,
    intercepts: AscentIntercepts,
    state: Matrix,
    /// The task Gram matrix G.
    gram: AlignedRows,
    work: AscentScratch,
}

/// Scratch space of a block.
#[derive(Default)]
struct AscentScratch {
    panel: Panel,
    scores: Matrix,
    kernel: Matrix,
    delta: Matrix,
    /// Observations of the input at hand, with their tasks.
    observations: Vec<(u32, u32)>,
    /// In which order to visit them.
    order: Vec<u32>,
    /// Their labels, conjugate losses and duals.
    labels: Vec<f64>,
    shapes: Vec<QuadraticConjugate>,
    kappas: Vec<f64>,
    /// Steps of the block's inputs so far.
    steps_made: AlignedRows,
    b0: Aligned,
    b: Aligned,
    d: Aligned,
    row: Aligned,
    gram_b0: Aligned,
    gram_d: Aligned,
    pending: Pending,
}

/// Steps of the last input that are not in the task Gram matrix yet. It becomes `G + d b' + b0 d'` in the
/// loop over G that the next input needs anyway.
#[derive(Default)]
struct Pending {
    any: bool,
    d: Aligned,
    b: Aligned,
    b0: Aligned,
}

/// What a pass did.
pub(super) struct Pass {
    /// Whether any dual moved.
    pub(super) moved: bool,
    /// Whether every observation was visited.
    pub(super) whole: bool,
}

/// [`Ascent::visit_inputs`], compiled for this machine's widest instructions.
struct VisitInputs<'x, 'a> {
    ascent: &'x mut Ascent<'a>,
    visit: &'x Visit,
    rng: &'x mut ChaCha8Rng,
}

impl WithSimd for VisitInputs<'_, '_> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        self.ascent.visit_inputs(simd, self.visit, self.rng)
    }
}

impl<'a> Ascent<'a> {
    /// At duals that were just certified.
    pub(super) fn new(problem: &'a Problem<'a>, first: Incumbent) -> Result<Self> {
        let intercepts = AscentIntercepts::new(problem, &first.kappa, &first.graded);
        let Incumbent { kappa, graded: Graded { state, gram, .. }, .. } = first;
        let (output, t) = (problem.entrywise()?, gram.rows());
        let (entries, atoms) = (output.entries(), AscentAtoms::new(output, &gram));
        let linear = entries.linear_slope();
        let prior = (0..t).any(|r| (0..t).any(|s| entries.dphi((r, s), 0.0) != 0.0));
        let quadratic = (0..t).all(|task| problem.loss(task).has_quadratic_conjugate());
        Ok(Ascent {
            problem,
            output,
            atoms,
            linear,
            quadratic,
            prior,
            kappa,
            intercepts,
            state,
            gram: aligned(&gram),
            work: AscentScratch::default(),
        })
    }

    /// One pass over all observations.
    pub(super) fn pass(&mut self, visits: &mut Visits, clock: &mut Clock<'_>) -> Pass {
        let (visits, mut rng) = visits.of_pass(clock.passes);
        let mut pass = Pass { moved: false, whole: true };
        let mut left = visits.len();
        for visit in visits {
            pass.moved |= self.block(visit, &mut rng);
            left -= 1;
            if clock.must_stop().is_some() {
                pass.whole = left == 0;
                break;
            }
        }
        pass.moved |= self.intercepts.recentre();
        clock.passes += 1;
        pass
    }

    /// Takes duals, intercepts, the state and the task Gram matrix from a certified point, whose certificate computed
    /// them from the duals alone. So the next passes do not depend on earlier rounding errors, and a resumed fit makes
    /// the same steps.
    pub(super) fn forget_history(&mut self, point: Incumbent) {
        self.intercepts = AscentIntercepts::new(self.problem, &point.kappa, &point.graded);
        self.kappa = point.kappa;
        self.state = point.graded.state;
        self.atoms.reset(&point.graded.gram);
        self.gram = aligned(&point.graded.gram);
    }

    /// The duals, with sums that fit the intercepts: what a certificate may grade.
    pub(super) fn settled(&self, interrupt: &mut Interrupt<'_>) -> Result<Vec<f64>> {
        let (problem, kappa) = (self.problem, self.kappa.clone());
        let Some(b) = self.intercepts.unsettled(problem, &kappa) else { return Ok(kappa) };
        let (data, t) = (problem.data(), self.state.cols());
        let gram = backend::task_gram(
            data.backend(),
            Expansion::Duals(problem.observations(), &kappa),
            &self.state,
            data.threads(),
        )?;
        let theta = self.output.theta(&gram);
        let z = data.pool().install(|| {
            let weights = linalg::times(linalg::view(&self.state), linalg::view(&theta), data.threads());
            predictions(problem, &weights, interrupt)
        })?;
        let diagonal = data.backend().diagonal();
        let own: Vec<f64> = (0..t).map(|task| theta[(task, task)]).collect();
        let obs = problem.observations();
        let stiffness = |o: usize| own[obs.task(o)] * diagonal[obs.input(o)];
        Ok(settled(problem, kappa, &SettlePoint { z: &z, b: &b, stiffness: &stiffness }))
    }

    /// Recomputes the task Gram matrix, and on request the state it comes from.
    ///
    /// # Errors
    /// If a device failed.
    pub(super) fn refresh(&mut self, rebuild: bool) -> Result<()> {
        let (backend, threads) = (self.problem.data().backend(), self.problem.data().threads());
        let duals = Expansion::Duals(self.problem.observations(), &self.kappa);
        self.problem.data().pool().install(|| {
            if rebuild {
                self.state = backend::state_of(backend, duals, threads, &mut Interrupt::never())?;
            }
            let gram = backend::task_gram(backend, duals, &self.state, threads)?;
            self.atoms.reset(&gram);
            self.gram = aligned(&gram);
            Ok(())
        })
    }

    /// Visits every observation of a block; whether any dual moved.
    fn block(&mut self, visit: &Visit, rng: &mut ChaCha8Rng) -> bool {
        let (backend, threads) = (self.problem.data().backend(), self.problem.data().threads());
        let work = &mut self.work;
        let n_columns = if visit.columns == Columns::All { self.state.cols() } else { 1 };
        backend.load(&visit.rows, &mut work.panel);
        backend.scores(&mut work.panel, Columns::All, &self.state, &mut work.scores, threads);
        if visit.rows.len() > 1 {
            backend.gram(&mut work.panel, &mut work.kernel, threads);
        }
        work.delta.reset(visit.rows.len(), n_columns);
        if visit.columns == Columns::All {
            work.steps_made = AlignedRows::zeros(visit.rows.len(), n_columns);
        }
        let moved = pulp::Arch::new().dispatch(VisitInputs { ascent: self, visit, rng });
        if moved {
            let work = &mut self.work;
            backend.add(&mut work.panel, visit.columns, &work.delta, &mut self.state, threads);
        }
        moved
    }

    #[inline(always)]
    fn visit_inputs<S: Simd>(&mut self, simd: S, visit: &Visit, rng: &mut ChaCha8Rng) -> bool {
        let obs = self.problem.observations();
        let diagonal = self.problem.data().backend().diagonal();
        let mut moved = false;
        for (i, &input) in visit.rows.iter().enumerate() {
            self.correct_scores(simd, visit.columns, i);
            self.work.observations.clear();
            match visit.only {
                Some(o) => self.work.observations.push((o as u32, obs.task(o) as u32)),
                None => self.work.observations.extend(obs.of_input_with_task(input as usize)),
            }
            // One random order of the tasks serves all inputs of a block that have as many.
            let n = self.work.observations.len();
            if i == 0 || n != self.work.order.len() {
                self.work.order.clear();
                self.work.order.extend(0..n as u32);
                self.work.order.shuffle(rng);
            }
            let a = diagonal[input as usize];
            moved |= match visit.columns {
                Columns::One(task) => self.visit_one(simd, i, task, a),
                Columns::All => self.visit_all(simd, i, a),
            };
        }
        self.settle(simd);
        if let Columns::One(task) = visit.columns {
            for s in 0..self.state.cols() {
                self.gram.row_mut(s)[task] = self.gram.row(task)[s];
            }
        }
        moved
    }

    /// Brings the scores of the block's i-th input up to date with the steps made on those before it.
    #[inline(always)]
    fn correct_scores<S: Simd>(&mut self, simd: S, columns: Columns, i: usize) {
        if i == 0 {
            return;
        }
        let AscentScratch { scores, kernel, delta, .. } = &mut self.work;
        if let Columns::One(task) = columns {
            scores[(i, task)] += dot_simd(simd, &kernel.row(i)[..i], &delta.as_slice()[..i]);
        }
    }

    /// An input with one observation in this block: only row `task` of the task Gram matrix changes.
    #[inline(always)]
    fn visit_one<S: Simd>(&mut self, simd: S, i: usize, task: usize, a: f64) -> bool {
        let AscentScratch { scores, delta, observations, .. } = &mut self.work;
        let o = observations[0].0 as usize;
        let b = scores.row(i);
        let Some(coordinate) = coordinate(self.problem, &self.intercepts, (o, task), self.kappa[o]) else {
            return false;
        };
        let row = RowStep { task, a, b, c: &self.gram.row(task)[..b.len()] };
        let atoms = self.atoms.along(task, b);
        let new = step::solve(simd, &coordinate, self.output, self.linear, &row, atoms);
        let step = new - self.kappa[o];
        if step != 0.0 {
            self.kappa[o] = new;
            self.intercepts.moved(task, step);
            self.atoms.moved(a, step);
            delta[(i, 0)] = step;
            axpy_simd(simd, self.gram.row_mut(task), step, b);
            self.gram.row_mut(task)[task] += step * (b[task] + a * step);
        }
        step != 0.0
    }

    /// An input with observations of several tasks. With b0 its scores before, d the steps so far and
    /// `b = b0 + a d`, the task Gram matrix is now `G + d b' + b0 d'`; G itself is updated once, with the
    /// next input.
    #[inline(always)]
    fn visit_all<S: Simd>(&mut self, simd: S, i: usize, a: f64) -> bool {
        let t = self.work.scores.cols();
        let AscentScratch { scores, kernel, steps_made, b0, b, d, .. } = &mut self.work;
        [&mut *b0, &mut *b, &mut *d].into_iter().for_each(|vector| vector.reset(t));
        b0[..t].copy_from_slice(scores.row(i));
        if i > 0 {
            add_rows_simd(simd, b0, &kernel.row(i)[..i], steps_made);
        }
        b.copy_from_slice(b0);
        let moved = match self.linear {
            Some(gain) => self.steps_by_sums(simd, gain, a),
            None => self.steps_by_rows(simd, a),
        };
        if moved {
            let AscentScratch { delta, steps_made, b0, b, d, pending, .. } = &mut self.work;
            delta.row_mut(i).copy_from_slice(&d[..t]);
            steps_made.row_mut(i).copy_from_slice(d);
            std::mem::swap(&mut pending.d, d);
            std::mem::swap(&mut pending.b, b);
            std::mem::swap(&mut pending.b0, b0);
            pending.any = true;
        }
        moved
    }

    /// Brings the task Gram matrix up to date with the last input's steps.
    #[inline(always)]
    fn settle<S: Simd>(&mut self, simd: S) {
        let Pending { any, d, b, b0 } = &mut self.work.pending;
        if std::mem::take(any) {
            for r in 0..self.state.cols() {
                axpy2_simd(simd, self.gram.row_mut(r), d[r], b, b0[r], d);
            }
        }
    }

    /// The general case: each step has its row of the task Gram matrix.
    #[inline(always)]
    fn steps_by_rows<S: Simd>(&mut self, simd: S, a: f64) -> bool {
        self.settle(simd);
        let AscentScratch { observations, order, scores, b0, b, d, row, .. } = &mut self.work;
        let t = scores.cols();
        row.reset(t);
        let mut moved = false;
        for &j in order.iter() {
            let (o, task) = (observations[j as usize].0 as usize, observations[j as usize].1 as usize);
            let Some(coordinate) = coordinate(self.problem, &self.intercepts, (o, task), self.kappa[o])
            else {
                continue;
            };
            row.copy_from_slice(self.gram.row(task));
            axpy2_simd(simd, row, b0[task], d, d[task], b);
            let row = RowStep { task, a, b: &b[..t], c: &row[..t] };
            let atoms = self.atoms.along(task, &b[..t]);
            let new = step::solve(simd, &coordinate, self.output, self.linear, &row, atoms);
            // The change of kappa after rounding.
            let step = new - self.kappa[o];
            self.kappa[o] = new;
            self.intercepts.moved(task, step);
            self.atoms.moved(a, step);
            b[task] += a * step;
            d[task] += step;
            moved |= step != 0.0;
        }
        moved
    }

    /// Steps with linear `phi'`, which need only sums: `row'b = (G b0)_r + a (G d)_r + b0_r d'b + d_r b'b`, with G d,
    /// d'b and b'b kept up to date. So no step has to wait for a sum of T terms.
    #[inline(always)]
    fn steps_by_sums<S: Simd>(&mut self, simd: S, gain: f64, a: f64) -> bool {
        let AscentScratch {
            observations,
            order,
            labels,
            shapes,
            kappas,
            scores,
            b0,
            b,
            d,
            gram_b0,
            gram_d,
            pending,
            ..
        } = &mut self.work;
        let t = scores.cols();
        [&mut *gram_b0, &mut *gram_d].into_iter().for_each(|vector| vector.reset(t));
        if std::mem::take(&mut pending.any) {
            sweep_simd(simd, &mut self.gram, [&pending.d, &pending.b, &pending.b0], &b0[..t], gram_b0);
        } else {
            add_rows_simd(simd, gram_b0, &b0[..t], &self.gram);
        }
        // Reads labels and conjugates before the steps, in the order of memory, so that the steps do not wait
        // for memory.
        let (problem, all_labels) = (self.problem, self.problem.observations().labels());
        labels.clear();
        labels.extend(observations.iter().map(|&(o, _)| all_labels[o as usize]));
        shapes.clear();
        match problem.only_loss() {
            _ if !self.quadratic => {}
            Some(loss) => loss.quadratic_conjugates(labels, shapes),
            None => observations.iter().zip(&*labels).for_each(|(&(_, task), y)| {
                shapes.extend(problem.loss(task as usize).quadratic_conjugate(*y));
            }),
        }
        if let Some(offsets) = problem.observations().offsets() {
            for (shape, &(o, _)) in shapes.iter_mut().zip(&*observations) {
                *shape = shape.with_offset(offsets[o as usize]);
            }
        }
        kappas.clear();
        kappas.extend(observations.iter().map(|&(o, _)| self.kappa[o as usize]));
        let uniform = problem.uniform_gamma();
        let (mut bb, mut bd) = (dot_simd(simd, b, b), 0.0);
        // `c_s^2 <= c_r G_ss`: how large the sums are, for rounding.
        let trace: f64 = (0..t).map(|s| self.gram.row(s)[s]).sum();
        let output = self.output;
        let mut moved = false;
        for &j in order.iter() {
            let j = j as usize;
            let ((o, task), kappa) = (observations[j], kappas[j]);
            let (o, task) = (o as usize, task as usize);
            let gamma = uniform.unwrap_or_else(|| problem.gamma(o));
            if gamma == 0.0 {
                continue;
            }
            let (own, score, now) = (d[task], b0[task], b[task]);
            // What was computed last is added last: each step waits for the one before.
            let inner = fma::<S>(a, gram_d[task], fma::<S>(own, bb, fma::<S>(score, bd, gram_b0[task])));
            let c = fma::<S>(own, score + now, self.gram.row(task)[task]);
            let (other_bb, other_bd) = (fma::<S>(-now, now, bb), fma::<S>(-now, own, bd));
            let sums = RowSums { a, b: now, c, squares: bb, inner };
            let mut added = AddedSlope::default();
            if self.prior {
                let row = RowStep { task, a, b: &b[..t], c: &[] };
                added = AddedSlope::new(output, gain, &row, &[]);
            }
            let prior = self.atoms.prior;
            added.add_atoms(prior, gain, a, self.atoms.along(task, &b[..t]));
            let new = if let Some(shape) = shapes.get(j) {
                let intercept = (self.intercepts.of(task), self.intercepts.stiffness(task));
                let shape = shape.with_intercept(intercept, gamma, kappa);
                cubic::solve(simd, &shape, gamma, kappa, gain, &sums, &added)
            } else {
                let Some(coordinate) = coordinate(problem, &self.intercepts, (o, task), kappa) else {
                    continue;
                };
                step::solve_by_sums(simd, &coordinate, gain, (&sums, c * trace.max(c)), &added)
            };
            let step = new - kappa;
            if step != 0.0 {
                self.kappa[o] = new;
                self.intercepts.moved(task, step);
                self.atoms.moved(a, step);
                let (new_b, new_d) = (fma::<S>(a, step, now), own + step);
                (b[task], d[task]) = (new_b, new_d);
                (bb, bd) = (fma::<S>(new_b, new_b, other_bb), fma::<S>(new_b, new_d, other_bd));
                axpy_simd(simd, gram_d, step, self.gram.row(task));
                moved = true;
            }
        }
        moved
    }
}

fn aligned(m: &Matrix) -> AlignedRows {
    let mut out = AlignedRows::zeros(m.rows(), m.cols());
    for r in 0..m.rows() {
        out.row_mut(r)[..m.cols()].copy_from_slice(m.row(r));
    }
    out
}

/// The loss side of an observation of a task; `None` if it has no weight.
#[inline(always)]
fn coordinate<'p>(
    problem: &'p Problem<'_>,
    intercepts: &AscentIntercepts,
    (o, task): (usize, usize),
    kappa: f64,
) -> Option<Coordinate<'p>> {
    let (gamma, mut loss) = (problem.gamma(o), problem.loss_at(o));
    loss.offset += intercepts.of(task);
    (gamma != 0.0).then(|| Coordinate { loss, gamma, kappa, stiffness: intercepts.stiffness(task) })
}
