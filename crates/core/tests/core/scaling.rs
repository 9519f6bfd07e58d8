//! Scaling of inputs: scikit-learn's numbers, and the same bits however inputs are stored or cut.

use crate::common::sparse_of as sparse;
use kinfolk::inputs::{Dense, Gram, Inputs};
use kinfolk::{Error, Scaling, ScalingKind};
use proptest::prelude::*;
use serde_json::Value;

fn dense(x: &[f64], cols: usize) -> Inputs<'static> {
    Dense::f64_owned(x.to_vec(), x.len() / cols, cols).unwrap().into()
}

/// Scaled values, zeros of sparse ones included.
fn scaled(scaling: &Scaling, inputs: &Inputs<'_>) -> Vec<f64> {
    let out = scaling.apply(inputs).unwrap();
    let rows: Vec<u32> = (0..out.n_inputs() as u32).collect();
    let mut values = vec![0.0; out.n_inputs() * out.n_features()];
    match out {
        Inputs::Dense(x) => x.load(&rows, &mut values),
        Inputs::Sparse(x) => x.load(&rows, &mut values),
        _ => unreachable!(),
    }
    values
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn close(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(f64::MIN_POSITIVE), "{what} {i}: {a} and {b}");
    }
}

#[test]
fn scikit_learn_scales_alike() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sklearn.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let golden = &golden["scaling"];
    let list = |key: &str| -> Vec<f64> { serde_json::from_value(golden[key].clone()).unwrap() };
    let cols = golden["cols"].as_u64().unwrap() as usize;
    let (x, scale) = (list("x"), list("scale"));
    let inputs = dense(&x, cols);
    let scaling = Scaling::fit(ScalingKind::Standard, &inputs).unwrap();
    let Scaling::Standard { mean, factor } = &scaling else { panic!("{scaling:?}") };
    for (j, (got, expected)) in mean.iter().zip(list("mean")).enumerate() {
        assert!(
            (got - expected).abs() <= 1e-14 * (expected.abs() + scale[j]),
            "mean {j}: {got} and {expected}"
        );
    }
    // The second feature is a million times as far from zero as it is wide.
    close("scale", &factor.iter().map(|f| 1.0 / f).collect::<Vec<_>>(), &scale, 1e-9);
    for (i, (got, expected)) in scaled(&scaling, &inputs).iter().zip(list("standard")).enumerate() {
        assert!((got - expected).abs() <= 1e-8, "value {i}: {got} and {expected}");
    }
    let two: Vec<f64> = x.chunks(cols).flat_map(|row| [row[0], row[1]]).collect();
    close("unit", &scaled(&Scaling::Unit, &dense(&two, 2)), &list("unit"), 1e-15);
}

#[test]
fn numbers_of_any_size() {
    for unit in [1e-300, 1e-150, 1e-30, 1.0, 1e30, 1e150, 8e307] {
        let x: Vec<f64> = [-1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 2.0, 0.5].iter().map(|x| x * unit).collect();
        let inputs = dense(&x, 2);
        let scaling = Scaling::fit(ScalingKind::Standard, &inputs).unwrap();
        let root = 1.25f64.sqrt();
        let expected = [-1.5, 0.0, -0.5, 0.0, 0.5, 0.0, 1.5, 0.0].map(|x| x / root);
        close(&format!("{unit:e}"), &scaled(&scaling, &inputs), &expected, 1e-14);
        let rows = scaled(&Scaling::Unit, &inputs);
        for row in rows.chunks(2) {
            assert!((row[0].hypot(row[1]) - 1.0).abs() < 1e-15, "{unit:e}: {row:?}");
        }
        assert_eq!(rows[2..4], [0.0, 1.0]);
    }
    // Opposite ends of the range.
    let far = dense(&[-f64::MAX, f64::MAX], 1);
    let scaling = Scaling::fit(ScalingKind::Standard, &far).unwrap();
    close("opposite ends", &scaled(&scaling, &far), &[-1.0, 1.0], 1e-15);
    assert_eq!(scaled(&Scaling::Unit, &dense(&[0.0, -0.0, 0.0, 3.0], 2)), [0.0, 0.0, 0.0, 1.0]);
    let subnormal = dense(&[0.0, 1e-310], 1);
    let error = Scaling::fit(ScalingKind::Standard, &subnormal).unwrap_err().to_string();
    assert!(error.starts_with("feature 0 has standard deviation 5e-311, too small"), "{error}");
    assert_eq!(scaled(&Scaling::Unit, &subnormal), [0.0, 1.0]);
}

