//! What the columns of a file mean.

use crate::failure::{Failure, Result};
use clap::{Arg, Args};
use kinfolk_io::{ColumnRoles, DateOrder, DatePart, Decimal, MAX_LEVELS, Missing};
use std::convert::Infallible;
use std::str::FromStr;

/// Columns of files with named columns; arrays of npz files where they have other names than usual.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns of the data")]
pub(crate) struct ColumnArgs {
    /// The column that says which task a row belongs to.
    #[arg(long, value_name = "COL")]
    task: Option<String>,
    /// The column to be learned; several, or a pattern such as 'tox_*' = one task each. An empty cell is a missing
    /// label.
    #[arg(long, value_name = "COL,...")]
    target: Vec<NameList>,
    /// The columns to learn from [default: all others].
    #[arg(long, value_name = "COL,...")]
    features: Option<Vec<NameList>>,
    /// Columns to leave out.
    #[arg(long, value_name = "COL,...")]
    drop: Vec<NameList>,
    /// Columns that are not learned from, and that predictions carry along.
    #[arg(long, value_name = "COL,...")]
    keep: Vec<NameList>,
    /// Columns to turn into one feature per value, however many, even if the values are numbers.
    #[arg(long, value_name = "COL,...")]
    one_hot: Vec<NameList>,
    #[arg(long, value_name = "N", help = max_levels_help())]
    max_levels: Option<usize>,
    /// What becomes of missing values of features: mean, median or zero, and where at least 5 % are missing a feature
    /// that says where they were; drop (the row), or error [default: mean].
    #[arg(long, value_name = "mean|median|zero|drop|error")]
    missing: Option<Missing>,
    /// More texts that stand for a missing value, such as ? or -999. May be repeated.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    missing_word: Vec<String>,
    /// The only texts that stand for a missing value, in place of NA, NaN, null and the like, or none of them: an empty
    /// cell is one still. COL=... is for a column, such as one of names; may be repeated.
    #[arg(long, value_name = "[COL=]none|TEXT,...", allow_hyphen_values = true)]
    missing_words: Vec<MissingWords>,
    /// Lines of csv files above the header, which are left out [default: those that look like a title].
    #[arg(long, value_name = "N")]
    skip_lines: Option<u64>,
    /// Parts of dates that become features beside the date itself.
    #[arg(long, value_name = "month,weekday,hour", value_delimiter = ',')]
    date_parts: Vec<DatePart>,
    /// How dates such as 3/4/2024 are to be read: day first (dmy) or month first (mdy) [default: as the column shows].
    #[arg(long, value_name = "dmy|mdy|ymd")]
    date_order: Option<DateOrder>,
    /// Decimal sign of numbers in text: a point, a comma, or either as each number shows (1,5 and 2.5; a single sign is
    /// a decimal sign); COL=SIGN is for a column, and may be repeated [default: as the columns show]. With a comma,
    /// predict writes csv with semicolons and decimal commas.
    #[arg(long, value_name = "[COL=].|,|either")]
    decimal: Vec<DecimalSign>,
    /// The column of weights.
    #[arg(long, value_name = "COL")]
    weight: Option<String>,
    /// The column of offsets: a known part of each prediction, such as the logarithm of an exposure.
    #[arg(long, value_name = "COL")]
    offset: Option<String>,
    /// The column that says which part (train, test, ...) a row belongs to.
    #[arg(long, value_name = "COL")]
    split_column: Option<String>,
    /// The target's values are classes, even if they are numbers.
    #[arg(long)]
    classes: bool,
    /// Words, labels and tasks that differ only in letter case, or in spaces around them, are the same (Yes, yes, YES),
    /// and have the most frequent spelling.
    #[arg(long)]
    ignore_case: bool,
    /// Whether indices of svm files count from 0; auto: if one is 0, or as the file of the fit [default: auto].
    #[arg(long, value_name = "auto|true|false")]
    zero_based: Option<ZeroBased>,
    /// Keep inputs dense however many zeros there are.
    #[arg(long)]
    dense: bool,
}

