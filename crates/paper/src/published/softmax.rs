//! Groups as Kang, Grauman and Sha find them: gradient descent on soft memberships, then the nearest partition.
//!
//! `q_gt = exp(z_gt) / sum_g exp(z_gt)`, and `H = sum_g (tr A_g^(1/2))^2` with `A_g = W Q_g W' + eps I` is
//! to be small. With `Q_g^(1/2) W'W Q_g^(1/2) = R diag(s) R'` all of it is in `W'W`: `dH/dq_gt =
//! tr(A_g^(1/2)) sum_i s_i R_ti^2 / (q_gt sqrt(s_i + eps))`.

use kinfolk::Matrix;
use kinfolk_train::Result;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Constants of the released code: smoothing of the square root, and the line search.
const SMOOTHING: f64 = 0.1;
const MAX_ITERATIONS: usize = 200;
const SUFFICIENT_DECREASE: f64 = 1e-4;
const STEP_SHRINK: f64 = 0.3;
const MAX_TRIALS: usize = 10;
/// Smaller memberships count as this much where they are divided by.
const MIN_MEMBERSHIP: f64 = 1e-12;

/// The partition nearest to where the descent ends, from memberships drawn at random.
pub(super) fn regroup(products: &Matrix, n_groups: u32, random: &mut ChaCha8Rng) -> Result<Vec<u32>> {
    let (groups, tasks) = (n_groups as usize, products.rows());
    // The released code's constant is for weights of unit size.
    let size = (0..tasks).map(|t| products[(t, t)]).sum::<f64>() / tasks as f64;
    let eps = SMOOTHING * if size > 0.0 { size } else { 1.0 };
    let mut z = Matrix::zeros(groups, tasks);
    z.as_mut_slice().iter_mut().for_each(|z| *z = random.random_range(-1.0..1.0));
    let (mut value, mut slope) = at(products, &z, eps)?;
    for _ in 0..MAX_ITERATIONS {
        let square: f64 = slope.as_slice().iter().map(|s| s * s).sum();
        let mut step = 1.0 / value.max(f64::MIN_POSITIVE);
        let mut next = None;
        for _ in 0..MAX_TRIALS {
            let mut trial = z.clone();
            trial.as_mut_slice().iter_mut().zip(slope.as_slice()).for_each(|(z, s)| *z -= step * s);
            let (new, new_slope) = at(products, &trial, eps)?;
            if new <= value - SUFFICIENT_DECREASE * step * square {
                next = Some((trial, new, new_slope));
                break;
            }
            step *= STEP_SHRINK;
        }
        let Some((trial, new, new_slope)) = next else { break };
        let fall = value - new;
        (z, value, slope) = (trial, new, new_slope);
        if fall <= 1e-10 * value {
            break;
        }
    }
    let best = |t: usize| (0..groups).fold(0, |best, g| if z[(g, t)] > z[(best, t)] { g } else { best });
    Ok((0..tasks).map(|t| best(t) as u32).collect())
}

/// H and its slope in z.
fn at(products: &Matrix, z: &Matrix, eps: f64) -> Result<(f64, Matrix)> {
    let (groups, tasks) = (z.rows(), z.cols());
    let q = memberships(z);
    let mut slope = Matrix::zeros(groups, tasks);
    let mut value = 0.0;
    for g in 0..groups {
        let root: Vec<f64> = (0..tasks).map(|t| q[(g, t)].sqrt()).collect();
        let mut own = products.clone();
        for r in 0..tasks {
            for s in 0..tasks {
                own[(r, s)] *= root[r] * root[s];
            }
        }
        let (squares, vectors) = own.eigen()?;
        let roots: Vec<f64> = squares.iter().map(|s| (s.max(0.0) + eps).sqrt()).collect();
        let trace: f64 = roots.iter().sum();
        value += trace * trace;
        for t in 0..tasks {
            let row = vectors.row(t).iter().zip(&squares).zip(&roots);
            let sum: f64 = row.map(|((v, s), root)| s.max(0.0) * v * v / root).sum();
            slope[(g, t)] = trace * sum / q[(g, t)].max(MIN_MEMBERSHIP);
        }
    }
    // dH/dz_gt = q_gt (dH/dq_gt - sum_g' q_g't dH/dq_g't).
    for t in 0..tasks {
        let mean: f64 = (0..groups).map(|g| q[(g, t)] * slope[(g, t)]).sum();
        (0..groups).for_each(|g| slope[(g, t)] = q[(g, t)] * (slope[(g, t)] - mean));
    }
    Ok((value, slope))
}

fn memberships(z: &Matrix) -> Matrix {
    let mut q = z.clone();
    for t in 0..z.cols() {
        let highest = (0..z.rows()).map(|g| z[(g, t)]).fold(f64::MIN, f64::max);
        let total: f64 = (0..z.rows()).map(|g| (z[(g, t)] - highest).exp()).sum();
        (0..z.rows()).for_each(|g| q[(g, t)] = (z[(g, t)] - highest).exp() / total);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Tasks 0, 2 and 4 along one direction, 1 and 3 along another.
    fn products() -> Matrix {
        let w: [[f64; 2]; 5] = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, -1.5], [-1.0, 0.1]];
        let mut products = Matrix::zeros(5, 5);
        for r in 0..5 {
            for s in 0..5 {
                products[(r, s)] = w[r][0] * w[s][0] + w[r][1] * w[s][1];
            }
        }
        products
    }

    #[test]
    fn the_slope_is_that_of_finite_differences() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut z = Matrix::zeros(3, 5);
        z.as_mut_slice().iter_mut().for_each(|z| *z = random.random_range(-1.0..1.0));
        let slope = at(&products(), &z, 0.1).unwrap().1;
        for i in 0..15 {
            let value = |h: f64| {
                let mut moved = z.clone();
                moved.as_mut_slice()[i] += h;
                at(&products(), &moved, 0.1).unwrap().0
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!(
                (slope.as_slice()[i] - difference).abs() < 1e-6,
                "{i}: {} {difference}",
                slope.as_slice()[i]
            );
        }
    }

    #[test]
    fn descent_lowers_the_price() {
        let found: Vec<Vec<u32>> = (0..8)
            .map(|seed| regroup(&products(), 2, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap())
            .collect();
        let right = |g: &Vec<u32>| g[0] == g[2] && g[2] == g[4] && g[1] == g[3] && g[0] != g[1];
        assert!(found.iter().any(right), "{found:?}");
    }
}
