//! Files with named columns as sources of tables.

use super::cells::{CellRules, TableCell};
use super::decide::{Decision, decide, infinite_labels, label_kind};
use super::decimals::{self, DecimalSigns};
use super::fold_column::FoldColumn;
use super::names::ListColumn;
use super::number_form::NumberForm;
use super::rows::RowRemarks;
use super::survey::ColumnSurvey;
use super::{
    ColumnCursor, ColumnLayout, ColumnNames, ColumnType, ColumnUse, LabelKind, Precision, RowBuffer,
    RowPlace, TargetColumns, cells, remarks, target_values, units,
};
use crate::error::{listed, quoted};
use crate::spelling::SpellingCounts;
use crate::text::nfc;
use crate::{
    ChooseColumns, ColumnRoles, Error, Feature, Hint, LeftOut, Missing, ReadThreads, Result, Schema, Source,
    Table, TextTable,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

/// Rows looked at in one go.
const BATCH_ROWS: usize = 4096;

/// Rows of the first file whose numbers are looked at where types say the rest.
const START_ROWS: usize = 1024;

/// How much of files is looked at before they are read for a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookThrough {
    /// All rows.
    #[default]
    All,
    /// The first rows, if all columns to learn from are numbers by their types, and what a fit needs to know does not
    /// depend on the others: as long as no value is missing. One that is missing further down is then an error with
    /// the hint [`Hint::LookThrough`].
    Start,
}

/// So many rows, at least, without a value in a column are worth a word.
const MIN_ROWS_OF_A_GAP: u64 = 10;

/// A file, and its name.
pub(crate) type NamedCursor = (PathBuf, Box<dyn ColumnCursor>);

/// Opens files of the same columns: as the training file was read (`schema`) or, all together, as the caller says.
pub(crate) fn open(
    mut files: Vec<NamedCursor>,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
    look: LookThrough,
) -> Result<Vec<Box<dyn Source>>> {
    let layouts = match schema {
        Some(schema) => {
            let layout = |(path, cursor): &NamedCursor| {
                let (names, renamed) = cursor.names().as_in_model(schema.column_names());
                let layout = columns.expanded(&names).and_then(|(columns, said)| {
                    let mut layout = ColumnLayout::for_prediction(&names, &columns, schema)?;
                    layout.said = renamed.into_iter().chain(said).collect();
                    Ok(layout)
                });
                layout.map_err(|error| error.in_file(path))
            };
            files.iter().map(layout).collect::<Result<Vec<_>>>()?
        }
        None => for_fitting(&mut files, columns, look)?,
    };
    let sources = files.into_iter().zip(layouts).map(|((path, cursor), layout)| {
        let source = ColumnSource::new(cursor, layout).map_err(|error| error.in_file(path))?;
        Ok(Box::new(source) as Box<dyn Source>)
    });
    sources.collect()
}

/// Files of which the labels matter and nothing else: rows with one feature that is 0. `None` if only all columns can
/// tell what the labels are.
pub(crate) fn open_labels(
    mut files: Vec<NamedCursor>,
    columns: &ColumnRoles,
) -> Result<Option<Vec<Box<dyn Source>>>> {
    let Some((first, cursor)) = files.first() else { return Ok(None) };
    let (columns, _) = columns.expanded(cursor.names()).map_err(|error| error.in_file(first))?;
    let layout = |(path, cursor): &NamedCursor| {
        ColumnLayout::for_fitting(cursor.names(), &columns).map_err(|error| error.in_file(path))
    };
    let mut layouts = files.iter().map(layout).collect::<Result<Vec<_>>>()?;
    let of_numbers = layouts.iter_mut().zip(&files).all(|(layout, (_, cursor))| {
        layout.features.clear();
        match &mut layout.target {
            Some(TargetColumns::One { column, kind, .. }) => {
                let is_number = matches!(cursor.column_type(*column), ColumnType::Number { .. });
                *kind = LabelKind::Numbers;
                is_number && !columns.classes
            }
            Some(TargetColumns::Wide { columns, .. }) => {
                columns.iter().flatten().all(|&column| is_number(&**cursor, column))
            }
            None => false,
        }
    });
    if !of_numbers {
        return Ok(None);
    }
    let sources = files.drain(..).zip(layouts).map(|((path, cursor), layout)| {
        let source = ColumnSource::new(cursor, layout).map_err(|error| error.in_file(path))?;
        Ok(Box::new(source) as Box<dyn Source>)
    });
    sources.collect::<Result<Vec<_>>>().map(Some)
}

