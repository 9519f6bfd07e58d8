//! LossArrays of all observations of a table.

use super::{Cuda, LaunchConfig, Numbers, Outcome, PushKernelArg, RUN_ROWS, blocks, each, launch, words};
use cudarc::driver::DeviceRepr;
use kinfolk::algebra::LossForm;

/// A loss, as the kernels take it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct KernelForm {
    is_logistic: f64,
    factor: f64,
    quad: f64,
    eps: f64,
    low_plus: f64,
    high_plus: f64,
    low_minus: f64,
    high_minus: f64,
}

// SAFETY: eight numbers, laid out as in kernels.cu.
unsafe impl DeviceRepr for KernelForm {}

impl KernelForm {
    fn new(form: LossForm) -> Self {
        let (is_logistic, factor, quad, eps, plus, minus) = match form {
            LossForm::Logistic => (1.0, 0.0, 0.0, 0.0, (-1.0, 0.0), (0.0, 1.0)),
            LossForm::Quadratic { factor, quad, eps, plus, minus } => (0.0, factor, quad, eps, plus, minus),
        };
        let ((low_plus, high_plus), (low_minus, high_minus)) = (plus, minus);
        KernelForm { is_logistic, factor, quad, eps, low_plus, high_plus, low_minus, high_minus }
    }
}

/// A table of observations of one loss.
pub(crate) struct LossArrays<'a> {
    pub(crate) form: LossForm,
    pub(crate) labels: &'a Numbers,
    pub(crate) scores: &'a Numbers,
    pub(crate) intercept: &'a [f64],
    pub(crate) weight: f64,
    pub(crate) mu: f64,
    pub(crate) centre: Option<&'a Numbers>,
}

/// Some sums for each column.
pub(crate) type ColumnSums<const N: usize> = [Vec<f64>; N];

/// Runs of rows whose sums are taken apart.
struct Runs {
    rows: usize,
    cols: usize,
    parts: usize,
    length: u64,
}

impl LossArrays<'_> {
    fn runs(&self) -> Runs {
        let cols = self.intercept.len();
        let n = self.labels.len();
        assert!(cols > 0 && n == self.scores.len() && n.is_multiple_of(cols), "sizes of a table");
        assert!(self.centre.is_none_or(|centre| centre.len() == n), "sizes of a table");
        let rows = n / cols;
        let parts = rows.div_ceil(RUN_ROWS).clamp(1, 1 << 15);
        Runs { rows, cols, parts, length: rows.div_ceil(parts).max(1) as u64 }
    }
}

impl Cuda {
    /// Sums of losses, duals, sizes of duals and curvatures; with duals and curvatures if asked for.
    pub(crate) fn loss_answers(
        &self,
        losses: &LossArrays<'_>,
        keeps: bool,
    ) -> Outcome<(ColumnSums<4>, Option<(Numbers, Numbers)>)> {
        let runs = losses.runs();
        let LossArrays { labels, scores, weight, mu, .. } = *losses;
        let n = if keeps { labels.len() } else { 1 };
        let (mut kappa, mut curvature) = (self.room(n)?, self.room(n)?);
        let (form, intercept) = (KernelForm::new(losses.form), self.upload(losses.intercept)?);
        let (has_centre, keeps_all) = (u64::from(losses.centre.is_some()), u64::from(keeps));
        let centre = losses.centre.unwrap_or(labels);
        let (rows, cols, mut parts) = (runs.rows as u64, runs.cols as u64, self.room_for_sums(&runs, 4)?);
        launch!(
            self,
            loss_answers,
            config(&runs),
            &rows,
            &cols,
            &runs.length,
            &form,
            &weight,
            &mu,
            labels,
            scores,
            &intercept,
            centre,
            &has_centre,
            &keeps_all,
            &mut kappa,
            &mut curvature,
            &mut parts
        )?;
        Ok((self.column_sums(&runs, &parts)?, keeps.then_some((kappa, curvature))))
    }

    /// Sums of Fenchel-Young terms, losses, conjugates, duals and their sizes, and the number of odd observations.
    pub(crate) fn loss_terms(&self, losses: &LossArrays<'_>, kappa: &Numbers) -> Outcome<ColumnSums<6>> {
        let runs = losses.runs();
        assert_eq!(kappa.len(), losses.labels.len(), "sizes of a table");
        let LossArrays { labels, scores, weight, .. } = *losses;
        let (form, intercept) = (KernelForm::new(losses.form), self.upload(losses.intercept)?);
        let (rows, cols, mut parts) = (runs.rows as u64, runs.cols as u64, self.room_for_sums(&runs, 6)?);
        launch!(
            self,
            loss_terms,
            config(&runs),
            &rows,
            &cols,
            &runs.length,
            &form,
            &weight,
            labels,
            scores,
            &intercept,
            kappa,
            &mut parts
        )?;
        self.column_sums(&runs, &parts)
    }

    fn room_for_sums(&self, runs: &Runs, count: usize) -> Outcome<Numbers> {
        self.room(count * runs.parts * runs.cols)
    }

    fn column_sums<const N: usize>(&self, runs: &Runs, parts: &Numbers) -> Outcome<ColumnSums<N>> {
        let width = N * runs.cols;
        let mut out = self.room(width)?;
        launch!(self, column_sums, each(width), &(runs.parts as u64), &(width as u64), parts, &mut out)?;
        let sums = self.download(&out)?;
        let mut each = sums.chunks(runs.cols).map(<[f64]>::to_vec);
        Ok(std::array::from_fn(|_| each.next().unwrap_or_default()))
    }
}

fn config(runs: &Runs) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks(runs.cols), runs.parts as u32, 1), ..each(1) }
}
