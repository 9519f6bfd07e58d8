//! The certificates that a fit computed, as a csv file: written by `fit --trace`, drawn by `report`.

use crate::failure::{Failure, Result};
use crate::files;
use kinfolk::solver::TracePoint;
use std::path::Path;

/// First line of the file.
pub(crate) const HEADER: &str = "passes,seconds,primal,dual,gap\n";

/// Writes a csv file.
pub(crate) fn write(path: &Path, trace: &[TracePoint]) -> Result<()> {
    let mut text = String::from(HEADER);
    for TracePoint { passes, seconds, primal, dual, gap } in trace {
        text += &format!("{passes},{seconds},{primal},{dual},{gap}\n");
    }
    files::write(path, text.as_bytes())
}

/// Reads the file of [`write`].
pub(crate) fn read(path: &Path) -> Result<Vec<TracePoint>> {
    let wrong = |why: String| {
        Failure::input(format!("it is not a trace written by kinfolk fit --trace: {why}")).about(path)
    };
    let bytes = kinfolk::read_file(path).map_err(|error| Failure::input(error).about(path))?;
    if !bytes.starts_with(HEADER.as_bytes()) {
        return Err(wrong(format!("its first line is not {}", HEADER.trim_end())));
    }
    let rows = csv::Reader::from_reader(&*bytes).into_deserialize().enumerate();
    let row = |(row, point): (usize, csv::Result<TracePoint>)| {
        point.map_err(|_| wrong(format!("line {} is not five numbers", row + 2)))
    };
    rows.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_as_it_was_written() {
        let point = |passes| TracePoint { passes, seconds: 0.25, primal: 2.0, dual: 1.5, gap: 0.5 };
        let path = std::env::temp_dir().join(format!("kinfolk-trace-{}.csv", std::process::id()));
        write(&path, &[point(1), TracePoint { dual: f64::NEG_INFINITY, gap: f64::INFINITY, ..point(0) }])
            .unwrap();
        let steps = read(&path).unwrap();
        std::fs::write(&path, "passes,gap\nx,1\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(steps[0], point(1));
        assert_eq!((steps[0].rel_gap(), steps[1].rel_gap()), (0.25, f64::INFINITY));
        assert!(error.ends_with("its first line is not passes,seconds,primal,dual,gap"), "{error}");
    }
}
