//! What the spreads of few labels say about the units of tasks.

use crate::special::{digamma, trigamma};

/// From so many labels of a task on its own spread is taken as it is: it is known well enough, and the unit of such a
/// task does not matter to itself.
pub(crate) const ENOUGH_LABELS: f64 = 6.0;

/// Logarithms of the units of tasks, from the numbers of labels and the logarithms of spreads `ln s`: the spread of few
/// labels is drawn to the mean of all as far as it is uncertain. `None` if no task has few labels, or fewer than two
/// tasks have two.
///
/// For n normal labels, `s^2` is `sigma^2 / n` times a chi-square variable with n - 1 degrees of freedom, so `ln s` has
/// the mean `ln sigma + (psi((n-1)/2) - ln(n/2)) / 2` and the variance `v = psi'((n-1)/2) / 4`. Let tau^2 be the
/// variance of `ln sigma` over tasks: what is seen of `ln s`, less its bias, has the variance `tau^2 + v`. Then
/// `m + (ln s - m) tau^2 / (tau^2 + v)` has the least mean squared error, with the mean m of all tasks. Own spreads
/// alone have the error v, and one spread for all has tau^2. All means are over labels. A task with one label has m.
pub(crate) fn shrunk(spreads: &[(f64, f64)]) -> Option<Vec<f64>> {
    let known = || spreads.iter().copied().filter(|(labels, _)| *labels >= 2.0);
    if known().count() < 2 || known().all(|(n, _)| n >= ENOUGH_LABELS) {
        return None;
    }
    let total: f64 = known().map(|(n, _)| n).sum();
    let mean = |value: &dyn Fn(f64, f64) -> f64| known().map(|(n, l)| n * value(n, l)).sum::<f64>() / total;
    let unbiased = |n: f64, l: f64| l - 0.5 * (digamma(0.5 * (n - 1.0)) - (0.5 * n).ln());
    let uncertain = |n: f64| 0.25 * trigamma(0.5 * (n - 1.0));
    let centre = mean(&unbiased);
    let seen = mean(&|n, l| (unbiased(n, l) - centre).powi(2));
    let differ = (seen - mean(&|n, _| uncertain(n))).max(0.0);
    let unit = |&(n, l): &(f64, f64)| match n {
        n if n >= ENOUGH_LABELS => l,
        n if n >= 2.0 => centre + (unbiased(n, l) - centre) * differ / (differ + uncertain(n)),
        _ => centre,
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
    fn a_task_of_two_labels_among_large_ones_has_their_unit() {
        let mut tasks: Vec<(f64, f64)> = [1.0, 1.3, 0.8, 1.1].map(|s: f64| (40.0, s.ln())).to_vec();
        tasks.push((2.0, 0.01_f64.ln()));
        let found = shrunk(&tasks).unwrap();
        assert_eq!(found[..4], tasks.iter().map(|(_, l)| *l).collect::<Vec<_>>()[..4]);
        assert!((0.5..1.3).contains(&found[4].exp()), "{found:?}");
        // Where units of large tasks are far apart, they say little about that of a small one.
        tasks[0].1 = 1000.0_f64.ln();
        tasks[1].1 = 0.001_f64.ln();
        assert!(shrunk(&tasks).unwrap()[4].exp() < 0.1);
    }

    #[test]
    fn enough_labels_are_left_alone() {
        assert!(units(6.0, &[2.0; 3]).is_none() && units(5.0, &[2.0; 3]).is_some());
        assert!(units(5.0, &[1.0]).is_none() && shrunk(&[]).is_none() && units(1.0, &[1.0; 4]).is_none());
        let with_one = shrunk(&[(4.0, 0.1), (4.0, -0.1), (1.0, 5.0)]).unwrap();
        assert!(with_one.iter().all(|u| (u - with_one[2]).abs() < 1e-12), "{with_one:?}");
    }
}
