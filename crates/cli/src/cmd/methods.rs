//! `kinfolk methods`: what can be fitted and compared.

use crate::failure::Result;
use crate::report::Report;
use crate::text::Grid;
use clap::Args;
use kinfolk_train::{Method, MethodInfo, Param, Params, registry};
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk methods
  kinfolk methods --json";

/// List the methods that fit and select know, with their parameters.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MethodsArgs {}

#[derive(Serialize)]
struct MethodsOutput {
    methods: Vec<AboutMethod>,
}

#[derive(Serialize)]
struct AboutMethod {
    name: &'static str,
    title: &'static str,
    learns: &'static str,
    problem: &'static str,
    reference: &'static str,
    losses: String,
    cost: &'static str,
    certificate: String,
    params: Vec<AboutParam>,
}

#[derive(Serialize)]
struct AboutParam {
    name: &'static str,
    meaning: &'static str,
    allowed: String,
    default: &'static str,
    grid: &'static [&'static str],
}

impl From<&Param> for AboutParam {
    fn from(param: &Param) -> Self {
        let Param { name, meaning, allowed, default, grid, .. } = *param;
        AboutParam { name, meaning, allowed: allowed.to_string(), default, grid }
    }
}

impl From<&dyn Method> for AboutMethod {
    fn from(method: &dyn Method) -> Self {
        let defaults = Params::parse(method.name(), method.params(), &[]).unwrap_or_default();
        let MethodInfo { name, title, learns, problem, reference, losses, cost, params, .. } = *method.info();
        AboutMethod {
            name,
            title,
            learns,
            problem,
            reference,
            losses: losses.to_string(),
            cost,
            certificate: method.claim(&defaults).to_string(),
            params: params.iter().map(AboutParam::from).collect(),
        }
    }
}

pub(crate) fn run(_: MethodsArgs, report: Report) -> Result<ExitCode> {
    let methods: Vec<AboutMethod> = registry().iter().map(|method| AboutMethod::from(*method)).collect();
    let list = text(&methods);
    report.answer(&MethodsOutput { methods }, list)?;
    Ok(ExitCode::SUCCESS)
}

fn text(methods: &[AboutMethod]) -> String {
    let mut list = Grid::new(&["method", "what it is", "what it learns about the tasks"]);
    let mut costs = Grid::new(&["method", "losses", "certificate", "what a fit costs"]);
    let mut params = Grid::new(&["method", "parameter", "default", "values", "meaning"]);
    for method in methods {
        list.row([method.name, method.title, method.learns].map(String::from));
        costs.row([method.name, &method.losses, &method.certificate, method.cost].map(String::from));
        for param in &method.params {
            let cells = [method.name, param.name, param.default, &param.allowed, param.meaning];
            params.row(cells.map(String::from));
        }
    }
    format!("{list}\n{costs}\n{params}")
}
