//! Groups by moves of single tasks.

use crate::Result;
use kinfolk::Matrix;

/// Moves single tasks to the group where the sum of squared trace norms is least, until none moves. The sum
/// is concave in soft memberships, so hard ones lose nothing.
pub(super) fn regroup(products: &Matrix, mut groups: Vec<u32>, most: u32) -> Result<Vec<u32>> {
    let mut prices: Vec<f64> = (0..most).map(|g| price(products, &groups, g)).collect::<Result<_>>()?;
    loop {
        let mut moved = false;
        for task in 0..groups.len() {
            let own = groups[task];
            let mut best = (0.0, own, prices[own as usize], prices[own as usize]);
            let mut trial = groups.clone();
            trial[task] = u32::MAX;
            let without = price(products, &trial, own)?;
            for other in (0..most).filter(|&g| g != own) {
                trial[task] = other;
                let with = price(products, &trial, other)?;
                let change = without + with - prices[own as usize] - prices[other as usize];
                if change < best.0 {
                    best = (change, other, without, with);
                }
            }
            let (change, other, without, with) = best;
            if change < -1e-12 * prices.iter().sum::<f64>() {
                (prices[own as usize], prices[other as usize]) = (without, with);
                groups[task] = other;
                moved = true;
            }
        }
        if !moved {
            return Ok(groups);
        }
    }
}

/// The squared trace norm of a group's weights, from `W'W`.
fn price(products: &Matrix, groups: &[u32], group: u32) -> Result<f64> {
    let tasks: Vec<usize> = (0..groups.len()).filter(|&task| groups[task] == group).collect();
    if tasks.is_empty() {
        return Ok(0.0);
    }
    let mut own = Matrix::zeros(tasks.len(), tasks.len());
    for (i, &r) in tasks.iter().enumerate() {
        tasks.iter().enumerate().for_each(|(j, &s)| own[(i, j)] = products[(r, s)]);
    }
    let norm: f64 = own.eigen()?.0.iter().map(|s| s.max(0.0).sqrt()).sum();
    Ok(norm * norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_use_the_same_direction_end_in_one_group() {
        // Tasks 0, 2 and 4 along one direction, 1 and 3 along another.
        let w: [[f64; 2]; 5] = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, -1.5], [-1.0, 0.1]];
        let mut products = Matrix::zeros(5, 5);
        for r in 0..5 {
            for s in 0..5 {
                products[(r, s)] = w[r][0] * w[s][0] + w[r][1] * w[s][1];
            }
        }
        let groups = regroup(&products, vec![0; 5], 2).unwrap();
        assert!(groups[0] == groups[2] && groups[2] == groups[4] && groups[1] == groups[3]);
        assert_ne!(groups[0], groups[1]);
    }
}
