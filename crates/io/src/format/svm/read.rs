//! Rows of a svm file, a chunk at a time.

use super::line::{self, LineRules};
use super::preamble::{Preamble, TargetKind};
use super::targets::{self, SvmTargets};
use crate::error::quoted;
use crate::format::{InputFile, OpenResult};
use crate::{
    Categorical, ColumnRoles, Error, Feature, LabelEncoding, Result, Schema, Source, Table, dense_or_sparse,
};
use kinfolk::inputs::Sparse;
use std::collections::BTreeSet;
use std::io::{BufRead, Read};

/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 28;
/// A chunk ends after this many entries, even if it has fewer rows than asked for.
const MAX_CHUNK_ENTRIES: usize = 1 << 22;

pub(super) struct SvmSource {
    lines: TextLines,
    /// Whether the line read last is still to be looked at.
    pending: bool,
    preamble: Option<Preamble>,
    classes: bool,
    /// Whether rows have a `qid`: as the first one does.
    has_qid: Option<bool>,
    /// Number of features, if that is known beforehand, and how lines are to be understood.
    known: Option<usize>,
    zero_based: bool,
    /// What the first field of a row is, if that is neither a number nor a class: several labels, or nothing.
    kind: Option<TargetKind>,
    widest: usize,
    rows: usize,
    columns: ColumnRoles,
    /// What is to be said about how the file is read.
    remark: Option<String>,
}

impl SvmSource {
    pub(super) fn open(input: &InputFile, columns: &ColumnRoles, schema: Option<&Schema>) -> OpenResult {
        columns.refuse_all("svm")?;
        let of_model = schema.and_then(|schema| schema.columns.zero_based);
        let known = columns.zero_based.or(of_model);
        let found = FirstLook::at(input, known)?;
        let said = found.zero_based && known.is_none();
        let kind = found.kind(schema);
        let mut source = SvmSource {
            lines: TextLines { from: input.text()?, line: vec![], number: 0 },
            pending: false,
            preamble: None,
            classes: columns.classes || schema.is_some_and(has_classes),
            has_qid: None,
            known: schema.map(|schema| schema.n_features),
            zero_based: found.zero_based,
            kind,
            widest: 0,
            rows: 0,
            columns: columns.clone(),
            remark: said.then(|| "indices of features count from 0, since one is 0 (--zero-based)".into()),
        };
        source.begin()?;
        // What was found is kept for other files; those that we wrote count from 1 and say so.
        if source.preamble.is_none() {
            source.columns.zero_based = Some(source.zero_based);
        }
        Ok(Box::new(source))
    }

    fn begin(&mut self) -> Result<()> {
        self.pending = self.lines.next()?;
        let first = std::str::from_utf8(&self.lines.line).unwrap_or_default().trim_end();
        self.preamble = Preamble::parse(first)?;
        let Some(preamble) = &self.preamble else { return Ok(()) };
        if let Some(known) = self.known.filter(|&known| known != preamble.n_features) {
            return Err(wrong!(
                "there are {} features; the model was fitted on {known}",
                preamble.n_features
            )
            .at_line(1));
        }
        self.known = Some(preamble.n_features);
        Ok(())
    }

    fn add_row(&mut self, chunk: &mut SvmChunk) -> Result<()> {
        let rules =
            LineRules { n_features: self.known, zero_based: self.zero_based && self.preamble.is_none() };
        let parsed = line::parse(&self.lines.line, rules, &mut chunk.columns, &mut chunk.values)?;
        let Some(row) = parsed else { return Ok(()) };
        self.widest = self.widest.max(row.width);
        if *self.has_qid.get_or_insert(row.qid.is_some()) != row.qid.is_some() {
            let why = if row.qid.is_some() {
                "has a task, and the rows before do not"
            } else {
                "has no task, and the rows before do"
            };
            return Err(wrong!("the row {why}").in_column("qid"));
        }
        chunk.starts.push(chunk.columns.len());
        let kind = self.preamble.as_ref().map(|preamble| &preamble.targets).or(self.kind.as_ref());
        chunk.targets.push(&row, kind, self.classes)?;
        match &self.preamble {
            Some(preamble) => chunk.push_comment(row.comment, preamble),
            None => Ok(()),
        }
    }

    fn finish(&mut self, chunk: SvmChunk) -> Result<Table> {
        let cols = self.known.unwrap_or(self.widest.max(1));
        let first_row = self.rows;
        self.rows += chunk.starts.len() - 1;
        let inputs = Sparse::f64(chunk.starts, chunk.columns, chunk.values, cols);
        let preamble = self.preamble.as_ref();
        Ok(Table {
            inputs: dense_or_sparse::checked(inputs, first_row, None)?,
            features: preamble.and_then(|preamble| preamble.feature_names.clone()),
            targets: chunk
                .targets
                .finish(preamble.map(|preamble| &preamble.targets).or(self.kind.as_ref()), self.classes)?,
            weight: preamble.is_some_and(|preamble| preamble.weight).then_some(chunk.weight),
            offset: None,
            split: preamble.is_some_and(|preamble| preamble.split).then_some(chunk.split),
            fold_keys: None,
            kept: vec![],
            lines: chunk.lines,
        })
    }
}

