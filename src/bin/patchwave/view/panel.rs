//! What is on the screen beside the scene: the panel, and what mouse and keyboard do to the view.

use egui::{Color32, Key, RichText};
use patchwave::hardware::{DEFAULT_DS_WAVE_THRESHOLD, ResolvedParameters, Statistics};
use patchwave::tessellator::Partitioning;

use super::state::{Factors, PolicyName, Settings, Shading, State};
use super::times::PassTimes;
use crate::scene::Size;
use crate::scene::mode::Mode;

/// Width of the panel in points.
const WIDTH: f32 = 310.0;

/// What the panel tells beside the settings.
pub(super) struct Shown<'a> {
    pub(super) scene: &'a str,
    pub(super) adapter: &'a str,
    /// What is under way, and what went wrong.
    pub(super) status: Option<&'a Status>,
    /// Patches that fit a threadgroup, once there is a pipeline.
    pub(super) most_patches: Option<u32>,
    /// The parameters with their defaults.
    pub(super) resolved: Option<&'a ResolvedParameters>,
    /// Of what is on the screen; none while they are under way.
    pub(super) statistics: Option<&'a Statistics>,
    pub(super) workspace_bytes: u64,
    /// How often the workspace was made anew for want of room.
    pub(super) grown: u32,
    /// What the GPU took, or why that is not known.
    pub(super) times: Result<&'a PassTimes, &'static str>,
    /// By the clock, from one frame to the next; none where there was no frame right before.
    pub(super) frame_milliseconds: Option<f32>,
}

/// A line for the person at the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Status {
    pub(super) fn busy(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

/// What the person asked for beyond settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) quit: bool,
}

/// Shows panel and view; `size` is that of the view in the frame before. Gives the view's rectangle in points.
pub(super) fn show(ui: &mut egui::Ui, state: &mut State, shown: &Shown<'_>, size: Size) -> (egui::Rect, Asked) {
    if state.panel {
        let panel = egui::Panel::left("panel").resizable(false).exact_size(WIDTH);
        panel.show(ui, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| contents(ui, state, shown, size));
        });
    }
    let rect = ui.available_rect_before_wrap();
    let asked = view(ui, rect, state, size);
    if let Some(status) = shown.status.filter(|_| !state.panel) {
        // Without the panel it still has to be said.
        ui.painter().text(
            rect.left_top() + egui::vec2(8.0, 8.0),
            egui::Align2::LEFT_TOP,
            &status.text,
            egui::FontId::proportional(14.0),
            status_color(status),
        );
    }
    (rect, asked)
}

/// Mouse and keyboard over the view.
fn view(ui: &mut egui::Ui, rect: egui::Rect, state: &mut State, size: Size) -> Asked {
    let response = ui.allocate_rect(rect, egui::Sense::click_and_drag());
    if response.clicked() || response.drag_started() {
        // Keys go to the view again, and no longer to a slider.
        ui.memory_mut(|memory| memory.stop_text_input());
        if let Some(id) = ui.memory(|memory| memory.focused()) {
            ui.memory_mut(|memory| memory.surrender_focus(id));
        }
    }
    let drag = response.drag_delta().into();
    let shifts = ui.input(|input| input.modifiers.shift);
    if response.dragged_by(egui::PointerButton::Primary) && !shifts {
        state.orbit.turn(drag);
    } else if response.dragged() {
        state.orbit.shift(drag, rect.width().min(rect.height()));
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        state.orbit.zoom((scroll * 0.004).exp() * pinch);
    }
    if response.double_clicked() {
        state.go_home();
    }
    if ui.ctx().memory(|memory| memory.focused().is_some()) {
        return Asked::default();
    }
    keys(ui, state, size)
}

/// Whether a key is held that turns or zooms for as long as it is.
pub(super) fn is_moving(context: &egui::Context) -> bool {
    const MOVING: [Key; 6] =
        [Key::ArrowLeft, Key::ArrowRight, Key::ArrowUp, Key::ArrowDown, Key::PageUp, Key::PageDown];
    context.input(|input| MOVING.into_iter().any(|key| input.key_down(key)))
}

