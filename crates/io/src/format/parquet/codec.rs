//! Pages, decompressed: as far as they go, never further than a page may.

use parquet::basic::Compression;
use std::io::Read;

/// The largest page there may be. Most writers make pages of about one MiB; some put a whole column of a row
/// group in one.
const MAX_PAGE_BYTES: usize = 1 << 30;

/// `Err` if pages are compressed in a way that is not known here, with what to do.
pub(super) fn check(compression: Compression) -> Result<(), String> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_)
        | Compression::LZ4_RAW => Ok(()),
        other => {
            let name = format!("{other:?}").to_lowercase();
            let name = name.split('(').next().unwrap_or_default().to_string();
            Err(format!(
                "it is compressed with {name}, which is not read here: write it with snappy, zstd or gzip"
            ))
        }
    }
}

/// Decompresses a page. The parquet crate could do so too, but reserves what the file claims, and gzip
/// without end.
pub(super) fn decompress(compression: Compression, bytes: &[u8]) -> Result<Vec<u8>, String> {
    match compression {
        Compression::SNAPPY => snappy(bytes),
        Compression::GZIP(_) => read(flate2::read::MultiGzDecoder::new(bytes)),
        Compression::ZSTD(_) => {
            let decoder =
                ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| error.to_string())?;
            read(decoder)
        }
        Compression::LZ4_RAW => lz4(bytes),
        other => check(other).map(|()| bytes.to_vec()),
    }
}

/// What a stream holds; memory grows with what comes out of it.
fn read(stream: impl Read) -> Result<Vec<u8>, String> {
    let mut out = vec![];
    stream.take(MAX_PAGE_BYTES as u64 + 1).read_to_end(&mut out).map_err(|error| error.to_string())?;
    if out.len() > MAX_PAGE_BYTES { Err(too_large()) } else { Ok(out) }
}

/// The length comes first, but two bytes make at most 64: a length beyond is a lie.
fn snappy(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let n = snap::raw::decompress_len(bytes).map_err(|error| error.to_string())?;
    if n > MAX_PAGE_BYTES || n / 32 > bytes.len() {
        return Err(too_large());
    }
    snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| error.to_string())
}

/// Nothing says how much comes out, so room is doubled until it does; a byte makes at most 255.
fn lz4(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let most = MAX_PAGE_BYTES.min(bytes.len().saturating_mul(255).saturating_add(64));
    let mut room = most.min(bytes.len().saturating_mul(4).saturating_add(64));
    loop {
        let mut out = vec![0; room];
        match lz4_flex::block::decompress_into(bytes, &mut out) {
            Ok(n) => {
                out.truncate(n);
                return Ok(out);
            }
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if room < most => {
                room = most.min(room * 2);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn too_large() -> String {
    format!("a page is larger than {} MiB, or claims to be", MAX_PAGE_BYTES >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::{GzipLevel, ZstdLevel};
    use std::io::Write;

    #[test]
    fn what_was_compressed_comes_back() {
        let text = b"many trees, ".repeat(1000);
        let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        gz.write_all(&text).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (compression, bytes) in [
            (Compression::SNAPPY, snap::raw::Encoder::new().compress_vec(&text).unwrap()),
            (Compression::GZIP(GzipLevel::default()), gz.finish().unwrap()),
            (Compression::ZSTD(ZstdLevel::default()), zstd),
            (Compression::LZ4_RAW, lz4_flex::block::compress(&text)),
        ] {
            assert_eq!(decompress(compression, &bytes).as_deref(), Ok(&text[..]), "{compression:?}");
            let cut = decompress(compression, &bytes[..bytes.len() / 2]);
            assert_ne!(cut.as_deref(), Ok(&text[..]), "{compression:?}");
        }
    }

    #[test]
    fn other_codecs_are_named() {
        let brotli = Compression::BROTLI(Default::default());
        assert_eq!(
            check(brotli).unwrap_err(),
            "it is compressed with brotli, which is not read here: write it with snappy, zstd or gzip"
        );
        assert!(check(Compression::LZO).unwrap_err().contains("with lzo,"));
        assert!(check(Compression::UNCOMPRESSED).is_ok());
    }

    #[test]
    fn lengths_that_cannot_be_are_not_believed() {
        // The varint of 2^30, then one byte.
        assert!(
            decompress(Compression::SNAPPY, &[0x80, 0x80, 0x80, 0x80, 0x04, 0])
                .unwrap_err()
                .contains("claims")
        );
    }
}
