//! From relations to similarities of tasks: one small formula for each kind. None of them depends on the order of the
//! tasks, and numbers that a formula takes from the data (medians, means) come from the tasks with rows alone.

use super::TaskKernel;
use super::path::nodes;
use kinfolk::Matrix;

/// A symmetric matrix from its entries on and below the diagonal.
fn symmetric(n: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    let mut m = Matrix::zeros(n, n);
    for r in 0..n {
        for s in 0..=r {
            m[(r, s)] = entry(r, s);
            m[(s, r)] = m[(r, s)];
        }
    }
    m
}

/// `S_rs` = 1 within a group, 0 between groups.
pub(super) fn of_groups(labels: &[&str]) -> Matrix {
    symmetric(labels.len(), |r, s| if labels[r] == labels[s] { 1.0 } else { 0.0 })
}

/// `S_rs` = the number of nodes that the paths of r and s share, counted from the root: the sum over the levels of
/// the tree of one block for each node of that level. So it is positive semidefinite.
pub(super) fn of_paths(paths: &[&str]) -> Matrix {
    let nodes: Vec<Vec<String>> = paths.iter().map(|path| nodes(path)).collect();
    symmetric(paths.len(), |r, s| nodes[r].iter().zip(&nodes[s]).take_while(|(a, b)| a == b).count() as f64)
}

/// `S = (I + L)^-1` with the Laplacian `L = D - W` of the weights of the edges. Entries are not negative, and the rows
/// of S add up to 1.
///
/// Nodes are eliminated one by one. What is left of `I + L` is again the sum of a Laplacian and a diagonal, the excess:
/// both only grow, so that nothing cancels, however large the weights are.
pub(super) fn of_graph(n: usize, edges: &[(usize, usize, f64)]) -> Matrix {
    let mut w = Matrix::zeros(n, n);
    for &(a, b, weight) in edges.iter().filter(|(a, b, _)| a != b) {
        w[(a, b)] += weight;
        w[(b, a)] += weight;
    }
    let (mut excess, mut diagonal) = (vec![1.0; n], vec![0.0; n]);
    for k in 0..n {
        diagonal[k] = excess[k] + (k + 1..n).map(|j| w[(k, j)]).sum::<f64>();
        for i in k + 1..n {
            let share = w[(i, k)] / diagonal[k];
            excess[i] += share * excess[k];
            for j in (k + 1..n).filter(|&j| j != i && share > 0.0) {
                w[(i, j)] += share * w[(k, j)];
            }
        }
    }
    let mut s = Matrix::zeros(n, n);
    for k in (0..n).rev() {
        let shares: Vec<f64> = (k + 1..n).map(|i| w[(k, i)] / diagonal[k]).collect();
        for j in k + 1..n {
            s[(k, j)] = shares.iter().enumerate().map(|(i, share)| share * s[(k + 1 + i, j)]).sum();
            s[(j, k)] = s[(k, j)];
        }
        let through: f64 = shares.iter().enumerate().map(|(i, share)| share * s[(k + 1 + i, k)]).sum();
        s[(k, k)] = 1.0 / diagonal[k] + through;
    }
    s
}

/// `S_rs = exp(-d_rs / m)`, m the median of the distances between different tasks among the first `n_fitted`.
pub(super) fn of_distances(d: &Matrix, n_fitted: usize) -> Matrix {
    let median = median_between(d, n_fitted);
    symmetric(d.rows(), |r, s| if median > 0.0 { (-d[(r, s)] / median).exp() } else { 1.0 })
}

