//! What a schema does to the data, in words: everything that nobody asked for is said once. Options of the command are
//! in parentheses that begin with `--`, so that other interfaces can leave them out.

use crate::columns::{dropped_rows_in_words, empty_rows_in_words};
use crate::error::quoted;
use crate::{Decimal, Feature, Missing, Schema, TargetValues, dates, text};

/// Columns that are named in a note; the rest is counted.
const MAX_NAMED: usize = 8;

impl Schema {
    /// What was done to the columns, for people; nothing if all are numbers as they are.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.remarks.clone();
        let features = || self.features.iter().flatten();
        let words = features().filter_map(|feature| match feature {
            Feature::OneHot { column, values, other, no: None, .. } => {
                let rest = if *other { " and the rest together" } else { "" };
                Some(format!("{} ({}{rest})", quoted(column), values.len()))
            }
            _ => None,
        });
        note(&mut notes, "words became a feature for each value: ", words.collect(), "");
        let answers = features().filter_map(|feature| match feature {
            Feature::OneHot { column, values, no: Some(no), .. } => {
                let yes = values.first().map_or(String::new(), |yes| quoted(yes));
                Some(format!("{} ({yes}, {})", quoted(column), quoted(no)))
            }
            _ => None,
        });
        note(&mut notes, "words became 1 and 0: ", answers.collect(), "");
        let dates = features().filter_map(|feature| match feature {
            Feature::Date { column, order, .. } => Some(format!("{} ({order})", quoted(column))),
            _ => None,
        });
        let dates: Vec<String> = dates.collect();
        let first = features().find(|feature| matches!(feature, Feature::Date { .. })).map(Feature::column);
        let tail = first.filter(|_| self.columns.date_parts.is_empty()).map_or(String::new(), |first| {
            let first = if first.contains(' ') { quoted(first) } else { first.to_string() };
            format!(
                " (--date-parts month,weekday adds their parts, --folds-by time:{first} scores later rows)"
            )
        });
        note(&mut notes, "dates became days since 1970-01-01: ", dates, &tail);
        let zones = features().filter_map(|feature| match feature {
            Feature::Date { column, zone: true, .. } => Some(quoted(column)),
            _ => None,
        });
        let parts = if self.columns.date_parts.is_empty() { "" } else { ", and so are their parts" };
        note(&mut notes, &format!("times with a zone became UTC{parts}: "), zones.collect(), "");
        let filled = features().filter_map(|feature| match feature {
            Feature::Filled { column, rows, .. } => {
                Some(format!("{} ({rows} row{})", quoted(column), if *rows == 1 { "" } else { "s" }))
            }
            Feature::OneHot { .. } => None,
            other => other.is_filled().then(|| quoted(other.column())),
        });
        let how = match self.columns.missing {
            Missing::Zero => "0",
            Missing::Median => "the median",
            _ => "the mean",
        };
        let is_number = |feature: &&Feature| !matches!(feature, Feature::OneHot { .. });
        let numbers = || features().filter(is_number);
        let marked = numbers().filter(|feature| feature.has_indicator()).count();
        let tail = match (marked, numbers().filter(|feature| feature.is_filled()).count()) {
            (0, _) => format!("; filled in with {how} (--missing)"),
            (1, 1) => format!("; filled in with {how}, and a feature says where (--missing)"),
            (_, all) if all == marked => {
                format!("; filled in with {how}, and a feature for each says where (--missing)")
            }
            _ => {
                let say = if marked == 1 { "1 feature says" } else { &*format!("{marked} features say") };
                format!(
                    "; filled in with {how}, and {say} where: for columns that lack at least 5 %, and one for columns \
                     that lack the same rows (--missing)"
                )
            }
        };
        note(&mut notes, "missing values: ", filled.collect(), &tail);
        let becomes_share = |feature: &Feature| matches!(feature, Feature::OneHot { fill: Some(_), .. });
        let shares = features().filter(|feature| feature.is_filled() && becomes_share(feature));
        let shares = shares.map(|feature| quoted(feature.column())).collect();
        note(&mut notes, &format!("missing words of two become {how} of 1 and 0: "), shares, "");
        let words = |is: bool| {
            let is_no_share = |feature: &Feature| feature.has_indicator() || !becomes_share(feature);
            let fits = move |feature: &&Feature| {
                feature.is_filled() && feature.has_indicator() == is && is_no_share(feature)
            };
            let words = features().filter(|feature| !is_number(feature)).filter(fits);
            words.map(|feature| quoted(feature.column())).collect::<Vec<_>>()
        };
        note(&mut notes, "missing words have a feature of their own: ", words(true), "");
        note(&mut notes, "missing words have none of the features of their column: ", words(false), "");
        if self.columns.ignore_case {
            notes.push(
                "words, labels and tasks that differ in letter case only are one (--ignore-case)".into(),
            );
        }
        match self.columns.decimal {
            Some(Decimal::Comma) => notes.push("numbers are read with a decimal comma (--decimal)".into()),
            Some(Decimal::Either) => {
                notes.push("numbers are read with the decimal sign that each has (--decimal)".into());
            }
            _ => {}
        }
        let with = |sign: Decimal| {
            let fit = self.columns.decimals.iter().filter(move |(_, own)| **own == sign);
            fit.map(|(column, _)| quoted(column)).collect::<Vec<_>>()
        };
        let tail = ", and with a decimal point elsewhere (--decimal)";
        note(&mut notes, "numbers are read with a decimal comma in ", with(Decimal::Comma), tail);
        let tail = ", where some have a decimal comma and others a point (--decimal)";
        note(&mut notes, "each number is read with its own decimal sign in ", with(Decimal::Either), tail);
        notes.extend(empty_rows_in_words(self.empty_rows));
        notes.extend(dropped_rows_in_words(self.dropped_rows).map(|said| said + " (--missing drop)"));
        self.note_targets(&mut notes);
        let left_out =
            self.left_out.iter().map(|column| format!("{} ({})", quoted(&column.column), column.why));
        note(&mut notes, "left out: ", left_out.collect(), "");
        notes
    }

    /// The name of a feature in quotes, or its number.
    pub fn feature_in_words(&self, feature: usize) -> String {
        let names = self.feature_names().unwrap_or_default();
        names.get(feature).map_or_else(|| format!("feature {feature}"), |name| quoted(name))
    }

    /// A value of a feature: a date, or a number with four digits.
    pub fn value_in_words(&self, feature: usize, value: f64) -> String {
        let mut first = 0;
        let is_date = self.features.iter().flatten().any(|own| {
            let is = first == feature && matches!(own, Feature::Date { .. });
            first += own.names().len();
            is
        });
        if is_date { dates::text(value) } else { text::rounded(value) }
    }

    /// Which values of targets became -1 and +1; targets of the same values together.
    fn note_targets(&self, notes: &mut Vec<String>) {
        let mut pairs: Vec<(&str, &str, Vec<String>)> = vec![];
        for TargetValues { column, negative, positive } in &self.target_values {
            match pairs.iter_mut().find(|(n, p, _)| n == negative && p == positive) {
                Some((_, _, columns)) => columns.push(quoted(column)),
                None => pairs.push((negative, positive, vec![quoted(column)])),
            }
        }
        for (negative, positive, columns) in pairs {
            let head =
                format!("targets: {} became -1 and {} became +1 in ", quoted(negative), quoted(positive));
            note(notes, &head, columns, "");
        }
    }
}

fn note(notes: &mut Vec<String>, head: &str, mut parts: Vec<String>, tail: &str) {
    if parts.is_empty() {
        return;
    }
    let more = parts.len().saturating_sub(MAX_NAMED);
    parts.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    notes.push(format!("{head}{}{more}{tail}", parts.join(", ")));
}
