//! Memory that a command needs against memory that is there, before the work: one line with the cure instead of an end
//! by the system, half-way.
//!
//! Three limits count, and the smallest decides: free memory of the machine; what the control groups of this process
//! and those above them leave (both versions); the rest of its address space (`ulimit -v`). Needs are counted from the
//! lengths of files and from arrays in memory, never from sizes that a file claims. They are lower estimates: work that
//! is refused here cannot succeed.

use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::text;
use kinfolk::inputs::Inputs;
use kinfolk::{Kernel, Observations};
use kinfolk_io::{ColumnRoles, FileFormat};
use kinfolk_train::FitSpec;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Work below this is never refused: numbers of the system are not that exact.
const SMALL_BYTES: u64 = 16 << 20;
/// Bytes at the start of a text file from which its numbers are estimated.
const SAMPLE_BYTES: u64 = 64 << 10;
/// Matrices of tasks x tasks that every fit has at a time: Theta, the Gram matrix, and two of the certificate.
const TASK_MATRICES: u64 = 4;
/// Limits above this mean that there is none.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Memory that something needs at once.
#[derive(Debug)]
pub(crate) struct Need {
    /// Of what, as "the rows".
    what: &'static str,
    bytes: u64,
    /// What to do if there is less.
    cure: &'static str,
}

/// So many threads have buffers for products if so many are asked for: those of a data set, those of folds beside them,
/// which fit and predict in threads of their own, and some that start while others end. One thread has no folds beside
/// it.
fn threads_with_buffers(threads: u64) -> u64 {
    if threads == 1 { 3 } else { 4 * threads }
}

/// Memory that is there, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Room {
    bytes: u64,
    limit: &'static str,
}

impl Need {
    /// All rows of files, as numbers in memory. Nothing is known if only some columns are asked for.
    pub(crate) fn rows(data: &DataFiles, columns: &ColumnRoles, cure: &'static str) -> Self {
        let all = columns.features.is_none() && columns.drop.is_empty();
        let bytes = if all { data.paths().iter().map(|path| bytes_of_rows(path)).sum() } else { 0 };
        Need { what: "the rows", bytes, cure }
    }

    /// A model file and what is made of it.
    pub(crate) fn model(path: &Path) -> Self {
        let bytes = fs::metadata(path).map_or(0, |file| file.len()).saturating_mul(2);
        Need { what: "the model", bytes, cure: "use a machine with more memory, or raise the limit" }
    }

    /// What a new file of these rows holds: sparse rows may have many more features than numbers, and only svm files
    /// are written as they are. Whatever reads a dense file has all of its zeros in memory.
    pub(crate) fn new_file(inputs: &Inputs<'_>, format: &FileFormat) -> Self {
        let features = inputs.n_features() as u64;
        let names = if format.has_named_columns { size_of::<String>() as u64 } else { 0 };
        let cells = match inputs {
            Inputs::Sparse(_) => (inputs.n_inputs() as u64).saturating_mul(size_of::<f64>() as u64),
            _ => 0,
        };
        let bytes = if format.is_sparse() { 0 } else { features.saturating_mul(names + cells) };
        Need { what: "the rows with all their zeros", bytes, cure: "write an .svm file, or raise the limit" }
    }

    /// A mean and a spread of each feature, of which sparse rows may have many more than numbers.
    pub(crate) fn scales(inputs: &Inputs<'_>) -> Self {
        let bytes = 2 * (size_of::<f64>() as u64).saturating_mul(inputs.n_features() as u64);
        Need { what: "the scales of features", bytes, cure: "fit fewer features, or raise the limit" }
    }

    /// The sums over rows that are not kept: features x features, for each task unless every row has a label for all.
    pub(crate) fn sums(inputs: &Inputs<'_>, observations: &Observations) -> Self {
        let copies = if observations.is_complete() { 1 } else { observations.n_tasks() as u64 };
        let d = inputs.n_features() as u64;
        let bytes = 8u64.saturating_mul(d).saturating_mul(d).saturating_mul(copies);
        Need {
            what: "the sums over the rows",
            bytes,
            cure: "fit fewer features (--drop) or tasks, or raise the limit",
        }
    }

    /// What a fit keeps besides its rows: matrices of tasks x tasks, and weights or a kernel matrix that the budget
    /// allows.
    pub(crate) fn fit(spec: &FitSpec, inputs: &Inputs<'_>, observations: &Observations) -> Self {
        let (n, d, t) = (inputs.n_inputs() as u64, inputs.n_features() as u64, observations.n_tasks() as u64);
        let times = |a: u64, b: u64| 8u64.saturating_mul(a).saturating_mul(b);
        let of_tasks = Need {
            what: "matrices with a number for each pair of tasks",
            bytes: TASK_MATRICES.saturating_mul(times(t, t)),
            cure: "fit fewer tasks at a time, or raise the limit",
        };
        if matches!(spec.dataset_options(inputs).kernel, Kernel::Linear | Kernel::Cosine) {
            let (what, cure) = ("the weights", "fit fewer features (--drop) or tasks, or raise the limit");
            return Need { what, bytes: times(d, t), cure }.or_larger(of_tasks);
        }
        let bytes = Some(times(n, n)).filter(|bytes| *bytes <= spec.memory.0).unwrap_or(0);
        let cure = "--memory with less computes its values when they are needed";
        Need { what: "the kernel matrix", bytes, cure }.or_larger(of_tasks)
    }

