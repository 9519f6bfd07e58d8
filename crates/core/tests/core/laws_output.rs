//! The laws every entrywise regulariser must obey: one body, every example, in the paper's units and far from
//! them.
//!
//! A regulariser scaled by (gain, rate) has its natural arguments at z = u / rate and theta = gain v with u,
//! v of order one; values of phi are then gain / rate times those in the paper's units. Tolerances are
//! relative to the terms that are added up, a few thousand roundings unless stated.

use faer::{Mat, Side};
use kinfolk::{
    Error, Matrix, Regularizer,
    regularizer::{Entrywise, Exp, Fixed, Frobenius, Power, RegularizerKind, RowStep, Series},
};
use proptest::prelude::*;

const TASKS: usize = 3;
const TOL: f64 = 1e-12;

/// gain and rate: in the paper's units and far from them.
const SCALES: [(f64, f64); 7] =
    [(1.0, 1.0), (3.0, 0.2), (1e-100, 1e-100), (1e-100, 1e100), (1e100, 1e-100), (1e100, 1e100), (1e9, 1e27)];

/// One regulariser in one system of units.
struct Case {
    label: String,
    base: Box<dyn Entrywise>,
    output: Box<dyn Entrywise>,
    gain: f64,
    rate: f64,
}

fn cases(n_tasks: usize) -> Vec<Case> {
    let mut all = Vec::new();
    for kind in RegularizerKind::entrywise_examples(n_tasks) {
        for (gain, rate) in SCALES {
            let base = entrywise(&kind);
            let output = base.scaled(gain, rate);
            all.push(Case { label: format!("{kind} gain {gain:e} rate {rate:e}"), base, output, gain, rate });
        }
    }
    all
}

fn entrywise(kind: &RegularizerKind) -> Box<dyn Entrywise> {
    match kind.build().expect("examples are valid") {
        Regularizer::Entrywise(regularizer) => regularizer.into_entries(),
        Regularizer::Spectral(_) => panic!("{kind} is no sum over entries"),
    }
}

fn close(a: f64, b: f64, size: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * size
}

/// Arguments of order one, with zero, tiny ones and ones large enough for every term to matter.
fn argument() -> impl Strategy<Value = f64> {
    let magnitude = (-12.0..1.5_f64, any::<bool>())
        .prop_map(|(exponent, minus)| 10.0_f64.powf(exponent) * if minus { -1.0 } else { 1.0 });
    prop_oneof![1 => Just(0.0), 1 => Just(f64::EPSILON), 6 => -3.0..3.0_f64, 3 => magnitude]
}

fn pair() -> impl Strategy<Value = (usize, usize)> {
    (0..TASKS, 0..TASKS)
}

