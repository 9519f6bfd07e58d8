//! Every data set of the shared collection is read, and comes back from every format.

use crate::common::assert_same;
use kinfolk_io::{ColumnRoles, Labels, Targets, read, write_table};

#[test]
fn every_shared_file_is_read_and_comes_back() {
    let Some(folder) = crate::needs::data_folder("every_shared_file_is_read_and_comes_back") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "npz"));
    files.sort();
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        let (table, schema) = read(&file, &ColumnRoles::default(), None).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        eprintln!(
            "{name}: {} x {} {} {:?}",
            table.n_rows(),
            table.inputs.n_features(),
            table.inputs.kind(),
            schema.storage
        );
        assert_eq!(table.inputs.kind() == "sparse", name == "mhci");
        let wide = name == "sarcos" || name.starts_with("mtr_");
        let regression = wide || matches!(name.as_str(), "parkinson" | "isolet");
        let encoding = table.label_encoding(!regression).unwrap();
        let observations = table.observations(&encoding).unwrap();
        let kinds = match &table.targets {
            Targets::Classes(_) => observations.len() == table.n_rows() * observations.n_tasks(),
            Targets::Tasks { label: Some(Labels::Numbers(_)), .. } => observations.len() == table.n_rows(),
            Targets::Wide { .. } => wide,
            _ => false,
        };
        assert!(kinds, "{name}");
        // The largest one is the same to the reader as the others, and slow to write.
        for end in ["svm", "npz"].iter().filter(|_| name != "mnist") {
            let path = directory.path().join(format!("{name}.{end}"));
            write_table(&table, &path).unwrap();
            assert_same(&table, &read(&path, &ColumnRoles::default(), None).unwrap().0);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