fn max_levels_help() -> String {
    format!(
        "Most values of a column of words that become a feature each; the rest is one feature [default: {MAX_LEVELS}]"
    )
}

/// Names separated by commas; a name with a comma is in double quotes.
#[derive(Debug, Clone, PartialEq)]
struct NameList(Vec<String>);

impl FromStr for NameList {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let names = reader.records().next().and_then(|record| record.ok());
        let whole = || NameList(vec![text.to_string()]);
        Ok(names.map_or_else(whole, |names| NameList(names.iter().map(str::to_string).collect())))
    }
}

/// The decimal sign of a file, or of a column.
#[derive(Debug, Clone, PartialEq)]
struct DecimalSign {
    column: Option<String>,
    sign: Decimal,
}

impl FromStr for DecimalSign {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (column, sign) = match text.rsplit_once('=') {
            Some((column, sign)) => (Some(column.to_string()), sign),
            None => (None, text),
        };
        Ok(DecimalSign { column, sign: sign.parse()? })
    }
}

/// What stands for a missing value in a file, or in a column.
#[derive(Debug, Clone, PartialEq)]
struct MissingWords {
    column: Option<String>,
    words: Vec<String>,
}

impl FromStr for MissingWords {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        let (column, words) = match text.rsplit_once('=') {
            Some((column, words)) => (Some(column.to_string()), words),
            None => (None, text),
        };
        let Ok(NameList(list)) = words.parse();
        Ok(MissingWords { column, words: if words == "none" { vec![] } else { list } })
    }
}

/// Where indices begin, or that the file says it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ZeroBased(Option<bool>);

impl FromStr for ZeroBased {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(ZeroBased(None)),
            "true" => Ok(ZeroBased(Some(true))),
            "false" => Ok(ZeroBased(Some(false))),
            _ => Err("it is auto, true or false".into()),
        }
    }
}

fn flat(lists: &[NameList]) -> Vec<String> {
    lists.iter().flat_map(|list| list.0.clone()).collect()
}

impl ColumnArgs {
    /// Puts these options into what a spec says of columns.
    pub(super) fn apply(&self, columns: &mut ColumnRoles) {
        let names = [
            (&mut columns.task, &self.task),
            (&mut columns.weight, &self.weight),
            (&mut columns.offset, &self.offset),
            (&mut columns.split, &self.split_column),
        ];
        names.into_iter().filter(|(_, given)| given.is_some()).for_each(|(own, given)| own.clone_from(given));
        let lists = [
            (&mut columns.target, &self.target),
            (&mut columns.drop, &self.drop),
            (&mut columns.keep, &self.keep),
            (&mut columns.one_hot, &self.one_hot),
        ];
        lists.into_iter().filter(|(_, given)| !given.is_empty()).for_each(|(own, given)| *own = flat(given));
        if let Some(features) = &self.features {
            columns.features = Some(flat(features));
        }
        if !self.missing_word.is_empty() {
            columns.missing_words.clone_from(&self.missing_word);
        }
        for own in &self.missing_words {
            match &own.column {
                Some(column) => drop(columns.only_missing_of.insert(column.clone(), own.words.clone())),
                None => columns.only_missing = Some(own.words.clone()),
            }
        }
        if !self.date_parts.is_empty() {
            columns.date_parts.clone_from(&self.date_parts);
        }
        columns.missing = self.missing.unwrap_or(columns.missing);
        columns.skip_lines = self.skip_lines.or(columns.skip_lines);
        columns.max_levels = self.max_levels.or(columns.max_levels);
        columns.date_order = self.date_order.or(columns.date_order);
        columns.decimal = self.decimal().or(columns.decimal);
        let of_columns = self.decimal.iter().filter_map(|own| Some((own.column.clone()?, own.sign)));
        columns.decimals.extend(of_columns);
        if let Some(ZeroBased(zero_based)) = self.zero_based {
            columns.zero_based = zero_based;
        }
        columns.classes |= self.classes;
        columns.ignore_case |= self.ignore_case;
        columns.dense |= self.dense;
    }

