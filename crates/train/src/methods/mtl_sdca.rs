//! A shared representation of low dimension, Lapin, Schiele and Hein.
//!
//! `F(x, t) = <w_t, U'x>` with the regulariser `|W|^2 / 2 + |U|^2 / 2`: not convex in both, but in their
//! product B, where it is the trace norm. The original alternates between W and U; for losses with kinks it
//! need not reach a point where both are optimal. Here the convex problem in B is solved.

use super::Engine;
use crate::MethodInfo;
use kinfolk::RegularizerKind;

/// lambda = 1 makes it the trace norm itself.
pub const MTL_SDCA: Engine = Engine {
    info: MethodInfo {
        name: "mtl-sdca",
        title: "a shared representation of low dimension",
        learns: "directions of the inputs that all tasks use",
        reference: "Lapin, Schiele and Hein, Scalable multitask representation learning for scene \
                    classification, CVPR 2014",
        problem: "min C sum_i L + |W|^2 / 2 + |U|^2 / 2 over W and U, F(x, t) = <w_t, U'x>: trace norm of U W",
        cost: "a fit of independent tasks, warm, in each of dozens to hundreds of rounds",
        ..MethodInfo::DEFAULTS
    },
    output: |_, _| Ok(RegularizerKind::Trace { nu: 0.5 }),
};