/// Task vectors w_1 .. w_T and an input x, in R^4.
fn vectors() -> impl Strategy<Value = (Vec<[f64; 4]>, [f64; 4])> {
    let vector = || prop::array::uniform4(-1.0..1.0_f64);
    (prop::collection::vec(vector(), TASKS), vector())
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn derivatives_are_those_of_phi(u in -3.0..3.0_f64, rs in pair()) {
        let h = 1e-5;
        for Case { label, output, gain, rate, .. } in cases(TASKS) {
            prop_assert_eq!(output.phi(rs, 0.0), 0.0, "{}", label);
            // In the paper's units.
            let phi = |u: f64| output.phi(rs, u / rate) / gain * rate;
            let slope = |u: f64| output.dphi(rs, u / rate) / gain;
            let curvature = |u: f64| output.d2phi(rs, u / rate) / gain / rate;
            // Sizes a little further out bound the third derivatives, which central differences miss by.
            let far = u.abs() + 0.1;
            let size = phi(far).abs() + phi(-far).abs() + slope(far).abs() + curvature(far);
            let difference = (phi(u + h) - phi(u - h)) / (2.0 * h);
            prop_assert!(close(slope(u), difference, size, 1e-7), "{}: {} {}", label, slope(u), difference);
            let difference = (slope(u + h) - slope(u - h)) / (2.0 * h);
            prop_assert!(close(curvature(u), difference, size, 1e-7), "{}: {} {}", label, curvature(u), difference);
        }
    }

    #[test]
    fn phi_is_convex_and_never_nan(
        exponents in (-300.0..300.0_f64, -300.0..300.0_f64), signs in any::<(bool, bool)>(), rs in pair(),
    ) {
        let number = |exponent: f64, minus: bool| 10.0_f64.powf(exponent) * if minus { -1.0 } else { 1.0 };
        let (a, b) = (number(exponents.0, signs.0), number(exponents.1, signs.1));
        for Case { label, output, .. } in cases(TASKS) {
            let (low, high) = (output.dphi(rs, a.min(b)), output.dphi(rs, a.max(b)));
            prop_assert!(low <= high, "{}: {} {}", label, low, high);
            prop_assert!(output.d2phi(rs, a) >= 0.0, "{}", label);
            prop_assert!(!output.phi(rs, a).is_nan(), "{}", label);
            prop_assert!(output.phi_conj(rs, a) >= 0.0, "{}: {}", label, output.phi_conj(rs, a));
            prop_assert!(output.fenchel_young(rs, a, b) >= 0.0, "{}: {}", label, output.fenchel_young(rs, a, b));
        }
    }

    #[test]
    fn fenchel_young_holds_and_is_tight_at_theta(u in argument(), v in argument(), rs in pair()) {
        for Case { label, output, gain, rate, .. } in cases(TASKS) {
            let (z, unit) = (u / rate, gain / rate);
            for theta in [gain * v, output.dphi(rs, v / rate), output.dphi(rs, z)] {
                let (phi, conj) = (output.phi(rs, z), output.phi_conj(rs, theta));
                let sum = output.fenchel_young(rs, z, theta);
                prop_assert!(sum >= 0.0, "{}: {}", label, sum);
                if conj == f64::INFINITY {
                    prop_assert_eq!(sum, f64::INFINITY, "{}", label);
                    continue;
                }
                let size = phi.abs() + conj + (z * theta).abs();
                let direct = phi + conj - z * theta;
                prop_assert!(close(sum, direct, size, TOL), "{} z {} theta {}: {} {}", label, z, theta, sum, direct);
            }
            let theta = output.dphi(rs, z);
            let (tight, size) = (output.fenchel_young(rs, z, theta), output.phi(rs, z).abs() + (z * theta).abs());
            prop_assert!(tight <= TOL * TOL * unit + 1e-20 * size, "{}: {} of {}", label, tight, size);
        }
    }

    #[test]
    fn scaling_is_what_it_says(u in argument(), v in argument(), rs in pair()) {
        for Case { label, base, output, gain, rate } in cases(TASKS) {
            let z = u / rate;
            let pairs = [
                ("phi", output.phi(rs, z), gain / rate * base.phi(rs, rate * z)),
                ("dphi", output.dphi(rs, z), gain * base.dphi(rs, rate * z)),
                ("d2phi", output.d2phi(rs, z), gain * rate * base.d2phi(rs, rate * z)),
                ("phi*", output.phi_conj(rs, gain * v), gain / rate * base.phi_conj(rs, v)),
            ];
            for (what, got, expected) in pairs {
                // Where the expression for phi or phi' itself cancels, relative to what cancels.
                let unit = match what { "phi" => gain * z.abs(), "phi*" => gain / rate * v.abs(), _ => 0.0 };
                let size = expected.abs() + 1e-2 * unit + if what == "dphi" { 1e-2 * gain } else { 0.0 };
                prop_assert!(close(got, expected, size, TOL), "{} {}: {} {}", label, what, got, expected);
            }
            let back = output.scaled(1.0 / gain, 1.0 / rate);
            prop_assert!(close(back.dphi(rs, u), base.dphi(rs, u), base.dphi(rs, u).abs() + 1.0, TOL), "{}", label);
        }
    }

    #[test]
    fn degree_and_linear_slope_are_what_they_say(u in -3.0..3.0_f64, a in 0.1..3.0_f64, rs in pair()) {
        for Case { label, output, gain, rate, .. } in cases(TASKS) {
            let z = u / rate;
            if let Some(degree) = output.degree() {
                let (got, expected) = (output.phi(rs, a * z), a.powi(degree as i32) * output.phi(rs, z));
                prop_assert!(close(got, expected, expected.abs(), TOL), "{}: {} {}", label, got, expected);
            }
            if let Some(slope) = output.linear_slope() {
                let (got, expected) = (output.dphi(rs, z), output.dphi(rs, 0.0) + slope * z);
                prop_assert!(close(got, expected, gain, TOL), "{}: {} {}", label, got, expected);
            }
        }
    }

    #[test]
    fn scaled_slopes_are_the_slopes_without_overflow(u in argument(), huge in 1e3..1e6_f64, rs in pair()) {
        for Case { label, output, rate, .. } in cases(TASKS) {
            let z = u / rate;
            let log_scale = output.log_scale(z.min(0.0), z.max(0.0));
            prop_assert!(log_scale >= 0.0, "{}", label);
            let (d1, d2) = output.scaled_slopes(rs, z, log_scale);
            let (e1, e2) = (output.dphi(rs, z) * (-log_scale).exp(), output.d2phi(rs, z) * (-log_scale).exp());
            prop_assert!(close(d1, e1, e1.abs(), TOL), "{}: {} {}", label, d1, e1);
            prop_assert!(close(d2, e2, e2.abs(), TOL), "{}: {} {}", label, d2, e2);

            for (low, high) in [(-huge, huge), (u.min(huge), huge), (-huge, u.max(-huge))] {
                let log_scale = output.log_scale(low / rate, high / rate);
                for end in [low / rate, high / rate] {
                    let (d1, d2) = output.scaled_slopes(rs, end, log_scale);
                    prop_assert!(d1.is_finite() && d2.is_finite() && d2 >= 0.0, "{}: {} {}", label, d1, d2);
                }
                // No more is taken out than needed: some curvature stays in sight, unless there is none.
                let seen = [low, high].iter().any(|u| output.scaled_slopes(rs, u / rate, log_scale).1 > 0.0);
                prop_assert!(seen || output.linear_slope() == Some(0.0) || high == 0.0, "{}", label);
            }
        }
    }

    #[test]
    fn row_slope_is_the_derivative_along_a_step((w, x) in vectors(), step in -2.0..2.0_f64, r in 0..TASKS) {
        let h = 1e-5;
        for Case { label, output, gain, rate, .. } in cases(TASKS) {
            let a = dot(&x, &x) / rate;
            let b: Vec<f64> = w.iter().map(|w_s| dot(&x, w_s) / rate).collect();
            let c: Vec<f64> = w.iter().map(|w_s| dot(&w[r], w_s) / rate).collect();
            let row = RowStep { task: r, a, b: &b, c: &c };
            // In units of gain / rate.
            let value = |step: f64| -> f64 {
                let mut sum = output.phi((r, r), c[r] + 2.0 * b[r] * step + a * step * step);
                for s in (0..TASKS).filter(|s| *s != r) {
                    sum += 2.0 * output.phi((r, s), c[s] + b[s] * step);
                }
                0.5 * sum / gain * rate
            };
            let slopes = |step: f64| -> (f64, f64, f64) {
                let slope = output.row_slope(&row, step);
                let unit = slope.log_scale.exp() / gain * rate;
                (slope.slope * unit, slope.curvature * unit, slope.size * unit)
            };
            let (slope, curvature, size) = slopes(step);
            prop_assert!(curvature >= 0.0 && size >= slope.abs() * (1.0 - TOL), "{}", label);
            // Enough for the third derivatives of the steepest example, phi of degree 8 at |z| <= 36.
            let size = size + curvature + value(step).abs() + value(step + 0.1).abs() + value(step - 0.1).abs();
            let difference = (value(step + h) - value(step - h)) / (2.0 * h);
            prop_assert!(close(slope, difference, size, 1e-6), "{}: {} {}", label, slope, difference);
            let difference = (slopes(step + h).0 - slopes(step - h).0) / (2.0 * h);
            prop_assert!(close(curvature, difference, size, 1e-5), "{}: {} {}", label, curvature, difference);
        }
    }

    #[test]
    fn row_slope_survives_far_points((w, x) in vectors(), exponent in 0.0..9.0_f64, r in 0..TASKS) {
        for Case { label, output, rate, .. } in cases(TASKS) {
            if output.log_scale(0.0, 1.0 / rate) == 0.0 {
                continue; // Polynomials are allowed to overflow.
            }
            let a = dot(&x, &x) / rate;
            let b: Vec<f64> = w.iter().map(|w_s| dot(&x, w_s) / rate).collect();
            let c: Vec<f64> = w.iter().map(|w_s| dot(&w[r], w_s) / rate).collect();
            let row = RowStep { task: r, a, b: &b, c: &c };
            for step in [10.0_f64.powf(exponent), -(10.0_f64.powf(exponent))] {
                let slope = output.row_slope(&row, step);
                prop_assert!(slope.slope.is_finite() && slope.size.is_finite(), "{}: {:?}", label, slope);
                prop_assert!(slope.curvature.is_finite() && slope.curvature >= 0.0, "{}: {:?}", label, slope);
                prop_assert!(slope.curvature > 0.0, "{}: {:?}", label, slope);
            }
        }
    }

    #[test]
    fn theta_of_a_gram_matrix_is_symmetric_and_psd(
        n in 1..6_usize, entries in prop::collection::vec(-1.0..1.0_f64, 36), size in -3.0..1.0_f64,
    ) {
        let size = 10.0_f64.powf(size);
        for Case { label, output, gain, rate, .. } in cases(n) {
            let mut rho = Matrix::zeros(n, n);
            for r in 0..n {
                for s in 0..n {
                    let product: f64 = (0..6).map(|j| entries[6 * r + j] * entries[6 * s + j]).sum();
                    rho[(r, s)] = size * product / rate;
                }
            }
            rho[(0, n - 1)] *= 1.0 + f64::EPSILON;
            let theta = output.theta(&rho);
            for r in 0..n {
                for s in 0..n {
                    prop_assert_eq!(theta[(r, s)], theta[(s, r)], "{}", label);
                }
            }
            let scaled = Mat::from_fn(n, n, |r, s| theta[(r, s)] / gain);
            let eigenvalues = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
            prop_assert!(eigenvalues[0] >= -1e-13 * eigenvalues[n - 1], "{}: {:?}", label, eigenvalues);
        }
    }

    #[test]
    fn a_series_is_accepted_exactly_if_it_is_convex(
        exponents in prop::collection::vec(-2.0..2.0_f64, 1..8), present in prop::array::uniform8(any::<bool>()),
        looks in prop::collection::vec(-2.0..2.0_f64, 50),
    ) {
        let coefficients: Vec<f64> =
            exponents.iter().zip(present).map(|(e, here)| if here { 10.0_f64.powf(*e) } else { 0.0 }).collect();
        let curvature = |z: f64| -> (f64, f64) {
            let term = |(j, a): (usize, &f64)| ((j * (j + 1)) as f64) * a * z.powi(j as i32 - 1);
            let terms = coefficients.iter().enumerate().skip(1).map(term);
            terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()))
        };
        match Series::new(coefficients.clone()) {
            Ok(_) => for exponent in looks {
                let (sum, size) = curvature(-(10.0_f64.powf(exponent)));
                prop_assert!(sum >= -1e-11 * size, "{:?} at -10^{}: {}", coefficients, exponent, sum);
            },
            Err(Error::NotConvex { z, value }) => {
                let (sum, size) = curvature(z);
                prop_assert!(close(sum, value, size, TOL) && value < 0.0, "{:?} at {}", coefficients, z);
            }
            Err(_) => prop_assert!(coefficients.iter().all(|a| *a == 0.0)),
        }
    }
}