fn is_number(cursor: &dyn ColumnCursor, column: usize) -> bool {
    matches!(cursor.column_type(column), ColumnType::Number { .. })
}

/// What is found in the first rows, if types and these rows tell what all rows would: every column to learn from is one
/// of numbers, no value is known to be missing, and what is said about columns of certain contents (all the same, all
/// different, those of another column) is not so already.
fn start_of(
    files: &mut [NamedCursor],
    layouts: &[ColumnLayout],
    columns: &ColumnRoles,
) -> Result<Option<Vec<(String, ColumnSurvey)>>> {
    let rules = CellRules::new(columns);
    let simple = !columns.ignore_case
        && rules.takes_typed_numbers()
        && columns.one_hot.is_empty()
        && columns.folds_by.is_none();
    let typed = |(layout, (_, cursor)): (&ColumnLayout, &NamedCursor)| {
        let names = files[0].1.names();
        let feature = |column: usize| {
            let own = cursor.names().find(names.name(column));
            own.is_some_and(|own| {
                is_number(&**cursor, own) && cursor.nulls(own).is_none_or(|nulls| nulls == 0)
            })
        };
        let label = match &layout.target {
            Some(TargetColumns::One { kind: LabelKind::Unknown, column, .. }) => {
                is_number(&**cursor, *column)
            }
            Some(TargetColumns::One { .. }) | None => true,
            Some(TargetColumns::Wide { columns, .. }) => {
                columns.iter().all(|column| column.is_some_and(|column| is_number(&**cursor, column)))
            }
        };
        label && layouts[0].features.iter().all(|own| feature(own.column))
    };
    if !simple || !layouts.iter().zip(files.iter()).all(typed) {
        return Ok(None);
    }
    let (path, cursor) = &mut files[0];
    let mut surveys = new_surveys(cursor.names(), &**cursor, layouts, columns);
    let look = look_at(&mut **cursor, &mut surveys, columns, &rules, START_ROWS);
    look.and_then(|()| cursor.rewind()).map_err(|error| error.in_file(&*path))?;
    let n_features = layouts[0].features.len();
    let is_settled = |(name, found): &(String, ColumnSurvey)| {
        found.unreadable.is_none()
            && found.first_not_finite.is_none()
            && remarks::rest_says_nothing(name, found)
    };
    let settled = surveys[..n_features].iter().all(is_settled)
        && remarks::duplicates(&surveys[..n_features]).is_empty();
    Ok(settled.then_some(surveys))
}

/// Layouts for a fit: what the columns of all files hold decides what they become.
fn for_fitting(
    files: &mut [NamedCursor],
    columns: &ColumnRoles,
    look: LookThrough,
) -> Result<Vec<ColumnLayout>> {
    let Some((first, cursor)) = files.first() else { return Ok(vec![]) };
    let (mut columns, said) = columns.expanded(cursor.names()).map_err(|error| error.in_file(first))?;
    if columns.ignore_case {
        columns.spellings = spellings(files)?;
    }
    let layout = |(path, cursor): &NamedCursor| {
        ColumnLayout::for_fitting(cursor.names(), &columns).map_err(|error| error.in_file(path))
    };
    let mut layouts = files.iter().map(layout).collect::<Result<Vec<_>>>()?;
    let start = match look {
        LookThrough::Start => start_of(files, &layouts, &columns)?,
        LookThrough::All => None,
    };
    layouts.iter_mut().for_each(|layout| layout.only_start_known = start.is_some());
    let mut surveys = match start {
        Some(surveys) => surveys,
        None => look_through(files, &layouts, &columns)?,
    };
    columns.units = units::find(surveys.iter().map(|(name, found)| (name.as_str(), found)));
    let lacking = units::lacking_note(&surveys, &columns.units);
    if !columns.units.is_empty() {
        layouts.iter_mut().for_each(|layout| layout.set_units(&columns.units));
        rewind(files)?;
        surveys = look_through(files, &layouts, &columns)?;
    }
    let has_point = surveys.iter().any(|(_, found)| found.has_point);
    let is_known = columns.decimal.is_some();
    let mut unclear = vec![];
    if !is_known {
        let all = surveys.iter().map(|(name, found)| (name.as_str(), found));
        let may_have_commas = files.iter().any(|(_, cursor)| cursor.may_have_decimal_commas());
        let signs = DecimalSigns::find(all.clone(), &columns.decimals);
        unclear = decimals::unclear(all, &columns.decimals, may_have_commas);
        if signs != (DecimalSigns { file: None, columns: columns.decimals.clone() }) {
            (columns.decimal, columns.decimals) = (signs.file, signs.columns);
            layouts.iter_mut().for_each(|layout| layout.set_decimals(&columns));
            rewind(files)?;
            surveys = look_through(files, &layouts, &columns)?;
        }
    }
    columns.money = money(&surveys);
    layouts.iter_mut().for_each(|layout| layout.set_money(&columns.money));
    let empty = files.iter().map(|(_, cursor)| cursor.empty_rows()).sum();
    layouts.iter_mut().for_each(|layout| layout.set_empty_rows(empty));
    let mut remarks = said;
    remarks.extend(self::remarks(files, &surveys, layouts[0].features.len(), &columns));
    remarks.extend(remarks::grouped_numbers(&surveys).filter(|_| columns.decimal.is_none() && !has_point));
    remarks.extend(lacking);
    layouts.iter_mut().for_each(|layout| layout.set_remarks(remarks.clone()));
    rewind(files)?;
    let first = &files[0].0;
    decide_all(&surveys, &columns, &mut layouts, files, unclear).map_err(|error| error.in_file(first))?;
    Ok(layouts)
}

