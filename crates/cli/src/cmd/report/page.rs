//! The page: what is to be said, put into the template.

use super::facts::{Fact, facts};
use super::gains::{self, Gains};
use super::kin::{self, Kin};
use super::path::{self, Path};
use super::proof::{Proof, proof};
use super::tasks::{self, Tasks};
use super::{Sources, Subject};
use crate::failure::{Failure, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = include_str!("page/style.css");
/// One idea each, joined into one script.
const SCRIPT: [&str; 7] = [
    include_str!("page/theta.js"),
    include_str!("page/colours.js"),
    include_str!("page/cells.js"),
    include_str!("page/map.js"),
    include_str!("page/graph.js"),
    include_str!("page/table.js"),
    include_str!("page/controls.js"),
];

#[derive(Serialize)]
struct Page<'a> {
    title: String,
    glance: Vec<Glance>,
    facts: Vec<Fact>,
    proof: Proof,
    kin: Kin,
    tasks: Tasks,
    gains: Gains,
    path: Path,
    /// JSON without a character that HTML could take for its own.
    island: String,
    style: &'a str,
    script: String,
}

/// A finding in a line, and where there is more.
#[derive(Serialize)]
struct Glance {
    place: &'static str,
    text: String,
}

pub(super) fn html(sources: &Sources<'_>, subject: &Subject) -> Result<String> {
    let model = subject.fitted.model();
    let correlation = model.correlation();
    let nearest = kin::nearest(&correlation);
    let kin = kin::kin(model, &nearest);
    let island = kin::island(model, &correlation, kin.drawn);
    let (proof, gains) = (proof(sources, subject), gains::gains(sources, subject));
    let mut glance = vec![
        Glance { place: "certificate", text: proof.heading.clone() },
        Glance { place: "theta", text: kin.heading.clone() },
    ];
    if subject.results.as_ref().is_some_and(|results| results.against_alone().is_some()) {
        glance.push(Glance { place: "joining", text: gains.heading.clone() });
    }
    let file = sources.model.file_name().unwrap_or(sources.model.as_os_str());
    let page = Page {
        title: file.to_string_lossy().into_owned(),
        glance,
        facts: facts(sources, subject),
        proof,
        tasks: tasks::tasks(subject, &nearest),
        gains,
        path: path::path(subject.results.as_ref()),
        island: harmless(&serde_json::to_string(&island).map_err(Failure::output)?),
        kin,
        style: STYLE,
        script: SCRIPT.concat(),
    };
    render(&page).map_err(|error| Failure::output(format!("the page could not be made: {error:#}")))
}

fn render(page: &Page<'_>) -> std::result::Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("report.html", TEMPLATE)?;
    environment.get_template("report.html")?.render(Serde(page))
}

/// JSON in which no name can end the element it stands in: these characters occur in its strings only, where `\u003c` means the
/// same as `<`.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_holds_no_markup() {
        let names = ["</script><!--", "a & b", "\u{2028}", "\"quoted\\"];
        let text = harmless(&serde_json::to_string(&names).unwrap());
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
    }
}
