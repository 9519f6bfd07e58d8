//! numpy reads what we write, and we read what numpy writes, in all its types and orders.

use crate::common::assert_same;
use kinfolk_io::{ColumnRoles, digits, read, write_table};
use std::path::PathBuf;
use std::process::Command;

const SCRIPT: &str = r#"
import sys, numpy
given = dict(numpy.load(sys.argv[1]))
assert given["X"].shape == (1797, 64) and given["X"].max() == 16
for kind in ["f2", "f4", "f8", ">f4", ">f8", "u1", "u2", "u4", "u8", ">u4", "i1", "i2", "i4", "i8", ">i2"]:
    for order in "CF":
        X = given["X"].astype(kind, order=order)
        save = numpy.savez_compressed if order == "C" else numpy.savez
        save(f"{sys.argv[2]}/{kind.replace('>', 'big')}-{order}.npz", **{**given, "X": X})
names = given["class_names"].astype(str)
for text in ["U", "S"]:
    save(f"{sys.argv[2]}/{text}.npz", X=given["X"], label=names[given["label"]].astype(text))
"#;

#[test]
fn digits_come_back_from_numpy_in_every_type() {
    let Some(python) = crate::needs::python("digits_come_back_from_numpy_in_every_type", "numpy") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let given = directory.path().join("given.npz");
    write_table(&digits(), &given).unwrap();
    let run = Command::new(python).args(["-c", SCRIPT]).arg(&given).arg(directory.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let files: Vec<PathBuf> =
        std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 33);
    for file in files {
        println!("{}", file.display());
        assert_same(&read(&file, &ColumnRoles::default(), None).unwrap().0, &digits());
    }
}
