//! Columns that are alike by their names: `tox_1`, `tox_2`, ...

/// What the names of a family begin with, if a name ends in a number: `tox_` of `tox_12`.
///
/// ```
/// assert_eq!(kinfolk_io::family("tox_12"), Some("tox_"));
/// assert_eq!(kinfolk_io::family("age"), None);
/// assert_eq!(kinfolk_io::family("2024"), None);
/// ```
pub fn family(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (!stem.is_empty() && stem.len() < name.len()).then_some(stem)
}
