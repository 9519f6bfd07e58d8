//! Every command has a help with examples, and every example runs.

use crate::common::{Place, golden};

/// Words after "Commands:" in a help.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or("");
    let names =
        list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

/// All commands that do something, `fit` first since others need its models.
fn all_commands(place: &Place) -> Vec<String> {
    let mut all = vec![];
    for name in commands(&place.ok("--help")) {
        let inner = commands(&place.ok(&format!("{name} --help")));
        match inner.is_empty() {
            true => all.push(name),
            false => all.extend(inner.iter().map(|inner| format!("{name} {inner}"))),
        }
    }
    all.sort_by_key(|name| name != "fit");
    all
}

fn examples(help: &str) -> Vec<String> {
    let list = help.split("Examples:\n").nth(1).unwrap_or("");
    let lines = list.lines().take_while(|line| line.starts_with("  kinfolk "));
    lines.map(|line| line.trim_start_matches("  kinfolk ").split(" > ").next().unwrap().to_string()).collect()
}

#[test]
fn every_example_of_every_help_runs() {
    let place = Place::with_examples();
    let mut count = 0;
    for name in all_commands(&place) {
        let help = place.ok(&format!("{name} --help"));
        let examples = examples(&help);
        assert!(!examples.is_empty(), "kinfolk {name} --help has no examples");
        for example in examples {
            assert!(example.starts_with(&name), "{name}: {example}");
            place.ok(&format!("{example} --force"));
            count += 1;
        }
    }
    for example in examples(&place.ok("--help")) {
        place.ok(&format!("{example} --force"));
    }
    assert!(count >= 20, "{count} examples were found");
}

#[test]
fn help_is_short_and_says_what_the_command_is_for() {
    let place = Place::new();
    golden("help.txt", &place.run("--help").transcript());
    for name in all_commands(&place) {
        let help = place.ok(&format!("{name} --help"));
        let first = help.lines().next().unwrap();
        assert!(!first.is_empty() && first.len() <= 100, "{name}: {first}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{name}");
        assert!(place.ok(&format!("{name} -h")).starts_with(first.trim_end_matches('.')), "{name}");
    }
}

#[test]
fn usage_errors_have_code_two_and_leave_stdout_alone() {
    let place = Place::new();
    for words in [
        "",
        "fitt",
        "fit",
        "fit x.npz",
        "fit x.npz -o m --c 0",
        "fit x.npz -o m --k 0",
        "theta m --order x",
        "fit x.npz -o m --memory 3lb",
        "fit x.npz -o m --loss hing",
        "fit x.npz -o m --output fixed",
        "fit x.npz -o m --output exp --k 2",
        "fit x.npz -o m --resume",
        "fit x.npz -o m --method nn",
        "fit x.npz -o m --method mtl:nu=1",
        "fit x.npz -o m --method stl --k 2",
        "predict m x.npz --json --tasks",
    ] {
        let said = place.run(words);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "kinfolk {words}\n{}", said.stderr);
        let says = said.stderr.starts_with("error: ") || said.stderr.contains("Usage:");
        assert!(says, "kinfolk {words}\n{}", said.stderr);
    }
    assert!(place.files().is_empty());
}

#[test]
fn completions_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.ok(&format!("completions {shell}"));
        assert!(script.contains("certify") && script.contains("max-passes"), "{shell}");
    }
}
