//! Work on single entries, and sums.

use super::{
    BLOCK_THREADS, Cuda, LaunchConfig, Numbers, Outcome, PushKernelArg, RUN_ROWS, blocks, each, launch, words,
};

impl Cuda {
    pub(crate) fn add_scaled(&self, y: &mut Numbers, factor: f64, x: &Numbers) -> Outcome<()> {
        assert_eq!(x.len(), y.len(), "sizes of a sum");
        let n = x.len();
        launch!(self, axpy, each(n), &(n as u64), &factor, x, y)
    }

    pub(crate) fn scale(&self, x: &mut Numbers, factor: f64) -> Outcome<()> {
        let n = x.len();
        launch!(self, scale, each(n), &(n as u64), &factor, x)
    }

    pub(crate) fn scale_columns(&self, x: &mut Numbers, factors: &[f64]) -> Outcome<()> {
        let (n, cols, factors) = (x.len(), factors.len() as u64, self.upload(factors)?);
        launch!(self, scale_columns, each(n), &(n as u64), &cols, &factors, x)
    }

    pub(crate) fn multiply(&self, x: &mut Numbers, by: &Numbers) -> Outcome<()> {
        assert_eq!(x.len(), by.len(), "sizes of a product of entries");
        let n = x.len();
        launch!(self, multiply, each(n), &(n as u64), by, x)
    }

    pub(crate) fn add_to_columns(&self, x: &mut Numbers, values: &[f64]) -> Outcome<()> {
        let (n, cols, values) = (x.len(), values.len() as u64, self.upload(values)?);
        launch!(self, add_to_columns, each(n), &(n as u64), &cols, &values, x)
    }

    /// For as many columns as there are numbers for each factor.
    pub(crate) fn scale_rows(&self, x: &mut Numbers, factors: &[f64]) -> Outcome<()> {
        let (n, factors_there) = (x.len(), factors.len());
        assert!(factors_there > 0 && n.is_multiple_of(factors_there), "one factor for each row");
        let (cols, factors) = ((n / factors_there) as u64, self.upload(factors)?);
        launch!(self, scale_rows, each(n), &(n as u64), &cols, &factors, x)
    }

    pub(crate) fn add_outer(
        &self,
        x: &mut Numbers,
        factor: f64,
        rows: &[f64],
        columns: &[f64],
    ) -> Outcome<()> {
        assert_eq!(x.len(), rows.len() * columns.len(), "size of an outer product");
        let (n, cols) = (x.len(), columns.len() as u64);
        let (rows, columns) = (self.upload(rows)?, self.upload(columns)?);
        launch!(self, add_outer, each(n), &(n as u64), &cols, &factor, &rows, &columns, x)
    }

    pub(crate) fn divide_shifted(&self, x: &mut Numbers, rows: &[f64], columns: &[f64]) -> Outcome<()> {
        assert_eq!(x.len(), rows.len() * columns.len(), "size of an outer product");
        let (n, cols) = (x.len(), columns.len() as u64);
        let (rows, columns) = (self.upload(rows)?, self.upload(columns)?);
        launch!(self, divide_shifted, each(n), &(n as u64), &cols, &rows, &columns, x)
    }

    /// Inner products n x n to values of an RBF kernel.
    pub(crate) fn gaussian(
        &self,
        x: &mut Numbers,
        squares: &[f64],
        gamma: f64,
        (shift, scale): (f64, f64),
    ) -> Outcome<()> {
        let n = squares.len();
        assert_eq!(x.len(), n * n, "a square matrix");
        let squares = self.upload(squares)?;
        launch!(self, gaussian, each(n * n), &(n as u64), &squares, &gamma, &shift, &scale, x)
    }

    pub(crate) fn column_products(&self, a: &Numbers, b: &Numbers, cols: usize) -> Outcome<Vec<f64>> {
        assert!(a.len() == b.len() && cols > 0 && a.len().is_multiple_of(cols), "sizes of products");
        let (rows, width) = (a.len() / cols, cols as u64);
        let parts = rows.div_ceil(RUN_ROWS).clamp(1, 1 << 15);
        let run = rows.div_ceil(parts).max(1) as u64;
        let (mut sums, mut out) = (self.room(parts * cols)?, self.room(cols)?);
        let config = LaunchConfig { grid_dim: (blocks(cols), parts as u32, 1), ..each(1) };
        launch!(self, column_parts, config, &(rows as u64), &width, &run, a, b, &mut sums)?;
        launch!(self, column_sums, each(cols), &(parts as u64), &width, &sums, &mut out)?;
        self.download(&out)
    }

    pub(crate) fn row_products(&self, a: &Numbers, b: &Numbers, rows: usize) -> Outcome<Vec<f64>> {
        assert!(a.len() == b.len() && rows > 0 && a.len().is_multiple_of(rows), "sizes of products");
        let mut out = self.room(rows)?;
        let cols = (a.len() / rows) as u64;
        let per_block = BLOCK_THREADS as usize / 32;
        let config = LaunchConfig { grid_dim: (rows.div_ceil(per_block) as u32, 1, 1), ..each(1) };
        launch!(self, row_products, config, &(rows as u64), &cols, a, b, &mut out)?;
        self.download(&out)
    }

    pub(super) fn transposed(&self, m: &Numbers, rows: usize, cols: usize) -> Outcome<Numbers> {
        assert_eq!(m.len(), rows * cols, "size of a matrix");
        let mut out = self.room(rows * cols)?;
        let grid_dim = (cols.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1);
        let config = LaunchConfig { grid_dim, block_dim: (32, 8, 1), shared_mem_bytes: 0 };
        launch!(self, transpose, config, &(rows as u64), &(cols as u64), m, &mut out)?;
        Ok(out)
    }
}
