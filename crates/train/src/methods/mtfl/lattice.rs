//! The lattice of all groups of tasks, and its norm.

use kinfolk::Matrix;

/// Parameters of the lattice: `mu` is the closeness within a group, a group of m tasks has weight `b^m`, and
/// `apart` says whether single tasks have their own term in the norm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice {
    pub(super) n_tasks: usize,
    pub(super) mu: f64,
    pub(super) b: f64,
    pub(super) apart: bool,
}

impl Lattice {
    /// The weight of a node in the norm. If single tasks have their own term, groups share a budget of one
    /// for each task.
    pub(super) fn cost(&self, group: &[usize]) -> f64 {
        self.b.powi(group.len() as i32) / if group.len() > 1 { self.budget().sqrt() } else { 1.0 }
    }

    fn budget(&self) -> f64 {
        if self.apart { self.n_tasks as f64 } else { 1.0 }
    }

    /// The number of nodes, from the first on, whose gamma is fixed at one: the single tasks if they have
    /// their own term.
    pub(super) fn given(&self) -> usize {
        if self.apart { self.n_tasks } else { 0 }
    }

    /// The weight of every single task before there are groups.
    pub(super) fn first_weight(&self) -> f64 {
        if self.apart { 1.0 } else { (self.n_tasks as f64).recip() }
    }

    /// `<Th_w, R>`.
    pub(super) fn size(&self, group: &[usize], gram: &Matrix) -> f64 {
        let all: f64 = group.iter().flat_map(|&r| group.iter().map(move |&s| gram[(r, s)])).sum();
        let own: f64 = group.iter().map(|&r| gram[(r, r)]).sum();
        (all / self.mu + own).max(0.0)
    }

    /// The squared dual norm of a group alone. If it is larger than the dual norm so far, using the group
    /// helps.
    pub(super) fn gain(&self, group: &[usize], gram: &Matrix) -> f64 {
        self.size(group, gram) / self.cost(group).powi(2)
    }

    /// An upper bound on the dual norm of all supersets of a group, in closed form.
    pub(super) fn bound(&self, group: &[usize], gram: &Matrix) -> f64 {
        let z = (1.0 + self.b).powi(-2);
        let share = |r: usize| if group.contains(&r) { 1.0 } else { z / (1.0 + z) };
        let (mut all, mut own) = (0.0, 0.0);
        for r in 0..self.n_tasks {
            own += gram[(r, r)] * share(r);
            for s in (0..self.n_tasks).filter(|&s| s != r) {
                all += gram[(r, s)] * share(r) * share(s);
            }
        }
        let others = (self.n_tasks - group.len()) as i32;
        let scale = self.cost(group).powi(-2) * (1.0 + z).powi(others);
        scale * ((all + own) / self.mu + own).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_all_supersets_is_their_sum() {
        let t = 5;
        let mut gram = Matrix::zeros(t, t);
        for r in 0..t {
            for s in 0..t {
                let product: f64 =
                    (0..3).map(|i| ((r * 3 + i) as f64).sin() * ((s * 3 + i) as f64).sin()).sum();
                gram[(r, s)] = product;
            }
        }
        for (apart, group) in
            [(false, vec![1]), (false, vec![0, 3]), (true, vec![0, 3]), (true, vec![0, 2, 4])]
        {
            let lattice = Lattice { n_tasks: t, mu: 0.7, b: 1.8, apart };
            let mut sum = 0.0;
            for mask in 0u32..1 << t {
                let superset: Vec<usize> = (0..t).filter(|&task| mask >> task & 1 == 1).collect();
                if !group.iter().all(|task| superset.contains(task)) {
                    continue;
                }
                // Sum of b^|v| over all v between the group and the superset.
                let between = superset.len() - group.len();
                let costs = lattice.cost(&group) * (1.0 + lattice.b).powi(between as i32);
                sum += lattice.size(&superset, &gram) / (costs * costs);
            }
            assert!((lattice.bound(&group, &gram) - sum).abs() < 1e-12 * sum);
        }
    }
}
