//! What a shell expects of a program: completions, no colours where none are wanted, machine-readable reports.

use serde_json::Value;

use crate::cli::{patchwave, run, stdout};

/// All verbs, from the help.
pub(crate) fn verbs() -> Vec<String> {
    let help = stdout(&run(&["--help"]));
    let listed = help.lines().skip_while(|line| *line != "Verbs:").skip(1);
    let verbs =
        listed.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").map(str::to_owned).collect()
}

#[test]
fn completions_know_every_verb() {
    let verbs = verbs();
    assert!(verbs.len() >= 14 && verbs.iter().any(|verb| verb == "completions"), "{verbs:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{shell}");
        let script = stdout(&output);
        for verb in &verbs {
            assert!(script.contains(verb.as_str()), "{shell}: {verb}");
        }
        assert!(script.contains("input-control-points"), "{shell}");
    }
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn bash_takes_its_script() {
    let script = stdout(&run(&["completions", "bash"]));
    let ask = "COMP_WORDS=(patchwave comp) COMP_CWORD=1; _patchwave patchwave comp patchwave; echo \"${COMPREPLY[*]}\"";
    match std::process::Command::new("bash").args(["-c", &format!("{script}\n{ask}")]).output() {
        Ok(output) => {
            let offered = stdout(&output);
            let offered: Vec<&str> = offered.split_whitespace().collect();
            assert_eq!(offered, ["compare", "compile", "completions"], "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(error) => eprintln!("skipped: bash does not start: {error}"),
    }
}

/// Whether an output has escape sequences.
fn is_coloured(args: &[&str], environment: &[(&str, &str)]) -> bool {
    let mut command = patchwave(args);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
    let output = command.envs(environment.iter().copied()).output().expect("the program starts");
    [output.stdout, output.stderr].concat().contains(&0x1b)
}

#[test]
fn no_color_is_honoured() {
    let help = ["--help"];
    assert!(is_coloured(&help, &[("CLICOLOR_FORCE", "1")]), "clap colours its help where it is made to");
    assert!(!is_coloured(&help, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&help, &[]), "a pipe is plain");
    // Nothing but clap's help has colours at all: tables, reports, errors.
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/shaders/teapot.wgsl");
    let one = ["tessellate", "--domain", "tri", "--partitioning", "integer", "--topology", "point", "--edges", "1,1,1"];
    for args in [
        &["check", shader][..],
        &["check", "/nowhere.wgsl"],
        &["info"],
        &["frobnicate"],
        &["tessellate"],
        &[&one[..], &["--inside", "1"]].concat(),
        &["tune", "grid", "--patches", "4", "--repeat", "1", "--factor-thresholds", "4", "--wave-thresholds", "0"],
        &["compare", "grid", "--patches", "4", "--repeat", "1"],
    ] {
        assert!(!is_coloured(args, &[("CLICOLOR_FORCE", "1")]), "{args:?}");
    }
}

/// The verbs that report something, asked for JSON.
#[test]
fn reports_are_machine_readable() {
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
    let scene = format!("{assets}/scenes/isoline-order.toml");
    let shader = format!("{assets}/shaders/teapot.wgsl");
    for (args, keys) in [
        (&["check", &shader][..], &["passed", "shaders"][..]),
        (&["run", &scene], &["scene", "counts", "draws"]),
        (&["timeline", "grid", "--patches", "4"], &["scene", "adapter", "modes"]),
        (&["compare", "grid", "--patches", "4", "--repeat", "1"], &["scene", "modes"]),
    ] {
        let output = run(&[args, &["--json"]].concat());
        if String::from_utf8_lossy(&output.stderr).contains("there is no adapter") {
            eprintln!("skipped: {args:?}: there is no adapter");
            continue;
        }
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
        for key in keys {
            assert!(!report[key].is_null(), "{args:?}: {key}");
        }
    }
    // Every verb that reports offers it; the others write what they make: a pattern, a kernel, a script.
    let without: Vec<String> =
        verbs().into_iter().filter(|verb| !stdout(&run(&[verb, "--help"])).contains("--json")).collect();
    assert_eq!(without, ["view", "tessellate", "compile", "completions"]);
}

#[test]
fn a_folder_of_scenes_is_reported_in_json() {
    let place = crate::cli::folder("test-json");
    let copy = |name: &str| {
        let from = format!("{}/assets/scenes/isoline-order.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, place.join(name)).expect("the scene can be copied");
    };
    copy("a.toml");
    std::fs::write(place.join("b.toml"), "[state]\n").expect("the scene can be written");
    let output = run(&["test", "--json", place.to_str().expect("the path is text")]);
    if String::from_utf8_lossy(&output.stderr).contains("there is no adapter") {
        eprintln!("skipped: there is no adapter to run scenes on");
        return;
    }
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!((&report["passed"], &report["failed"], &report["skipped"]), (&1.into(), &1.into(), &0.into()));
    let results: Vec<&Value> =
        report["scenes"].as_array().expect("a list").iter().map(|scene| &scene["result"]).collect();
    assert_eq!(results, ["passed", "failed"]);
    assert!(report["scenes"][1]["problems"][0].as_str().is_some_and(|problem| problem.contains("b.toml:1")));
}
