//! Probabilities of classes that exclude each other, from scores of one class against the others.
//!
//! Those of single scores, `1 / (1 + exp(-score))`, divided by their sum, are too cautious where classes are many: each
//! score leaves room for classes that the others rule out. So they are raised to a power first, the same for all rows
//! and classes, that is best on held-out rows.

/// An exponent is searched between the inverse of this and this.
const MAX_EXPONENT: f64 = 16.0;

/// Before any row is seen, the logarithm of the exponent is about 0, give or take this. It counts as much as a row or
/// two, so that an exponent from few rows is near 1.
const LN_EXPONENT_DEVIATION: f64 = 0.7;

/// The logarithm of the exponent is found to this precision.
const LN_EXPONENT_PRECISION: f64 = 1e-9;

/// The probability of each class: those of single scores to this power, divided by their sum.
///
/// ```
/// let p = kinfolk_train::class_probabilities(&[0.0, 0.0, -1e4], 1.0);
/// assert_eq!(p, [0.5, 0.5, 0.0]);
/// ```
pub fn class_probabilities(scores: &[f64], exponent: f64) -> Vec<f64> {
    ln_class_probabilities(scores, exponent).into_iter().map(f64::exp).collect()
}

/// Their logarithms, which stay finite where probabilities are tiny.
pub(crate) fn ln_class_probabilities(scores: &[f64], exponent: f64) -> Vec<f64> {
    let mut powers = ln_sigmoids(scores);
    powers.iter_mut().for_each(|ln| *ln *= exponent);
    let ln_sum = ln_sum_exp(&powers);
    powers.iter_mut().for_each(|ln| *ln -= ln_sum);
    powers
}

fn ln_sigmoids(scores: &[f64]) -> Vec<f64> {
    scores.iter().map(|score| score.min(0.0) - (-score.abs()).exp().ln_1p()).collect()
}

fn ln_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + values.iter().map(|ln| (ln - largest).exp()).sum::<f64>().ln()
}

/// A row whose class is known.
#[derive(Debug, Clone)]
pub(crate) struct ClassRow {
    ln_sigmoids: Vec<f64>,
    class: usize,
    weight: f64,
}

impl ClassRow {
    pub(crate) fn new(scores: &[f64], class: usize, weight: f64) -> Self {
        ClassRow { ln_sigmoids: ln_sigmoids(scores), class, weight }
    }

    /// The derivative of the log loss of this row in the exponent.
    fn slope(&self, exponent: f64) -> f64 {
        let powers: Vec<f64> = self.ln_sigmoids.iter().map(|ln| exponent * ln).collect();
        let ln_sum = ln_sum_exp(&powers);
        let expected: f64 =
            powers.iter().zip(&self.ln_sigmoids).map(|(power, ln)| (power - ln_sum).exp() * ln).sum();
        self.weight * (expected - self.ln_sigmoids[self.class])
    }
}

/// The exponent whose probabilities have the smallest log loss on these rows, drawn a little to 1.
///
/// The log loss is convex in the exponent, so that its slope changes sign once; that of the prior, too.
pub(crate) fn best_exponent(rows: &[ClassRow]) -> f64 {
    let slope = |ln: f64| {
        let exponent = ln.exp();
        exponent * rows.iter().map(|row| row.slope(exponent)).sum::<f64>()
            + ln / LN_EXPONENT_DEVIATION.powi(2)
    };
    let (mut low, mut high) = (-MAX_EXPONENT.ln(), MAX_EXPONENT.ln());
    while high - low > LN_EXPONENT_PRECISION {
        let middle = 0.5 * (low + high);
        match slope(middle) {
            up if up > 0.0 => high = middle,
            down if down < 0.0 => low = middle,
            0.0 => return middle.exp(),
            // A prediction that is not a number says nothing.
            _ => return 1.0,
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_any_size_have_probabilities() {
        for scores in [vec![-1e3, -1e3 - 1.0], vec![1e3, 1e3], vec![0.3, -2.0, 5.0]] {
            for exponent in [0.5, 1.0, 7.0] {
                let p = class_probabilities(&scores, exponent);
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
            }
        }
        let sigmoid = |score: f64| 1.0 / (1.0 + (-score).exp());
        let p = class_probabilities(&[0.3, -2.0, 5.0], 2.0);
        let sum = sigmoid(0.3).powi(2) + sigmoid(-2.0).powi(2) + sigmoid(5.0).powi(2);
        assert!((p[1] - sigmoid(-2.0).powi(2) / sum).abs() < 1e-12);
        assert!(ln_class_probabilities(&[1e3, -1e3], 1.0)[1] < -900.0);
        assert!(class_probabilities(&[f64::NAN, 0.0], 1.0).iter().all(|p| p.is_nan()));
    }

    /// Rows of five classes, as often of each class as probabilities with this exponent say.
    fn rows(n: usize, exponent: f64) -> Vec<ClassRow> {
        let score = |i: usize, c: usize| 3.0 * (1.7 * i as f64 + 2.3 * c as f64).sin() - 1.0;
        let of_input = |i: usize| {
            let scores: Vec<f64> = (0..5).map(|c| score(i, c)).collect();
            let probabilities = class_probabilities(&scores, exponent);
            (0..5).map(move |c| ClassRow::new(&scores, c, probabilities[c])).collect::<Vec<_>>()
        };
        (0..n).flat_map(of_input).collect()
    }

    #[test]
    fn the_exponent_is_found() {
        for exponent in [0.3, 1.0, 1.5, 4.0] {
            let found = best_exponent(&rows(10_000, exponent));
            assert!((found / exponent - 1.0).abs() < 0.01, "{found} instead of {exponent}");
        }
        let of_few = best_exponent(&rows(3, 4.0));
        assert!((1.0..4.0).contains(&of_few), "{of_few}");
    }

    #[test]
    fn an_exponent_is_always_a_number() {
        assert_eq!(best_exponent(&[]), 1.0);
        assert_eq!(best_exponent(&[ClassRow::new(&[f64::NAN, 1.0, 2.0], 0, 1.0)]), 1.0);
        let sure = vec![ClassRow::new(&[900.0, -900.0, -1e300], 0, 1e6); 5];
        let wrong = vec![ClassRow::new(&[900.0, -900.0, -1e300], 1, 1e6); 5];
        for rows in [sure, wrong] {
            let found = best_exponent(&rows);
            assert!((1.0 / MAX_EXPONENT..=MAX_EXPONENT).contains(&found), "{found}");
        }
    }
}
