//! The certificate of a model as one record for output: the command, the report and Python all print this
//! one.

use super::{Claim, Model};
use crate::Status;
use serde::{Deserialize, Serialize};

/// What a model says about its quality.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertificateSummary {
    /// What the certificate is about.
    pub claim: Option<Claim>,
    /// Why the solver ended.
    pub status: Option<Status>,
    /// Objective value of the model.
    #[serde(with = "crate::serde_f64::number")]
    pub primal: f64,
    /// Lower bound on the objective value of every model that the claim is about.
    #[serde(with = "crate::serde_f64::number")]
    pub dual: f64,
    /// primal - dual.
    #[serde(with = "crate::serde_f64::number")]
    pub gap: f64,
    /// gap / max(|primal|, |dual|).
    #[serde(with = "crate::serde_f64::number")]
    pub rel_gap: f64,
    /// What rounding in double precision may add to the gap.
    #[serde(default, with = "crate::serde_f64::number")]
    pub rounding: f64,
    /// What the method says about its search. No part of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Model {
    /// Claim, status and certificate as one record.
    pub fn summary(&self) -> CertificateSummary {
        let certificate = self.certificate();
        CertificateSummary {
            claim: self.claim().cloned(),
            status: self.status(),
            primal: certificate.primal,
            dual: certificate.dual,
            gap: certificate.gap,
            rel_gap: certificate.rel_gap(),
            rounding: certificate.rounding,
            remark: self.remark().map(str::to_string),
        }
    }
}
