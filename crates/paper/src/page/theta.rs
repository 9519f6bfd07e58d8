//! Pictures of Theta, and two numbers for each: how sparse it is, and how much of it lies inside the true
//! groups.

use super::{Page, slug};
use crate::experiment::{Experiment, Set};
use crate::stats::MeanAndSpread;
use crate::{Record, Result};
use kinfolk::Matrix;
use kinfolk_report::{HeatMap, Tree, distances};
use std::fmt::Write;

/// Entries below this share of the largest one count as nothing.
const SMALL_ENTRY_SHARE: f64 = 0.05;

pub(super) fn section(
    experiment: &Experiment,
    records: &[Record],
    text: &mut String,
    page: &mut Page,
) -> Result<()> {
    for set in &experiment.sets {
        let of_set: Vec<&Record> =
            records.iter().filter(|r| r.set == set.name && !r.theta.is_empty()).collect();
        if of_set.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n### {}\n\n{}\n", set.name, set.note);
        let _ = writeln!(
            text,
            "| | score | sparsity | below {:.0} % of the largest | inside over outside |\n|---|---|---|---|---|",
            100.0 * SMALL_ENTRY_SHARE
        );
        let mut shown = String::new();
        for method in &experiment.methods {
            let own: Vec<&&Record> = of_set.iter().filter(|r| r.method == method.label).collect();
            let Some(first) = own.first() else { continue };
            let matrices: Vec<Matrix> = own.iter().map(|r| sizes(&r.theta)).collect::<Result<_>>()?;
            row(set, &method.label, &own, &matrices, text);
            let name = format!("theta-{}-{}.svg", slug(&set.name), slug(&method.label));
            let svg = drawn(set, &method.label, first, &average(&matrices))?;
            let alt = format!("|Theta| for {}, {}", set.name, method.label);
            page.show(name, svg, &alt, &mut shown);
        }
        text.push_str(
            "\nMeans and standard deviations over splits, of the entries beside the diagonal. Sparsity is \
             Hoyer's: 0 if \
             all entries are equal, 1 if all but one are zero.\n",
        );
        text.push_str(&shown);
    }
    Ok(())
}

/// |Theta|.
fn sizes(theta: &[Vec<f64>]) -> Result<Matrix> {
    let values = theta.iter().flatten().map(|x| x.abs()).collect();
    Ok(Matrix::from_vec(values, theta.len(), theta.len())?)
}

fn average(matrices: &[Matrix]) -> Matrix {
    let mut mean = matrices[0].clone();
    for other in &matrices[1..] {
        mean.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(m, x)| *m += x);
    }
    mean.as_mut_slice().iter_mut().for_each(|m| *m /= matrices.len() as f64);
    mean
}

/// Entries beside the diagonal, each pair once.
fn pairs(m: &Matrix) -> Vec<((usize, usize), f64)> {
    (0..m.rows()).flat_map(|r| (0..r).map(move |s| ((r, s), m[(r, s)]))).collect()
}

/// Hoyer's measure: `(sqrt(n) - |x|_1 / |x|_2) / (sqrt(n) - 1)`.
fn sparsity(m: &Matrix) -> Option<f64> {
    let values: Vec<f64> = pairs(m).into_iter().map(|(_, x)| x).collect();
    let root = (values.len() as f64).sqrt();
    let (sum, square): (f64, f64) = (values.iter().sum(), values.iter().map(|x| x * x).sum());
    (square > 0.0 && root > 1.0).then(|| (root - sum / square.sqrt()) / (root - 1.0))
}

fn share_of_small(m: &Matrix) -> Option<f64> {
    let largest = m.as_slice().iter().fold(0.0f64, |most, x| most.max(*x));
    let all = pairs(m);
    (largest > 0.0 && !all.is_empty()).then(|| {
        all.iter().filter(|(_, x)| *x < SMALL_ENTRY_SHARE * largest).count() as f64 / all.len() as f64
    })
}

