//! Output kernel learning, Dinuzzo and others: the squared loss on shared inputs.
//!
//! The original minimises `|Y - K A L|^2 / (2 ld) + <A'K A, L> / 2 + |L|^2 / 2` over A and positive
//! semidefinite L. That is ours for k = 1 with `ld = lambda^(1/3) / C`, `L = lambda^(1/3) Theta` and `alpha =
//! C ld A`; our objective is lambda^(1/3) times theirs. So this is [`fmtl`](super::fmtl) with k = 1.

use super::Engine;
use crate::{MethodInfo, SupportedLosses};
use kinfolk::RegularizerKind;

/// Frobenius norm of Theta.
pub const OKL: Engine = Engine {
    info: MethodInfo {
        name: "okl",
        title: "output kernel learning",
        learns: "Theta, Frobenius norm",
        reference: "Dinuzzo, Ong, Gehler and Pillonetto, Learning output kernels with block coordinate \
                    descent, ICML 2011",
        problem: "min C sum_i (y_i - F(x_i, t_i))^2 / 2 + |F|^2 / 2 + lambda |Theta|^2 / 2 over F and \
                  Theta: fmtl with k = 1",
        cost: "as fmtl",
        losses: SupportedLosses::Squared,
        ..MethodInfo::DEFAULTS
    },
    output: |_, _| Ok(RegularizerKind::Power { k: 1 }),
};
