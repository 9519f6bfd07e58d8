//! What the certificate of a model is about.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Which models the lower bound of a certificate holds for.
///
/// Stored in the model file. The command, the report and Python all read it from there.
///
/// ```
/// use kinfolk::Claim;
/// let claim = Claim::Given("the groups".into());
/// assert_eq!(claim.to_string(), "optimal given the groups");
/// assert_eq!(claim.given(), Some("the groups"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// All models of the method's problem: none is better than the bound.
    Optimal,
    /// Only models that share these quantities with the fitted one. The method found them by a search that
    /// may have missed better ones.
    Given(Cow<'static, str>),
}

impl Claim {
    /// The quantities that the certificate takes as given, if there are any.
    pub fn given(&self) -> Option<&str> {
        match self {
            Claim::Optimal => None,
            Claim::Given(what) => Some(what),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Optimal => f.pad("optimal"),
            Claim::Given(what) => f.pad(&format!("optimal given {what}")),
        }
    }
}