fn keys(ui: &egui::Ui, state: &mut State, size: Size) -> Asked {
    ui.input(|input| {
        // Held keys go on; a long frame does not throw the camera about.
        let points = 300.0 * input.stable_dt.min(0.1);
        let axis = |less, more| f32::from(i8::from(input.key_down(more)) - i8::from(input.key_down(less)));
        state.orbit.turn([points * axis(Key::ArrowLeft, Key::ArrowRight), points * axis(Key::ArrowUp, Key::ArrowDown)]);
        state.orbit.zoom((axis(Key::PageDown, Key::PageUp) * points * 0.006).exp());
        // These are not asked whether they are held: where shift is let go first, plus is never seen to come up.
        let presses = |key| input.num_presses(key) as f32;
        state.orbit.zoom((0.15 * (presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus))).exp());
        let settings = &mut state.settings;
        // Each time a key goes down counts, also where a long frame has several; held ones do not.
        let strokes = |wanted: Key| {
            let is_stroke = |event: &&egui::Event| {
                matches!(event, egui::Event::Key { key, pressed: true, repeat: false, .. } if *key == wanted)
            };
            input.events.iter().filter(is_stroke).count()
        };
        let toggles = |key| strokes(key) % 2 == 1;
        for (key, shading) in [(Key::Num1, Shading::Lit), (Key::Num2, Shading::Patches), (Key::Num3, Shading::Modes)] {
            if strokes(key) > 0 {
                settings.shading = shading;
            }
        }
        settings.wireframe ^= toggles(Key::W);
        settings.statistics ^= toggles(Key::S);
        settings.continuous ^= toggles(Key::C);
        let at = Mode::ALL.iter().position(|mode| *mode == settings.mode).unwrap_or(0);
        settings.mode = Mode::ALL[(at + strokes(Key::M)) % Mode::ALL.len()];
        if toggles(Key::Space) {
            state.pause_lod(!state.is_lod_paused(), size);
        }
        if input.key_pressed(Key::Home) || input.key_pressed(Key::R) {
            state.go_home();
        }
        state.panel ^= toggles(Key::H);
        Asked { quit: input.key_pressed(Key::Q) || input.key_pressed(Key::Escape) }
    })
}

fn contents(ui: &mut egui::Ui, state: &mut State, shown: &Shown<'_>, size: Size) {
    ui.spacing_mut().slider_width = 110.0;
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.add_space(6.0);
    ui.label(RichText::new(shown.scene).heading());
    ui.label(RichText::new(shown.adapter).weak());
    // A line of its own at all times, so that nothing below jumps.
    match shown.status {
        Some(status) => ui.label(RichText::new(&status.text).color(status_color(status))),
        None => ui.label(" "),
    };
    tessellation(ui, &mut state.settings);
    mode(ui, &mut state.settings, shown);
    shading(ui, &mut state.settings);
    let mut paused = state.is_lod_paused();
    ui.horizontal(|ui| {
        let pause = ui.checkbox(&mut paused, "pause LOD (space)");
        if pause.on_hover_text("Factors go on by the camera of now, wherever the view goes").changed() {
            state.pause_lod(paused, size);
        }
        if ui.button("reset view (R)").clicked() {
            state.go_home();
        }
    });
    statistics(ui, &mut state.settings, shown);
}

fn tessellation(ui: &mut egui::Ui, settings: &mut Settings) {
    section(ui, "Tessellation");
    let Settings { factors, segment_pixels, factor, .. } = settings;
    if let Factors::SizeOrFixed { by_size } = factors {
        ui.horizontal(|ui| {
            ui.radio_value(by_size, true, "by size");
            ui.radio_value(by_size, false, "one factor");
        });
    }
    match factors {
        Factors::SizeOrFixed { by_size: true } => {
            ui.add(slider(segment_pixels, 1.0..=100.0, "segment, pixels").logarithmic(true));
        }
        Factors::SizeOrFixed { by_size: false } | Factors::Fixed => {
            ui.add(slider(factor, 0.0..=64.0, "factor"));
        }
        Factors::Shader => {}
    }
    egui::ComboBox::from_label("partitioning").selected_text(settings.partitioning.name()).show_ui(ui, |ui| {
        for partitioning in Partitioning::ALL {
            ui.selectable_value(&mut settings.partitioning, partitioning, partitioning.name());
        }
    });
    for number in &mut settings.numbers {
        ui.horizontal(|ui| {
            let speed = (number.value.abs() * 0.01).max(if number.is_whole { 0.1 } else { 0.005 });
            let mut drag = egui::DragValue::new(&mut number.value).speed(speed);
            if number.is_whole {
                drag = drag.fixed_decimals(0);
            }
            ui.add(drag);
            ui.label(&number.name);
        });
        if number.is_whole {
            number.value = number.value.round();
        }
    }
}

fn mode(ui: &mut egui::Ui, settings: &mut Settings, shown: &Shown<'_>) {
    section(ui, "Mode (M)");
    ui.horizontal(|ui| {
        for mode in Mode::ALL {
            ui.selectable_value(&mut settings.mode, mode, mode.name());
        }
    });
    let parameters = &mut settings.parameters;
    let resolved = shown.resolved;
    // Until there is a pipeline it is not known how many fit.
    ui.add_enabled_ui(shown.most_patches.is_some(), |ui| {
        let most = shown.most_patches.unwrap_or(1);
        optional(ui, &mut parameters.patches_per_threadgroup, most, |ui, value| {
            ui.add(slider(value, 1..=most.max(1), "patches a group"))
        });
    });
    // Only the dynamic mode has thresholds.
    ui.add_enabled_ui(settings.mode == Mode::Dynamic, |ui| {
        let default = resolved.map_or(4.0, |resolved| resolved.tessellation_factor_threshold);
        optional(ui, &mut parameters.tessellation_factor_threshold, default, |ui, value| {
            ui.add(slider(value, 0.0..=64.0, "factor threshold").max_decimals(2))
        });
        let default = resolved.map_or(DEFAULT_DS_WAVE_THRESHOLD, |resolved| resolved.ds_wave_threshold);
        optional(ui, &mut parameters.ds_wave_threshold, default, |ui, value| {
            ui.add(slider(value, 0..=15, "wave threshold"))
        });
    });
    ui.horizontal(|ui| {
        ui.label("policy");
        ui.selectable_value(&mut settings.policy, PolicyName::Driver, "driver");
        ui.selectable_value(&mut settings.policy, PolicyName::Adaptive, "adaptive");
    });
}

