//! The one list of all methods, one file each.

mod cmtl;
mod convex_okl;
mod engine;
mod fmtl;
mod gmtl;
mod kin;
mod known_theta;
mod mtfl;
mod mtl_sdca;
mod mtrl;
mod okl;

pub use convex_okl::CONVEX_OKL;
pub use engine::Engine;
pub(crate) use fmtl::FMTL;
pub use gmtl::{GMTL, Gmtl, Regroup};
pub use mtl_sdca::MTL_SDCA;
pub use mtrl::MTRL;
pub use okl::OKL;

use crate::{Error, Method, Result};
use cmtl::CMTL;
use kin::KIN;
use known_theta::{MTL, POOLED, STL};
use mtfl::Mtfl;

/// The method if none is named.
pub(crate) const DEFAULT: &dyn Method = &KIN;

/// All methods.
pub fn registry() -> &'static [&'static dyn Method] {
    &[&STL, &POOLED, &MTL, &CMTL, &Mtfl, &GMTL, &MTRL, &MTL_SDCA, &OKL, &CONVEX_OKL, &FMTL, &KIN]
}

/// The method of this name.
pub fn find(name: &str) -> Result<&'static dyn Method> {
    registry().iter().copied().find(|method| method.name() == name).ok_or_else(|| {
        let known: Vec<&str> = registry().iter().map(|method| method.name()).collect();
        Error::UnknownMethod { name: name.to_string(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;

    #[test]
    fn every_method_has_its_own_name_and_sound_parameters() {
        for (i, method) in registry().iter().enumerate() {
            assert!(registry()[..i].iter().all(|other| other.name() != method.name()));
            assert_eq!(find(method.name()).unwrap().info().title, method.info().title);
            Params::parse(method.name(), method.params(), &[]).unwrap();
            for param in method.params() {
                param.grid.iter().for_each(|value| drop(param.parse(method.name(), value).unwrap()));
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        assert_eq!(
            find("lasso").unwrap_err().to_string(),
            "there is no method \"lasso\"; the methods are stl, pooled, mtl, cmtl, mtfl, gmtl, mtrl, mtl-sdca, okl, \
             convex-okl, fmtl, kin"
        );
        let mtl = find("mtl").unwrap();
        let parse = |given| Params::parse("mtl", mtl.params(), given).unwrap_err().to_string();
        assert_eq!(parse(&[("nu", "1")]), "method mtl: there is no parameter \"nu\"; it has mu");
        assert_eq!(
            parse(&[("mu", "-1")]),
            "method mtl: mu = \"-1\": it must be a number, 0.000000001 to 1000000000"
        );
    }
}
