//! Whether the spec of a model file and the model itself say the same.

use super::Trained;
use crate::{LossSpec, Weight};
use kinfolk::kernel::Gamma;
use kinfolk::model::About;
use kinfolk::{Intercept, Kernel, LossKind, Losses, Mismatch, ScalingKind, TargetScale};
use std::fmt::Display;

impl Trained {
    /// Whatever the spec says that the problem of the model contradicts: the method, its claim, and settings that do
    /// not depend on the data. Empty for an honest file.
    pub fn spec_mismatches(&self) -> Vec<Mismatch> {
        let parts = [self.claim_mismatch(), self.status_mismatch(), self.method_mismatch()];
        parts.into_iter().flatten().chain(self.settings()).collect()
    }

    /// What this program writes says what is claimed and how the fit ended; files of 0.1.0 need not.
    fn must_say(&self, part: &'static str) -> Option<Mismatch> {
        let why = "it is missing, and every model of this format has it".to_string();
        self.model.attachment(super::KEY).map(|_| Mismatch { part, why })
    }

    fn status_mismatch(&self) -> Option<Mismatch> {
        if self.model.status().is_some() { None } else { self.must_say("status") }
    }

    /// A claim in the model that is not the one that the method of the spec makes.
    fn claim_mismatch(&self) -> Option<Mismatch> {
        let method = &self.spec.method;
        let own = method.method().claim(method.params());
        let Some(stored) = self.model.claim() else { return self.must_say("claim") };
        if *stored == own {
            return None;
        }
        let why = format!("it says \"{stored}\", but a fit of {} is \"{own}\"", method.name());
        Some(Mismatch { part: "claim", why })
    }

    /// A regulariser in the model that is not the one of the method. Methods that search end with one that they found.
    fn method_mismatch(&self) -> Option<Mismatch> {
        let (method, about) = (&self.spec.method, self.model.about());
        let own = method.method().regularizer(about.tasks.len(), method.params()).transpose()?;
        let stored = &about.problem.output;
        if own.is_ok_and(|own| own == *stored) {
            return None;
        }
        let why = format!("the spec says {method}; the model has another regulariser, {}", stored.name());
        Some(Mismatch { part: "method", why })
    }

    fn settings(&self) -> Vec<Mismatch> {
        let (spec, about) = (&self.spec, self.model.about());
        let problem = &about.problem;
        let mut found = vec![];
        let mut check = |part: &'static str, agrees: bool, own: &dyn Display, stored: &dyn Display| {
            if !agrees {
                found.push(Mismatch { part, why: format!("the spec says {own}, the model {stored}") });
            }
        };
        let losses = spec.loss.given();
        let agrees = losses.is_none_or(|losses| each(&losses, about) == each(&problem.loss, about));
        check("loss", agrees, &spec.loss, &LossSpec::from(&problem.loss));
        let agrees = match spec.intercept {
            Some(intercept) => intercept == problem.intercept,
            None => matches!(problem.intercept, Intercept::Free | Intercept::Shrunk(_)),
        };
        check("intercept", agrees, &spec.intercept(), &problem.intercept);
        check("bias", spec.bias == about.bias, &spec.bias, &about.bias);
        let agrees = spec.scale == ScalingKind::Auto || spec.scale == about.scaling;
        check("scale", agrees, &spec.scale, &about.scaling);
        // Classes are not scaled, whatever the spec says.
        let agrees = match (spec.target_scale, about.target_scale) {
            (_, TargetScale::None) => true,
            (TargetScale::Auto, made) => made != TargetScale::Auto,
            // With six labels or more for each task there is nothing to shrink.
            (TargetScale::Shrunk, TargetScale::Task) => true,
            (asked, made) => asked == made,
        };
        check("target_scale", agrees, &spec.target_scale, &about.target_scale);
        match &spec.kernel {
            Some(kernel) => check("kernel", same_kernel(kernel, &about.kernel), kernel, &about.kernel),
            None => {
                let agrees =
                    matches!(about.kernel, Kernel::Linear | Kernel::Precomputed | Kernel::Rbf { .. });
                check("kernel", agrees, &Kernel::Linear, &about.kernel);
            }
        }
        if let Weight::C(c) = spec.c {
            check("c", c == problem.c, &c, &problem.c);
        }
        found
    }
}

/// The loss of each task.
fn each(losses: &Losses, about: &About) -> Vec<LossKind> {
    match losses {
        Losses::Same(loss) => vec![loss.clone(); about.tasks.len()],
        Losses::PerTask(all) => all.clone(),
    }
}

/// A gamma that depends on the data is a number in the model.
fn same_kernel(own: &Kernel, stored: &Kernel) -> bool {
    match own {
        Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } | Kernel::Polynomial { gamma, .. }
            if !matches!(gamma, Gamma::Value(_)) =>
        {
            own.name() == stored.name()
        }
        _ => own == stored,
    }
}
