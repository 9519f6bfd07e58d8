//! Rows that differ from each other, in an order that only their contents decide.
//!
//! Folds of these rows do not depend on the order of the rows in a file, and a row with weight 2 is in the same fold as
//! two equal rows are, so that it means the same in the choice of C.

use crate::Result;
use crate::select::{Study, StudyRows};
use kinfolk::{Inputs, Observations};
use kinfolk_io::FoldKeys;
use std::cmp::Ordering;
use std::iter::Peekable;

/// Some rows of a study: of equal rows the first, with the weight of all of them. Rows of a Gram matrix are as they
/// are: their contents depend on the order.
pub(super) fn distinct_rows(study: &Study<'_>, rows: &[u32]) -> Result<StudyRows> {
    let (inputs, observations) = (study.inputs, study.observations);
    if matches!(inputs, Inputs::Gram(_)) {
        return StudyRows::new(study, rows);
    }
    let compare = |a: &u32, b: &u32| {
        let (a, b) = (*a as usize, *b as usize);
        let keys = study.fold_keys.as_ref().map_or(Ordering::Equal, |keys| compare_keys(keys, a, b));
        keys.then_with(|| compare_inputs(inputs, a, b)).then_with(|| compare_observations(observations, a, b))
    };
    let mut sorted = rows.to_vec();
    // Stable: of equal rows, the first in the file comes first.
    sorted.sort_by(compare);
    let equal: Vec<&[u32]> = sorted.chunk_by(|a, b| compare(a, b).is_eq()).collect();
    let first: Vec<u32> = equal.iter().map(|rows| rows[0]).collect();
    let kept = StudyRows::new(study, &first)?;
    if first.len() == rows.len() {
        return Ok(kept);
    }
    let times: Vec<f64> = equal.iter().flat_map(|rows| repetitions(observations, rows)).collect();
    kept.repeated(&times)
}

/// For each observation of the first of some equal rows, the weight of all of them in units of its own.
fn repetitions(observations: &Observations, rows: &[u32]) -> Vec<f64> {
    let weights = |row: u32| observations.of_input(row as usize).map(|o| observations.weight(o));
    let mut sums: Vec<f64> = weights(rows[0]).collect();
    for &row in &rows[1..] {
        sums.iter_mut().zip(weights(row)).for_each(|(sum, weight)| *sum += weight);
    }
    let in_units = |(sum, own): (&f64, f64)| if own > 0.0 { sum / own } else { 1.0 };
    sums.iter().zip(weights(rows[0])).map(in_units).collect()
}

/// Rows of different groups or times are different, whatever else is in them.
fn compare_keys(keys: &FoldKeys, a: usize, b: usize) -> Ordering {
    match keys {
        FoldKeys::Groups(group) => group.index[a].cmp(&group.index[b]),
        FoldKeys::Times(time) => time[a].total_cmp(&time[b]),
    }
}

fn compare_inputs(inputs: &Inputs<'_>, a: usize, b: usize) -> Ordering {
    match inputs {
        Inputs::Dense(x) => {
            let features = (0..x.cols()).map(|j| x.get(a, j).total_cmp(&x.get(b, j)));
            first_difference(features)
        }
        Inputs::Sparse(x) => compare_sparse(x.row(a).peekable(), x.row(b).peekable()),
        _ => a.cmp(&b),
    }
}

/// As dense rows compare: what is not stored is zero.
fn compare_sparse<R: Iterator<Item = (usize, f64)>>(mut a: Peekable<R>, mut b: Peekable<R>) -> Ordering {
    loop {
        let next = [a.peek(), b.peek()].into_iter().flatten().map(|(feature, _)| *feature).min();
        let Some(next) = next else { return Ordering::Equal };
        let value =
            |row: &mut Peekable<R>| row.next_if(|(feature, _)| *feature == next).map_or(0.0, |entry| entry.1);
        let order = value(&mut a).total_cmp(&value(&mut b));
        if order.is_ne() {
            return order;
        }
    }
}

fn compare_observations(observations: &Observations, a: usize, b: usize) -> Ordering {
    let own = |row: usize| observations.of_input(row);
    let each = own(a).zip(own(b)).map(|(p, q)| {
        let (label, offset) = (observations.label(p), observations.offset(p));
        let counts = |o: usize| observations.weight(o) > 0.0;
        observations
            .task(p)
            .cmp(&observations.task(q))
            .then(label.total_cmp(&observations.label(q)))
            .then(offset.total_cmp(&observations.offset(q)))
            .then(counts(p).cmp(&counts(q)))
    });
    first_difference(each).then(own(a).count().cmp(&own(b).count()))
}

fn first_difference(mut parts: impl Iterator<Item = Ordering>) -> Ordering {
    parts.find(|part| part.is_ne()).unwrap_or(Ordering::Equal)
}
