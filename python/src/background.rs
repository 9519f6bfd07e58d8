//! Runs a fit in a background thread while the calling thread handles signals and callbacks, which must run
//! in a thread that Python knows. The fit itself does not touch Python.

use crate::rows::{Asked, PythonRows};
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

/// What a fit sends to the calling thread.
pub(crate) enum Message {
    /// How far it is.
    Progress(ProgressReport),
    /// A question about rows that Python reaches.
    Asked(Asked),
}

/// The functions of Python that a fit calls, if there are any.
#[derive(Clone, Copy, Default)]
pub(crate) struct Callbacks<'a> {
    /// Hears every progress report, and may raise an exception to end the work.
    pub(crate) listener: Option<&'a Py<PyAny>>,
    /// Answers questions about rows.
    pub(crate) ask: Option<&'a Py<PyAny>>,
}

/// Sends progress to the calling thread, and stops the fit when that thread asks for it.
pub(crate) struct ChannelObserver<'a> {
    messages: Sender<Message>,
    has_listener: bool,
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

    /// Rows that the calling thread asks Python about.
    pub(crate) fn rows(&self) -> PythonRows {
        PythonRows::new(self.messages.clone())
    }
}

impl Observer for ChannelObserver<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        if self.has_listener {
            let certificate = progress.certificate;
            let seconds = progress.elapsed.as_secs_f64();
            let (primal, dual) = (certificate.primal, certificate.dual);
            let gap = certificate.rel_gap();
            // An error means that the receiver is gone; then the flag is set too.
            let report = (progress.solver, progress.passes, seconds, primal, dual, gap);
            let _ = self.messages.send(Message::Progress(report));
        }
        self.flow()
    }

    fn poll(&mut self) -> Flow {
        self.flow()
    }
}

/// The result of the work, and the exception that ended it early if there was one. After an exception the work
/// is asked to stop, and its result is what it has by then.
pub(crate) fn run_in_background<T: Send>(
    py: Python<'_>,
    callbacks: Callbacks<'_>,
    work: impl FnOnce(&mut ChannelObserver<'_>) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (result, raised) = py.detach(|| {
        let stop = AtomicBool::new(false);
        // Receivers belong to one thread, so they are made inside `detach`.
        let (sender, messages) = channel();
        let has_listener = callbacks.listener.is_some();
        let mut observer = ChannelObserver { messages: sender, has_listener, stop: &stop };
        std::thread::scope(|scope| {
            // The observer is dropped at the end, also after a panic: no message can come any more.
            let work = scope.spawn(move || work(&mut observer));
            let raised = attend(callbacks, messages);
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

/// Serves the work until it ends or Python raises an exception: Ctrl-C, or one of a callback. Takes the receiver, so
/// that a question after that ends at once.
#[expect(clippy::needless_pass_by_value, reason = "the receiver must be gone at the end")]
fn attend(callbacks: Callbacks<'_>, messages: Receiver<Message>) -> Option<PyErr> {
    loop {
        let first = messages.recv_timeout(SIGNAL_CHECK_INTERVAL);
        let over = matches!(first, Err(RecvTimeoutError::Disconnected));
        let new: Vec<Message> = first.into_iter().chain(messages.try_iter()).collect();
        let result = Python::attach(|py| {
            new.into_iter().try_for_each(|message| callbacks.serve(py, message))?;
            if over { Ok(()) } else { py.check_signals() }
        });
        if let Err(error) = result {
            return Some(error);
        }
        if over {
            return None;
        }
    }
}

impl Callbacks<'_> {
    fn serve(&self, py: Python<'_>, message: Message) -> PyResult<()> {
        match (message, self.listener, self.ask) {
            (Message::Progress(report), Some(listener), _) => listener.call1(py, report).map(|_| ()),
            (Message::Asked(asked), _, Some(ask)) => asked.answer_by(py, ask),
            (Message::Progress(_), None, _) | (Message::Asked(_), _, None) => Ok(()),
        }
    }
}
