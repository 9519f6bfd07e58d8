//! The duals as sums of atoms in boxes: all that the interior point method knows of a loss.
//!
//! With `a = kappa / gamma` an observation adds `gamma L*(-a)` to what is minimised, and
//! `L*(-a) = -y a + quad a^2 / 2 + eps |a|` on an interval. A kink at zero is split, `a = x + x'` with `x >= 0 >= x'`; each
//! part is an *atom* with the smooth cost `cost x + quad x^2 / 2`, `cost = -y` or `-y +- eps`, between two bounds of which either
//! may be infinite. Its slope is `g = F + cost + quad x` with F the prediction; at the solution `g = below - above` with
//! multipliers that are zero wherever x does not touch the bound. Slacks and multipliers are numbers of their own: next to a
//! bound, or to zero, none of them is a difference.

use crate::Problem;
use crate::design::Design;
use crate::loss::QuadraticConjugate;
use rayon::prelude::*;

/// A bound's slack and multiplier.
#[derive(Debug, Clone, Copy, Default)]
struct Bound {
    /// Distance of x from the bound: infinite if there is none.
    slack: f64,
    /// The multiplier: zero if there is none.
    force: f64,
    /// What the product of slack and multiplier is to become, divided by the slack.
    aim: f64,
    /// Direction of the multiplier.
    turn: f64,
    /// The direction before the last attempt to better it.
    kept: f64,
}

impl Bound {
    fn product(&self) -> f64 {
        if self.force > 0.0 { self.slack * self.force } else { 0.0 }
    }

    /// Takes aim at a product of `tau`, less the second order of the direction last computed, `second dx turn`.
    fn take_aim(&mut self, tau: f64, second: f64, dx: f64) {
        self.aim = (tau - second * dx * self.turn) / self.slack;
    }

    /// Aims at a product between the two after steps of these lengths, if the direction does not lead there.
    fn centre(&mut self, dx: f64, (primal, dual): (f64, f64), [low, high]: [f64; 2]) {
        let slack = self.slack + primal * dx;
        let product = slack * (self.force + dual * self.turn);
        // Not too much at once where a product is much too large.
        let change = (product.max(low).min(high) - product).max(-high);
        if slack < f64::INFINITY {
            self.aim += change / self.slack;
        }
    }

    /// The direction of the multiplier if the slack changes by `dx`.
    fn follow(&mut self, dx: f64) {
        self.turn = self.aim - self.force - self.force / self.slack * dx;
    }

