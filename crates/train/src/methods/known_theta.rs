//! Methods whose task matrix is known beforehand: independent tasks, one model for all, a common mean.

use super::Engine;
use crate::params::Allowed;
use crate::{MethodInfo, Param};
use kinfolk::RegularizerKind;

/// Independent tasks.
pub(crate) const STL: Engine = Engine {
    info: MethodInfo {
        name: "stl",
        title: "independent tasks",
        learns: "nothing shared",
        reference: "each task on its own: ridge regression, support vector machines",
        problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 with Theta = I",
        cost: "each task on its own",
        is_baseline: true,
        ..MethodInfo::DEFAULTS
    },
    output: |n_tasks, _| Ok(RegularizerKind::independent(n_tasks)),
};

/// One model for all tasks.
pub(crate) const POOLED: Engine = Engine {
    info: MethodInfo {
        name: "pooled",
        title: "one model for all",
        learns: "everything shared",
        reference: "all rows as one task",
        problem: "min C sum_i L(y_i, F(x_i)) + |F|^2 / 2, that is Theta = 1 everywhere",
        cost: "one task with all rows",
        is_baseline: true,
        ..MethodInfo::DEFAULTS
    },
    output: |n_tasks, _| Ok(RegularizerKind::shared_mean(n_tasks, 1.0)),
};

/// A common mean and deviations from it.
pub(crate) const MTL: Engine = Engine {
    info: MethodInfo {
        name: "mtl",
        title: "a common mean",
        learns: "how far tasks may be from their mean, by selection",
        reference: "Evgeniou and Pontil, Regularized multi-task learning, KDD 2004",
        problem: "min C sum_i L(y_i, F(x_i, t_i)) + |F|^2 / 2 with Theta = 1/mu + I",
        params: &[Param {
            name: "mu",
            meaning: "large: independent tasks; small: one model for all",
            allowed: Allowed::Number(1e-9, 1e9),
            default: "1",
            grid: &["0.01", "0.1", "1", "10", "100"],
            only_with: None,
        }],
        cost: "one kernel machine with all rows",
        ..MethodInfo::DEFAULTS
    },
    // (1/mu + I) / (1 + 1/mu): the factor goes into C, and strengths mean the same as elsewhere.
    output: |n_tasks, params| Ok(RegularizerKind::shared_mean(n_tasks, 1.0 / (1.0 + params.number("mu")?))),
};
