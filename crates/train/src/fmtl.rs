//! The method of this project: the task matrix is learned.

use crate::given::Engine;
use crate::params::Allowed;
use crate::{Losses, Param};
use kinfolk::RegularizerKind;

/// Output kernel learning without a constraint.
pub(crate) const FMTL: Engine = Engine {
    name: "fmtl",
    title: "kinfolk: the task matrix is learned",
    learns: "Theta: who is kin to whom",
    reference: "Jawanpuria, Lapin, Hein, Schiele, Efficient output kernel learning for multiple tasks, NIPS 2015",
    problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 + lambda sum_rs phi*(Theta_rs) over F and Theta",
    params: &[
        Param {
            name: "output",
            meaning: "family of the regulariser of Theta",
            allowed: Allowed::Word(&["power", "exp", "cosh"]),
            default: "power",
            grid: &["power"],
            only_with: None,
        },
        Param {
            name: "k",
            meaning: "for power: p = 2k / (2k - 1); 1 is the Frobenius norm, larger is sparser",
            allowed: Allowed::Integer(1, 64),
            default: "1",
            grid: &["1", "2", "4"],
            only_with: Some(("output", "power")),
        },
    ],
    output: |_, params| match params.word("output") {
        "exp" => RegularizerKind::Exp { prior: None },
        "cosh" => RegularizerKind::Cosh,
        _ => RegularizerKind::Power { k: params.integer("k") },
    },
    cost: "about that of independent tasks",
    losses: Losses::All,
};
