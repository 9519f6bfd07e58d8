//! Settings of a fit: files and the texts of their parts. What is read is printed and read again to the same.

use crate::readers::check_message;
use kinfolk::{Intercept, Kernel, TargetScale};
use kinfolk_train::{AtomSetting, FitSpec, LossSpec, Memory, MethodSpec, Weight};
use std::fmt::Display;
use std::str::FromStr;

/// A text that can be read is printed as a text that means the same.
fn again<T: FromStr<Err: Display> + Display + PartialEq + std::fmt::Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let printed = value.to_string();
            match printed.parse::<T>() {
                Ok(other) => assert_eq!(other, value, "{text} was printed as {printed}"),
                Err(error) => panic!("{text} was printed as {printed}: {error}"),
            }
        }
        Err(error) => check_message(error),
    }
}

/// The bytes as toml, as json and as texts of options.
pub fn parsed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match FitSpec::from_toml(text) {
        Ok(spec) => {
            let printed = spec.to_toml().expect("what was read can be printed");
            let other = FitSpec::from_toml(&printed).expect("what was printed can be read");
            assert_eq!(other.to_toml().expect("printed before"), printed);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match FitSpec::from_json(text) {
        Ok(spec) => {
            let printed = serde_json::to_string(&spec).expect("what was read can be printed");
            let other = FitSpec::from_json(&printed).expect("what was printed can be read");
            assert_eq!(serde_json::to_string(&other).expect("printed before"), printed);
        }
        Err(error) => check_message(error),
    }
    again::<MethodSpec>(text);
    again::<LossSpec>(text);
    again::<Weight>(text);
    again::<Memory>(text);
    again::<Kernel>(text);
    again::<Intercept>(text);
    again::<TargetScale>(text);
    if let Err(error) = text.parse::<AtomSetting>() {
        check_message(error);
    }
}
