//! The table of other implementations' faults names scenes and tests that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_table_names_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("docs/cases.md")).expect("the table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('#'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 25, "{} rows", rows.len());
    let mut scenes = BTreeSet::new();
    for row in &rows {
        let [report, fault, own_scenes, tests] = row[..] else { panic!("four columns: {row:?}") };
        assert!(!fault.is_empty(), "{report}: what is it?");
        assert!(!own_scenes.is_empty() || !tests.is_empty(), "{report}: nothing shows it");
        let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        for scene in names(own_scenes) {
            let text = fs::read_to_string(root.join(format!("assets/scenes/{scene}.toml")));
            assert!(
                text.is_ok_and(|text| text.contains("[expect")),
                "{report}: no scene {scene} that expects something"
            );
            scenes.insert(scene);
        }
        for test in names(tests) {
            let (module, name) = test.split_once("::").unwrap_or_else(|| panic!("{report}: {test}"));
            let text = fs::read_to_string(root.join(format!("tests/suite/{module}.rs"))).unwrap_or_default();
            assert!(text.contains(&format!("fn {name}(")), "{report}: no test {test}");
        }
    }
    // A scene that quotes a report is in the table.
    for entry in fs::read_dir(root.join("assets/scenes")).expect("the scenes") {
        let path = entry.expect("a scene").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a scene");
        let head = text.lines().next().unwrap_or_default();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let quotes = head.strip_prefix("# ").is_some_and(|head| head.contains('/') && head.contains('#'));
        assert!(!quotes || scenes.contains(&name), "{name} quotes a report that the table does not have it for");
    }
}
