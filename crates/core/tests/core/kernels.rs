//! Kernel values against their formulas, for every form and precision of inputs.

use faer::{MatRef, Side};
use kinfolk::Matrix;
use kinfolk::inputs::{Dense, Gram, Inputs, Sparse};
use kinfolk::kernel::{self, Gamma, Kernel, Scratch};
use proptest::prelude::*;

/// Pseudo-random numbers, about half of them zero, that single precision holds exactly.
fn sample(rows: usize, cols: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 23) as f64 - 1.0
    };
    (0..rows * cols).map(|_| if next() < 0.0 { 0.0 } else { 2.0 * next() }).collect()
}

fn dense(x: &[f64], cols: usize) -> Inputs<'_> {
    Dense::f64(x, x.len() / cols, cols).unwrap().into()
}

/// The same matrix in its four forms.
fn forms(x: &[f64], cols: usize) -> Vec<Inputs<'_>> {
    let rows = x.len() / cols;
    let single: Vec<f32> = x.iter().map(|&v| (v as f32).clamp(f32::MIN, f32::MAX)).collect();
    let (indptr, indices, values) = crate::common::compressed_rows(x, cols);
    let narrow: Vec<f32> = values.iter().map(|&v| (v as f32).clamp(f32::MIN, f32::MAX)).collect();
    vec![
        dense(x, cols),
        Dense::f32_owned(single, rows, cols).unwrap().into(),
        Sparse::f64(indptr.clone(), indices.clone(), values, cols).unwrap().into(),
        Sparse::f32(indptr, indices, narrow, cols).unwrap().into(),
    ]
}

fn kernels(gamma: f64) -> [Kernel; 6] {
    let gamma = Gamma::Value(gamma);
    [
        Kernel::Linear,
        Kernel::Rbf { gamma },
        Kernel::Polynomial { degree: 1, gamma, coef0: 0.0 },
        Kernel::Polynomial { degree: 3, gamma, coef0: 0.5 },
        Kernel::Laplacian { gamma },
        Kernel::Cosine,
    ]
}

/// The formula, term by term.
fn naive(kernel: &Kernel, x: &[f64], z: &[f64]) -> f64 {
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(z).map(|(&x, &z)| f(x, z)).sum::<f64>();
    let product = sum(&|x, z| x * z);
    match *kernel {
        Kernel::Linear => product,
        Kernel::Rbf { gamma: Gamma::Value(g) } => (-g * sum(&|x, z| (x - z).powi(2))).exp(),
        Kernel::Polynomial { degree, gamma: Gamma::Value(g), coef0 } => {
            (g * product + coef0).powi(degree as i32)
        }
        Kernel::Laplacian { gamma: Gamma::Value(g) } => (-g * sum(&|x, z| (x - z).abs())).exp(),
        Kernel::Cosine => match sum(&|x, _| x * x).sqrt() * sum(&|_, z| z * z).sqrt() {
            0.0 => 0.0,
            norms => product / norms,
        },
        _ => unreachable!(),
    }
}

fn all_rows(x: &Inputs<'_>) -> Vec<u32> {
    (0..x.n_inputs() as u32).collect()
}

fn full(kernel: &Kernel, a: &Inputs<'_>, b: &Inputs<'_>) -> Matrix {
    let mut out = Matrix::default();
    kernel::block(kernel, a, &all_rows(a), b, &all_rows(b), &mut out, &mut Scratch::default());
    out
}

