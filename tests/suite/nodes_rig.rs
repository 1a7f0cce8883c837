//! Two devices of one adapter as the simulated nodes of a set, and bytes in and out of their resources.

use patchwave::adapter::collect;
use patchwave::adapter::nodes::{
    NodeBuffer, NodeDescriptor, NodeError, NodeSet, NodeSetDescriptor, NodeTexture, Staging,
};

use super::rig::Rig;

pub(crate) struct NodeRig {
    pub(crate) rigs: Vec<Rig>,
    pub(crate) nodes: NodeSet,
}

/// Staging buffers so small that few bytes take several turns of the ring.
pub(crate) const SMALL_STAGING: Staging = Staging { chunk_bytes: 64 << 10, ring: 2, copy_threads: 1 };

impl NodeRig {
    /// Two nodes.
    pub(crate) fn new() -> Self {
        Self::with(SMALL_STAGING)
    }

    pub(crate) fn with(staging: Staging) -> Self {
        let (first, second) = Rig::two();
        Self::of(vec![first, second], staging)
    }

    pub(crate) fn of(rigs: Vec<Rig>, staging: Staging) -> Self {
        let facts = collect(&crate::gpu::adapter());
        let nodes = rigs
            .iter()
            .map(|rig| NodeDescriptor { device: rig.device.clone(), queue: rig.queue.clone(), facts: facts.clone() })
            .collect();
        let descriptor = NodeSetDescriptor { simulated_nodes: true, staging, ..NodeSetDescriptor::default() };
        let nodes = NodeSet::new(nodes, &descriptor).unwrap_or_else(|error| panic!("the node set: {error}"));
        Self { rigs, nodes }
    }

    /// A buffer with these bytes on `node`, for the nodes of `visible`.
    pub(crate) fn buffer(&self, node: u32, visible: u32, bytes: &[u8]) -> NodeBuffer {
        let masks = self.nodes.heap_masks(1 << node, visible).expect("the masks go together");
        let descriptor = wgpu::BufferDescriptor {
            label: Some("test"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        };
        let buffer = self.nodes.create_buffer(masks, &descriptor).unwrap_or_else(|error| panic!("the buffer: {error}"));
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), 0xee);
        self.rigs[node as usize].queue.write_buffer(buffer.buffer(), 0, &padded);
        buffer
    }

    pub(crate) fn bytes(&self, buffer: &NodeBuffer) -> Vec<u8> {
        let words = self.rigs[buffer.masks().node() as usize].words(buffer.buffer());
        bytemuck::cast_slice(&words)[..buffer.size() as usize].to_vec()
    }

    /// A texture on `node`, for both nodes.
    pub(crate) fn texture(&self, node: u32, descriptor: &wgpu::TextureDescriptor<'_>) -> NodeTexture {
        let masks = self.nodes.heap_masks(1 << node, 3).expect("the masks go together");
        self.nodes.create_texture(masks, descriptor).unwrap_or_else(|error| panic!("the texture: {error}"))
    }

    /// Records one list on `node`, executes it and waits.
    pub(crate) fn run(
        &mut self,
        node: u32,
        record: impl FnOnce(&mut patchwave::adapter::nodes::NodeCommandList) -> Result<(), NodeError>,
    ) -> Result<(), NodeError> {
        let mut list = self.nodes.create_command_list(1 << node)?;
        record(&mut list)?;
        self.nodes.execute(list.close()?)?;
        self.nodes.finish_blocking()
    }
}

/// Bytes that tell where they came from.
pub(crate) fn pattern(size: usize, seed: u32) -> Vec<u8> {
    (0..size as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 13) as u8).collect()
}
