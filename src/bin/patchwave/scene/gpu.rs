//! The device that a verb works on, and how its errors reach the user.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use patchwave::TessellationPipeline;

use crate::adapter::Candidate;

/// A device of the chosen adapter.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// The adapter's name.
    pub(crate) name: String,
    /// What wgpu reported first. Its own handler would panic.
    failure: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Opens the adapter with what patchwave asks for, and timestamps where it has them.
    pub(crate) fn open(chosen: &Candidate) -> anyhow::Result<Self> {
        let name = chosen.info.name.clone();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("patchwave"),
            required_features: TessellationPipeline::required_features()
                | chosen.adapter.features() & crate::measure::STAMPS,
            required_limits: TessellationPipeline::required_limits(&chosen.adapter),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(chosen.adapter.request_device(&descriptor))
            .with_context(|| format!("adapter '{name}' gives no device"))?;
        let failure = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }));
        Ok(Self { device, queue, name, failure })
    }

    /// The first error that wgpu has reported until now, if there is one.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(message) => anyhow::bail!("adapter '{}': {message}", self.name),
        }
    }

    /// Waits until everything submitted is done.
    pub(crate) fn wait(&self) -> anyhow::Result<()> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        waited.with_context(|| format!("adapter '{}' stopped answering", self.name))?;
        Ok(())
    }

    /// A buffer with these contents, and zeros up to a multiple of 4 bytes, which is what can be written.
    pub(crate) fn buffer(&self, label: &str, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: (bytes.len() as u64).next_multiple_of(4),
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let (whole, rest) = bytes.split_at(bytes.len() / 4 * 4);
        self.queue.write_buffer(&buffer, 0, whole);
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            self.queue.write_buffer(&buffer, whole.len() as u64, &last);
        }
        buffer
    }

    /// A storage buffer of these bytes that passes read, at binding 0 of a group of its own.
    #[cfg(feature = "native")]
    pub(crate) fn table(&self, label: &str, bytes: &[u8]) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        self.storage_group(label, &self.buffer(label, bytes, wgpu::BufferUsages::STORAGE))
    }

    /// A storage buffer that passes read, at binding 0 of a group of its own.
    pub(crate) fn storage_group(&self, label: &str, buffer: &wgpu::Buffer) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        let ty = wgpu::BufferBindingType::Storage { read_only: true };
        self.group(label, wgpu::ShaderStages::COMPUTE, ty, buffer)
    }

    /// A uniform buffer that passes read, at binding 0 of a group of its own.
    pub(crate) fn uniform_group(&self, label: &str, buffer: &wgpu::Buffer) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        self.group(label, wgpu::ShaderStages::COMPUTE, wgpu::BufferBindingType::Uniform, buffer)
    }

    /// A uniform matrix at binding 0 of a group of its own.
    #[cfg(feature = "native")]
    pub(crate) fn matrix(
        &self,
        label: &str,
        stages: wgpu::ShaderStages,
        matrix: &glam::Mat4,
    ) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        let columns = matrix.to_cols_array();
        let buffer = self.buffer(label, bytemuck::bytes_of(&columns), wgpu::BufferUsages::UNIFORM);
        self.group(label, stages, wgpu::BufferBindingType::Uniform, &buffer)
    }

    fn group(
        &self,
        label: &str,
        visibility: wgpu::ShaderStages,
        ty: wgpu::BufferBindingType,
        buffer: &wgpu::Buffer,
    ) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        let layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            }],
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(label),
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        (layout, group)
    }

    /// The bytes of a buffer that is made with `MAP_READ`.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer) -> anyhow::Result<Vec<u8>> {
        let failed = |reason: String| anyhow::anyhow!("reading back from adapter '{}' failed: {reason}", self.name);
        let outcome = Arc::new(Mutex::new(None));
        let told = Arc::clone(&outcome);
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        self.wait()?;
        match outcome.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failed(error.to_string())),
            None => return Err(failed("the device was lost".to_owned())),
        }
        let bytes = buffer.get_mapped_range(..).map_err(|error| failed(error.to_string()))?.to_vec();
        buffer.unmap();
        Ok(bytes)
    }
}
