//! Features shared by latent groups of tasks, after Jawanpuria and Nath: a reconstruction.
//!
//! A function for every group w of tasks, close to a common mean within it: kernel `k(x, z) Th_w`, `Th_w =
//! 1_w 1_w' / mu + diag(1_w)`. The norm is hierarchical over the lattice of groups, `Om = sum_v b^|v| (sum
//! over w containing v of |f_w|^2)^(1/2)`: a group can only be used if all its subgroups are, so that few
//! groups are, and they can be searched from small to large.
//!
//! With weights gamma on the simplex the squared norm is a minimum over task matrices `Theta = sum_w delta_w
//! Th_w`, `1 / delta_w = sum over v in w of b^2|v| / gamma_v`: the inner problem is that of a given Theta.
//!
//! In that norm tasks are not independent even without groups: it is a sum over tasks, not a sum of squares,
//! and favours tasks with strong signals. So single tasks have their own term, the sum of their squares
//! (their gamma is one), and the squared sum over groups is divided by T, to have the same weight. In both
//! cases the conjugate is the maximum of a concave function of gamma; its tangent at any gamma is an upper
//! bound.

mod hull;
mod lattice;
mod search;

use crate::method::duals;
use crate::params::Allowed;
use crate::{FitRequest, Job, Method, MethodInfo, Param, Params, Result, Weight};
use kinfolk::{Claim, Fit, Observer, RegularizerKind, Weights};
use lattice::Lattice;
use search::Search;

/// Groups of tasks, as far as they help.
#[derive(Debug)]
pub(crate) struct Mtfl;

/// For b: a group of m tasks and all its subgroups of two or more cost (1 + b)^m - 1 - m b together.
const PARAMS: &[Param] = &[
    Param {
        name: "mu",
        meaning: "within a group: large for tasks on their own, small for one model",
        allowed: Allowed::Number(1e-9, 1e9),
        default: "1",
        grid: &["0.1", "1"],
        only_with: None,
    },
    Param {
        name: "b",
        meaning: "a group of m tasks costs b to the power of m: large for tasks on their own, small for large groups",
        allowed: Allowed::Number(0.01, 100.0),
        default: "1",
        grid: &["1", "10"],
        only_with: None,
    },
    Param {
        name: "largest",
        meaning: "tasks of a group at most: one of m tasks brings 2^m - 1 groups with it",
        allowed: Allowed::Integer(1, 12),
        default: "6",
        grid: &["6"],
        only_with: None,
    },
    Param {
        name: "alone",
        meaning: "norm for single tasks: apart, the sum of squares (without groups, tasks are independent); \
                  with-groups, as groups of one",
        allowed: Allowed::Word(&["apart", "with-groups"]),
        default: "apart",
        grid: &["apart"],
        only_with: None,
    },
];

const INFO: MethodInfo = MethodInfo {
    name: "mtfl",
    title: "groups of tasks on a lattice",
    learns: "which groups of tasks are close, out of all 2^T",
    reference: "after Jawanpuria and Nath, A convex feature learning formulation for latent task structure \
                discovery, ICML 2012",
    problem: "min C sum_i L + [sum_t b^2 |f_D(t)|^2 + (sum_(|v| > 1) b^|v| |f_D(v)|)^2 / T] / 2 over \
              functions f_w of all groups w of tasks, \
         |f_D(v)|^2 = sum of |f_w|^2 over all w that contain v",
    about: "A reconstruction: of the original the lattice of groups, the closeness within them and the \
            search from small groups to large ones are \
         known, the exponent, the weights of the nodes and the combination of base kernels are not. Here \
         the kernel given is the only base \
         kernel, the norm within a node is the Euclidean one, and a node costs b to the power of its size. \
         Single tasks have their own term: \
         with alone=with-groups they are groups of one, tasks are then not independent even without groups, \
         and strong ones are favoured. \
         The certificate is about the Theta of the groups and weights found. The bound of the search over \
         all groups is computed by the method \
         itself and reported as a remark.",
    params: PARAMS,
    cost: "a fit of a given Theta in each of up to hundreds of rounds for each set of groups; with many \
           tasks the bound of the search is loose",
    is_resumable: false,
    ..MethodInfo::DEFAULTS
};

impl Method for Mtfl {
    fn info(&self) -> &MethodInfo {
        &INFO
    }

    fn claim(&self, _: &Params) -> Claim {
        Claim::Given("the groups and their weights".into())
    }

    /// Theta is made up of groups with diagonal about one.
    fn weights(&self, job: &Job<'_>, params: &Params, weight: Weight) -> Result<Weights> {
        let t = job.data.observations().n_tasks();
        let lattice = lattice(t, params)?;
        let share = lattice.first_weight() * (1.0 + 1.0 / lattice.mu) / lattice.b.powi(2);
        let theta = (0..t).map(|r| (0..t).map(|s| if r == s { share } else { 0.0 }).collect()).collect();
        job.with_lambda(1.0).weights(&RegularizerKind::Fixed { theta }, weight)
    }

    fn solve(&self, request: &FitRequest<'_>, observer: &mut dyn Observer) -> Result<Fit> {
        let FitRequest { job, params, weight, start } = *request;
        let Weights { c, .. } = self.weights(job, params, weight)?;
        let t = job.data.observations().n_tasks();
        let largest = params.integer("largest")? as usize;
        Search::new(job, c, lattice(t, params)?, largest, duals(start)).run(observer)
    }
}

fn lattice(n_tasks: usize, params: &Params) -> Result<Lattice> {
    let apart = params.word("alone")? == "apart";
    Ok(Lattice { n_tasks, mu: params.number("mu")?, b: params.number("b")?, apart })
}
