//! What every reader is asked: read anything, and do what the program does with it. Errors are fine; anything else is not.

use kinfolk_io::{Columns, Format, read_bytes};

/// Reads bytes as a file of some format, for fitting and then again for prediction.
pub fn read_twice(bytes: &[u8], format: Format) {
    for classes in [false, true] {
        let columns = Columns { classes, ..Columns::default() };
        let read = match read_bytes(bytes.to_vec(), format, &columns, None) {
            Ok(read) => read,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                continue;
            }
        };
        let (table, recipe) = read;
        assert_eq!(table.inputs.n_features(), recipe.n_features);
        for classification in [false, true] {
            let coding = table.coding(classification);
            let _ = coding.and_then(|coding| table.observations(&coding));
        }
        let all: Vec<u32> = (0..table.n_rows() as u32).collect();
        assert_eq!(table.select_rows(&all).n_rows(), table.n_rows());
        let again = read_bytes(bytes.to_vec(), format, &Columns::default(), Some(&recipe));
        let (again, _) = again.expect("what was read for fitting can be read for prediction");
        assert_eq!((again.n_rows(), again.inputs.n_features()), (table.n_rows(), recipe.n_features));
    }
}

/// Reads bytes as a table with named columns, in every way that one can ask for. The names are those of the seeds.
pub fn read_named(bytes: &[u8], format: Format) {
    let some = |name: &str| Some(name.to_string());
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let ways = [
        Columns::default(),
        Columns { task: some("kind"), target: list(&["y"]), ..Columns::default() },
        Columns { target: list(&["kind"]), drop: list(&["z"]), ..Columns::default() },
        Columns { target: list(&["z", "y"]), one_hot: list(&["kind"]), weight: some("u8"), ..Columns::default() },
        Columns { target: list(&["y"]), classes: true, features: Some(list(&["u8", "float"])), ..Columns::default() },
        Columns { task: some("i8"), split: some("u8"), one_hot: list(&["flag", "kind"]), ..Columns::default() },
    ];
    for columns in ways {
        let (table, recipe) = match read_bytes(bytes.to_vec(), format, &columns, None) {
            Ok(read) => read,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                continue;
            }
        };
        assert_eq!(table.inputs.n_features(), recipe.n_features);
        let coding = table.coding(true);
        let _ = coding.and_then(|coding| table.observations(&coding));
        let again = read_bytes(bytes.to_vec(), format, &Columns::default(), Some(&recipe));
        match again {
            Ok((again, _)) => assert_eq!((again.n_rows(), again.inputs.n_features()), (table.n_rows(), recipe.n_features)),
            // Words for fitting, where the recipe that is not settled yet expects numbers.
            Err(error) => assert!(error.to_string().contains("is not a"), "{error}"),
        }
    }
}
