//! The default method: the task matrix is learned, with known relations whose part is learned too.

use super::Engine;
use crate::params::Allowed;
use crate::{Baseline, MethodInfo, Param, Step, StepWhen};
use kinfolk::regularizer::AtomKind;
use kinfolk::{Observations, RegularizerKind};

/// The largest weight of an atom.
const HEAVIEST: f64 = 1e12;

/// Weight of what tasks share if each has rows of its own: they measure the same thing in several places.
const COMMON_WEIGHT_OF_OWN_ROWS: f64 = 100.0;

/// Columns of one table measure different things, and the sign of each is arbitrary; so do classes. There is no reason
/// for one function of all of them.
fn common_weight(observations: &Observations) -> f64 {
    let is_table = observations.len() > observations.n_inputs();
    if is_table { 0.0 } else { COMMON_WEIGHT_OF_OWN_ROWS }
}

/// Weight of what each task has of its own.
fn own_weight(_: &Observations) -> f64 {
    10.0
}

/// `fmtl` with the two relations that every set of tasks may have.
pub(crate) const KIN: Engine = Engine {
    info: MethodInfo {
        name: "kin",
        title: "kinfolk: fmtl that knows what tasks may have in common",
        learns: "Theta: who is kin to whom, how much all tasks share, how much each has of its own",
        reference: "fmtl with atoms, see math.md",
        problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 + lambda V(Theta) over F and Theta = M + a 11'/T + \
                  b I/sqrt(T), V(Theta) = sum_rs phi*(M_rs) + common phi*(a / common) + own phi*(b / own)",
        about: "One model for all tasks (large `common`), independent tasks (large `own`) and fmtl (both zero) are \
                special cases, and the parts a and b are learned with Theta. So it is a safe choice where it is not \
                known whether tasks are alike.",
        params: &[
            Param {
                name: "common",
                meaning: "weight of what all tasks share; 0 switches it off. auto: 100 if tasks have rows of their own \
                          (0 or 1000 if held-out rows are for it), 0 for columns of one table and for classes",
                allowed: Allowed::NumberOrAuto(0.0, HEAVIEST, common_weight),
                default: "auto",
                grid: &["0", "10", "100", "1000"],
                only_with: None,
            },
            Param {
                name: "own",
                meaning: "weight of what each task has of its own; 0 switches it off. auto: 10 (0 if held-out rows are \
                          for it)",
                allowed: Allowed::NumberOrAuto(0.0, HEAVIEST, own_weight),
                default: "auto",
                grid: &["0", "10", "100"],
                only_with: None,
            },
            Param {
                name: "k",
                meaning: "p = 2k / (2k - 1) in phi*(z) ~ |z|^p; 1 is the Frobenius norm, larger is sparser",
                allowed: Allowed::Integer(1, 64),
                default: "1",
                grid: &["1", "2", "4"],
                only_with: None,
            },
        ],
        atoms: &[("common", AtomKind::Common), ("own", AtomKind::Own)],
        takes_atoms: true,
        tries_kernels: true,
        steps: &[
            Step { when: StepWhen::Near(Baseline::TasksAlone), params: &[("common", "0")] },
            Step { when: StepWhen::Near(Baseline::OneForAll), params: &[("common", "1000")] },
            Step { when: StepWhen::Near(Baseline::OneForAll), params: &[("common", "1000"), ("own", "0")] },
            Step { when: StepWhen::Table, params: &[("own", "0")] },
            Step { when: StepWhen::Table, params: &[("common", "1000"), ("own", "0")] },
        ],
        cost: "about that of fmtl",
        ..MethodInfo::DEFAULTS
    },
    output: |_, params| Ok(RegularizerKind::Power { k: params.integer("k")? }),
};
