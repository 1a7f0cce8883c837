//! The passes that find where patches begin in an index buffer with strip-cut indices; only pipelines that ask for it have
//! them, and only their indexed draws run them.

use super::bind_groups::BindGroupKind;
use super::creation::{KernelCompiler, params_entry, storage_entry};
use super::device::guarded;
use super::draw::IndexBuffer;
use super::encode::fold;
use super::tessellation::TessellationPipeline;
use super::workspace::Workspace;
use crate::Error;

/// The index buffer's binding in group 3 of these passes.
pub(crate) const STRIP_CUT_INDEX_BINDING: u32 = 2;

/// Indices that a workgroup takes (`PW_CUT_BLOCK`).
pub(super) const BLOCK: u32 = 4096;

/// The compiled passes.
#[derive(Clone, Debug)]
pub(crate) struct StripCut {
    pub(crate) layout: wgpu::BindGroupLayout,
    passes: [wgpu::ComputePipeline; 3],
}

impl StripCut {
    pub(super) fn new(compiler: &KernelCompiler<'_>, wgsl: &str) -> Result<Self, Error> {
        let entries = [params_entry(), storage_entry(1, false), storage_entry(STRIP_CUT_INDEX_BINDING, true)];
        let what = format!("{}: strip cut layout", compiler.label);
        let layout = guarded(compiler.device, &what, || {
            compiler.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("strip cut"),
                entries: &entries,
            })
        })?;
        let entry_points = ["pw_cut_blocks", "pw_cut_totals", "pw_cut_patches"];
        let passes = compiler.compile(wgsl, &entry_points, &[None, None, None, Some(&layout)], &[])?;
        let passes = passes.try_into().map_err(|_| Error::Wgpu {
            what: format!("{}: strip cut", compiler.label),
            message: "a kernel was not made".to_owned(),
        })?;
        Ok(Self { layout, passes })
    }
}

/// What the passes of one draw are dispatched with.
pub(super) struct StripCutCommands {
    group: wgpu::BindGroup,
    /// Dynamic offset of the draw's parameters.
    params: u32,
    /// Workgroups over the indices.
    blocks: u32,
}

impl TessellationPipeline {
    /// What a draw of at most `indices` indices needs, where they can be strip cuts.
    pub(super) fn strip_cut_commands(
        &self,
        workspace: &mut Workspace,
        index_buffer: Option<&IndexBuffer<'_>>,
        params: u32,
        indices: u32,
    ) -> Result<Option<StripCutCommands>, Error> {
        let (Some(index_buffer), Some(_)) = (index_buffer, &self.strip_cut) else { return Ok(None) };
        let buffers = [(STRIP_CUT_INDEX_BINDING, index_buffer.slice.buffer().clone())];
        let group = workspace.bind_group(self, BindGroupKind::StripCut, 0, &buffers)?;
        Ok(Some(StripCutCommands { group, params, blocks: indices.div_ceil(BLOCK) }))
    }

    /// Encodes the passes, where there are any.
    pub(super) fn encode_strip_cut(&self, pass: &mut wgpu::ComputePass<'_>, commands: Option<&StripCutCommands>) {
        let (Some(commands), Some(strip_cut)) = (commands, &self.strip_cut) else { return };
        pass.set_bind_group(3, &commands.group, &[commands.params]);
        for (pipeline, workgroups) in strip_cut.passes.iter().zip([commands.blocks, 1, commands.blocks]) {
            let [x, y] = fold(workgroups);
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(x, y, 1);
        }
    }
}
