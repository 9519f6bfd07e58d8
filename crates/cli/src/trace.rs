//! The certificates of a fit on its way, as a small table: written by `fit --trace`, drawn by `report`.

use crate::failure::{Failure, Result};
use crate::files;
use kinfolk::solver::TracePoint;
use kinfolk::{Certificate, Form};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A certificate on the way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) passes: usize,
    pub(crate) seconds: f64,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) gap: f64,
}

impl From<&TracePoint> for Step {
    fn from(point: &TracePoint) -> Self {
        let &TracePoint { passes, seconds, primal, dual, gap } = point;
        Step { passes, seconds, primal, dual, gap }
    }
}

impl Step {
    /// As a certificate has it.
    pub(crate) fn rel_gap(&self) -> f64 {
        let &Step { primal, dual, gap, .. } = self;
        Certificate { primal, dual, gap, form: Form::OnePoint, task_gaps: vec![] }.rel_gap()
    }
}

/// Those that can be told in JSON and drawn: a bound may be infinite at first.
pub(crate) fn steps(trace: &[TracePoint]) -> Vec<Step> {
    let finite = |step: &Step| [step.primal, step.dual, step.gap].iter().all(|x| x.is_finite());
    trace.iter().map(Step::from).filter(finite).collect()
}

/// Writes a csv file.
pub(crate) fn write(path: &Path, trace: &[TracePoint]) -> Result<()> {
    let mut text = String::from("passes,seconds,primal,dual,gap\n");
    for TracePoint { passes, seconds, primal, dual, gap } in trace {
        text += &format!("{passes},{seconds},{primal},{dual},{gap}\n");
    }
    files::write(path, text.as_bytes())
}

/// Reads what [`write`] wrote.
pub(crate) fn read(path: &Path) -> Result<Vec<Step>> {
    let wrong = |error: csv::Error| {
        Failure::input(format!("it is not a trace written by kinfolk fit --trace: {error}")).about(path)
    };
    let file = std::fs::File::open(path).map_err(|error| Failure::input(error).about(path))?;
    csv::Reader::from_reader(file).into_deserialize().collect::<csv::Result<_>>().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let point = |passes| TracePoint { passes, seconds: 0.25, primal: 2.0, dual: 1.5, gap: 0.5 };
        let path = std::env::temp_dir().join(format!("kinfolk-trace-{}.csv", std::process::id()));
        write(&path, &[point(1), TracePoint { dual: f64::NEG_INFINITY, gap: f64::INFINITY, ..point(0) }])
            .unwrap();
        let steps = read(&path).unwrap();
        std::fs::write(&path, "passes,gap\nx,1\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(steps[0], Step::from(&point(1)));
        assert_eq!((steps[0].rel_gap(), steps[1].rel_gap()), (0.25, f64::INFINITY));
        assert!(error.contains("it is not a trace"), "{error}");
    }
}
