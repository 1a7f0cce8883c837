//! Reports: what the GPU counted for a draw, from a ring of buffers mapped as the caller submits.

use std::sync::{Arc, Mutex};

use patchwave::pipeline::{DrawReport, GrowingWorkspace, Shortage};
use patchwave::{Domain, Error, OutputTopology, Workspace};

use super::model::mixed_factors;
use super::rig::Rig;
use super::table_pipeline::TablePipeline;

type Answers = Arc<Mutex<Vec<Result<DrawReport, Error>>>>;

struct Reports {
    table: TablePipeline,
    workspace: Workspace,
    answers: Answers,
    rig: Rig,
}

impl Reports {
    /// A workspace with this much room more (or less) than a draw of all patches takes.
    fn new(more: [i64; 2]) -> Self {
        let rig = Rig::new();
        let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::TriangleCw, &mixed_factors(40, 31));
        let counts = table.counts(table.patches.len() as u32);
        let room = [0, 1].map(|i| (i64::from(counts[i]) + more[i]) as u32);
        let workspace = rig.workspace(&table.pipeline, table.sizes(10_000, room));
        Self { rig, table, workspace, answers: Answers::default() }
    }

    /// Encodes a draw and asks for its report; whether it is under way.
    fn request(&mut self, encoder: &mut wgpu::CommandEncoder, patches: u32) -> bool {
        self.workspace.reset();
        let tessellation = self.table.encode(&self.rig, encoder, &mut self.workspace, patches);
        let answers = Arc::clone(&self.answers);
        self.workspace
            .request_report(encoder, &tessellation, move |answer| answers.lock().expect("no panic").push(answer))
            .expect("the ring's buffers can be made")
    }

    fn request_and_submit(&mut self, patches: u32) -> bool {
        let mut encoder = self.rig.encoder();
        let requested = self.request(&mut encoder, patches);
        self.rig.queue.submit([encoder.finish()]);
        requested
    }

    fn take(&self) -> Vec<Result<DrawReport, Error>> {
        std::mem::take(&mut *self.answers.lock().expect("no panic"))
    }
}

#[test]
fn a_report_counts_what_came_out() {
    let mut reports = Reports::new([0, 0]);
    let patches = reports.table.patches.len() as u32;
    assert!(reports.request_and_submit(patches));
    reports.rig.poll();
    let [vertices, primitives] = reports.table.counts(patches).map(u64::from);
    let answers = reports.take();
    assert_eq!(answers.len(), 1);
    let report = *answers[0].as_ref().expect("a report");
    assert_eq!((report.vertices, report.primitives, report.shortage), (vertices, primitives, None));
    assert!(report.off_chip_threadgroups > 0 && report.fits().is_ok());
}

#[test]
fn a_report_says_exactly_what_is_missing() {
    for (more, what) in [([-1, 0], "vertices"), ([0, -1], "primitives")] {
        let mut reports = Reports::new(more);
        let patches = reports.table.patches.len() as u32;
        assert!(reports.request_and_submit(patches));
        // A draw that fits has a report without a shortage, after one that had one.
        assert!(reports.request_and_submit(200));
        reports.rig.poll();
        let answers: Vec<DrawReport> = reports.take().into_iter().map(|answer| answer.expect("a report")).collect();
        assert_eq!(answers.len(), 2);
        let counts = reports.table.counts(patches).map(u64::from);
        let needed = if what == "vertices" { counts[0] } else { counts[1] };
        assert_eq!(answers[0].shortage, Some(Shortage { what, needed, available: needed - 1 }));
        assert_eq!([answers[0].vertices, answers[0].primitives], counts);
        assert!(
            matches!(answers[0].fits(), Err(Error::WorkspaceTooSmall { needed: n, .. }) if n == needed),
            "the same as an error"
        );
        assert_eq!(answers[1].shortage, None);
        assert_eq!([answers[1].vertices, answers[1].primitives], reports.table.counts(200).map(u64::from));
    }
}

