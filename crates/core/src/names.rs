//! Small enums by their names: with `ALL` and `name()`, they get `Display` and `FromStr`.

use crate::{Error, Result};

/// The one of `all` with this name.
pub(crate) fn by_name<T: Copy>(
    what: &'static str,
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T> {
    all.iter().copied().find(|one| name(*one) == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        Error::Parse { what, text: text.into(), why: format!("it is one of {}", names.join(", ")) }
    })
}

/// `Display` and `FromStr` of an enum by its names; former names are still read.
macro_rules! display_and_parse_names {
    ($type:ty, $what:literal $(, $former:literal => $now:literal)*) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::Error;

            fn from_str(text: &str) -> crate::Result<Self> {
                let text = match text {
                    $($former => $now,)*
                    text => text,
                };
                crate::names::by_name($what, text, &Self::ALL, Self::name)
            }
        }
    };
}

pub(crate) use display_and_parse_names;
