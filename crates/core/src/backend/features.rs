//! Linear and cosine kernels on explicit features: the state is V = X'Z.

mod moment;

use super::{Backend, Columns, Interrupt, Panel, SecondMoment};
use crate::algebra::{Device, DeviceMatrix};
use crate::inputs::{Inputs, Sparse};
use crate::linalg::sum_pairs;
use crate::linalg::{self, axpy, shared_product, view, view_mut};
use crate::{Error, Matrix, Result};
use faer::{Accum, MatRef};
use std::ops::{Range, RangeInclusive};

/// Rows whose common factor is further away from one are copied before they are multiplied: products of their own
/// values with duals or weights could be outside the range of double precision.
const IN_PLACE_SCALES: RangeInclusive<f64> = 1e-60..=1e60;

/// Features X, dense or sparse, with an optional constant feature.
///
/// Rows are loaded in double precision a block at a time, scaled on the way, or used where they lie; the
/// caller's array is copied whole only for the eigenbasis of wide data (more features than inputs).
#[derive(Debug)]
pub struct FeatureBackend<'a> {
    inputs: &'a Inputs<'a>,
    /// Value of the constant feature appended to every row; 0 = none.
    bias: f64,
    /// Factor of every row: 2^-e, and 1/|x| as well for the cosine kernel.
    scale: f64,
    row_scale: Option<Vec<f64>>,
    diagonal: Vec<f64>,
}

impl<'a> FeatureBackend<'a> {
    /// `cosine` brings rows to unit length (a zero row stays zero); `bias` is the constant feature, 0 = none.
    pub fn new(inputs: &'a Inputs<'a>, cosine: bool, bias: f64) -> Result<Self> {
        let n = inputs.n_inputs();
        let mut features = FeatureBackend { inputs, bias, scale: 1.0, row_scale: None, diagonal: vec![] };
        if cosine {
            let inverse: Vec<f64> = (0..n).map(|i| inverse_norm(inputs, i)).collect();
            let one = |factor: &f64| if *factor > 0.0 { 1.0 } else { 0.0 } + bias * bias;
            features.diagonal = inverse.iter().map(one).collect();
            features.row_scale = Some(inverse);
            features.scale = shrink_to_one(&features.diagonal);
            let unit = features.scale * features.scale;
            features.diagonal.iter_mut().for_each(|k| *k *= unit);
        } else {
            // Norms are taken of x / 2^e with |x| near 2^e, so that their squares are in range; then the
            // power of two that brings their mean near one.
            let shrink = 1.0 / linalg::power_of_two(max_abs(inputs).max(bias));
            let constant = (bias * shrink) * (bias * shrink);
            let inner: Vec<f64> = (0..n).map(|i| squared_norm(inputs, i, shrink) + constant).collect();
            let rescale = shrink_to_one(&inner);
            features.scale = shrink * rescale;
            features.diagonal = inner.iter().map(|q| q * rescale * rescale).collect();
        }
        if let Some(row) = features.diagonal.iter().position(|k| !k.is_finite()) {
            return Err(Error::KernelRange { row, value: features.diagonal[row] });
        }
        let unit = features.unit();
        if !unit.is_normal() {
            let largest = |a: &usize, b: &usize| features.diagonal[*a].total_cmp(&features.diagonal[*b]);
            let row = (0..n).max_by(largest).unwrap_or(0);
            return Err(Error::KernelRange { row, value: unit * features.diagonal[row] });
        }
        Ok(features)
    }

    fn width(&self) -> usize {
        self.inputs.n_features()
    }

    /// Factor of row i, and the constant feature in the same units.
    fn row_factor(&self, i: usize) -> (f64, f64) {
        let own = self.row_scale.as_ref().map_or(1.0, |s| s[i]);
        (self.scale * own, self.scale * self.bias)
    }

