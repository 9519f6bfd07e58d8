//! Kernel parameters: scikit-learn's gamma rules, ranges, names and files.

use kinfolk::Error;
use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};
use kinfolk::kernel::{Gamma, Kernel};

fn dense(x: &[f64], cols: usize) -> Inputs<'_> {
    Dense::f64(x, x.len() / cols, cols).unwrap().into()
}

#[test]
fn gamma_follows_scikit_learn() {
    let gamma_of = |gamma: Gamma, x: &Inputs<'_>| match gamma.resolve(x).unwrap() {
        Gamma::Value(v) => v,
        other => panic!("{other:?}"),
    };
    // Mean 1.5, variance 1.25; sklearn: 1 / (2 * 1.25). The zero counts in the sparse forms, too.
    let (indptr, indices) = (vec![0, 1, 3], vec![1, 0, 1]);
    for form in [
        dense(&[0.0, 1.0, 2.0, 3.0], 2),
        Dense::f32(&[0.0, 1.0, 2.0, 3.0], 2, 2).unwrap().into(),
        Sparse::f64(indptr.clone(), indices.clone(), vec![1.0, 2.0, 3.0], 2).unwrap().into(),
        Sparse::f32(indptr, indices, vec![1.0, 2.0, 3.0], 2).unwrap().into(),
    ] {
        assert_eq!(gamma_of(Gamma::Scale, &form), 0.4);
        assert_eq!(gamma_of(Gamma::Auto, &form), 0.5);
        assert_eq!(gamma_of(Gamma::Value(3.0), &form), 3.0);
    }
    // Sparse, mostly zero: 1, 0, 0, 0 has mean 1/4, variance 3/16.
    let one = Sparse::f32(vec![0, 1, 1], vec![1], vec![1.0], 2).unwrap().into();
    assert_eq!(gamma_of(Gamma::Scale, &one), 1.0 / (2.0 * 3.0 / 16.0));
    // Equal entries have variance exactly 0, whatever their rounded mean; so has nothing at all.
    assert_eq!(gamma_of(Gamma::Scale, &dense(&[0.1; 30], 3)), 1.0);
    assert_eq!(gamma_of(Gamma::Scale, &Sparse::f64(vec![0, 0], vec![], vec![], 2).unwrap().into()), 1.0);
    // Far from zero: the variance of 1e8 + {0, 1} is 1/4.
    assert_eq!(gamma_of(Gamma::Scale, &dense(&[1e8, 1e8 + 1.0], 1)), 4.0);
    // Squares that overflow on the way.
    let large = gamma_of(Gamma::Scale, &dense(&[1e153, -1e153], 1));
    assert!((large * 1e300 / 1e-6 - 1.0).abs() < 1e-12);
    let tiny = gamma_of(Gamma::Scale, &dense(&[1e-150, -1e-150], 1));
    assert!((tiny / 1e300 - 1.0).abs() < 1e-12);
    let error = Gamma::Scale.resolve(&dense(&[1e-200, -1e-200], 1)).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "gamma", value: f64::INFINITY, .. }));
}

