//! A library that panics on corrupt input, kept from ending the program.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught, so that nothing needs to be printed.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What panics print, but for those that are caught here.
fn print_others_only() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                print(panic);
            }
        }));
    });
}

/// Calls `parse`; a panic in it is an error. What `parse` was working on is not used again after an error, so
/// that it does not matter in which state the panic left it. A program that is built to abort on panics still
/// aborts.
pub(crate) fn no_panic<T, E: ToString>(parse: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    print_others_only();
    let outer = IS_CAUGHT.replace(true);
    let parsed = catch_unwind(AssertUnwindSafe(parse));
    IS_CAUGHT.set(outer);
    match parsed {
        Ok(parsed) => parsed.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("its reader failed: {}", message(&*panic))),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    // A failed assertion has more lines, with values that say nothing to users.
    text.and_then(|text| text.lines().next()).unwrap_or("no reason is given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(no_panic(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(no_panic(|| Err::<(), _>("broken")), Err("broken".to_string()));
        let index = std::hint::black_box(3);
        let caught = no_panic(|| Ok::<_, String>([1, 2][index]));
        assert_eq!(
            caught.unwrap_err(),
            "its reader failed: index out of bounds: the len is 2 but the index is 3"
        );
        assert_eq!(no_panic::<(), String>(|| panic!("why\nleft")).unwrap_err(), "its reader failed: why");
    }
}