    /// Address space, which is counted as soon as it is asked for, for buffers of matrix products.
    fn buffers(threads: usize) -> Self {
        let bytes = threads_with_buffers(threads as u64).saturating_mul(bytes_of_buffers(Path::new("/")));
        Need { what: "matrix products on this processor", bytes, cure: "raise the limit" }
    }

    fn or_larger(self, other: Need) -> Need {
        if other.bytes > self.bytes { other } else { self }
    }

    /// `Err` if the address space is too small for products by one thread.
    pub(crate) fn check_buffers() -> Result<()> {
        match of_address_space(Path::new("/")) {
            Some(room) => Need::buffers(1).check_in(room),
            None => Ok(()),
        }
    }

    /// `Err` if there is less memory.
    pub(crate) fn check(&self) -> Result<()> {
        match room(Path::new("/")) {
            Some(room) => self.check_in(room),
            None => Ok(()),
        }
    }

    fn check_in(&self, room: Room) -> Result<()> {
        if self.bytes <= room.bytes.max(SMALL_BYTES) {
            return Ok(());
        }
        let (needed, there) = (text::bytes(self.bytes), text::bytes(room.bytes));
        Err(Failure::input(format!(
            "{} need{} at least {needed} of memory, {there} is there ({}): {}",
            self.what,
            if self.what.ends_with('s') { "" } else { "s" },
            room.limit,
            self.cure
        )))
    }
}

/// Bytes of the numbers in a file. Text has as many as there are cells with a digit that is not zero, counted at its
/// start (tables with many zeros are sparse); other files have at least their own size. Devices, pipes and files that
/// cannot be read count nothing: reading says what is wrong.
fn bytes_of_rows(path: &Path) -> u64 {
    let Some(length) = fs::metadata(path).ok().filter(|file| file.is_file()).map(|file| file.len()) else {
        return 0;
    };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !["csv", "tsv", "txt"].contains(&&*ending) {
        return if ending == "jsonl" { length / 4 } else { length };
    }
    let mut sample = vec![];
    if fs::File::open(path).and_then(|file| file.take(SAMPLE_BYTES).read_to_end(&mut sample)).is_err() {
        return 0;
    }
    let cells = sample.split(|byte| b",;\t\n".contains(byte));
    let numbers = cells.filter(|cell| cell.iter().any(|byte| (b'1'..=b'9').contains(byte))).count() as u64;
    // 8 bytes each; in an order that stays in range.
    (length / (sample.len() as u64).max(1)).saturating_mul(8 * numbers)
}

/// Of so many threads, those that the address space has buffers for: all of them or one.
pub(crate) fn threads_with_room(asked: usize) -> usize {
    let fits = |room: Room| Need::buffers(asked).bytes <= room.bytes;
    if of_address_space(Path::new("/")).is_none_or(fits) { asked } else { 1 }
}

/// What the library of matrix products asks for in each thread: twice the last cache of the processor, most of which
/// is never touched.
fn bytes_of_buffers(root: &Path) -> u64 {
    let size = |index: u32| {
        let text = read(root.join(format!("sys/devices/system/cpu/cpu0/cache/index{index}/size")))?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    2 * 1024 * (0..8).filter_map(size).max().unwrap_or(0)
}

/// The least of all limits, for a file system under `root`; `None` where nothing says so.
fn room(root: &Path) -> Option<Room> {
    let found = [of_machine(root), of_groups(root), of_address_space(root)];
    found.into_iter().flatten().min_by_key(|room| room.bytes)
}

fn read(path: PathBuf) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The number behind a name at the start of a line.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn of_machine(root: &Path) -> Option<Room> {
    let kilobytes = number_after(&read(root.join("proc/meminfo"))?, "MemAvailable:")?;
    Some(Room { bytes: kilobytes.saturating_mul(1024), limit: "free on this machine" })
}

/// What is left of the address space.
fn of_address_space(root: &Path) -> Option<Room> {
    let limit = number_after(&read(root.join("proc/self/limits"))?, "Max address space")?;
    let used = number_after(&read(root.join("proc/self/status"))?, "VmSize:")?.saturating_mul(1024);
    Some(Room { bytes: limit.saturating_sub(used), limit: "limit of the address space, ulimit -v" })
}

/// Files of a version of control groups: the limit, what is used, and the name of file pages in its statistics, which
/// the system takes back when memory is short.
struct GroupFiles {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    pages: &'static str,
}

const VERSION_1: GroupFiles = GroupFiles {
    folder: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    pages: "total_inactive_file",
};
const VERSION_2: GroupFiles = GroupFiles {
    folder: "sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    pages: "inactive_file",
};

/// What the groups of this process, and all above them, leave.
fn of_groups(root: &Path) -> Option<Room> {
    let groups = read(root.join("proc/self/cgroup"))?;
    let left = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        match controllers {
            "" => least_above(root, &VERSION_2, path),
            list if list.split(',').any(|one| one == "memory") => least_above(root, &VERSION_1, path),
            _ => None,
        }
    });
    left.min().map(|bytes| Room { bytes, limit: "limit of the control group" })
}

