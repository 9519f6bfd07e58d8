//! The coordinates of a drawn tree.

use crate::cluster::Tree;

/// Height of the first join. Heights start here and not at the first distance itself, which is often most of the last
/// one and would leave no room for the differences.
const FIRST_HEIGHT: f64 = 0.15;

/// A join as it is drawn: from two nodes to where they meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// One node.
    pub a: BranchEnd,
    /// The other.
    pub b: BranchEnd,
    /// Where they meet, from 0 at the leaves to 1 at the root.
    pub height: f64,
}

/// A node as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchEnd {
    /// Its place among the leaves; for a join, halfway between those of its two nodes.
    pub place: f64,
    /// From 0 at the leaves to 1 at the root.
    pub height: f64,
}

impl Tree {
    /// The joins over the leaves in this order; heights follow the distances, from the first join to the last.
    pub fn branches(&self, order: &[usize]) -> Vec<Branch> {
        let (lowest, highest) = match (self.joins.first(), self.joins.last()) {
            (Some(first), Some(last)) => (first.2, last.2),
            _ => (0.0, 0.0),
        };
        let span = highest - lowest;
        let share = |height: f64| {
            if span > 0.0 { FIRST_HEIGHT + (1.0 - FIRST_HEIGHT) * (height - lowest) / span } else { 1.0 }
        };
        let mut nodes = vec![BranchEnd { place: 0.0, height: 0.0 }; self.n];
        for (place, &leaf) in order.iter().enumerate() {
            nodes[leaf].place = place as f64;
        }
        let mut branches = vec![];
        for &(a, b, height) in &self.joins {
            let (a, b, height) = (nodes[a], nodes[b], share(height));
            nodes.push(BranchEnd { place: 0.5 * (a.place + b.place), height });
            branches.push(Branch { a, b, height });
        }
        branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::Matrix;

    #[test]
    fn branches_are_placed_over_their_leaves() {
        let d = Matrix::from_vec(vec![0.0, 10.0, 1.0, 10.0, 0.0, 9.0, 1.0, 9.0, 0.0], 3, 3).unwrap();
        let branches = Tree::new(&d).branches(&[0, 2, 1]);
        assert_eq!((branches[0].a.place, branches[0].b.place), (0.0, 1.0));
        assert_eq!((branches[1].height, branches[1].a.place + branches[1].b.place), (1.0, 2.5));
        assert_eq!(branches[0].height, FIRST_HEIGHT);
    }
}
