//! Means, and how sure they are.

/// Mean, standard deviation (n - 1) and number of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanAndSpread {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) n: usize,
}

impl MeanAndSpread {
    /// `None` of nothing.
    pub(crate) fn of(values: &[f64]) -> Option<MeanAndSpread> {
        let (mean, deviation) = kinfolk_train::select::mean_and_sd(values);
        (!values.is_empty()).then_some(MeanAndSpread { mean, deviation, n: values.len() })
    }

    /// Standard error of the mean.
    pub(crate) fn error(&self) -> f64 {
        self.deviation / (self.n as f64).sqrt()
    }
}

/// Mean of independent means, and its standard error.
pub(crate) fn average(means: &[MeanAndSpread]) -> (f64, f64) {
    let n = means.len() as f64;
    let mean = means.iter().map(|m| m.mean).sum::<f64>() / n;
    let error = means.iter().map(|m| m.error().powi(2)).sum::<f64>().sqrt() / n;
    (mean, error)
}

/// The middle one, or the mean of the middle two.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]))
}