#[test]
fn nothing_to_do_copies_nothing() {
    let x = [1.0, 2.0];
    let inputs = Inputs::from(Dense::f64(&x, 1, 2).unwrap());
    let Inputs::Dense(same) = Scaling::None.apply(&inputs).unwrap() else { panic!() };
    assert_eq!(same.as_f64().unwrap().as_ptr(), x.as_ptr());
    let gram = Inputs::from(Gram::new(vec![1.0], 1).unwrap());
    assert!(matches!(Scaling::None.apply(&gram), Ok(Inputs::Gram(_))));
}

#[test]
fn what_cannot_be_scaled_says_why() {
    let refusal = |result: Result<(), Error>| match result {
        Err(Error::Incompatible(why)) => why,
        other => panic!("{other:?}"),
    };
    let gram = Inputs::from(Gram::new(vec![1.0], 1).unwrap());
    for kind in [ScalingKind::Mixed, ScalingKind::Standard, ScalingKind::Spread, ScalingKind::Unit] {
        let why = refusal(Scaling::fit(kind, &gram).map(|_| ()));
        assert!(why.starts_with(&format!("{kind} scaling is about features")), "{why}");
    }
    let standard = Scaling::fit(ScalingKind::Standard, &dense(&[1.0, 2.0], 1)).unwrap();
    let holes = sparse(&[1.0, 2.0], 1);
    for result in
        [Scaling::fit(ScalingKind::Standard, &holes).map(|_| ()), standard.apply(&holes).map(|_| ())]
    {
        assert!(refusal(result).contains("would fill sparse inputs"));
    }
    let why = refusal(standard.apply(&dense(&[1.0, 2.0], 2)).map(|_| ()));
    assert_eq!(why, "the scaling has 1 means and 1 factors, there are 2 features");
    let narrow = Scaling::fit(ScalingKind::Standard, &dense(&[1e-200, 3e-200], 1)).unwrap();
    let why = refusal(narrow.apply(&dense(&[0.0, 1e200], 1)).map(|_| ()));
    assert!(why.starts_with("input row 1, column 0: 1") && why.contains("out of range once scaled"), "{why}");
}

#[test]
fn auto_is_mixed_for_features_and_none_for_kernels() {
    let x = [0.0, 5.0, 2.0, 5.0];
    let same = |inputs: &Inputs<'_>, kind| {
        let auto = Scaling::fit(ScalingKind::Auto, inputs).unwrap();
        assert_eq!((auto.kind(), &auto), (kind, &Scaling::fit(kind, inputs).unwrap()));
    };
    same(&dense(&x, 2), ScalingKind::Mixed);
    same(&sparse(&x, 2), ScalingKind::Mixed);
    same(&Inputs::from(Gram::new(vec![1.0], 1).unwrap()), ScalingKind::None);
}

#[test]
fn weights_are_repetitions() {
    let once = [1.0, 0.0, 4.0, 2.0, 0.0, -5.0, 9e9, 1e300];
    let twice = [1.0, 0.0, 4.0, 2.0, 4.0, 2.0, 4.0, 2.0, 0.0, -5.0];
    let weights = [1e-200, 3e-200, 1e-200, 0.0];
    for kind in [ScalingKind::Mixed, ScalingKind::Standard, ScalingKind::Spread] {
        let weighted = Scaling::fit_weighted(kind, &dense(&once, 2), Some(&weights)).unwrap();
        let repeated = Scaling::fit(kind, &dense(&twice, 2)).unwrap();
        close(
            "weighted",
            &scaled(&weighted, &dense(&twice, 2)),
            &scaled(&repeated, &dense(&twice, 2)),
            1e-14,
        );
        let ones = Scaling::fit_weighted(kind, &dense(&twice, 2), Some(&[7.0; 5])).unwrap();
        assert_eq!(ones, repeated);
    }
    let error = Scaling::fit_weighted(ScalingKind::Standard, &dense(&once, 2), Some(&[1.0])).unwrap_err();
    assert!(matches!(error, Error::Length { got: 1, expected: 4, .. }), "{error}");
}

