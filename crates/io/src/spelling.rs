//! Words that differ in letter case, or in spaces around them, only: people mean one word, and programs see several.

use crate::columns::cells::folded;
use crate::error::{listed, quoted};
use crate::label_encoding::names_in_use;
use crate::{Feature, Labels, Schema, Table, TargetValues, Targets};
use std::collections::BTreeMap;

/// Groups of such words.
pub(crate) fn differ_in_case<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for word in words {
        groups.entry(folded(word)).or_default().push(word.to_string());
    }
    groups.into_values().filter(|group| group.len() > 1)
}

/// A sentence for tasks, labels and each column of words that have such words.
pub(crate) fn notes(table: &Table, schema: &Schema) -> Vec<String> {
    let mut notes = vec![];
    let mut look = |what: &str, words: Vec<String>| {
        let groups: Vec<Vec<String>> = differ_in_case(words.iter().map(String::as_str)).collect();
        if let Some(first) = groups.first() {
            let more =
                if groups.len() > 1 { format!(", and {} more", groups.len() - 1) } else { String::new() };
            let n: usize = groups.iter().map(Vec::len).sum();
            notes.push(format!(
                "{what}: {n} different spellings of {} that differ in letter case or spaces only, such as {}{more}; \
                 --ignore-case makes one of them",
                if groups.len() == 1 { "1 word".into() } else { format!("{} words", groups.len()) },
                listed(first),
            ));
        }
    };
    match &table.targets {
        Targets::Tasks { task, label } => {
            look("tasks", names_in_use(task).collect());
            if let Some(Labels::Words(labels)) = label {
                look("labels", names_in_use(labels).collect());
            }
        }
        Targets::Classes(class) => look("classes", names_in_use(class).collect()),
        Targets::Wide { .. } | Targets::None => {}
    }
    for TargetValues { column, negative, positive } in &schema.target_values {
        look(&format!("target {}", quoted(column)), vec![negative.clone(), positive.clone()]);
    }
    for feature in schema.features.iter().flatten() {
        if let Feature::OneHot { column, values, .. } = feature {
            look(&format!("column {}", quoted(column)), values.clone());
        }
    }
    notes
}

impl Schema {
    /// What is to be said about spellings of words in a table that was read with this schema.
    pub fn spelling_notes(&self, table: &Table) -> Vec<String> {
        if self.columns.ignore_case { vec![] } else { notes(table, self) }
    }
}
