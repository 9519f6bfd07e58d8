//! Records of a csv file: cells, and the line they are on.

use crate::{Error, Result};
use csv_core::{ReadRecordResult, ReaderBuilder};
use std::io::{self, BufRead, Cursor, Read};

/// The longest record, in bytes: 10^6 columns of 200 characters fit in. A file with a longer line is not a
/// table, and would fill the memory.
const MAX_RECORD_BYTES: usize = 256 << 20;

/// Records one after the other, with their lines.
///
/// csv-core handles quotes, doubled quotes and line ends inside quotes. We count the lines: csv-core counts
/// `\n` alone and depends on where its buffer ends; we count line ends of any kind before the record begins,
/// as editors do. Empty lines are skipped.
pub(super) struct CsvRecords {
    input: Box<dyn BufRead + Send>,
    core: csv_core::Reader,
    cells: Vec<u8>,
    ends: Vec<usize>,
    n_cells: usize,
    line: u64,
    lines: LineCount,
    delimiter: u8,
}

impl CsvRecords {
    /// From behind so many lines: skips a byte order mark, and finds the delimiter in the first line, if it is not
    /// known.
    pub(super) fn new(mut input: Box<dyn BufRead + Send>, behind: u64, known: Option<u8>) -> Result<Self> {
        let wrong = |error| Error::of_table(reason(&error)).at_line(1);
        let read_line = |input: &mut Box<dyn BufRead + Send>| first_line(input).map_err(wrong);
        let mut lines = LineCount::default();
        lines.skip(&mut input, behind).map_err(wrong)?;
        let mut first_line = read_line(&mut input)?;
        let mut said = known;
        // Excel may say in a line of its own what separates cells.
        if let [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator, b'\r' | b'\n', ..] = first_line[..]
            && known.is_none()
        {
            said = Some(separator);
            lines.pass(&first_line);
            first_line = read_line(&mut input)?;
            if first_line.first() == Some(&b'\n') {
                lines.pass(&first_line[..1]);
                first_line.remove(0);
            }
        }
        let delimiter = said.unwrap_or_else(|| delimiter(&first_line));
        let core = ReaderBuilder::new().delimiter(delimiter).build();
        Ok(CsvRecords {
            input: Box::new(Cursor::new(first_line).chain(input)),
            core,
            cells: vec![0; 4096],
            ends: vec![0; 64],
            n_cells: 0,
            line: lines.so_far + 1,
            lines,
            delimiter,
        })
    }

    /// Goes to the next record; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.read().map_err(|error| Error::of_table(reason(&error)).at_line(self.line))
    }

    /// Number of cells of the record.
    pub(super) fn len(&self) -> usize {
        self.n_cells
    }

    /// What separates cells.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Whether there are several cells, and all are empty or blank.
    pub(super) fn is_empty(&self) -> bool {
        let end = if self.n_cells == 0 { 0 } else { self.ends[self.n_cells - 1] };
        self.n_cells > 1 && self.cells[..end].iter().all(u8::is_ascii_whitespace)
    }

    /// Cell i of the record, without its quotes.
    pub(super) fn cell(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.cells[start..self.ends[i]]
    }

    /// The line on which the record begins, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether the record goes over several lines, which is a sign of a quote that was not closed.
    pub(super) fn has_line_ends(&self) -> bool {
        let end = if self.n_cells == 0 { 0 } else { self.ends[self.n_cells - 1] };
        memchr::memchr2(b'\n', b'\r', &self.cells[..end]).is_some()
    }

    fn read(&mut self) -> io::Result<bool> {
        self.skip_line_ends()?;
        self.line = self.lines.so_far + 1;
        let (mut n_bytes, mut n_cells) = (0, 0);
        self.n_cells = 0;
        loop {
            let buffer = self.input.fill_buf()?;
            let (result, read, wrote, ended) =
                self.core.read_record(buffer, &mut self.cells[n_bytes..], &mut self.ends[n_cells..]);
            self.lines.pass(&buffer[..read]);
            self.input.consume(read);
            n_bytes += wrote;
            n_cells += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if n_bytes >= MAX_RECORD_BYTES => return Err(too_long()),
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if n_cells >= MAX_RECORD_BYTES / 8 => return Err(too_long()),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    self.n_cells = n_cells;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    fn skip_line_ends(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            let n = buffer.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
            let all = n == buffer.len();
            self.lines.pass(&buffer[..n]);
            self.input.consume(n);
            if n == 0 || !all {
                return Ok(());
            }
        }
    }
}