    /// The caller's memory of consecutive rows, if only a common factor has to be applied to them.
    fn in_place(&self, rows: &[u32]) -> Option<MatRef<'_, f64>> {
        let Inputs::Dense(dense) = self.inputs else { return None };
        let (values, first) = (dense.as_f64()?, *rows.first()? as usize);
        let plain = self.bias == 0.0 && self.row_scale.is_none() && IN_PLACE_SCALES.contains(&self.scale);
        let neighbours = rows.windows(2).all(|w| w[1] == w[0] + 1);
        let d = self.width();
        (plain && neighbours).then(|| {
            MatRef::from_row_major_slice(&values[first * d..(first + rows.len()) * d], rows.len(), d)
        })
    }

    /// The rows of a loaded panel, and a factor still to be applied to them.
    fn dense_rows<'p>(&'p self, panel: &'p Panel) -> (MatRef<'p, f64>, f64) {
        match self.in_place(&panel.rows) {
            Some(rows) if !panel.loaded => (rows, self.scale),
            _ => (view(&panel.values), 1.0),
        }
    }

    fn sparse(&self) -> Option<&Sparse<'a>> {
        match self.inputs {
            Inputs::Sparse(sparse) => Some(sparse),
            _ => None,
        }
    }

    /// Adds `x_i' delta` to the state, for a sparse row.
    fn add_sparse_row(
        &self,
        sparse: &Sparse<'_>,
        i: usize,
        columns: Columns,
        delta: &[f64],
        state: &mut Matrix,
    ) {
        let (factor, bias) = self.row_factor(i);
        let entries = sparse.row(i).map(|(j, x)| (j, factor * x));
        let constant = (self.bias != 0.0).then_some((self.width(), bias));
        for (j, x) in entries.chain(constant) {
            match columns {
                Columns::All => axpy(state.row_mut(j), x, delta),
                Columns::One(t) => state[(j, t)] += x * delta[0],
            }
        }
    }

    /// Some rows of the lower triangle of the sparse panel's kernel values, and their mirror images.
    fn fill_sparse_gram(&self, panel: &mut Panel, rows: Range<usize>, out: &mut Matrix) {
        let Some(sparse) = self.sparse() else { return };
        // One row at a time is written to a dense vector; the others are multiplied with it.
        panel.scratch.clear();
        panel.scratch.resize(self.width(), 0.0);
        for row in rows {
            let i = panel.rows[row] as usize;
            let (factor, bias) = self.row_factor(i);
            sparse.row(i).for_each(|(j, x)| panel.scratch[j] = factor * x);
            for (col, &i2) in panel.rows[..=row].iter().enumerate() {
                let (factor2, bias2) = self.row_factor(i2 as usize);
                let sum: f64 = sparse.row(i2 as usize).map(|(j, x)| factor2 * x * panel.scratch[j]).sum();
                out[(row, col)] = sum + bias * bias2;
                out[(col, row)] = out[(row, col)];
            }
            sparse.row(i).for_each(|(j, _)| panel.scratch[j] = 0.0);
        }
    }
}

fn max_abs(inputs: &Inputs<'_>) -> f64 {
    match inputs {
        Inputs::Dense(dense) => dense.max_abs(),
        Inputs::Sparse(sparse) => sparse.max_abs(),
        Inputs::Gram(_) => 1.0,
    }
}

fn squared_norm(inputs: &Inputs<'_>, i: usize, shrink: f64) -> f64 {
    if let Inputs::Dense(dense) = inputs
        && let Some(values) = dense.as_f64()
    {
        let row = &values[i * dense.cols()..(i + 1) * dense.cols()];
        return sum_pairs(row, row, |x, y| (x * shrink) * (y * shrink));
    }
    let mut sum = 0.0;
    inputs.for_each_in_row(i, |_, x| sum += (x * shrink) * (x * shrink));
    sum
}

/// 1 / |x|, or 0 for a zero row, even if |x|^2 overflows or underflows.
pub(crate) fn inverse_norm(inputs: &Inputs<'_>, i: usize) -> f64 {
    let mut peak = 0.0f64;
    inputs.for_each_in_row(i, |_, x| peak = peak.max(x.abs()));
    if peak == 0.0 {
        return 0.0;
    }
    let shrink = 1.0 / peak.max(f64::MIN_POSITIVE);
    (shrink / squared_norm(inputs, i, shrink).sqrt()).min(f64::MAX)
}

/// The power of two s for which `s^2 values` have a mean near one.
fn shrink_to_one(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    1.0 / linalg::power_of_two(mean.sqrt())
}

