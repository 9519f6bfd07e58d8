//! Columns that are nearly the label itself: other outcomes, which nobody knows when predictions are made.

use kinfolk::{Inputs, Observations};
use kinfolk_io::{Feature, Schema};

/// A column that alone predicts the label with a larger correlation, of any sign, is named.
const MAX_CORRELATION: f64 = 0.98;

/// Fewer rows may be on a line by chance.
const MIN_ROWS: usize = 20;

/// Columns that a note names.
const MAX_NAMED: usize = 3;

/// Correlations of features with the label of each row, from rows that come in any number of pieces.
#[derive(Debug, Clone, Default)]
pub struct LabelCorrelations {
    rows: usize,
    mean: f64,
    /// Sum of squared differences from the mean.
    spread: f64,
    features: Vec<FeatureMoments>,
}

/// What is to be said about columns that nearly are the label, where each row has one.
pub(crate) fn outcome_note(
    inputs: &Inputs<'_>,
    observations: &Observations,
    schema: &Schema,
) -> Option<String> {
    if observations.len() > observations.n_inputs() {
        return None;
    }
    let mut labels = vec![f64::NAN; observations.n_inputs()];
    (0..observations.len()).for_each(|o| labels[observations.input(o)] = observations.label(o));
    let mut found = LabelCorrelations::default();
    found.add(inputs, &labels);
    found.note(schema)
}

/// Mean, sum of squared differences from it, and sum of products with those of the label.
#[derive(Debug, Clone, Copy, Default)]
struct FeatureMoments {
    mean: f64,
    spread: f64,
    product: f64,
}

impl LabelCorrelations {
    /// Takes more rows: dense features, and a label for each row, NaN if it is missing.
    pub fn add(&mut self, inputs: &Inputs<'_>, labels: &[f64]) {
        let Inputs::Dense(dense) = inputs else { return };
        self.features.resize(dense.cols(), FeatureMoments::default());
        let mut row = vec![0.0; dense.cols()];
        for (i, &label) in labels.iter().enumerate().filter(|(_, label)| label.is_finite()) {
            dense.load_range(i..i + 1, &mut row);
            self.rows += 1;
            let n = self.rows as f64;
            let before = label - self.mean;
            self.mean += before / n;
            let after = label - self.mean;
            self.spread += before * after;
            for (own, &x) in self.features.iter_mut().zip(&row) {
                let difference = x - own.mean;
                own.mean += difference / n;
                own.spread += difference * (x - own.mean);
                own.product += difference * after;
            }
        }
    }

    /// A sentence about columns that nearly are the label, the nearest first; `None` if there are none. Single values
    /// of words do not count.
    pub fn note(&self, schema: &Schema) -> Option<String> {
        if self.rows < MIN_ROWS {
            return None;
        }
        let mut first = 0;
        let mut near: Vec<(&str, f64)> = vec![];
        for feature in schema.features.iter().flatten() {
            if let (false, Some(own)) = (matches!(feature, Feature::OneHot { .. }), self.features.get(first))
            {
                let size = (own.spread.sqrt() * self.spread.sqrt()).max(f64::MIN_POSITIVE);
                let correlation = own.product / size;
                // Overflow gives NaN, of which nothing is said.
                if correlation.abs() > MAX_CORRELATION {
                    near.push((feature.column(), correlation));
                }
            }
            first += feature.names().len();
        }
        near.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let named = near.iter().take(MAX_NAMED);
        let named: Vec<String> = named.map(|(name, r)| format!("{name:?} (correlation {r:.3})")).collect();
        let more = near.len() - named.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let (column, _) = near.first()?;
        Some(format!(
            "nearly the label by itself: {}{more}; if that is another outcome, it is not known for new rows \
             (--drop {column:?} leaves it out)",
            named.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;
    use kinfolk_io::ColumnRoles;

    #[test]
    fn columns_that_nearly_are_the_label_are_named() {
        let label = |i: usize| (i * 7 % 23) as f64;
        let row = |i: usize| {
            [(i * 5 % 11) as f64, -3e5 * label(i) + (i % 2) as f64 + 1e9, label(i) + (i * 3 % 17) as f64]
        };
        let x: Vec<f64> = (0..60).flat_map(row).collect();
        let labels: Vec<f64> = (0..60).map(|i| if i == 5 { f64::NAN } else { label(i) }).collect();
        let mut schema = Schema::new(ColumnRoles::default(), None, 3);
        schema.features = Some(["age", "cost", "stay"].map(|name| Feature::Number(name.into())).to_vec());
        let whole = Inputs::from(Dense::f64(&x, 60, 3).unwrap());
        let mut found = LabelCorrelations::default();
        found.add(&whole, &labels);
        let note = found.note(&schema).unwrap();
        assert!(note.starts_with("nearly the label by itself: \"cost\" (correlation -1.000); if"), "{note}");
        assert!(note.ends_with("(--drop \"cost\" leaves it out)"), "{note}");
        // In pieces it is the same; of few rows nothing is said.
        let mut pieces = LabelCorrelations::default();
        for rows in [0..40_u32, 40..60] {
            let part: Vec<u32> = rows.clone().collect();
            pieces.add(&whole.select_rows(&part), &labels[rows.start as usize..rows.end as usize]);
        }
        assert_eq!(pieces.note(&schema).unwrap(), note);
        let mut few = LabelCorrelations::default();
        few.add(&whole.select_rows(&(0..19).collect::<Vec<u32>>()), &labels[..19]);
        assert_eq!(few.note(&schema), None);
        assert_eq!(LabelCorrelations::default().note(&schema), None);
    }
}
