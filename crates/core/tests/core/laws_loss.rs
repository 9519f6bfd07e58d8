//! The laws that every loss obeys: one body, walked through by all of them. A loss joins by
//! `LossKind::all_examples()`.
//!
//! Tolerances are `ROUNDING` times the size of what is added up: a few dozen units in the last place of the
//! largest term.

use kinfolk::Error;
use kinfolk::loss::{DerivativeBlock, Logistic, Loss, LossKind, PredictionShift, TermBlock};
use proptest::prelude::*;

const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Examples, and more parameters: small, large and as large as the labels.
fn kinds(scale: f64) -> Vec<LossKind> {
    let mut kinds = LossKind::all_examples();
    kinds.extend([1e-3, 1.0, 10.0].map(|gamma| LossKind::SmoothedHinge { gamma }));
    kinds.extend([0.0, 1e-6, 2.0, scale].map(|epsilon| LossKind::Epsilon { epsilon }));
    kinds.extend([0.0, 1e-6, 2.0, scale].map(|epsilon| LossKind::SquaredEpsilon { epsilon }));
    kinds.extend([1e-3, 0.2, 1e3, scale].map(|delta| LossKind::Huber { delta }));
    kinds.extend([0.01, 0.5, 0.99].map(|q| LossKind::Quantile { q }));
    kinds
}

/// Points z where the slope or the curvature jumps.
fn breaks(kind: &LossKind, y: f64) -> Vec<f64> {
    match *kind {
        LossKind::Squared | LossKind::Logistic => vec![],
        LossKind::SmoothedHinge { gamma } => vec![y, y * (1.0 - gamma)],
        LossKind::Epsilon { epsilon } | LossKind::SquaredEpsilon { epsilon } => {
            vec![y - epsilon, y + epsilon]
        }
        LossKind::Huber { delta } => vec![y - delta, y + delta],
        _ => vec![y],
    }
}

/// A loss at one label.
struct Case {
    kind: LossKind,
    loss: Box<dyn Loss>,
    y: f64,
    scale: f64,
}

/// Functions of a loss, at the label of the case.
macro_rules! at_own_label {
    ($($function:ident -> $result:ty),*) => {
        impl Case {
            $(fn $function(&self, at: f64) -> $result {
                self.loss.$function(self.y, at)
            })*
        }
    };
}

at_own_label! {
    value -> f64, slope -> (f64, f64), curvature -> f64,
    conj -> f64, conj_slope -> (f64, f64), conj_curvature -> f64
}

impl Case {
    fn new(kind: LossKind, y: f64, scale: f64) -> Self {
        let y = if kind.is_classification() { 1f64.copysign(y) } else { y * scale };
        let loss = kind.build().expect("parameter in range");
        assert_eq!(loss.check_label(y), Ok(()));
        Case { kind, loss, y, scale }
    }

    fn fenchel_young(&self, z: f64, u: f64) -> f64 {
        self.loss.fenchel_young(self.y, z, u)
    }

    /// Points of the domain of the conjugate: its ends, 0, tiny ones and those at the given positions in
    /// 0..1.
    fn duals(&self, positions: &[f64]) -> Vec<f64> {
        let (low, high) = self.loss.conj_domain(self.y);
        assert!(low <= 0.0 && 0.0 <= high, "{:?}: alpha = 0 must be feasible", self.kind);
        let (near, far) = (low.max(-3.0 * self.scale), high.min(3.0 * self.scale));
        let inside = positions.iter().map(|t| near + t * (far - near));
        inside.chain([low, high, 0.0, f64::EPSILON, -f64::EPSILON]).map(|u| u.clamp(near, far)).collect()
    }

    /// Size of the terms that L is made of, and of the step in L when z or y moves by itself: L relative to
    /// its rounding.
    fn size(&self, z: f64) -> f64 {
        let (left, right) = self.slope(z);
        self.value(z).abs() + left.abs().max(right.abs()) * (self.y.abs() + z.abs())
    }

