//! Shares of a given sum between two bounds.

/// The l that minimise `sum squares / l` with `low <= l <= high` and sum `total`: `l = clip(q sqrt(squares))`
/// for the q that gives the sum, which increases with q. What is left when all positive squares are at their
/// upper bound goes to the zeros in equal parts.
pub(super) fn box_trace(squares: &[f64], low: f64, high: f64, total: f64) -> Vec<f64> {
    let n = squares.len();
    if n == 0 {
        return vec![];
    }
    let total = total.clamp(n as f64 * low, n as f64 * high);
    let roots: Vec<f64> = squares.iter().map(|s| s.sqrt()).collect();
    let positive = roots.iter().filter(|r| **r > 0.0).count();
    let zeros = n - positive;
    if positive as f64 * high + zeros as f64 * low <= total {
        let rest = if zeros > 0 { (total - positive as f64 * high) / zeros as f64 } else { high };
        return roots.iter().map(|r| if *r > 0.0 { high } else { rest }).collect();
    }
    let clipped = |q: f64| roots.iter().map(move |r| (r * q).clamp(low, high));
    // Between two neighbouring breakpoints the sum is linear in q.
    let ends = |r: &f64| [low / r, high / r];
    let mut breaks: Vec<f64> = roots.iter().filter(|r| **r > 0.0).flat_map(ends).collect();
    breaks.sort_by(f64::total_cmp);
    let at = breaks.partition_point(|&q| clipped(q).sum::<f64>() < total);
    let (from, to) = (if at == 0 { 0.0 } else { breaks[at - 1] }, breaks[at.min(breaks.len() - 1)]);
    let (sum_from, sum_to) = (clipped(from).sum::<f64>(), clipped(to).sum::<f64>());
    let share =
        if sum_to > sum_from { ((total - sum_from) / (sum_to - sum_from)).clamp(0.0, 1.0) } else { 1.0 };
    clipped(from + share * (to - from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_bounds_hold_and_free_shares_follow_the_roots() {
        let squares = [9.0, 4.0, 1.0, 0.25, 0.0];
        for total in [2.5, 3.0, 4.0, 6.0, 8.0, 9.0, 10.0] {
            let l = box_trace(&squares, 0.5, 2.0, total);
            assert!((l.iter().sum::<f64>() - total).abs() < 1e-12, "{l:?}");
            let free: Vec<f64> = l
                .iter()
                .zip(squares)
                .filter(|(l, s)| **l > 0.5 + 1e-12 && **l < 2.0 - 1e-12 && *s > 0.0)
                .map(|(l, s)| l / s.sqrt())
                .collect();
            assert!(free.windows(2).all(|w| (w[0] - w[1]).abs() < 1e-12), "{l:?}");
        }
        assert_eq!(box_trace(&squares, 0.5, 2.0, 1.0), [0.5; 5]);
        assert_eq!(box_trace(&[0.0, 0.0], 0.5, 2.0, 3.0), [1.5, 1.5]);
    }
}
