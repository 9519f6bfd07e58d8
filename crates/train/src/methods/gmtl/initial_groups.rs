//! Groups of tasks whose weights point the same way.

use kinfolk::Matrix;

/// Average linkage of tasks by the angles between their weights, from `W'W`, until there are `most` groups.
/// Sizes do not matter, nor do signs: a subspace has none.
pub(super) fn groups(products: &Matrix, most: u32) -> Vec<u32> {
    let tasks = products.rows();
    let cosine = |r: usize, s: usize| {
        let size = (products[(r, r)] * products[(s, s)]).sqrt();
        if size > 0.0 { products[(r, s)].abs() / size } else { 0.0 }
    };
    let mut groups: Vec<Vec<usize>> = (0..tasks).map(|task| vec![task]).collect();
    while groups.len() > most as usize {
        let mean = |a: &[usize], b: &[usize]| {
            let sum: f64 = a.iter().flat_map(|&r| b.iter().map(move |&s| cosine(r, s))).sum();
            sum / (a.len() * b.len()) as f64
        };
        let mut best = (f64::NEG_INFINITY, 0, 1);
        for a in 0..groups.len() {
            for b in a + 1..groups.len() {
                let close = mean(&groups[a], &groups[b]);
                if close > best.0 {
                    best = (close, a, b);
                }
            }
        }
        let other = groups.remove(best.2);
        groups[best.1].extend(other);
    }
    let mut of_task = vec![0; tasks];
    for (g, group) in groups.iter().enumerate() {
        group.iter().for_each(|&task| of_task[task] = g as u32);
    }
    of_task
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_size_nor_sign_matters() {
        let w: [[f64; 2]; 5] = [[1.0, 0.1], [0.0, 0.01], [30.0, 1.0], [0.3, -1.5], [-1.0, 0.0]];
        let mut products = Matrix::zeros(5, 5);
        for r in 0..5 {
            for s in 0..5 {
                products[(r, s)] = w[r][0] * w[s][0] + w[r][1] * w[s][1];
            }
        }
        assert_eq!(groups(&products, 2), [0, 1, 0, 1, 0]);
        assert_eq!(groups(&products, 9), [0, 1, 2, 3, 4]);
    }
}