/// Line ends passed so far: `\n`, `\r\n` or, on its own, `\r`.
#[derive(Default)]
struct LineCount {
    so_far: u64,
    after_return: bool,
}

impl LineCount {
    /// Reads to the end of this line.
    fn skip(&mut self, input: &mut impl BufRead, line: u64) -> io::Result<()> {
        while self.so_far < line {
            let buffer = input.fill_buf()?;
            let n = memchr::memchr2(b'\n', b'\r', buffer).map_or(buffer.len(), |at| at + 1);
            if n == 0 {
                break;
            }
            self.pass(&buffer[..n]);
            input.consume(n);
        }
        Ok(())
    }

    fn pass(&mut self, bytes: &[u8]) {
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let after_return = if at == 0 { self.after_return } else { bytes[at - 1] == b'\r' };
            self.so_far += u64::from(bytes[at] == b'\r' || !after_return);
        }
        if let Some(&last) = bytes.last() {
            self.after_return = last == b'\r';
        }
    }
}

/// Everything up to the end of the first line that is not empty, without a byte order mark.
fn first_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let (mut line, mut is_empty) = (vec![], true);
    loop {
        let buffer = input.fill_buf()?;
        let end = memchr::memchr2(b'\n', b'\r', buffer).map(|at| at + 1);
        let n = end.unwrap_or(buffer.len());
        line.extend_from_slice(&buffer[..n]);
        is_empty &= buffer[..n].iter().all(|byte| b"\r\n".contains(byte));
        input.consume(n);
        if line.len() > MAX_RECORD_BYTES {
            return Err(too_long());
        }
        if n == 0 || end.is_some() && !is_empty {
            let mark = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            line.drain(..mark);
            return Ok(line);
        }
    }
}

/// The comma, unless semicolons, tabs or bars cut the line into more columns. Without any of them, single spaces may
/// cut it, as those of R's `write.table`: between names in quotes, or between three names, as one may be of two words.
/// What is inside of quotes does not count.
fn delimiter(line: &[u8]) -> u8 {
    let mut count = [(b',', 0_usize), (b';', 0), (b'\t', 0), (b'|', 0)];
    let (mut quoted, mut spaces, mut in_quotes) = (false, vec![], 0);
    for (i, &byte) in line.iter().enumerate() {
        quoted ^= byte == b'"';
        in_quotes += usize::from(byte == b'"');
        if let Some((_, n)) = count.iter_mut().find(|(delimiter, _)| !quoted && *delimiter == byte) {
            *n += 1;
        }
        if byte == b' ' && !quoted {
            spaces.push(i);
        }
    }
    let most = count.iter().map(|(_, n)| *n).max();
    let are_single = spaces.windows(2).all(|two| two[0] + 1 < two[1]) && spaces.first() != Some(&0);
    if most == Some(0) && are_single && (spaces.len() > 1 || !spaces.is_empty() && in_quotes == 4) {
        return b' ';
    }
    count.iter().find(|(_, n)| Some(*n) == most).map_or(b',', |(delimiter, _)| *delimiter)
}

fn too_long() -> io::Error {
    io::Error::other(format!(
        "the line is longer than {} MiB, so this is not a csv file (or a quote is not closed)",
        MAX_RECORD_BYTES >> 20
    ))
}

/// What went wrong while reading, in plain words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file ends early; it was cut off".to_string(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            format!("it cannot be decompressed: {error}")
        }
        _ => error.to_string(),
    }
}