#[test]
fn every_form_agrees_with_the_formula() {
    // 2100 rows of 130 columns fill more than one tile (2016 rows for products), on either side.
    for (rows, cols, seed) in [(1, 1, 1), (7, 3, 2), (33, 20, 3), (2100, 130, 4)] {
        let (mut a, b) = (sample(rows, cols, seed), sample(9, cols, seed + 10));
        a[..cols].fill(0.0); // a zero row
        let (a_rows, b_rows): (Vec<u32>, _) = ((0..rows as u32).rev().collect(), [8, 0, 3]);
        let (a_forms, b_forms) = (forms(&a, cols), forms(&b, cols));
        let (mut out, mut mirrored, mut scratch) = (Matrix::default(), Matrix::default(), Scratch::default());
        for kernel in kernels(0.3) {
            let row = |x: &'_ [f64], i: u32| x[i as usize * cols..][..cols].to_vec();
            let expected: Vec<(f64, f64)> = a_rows
                .iter()
                .flat_map(|&i| b_rows.map(|j| (row(&a, i), row(&b, j))))
                .map(|(x, z)| (naive(&kernel, &x, &z), naive(&kernel, &x, &x) * naive(&kernel, &z, &z)))
                .collect();
            for (u, v) in (0..16).map(|k| (k / 4, k % 4)).filter(|&(u, v)| rows < 100 || u == v) {
                let (a, b) = (&a_forms[u], &b_forms[v]);
                kernel::block(&kernel, a, &a_rows, b, &b_rows, &mut out, &mut scratch);
                kernel::block(&kernel, b, &b_rows, a, &a_rows, &mut mirrored, &mut scratch);
                for (k, &(value, squared_scale)) in expected.iter().enumerate() {
                    let (i, j) = (k / 3, k % 3);
                    let error = (out[(i, j)] - value).abs().max((mirrored[(j, i)] - value).abs());
                    assert!(
                        error <= 1e-12 * squared_scale.sqrt().max(1.0),
                        "{kernel:?} {u} {v} {i} {j}: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn blocks_are_computed_by_several_threads() {
    let x = sample(50, 6, 9);
    let form = &forms(&x, 6)[2];
    let kernel = &Kernel::Rbf { gamma: Gamma::Scale }.resolve(form).unwrap();
    let whole = full(kernel, form, form);
    std::thread::scope(|scope| {
        let parts = [0, 25].map(|start| {
            scope.spawn(move || {
                let (mut out, rows) = (Matrix::default(), Vec::from_iter(start..start + 25));
                kernel::block(kernel, form, &rows, form, &all_rows(form), &mut out, &mut Scratch::default());
                out.into_vec()
            })
        });
        let joined = parts.map(|part| part.join().unwrap()).concat();
        assert_eq!(joined, whole.as_slice());
    });
}

#[test]
fn the_diagonal_is_exactly_that_of_a_block() {
    let mut x = sample(40, 11, 5);
    x[..11].fill(0.0);
    for form in forms(&x, 11) {
        for kernel in kernels(0.7) {
            // A copy of the description, not of the data: still the same memory.
            let block = full(&kernel, &form, &form.view());
            for (i, value) in kernel::diagonal(&kernel, &form).into_iter().enumerate() {
                assert_eq!(block[(i, i)], value, "{kernel:?} {} {i}", form.kind());
            }
        }
    }
}

#[test]
fn kernel_matrices_are_positive_semidefinite() {
    let x = sample(60, 8, 6);
    for form in forms(&x, 8) {
        for kernel in kernels(0.25) {
            let k = full(&kernel, &form, &form);
            let values =
                MatRef::from_row_major_slice(k.as_slice(), 60, 60).self_adjoint_eigenvalues(Side::Lower);
            let values = values.unwrap();
            assert!(values[0] >= -1e-10 * values[59].max(1.0), "{kernel:?} {}: {:e}", form.kind(), values[0]);
            assert!(Gram::new(k.into_vec(), 60).is_ok());
        }
    }
}

#[test]
fn precomputed_values_are_looked_up() {
    let values = [4.0, 1.0, 2.0, 1.0, 5.0, 3.0, 2.0, 3.0, 6.0];
    let gram: Inputs = Gram::new(&values[..], 3).unwrap().into();
    let mut out = Matrix::default();
    kernel::block(&Kernel::Precomputed, &gram, &[2, 0], &gram, &[1, 1, 2], &mut out, &mut Scratch::default());
    assert_eq!(out.as_slice(), [3.0, 3.0, 6.0, 1.0, 1.0, 2.0]);
    assert_eq!(kernel::diagonal(&Kernel::Precomputed, &gram), [4.0, 5.0, 6.0]);
    // Two new inputs against the three training inputs.
    let new: Inputs = Dense::f32(&[0.5, 1.0, 1.5, 2.0, 2.5, 3.0], 2, 3).unwrap().into();
    Kernel::Precomputed.check_pair(&new, &gram).unwrap();
    kernel::block(&Kernel::Precomputed, &new, &[1], &gram, &[2, 0], &mut out, &mut Scratch::default());
    assert_eq!(out.as_slice(), [3.0, 2.0]);
    let part = gram.select_rows(&[2, 1]);
    assert!(matches!(part, Inputs::Gram(g) if g.as_slice() == [6.0, 3.0, 3.0, 5.0]));
}

#[test]
fn extreme_inputs_give_numbers() {
    for size in [1e150, 1e160, 1e300, 1e-150, 1e-160, 1e-300, 5e-324] {
        // Rows 0 and 1 are equal, row 2 is opposite, row 3 zero.
        let x = [size, size, size, size, -size, -size, 0.0, 0.0];
        let (a, b) = (forms(&x, 2), forms(&x, 2));
        let (a, b) = ([&a[0], &a[2]], [&b[0], &b[2]]); // other memory: rows are not known to be the same
        for (u, v) in (0..4).map(|k| (k / 2, k % 2)) {
            for (kernel, far) in [
                (Kernel::Rbf { gamma: Gamma::Value(1.0) }, size * size * 8.0),
                (Kernel::Laplacian { gamma: Gamma::Value(1.0) }, size * 4.0),
            ] {
                let k = full(&kernel, a[u], b[v]);
                assert_eq!((k[(0, 0)], k[(0, 1)], k[(3, 3)]), (1.0, 1.0, 1.0), "{kernel:?} {size:e}");
                assert_eq!((k[(0, 2)], k[(2, 1)]), ((-far).exp(), (-far).exp()), "{kernel:?} {size:e}");
            }
            let k = full(&Kernel::Cosine, a[u], b[v]);
            for (i, j, value) in [(0, 1, 1.0), (0, 2, -1.0), (3, 3, 0.0), (3, 1, 0.0)] {
                assert!((k[(i, j)] - value).abs() < 1e-15, "cosine {size:e} ({i}, {j}): {}", k[(i, j)]);
            }
            assert_eq!(kernel::diagonal(&Kernel::Cosine, a[u]), [1.0, 1.0, 1.0, 0.0]);
        }
        // The largest and smallest gamma undo the scale: |x0 - x3|^2 = 2 size^2.
        let gamma = 1.0 / (size * size);
        if (1e-307..1e307).contains(&gamma) {
            let k = full(&Kernel::Rbf { gamma: Gamma::Value(gamma) }, a[0], b[1]);
            assert!((k[(0, 3)] - (-2.0_f64).exp()).abs() < 1e-12, "{size:e}: {}", k[(0, 3)]);
        }
    }
}

#[test]
fn distances_keep_their_digits_far_from_the_origin() {
    // |x|^2 is 1e14 times the squared distances: |x|^2 + |z|^2 - 2 <x, z> would have two digits left.
    let x: Vec<f64> = sample(12, 4, 8).iter().map(|v| 1e7 + v.round()).collect();
    for form in forms(&x, 4) {
        let gamma = Gamma::Scale;
        for kernel in [Kernel::Rbf { gamma }, Kernel::Laplacian { gamma }] {
            let kernel = kernel.resolve(&form).unwrap();
            for other in forms(&x, 4) {
                let k = full(&kernel, &form, &other);
                for (i, j) in (0..144).map(|k| (k / 12, k % 12)) {
                    let expected = naive(&kernel, &x[i * 4..][..4], &x[j * 4..][..4]);
                    assert!((k[(i, j)] - expected).abs() < 1e-12, "{kernel:?} {} ({i}, {j})", form.kind());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::common::cases(64, "proptest-regressions/kernels.txt"))]

    #[test]
    fn laws(
        values in prop::collection::vec(prop_oneof![Just(0.0), -1e3..1e3_f64, -1e200..1e200_f64], 24),
        log_gamma in -20.0..20.0_f64,
    ) {
        let x = dense(&values, 4);
        for kernel in kernels(log_gamma.exp()) {
            let (k, diagonal) = (full(&kernel, &x, &x), kernel::diagonal(&kernel, &x));
            if diagonal.iter().any(|v| !v.is_finite()) {
                continue; // the caller refuses such inputs
            }
            for (i, j) in (0..36).map(|k| (k / 6, k % 6)) {
                let bound = diagonal[i].sqrt() * diagonal[j].sqrt();
                prop_assert!(k[(i, j)].abs() <= bound * (1.0 + 1e-12), "{kernel:?} ({i}, {j}): {}", k[(i, j)]);
                prop_assert!((k[(i, j)] - k[(j, i)]).abs() <= 1e-12 * bound);
            }
        }
    }
}
