//! Methods as their authors published them, for comparison: the same problems as in `kinfolk-train`, other iterations.

mod alternation;
mod convex_okl;
mod kernel_matrix;
mod mtl_sdca;
mod mtrl;
mod okl;
mod softmax;
mod sylvester;

use kinfolk::{Fit, Observer, Problem, Weights};
use kinfolk_train::{Claim, Engine, Error, Gmtl, Job, Losses, Method, Param, Params, Point, Result};

/// From the job and its problem to a fit of that problem.
type Iteration = fn(&Job<'_>, &Params, &Problem<'_>, &mut dyn Observer) -> Result<Fit>;

/// A method of `kinfolk-train` that is solved by the iteration of its authors.
#[derive(Debug)]
struct Published {
    name: &'static str,
    title: &'static str,
    cost: &'static str,
    /// The method with our solver: the same problem and the same parameters.
    engine: &'static Engine,
    iteration: Iteration,
    claim: Claim,
}

/// Groups by descent on soft memberships.
const GMTL: Gmtl = Gmtl {
    name: "gmtl-published",
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
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn learns(&self) -> &'static str {
        self.engine.learns()
    }

    fn reference(&self) -> &'static str {
        self.engine.reference()
    }

    fn params(&self) -> &'static [Param] {
        self.engine.params()
    }

    fn problem(&self) -> &'static str {
        Method::problem(self.engine)
    }

    fn cost(&self) -> &'static str {
        self.cost
    }

    fn losses(&self) -> Losses {
        self.engine.losses()
    }

    fn claim(&self, _: &Params) -> Claim {
        self.claim.clone()
    }

    fn weights(&self, job: &Job<'_>, params: &Params, point: Point) -> Result<Weights> {
        self.engine.weights(job, params, point)
    }

    fn solve(
        &self,
        job: &Job<'_>,
        params: &Params,
        point: Point,
        _: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let problem = Engine::problem(self.engine, job, params, point)?;
        (self.iteration)(job, params, &problem, observer)
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
            assert_eq!(find(method.name()).unwrap().title(), method.title());
        }
        assert_eq!(find("fmtl").unwrap().name(), "fmtl");
        let error = find("lasso").unwrap_err().to_string();
        assert!(error.contains("stl, ") && error.ends_with("convex-okl-reduced"), "{error}");
    }
}
