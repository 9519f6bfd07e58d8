//! Pages of a column: levels and values, apart and decompressed.

use super::codec::decompress;
use super::no_panic::no_panic;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// A file: its metadata, and its columns.
pub(super) struct ParquetFile {
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Bytes of the file.
    pub(super) size: u64,
    open: Box<dyn Fn(usize, usize) -> Result<Pages, String> + Send>,
}

impl ParquetFile {
    /// Reads the metadata.
    pub(super) fn new<R: ChunkReader + 'static>(input: R) -> Result<Self, String> {
        let metadata = no_panic(|| ParquetMetaDataReader::new().parse_and_finish(&input))?;
        let (metadata, size) = (Arc::new(metadata), input.len());
        let (input, known) = (Arc::new(input), Arc::clone(&metadata));
        let open = move |group: usize, leaf: usize| {
            let column = known.row_groups().get(group).and_then(|group| group.columns().get(leaf));
            Pages::new(Arc::clone(&input), column.ok_or("a row group lacks the column")?)
        };
        Ok(ParquetFile { metadata, size, open: Box::new(open) })
    }

    /// A column of a row group.
    pub(super) fn pages(&self, group: usize, leaf: usize) -> Result<Pages, String> {
        (self.open)(group, leaf)
    }
}

/// The pages of a column of a row group.
pub(super) struct Pages {
    pages: Box<dyn PageReader>,
    compression: Compression,
}

/// A page.
pub(super) enum Content {
    /// PageValues that later pages refer to.
    Dictionary { n: usize, bytes: Bytes },
    /// PageValues of n rows; `levels` say which rows have one, if not all do.
    Data { n: usize, levels: Option<Bytes>, encoding: Encoding, bytes: Bytes },
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
        let pages = no_panic(|| SerializedPageReader::new(input, &raw, 0, None))?;
        Ok(Pages { pages: Box::new(pages), compression: column.compression() })
    }

    /// The next page; `None` after the last. `nullable`: whether there are levels.
    pub(super) fn next(&mut self, nullable: bool) -> Result<Option<Content>, String> {
        let Some(page) = no_panic(|| self.pages.get_next_page())? else { return Ok(None) };
        let short = || "a page ends before its levels do".to_string();
        let content = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                Content::Dictionary { n: num_values as usize, bytes: self.plain(buf)? }
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let bytes = self.plain(buf)?;
                let (levels, bytes) = match nullable {
                    false => (None, bytes),
                    true if def_level_encoding != Encoding::RLE => {
                        return Err(format!("levels in encoding {def_level_encoding} are not supported"));
                    }
                    // Their length in bytes, then the levels.
                    true => {
                        let length = bytes.get(..4).and_then(|head| head.try_into().ok());
                        let end = length.map(u32::from_le_bytes).and_then(|n| (n as usize).checked_add(4));
                        let end = end.filter(|&end| end <= bytes.len()).ok_or_else(short)?;
                        (Some(bytes.slice(4..end)), bytes.slice(end..))
                    }
                };
                Content::Data { n: num_values as usize, levels, encoding, bytes }
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
                let start = rep_levels_byte_len as usize;
                let end = start + def_levels_byte_len as usize;
                if end > buf.len() {
                    return Err(short());
                }
                let levels = nullable.then(|| buf.slice(start..end));
                let rest = buf.slice(end..);
                // A page of nulls alone holds nothing, not even something compressed.
                let bytes = if is_compressed && !rest.is_empty() { self.plain(rest)? } else { rest };
                Content::Data { n: num_values as usize, levels, encoding, bytes }
            }
        };
        Ok(Some(content))
    }

    fn plain(&self, bytes: Bytes) -> Result<Bytes, String> {
        match self.compression {
            Compression::UNCOMPRESSED => Ok(bytes),
            compression => decompress(compression, &bytes).map(Bytes::from),
        }
    }
}