/// A slider that leaves what was given beyond its ends as it is: the library says what is wrong with it.
fn slider<'a, T: egui::emath::Numeric>(
    value: &'a mut T,
    range: std::ops::RangeInclusive<T>,
    text: &'a str,
) -> egui::Slider<'a> {
    egui::Slider::new(value, range).clamping(egui::SliderClamping::Edits).text(text)
}

/// A box that is ticked where the value is given, and its slider, which stands at the default where it is not.
fn optional<T: Copy + PartialEq>(
    ui: &mut egui::Ui,
    given: &mut Option<T>,
    default: T,
    slider: impl FnOnce(&mut egui::Ui, &mut T) -> egui::Response,
) {
    ui.horizontal(|ui| {
        let mut is_given = given.is_some();
        ui.checkbox(&mut is_given, "").on_hover_text("given, or the driver's default");
        let mut value = given.unwrap_or(default);
        // Sliding gives it.
        let slid = slider(ui, &mut value).changed();
        *given = (is_given || slid).then_some(value);
    });
}

fn shading(ui: &mut egui::Ui, settings: &mut Settings) {
    section(ui, "Shading (1, 2, 3)");
    ui.horizontal(|ui| {
        ui.selectable_value(&mut settings.shading, Shading::Lit, "lit");
        ui.selectable_value(&mut settings.shading, Shading::Patches, "patches");
        ui.selectable_value(&mut settings.shading, Shading::Modes, "modes");
    });
    ui.checkbox(&mut settings.wireframe, "wireframe (W)");
    if settings.shading == Shading::Modes {
        ui.horizontal(|ui| {
            for (name, [r, g, b]) in ["on-chip", "off-chip"].into_iter().zip(MODE_COLORS) {
                let (rect, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
                ui.painter().rect_filled(rect, 2.0, Color32::from_rgb(r, g, b));
                ui.label(name);
            }
        });
    }
}

/// On-chip and off-chip, as `paint.wgsl` has them in linear light.
pub(super) const MODE_COLORS: [[u8; 3]; 2] = [[92, 150, 214], [240, 140, 60]];

fn statistics(ui: &mut egui::Ui, settings: &mut Settings, shown: &Shown<'_>) {
    section(ui, "Statistics");
    ui.horizontal(|ui| {
        ui.checkbox(&mut settings.statistics, "read back (S)");
        ui.checkbox(&mut settings.continuous, "run on (C)").on_hover_text("Draw on, though nothing changes");
    });
    ui.spacing_mut().interact_size.y = 0.0;
    egui::Grid::new("statistics").num_columns(2).striped(true).spacing([8.0, 1.0]).show(ui, |ui| {
        let mut row = |name: &str, value: String| {
            ui.label(name);
            ui.monospace(format!("{value:>16}"));
            ui.end_row();
        };
        if settings.statistics {
            let count = |of: fn(&Statistics) -> u64| shown.statistics.map_or("…".to_owned(), |all| grouped(of(all)));
            row("patches", count(|all| all.ia_primitives));
            row("culled", count(|all| all.culled_patches));
            row("domain points", count(|all| all.ds_invocations));
            row("primitives", count(|all| all.primitives));
            row("groups on-chip", count(|all| all.threadgroups - all.off_chip_threadgroups));
            row("groups off-chip", count(|all| all.off_chip_threadgroups));
            row("domain waves", count(|all| all.domain.waves));
            row("  run off-chip", count(|all| all.off_chip_waves));
            row("off-chip bytes", count(|all| all.off_chip_bytes));
            let mean = shown.statistics.map_or("…".to_owned(), |all| format!("{:.2}", all.mean_average_factor()));
            row("average factor", mean);
        }
        row("workspace", format!("{:.1} MiB", shown.workspace_bytes as f64 / f64::from(1 << 20)));
        row("  grown", format!("{} ×", shown.grown));
        let frame = shown.frame_milliseconds.map_or("-".to_owned(), |ms| format!("{ms:.1} ms"));
        row("frame, by the clock", frame);
        match shown.times {
            Ok(times) => {
                for (name, milliseconds) in times.rows() {
                    row(name, format!("{milliseconds:.3} ms"));
                }
            }
            Err(_) => row("passes", "-".to_owned()),
        }
    });
    if let Err(reason) = shown.times {
        ui.label(RichText::new(reason).weak().small());
    }
}

fn section(ui: &mut egui::Ui, title: &str) {
    ui.add_space(3.0);
    ui.separator();
    ui.label(RichText::new(title).strong());
}

fn status_color(status: &Status) -> Color32 {
    if status.is_error { Color32::from_rgb(255, 120, 100) } else { Color32::from_rgb(250, 200, 90) }
}

/// A number with a narrow gap between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "panel_tests.rs"]
mod tests;