/// Signs of money beside the numbers of columns.
fn money(surveys: &[(String, ColumnSurvey)]) -> BTreeMap<String, Vec<String>> {
    let signs = |found: &ColumnSurvey| found.units.iter().map(|sign| sign.to_string()).collect();
    let have = surveys.iter().filter(|(_, found)| found.words == 0 && !found.units.is_empty());
    have.map(|(name, found)| (name.clone(), signs(found))).collect()
}

/// What is to be said about how files and columns are read, once.
fn remarks(
    files: &[NamedCursor],
    surveys: &[(String, ColumnSurvey)],
    n_features: usize,
    columns: &ColumnRoles,
) -> Vec<String> {
    let of_files: BTreeSet<String> = files.iter().filter_map(|(_, cursor)| cursor.remark()).collect();
    of_files
        .into_iter()
        .chain(remarks::of_files(files))
        .chain(remarks::clocks(files, &surveys[..n_features]))
        .chain(remarks::of_columns(surveys, n_features, &columns.units, &columns.target))
        .collect()
}

/// The most frequent spelling of each word of the files.
pub(super) fn spellings(files: &mut [NamedCursor]) -> Result<BTreeMap<String, String>> {
    let mut words = SpellingCounts::default();
    for (path, cursor) in files.iter_mut() {
        count_spellings(&mut **cursor, &mut words).map_err(|error| error.in_file(&*path))?;
    }
    Ok(words.finish())
}

/// Counts the words of a file, and goes back to its first row.
fn count_spellings(cursor: &mut dyn ColumnCursor, words: &mut SpellingCounts) -> Result<()> {
    let has_words = |column: &usize| {
        matches!(cursor.column_type(*column), ColumnType::Unknown | ColumnType::Text | ColumnType::Category)
    };
    let places: Vec<usize> = (0..cursor.names().len()).filter(has_words).collect();
    let mut count = |cell: &dyn TableCell| cell.text().map_or((), |text| words.add(&text));
    while cursor.visit(&places, BATCH_ROWS, &mut |cell, _, _, _| {
        count(cell);
        Ok(())
    })? > 0
    {}
    cursor.rewind()
}

pub(super) fn rewind(files: &mut [NamedCursor]) -> Result<()> {
    files.iter_mut().try_for_each(|(path, cursor)| cursor.rewind().map_err(|error| error.in_file(path)))
}

/// What is found in the columns of all files, by name: those of the features, then those of labels of unknown kind.
fn look_through(
    files: &mut [NamedCursor],
    layouts: &[ColumnLayout],
    columns: &ColumnRoles,
) -> Result<Vec<(String, ColumnSurvey)>> {
    let rules = CellRules::new(columns);
    let mut surveys = new_surveys(files[0].1.names(), &*files[0].1, layouts, columns);
    for (file, (path, cursor)) in files.iter_mut().enumerate() {
        look_at(&mut **cursor, &mut surveys, columns, &rules, usize::MAX)
            .map_err(|error| error.in_file(path))?;
        surveys.iter_mut().for_each(|(_, found)| found.end_file(file));
    }
    Ok(surveys)
}

