//! Which decimal sign numbers in text have: one in the whole file or, where columns differ, each column its own. A
//! column with both signs is read number by number, if no number of it has two readings. Nothing is guessed, and what
//! the caller says of a column is not looked for.

use super::survey::ColumnSurvey;
use crate::error::quoted;
use crate::{Decimal, Error, Hint};
use std::collections::BTreeMap;

/// What is found about the signs of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DecimalSigns {
    /// That of the whole file, if it is not a point.
    pub(super) file: Option<Decimal>,
    /// Those of columns that have another one.
    pub(super) columns: BTreeMap<String, Decimal>,
}

impl DecimalSigns {
    /// Of columns with their names; those of some are `known`.
    pub(super) fn find<'a>(
        surveys: impl Iterator<Item = (&'a str, &'a ColumnSurvey)> + Clone,
        known: &BTreeMap<String, Decimal>,
    ) -> Self {
        let own = surveys.filter(|(name, _)| !known.contains_key(*name));
        let (comma, point) =
            own.clone().fold((false, false), |(c, p), (_, s)| (c || s.has_comma, p || s.has_point));
        let found = match (comma, point) {
            (true, false) => return DecimalSigns { file: Some(Decimal::Comma), columns: known.clone() },
            (true, true) => {
                own.filter_map(|(name, found)| Some((name.to_string(), own_sign(found)?))).collect()
            }
            (false, _) => BTreeMap::new(),
        };
        DecimalSigns {
            file: None,
            columns: known.iter().map(|(name, sign)| (name.clone(), *sign)).chain(found).collect(),
        }
    }
}

/// The sign of a column that does not have points, in a file with both signs.
fn own_sign(found: &ColumnSurvey) -> Option<Decimal> {
    let are_numbers = found.has_comma && found.is_nearly_all(found.numbers.n + found.other_sign);
    match (are_numbers, found.has_point, &found.first_with_two_readings) {
        (true, false, _) => Some(Decimal::Comma),
        (true, true, None) => Some(Decimal::Either),
        _ => None,
    }
}

/// What is wrong with columns of numbers of which one has two readings, where nothing in the column or the file tells
/// which is meant. `may_have_commas` says that the format does not tell either.
pub(super) fn unclear<'a>(
    surveys: impl Iterator<Item = (&'a str, &'a ColumnSurvey)> + Clone,
    known: &BTreeMap<String, Decimal>,
    may_have_commas: bool,
) -> Vec<Error> {
    let own = surveys.filter(|(name, _)| !known.contains_key(*name));
    let is_clear = own.clone().any(|(_, found)| found.has_comma || found.has_point);
    // Where columns differ, another column tells nothing.
    let differ = !DecimalSigns::find(own.clone(), &BTreeMap::new()).columns.is_empty();
    if !differ && (is_clear || !may_have_commas) {
        return vec![];
    }
    let unclear = |(name, found): (&str, &ColumnSurvey)| {
        let (place, text) = found.first_with_two_readings.as_ref()?;
        let is_clear = found.has_comma || found.has_point;
        if is_clear || differ && found.numbers.n <= found.words {
            return None;
        }
        let error =
            wrong!("{} can be read in two ways: the sign may separate thousands", quoted(text.trim_ascii()));
        let hint = if differ { Hint::DecimalOf(name.into()) } else { Hint::Decimal };
        Some(place.mark(error).in_column(name).hint(hint))
    };
    own.filter_map(unclear).collect()
}

/// What is wrong with a column whose words are numbers with the decimal sign that the rest of the file, or of the
/// column, does not have.
pub(super) fn other_sign(name: &str, found: &ColumnSurvey) -> Option<Error> {
    let are_numbers = found.other_sign > 0 && found.other_sign + found.numbers.n == found.present();
    let (place, word) = found.first_word.as_ref().filter(|_| are_numbers)?;
    let word = quoted(word.trim_ascii());
    let unclear = found.first_with_two_readings.as_ref().filter(|_| found.has_comma && found.has_point);
    Some(match unclear {
        Some((unclear_place, unclear)) => {
            let unclear = quoted(unclear.trim_ascii());
            let error = wrong!(
                "{unclear} can be read in two ways, and this column has decimal commas as well as points ({word} in \
                 {place}); write all numbers with the same sign"
            );
            unclear_place.mark(error).hint(Hint::EitherDecimal(name.into()))
        }
        None => {
            let error = wrong!(
                "its numbers, such as {word}, have another decimal sign than the rest of the file; write all numbers \
                 with the same sign"
            );
            place.mark(error).hint(Hint::EitherDecimal(name.into()))
        }
    })
}