    /// Size of the terms that L* is made of.
    fn conj_size(&self, u: f64) -> f64 {
        let sum = (self.y * u).abs() + self.conj(u).abs();
        sum + self.loss.quadratic_conjugate(self.y).map_or(0.0, |q| q.quad * u * u + q.eps * u.abs())
    }

    fn holds(&self, law: &str, at: &[f64], left: f64, right: f64) {
        assert!(
            left <= right,
            "{law}: {left:e} <= {right:e} fails for {} y={:e} at {at:?}",
            self.kind,
            self.y
        );
    }
    fn close(&self, law: &str, at: &[f64], left: f64, right: f64, tolerance: f64) {
        self.holds(law, at, (left - right).abs(), tolerance + f64::MIN_POSITIVE); // below it digits are lost
    }

    /// L + L* >= z u; the closed form says the same and is not negative.
    fn fenchel_young_holds(&self, z: f64, u: f64) {
        let noise = ROUNDING * (self.value(z) + self.conj_size(u) + (z * u).abs());
        let (plain, closed) = (self.value(z) + self.conj(u) - z * u, self.fenchel_young(z, u));
        self.holds("Fenchel-Young", &[z, u], -noise, plain);
        self.holds("closed form >= 0", &[z, u], -noise, closed);
        self.close("closed form = sum", &[z, u], closed, plain, noise);
    }

    /// Equality at z in dL*(u), and at u in dL(z).
    fn is_tight(&self, z: f64, u: f64) {
        let bound = |z: f64, u: f64| ROUNDING * (self.size(z) + self.conj_size(u) + (z * u).abs());
        let (left, right) = self.conj_slope(u);
        for z in [left, 0.5 * (left + right), right].into_iter().filter(|z| z.is_finite()) {
            self.holds("tight at conj_slope", &[z, u], self.fenchel_young(z, u), bound(z, u));
        }
        let ((left, right), (low, high)) = (self.slope(z), self.loss.conj_domain(self.y));
        for u in [left, 0.5 * (left + right), right] {
            self.holds("slope in the domain", &[z], low, u);
            self.holds("slope in the domain", &[z], u, high);
            self.holds("tight at slope", &[z, u], self.fenchel_young(z, u), bound(z, u));
        }
    }

    /// Convexity: slopes do not fall, graphs lie above tangents and below chords.
    fn is_convex(&self, z1: f64, z2: f64) {
        let (z1, z2) = (z1.min(z2), z1.max(z2));
        let (left, right) = self.slope(z1);
        self.holds("left <= right slope", &[z1], left, right);
        // Points that y - z can tell apart.
        if z2 - z1 > ROUNDING * (self.y.abs() + z1.abs() + z2.abs()) {
            self.holds("monotone slope", &[z1, z2], right, self.slope(z2).0 + ROUNDING * right.abs());
        }
        let middle = 0.5 * (z1 + z2);
        let noise = ROUNDING * (self.size(z1) + self.size(middle) + self.size(z2));
        let chord = 0.5 * (self.value(z1) + self.value(z2));
        self.holds("midpoint", &[z1, z2], self.value(middle), chord + noise);
        for (z, other) in [(z1, z2), (z2, z1)] {
            let (left, right) = self.slope(z);
            for s in [left, right] {
                let noise = noise + ROUNDING * s.abs() * (z1.abs() + z2.abs());
                self.holds(
                    "tangent",
                    &[z, other],
                    self.value(z) + s * (other - z),
                    self.value(other) + noise,
                );
            }
        }
    }

