//! Bytes at any offset, where wgpu copies words: a small kernel that merges them, and the arithmetic of the edges.
//!
//! The words at the edges of a copy hold bytes that are not part of it. They are read, merged and written on the GPU, in
//! the queue that writes the destination, so that a write of the neighbouring bytes that is queued before or after is
//! never lost, as it would be if the CPU held the words in between.

use crate::Error;
use crate::pipeline::guarded;

const WGSL: &str = include_str!("../../../shaders/nodes/merge_bytes.wgsl");

/// Words that one merge takes: its scratch buffers hold no more.
const MOST_WORDS: u64 = 1 << 20;

/// A range of bytes in words: which they are, and which bytes of the first and the last belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordSpan {
    /// Byte offset of the first word.
    pub(super) offset: u64,
    /// Words, at least 1.
    pub(super) words: u64,
    /// Bits of the first word that the range covers.
    pub(super) head: u32,
    /// Bits of the last word.
    pub(super) tail: u32,
}

impl WordSpan {
    /// The words of `size` bytes, at least 1, from `offset` on.
    pub(super) fn new(offset: u64, size: u64) -> Self {
        let (lead, end) = (offset % 4, offset + size);
        let words = end.div_ceil(4) - offset / 4;
        // Little-endian, as WGSL has it: byte 0 in the lowest bits.
        let head = u32::MAX << (lead * 8);
        let tail = u32::MAX >> ((4 - end % 4) % 4 * 8);
        Self { offset: offset - lead, words, head, tail }
    }

    /// Bytes of the words.
    pub(super) fn bytes(&self) -> u64 {
        self.words * 4
    }

    /// Bytes before the range in its first word.
    pub(super) fn lead(&self) -> u64 {
        u64::from(self.head.trailing_zeros() / 8)
    }
}

/// The compiled kernel.
#[derive(Debug)]
pub(super) struct MergeKernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// Rows of bytes, each `pitch` bytes after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRows {
    /// Bytes of a row, at least 1.
    pub(super) bytes: u64,
    /// At least 1.
    pub(super) rows: u64,
    /// A multiple of 4, at least a row's bytes.
    pub(super) pitch: u64,
}

impl ByteRows {
    /// Bytes from the first row's beginning to the last one's end.
    pub(super) fn span(&self) -> u64 {
        (self.rows - 1) * self.pitch + self.bytes
    }
}

