//! The way through the interior: predictor, corrector, and what is kept of it.

use super::Answer;
use super::atoms::{Atoms, Sums};
use crate::design::{Curvature, Design};
use crate::linalg::{axpy, dot, inner, times, view};
use crate::output::OutputRegularizer;
use crate::solver::vspace::direct::Direct;
use crate::solver::vspace::invert::invert;
use crate::solver::vspace::{Derivative, gram};
use crate::solver::{Clock, Status, graded, start};
use crate::{Error, Matrix, Problem, Result};

thread_local! { static DF: std::cell::RefCell<Vec<f64>> = const { std::cell::RefCell::new(vec![]) }; }
pub(super) struct Path<'a, 'c> {
    problem: &'a Problem<'a>,
    design: &'a Design,
    output: &'a dyn OutputRegularizer,
    threads: usize,
    tolerance: f64,
    best: Best,
    pub(super) clock: Clock<'c>,
}

/// A primal point, and what follows from it.
struct Point {
    v: Matrix,
    gram: Matrix,
    theta: Matrix,
    w: Matrix,
    f: Vec<f64>,
    /// Primal value.
    value: f64,
}

/// The best primal point and the best duals met so far, with what they are thought to be worth.
#[derive(Default)]
struct Best {
    primal: f64,
    v: Matrix,
    dual: f64,
    /// Of all entries.
    kappa: Vec<f64>,
    /// Least relative gap, of the two together or of any point alone.
    gap: f64,
    /// Least mean product of slack and multiplier.
    mean: f64,
    /// The same when a certificate was last made.
    certified: f64,
    /// Steps since there was something better.
    idle: usize,
}

/// Steps without anything better after which to give up.
const PATIENCE: usize = 12;

