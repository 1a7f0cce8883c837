//! Gathering: the shares of a draw that the nodes have tessellated, brought together on one node in patch order.

use super::error::NodeError;
use super::resource::NodeBuffer;
use super::set::{NodeDevice, NodeSet};
use super::tessellation::{NodePart, NodeTessellation};
use super::tier::ResourceUse;
use crate::Error;
use crate::pipeline::{OutputChunk, buffer, guarded, layout};
use crate::shader::{Surface, compose};
use crate::tessellator::OutputTopology;

/// A draw's output on one node, in canonical order: what [`Mesh`](crate::Mesh) has on the CPU, byte for byte.
#[derive(Clone, Debug)]
pub struct GatheredMesh {
    /// The vertices, `surface.stride` bytes each.
    pub vertices: NodeBuffer,
    /// The indices, 32 bits each: 3 a triangle, 2 a line, 1 a point.
    pub indices: NodeBuffer,
    /// How many vertices there are.
    pub vertex_count: u32,
    /// How many indices there are.
    pub index_count: u32,
    /// The layout of a vertex.
    pub surface: Surface,
    /// What the primitives are.
    pub topology: OutputTopology,
}

impl GatheredMesh {
    /// Draws everything, with a pipeline that takes the layout of
    /// [`TessellationPipeline::vertex_attributes`](crate::TessellationPipeline::vertex_attributes).
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        if self.index_count > 0 {
            pass.set_vertex_buffer(0, self.vertices.buffer().slice(..));
            pass.set_index_buffer(self.indices.buffer().slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..self.index_count, 0, 0..1);
        }
    }
}

/// The kernel that brings a chunk into canonical order.
#[derive(Debug)]
pub(super) struct GatherKernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl GatherKernel {
    pub(super) fn new(device: &wgpu::Device) -> Result<Self, Error> {
        guarded(device, "the kernel that gathers", || {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("gather"),
                source: wgpu::ShaderSource::Wgsl(compose::gather().into()),
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("gather"),
                layout: None,
                module: &module,
                entry_point: Some("gather"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let layout = pipeline.get_bind_group_layout(0);
            Self { pipeline, layout }
        })
    }
}

/// A chunk's place in the gathered mesh.
#[derive(Clone, Copy, Debug)]
struct ChunkPlace {
    first_vertex: u64,
    vertices: u64,
    first_primitive: u64,
    primitives: u64,
}

/// Where the chunks of all parts go: they follow one another.
fn chunk_places(parts: &[NodePart]) -> Vec<Vec<ChunkPlace>> {
    let mut at = [0; 2];
    let mut place = |counts: &Vec<[u32; 2]>| {
        let [vertices, primitives] = [0, 1].map(|i| counts.iter().map(|counts| u64::from(counts[i])).sum::<u64>());
        let place = ChunkPlace { first_vertex: at[0], vertices, first_primitive: at[1], primitives };
        at = [at[0] + vertices, at[1] + primitives];
        place
    };
    parts.iter().map(|part| part.chunks.iter().map(&mut place).collect()).collect()
}

/// First vertex and first primitive of each threadgroup of a chunk.
fn group_places(counts: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut at = [0u32; 2];
    counts
        .iter()
        .map(|counts| {
            let place = at;
            // A chunk's counts fit 32 bits: its buffers are bindings.
            at = [at[0].wrapping_add(counts[0]), at[1].wrapping_add(counts[1])];
            place
        })
        .collect()
}

/// Room for the largest chunk of a node, in canonical order.
struct Scratch {
    vertices: NodeBuffer,
    indices: NodeBuffer,
}

impl NodeSet {
    /// Brings a tessellation together on `node`, in patch order with vertices renumbered as read-back renumbers them. The
    /// shares of other nodes are pushed; their time is the pushes'. What is queued on the nodes is finished first.
    ///
    /// On native backends somebody has to poll the devices while this is awaited; `gather_blocking` does it itself.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`], [`NodeError::Foreign`], [`NodeError::Draws`] where vertices or indices are more than 32
    /// bits count, [`NodeError::Pipeline`] where the memory is not to be had; else as [`NodeSet::finish`].
    pub async fn gather(&mut self, tessellation: &NodeTessellation, node: u32) -> Result<GatheredMesh, NodeError> {
        self.finish().await?;
        let gathered = self.begin_gather(tessellation, node).map_err(|error| self.lost_gathering(error))?;
        self.finish().await?;
        Ok(gathered)
    }

    /// [`NodeSet::gather`], waiting for the devices.
    ///
    /// # Errors
    /// As [`NodeSet::gather`].
    #[cfg(feature = "blocking")]
    pub fn gather_blocking(&mut self, tessellation: &NodeTessellation, node: u32) -> Result<GatheredMesh, NodeError> {
        self.finish_blocking()?;
        let gathered = self.begin_gather(tessellation, node).map_err(|error| self.lost_gathering(error))?;
        self.finish_blocking()?;
        Ok(gathered)
    }

    fn lost_gathering(&self, error: NodeError) -> NodeError {
        self.or_lost(error, 0..self.node_count(), "as shares were gathered")
    }