impl MergeKernel {
    pub(super) fn new(device: &wgpu::Device) -> Result<Self, Error> {
        guarded(device, "the kernel that merges bytes", || {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("merge bytes"),
                source: wgpu::ShaderSource::Wgsl(WGSL.into()),
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("merge bytes"),
                layout: None,
                module: &module,
                entry_point: Some("merge_bytes"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let layout = pipeline.get_bind_group_layout(0);
            Self { pipeline, layout }
        })
    }

    /// Encodes the copy of `size` bytes from byte `from` of `source` to byte `to` of `destination`, which may be one
    /// buffer: by way of scratch buffers, since neither need be a storage buffer.
    pub(super) fn copy(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        (source, from): (&wgpu::Buffer, u64),
        (destination, to): (&wgpu::Buffer, u64),
        size: u64,
    ) -> Result<(), Error> {
        let most = most_words(device);
        let mut done = 0;
        while done < size {
            let at = to + done;
            // Up to the border of a word, so that only the first and the last chunk have edges.
            let part = (size - done).min(most * 4 - at % 4);
            let rows = ByteRows { bytes: part, rows: 1, pitch: part.next_multiple_of(4) };
            self.merge(device, encoder, (source, from + done), (destination, at), rows)?;
            done += part;
        }
        Ok(())
    }

    /// [`MergeKernel::copy`] of rows that lie alike in both buffers; the bytes between them stay as they are.
    pub(super) fn copy_rows(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        (source, from): (&wgpu::Buffer, u64),
        (destination, to): (&wgpu::Buffer, u64),
        rows: ByteRows,
    ) -> Result<(), Error> {
        // Rows that share a word cannot be merged at once.
        let at_once = if to % 4 + rows.bytes > rows.pitch { 1 } else { most_words(device) * 4 / rows.pitch };
        let mut row = 0;
        while row < rows.rows {
            let part = at_once.max(1).min(rows.rows - row);
            let (source, destination) = ((source, from + row * rows.pitch), (destination, to + row * rows.pitch));
            if part == 1 {
                self.copy(device, encoder, source, destination, rows.bytes)?;
            } else {
                self.merge(device, encoder, source, destination, ByteRows { rows: part, ..rows })?;
            }
            row += part;
        }
        Ok(())
    }

    /// One merge.
    fn merge(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        (source, from): (&wgpu::Buffer, u64),
        (destination, to): (&wgpu::Buffer, u64),
        rows: ByteRows,
    ) -> Result<(), Error> {
        // All of it, and the first row, whose edges are those of every row.
        let (read, write) = (WordSpan::new(from, rows.span()), WordSpan::new(to, rows.span()));
        let row = WordSpan::new(to, rows.bytes);
        // The source lies a word behind the scratch buffer's beginning, so that its bytes are never ahead of the
        // destination's; behind it the last word's reading needs up to two more.
        let shift = 4 + read.lead() - write.lead();
        // Of at most 2^20 words.
        let [words, rows, pitch] = [row.words, rows.rows, rows.pitch / 4].map(|count| count as u32);
        let params = [words, shift as u32, row.head, row.tail, rows, pitch, 0, 0];
        guarded(device, "a copy of unaligned bytes", || {
            let scratch = |size: u64, usage: wgpu::BufferUsages, mapped_at_creation| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("merge bytes"),
                    size,
                    usage,
                    mapped_at_creation,
                })
            };
            let uniform = scratch(size_of_val(&params) as u64, wgpu::BufferUsages::UNIFORM, true);
            if let Ok(mut view) = uniform.get_mapped_range_mut(..) {
                view.copy_from_slice(bytemuck::bytes_of(&params));
            }
            uniform.unmap();
            let copies = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
            let scratch_source = scratch((write.words.max(read.words) + 3) * 4, copies, false);
            let merged = scratch(write.bytes(), copies, false);
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("merge bytes"),
                layout: &self.layout,
                entries: &[(0, &uniform), (1, &scratch_source), (2, &merged)]
                    .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
            });
            encoder.copy_buffer_to_buffer(source, read.offset, &scratch_source, 4, Some(read.bytes()));
            encoder.copy_buffer_to_buffer(destination, write.offset, &merged, 0, Some(write.bytes()));
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            // At most 2^20 words: 4,096 workgroups.
            pass.dispatch_workgroups((words * rows).div_ceil(256), 1, 1);
            drop(pass);
            encoder.copy_buffer_to_buffer(&merged, 0, destination, write.offset, Some(write.bytes()));
        })
    }
}

/// Words that one merge takes on this device.
fn most_words(device: &wgpu::Device) -> u64 {
    device.limits().max_storage_buffer_binding_size.min(MOST_WORDS * 4) / 4 - 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The masks cover the range's bytes and no others.
        #[test]
        fn spans_cover_their_bytes(offset in 0u64..40, size in 1u64..40) {
            let span = WordSpan::new(offset, size);
            let mut covered = Vec::new();
            for word in 0..span.words {
                let mut mask = u32::MAX;
                if word == 0 { mask &= span.head }
                if word == span.words - 1 { mask &= span.tail }
                for byte in 0..4 {
                    let bits = mask >> (byte * 8) & 0xff;
                    prop_assert!(bits == 0 || bits == 0xff);
                    if bits == 0xff { covered.push(span.offset + word * 4 + byte) }
                }
            }
            prop_assert_eq!(covered, (offset..offset + size).collect::<Vec<_>>());
            prop_assert_eq!(span.offset + span.lead(), offset);
        }
    }
}