    /// The same for the conjugate, inside its domain.
    fn conj_is_convex(&self, u1: f64, u2: f64) {
        let (u1, u2) = (u1.min(u2), u1.max(u2));
        let (left, right) = self.conj_slope(u1);
        self.holds("left <= right conj_slope", &[u1], left, right);
        if u1 < u2 {
            let noise = if right.is_finite() { ROUNDING * (right.abs() + self.y.abs()) } else { 0.0 };
            self.holds("monotone conj_slope", &[u1, u2], right, self.conj_slope(u2).0 + noise);
        }
        let middle = 0.5 * (u1 + u2);
        let noise = ROUNDING * (self.conj_size(u1) + self.conj_size(middle) + self.conj_size(u2));
        let chord = 0.5 * (self.conj(u1) + self.conj(u2));
        self.holds("conj midpoint", &[u1, u2], self.conj(middle), chord + noise);
    }

    /// Slope and curvature against central differences, away from breaks.
    fn differences_agree(&self, z: f64) {
        let unit = if self.kind.is_classification() { 1.0 } else { self.scale };
        let h = 1e-4 * unit.max(z.abs()).max(self.y.abs());
        let (a, b) = (z - h, z + h);
        if breaks(&self.kind, self.y).iter().any(|t| (t - z).abs() <= 2.0 * h) {
            return;
        }
        let (left, right) = self.slope(z);
        self.close("smooth away from breaks", &[z], left, right, 0.0);
        // The third and fourth derivatives of the logistic loss are below its second; other losses have none.
        let curvature = self.curvature(z);
        let bend = match self.kind {
            LossKind::Logistic => h * h * curvature.max(self.curvature(a)).max(self.curvature(b)),
            _ => 0.0,
        };
        let noise = bend + ROUNDING * (self.size(a) + self.size(b)) / h;
        self.close("slope", &[z, h], (self.value(b) - self.value(a)) / (b - a), left, noise);
        let (sa, sb) = (self.slope(a).0, self.slope(b).0);
        let noise = bend + ROUNDING * (sa.abs() + sb.abs() + curvature * (self.y.abs() + z.abs())) / h;
        self.close("curvature", &[z, h], (sb - sa) / (b - a), curvature, noise);
    }

    /// The same for the conjugate, away from its ends and its kink at 0.
    fn conj_differences_agree(&self, u: f64) {
        let (low, high) = self.loss.conj_domain(self.y);
        let h = 1e-4 * (u - low).min(high - u).min(self.scale.max(u.abs()));
        let (a, b) = (u - h, u + h);
        let kink = self.loss.quadratic_conjugate(self.y).is_some_and(|q| q.eps > 0.0);
        if a == b || (kink && u.abs() <= 2.0 * h) {
            return;
        }
        let (left, right) = self.conj_slope(u);
        self.close("conj smooth", &[u], left, right, 0.0);
        // Entropy: derivative k + 2 is at most k! curvature^(k + 1).
        let c = self.conj_curvature(u);
        let bend = if self.kind == LossKind::Logistic { h * h * c * c } else { 0.0 };
        let noise = bend + ROUNDING * (self.conj_size(a) + self.conj_size(b)) / h;
        self.close("conj_slope", &[u, h], (self.conj(b) - self.conj(a)) / (b - a), left, noise);
        let (sa, sb) = (self.conj_slope(a).0, self.conj_slope(b).0);
        let noise = 2.0 * bend * c + ROUNDING * (sa.abs() + sb.abs() + self.y.abs()) / h;
        self.close("conj_curvature", &[u, h], (sb - sa) / (b - a), c, noise);
    }

    /// L* is finite on the closed domain and infinite right outside.
    fn domain_is_exact(&self, inside: &[f64]) {
        let (low, high) = self.loss.conj_domain(self.y);
        assert!(inside.iter().all(|&u| self.conj(u).is_finite()), "{} y={:e} {inside:?}", self.kind, self.y);
        for u in [low.next_down(), low - self.scale, high.next_up(), high + self.scale] {
            if u.is_finite() && !(low <= u && u <= high) {
                assert_eq!(self.conj(u), f64::INFINITY, "{} y={:e} u={u:e}", self.kind, self.y);
            }
        }
    }

