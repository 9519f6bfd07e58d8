//! Metrics of one of many classes.

use crate::Matrix;

/// Share of the rows whose own class has the highest score; `scores` is rows x classes. Of equal scores the
/// first class is taken to be the highest.
pub fn class_accuracy(classes: &[u32], scores: &Matrix, weights: Option<&[f64]>) -> Option<f64> {
    top_k_accuracy(1, classes, scores, weights)
}

/// Share of the rows whose own class is among the k highest scores. Of equal scores those of the first
/// classes are taken to be higher. A class beyond the last column is never among them.
pub fn top_k_accuracy(k: usize, classes: &[u32], scores: &Matrix, weights: Option<&[f64]>) -> Option<f64> {
    assert_eq!(classes.len(), scores.rows(), "a row of scores for each class");
    if let Some(weights) = weights {
        assert_eq!(classes.len(), weights.len(), "a weight for each class");
    }
    let (mut right, mut total) = (0.0, 0.0);
    for (i, &class) in classes.iter().enumerate() {
        let (row, weight) = (scores.row(i), weights.map_or(1.0, |weights| weights[i]));
        if weight == 0.0 {
            continue;
        }
        if weight.is_nan() || row.iter().any(|score| score.is_nan()) {
            return None;
        }
        total += weight;
        if place(row, class as usize).is_some_and(|place| place < k) {
            right += weight;
        }
    }
    (total > 0.0).then(|| right / total)
}

/// How many classes come before this one.
fn place(scores: &[f64], class: usize) -> Option<usize> {
    let own = *scores.get(class)?;
    Some(scores.iter().enumerate().filter(|&(c, &s)| s > own || (s == own && c < class)).count())
}
