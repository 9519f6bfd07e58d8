//! Clustered tasks: the convex relaxation of Jacob, Bach and Vert.

use super::Engine;
use crate::params::Allowed;
use crate::{MethodInfo, Param};
use kinfolk::RegularizerKind;

/// The spread within clusters costs 1; scale goes into C.
pub(crate) const CMTL: Engine = Engine {
    info: MethodInfo {
        name: "cmtl",
        title: "tasks in clusters",
        learns: "clusters, as a matrix between all partitions of that number",
        reference: "Jacob, Bach and Vert, Clustered multi-task learning: a convex formulation, NIPS 2008",
        problem: "min C sum_i L + [mean |W U|^2 + tr(W Pi S^-1 Pi W')] / 2 over W and S, 1 <= S <= \
                  1/between, tr S of a partition",
        params: &[
            Param {
                name: "clusters",
                meaning: "how many; more than there are tasks count as one for each",
                allowed: Allowed::Integer(1, u32::MAX),
                default: "3",
                grid: &["3", "5"],
                only_with: None,
            },
            Param {
                name: "between",
                meaning: "cost of the spread between clusters, where that within them costs 1; at 1, and \
                          mean too, tasks are independent",
                allowed: Allowed::Number(1e-9, 1.0),
                default: "0.1",
                grid: &["0.1", "1"],
                only_with: None,
            },
            Param {
                name: "mean",
                meaning: "cost of the mean of all tasks, as a share of that between clusters",
                allowed: Allowed::Number(1e-9, 1.0),
                default: "0.1",
                grid: &["0.1", "1"],
                only_with: None,
            },
        ],
        cost: "a fit of independent tasks, warm, in each of some dozens of rounds",
        ..MethodInfo::DEFAULTS
    },
    output: |n_tasks, params| {
        let between = params.number("between")?;
        let clusters = params.integer("clusters")?.min(n_tasks as u32);
        let mean = params.number("mean")? * between;
        Ok(match between == 1.0 {
            true => nothing_to_learn(n_tasks, mean),
            false => RegularizerKind::Clusters { clusters, mean, between, within: 1.0 },
        })
    },
};

/// S = I is all there is: Theta = U / mean + Pi = I + (1 / mean - 1) U, where all entries of U are 1/T.
fn nothing_to_learn(n_tasks: usize, mean: f64) -> RegularizerKind {
    let common = (1.0 / mean - 1.0) / n_tasks as f64;
    let entry = |r: usize, s: usize| common + if r == s { 1.0 } else { 0.0 };
    RegularizerKind::Fixed {
        theta: (0..n_tasks).map(|r| (0..n_tasks).map(|s| entry(r, s)).collect()).collect(),
    }
}
