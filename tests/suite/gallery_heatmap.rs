//! The heat map of the gallery: its picture, and that its colours are what threadgroups decided.

use crate::cli::folder;
use crate::gallery::{assert_draws, run};

/// Threadgroups that went off-chip and all of them, then waves that ran on-chip and all of them, as the example says.
fn said(args: &[&str]) -> [u32; 4] {
    let file = folder("gallery-heatmap-said").join("heatmap.png");
    let output = run("heatmap", &[&["--size", "640x480", "-o", file.to_str().expect("a plain path")], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("stdout is UTF-8");
    let numbers = |name: &str| -> Vec<u32> {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    let (off_chip, waves) = (numbers("off-chip:"), numbers("waves:"));
    // "1 (black) to 9 (yellow) a threadgroup; 427 of all 522 ran on-chip"
    [off_chip[0], off_chip[1], waves[2], waves[3]]
}

#[test]
fn the_heat_map_is_drawn() {
    assert_draws("heatmap", "heatmap", &[]);
}

#[test]
fn the_heat_map_follows_the_thresholds() {
    // Factors follow the size in pixels, so that a small picture would have a wave a threadgroup and nothing to share out.
    let [off_chip, all, on_chip_waves, waves] = said(&["--threshold", "4", "--waves", "1"]);
    assert!((1..all).contains(&off_chip), "{off_chip} of {all} threadgroups");
    assert!((1..waves).contains(&on_chip_waves), "{on_chip_waves} of {waves} waves");
    assert_eq!(said(&["--threshold", "0", "--waves", "0"]), [all, all, 0, waves]);
    assert_eq!(said(&["--threshold", "64"]), [0, all, waves, waves]);
    // A threadgroup that may keep 15 waves has none left for others.
    assert_eq!(said(&["--threshold", "0", "--waves", "15"]), [all, all, waves, waves]);
    let [_, fewer, ..] = said(&["--patches", "16"]);
    assert_eq!((all, fewer), (256, 64));
}
