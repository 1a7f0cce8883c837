//! What is drawn into: a picture with a depth buffer, or nothing.

use anyhow::Context;
use ash::vk;

use super::{Buffer, Device};

/// The picture's format: what is shaded, stored as it is.
const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// Attachments, and the render pass that clears and draws into them.
pub(crate) struct Target<'d> {
    device: &'d Device,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pass: vk::RenderPass,
    pub(super) framebuffer: vk::Framebuffer,
    images: Vec<Image<'d>>,
}

impl<'d> Target<'d> {
    /// One pixel, and nothing that is written there.
    pub(crate) fn none(device: &'d Device) -> anyhow::Result<Self> {
        Self::of(device, 1, 1, Vec::new())
    }

    /// A picture of this size, cleared to black each time, and a depth buffer.
    pub(crate) fn picture(device: &'d Device, width: u32, height: u32) -> anyhow::Result<Self> {
        let color = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let depth = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let images = vec![
            Image::new(device, width, height, COLOR, color, vk::ImageAspectFlags::COLOR)?,
            Image::new(device, width, height, DEPTH, depth, vk::ImageAspectFlags::DEPTH)?,
        ];
        Self::of(device, width, height, images)
    }

    fn of(device: &'d Device, width: u32, height: u32, images: Vec<Image<'d>>) -> anyhow::Result<Self> {
        let attachment = |format, store, last| {
            vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(store)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(vk::ImageLayout::UNDEFINED)
                .final_layout(last)
        };
        let depth_layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let attachments = [
            attachment(COLOR, vk::AttachmentStoreOp::STORE, vk::ImageLayout::TRANSFER_SRC_OPTIMAL),
            attachment(DEPTH, vk::AttachmentStoreOp::DONT_CARE, depth_layout),
        ];
        let color = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL }];
        let depth = vk::AttachmentReference { attachment: 1, layout: depth_layout };
        let mut subpass = vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
        if !images.is_empty() {
            subpass = subpass.color_attachments(&color).depth_stencil_attachment(&depth);
        }
        let subpasses = [subpass];
        // Before: what was read or written of the images in the last pass. After: the copy of the picture.
        let stages = vk::PipelineStageFlags::ALL_COMMANDS;
        let dependencies = [(vk::SUBPASS_EXTERNAL, 0), (0, vk::SUBPASS_EXTERNAL)].map(|(from, to)| {
            vk::SubpassDependency::default()
                .src_subpass(from)
                .dst_subpass(to)
                .src_stage_mask(stages)
                .dst_stage_mask(stages)
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        });
        let create = vk::RenderPassCreateInfo::default()
            .attachments(&attachments[..images.len()])
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: the references are to attachments that are there.
        let pass = unsafe { device.device.create_render_pass(&create, None) }.context("no native render pass")?;
        let views: Vec<_> = images.iter().map(|image| image.view).collect();
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(width)
            .height(height)
            .layers(1);
        // SAFETY: the views are of the pass's attachments, in their order, and of this size.
        match unsafe { device.device.create_framebuffer(&create, None) } {
            Ok(framebuffer) => Ok(Self { device, width, height, pass, framebuffer, images }),
            Err(error) => {
                // SAFETY: the pass was used nowhere.
                unsafe { device.device.destroy_render_pass(pass, None) };
                Err(error).context("no native framebuffer")
            }
        }
    }

    /// How many attachments there are to clear.
    pub(super) fn attachments(&self) -> usize {
        self.images.len()
    }

    pub(super) fn color(&self) -> Option<vk::Image> {
        self.images.first().map(|image| image.image)
    }

    /// The picture that was copied: red, green, blue and alpha of each pixel.
    pub(crate) fn read(&self, copied: &Buffer<'_>) -> anyhow::Result<Vec<u8>> {
        copied.read(self.picture_bytes())
    }

    /// Bytes of the picture.
    pub(crate) fn picture_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * 4
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // SAFETY: what was recorded with them borrows the target and so is gone.
        unsafe {
            self.device.device.destroy_framebuffer(self.framebuffer, None);
            self.device.device.destroy_render_pass(self.pass, None);
        }
    }
}

/// An attachment with memory of its own.
struct Image<'d> {
    device: &'d Device,
    image: vk::Image,
    view: vk::ImageView,
    memory: vk::DeviceMemory,
}

impl<'d> Image<'d> {
    fn new(
        device: &'d Device,
        width: u32,
        height: u32,
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> anyhow::Result<Self> {
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: every device takes both formats as these attachments, at the sizes that pictures have.
        let image = unsafe { device.device.create_image(&create, None) }.context("no native image")?;
        // SAFETY: the image was just made.
        let requirements = unsafe { device.device.get_image_memory_requirements(image) };
        let kinds = [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()];
        let memory = match device.allocate(&requirements, &kinds) {
            Ok(memory) => memory,
            Err(error) => {
                // SAFETY: it has no memory and was used nowhere.
                unsafe { device.device.destroy_image(image, None) };
                return Err(error);
            }
        };
        let mut made = Self { device, image, view: vk::ImageView::null(), memory };
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let create = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        // SAFETY: neither is bound yet, and the memory is as large as required; the view is of what the image has.
        made.view = unsafe {
            device.device.bind_image_memory(image, memory, 0).context("no memory can be bound")?;
            device.device.create_image_view(&create, None).context("no view of a native image")?
        };
        Ok(made)
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: the target that has it is gone; destroying no view does nothing.
        unsafe {
            self.device.device.destroy_image_view(self.view, None);
            self.device.device.destroy_image(self.image, None);
            self.device.device.free_memory(self.memory, None);
        }
    }
}
