//! Hierarchical clustering of tasks, and an order in which related tasks stand side by side.

use kinfolk::Matrix;

/// With more tasks, the leaves keep the order of the joins: the optimal order takes cubic time.
const MAX_ORDERED_LEAVES: usize = 1000;

/// A tree of tasks: leaves are 0..n, join i is node n + i.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) n: usize,
    /// Two nodes and their distance, from the closest to the farthest.
    pub(crate) joins: Vec<(usize, usize, f64)>,
}

/// The distance between tasks, 1 - |correlation|: opposite tasks are related too.
pub fn distances(correlation: &Matrix) -> Matrix {
    let mut d = correlation.clone();
    d.as_mut_slice().iter_mut().for_each(|c| *c = 1.0 - c.abs());
    d
}

/// The distance between tasks, 1 - correlation: opposite tasks are the farthest apart.
pub fn signed_distances(correlation: &Matrix) -> Matrix {
    let mut d = correlation.clone();
    d.as_mut_slice().iter_mut().for_each(|c| *c = 1.0 - *c);
    d
}

impl Tree {
    /// Average linkage: joins the two closest clusters, by the mean distance between their members, until one is left.
    pub fn new(distance: &Matrix) -> Tree {
        let n = distance.rows();
        // Kodama takes the upper triangle, row by row, and does not accept NaN.
        let pairs = (0..n).flat_map(|r| (r + 1..n).map(move |s| (r, s)));
        let mut condensed: Vec<f64> =
            pairs.map(|pair| if distance[pair].is_nan() { f64::MAX } else { distance[pair] }).collect();
        let linked = kodama::linkage(&mut condensed, n, kodama::Method::Average);
        let join = |step: &kodama::Step<f64>| (step.cluster1, step.cluster2, step.dissimilarity);
        Tree { n, joins: linked.steps().iter().map(join).collect() }
    }

    /// Two nodes and their distance for each join, from the closest to the farthest.
    pub fn joins(&self) -> &[(usize, usize, f64)] {
        &self.joins
    }

    /// The same tree for tasks in another order: task `order[i]` becomes task `i`.
    #[must_use]
    pub fn renumbered(&self, order: &[usize]) -> Tree {
        let mut name: Vec<usize> = (0..self.n + self.joins.len()).collect();
        order.iter().enumerate().for_each(|(place, &leaf)| name[leaf] = place);
        let joins = self.joins.iter().map(|&(a, b, d)| (name[a], name[b], d)).collect();
        Tree { n: self.n, joins }
    }

    /// The cluster of each task if the tree is cut into `k` clusters, numbered in the order of their first tasks.
    pub fn cut(&self, k: usize) -> Vec<usize> {
        let mut leader: Vec<usize> = (0..self.n + self.joins.len()).collect();
        for (i, &(a, b, _)) in self.joins.iter().enumerate().take(self.n.saturating_sub(k.max(1))) {
            leader[a] = self.n + i;
            leader[b] = self.n + i;
        }
        let top = |mut node: usize| {
            while leader[node] != node {
                node = leader[node];
            }
            node
        };
        let mut seen: Vec<usize> = vec![];
        let number = |t: usize| {
            let node = top(t);
            seen.iter().position(|s| *s == node).unwrap_or_else(|| {
                seen.push(node);
                seen.len() - 1
            })
        };
        (0..self.n).map(number).collect()
    }

    /// The tasks of each cluster if joins beyond this distance are cut, from the largest cluster to the smallest.
    pub fn groups(&self, most: f64) -> Vec<Vec<usize>> {
        let joined = self.joins.iter().filter(|(_, _, distance)| *distance <= most).count();
        self.in_clusters(self.n - joined)
    }

    /// The tasks of each of `k` clusters, from the largest to the smallest.
    pub fn in_clusters(&self, k: usize) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![vec![]; k.min(self.n)];
        for (task, group) in self.cut(k).into_iter().enumerate() {
            groups[group].push(task);
        }
        // Stable: of equal sizes, the one with the first task comes first.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }

