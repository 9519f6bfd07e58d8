//! A first pass through the file, for what only the whole file can tell: whether a column holds numbers, dates or
//! words, which values there are, and what is missing.

use super::cells::{self, CellRules, Reading, TableCell};
use super::date_styles::DateStyles;
use super::odd_words::OddWords;
use super::units::UnitCounts;
use super::{ColumnType, RowPlace};
use crate::dates::ClockUnit;
use crate::{DateOrder, Decimal, Error, Missing, Result, dates};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most different words of a column that are counted. A column with more is an identifier or free text.
const MAX_WORDS: usize = 100_000;
/// The same for a column that the caller wants as words.
const MAX_WANTED_WORDS: usize = 1_000_000;
/// Most different values of a column of numbers that are counted, beside those of words: they matter if words follow.
const MAX_NUMBERS: usize = 1_000;
/// Different values that are kept as examples.
const MAX_EXAMPLES: usize = 3;

/// A column is one of numbers, or dates, in which a few cells are odd, if so many percent of its cells are.
const NEARLY_ALL_PERCENT: u64 = 90;
/// A word that may stand for a missing value is in at most one of so many rows.
const MAX_RARE_SHARE: u64 = 5;
/// A feature says where values are missing if they are in one of so many rows, at least, and in so many rows.
const MIN_MARKED_SHARE: u64 = 20;
const MIN_MARKED_ROWS: u64 = 5;

/// The FNV-1a hash of texts.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_FACTOR: u64 = 0x100_0000_01b3;

/// What is found in a column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSurvey {
    pub(crate) column_type: ColumnType,
    /// Whether the caller wants words, whatever there is.
    pub(crate) wants_words: bool,
    /// Whether all numbers are kept, for the median.
    keeps_numbers: bool,
    pub(crate) rows: u64,
    pub(crate) missing: u64,
    pub(crate) numbers: NumberTally,
    pub(crate) words: u64,
    /// Dates among the words, for each order; those with the year first can be read in any order.
    pub(crate) dates: [NumberTally; 3],
    pub(super) date_styles: DateStyles,
    /// Different values with their rows.
    pub(crate) levels: HashMap<String, u64>,
    /// Whether there are more of them.
    pub(crate) more_levels: bool,
    pub(crate) examples: Vec<String>,
    pub(crate) first_word: Option<(RowPlace, String)>,
    pub(crate) first_decimal: Option<(RowPlace, String)>,
    pub(crate) first_not_finite: Option<(RowPlace, String)>,
    /// Cells that are neither numbers nor dates, and infinities.
    pub(super) odd_words: OddWords,
    /// In which rows values are missing, as a number that is the same for the same rows.
    pub(crate) gaps: u64,
    /// Cells that say `none`, counted as missing, and their part of `gaps`.
    nones: BTreeMap<String, u64>,
    none_gaps: u64,
    /// Cells of text that say `inf` and the like.
    infinities: BTreeMap<String, u64>,
    /// A number that has another value with another decimal sign: `1.234`.
    pub(crate) first_with_two_readings: Option<(RowPlace, String)>,
    /// Why a cell cannot be read at all.
    pub(crate) unreadable: Option<(RowPlace, String)>,
    /// Signs of money beside numbers.
    pub(crate) units: BTreeSet<&'static str>,
    /// Other units, of cells that are words with them.
    pub(super) units_of_words: UnitCounts,
    /// Times that have a zone, and that have none.
    pub(crate) with_zone: u64,
    pub(crate) without_zone: u64,
    /// All values in their rows, as a number that is the same for the same values.
    pub(crate) contents: u64,
    /// All values so far, if they are whole numbers and different.
    integers: Option<HashSet<u64>>,
    /// Whether some number is not whole.
    has_fraction: bool,
    /// Whether the minus of some number is written as bookkeepers do: `(5)`, `5-`.
    pub(crate) has_odd_minus: bool,
    /// A number with zeros in front, as codes have: `0758`.
    pub(crate) code: Option<String>,
    /// What times among the numbers, written as text, are.
    pub(crate) clocks: BTreeSet<ClockUnit>,
    /// Words that are numbers with the other decimal sign.
    pub(crate) other_sign: u64,
    /// Whether some number can be read with this decimal sign only.
    pub(crate) has_point: bool,
    pub(crate) has_comma: bool,
    /// The files of the first cells of several kinds, those that errors are about before others.
    files: [Option<(RowPlace, usize)>; 5],
}

