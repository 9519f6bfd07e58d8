//! Seconds of one product X'X: the c_scale for a solver that needs it.

use crate::data::BenchData;
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};
use kinfolk::Inputs;
use serde_json::{Value, json};
use std::time::Instant;

const REPEATS: usize = 5;

/// Medians for the whole matrix and for its lower triangle alone, in f64.
pub(crate) fn answer(data: &BenchData, threads: usize) -> Value {
    let (n, d) = (data.meta.rows, data.meta.features);
    let Inputs::Dense(dense) = &data.inputs else { return json!({"error": "no dense features"}) };
    let mut x = vec![0.0; n * d];
    dense.load_range(0..n, &mut x);
    let x = MatRef::from_row_major_slice(&x, n, d);
    let mut out = vec![0.0f64; d * d];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let par = if threads > 1 { Par::rayon(threads) } else { Par::Seq };
    let mut seconds = |lower: bool| {
        let mut all: Vec<f64> = (0..REPEATS)
            .map(|_| {
                let to = MatMut::from_row_major_slice_mut(&mut out, d, d);
                let start = Instant::now();
                pool.install(|| {
                    if lower {
                        use triangular::BlockStructure::{Rectangular, TriangularLower};
                        let (at, b) = (x.transpose(), x);
                        triangular::matmul(
                            to,
                            TriangularLower,
                            Accum::Replace,
                            at,
                            Rectangular,
                            b,
                            Rectangular,
                            1.0,
                            par,
                        );
                    } else {
                        matmul(to, Accum::Replace, x.transpose(), x, 1.0, par);
                    }
                });
                start.elapsed().as_secs_f64()
            })
            .collect();
        all.sort_by(f64::total_cmp);
        all[REPEATS / 2]
    };
    json!({"rows": n, "features": d, "threads": threads, "whole": seconds(false), "triangle": seconds(true)})
}