impl Backend for FeatureBackend<'_> {
    fn n_inputs(&self) -> usize {
        self.inputs.n_inputs()
    }

    fn dim(&self) -> usize {
        self.width() + usize::from(self.bias != 0.0)
    }

    fn unit(&self) -> f64 {
        1.0 / (self.scale * self.scale)
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn load(&self, rows: &[u32], panel: &mut Panel) {
        panel.rows.clear();
        panel.rows.extend_from_slice(rows);
        let Inputs::Dense(dense) = self.inputs else { return };
        panel.loaded = self.in_place(rows).is_none();
        if !panel.loaded {
            return;
        }
        let (width, dim) = (self.width(), self.dim());
        if (panel.values.rows(), panel.values.cols()) != (rows.len(), dim) {
            panel.values.reset(rows.len(), dim);
        }
        for (row, &i) in rows.iter().enumerate() {
            let out = panel.values.row_mut(row);
            let (factor, bias) = self.row_factor(i as usize);
            match dense.as_f64() {
                Some(values) => {
                    let own = &values[i as usize * width..(i as usize + 1) * width];
                    out[..width].iter_mut().zip(own).for_each(|(out, x)| *out = factor * x);
                }
                None => {
                    dense.load(&[i], &mut out[..width]);
                    out[..width].iter_mut().for_each(|x| *x *= factor);
                }
            }
            if dim > width {
                out[width] = bias;
            }
        }
    }

    fn scores(&self, panel: &mut Panel, columns: Columns, state: &Matrix, out: &mut Matrix, threads: usize) {
        let n = panel.rows.len();
        let (first, n_columns) = columns.first_and_count(state.cols());
        out.reset(n, n_columns);
        if let Some(sparse) = self.sparse() {
            for (row, &i) in panel.rows.iter().enumerate() {
                let (factor, bias) = self.row_factor(i as usize);
                let entries = sparse.row(i as usize).map(|(j, x)| (j, factor * x));
                let constant = (self.bias != 0.0).then_some((self.width(), bias));
                for (j, x) in entries.chain(constant) {
                    match columns {
                        Columns::All => axpy(out.row_mut(row), x, state.row(j)),
                        Columns::One(t) => out[(row, 0)] += x * state[(j, t)],
                    }
                }
            }
            return;
        }
        let state = view(state).subcols(first, n_columns);
        let (rows, scale) = self.dense_rows(panel);
        shared_product(view_mut(out), Accum::Replace, scale, rows, state, threads);
    }

    fn add(&self, panel: &mut Panel, columns: Columns, delta: &Matrix, state: &mut Matrix, threads: usize) {
        if let Some(sparse) = self.sparse() {
            for (row, &i) in panel.rows.iter().enumerate() {
                self.add_sparse_row(sparse, i as usize, columns, delta.row(row), state);
            }
            return;
        }
        let (first, n_columns) = columns.first_and_count(state.cols());
        let state = view_mut(state).subcols_mut(first, n_columns);
        let (rows, scale) = self.dense_rows(panel);
        shared_product(state, Accum::Add, scale, rows.transpose(), view(delta), threads);
    }

    fn gram(&self, panel: &mut Panel, out: &mut Matrix, threads: usize) {
        let n = panel.rows.len();
        out.reset(n, n);
        if self.sparse().is_some() {
            return self.fill_sparse_gram(panel, 0..n, out);
        }
        let (rows, scale) = self.dense_rows(panel);
        shared_product(view_mut(out), Accum::Replace, scale * scale, rows, rows.transpose(), threads);
    }

    fn state_of_coordinates(&self, coordinates: &Matrix, _threads: usize) -> Matrix {
        coordinates.clone()
    }

    fn suits_devices(&self) -> bool {
        matches!(self.inputs, Inputs::Dense(_))
    }

    fn upload(&self, device: &dyn Device) -> Option<DeviceMatrix> {
        let Inputs::Dense(dense) = self.inputs else { return None };
        let (n, d) = (self.n_inputs(), self.dim());
        let plain = self.bias == 0.0 && self.row_scale.is_none();
        if let (true, Some(values)) = (plain, dense.as_f32()) {
            let mut inputs = device.upload_single(values, n, d);
            device.scale(&mut inputs, self.scale);
            return Some(inputs);
        }
        let (all, mut panel) = ((0..n as u32).collect::<Vec<u32>>(), Panel::default());
        self.load(&all, &mut panel);
        if panel.loaded {
            return Some(device.upload(panel.values.as_slice(), n, d));
        }
        let mut inputs = device.upload(dense.as_f64()?, n, d);
        device.scale(&mut inputs, self.scale);
        Some(inputs)
    }

    fn coordinate_unit(&self) -> f64 {
        1.0 / self.scale
    }

    fn coordinates_are_state(&self) -> bool {
        true
    }

    fn spectrum_bytes(&self) -> u64 {
        let (m, d) = (self.n_inputs() as u64, self.dim() as u64);
        let small = m.min(d);
        // The moment, its eigenvectors and their scratch space; with more features than inputs also a copy of
        // the inputs.
        8 * (5 * small * small + if d > m { m * d } else { 0 })
    }

    fn second_moment(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<SecondMoment<'_>> {
        self.smaller_moment(threads, interrupt)
    }
}
