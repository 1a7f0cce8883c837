//! A workspace that grows by itself: for meshes whose size changes from frame to frame.

use std::sync::{Arc, Mutex, PoisonError};

use super::draw::Draw;
use super::output::Tessellation;
use super::report::{DrawReport, Shortage};
use super::tessellation::TessellationPipeline;
use super::workspace::{ChunkCapacity, Workspace, WorkspaceDescriptor};
use crate::Error;

impl WorkspaceDescriptor {
    /// What a workspace has to be made from for the draw of `report` to fit, with a quarter more room so that a mesh that
    /// grows slowly does not ask for a new one each frame. `None` where that draw fitted.
    ///
    /// The report counts the output of all chunks together, so all of them grow by the same ratio.
    #[must_use]
    pub fn grown(&self, report: &DrawReport) -> Option<Self> {
        let Shortage { what, needed, .. } = report.shortage?;
        let mut grown = self.clone();
        match what {
            "patches of an indirect draw" => grown.patches = grown.patches.max(roomy(needed)),
            "threadgroups of an indirect draw" => {
                grown.threadgroups = grown.threadgroups.max(roomy(needed));
                if let Some(last) = grown.chunks.last_mut() {
                    last.threadgroups.end = last.threadgroups.end.max(grown.threadgroups);
                }
            }
            "off-chip threadgroups" => {}
            // Output, or the lists of work items, which have the room that the output's follows from.
            _ => {
                let room =
                    |counted: fn(&ChunkCapacity) -> u32| self.chunks.iter().map(move |chunk| u64::from(counted(chunk)));
                let ratio = |needed: u64, room: u64| (needed as f64 / room.max(1) as f64).max(1.0) * MORE;
                let vertices = ratio(report.vertices, room(|chunk| chunk.vertices).sum());
                let primitives = ratio(report.primitives, room(|chunk| chunk.primitives).sum());
                for chunk in &mut grown.chunks {
                    // Saturates, and more than there can be is an error of `Workspace::new`.
                    chunk.vertices = (f64::from(chunk.vertices.max(1)) * vertices).ceil() as u32;
                    chunk.primitives = (f64::from(chunk.primitives.max(1)) * primitives).ceil() as u32;
                }
            }
        }
        if report.off_chip_threadgroups > u64::from(grown.off_chip_threadgroups) {
            grown.off_chip_threadgroups = roomy(report.off_chip_threadgroups);
        }
        Some(grown)
    }
}

/// How much more room a workspace gets than the draw took that did not fit.
const MORE: f64 = 1.25;

fn roomy(count: u64) -> u32 {
    (count as f64 * MORE).ceil() as u32
}

/// A [`Workspace`] for one draw a frame that is made anew, larger, where a report of an earlier frame says that its draw did
/// not fit.
///
/// Nothing is waited for: a draw that does not fit draws nothing in its frame (guarantee 5), its report arrives with the
/// caller's own submissions or polls, and the frame after that has the room. Buffers are never made smaller.
#[derive(Debug)]
pub struct GrowingWorkspace {
    workspace: Workspace,
    /// The latest report that has arrived and was not yet acted on.
    arrived: Arc<Mutex<Option<Arrived>>>,
    last_report: Option<DrawReport>,
    times_grown: u32,
}

/// A report, and how often the workspace had grown when it was asked for.
#[derive(Debug)]
struct Arrived {
    times_grown: u32,
    report: Result<DrawReport, Error>,
}

impl GrowingWorkspace {
    /// Begins with a workspace made from `descriptor`.
    ///
    /// # Errors
    /// Those of [`Workspace::new`].
    pub fn new(
        device: &wgpu::Device,
        pipeline: &TessellationPipeline,
        descriptor: WorkspaceDescriptor,
    ) -> Result<Self, Error> {
        let workspace = Workspace::new(device, pipeline, descriptor)?;
        Ok(Self { workspace, arrived: Arc::default(), last_report: None, times_grown: 0 })
    }

    /// Resets the workspace, makes it larger if an earlier report asks for it, encodes `draw` and asks for its report.
    /// Results of earlier frames' draws are overwritten.
    ///
    /// # Errors
    /// Those of [`TessellationPipeline::encode`], of [`Workspace::new`] where the larger workspace cannot be made (the
    /// smaller one stays), and of the read-back of an earlier report.
    pub fn encode(
        &mut self,
        pipeline: &TessellationPipeline,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        draw: &Draw<'_>,
    ) -> Result<Tessellation, Error> {
        let arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Arrived { times_grown, report }) = arrived {
            let report = report?;
            self.last_report = Some(report);
            // A report from before the workspace last grew says nothing of the one that is there now.
            if times_grown == self.times_grown
                && let Some(grown) = self.workspace.descriptor().grown(&report)
            {
                self.workspace = Workspace::new(device, pipeline, grown)?;
                self.times_grown += 1;
            }
        }
        self.workspace.reset();
        let tessellation = pipeline.encode(queue, encoder, &mut self.workspace, draw)?;
        let (arrived, times_grown) = (Arc::clone(&self.arrived), self.times_grown);
        self.workspace.request_report(encoder, &tessellation, move |report| {
            *arrived.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arrived { times_grown, report });
        })?;
        Ok(tessellation)
    }

    /// The workspace of the latest draw.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The same, for more reports and stream output. Encode draws only with [`GrowingWorkspace::encode`].
    pub fn workspace_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }

    /// The latest report that has arrived; some frames old.
    #[must_use]
    pub fn last_report(&self) -> Option<&DrawReport> {
        self.last_report.as_ref()
    }

    /// How often the workspace was made anew.
    #[must_use]
    pub fn times_grown(&self) -> u32 {
        self.times_grown
    }
}
