//! Inputs: nothing borrowed is copied, and every wrong array gets its own error with the place and the value.

use kinfolk::Error;
use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};

#[test]
fn borrowed_arrays_are_not_copied() {
    let (single, double) = (vec![1.0_f32; 6], vec![2.0_f64; 6]);
    let x = Dense::f32(&single, 2, 3).unwrap();
    assert!(x.is_f32() && x.as_f64().is_none());
    assert!(std::ptr::eq(x.as_f32().unwrap(), &single[..]));
    let x = Dense::f64(&double, 3, 2).unwrap();
    assert!(std::ptr::eq(x.view().as_f64().unwrap(), &double[..]));
    let address = double.as_ptr();
    let x = Dense::f64_owned(double, 3, 2).unwrap().into_owned();
    assert_eq!(x.as_f64().unwrap().as_ptr(), address, "nor are owned ones");

    let (indptr, indices, values) = ([0, 1], [2], [1.5_f32]);
    let x = Sparse::f32(&indptr[..], &indices[..], &values[..], 3).unwrap();
    assert!(std::ptr::eq(x.indptr(), &indptr[..]) && std::ptr::eq(x.indices(), &indices[..]));

    let values = [1.0, 0.5, 0.5, 1.0];
    let k = Gram::new(&values[..], 2).unwrap();
    assert!(std::ptr::eq(k.as_slice(), &values[..]));
}

#[test]
fn rows_are_loaded_and_selected() {
    let single: Vec<f32> = (0..8).map(|v| v as f32 - 5.0).collect();
    let x = Dense::f32(&single, 4, 2).unwrap();
    assert_eq!((x.max_abs(), x.get(1, 0)), (5.0, -3.0));
    let mut out = [0.0; 4];
    x.load(&[3, 0], &mut out);
    assert_eq!(out, [1.0, 2.0, -5.0, -4.0]);
    x.load_range(2..4, &mut out);
    assert_eq!(out, [-1.0, 0.0, 1.0, 2.0]);
    let some = x.select_rows(&[3, 3, 2]);
    assert_eq!((some.rows(), some.max_abs()), (3, 2.0));
    assert_eq!(some.as_f32().unwrap(), [1.0, 2.0, 1.0, 2.0, -1.0, 0.0]);
    assert_eq!(x.select_rows(&[]).rows(), 0);

    // 1 0 2 / nothing / 0 -3 0
    let x = Sparse::f64(vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, -3.0], 3).unwrap();
    assert_eq!((x.rows(), x.cols(), x.nnz(), x.max_abs()), (3, 3, 3, 3.0));
    let some = x.select_rows(&[2, 1, 0, 2]);
    assert_eq!((some.rows(), some.nnz()), (4, 4));
    let mut out = [9.0; 12];
    some.load(&[0, 1, 2, 3], &mut out);
    assert_eq!(out, [0.0, -3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0, -3.0, 0.0]);
    let x: Inputs<'static> = Inputs::from(some).into_owned();
    assert_eq!((x.n_inputs(), x.n_features(), x.kind()), (4, 3, "sparse"));
}

#[test]
fn wrong_dense_inputs() {
    assert!(matches!(Dense::f64(&[], 0, 3), Err(Error::Empty { what: "list of input rows" })));
    assert!(matches!(Dense::f64(&[], 3, 0), Err(Error::Empty { what: "list of input columns" })));
    assert!(matches!(Dense::f32(&[1.0; 5], 2, 3), Err(Error::Length { got: 5, expected: 6, .. })));
    assert!(matches!(Dense::f32(&[1.0; 5], usize::MAX, 3), Err(Error::Length { got: 5, .. })));
    let bad = Dense::f64(&[0.0, 1.0, 2.0, 3.0, f64::NEG_INFINITY, f64::NAN], 2, 3);
    assert!(matches!(bad, Err(Error::NonFiniteInput { row: 1, column: 1, value: f64::NEG_INFINITY })));
    let bad = Dense::f32(&[0.0, f32::NAN, 2.0], 3, 1).unwrap_err();
    assert_eq!(bad.to_string(), "input row 1, column 0: NaN is not a finite number");
}

