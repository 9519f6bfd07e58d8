//! Pages of a column, decompressed, with their claims checked.

use super::claims;
use super::codec::{self, decompress};
use super::thrift;
use crate::format::no_panic::no_panic;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::Arc;

/// At the end of a file: the length of its header in bytes, and this.
const MAGIC: &[u8] = b"PAR1";

/// A file: its metadata, and its columns.
pub(super) struct ParquetFile {
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Bytes of the file.
    pub(super) size: u64,
    open: Box<dyn Fn(usize, usize) -> Result<ColumnReader, String> + Send>,
    close: Box<dyn Fn() + Send>,
}

/// What pages are read from.
pub(super) trait PageInput: ChunkReader + 'static {
    /// Gives back what the system has few of, until the next reading.
    fn close(&self) {}
}

impl PageInput for Bytes {}

impl ParquetFile {
    /// Reads the metadata.
    pub(super) fn new<R: PageInput>(input: R) -> Result<Self, String> {
        check_header(&input).map_err(|error| error.to_string())?;
        let metadata = no_panic(|| ParquetMetaDataReader::new().parse_and_finish(&input))?;
        let (metadata, size) = (Arc::new(metadata), input.len());
        let (input, known) = (Arc::new(input), Arc::clone(&metadata));
        let same = Arc::clone(&input);
        let close = move || same.close();
        let open = move |group: usize, leaf: usize| {
            let column = known.row_groups().get(group).and_then(|group| group.columns().get(leaf));
            let column = column.ok_or("a row group lacks the column")?;
            let pages = Pages::new(Arc::clone(&input), column)?;
            no_panic(|| Ok::<_, String>(get_column_reader(column.column_descr_ptr(), Box::new(pages))))
        };
        Ok(ParquetFile { metadata, size, open: Box::new(open), close: Box::new(close) })
    }

    /// A column of a row group.
    pub(super) fn column(&self, group: usize, leaf: usize) -> Result<ColumnReader, String> {
        (self.open)(group, leaf)
    }

    /// Closes the file until a column is read.
    pub(super) fn close(&self) {
        (self.close)();
    }
}

/// Looks at the header of the file, which is at its end; what else is wrong, the crate says.
fn check_header(input: &impl ChunkReader) -> ParquetResult<()> {
    let Some(end) = input.len().checked_sub(8) else { return Ok(()) };
    let last = input.get_bytes(end, 8)?;
    let (length, magic) = last.split_at(4);
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte));
    match end.checked_sub(length) {
        Some(start) if magic == MAGIC => {
            Ok(thrift::read_struct(input.get_read(start)?, length, &thrift::ANY).map(|_| ())?)
        }
        _ => Ok(()),
    }
}

/// A file whose headers of pages are looked at before the crate reads them.
struct CheckedFile<R>(Arc<R>);

impl<R: ChunkReader> Length for CheckedFile<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for CheckedFile<R> {
    type T = HeaderReader<R>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(HeaderReader { input: Arc::clone(&self.0), start, header: None })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// The header of a page, from when it is read, and nothing behind it.
struct HeaderReader<R> {
    input: Arc<R>,
    start: u64,
    header: Option<Cursor<Vec<u8>>>,
}

impl<R: ChunkReader> Read for HeaderReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.header.is_none() {
            let left = self.input.len().saturating_sub(self.start);
            let from = self.input.get_read(self.start).map_err(io::Error::other)?;
            self.header = Some(Cursor::new(thrift::read_struct(from, left, &thrift::PAGE)?));
        }
        let n = self.header.as_mut().map_or(Ok(0), |header| header.read(out))?;
        // The crate does not look whether it got what it skips.
        if n == 0 && !out.is_empty() { Err(ErrorKind::InvalidData.into()) } else { Ok(n) }
    }
}

/// The pages of a column of a row group.
struct Pages {
    packed: Box<dyn PageReader>,
    compression: Compression,
    physical: Type,
    nullable: bool,
    has_dictionary: bool,
}

impl Pages {
    fn new<R: PageInput>(input: Arc<R>, column: &ColumnChunkMetaData) -> Result<Self, String> {
        codec::check(column.compression())?;
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        let inside = |end: i64| u64::try_from(end).is_ok_and(|end| end <= input.len());
        if start < 0 || column.compressed_size() < 0 || !end.is_some_and(inside) {
            return Err("it lies beyond the end of the file, which may have been cut off".to_string());
        }
        // Told that nothing is compressed, the crate hands pages over as they lie in the file.
        let raw = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build();
        let raw = raw.map_err(|error| error.to_string())?;
        let packed =
            Box::new(no_panic(|| SerializedPageReader::new(Arc::new(CheckedFile(input)), &raw, 0, None))?);
        let nullable = column.column_descr().max_def_level() > 0;
        let (compression, physical) = (column.compression(), column.column_type());
        Ok(Pages { packed, compression, physical, nullable, has_dictionary: false })
    }

    fn unpacked(&mut self, mut page: Page) -> Result<Page, String> {
        let refers = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        self.has_dictionary |= page.is_dictionary_page();
        if refers && !self.has_dictionary {
            return Err("a page refers to a dictionary that is not there".into());
        }
        let short = || "a page ends before its levels do".to_string();
        match &mut page {
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = self.plain(buf)?;
                claims::check_dictionary(self.physical, buf, *num_values)?;
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                *buf = self.plain(buf)?;
                let values = match *def_level_encoding {
                    _ if !self.nullable => Some(&buf[..]),
                    // Their length in bytes, then the levels.
                    Encoding::RLE => buf
                        .split_first_chunk()
                        .and_then(|(&length, rest)| rest.get(u32::from_le_bytes(length) as usize..)),
                    other => return Err(format!("levels in encoding {other} are not supported")),
                };
                claims::check_data(*encoding, values.ok_or_else(short)?, *num_values)?;
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = *rep_levels_byte_len as usize + *def_levels_byte_len as usize;
                if levels > buf.len() {
                    return Err(short());
                }
                // Levels are never compressed. A page of nulls alone holds nothing besides them.
                if std::mem::take(is_compressed) && levels < buf.len() {
                    *buf = Bytes::from([&buf[..levels], &self.plain(&buf.slice(levels..))?[..]].concat());
                }
                claims::check_data(*encoding, &buf[levels..], *num_values)?;
            }
        }
        Ok(page)
    }

    fn plain(&self, bytes: &Bytes) -> Result<Bytes, String> {
        match self.compression {
            Compression::UNCOMPRESSED => Ok(bytes.clone()),
            compression => decompress(compression, bytes).map(Bytes::from),
        }
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.packed.get_next_page()?;
        page.map(|page| self.unpacked(page).map_err(ParquetError::General)).transpose()
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.packed.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
