//! The members of an npz file: a zip archive of npy arrays.

use crate::format::input::{Bounded, SeekableBytes};
use crate::format::npy::{ArrayHeader, ArrayValues, MatrixReader, array_values};
use crate::{Error, Result};
use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive};

/// An open archive. Only arrays that are asked for are unpacked.
pub(crate) struct Archive {
    from: Box<dyn SeekableBytes>,
    members: BTreeMap<String, Member>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    start: u64,
    compressed: u64,
    deflated: bool,
    crc: u32,
}

impl Archive {
    pub(crate) fn open(mut from: Box<dyn SeekableBytes>) -> Result<Self> {
        let unreadable = |why: &dyn std::fmt::Display| wrong!("it is not a whole zip archive: {why}");
        let mut archive = ZipArchive::new(&mut from).map_err(|error| unreadable(&error))?;
        let mut members = BTreeMap::new();
        for i in 0..archive.len() {
            let member = archive.by_index_raw(i).map_err(|error| unreadable(&error))?;
            let name = String::from_utf8_lossy(member.name_raw()).into_owned();
            let Some(name) = name.strip_suffix(".npy") else { continue };
            let (start, method) = (member.data_start(), member.compression());
            let deflated = method == CompressionMethod::Deflated;
            let (Some(start), false, true) =
                (start, member.encrypted(), deflated || method == CompressionMethod::Stored)
            else {
                return Err(wrong!("it is encrypted or packed by a method other than deflate ({method})")
                    .in_column(name));
            };
            let found = Member { start, compressed: member.compressed_size(), deflated, crc: member.crc32() };
            if members.insert(name.to_string(), found).is_some() {
                return Err(wrong!("the archive holds two arrays of this name").in_column(name));
            }
        }
        drop(archive);
        Ok(Archive { from, members })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// The names of all arrays, for messages.
    pub(crate) fn listed(&self) -> String {
        match self.members.len() {
            0 => "no arrays".into(),
            n => {
                let mut names: Vec<&str> = self.members.keys().take(20).map(String::as_str).collect();
                names.extend((n > 20).then_some("..."));
                format!("the arrays {}", names.join(", "))
            }
        }
    }

    /// Shape and type of an array.
    pub(crate) fn header(&mut self, name: &str) -> Result<ArrayHeader> {
        let member = self.member(name)?;
        let header = unpacked(&mut self.from, member).and_then(|mut from| ArrayHeader::read(&mut from));
        header.map_err(|error| error.in_column(name))
    }

    /// A whole array, flat.
    pub(crate) fn column(&mut self, name: &str) -> Result<(ArrayHeader, ArrayValues)> {
        let member = self.member(name)?;
        let mut read = || {
            let mut from = unpacked(&mut self.from, member)?;
            let header = ArrayHeader::read(&mut from)?;
            let values = array_values(&mut from, &header)?;
            header.expect_end(&mut from).map(|()| (header, values))
        };
        read().map_err(|error: Error| error.in_column(name))
    }

    /// A matrix, to be read by rows. This consumes the archive.
    pub(crate) fn into_rows(self, name: &str) -> Result<MatrixReader> {
        let member = self.member(name)?;
        let rows = || {
            let mut from = unpacked(self.from, member)?;
            let header = ArrayHeader::read(&mut from)?;
            MatrixReader::new(from, header)
        };
        rows().map_err(|error: Error| error.in_column(name))
    }

    /// Where an array is; the error lists those that are there.
    pub(super) fn member(&self, name: &str) -> Result<Member> {
        let member = self.members.get(name).copied();
        member.ok_or_else(|| wrong!("there is no array {name:?}, but {}", self.listed()))
    }
}

/// The bytes of a member, unpacked, bounded and checked.
fn unpacked<'a>(mut from: impl Read + Seek + Send + 'a, member: Member) -> Result<Box<dyn Read + Send + 'a>> {
    from.seek(SeekFrom::Start(member.start))?;
    let packed = from.take(member.compressed);
    let bytes: Box<dyn Read + Send> = match member.deflated {
        true => Box::new(DeflateDecoder::new(packed)),
        false => Box::new(packed),
    };
    let checked = Checked { from: bytes, crc: crc32fast::Hasher::new(), wanted: member.crc };
    Ok(Box::new(BufReader::new(Bounded::new(checked, member.compressed))))
}

/// Compares the checksum at the end. Fuzzers do not guess checksums, so there it is left out.
struct Checked<R> {
    from: R,
    crc: crc32fast::Hasher,
    wanted: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.crc.update(&out[..n]);
        if n == 0 && !out.is_empty() && self.crc.clone().finalize() != self.wanted && !cfg!(fuzzing) {
            return Err(io::Error::other("its checksum is wrong: the file is damaged"));
        }
        Ok(n)
    }
}
