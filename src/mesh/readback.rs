//! Read-back: vertices and indices of a draw, in canonical order.
//!
//! On the GPU, threadgroups take their ranges of the vertex buffer in whatever order they run. Here vertices are renumbered
//! in patch order, so that the bytes are the same on every run and in every mode.

use crate::Error;
use crate::pipeline::layout::{NO_PATCH, PATCH_HEADER_WORDS, SLOT_BYTES, Slot, slots_of};
use crate::pipeline::{DrawReport, Reading, Source, Tessellation, slot_report};
use crate::shader::{Surface, SurfaceSlot};
use crate::tessellator::{Domain, OutputTopology};

/// A patch of a [`Mesh`]. Equality is that of the bits, so that a patch culled by a NaN equals itself.
#[derive(Clone, Debug)]
pub struct MeshPatch {
    /// First vertex of the patch.
    pub first_vertex: u32,
    /// Its vertices; 0 where it is culled.
    pub vertices: u32,
    /// First primitive of the patch.
    pub first_primitive: u32,
    /// Its primitives.
    pub primitives: u32,
    /// Its factors as the shader gave them, those above the pipeline's `maximum_factor` as that one; edges before inside.
    pub factors: Vec<f32>,
}

impl PartialEq for MeshPatch {
    fn eq(&self, other: &Self) -> bool {
        let place = |patch: &Self| [patch.first_vertex, patch.vertices, patch.first_primitive, patch.primitives];
        let bits = |patch: &Self| patch.factors.iter().map(|factor| factor.to_bits()).collect::<Vec<_>>();
        place(self) == place(other) && bits(self) == bits(other)
    }
}

impl Eq for MeshPatch {}

/// A tessellated mesh on the CPU, in canonical order: patch by patch, points and primitives in the tessellator's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// The vertices, [`Surface::stride`] bytes each, padding as the GPU left it cleared to zero.
    pub vertices: Vec<u8>,
    /// Vertex numbers: 3 a triangle, 2 a line, 1 a point.
    pub indices: Vec<u32>,
    /// The patches of the draw, over all instances.
    pub patches: Vec<MeshPatch>,
    /// The layout of a vertex.
    pub surface: Surface,
    /// What the primitives are.
    pub topology: OutputTopology,
}

impl Mesh {
    /// Reads the result of a draw that has been submitted.
    ///
    /// On native backends somebody has to poll the device while this is awaited; `read_blocking` does it itself.
    ///
    /// # Errors
    /// [`Error::WorkspaceTooSmall`] where the draw did not fit, [`Error::ResultOverwritten`] where another has taken its
    /// place, [`Error::ReadBack`] where the device is lost.
    pub async fn read(device: &wgpu::Device, queue: &wgpu::Queue, tessellation: &Tessellation) -> Result<Self, Error> {
        let records = Records::submit(device, queue, tessellation)?.bytes().await?;
        let records = Records::new(tessellation, &records)?;
        let data = records.submit_data(device, queue, tessellation)?.bytes().await?;
        Ok(records.assemble(tessellation, &data))
    }

    /// [`Mesh::read`], waiting for the device.
    ///
    /// # Errors
    /// As [`Mesh::read`].
    #[cfg(feature = "blocking")]
    pub fn read_blocking(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        tessellation: &Tessellation,
    ) -> Result<Self, Error> {
        let reading = Records::submit(device, queue, tessellation)?;
        reading.wait(device)?;
        let records = Records::new(tessellation, &pollster::block_on(reading.bytes())?)?;
        let reading = records.submit_data(device, queue, tessellation)?;
        reading.wait(device)?;
        Ok(records.assemble(tessellation, &pollster::block_on(reading.bytes())?))
    }

    /// A mesh without patches.
    #[cfg(feature = "blocking")]
    pub(crate) fn empty(surface: Surface, topology: OutputTopology) -> Self {
        Self { vertices: Vec::new(), indices: Vec::new(), patches: Vec::new(), surface, topology }
    }