    /// The short form of the conjugate is the conjugate.
    fn quadratic_conjugate_is_the_conjugate(&self, u: f64) {
        let Some(shape) = self.loss.quadratic_conjugate(self.y) else { return };
        assert!(shape.quad >= 0.0 && shape.eps >= 0.0, "{shape:?}");
        assert_eq!(shape.value(u), self.conj(u));
        assert_eq!(shape.slope(u), self.conj_slope(u));
        assert_eq!(shape.quad, self.conj_curvature(u));
        assert_eq!((shape.low, shape.high), self.loss.conj_domain(self.y));
    }
}

/// Ordinary numbers, zero, and one and its neighbours.
fn number() -> impl Strategy<Value = f64> {
    let special = [0.0, 1.0, -1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, f64::EPSILON];
    prop_oneof![3 => -3.0..3.0, 1 => prop::sample::select(special.to_vec())]
}

/// Powers of ten from 1e-100 to 1e100, one of three being 1.
fn scale() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(1.0), 2 => (-100..=100).prop_map(|e| 10f64.powi(e))]
}

proptest! {
    #![proptest_config(crate::common::cases(256, "proptest-regressions/laws_loss.txt"))]

    #[test]
    fn every_loss_obeys_the_laws(
        scale in scale(), y in number(), z1 in number(), z2 in number(), positions in [0.0..1.0, 0.0..1.0]
    ) {
        for kind in kinds(scale) {
            let case = Case::new(kind, y, scale);
            let mut points = vec![z1 * scale, z2 * scale, z1, 0.0];
            points.extend(breaks(&case.kind, case.y));
            let duals = case.duals(&positions);
            case.domain_is_exact(&duals);
            for &z in &points {
                case.differences_agree(z);
                points.iter().for_each(|&other| case.is_convex(z, other));
                for &u in &duals {
                    case.fenchel_young_holds(z, u);
                    case.is_tight(z, u);
                }
            }
            for &u in &duals {
                case.conj_differences_agree(u);
                case.quadratic_conjugate_is_the_conjugate(u);
                duals.iter().for_each(|&other| case.conj_is_convex(u, other));
            }
        }
    }

    #[test]
    fn text_and_json_give_every_loss_back(scale in scale()) {
        for kind in kinds(scale) {
            prop_assert_eq!(&kind.to_string().parse::<LossKind>().unwrap(), &kind);
            let json = serde_json::to_string(&kind).unwrap();
            prop_assert_eq!(&serde_json::from_str::<LossKind>(&json).unwrap(), &kind);
        }
    }
}

/// The supremum over a grid is at most L*, and less by no more than a grid step can hide.
#[test]
fn conjugate_is_the_supremum() {
    let step = 1.0 / 128.0;
    for kind in kinds(1.0) {
        for y in [-1.3, 0.0, 0.7] {
            let case = Case::new(kind.clone(), y, 1.0);
            for u in case.duals(&[0.1, 0.25, 0.5, 0.8]) {
                let grid = (-8192..=8192).map(|j| f64::from(j) * step);
                let sup = grid.map(|z| u * z - case.value(z)).fold(f64::NEG_INFINITY, f64::max);
                case.holds("sup <= conj", &[u], sup, case.conj(u) + 1e-12);
                case.holds("conj <= sup", &[u], case.conj(u), sup + step);
            }
        }
    }
}

