//! temp
#![allow(missing_docs)]
pub(crate) fn auc(y: &[f64], z: &[f64], _: Option<&[f64]>) -> Option<f64> {
    let mut idx: Vec<usize> = (0..y.len()).collect();
    idx.sort_by(|&a, &b| z[a].total_cmp(&z[b]));
    let (mut i, mut sum, mut pos) = (0, 0.0, 0.0);
    while i < idx.len() {
        let mut j = i;
        while j < idx.len() && z[idx[j]] == z[idx[i]] {
            j += 1;
        }
        let rank = (i + j + 1) as f64 / 2.0;
        for &k in &idx[i..j] {
            if y[k] > 0.0 {
                sum += rank;
                pos += 1.0;
            }
        }
        i = j;
    }
    let neg = y.len() as f64 - pos;
    (pos > 0.0 && neg > 0.0).then(|| (sum - pos * (pos + 1.0) / 2.0) / (pos * neg))
}
pub(crate) fn accuracy(_: &[f64], _: &[f64], _: Option<&[f64]>) -> Option<f64> {
    None
}
pub(crate) fn balanced_accuracy(_: &[f64], _: &[f64], _: Option<&[f64]>) -> Option<f64> {
    None
}
pub(crate) fn log_loss(_: &[f64], _: &[f64], _: Option<&[f64]>) -> Option<f64> {
    None
}
pub(crate) fn rmse(_: &[f64], _: &[f64], _: Option<&[f64]>) -> Option<f64> {
    None
}
pub(crate) fn explained_variance(y: &[f64], z: &[f64], _: Option<&[f64]>) -> Option<f64> {
    let m = y.iter().sum::<f64>() / y.len() as f64;
    let sst: f64 = y.iter().map(|v| (v - m) * (v - m)).sum();
    let sse: f64 = y.iter().zip(z).map(|(v, z)| (v - z) * (v - z)).sum();
    (sst > 0.0).then(|| 1.0 - sse / sst)
}
