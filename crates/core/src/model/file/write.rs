//! From a model to bytes.

use super::FILE_KIND;
use crate::Result;
use crate::inputs::{Inputs, Values};
use crate::model::{KernelExpansion, Model, Predictor};
use crate::scaling_tensors::push_scalings;
use crate::tensors::{self, Tensor, doubles, integers, matrix};
use safetensors::tensor::Dtype;

pub(super) fn to_bytes(model: &Model) -> Result<Vec<u8>> {
    tensors::to_bytes(&FILE_KIND, &tensors(model), &model.about, model.attachments.to_json()?)
}

fn tensors(model: &Model) -> Vec<(&'static str, Tensor)> {
    let about = &model.about;
    let mut out = vec![("theta", matrix(&model.theta))];
    if let Some(alpha) = &model.alpha {
        let table = vec![about.n_inputs, about.tasks.len()];
        out.push(("alpha", doubles(alpha, if about.complete { table } else { vec![alpha.len()] })));
    }
    if let Some(v) = &model.v {
        out.push(("v", matrix(v)));
    }
    if let Some(intercept) = &model.intercept {
        out.push(("intercept", doubles(intercept, vec![intercept.len()])));
    }
    if !model.about.problem.atoms.is_empty() {
        let (coefficients, shares) = (&model.atoms.coefficients, &model.atoms.shares);
        out.push(("atom_coefficient", doubles(coefficients, vec![coefficients.len()])));
        out.push(("atom_share", doubles(shares, vec![shares.len()])));
    }
    if let Some(weight) = &model.observation_weights {
        out.push(("observation_weight", doubles(weight, vec![weight.len()])));
    }
    push_scalings(&mut out, &model.scaling, model.target_scaling.as_ref());
    match &model.predictor {
        Predictor::Weights(weights) => out.push(("weights", matrix(weights))),
        Predictor::Kernel(KernelExpansion { support, rows, coefficients }) => {
            out.push(("coefficients", matrix(coefficients)));
            if let Some(support) = support {
                out.push(("support_rows", integers(rows)));
                out.extend(inputs(support));
            }
        }
    }
    out
}

fn inputs(inputs: &Inputs<'_>) -> Vec<(&'static str, Tensor)> {
    match inputs {
        Inputs::Dense(x) => vec![("support", values(x.values(), vec![x.rows(), x.cols()]))],
        Inputs::Sparse(x) => {
            let bytes = x.indptr().iter().flat_map(|&start| (start as u64).to_le_bytes()).collect();
            let indptr = Tensor { dtype: Dtype::U64, shape: vec![x.indptr().len()], bytes };
            vec![
                ("support_indptr", indptr),
                ("support_indices", integers(x.indices())),
                ("support_values", values(x.values(), vec![x.nnz()])),
            ]
        }
        // Models of a Gram matrix remember no inputs.
        Inputs::Gram(_) => vec![],
    }
}

fn values(values: &Values<'_>, shape: Vec<usize>) -> Tensor {
    match values {
        Values::F64(v) => doubles(v, shape),
        Values::F32(v) => {
            let bytes = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            Tensor { dtype: Dtype::F32, shape, bytes }
        }
    }
}