/// What is to be found out about columns, of which nothing is known yet.
fn new_surveys(
    names: &ColumnNames,
    cursor: &dyn ColumnCursor,
    layouts: &[ColumnLayout],
    columns: &ColumnRoles,
) -> Vec<(String, ColumnSurvey)> {
    let mut wanted: Vec<String> =
        layouts[0].features.iter().map(|feature| names.name(feature.column).to_string()).collect();
    match &layouts[0].target {
        Some(TargetColumns::One { column, kind: LabelKind::Unknown, .. }) => {
            wanted.push(names.name(*column).to_string());
        }
        Some(TargetColumns::Wide { tasks, .. }) => wanted.extend_from_slice(tasks),
        _ => {}
    }
    let survey = |name: &String, wants_words: bool| {
        let column_type = names.find(name).map_or(ColumnType::Unknown, |column| cursor.column_type(column));
        (name.clone(), ColumnSurvey::new(column_type, wants_words, columns.missing))
    };
    let mut surveys: Vec<(String, ColumnSurvey)> =
        wanted.iter().map(|name| survey(name, columns.one_hot.contains(name))).collect();
    if let Some(FoldColumn::Time(time)) = &layouts[0].folds {
        surveys.push(survey(&names.name(time.column).to_string(), false));
    }
    surveys
}

fn look_at(
    cursor: &mut dyn ColumnCursor,
    surveys: &mut [(String, ColumnSurvey)],
    columns: &ColumnRoles,
    rules: &CellRules,
    most: usize,
) -> Result<()> {
    let names = cursor.names();
    // The part of a row comes first: rows of other parts do not count.
    let part = columns.part.and_then(|part| Some((part, names.find(columns.split.as_ref()?)?)));
    let mut places: Vec<usize> = part.iter().map(|(_, column)| *column).collect();
    let mut which = vec![];
    for (i, (name, survey)) in surveys.iter().enumerate() {
        let column = names
            .find(name)
            .ok_or_else(|| wrong!("there is no column {}; {}", quoted(name), names.instead_of(name)))?;
        if !matches!(survey.column_type, ColumnType::Unusable(_)) {
            places.push(column);
            which.push(i);
        }
    }
    cursor.check_size(places.len())?;
    let texts: Vec<String> = places.iter().map(|&column| cursor.names().name(column).to_string()).collect();
    let forms: Vec<NumberForm> = texts.iter().map(|name| rules.form(name)).collect();
    let shift = usize::from(part.is_some());
    let (mut counts, mut seen_rows): (Vec<bool>, usize) = (vec![], 0);
    loop {
        counts.clear();
        let next = BATCH_ROWS.min(most - seen_rows);
        let rows = cursor.visit(&places, next, &mut |cell, i, row, place| {
            let seen = match (i, part) {
                (0, Some((part, _))) => {
                    cell.text().and_then(|text| cells::split(&text)).map(|own| counts.push(own == part))
                }
                _ if part.is_some() && !counts[row] => Ok(()),
                _ => forms[i].read(cell, |cell| {
                    surveys[which[i - shift]].1.add(cell, rules, place);
                    Ok(())
                }),
            };
            seen.map_err(|error| place.mark(error).in_column(&*texts[i]))
        })?;
        seen_rows += rows;
        if rows == 0 || seen_rows >= most {
            return Ok(());
        }
    }
}

