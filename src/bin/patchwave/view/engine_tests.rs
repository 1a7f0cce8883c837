use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use clap::Parser;

use super::super::state::{Settings, Shading};
use super::*;
use crate::adapter::AdapterChoice;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const SIZE: Size = Size { width: 96, height: 64 };

/// The choice of an adapter by the environment.
#[derive(Parser)]
struct Choice {
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// An engine whose frames go to a texture.
struct Rig<'a> {
    engine: Engine<'a>,
    state: State,
    woken: Receiver<()>,
}

impl<'a> Rig<'a> {
    /// `None`, saying why, where no adapter serves.
    fn new(source: &'a Source) -> Option<Self> {
        let opened = Choice::parse_from(["test"]).adapter.choose().and_then(|chosen| Gpu::open(&chosen));
        let gpu = match opened {
            Ok(gpu) => gpu,
            Err(error) => {
                eprintln!("skipped: {error:#}");
                return None;
            }
        };
        let (factors, factor) = source.factors();
        let given = source.given();
        let settings = Settings {
            factors,
            factor,
            partitioning: given.partitioning,
            mode: given.mode,
            numbers: source.numbers(),
            ..super::super::state::tests::state().settings
        };
        let state = State::new(settings, source.orbit(), true);
        let (sender, woken) = channel();
        // A test that has ended wants nothing any more.
        let wake: Wake = Arc::new(move || {
            let _ = sender.send(());
        });
        let engine = Engine::new(gpu, source, &state, FORMAT, wake).expect("the scene can be opened");
        Some(Self { engine, state, woken })
    }

    fn frame(&mut self) {
        let engine = &mut self.engine;
        engine.take_news();
        let device = engine.gpu.device.clone();
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: SIZE.extent(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let canvas = Canvas { view: &view, size: SIZE, part: [0, 0, SIZE.width, SIZE.height] };
        engine.encode(&mut encoder, &canvas, &self.state).expect("the frame can be encoded");
        engine.gpu.queue.submit([encoder.finish()]);
        engine.gpu.wait().expect("the device goes on");
    }

    /// Frames until what is set is shown; gives how many.
    fn settle(&mut self) -> u32 {
        for frame in 1..=200 {
            self.frame();
            if self.engine.is_settled() {
                return frame;
            }
            if self.engine.compiler.is_running() && !self.engine.is_waiting() {
                self.woken.recv_timeout(Duration::from_secs(300)).expect("the compiler comes to an end");
            }
        }
        panic!("not settled: {:?}", self.engine.status());
    }

    fn statistics(&self) -> &Statistics {
        self.engine.statistics().expect("they were read back")
    }
}

#[test]
fn statistics_follow_what_is_set() {
    let source = Source::new("grid", Some(64)).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    assert_eq!((rig.statistics().ia_primitives, rig.statistics().ds_invocations), (64, 64 * 81));
    assert_eq!(rig.statistics().off_chip_threadgroups, 0);
    rig.state.settings.mode = Mode::Offchip;
    rig.settle();
    let all = rig.statistics();
    assert!(all.off_chip_threadgroups > 0 && all.off_chip_threadgroups == all.threadgroups);
    rig.state.settings.parameters.patches_per_threadgroup = Some(1);
    rig.state.settings.factor = 3.0;
    rig.settle();
    assert_eq!((rig.statistics().threadgroups, rig.statistics().ds_invocations), (64, 64 * 16));
    // Compiled anew, on a thread; until then the frames are those of before.
    rig.state.settings.partitioning = patchwave::tessellator::Partitioning::FractionalOdd;
    rig.state.settings.factor = 4.0;
    rig.frame();
    assert!(!rig.engine.is_settled());
    assert_eq!(rig.engine.status(), Some(&Status::busy("compiling …")));
    rig.settle();
    assert_eq!(rig.statistics().ds_invocations, 64 * 36);
    assert_eq!(rig.engine.status(), None);
}

#[test]
fn nothing_is_made_or_read_back_while_nothing_changes() {
    let source = Source::new("teapot", None).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.state.settings.shading = Shading::Modes;
    rig.settle();
    let objects = |rig: &Rig<'_>| rig.engine.keeper.memory.as_ref().map(|memory| memory.workspace.objects_created());
    let (before, version) = (objects(&rig), rig.engine.version);
    for _ in 0..5 {
        rig.frame();
        assert!(rig.engine.is_settled());
    }
    assert_eq!((objects(&rig), rig.engine.version, rig.engine.keeper.made), (before, version, 1));
    assert!(rig.engine.reports.question().is_none() && rig.engine.statistics.question().is_none());
    // Looking at it differently is no change either.
    rig.state.settings.wireframe = true;
    rig.frame();
    assert_eq!(rig.engine.version, version);
}

#[test]
fn passes_are_timed_where_there_are_stamps() {
    let source = Source::new("grid", Some(256)).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    match Stamps::whether_believed_or_not(&rig.engine.gpu, 1) {
        Ok(stamps) => rig.engine.stamps = Ok(stamps),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return;
        }
    }
    rig.settle();
    // Each frame moves the figures a tenth of the way to its own.
    let times = |rig: &Rig<'_>| rig.engine.times().expect("there are stamps").rows().map(|(_, time)| time);
    let first = times(&rig);
    (0..5).for_each(|_| rig.frame());
    let last = times(&rig);
    assert_ne!(first, last);
    assert!(last.iter().all(|time| time.is_finite() && *time >= 0.0), "{last:?}");
    assert!(last[4] > 0.0 || last[5] > 0.0, "{last:?}");
}

