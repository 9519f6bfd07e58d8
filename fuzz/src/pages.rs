//! The report of a model whose tasks have any names: none of them becomes markup.

use crate::models::{Parts, SEEDS};
use kinfolk::Model;
use kinfolk_report::{MadeBy, ReportInputs, render};
use std::path::Path;
use std::sync::LazyLock;

/// Starts of tags, of comments and ends of scripts.
fn tags(page: &str) -> usize {
    let bytes = page.as_bytes();
    bytes
        .windows(2)
        .filter(|two| two[0] == b'<' && (two[1].is_ascii_alphabetic() || b"/!?".contains(&two[1])))
        .count()
}

fn page(names: &[String], file: &str) -> Option<String> {
    let mut parts = Parts::new(SEEDS[0]);
    parts.envelope["about"]["tasks"] = serde_json::json!({"strings": names});
    // Names that are not allowed are an error of the loader.
    let model = Model::from_bytes(&parts.to_bytes()).ok()?;
    let inputs = ReportInputs {
        model: &model,
        made_by: MadeBy::Command { model: Path::new(file) },
        spec: None,
        score: None,
        auto_c: None,
        data: vec![],
        selection: None,
        trace: vec![],
    };
    Some(render(&inputs).expect("every model has a page"))
}

static PLAIN_TAGS: LazyLock<usize> = LazyLock::new(|| {
    let names = ["a", "b", "c"].map(String::from);
    tags(&page(&names, "model").expect("plain names are allowed"))
});

/// Lines of the bytes are names of the three tasks and of the model file.
pub fn named(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\u{1}').flat_map(|part| part.splitn(4, '\n')).map(String::from);
    let mut next = |place: usize| lines.next().unwrap_or_else(|| format!("task {place}"));
    let names = [next(0), next(1), next(2)];
    let file = next(3);
    if let Some(page) = page(&names, &file) {
        assert_eq!(tags(&page), *PLAIN_TAGS, "names became tags");
    }
}
