//! A pipeline whose patches take their factors from a table by their id, for the tests of memory and order: what matters
//! there is how much a patch comes to.

use patchwave::tessellator::TessellatedPatch;
use patchwave::{
    Domain, Draw, Error, OutputTopology, Partitioning, Tessellation, TessellationPipeline,
    TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor,
};

use super::model::tessellate;
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

/// Vertices carry `location` and, in `ids`, the patch id and the vertex index of the first control point.
fn shader(domain: Domain) -> String {
    format!(
        "{}
         struct P {{ vertex: u32 }}
         struct S {{ @location(0) location: {location}, @location(1) ids: vec2u }}
         fn vertex(id: VertexId) -> P {{ return P(id.vertex_index); }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn domain(location: {location}, patch_id: u32) -> S {{
             return S(location, vec2u(patch_id, output_point(0u).vertex));
         }}",
        factor_table_wgsl(domain),
        location = location_type(domain),
    )
}

pub(crate) struct TablePipeline {
    pub(crate) pipeline: TessellationPipeline,
    pub(crate) table: FactorTable,
    pub(crate) patches: Vec<TessellatedPatch>,
    control_points: u32,
}

impl TablePipeline {
    /// One control point a patch.
    pub(crate) fn new(rig: &Rig, domain: Domain, topology: OutputTopology, factors: &[[f32; 6]]) -> Self {
        Self::with_points(rig, domain, topology, factors, 1)
    }

    pub(crate) fn with_points(
        rig: &Rig,
        domain: Domain,
        topology: OutputTopology,
        factors: &[[f32; 6]],
        control_points: u32,
    ) -> Self {
        let table = FactorTable::new(rig, factors);
        let shader = shader(domain);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, control_points);
        descriptor.names.hull = None;
        descriptor.output_topology = topology;
        let groups = [Some(&table.layout)];
        descriptor.bind_group_layouts = &groups;
        // Off-chip throughout: the mode in which the most can run out.
        let pipeline = rig.pipeline(&descriptor.off_chip(patchwave::hardware::TessellationParameters {
            tessellation_factor_threshold: Some(0.0),
            ds_wave_threshold: Some(0),
            ..Default::default()
        }));
        let patches = tessellate(domain, Partitioning::Integer, topology, factors);
        Self { pipeline, table, patches, control_points }
    }

    /// Vertices and primitives of the first `patches` patches.
    pub(crate) fn counts(&self, patches: u32) -> [u32; 2] {
        let own = || self.patches.iter().take(patches as usize);
        [own().map(TessellatedPatch::point_count).sum(), own().map(TessellatedPatch::primitive_count).sum()]
    }

    /// Sizes for draws of `patches` patches in all, with this much room for what comes out.
    pub(crate) fn sizes(&self, patches: u32, [vertices, primitives]: [u32; 2]) -> WorkspaceDescriptor {
        WorkspaceDescriptor::new(&self.pipeline, patches, vertices, primitives)
    }

    /// Calls `with` with the draw of the first `patches` patches.
    pub(crate) fn with_draw<T>(&self, patches: u32, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        let groups = [Some(&self.table.group)];
        with(&Draw { bind_groups: &groups, ..Draw::new(0..patches * self.control_points) })
    }

    /// Encodes a draw of the first `patches` patches, beginning with this vertex.
    pub(crate) fn encode_from(
        &self,
        rig: &Rig,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        patches: u32,
        first_vertex: u32,
    ) -> Result<Tessellation, Error> {
        let groups = [Some(&self.table.group)];
        let mut draw = Draw::new(first_vertex..first_vertex + patches * self.control_points);
        draw.bind_groups = &groups;
        self.pipeline.encode(&rig.queue, encoder, workspace, &draw)
    }

    pub(crate) fn encode(
        &self,
        rig: &Rig,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        patches: u32,
    ) -> Tessellation {
        self.encode_from(rig, encoder, workspace, patches, 0).unwrap_or_else(|error| panic!("encoding: {error}"))
    }

    /// Encodes and submits a draw of the first `patches` patches.
    pub(crate) fn run(&self, rig: &Rig, workspace: &mut Workspace, patches: u32) -> Tessellation {
        let mut encoder = rig.encoder();
        let tessellation = self.encode(rig, &mut encoder, workspace, patches);
        rig.queue.submit([encoder.finish()]);
        tessellation
    }
}
