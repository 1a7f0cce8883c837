//! Tessellation over nodes: each node tessellates its share of a draw's patches.

use super::error::NodeError;
use super::set::NodeSet;
use super::shares::Counted;
use super::split::{PatchBlock, Split};
#[cfg(feature = "blocking")]
use crate::Mesh;
use crate::pipeline::{Draw, Tessellation, TessellationPipeline, Workspace, WorkspaceDescriptor};
use crate::shader::Surface;
use crate::tessellator::OutputTopology;

/// A draw as one node has it: the same draw on every node, with pipeline, buffers and bind groups of that node's device.
#[derive(Clone, Debug)]
pub struct NodeDraw<'a> {
    /// The pipeline, made with the node's device.
    pub pipeline: &'a TessellationPipeline,
    /// All of the draw, with the node's buffers and bind groups.
    pub draw: Draw<'a>,
}

/// A part of a draw that a node has tessellated.
#[derive(Debug)]
pub(super) struct NodePart {
    pub(super) node: u32,
    pub(super) tessellation: Tessellation,
    /// Vertices and primitives of the threadgroups of each of its output chunks.
    pub(super) chunks: Vec<Vec<[u32; 2]>>,
}

/// A draw tessellated over the nodes of a set, each node's share on that node.
#[derive(Debug)]
pub struct NodeTessellation {
    pub(super) set: u64,
    /// In patch order.
    pub(super) parts: Vec<NodePart>,
    pub(super) surface: Surface,
    pub(super) topology: OutputTopology,
}

impl NodeTessellation {
    /// Vertices of the draw.
    #[must_use]
    pub fn vertices(&self) -> u64 {
        sum(self.parts.iter(), 0)
    }

    /// Primitives of the draw.
    #[must_use]
    pub fn primitives(&self) -> u64 {
        sum(self.parts.iter(), 1)
    }

    /// Patches that a node has tessellated.
    #[must_use]
    pub fn patches_of(&self, node: u32) -> u64 {
        let own = self.parts.iter().filter(|part| part.node == node);
        own.map(|part| u64::from(part.tessellation.patches())).sum()
    }

    /// Vertices that a node has.
    #[must_use]
    pub fn vertices_of(&self, node: u32) -> u64 {
        sum(self.parts.iter().filter(|part| part.node == node), 0)
    }

    /// Primitives that a node has.
    #[must_use]
    pub fn primitives_of(&self, node: u32) -> u64 {
        sum(self.parts.iter().filter(|part| part.node == node), 1)
    }

    /// What each node has, in patch order: the node and the result on it.
    pub fn parts(&self) -> impl Iterator<Item = (u32, &Tessellation)> {
        self.parts.iter().map(|part| (part.node, &part.tessellation))
    }
}

/// Vertices (0) or primitives (1) of parts.
fn sum<'a>(parts: impl Iterator<Item = &'a NodePart>, i: usize) -> u64 {
    parts.flat_map(|part| part.chunks.iter().flatten()).map(|counts| u64::from(counts[i])).sum()
}

/// The part of a draw that a block is, with the patch ids that it has in the whole.
#[must_use]
pub fn draw_of_block<'a>(draw: &Draw<'a>, input_control_points: u32, block: &PatchBlock) -> Draw<'a> {
    let vertex = |patch: u32| draw.vertices.start + patch * input_control_points;
    let instance = |instance: u32| draw.instances.start + instance;
    Draw {
        vertices: vertex(block.patches.start)..vertex(block.patches.end),
        instances: instance(block.instances.start)..instance(block.instances.end),
        first_patch: draw.first_patch + block.patches.start,
        ..draw.clone()
    }
}

