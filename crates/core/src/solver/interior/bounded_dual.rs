//! One dual variable in its box.

/// The slack of a bound and its multiplier. Both are stored, so that next to the bound neither is computed as
/// a difference.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bound {
    /// Distance of x from the bound: infinite if there is none.
    pub(super) slack: f64,
    /// The multiplier: zero if there is none.
    pub(super) force: f64,
    /// What the product of the two is to become, divided by the slack.
    pub(super) aim: f64,
    /// Direction of the multiplier, and the one before the last attempt to better it.
    pub(super) turn: f64,
    kept: f64,
}

impl Bound {
    pub(super) fn product(&self) -> f64 {
        if self.force > 0.0 { self.slack * self.force } else { 0.0 }
    }

    /// The product after steps of these lengths.
    pub(super) fn product_after(&self, dx: f64, (primal, dual): (f64, f64)) -> f64 {
        let force = self.force + dual * self.turn;
        if force > 0.0 { (self.slack + primal * dx) * force } else { 0.0 }
    }

    /// Aims at a product of `tau`, less the second order of the direction last computed, `share dx turn`.
    fn take_aim(&mut self, tau: f64, share: f64, dx: f64) {
        self.aim = (tau - share * dx * self.turn) / self.slack;
    }

    /// Aims at a product between `low` and `high` after steps of these lengths, if the direction does not
    /// lead there.
    fn centre(&mut self, dx: f64, lengths: (f64, f64), [low, high]: [f64; 2]) {
        self.kept = self.turn;
        if self.slack < f64::INFINITY {
            let product = (self.slack + lengths.0 * dx) * (self.force + lengths.1 * self.turn);
            // Where a product is much too large, not all of it at once.
            self.aim += (product.max(low).min(high) - product).max(-high) / self.slack;
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

/// A variable x with the cost `cost x + quad x^2 / 2`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BoundedDual {
    /// gamma; zero for variables that are only there to fill a table.
    pub(super) weight: f64,
    pub(super) cost: f64,
    pub(super) quad: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) x: f64,
    pub(super) lower: Bound,
    pub(super) upper: Bound,
    /// `F + cost + quad x`.
    pub(super) slope: f64,
    /// One over the stiffness, `quad + force / slack` of both bounds.
    pub(super) give: f64,
    /// Direction of x, and the one before the last attempt to better it.
    pub(super) dx: f64,
    kept: f64,
}

impl BoundedDual {
    pub(super) fn new(weight: f64, cost: f64, quad: f64, low: f64, high: f64) -> Self {
        BoundedDual { weight, cost, quad, low, high, ..BoundedDual::default() }
    }

    /// Loss at the prediction f: `max over x of -(f + cost) x - quad x^2 / 2`.
    pub(super) fn loss(&self, f: f64) -> f64 {
        let h = f + self.cost;
        if h == 0.0 {
            return 0.0;
        }
        let x = (-h / self.quad).max(self.low).min(self.high);
        -x * (h + 0.5 * self.quad * x)
    }

    /// Conjugate of the loss at -x.
    pub(super) fn conj(&self, x: f64) -> f64 {
        x * (self.cost + 0.5 * self.quad * x)
    }

    /// About what slacks times multipliers are if nothing is known but the prediction.
    pub(super) fn scale(&self, f: f64) -> f64 {
        let h = (f + self.cost).abs();
        if h == 0.0 { 0.0 } else { h * (h / self.quad).min(self.high - self.low) }
    }

    /// Puts x where the slope and barriers of weight `tau` are in balance: `f + cost + quad x = tau / lower -
    /// tau / upper`.
    pub(super) fn place(&mut self, f: f64, tau: f64) {
        let BoundedDual { quad, low, high, .. } = *self;
        let (h, width) = (f + self.cost, high - low);
        let from_low = match (low.is_finite(), high.is_finite()) {
            (true, true) => h + 0.5 * quad * (low + high) >= 0.0,
            (false, false) => {
                self.x = -h / quad;
                (self.lower.slack, self.upper.slack) = (f64::INFINITY, f64::INFINITY);
                return;
            }
            (below, _) => below,
        };
        // From the bound that is nearer, so that its slack has all its digits.
        let push = if from_low { h + quad * low } else { -(h + quad * high) };
        let slack = balance(push, quad, width, tau);
        (self.lower.slack, self.upper.slack) =
            if from_low { (slack, width - slack) } else { (width - slack, slack) };
        self.x = if from_low { low + slack } else { high - slack };
        for bound in [&mut self.lower, &mut self.upper] {
            bound.force = tau / bound.slack;
        }
    }

    pub(super) fn take_aim(&mut self, tau: f64, share: f64) {
        self.lower.take_aim(tau, share, self.dx);
        self.upper.take_aim(tau, share, -self.dx);
    }

