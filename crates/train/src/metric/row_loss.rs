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

/// Of so many inputs, one more may have a loss that is bounded.
const INPUTS_FOR_EACH_BOUNDED: usize = 1000;

/// The largest loss is rarely twice the next largest by chance.
const LARGEST_TO_NEXT: f64 = 2.0;

/// How much smaller the mean loss of the first is than that of the second, and the standard error of that. Rows of one
/// input count as one: their errors may be alike.
pub(crate) fn gain(rows: &[RowLoss], than: &[RowLoss]) -> (f64, f64) {
    let difference = |(a, b): (&RowLoss, &RowLoss)| RowLoss { loss: b.loss - a.loss, ..*a };
    let gains: Vec<RowLoss> = rows.iter().zip(than).map(difference).collect();
    let gain = mean(&gains);
    let weight: f64 = gains.iter().map(|row| row.weight).sum();
    let n_inputs = gains.iter().map(|row| row.input as usize + 1).max().unwrap_or(0);
    let mut of_input = vec![0.0; n_inputs];
    gains.iter().for_each(|row| of_input[row.input as usize] += row.weight * (row.loss - gain));
    (gain, of_input.iter().map(|sum| sum * sum).sum::<f64>().sqrt() / weight)
}

/// Bounds losses, so that a single row, with a wrong input say, does not decide: those of one input in a thousand, but
/// at least one, are at most so many times as large as the next largest.
pub(crate) fn bound(rows: &mut [RowLoss]) {
    let n_inputs = rows.iter().map(|row| row.input as usize + 1).max().unwrap_or(0);
    let mut largest = vec![f64::NEG_INFINITY; n_inputs];
    rows.iter().for_each(|row| largest[row.input as usize] = largest[row.input as usize].max(row.loss));
    largest.retain(|loss| *loss > f64::NEG_INFINITY);
    largest.sort_unstable_by(|a, b| b.total_cmp(a));
    if let Some(&most) = largest.get(1 + largest.len() / INPUTS_FOR_EACH_BOUNDED) {
        let most = LARGEST_TO_NEXT * most;
        // False for NaN, which stays as it is.
        rows.iter_mut().filter(|row| row.loss > most).for_each(|row| row.loss = most);
    }
}

/// Whether the mean loss of the first is smaller than that of the second by more than so many standard errors.
pub(crate) fn is_better(rows: &[RowLoss], than: &[RowLoss], errors: f64) -> bool {
    let (gain, standard_error) = gain(rows, than);
    gain > errors * standard_error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_better(rows: &[RowLoss], than: &[RowLoss]) -> bool {
        super::is_better(rows, than, 2.0)
    }

    #[test]
    fn a_single_row_does_not_decide() {
        let rows = |losses: &[f64]| -> Vec<RowLoss> {
            let row = |(i, loss): (usize, &f64)| RowLoss { input: i as u32 / 2, loss: *loss, weight: 1.0 };
            losses.iter().enumerate().map(row).collect()
        };
        let bounded = |losses: &[f64]| -> Vec<f64> {
            let mut rows = rows(losses);
            bound(&mut rows);
            rows.iter().map(|row| row.loss).collect()
        };
        // Two rows of each input.
        assert_eq!(bounded(&[1.0, 2.0, 90.0, 80.0, 3.0, 0.5]), [1.0, 2.0, 6.0, 6.0, 3.0, 0.5]);
        assert_eq!(bounded(&[1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(bounded(&[0.0; 4]), [0.0; 4]);
        assert!(bounded(&[1.0, f64::NAN, 1.0, 2.0])[1].is_nan() && bounded(&[]).is_empty());
        let many: Vec<f64> = (0..4000).map(f64::from).collect();
        let found = bounded(&many);
        assert_eq!(found, many);
        let mut odd = many;
        odd[3999] = 1e9;
        odd[3000] = 1e8;
        let found = bounded(&odd);
        assert_eq!((found[3999], found[3000], found[3995]), (2.0 * 3995.0, 2.0 * 3995.0, 3995.0));
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
