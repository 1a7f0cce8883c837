//! A push: bytes and texels of one node's resources go into those of others by way of system memory, chunk by chunk.
//!
//! Each chunk is copied to a staging buffer on the source's node, mapped, copied to a mapped staging buffer of the
//! destination's node, and from there into the destination. Several chunks are under way on both sides: while one is
//! uploaded, the next ones are read.

use std::collections::VecDeque;
use std::sync::Arc;

use super::bytes::{ByteRows, WordSpan};
use super::error::NodeError;
use super::set::{Node, NodeDevice, Staging};
use super::staging::{Mapped, Mapping, Notify, Way};
use crate::Error;
use crate::pipeline::guarded;

/// Staging offsets of pieces: whole blocks of any format, and what Direct3D 12 asks of textures in buffers.
const ALIGNMENT: u64 = 512;

/// Where a piece comes from or goes to.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// Bytes from any offset on.
    Bytes { buffer: wgpu::Buffer, offset: u64 },
    /// Texels, `pitch` bytes a row of blocks in the staging buffer.
    Texels {
        texture: wgpu::Texture,
        mip_level: u32,
        aspect: wgpu::TextureAspect,
        origin: wgpu::Origin3d,
        extent: wgpu::Extent3d,
        pitch: u32,
    },
    /// Rows of bytes, of which those between stay as they are; only a destination. They lie alike in the staging buffer.
    Rows { buffer: wgpu::Buffer, offset: u64, rows: ByteRows },
}

impl End {
    /// Bytes before the data in its staging buffer: what its first word holds besides.
    fn lead(&self) -> u64 {
        match self {
            Self::Bytes { offset, .. } | Self::Rows { offset, .. } => offset % 4,
            Self::Texels { .. } => 0,
        }
    }
}

/// What is pushed at once.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) from: End,
    pub(super) to: End,
    /// Bytes, at least 1 and no more than a chunk but for a single row or plane of texels.
    pub(super) bytes: u64,
    /// Node of the destination.
    pub(super) node: usize,
}

impl Piece {
    /// Room in a staging buffer: the words that the bytes touch on either side.
    fn room(&self) -> u64 {
        (self.bytes + 3).next_multiple_of(4) + 4
    }
}

/// Pieces that share a staging buffer, with their offsets in it.
#[derive(Debug)]
struct Batch {
    node: usize,
    pieces: Vec<(u64, Piece)>,
    bytes: u64,
}

/// Splits `size` bytes into pieces of at most `most` bytes whose borders are those of words of the destination.
pub(super) fn byte_parts(to: u64, size: u64, most: u64) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut done = 0;
    while done < size {
        let part = (size - done).min(most - (to + done) % 4);
        parts.push((done, part));
        done += part;
    }
    parts
}

fn batches(pieces: Vec<Piece>, chunk_bytes: u64) -> VecDeque<Batch> {
    let mut batches: VecDeque<Batch> = VecDeque::new();
    for piece in pieces {
        let fits = |batch: &&mut Batch| {
            batch.node == piece.node && batch.bytes.next_multiple_of(ALIGNMENT) + piece.room() <= chunk_bytes
        };
        match batches.back_mut().filter(fits) {
            Some(batch) => {
                let at = batch.bytes.next_multiple_of(ALIGNMENT);
                batch.bytes = at + piece.room();
                batch.pieces.push((at, piece));
            }
            None => batches.push_back(Batch { node: piece.node, bytes: piece.room(), pieces: vec![(0, piece)] }),
        }
    }
    batches
}

/// A push under way.
#[derive(Debug)]
pub(super) struct Push {
    source: usize,
    waiting: VecDeque<Batch>,
    /// Read on the source's node, oldest first.
    reading: VecDeque<(Batch, Mapped)>,
    /// Uploaded on a destination's node, oldest first.
    writing: VecDeque<(usize, Mapped)>,
    staging: Staging,
}

impl Push {
    pub(super) fn new(source: usize, pieces: Vec<Piece>, staging: Staging) -> Self {
        Self {
            source,
            waiting: batches(pieces, staging.chunk_bytes),
            reading: VecDeque::new(),
            writing: VecDeque::new(),
            staging,
        }
    }

