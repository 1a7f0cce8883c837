use super::super::state::tests::state;
use super::*;
use crate::run::numbers::Number;
use egui::{Event, PointerButton, Pos2, Rect, Vec2, pos2, vec2};

const SIZE: Size = Size { width: 980, height: 720 };

/// A screen of 1280 × 720 points without a window, which events are given to.
struct Screen {
    context: egui::Context,
    state: State,
    status: Option<Status>,
    most_patches: Option<u32>,
    time: f64,
    view: Rect,
    asked: Asked,
}

impl Screen {
    fn new() -> Self {
        let screen = Self {
            context: egui::Context::default(),
            state: state(),
            status: None,
            most_patches: Some(4),
            time: 0.0,
            view: Rect::NOTHING,
            asked: Asked::default(),
        };
        // The first frame lays out; only from the second on is it known what lies where.
        let mut screen = screen;
        screen.frame(Vec::new());
        screen.frame(Vec::new());
        screen
    }

    /// A frame with these events; gives what is drawn.
    fn frame(&mut self, events: Vec<Event>) -> Vec<egui::epaint::ClippedShape> {
        self.time += 1.0 / 60.0;
        let input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0))),
            time: Some(self.time),
            events,
            ..egui::RawInput::default()
        };
        let Self { context, state, status, most_patches, view, asked, .. } = self;
        let mut output = context.run_ui(input, |ui| {
            let shown = Shown {
                scene: "teapot",
                adapter: "none",
                status: status.as_ref(),
                most_patches: *most_patches,
                resolved: None,
                statistics: None,
                workspace_bytes: 0,
                grown: 0,
                times: Err("no time stamps"),
                frame_milliseconds: None,
            };
            (*view, *asked) = show(ui, state, &shown, SIZE);
        });
        let shapes = std::mem::take(&mut output.shapes);
        output.drop_without_applying_deltas();
        shapes
    }

    fn button(at: Pos2, button: PointerButton, pressed: bool, shift: bool) -> Event {
        let modifiers = if shift { egui::Modifiers::SHIFT } else { egui::Modifiers::NONE };
        Event::PointerButton { pos: at, button, pressed, modifiers }
    }

    fn drag(&mut self, from: Pos2, by: Vec2, with: PointerButton) {
        self.frame(vec![Event::PointerMoved(from), Self::button(from, with, true, false)]);
        // In steps, as a hand does it.
        for step in 1..=4 {
            self.frame(vec![Event::PointerMoved(from + by * (step as f32 / 4.0))]);
        }
        self.frame(vec![Self::button(from + by, with, false, false)]);
        self.frame(Vec::new());
    }

    fn key(&mut self, key: Key) {
        let event =
            |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: egui::Modifiers::NONE };
        self.frame(vec![event(true)]);
        self.frame(vec![event(false)]);
    }

    /// Where a text is drawn.
    fn find(&mut self, text: &str) -> Rect {
        let shapes = self.frame(Vec::new());
        let found = shapes.iter().find_map(|clipped| match &clipped.shape {
            egui::Shape::Text(shape) if shape.galley.text() == text => Some(shape.visual_bounding_rect()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("'{text}' is not on the screen"))
    }

    fn click(&mut self, at: Pos2) {
        self.frame(vec![Event::PointerMoved(at), Self::button(at, PointerButton::Primary, true, false)]);
        self.frame(vec![Self::button(at, PointerButton::Primary, false, false)]);
        self.frame(Vec::new());
    }

    fn eye(&self) -> glam::Vec3 {
        self.state.orbit.camera(SIZE).eye
    }
}

#[test]
fn dragging_turns_over_the_view_and_not_over_the_panel() {
    let mut screen = Screen::new();
    assert!(screen.view.left() >= 310.0 && screen.view.right() == 1280.0, "{:?}", screen.view);
    let before = screen.eye();
    screen.drag(pos2(150.0, 700.0), vec2(60.0, -5.0), PointerButton::Primary);
    assert_eq!(screen.eye(), before);
    screen.drag(pos2(800.0, 300.0), vec2(60.0, 20.0), PointerButton::Primary);
    assert_ne!(screen.eye(), before);
    let length = |eye: glam::Vec3| (eye.length() * 1e3).round();
    assert_eq!(length(screen.eye()), length(before), "it turns round what it looks at");
    // The other button shifts what is looked at.
    screen.drag(pos2(800.0, 300.0), vec2(100.0, 0.0), PointerButton::Secondary);
    assert_ne!(length(screen.eye()), length(before));
    let middle = pos2(800.0, 300.0);
    screen.click(middle);
    screen.click(middle);
    assert_eq!(screen.eye(), before, "two clicks bring it back");
}

#[test]
fn the_wheel_goes_nearer() {
    let mut screen = Screen::new();
    let before = screen.eye().length();
    let wheel = Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: egui::Modifiers::NONE,
    };
    screen.frame(vec![Event::PointerMoved(pos2(800.0, 300.0)), wheel.clone()]);
    // egui lets a wheel's step come in over some frames.
    (0..20).for_each(|_| drop(screen.frame(Vec::new())));
    let nearer = screen.eye().length();
    assert!(nearer < before * 0.95, "{before} {nearer}");
    screen.frame(vec![Event::PointerMoved(pos2(100.0, 700.0)), wheel]);
    (0..20).for_each(|_| drop(screen.frame(Vec::new())));
    assert_eq!(screen.eye().length(), nearer, "over the panel it scrolls");
}

