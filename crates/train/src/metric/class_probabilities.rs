//! Probabilities of classes that exclude each other, from scores of one class against the others.

/// The probability of each class: those of single scores, `1 / (1 + exp(-score))`, divided by their sum.
///
/// ```
/// let p = kinfolk_train::class_probabilities(&[0.0, 0.0, -1e4]);
/// assert_eq!(p, [0.5, 0.5, 0.0]);
/// ```
pub fn class_probabilities(scores: &[f64]) -> Vec<f64> {
    ln_class_probabilities(scores).into_iter().map(f64::exp).collect()
}

/// Their logarithms, which stay finite where probabilities are tiny.
pub(crate) fn ln_class_probabilities(scores: &[f64]) -> Vec<f64> {
    let ln_sigmoid = |score: f64| score.min(0.0) - (-score.abs()).exp().ln_1p();
    let alone: Vec<f64> = scores.iter().map(|score| ln_sigmoid(*score)).collect();
    let largest = alone.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = alone.iter().map(|ln| (ln - largest).exp()).sum();
    alone.iter().map(|ln| ln - largest - sum.ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_any_size_have_probabilities() {
        for scores in [vec![-1e3, -1e3 - 1.0], vec![1e3, 1e3], vec![0.3, -2.0, 5.0]] {
            let p = class_probabilities(&scores);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
        }
        let sigmoid = |score: f64| 1.0 / (1.0 + (-score).exp());
        let p = class_probabilities(&[0.3, -2.0, 5.0]);
        let sum = sigmoid(0.3) + sigmoid(-2.0) + sigmoid(5.0);
        assert!((p[1] - sigmoid(-2.0) / sum).abs() < 1e-12);
        assert!(ln_class_probabilities(&[1e3, -1e3])[1] < -900.0);
        assert!(class_probabilities(&[f64::NAN, 0.0]).iter().all(|p| p.is_nan()));
    }
}
