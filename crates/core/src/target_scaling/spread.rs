//! Whether the spreads of tasks differ, or only seem to.

use crate::special::{digamma, trigamma};

/// From so many labels of a task on, its own spread is taken as it is: it is known well enough, and units of tasks then
/// never matter.
const ENOUGH_LABELS: f64 = 6.0;

/// Whether tasks have few labels, and their spreads differ less than each of them is uncertain: then one spread for all
/// tasks is closer to the truth than the own spread of each.
///
/// For n normal labels, `s^2` is `sigma^2 / n` times a chi-square variable with n - 1 degrees of freedom, so `ln s` has
/// the mean `ln sigma + (psi((n-1)/2) - ln(n/2)) / 2` and the variance `v = psi'((n-1)/2) / 4`. If the variance of `ln
/// sigma` over tasks is tau^2, the squared error of an own spread is v and that of a common one tau^2. What is seen of
/// `ln s`, less its bias, has the variance `tau^2 + v`: tau^2 is below v if that is below `2 v`. All means are over
/// labels.
///
/// `spreads` are the numbers of labels and `ln s`.
pub(crate) fn differ_by_chance(spreads: &[(f64, f64)]) -> bool {
    let known: Vec<(f64, f64)> = spreads.iter().copied().filter(|(labels, _)| *labels >= 2.0).collect();
    if known.len() < 2 {
        return false;
    }
    let total: f64 = known.iter().map(|(n, _)| n).sum();
    if total >= ENOUGH_LABELS * known.len() as f64 {
        return false;
    }
    let mean =
        |value: &dyn Fn(f64, f64) -> f64| known.iter().map(|&(n, l)| n * value(n, l)).sum::<f64>() / total;
    let unbiased = |n: f64, l: f64| l - 0.5 * (digamma(0.5 * (n - 1.0)) - (0.5 * n).ln());
    let centre = mean(&unbiased);
    let seen = mean(&|n, l| (unbiased(n, l) - centre).powi(2));
    let by_chance = mean(&|n, _| 0.25 * trigamma(0.5 * (n - 1.0)));
    seen < 2.0 * by_chance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(labels: f64, spreads: &[f64]) -> Vec<(f64, f64)> {
        spreads.iter().map(|s| (labels, s.ln())).collect()
    }

    #[test]
    fn few_labels_say_little_about_a_spread_and_many_do() {
        let alike = [1.0, 1.4, 0.8, 1.2, 0.7];
        for unit in [1e-150, 1.0, 1e150] {
            let alike = alike.map(|s| s * unit);
            assert!(differ_by_chance(&tasks(4.0, &alike)));
            assert!(!differ_by_chance(&tasks(400.0, &alike)));
            assert!(!differ_by_chance(&tasks(4.0, &[1.0, 1000.0, 0.8, 1.2, 1e-3].map(|s| s * unit))));
        }
        assert!(differ_by_chance(&tasks(5.0, &[2.0; 3])) && !differ_by_chance(&tasks(6.0, &[2.0; 3])));
        assert!(!differ_by_chance(&tasks(5.0, &[1.0])) && !differ_by_chance(&[]));
        assert!(!differ_by_chance(&tasks(1.0, &alike)));
    }
}
