//! Columns that do not change within any task: a free intercept says the same.

use crate::{FitSpec, Training};
use kinfolk::{Inputs, Intercept, Kernel, Observations};
use kinfolk_io::{Feature, Schema};

/// What a relation of tasks that a column of the data tells begins with. Callers that know the file put its name in
/// place of `DATA`.
pub const DATA_GROUPS: &str = "groups=DATA:";

/// Names given in a note; the others are counted.
const MAX_NAMES: usize = 8;

/// A sentence about features that change from task to task but not within any, such as the size of a shop where shops
/// are tasks; `None` if there are none. For a linear kernel with free intercepts: `w x + b` is the same for all `w` if
/// `b` makes up for it, and `w = 0` costs least.
pub(crate) fn note(training: &Training<'_>, spec: &FitSpec) -> Option<String> {
    let (kernel, intercept) = (spec.kernel.as_ref(), spec.intercept());
    let observations = &*training.observations;
    let is_linear = kernel.is_none_or(|kernel| *kernel == Kernel::Linear);
    // Tasks that share their rows have the same columns.
    let has_own_rows = observations.len() <= observations.n_inputs() && observations.n_tasks() > 1;
    if intercept != Intercept::Free || !is_linear || !has_own_rows {
        return None;
    }
    let silent = silent_features(&training.inputs, observations);
    let mut names = names(&training.schema, &silent);
    let (n, words) = (names.len(), words(&training.schema, &names));
    names.truncate(MAX_NAMES);
    let more = if n > MAX_NAMES { format!(" and {} more", n - MAX_NAMES) } else { String::new() };
    let (columns, they, have) = match n {
        0 => return None,
        1 => ("column does", "its", "it has"),
        _ => ("columns do", "their", "they have"),
    };
    let relation = words.first().filter(|_| spec.atoms.is_empty()).map_or(String::new(), |word| {
        let atom = format!("{DATA_GROUPS}{word}");
        format!("; if it groups the tasks, --atom {atom:?} makes a known relation of it")
    });
    Some(format!(
        "{n} {columns} not change within any task: the intercept of each task takes {they} place, and {have} no effect \
         (--intercept ridge:1 penalises intercepts): {}{more}{relation}",
        names.join(", ")
    ))
}

/// Those of these columns that hold words.
fn words<'a>(schema: &'a Schema, silent: &[String]) -> Vec<&'a str> {
    let features = schema.features.iter().flatten();
    let words = features.filter(|feature| matches!(feature, Feature::OneHot { .. })).map(Feature::column);
    words.filter(|column| silent.iter().any(|name| *name == format!("{column:?}"))).collect()
}

/// Which features are the same in all rows of each task, and not the same in all rows.
fn silent_features(inputs: &Inputs<'_>, observations: &Observations) -> Vec<bool> {
    let d = inputs.n_features();
    let mut first_of: Vec<Option<usize>> = vec![None; observations.n_tasks()];
    let (mut is_same, mut changes) = (vec![true; d], vec![false; d]);
    let mut has_several_rows = false;
    let mut left = d;
    for i in 0..observations.n_inputs() {
        let Some(o) = observations.of_input(i).next() else { continue };
        let first = *first_of[observations.task(o)].get_or_insert(i);
        if first != i {
            has_several_rows = true;
            for j in differences(inputs, first, i, &is_same) {
                left -= usize::from(is_same[j]);
                is_same[j] = false;
            }
            if left == 0 {
                break;
            }
        }
    }
    if !has_several_rows || left == 0 {
        return vec![false; d];
    }
    let firsts: Vec<usize> = first_of.into_iter().flatten().collect();
    for pair in firsts.windows(2) {
        differences(inputs, pair[0], pair[1], &is_same).into_iter().for_each(|j| changes[j] = true);
    }
    is_same.iter().zip(&changes).map(|(same, changes)| *same && *changes).collect()
}

/// Features of interest in which two rows differ.
fn differences(inputs: &Inputs<'_>, a: usize, b: usize, interest: &[bool]) -> Vec<usize> {
    match inputs {
        Inputs::Dense(x) => (0..x.cols()).filter(|&j| interest[j] && x.get(a, j) != x.get(b, j)).collect(),
        Inputs::Sparse(x) => {
            // An entry that both rows have is there twice, and does not count if it is the same.
            let mut entries: Vec<(usize, f64)> = x.row(a).chain(x.row(b)).collect();
            entries.sort_by_key(|entry| entry.0);
            let differ = |same: &[(usize, f64)]| match same {
                [(_, one), (_, other)] => one != other,
                other => other.iter().any(|(_, value)| *value != 0.0),
            };
            let by_feature = entries.chunk_by(|one, other| one.0 == other.0);
            by_feature.filter(|same| differ(same)).map(|same| same[0].0).collect()
        }
        _ => (0..interest.len()).collect(),
    }
}

/// Columns all of whose features are silent, or numbers of features without names.
fn names(schema: &Schema, silent: &[bool]) -> Vec<String> {
    let Some(features) = &schema.features else {
        return (0..silent.len()).filter(|&j| silent[j]).map(|j| format!("feature {j}")).collect();
    };
    let mut first = 0;
    let mut found = vec![];
    for feature in features {
        let width = feature.names().len();
        if silent[first..first + width].iter().all(|is| *is) && width > 0 {
            found.push(format!("{:?}", Feature::column(feature)));
        }
        first += width;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::{Dense, Sparse};

    /// Feature 0 changes in a task, 1 from task to task only, 2 never, 3 from task to task and is 0 in one.
    #[test]
    fn features_are_silent_if_they_change_between_tasks_only() {
        let rows = [[1.0, 5.0, 7.0, 0.0], [2.0, 5.0, 7.0, 0.0], [1.0, 6.0, 7.0, 3.0], [1.0, 6.0, 7.0, 3.0]];
        let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let dense = Inputs::from(Dense::f64_owned(rows.concat(), 4, 4).unwrap());
        let expected = [false, true, false, true];
        assert_eq!(silent_features(&dense, &observations), expected);
        let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for row in rows {
            for (j, value) in row.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                columns.push(j as u32);
                values.push(value);
            }
            starts.push(values.len());
        }
        let sparse = Inputs::from(Sparse::f64(starts, columns, values, 4).unwrap());
        assert_eq!(silent_features(&sparse, &observations), expected);
        // With one row in each task, nothing can be said.
        let single = Observations::multi_task(&[0, 1, 2, 3], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(silent_features(&dense, &single), [false; 4]);
    }
}