#[test]
fn theta_outside_the_domain_costs_infinitely_much() {
    for (gain, rate) in SCALES {
        let exp = Exp::new().scaled(gain, rate);
        assert_eq!(exp.phi_conj((0, 1), -1e-3 * gain), f64::INFINITY);
        assert!((exp.phi_conj((0, 1), 0.0) / (gain / rate) - 1.0).abs() < TOL);
        let fixed = Fixed::identity(2).scaled(gain, rate);
        for theta in [0.0, 1.01, -1.0] {
            assert_eq!(fixed.phi_conj((1, 1), theta * gain), f64::INFINITY);
        }
        assert_eq!(fixed.phi_conj((0, 1), 1e-13 * gain), 0.0);
        let linear = Series::new(vec![2.0]).unwrap().scaled(gain, rate);
        assert_eq!(linear.phi_conj((0, 1), 2.0 * gain), 0.0);
        assert_eq!(linear.phi_conj((0, 1), 2.001 * gain), f64::INFINITY);
    }
}

#[test]
fn matrices_must_fit_the_tasks() {
    for kind in RegularizerKind::entrywise_examples(TASKS) {
        let output = entrywise(&kind);
        output.check_tasks(TASKS).unwrap();
        let holds_a_matrix = matches!(
            kind,
            RegularizerKind::Exp { prior: Some(_) }
                | RegularizerKind::Fixed { .. }
                | RegularizerKind::Frobenius { .. }
        );
        let other = output.scaled(2.0, 3.0).check_tasks(TASKS + 1);
        assert_eq!(matches!(other, Err(Error::Length { got: 3, expected: 4, .. })), holds_a_matrix, "{kind}");
    }
}