    /// The optimal order of the leaves (Bar-Joseph, Gifford and Jaakkola 2001): of all orders that swap the two
    /// sides of joins, the one with the smallest sum of distances between neighbours.
    pub fn order(&self, distance: &Matrix) -> Vec<usize> {
        if self.n < 2 {
            return (0..self.n).collect();
        }
        let leaves = self.leaves();
        if self.n > MAX_ORDERED_LEAVES {
            return leaves[self.n + self.joins.len() - 1].clone();
        }
        // best[(u, w)]: least cost of the smallest subtree with both leaves, u at one end and w at the other.
        let mut best = Matrix::zeros(self.n, self.n);
        for &(a, b, _) in &self.joins {
            let (left, right) = (&leaves[a], &leaves[b]);
            let inner = |side: usize, leaf: usize| self.inner_ends(&leaves, side, leaf);
            for &u in left {
                let ends = inner(a, u);
                let reach = |k: usize| least(ends.iter().map(|&m| best[(u, m)] + distance[(m, k)]));
                let bridge: Vec<(usize, f64)> = right.iter().map(|&k| (k, reach(k))).collect();
                let mut cost_of = vec![f64::INFINITY; self.n];
                bridge.iter().for_each(|&(k, cost)| cost_of[k] = cost);
                for &w in right {
                    let ends = inner(b, w);
                    let cost = least(ends.iter().map(|&k| cost_of[k] + best[(k, w)]));
                    best[(u, w)] = cost;
                    best[(w, u)] = cost;
                }
            }
        }
        let root = self.n + self.joins.len() - 1;
        let (a, b, _) = self.joins[root - self.n];
        let pairs = leaves[a].iter().flat_map(|&u| leaves[b].iter().map(move |&w| (u, w)));
        let ends = pairs.min_by(|p, q| best[*p].total_cmp(&best[*q])).unwrap_or((0, 0));
        let mut order = Vec::with_capacity(self.n);
        self.lay_out(root, ends, &leaves, &best, distance, &mut order);
        // Of the two directions, the one that begins with the smaller number.
        if order.first() > order.last() {
            order.reverse();
        }
        order
    }

    /// The leaves of every node.
    fn leaves(&self) -> Vec<Vec<usize>> {
        let mut leaves: Vec<Vec<usize>> = (0..self.n).map(|t| vec![t]).collect();
        for &(a, b, _) in &self.joins {
            leaves.push([&leaves[a][..], &leaves[b][..]].concat());
        }
        leaves
    }

