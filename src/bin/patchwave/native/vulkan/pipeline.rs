//! Graphics pipelines with tessellation, and the storage buffers that their stages see.

use anyhow::Context;
use ash::vk;

use super::{Buffer, Device, Target};

/// Bytes of push constants that the evaluation stage has: a matrix.
pub(super) const CONSTANT_BYTES: u32 = 64;

/// SPIR-V of the stages.
pub(crate) struct Stages {
    pub(crate) vertex: Vec<u32>,
    pub(crate) control: Vec<u32>,
    pub(crate) evaluation: Vec<u32>,
    /// None where nothing is shaded.
    pub(crate) fragment: Option<Vec<u32>>,
}

/// What becomes of primitives behind the evaluation stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raster {
    /// Nothing: rasterizer discard.
    Discard,
    /// They are clipped, where pipeline statistics count them, and all culled.
    CullAll,
    /// They are drawn, both faces, nearest first.
    Draw,
}

/// What a pipeline is made of.
pub(crate) struct PipelineDescriptor<'a, 'd> {
    pub(crate) stages: &'a Stages,
    /// Control points of a patch, 1 to 32.
    pub(crate) control_points: u32,
    /// Vectors of three floats that a vertex has, tightly packed in one buffer; none without a vertex buffer.
    pub(crate) attributes: u32,
    /// Storage buffers that the stages see, from binding 0 on.
    pub(crate) buffers: u32,
    pub(crate) raster: Raster,
    pub(crate) target: &'a Target<'d>,
}

/// A pipeline and its layouts.
pub(crate) struct Pipeline<'d> {
    device: &'d Device,
    pub(super) pipeline: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    sets: vk::DescriptorSetLayout,
    buffers: u32,
}

impl<'d> Pipeline<'d> {
    pub(crate) fn new(device: &'d Device, descriptor: &PipelineDescriptor<'_, '_>) -> anyhow::Result<Self> {
        let entries: Vec<_> = (0..descriptor.buffers)
            .map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS)
            })
            .collect();
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&entries);
        // SAFETY: the bindings are distinct.
        let sets =
            unsafe { device.device.create_descriptor_set_layout(&create, None) }.context("no native set layout")?;
        // Dropped with what it has by then, should anything below fail: destroying what is null does nothing.
        let mut made = Self {
            device,
            pipeline: vk::Pipeline::null(),
            layout: vk::PipelineLayout::null(),
            sets,
            buffers: descriptor.buffers,
        };
        let layouts = [sets];
        let constants = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::TESSELLATION_EVALUATION,
            offset: 0,
            size: CONSTANT_BYTES,
        }];
        let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&constants);
        // SAFETY: every device has 128 bytes of push constants.
        made.layout =
            unsafe { device.device.create_pipeline_layout(&create, None) }.context("no native pipeline layout")?;

        let Stages { vertex, control, evaluation, fragment } = descriptor.stages;
        let mut modules = Modules { device, modules: Vec::new() };
        modules.add(vk::ShaderStageFlags::VERTEX, vertex)?;
        modules.add(vk::ShaderStageFlags::TESSELLATION_CONTROL, control)?;
        modules.add(vk::ShaderStageFlags::TESSELLATION_EVALUATION, evaluation)?;
        if let Some(fragment) = fragment {
            modules.add(vk::ShaderStageFlags::FRAGMENT, fragment)?;
        }
        made.pipeline = create_pipeline(device, descriptor, &modules, made.layout)?;
        Ok(made)
    }

    /// The buffers that the stages see, in the order of their bindings.
    pub(crate) fn bindings<'b>(&'b self, buffers: &[&'b Buffer<'d>]) -> anyhow::Result<Bindings<'b>> {
        let device = self.device;
        anyhow::ensure!(buffers.len() as u32 == self.buffers, "a native pipeline has {} buffers", self.buffers);
        let sizes =
            [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: self.buffers.max(1) }];
        let create = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: its sizes are not 0.
        let pool = unsafe { device.device.create_descriptor_pool(&create, None) }.context("no descriptor pool")?;
        let mut bindings = Bindings { device, pool, set: vk::DescriptorSet::null(), buffers: buffers.len() };
        let layouts = [self.sets];
        let allocate = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for just this set.
        let sets = unsafe { device.device.allocate_descriptor_sets(&allocate) }.context("no descriptor set")?;
        bindings.set = sets.first().copied().unwrap_or_default();
        for (binding, buffer) in buffers.iter().enumerate() {
            let whole = [vk::DescriptorBufferInfo::default().buffer(buffer.buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(bindings.set)
                .dst_binding(binding as u32)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&whole);
            // SAFETY: the set is in use nowhere, and the buffers outlive it, as it borrows them.
            unsafe { device.device.update_descriptor_sets(&[write], &[]) };
        }
        Ok(bindings)
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        // SAFETY: what was recorded with it borrows it and so is gone.
        unsafe {
            self.device.device.destroy_pipeline(self.pipeline, None);
            self.device.device.destroy_pipeline_layout(self.layout, None);
            self.device.device.destroy_descriptor_set_layout(self.sets, None);
        }
    }
}

