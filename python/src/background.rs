//! Runs a fit in a background thread while the calling thread handles signals and callbacks, which must run
//! in a thread that Python knows. The fit itself does not touch Python.

use kinfolk::{Flow, Observer, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Time between two checks for signals.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Progress of a fit: solver, passes, seconds, primal, dual, relative gap.
pub(crate) type ProgressReport = (&'static str, usize, f64, f64, f64, f64);

/// Sends progress to the calling thread, and stops the fit when that thread asks for it.
pub(crate) struct ChannelObserver<'a> {
    reports: Option<Sender<ProgressReport>>,
    stop: &'a AtomicBool,
}

impl ChannelObserver<'_> {
    /// Whether the calling thread asks to stop.
    pub(crate) fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn flow(&self) -> Flow {
        if self.stop_requested() { Flow::Stop } else { Flow::Continue }
    }
}

impl Observer for ChannelObserver<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        if let Some(reports) = &self.reports {
            let certificate = progress.certificate;
            let seconds = progress.elapsed.as_secs_f64();
            let (primal, dual) = (certificate.primal, certificate.dual);
            let gap = certificate.rel_gap();
            // An error means that the receiver is gone; then the flag is set too.
            let _ = reports.send((progress.solver, progress.passes, seconds, primal, dual, gap));
        }
        self.flow()
    }

    fn poll(&mut self) -> Flow {
        self.flow()
    }
}

/// The result of the work, and the exception that ended it early if there was one. After an exception the work
/// is asked to stop, and its result is what it has by then. `listener` is called with every progress report, and
/// may raise an exception to end the work.
pub(crate) fn run_in_background<T: Send>(
    py: Python<'_>,
    listener: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut ChannelObserver<'_>) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (result, raised) = py.detach(|| {
        let stop = AtomicBool::new(false);
        // Receivers belong to one thread, so they are made inside `detach`.
        let (sender, reports) = channel();
        let (done, ended) = channel::<()>();
        let mut observer = ChannelObserver { reports: listener.is_some().then_some(sender), stop: &stop };
        std::thread::scope(|scope| {
            let work = scope.spawn(move || {
                let _done = done; // dropped at the end, also after a panic
                work(&mut observer)
            });
            let raised = attend(listener, &reports, &ended);
            stop.store(raised.is_some(), Ordering::Relaxed);
            (work.join(), raised)
        })
    });
    let result = result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        PyRuntimeError::new_err(format!("a bug in kinfolk, please report it: {text}"))
    })?;
    Ok((result, raised))
}

/// Calls the listener until the work ends or Python raises an exception: Ctrl-C, or one of the listener.
fn attend(
    listener: Option<&Py<PyAny>>,
    reports: &Receiver<ProgressReport>,
    ended: &Receiver<()>,
) -> Option<PyErr> {
    loop {
        let over = matches!(ended.recv_timeout(SIGNAL_CHECK_INTERVAL), Err(RecvTimeoutError::Disconnected));
        let new_reports: Vec<ProgressReport> = reports.try_iter().collect();
        let result = Python::attach(|py| {
            if let Some(listener) = listener {
                new_reports.into_iter().try_for_each(|report| listener.call1(py, report).map(|_| ()))?;
            }
            if over {
                return Ok(());
            }
            py.check_signals()
        });
        if let Err(error) = result {
            return Some(error);
        }
        if over {
            return None;
        }
    }
}
