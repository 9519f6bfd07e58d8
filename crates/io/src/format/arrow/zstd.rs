//! Messages whose buffers are compressed with zstd, rewritten so that a reader without zstd reads them.
//!
//! The Arrow library knows zstd only through a library in C. But a compressed buffer begins with its length, and a
//! length of -1 says that it is stored as it is. So each buffer is decompressed here and stored behind a -1, and the
//! message says lz4, which is then never used. Only numbers of a fixed size change: places and lengths of buffers, the
//! length of the body and the name of the compression. They are overwritten where they are.

use arrow_ipc::{BodyCompression, CompressionType, Message, RecordBatch, root_as_message};
use std::io::{Error, ErrorKind, Read, Result};

/// Marks the length of a message that is aligned to eight bytes.
const CONTINUATION: u32 = u32::MAX;
/// "Stored as it is", in place of the length of a buffer.
const NOT_COMPRESSED: i64 = -1;
/// Bytes of place and length of a buffer in a message.
const BUFFER_BYTES: usize = 16;
/// The largest buffer there may be.
const MAX_BUFFER_BYTES: u64 = 1 << 32;

/// A stream of messages without zstd.
pub(super) struct WithoutZstd<R> {
    messages: R,
    /// What is to be read next, from `read` on.
    bytes: Vec<u8>,
    read: usize,
    ended: bool,
}

impl<R: Read> WithoutZstd<R> {
    /// From the first message on: after the first eight bytes of a file, at the beginning of a stream.
    pub(super) fn new(messages: R) -> Self {
        WithoutZstd { messages, bytes: vec![], read: 0, ended: false }
    }

    /// Reads the next message into `bytes`.
    fn next_message(&mut self) -> Result<()> {
        (self.bytes, self.read) = (vec![], 0);
        let Some((head, mut metadata)) = self.metadata()? else { return Ok(()) };
        self.bytes.extend_from_slice(&head);
        if metadata.is_empty() {
            self.ended = true;
            return Ok(());
        }
        let length = root_as_message(&metadata).map_err(corrupt)?.bodyLength();
        let body = exactly(&mut self.messages, u64::try_from(length).map_err(corrupt)?)?;
        let body = change(&mut metadata, body)?;
        self.bytes.extend_from_slice(&metadata);
        self.bytes.extend_from_slice(&body);
        Ok(())
    }

    /// The bytes that say how long the metadata of the next message are, and these; `None` at the end.
    fn metadata(&mut self) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut head = vec![];
        (&mut self.messages).take(4).read_to_end(&mut head)?;
        if head.is_empty() {
            self.ended = true;
            return Ok(None);
        }
        if head == CONTINUATION.to_le_bytes() {
            head.extend(exactly(&mut self.messages, 4)?);
        }
        let length: [u8; 4] = head[head.len().saturating_sub(4)..].try_into().map_err(corrupt)?;
        let metadata = exactly(&mut self.messages, u32::from_le_bytes(length).into())?;
        Ok(Some((head, metadata)))
    }
}

impl<R: Read> Read for WithoutZstd<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while self.read == self.bytes.len() && !self.ended {
            self.next_message()?;
        }
        let n = (&self.bytes[self.read..]).read(out)?;
        self.read += n;
        Ok(n)
    }
}

/// A message of a file, whose metadata begin with their length, without zstd.
pub(super) fn without_zstd(mut metadata: Vec<u8>, body: Vec<u8>) -> Result<(Vec<u8>, Vec<u8>)> {
    let head = if metadata.starts_with(&CONTINUATION.to_le_bytes()) { 8 } else { 4 };
    let message = metadata.get_mut(head..).ok_or_else(|| corrupt("a message is too short"))?;
    let body = change(message, body)?;
    Ok((metadata, body))
}