    fn begin_gather(&mut self, tessellation: &NodeTessellation, node: u32) -> Result<GatheredMesh, NodeError> {
        self.check_tessellation(tessellation)?;
        self.check_index(node)?;
        let (stride, per_primitive) =
            (u64::from(tessellation.surface.stride), u64::from(tessellation.topology.vertices_per_primitive()));
        let counts = [tessellation.vertices(), tessellation.primitives() * per_primitive];
        let [Ok(vertex_count), Ok(index_count)] = counts.map(u32::try_from) else {
            return Err(NodeError::Draws {
                reason: format!(
                    "{} vertices and {} indices are more than 32 bits count: gather parts of the draw",
                    counts[0], counts[1]
                ),
            });
        };
        let made = |label, size: u64, usage| {
            let masks = self.heap_masks(1 << node, self.all_nodes())?;
            let size = size.max(4);
            let usage = usage | wgpu::BufferUsages::STORAGE;
            self.create_buffer(
                masks,
                &wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false },
            )
        };
        let gathered = GatheredMesh {
            vertices: made("gathered vertices", counts[0] * stride, wgpu::BufferUsages::VERTEX)?,
            indices: made("gathered indices", counts[1] * 4, wgpu::BufferUsages::INDEX)?,
            vertex_count,
            index_count,
            surface: tessellation.surface.clone(),
            topology: tessellation.topology,
        };
        let places = chunk_places(&tessellation.parts);
        let mut lists = Vec::new();
        for source in 0..self.node_count() {
            let own: Vec<_> = tessellation.parts.iter().zip(&places).filter(|(part, _)| part.node == source).collect();
            if own.is_empty() {
                continue;
            }
            let most = |of: fn(&ChunkPlace) -> u64| own.iter().flat_map(|(_, places)| places.iter()).map(of).max();
            let scratch = Scratch {
                vertices: self.scratch(source, "vertices in order", most(|p| p.vertices).unwrap_or(0) * stride)?,
                indices: self.scratch(
                    source,
                    "indices in order",
                    most(|p| p.primitives).unwrap_or(0) * per_primitive * 4,
                )?,
            };
            let mut list = self.create_command_list(1 << source)?;
            for (part, places) in own {
                self.record_part(&mut list, part, places, &scratch, &gathered)?;
            }
            lists.push(list.close()?);
        }
        for list in lists {
            self.execute(list)?;
        }
        Ok(gathered)
    }

    fn scratch(&self, node: u32, label: &str, size: u64) -> Result<NodeBuffer, NodeError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let made = buffer(self.device(node)?, label, size, usage)?;
        self.adopt_buffer(self.heap_masks(1 << node, 1 << node)?, label, &made)
    }

    /// Orders each chunk of a part and copies it to its place.
    fn record_part(
        &self,
        list: &mut super::NodeCommandList,
        part: &NodePart,
        places: &[ChunkPlace],
        scratch: &Scratch,
        gathered: &GatheredMesh,
    ) -> Result<(), NodeError> {
        let shared = &self.node(part.node)?.shared;
        let stride = u64::from(gathered.surface.stride);
        let index_stride = 4 * u64::from(gathered.topology.vertices_per_primitive());
        let mut first_group = 0u64;
        for ((chunk, counts), place) in part.tessellation.chunks().iter().zip(&part.chunks).zip(places) {
            let records =
                part.tessellation.threadgroup_records_offset / 4 + first_group * u64::from(layout::GROUP_WORDS);
            first_group += counts.len() as u64;
            if place.vertices == 0 {
                continue;
            }
            let params = [
                counts.len() as u32,
                records as u32,
                gathered.surface.stride / 4,
                gathered.topology.vertices_per_primitive(),
                // Below the count of all vertices, which fits.
                place.first_vertex as u32,
                0,
                0,
                0,
            ];
            let group =
                order_group(shared, &part.tessellation.state, chunk, (&params, &group_places(counts)), scratch)?;
            let kernel = shared.gather()?;
            let uses = [
                ((&scratch.vertices).into(), ResourceUse::UnorderedAccess),
                ((&scratch.indices).into(), ResourceUse::UnorderedAccess),
            ];
            let workgroups = counts.len() as u32;
            list.encode(&uses, |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&kernel.pipeline);
                pass.set_bind_group(0, &group, &[]);
                let rows = workgroups.div_ceil(65_535);
                pass.dispatch_workgroups(workgroups.div_ceil(rows), rows, 1);
            })?;
            let bytes = place.vertices * stride;
            list.copy_buffer_region(&gathered.vertices, place.first_vertex * stride, &scratch.vertices, 0, bytes)?;
            let (to, bytes) = (place.first_primitive * index_stride, place.primitives * index_stride);
            list.copy_buffer_region(&gathered.indices, to, &scratch.indices, 0, bytes)?;
        }
        Ok(())
    }
}

/// The bind group of one chunk's ordering.
fn order_group(
    shared: &NodeDevice,
    state: &wgpu::Buffer,
    chunk: &OutputChunk,
    (params, places): (&[u32; 8], &[[u32; 2]]),
    scratch: &Scratch,
) -> Result<wgpu::BindGroup, Error> {
    let device = &shared.device;
    let kernel = shared.gather()?;
    guarded(device, "gathering", || {
        let filled = |bytes: &[u8], usage| {
            let size = bytes.len() as u64;
            let made = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gather"),
                size,
                usage,
                mapped_at_creation: true,
            });
            if let Ok(mut view) = made.get_mapped_range_mut(..) {
                view.copy_from_slice(bytes);
            }
            made.unmap();
            made
        };
        let params = filled(bytemuck::bytes_of(params), wgpu::BufferUsages::UNIFORM);
        let places = filled(bytemuck::cast_slice(places), wgpu::BufferUsages::STORAGE);
        let (vertices, indices) = (scratch.vertices.buffer(), scratch.indices.buffer());
        let buffers = [&params, state, &places, &chunk.vertices, &chunk.indices, vertices, indices];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gather"),
            layout: &kernel.layout,
            entries: &entries,
        })
    })
}