    /// The meshes of several draws of a pipeline as one, patches after patches and vertices after vertices.
    ///
    /// `None` where there are none, where their output structs or topologies differ, or where they have more than 2^32
    /// vertices together.
    #[must_use]
    pub fn joined<'a>(meshes: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut meshes = meshes.into_iter();
        let mut all = meshes.next()?.clone();
        for mesh in meshes {
            let alike = mesh.surface == all.surface && mesh.topology == all.topology;
            let fit = all.vertex_count() as u64 + mesh.vertex_count() as u64 <= 1 << 32;
            if !alike || !fit {
                return None;
            }
            all.append(mesh.clone());
        }
        Some(all)
    }

    /// Adds the patches of another mesh of the same layout behind its own.
    pub(crate) fn append(&mut self, other: Self) {
        let first_vertex = self.vertex_count() as u32;
        let first_primitive = (self.indices.len() / self.topology.vertices_per_primitive() as usize) as u32;
        self.vertices.extend(other.vertices);
        self.indices.extend(other.indices.into_iter().map(|index| index.wrapping_add(first_vertex)));
        self.patches.extend(other.patches.into_iter().map(|patch| MeshPatch {
            first_vertex: patch.first_vertex.wrapping_add(first_vertex),
            first_primitive: patch.first_primitive.wrapping_add(first_primitive),
            ..patch
        }));
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertices.len() / (self.surface.stride.max(1) as usize)
    }

    /// The 32-bit components of a member of all vertices, as their bits.
    ///
    /// `None` where the output struct has no member of that name.
    #[must_use]
    pub fn member_bits(&self, name: &str) -> Option<Vec<Vec<u32>>> {
        let member = self.surface.members.iter().find(|member| member.name == name)?;
        let (offset, bytes) = (member.offset as usize, member.components as usize * 4);
        let values = self
            .vertices
            .chunks_exact(self.surface.stride as usize)
            .map(|vertex| bytemuck::pod_collect_to_vec(vertex.get(offset..offset + bytes).unwrap_or(&[])))
            .collect();
        Some(values)
    }

    /// The components of a float member of all vertices.
    ///
    /// `None` where the output struct has no member of that name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Vec<Vec<f32>>> {
        let bits = self.member_bits(name)?;
        Some(bits.into_iter().map(|value| value.into_iter().map(f32::from_bits).collect()).collect())
    }

    /// The name of the `@builtin(position)` member.
    #[must_use]
    pub fn position_member(&self) -> Option<&str> {
        let found = self.surface.members.iter().find(|member| member.slot == SurfaceSlot::Position);
        found.map(|member| member.name.as_str())
    }
}

/// What says where everything lies: the counters of the chunks and the records of the patches.
struct Records {
    slots: Vec<Slot>,
    /// Vertex base, primitive base within the threadgroup, points, primitives, then the factors as the ring holds them.
    patches: Vec<u32>,
    patch_words: usize,
}

impl Records {
    fn submit(device: &wgpu::Device, queue: &wgpu::Queue, tessellation: &Tessellation) -> Result<Reading, Error> {
        tessellation.check_primitives()?;
        let mut sources: Vec<Source<'_>> = tessellation
            .chunks()
            .iter()
            .map(|chunk| Source {
                buffer: &tessellation.state,
                offset: Tessellation::slot_offset(chunk),
                size: SLOT_BYTES,
            })
            .collect();
        sources.push(Source {
            buffer: &tessellation.state,
            offset: tessellation.patch_records_offset,
            size: u64::from(tessellation.patches()) * u64::from(tessellation.patch_words) * 4,
        });
        let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read records") });
        Reading::submit(device, queue, encoder, "a mesh's records", &sources)
    }

    fn new(tessellation: &Tessellation, bytes: &[Vec<u8>]) -> Result<Self, Error> {
        let (patches, slots) = bytes.split_last().map_or((&[][..], &[][..]), |(last, rest)| (last.as_slice(), rest));
        let slots: Vec<Slot> = slots.iter().flat_map(|slot| slots_of(slot)).collect();
        let report: DrawReport = slot_report(tessellation, &slots);
        report.fits()?;
        Ok(Self {
            slots,
            patches: bytemuck::pod_collect_to_vec(patches),
            patch_words: tessellation.patch_words as usize,
        })
    }