    /// Whether every chunk has arrived.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.reading.is_empty() && self.writing.is_empty()
    }

    /// What has to be waited for where nothing can go on at once.
    #[cfg(feature = "blocking")]
    pub(super) fn blocked_on(&self) -> Option<(usize, wgpu::SubmissionIndex)> {
        let reading = self.reading.front().filter(|_| self.writing.len() < self.staging.ring);
        let reading = reading.filter(|(_, mapped)| mapped.state() == Mapping::Pending);
        let reading = reading.map(|(_, mapped)| (self.source, mapped.submission.clone()));
        reading.or_else(|| self.writing.front().map(|(node, mapped)| (*node, mapped.submission.clone())))
    }

    /// Goes as far as it can without waiting; whether anything was done.
    pub(super) fn advance(&mut self, nodes: &mut [Node], notify: &Arc<Notify>) -> Result<bool, NodeError> {
        let mut moved = false;
        loop {
            let mut step = self.read(nodes, notify)?;
            step |= self.reap(nodes)?;
            step |= self.write(nodes, notify)?;
            if !step {
                return Ok(moved);
            }
            moved = true;
        }
    }

    /// Starts reading chunks while the ring has room.
    fn read(&mut self, nodes: &mut [Node], notify: &Arc<Notify>) -> Result<bool, NodeError> {
        let mut moved = false;
        while self.reading.len() < self.staging.ring
            && let Some(batch) = self.waiting.pop_front()
        {
            let Some(node) = nodes.get_mut(self.source) else { break };
            let shared = Arc::clone(&node.shared);
            let buffer = node.staging.take(&shared.device, Way::Read, batch.bytes)?;
            let submission = guarded(&shared.device, "reading a chunk of a push", || {
                let mut encoder =
                    shared.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("push: read") });
                for (at, piece) in &batch.pieces {
                    encode_read(&mut encoder, &piece.from, piece.bytes, &buffer, *at);
                }
                shared.queue.submit([encoder.finish()])
            })?;
            let mapped = Mapped::request(&shared.device, buffer, wgpu::MapMode::Read, submission, notify);
            self.reading.push_back((batch, mapped));
            moved = true;
        }
        Ok(moved)
    }

    /// Takes back the staging buffers of chunks that have arrived.
    fn reap(&mut self, nodes: &mut [Node]) -> Result<bool, NodeError> {
        let mut moved = false;
        while let Some((node, mapped)) = self.writing.front() {
            match mapped.state() {
                Mapping::Pending => break,
                Mapping::Failed => return Err(NodeError::Lost { node: *node as u32, doing: "as a push wrote to it" }),
                Mapping::Mapped => {}
            }
            if let Some((node, mapped)) = self.writing.pop_front()
                && let Some(node) = nodes.get_mut(node)
            {
                node.staging.give(Way::Write, mapped.buffer);
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Hands on the oldest chunk that has been read, where there is one and the ring has room.
    fn write(&mut self, nodes: &mut [Node], notify: &Arc<Notify>) -> Result<bool, NodeError> {
        if self.writing.len() >= self.staging.ring {
            return Ok(false);
        }
        match self.reading.front().map(|(_, mapped)| mapped.state()) {
            None | Some(Mapping::Pending) => return Ok(false),
            Some(Mapping::Failed) => {
                return Err(NodeError::Lost { node: self.source as u32, doing: "as a push read from it" });
            }
            Some(Mapping::Mapped) => {}
        }
        let Some((batch, read)) = self.reading.pop_front() else { return Ok(false) };
        let Some(node) = nodes.get_mut(batch.node) else { return Ok(false) };
        let shared = Arc::clone(&node.shared);
        let buffer = node.staging.take(&shared.device, Way::Write, batch.bytes)?;
        copy_batch(&batch, &read.buffer, &buffer, self.staging.copy_threads).map_err(|lost| NodeError::Lost {
            node: if lost == Way::Read { self.source } else { batch.node } as u32,
            doing: "as a push copied a chunk",
        })?;
        read.buffer.unmap();
        buffer.unmap();
        if let Some(source) = nodes.get_mut(self.source) {
            source.staging.give(Way::Read, read.buffer);
        }
        let submission = submit_write(&shared, &batch, &buffer)?;
        let mapped = Mapped::request(&shared.device, buffer, wgpu::MapMode::Write, submission, notify);
        self.writing.push_back((batch.node, mapped));
        Ok(true)
    }
}

fn encode_read(encoder: &mut wgpu::CommandEncoder, from: &End, bytes: u64, staging: &wgpu::Buffer, at: u64) {
    match from {
        End::Bytes { buffer, offset } | End::Rows { buffer, offset, .. } => {
            let span = WordSpan::new(*offset, bytes);
            encoder.copy_buffer_to_buffer(buffer, span.offset, staging, at, Some(span.bytes()));
        }
        End::Texels { texture, mip_level, aspect, origin, extent, pitch } => encoder.copy_texture_to_buffer(
            wgpu::TexelCopyTextureInfo { texture, mip_level: *mip_level, origin: *origin, aspect: *aspect },
            wgpu::TexelCopyBufferInfo { buffer: staging, layout: rows_at(at, *pitch) },
            *extent,
        ),
    }
}

fn rows_at(offset: u64, pitch: u32) -> wgpu::TexelCopyBufferLayout {
    // One layer a piece, so that rows an image are never asked for.
    wgpu::TexelCopyBufferLayout { offset, bytes_per_row: Some(pitch), rows_per_image: None }
}

fn submit_write(shared: &NodeDevice, batch: &Batch, staging: &wgpu::Buffer) -> Result<wgpu::SubmissionIndex, Error> {
    let device = &shared.device;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("push: write") });
    for (at, piece) in &batch.pieces {
        match &piece.to {
            End::Bytes { buffer, offset } => {
                let span = WordSpan::new(*offset, piece.bytes);
                encode_write(shared, &mut encoder, (staging, at + span.lead()), (buffer, *offset), piece.bytes)?;
            }
            End::Rows { buffer, offset, rows } => {
                let from = at + piece.to.lead();
                encode_rows(shared, &mut encoder, (staging, from), (buffer, *offset), *rows)?;
            }
            End::Texels { texture, mip_level, aspect, origin, extent, pitch } => encoder.copy_buffer_to_texture(
                wgpu::TexelCopyBufferInfo { buffer: staging, layout: rows_at(*at, *pitch) },
                wgpu::TexelCopyTextureInfo { texture, mip_level: *mip_level, origin: *origin, aspect: *aspect },
                *extent,
            ),
        }
    }
    guarded(device, "writing a chunk of a push", || shared.queue.submit([encoder.finish()]))
}