/// At a break slopes are those of the two sides and the curvature is the larger one. Exact numbers: y = 0 or
/// +-1.
#[test]
fn breaks_are_seen_from_both_sides() {
    for kind in LossKind::all_examples().into_iter().chain([LossKind::Epsilon { epsilon: 0.0 }]) {
        for y in [-1.0, 1.0] {
            let case = Case::new(kind.clone(), if kind.is_classification() { y } else { 0.0 }, 1.0);
            let h = 1e-9;
            for z in breaks(&kind, case.y) {
                let sides = case.curvature(z - h).max(case.curvature(z + h));
                assert_eq!(case.curvature(z), sides, "{kind} at {z}");
                let (left, right) = case.slope(z);
                case.close("left slope", &[z], left, case.slope(z - h).1, 2.0 * h * sides);
                case.close("right slope", &[z], right, case.slope(z + h).0, 2.0 * h * sides);
            }
            if !kind.is_classification() {
                let (left, right) = case.conj_slope(0.0);
                case.close("left conj_slope", &[0.0], left, case.conj_slope(-h).1, 2.0 * h);
                case.close("right conj_slope", &[0.0], right, case.conj_slope(h).0, 2.0 * h);
            }
        }
    }
}

/// Overflow to infinity is allowed, NaN is not; what must not be negative is not.
#[test]
fn nothing_is_nan_at_the_ends_of_double_precision() {
    let sizes = [
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1e-200,
        f64::EPSILON,
        0.5,
        1.0,
        40.0,
        750.0,
        1e154,
        1e200,
        1e300,
        f64::MAX,
    ];
    let numbers: Vec<f64> = sizes.iter().flat_map(|&x| [x, -x]).collect();
    for kind in kinds(1.0).into_iter().chain(kinds(1e200)).chain(kinds(1e-300)) {
        for &y in &numbers {
            let case = Case::new(kind.clone(), y, 1.0);
            let (low, high) = case.loss.conj_domain(case.y);
            for &u in &numbers {
                let u = u.clamp(low, high);
                let (left, right) = case.conj_slope(u);
                let curvature = case.conj_curvature(u);
                assert!(
                    !case.conj(u).is_nan() && left <= right && curvature >= 0.0,
                    "{kind} y={y:e} u={u:e}"
                );
                for &z in &numbers {
                    let (left, right) = case.slope(z);
                    let fine = case.value(z) >= 0.0 && left <= right && case.curvature(z) >= 0.0;
                    assert!(fine && case.fenchel_young(z, u) >= 0.0, "{kind} y={y:e} z={z:e} u={u:e}");
                }
            }
        }
    }
}

#[test]
fn block_terms_add_up() {
    for kind in LossKind::all_examples() {
        let loss = kind.build().unwrap();
        let (y, z, w) = ([1.0, -1.0, 1.0], [0.3, 0.4, -1e300], [2.0, 0.5, 0.0]);
        let kappa = [0.4, -0.2, 0.0]; // u = -0.2, 0.4 and none: inside every domain
        let mut terms = [0.0; 3];
        let (value, conj, outside, negative) = (0.0, 0.0, None, None);
        let mut block = TermBlock {
            y: &y,
            z: &z,
            w: &w,
            kappa: &kappa,
            terms: &mut terms,
            value,
            conj,
            outside,
            negative,
        };
        loss.block_terms(&mut block);
        let value = 2.0 * loss.value(1.0, 0.3) + 0.5 * loss.value(-1.0, 0.4);
        let conj = 2.0 * loss.conj(1.0, -0.2) + 0.5 * loss.conj(-1.0, 0.4);
        let gap = 2.0 * loss.fenchel_young(1.0, 0.3, -0.2) + 0.5 * loss.fenchel_young(-1.0, 0.4, 0.4);
        let found = (block.value, block.conj, block.outside, block.negative);
        assert_eq!((found, terms.iter().sum()), ((value, conj, None, None), gap), "{kind}");
    }
}

#[test]
fn labels_are_checked() {
    for kind in LossKind::all_examples() {
        let loss = kind.build().unwrap();
        for y in [-1.0, 1.0] {
            assert_eq!(loss.check_label(y), Ok(()), "{kind}");
        }
        for y in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(loss.check_label(y).is_err(), "{kind}");
        }
        for y in [0.0, 2.0, 0.999] {
            match loss.check_label(y) {
                Ok(()) => assert!(!kind.is_classification(), "{kind} took {y}"),
                Err(why) => assert!(kind.is_classification() && why.contains("2*y - 1"), "{kind}: {why}"),
            }
        }
    }
}

