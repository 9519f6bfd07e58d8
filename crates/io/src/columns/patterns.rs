//! Columns chosen by a pattern: `tox_*`.

use super::ColumnNames;
use crate::error::quoted;
use crate::text::nfc;
use crate::{ColumnRoles, FoldsBy, Hint, Result, Role};
use std::collections::{BTreeMap, HashSet};

impl ColumnRoles {
    /// The same with the names of columns as the file has them, patterns and names of lists replaced by the columns
    /// that fit, and what is to be said about it. A column that is named elsewhere fits no pattern.
    pub(crate) fn expanded(&self, names: &ColumnNames) -> Result<(ColumnRoles, Vec<String>)> {
        let (mut roles, said) = self.as_called(names);
        let exact: HashSet<String> = {
            let named = roles.named().map(|(_, name)| name).chain(roles.features.iter().flatten());
            named.filter(|name| names.find(name).is_some()).cloned().collect()
        };
        let lists = [
            (&mut roles.target, Role::Target),
            (&mut roles.drop, Role::Drop),
            (&mut roles.one_hot, Role::OneHot),
            (&mut roles.keep, Role::Keep),
        ];
        for (list, role) in
            lists.into_iter().chain(roles.features.as_mut().map(|list| (list, Role::Features)))
        {
            let mut all = vec![];
            for name in list.iter() {
                if let Some(numbers) = names.numbers_of_list(name) {
                    all.extend_from_slice(numbers);
                    continue;
                }
                if names.find(name).is_some() || !name.contains(['*', '?']) {
                    all.push(name.clone());
                    continue;
                }
                let fits = |i: &usize| {
                    let column = names.name(*i);
                    !exact.contains(column) && !all.iter().any(|other| other == column) && fits(name, column)
                };
                let found: Vec<String> =
                    (0..names.len()).filter(fits).map(|i| names.name(i).to_string()).collect();
                if found.is_empty() {
                    let error = wrong!("no column fits {}; the columns are {}", quoted(name), names.listed());
                    return Err(error.hint(Hint::CheckRoles(vec![role])));
                }
                all.extend(found);
            }
            *list = all;
        }
        roles.decimals = of_columns(&roles.decimals, names)?;
        roles.only_missing_of = of_columns(&roles.only_missing_of, names)?;
        Ok((roles, said))
    }

    /// The same with the names of columns as the file has them. A name in other letters is that of the only column that
    /// fits, aloud.
    fn as_called(&self, names: &ColumnNames) -> (ColumnRoles, Vec<String>) {
        let (mut roles, mut said) = (self.clone(), vec![]);
        let mut rename = |name: &mut String| {
            let is_known = names.find(name).is_some() || names.numbers_of_list(name).is_some();
            let in_other_case = || names.find_in_other_case(name).filter(|_| !is_known);
            if let Some(column) = in_other_case() {
                said.push(format!("{} is taken for the column {}", quoted(name), quoted(names.name(column))));
            }
            match names.find(name).or_else(in_other_case) {
                Some(column) => names.name(column).clone_into(name),
                // Patterns, too, have accents.
                None => *name = nfc(name.as_str().into()).into_owned(),
            }
        };
        let one = [&mut roles.task, &mut roles.weight, &mut roles.offset, &mut roles.split];
        one.into_iter().flatten().for_each(&mut rename);
        let lists = [&mut roles.target, &mut roles.drop, &mut roles.one_hot, &mut roles.keep];
        lists.into_iter().chain(&mut roles.features).flatten().for_each(&mut rename);
        if let Some(FoldsBy::Group(name) | FoldsBy::Time(name)) = &mut roles.folds_by {
            rename(name);
        }
        roles.decimals = renamed(&roles.decimals, &mut rename);
        roles.only_missing_of = renamed(&roles.only_missing_of, &mut rename);
        said.dedup();
        (roles, said)
    }
}

fn renamed<T: Clone>(said: &BTreeMap<String, T>, rename: &mut dyn FnMut(&mut String)) -> BTreeMap<String, T> {
    let one = |(name, value): (&String, &T)| {
        let mut name = name.clone();
        rename(&mut name);
        (name, value.clone())
    };
    said.iter().map(one).collect()
}

/// What is said of columns by name or by pattern, of each that fits.
fn of_columns<T: Clone>(said: &BTreeMap<String, T>, names: &ColumnNames) -> Result<BTreeMap<String, T>> {
    let mut of_columns = BTreeMap::new();
    for (name, value) in said {
        let is_pattern = names.find(name).is_none() && name.contains(['*', '?']);
        let is_meant = |column: &str| if is_pattern { fits(name, column) } else { column == name };
        let found = (0..names.len()).map(|i| names.name(i)).filter(|column| is_meant(column));
        let before = of_columns.len();
        of_columns.extend(found.map(|column| (column.to_string(), value.clone())));
        if of_columns.len() == before {
            return Err(wrong!("there is no column {}; {}", quoted(name), names.instead_of(name)));
        }
    }
    Ok(of_columns)
}

/// Whether a text fits a pattern, in which `*` is any text and `?` any character.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut last_star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match last_star {
                // The star takes one more character.
                Some((star, from)) => {
                    last_star = Some((star, from + 1));
                    (p, t) = (star + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text() {
        for (pattern, text, wanted) in [
            ("tox_*", "tox_", true),
            ("tox_*", "tox_a_b", true),
            ("tox_*", "atox_1", false),
            ("*_1?", "a_b_12", true),
            ("*_1?", "a_b_1", false),
            ("a*b*c", "aXbYbZc", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn a_column_named_elsewhere_does_not_fit() {
        let names: Vec<String> = ["t_1", "t_2", "t_3", "x"].map(String::from).to_vec();
        let names = ColumnNames::new(names).unwrap();
        let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let roles = ColumnRoles { target: list(&["t_*"]), drop: list(&["t_2"]), ..ColumnRoles::default() };
        assert_eq!(roles.expanded(&names).unwrap().0.target, list(&["t_1", "t_3"]));
        let other = ColumnRoles { target: list(&["X"]), drop: list(&["T_2"]), ..ColumnRoles::default() };
        let (other, said) = other.expanded(&names).unwrap();
        assert_eq!((other.target, other.drop), (list(&["x"]), list(&["t_2"])));
        assert_eq!(said, ["\"X\" is taken for the column \"x\"", "\"T_2\" is taken for the column \"t_2\""]);
        let none = ColumnRoles { target: list(&["u*"]), ..ColumnRoles::default() };
        assert!(none.expanded(&names).unwrap_err().to_string().starts_with("no column fits \"u*\""));
    }
}
