//! Sizes of memory: `500MB`, `4GB`, `2.5GiB`, `1000000`.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A number of bytes, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "WrittenMemory", into = "String")]
pub struct Memory(pub u64);

const DECIMAL_UNITS: [(&str, u64); 4] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)];
const MAX_BYTES: f64 = 1e18;

impl Default for Memory {
    fn default() -> Self {
        Memory(4_000_000_000)
    }
}

/// In the largest unit that gives a whole number.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DECIMAL_UNITS.iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size)) {
            Some((unit, size)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Memory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..split].trim(), text[split..].to_ascii_uppercase());
        let bytes: u64 = match &*unit {
            "" | "B" => 1,
            "K" | "KB" => 1_000,
            "M" | "MB" => 1_000_000,
            "G" | "GB" => 1_000_000_000,
            "T" | "TB" => 1_000_000_000_000,
            "KIB" => 1 << 10,
            "MIB" => 1 << 20,
            "GIB" => 1 << 30,
            "TIB" => 1 << 40,
            _ => {
                let units = "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB";
                return Err(Error::Spec(format!("memory {text:?}: the unit is none of {units}")));
            }
        };
        // Whole numbers stay exact.
        if let Some(all) = number.parse::<u64>().ok().and_then(|n| n.checked_mul(bytes)) {
            return Memory(all).check();
        }
        match number.parse::<f64>().map(|n| n * bytes as f64) {
            Ok(all) if all > 0.0 && all <= MAX_BYTES => Memory(all as u64).check(),
            _ => Err(Error::Spec(format!("memory {text:?}: {number:?} is not a positive number"))),
        }
    }
}

impl Memory {
    fn check(self) -> Result<Self> {
        match self.0 >= 1 && self.0 as f64 <= MAX_BYTES {
            true => Ok(self),
            false => Err(Error::Spec(format!("memory {}: it must be from 1 byte to 10^18", self.0))),
        }
    }
}

impl From<Memory> for String {
    fn from(memory: Memory) -> Self {
        memory.to_string()
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenMemory {
    Bytes(u64),
    Text(String),
}

impl TryFrom<WrittenMemory> for Memory {
    type Error = Error;

    fn try_from(written: WrittenMemory) -> Result<Self> {
        match written {
            WrittenMemory::Bytes(n) => Memory(n).check(),
            WrittenMemory::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed() {
        let bytes = |text: &str| text.parse::<Memory>().map(|memory| memory.0).ok();
        assert_eq!(bytes("4GB"), Some(4_000_000_000));
        assert_eq!(bytes("1.5 gib"), Some(1_610_612_736));
        assert_eq!(bytes("12"), Some(12));
        for wrong in ["", "GB", "-1GB", "4 lb", "inf", "1e99TB", "0", "nan"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        assert_eq!(Memory(4_000_000_000).to_string(), "4GB");
        assert_eq!(Memory(1_610_612_736).to_string(), "1610612736");
    }
}