#[test]
fn parameters_are_checked() {
    let wrong = |kind: LossKind, expected_name: &str| match kind.build() {
        Err(Error::Parameter { name, .. }) => assert_eq!(name, expected_name),
        other => panic!("{kind:?} gave {other:?}"),
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
        wrong(LossKind::SmoothedHinge { gamma: bad }, "gamma");
        wrong(LossKind::Epsilon { epsilon: bad }, "epsilon");
        wrong(LossKind::SquaredEpsilon { epsilon: bad }, "epsilon");
        wrong(LossKind::Huber { delta: bad }, "delta");
        wrong(LossKind::Quantile { q: bad }, "q");
    }
    wrong(LossKind::SmoothedHinge { gamma: 0.0 }, "gamma");
    wrong(LossKind::Huber { delta: 0.0 }, "delta");
    wrong(LossKind::Quantile { q: 0.0 }, "q");
    wrong(LossKind::Quantile { q: 1.0 }, "q");
}

/// The names in text, in JSON and in messages are the same; what cannot be read is refused with a reason.
#[test]
fn names_are_the_same_everywhere() {
    for kind in LossKind::all_examples() {
        let text = kind.to_string();
        let name = text.split(':').next().unwrap();
        assert_eq!(name, kind.build().unwrap().name());
        assert_eq!(name, serde_json::to_value(&kind).unwrap()["kind"]);
        assert!(name.parse::<LossKind>().is_ok(), "{name} without parameter");
    }
    let why = |text: &str| text.parse::<LossKind>().unwrap_err().to_string();
    assert!(why("hing").contains("squared, hinge, squared_hinge"));
    assert!(why("").contains("the losses are"));
    assert!(why("hinge:2").contains("takes no parameter"));
    assert!(why("huber:wide").contains("\"wide\" is not a number"));
    assert!(matches!("huber:0".parse::<LossKind>(), Err(Error::Parameter { name: "delta", .. })));
    assert!(serde_json::from_str::<LossKind>(r#"{"kind": "huber"}"#).is_err());
}

/// What a loss answers to a prediction, smoothed around a centre or not.
fn answer(loss: &dyn Loss, y: f64, z: f64, mu: f64, centre: f64) -> (f64, f64, f64) {
    let (mut kappa, mut curvature) = ([0.0], [0.0]);
    let mut block = DerivativeBlock {
        y: &[y],
        z: &[z],
        w: &[1.0],
        centre: &[centre],
        mu,
        kappa: &mut kappa,
        curvature: &mut curvature,
        with_value: true,
        value: 0.0,
    };
    loss.derivatives(&mut block);
    let value = block.value;
    (value, kappa[0], curvature[0])
}

/// The answer of a smooth loss is its slope; that of any loss, smoothed, is the slope of a lower bound that
/// touches it where the centre is a solution.
#[test]
fn answers_are_slopes() {
    let (h, mu) = (1e-6, 0.5);
    for kind in LossKind::all_examples() {
        let loss = kind.build().unwrap();
        let y = if kind.is_classification() { -1.0 } else { 0.4 };
        for z in [-3.0, -1.23, -0.37, 0.11, 0.46, 0.93, 2.5] {
            for mu in if loss.is_smooth() { vec![0.0, mu] } else { vec![mu] } {
                let (low, high) = loss.conj_domain(y);
                let centre = (-0.2f64).max(-high.min(1e3)).min(-low.max(-1e3));
                let at = |z: f64| answer(&*loss, y, z, mu, centre);
                let (value, dual, curvature) = at(z);
                let ((above, dual_above, _), (below, dual_below, _)) = (at(z + h), at(z - h));
                assert!((-dual - (above - below) / (2.0 * h)).abs() < 1e-5, "{kind} {z} {mu}");
                let numeric = (dual_below - dual_above) / (2.0 * h);
                assert!(
                    (curvature - numeric).abs() < 1e-4 * (1.0 + numeric),
                    "{kind} {z} {mu}: {curvature} {numeric}"
                );
                assert!(value <= loss.value(y, z) + 1e-12, "{kind} {z} {mu}: a lower bound");
                // Around its own answer the bound is tight where the loss is smooth there.
                let (left, right) = loss.slope(y, z);
                if left == right {
                    let (tight, same, _) = answer(&*loss, y, z, mu, -left);
                    assert!(
                        (tight - loss.value(y, z)).abs() < 1e-12 && (same + left).abs() < 1e-12,
                        "{kind} {z}"
                    );
                }
            }
        }
    }
}

/// What a loss says of itself without a label is so for every label.
#[test]
fn properties_hold_for_every_label() {
    for kind in kinds(1.0) {
        let loss = kind.build().unwrap();
        for y in if loss.is_classification() { vec![-1.0, 1.0] } else { vec![-3.0, 0.0, 1.0, 2.5] } {
            let name = format!("{kind} at label {y}");
            let shape = loss.quadratic_conjugate(y);
            assert_eq!(loss.has_quadratic_conjugate(), shape.is_some(), "{name}");
            let (low, high) = loss.conj_domain(y);
            let inside = |share: f64| low.max(-10.0) * share + high.min(10.0) * (1.0 - share);
            let least = (1..20).map(|i| loss.conj_curvature(y, inside(f64::from(i) / 20.0)));
            let least = least.fold(f64::INFINITY, f64::min);
            assert!((loss.conj_modulus() - least).abs() <= 1e-12 * least, "{name}: {least}");
            // Linear from some prediction on: the slope reaches an end of the conjugate's domain.
            let reached =
                [-1e6, 1e6].iter().any(|&z| loss.slope(y, z).0 == low || loss.slope(y, z).1 == high);
            let bounded = low.is_finite() || high.is_finite();
            assert_eq!(loss.has_linear_tail(), shape.is_some() && bounded && reached, "{name}");
        }
        assert_eq!(loss.is_classification(), loss.check_label(2.0).is_err(), "{kind}");
        assert_eq!(loss.is_classification(), kind.is_classification(), "{kind}");
    }
}

/// A slope that moves with its prediction is the slope at the prediction that moved, also far away.
#[test]
fn shifted_slopes_are_those_of_shifted_predictions() {
    for kind in LossKind::all_examples() {
        let loss = kind.build().unwrap();
        // Others have a form of their own.
        if loss.has_quadratic_conjugate() {
            continue;
        }
        for y in if kind.is_classification() { [-1.0, 1.0] } else { [-0.7, 0.4] } {
            for (z, by) in [(0.3, 0.0), (-2.0, 0.7), (5.0, -30.0), (-8.0, 20.0), (1.0, 800.0), (1.0, -800.0)]
            {
                let (left, right) = loss.slope(y, z);
                let (slope, curvature) = loss.shifted(y, 0.5 * (left + right), &PredictionShift::new(by));
                let expected = loss.slope(y, z + by).0;
                let off = (slope - expected).abs();
                assert!(off <= 1e-9 * expected.abs() + 1e-12, "{kind} {y} {z} {by}: {slope}");
                let off = (curvature - loss.curvature(y, z + by)).abs();
                assert!(off <= 1e-9 * loss.curvature(y, z + by) + 1e-12, "{kind} {y} {z} {by}: {curvature}");
            }
        }
    }
    let one = -1.0;
    for by in [-1e3, 0.0, 1e3] {
        let (slope, curvature) = Logistic.shifted(1.0, one, &PredictionShift::new(by));
        assert_eq!((slope, curvature), (one, 0.0), "a dual at the end of its interval stays there");
    }
}
