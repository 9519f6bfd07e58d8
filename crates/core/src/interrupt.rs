//! Splits long work into rounds and asks between them whether to stop.

use crate::{Error, Result};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Tells long work, between its rounds, whether to stop.
#[derive(Default)]
pub struct Interrupt<'a>(Option<&'a mut (dyn FnMut() -> bool + Send)>);

impl<'a> Interrupt<'a> {
    /// Work that is done to the end.
    pub fn never() -> Interrupt<'static> {
        Interrupt(None)
    }

    /// Work that is given up as soon as `stop()` is true.
    pub fn when(stop: &'a mut (dyn FnMut() -> bool + Send)) -> Self {
        Interrupt(Some(stop))
    }

    /// `Err` if the work is to be given up.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&mut self) -> Result<()> {
        let stop = self.0.as_mut().is_some_and(|stop| stop());
        if stop { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Calls `work` for one range after the other that together are `0..n`, and asks in between. Ranges start
    /// with a length of `first` and grow while they are quick; what the work computes must not depend on
    /// where they are cut.
    ///
    /// # Errors
    /// [`Error::Interrupted`], with a part of the work done.
    pub fn in_rounds(&mut self, n: usize, first: usize, mut work: impl FnMut(Range<usize>)) -> Result<()> {
        let mut size = if self.0.is_some() { first.max(1) } else { n };
        let mut start = 0;
        while start < n {
            let (end, began) = (n.min(start.saturating_add(size)), Instant::now());
            work(start..end);
            start = end;
            if start < n {
                self.check()?;
            }
            if began.elapsed() < SHORT_ROUND_TIME {
                size = size.saturating_mul(2);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Interrupt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Interrupt::when(..)" } else { "Interrupt::never()" })
    }
}

/// Rounds of up to about twice this time are short enough for someone who waits at a terminal.
const SHORT_ROUND_TIME: Duration = Duration::from_millis(40);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_cover_the_work_and_end_when_told() {
        let mut seen = vec![];
        Interrupt::never().in_rounds(10, 1, |range| seen.push((range.start, range.end))).unwrap();
        assert_eq!(seen, [(0, 10)]);
        for last in 0..5 {
            let (mut asked, mut next) = (0, 0);
            let mut stop = || {
                asked += 1;
                asked > last
            };
            let ended = Interrupt::when(&mut stop).in_rounds(100, 3, |range| {
                assert_eq!(range.start, next);
                next = range.end;
            });
            // 3, 9, 21, 45, 93, 100 if all are quick.
            assert_eq!(matches!(ended, Err(Error::Interrupted)), next < 100, "{ended:?}");
            assert!(next > 0);
        }
        assert!(Interrupt::when(&mut || true).in_rounds(0, 1, |_| panic!("nothing to do")).is_ok());
    }
}