#[test]
fn a_full_ring_skips_and_says_so() {
    let mut reports = Reports::new([0, 0]);
    // None of them can be through before the encoder is submitted; there is a ring of a handful, not one for each.
    let mut encoder = reports.rig.encoder();
    let tessellation = reports.table.encode(&reports.rig, &mut encoder, &mut reports.workspace, 200);
    let requested: Vec<bool> = (0..40)
        .map(|_| {
            let answers = Arc::clone(&reports.answers);
            let callback = move |answer| answers.lock().expect("no panic").push(answer);
            reports.workspace.request_report(&mut encoder, &tessellation, callback).expect("the ring can be made")
        })
        .collect();
    let under_way = requested.iter().filter(|requested| **requested).count();
    assert!((1..40).contains(&under_way), "{under_way} under way");
    assert!(requested[..under_way].iter().all(|requested| *requested), "the first ones are taken");
    assert_eq!(reports.take().len(), 0, "no callback before the submission");
    reports.rig.queue.submit([encoder.finish()]);
    reports.rig.poll();
    let answers = reports.take();
    assert_eq!(answers.len(), under_way, "a skipped report has no callback");
    let counts = reports.table.counts(200).map(u64::from);
    for answer in answers {
        let report = answer.expect("a report");
        assert_eq!([report.vertices, report.primitives], counts);
    }
    // The entries are free again.
    assert!(reports.request_and_submit(200));
    reports.rig.poll();
    assert_eq!(reports.take().len(), 1);
}

#[test]
fn an_encoder_that_is_dropped_frees_its_entry() {
    let mut reports = Reports::new([0, 0]);
    for round in 0..40 {
        let mut encoder = reports.rig.encoder();
        assert!(reports.request(&mut encoder, 200), "round {round}");
        if round % 2 == 0 {
            drop(encoder.finish());
        }
    }
    // Not one of them was submitted, so at the most they were told that there is no report.
    assert!(reports.take().iter().all(Result::is_err));
    assert!(reports.request_and_submit(200));
    reports.rig.poll();
    let last = reports.take().pop().expect("an answer").expect("a report");
    assert_eq!([last.vertices, last.primitives], reports.table.counts(200).map(u64::from));
}

#[test]
fn nothing_drawn_is_reported_as_nothing() {
    let mut reports = Reports::new([0, 0]);
    assert!(reports.request_and_submit(0));
    reports.rig.poll();
    let answers = reports.take();
    assert_eq!(answers.len(), 1);
    assert_eq!(*answers[0].as_ref().expect("a report"), DrawReport::default());
}

#[test]
fn a_growing_workspace_comes_to_hold_whatever_is_drawn() {
    let rig = Rig::new();
    let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::TriangleCw, &mixed_factors(40, 31));
    let all = table.patches.len() as u32;
    let sizes = table.sizes(10_000, [1, 1]);
    let mut workspace = GrowingWorkspace::new(&rig.device, &table.pipeline, sizes).expect("a workspace of one vertex");
    // More, then less, then all: buffers grow when they must and never shrink.
    let mut grown = Vec::new();
    let some = 150; // the first 130 are culled
    for patches in [some, some, some, some - 10, some - 10, all, all, all] {
        let mut encoder = rig.encoder();
        let tessellation = table
            .with_draw(patches, |draw| workspace.encode(&table.pipeline, &rig.device, &rig.queue, &mut encoder, draw))
            .expect("nothing to refuse");
        rig.queue.submit([encoder.finish()]);
        rig.poll();
        grown.push(workspace.times_grown());
        drop(tessellation);
    }
    assert_eq!(grown, [0, 1, 1, 1, 1, 1, 2, 2]);
    let report = *workspace.last_report().expect("reports have arrived");
    let [vertices, primitives] = table.counts(all).map(u64::from);
    assert_eq!((report.vertices, report.primitives, report.shortage), (vertices, primitives, None));
    assert!(workspace.workspace().descriptor().chunks[0].vertices as u64 >= vertices);
}

#[test]
fn a_report_that_was_asked_for_before_the_workspace_grew_does_not_make_it_grow_again() {
    let rig = Rig::new();
    let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::TriangleCw, &mixed_factors(40, 31));
    let all = table.patches.len() as u32;
    let mut workspace =
        GrowingWorkspace::new(&rig.device, &table.pipeline, table.sizes(10_000, [1, 1])).expect("a workspace");
    let mut frame = |wait: bool| {
        let mut encoder = rig.encoder();
        table
            .with_draw(all, |draw| workspace.encode(&table.pipeline, &rig.device, &rig.queue, &mut encoder, draw))
            .expect("nothing to refuse");
        rig.queue.submit([encoder.finish()]);
        if wait {
            rig.poll();
        }
        workspace.times_grown()
    };
    frame(false);
    frame(true);
    assert_eq!([frame(false), frame(true), frame(true)], [1, 1, 1]);
}