    fn advance(&mut self, dx: f64, turn: f64) {
        // Steps end short of the bounds; rounding must not carry anything beyond.
        self.slack = (self.slack + dx).max(1e-3 * self.slack);
        self.force = (self.force + turn).max(1e-3 * self.force);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Atom {
    /// gamma; zero for atoms that are only there to fill a table.
    weight: f64,
    cost: f64,
    quad: f64,
    low: f64,
    high: f64,
    x: f64,
    lower: Bound,
    upper: Bound,
    slope: f64,
    /// One over the stiffness, `quad + force / slack` of both bounds.
    give: f64,
    dx: f64,
    kept: f64,
}

impl Atom {
    fn new(weight: f64, cost: f64, quad: f64, low: f64, high: f64) -> Self {
        // Not -0, of which the slack would be lost.
        let (low, high) = (low + 0.0, high + 0.0);
        Atom { weight, cost, quad, low, high, ..Atom::default() }
    }

    /// What fills a table up.
    fn idle() -> Self {
        Atom::new(0.0, 0.0, 0.0, 0.0, 0.0)
    }

    /// Loss at the prediction f: `max over x of -(f + cost) x - quad x^2 / 2`.
    fn loss(&self, f: f64) -> f64 {
        let h = f + self.cost;
        if h == 0.0 {
            return 0.0;
        }
        let x = (-h / self.quad).max(self.low).min(self.high);
        -x * (h + 0.5 * self.quad * x)
    }

    /// About what slacks times multipliers are if nothing is known but the prediction.
    fn scale(&self, f: f64) -> f64 {
        let h = (f + self.cost).abs();
        h * (h / self.quad).min(self.high - self.low)
    }

    /// Puts x where slope and barriers of weight `tau` are in balance: `f + cost + quad x = tau / slack - tau / slack`.
    fn place(&mut self, f: f64, tau: f64) {
        let Atom { quad, low, high, .. } = *self;
        let h = f + self.cost;
        let width = high - low;
        if low == f64::NEG_INFINITY && high == f64::INFINITY {
            self.x = -h / quad;
            (self.lower.slack, self.upper.slack) = (f64::INFINITY, f64::INFINITY);
            return;
        }
        // Distance from the bound that the slope pushes to; it solves an increasing equation.
        let from_low = if width.is_finite() { h + 0.5 * quad * (low + high) >= 0.0 } else { low.is_finite() };
        let push = if from_low { h + quad * low } else { -(h + quad * high) };
        let slack = nearer_slack(push, quad, width, tau);
        if from_low {
            self.x = low + slack;
            (self.lower.slack, self.upper.slack) = (slack, width - slack);
        } else {
            self.x = high - slack;
            (self.lower.slack, self.upper.slack) = (width - slack, slack);
        }
        for bound in [&mut self.lower, &mut self.upper] {
            bound.force = tau / bound.slack;
        }
    }
}

/// s with `push + quad s = tau / s - tau / (width - s)`.
fn nearer_slack(push: f64, quad: f64, width: f64, tau: f64) -> f64 {
    let excess = |s: f64| push + quad * s - tau / s + tau / (width - s);
    let mut low = 0.0;
    let mut high = 0.5 * width;
    if width == f64::INFINITY {
        // The positive root of quad s^2 + push s = tau, without cancellation.
        let root = push.hypot(2.0 * (quad * tau).sqrt());
        return if push > 0.0 { 2.0 * tau / (push + root) } else { (root - push) / (2.0 * quad) };
    }
    if push > 0.0 {
        high = high.min(tau / push);
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// All atoms, as many for each entry of the design.
#[derive(Debug)]
pub(super) struct Atoms {
    all: Vec<Atom>,
    per_entry: usize,
    /// Sum of the weights of all bounds.
    bounds: f64,
}

/// Sums over atoms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Products of slacks and multipliers.
    pub(super) products: f64,
    /// `gamma L*(-a)`.
    pub(super) conj: f64,
}

/// Entries at a time: sums are taken over these first, whatever the number of threads.
const CHUNK: usize = 2048;

impl Atoms {
    /// `None` if a loss has no quadratic conjugate.
    pub(super) fn new(problem: &Problem<'_>, design: &Design) -> Option<Self> {
        let gammas = design.gammas(problem);
        let shape = |entry: usize| -> Option<Option<QuadraticConjugate>> {
            if gammas[entry] == 0.0 {
                return Some(None);
            }
            let task = design.place(entry).1;
            problem.loss(task).quadratic_conjugate(design.labels()[entry]).map(Some)
        };
        let shapes: Vec<_> = (0..design.len()).map(shape).collect::<Option<_>>()?;
        let per_entry = if shapes.iter().flatten().any(|shape| shape.eps > 0.0) { 2 } else { 1 };
        let mut all = Vec::with_capacity(shapes.len() * per_entry);
        for (shape, gamma) in shapes.iter().zip(gammas) {
            let end = all.len() + per_entry;
            if let Some(QuadraticConjugate { y, quad, eps, low, high }) = *shape {
                if eps > 0.0 {
                    all.push(Atom::new(gamma, eps - y, quad, 0.0, -low));
                    all.push(Atom::new(gamma, -eps - y, quad, -high, 0.0));
                } else {
                    all.push(Atom::new(gamma, -y, quad, -high, -low));
                }
            }
            all.resize(end, Atom::idle());
        }
        let finite = |bound: f64| f64::from(u8::from(bound.is_finite()));
        let bounds = all.iter().map(|atom| atom.weight * (finite(atom.low) + finite(atom.high))).sum();
        Some(Atoms { all, per_entry, bounds })
    }

    /// Whether anything is bounded at all.
    pub(super) fn are_bounded(&self) -> bool {
        self.bounds > 0.0
    }

    /// Puts all atoms where the predictions `f` and barriers push them.
    pub(super) fn place(&mut self, f: &[f64], share: f64) {
        let (mut scale, per_entry) = (0.0, self.per_entry);
        for (atoms, f) in self.all.chunks(per_entry).zip(f) {
            scale += atoms
                .iter()
                .filter(|atom| atom.weight > 0.0)
                .map(|atom| atom.weight * atom.scale(*f))
                .sum::<f64>();
        }
        let tau = (share * scale / self.bounds).max(1e-100);
        for (atoms, f) in self.all.chunks_mut(per_entry).zip(f) {
            atoms.iter_mut().filter(|atom| atom.weight > 0.0).for_each(|atom| atom.place(*f, tau));
        }
    }

    /// Sum of the losses at predictions `f`.
    pub(super) fn losses(&self, f: &[f64]) -> f64 {
        let per_entry = self.per_entry;
        let part = |(atoms, f): (&[Atom], &[f64])| -> f64 {
            let entry = |(atoms, f): (&[Atom], &f64)| -> f64 {
                let active = atoms.iter().filter(|atom| atom.weight > 0.0);
                active.map(|atom| atom.weight * atom.loss(*f)).sum()
            };
            atoms.chunks(per_entry).zip(f).map(entry).sum()
        };
        let parts: Vec<f64> =
            self.all.par_chunks(CHUNK * per_entry).zip(f.par_chunks(CHUNK)).map(part).collect();
        parts.iter().sum()
    }

    /// The duals of all entries.
    pub(super) fn kappa(&self) -> Vec<f64> {
        let entry = |atoms: &[Atom]| atoms.iter().map(|atom| atom.weight * atom.x).sum();
        self.all.par_chunks(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Slopes at predictions `f`; sums, and the curvature D of every entry.
    pub(super) fn linearise(&mut self, f: &[f64]) -> (Sums, Vec<f64>) {
        let mut d = vec![0.0; f.len()];
        let per_entry = self.per_entry;
        let parts: Vec<Sums> = self
            .all
            .par_chunks_mut(CHUNK * per_entry)
            .zip(f.par_chunks(CHUNK).zip(d.par_chunks_mut(CHUNK)))
            .map(|(atoms, (f, d))| {
                let mut sums = Sums::default();
                for (atoms, (f, d)) in atoms.chunks_mut(per_entry).zip(f.iter().zip(d)) {
                    for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                        let Atom { weight, cost, quad, x, lower, upper, .. } = *atom;
                        atom.slope = f + cost + quad * x;
                        atom.give = 1.0 / (quad + lower.force / lower.slack + upper.force / upper.slack);
                        *d += weight * atom.give;
                        sums.products += weight * (lower.product() + upper.product());
                        sums.conj += weight * x * (cost + 0.5 * quad * x);
                    }
                }
                sums
            })
            .collect();
        let mut total = Sums::default();
        for part in parts {
            total.products += part.products;
            total.conj += part.conj;
        }
        (total, d)
    }

    /// Mean product of slack and multiplier.
    pub(super) fn mean_product(&self, products: f64) -> f64 {
        if self.bounds > 0.0 { products / self.bounds } else { 0.0 }
    }

    /// Takes aim at products `tau`, with the second order of the last direction; what the duals of the entries would do if
    /// predictions did not change.
    pub(super) fn take_aim(&mut self, tau: f64, second: f64) -> Vec<f64> {
        let entry = |atoms: &mut [Atom]| {
            let mut sum = 0.0;
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                atom.lower.take_aim(tau, second, atom.dx);
                atom.upper.take_aim(tau, second, -atom.dx);
                sum += atom.weight * atom.give * (atom.lower.aim - atom.upper.aim - atom.slope);
            }
            sum
        };
        self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Keeps the direction, and takes aim anew so that steps of these lengths lead to products of about `tau`.
    pub(super) fn centre(&mut self, lengths: (f64, f64), tau: f64) -> Vec<f64> {
        let range = [0.1 * tau, 10.0 * tau];
        let entry = |atoms: &mut [Atom]| {
            let mut sum = 0.0;
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                atom.kept = atom.dx;
                (atom.lower.kept, atom.upper.kept) = (atom.lower.turn, atom.upper.turn);
                atom.lower.centre(atom.dx, lengths, range);
                atom.upper.centre(-atom.dx, lengths, range);
                sum += atom.weight * atom.give * (atom.lower.aim - atom.upper.aim - atom.slope);
            }
            sum
        };
        self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK).map(entry).collect()
    }

    /// Back to the direction kept.
    pub(super) fn revert(&mut self) {
        self.all.par_chunks_mut(CHUNK).for_each(|atoms| {
            for atom in atoms {
                atom.dx = atom.kept;
                (atom.lower.turn, atom.upper.turn) = (atom.lower.kept, atom.upper.kept);
            }
        });
    }

    /// The direction, if predictions change by `df`; the largest steps of duals and multipliers.
    pub(super) fn follow(&mut self, df: &[f64]) -> (f64, f64) {
        let per_entry = self.per_entry;
        let parts: Vec<(f64, f64)> = self
            .all
            .par_chunks_mut(CHUNK * per_entry)
            .zip(df.par_chunks(CHUNK))
            .map(|(atoms, df)| {
                // Inverse step lengths: the largest counts.
                let (mut primal, mut dual) = (0.0f64, 0.0f64);
                for (atoms, df) in atoms.chunks_mut(per_entry).zip(df) {
                    for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                        let rise = atom.lower.aim - atom.upper.aim - atom.slope;
                        let dx = (rise - df) * atom.give;
                        atom.dx = dx;
                        atom.lower.follow(dx);
                        atom.upper.follow(-dx);
                        primal = primal.max(-dx / atom.lower.slack).max(dx / atom.upper.slack);
                        for bound in [&atom.lower, &atom.upper] {
                            dual = dual.max(if bound.turn < 0.0 { -bound.turn / bound.force } else { 0.0 });
                        }
                    }
                }
                (primal, dual)
            })
            .collect();
        let most = parts.iter().fold((0.0f64, 0.0f64), |m, part| (m.0.max(part.0), m.1.max(part.1)));
        (1.0 / most.0, 1.0 / most.1)
    }

    /// Sum of the products of slacks and multipliers after steps of these lengths.
    pub(super) fn products_after(&self, primal: f64, dual: f64) -> f64 {
        self.sum(|atom| {
            let after = |bound: &Bound, dx: f64| {
                let force = bound.force + dual * bound.turn;
                if force > 0.0 { (bound.slack + primal * dx) * force } else { 0.0 }
            };
            after(&atom.lower, atom.dx) + after(&atom.upper, -atom.dx)
        })
    }

    /// Derivative along the direction, t steps away, of the conjugates with logarithmic barriers of weight `tau`.
    pub(super) fn barrier_slope(&self, t: f64, tau: f64) -> f64 {
        self.sum(|atom| {
            let Atom { cost, quad, x, dx, .. } = *atom;
            let barrier = dx / (atom.upper.slack - t * dx) - dx / (atom.lower.slack + t * dx);
            (cost + quad * (x + t * dx)) * dx + tau * barrier
        })
    }

    pub(super) fn centrality(&self) -> Vec<f64> {
        let mut p: Vec<f64> = self
            .all
            .iter()
            .filter(|a| a.weight > 0.0)
            .flat_map(|a| [a.lower.product(), a.upper.product()])
            .filter(|p| *p > 0.0)
            .collect();
        p.sort_by(f64::total_cmp);
        let n = p.len();
        let mean = p.iter().sum::<f64>() / n as f64;
        [0, n / 1000, n / 20, n / 2, n * 19 / 20, n - 1]
            .iter()
            .map(|&i| (p[i] / mean * 1e5).round() / 1e5)
            .collect()
    }

    /// Sum of weights times what `of` says of each atom.
    fn sum(&self, of: impl Fn(&Atom) -> f64 + Sync) -> f64 {
        let part = |atoms: &[Atom]| -> f64 {
            atoms.iter().filter(|atom| atom.weight > 0.0).map(|atom| atom.weight * of(atom)).sum()
        };
        let parts: Vec<f64> = self.all.par_chunks(CHUNK * self.per_entry).map(part).collect();
        parts.iter().sum()
    }

    /// Steps along the direction.
    pub(super) fn advance(&mut self, primal: f64, dual: f64) {
        self.all.par_chunks_mut(CHUNK).for_each(|atoms| {
            for atom in atoms.iter_mut().filter(|atom| atom.weight > 0.0) {
                atom.x += primal * atom.dx;
                atom.lower.advance(primal * atom.dx, dual * atom.lower.turn);
                atom.upper.advance(-primal * atom.dx, dual * atom.upper.turn);
            }
        });
    }
}
