//! What the spreads of few labels say about the units of tasks.

use crate::special::{digamma, trigamma};

/// From so many labels of a task on, on average, own spreads are taken as they are: they are known well enough, and
/// units of tasks then never matter.
const ENOUGH_LABELS: f64 = 6.0;

/// Logarithms of the units of tasks, from the numbers of labels and the logarithms of spreads `ln s`: each spread drawn
/// to the mean of all as far as it is uncertain. `None` if labels are not few, or fewer than two tasks have two.
///
/// For n normal labels, `s^2` is `sigma^2 / n` times a chi-square variable with n - 1 degrees of freedom, so `ln s` has
/// the mean `ln sigma + (psi((n-1)/2) - ln(n/2)) / 2` and the variance `v = psi'((n-1)/2) / 4`. Let tau^2 be the
/// variance of `ln sigma` over tasks: what is seen of `ln s`, less its bias, has the variance `tau^2 + v`. Then
/// `m + (ln s - m) tau^2 / (tau^2 + v)` has the least mean squared error, with the mean m of all tasks. Own spreads
/// alone have the error v, and one spread for all has tau^2. All means are over labels. A task with one label has m.
pub(crate) fn shrunk(spreads: &[(f64, f64)]) -> Option<Vec<f64>> {
    let known = || spreads.iter().copied().filter(|(labels, _)| *labels >= 2.0);
    let (total, tasks) = known().fold((0.0, 0), |(total, tasks), (n, _)| (total + n, tasks + 1));
    if tasks < 2 || total >= ENOUGH_LABELS * f64::from(tasks) {
        return None;
    }
    let mean = |value: &dyn Fn(f64, f64) -> f64| known().map(|(n, l)| n * value(n, l)).sum::<f64>() / total;
    let unbiased = |n: f64, l: f64| l - 0.5 * (digamma(0.5 * (n - 1.0)) - (0.5 * n).ln());
    let uncertain = |n: f64| 0.25 * trigamma(0.5 * (n - 1.0));
    let centre = mean(&unbiased);
    let seen = mean(&|n, l| (unbiased(n, l) - centre).powi(2));
    let differ = (seen - mean(&|n, _| uncertain(n))).max(0.0);
    let unit = |&(n, l): &(f64, f64)| match n >= 2.0 {
        true => centre + (unbiased(n, l) - centre) * differ / (differ + uncertain(n)),
        false => centre,
    };
    Some(spreads.iter().map(unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(labels: f64, spreads: &[f64]) -> Option<Vec<f64>> {
        let logs: Vec<(f64, f64)> = spreads.iter().map(|s| (labels, s.ln())).collect();
        Some(shrunk(&logs)?.into_iter().map(f64::exp).collect())
    }

    #[test]
    fn spreads_that_differ_by_chance_become_one() {
        for unit in [1e-150, 1.0, 1e150] {
            let found = units(4.0, &[1.0, 1.4, 0.8, 1.2, 0.7].map(|s| s * unit)).unwrap();
            assert!(found.iter().all(|u| (u / found[0] - 1.0).abs() < 1e-9), "{found:?}");
            // Four labels around their own mean: their spread is too small.
            assert!((1.0..1.5).contains(&(found[0] / unit)), "{found:?}");
        }
    }

    #[test]
    fn spreads_that_differ_much_stay_nearly_as_they_are() {
        let spreads = [1.0, 1000.0, 0.8, 1.2, 1e-3];
        let found = units(4.0, &spreads).unwrap();
        for (unit, spread) in found.iter().zip(spreads) {
            assert!((0.8..1.6).contains(&(unit / spread)), "{found:?}");
        }
        // In between, they are drawn together.
        let found = units(4.0, &[1.0, 4.0, 0.25, 1.0]).unwrap();
        assert!(found[1] < 4.0 && found[1] > 1.5 && found[2] > 0.25 && found[2] < 0.8, "{found:?}");
    }

    #[test]
    fn enough_labels_are_left_alone() {
        assert!(units(6.0, &[2.0; 3]).is_none() && units(5.0, &[2.0; 3]).is_some());
        assert!(units(5.0, &[1.0]).is_none() && shrunk(&[]).is_none() && units(1.0, &[1.0; 4]).is_none());
        let with_one = shrunk(&[(4.0, 0.1), (4.0, -0.1), (1.0, 5.0)]).unwrap();
        assert!(with_one.iter().all(|u| (u - with_one[2]).abs() < 1e-12), "{with_one:?}");
    }
}