/// Completes the layouts; an error lists all columns that are in the way, some of which are known.
fn decide_all(
    surveys: &[(String, ColumnSurvey)],
    columns: &ColumnRoles,
    layouts: &mut [ColumnLayout],
    files: &[NamedCursor],
    mut in_the_way: Vec<Error>,
) -> Result<()> {
    if surveys
        .iter()
        .any(|(_, found)| found.rows == 0 && !matches!(found.column_type, ColumnType::Unusable(_)))
    {
        // Reading says what is the matter: no rows at all, or none in the part.
        return Ok(());
    }
    let n_features = layouts[0].features.len();
    let (mut features, mut left_out): (Vec<Feature>, Vec<LeftOut>) = (vec![], vec![]);
    let mut marked = HashSet::new();
    for (name, found) in &surveys[..n_features] {
        match decide(name, found, columns) {
            // Columns that lack values in the same rows need one indicator.
            Decision::Use(feature) => {
                let again = feature.has_indicator() && !marked.insert((found.missing, found.settled().gaps));
                features.push(if again { feature.without_indicator() } else { feature });
            }
            Decision::LeaveOut(column) => left_out.push(column),
            Decision::InTheWay(error) => {
                let error = about_list(error, name, files[0].1.names());
                in_the_way.push(match found.file_of(&error) {
                    Some(file) => error.in_file(&files[file].0),
                    None => error,
                });
            }
        }
    }
    let is_timed = matches!(layouts[0].folds, Some(FoldColumn::Time(_)));
    let (labels, times) = surveys[n_features..].split_at(surveys.len() - n_features - usize::from(is_timed));
    for (name, found) in times {
        let decide = |layout: &mut ColumnLayout| match &mut layout.folds {
            Some(column) => column.decide_times(name, found, columns),
            None => Ok(()),
        };
        in_the_way.extend(layouts.iter_mut().try_for_each(decide).err());
    }
    let is_wide = matches!(layouts[0].target, Some(TargetColumns::Wide { .. }));
    let infinite = labels.iter().filter(|_| is_wide);
    in_the_way.extend(infinite.filter_map(|(name, found)| Some(infinite_labels(found)?.in_column(name))));
    match if is_wide { target_values::find(labels, &CellRules::new(columns)) } else { Ok(vec![]) } {
        Ok(values) => {
            let none_is_label = labels.iter().any(|(_, found)| found.has_none_among_words());
            layouts.iter_mut().for_each(|layout| layout.set_labels(&values, none_is_label));
        }
        Err(errors) => in_the_way.extend(errors),
    }
    for layout in layouts.iter_mut() {
        let has_task = layout.task.is_some();
        if let (Some((name, found)), Some(TargetColumns::One { kind, .. })) =
            (labels.first(), &mut layout.target)
        {
            let in_file = |error: Error| match found.file_of(&error) {
                Some(file) => error.in_file(&files[file].0),
                None => error,
            };
            match label_kind(name, found, has_task).map_err(in_file) {
                Ok(found) => *kind = found,
                Err(error) if in_the_way.iter().all(|other| other.to_string() != error.to_string()) => {
                    in_the_way.push(error);
                }
                Err(_) => {}
            }
        }
    }
    if let Some(error) = Error::several(in_the_way) {
        return Err(error);
    }
    let complete = |(layout, (_, cursor)): (&mut ColumnLayout, &NamedCursor)| {
        layout.complete(cursor.names(), &features, &left_out)
    };
    layouts.iter_mut().zip(files).try_for_each(complete)
}

/// The same error; where a column is a number of a list, the list is to be dropped.
fn about_list(mut error: Error, column: &str, names: &ColumnNames) -> Error {
    let place = names.find(column);
    let is_in = |list: &&ListColumn| {
        place.is_some_and(|place| (list.first..list.first + list.length).contains(&place))
    };
    if let Some(list) = names.lists().iter().find(is_in) {
        for hint in error.hints.iter_mut().filter(|hint| matches!(hint, Hint::Drop(_))) {
            *hint = Hint::Drop(list.name.clone());
        }
    }
    error
}

/// A file of named columns, read in chunks.
struct ColumnSource {
    cursor: Box<dyn ColumnCursor>,
    layout: ColumnLayout,
    uses: Vec<(usize, ColumnUse)>,
    names: Vec<String>,
    forms: Vec<NumberForm>,
    rules: CellRules,
    precision: Precision,
    n_rows: u64,
    remarks: RowRemarks,
    threads: Option<ReadThreads>,
    may_be_empty: bool,
}

impl ColumnSource {
    fn new(cursor: Box<dyn ColumnCursor>, layout: ColumnLayout) -> Result<Self> {
        let uses = layout.uses();
        for (column, _) in &uses {
            if let ColumnType::Unusable(why) = cursor.column_type(*column) {
                return Err(wrong!("it cannot be used: {why}").in_column(cursor.names().name(*column)));
            }
        }
        cursor.check_size(uses.len())?;
        let single = |column: usize| cursor.column_type(column) == ColumnType::Number { single: true };
        let single = layout
            .features
            .iter()
            .all(|feature| feature.is_zero_or_one() || feature.is_plain_number() && single(feature.column));
        let precision = if single { Precision::Single } else { Precision::Double };
        let names: Vec<String> =
            uses.iter().map(|(column, _)| cursor.names().name(*column).to_string()).collect();
        let (rules, remarks) = (CellRules::new(&layout.schema().columns), RowRemarks::default());
        // What is carried along stays as it is.
        let is_kept = |column_use| matches!(column_use, ColumnUse::Keep(_));
        let form = |(name, (_, column_use)): (&String, &(usize, ColumnUse))| match is_kept(*column_use) {
            true => NumberForm::default(),
            false => rules.form(name),
        };
        let forms = names.iter().zip(&uses).map(form).collect();
        let (n_rows, threads, may_be_empty) = (0, None, false);
        Ok(ColumnSource {
            cursor,
            layout,
            uses,
            names,
            forms,
            rules,
            precision,
            n_rows,
            remarks,
            threads,
            may_be_empty,
        })
    }
}

