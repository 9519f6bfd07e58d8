//! Names that somebody may have meant.

use crate::error::{listed, quoted};

/// Names that are listed where there are more.
const MAX_NAMES: usize = 10;
/// Characters of a name that are compared.
const MAX_CHARS: usize = 60;
/// Names less alike than this are not near.
const MIN_NEAR: f64 = 0.4;
/// Names as alike as this may be meant.
const MIN_LIKENESS: f64 = 0.75;

/// What is said about a name that is not there: the one that may be meant, and the names that there are, the nearest
/// ones of many.
pub(crate) fn not_there(name: &str, names: &[String]) -> String {
    let mut near: Vec<(f64, &String)> = names.iter().map(|other| (likeness(name, other), other)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let meant = near.first().filter(|(likeness, _)| *likeness >= MIN_LIKENESS);
    let meant = meant.map_or(String::new(), |(_, other)| format!("did you mean {}? ", quoted(other)));
    let is_near = near.first().is_some_and(|(likeness, _)| *likeness >= MIN_NEAR);
    if names.len() <= MAX_NAMES || !is_near {
        return format!("{meant}the columns are {}", listed(names));
    }
    let nearest: Vec<String> = near.iter().take(MAX_NAMES).map(|(_, other)| quoted(other)).collect();
    format!("{meant}of the {} columns the nearest are {}", names.len(), nearest.join(", "))
}

/// The one of some names that may be meant by another one.
pub fn meant(name: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let alike = names.into_iter().map(|other| (likeness(name, &other), other));
    let (likeness, other) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= MIN_LIKENESS).then_some(other)
}

/// From 0 to 1: 1 for names that differ in case, spaces and underscores at most.
fn likeness(a: &str, b: &str) -> f64 {
    // The work grows with the product of the lengths.
    let plain = |name: &str| -> String {
        let letters = name.chars().take(MAX_CHARS).flat_map(char::to_lowercase);
        letters.filter(|c| !" _-.".contains(*c)).collect()
    };
    let (a, b) = (plain(a), plain(b));
    // A start of a name is often what people remember of it.
    let start = a.chars().count() >= 3 && b.starts_with(&a);
    strsim::normalized_damerau_levenshtein(&a, &b).max(if start { MIN_LIKENESS } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered() {
        let names: Vec<String> = ["School", "score", "age"].map(String::from).to_vec();
        assert_eq!(
            not_there("school", &names),
            "did you mean \"School\"? the columns are \"School\", \"score\", \"age\""
        );
        assert!(not_there("scroe", &names).starts_with("did you mean \"score\"?"));
        assert!(not_there("scho", &names).starts_with("did you mean \"School\"?"));
        assert_eq!(not_there("price", &names), "the columns are \"School\", \"score\", \"age\"");
        let many: Vec<String> = (0..40).map(|i| format!("x{i}")).chain(["score".into()]).collect();
        let said = not_there("Score", &many);
        assert!(
            said.starts_with("did you mean \"score\"? of the 41 columns the nearest are \"score\", \"x"),
            "{said}"
        );
    }
}
