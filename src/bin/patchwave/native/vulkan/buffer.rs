//! Buffers: on the device, or where the host can read and write them.

use anyhow::Context;
use ash::vk;

use super::Device;

/// A buffer with memory of its own.
pub(crate) struct Buffer<'d> {
    device: &'d Device,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
    /// Whether the host can map it.
    is_host: bool,
}

const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

impl<'d> Buffer<'d> {
    /// An empty buffer of at least 4 bytes in the device's memory, for storage and vertices, and for transform feedback
    /// where the device has it.
    pub(crate) fn new(device: &'d Device, bytes: u64) -> anyhow::Result<Self> {
        Self::made(device, bytes, &[vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()], false)
    }

    /// A buffer in the device's memory with these contents.
    pub(crate) fn with(device: &'d Device, contents: &[u8]) -> anyhow::Result<Self> {
        let buffer = Self::new(device, contents.len() as u64)?;
        let staging = Self::host(device, contents.len() as u64)?;
        staging.write(contents)?;
        let commands = device.record(|recorder| {
            recorder.copy(&staging, &buffer, contents.len() as u64);
            Ok(())
        })?;
        commands.submit()?;
        drop(commands);
        Ok(buffer)
    }

    /// The first so many bytes.
    pub(crate) fn read(&self, bytes: u64) -> anyhow::Result<Vec<u8>> {
        let bytes = bytes.min(self.bytes);
        let staging = Self::host(self.device, bytes)?;
        let commands = self.device.record(|recorder| {
            recorder.copy(self, &staging, bytes);
            Ok(())
        })?;
        commands.submit()?;
        drop(commands);
        staging.read_mapped(bytes)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn host(device: &'d Device, bytes: u64) -> anyhow::Result<Self> {
        let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        Self::made(device, bytes, &[coherent | vk::MemoryPropertyFlags::HOST_CACHED, coherent], true)
    }

    /// In the first kind of memory that is there.
    fn made(device: &'d Device, bytes: u64, kinds: &[vk::MemoryPropertyFlags], is_host: bool) -> anyhow::Result<Self> {
        let mut usage = USAGE;
        if device.captures_primitives() {
            usage |= vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT;
        }
        let bytes = bytes.max(4);
        let create = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the size is not 0, and the usage is of enabled extensions.
        let buffer = unsafe { device.device.create_buffer(&create, None) }
            .with_context(|| format!("no native buffer of {bytes} bytes"))?;
        // SAFETY: the buffer was just made.
        let requirements = unsafe { device.device.get_buffer_memory_requirements(buffer) };
        let memory = match device.allocate(&requirements, kinds) {
            Ok(memory) => memory,
            Err(error) => {
                // SAFETY: it has no memory and was used nowhere.
                unsafe { device.device.destroy_buffer(buffer, None) };
                return Err(error);
            }
        };
        let made = Self { device, buffer, memory, bytes, is_host };
        // SAFETY: neither is bound yet, and the memory is as large as required.
        unsafe { device.device.bind_buffer_memory(buffer, memory, 0) }.context("no memory can be bound")?;
        Ok(made)
    }

    /// Writes the first bytes.
    fn write(&self, contents: &[u8]) -> anyhow::Result<()> {
        anyhow::ensure!(self.is_host && contents.len() as u64 <= self.bytes, "a native buffer cannot be written");
        let device = &self.device.device;
        // SAFETY: the memory is visible to the host and not mapped; it is coherent, and as long as the contents at least.
        unsafe {
            let to = device.map_memory(self.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            std::ptr::copy_nonoverlapping(contents.as_ptr(), to.cast(), contents.len());
            device.unmap_memory(self.memory);
        }
        Ok(())
    }

    /// Reads the first bytes.
    pub(super) fn read_mapped(&self, bytes: u64) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(self.is_host && bytes <= self.bytes, "a native buffer cannot be read");
        let device = &self.device.device;
        let mut contents = vec![0; bytes as usize];
        // SAFETY: the memory is visible to the host and not mapped; it is coherent, and as long as what is read at least.
        unsafe {
            let from = device.map_memory(self.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            std::ptr::copy_nonoverlapping(from.cast(), contents.as_mut_ptr(), contents.len());
            device.unmap_memory(self.memory);
        }
        Ok(contents)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: what was recorded with it borrows it and so is gone.
        unsafe {
            self.device.device.destroy_buffer(self.buffer, None);
            self.device.device.free_memory(self.memory, None);
        }
    }
}

impl Device {
    /// Memory of the first of these kinds that there is for the requirements.
    pub(super) fn allocate(
        &self,
        requirements: &vk::MemoryRequirements,
        kinds: &[vk::MemoryPropertyFlags],
    ) -> anyhow::Result<vk::DeviceMemory> {
        let types = self.memory.memory_types_as_slice();
        let fits = |kind: &vk::MemoryPropertyFlags| {
            let fit = |(i, found): (usize, &vk::MemoryType)| {
                requirements.memory_type_bits & (1 << i) != 0 && found.property_flags.contains(*kind)
            };
            types.iter().enumerate().position(fit)
        };
        let found = kinds.iter().find_map(fits).context("the device has no memory of the kind that is needed")?;
        let allocate =
            vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(found as u32);
        // SAFETY: the type is one of the device's.
        unsafe { self.device.allocate_memory(&allocate, None) }
            .with_context(|| format!("the device has no {} bytes of memory left", requirements.size))
    }
}
