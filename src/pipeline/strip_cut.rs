//! The passes that find where patches begin in an index buffer with strip-cut indices; only pipelines that ask for it have
//! them, and only their indexed draws run them.

use super::device::guarded;
use super::encode::fold;
use super::tessellation::{KernelCompiler, params_entry, storage_entry};
use crate::Error;

/// The index buffer's binding in group 3 of these passes.
pub(crate) const STRIP_CUT_INDEX_BINDING: u32 = 2;

/// Indices that a workgroup takes (`PW_CUT_BLOCK`).
const BLOCK: u32 = 4096;

/// The compiled passes.
#[derive(Debug)]
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

    /// Encodes the passes over `indices` indices, at least one.
    pub(crate) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, commands: &StripCutCommands) {
        let blocks = commands.indices.div_ceil(BLOCK);
        pass.set_bind_group(3, &commands.group, &[commands.params]);
        for (pipeline, workgroups) in self.passes.iter().zip([blocks, 1, blocks]) {
            let [x, y] = fold(workgroups);
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(x, y, 1);
        }
    }
}

/// What the passes of one draw are dispatched with.
pub(crate) struct StripCutCommands {
    pub(crate) group: wgpu::BindGroup,
    /// Dynamic offset of the draw's parameters.
    pub(crate) params: u32,
    /// Indices of the draw.
    pub(crate) indices: u32,
}