/// A container may see its own group at the root, so every folder on the way up counts, if it is there.
fn least_above(root: &Path, files: &GroupFiles, path: &str) -> Option<u64> {
    let top = root.join(files.folder);
    let own = top.join(path.trim_start_matches('/'));
    own.ancestors()
        .take_while(|folder| folder.starts_with(&top))
        .filter_map(|folder| left_in(folder, files))
        .min()
}

fn left_in(folder: &Path, files: &GroupFiles) -> Option<u64> {
    let number = |name: &str| read(folder.join(name))?.trim().parse::<u64>().ok();
    let limit = number(files.limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
    let pages =
        read(folder.join("memory.stat")).and_then(|stat| number_after(&stat, &format!("{} ", files.pages)));
    let used = number(files.used).unwrap_or(0).saturating_sub(pages.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn with_files(files: &[(&str, &str)]) -> Option<Room> {
        room(root_with(files).path())
    }

    #[test]
    fn buffers_of_products_are_twice_the_last_cache() {
        let cache = "sys/devices/system/cpu/cpu0/cache";
        let caches = [(0, "32K\n"), (1, "32K\n"), (2, "1024K\n"), (3, "491520K\n")];
        let names = caches.map(|(index, _)| format!("{cache}/index{index}/size"));
        let files: Vec<(&str, &str)> =
            names.iter().zip(caches).map(|(name, (_, size))| (name.as_str(), size)).collect();
        assert_eq!(bytes_of_buffers(root_with(&files).path()), 960 << 20);
        assert_eq!(bytes_of_buffers(root_with(&[]).path()), 0);
        assert_eq!([1, 2, 16].map(threads_with_buffers), [3, 8, 64]);
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal:  64 kB\nMemAvailable:    8000 kB\n");

    #[test]
    fn the_machine_and_groups_of_both_versions_count() {
        assert_eq!(with_files(&[]), None);
        let room = with_files(&[MACHINE]).unwrap();
        assert_eq!((room.bytes, room.limit), (8_192_000, "free on this machine"));
        let second = [
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "5000000\n"),
            ("sys/fs/cgroup/a/memory.current", "3000000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 12\ninactive_file 1000000\n"),
        ];
        let room = with_files(&second).unwrap();
        assert_eq!((room.bytes, room.limit), (3_000_000, "limit of the control group"));
        let first = [
            MACHINE,
            ("proc/self/cgroup", "3:cpu:/x\n4:memory,hugetlb:/not/seen/here\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "2500000\n"),
        ];
        assert_eq!(with_files(&first).unwrap().bytes, 0);
        let none = [
            MACHINE,
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(with_files(&none).unwrap().limit, "free on this machine");
        let space = [
            MACHINE,
            ("proc/self/limits", "Limit  Soft\nMax address space         3000000   unlimited  bytes\n"),
            ("proc/self/status", "VmSize:\t    1000 kB\n"),
        ];
        assert_eq!(with_files(&space).unwrap().bytes, 1_976_000);
    }

    #[test]
    fn rows_are_counted_from_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            bytes_of_rows(&path)
        };
        assert_eq!(file("a.csv", "1,2,0,word\n3,4,0.0,\n"), 32);
        assert_eq!(file("a.npy", "1234"), 4);
        assert_eq!(file("empty.csv", ""), 0);
        assert_eq!(bytes_of_rows(Path::new("/dev/zero")), 0);
        assert_eq!(bytes_of_rows(Path::new("not there.csv")), 0);
    }

    #[test]
    fn a_dense_file_has_all_zeros_of_sparse_rows() {
        let sparse =
            kinfolk::inputs::Sparse::f64(vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0; 3], 1_000_000_000);
        let inputs = Inputs::from(sparse.unwrap());
        let bytes =
            |name: &str| Need::new_file(&inputs, kinfolk_io::format_of(Path::new(name)).unwrap()).bytes;
        assert_eq!((bytes("a.npz"), bytes("a.svm")), (24_000_000_000, 0));
        assert!(bytes("a.csv") > 24_000_000_000);
    }

    #[test]
    fn the_error_has_both_sizes_and_the_cure() {
        let need = Need { what: "the rows", bytes: 3 << 30, cure: "--stream reads them in chunks" };
        let room = Room { bytes: 1 << 30, limit: "limit of the control group" };
        let error = need.check_in(room).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the rows need at least 3.2 GB of memory, 1.1 GB is there (limit of the control group): --stream reads \
             them in chunks"
        );
        assert_eq!(error.code, crate::failure::INPUT);
        let small = Need { bytes: SMALL_BYTES, ..need };
        assert!(small.check_in(Room { bytes: 0, ..room }).is_ok());
    }
}
