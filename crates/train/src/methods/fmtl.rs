//! The method of this project: the task matrix is learned.

use super::Engine;
use crate::params::Allowed;
use crate::{Error, MethodInfo, Param, Params, Result};
use kinfolk::RegularizerKind;

/// Output kernel learning without a constraint.
pub(crate) const FMTL: Engine = Engine {
    info: MethodInfo {
        name: "fmtl",
        title: "kinfolk: the task matrix is learned",
        learns: "Theta: who is kin to whom",
        reference: "Jawanpuria, Lapin, Hein, Schiele, Efficient output kernel learning for multiple tasks, NIPS 2015",
        problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 + lambda sum_rs phi*(Theta_rs) over F and Theta",
        params: &[
            Param {
                name: "output",
                meaning: "family of the regulariser of Theta",
                allowed: Allowed::Word(&RegularizerKind::ENTRYWISE),
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
            Param {
                name: "coefficients",
                meaning: "for series: phi(z) = a_1 z + a_2 z^2 + ..., convex, none negative",
                allowed: Allowed::Numbers,
                default: "",
                grid: &[],
                only_with: Some(("output", "series")),
            },
            Param {
                name: "theta",
                meaning: "for fixed: the task matrix; csv, npy, or a model to take it from",
                allowed: Allowed::TaskMatrix,
                default: "",
                grid: &[],
                only_with: Some(("output", "fixed")),
            },
            Param {
                name: "prior",
                meaning: "for exp, frobenius, power with k = 1: a task matrix to start from; csv, npy, or a model",
                allowed: Allowed::TaskMatrix,
                default: "",
                grid: &[],
                only_with: None,
            },
        ],
        takes_atoms: true,
        cost: "about that of independent tasks",
        ..MethodInfo::DEFAULTS
    },
    output: |_, params| output(params),
};

/// The regulariser that the parameters name.
fn output(params: &Params) -> Result<RegularizerKind> {
    let prior = match params.get("prior") {
        Some(_) => Some(params.task_matrix("prior")?.to_vec()),
        None => None,
    };
    let wrong = |why: &str| Err(Error::Spec(format!("method fmtl: {why}")));
    Ok(match (params.word("output")?, prior) {
        ("exp", prior) => RegularizerKind::Exp { prior },
        ("power", None) => RegularizerKind::Power { k: params.integer("k")? },
        ("power", Some(prior)) if params.integer("k")? == 1 => RegularizerKind::Frobenius { prior },
        ("frobenius", Some(prior)) => RegularizerKind::Frobenius { prior },
        ("frobenius", None) => {
            return wrong("output=frobenius needs prior; without one it is power with k=1");
        }
        (_, Some(_)) => return wrong("prior is for output=exp, frobenius, and power with k=1"),
        ("series", None) => {
            RegularizerKind::Series { coefficients: params.numbers("coefficients")?.to_vec() }
        }
        ("fixed", None) => RegularizerKind::Fixed { theta: params.task_matrix("theta")?.to_vec() },
        (without_parameters, None) => without_parameters.parse()?,
    })
}
