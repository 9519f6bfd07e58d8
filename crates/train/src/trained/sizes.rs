//! Whether the parts of a model file are of one size: each has its own checksum, so each may be honest and of another
//! model. What reads rows and what predicts takes for granted that they agree.

use super::Attachment;
use crate::{Error, Result};
use kinfolk::model::About;
use kinfolk_io::{Schema, Storage};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// How long the lists are that [`Residuals`](crate::Residuals) keep.
#[derive(Debug, Deserialize)]
struct ResidualLists {
    rows: usize,
    errors: Vec<IgnoredAny>,
    sizes: Vec<IgnoredAny>,
    #[serde(default)]
    factors: Vec<IgnoredAny>,
}

impl Attachment {
    /// # Errors
    /// If the model has another number of features or tasks than the schema, or than what was kept of held-out rows.
    pub(super) fn check_sizes(&self, about: &About) -> Result<()> {
        let differ = |what: &str, own: usize, of_model: usize| {
            let why = format!("the model file contradicts itself: {what} {own}, the model {of_model}");
            if own == of_model { Ok(()) } else { Err(Error::Spec(why)) }
        };
        // Kernel values have as many columns as there were rows in the file, of which some may have been learned from.
        if self.schema.storage != Storage::Kernel {
            differ("its schema has features:", self.schema.n_features, about.n_features)?;
            let named = named_features(&self.schema).unwrap_or(about.n_features);
            differ("its columns become features:", named, about.n_features)?;
        }
        let Some(residuals) = &self.outcome.residuals else { return Ok(()) };
        let lists: ResidualLists = serde_json::from_value(serde_json::to_value(residuals)?)?;
        differ("errors of held-out rows are of tasks:", lists.sizes.len(), about.tasks.len())?;
        if !lists.factors.is_empty() {
            differ("factors of held-out errors are of tasks:", lists.factors.len(), about.tasks.len())?;
        }
        // Of no more errors than there were rows some were kept, or all.
        match lists.errors.len() {
            1.. if lists.errors.len() <= lists.rows && lists.rows < usize::MAX => Ok(()),
            kept => {
                let rows = lists.rows;
                let why = format!("the model file contradicts itself: {kept} errors of {rows} held-out rows");
                Err(Error::Spec(why))
            }
        }
    }
}

/// How many features the columns of a schema become, if it names them.
fn named_features(schema: &Schema) -> Option<usize> {
    schema.features.as_ref().map(|features| features.iter().map(|feature| feature.names().len()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_held_out_errors_have_known_names() {
        let errors = (0..20).map(|i| crate::HeldOutError { task: i % 2, error: i as f64 }).collect();
        let kept = crate::Residuals::new(2, errors, kinfolk::TargetScale::Task).unwrap();
        let lists: ResidualLists = serde_json::from_value(serde_json::to_value(&kept).unwrap()).unwrap();
        let lengths = (lists.rows, lists.errors.len(), lists.sizes.len(), lists.factors.len());
        assert_eq!(lengths, (20, 20, 2, 2));
    }
}