    /// Hides options that only a fit can follow from the help of commands that have a model.
    pub(crate) fn hide_options_of_fits(option: Arg) -> Arg {
        let is = |(name, _): &(&str, bool)| option.get_long() == Some(name);
        let hide = ColumnArgs::default().options_of_fits().iter().any(is);
        option.hide(hide)
    }

    /// The long names of options that only a fit can follow, and whether they are given.
    fn options_of_fits(&self) -> [(&'static str, bool); 10] {
        [
            ("features", self.features.is_some()),
            ("drop", !self.drop.is_empty()),
            ("one-hot", !self.one_hot.is_empty()),
            ("max-levels", self.max_levels.is_some()),
            ("missing", self.missing.is_some()),
            ("date-parts", !self.date_parts.is_empty()),
            ("date-order", self.date_order.is_some()),
            ("classes", self.classes),
            ("ignore-case", self.ignore_case),
            ("dense", self.dense),
        ]
    }

    /// What is said about the columns of new rows. The model keeps how the others are read.
    ///
    /// # Errors
    /// If an option is given that only a fit can follow.
    pub(crate) fn for_model(&self) -> Result<ColumnRoles> {
        match self.options_of_fits().into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::usage(format!(
                "--{option} has no effect on a model, which keeps how its columns are read; give it to fit or select"
            ))),
            None => Ok(self.columns()),
        }
    }

    /// `Err` if a column should become features that is not among those to learn from. Patterns may mean any column.
    pub(super) fn check(columns: &ColumnRoles) -> Result<()> {
        let Some(features) = &columns.features else { return Ok(()) };
        let is_pattern = |name: &String| name.contains(['*', '?']);
        if features.iter().any(is_pattern) {
            return Ok(());
        }
        let is_feature = |name: &String| features.iter().any(|own| own.to_lowercase() == name.to_lowercase());
        match columns.one_hot.iter().find(|name| !is_pattern(name) && !is_feature(name)) {
            Some(name) => Err(Failure::usage(format!(
                "--one-hot {name}: the column is not among those to learn from; name it with --features, too",
                name = crate::failure::argument(name)
            ))),
            None => Ok(()),
        }
    }

    /// The decimal sign of all columns that are not named.
    pub(crate) fn decimal(&self) -> Option<Decimal> {
        self.decimal.iter().rev().find(|own| own.column.is_none()).map(|own| own.sign)
    }

    pub(crate) fn columns(&self) -> ColumnRoles {
        let mut columns = ColumnRoles::default();
        self.apply(&mut columns);
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_in_quotes() {
        let names = |text: &str| text.parse::<NameList>().unwrap().0;
        assert_eq!(names("a,b c"), ["a", "b c"]);
        assert_eq!(names("\"a, b\",c"), ["a, b", "c"]);
        assert_eq!(names("tox_*"), ["tox_*"]);
    }

    #[test]
    fn a_decimal_sign_is_that_of_the_file_or_of_a_column() {
        let sign = |text: &str| text.parse::<DecimalSign>();
        assert_eq!(sign(","), Ok(DecimalSign { column: None, sign: Decimal::Comma }));
        let either = DecimalSign { column: Some("a=b".into()), sign: Decimal::Either };
        assert_eq!(sign("a=b=either"), Ok(either));
        assert!(sign("a").is_err() && sign("a=;").is_err());
    }

    #[test]
    fn words_for_missing_values_are_those_of_the_file_or_of_a_column() {
        let words = |text: &str| {
            let MissingWords { column, words } = text.parse().unwrap();
            (column.unwrap_or_default(), words)
        };
        assert_eq!(words("none"), (String::new(), vec![]));
        assert_eq!(words("?,-999"), (String::new(), vec!["?".into(), "-999".into()]));
        assert_eq!(words("country=none"), ("country".into(), vec![]));
        assert_eq!(words("a=b=\"x, y\""), ("a=b".into(), vec!["x, y".into()]));
    }
}