/// Never seen: 1. Constant: becomes plus or minus one. Others: the standard deviation around the mean.
#[test]
fn spread_is_the_standard_deviation() {
    for unit in [1e-300, 1e-150, 1.0, 1e150, 1e300] {
        let x: Vec<f64> = [0.0, -5.0, 2.0, 0.0, -5.0, 0.0].iter().map(|x| x * unit).collect();
        let Scaling::Spread { factor, .. } = Scaling::fit(ScalingKind::Spread, &sparse(&x, 3)).unwrap()
        else {
            panic!()
        };
        close(&format!("{unit:e}"), &factor, &[1.0, 0.2 / unit, 1.0 / unit], 1e-15);
        assert_eq!(factor[0], 1.0);
    }
    let spread = Scaling::fit(ScalingKind::Spread, &sparse(&[1e-200, 3e-200], 1)).unwrap();
    let why = spread.apply(&sparse(&[0.0, 1e200], 1)).unwrap_err().to_string();
    assert!(why.starts_with("input row 1, column 0: 1") && why.contains("training inputs' factor"), "{why}");
    let why = spread.apply(&dense(&[1.0, 2.0], 2)).unwrap_err().to_string();
    assert_eq!(why, "the scaling has 1 factors, there are 2 features");
}

#[test]
fn names() {
    crate::common::names_round_trip(ScalingKind::ALL);
    let error = "robust".parse::<ScalingKind>().unwrap_err().to_string();
    assert_eq!(
        error,
        "scaling \"robust\" is not understood: it is one of auto, none, mixed, standard, spread, unit"
    );
}

/// Numbers that single precision holds, a third of them zero.
fn table() -> impl Strategy<Value = (Vec<f64>, usize)> {
    let number = prop_oneof![Just(0.0), -1e3f32..1e3, any::<i8>().prop_map(f32::from)];
    (1usize..6).prop_flat_map(move |cols| {
        let rows = prop::collection::vec(number.clone().prop_map(f64::from), cols..=cols * 30);
        rows.prop_map(move |mut x| {
            x.truncate(x.len() / cols * cols);
            (x, cols)
        })
    })
}

proptest! {
    #[test]
    fn storage_does_not_matter((x, cols) in table()) {
        let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let wide = dense(&x, cols);
        let narrow = Inputs::from(Dense::f32(&single, x.len() / cols, cols).unwrap());
        for kind in ScalingKind::ALL {
            let scaling = Scaling::fit(kind, &wide).unwrap();
            prop_assert_eq!(&Scaling::fit(kind, &narrow).unwrap(), &scaling);
            let expected = bits(&scaled(&scaling, &wide));
            prop_assert_eq!(bits(&scaled(&scaling, &narrow)), &expected[..]);
            if !matches!(scaling, Scaling::Standard { .. } | Scaling::Mixed { .. }) {
                let holes: Vec<f64> = scaled(&scaling, &sparse(&x, cols)).iter().map(|x| x + 0.0).collect();
                let plus: Vec<f64> = expected.iter().map(|x| f64::from_bits(*x) + 0.0).collect();
                prop_assert_eq!(bits(&holes), bits(&plus));
            }
        }
    }

    #[test]
    fn sparse_features_have_the_factors_of_dense_ones((x, cols) in table()) {
        for kind in [ScalingKind::Mixed, ScalingKind::Spread] {
            let factor = |inputs: &Inputs<'_>| {
                Scaling::fit(kind, inputs).unwrap().mean_and_factor().unwrap().1.to_vec()
            };
            let (whole, holes) = (factor(&dense(&x, cols)), factor(&sparse(&x, cols)));
            for j in 0..cols {
                // Constant features are left alone where means are subtracted.
                let constant = x.iter().skip(j).step_by(cols).all(|v| *v == x[j]);
                prop_assert!(constant || (whole[j] / holes[j] - 1.0).abs() < 1e-9, "{} {}", whole[j], holes[j]);
            }
        }
    }

    #[test]
    fn chunks_do_not_matter((x, cols) in table(), size in 1usize..7) {
        for kind in ScalingKind::ALL {
            let scaling = Scaling::fit(kind, &dense(&x, cols)).unwrap();
            let parts = x.chunks(size * cols).flat_map(|part| scaled(&scaling, &dense(part, cols)));
            prop_assert_eq!(bits(&scaled(&scaling, &dense(&x, cols))), bits(&parts.collect::<Vec<_>>()));
        }
    }

    #[test]
    fn means_vanish_and_variances_are_one((x, cols) in table()) {
        let inputs = dense(&x, cols);
        let values = scaled(&Scaling::fit(ScalingKind::Standard, &inputs).unwrap(), &inputs);
        let n = (x.len() / cols) as f64;
        for j in 0..cols {
            let column = || values.iter().skip(j).step_by(cols);
            prop_assert!(column().sum::<f64>().abs() <= 1e-9 * n);
            let variance = column().map(|x| x * x).sum::<f64>() / n;
            let constant = x.iter().skip(j).step_by(cols).all(|v| *v == x[j]);
            prop_assert!((variance - f64::from(u8::from(!constant))).abs() <= 1e-9, "{}", variance);
        }
    }
}
