//! The report: one HTML file that needs nothing else.
//!
//! Each section is a module that turns [`ReportInputs`] into the words and pictures of the template in `assets`. The
//! page holds two JSON elements: `#certificate-data`, a
//! [`kinfolk::CertificateSummary`] as in the answers of the command, and `#theta-data`, which the script draws.

mod certificate;
mod comparison;
mod data_check;
mod hints;
mod inputs;
mod path;
mod summary;
mod tasks;
mod theta;

pub use data_check::{DataCheck, Recheck};
pub use hints::MadeBy;
pub use inputs::ReportInputs;

use kinfolk_train::{AutoC, Average, KinRule, Measure, Metric, shared_correlation};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

const TEMPLATE: &str = include_str!("assets/template.html");
const STYLE: &str = include_str!("assets/style.css");
/// The files of the script, in the order in which they are joined.
const SCRIPT: [&str; 7] = [
    include_str!("assets/theta.js"),
    include_str!("assets/colours.js"),
    include_str!("assets/cells.js"),
    include_str!("assets/map.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/table.js"),
    include_str!("assets/controls.js"),
];

/// The values of the template.
#[derive(Serialize)]
struct Context {
    title: String,
    findings: Vec<Finding>,
    summary: Vec<summary::SummaryLine>,
    certificate: certificate::CertificateSection,
    theta: theta::ThetaSection,
    tasks: tasks::TaskSection,
    comparison: comparison::ComparisonSection,
    path: path::PathSection,
    certificate_json: String,
    theta_json: String,
    style: &'static str,
    script: String,
}

/// A finding in one line at the top of the page, with a link to its section.
#[derive(Serialize)]
struct Finding {
    section: &'static str,
    text: String,
}

/// Why a page could not be made: a fault of this crate, not of its inputs.
#[derive(Debug, thiserror::Error)]
#[error("the page could not be made: {0}")]
pub struct RenderError(String);

/// The page as HTML.
///
/// # Errors
/// If the template and its values do not fit together, which the tests of this crate would have shown.
pub fn render(inputs: &ReportInputs<'_>) -> Result<String, RenderError> {
    let context = context(inputs)?;
    fill_template(&context).map_err(|error| RenderError(format!("{error:#}")))
}

fn context(inputs: &ReportInputs<'_>) -> Result<Context, RenderError> {
    let correlation = inputs.model.correlation();
    let functions = inputs.model.function_correlation().map_err(|error| RenderError(error.to_string()))?;
    let shared = shared_correlation(inputs.model).map_err(|error| RenderError(error.to_string()))?;
    let rule = KinRule::new(inputs.model);
    let without_own = shared.as_ref().map(|(_, correlation)| correlation);
    let nearest = theta::NearestKin::new(functions.as_ref(), &correlation, without_own, &rule);
    let is_alone = inputs.spec.is_some_and(|spec| spec.method.name() == "stl");
    let theta = theta::section(inputs.model, &nearest, is_alone);
    let theta_json = theta::ThetaJson::new(inputs.model, &correlation, functions.as_ref(), theta.drawn);
    let certificate = certificate::section(inputs);
    let comparison = comparison::section(inputs);
    let finding = |section, text: &String| Finding { section, text: text.clone() };
    let mut findings: Vec<Finding> = goodness(inputs).iter().map(|text| finding("fitted", text)).collect();
    findings.extend([finding("certificate", &certificate.heading), finding("theta", &theta.heading)]);
    if inputs.selection.is_some_and(|selection| selection.against_independent().is_some()) {
        findings.push(finding("joining", &comparison.heading));
    }
    Ok(Context {
        title: inputs.made_by.title(),
        findings,
        summary: summary::lines(inputs),
        tasks: tasks::section(inputs, &nearest),
        path: path::section(inputs),
        certificate_json: json_element(&inputs.model.summary())?,
        theta_json: json_element(&theta_json)?,
        certificate,
        theta,
        comparison,
        style: STYLE,
        script: SCRIPT.concat(),
    })
}

/// How good the model is on held-out rows, as far as that is known.
fn goodness(inputs: &ReportInputs<'_>) -> Vec<String> {
    let warning = inputs.auto_c.and_then(AutoC::warning).map(|warning| format!("Warning: {warning}"));
    let score = inputs.score.as_ref().map(|score| format!("Score: {score}"));
    score.into_iter().chain(warning).collect()
}

fn fill_template(context: &Context) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("report.html", TEMPLATE)?;
    environment.get_template("report.html")?.render(Serde(context))
}

/// JSON that can stand inside a `<script>` element. The characters that could end the element occur only in strings,
/// where `\u003c` means the same as `<`.
fn json_element(value: &impl Serialize) -> Result<String, RenderError> {
    let json = serde_json::to_string(value).map_err(|error| RenderError(error.to_string()))?;
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// The name of a metric in a sentence.
fn metric_name(metric: Metric) -> String {
    let measure = match metric.measure {
        Measure::R2 => "R\u{b2}".into(),
        Measure::Auc => "AUC".into(),
        Measure::PrAuc => "area under precision and recall".into(),
        Measure::F1Macro => "F1 (macro)".into(),
        Measure::Rmse => "RMSE".into(),
        Measure::Nrmse => "RMSE in standard deviations".into(),
        Measure::Mae => "mean absolute error".into(),
        Measure::LogLoss => "log-loss".into(),
        Measure::Brier => "Brier score".into(),
        Measure::TopK(k) => format!("top-{k} accuracy"),
        _ => metric.measure_name().replace('-', " "),
    };
    match (metric.average, metric == Metric::new(metric.measure)) {
        (_, true) => measure,
        (Average::Tasks, _) => format!("{measure}, mean over classes"),
        (Average::Rows, _) => format!("{measure} of all rows"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_compiles() {
        let mut environment = Environment::new();
        environment.add_template("report.html", TEMPLATE).unwrap();
    }

    #[test]
    fn json_stays_json_and_holds_no_markup() {
        let names = ["</script><!--", "a & b", "\u{2028}", "\"quoted\\"];
        let text = json_element(&names).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
    }
}
