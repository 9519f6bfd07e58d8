//! Scalings of features and labels as tensors.

use crate::tensors::{Tensor, Tensors, doubles, wrong};
use crate::{Losses, Result, Scaling, ScalingKind, TargetScale, TargetScaling};

/// Adds the numbers of scalings to a list of tensors.
pub(crate) fn push_scalings(
    out: &mut Vec<(&'static str, Tensor)>,
    scaling: &Scaling,
    targets: Option<&TargetScaling>,
) {
    let list = |values: &[f64]| doubles(values, vec![values.len()]);
    if let Some((mean, factor)) = scaling.mean_and_factor() {
        let kept = scaling.means_not_subtracted();
        out.extend(mean.map(|mean| ("scale_mean", list(mean))));
        out.extend(kept.map(|mean| ("feature_mean", list(mean))));
        out.push(("scale_factor", list(factor)));
    }
    if let Some(scaling) = targets {
        out.extend(scaling.centre().map(|centre| ("target_centre", list(centre))));
        out.push(("target_scale", list(scaling.spread())));
    }
}

impl Tensors<'_> {
    /// A scaling of features of this kind.
    pub(crate) fn scaling(&mut self, kind: ScalingKind, n_features: usize) -> Result<Scaling> {
        let features = [n_features];
        Ok(match kind {
            ScalingKind::Auto => {
                return Err(wrong("about", "scaling auto is a wish, not what was done to the inputs"));
            }
            ScalingKind::None => Scaling::None,
            ScalingKind::Unit => Scaling::Unit,
            ScalingKind::Mixed => {
                let subtracted =
                    self.if_listed("scale_mean", |tensors, name| tensors.doubles(name, &features))?;
                let centred = subtracted.is_some();
                let mean = match subtracted {
                    Some(mean) => mean,
                    None => self.doubles("feature_mean", &features)?,
                };
                Scaling::Mixed { centred, mean, factor: self.doubles("scale_factor", &features)? }
            }
            ScalingKind::Spread => {
                // Files of 0.1.0 do not have it.
                let mean =
                    self.if_listed("feature_mean", |tensors, name| tensors.doubles(name, &features))?;
                let factor = self.doubles("scale_factor", &features)?;
                Scaling::Spread { mean: mean.unwrap_or_default(), factor }
            }
            ScalingKind::Standard => {
                let mean = self.doubles("scale_mean", &features)?;
                Scaling::Standard { mean, factor: self.doubles("scale_factor", &features)? }
            }
        })
    }

    /// A scaling of labels of this kind, for these losses.
    pub(crate) fn target_scaling(
        &mut self,
        kind: TargetScale,
        losses: &Losses,
        n_tasks: usize,
    ) -> Result<Option<TargetScaling>> {
        if kind == TargetScale::None {
            return Ok(None);
        }
        let centre = self.if_listed("target_centre", |tensors, name| tensors.doubles(name, &[n_tasks]))?;
        let spread = self.doubles("target_scale", &[n_tasks])?;
        Ok(Some(TargetScaling::from_parts(kind, centre, spread, losses)))
    }
}
