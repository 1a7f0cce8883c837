//! `patchwave view`: what it refuses, and what its window shows. Windows are opened on Xvfb, where lavapipe can show frames.

use crate::cli::{error_of, patchwave};

#[cfg(not(feature = "view"))]
#[test]
fn without_the_feature_the_verb_says_how_to_build_it() {
    for args in [vec!["view", "teapot"], vec!["view"], vec!["view", "teapot", "--frames", "3", "--no-such-option"]] {
        let error = error_of(&args, 1);
        assert!(error.contains("cargo install --path . --features view"), "{error}");
    }
    let help = patchwave(&["view", "--help"]).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&help.stdout).contains("cargo install --path . --features view"));
}

#[cfg(feature = "view")]
mod built {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use image::{Rgb, RgbImage};

    use super::{error_of, patchwave};
    use crate::cli::{folder, stdout};

    /// One window at a time: `xvfb-run -a` looks for a free display and takes it later.
    static DISPLAY: Mutex<()> = Mutex::new(());

    /// The right to open windows; `None`, saying why, where there is nothing to open them on.
    fn display(also: &[&str]) -> Option<MutexGuard<'static, ()>> {
        for tool in ["xvfb-run", "Xvfb", "xauth"].iter().chain(also) {
            let found = Command::new("sh").args(["-c", "command -v \"$0\"", tool]).output().expect("there is a shell");
            if !found.status.success() {
                eprintln!("skipped: no window can be opened, since {tool} is not here (scripts/need-xvfb installs it)");
                return None;
            }
        }
        let info = patchwave(&["info", "--adapter", "llvmpipe"]).output().expect("the program starts");
        if !info.status.success() {
            eprintln!("skipped: llvmpipe is not there, whose frames Xvfb can show");
            return None;
        }
        Some(DISPLAY.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The program under Xvfb, on llvmpipe.
    fn under_xvfb(program: &[&str]) -> Command {
        let mut command = Command::new("xvfb-run");
        command.args(["-a", "-s", "-screen 0 1280x1024x24"]).args(program);
        command.env("NODEVICE_SELECT", "1").env("PATCHWAVE_ADAPTER", "llvmpipe");
        command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command
    }

    /// What `view` with these arguments shows, and what it prints; `None` where it cannot be.
    fn shown(name: &str, args: &[&str]) -> Option<(RgbImage, String)> {
        let _turn = display(&[])?;
        let picture = folder(name).join("view.png");
        let file = picture.to_str().expect("the path is text");
        let all = [&[env!("CARGO_BIN_EXE_patchwave"), "view"], args, &["--screenshot", file]].concat();
        let output = under_xvfb(&all).output().expect("xvfb-run starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let image = image::open(&picture).expect("the screenshot is a picture").into_rgb8();
        Some((image, stdout(&output)))
    }

    /// A scene alone, in a small window.
    fn scene(name: &str, args: &[&str]) -> Option<RgbImage> {
        Some(shown(name, &[args, &["--size", "320x240", "--frames", "1", "--hide-panel"]].concat())?.0)
    }

    /// The share of pixels that are so.
    fn share(image: &RgbImage, is_so: impl Fn(&Rgb<u8>) -> bool) -> f64 {
        image.pixels().filter(|pixel| is_so(pixel)).count() as f64 / f64::from(image.width() * image.height())
    }

    fn is_orange(Rgb([r, g, b]): &Rgb<u8>) -> bool {
        *r > 100 && *r > g.saturating_add(30) && *g > b.saturating_add(20)
    }

    fn is_blue(Rgb([r, g, b]): &Rgb<u8>) -> bool {
        *b > 100 && *b > g.saturating_add(20) && *g > r.saturating_add(20)
    }

    /// Of twelve parts of the circle of hues, those that a 200th of the picture has, where it has any hue.
    fn hues(image: &RgbImage) -> usize {
        let mut counts = [0u32; 12];
        for Rgb(channels) in image.pixels() {
            let [r, g, b] = channels.map(f32::from);
            let (most, least) = (r.max(g).max(b), r.min(g).min(b));
            if most - least < 40.0 {
                continue;
            }
            let hue = match most {
                most if most == r => (g - b) / (most - least),
                most if most == g => 2.0 + (b - r) / (most - least),
                _ => 4.0 + (r - g) / (most - least),
            };
            counts[(hue.rem_euclid(6.0) * 2.0) as usize % 12] += 1;
        }
        counts.iter().filter(|count| **count > image.width() * image.height() / 200).count()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_window_system_there_is_one_line() {
        for (name, value) in [("NONE", ""), ("DISPLAY", ":4095"), ("WAYLAND_DISPLAY", "no-such-display")] {
            let mut command = patchwave(&["view", "teapot", "--frames", "1"]);
            command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").env(name, value);
            let output = command.output().expect("the program starts");
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{text}");
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(text.starts_with("error: there is no window system"), "{text}");
            assert!(!text.contains(".rs"), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused_before_a_window_opens() {
        let place = folder("view-refused");
        let below = place.to_str().expect("the path is text");
        for (args, code, words) in [
            (vec!["no-such-scene"], 2, "teapot, grid, skewed-scattered"),
            (vec!["no-such-scene.toml"], 1, "no-such-scene.toml"),
            (vec!["assets/scenes/many-draws.toml"], 1, "no [target]"),
            (vec!["teapot", "--patches", "4"], 2, "--patches"),
            (vec!["grid", "--patches", "0"], 2, "--patches"),
            (vec!["grid", "--segment", "4"], 2, "--segment"),
            (vec!["teapot", "--segment", "nan"], 2, "--segment"),
            (vec!["teapot", "--segment", "4", "--factor", "4"], 2, "--factor"),
            (vec!["assets/scenes/pn-mesh.toml", "--factor", "4"], 2, "--factor"),
            (vec!["assets/scenes/pn-mesh.toml", "--patches", "4"], 2, "--patches"),
            (vec!["teapot", "--screenshot", "view.png"], 2, "--frames"),
            (vec!["teapot", "--frames", "0"], 2, "--frames"),
            (vec!["teapot", "--frames", "1", "--screenshot", below], 1, "it is a folder"),
            (vec!["teapot", "--size", "0x0"], 2, "1 to 8192"),
        ] {
            let error = error_of(&[&["view"], &args[..]].concat(), code);
            assert!(error.contains(words), "{args:?}: {error}");
        }
    }

    #[test]
    fn what_does_not_compile_or_is_not_there_is_one_line() {
        let Some(_turn) = display(&[]) else { return };
        for (args, words) in [
            (vec!["teapot", "--patches-per-threadgroup", "1000"], "patches_per_threadgroup is 1000"),
            (vec!["teapot", "--mode", "dynamic", "--wave-threshold", "16"], "ds_wave_threshold is 16"),
            (vec!["teapot", "--adapter", "no such adapter"], "no adapter answers"),
        ] {
            let all = [&[env!("CARGO_BIN_EXE_patchwave"), "view", "--frames", "1"], &args[..]].concat();
            let output = under_xvfb(&all).output().expect("xvfb-run starts");
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{args:?}: {text}");
            assert!(text.contains(words), "{args:?}: {text}");
        }
    }

    #[test]
    fn the_panel_stands_beside_the_teapot() {
        let Some((image, text)) = shown("view-panel", &["teapot", "--size", "640x480", "--frames", "3"]) else {
            return;
        };
        assert_eq!(image.dimensions(), (640, 480));
        assert!(text.contains("llvmpipe") && text.contains(": 3 frames, median "), "{text}");
        let panel = image::imageops::crop_imm(&image, 0, 0, 300, 480).to_image();
        let view = image::imageops::crop_imm(&image, 320, 0, 320, 480).to_image();
        // Its words and knobs are grey and white; the teapot is glazed blue and green.
        let is_written = |Rgb([r, g, b]): &Rgb<u8>| *r > 120 && r.abs_diff(*g) < 12 && g.abs_diff(*b) < 12;
        let is_glazed = |Rgb([r, g, b]): &Rgb<u8>| *g > r.saturating_add(20) && *b > r.saturating_add(20);
        assert!(share(&panel, is_written) > 0.01 && share(&panel, is_glazed) < 0.05);
        assert!(share(&view, is_glazed) > 0.2, "{}", share(&view, is_glazed));
    }

    #[test]
    fn modes_and_patches_have_their_colours() {
        let clustered = ["skewed-clustered", "--patches", "256", "--factor", "16", "--shading", "modes", "--mode"];
        let of = |mode| scene("view-modes", &[&clustered[..], &[mode]].concat());
        let Some(on_chip) = of("onchip") else { return };
        assert!(share(&on_chip, is_blue) > 0.1 && share(&on_chip, is_orange) == 0.0);
        let (Some(off_chip), Some(dynamic)) = (of("offchip"), of("dynamic")) else { return };
        assert!(share(&off_chip, is_orange) > 0.1 && share(&off_chip, is_blue) == 0.0);
        // 3 of 256 patches are heavy: the first threadgroup alone goes off-chip.
        let (blue, orange) = (share(&dynamic, is_blue), share(&dynamic, is_orange));
        assert!(orange > 0.001 && blue > 5.0 * orange, "{orange} {blue}");

        let grid = |shading| scene("view-patches", &["grid", "--patches", "16", "--shading", shading]);
        let (Some(patches), Some(lit)) = (grid("patches"), grid("lit")) else { return };
        assert!(hues(&patches) >= 5 && hues(&lit) <= 2, "{} {}", hues(&patches), hues(&lit));
    }

    #[test]
    fn a_scene_file_is_the_same_picture_in_all_modes() {
        let of = |mode| scene("view-file", &["assets/scenes/wavy-sheet.toml", "--shading", "patches", "--mode", mode]);
        let Some(expected) = of("onchip") else { return };
        assert!(hues(&expected) >= 5, "{}", hues(&expected));
        for mode in ["offchip", "dynamic"] {
            assert!(of(mode) == Some(expected.clone()), "{mode}");
        }
        // Isolines, whose positions are in clip space.
        let Some(lines) = scene("view-lines", &["assets/scenes/isoline-fan.toml"]) else { return };
        let drawn = share(&lines, |Rgb(channels)| channels.iter().any(|channel| *channel > 90));
        assert!((0.01..0.2).contains(&drawn), "{drawn}");
    }

    #[test]
    fn wires_are_more_where_segments_are_shorter() {
        // The share of pixels that wires darken.
        let wires = |segment| {
            let args = ["teapot", "--segment", segment];
            let plain = scene("view-plain", &args)?;
            let wired = scene("view-wires", &[&args[..], &["--wireframe"]].concat())?;
            let pairs = plain.pixels().zip(wired.pixels());
            let darker = pairs.filter(|(plain, wired)| wired[1] + 20 < plain[1]).count();
            Some(darker as f64 / f64::from(plain.width() * plain.height()))
        };
        let (Some(coarse), Some(fine)) = (wires("40"), wires("20")) else { return };
        assert!(coarse > 0.01 && fine > 1.3 * coarse, "{coarse} {fine}");
    }

    #[test]
    fn the_workspace_grows_to_what_a_frame_needs() {
        // 4,096 patches of 289 vertices, beyond the 65,536 that there is room for at first.
        let Some(image) = scene("view-grows", &["grid", "--factor", "16"]) else { return };
        let background = *image.get_pixel(0, 0);
        assert!(share(&image, |pixel| *pixel != background) > 0.15);
    }

    #[test]
    fn what_can_never_fit_is_said_in_the_window() {
        // 17 million vertices of 24 bytes, and llvmpipe binds 128 MiB.
        let args = ["grid", "--factor", "64", "--size", "640x240", "--frames", "1", "--hide-panel"];
        let Some((image, _)) = shown("view-too-much", &args) else { return };
        let red = share(&image, |Rgb([r, g, b])| *r > 150 && r - 60 > *g && r - 60 > *b);
        let background = *image.get_pixel(0, 239);
        assert!(red > 0.001 && share(&image, |pixel| *pixel == background) > 0.9, "{red}");
    }

    #[test]
    fn a_lost_device_is_made_anew() {
        let args = ["teapot", "--size", "320x240", "--frames", "4", "--lose-device-after", "3", "--hide-panel"];
        let Some((image, text)) = shown("view-lost", &args) else { return };
        assert!(text.contains("the device was lost 1 ×"), "{text}");
        let Some(expected) = scene("view-kept", &["teapot"]) else { return };
        assert!(image == expected, "the picture is another");
    }

    /// A script that works on the window while the viewer runs in it, and ends it by Q.
    const HANDS: &str = r#"
"$1" view teapot --size 480x360 & viewer=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --name 'patchwave: teapot' | head -n 1)
[ -n "$window" ] || exit 90
xdotool windowfocus "$window" mousemove 400 200 mousedown 1; sleep 0.2
xdotool mousemove 440 210; sleep 0.2
xdotool mousemove 460 220 mouseup 1 click 4 key w key 3 key m key space key s
for size in '700 500' '90 70' '1 1' '1200 900' '320 240'; do xdotool windowsize "$window" $size; sleep 0.1; done
xdotool windowunmap "$window"; sleep 0.3; xdotool windowmap "$window"; sleep 0.3
kill -0 $viewer || { wait $viewer; exit 91; }
for i in $(seq 100); do
  kill -0 $viewer 2>/dev/null || break
  xdotool windowfocus "$window" key q 2>/dev/null
  sleep 0.3
done
wait $viewer
"#;

    #[test]
    fn a_window_is_dragged_typed_at_resized_hidden_and_closed() {
        let Some(_turn) = display(&["xdotool", "timeout"]) else { return };
        let script: PathBuf = folder("view-hands").join("hands.sh");
        std::fs::write(&script, HANDS).expect("the script can be written");
        let script: &Path = &script;
        let script = script.to_str().expect("the path is text");
        let Output { status, stderr, .. } =
            under_xvfb(&["sh", script, env!("CARGO_BIN_EXE_patchwave")]).output().expect("xvfb-run starts");
        let text = String::from_utf8_lossy(&stderr);
        let complaints: Vec<&str> =
            text.lines().filter(|line| line.contains("error") || line.contains("panic")).collect();
        assert!(status.success() && complaints.is_empty(), "{status}: {text}");
    }
}
