//! One draw: what the caller binds and which vertices it takes, checked against the pipeline.

use std::ops::Range;

use super::attributes::VertexBufferSlot;
use super::layout::VERTEX_BUFFERS;
use super::tessellation::TessellationPipeline;
use crate::Error;
use crate::shader::fetch::IndexPlace;

/// The index buffer of an indexed draw.
#[derive(Clone, Debug)]
pub struct IndexBuffer<'a> {
    /// Where the indices lie; the buffer needs `BufferUsages::STORAGE`.
    pub slice: wgpu::BufferSlice<'a>,
    /// 16 or 32 bits an index.
    pub format: wgpu::IndexFormat,
}

/// A draw of patches.
///
/// Consecutive vertices (or indices) make patches of the pipeline's input control points; an incomplete patch at the end
/// of an instance is dropped, as D3D does. Patch ids start at [`Draw::first_patch`] in each instance, 0 by default.
#[derive(Clone, Debug, Default)]
pub struct Draw<'a> {
    /// A slice for each of the pipeline's vertex buffers; each buffer needs `BufferUsages::STORAGE`.
    pub vertex_buffers: &'a [wgpu::BufferSlice<'a>],
    /// The index buffer, where the draw is indexed.
    pub index_buffer: Option<IndexBuffer<'a>>,
    /// Bind groups 0 to 2 of the user's shader.
    pub bind_groups: &'a [Option<&'a wgpu::BindGroup>],
    /// Vertices, or indices where the draw is indexed.
    pub vertices: Range<u32>,
    /// Added to each index.
    pub base_vertex: i32,
    /// Instances.
    pub instances: Range<u32>,
    /// Patch id of the first patch of each instance: 0, unless the draw is a part of a larger one whose patch ids it is to
    /// keep. `vertices` begins at the part's own first vertex or index all the same.
    pub first_patch: u32,
}

impl<'a> Draw<'a> {
    /// A draw of one instance without buffers; set the other fields from there.
    #[must_use]
    pub fn new(vertices: Range<u32>) -> Self {
        Self { vertices, instances: 0..1, ..Self::default() }
    }
}

/// How many patches and threadgroups a draw has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawShape {
    pub(crate) patches_per_instance: u32,
    pub(crate) threadgroups_per_instance: u32,
    pub(crate) patches_per_threadgroup: u32,
    pub(crate) patches: u32,
    pub(crate) threadgroups: u32,
}

impl DrawShape {
    pub(crate) fn new(pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Result<Self, Error> {
        let vertices = draw.vertices.end.saturating_sub(draw.vertices.start);
        let instances = draw.instances.end.saturating_sub(draw.instances.start);
        let patches_per_instance = vertices / pipeline.input_points;
        let patches = u64::from(patches_per_instance) * u64::from(instances);
        let patches_per_threadgroup =
            pipeline.policy.patches_per_threadgroup(pipeline.parameters.patches_per_threadgroup, patches);
        // Record offsets are counted in 32-bit words; the limit on the state buffer's size comes long before.
        let most = u64::from(u32::MAX / 16);
        if patches > most {
            return Err(Error::OutOfRange {
                what: "patches of a draw",
                value: patches.to_string(),
                expected: format!("at most {most}; split the draw"),
            });
        }
        if draw.first_patch.checked_add(patches_per_instance).is_none() {
            return Err(Error::OutOfRange {
                what: "first_patch of a draw",
                value: draw.first_patch.to_string(),
                expected: format!("at most {}, for {patches_per_instance} patches", u32::MAX - patches_per_instance),
            });
        }
        let threadgroups_per_instance = patches_per_instance.div_ceil(patches_per_threadgroup);
        let shape = Self {
            patches_per_instance,
            threadgroups_per_instance,
            patches_per_threadgroup,
            patches: patches as u32,
            threadgroups: threadgroups_per_instance * if patches_per_instance == 0 { 0 } else { instances },
        };
        Ok(shape)
    }

    /// The first patch of a threadgroup; the number of patches for the one past the last.
    pub(crate) fn first_patch(&self, threadgroup: u32) -> u32 {
        if self.threadgroups_per_instance == 0 {
            return 0;
        }
        let instance = threadgroup / self.threadgroups_per_instance;
        let within = threadgroup % self.threadgroups_per_instance;
        instance * self.patches_per_instance + within * self.patches_per_threadgroup
    }
}

/// The buffers of a draw as the kernel's parameters describe them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundBuffers {
    pub(crate) vertex_buffers: [[u32; 4]; VERTEX_BUFFERS],
    pub(crate) index_kind: u32,
    pub(crate) index_offset: u32,
    pub(crate) index_count: u32,
}

fn refuse(what: String, reason: impl Into<String>) -> Error {
    Error::Buffer { what, reason: reason.into() }
}

pub(crate) fn check_usage(buffer: &wgpu::Buffer, what: &str, limits: &wgpu::Limits) -> Result<(), Error> {
    if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
        let reason = "it was made without BufferUsages::STORAGE, which patchwave needs since it reads vertices and \
                      indices in compute passes";
        return Err(refuse(what.to_owned(), reason));
    }
    if !buffer.size().is_multiple_of(4) || buffer.size() == 0 {
        let reason = format!("its size of {} bytes is not a positive multiple of 4", buffer.size());
        return Err(refuse(what.to_owned(), reason));
    }
    if buffer.size() > limits.max_storage_buffer_binding_size {
        return Err(Error::LimitExceeded {
            what: what.to_owned(),
            limit: "max_storage_buffer_binding_size",
            needed: buffer.size(),
            available: limits.max_storage_buffer_binding_size,
            advice: "split the buffer",
        });
    }
    Ok(())
}