    /// Keeps the direction, and takes aim again.
    pub(super) fn centre(&mut self, lengths: (f64, f64), range: [f64; 2]) {
        self.kept = self.dx;
        self.lower.centre(self.dx, lengths, range);
        self.upper.centre(-self.dx, lengths, range);
    }

    /// Back to the direction kept.
    pub(super) fn revert(&mut self) {
        self.dx = self.kept;
        (self.lower.turn, self.upper.turn) = (self.lower.kept, self.upper.kept);
    }

    /// The force on x: its direction if predictions did not change, times the stiffness.
    pub(super) fn pull(&self) -> f64 {
        self.lower.aim - self.upper.aim - self.slope
    }

    /// The direction, if the prediction changes by `df`.
    pub(super) fn follow(&mut self, df: f64) {
        self.dx = (self.pull() - df) * self.give;
        self.lower.follow(self.dx);
        self.upper.follow(-self.dx);
    }

    pub(super) fn advance(&mut self, (primal, dual): (f64, f64)) {
        self.x += primal * self.dx;
        self.lower.advance(primal * self.dx, dual * self.lower.turn);
        self.upper.advance(-primal * self.dx, dual * self.upper.turn);
    }
}

/// s with `push + quad s = tau / s - tau / (width - s)`, not beyond the middle if the width is finite.
fn balance(push: f64, quad: f64, width: f64, tau: f64) -> f64 {
    if width == f64::INFINITY {
        // The positive root of quad s^2 + push s = tau, without cancellation.
        let root = push.hypot(2.0 * (quad * tau).sqrt());
        return if push > 0.0 { 2.0 * tau / (push + root) } else { (root - push) / (2.0 * quad) };
    }
    if quad == 0.0 {
        return 2.0 * tau * width / (push * width + 2.0 * tau + (push * width).hypot(2.0 * tau));
    }
    let (mut low, mut high) = (0.0, 0.5 * width);
    if push > 0.0 {
        high = high.min(tau / push);
    }
    for _ in 0..40 {
        let s = 0.5 * (low + high);
        if push + quad * s > tau / s - tau / (width - s) { high = s } else { low = s }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hinge, squared hinge, absolute, Huber, squared.
    fn variables() -> [BoundedDual; 5] {
        let infinity = f64::INFINITY;
        [
            BoundedDual::new(1.0, -1.0, 0.0, 0.0, 1.0),
            BoundedDual::new(1.0, 1.0, 1.0, -infinity, 0.0),
            BoundedDual::new(1.0, 0.3, 0.0, -1.0, 1.0),
            BoundedDual::new(1.0, -2.0, 1.0, -0.5, 0.5),
            BoundedDual::new(1.0, -2.0, 1.0, -infinity, infinity),
        ]
    }

    #[test]
    fn atoms_start_in_balance() {
        for mut variable in variables() {
            for (f, tau) in [(-3.0, 1.0), (0.2, 1e-3), (1.0, 1e-9), (5.0, 100.0)] {
                variable.place(f, tau);
                let slope = f + variable.cost + variable.quad * variable.x;
                let forces = variable.lower.force - variable.upper.force;
                let size = f.abs() + variable.cost.abs() + variable.lower.force + variable.upper.force;
                assert!((slope - forces).abs() <= 1e-9 * size, "{variable:?}: {slope} {forces}");
                assert!(variable.low < variable.x && variable.x < variable.high, "{variable:?}");
            }
        }
    }

    #[test]
    fn losses_are_the_conjugates_of_costs() {
        let [hinge, squared_hinge, absolute, huber, squared] = variables();
        assert_eq!([hinge.loss(-0.5), hinge.loss(1.5), hinge.loss(1.0)], [1.5, 0.0, 0.0]);
        assert_eq!([squared_hinge.loss(0.5), squared_hinge.loss(-1.5)], [1.125, 0.0]);
        assert_eq!(absolute.loss(0.7), 1.0);
        assert_eq!([huber.loss(1.8), huber.loss(0.0)], [0.5 * (2.0 - 1.8f64).powi(2), 0.5 * 1.5 + 0.125]);
        assert_eq!([squared.loss(0.0), squared.conj(-2.0)], [2.0, 6.0]);
    }

    #[test]
    fn a_newton_step_reaches_the_product_aimed_at_to_first_order() {
        let mut variable = variables()[0];
        variable.place(0.3, 0.1);
        (variable.slope, variable.give) = (
            0.3 - 1.0,
            1.0 / (variable.lower.force / variable.lower.slack + variable.upper.force / variable.upper.slack),
        );
        variable.take_aim(0.1 * (1.0 - 1e-5), 0.0);
        variable.follow(0.0);
        variable.advance((1.0, 1.0));
        for product in [variable.lower.product(), variable.upper.product()] {
            assert!((product - 0.1 * (1.0 - 1e-5)).abs() < 1e-9, "{product}");
        }
        assert!((variable.slope - variable.lower.force + variable.upper.force).abs() < 1e-12);
    }
}
