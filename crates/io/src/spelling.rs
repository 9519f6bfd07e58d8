//! Words that differ in letter case, or in spaces around them, only: people mean one word, and programs see several.

use crate::columns::cells::folded;
use crate::error::{listed, quoted};
use crate::label_encoding::{counts_in_use, names_in_use};
use crate::text::nfc;
use crate::{Categorical, Feature, Labels, Schema, Table, TargetValues, Targets, two_values};
use std::collections::BTreeMap;

/// Groups of such words.
pub(crate) fn differ_in_case<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for word in words {
        groups.entry(folded(word)).or_default().push(word.to_string());
    }
    groups.into_values().filter(|group| group.len() > 1)
}

/// Most different words that are counted: more are free text or identifiers.
const MAX_WORDS: usize = 100_000;

/// How often words are written in which way.
#[derive(Default)]
pub(crate) struct SpellingCounts(BTreeMap<String, BTreeMap<String, u64>>);

impl SpellingCounts {
    /// Counts a word, if it has letters.
    pub(crate) fn add(&mut self, word: &str) {
        let key = folded(word);
        if self.0.len() >= MAX_WORDS && !self.0.contains_key(&key) || !word.contains(char::is_alphabetic) {
            return;
        }
        *self.0.entry(key).or_default().entry(nfc(word.trim().into()).into_owned()).or_default() += 1;
    }

    /// The most frequent spelling of each word; of equally frequent ones the last, which has small letters.
    pub(crate) fn finish(self) -> BTreeMap<String, String> {
        let most = |spellings: BTreeMap<String, u64>| spellings.into_iter().max_by_key(|(_, n)| *n);
        let words = self.0.into_iter();
        words.filter_map(|(key, spellings)| Some((key, most(spellings)?.0))).collect()
    }
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
    let mut two = None;
    match &table.targets {
        Targets::Tasks { task, label } => {
            look("tasks", names_in_use(task).collect());
            if let Some(Labels::Words(labels)) = label {
                two = two_words(labels);
                if two.is_none() {
                    look("labels", names_in_use(labels).collect());
                }
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
    notes.extend(two);
    notes
}

/// What is to be said about labels that are several spellings of two words.
fn two_words(labels: &Categorical) -> Option<String> {
    let values = counts_in_use(labels);
    let (negative, positive) = two_values::of_several(&values)?;
    let side = |word: &str, sign: f64| {
        let is_other = |value: &&String| {
            *value != word && two_values::spelling_of(value, &negative, &positive) == Some(sign)
        };
        let others: Vec<String> = values.iter().map(|(value, _)| value).filter(is_other).cloned().collect();
        let also = if others.is_empty() { String::new() } else { format!(" (also {})", listed(&others)) };
        format!("{}{also}", quoted(word))
    };
    Some(format!(
        "labels in several spellings are read as two: {} and {}",
        side(&negative, -1.0),
        side(&positive, 1.0)
    ))
}

impl Schema {
    /// What is to be said about spellings of words in a table that was read with this schema.
    pub fn spelling_notes(&self, table: &Table) -> Vec<String> {
        if self.columns.ignore_case { vec![] } else { notes(table, self) }
    }
}
