//! Columns of words that become one feature per word.

use crate::Categorical;
use std::collections::HashMap;

/// Most values of a one-hot column. A column with more is an identifier that was taken for a category.
pub(super) const MAX_VALUES: usize = 1_000_000;

/// The values of a one-hot column, and the feature of each.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct OneHot {
    values: Vec<String>,
    code: HashMap<String, u32>,
}

impl OneHot {
    /// Values in the order of their features.
    pub(crate) fn new(values: Vec<String>) -> Self {
        let code = values.iter().enumerate().map(|(i, value)| (value.clone(), i as u32)).collect();
        OneHot { values, code }
    }

    /// Values as they were met, to be put in increasing order: as numbers if all are integers, else as bytes.
    pub(crate) fn sorted(values: impl IntoIterator<Item = String>) -> Self {
        let names = Categorical::from_words(&values.into_iter().collect::<Vec<_>>()).names;
        OneHot::new(names.iter().collect())
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// Which of the features a value has.
    pub(crate) fn code(&self, value: &str) -> Option<u32> {
        self.code.get(value).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_increasing_order() {
        let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(OneHot::sorted(words(&["10", "9", "10"])).values(), words(&["9", "10"]));
        let values = OneHot::sorted(words(&["b", "10", "9", "a"]));
        assert_eq!(values.values(), words(&["10", "9", "a", "b"]));
        assert_eq!((values.code("a"), values.code("c")), (Some(2), None));
    }
}
