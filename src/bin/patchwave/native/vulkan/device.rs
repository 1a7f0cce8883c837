//! Instance, device and queue, opened beside wgpu's.

use anyhow::Context;
use ash::{ext, vk};
use std::ffi::CStr;

/// A Vulkan device with tessellation, the same that wgpu has under this name.
pub(crate) struct Device {
    pub(crate) name: String,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) queue: vk::Queue,
    pub(super) pool: vk::CommandPool,
    /// Present where the device captures what comes out of the evaluation stage.
    pub(super) feedback: Option<ext::transform_feedback::Device>,
    /// Whether it is a processor.
    pub(crate) is_processor: bool,
    /// Bytes of a storage buffer that a stage can see.
    pub(crate) largest_binding: u64,
    stamps: Option<Stamps>,
    pub(super) device: ash::Device,
    instance: ash::Instance,
    /// The loader's library, which the others call into.
    _entry: ash::Entry,
}

impl Device {
    /// Opens the device that wgpu calls the same.
    ///
    /// # Errors
    /// Another backend than Vulkan; no Vulkan loader; a device without tessellation or what its capture needs.
    pub(crate) fn open(info: &wgpu::AdapterInfo) -> anyhow::Result<Self> {
        anyhow::ensure!(
            info.backend == wgpu::Backend::Vulkan,
            "native tessellation is reached through Vulkan, and adapter '{}' is {}'s; choose one of Vulkan's with --adapter",
            info.name,
            info.backend
        );
        // SAFETY: the library is the system's Vulkan loader, which has no other initialisation than being loaded.
        let entry = unsafe { ash::Entry::load() }.context("there is no Vulkan loader")?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structs outlive the call.
        let instance = unsafe { entry.create_instance(&create, None) }.context("Vulkan gives no instance")?;
        match Self::of_instance(&instance, info) {
            Ok(open) => {
                let Open { name, memory, queue, pool, feedback, is_processor, largest_binding, stamps, device } = open;
                Ok(Self {
                    name,
                    memory,
                    queue,
                    pool,
                    feedback,
                    is_processor,
                    largest_binding,
                    stamps,
                    device,
                    instance,
                    _entry: entry,
                })
            }
            Err(error) => {
                // SAFETY: nothing made of the instance is left.
                unsafe { instance.destroy_instance(None) };
                Err(error)
            }
        }
    }