#[test]
fn wrong_sparse_inputs() {
    let sparse = |indptr: &[usize], indices: &[u32], values: &[f64], cols| {
        Sparse::f64(indptr.to_vec(), indices.to_vec(), values.to_vec(), cols).map(|_| ()).unwrap_err()
    };
    assert!(matches!(sparse(&[], &[], &[], 3), Error::Empty { what: "list of input rows" }));
    assert!(matches!(sparse(&[0], &[], &[], 3), Error::Empty { what: "list of input rows" }));
    assert!(matches!(sparse(&[0, 0], &[], &[], 0), Error::Empty { what: "list of input columns" }));
    assert!(matches!(sparse(&[0, 1], &[0], &[], 1), Error::Length { got: 0, expected: 1, .. }));
    let cases: [(&[usize], &[u32], usize, &str); 7] = [
        (&[1, 2], &[0, 1], 0, "indptr starts at 1"),
        (&[0, 2, 1, 2], &[0, 1], 1, "indptr falls from 2 to 1"),
        (&[0, 1, 9, 2], &[0, 1], 1, "ends it at entry 9, there are 2 entries"),
        (&[0, 1, 1], &[0, 1], 1, "ends at entry 1, there are 2 entries"),
        (&[0, 1, 2], &[0, 3], 1, "column 3 is out of range, there are 3 columns"),
        (&[0, 0, 2], &[1, 1], 1, "column 1 is given twice"),
        (&[0, 0, 2], &[2, 1], 1, "column 1 comes after column 2"),
    ];
    for (indptr, indices, expected, text) in cases {
        match sparse(indptr, indices, &[1.0, 1.0], 3) {
            Error::Sparse { row, detail } => {
                assert!(row == expected && detail.contains(text), "{row}: {detail}")
            }
            other => panic!("{other}"),
        }
    }
    // Entry 2 lies in row 3: rows 0 and 2 are empty.
    let bad = sparse(&[0, 0, 2, 2, 3], &[0, 1, 2], &[1.0, 1.0, f64::INFINITY], 3);
    assert!(matches!(bad, Error::NonFiniteInput { row: 3, column: 2, value: f64::INFINITY }));
}

#[test]
fn wrong_gram_matrices() {
    let gram = |values: &[f64], n| Gram::new(values.to_vec(), n).map(|_| ());
    assert!(matches!(gram(&[], 0), Err(Error::Empty { .. })));
    assert!(matches!(gram(&[1.0; 3], 2), Err(Error::Length { got: 3, expected: 4, .. })));
    let bad = gram(&[1.0, 0.0, f64::NAN, 1.0], 2);
    assert!(matches!(bad, Err(Error::NonFiniteInput { row: 1, column: 0, .. })));
    let bad = gram(&[1.0, 0.0, 0.25, 0.0, 1.0, 0.0, 0.5, 0.0, 1.0], 3);
    assert!(matches!(bad, Err(Error::GramAsymmetric { row: 0, column: 2, value: 0.25, mirror: 0.5 })));
    let detail = |values: &[f64], n| match gram(values, n) {
        Err(Error::NotPsd { what: "Gram matrix", detail }) => detail,
        other => panic!("{other:?}"),
    };
    assert_eq!(detail(&[1.0, 0.0, 0.0, -2.0], 2), "entry (1, 1) on its diagonal is -2e0");
    assert!(detail(&[4.0, -3.0, -3.0, 1.0], 2).starts_with("entry (0, 1) is -3e0"));
    // Every pair is fine, all three are not: eigenvalues 1.8, 1.8 and -0.6.
    let k = [1.0, -0.8, -0.8, -0.8, 1.0, -0.8, -0.8, -0.8, 1.0];
    for scale in [1.0, 1e300, 1e-300] {
        let scaled = k.map(|v| v * scale);
        assert!(detail(&scaled, 3).contains("smallest eigenvalue is -6"), "{scale:e}");
    }
    // Rounding is forgiven, and so is nothing at all.
    assert!(gram(&[1.0, 1.0 + 1e-12, 1.0, 1.0], 2).is_ok());
    assert!(gram(&[1.0, 1e-17, 1e-17, 0.0], 2).is_ok());
    assert!(gram(&[0.0; 4], 2).is_ok());
}

#[test]
fn large_gram_matrices_are_searched_for_a_witness() {
    let n = 1001;
    let constant = |off_diagonal: f64| {
        let mut values = vec![off_diagonal; n * n];
        (0..n).for_each(|i| values[i * n + i] = 1.0);
        values
    };
    // (1 - r) I + r 11' has the eigenvalues 1 - r and 1 + (n - 1) r.
    for r in [0.0, 0.5, 1.0, -1.0 / 1000.0] {
        assert!(Gram::new(constant(r), n).is_ok(), "{r}");
    }
    let Err(Error::NotPsd { detail, .. }) = Gram::new(constant(-0.01), n) else {
        panic!("eigenvalue -9 missed")
    };
    assert!(detail.contains("z'Kz = -9"), "{detail}");
    // The first of two asymmetric pairs, far from the diagonal.
    let mut values = constant(0.5);
    values[70 * n + 900] = 0.25;
    values[71 * n + 100] = 0.75;
    let bad = Gram::new(values, n).map(|_| ());
    assert!(matches!(bad, Err(Error::GramAsymmetric { row: 70, column: 900, value: 0.25, mirror: 0.5 })));
}
