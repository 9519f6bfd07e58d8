//! Methods as their authors published them, for comparison: the same problems as in `kinfolk-train`, other
//! iterations.

mod alternation;
mod convex_okl;
mod kernel_matrix;
mod mtl_sdca;
mod mtrl;
mod okl;
mod softmax;
mod sylvester;

use kinfolk::{Fit, Observer, Problem, Weights};
use kinfolk_train::{
    Claim, Engine, Error, FitRequest, Gmtl, Job, Method, MethodInfo, Params, Result, Weight,
};

/// What a published iteration gets: the problem is that of the job with these parameters.
#[derive(Clone, Copy)]
struct PublishedTask<'a> {
    job: &'a Job<'a>,
    params: &'a Params,
    problem: &'a Problem<'a>,
}

/// From a problem to a fit of it.
type Iteration = fn(&PublishedTask<'_>, &mut dyn Observer) -> Result<Fit>;

/// A method of `kinfolk-train` that is solved by the iteration of its authors.
#[derive(Debug)]
struct Published {
    info: MethodInfo,
    /// The method with our solver: the same problem and the same parameters.
    engine: &'static Engine,
    iteration: Iteration,
    claim: Claim,
}

/// Groups by descent on soft memberships.
const GMTL: Gmtl = Gmtl {
    info: MethodInfo { name: "gmtl-published", ..kinfolk_train::GMTL.info },
    regroup: |products, _, n_groups, random| softmax::regroup(products, n_groups, random),
};

/// All published iterations.
pub fn published() -> &'static [&'static dyn Method] {
    &[
        &GMTL,
        &mtrl::PUBLISHED,
        &mtl_sdca::PUBLISHED,
        &okl::PUBLISHED,
        &okl::REDUCED,
        &convex_okl::PUBLISHED,
        &convex_okl::REDUCED,
    ]
}

/// The method of this name, of this list or of `kinfolk-train`.
///
/// # Errors
/// If there is none; the message lists all names.
pub fn find(name: &str) -> Result<&'static dyn Method> {
    let own = published().iter().copied().find(|method| method.name() == name);
    match own.map_or_else(|| kinfolk_train::find(name), Ok) {
        Err(Error::UnknownMethod { name, known }) => {
            let names: Vec<&str> = published().iter().map(|method| method.name()).collect();
            Err(Error::UnknownMethod { name, known: format!("{known}, {}", names.join(", ")) })
        }
        found => found,
    }
}

impl Method for Published {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn claim(&self, _: &Params) -> Claim {
        self.claim.clone()
    }

    fn weights(&self, job: &Job<'_>, params: &Params, weight: Weight) -> Result<Weights> {
        self.engine.weights(job, params, weight)
    }

    fn solve(&self, request: &FitRequest<'_>, observer: &mut dyn Observer) -> Result<Fit> {
        let FitRequest { job, params, weight, .. } = *request;
        let problem = self.engine.problem(job, params, weight)?;
        (self.iteration)(&PublishedTask { job, params, problem: &problem }, observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_from_each_other_and_from_those_of_users_methods() {
        for (i, method) in published().iter().enumerate() {
            assert!(published()[..i].iter().all(|other| other.name() != method.name()));
            assert!(kinfolk_train::find(method.name()).is_err());
            assert_eq!(find(method.name()).unwrap().info().title, method.info().title);
        }
        assert_eq!(find("fmtl").unwrap().name(), "fmtl");
        let error = find("lasso").unwrap_err().to_string();
        assert!(error.contains("stl, ") && error.ends_with("convex-okl-reduced"), "{error}");
    }
}