#[test]
fn a_paused_lod_keeps_the_tessellation_while_the_view_turns() {
    let source = Source::new("teapot", None).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    let before = rig.statistics().ds_invocations;
    rig.state.pause_lod(true, SIZE);
    rig.state.orbit.zoom(3.0);
    rig.settle();
    assert_eq!(rig.statistics().ds_invocations, before);
    rig.state.pause_lod(false, SIZE);
    rig.settle();
    assert!(rig.statistics().ds_invocations > before);
}

#[test]
fn the_room_grows_with_what_frames_need() {
    let source = Source::new("grid", Some(1024)).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    // 1,024 patches of 81 vertices do not fit at first: the room grew before the frame was settled.
    assert_eq!(rig.engine.grown(), 1);
    assert!(rig.engine.status().is_some_and(|status| status.text.contains("has grown") && !status.is_error));
    rig.state.settings.factor = 9.0;
    rig.settle();
    // 102,400 vertices fit half as much again as 82,944.
    assert_eq!((rig.engine.grown(), rig.statistics().ds_invocations), (1, 102_400));
    rig.state.settings.factor = 40.0;
    rig.settle();
    assert_eq!((rig.engine.grown(), rig.statistics().ds_invocations), (2, 1024 * 41 * 41));
}

#[test]
fn a_parameter_that_cannot_be_is_said_and_the_picture_stays() {
    let source = Source::new("grid", Some(16)).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    rig.state.settings.parameters.patches_per_threadgroup = Some(1000);
    rig.settle();
    let status = rig.engine.status().expect("it is said");
    assert!(status.is_error && status.text.contains("patches_per_threadgroup is 1000"), "{status:?}");
    assert_eq!(rig.statistics().ia_primitives, 16);
    rig.state.settings.parameters.patches_per_threadgroup = Some(2);
    rig.settle();
    assert_eq!((rig.engine.status(), rig.statistics().threadgroups), (None, 8));
}

#[test]
fn a_scene_file_follows_its_numbers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/pn-mesh.toml");
    let source = Source::new(path, None).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    assert_eq!(rig.statistics().ds_invocations, 540, "as the file expects");
    let number = rig.state.settings.numbers.iter_mut().find(|number| number.name == "settings.factor");
    number.expect("it has a factor").value = 2.0;
    rig.settle();
    // 20 triangles of 3 corners, 3 edges' middles and the center.
    assert_eq!(rig.statistics().ds_invocations, 20 * 7);

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/wavy-sheet.toml");
    let source = Source::new(path, None).expect("there is such a scene");
    let Some(mut rig) = Rig::new(&source) else { return };
    rig.settle();
    let before = rig.statistics().ds_invocations;
    let number = rig.state.settings.numbers.iter_mut().find(|number| number.name == "SEGMENT_PIXELS");
    number.expect("it has a constant").value = 4.0;
    rig.settle();
    assert!(rig.statistics().ds_invocations > before, "a constant takes compiling");
}
