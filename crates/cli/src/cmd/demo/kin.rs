//! Who is kin to whom, as found and as it is.

use super::world::Truth;
use kinfolk::Model;
use kinfolk_report::{Tree, adjusted_rand_index, distances};

/// Groups of tasks.
pub(super) struct Kin {
    /// Tasks, kin beside kin.
    pub(super) order: Vec<usize>,
    pub(super) tree: Tree,
    /// Against the truth, where that is known.
    pub(super) groups: Option<Groups>,
}

/// Clusters of Theta, as many as there are true groups.
pub(super) struct Groups {
    /// Cluster of each task.
    pub(super) found: Vec<usize>,
    pub(super) agreement: f64,
    /// Mean correlation of tasks of the same true group, and of others.
    pub(super) between_kin: f64,
    pub(super) between_others: f64,
}

pub(super) fn look(model: &Model, truth: Option<&Truth>) -> Kin {
    let correlation = model.correlation();
    let d = distances(&correlation);
    let tree = Tree::new(&d);
    let groups = truth.map(|truth| {
        let found = tree.cut(truth.n_groups);
        let t = truth.group.len();
        let mean = |kin: bool| {
            let pairs = (0..t).flat_map(|r| (0..r).map(move |s| (r, s)));
            let chosen: Vec<f64> = pairs
                .filter(|&(r, s)| (truth.group[r] == truth.group[s]) == kin)
                .map(|pair| correlation[pair])
                .collect();
            chosen.iter().sum::<f64>() / chosen.len().max(1) as f64
        };
        Groups {
            agreement: adjusted_rand_index(&found, &truth.group),
            found,
            between_kin: mean(true),
            between_others: mean(false),
        }
    });
    Kin { order: tree.order(&d), tree, groups }
}
