//! docs/program.md: its examples are run, and say what the page says they do.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::cli::stdout;
use crate::cli_habits::verbs;

/// A command line of the page, and what comes of it.
struct Example {
    command: String,
    lines: Vec<String>,
}

/// The examples whose output does not depend on the machine: the blocks marked `console`.
fn examples() -> Vec<Example> {
    let page = include_str!("../../docs/program.md");
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = |block: &str| {
        let (command, output) = block.split_once('\n').expect("a command and its output");
        let command = command.strip_prefix("$ ").expect("a command begins with '$ '").to_owned();
        Example { command, lines: output.lines().map(str::to_owned).collect() }
    };
    blocks.map(example).collect()
}

/// A line without what differs between adapters: which it is, and how wide its name makes a table.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.split_once("GPU: ") {
        Some((before, after)) if !after.contains("passed") => before.to_owned(),
        _ if words.first() == Some(&"adapter") => "adapter".to_owned(),
        _ => line,
    }
}

/// Whether an output has these lines, where one of `…` stands for any number of lines.
fn agrees(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first == "…" => (0..=actual.len()).any(|skipped| agrees(rest, &actual[skipped..])),
        Some((first, rest)) => actual.first() == Some(first) && agrees(rest, &actual[1..]),
    }
}

fn shell(command: &str) -> std::io::Result<Output> {
    let program = Path::new(env!("CARGO_BIN_EXE_patchwave"));
    let folder = program.parent().expect("the program is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    Command::new("sh")
        .args(["-c", command])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", std::env::join_paths(paths).expect("folders have no colons"))
        .env("NODEVICE_SELECT", "1")
        .stdin(Stdio::null())
        .output()
}

#[test]
fn examples_say_what_the_page_says() {
    let examples = examples();
    assert!(examples.len() >= 7, "{}", examples.len());
    for Example { command, lines } in examples {
        let output = match shell(&command) {
            Ok(output) => output,
            Err(error) => {
                eprintln!("skipped: there is no sh to run examples with: {error}");
                return;
            }
        };
        if String::from_utf8_lossy(&output.stderr).contains("there is no adapter") {
            eprintln!("skipped: {command}: there is no adapter");
            continue;
        }
        let expected: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        let actual: Vec<String> = stdout(&output).lines().map(plain).collect();
        assert!(agrees(&expected, &actual), "docs/program.md: {command}\n{}", stdout(&output));
    }
}

#[test]
fn every_verb_is_on_the_page() {
    let page = include_str!("../../docs/program.md");
    let readme = include_str!("../../README.md");
    let verbs = verbs();
    assert!(verbs.len() >= 14, "{verbs:?}");
    for verb in verbs {
        assert!(page.contains(&format!("\n## `{verb}`\n")), "docs/program.md has no heading for {verb}");
        assert!(readme.contains(&format!("| `patchwave {verb}")), "README.md's table has no row for {verb}");
    }
}