    /// The leaves that can be at the other end of a node if `leaf` is at one end: those of the child without it.
    fn inner_ends<'a>(&self, leaves: &'a [Vec<usize>], node: usize, leaf: usize) -> &'a [usize] {
        if node < self.n {
            return &leaves[node];
        }
        let (a, b, _) = self.joins[node - self.n];
        if leaves[a].contains(&leaf) { &leaves[b] } else { &leaves[a] }
    }

    /// Appends the leaves of a node with these two ends.
    fn lay_out(
        &self,
        node: usize,
        (u, w): (usize, usize),
        leaves: &[Vec<usize>],
        best: &Matrix,
        distance: &Matrix,
        order: &mut Vec<usize>,
    ) {
        if node < self.n {
            order.push(node);
            return;
        }
        let (a, b, _) = self.joins[node - self.n];
        let (a, b) = if leaves[a].contains(&u) { (a, b) } else { (b, a) };
        let (from, to) = (self.inner_ends(leaves, a, u), self.inner_ends(leaves, b, w));
        let pairs = from.iter().flat_map(|&m| to.iter().map(move |&k| (m, k)));
        let cost = |&(m, k): &(usize, usize)| best[(u, m)] + distance[(m, k)] + best[(k, w)];
        let (m, k) = pairs.min_by(|p, q| cost(p).total_cmp(&cost(q))).unwrap_or((u, w));
        self.lay_out(a, (u, m), leaves, best, distance, order);
        self.lay_out(b, (k, w), leaves, best, distance, order);
    }
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// The adjusted Rand index of two clusterings: 1 if they are the same, about 0 if they agree by chance.
pub fn adjusted_rand_index(one: &[usize], other: &[usize]) -> f64 {
    let pairs = || (0..one.len()).flat_map(|r| (0..r).map(move |s| (r, s)));
    let (mut in_one, mut in_other, mut in_both) = (0.0, 0.0, 0.0);
    for (r, s) in pairs() {
        let (a, b) = (one[r] == one[s], other[r] == other[s]);
        in_one += f64::from(a);
        in_other += f64::from(b);
        in_both += f64::from(a && b);
    }
    let by_chance = in_one * in_other / (pairs().count() as f64).max(1.0);
    let most = 0.5 * (in_one + in_other);
    // Everything together or everything apart, in both: they agree.
    if most == by_chance { 1.0 } else { (in_both - by_chance) / (most - by_chance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances between points on a line.
    fn line(points: &[f64]) -> Matrix {
        let n = points.len();
        let d = (0..n * n).map(|i| (points[i / n] - points[i % n]).abs()).collect();
        Matrix::from_vec(d, n, n).unwrap()
    }

    #[test]
    fn groups_are_cut_by_distance() {
        let tree = Tree::new(&line(&[5.0, 1.1, 9.0, 1.0, 5.3, 5.1]));
        assert_eq!(tree.groups(0.5), [vec![0, 4, 5], vec![1, 3], vec![2]]);
        assert_eq!(tree.groups(0.0).len(), 6);
        assert_eq!(tree.groups(f64::INFINITY), [vec![0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn points_on_a_line_are_put_in_order() {
        let points = [5.0, 1.1, 9.0, 1.0, 5.3, 2.0, 9.4, 5.1];
        let d = line(&points);
        let order = Tree::new(&d).order(&d);
        let mut placed: Vec<f64> = order.iter().map(|&i| points[i]).collect();
        if placed[0] > placed[7] {
            placed.reverse();
        }
        assert!(placed.is_sorted(), "{placed:?}");
    }

    #[test]
    fn a_cut_finds_the_groups() {
        let d = line(&[0.0, 10.0, 0.1, 20.0, 10.2, 0.3]);
        let tree = Tree::new(&d);
        assert_eq!(tree.cut(3), [0, 1, 0, 2, 1, 0]);
        assert_eq!(tree.cut(1), [0; 6]);
        assert_eq!(tree.cut(6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(tree.cut(99), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn joins_are_those_of_scipy() {
        // scipy.cluster.hierarchy.linkage(squareform(d), "average") gives these heights.
        let d = line(&[0.0, 1.0, 3.0, 7.0, 10.0]);
        let heights: Vec<f64> = Tree::new(&d).joins.iter().map(|join| join.2).collect();
        let expected = [1.0, 2.5, 3.0, 43.0 / 6.0];
        assert!(heights.iter().zip(expected).all(|(h, e)| (h - e).abs() < 1e-14), "{heights:?}");
    }

    #[test]
    fn ties_and_small_numbers_do_no_harm() {
        for n in 0..5 {
            let d = Matrix::zeros(n, n);
            let tree = Tree::new(&d);
            let mut order = tree.order(&d);
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>());
            assert_eq!(tree.cut(1).len(), n);
        }
    }

    #[test]
    fn no_turning_of_joins_improves_the_order() {
        // A tree of four leaves has eight orders; all are tried.
        let points = [(0.0, 0.0), (1.0, 0.2), (0.1, 2.0), (1.3, 2.1)];
        let n = points.len();
        let between = |i: usize, j: usize| {
            let (a, b): ((f64, f64), (f64, f64)) = (points[i], points[j]);
            (a.0 - b.0).hypot(a.1 - b.1)
        };
        let d = Matrix::from_vec((0..n * n).map(|i| between(i / n, i % n)).collect(), n, n).unwrap();
        let length = |order: &[usize]| order.windows(2).map(|w| d[(w[0], w[1])]).sum::<f64>();
        let found = length(&Tree::new(&d).order(&d));
        for (a, b) in [([0, 1], [2, 3]), ([1, 0], [2, 3]), ([0, 1], [3, 2]), ([1, 0], [3, 2])] {
            assert!(found <= length(&[a, b].concat()) + 1e-12);
            assert!(found <= length(&[b, a].concat()) + 1e-12);
        }
    }

    #[test]
    fn agreement_is_one_for_the_same_and_near_zero_by_chance() {
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[5, 5, 2, 2]), 1.0);
        // sklearn.metrics.adjusted_rand_score([0, 0, 1, 2], [0, 0, 1, 1])
        assert!((adjusted_rand_index(&[0, 0, 1, 2], &[0, 0, 1, 1]) - 0.571_428_571_428_571_4).abs() < 1e-15);
        assert_eq!(adjusted_rand_index(&[0, 1, 2], &[0, 1, 2]), 1.0);
        assert_eq!(adjusted_rand_index(&[], &[]), 1.0);
    }
}
