//! Groups in use: all subgroups of any of them are among them.

use std::collections::BTreeMap;

/// Groups are sorted lists of tasks.
#[derive(Debug)]
pub(super) struct Hull {
    n_tasks: usize,
    groups: Vec<Vec<usize>>,
    place: BTreeMap<Vec<usize>, usize>,
    /// Places of the subgroups of each, itself among them.
    below: Vec<Vec<usize>>,
    /// Groups not in use all of whose subgroups are.
    sources: Vec<Vec<usize>>,
}

impl Hull {
    /// Every task on its own.
    pub(super) fn of_single_tasks(n_tasks: usize) -> Self {
        let (groups, place, below, sources) = (vec![], BTreeMap::new(), vec![], vec![]);
        let mut hull = Hull { n_tasks, groups, place, below, sources };
        hull.extend((0..n_tasks).map(|task| vec![task]).collect());
        hull
    }

    pub(super) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    pub(super) fn below(&self) -> &[Vec<usize>] {
        &self.below
    }

    pub(super) fn sources(&self) -> &[Vec<usize>] {
        &self.sources
    }

    /// Takes some of the sources into use.
    pub(super) fn extend(&mut self, chosen: Vec<Vec<usize>>) {
        for group in chosen {
            self.place.insert(group.clone(), self.groups.len());
            let subgroups = (1u32..1 << group.len()).map(|mask| subgroup(&group, mask));
            self.below.push(subgroups.filter_map(|v| self.place.get(&v).copied()).collect());
            self.groups.push(group);
        }
        self.sources = self.groups.iter().flat_map(|group| self.larger(group)).collect();
    }

    /// Sources that are a group and one later task.
    fn larger(&self, group: &[usize]) -> Vec<Vec<usize>> {
        let with = |task: usize| [group, &[task]].concat();
        let is_source = |larger: &Vec<usize>| {
            let without = |leave: usize| [&larger[..leave], &larger[leave + 1..]].concat();
            !self.place.contains_key(larger) && (0..group.len()).all(|i| self.place.contains_key(&without(i)))
        };
        (group[group.len() - 1] + 1..self.n_tasks).map(with).filter(is_source).collect()
    }
}

/// The tasks of a group at the bits of a mask.
fn subgroup(group: &[usize], mask: u32) -> Vec<usize> {
    group.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &task)| task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_source_once_all_its_subgroups_are_in_use() {
        let mut hull = Hull::of_single_tasks(4);
        assert_eq!(hull.sources().len(), 6);
        hull.extend(vec![vec![0, 1], vec![1, 3]]);
        assert_eq!(hull.sources(), [vec![0, 2], vec![0, 3], vec![1, 2], vec![2, 3]]);
        hull.extend(vec![vec![0, 3]]);
        assert!(hull.sources().contains(&vec![0, 1, 3]) && !hull.sources().contains(&vec![0, 1, 2]));
        hull.extend(vec![vec![0, 1, 3]]);
        let below: Vec<&Vec<usize>> = hull.below()[7].iter().map(|&v| &hull.groups()[v]).collect();
        assert_eq!(below.len(), 7);
        assert!(below.contains(&&vec![1, 3]) && below.contains(&&vec![0, 1, 3]));
    }
}