/// Numbers, added up in the order of the rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberTally {
    pub(crate) n: u64,
    sum: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The smallest and the largest of the others, if there are any, and how often the first two are there.
    next: [f64; 2],
    times: [u64; 2],
    /// All of them, if they are kept.
    all: Vec<f64>,
}

/// A value that is far from all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FarValue {
    pub(crate) value: f64,
    /// How often it is there.
    pub(crate) rows: u64,
    /// The smallest and the largest of the others.
    pub(crate) others: [f64; 2],
}

/// Of fewer numbers none is far from the others.
const MIN_NUMBERS: u64 = 20;
/// A value is far from others if it is farther than so many of their ranges.
const FAR_RANGES: f64 = 3.0;

impl NumberTally {
    fn add(&mut self, value: f64, keep: bool) {
        if self.n == 0 {
            (self.low, self.high, self.next) = (value, value, [value, value]);
        }
        // The second ones differ from the first, except before there are any.
        if value < self.low {
            (self.low, self.next[0], self.times[0]) = (value, self.low, 0);
        } else if value > self.low && (value < self.next[0] || self.next[0] == self.low) {
            self.next[0] = value;
        }
        if value > self.high {
            (self.high, self.next[1], self.times[1]) = (value, self.high, 0);
        } else if value < self.high && (value > self.next[1] || self.next[1] == self.high) {
            self.next[1] = value;
        }
        self.times[0] += u64::from(value == self.low);
        self.times[1] += u64::from(value == self.high);
        self.n += 1;
        // The mean of very large numbers does not overflow.
        self.sum += value * 2f64.powi(-60);
        if keep {
            self.all.push(value);
        }
    }

    /// A value in few rows that is far from all others.
    pub(crate) fn far_value(&self) -> Option<FarValue> {
        let is_far = |far: &FarValue| {
            let [low, high] = far.others;
            let gap = if far.value > high { far.value - high } else { low - far.value };
            let range = high - low;
            range > 0.0 && gap > FAR_RANGES * range && far.rows * MAX_RARE_SHARE <= self.n
        };
        let largest = FarValue { value: self.high, rows: self.times[1], others: [self.low, self.next[1]] };
        let smallest = FarValue { value: self.low, rows: self.times[0], others: [self.next[0], self.high] };
        [largest, smallest].into_iter().find(is_far).filter(|_| self.n >= MIN_NUMBERS)
    }

    fn mean(&self) -> f64 {
        (self.sum / self.n as f64 * 2f64.powi(60)).clamp(self.low, self.high)
    }

    fn median(&self) -> f64 {
        let mut all = self.all.clone();
        let middle = all.len() / 2;
        let (below, median, _) = all.select_nth_unstable_by(middle, f64::total_cmp);
        match self.all.len() % 2 {
            1 => *median,
            _ => below.iter().copied().reduce(f64::max).map_or(*median, |other| other / 2.0 + *median / 2.0),
        }
    }

    /// What a missing value becomes; `None` if such rows are not filled in.
    pub(crate) fn fill(&self, missing: Missing) -> Option<f64> {
        match missing {
            Missing::Mean => Some(self.mean()),
            Missing::Median => Some(self.median()),
            Missing::Zero => Some(0.0),
            Missing::Drop | Missing::Error => None,
        }
    }
}