/// The median of the positive entries between different tasks; 0 if there are none.
fn median_between(d: &Matrix, n: usize) -> f64 {
    let entries = (0..n).flat_map(|r| (0..r).map(move |s| (r, s)));
    let mut positive: Vec<f64> = entries.map(|rs| d[rs]).filter(|x| *x > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    match positive.len() {
        0 => 0.0,
        n if n % 2 == 1 => positive[n / 2],
        n => 0.5 * positive[n / 2 - 1] + 0.5 * positive[n / 2],
    }
}

/// With features z of mean 0 and variance 1 over the first `n_fitted` tasks, the constant ones left out:
/// linear `S_rs = <z_r, z_s>`, rbf `S_rs = exp(-|z_r - z_s|^2 / m)`, m the median of these squares.
pub(super) fn of_features(rows: &[&[f64]], n_fitted: usize, kernel: TaskKernel) -> Matrix {
    let z = standardised(rows, n_fitted);
    let sum = |r: usize, s: usize, term: &dyn Fn(f64, f64) -> f64| -> f64 {
        z[r].iter().zip(&z[s]).map(|(a, b)| term(*a, *b)).sum()
    };
    match kernel {
        TaskKernel::Linear => symmetric(rows.len(), |r, s| sum(r, s, &|a, b| a * b)),
        TaskKernel::Rbf => {
            let squares = symmetric(rows.len(), |r, s| sum(r, s, &|a, b| (a - b) * (a - b)));
            of_distances(&squares, n_fitted)
        }
    }
}

/// Columns of mean 0 and variance 1 over the first rows; without those that are constant there.
fn standardised(rows: &[&[f64]], n_fitted: usize) -> Vec<Vec<f64>> {
    let columns = rows.first().map_or(0, |row| row.len());
    let mut out = vec![vec![]; rows.len()];
    for j in 0..columns {
        // In units of the largest no square overflows.
        let largest = rows[..n_fitted].iter().fold(0.0f64, |most, row| most.max(row[j].abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let n = n_fitted as f64;
        let mean = rows[..n_fitted].iter().map(|row| row[j] / unit / n).sum::<f64>();
        let variance = rows[..n_fitted].iter().map(|row| (row[j] / unit - mean).powi(2) / n).sum::<f64>();
        // Rounding of a constant is no spread.
        if variance.sqrt() > 1e-12 {
            out.iter_mut().zip(rows).for_each(|(z, row)| z.push((row[j] / unit - mean) / variance.sqrt()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Similarities of the same tasks, of every kind, after their order was changed.
    fn all_kinds(order: &[usize], features: &[Vec<f64>], edges: &[(usize, usize, f64)]) -> Vec<Matrix> {
        let n = order.len();
        let labels: Vec<String> = order.iter().map(|t| format!("g{}", t % 3)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let paths: Vec<String> = order.iter().map(|t| format!("all/{}/{}", t % 3, t % 2)).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let rows: Vec<&[f64]> = order.iter().map(|&t| features[t].as_slice()).collect();
        let place = |t: usize| order.iter().position(|&o| o == t).unwrap();
        let edges: Vec<_> = edges.iter().map(|&(a, b, w)| (place(a), place(b), w)).collect();
        let d = symmetric(n, |r, s| {
            let square: f64 = rows[r].iter().zip(rows[s]).map(|(a, b)| (a - b) * (a - b)).sum();
            square.sqrt()
        });
        vec![
            of_groups(&labels),
            of_paths(&paths),
            of_graph(n, &edges),
            of_distances(&d, n),
            of_features(&rows, n, TaskKernel::Linear),
            of_features(&rows, n, TaskKernel::Rbf),
        ]
    }

    proptest! {
        #[test]
        fn similarities_are_psd_and_follow_the_order_of_the_tasks(
            features in (2..8usize).prop_flat_map(|n| {
                proptest::collection::vec(proptest::collection::vec(-3.0..3.0f64, 3), n)
            }),
            edges in proptest::collection::vec((0..8usize, 0..8usize, 0.0..20.0f64), 0..12),
            seed in 0..1000usize,
        ) {
            let n = features.len();
            let edges: Vec<_> = edges.into_iter().filter(|(a, b, _)| a.max(b) < &n).collect();
            let given: Vec<usize> = (0..n).collect();
            let mut order = given.clone();
            order.rotate_left(seed % n);
            order.swap(0, seed / 7 % n);
            let (first, moved) = (all_kinds(&given, &features, &edges), all_kinds(&order, &features, &edges));
            for (kind, (s, moved)) in first.iter().zip(&moved).enumerate() {
                let (values, _) = s.eigen().unwrap();
                // Distances of points are of negative type, so exp(-d) is psd for them.
                prop_assert!(values[0] >= -1e-9 * values[n - 1].abs(), "{kind}: {values:?}");
                for r in 0..n {
                    for t in 0..n {
                        prop_assert!((moved[(r, t)] - s[(order[r], order[t])]).abs() < 1e-9, "{kind}");
                    }
                }
            }
        }

        #[test]
        fn a_graph_kernel_is_the_inverse_of_one_plus_its_laplacian(
            edges in proptest::collection::vec((0..5usize, 0..5usize, 0.0..1e3f64), 0..10),
        ) {
            let s = of_graph(5, &edges);
            let mut m = Matrix::identity(5);
            for &(a, b, w) in edges.iter().filter(|(a, b, _)| a != b) {
                for (r, c, x) in [(a, a, w), (b, b, w), (a, b, -w), (b, a, -w)] {
                    m[(r, c)] += x;
                }
            }
            let product = m.times(&s);
            for r in 0..5 {
                for c in 0..5 {
                    prop_assert!((product[(r, c)] - f64::from(u8::from(r == c))).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn formulas_by_hand() {
        let tree = of_paths(&["animal/cat/tabby", "animal/cat", "animal/dog", "plant"]);
        assert_eq!(tree.row(0), [3.0, 2.0, 1.0, 0.0]);
        assert_eq!(tree.row(3), [0.0, 0.0, 0.0, 1.0]);
        // Two tasks and one edge of weight w: S = [1 + w, w; w, 1 + w] / (1 + 2 w).
        let graph = of_graph(2, &[(0, 1, 3.0)]);
        assert!((graph[(0, 0)] - 4.0 / 7.0).abs() < 1e-15 && (graph[(1, 0)] - 3.0 / 7.0).abs() < 1e-15);
        // Tasks that are joined by very heavy edges are one task, and no digit is lost.
        let heavy = of_graph(3, &[(0, 1, 1e150), (1, 2, 1e-150)]);
        assert!((heavy[(0, 1)] - 0.5).abs() < 1e-15 && (heavy[(2, 2)] - 1.0).abs() < 1e-15);
        let d = Matrix::from_vec(vec![0.0, 1.0, 4.0, 1.0, 0.0, 2.0, 4.0, 2.0, 0.0], 3, 3).unwrap();
        let s = of_distances(&d, 3);
        assert!((s[(0, 1)] - (-0.5f64).exp()).abs() < 1e-15 && s[(2, 2)] == 1.0);
        // Columns of mean 0 and variance 1; the constant one is left out.
        let s = of_features(&[&[1e200, 5.0], &[3e200, 5.0]], 2, TaskKernel::Linear);
        assert!((s[(0, 0)] - 1.0).abs() < 1e-12 && (s[(0, 1)] + 1.0).abs() < 1e-12);
        assert_eq!(of_features(&[&[2.0], &[2.0]], 2, TaskKernel::Rbf).as_slice(), [1.0; 4]);
    }
}
