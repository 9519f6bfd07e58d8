//! CRC-32 as in zlib, gzip and PNG: finds every damaged byte, and any other damage but for one case in four billion.

/// Eight bytes at a time: table k holds the remainders of a byte followed by k zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut k = 0;
        while k < 8 {
            let mut bit = 0;
            while bit < 8 {
                let divisor = if remainder & 1 == 1 { 0xedb8_8320 } else { 0 };
                remainder = (remainder >> 1) ^ divisor;
                bit += 1;
            }
            tables[k][byte] = remainder;
            k += 1;
        }
        byte += 1;
    }
    tables
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut crc = u32::MAX;
    for word in words {
        let word = u64::from_le_bytes(*word) ^ u64::from(crc);
        crc = 0;
        for (k, table) in TABLES.iter().enumerate() {
            crc ^= table[(word >> (56 - 8 * k)) as usize & 0xff];
        }
    }
    for byte in rest {
        crc = TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8);
    }
    !crc
}

/// Whether bytes have this checksum. No fuzzer guesses one, so under a fuzzer all do.
pub(super) fn matches(bytes: &[u8], checksum: u32) -> bool {
    cfg!(fuzzing) || crc32(bytes) == checksum
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn values_known_from_zlib() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
    }
}