#[test]
fn wrong_parameters_and_pairs_are_told_apart() {
    let x = dense(&[1.0, 2.0], 2);
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY].map(Gamma::Value) {
        let polynomial = Kernel::Polynomial { degree: 2, gamma, coef0: 0.0 };
        for kernel in [Kernel::Rbf { gamma }, Kernel::Laplacian { gamma }, polynomial] {
            assert!(matches!(kernel.resolve(&x), Err(Error::Parameter { name: "gamma", .. })));
        }
    }
    let polynomial = |degree, coef0| Kernel::Polynomial { degree, gamma: Gamma::Auto, coef0 }.resolve(&x);
    assert!(matches!(polynomial(0, 0.0), Err(Error::Parameter { name: "degree", .. })));
    for coef0 in [-1e-9, f64::NAN, f64::INFINITY] {
        assert!(matches!(polynomial(2, coef0), Err(Error::Parameter { name: "coef0", .. })));
    }

    let gram: Inputs = Gram::new(vec![1.0], 1).unwrap().into();
    assert_eq!(Kernel::Precomputed.resolve(&gram).unwrap(), Kernel::Precomputed);
    let told = |result: Result<_, Error>| match result.map(|_| ()) {
        Err(Error::Incompatible(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(told(Kernel::Precomputed.resolve(&x)).contains("Gram matrix"));
    assert!(told(Kernel::Linear.resolve(&gram)).contains("precomputed"));
    let check =
        |kernel: &Kernel, a: &Inputs<'_>, b: &Inputs<'_>| kernel.check_pair(a, b).map(|()| Kernel::Linear);
    assert!(told(check(&Kernel::Linear, &dense(&[1.0; 3], 3), &x)).contains("3 features"));
    assert!(told(check(&Kernel::Linear, &gram, &x)).contains("Gram"));
    assert!(told(check(&Kernel::Precomputed, &x, &gram)).contains("each of the 1 training"));
}

#[test]
fn names_and_json_round_trip() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
        let json = serde_json::to_string(&kernel).unwrap();
        assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
        assert_eq!(
            serde_json::from_str::<Kernel>(&format!("{{\"kind\": \"{}\"}}", kernel.name())).unwrap(),
            kernel,
            "parameters may be left out"
        );
    }
    let rbf = Kernel::Rbf { gamma: Gamma::Value(0.1) };
    assert_eq!(serde_json::to_string(&rbf).unwrap(), r#"{"kind":"rbf","gamma":0.1}"#);
    let scale = serde_json::to_string(&Kernel::ALL[1]).unwrap();
    assert_eq!(scale, r#"{"kind":"rbf","gamma":"scale"}"#);
    let whole: Kernel = serde_json::from_str(r#"{"kind": "rbf", "gamma": 2}"#).unwrap();
    assert_eq!(whole, Kernel::Rbf { gamma: Gamma::Value(2.0) });
    assert!(serde_json::from_str::<Kernel>(r#"{"kind": "rbf", "gama": 2}"#).is_err());
    assert!(serde_json::from_str::<Kernel>(r#"{"kind": "rbf", "gamma": "wide"}"#).is_err());
    let error = "sigmoid".parse::<Kernel>().unwrap_err().to_string();
    assert!(error.contains("\"sigmoid\"") && error.contains("linear, rbf, polynomial"), "{error}");
}

#[test]
fn texts_with_parameters() {
    let kernel = |text: &str| text.parse::<Kernel>().unwrap();
    assert_eq!(kernel("rbf:0.5"), Kernel::Rbf { gamma: Gamma::Value(0.5) });
    assert_eq!(kernel("laplacian:auto"), Kernel::Laplacian { gamma: Gamma::Auto });
    let polynomial = |degree, gamma, coef0| Kernel::Polynomial { degree, gamma, coef0 };
    assert_eq!(kernel("polynomial"), polynomial(3, Gamma::Scale, 0.0));
    assert_eq!(kernel("polynomial:2"), polynomial(2, Gamma::Scale, 0.0));
    assert_eq!(kernel("polynomial:2,0.1"), polynomial(2, Gamma::Value(0.1), 0.0));
    assert_eq!(kernel("polynomial:2,auto,1.5"), polynomial(2, Gamma::Auto, 1.5));
    for text in [
        "linear",
        "cosine",
        "precomputed",
        "rbf:scale",
        "rbf:0.1",
        "laplacian:1e-300",
        "polynomial:4,0.3,1.5",
    ] {
        let shown = kernel(text).to_string();
        assert_eq!(kernel(&shown), kernel(text), "{shown}");
    }
    assert_eq!(kernel("rbf:1e-7").to_string(), "rbf:0.0000001");
    for (text, why) in [
        ("", "the kernels are linear, rbf"),
        ("linear:1", "linear takes no parameter, not 1"),
        ("rbf:1,2", "rbf takes one parameter, not 2"),
        ("rbf:", "it is a number, scale or auto"),
        ("rbf:wide", "gamma \"wide\" is not understood"),
        ("polynomial:x", "\"x\" is not a degree"),
        ("polynomial:2,1,y", "\"y\" is not a number"),
        ("polynomial:2,1,0,0", "polynomial takes three parameters, not 4"),
    ] {
        let error = text.parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn piece_by_piece() {
    let rbf: Kernel = "rbf".parse().unwrap();
    assert_eq!(rbf.clone().with_gamma("0.5".parse().unwrap()).unwrap().to_string(), "rbf:0.5");
    assert_eq!(rbf.with_degree(2).unwrap_err().to_string(), "the rbf kernel has no degree");
    let polynomial = "polynomial".parse::<Kernel>().unwrap().with_degree(2).unwrap();
    assert_eq!(polynomial.with_coef0(1.0).unwrap().to_string(), "polynomial:2,scale,1");
    assert_eq!(
        Kernel::Linear.with_gamma(Gamma::Auto).unwrap_err().to_string(),
        "the linear kernel has no gamma"
    );
    assert!(Kernel::Cosine.with_coef0(1.0).is_err());
}
