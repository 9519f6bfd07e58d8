//! The blocks of an Arrow file: words of dictionaries, and rows. Its footer says where they are; polars writes nothing
//! between the first bytes of a file and its blocks that the reader of a stream would understand.

use super::read::SeekableInput;
use super::zstd::without_zstd;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes after the footer: its length, and the mark of the format.
const TRAILER_BYTES: usize = 10;

/// A file, read block by block.
pub(super) struct FileBlocks {
    bytes: Box<dyn SeekableInput>,
    /// How many bytes there are.
    size: u64,
    decoder: FileDecoder,
    schema: SchemaRef,
    /// Blocks of rows, and the next of them.
    blocks: Vec<Block>,
    next: usize,
}

impl FileBlocks {
    pub(super) fn open(mut bytes: Box<dyn SeekableInput>) -> Result<Self, ArrowError> {
        let size = bytes.seek(SeekFrom::End(0))?;
        let mut trailer = [0; TRAILER_BYTES];
        bytes.seek(SeekFrom::End(-(TRAILER_BYTES as i64)))?;
        bytes.read_exact(&mut trailer)?;
        let length = read_footer_length(trailer)? as u64;
        let start = size
            .checked_sub(TRAILER_BYTES as u64 + length)
            .ok_or_else(|| corrupt("its footer is too long"))?;
        let footer = part(&mut bytes, size, start, length)?;
        let footer = root_as_footer(&footer).map_err(|error| corrupt(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| corrupt("it does not name its columns"))?;
        let schema: SchemaRef = Arc::new(try_fb_to_schema(schema)?);
        let words: Vec<Block> = footer.dictionaries().iter().flatten().copied().collect();
        let blocks = footer.recordBatches().iter().flatten().copied().collect();
        let decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
        let mut file = FileBlocks { bytes, size, decoder, schema, blocks, next: 0 };
        for block in &words {
            let (block, message) = file.message(block)?;
            file.decoder.read_dictionary(&block, &message)?;
        }
        Ok(file)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next rows; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(block) = self.blocks.get(self.next).copied() else { return Ok(None) };
        self.next += 1;
        let (block, message) = self.message(&block)?;
        self.decoder.read_record_batch(&block, &message)
    }

    /// A block without zstd: where its parts are, and its bytes.
    fn message(&mut self, block: &Block) -> Result<(Block, Buffer), ArrowError> {
        let length = |n: i64| u64::try_from(n).map_err(|_| corrupt("a block has a negative length"));
        let (at, metadata) = (length(block.offset())?, length(block.metaDataLength().into())?);
        let metadata = part(&mut self.bytes, self.size, at, metadata)?;
        let body = part(&mut self.bytes, self.size, at + metadata.len() as u64, length(block.bodyLength())?)?;
        let (mut message, body) = without_zstd(metadata, body)?;
        let block = Block::new(0, block.metaDataLength(), body.len() as i64);
        message.extend_from_slice(&body);
        Ok((block, Buffer::from_vec(message)))
    }
}

/// So many bytes of a file, from there on.
fn part(bytes: &mut Box<dyn SeekableInput>, size: u64, at: u64, length: u64) -> Result<Vec<u8>, ArrowError> {
    if at.checked_add(length).is_none_or(|end| end > size) {
        return Err(corrupt("a block lies outside"));
    }
    bytes.seek(SeekFrom::Start(at))?;
    let mut part = vec![];
    bytes.take(length).read_to_end(&mut part)?;
    Ok(part)
}

fn corrupt(why: &str) -> ArrowError {
    ArrowError::IpcError(why.to_string())
}