    fn submit_data(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        tessellation: &Tessellation,
    ) -> Result<Reading, Error> {
        // The records may have been awaited for a while.
        tessellation.check_there()?;
        let stride = u64::from(tessellation.surface.stride);
        let index_stride = u64::from(tessellation.topology.vertices_per_primitive()) * 4;
        let mut sources = Vec::with_capacity(self.slots.len() * 2);
        for (chunk, slot) in tessellation.chunks().iter().zip(&self.slots) {
            sources.push(Source {
                buffer: &chunk.vertices,
                offset: u64::from(slot.vertex_start) * stride,
                size: u64::from(slot.vertices) * stride,
            });
            sources.push(Source {
                buffer: &chunk.indices,
                offset: u64::from(slot.primitive_start) * index_stride,
                size: u64::from(slot.primitives) * index_stride,
            });
        }
        let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read mesh") });
        Reading::submit(device, queue, encoder, "a mesh", &sources)
    }

    /// Puts the vertices in patch order and renumbers the indices.
    fn assemble(&self, tessellation: &Tessellation, data: &[Vec<u8>]) -> Mesh {
        let stride = tessellation.surface.stride as usize;
        let per_primitive = tessellation.topology.vertices_per_primitive() as usize;
        let mut mesh = Mesh {
            vertices: Vec::new(),
            indices: Vec::new(),
            patches: Vec::with_capacity(tessellation.patches() as usize),
            surface: tessellation.surface.clone(),
            topology: tessellation.topology,
        };
        for ((chunk, slot), pair) in tessellation.chunks().iter().zip(&self.slots).zip(data.chunks(2)) {
            let [vertices, indices] = pair else { continue };
            let indices: Vec<u32> = bytemuck::pod_collect_to_vec(indices);
            let mut next_index = 0;
            // How many patches an indirect draw has, the GPU has noted.
            let patches = if tessellation.indirect { 0..slot.patches } else { chunk.patches.clone() };
            for patch in patches {
                let at = (patch - tessellation.first_patch) as usize * self.patch_words;
                let Some([base, _, points, primitives, factors @ ..]) = self.patches.get(at..at + self.patch_words)
                else {
                    continue;
                };
                if *base == NO_PATCH {
                    continue;
                }
                debug_assert_eq!(factors.len(), self.patch_words - PATCH_HEADER_WORDS as usize);
                let first_vertex = (mesh.vertices.len() / stride.max(1)) as u32;
                let first_primitive = (mesh.indices.len() / per_primitive) as u32;
                let begin = (base.wrapping_sub(slot.vertex_start)) as usize * stride;
                mesh.vertices.extend_from_slice(vertices.get(begin..begin + *points as usize * stride).unwrap_or(&[]));
                let count = *primitives as usize * per_primitive;
                let own = indices.get(next_index..next_index + count).unwrap_or(&[]);
                mesh.indices.extend(own.iter().map(|index| index.wrapping_sub(*base).wrapping_add(first_vertex)));
                next_index += count;
                mesh.patches.push(MeshPatch {
                    first_vertex,
                    vertices: *points,
                    first_primitive,
                    primitives: *primitives,
                    factors: factors_of(tessellation.domain, factors),
                });
            }
        }
        clear_padding(&mut mesh);
        mesh
    }
}

/// The factors out of the ring, which holds an isoline's detail before its density.
fn factors_of(domain: Domain, ring: &[u32]) -> Vec<f32> {
    let mut factors: Vec<f32> = ring.iter().map(|bits| f32::from_bits(*bits)).collect();
    if domain == Domain::Isoline {
        factors.reverse();
    }
    factors
}

/// Bytes between members are whatever lay in the buffer; they must not make two equal meshes differ.
fn clear_padding(mesh: &mut Mesh) {
    let stride = mesh.surface.stride as usize;
    let mut used = vec![false; stride];
    for member in &mesh.surface.members {
        let offset = member.offset as usize;
        if let Some(bytes) = used.get_mut(offset..offset + member.components as usize * 4) {
            bytes.fill(true);
        }
    }
    if stride == 0 || used.iter().all(|used| *used) {
        return;
    }
    for vertex in mesh.vertices.chunks_exact_mut(stride) {
        for (byte, used) in vertex.iter_mut().zip(&used) {
            if !used {
                *byte = 0;
            }
        }
    }
}