/// Mean inside the true groups over mean outside; every entry over the root of the product of its diagonal
/// entries, lest large tasks count for more.
fn contrast(m: &Matrix, groups: &[usize]) -> Option<f64> {
    let group_of: Vec<usize> =
        groups.iter().enumerate().flat_map(|(g, &n)| std::iter::repeat_n(g, n)).collect();
    if group_of.len() != m.rows() {
        return None;
    }
    let scaled = |(r, s): (usize, usize), x: f64| x / (m[(r, r)] * m[(s, s)]).sqrt();
    let mean = |inside: bool| {
        let own: Vec<f64> = pairs(m)
            .into_iter()
            .filter(|((r, s), _)| (group_of[*r] == group_of[*s]) == inside && m[(*r, *r)] * m[(*s, *s)] > 0.0)
            .map(|(place, x)| scaled(place, x))
            .collect();
        MeanAndSpread::of(&own).map(|summary| summary.mean)
    };
    mean(true)
        .zip(mean(false))
        .filter(|(_, outside)| *outside > 0.0)
        .map(|(inside, outside)| inside / outside)
}

fn row(set: &Set, label: &str, records: &[&&Record], matrices: &[Matrix], text: &mut String) {
    let said = |values: Vec<f64>, digits: usize| {
        MeanAndSpread::of(&values)
            .map_or(String::new(), |s| format!("{:.digits$} ± {:.digits$}", s.mean, s.deviation))
    };
    let scores = records.iter().map(|r| 100.0 * r.score).collect();
    let _ = writeln!(
        text,
        "| {label} | {} | {} | {} | {} |",
        said(scores, 1),
        said(matrices.iter().filter_map(sparsity).collect(), 2),
        said(matrices.iter().filter_map(|m| share_of_small(m).map(|s| 100.0 * s)).collect(), 0),
        said(matrices.iter().filter_map(|m| contrast(m, &set.groups)).collect(), 2)
    );
}

/// With the true groups boxed, where they are known; else in the order of a tree, on a logarithmic scale.
fn drawn(set: &Set, label: &str, record: &Record, mean: &Matrix) -> Result<String> {
    if !set.groups.is_empty() && set.groups.iter().sum::<usize>() == mean.rows() {
        let title = format!("|Theta|, {}, {label}", set.name);
        let map = HeatMap::new(&title, &record.names, mean).with_blocks(set.groups.clone());
        return Ok(map.to_svg());
    }
    let title = format!("log(1 + 1000 |Theta| / largest), {}, {label}", set.name);
    // Theta over its largest entry: a thousandth of that is where the logarithm begins to bend.
    let logarithms = mean.as_slice().iter().map(|x| (1.0 + 1e3 * x).ln()).collect();
    let logarithms = Matrix::from_vec(logarithms, mean.rows(), mean.cols())?;
    let mut correlation = mean.clone();
    for r in 0..mean.rows() {
        for s in 0..mean.cols() {
            let scale = (mean[(r, r)] * mean[(s, s)]).sqrt();
            correlation[(r, s)] =
                if scale > 0.0 { mean[(r, s)] / scale } else { f64::from(u8::from(r == s)) };
        }
    }
    let d = distances(&correlation);
    let tree = Tree::new(&d);
    Ok(HeatMap::new(&title, &record.names, &logarithms).ordered(tree.order(&d)).with_tree(&tree).to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_seen_and_sparsity_is_between_none_and_all() {
        let mut m = Matrix::identity(4);
        for (r, s) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
            m[(r, s)] = 0.8;
        }
        for (r, s) in [(0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1), (1, 3), (3, 1)] {
            m[(r, s)] = 0.1;
        }
        assert!((contrast(&m, &[2, 2]).unwrap() - 8.0).abs() < 1e-12);
        assert_eq!(contrast(&m, &[2]), None);
        let all = Matrix::from_vec(vec![1.0; 9], 3, 3).unwrap();
        assert!(sparsity(&all).unwrap().abs() < 1e-12);
        let mut one = Matrix::identity(3);
        (one[(0, 1)], one[(1, 0)]) = (0.5, 0.5);
        assert!((sparsity(&one).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(share_of_small(&one), Some(2.0 / 3.0));
    }
}