impl ColumnSource {
    /// Adds the next rows, at most so many; how many there were.
    fn read_rows(&mut self, rows: &mut RowBuffer, most: usize) -> Result<usize> {
        let (layout, rules, uses, names) = (&self.layout, &self.rules, &self.uses, &self.names);
        let (forms, first) = (&self.forms, rows.n_rows());
        let put = |rows: &mut RowBuffer, cell: &dyn TableCell, i: usize, row: usize, place: RowPlace| {
            if !layout.fitting && forms[i].lacks_unit(cell, rules.decimal) {
                *rows.remarks.without_unit.entry(i).or_default() += 1;
            }
            if let Some(sign) = layout.other_money(&names[i], uses[i].1, cell) {
                rows.remarks.note_money(i, sign);
            }
            let put = forms[i].read(cell, |cell| rows.put(first + row, uses[i].1, cell, layout, rules));
            put.map_err(|error| place.mark(error).in_column(&*names[i]))
        };
        let wanted: Vec<(usize, bool)> = uses
            .iter()
            .zip(forms)
            .map(|(own, form)| (own.0, takes_numbers(own.1, form, (layout, rules))))
            .collect();
        if let Some(blocks) = self.cursor.next_blocks(&wanted, most, self.threads.as_ref())? {
            let column_uses: Vec<ColumnUse> = uses.iter().map(|own| own.1).collect();
            rows.add_rows(blocks.n_rows, blocks.first_row, layout);
            if blocks.n_rows > 0 {
                let put = &mut |rows: &mut RowBuffer, i: usize, row: usize, cell: &dyn TableCell| {
                    put(rows, cell, i, row, RowPlace::Row(blocks.first_row + row as u64))
                };
                rows.put_blocks(&blocks, (&column_uses, names), (layout, rules), self.threads.as_ref(), put)?;
            }
            return Ok(blocks.n_rows);
        }
        let columns: Vec<usize> = uses.iter().map(|(column, _)| *column).collect();
        self.cursor.visit(&columns, most, &mut |cell, i, row, place| {
            rows.reach(first + row, place, layout);
            put(rows, cell, i, row, place)
        })
    }
}

/// Whether numbers of a column for this use are taken as they are.
fn takes_numbers(
    column_use: ColumnUse,
    form: &NumberForm,
    (layout, rules): (&ColumnLayout, &CellRules),
) -> bool {
    let of_use = match column_use {
        ColumnUse::Feature(k) => layout.features[k].takes_numbers(),
        ColumnUse::Number(t) => layout.pair(t).is_none(),
        _ => false,
    };
    of_use && *form == NumberForm::default() && rules.takes_typed_numbers()
}

impl Source for ColumnSource {
    fn use_threads(&mut self, threads: &ReadThreads) {
        self.threads = Some(threads.clone());
    }