#[test]
fn bad_parameters_are_refused_by_type() {
    for k in [0, 1001] {
        assert!(matches!(Power::new(k), Err(Error::Parameter { name: "k", .. })));
    }
    let series = |a: &[f64]| Series::new(a.to_vec());
    assert!(
        matches!(series(&[0.0, 0.0, 1.0 / 3.0]), Err(Error::NotConvex { z, value }) if z < 0.0 && value < 0.0)
    );
    assert!(matches!(series(&[1.0, 1.0, 0.0, 0.0, 1.0]), Err(Error::NotConvex { .. })));
    assert!(matches!(series(&[1.0, -0.5]), Err(Error::Parameter { value: -0.5, .. })));
    assert!(matches!(series(&[1.0, f64::NAN]), Err(Error::Parameter { .. })));
    assert!(matches!(series(&[f64::INFINITY]), Err(Error::Parameter { .. })));
    assert!(matches!(series(&[0.0, 0.0]), Err(Error::Parameter { .. })));
    assert!(matches!(series(&[1.0; 66]), Err(Error::Parameter { value: 66.0, .. })));
    assert!(matches!(series(&[]), Err(Error::Empty { .. })));

    let makers: [fn(Matrix) -> Option<Error>; 3] =
        [|m| Exp::with_prior(m).err(), |m| Fixed::new(m).err(), |m| Frobenius::new(m).err()];
    for make in makers {
        let error = |data: [f64; 4]| make(Matrix::from_vec(data.to_vec(), 2, 2).unwrap());
        assert!(error([2.0, 1.0, 1.0, 2.0]).is_none());
        assert!(matches!(error([2.0, 1.0, 0.5, 2.0]), Some(Error::Asymmetric { row: 1, column: 0, .. })));
        assert!(matches!(error([1.0, 2.0, 2.0, 1.0]), Some(Error::NotPsd { .. })));
        assert!(matches!(error([1.0, f64::NAN, 1.0, 1.0]), Some(Error::Entry { row: 0, column: 1, .. })));
        assert!(matches!(
            error([1.0, 1.0, 1.0, f64::INFINITY]),
            Some(Error::Entry { row: 1, column: 1, .. })
        ));
        let wide = make(Matrix::from_vec(vec![1.0; 6], 2, 3).unwrap());
        assert!(matches!(wide, Some(Error::NotSquare { rows: 2, columns: 3, .. })));
        assert!(matches!(make(Matrix::zeros(0, 0)), Some(Error::Empty { .. })));
    }
    let zero = Exp::with_prior(Matrix::identity(2));
    assert!(matches!(zero, Err(Error::Entry { row: 0, column: 1, .. })));
    let ragged = RegularizerKind::Fixed { theta: vec![vec![1.0, 0.0], vec![0.0]] };
    assert!(matches!(ragged.build(), Err(Error::Length { got: 1, expected: 2, .. })));
}
