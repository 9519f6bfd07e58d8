//! `docs/methods.md` is what the registry says. `KINFOLK_BLESS=1` writes it.

use kinfolk::Claim;
use kinfolk_train::{Method, Params, registry};
use std::fmt::Write;

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methods.md");
    let page = markdown();
    if std::env::var_os("KINFOLK_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/methods.md is not what the registry says: run this test with KINFOLK_BLESS=1"
    );
}

/// `docs/methods.md`, made from what methods say of themselves.
fn markdown() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n| method | what it is | what it learns about the tasks |\n|---|---|---|\n");
    for method in registry() {
        let (name, title, learns) = (method.name(), method.info().title, method.info().learns);
        let _ = writeln!(page, "| [`{name}`](#{name}) | {title} | {learns} |");
    }
    registry().iter().for_each(|method| page.push_str(&section(*method)));
    page
}

const HEAD: &str = "\
# Methods

All methods that `kinfolk fit --method NAME` and `kinfolk select --method A,B,C` know. They take the same data (own
inputs for each task, shared inputs, classes, missing labels), the same kernels, and C or a strength. Each method also
has the parameters listed here. This page is made from the registry; `kinfolk methods` prints the same.
";

fn section(method: &dyn Method) -> String {
    let mut text =
        format!("\n## {}\n\n{}: {}.\n\n", method.name(), sentence(method.info().title), method.info().learns);
    let _ = writeln!(text, "```text\n{}\n```\n", method.info().problem);
    let _ = writeln!(text, "- From: {}.", method.info().reference);
    let _ = writeln!(text, "- Losses: {}.", method.info().losses);
    let _ = writeln!(text, "- Cost: {}.", method.info().cost);
    let _ = writeln!(text, "- Certificate: {}.", certificate(method));
    if !method.info().about.is_empty() {
        let _ = writeln!(text, "\n{}", method.info().about);
    }
    if method.params().is_empty() {
        return text;
    }
    text.push_str(
        "\n| parameter | default | values | tried by `select` | meaning |\n|---|---|---|---|---|\n",
    );
    for param in method.params() {
        let grid = param.grid.join(", ");
        let (name, default, meaning) = (param.name, param.default, param.meaning);
        let _ = writeln!(text, "| `{name}` | {default} | {} | {grid} | {meaning} |", param.allowed);
    }
    text
}

fn certificate(method: &dyn Method) -> String {
    let defaults = Params::parse(method.name(), method.params(), &[]).unwrap_or_default();
    match method.claim(&defaults) {
        Claim::Optimal => "the problem is convex, and every fit says how far from its optimum it is".into(),
        Claim::Given(what) => {
            format!(
                "about models with the same {what}; these come from a search that may miss better ones",
                what = what.trim_start_matches("the ")
            )
        }
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