    fn let_be_empty(&mut self) {
        self.may_be_empty = true;
    }

    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let max_rows = RowBuffer::at_most(max_rows, &self.layout);
        loop {
            // What a file claims is not believed where nothing is known of it.
            let left = self.cursor.rows_at_hand().unwrap_or(0).min(max_rows);
            let mut rows = RowBuffer::new(&self.layout, self.precision, left);
            while rows.n_rows() < max_rows {
                let most = BATCH_ROWS.min(max_rows - rows.n_rows());
                if self.read_rows(&mut rows, most)? == 0 {
                    break;
                }
            }
            self.n_rows += rows.n_rows() as u64;
            match (rows.n_rows(), self.n_rows) {
                (0, 0) if !self.may_be_empty => return Err(wrong!("there are no rows")),
                (0, _) => return Ok(None),
                _ => {}
            }
            let n = rows.n_rows() as u64;
            match rows.finish(&self.layout, self.precision)? {
                Some((table, remarks)) => {
                    self.remarks.add(remarks);
                    return Ok(Some(table));
                }
                // Every row lacked a value.
                None => self.remarks.dropped += n,
            }
        }
    }

    fn n_rows(&self) -> Option<usize> {
        self.cursor.n_rows().filter(|_| self.layout.schema().columns.missing != Missing::Drop)
    }

    fn schema(&self) -> Schema {
        let mut schema = self.layout.schema().clone();
        if self.layout.fitting {
            schema.dropped_rows = self.remarks.dropped;
            schema.remarks.extend(self.renamed_task());
        }
        schema
    }

    fn dropped_rows(&self) -> u64 {
        self.remarks.dropped
    }

    fn could_be_kept(&self) -> Vec<String> {
        let schema = self.layout.schema();
        let is_date = |name: &str| {
            let mut features = schema.features.iter().flatten();
            features.any(|feature| matches!(feature, Feature::Date { column, .. } if column == name))
        };
        let names = self.cursor.names();
        let free = (0..names.len()).filter(|&i| !names.is_unnamed(i) && Some(i) != self.layout.task);
        let mut could: Vec<(bool, String)> = free
            .map(|i| names.name(i))
            .map(|name| (remarks::is_identifier(name, schema), name))
            .filter(|(is_id, name)| *is_id || is_date(name))
            .map(|(is_id, name)| (!is_id, name.to_string()))
            .collect();
        // A date tells less than an identifier which row is meant.
        could.sort_by_key(|(is_date, _)| *is_date);
        could.into_iter().map(|(_, name)| name).filter(|_| self.layout.keep.is_empty()).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let words = |k: usize, word: &str, rows: u64, what: &str| {
            let (column, word) = (quoted(self.layout.features[k].feature.column()), quoted(word));
            let (s, have) = if rows == 1 { ("", "has") } else { ("s", "have") };
            format!("column {column}: {rows} row{s} {have} a value that {what}, such as {word}")
        };
        let unseen = self.remarks.unseen.iter();
        let unseen = unseen.map(|(k, (word, rows))| words(*k, word, *rows, "was not there in training"));
        let respelled = self.remarks.respelled.iter().map(|(k, (word, rows))| {
            words(
                *k,
                word,
                *rows,
                "differs from one of training in letter case or spaces only, and counts as that one",
            )
        });
        let rest = self.remarks.rest.iter();
        let rest = rest.map(|(k, (word, rows))| {
            words(*k, word, *rows, "was rare in training or not there, and counts as one of the rest")
        });
        let gone = self
            .remarks
            .missing
            .iter()
            .filter(|(_, rows)| **rows == self.n_rows && **rows >= MIN_ROWS_OF_A_GAP);
        let gone: Vec<String> =
            gone.map(|(k, _)| self.layout.features[*k].feature.column().to_string()).collect();
        let gone = (!gone.is_empty())
            .then(|| format!("no value in any row, filled in as missing: {}", listed(&gone)));
        let filled = self.remarks.missing.iter().filter(|(k, rows)| {
            let is_gone = **rows == self.n_rows && **rows >= MIN_ROWS_OF_A_GAP;
            self.layout.features[**k].fills_gaps() && !is_gone
        });
        let filled: Vec<String> = filled
            .map(|(k, rows)| format!("{} ({rows})", quoted(self.layout.features[*k].feature.column())))
            .collect();
        let filled = (!filled.is_empty())
            .then(|| format!("missing values filled in with the mean of training: {}", filled.join(", ")));
        let absent = self.layout.absent_columns();
        let absent = (!absent.is_empty()).then(|| {
            let (column, is) = if absent.len() == 1 { ("column", "is") } else { ("columns", "are") };
            format!("{column} {} {is} not there and {is} filled in as missing", listed(&absent))
        });
        let task = self.renamed_task();
        let dropped = dropped_rows_in_words(self.remarks.dropped);
        let empty = empty_rows_in_words(self.cursor.empty_rows());
        let rows = unseen.chain(respelled).chain(rest).chain(self.other_zones()).chain(self.without_units());
        let rows = rows.chain(self.other_money());
        let rows = rows.chain(gone).chain(filled).chain(task).chain(dropped).chain(empty);
        let said = self.layout.said.iter().cloned();
        self.cursor
            .remark()
            .into_iter()
            .chain(said)
            .chain(absent)
            .chain(self.absent_task())
            .chain(rows)
            .collect()
    }
}

