//! The bind groups of the passes, made on first use and kept, and the caller's tried before they are encoded.

use super::device::guarded;
use super::layout::{PARAMS_STRIDE, Params};
use super::tessellation::TessellationPipeline;
use super::workspace::Workspace;
use crate::Error;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BindGroupKey {
    pipeline: u64,
    chunk: usize,
    kind: BindGroupKind,
    /// The buffers of the draw, with their bindings.
    buffers: Vec<(u32, wgpu::Buffer)>,
}

/// A pipeline, the caller's bind groups and ours.
pub(super) type TriedGroups = (u64, [Option<wgpu::BindGroup>; 3], wgpu::BindGroup);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BindGroupKind {
    Threadgroup,
    Allocate,
    Connectivity,
    /// Allocate and connectivity in one.
    Finish,
    StripCut,
    /// Stream output of one chunk.
    Stream,
    /// Set-up of this many records of an indirect draw.
    Indirect {
        records: u32,
    },
}

impl Workspace {
    /// The bind group of a pass, made on first use of these buffers.
    pub(crate) fn bind_group(
        &mut self,
        pipeline: &TessellationPipeline,
        kind: BindGroupKind,
        chunk: usize,
        buffers: &[(u32, wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup, Error> {
        let key = BindGroupKey { pipeline: pipeline.id, chunk, kind, buffers: buffers.to_vec() };
        if let Some(group) = self.bind_groups.get(&key) {
            return Ok(group.clone());
        }
        // Callers that make new vertex buffers each frame must not have them kept alive for ever.
        if self.bind_groups.len() >= 4096 {
            self.bind_groups.clear();
        }
        let Some(output) = self.chunks.get(chunk) else {
            return Err(Error::WorkspaceMismatch { reason: format!("it has no output chunk {chunk}") });
        };
        let params = match kind {
            BindGroupKind::Indirect { records } => u64::from(records) * 2 * PARAMS_STRIDE,
            _ => size_of::<Params>() as u64,
        };
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.params,
                offset: 0,
                size: wgpu::BufferSize::new(params),
            }),
        }];
        let mut bind = |binding: u32, buffer| entries.push(whole(binding, buffer));
        bind(1, if kind == BindGroupKind::Stream { &self.arguments } else { &self.state });
        buffers.iter().for_each(|(binding, buffer)| bind(*binding, buffer));
        let layout = match kind {
            BindGroupKind::Threadgroup => {
                bind(2, &self.off_chip);
                bind(3, &output.vertices);
                &pipeline.threadgroup_layout
            }
            BindGroupKind::Allocate => {
                bind(2, &self.arguments);
                &pipeline.allocate_layout
            }
            BindGroupKind::Connectivity => {
                bind(2, &output.indices);
                &pipeline.connectivity_layout
            }
            BindGroupKind::Finish => {
                bind(2, &self.arguments);
                bind(3, &output.indices);
                &pipeline.finish_layout
            }
            BindGroupKind::StripCut => {
                let Some(strip_cut) = &pipeline.strip_cut else {
                    let reason = "the pipeline has no strip cuts".to_owned();
                    return Err(Error::WorkspaceMismatch { reason });
                };
                &strip_cut.layout
            }
            BindGroupKind::Stream => {
                bind(2, &output.vertices);
                bind(3, &output.indices);
                &pipeline.stream_layout
            }
            BindGroupKind::Indirect { .. } => {
                bind(2, &self.arguments);
                &pipeline.indirect_layout
            }
        };
        let group = guarded(&self.device, "bind group", || {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("patchwave"),
                layout,
                entries: &entries,
            })
        })?;
        self.objects_created += 1;
        self.bind_groups.insert(key, group.clone());
        Ok(group)
    }
}

impl Workspace {
    /// Tries the caller's bind groups of a draw together with ours in an encoder that is thrown away: a group of another
    /// layout or device, one that is missing, or a buffer that the passes write and the shader reads would otherwise
    /// come up only as the caller's own encoder is finished. Each combination is tried once.
    pub(crate) fn try_bind_groups(
        &mut self,
        pipeline: &TessellationPipeline,
        user: [Option<&wgpu::BindGroup>; 3],
        own: &wgpu::BindGroup,
    ) -> Result<(), Error> {
        let key = (pipeline.id, user.map(|group| group.cloned()), own.clone());
        if self.tried.contains(&key) {
            return Ok(());
        }
        // As with the bind groups of ours, what the caller has dropped must not be kept alive for ever.
        if self.tried.len() >= 256 {
            self.tried.clear();
        }
        guarded(&self.device, "the draw's bind groups", || {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline.threadgroup);
            for (i, group) in (0..).zip(user) {
                if let Some(group) = group {
                    pass.set_bind_group(i, group, &[]);
                }
            }
            pass.set_bind_group(3, own, &[0]);
            pass.dispatch_workgroups(0, 0, 0);
            drop(pass);
            encoder.finish();
        })?;
        self.tried.insert(key);
        Ok(())
    }
}

fn whole(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
}