/// Encodes the copy of bytes that lie alike within words in both buffers: the words at the edges are merged, those between
/// copied.
pub(super) fn encode_write(
    shared: &NodeDevice,
    encoder: &mut wgpu::CommandEncoder,
    (source, from): (&wgpu::Buffer, u64),
    (destination, to): (&wgpu::Buffer, u64),
    size: u64,
) -> Result<(), Error> {
    let end = to + size;
    let first_whole = to.next_multiple_of(4).min(end);
    let last_whole = (end - end % 4).max(first_whole);
    for (begin, end) in [(to, first_whole), (last_whole, end)] {
        if begin < end {
            let merge = shared.merge()?;
            let source = (source, from + (begin - to));
            merge.copy(&shared.device, encoder, source, (destination, begin), end - begin)?;
        }
    }
    if first_whole < last_whole {
        let from = from + (first_whole - to);
        encoder.copy_buffer_to_buffer(source, from, destination, first_whole, Some(last_whole - first_whole));
    }
    Ok(())
}

/// [`encode_write`] of rows that lie alike in both buffers.
fn encode_rows(
    shared: &NodeDevice,
    encoder: &mut wgpu::CommandEncoder,
    (source, from): (&wgpu::Buffer, u64),
    (destination, to): (&wgpu::Buffer, u64),
    rows: ByteRows,
) -> Result<(), Error> {
    if rows.rows == 1 || rows.bytes == rows.pitch {
        return encode_write(shared, encoder, (source, from), (destination, to), rows.span());
    }
    if !to.is_multiple_of(4) || !rows.bytes.is_multiple_of(4) {
        let merge = shared.merge()?;
        return merge.copy_rows(&shared.device, encoder, (source, from), (destination, to), rows);
    }
    for row in 0..rows.rows {
        let skipped = row * rows.pitch;
        encoder.copy_buffer_to_buffer(source, from + skipped, destination, to + skipped, Some(rows.bytes));
    }
    Ok(())
}

/// Threads are worth their start from this many bytes each on.
const THREAD_BYTES: usize = 1 << 20;

/// Copies a batch between mapped staging buffers; the side that turns out not to be mapped.
fn copy_batch(batch: &Batch, read: &wgpu::Buffer, write: &wgpu::Buffer, threads: usize) -> Result<(), Way> {
    let from = read.get_mapped_range(..).map_err(|_| Way::Read)?;
    for (at, piece) in &batch.pieces {
        // Staging buffers hold what addresses of this machine reach.
        let begin = (at + piece.from.lead()) as usize;
        let bytes = from.get(begin..begin + piece.bytes as usize).ok_or(Way::Read)?;
        let to = at + piece.to.lead();
        let threads = threads.min(bytes.len() / THREAD_BYTES).max(1);
        if threads == 1 {
            copy_part(bytes, write, to)?;
            continue;
        }
        let part = bytes.len().div_ceil(threads).next_multiple_of(64);
        // Each part's mapped range begins where a range may: the first takes the lead along.
        let first = (part - piece.to.lead() as usize).min(bytes.len());
        let (head, rest) = bytes.split_at(first);
        std::thread::scope(|scope| {
            let mut running = Vec::with_capacity(threads);
            for (i, bytes) in rest.chunks(part).enumerate() {
                let to = to + (first + i * part) as u64;
                running.push(scope.spawn(move || copy_part(bytes, write, to)));
            }
            let own = copy_part(head, write, to);
            running.into_iter().fold(own, |all, thread| all.and(thread.join().unwrap_or(Err(Way::Write))))
        })?;
    }
    Ok(())
}

/// Copies bytes to an offset of a mapped buffer, by way of a mapped range whose borders are such as wgpu asks for.
fn copy_part(bytes: &[u8], write: &wgpu::Buffer, to: u64) -> Result<(), Way> {
    let begin = to - to % 8;
    let end = (to + bytes.len() as u64).next_multiple_of(4);
    let lead = (to - begin) as usize;
    let mut view = write.get_mapped_range_mut(begin..end).map_err(|_| Way::Write)?;
    view.slice(lead..lead + bytes.len()).copy_from_slice(bytes);
    Ok(())
}