impl ColumnSource {
    fn renamed_task(&self) -> Option<String> {
        let name = self.remarks.renamed_task.as_ref()?;
        let short = cells::canonical(name.as_str().into());
        Some(format!("task {} is task {}", quoted(name), quoted(&short)))
    }

    /// That new rows do not say which task they belong to.
    fn absent_task(&self) -> Option<String> {
        let name = self.layout.schema().columns.task.as_ref();
        let name = name.filter(|_| self.layout.task.is_none() && !self.layout.fitting)?;
        Some(format!("column {} is not there: it is not known which task a row belongs to", quoted(name)))
    }

    fn other_zones(&self) -> impl Iterator<Item = String> {
        self.remarks.other_zone.iter().map(|(&k, &rows)| {
            let feature = &self.layout.features[k].feature;
            let (column, had_zone) =
                (quoted(feature.column()), matches!(feature, Feature::Date { zone: true, .. }));
            let times = if rows == 1 { "1 time has" } else { &*format!("{rows} times have") };
            match had_zone {
                true => {
                    format!("column {column}: {times} no zone, and those of the fit had one: taken as UTC")
                }
                false => format!("column {column}: {times} a zone, and those of the fit had none: made UTC"),
            }
        })
    }

    fn without_units(&self) -> impl Iterator<Item = String> {
        self.remarks.without_unit.iter().filter_map(|(&i, &rows)| {
            let (column, unit) = (quoted(&self.names[i]), self.forms[i].unit.as_deref()?);
            let numbers = if rows == 1 { "1 number lacks" } else { &*format!("{rows} numbers lack") };
            Some(format!("column {column}: {numbers} the unit {unit} of the fit and are taken to be in it"))
        })
    }
}

impl ColumnSource {
    fn other_money(&self) -> impl Iterator<Item = String> {
        self.remarks.other_money.iter().map(|(&(i, sign), &rows)| {
            let column = quoted(&self.names[i]);
            let known = self.layout.schema().columns.money.get(&self.names[i]);
            let had = known.map_or("no sign of money".into(), |signs| signs.join(", "));
            let numbers = if rows == 1 { "1 number has" } else { &*format!("{rows} numbers have") };
            format!(
                "column {column}: {numbers} the sign of money {sign}, and those of the fit had {had}: read as they \
                 are, not converted"
            )
        })
    }
}

/// What is said about rows that lack a value and are left out, if there are any.
pub(crate) fn dropped_rows_in_words(rows: u64) -> Option<String> {
    match rows {
        0 => None,
        1 => Some("1 row with a missing value is left out".into()),
        _ => Some(format!("{rows} rows with a missing value are left out")),
    }
}

/// What is said about rows of empty cells, if there are any.
pub(crate) fn empty_rows_in_words(rows: u64) -> Option<String> {
    match rows {
        0 => None,
        1 => Some("1 row of empty cells is left out".into()),
        _ => Some(format!("{rows} rows of empty cells are left out")),
    }
}

/// Some columns of a small file as texts.
pub(crate) fn texts(cursor: &mut dyn ColumnCursor, choose: &ChooseColumns<'_>) -> Result<TextTable> {
    let names: Vec<String> = {
        let all = cursor.names();
        (0..all.len())
            .map(|i| if all.is_unnamed(i) { String::new() } else { all.name(i).to_string() })
            .collect()
    };
    let chosen = choose(&names)?;
    let columns: Vec<String> = chosen.iter().map(|&i| names[i].clone()).collect();
    for (&column, name) in chosen.iter().zip(&columns) {
        if let ColumnType::Unusable(why) = cursor.column_type(column) {
            return Err(wrong!("it cannot be used: {why}").in_column(name));
        }
    }
    cursor.check_size(chosen.len())?;
    let mut table = TextTable { columns, ..TextTable::default() };
    loop {
        let first = table.rows.len();
        let (rows, lines) = (&mut table.rows, &mut table.lines);
        let read = cursor.visit(&chosen, BATCH_ROWS, &mut |cell, _, row, place| {
            // Rows grow with what is read, not with what the file claims.
            if first + row == rows.len() {
                rows.push(Vec::with_capacity(chosen.len()));
                if let RowPlace::Line(line) = place {
                    lines.push(line);
                }
            }
            let text = cell.text().map_err(|error| place.mark(error))?;
            rows[first + row].push(nfc(text).into_owned());
            Ok(())
        })?;
        if read == 0 {
            return Ok(table);
        }
    }
}