impl Source for SvmSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let mut chunk = SvmChunk { starts: vec![0], ..SvmChunk::default() };
        while chunk.starts.len() <= max_rows.max(1) && chunk.columns.len() < MAX_CHUNK_ENTRIES {
            if !std::mem::take(&mut self.pending) && !self.lines.next()? {
                break;
            }
            let number = self.lines.number;
            self.add_row(&mut chunk).map_err(|error| error.at_line(number))?;
            chunk.lines.resize(chunk.starts.len() - 1, number);
        }
        match chunk.starts.len() {
            1 if self.rows > 0 && self.widest == 0 && self.known.is_none() => {
                Err(wrong!("no row has a feature"))
            }
            1 => Ok(None),
            _ => self.finish(chunk).map(Some),
        }
    }

    fn schema(&self) -> Schema {
        let names = self.preamble.as_ref().and_then(|preamble| preamble.feature_names.clone());
        let features = names.map(|names| names.into_iter().map(Feature::Number).collect());
        let mut schema = Schema::new(self.columns.clone(), features, self.known.unwrap_or(self.widest));
        schema.remarks.extend(self.remark.clone());
        if let (None, Some(TargetKind::Several(names))) = (&self.preamble, &self.kind) {
            schema.several_labels = names.iter().collect();
        }
        schema
    }

    fn remarks(&self) -> Vec<String> {
        self.remark.iter().cloned().collect()
    }
}

/// What only the whole file can tell.
struct FirstLook {
    zero_based: bool,
    /// Whether some row has several labels.
    several: bool,
    labels: BTreeSet<String>,
    /// Whether all rows were seen, and none has a label or a task.
    only_features: bool,
}

/// Whether a model has one task for each class.
fn has_classes(schema: &Schema) -> bool {
    schema.columns.classes || schema.label_encoding == LabelEncoding::Classes
}

impl FirstLook {
    /// Looks through a file that other programs wrote: indices from 0, labels with commas. A pipe is taken as usual.
    fn at(input: &InputFile, zero_based: Option<bool>) -> Result<Self> {
        let mut found = FirstLook {
            zero_based: zero_based.unwrap_or(false),
            several: false,
            labels: BTreeSet::new(),
            only_features: false,
        };
        if !input.is_repeatable() {
            return Ok(found);
        }
        let mut lines = TextLines { from: input.text()?, line: vec![], number: 0 };
        let mut has_task = false;
        while lines.next()? {
            if lines.number == 1 && lines.line.starts_with(b"# kinfolk ") {
                return Ok(found);
            }
            let end = lines.line.iter().position(|&byte| byte == b'#').unwrap_or(lines.line.len());
            let text = String::from_utf8_lossy(&lines.line[..end]);
            let mut tokens = text.split_ascii_whitespace().peekable();
            let Some(first) = tokens.peek() else { continue };
            let label = if first.contains(':') { "" } else { tokens.next().unwrap_or_default() };
            found.several |= label.contains(',');
            found.labels.extend(targets::labels_of(label).map(targets::class_name));
            has_task |= tokens.peek().is_some_and(|token| token.starts_with("qid:"));
            let mut entries = tokens.filter(|token| !token.starts_with("qid:"));
            found.zero_based |=
                zero_based.is_none() && entries.next().is_some_and(|token| token.starts_with("0:"));
        }
        found.only_features = found.labels.is_empty() && !has_task;
        Ok(found)
    }

    /// What the first field of a row is, if that is neither a number nor a class. A model knows whether its rows have
    /// several labels: a file of new rows may have at most one in each.
    fn kind(&self, schema: Option<&Schema>) -> Option<TargetKind> {
        let of_model = schema.map_or(&[][..], |schema| &schema.several_labels);
        match self {
            _ if schema.is_some() && self.only_features => Some(TargetKind::None),
            _ if (self.several && !self.labels.is_empty()) || !of_model.is_empty() => {
                let labels: BTreeSet<&String> = self.labels.iter().chain(of_model).collect();
                let labels: Vec<&String> = labels.into_iter().collect();
                Some(TargetKind::Several(Categorical::from_words(&labels).names))
            }
            _ => None,
        }
    }
}

/// Lines of a text, without their ends.
struct TextLines {
    from: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
}

impl TextLines {
    /// Reads the next line; false at the end.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.from).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| Error::of_table(error).at_line(self.number))? as u64;
        if read == MAX_LINE_BYTES && self.line.last() != Some(&b'\n') {
            return Err(wrong!("it is longer than {MAX_LINE_BYTES} bytes").at_line(self.number));
        }
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3); // the mark that some editors put before UTF-8
        }
        Ok(read > 0)
    }
}

#[derive(Default)]
struct SvmChunk {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    targets: SvmTargets,
    weight: Vec<f64>,
    split: Vec<i64>,
    lines: Vec<u64>,
}

impl SvmChunk {
    /// The weight and the part of a row, in its comment.
    fn push_comment(&mut self, comment: &str, preamble: &Preamble) -> Result<()> {
        let mut fields = comment.split_ascii_whitespace();
        if preamble.weight {
            let weight =
                line::finite(fields.next().unwrap_or_default()).map_err(|error| error.in_column("weight"))?;
            if weight < 0.0 {
                return Err(wrong!("weight {weight} is negative").in_column("weight"));
            }
            self.weight.push(weight);
        }
        if preamble.split {
            let part = fields.next().unwrap_or_default();
            let wrong = |_| wrong!("{} is not an integer", quoted(part)).in_column("split");
            self.split.push(part.parse().map_err(wrong)?);
        }
        Ok(())
    }
}
