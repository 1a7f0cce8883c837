//! What people say of adapters: overrides, by builder and by environment, and files of recorded layouts; above all when
//! it is wrong.

use patchwave::adapter::{
    ArchitectureOverrides, Certainty, LayoutError, OverrideError, Provenance, classify, read_layouts,
};
use serde_json::Value;

use super::adapter::{LAYOUTS, h200};
use super::cli::{error_of, folder, patchwave, stdout};

/// Overrides of an environment with these variables.
fn environment(variables: &[(&str, &str)]) -> Result<ArchitectureOverrides, OverrideError> {
    ArchitectureOverrides::from_lookup(|asked| {
        variables.iter().find(|(name, _)| *name == asked).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn variables_say_what_the_builder_says() {
    let plain = ArchitectureOverrides::default();
    assert_eq!(environment(&[]), Ok(plain));
    type With = fn(ArchitectureOverrides, bool) -> ArchitectureOverrides;
    let builders: [With; 4] = [
        ArchitectureOverrides::with_tile_based_renderer,
        ArchitectureOverrides::with_uma,
        ArchitectureOverrides::with_cache_coherent_uma,
        ArchitectureOverrides::with_isolated_mmu,
    ];
    for (variable, with) in ArchitectureOverrides::VARIABLES.into_iter().zip(builders) {
        for (text, value) in
            [("1", true), ("true", true), ("TRUE", true), (" 1 ", true), ("0", false), ("False", false)]
        {
            assert_eq!(environment(&[(variable, text)]), Ok(with(plain, value)), "{variable}={text}");
        }
        assert_eq!(environment(&[(variable, "")]), Ok(plain), "empty is unset");
        for text in ["2", "-1", "yes", "01", "0x1", "maybe", "1,0", "\u{fffd}"] {
            let error = environment(&[(variable, text)]).expect_err("neither 0 nor 1");
            assert_eq!(error, OverrideError::Value { variable, value: text.to_owned() });
            assert!(error.to_string().contains("it must be 0 or 1, or unset"), "{error}");
        }
        // What is set stands with its provenance, and the other fields as they were found.
        let found = classify(&h200());
        for value in [false, true] {
            let changed = with(plain, value).apply(found).expect("it holds together");
            let before = found.fields();
            for (i, (name, field)) in changed.fields().into_iter().enumerate() {
                let set = ArchitectureOverrides::VARIABLES[i] == variable;
                let follows = field.value != before[i].1.value || field.why != before[i].1.why;
                if set {
                    assert_eq!((field.value, field.from), (value, Provenance::Override), "{name}");
                    assert_eq!((field.conflict, field.certainty), (before[i].1.value != value, Certainty::Decided));
                } else if !follows {
                    assert_eq!(field, before[i].1, "{name}");
                }
            }
        }
    }
}

/// What was found of cache coherence because memory was not unified is found no more once that is overridden.
#[test]
fn what_followed_follows_no_more() {
    let found = classify(&h200());
    assert!(found.cache_coherent_uma.why.contains("follows from UMA being no"));
    let report = ArchitectureOverrides::default().with_uma(true).apply(found).expect("it holds together");
    let coherent = report.cache_coherent_uma;
    assert_eq!((coherent.value, coherent.from, coherent.certainty), (false, Provenance::Assumed, Certainty::Undecided));
    assert!(coherent.why.contains("UMA was set"), "{}", coherent.why);
    let contradiction = environment(&[("PATCHWAVE_UMA", "0"), ("PATCHWAVE_CACHE_COHERENT_UMA", "1")]);
    assert_eq!(contradiction.expect("each is right").apply(found), Err(OverrideError::CoherentWithoutUma));
}

/// The program: the value in what it prints, and a line and exit code 1 for what is wrong.
#[test]
fn variables_of_the_program() {
    let with = |variables: &[(&str, &str)]| {
        let mut command = patchwave(&["info", "--json"]);
        for (name, value) in variables {
            command.env(name, value);
        }
        command.output().expect("the program starts")
    };
    let output = with(&[("PATCHWAVE_UMA", "1"), ("PATCHWAVE_ISOLATED_MMU", "1")]);
    let printed: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    let adapters = printed["adapters"].as_array().expect("a list");
    assert!(!adapters.is_empty());
    for adapter in adapters {
        for field in ["uma", "isolated_mmu"] {
            let field = &adapter["architecture"][field];
            assert_eq!((&field["value"], &field["provenance"]), (&true.into(), &"override".into()), "{adapter:#}");
        }
    }
    for (variables, words) in [
        (
            &[("PATCHWAVE_UMA", "maybe")][..],
            "environment variable PATCHWAVE_UMA is 'maybe'; it must be 0 or 1, or unset",
        ),
        (&[("PATCHWAVE_ISOLATED_MMU", "2")][..], "environment variable PATCHWAVE_ISOLATED_MMU is '2'"),
        (
            &[("PATCHWAVE_UMA", "0"), ("PATCHWAVE_CACHE_COHERENT_UMA", "1")][..],
            "overrides say CacheCoherentUMA is true and UMA is false",
        ),
    ] {
        let output = with(variables);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(output.stdout.is_empty() && text.lines().count() == 1 && text.starts_with("error: "), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

/// Files that are no layouts: what the library says, and the program's line.
#[test]
fn layouts_that_are_none() {
    let entry = |body: &str| format!(r#"{{"entries": [{{"id": "one"{body}}}]}}"#);
    let cut = &LAYOUTS[..LAYOUTS.len() / 2];
    let json = [
        (String::new(), "EOF while parsing"),
        (" \n".to_owned(), "EOF while parsing"),
        (cut.to_owned(), "EOF while parsing"),
        ("[]".to_owned(), ""),
        ("{}".to_owned(), "missing field `entries`"),
        ("null".to_owned(), "invalid type: null"),
        (r#"{"entries": {}}"#.to_owned(), "invalid type: map, expected a sequence"),
        (r#"{"entries": [{"name": "x"}]}"#.to_owned(), "missing field `id`"),
        (r#"{"entries": []} x"#.to_owned(), "trailing characters"),
        (entry(r#", "vendor_id": "0x10de""#), "invalid type: string"),
        (entry(r#", "vendor_id": -1"#), "invalid value: integer `-1`, expected u32"),
        (entry(r#", "vendor_id": 4294967296"#), "invalid value: integer `4294967296`, expected u32"),
        (entry(r#", "device_type": 2"#), "invalid type: integer `2`, expected a string"),
        (entry(r#", "heaps": [{"size_mib": 1e30, "flags": 1}]"#), "expected u64"),
        (entry(r#", "heaps": [{"size_mib": 18446744073709551616, "flags": 1}]"#), "expected u64"),
        (entry(r#", "heaps": [{"size_mib": 8}]"#), "missing field `flags`"),
        (entry(r#", "heaps": [{"size": 8, "flags": 1}]"#), "unknown field `size`"),
        (entry(r#", "heaps": [{"flags": 1}], "types": [{"flags": 1, "heap": 0, "hep": 1}]"#), "unknown field `hep`"),
        (entry(r#", "heaps": [{"flags": 1}], "types": [{"flags": 1, "heap": 4294967296}]"#), "expected u32"),
        (entry(r#", "expected": {"unified": true}"#), "unknown field `unified`"),
        (entry(r#", "expected": {"uma": 1}"#), "expected a boolean"),
    ];
    let values = [
        (entry(r#", "device_type": "discrete""#), "device_type is 'discrete'; it must be DISCRETE, INTEGRATED"),
        (entry(r#", "backend": "d3d9""#), "backend is 'd3d9'; it must be vulkan, dx12, metal or gl"),
        (entry(r#", "heaps": [{"size_mib": 18446744073709551615, "flags": 1}]"#), "MiB cannot be"),
        (entry(r#", "heaps": [{"flags": 1}], "types": [{"flags": 1, "heap": 1}]"#), "a type is of heap 1; there are 1"),
        (entry(r#", "heaps": [], "types": [{"flags": 1, "heap": 0}]"#), "a type is of heap 0; there are 0"),
        (entry(r#", "types": [{"flags": 1, "heap": 0}]"#), "it has types and no heaps; give both"),
        (r#"{"entries": [{"id": "one"}, {"id": "one"}]}"#.to_owned(), "there are two of this id"),
    ];
    for (text, words) in &json {
        let error = read_layouts(text).expect_err(words);
        assert!(matches!(error, LayoutError::Json(_)) && error.to_string().contains(words), "{text}: {error}");
    }
    for (text, words) in &values {
        let error = read_layouts(text).expect_err(words);
        let LayoutError::Value { id, .. } = &error else { panic!("{text}: {error}") };
        assert!(id == "one" && error.to_string().contains(words), "{text}: {error}");
    }
    let folder = folder("layouts");
    for (i, (text, words)) in json.iter().chain(&values).enumerate() {
        let path = folder.join(format!("{i}.json"));
        std::fs::write(&path, text).expect("the folder is writable");
        let path = path.to_str().expect("the path is text");
        let line = error_of(&["info", "--layouts", path, "--json"], 1);
        assert!(line.contains(path) && line.contains(words), "{line}");
    }
    let path = folder.join("bytes.json");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("the folder is writable");
    let line = error_of(&["info", "--layouts", path.to_str().expect("the path is text")], 1);
    assert!(line.contains("cannot read"), "{line}");
    error_of(&["info", "--layouts", folder.to_str().expect("the path is text")], 1);
}

/// Keys of a layout that nobody knows are for people: they change nothing. Neither does what is null.
#[test]
fn remarks_change_nothing() {
    let bare = r#"{"entries": [{"id": "one", "device_type": "DISCRETE", "vendor_id": 4318}]}"#;
    let remarked = r#"{"made": "by hand", "entries": [{"id": "one", "device_type": "DISCRETE", "vendor_id": 4318,
        "note": ["of a ticket", 7], "heaps": null, "types": null, "driver_id": null, "expected": null}]}"#;
    let [bare, remarked] = [bare, remarked].map(|text| read_layouts(text).expect("it is right"));
    assert_eq!(bare, remarked);
    // A driver that is not known yet is an unknown one.
    let text = r#"{"entries": [{"id": "one", "device_type": "DISCRETE", "driver_id": "MESA_NEWEST"}]}"#;
    assert_eq!(read_layouts(text).expect("it is right")[0].facts.driver_id, None);
    assert!(read_layouts(r#"{"entries": []}"#).expect("it is right").is_empty());
    let path = folder("no_layouts").join("none.json");
    std::fs::write(&path, r#"{"entries": []}"#).expect("the folder is writable");
    let output = super::cli::run(&["info", "--layouts", path.to_str().expect("the path is text"), "--json"]);
    assert_eq!((output.status.code(), stdout(&output).trim()), (Some(0), "{}"));
}
