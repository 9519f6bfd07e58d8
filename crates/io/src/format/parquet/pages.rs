//! Pages of a column, decompressed, with their claims checked.

use super::claims;
use super::codec::decompress;
use crate::format::no_panic::no_panic;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// A file: its metadata, and its columns.
pub(super) struct ParquetFile {
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Bytes of the file.
    pub(super) size: u64,
    open: Box<dyn Fn(usize, usize) -> Result<ColumnReader, String> + Send>,
}

impl ParquetFile {
    /// Reads the metadata.
    pub(super) fn new<R: ChunkReader + 'static>(input: R) -> Result<Self, String> {
        let metadata = no_panic(|| ParquetMetaDataReader::new().parse_and_finish(&input))?;
        let (metadata, size) = (Arc::new(metadata), input.len());
        let (input, known) = (Arc::new(input), Arc::clone(&metadata));
        let open = move |group: usize, leaf: usize| {
            let column = known.row_groups().get(group).and_then(|group| group.columns().get(leaf));
            let column = column.ok_or("a row group lacks the column")?;
            let pages = Pages::new(Arc::clone(&input), column)?;
            no_panic(|| Ok::<_, String>(get_column_reader(column.column_descr_ptr(), Box::new(pages))))
        };
        Ok(ParquetFile { metadata, size, open: Box::new(open) })
    }

    /// A column of a row group.
    pub(super) fn column(&self, group: usize, leaf: usize) -> Result<ColumnReader, String> {
        (self.open)(group, leaf)
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
    fn new<R: ChunkReader + 'static>(input: Arc<R>, column: &ColumnChunkMetaData) -> Result<Self, String> {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        let inside = |end: i64| u64::try_from(end).is_ok_and(|end| end <= input.len());
        if start < 0 || column.compressed_size() < 0 || !end.is_some_and(inside) {
            return Err("it lies beyond the end of the file, which may have been cut off".to_string());
        }
        // Told that nothing is compressed, the crate hands pages over as they lie in the file.
        let raw = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build();
        let raw = raw.map_err(|error| error.to_string())?;
        let packed = Box::new(no_panic(|| SerializedPageReader::new(input, &raw, 0, None))?);
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
