//! A tree as it is drawn.

use crate::cluster::Tree;

/// Height of the first join as it is drawn: what all pairs have in distance would leave no room for differences.
const STEM: f64 = 0.15;

/// A join as it is drawn: from two nodes up to where they meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// One node.
    pub a: End,
    /// The other.
    pub b: End,
    /// Where they meet, from 0 at the leaves to 1 at the root.
    pub height: f64,
}

/// A node as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Its place among the leaves; between two of them for a join.
    pub place: f64,
    /// From 0 at the leaves to 1 at the root.
    pub height: f64,
}

impl Tree {
    /// The joins as brackets over the leaves in this order; heights tell the distances between the first join and the last.
    pub fn brackets(&self, order: &[usize]) -> Vec<Bracket> {
        let (lowest, highest) = match (self.joins.first(), self.joins.last()) {
            (Some(first), Some(last)) => (first.2, last.2),
            _ => (0.0, 0.0),
        };
        let span = highest - lowest;
        let share =
            |height: f64| if span > 0.0 { STEM + (1.0 - STEM) * (height - lowest) / span } else { 1.0 };
        let mut nodes = vec![End { place: 0.0, height: 0.0 }; self.n];
        for (place, &leaf) in order.iter().enumerate() {
            nodes[leaf].place = place as f64;
        }
        let mut brackets = vec![];
        for &(a, b, height) in &self.joins {
            let (a, b, height) = (nodes[a], nodes[b], share(height));
            nodes.push(End { place: 0.5 * (a.place + b.place), height });
            brackets.push(Bracket { a, b, height });
        }
        brackets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::Matrix;

    #[test]
    fn brackets_stand_over_their_leaves() {
        let d = Matrix::from_vec(vec![0.0, 10.0, 1.0, 10.0, 0.0, 9.0, 1.0, 9.0, 0.0], 3, 3).unwrap();
        let brackets = Tree::new(&d).brackets(&[0, 2, 1]);
        assert_eq!((brackets[0].a.place, brackets[0].b.place), (0.0, 1.0));
        assert_eq!((brackets[1].height, brackets[1].a.place + brackets[1].b.place), (1.0, 2.5));
        assert_eq!(brackets[0].height, STEM);
    }
}