impl ColumnSurvey {
    pub(crate) fn new(column_type: ColumnType, wants_words: bool, missing: Missing) -> Self {
        ColumnSurvey {
            column_type,
            wants_words,
            keeps_numbers: missing == Missing::Median,
            rows: 0,
            missing: 0,
            numbers: NumberTally::default(),
            words: 0,
            dates: Default::default(),
            date_styles: DateStyles::default(),
            levels: HashMap::new(),
            more_levels: false,
            examples: vec![],
            first_word: None,
            first_decimal: None,
            first_not_finite: None,
            odd_words: OddWords::default(),
            gaps: 0,
            nones: BTreeMap::new(),
            none_gaps: 0,
            infinities: BTreeMap::new(),
            first_with_two_readings: None,
            unreadable: None,
            units: BTreeSet::new(),
            units_of_words: UnitCounts::default(),
            with_zone: 0,
            without_zone: 0,
            contents: 0,
            integers: Some(HashSet::new()),
            has_fraction: false,
            has_odd_minus: false,
            code: None,
            clocks: BTreeSet::new(),
            other_sign: 0,
            has_point: false,
            has_comma: false,
            files: [None; 5],
        }
    }

    /// Says that this file was looked through, after those before it.
    pub(super) fn end_file(&mut self, file: usize) {
        let firsts = [
            &self.first_word,
            &self.first_not_finite,
            &self.unreadable,
            &self.first_with_two_readings,
            &self.first_decimal,
        ];
        let places = firsts.map(|first| first.as_ref().map(|(place, _)| (*place, file)));
        self.files.iter_mut().zip(places).for_each(|(own, place)| *own = own.or(place));
    }

    /// The file of a place that an error is about.
    pub(super) fn file_of(&self, error: &Error) -> Option<usize> {
        let is = |place: RowPlace| match place {
            RowPlace::Line(line) => error.line == Some(line),
            RowPlace::Row(row) => error.row == Some(row),
        };
        self.files.iter().flatten().find(|(place, _)| is(*place)).map(|(_, file)| *file)
    }

    /// The same with `none` and `inf` as words, if there are other words, and not mostly numbers or dates.
    pub(crate) fn settled(&self) -> Cow<'_, Self> {
        let is_word = self.words > 0 && self.words >= self.numbers.n && self.date_order().is_none();
        if self.nones.is_empty() && self.infinities.is_empty() || !is_word {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        for (word, rows) in std::mem::take(&mut settled.nones) {
            settled.missing -= rows;
            settled.words += rows;
            settled.levels.insert(word, rows);
        }
        settled.gaps ^= settled.none_gaps;
        for (word, rows) in std::mem::take(&mut settled.infinities) {
            settled.words += rows;
            settled.levels.insert(word, rows);
            settled.first_not_finite = None;
        }
        Cow::Owned(settled)
    }

    /// Whether `none` is a word in this column.
    pub(crate) fn has_none_among_words(&self) -> bool {
        !self.nones.is_empty() && matches!(self.settled(), Cow::Owned(_))
    }

    /// Whether few cells hold this word, so that it may stand for a missing value.
    pub(crate) fn is_rare(&self, word: &str) -> bool {
        self.are_few(self.levels.get(word).copied().unwrap_or(0))
    }

    /// Whether so many cells are few: one, or a small part of the column.
    pub(crate) fn are_few(&self, cells: u64) -> bool {
        cells <= 1 || cells * MAX_RARE_SHARE <= self.rows
    }

    /// Whether so many of the cells that are not missing are nearly all.
    pub(crate) fn is_nearly_all(&self, cells: u64) -> bool {
        cells > 0 && cells * 100 >= self.present() * NEARLY_ALL_PERCENT
    }

    /// Whether so many values are missing that a feature should say where.
    pub(crate) fn wants_indicator(&self) -> bool {
        self.missing >= MIN_MARKED_ROWS && self.missing * MIN_MARKED_SHARE >= self.rows
    }

    /// Number of cells that are not missing.
    pub(crate) fn present(&self) -> u64 {
        self.rows - self.missing
    }