fn create_pipeline(
    device: &Device,
    descriptor: &PipelineDescriptor<'_, '_>,
    modules: &Modules<'_>,
    layout: vk::PipelineLayout,
) -> anyhow::Result<vk::Pipeline> {
    let PipelineDescriptor { control_points, attributes, raster, target, .. } = *descriptor;
    let stages: Vec<_> = modules
        .modules
        .iter()
        .map(|(stage, module)| vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(*module).name(c"main"))
        .collect();
    let buffers = [vk::VertexInputBindingDescription {
        binding: 0,
        stride: 12 * attributes,
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    let inputs: Vec<_> = (0..attributes)
        .map(|location| vk::VertexInputAttributeDescription {
            location,
            binding: 0,
            format: vk::Format::R32G32B32_SFLOAT,
            offset: 12 * location,
        })
        .collect();
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&buffers[..usize::from(attributes > 0)])
        .vertex_attribute_descriptions(&inputs);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::PATCH_LIST);
    let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(control_points);
    // As wgpu has it, y points up: the viewport is turned over.
    let (width, height) = (target.width as f32, target.height as f32);
    let viewports = [vk::Viewport { x: 0.0, y: height, width, height: -height, min_depth: 0.0, max_depth: 1.0 }];
    let scissors = [vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent: vk::Extent2D { width: target.width, height: target.height },
    }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let cull = if raster == Raster::CullAll { vk::CullModeFlags::FRONT_AND_BACK } else { vk::CullModeFlags::NONE };
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .rasterizer_discard_enable(raster == Raster::Discard)
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(cull)
        .line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend =
        vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends[..usize::from(target.attachments() > 0)]);
    let create = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .tessellation_state(&tessellation)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .layout(layout)
        .render_pass(target.pass);
    // SAFETY: the modules are SPIR-V of our own shaders, made for this layout; the pass is alive.
    let pipelines = unsafe { device.device.create_graphics_pipelines(vk::PipelineCache::null(), &[create], None) };
    match pipelines {
        Ok(pipelines) => pipelines.first().copied().context("no native pipeline"),
        Err((_, error)) => Err(error).context("the driver makes no native tessellation pipeline"),
    }
}

/// Shader modules, which pipelines need only while they are made.
struct Modules<'d> {
    device: &'d Device,
    modules: Vec<(vk::ShaderStageFlags, vk::ShaderModule)>,
}

impl Modules<'_> {
    fn add(&mut self, stage: vk::ShaderStageFlags, code: &[u32]) -> anyhow::Result<()> {
        let create = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: the code is what glslang made of a shader of ours.
        let module =
            unsafe { self.device.device.create_shader_module(&create, None) }.context("no native shader module")?;
        self.modules.push((stage, module));
        Ok(())
    }
}

impl Drop for Modules<'_> {
    fn drop(&mut self) {
        for (_, module) in &self.modules {
            // SAFETY: pipelines do not keep their modules.
            unsafe { self.device.device.destroy_shader_module(*module, None) };
        }
    }
}

/// Buffers bound to a pipeline's stages.
pub(crate) struct Bindings<'b> {
    device: &'b Device,
    pool: vk::DescriptorPool,
    pub(super) set: vk::DescriptorSet,
    buffers: usize,
}

impl Bindings<'_> {
    /// Whether there is a set to bind at all.
    pub(super) fn is_empty(&self) -> bool {
        self.buffers == 0
    }
}

impl Drop for Bindings<'_> {
    fn drop(&mut self) {
        // SAFETY: what was recorded with it borrows it and so is gone; the set goes with its pool.
        unsafe { self.device.device.destroy_descriptor_pool(self.pool, None) };
    }
}