impl<'a, 'c> Path<'a, 'c> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        design: &'a Design,
        tolerance: f64,
        clock: Clock<'c>,
    ) -> Self {
        let best = Best {
            primal: f64::INFINITY,
            dual: f64::NEG_INFINITY,
            gap: f64::INFINITY,
            mean: f64::INFINITY,
            certified: f64::INFINITY,
            ..Best::default()
        };
        let (output, threads) = (problem.normal_output(), problem.data().threads());
        Path { problem, design, output, threads, tolerance, best, clock }
    }

    /// Goes on until the gap is certified, or nothing gets better.
    pub(super) fn run(&mut self, first: &[f64]) -> Result<(Answer, Status)> {
        let Some(mut atoms) = Atoms::new(self.problem, self.design) else {
            let why = "a loss has no quadratic conjugate".into();
            return Err(Error::Unsuitable { solver: "interior-point", why });
        };
        let mut point = self.point(&atoms, self.design.backward(&self.design.gather(first), self.threads));
        let share = std::env::var("IPM_SHARE").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
        atoms.place(&point.f, share);
        let status = loop {
            let (sums, curvatures) = atoms.linearise(&point.f);
            let kappa = atoms.kappa();
            let mut offset = self.design.backward(&kappa, self.threads);
            let half_phi = 0.5 * self.output.phi_sum(&gram(&offset, self.threads));
            offset.as_mut_slice().iter_mut().zip(point.v.as_slice()).for_each(|(x, v)| *x = v - *x);
            if !self.note(&point, kappa, -sums.conj - half_phi, atoms.mean_product(sums.products)) {
                break Status::Stalled;
            }
            if self.wants_certificate() {
                let answer = self.certify()?;
                if let Some(status) = self.clock.report(&answer.2.certificate, None) {
                    return Ok((answer, status));
                }
            }
            if self.best.idle > PATIENCE {
                break Status::Stalled;
            }
            if self.clock.is_over() {
                break self.clock.must_stop().unwrap_or(Status::PassLimit);
            }
            match self.step(&mut atoms, &point, &sums, curvatures, &offset) {
                Some(next) => point = next,
                None => break self.clock.must_stop().unwrap_or(Status::Stalled),
            }
        };
        let answer = self.certify()?;
        Ok((answer, status))
    }

    fn point(&self, atoms: &Atoms, v: Matrix) -> Point {
        let gram = gram(&v, self.threads);
        let theta = self.output.theta(&gram);
        let w = times(view(&v), view(&theta), self.threads);
        let f = self.design.forward(&w, self.threads);
        let value = atoms.losses(&f) + inner(&theta, &gram) - 0.5 * self.output.phi_sum(&gram);
        Point { v, gram, theta, w, f, value: if value.is_nan() { f64::INFINITY } else { value } }
    }

    /// Keeps what is better than before; false if numbers ran out.
    fn note(&mut self, point: &Point, kappa: Vec<f64>, dual: f64, mean: f64) -> bool {
        if !(point.value.is_finite() && mean.is_finite()) {
            return false;
        }
        let best = &mut self.best;
        let improved = point.value < best.primal - 1e-3 * best.primal.abs();
        if point.value < best.primal {
            (best.primal, best.v) = (point.value, point.v.clone());
        }
        if dual > best.dual || best.kappa.is_empty() {
            (best.dual, best.kappa) = (dual, kappa);
        }
        let size = best.primal.abs().max(best.dual.abs()).max(f64::MIN_POSITIVE);
        let gap = ((best.primal - best.dual) / size).max(f64::EPSILON);
        if gap < 0.99 * best.gap || mean < 0.97 * best.mean || improved {
            best.idle = 0;
        } else {
            best.idle += 1;
        }
        best.gap = best.gap.min(gap);
        best.mean = best.mean.min(mean);
        if std::env::var_os("IPM_TRACE").is_some() {
            eprintln!(
                "{:3} P {:.9e} D {:.9e} best {:.2e} mu {:.2e}",
                self.clock.passes, point.value, dual, best.gap, mean
            );
        }
        true
    }

    /// Whether the gap is thought to be good enough, or a tenth of the last one certified.
    fn wants_certificate(&self) -> bool {
        let Best { gap, certified, .. } = self.best;
        gap < 0.1 * certified || (gap <= self.tolerance && gap < 0.5 * certified)
    }

    fn certify(&mut self) -> Result<Answer> {
        self.best.certified = self.best.gap;
        let mut kappa = self.design.scatter(&self.best.kappa, self.problem.observations().len());
        kappa = start::warm(self.problem, kappa);
        graded::grade(self.problem, kappa, &self.best.v, self.tolerance)
    }

    /// One step of predictor and corrector; `None` if it must stop or numbers ran out.
    fn step(
        &mut self,
        atoms: &mut Atoms,
        point: &Point,
        sums: &Sums,
        curvatures: Vec<f64>,
        offset: &Matrix,
    ) -> Option<Point> {
        let (design, threads) = (self.design, self.threads);
        let gives = curvatures.clone();
        let curvature = Curvature::new(design, curvatures);
        let derivative = Derivative::new(self.output, &point.v, &point.gram, &point.theta, threads);
        let direct = Direct::new(design, &curvature, &derivative)?;
        self.clock.passes += 1;
        if self.clock.must_stop().is_some() {
            return None;
        }
        let towards = |atoms: &mut Atoms, mut pull: Vec<f64>| {
            let w = design.backward(&pull, threads);
            pull.iter_mut().zip(&gives).for_each(|(pull, d)| *pull = if *d > 0.0 { *pull / d } else { 0.0 });
            let dv = direct.solve_pull(design, &w, &pull, offset);
            let dw = derivative.apply(&dv);
            let df = design.forward(&dw, threads);
            let longest = atoms.follow(&df);
            if std::env::var_os("IPM_TRACE").is_some() {
                DF.with(|c| *c.borrow_mut() = df);
            }
            (dv, dw, longest)
        };
        let mean = atoms.mean_product(sums.products);
        let pull = atoms.take_aim(0.0, 0.0);
        let (mut dv, mut dw, (primal, dual)) = towards(atoms, pull);
        let (mut primal, mut dual) = (primal.min(1.0), dual.min(1.0));
        let mut tau = 0.0;
        if atoms.are_bounded() {
            let after = atoms.mean_product(atoms.products_after(primal, dual));
            tau = mean * (after / mean).powi(3).clamp(1e-4, 1.0);
            let mut most;
            let pull = atoms.take_aim(tau, primal * dual);
            (dv, dw, most) = towards(atoms, pull);
            let correctors = std::env::var("IPM_MCC").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
            for _ in 0..correctors {
                let cut = |most: (f64, f64)| (most.0.min(1.0), most.1.min(1.0));
                let now = cut(most);
                if now.0 + now.1 > 1.9 {
                    break;
                }
                let aim = ((1.5 * now.0 + 0.1).min(1.0), (1.5 * now.1 + 0.1).min(1.0));
                let pull = atoms.centre(aim, tau);
                let (dv_, dw_, most_) = towards(atoms, pull);
                let new = cut(most_);
                if new.0 + new.1 < now.0 + now.1 + 0.05 * (aim.0 + aim.1 - now.0 - now.1)
                    || new.0 < 0.9 * now.0
                    || new.1 < 0.9 * now.1
                {
                    atoms.revert();
                    break;
                }
                (dv, dw, most) = (dv_, dw_, most_);
            }
            (primal, dual) = ((0.99 * most.0).min(1.0), (0.99 * most.1).min(1.0));
        }
        if dv.as_slice().iter().any(|x| !x.is_finite()) {
            return None;
        }
        let mode = std::env::var("IPM_MODE").unwrap_or_default();
        if mode == "same" {
            primal = primal.min(dual);
            dual = primal;
        }
        let mut t = if mode == "vz" { dual } else { primal };
        let t0 = t;
        let slack = 0.5 * sums.products;
        let mut tries = 0;
        let mut kind = 's';
        let next = loop {
            let mut straight = point.v.clone();
            axpy(straight.as_mut_slice(), t, dv.as_slice());
            let mut target = point.w.clone();
            axpy(target.as_mut_slice(), t, dw.as_slice());
            let length = t * dot(dw.as_slice(), dw.as_slice()).sqrt();
            let bent = invert(self.output, &target, [&point.v, &straight], 0.01 * length, threads);
            let (straight, bent) = (self.point(atoms, straight), self.point(atoms, bent));
            tries += 1;
            kind = if straight.value <= bent.value { 's' } else { 'b' };
            let trial = if straight.value <= bent.value { straight } else { bent };
            if trial.value <= point.value + slack {
                break trial;
            }
            t *= 0.5;
            if t < 1e-8 {
                return None;
            }
        };
        if t < t0 {
            primal = primal.min(t);
            dual = dual.min(t);
        }
        atoms.advance(primal, dual);
        if std::env::var_os("IPM_TRACE").is_some() {
            let df = DF.with(|c| c.borrow().clone());
            let (mut e, mut m) = (0.0, 0.0);
            for i in 0..df.len() {
                e += (next.f[i] - point.f[i] - t * df[i]).abs();
                m += (t * df[i]).abs();
            }
            let n = df.len() as f64;
            eprintln!("      nonlinear {:.2e} of {:.2e}; centrality {:?}", e / n, m / n, atoms.centrality());
            eprintln!(
                "      tau {tau:.2e} primal {primal:.3} dual {dual:.3} v {t:.4} ({t0:.3}) {kind} tries {tries}"
            );
        }
        Some(next)
    }
}