#[test]
fn keys_set_what_they_say() {
    let mut screen = Screen::new();
    screen.key(Key::Num3);
    screen.key(Key::W);
    screen.key(Key::M);
    let settings = &screen.state.settings;
    assert_eq!((settings.shading, settings.wireframe, settings.mode), (Shading::Modes, true, Mode::Offchip));
    let before = screen.eye();
    screen.key(Key::ArrowLeft);
    assert_ne!(screen.eye(), before);
    screen.key(Key::R);
    assert_eq!(screen.eye(), before);
    screen.key(Key::Plus);
    assert!(screen.eye().length() < before.length());
    screen.key(Key::Space);
    assert!(screen.state.is_lod_paused());
    assert!(!screen.asked.quit);
    screen.frame(vec![Event::Key {
        key: Key::Q,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    }]);
    assert!(screen.asked.quit);
}

#[test]
fn a_slider_is_dragged_and_takes_the_keys_until_the_view_is_clicked() {
    let mut screen = Screen::new();
    let label = screen.find("segment, pixels");
    // The slider's handle lies left of the number and the text.
    let before = screen.state.settings.segment_pixels;
    let at = pos2(60.0, label.center().y);
    screen.drag(at, vec2(30.0, 0.0), PointerButton::Primary);
    let dragged = screen.state.settings.segment_pixels;
    assert_ne!(dragged, before);
    screen.click(pos2(800.0, 300.0));
    let eye = screen.eye();
    screen.key(Key::ArrowRight);
    assert_ne!(screen.eye(), eye);
    assert_eq!(screen.state.settings.segment_pixels, dragged);
}

#[test]
fn clicking_chooses_modes_and_sliding_gives_a_parameter() {
    let mut screen = Screen::new();
    let at = screen.find("dynamic").center();
    screen.click(at);
    assert_eq!(screen.state.settings.mode, Mode::Dynamic);
    let label = screen.find("wave threshold");
    screen.drag(pos2(100.0, label.center().y), vec2(20.0, 0.0), PointerButton::Primary);
    let given = screen.state.settings.parameters.ds_wave_threshold.expect("sliding gives it");
    assert!(given <= 15);
    assert_eq!(screen.state.settings.parameters.patches_per_threadgroup, None);
    // The box beside it takes it back.
    screen.click(pos2(18.0, label.center().y));
    assert_eq!(screen.state.settings.parameters.ds_wave_threshold, None);
}

#[test]
fn a_whole_number_is_dragged_and_stays_whole() {
    let mut screen = Screen::new();
    let number = |name: &str, value| Number { name: name.to_owned(), value, is_whole: true, is_constant: false };
    screen.state.settings.numbers = vec![number("settings.factor", 5.0), number("large", 4000.0)];
    screen.frame(Vec::new());
    for (name, least) in [("settings.factor", 2.0), ("large", 400.0)] {
        let at = screen.find(name);
        screen.drag(pos2(at.left() - 20.0, at.center().y), vec2(40.0, 0.0), PointerButton::Primary);
        let index = usize::from(name == "large");
        let before = [5.0, 4000.0][index];
        let value = screen.state.settings.numbers[index].value;
        assert!(value >= before + least && value.fract() == 0.0, "{name} {value}");
    }
}

#[test]
fn thresholds_are_the_dynamic_modes_alone() {
    let mut screen = Screen::new();
    let label = screen.find("wave threshold");
    screen.drag(pos2(100.0, label.center().y), vec2(20.0, 0.0), PointerButton::Primary);
    assert_eq!(screen.state.settings.parameters.ds_wave_threshold, None);
}

#[test]
fn what_is_given_stays_though_no_slider_reaches_it() {
    let mut screen = Screen::new();
    screen.most_patches = None;
    let given = patchwave::hardware::TessellationParameters {
        patches_per_threadgroup: Some(7),
        tessellation_factor_threshold: Some(1000.0),
        ds_wave_threshold: Some(16),
    };
    (screen.state.settings.parameters, screen.state.settings.segment_pixels) = (given, 500.0);
    screen.frame(Vec::new());
    screen.most_patches = Some(2);
    screen.frame(Vec::new());
    assert_eq!((screen.state.settings.parameters, screen.state.settings.segment_pixels), (given, 500.0));
}

#[test]
fn what_is_under_way_is_said_with_and_without_the_panel() {
    let mut screen = Screen::new();
    screen.status = Some(Status::busy("compiling …"));
    assert!(screen.find("compiling …").left() < 300.0);
    screen.key(Key::H);
    assert!(!screen.state.panel);
    screen.frame(Vec::new());
    assert_eq!(screen.view.left(), 0.0);
    assert!(screen.find("compiling …").left() < 300.0);
}

#[test]
fn numbers_are_read_in_threes() {
    assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
}