/// Checks a draw's buffers against what it reads of them, as far as the CPU can know.
pub(crate) fn bound_buffers(
    pipeline: &TessellationPipeline,
    draw: &Draw<'_>,
    shape: &DrawShape,
) -> Result<BoundBuffers, Error> {
    let mut bound = BoundBuffers::default();
    if draw.vertex_buffers.len() < pipeline.slots.len() {
        return Err(refuse(
            "vertex buffers".to_owned(),
            format!("the pipeline has {} and the draw gives {}", pipeline.slots.len(), draw.vertex_buffers.len()),
        ));
    }
    for (i, (slot, slice)) in pipeline.slots.iter().zip(draw.vertex_buffers).enumerate() {
        let what = format!("vertex buffer {i}");
        check_usage(slice.buffer(), &what, &pipeline.limits)?;
        let serves = pipeline.bindings.of_slot(i as u32);
        if draw.vertex_buffers.get(serves as usize).map(wgpu::BufferSlice::buffer) != Some(slice.buffer()) {
            let reason = format!(
                "it is not the buffer of vertex buffer {serves}, with which the pipeline has it share a binding \
                 (shared_vertex_buffers)"
            );
            return Err(refuse(what, reason));
        }
        if !slice.offset().is_multiple_of(4) {
            let offset = slice.offset();
            let reason = format!("its offset {offset} is not a multiple of 4: add the rest to the attributes' offsets");
            return Err(refuse(what, reason));
        }
        let size = slice.size();
        let elements = elements_within(size, slot);
        let needed = if slot.per_instance {
            u64::from(draw.instances.end)
        } else if draw.index_buffer.is_none() {
            u64::from(draw.vertices.start) + u64::from(shape.patches_per_instance) * u64::from(pipeline.input_points)
        } else {
            // What the indices ask for is on the GPU; there, elements beyond the buffer read as zero.
            0
        };
        if shape.patches > 0 && needed > elements {
            return Err(refuse(
                what,
                format!(
                    "the draw reads {needed} elements of {} bytes and the slice of {size} bytes holds {elements}",
                    slot.stride
                ),
            ));
        }
        let (begin, stride) = if slot.by_words() {
            (slice.offset() / 4, slot.stride / 4)
        } else {
            // Addresses are in bytes then, of which 32 bits reach 4 GiB.
            if slice.offset() + size > u64::from(u32::MAX) {
                let reason = format!("it reaches beyond 4 GiB, and its stride {} is not a multiple of 4", slot.stride);
                return Err(refuse(what, reason));
            }
            (slice.offset(), slot.stride)
        };
        let Some(entry) = bound.vertex_buffers.get_mut(i) else { break };
        let last = u32::try_from(elements.saturating_sub(1)).unwrap_or(u32::MAX);
        *entry = [u32::try_from(begin).unwrap_or(u32::MAX), last, stride, u32::from(elements > 0)];
    }
    if let Some(index_buffer) = &draw.index_buffer {
        let slice = &index_buffer.slice;
        check_index_buffer(pipeline, draw, slice.buffer())?;
        let what = "index buffer".to_owned();
        let (kind, bytes) = match index_buffer.format {
            wgpu::IndexFormat::Uint16 => (1, 2),
            wgpu::IndexFormat::Uint32 => (2, 4),
        };
        if !slice.offset().is_multiple_of(bytes) {
            return Err(refuse(what, format!("its offset {} is not a multiple of {bytes}", slice.offset())));
        }
        // The kernel computes the byte of an index in 32 bits.
        if slice.offset() + slice.size() > u64::from(u32::MAX) {
            return Err(refuse(what, "it reaches beyond 4 GiB: bind a slice that ends before"));
        }
        bound.index_kind = kind;
        bound.index_offset = slice.offset() as u32;
        bound.index_count = (slice.size() / bytes) as u32;
    }
    Ok(bound)
}

fn check_index_buffer(pipeline: &TessellationPipeline, draw: &Draw<'_>, buffer: &wgpu::Buffer) -> Result<(), Error> {
    let what = "index buffer";
    check_usage(buffer, what, &pipeline.limits)?;
    match pipeline.bindings.index {
        IndexPlace::Own => Ok(()),
        IndexPlace::Never => Err(refuse(what.to_owned(), "the pipeline was made for draws without (Indices::Never)")),
        IndexPlace::VertexBuffer(slot) => {
            if draw.vertex_buffers.get(slot as usize).map(wgpu::BufferSlice::buffer) == Some(buffer) {
                return Ok(());
            }
            let reason = format!(
                "it is not the buffer of vertex buffer {slot}, with which the pipeline has it share a binding \
                 (Indices::InVertexBuffer)"
            );
            Err(refuse(what.to_owned(), reason))
        }
    }
}

/// Elements that lie wholly within `size` bytes.
fn elements_within(size: u64, slot: &VertexBufferSlot) -> u64 {
    match size.checked_sub(u64::from(slot.element_bytes)) {
        None => 0,
        // A stride of 0: every element is the same one.
        Some(rest) => rest.checked_div(u64::from(slot.stride)).map_or(u64::MAX, |more| more + 1),
    }
}