    fn of_instance(instance: &ash::Instance, info: &wgpu::AdapterInfo) -> anyhow::Result<Open> {
        // SAFETY: the instance is alive, here and below.
        let physicals = unsafe { instance.enumerate_physical_devices() }.context("Vulkan lists no devices")?;
        let named = |physical: &vk::PhysicalDevice| {
            // SAFETY: the device is of this instance.
            let properties = unsafe { instance.get_physical_device_properties(*physical) };
            let name = properties.device_name_as_c_str().unwrap_or_default();
            properties.vendor_id == info.vendor
                && properties.device_id == info.device
                && name.to_string_lossy() == info.name
        };
        let physical = physicals
            .into_iter()
            .find(named)
            .with_context(|| format!("Vulkan itself has no device '{}', though wgpu has", info.name))?;
        // SAFETY: the device is of this instance, here and below.
        let (properties, features, families, memory, extensions) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_features(physical),
                instance.get_physical_device_queue_family_properties(physical),
                instance.get_physical_device_memory_properties(physical),
                instance.enumerate_device_extension_properties(physical).context("the device lists no extensions")?,
            )
        };
        let needed = [
            (features.tessellation_shader, "tessellationShader"),
            (features.vertex_pipeline_stores_and_atomics, "vertexPipelineStoresAndAtomics"),
            (features.pipeline_statistics_query, "pipelineStatisticsQuery"),
        ];
        let missing: Vec<_> = needed.iter().filter(|(has, _)| *has == vk::FALSE).map(|(_, name)| *name).collect();
        anyhow::ensure!(
            missing.is_empty(),
            "adapter '{}' cannot tessellate natively: it lacks {}",
            info.name,
            missing.join(", ")
        );
        anyhow::ensure!(properties.api_version >= vk::API_VERSION_1_1, "adapter '{}' has only Vulkan 1.0", info.name);
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS))
            .with_context(|| format!("adapter '{}' has no queue for graphics", info.name))?;

        let wants_feedback = has_feedback(instance, physical, &extensions);
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family as u32).queue_priorities(&priorities)];
        let enabled = vk::PhysicalDeviceFeatures::default()
            .tessellation_shader(true)
            .vertex_pipeline_stores_and_atomics(true)
            .pipeline_statistics_query(true);
        let mut with_feedback = vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default().transform_feedback(true);
        let names = [ext::transform_feedback::NAME.as_ptr()];
        let mut create = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_features(&enabled);
        if wants_feedback {
            create = create.enabled_extension_names(&names).push_next(&mut with_feedback);
        }
        // SAFETY: all that is asked for was seen to be there.
        let device = unsafe { instance.create_device(physical, &create, None) }
            .with_context(|| format!("adapter '{}' gives no Vulkan device", info.name))?;
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family as u32);
        // SAFETY: the family is one that the device was made with, which has one queue.
        let (queue, pool) =
            unsafe { (device.get_device_queue(family as u32, 0), device.create_command_pool(&pool, None)) };
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => {
                // SAFETY: nothing made of the device is left.
                unsafe { device.destroy_device(None) };
                return Err(error).context("no command pool");
            }
        };
        let is_processor = properties.device_type == vk::PhysicalDeviceType::CPU;
        let valid_bits = families.get(family).map_or(0, |family| family.timestamp_valid_bits);
        let stamps = Stamps::new(valid_bits, properties.limits.timestamp_period);
        Ok(Open {
            name: info.name.clone(),
            memory,
            queue,
            pool,
            feedback: wants_feedback.then(|| ext::transform_feedback::Device::new(instance, &device)),
            is_processor,
            largest_binding: properties.limits.max_storage_buffer_range.into(),
            // lavapipe's around a draw whose primitives are discarded tell a hundredth of the time that it takes.
            stamps: stamps.filter(|_| !is_processor),
            device,
        })
    }

    /// Whether the queue has time stamps that can be believed.
    pub(crate) fn has_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    /// What times are by.
    pub(crate) fn clock(&self) -> &'static str {
        if self.has_stamps() { "GPU time stamps around the pass" } else { "wall clock around submit and wait" }
    }

    /// Milliseconds from one time stamp to a later one; none where there are none.
    pub(crate) fn milliseconds(&self, from: u64, to: u64) -> Option<f64> {
        self.stamps.map(|stamps| stamps.milliseconds(from, to))
    }

    /// Whether primitives can be captured as they come out of the evaluation stage.
    pub(crate) fn captures_primitives(&self) -> bool {
        self.feedback.is_some()
    }
}

/// What [`Device`] has beside its instance.
struct Open {
    name: String,
    memory: vk::PhysicalDeviceMemoryProperties,
    queue: vk::Queue,
    pool: vk::CommandPool,
    feedback: Option<ext::transform_feedback::Device>,
    is_processor: bool,
    largest_binding: u64,
    stamps: Option<Stamps>,
    device: ash::Device,
}

/// What a queue's time stamps mean.
#[derive(Clone, Copy, Debug)]
struct Stamps {
    /// The bits that count; a stamp that lacks any wraps there.
    mask: u64,
    /// Nanoseconds a tick.
    period: f64,
}

impl Stamps {
    /// Of a queue whose stamps have so many bits; none where they have none.
    fn new(valid_bits: u32, period: f32) -> Option<Self> {
        let mask = u64::MAX.checked_shr(64u32.saturating_sub(valid_bits))?;
        Some(Self { mask, period: period.into() })
    }

    fn milliseconds(self, from: u64, to: u64) -> f64 {
        (to.wrapping_sub(from) & self.mask) as f64 * self.period / 1e6
    }
}

fn has_feedback(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    extensions: &[vk::ExtensionProperties],
) -> bool {
    let is_it = |extension: &vk::ExtensionProperties| {
        extension.extension_name_as_c_str().is_ok_and(|name: &CStr| name == ext::transform_feedback::NAME)
    };
    if !extensions.iter().any(is_it) {
        return false;
    }
    let mut feedback = vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut feedback);
    // SAFETY: the struct in the chain is of an extension that the device has.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    feedback.transform_feedback == vk::TRUE
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all that is made of the device borrows it and so is gone; each submission was waited for.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stamps;

    #[test]
    fn stamps_wrap_where_their_bits_end() {
        assert!(Stamps::new(0, 1.0).is_none());
        let wrapping = Stamps::new(36, 2.0).expect("it has bits");
        assert_eq!(wrapping.milliseconds((1 << 36) - 400_000, 100_000), 1.0);
        assert_eq!(Stamps::new(64, 1.0).expect("it has bits").milliseconds(5, 1_000_005), 1.0);
    }
}