    /// The order in which all cells are dates; the first of several, and whether there are several.
    pub(crate) fn date_order(&self) -> Option<(DateOrder, bool)> {
        let present = self.present();
        let mut fits = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy]
            .into_iter()
            .zip(&self.dates)
            .filter(|(_, tally)| present > 0 && tally.n == present)
            .map(|(order, _)| order);
        let first = fits.next()?;
        // Columns of dates, unlike texts, can be read in any order.
        Some((first, first != DateOrder::Ymd && fits.next().is_some()))
    }

    /// Looks at a cell.
    pub(crate) fn add(&mut self, cell: &dyn TableCell, rules: &CellRules, place: RowPlace) {
        if self.unreadable.is_none()
            && let Err(error) = self.look_at(cell, rules, place)
        {
            self.unreadable = Some((place, error.why.into()));
        }
    }

    fn look_at(&mut self, cell: &dyn TableCell, rules: &CellRules, place: RowPlace) -> Result<()> {
        self.rows += 1;
        // Columns of dates may have texts, too, in another file.
        if let Some(day) = cell.date(DateOrder::Ymd).filter(|_| cell.is_date()) {
            self.note_contents(day.to_bits());
            self.dates.iter_mut().for_each(|tally| tally.add(day, self.keeps_numbers));
            self.date_styles.add_typed();
            self.note_zone(cell.has_zone());
            if !self.more_levels || self.wants_words {
                let text = cell.text()?;
                self.note_level(&text);
            }
            return Ok(());
        }
        if self.column_type == ColumnType::Category {
            return self.look_at_category(cell, rules);
        }
        let typed = matches!(self.column_type, ColumnType::Number { .. });
        let reading = rules.number(cell);
        match reading {
            Reading::Missing => {
                self.note_missing(cell, rules);
                return Ok(());
            }
            Reading::Number(value) => {
                self.numbers.add(value, self.keeps_numbers);
                self.note_contents((value + 0.0).to_bits());
                self.note_integer(value);
                if value < 0.0 && !typed && !self.has_odd_minus {
                    let text = cell.text()?;
                    let text = text.trim_ascii();
                    self.has_odd_minus = text.starts_with('(') || text.ends_with('-');
                }
                // Numbers of many values: no words will be made of them.
                if self.more_levels
                    && !self.wants_words
                    && (typed || self.has_point && self.first_decimal.is_some())
                {
                    return Ok(());
                }
            }
            Reading::NotFinite => {
                let text = cell.text()?.into_owned();
                self.odd_words.add(&text);
                if let Some(word) = rules.word(cell)?.filter(|_| cell.is_text()) {
                    *self.infinities.entry(word.into_owned()).or_default() += 1;
                }
                self.first_not_finite.get_or_insert((place, text));
                return Ok(());
            }
            Reading::Word => {
                let text = cell.text()?;
                self.words += 1;
                self.note_text(&text);
                self.units_of_words.add(&text);
                let other = cells::decimal_sign(&text).is_some_and(|sign| sign != rules.decimal);
                self.other_sign += u64::from(other);
                let fits = dates::orders(text.trim_ascii());
                for (order, tally) in
                    [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy].into_iter().zip(&mut self.dates)
                {
                    if fits[order as usize]
                        && let Some(day) = dates::parse(&text, order)
                    {
                        tally.add(day, self.keeps_numbers);
                    }
                }
                self.date_styles.add(&text, place, fits);
                if fits == [false; 3] {
                    self.odd_words.add(&text);
                }
                if fits.contains(&true) {
                    self.note_zone(dates::names_zone(&text));
                }
                if self.first_word.is_none() {
                    self.first_word = Some((place, text.into_owned()));
                }
            }
        }
        if !typed {
            let text = cell.text()?;
            if cell.is_text() {
                self.note_signs(&text, place);
                if self.code.is_none() && matches!(reading, Reading::Number(_)) && is_code(&text) {
                    self.code = Some(text.trim_ascii().to_string());
                }
                self.clocks.extend(dates::clock(text.trim_ascii()).map(|(_, clock)| clock));
            }
            if self.first_decimal.is_none()
                && matches!(reading, Reading::Number(_))
                && !cells::is_integer(&cells::canonical(text.trim_ascii().into()))
            {
                self.first_decimal = Some((place, text.to_string()));
            }
        }
        match rules.word(cell)? {
            Some(word) => self.note_level(&word),
            None => self.note_gap(),
        }
        Ok(())
    }

    /// Looks at a cell of a column of categories, which are words.
    fn look_at_category(&mut self, cell: &dyn TableCell, rules: &CellRules) -> Result<()> {
        let Some(word) = rules.word(cell)? else {
            self.note_missing(cell, rules);
            return Ok(());
        };
        self.words += 1;
        self.note_text(&word);
        self.note_level(&word);
        Ok(())
    }

    /// Notes a missing value; among words, `none` is none.
    fn note_missing(&mut self, cell: &dyn TableCell, rules: &CellRules) {
        self.note_gap();
        if let Some(word) = rules.none(cell) {
            *self.nones.entry(word.into_owned()).or_default() += 1;
            self.none_gaps ^= scattered(self.rows);
        }
    }

    fn note_text(&mut self, text: &str) {
        let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_FACTOR);
        self.note_contents(text.bytes().fold(FNV_START, mix));
    }

    fn note_zone(&mut self, has_zone: Option<bool>) {
        match has_zone {
            Some(true) => self.with_zone += 1,
            Some(false) => self.without_zone += 1,
            None => {}
        }
    }

    fn note_contents(&mut self, value: u64) {
        self.contents ^= scattered(value ^ scattered(self.rows));
    }

    fn note_integer(&mut self, value: f64) {
        self.has_fraction |= value.fract() != 0.0;
        let Some(seen) = &mut self.integers else { return };
        // Very many different numbers without a decimal are taken for different ones.
        let is_new = value.fract() == 0.0 && (seen.len() >= MAX_WANTED_WORDS || seen.insert(value.to_bits()));
        if !is_new {
            self.integers = None;
        }
    }

    /// Whether some number is not whole.
    pub(super) fn has_fraction(&self) -> bool {
        self.has_fraction
    }

    /// Whether all values are whole numbers, and no two are the same.
    pub(crate) fn has_different_integers(&self) -> bool {
        self.integers.is_some() && self.missing == 0 && self.numbers.n == self.rows
    }

    /// Whether the values are the numbers of the rows, from 0 or 1 on.
    pub(crate) fn counts_rows(&self) -> bool {
        let last = self.rows.saturating_sub(1) as f64;
        self.has_different_integers()
            && [0.0, 1.0].contains(&self.numbers.low)
            && self.numbers.high == self.numbers.low + last
    }

    /// Whether all values that are there are whole numbers, and there are many different ones.
    pub(crate) fn has_many_integers(&self, many: usize) -> bool {
        self.words == 0 && self.numbers.n > 0 && !self.has_fraction && self.levels.len() > many
    }

    /// Whether all values that are there are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.levels.len() == 1 && !self.more_levels
    }

    fn note_gap(&mut self) {
        self.missing += 1;
        self.gaps ^= scattered(self.rows);
    }

    /// Decimal signs of a text, until both are found.
    fn note_signs(&mut self, text: &str, place: RowPlace) {
        if !self.has_point && text.contains('.') || !self.has_comma && text.contains(',') {
            match cells::decimal_sign(text) {
                Some(Decimal::Point) => self.has_point = true,
                Some(Decimal::Comma) => self.has_comma = true,
                _ => {}
            }
        }
        if self.first_with_two_readings.is_none() && cells::has_two_readings(text) {
            self.first_with_two_readings = Some((place, text.to_string()));
        }
        self.units.extend(cells::number_and_unit(text).map(|(_, unit)| unit));
    }

    fn note_level(&mut self, word: &str) {
        if let Some(rows) = self.levels.get_mut(word) {
            *rows += 1;
            return;
        }
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(word.to_string());
        }
        let most = match (self.wants_words, self.words) {
            (true, _) => MAX_WANTED_WORDS,
            (false, 0) => MAX_NUMBERS,
            (false, _) => MAX_WORDS,
        };
        if self.levels.len() >= most {
            self.more_levels = true;
        } else {
            self.levels.insert(word.to_string(), 1);
        }
    }
}

/// Whether a text is digits with a zero in front.
fn is_code(text: &str) -> bool {
    let text = text.trim_ascii();
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number without a pattern for each row (the finaliser of splitmix64): sums of them tell sets of rows apart.
fn scattered(row: u64) -> u64 {
    let mut z = row.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