impl NodeSet {
    /// Tessellates a draw over all nodes: patches are shared out as `split` says and stay on the node that tessellated
    /// them; [`NodeSet::gather`] brings them together.
    ///
    /// `draws` are the draw as each node has it, in the order of the nodes. What is queued on the nodes is finished first.
    /// Each node counts its share before its memory is made. On native backends somebody has to poll the devices while
    /// this is awaited; `tessellate_blocking` does it itself.
    ///
    /// # Errors
    /// [`NodeError::Draws`] where they are not one draw, or one whose patches only the GPU can tell apart (strip cuts);
    /// [`NodeError::Split`] where the weights are none; else as [`NodeSet::finish`], [`TessellationPipeline::measure`] and
    /// [`TessellationPipeline::encode`].
    pub async fn tessellate(
        &mut self,
        draws: &[NodeDraw<'_>],
        split: Split<'_>,
    ) -> Result<NodeTessellation, NodeError> {
        self.finish().await?;
        let counted = self.count_shares(draws, split, |_, _| Ok(())).await.map_err(|error| self.lost_drawing(error))?;
        let tessellation = self.encode_parts(draws, counted).map_err(|error| self.lost_drawing(error))?;
        self.finish().await?;
        Ok(tessellation)
    }

    /// [`NodeSet::tessellate`], waiting for the devices.
    ///
    /// # Errors
    /// As [`NodeSet::tessellate`].
    #[cfg(feature = "blocking")]
    pub fn tessellate_blocking(
        &mut self,
        draws: &[NodeDraw<'_>],
        split: Split<'_>,
    ) -> Result<NodeTessellation, NodeError> {
        self.finish_blocking()?;
        let counted = pollster::block_on(self.count_shares(draws, split, |device, reading| reading.wait(device)))
            .map_err(|error| self.lost_drawing(error))?;
        let tessellation = self.encode_parts(draws, counted).map_err(|error| self.lost_drawing(error))?;
        self.finish_blocking()?;
        Ok(tessellation)
    }

    /// Reads a draw back as [`Mesh::read_blocking`] does: the mesh is the same as that of one node.
    ///
    /// # Errors
    /// [`NodeError::Foreign`]; else as [`Mesh::read`].
    #[cfg(feature = "blocking")]
    pub fn read_mesh_blocking(&self, tessellation: &NodeTessellation) -> Result<Mesh, NodeError> {
        self.check_tessellation(tessellation)?;
        let mut mesh = Mesh::empty(tessellation.surface.clone(), tessellation.topology);
        for part in &tessellation.parts {
            let (device, queue) = (self.device(part.node)?, self.queue(part.node)?);
            let read = Mesh::read_blocking(device, queue, &part.tessellation);
            mesh.append(read.map_err(|error| {
                self.or_lost(error.into(), std::iter::once(part.node), "before its share was read back")
            })?);
        }
        Ok(mesh)
    }

    fn lost_drawing(&self, error: NodeError) -> NodeError {
        self.or_lost(error, 0..self.node_count(), "as a draw was tessellated over the nodes")
    }

    pub(super) fn check_tessellation(&self, tessellation: &NodeTessellation) -> Result<(), NodeError> {
        if tessellation.set == self.id {
            return Ok(());
        }
        Err(NodeError::Foreign { what: "the tessellation".to_owned() })
    }

    /// Makes the workspaces of the parts and starts tessellating them.
    fn encode_parts(&mut self, draws: &[NodeDraw<'_>], counted: Vec<Counted>) -> Result<NodeTessellation, NodeError> {
        let Some(first) = draws.first() else { return Err(draws_refused("there are none".to_owned())) };
        let (surface, topology) = (first.pipeline.reflection.surface.clone(), first.pipeline.fixed.topology);
        let mut parts = Vec::with_capacity(counted.len());
        let mut lists = Vec::with_capacity(counted.len());
        for Counted { node, block, measurement } in counted {
            let Some(NodeDraw { pipeline, draw }) = draws.get(node as usize) else { continue };
            let descriptor = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
            let groups: Vec<_> = descriptor.chunks.iter().map(|chunk| chunk.threadgroups.clone()).collect();
            let mut workspace = Workspace::new(self.device(node)?, pipeline, descriptor)?;
            let mut list = self.create_command_list(1 << node)?;
            let part = draw_of_block(draw, pipeline.input_points, &block);
            let tessellation = pipeline.encode(self.queue(node)?, list.encoder(), &mut workspace, &part)?;
            lists.push(list.close()?);
            let counts = measurement.of_threadgroups();
            let chunks = groups
                .into_iter()
                .map(|groups| counts.get(groups.start as usize..groups.end as usize).unwrap_or(&[]).to_vec())
                .collect();
            parts.push(NodePart { node, tessellation, chunks });
        }
        // Everything is recorded; nothing is drawn by halves for want of memory on one node.
        for list in lists {
            self.execute(list)?;
        }
        Ok(NodeTessellation { set: self.id, parts, surface, topology })
    }
}

pub(super) fn draws_refused(reason: String) -> NodeError {
    NodeError::Draws { reason }
}

/// Refuses draws that are not the same draw on each node.
pub(super) fn check_draws(draws: &[NodeDraw<'_>], nodes: u32) -> Result<(), NodeError> {
    if draws.len() != nodes as usize {
        return Err(draws_refused(format!("{} were given for {nodes} nodes; give one a node", draws.len())));
    }
    let Some(first) = draws.first() else { return Ok(()) };
    for (node, NodeDraw { pipeline, draw }) in draws.iter().enumerate() {
        let extent =
            |draw: &Draw<'_>| (draw.vertices.clone(), draw.instances.clone(), draw.first_patch, draw.base_vertex);
        if extent(draw) != extent(&first.draw) {
            let reason = format!("node {node} draws {:?} and node 0 {:?}", extent(draw), extent(&first.draw));
            return Err(draws_refused(reason));
        }
        let (a, b) = (pipeline, first.pipeline);
        let same = a.fixed == b.fixed
            && a.input_points == b.input_points
            && a.reflection.surface == b.reflection.surface
            && draw.index_buffer.is_some() == first.draw.index_buffer.is_some();
        if !same {
            return Err(draws_refused(format!("the pipeline of node {node} is not that of node 0")));
        }
        if pipeline.strip_cut.is_some() && draw.index_buffer.is_some() {
            let reason = "with strip cuts only the GPU knows which indices a patch has; draw on one node";
            return Err(draws_refused(reason.to_owned()));
        }
    }
    Ok(())
}