/// The body of a message without zstd; its metadata say so.
fn change(metadata: &mut [u8], body: Vec<u8>) -> Result<Vec<u8>> {
    let message = root_as_message(metadata).map_err(corrupt)?;
    let Some((batch, compression)) = compressed_batch(&message) else { return Ok(body) };
    Ok(Change::new(&message, &batch, &compression, &body, metadata)?.apply(metadata))
}

/// The rows of a message, or the words of a dictionary.
fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    let words = || message.header_as_dictionary_batch()?.data();
    message.header_as_record_batch().or_else(words)
}

/// The same, if it is compressed with zstd.
fn compressed_batch<'a>(message: &Message<'a>) -> Option<(RecordBatch<'a>, BodyCompression<'a>)> {
    let batch = batch_of(message)?;
    let compression =
        batch.compression().filter(|compression| compression.codec() == CompressionType::ZSTD)?;
    Some((batch, compression))
}

/// What changes in a message.
struct Change {
    body: Vec<u8>,
    /// Bytes to overwrite, and with what.
    patches: Vec<(usize, Vec<u8>)>,
}

impl Change {
    fn new(
        message: &Message<'_>,
        batch: &RecordBatch<'_>,
        compression: &BodyCompression<'_>,
        body: &[u8],
        metadata: &[u8],
    ) -> Result<Self> {
        let (mut plain, mut patches) = (vec![], vec![]);
        if let Some(buffers) = batch.buffers() {
            let first = buffers.bytes().as_ptr() as usize - metadata.as_ptr() as usize;
            for (i, buffer) in buffers.iter().enumerate() {
                let start = plain.len();
                let from = usize::try_from(buffer.offset()).map_err(corrupt)?;
                let length = usize::try_from(buffer.length()).map_err(corrupt)?;
                let stored = body.get(from..).and_then(|rest| rest.get(..length));
                plain_buffer(stored.ok_or_else(|| corrupt("a buffer lies outside"))?, &mut plain)?;
                let place = [start as i64, (plain.len() - start) as i64];
                patches.push((first + BUFFER_BYTES * i, place.map(i64::to_le_bytes).concat()));
                plain.resize(plain.len().next_multiple_of(8), 0);
            }
        }
        // Neither is its default value, so that both are there.
        let codec = compression._tab.vtable().get(BodyCompression::VT_CODEC);
        patches.push((compression._tab.loc() + usize::from(codec), vec![CompressionType::LZ4_FRAME.0 as u8]));
        let length = message._tab.vtable().get(Message::VT_BODYLENGTH);
        if length != 0 {
            let bytes = (plain.len() as i64).to_le_bytes().to_vec();
            patches.push((message._tab.loc() + usize::from(length), bytes));
        }
        Ok(Change { body: plain, patches })
    }

    /// The new body; the metadata say so.
    fn apply(self, metadata: &mut [u8]) -> Vec<u8> {
        for (at, bytes) in self.patches {
            metadata[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        self.body
    }
}

/// Appends a buffer as it is stored without compression.
fn plain_buffer(stored: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let Some((length, data)) = stored.split_first_chunk::<8>() else {
        return if stored.is_empty() { Ok(()) } else { Err(corrupt("a buffer is too short")) };
    };
    out.extend(NOT_COMPRESSED.to_le_bytes());
    if i64::from_le_bytes(*length) == NOT_COMPRESSED {
        out.extend(data);
        return Ok(());
    }
    let length = u64::try_from(i64::from_le_bytes(*length)).map_err(corrupt)?;
    if length > MAX_BUFFER_BYTES {
        return Err(corrupt("a buffer claims to be larger than 4 GiB"));
    }
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(corrupt)?;
    out.extend(exactly(decoder, length)?);
    Ok(())
}

/// So many bytes; memory grows with what is there, not with what is claimed.
fn exactly(from: impl Read, n: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    from.take(n).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == n { Ok(bytes) } else { Err(corrupt("it ends early")) }
}

fn corrupt(why: impl ToString) -> Error {
    Error::new(ErrorKind::InvalidData, why.to_string())
}
