//! Convex learning of tasks and their structure, Ciliberto and others: any loss, own inputs.
//!
//! The original minimises `(1/N) sum (y - f)^2 + lc tr(A^-1 W'W) + g F(A)`. Divided by 2 lc that is ours with
//! `C = 1 / (N lc)`, `lambda = g / lc` and Theta = A: [`fmtl`](super::fmtl) with k = 1 for the Frobenius
//! norm, the trace norm of the weights for the trace. For `F` the cluster set see [`cmtl`](super::cmtl).

use super::Engine;
use crate::params::Allowed;
use crate::{MethodInfo, Param};
use kinfolk::RegularizerKind;

/// Frobenius norm or trace of Theta.
pub const CONVEX_OKL: Engine = Engine {
    info: MethodInfo {
        name: "convex-okl",
        title: "convex learning of tasks and structure",
        learns: "Theta, Frobenius norm or trace",
        reference: "Ciliberto, Mroueh, Poggio and Rosasco, Convex learning of multiple tasks and their \
                    structure, ICML 2015",
        problem: "min C sum_i L + |F|^2 / 2 + lambda |Theta|^2 / 2 over F and Theta: fmtl with k = 1; or \
                  lambda tr(Theta) / 2",
        params: &[Param {
            name: "structure",
            meaning: "what is paid for Theta",
            allowed: Allowed::Word(&["frobenius", "trace"]),
            default: "frobenius",
            grid: &["frobenius"],
            only_with: None,
        }],
        cost: "as fmtl, for the trace as mtrl",
        ..MethodInfo::DEFAULTS
    },
    output: |_, params| {
        Ok(match params.word("structure")? {
            "trace" => RegularizerKind::Trace { nu: 0.5 },
            _ => RegularizerKind::Power { k: 1 },
        })
    },
};
