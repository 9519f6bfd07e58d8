//! Losses of single predictions, and whether some are smaller than others beyond noise.

/// The loss of a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowLoss {
    /// The input that it is for: errors of its labels may be alike.
    pub(crate) input: u32,
    pub(crate) loss: f64,
    pub(crate) weight: f64,
}

/// Mean loss; NaN without rows.
pub(crate) fn mean(rows: &[RowLoss]) -> f64 {
    let weight: f64 = rows.iter().map(|row| row.weight).sum();
    rows.iter().map(|row| row.weight * row.loss).sum::<f64>() / weight
}

/// Whether the mean loss of the first is smaller than that of the second by more than so many standard errors of the
/// difference. Rows of one input count as one: their errors may be alike.
pub(crate) fn is_better(rows: &[RowLoss], than: &[RowLoss], errors: f64) -> bool {
    let difference = |(a, b): (&RowLoss, &RowLoss)| RowLoss { loss: b.loss - a.loss, ..*a };
    let gains: Vec<RowLoss> = rows.iter().zip(than).map(difference).collect();
    let gain = mean(&gains);
    let weight: f64 = gains.iter().map(|row| row.weight).sum();
    let n_inputs = gains.iter().map(|row| row.input as usize + 1).max().unwrap_or(0);
    let mut of_input = vec![0.0; n_inputs];
    gains.iter().for_each(|row| of_input[row.input as usize] += row.weight * (row.loss - gain));
    let standard_error = of_input.iter().map(|sum| sum * sum).sum::<f64>().sqrt() / weight;
    gain > errors * standard_error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_better(rows: &[RowLoss], than: &[RowLoss]) -> bool {
        super::is_better(rows, than, 2.0)
    }

    #[test]
    fn only_differences_beyond_noise_count() {
        let rows = |losses: &[f64]| -> Vec<RowLoss> {
            losses.iter().zip(0..).map(|(&loss, input)| RowLoss { input, loss, weight: 1.0 }).collect()
        };
        let model = rows(&[1.0, 2.0, 3.0, 4.0]);
        assert!(is_better(&rows(&[0.5, 1.6, 2.5, 3.4]), &model));
        assert!(!is_better(&rows(&[2.0, 2.0, 3.0, 0.0]), &model));
        assert!(!is_better(&model, &model) && !is_better(&[], &[]));
        assert!(!is_better(&rows(&[1.5, 2.5, 3.5, 4.5]), &model));
        // Two rows of one input are a single difference.
        let in_pairs = |mut rows: Vec<RowLoss>| {
            rows.iter_mut().for_each(|row| row.input /= 2);
            rows
        };
        let better = rows(&[0.4, 1.4, 2.9, 3.9]);
        assert!(
            is_better(&better, &model) && !is_better(&in_pairs(better.clone()), &in_pairs(model.clone()))
        );
    }
}
