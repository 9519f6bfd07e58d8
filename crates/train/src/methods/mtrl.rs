//! Task relationships: the matrix-variate prior of Zhang and Yeung.

use super::Engine;
use crate::params::Allowed;
use crate::{MethodInfo, Param};
use kinfolk::RegularizerKind;

/// The relationship costs 1; scale goes into C.
pub const MTRL: Engine = Engine {
    info: MethodInfo {
        name: "mtrl",
        title: "task relationships of trace one",
        learns: "Om, a task matrix of trace one",
        reference: "Zhang and Yeung, A convex formulation for learning task relationships, UAI 2010",
        problem: "min C sum_i L + l1 |W|^2 / 2 + tr(W Om^-1 W') / 2 over W and Om, tr Om = 1: trace norm, squared",
        params: &[Param {
            name: "l1",
            meaning: "weight of each task on its own, beside 1 for what they share; large: independent tasks",
            allowed: Allowed::Number(0.0, 1e9),
            default: "0",
            grid: &["0", "1", "100"],
            only_with: None,
        }],
        cost: "a fit of independent tasks, warm, in each of dozens to hundreds of rounds",
        ..MethodInfo::DEFAULTS
    },
    output: |_, params| Ok(RegularizerKind::Relationship { l1: params.number("l1")?, l2: 1.0, groups: None }),
};
