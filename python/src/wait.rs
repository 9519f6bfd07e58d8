//! A fit in a thread of its own, and the caller's thread waiting for it: signals are seen, and progress is
//! told, by the thread that Python knows. The fit itself touches nothing of Python.

use kinfolk::{Flow, Observer, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often signals are looked at.
const EVERY: Duration = Duration::from_millis(50);

/// Where a fit stands: solver, passes, seconds, primal, dual, relative gap.
pub(crate) type News = (&'static str, usize, f64, f64, f64, f64);

/// Tells the waiting thread, and hears from it whether to stop.
pub(crate) struct Teller<'a> {
    news: Option<Sender<News>>,
    stop: &'a AtomicBool,
}

impl Teller<'_> {
    fn flow(&self) -> Flow {
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}

impl Observer for Teller<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        if let Some(news) = &self.news {
            let certificate = progress.certificate;
            let seconds = progress.elapsed.as_secs_f64();
            let (primal, dual) = (certificate.primal, certificate.dual);
            let gap = certificate.rel_gap();
            // Nobody listens any more: the flag says so too.
            let _ = news.send((progress.solver, progress.passes, seconds, primal, dual, gap));
        }
        self.flow()
    }

    fn poll(&mut self) -> Flow {
        self.flow()
    }
}

/// Who is told of certificates, and who is called many times a second and may raise to end the work.
pub(crate) struct Ears {
    pub(crate) listener: Option<Py<PyAny>>,
    pub(crate) tick: Option<Py<PyAny>>,
}

/// What the work returned, and the exception that ended it early if there was one: then the work was asked to
/// stop, and its result is what it had.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    Ears { listener, tick }: &Ears,
    work: impl FnOnce(&mut Teller<'_>) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (result, raised) = py.detach(|| {
        let stop = AtomicBool::new(false);
        // Receivers are of one thread: they are made on this side of the border.
        let (news, heard) = channel();
        let (done, ended) = channel::<()>();
        let mut teller = Teller { news: listener.is_some().then_some(news), stop: &stop };
        std::thread::scope(|scope| {
            let work = scope.spawn(move || {
                let _done = done; // dropped at the end, also of a panic
                work(&mut teller)
            });
            let raised = attend(listener.as_ref(), tick.as_ref(), &heard, &ended);
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

/// Until the work ends, or Python raises something: Ctrl-C, or the listener.
fn attend(
    listener: Option<&Py<PyAny>>,
    tick: Option<&Py<PyAny>>,
    heard: &Receiver<News>,
    ended: &Receiver<()>,
) -> Option<PyErr> {
    loop {
        let over = matches!(ended.recv_timeout(EVERY), Err(RecvTimeoutError::Disconnected));
        let told: Vec<News> = heard.try_iter().collect();
        let raised = Python::attach(|py| {
            if let Some(listener) = listener {
                told.into_iter().try_for_each(|news| listener.call1(py, news).map(|_| ()))?;
            }
            if over {
                return Ok(());
            }
            tick.map_or(Ok(()), |tick| tick.call0(py).map(|_| ()))?;
            py.check_signals()
        });
        if let Err(error) = raised {
            return Some(error);
        }
        if over {
            return None;
        }
    }
}
