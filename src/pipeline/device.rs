//! Making wgpu objects without ever reaching wgpu's uncaptured-error handler, which panics by default.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Error;

/// Runs `make` under error scopes and turns what wgpu reports, or a panic of its shader compiler, into an error.
///
/// On native backends a scope's future is ready at once. In a browser it is not; there the error goes to the page's
/// console and the object stays invalid, which its first use reports.
pub(crate) fn guarded<T>(device: &wgpu::Device, what: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let made = catch_unwind(AssertUnwindSafe(make));
    let mut message = None;
    for scope in [internal, memory, validation] {
        if let Some(Some(error)) = ready(scope.pop()) {
            message.get_or_insert_with(|| error.to_string());
        }
    }
    match (made, message) {
        (Err(panic), _) => {
            let message = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(Error::Compiler { what: what.to_owned(), message: message.to_owned() })
        }
        (Ok(_), Some(message)) => Err(Error::Wgpu { what: what.to_owned(), message: one_line(&message) }),
        (Ok(value), None) => Ok(value),
    }
}

/// A module of WGSL with wgpu's checks of indices, divisions and bindings. Where all its loops are known to end, without
/// the counters that would end them.
#[allow(unsafe_code, reason = "wgpu has no safe way to leave out the counters alone")]
pub(crate) fn shader_module(device: &wgpu::Device, label: &str, wgsl: &str, loops_end: bool) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(wgsl.into()) };
    if !loops_end {
        return device.create_shader_module(descriptor);
    }
    let checks = wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..wgpu::ShaderRuntimeChecks::checked() };
    // SAFETY: what is asked for is that no loop runs for ever, since that would be undefined behaviour. The user's loops
    // are counted ones (`shader::loops`). Ours count up to a number of patches, points, primitives, items or factors, or
    // halve a range of them.
    unsafe { device.create_shader_module_trusted(descriptor, checks) }
}

fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// wgpu's messages are indented paragraphs; ours are one line.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The size that a buffer for so many bytes gets: a binding of 0 bytes is not allowed, and 16 bytes hold any element that
/// we bind a stand-in for.
pub(crate) fn rounded(size: u64) -> u64 {
    size.max(16).next_multiple_of(4)
}

/// A buffer of `size` bytes, refused beforehand where the device could not have it or bind it.
pub(crate) fn buffer(
    device: &wgpu::Device,
    label: &str,
    size: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    let limits = device.limits();
    let size = rounded(size);
    let advice = "split the draw into chunks (Workspace::for_measurement), or request a higher limit";
    if size > limits.max_buffer_size {
        return Err(Error::LimitExceeded {
            what: label.to_owned(),
            limit: "max_buffer_size",
            needed: size,
            available: limits.max_buffer_size,
            advice,
        });
    }
    if usage.contains(wgpu::BufferUsages::STORAGE) && size > limits.max_storage_buffer_binding_size {
        return Err(Error::LimitExceeded {
            what: label.to_owned(),
            limit: "max_storage_buffer_binding_size",
            needed: size,
            available: limits.max_storage_buffer_binding_size,
            advice,
        });
    }
    guarded(device, label, || {
        device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
    })
}

/// What a shader may use on a device of these features, as far as it is a matter of types and operations; the rest wgpu
/// checks when the kernel is made.
pub(crate) fn shader_capabilities(features: wgpu::Features) -> naga::valid::Capabilities {
    use naga::valid::Capabilities as Can;
    use wgpu::Features as Has;
    let mut capabilities = crate::shader::any_capabilities();
    for (can, has) in [
        (Can::FLOAT64, Has::SHADER_F64),
        (Can::SHADER_FLOAT16, Has::SHADER_F16),
        (Can::SHADER_INT64, Has::SHADER_INT64),
        (Can::SHADER_INT16, Has::SHADER_I16),
        (Can::SHADER_INT64_ATOMIC_ALL_OPS, Has::SHADER_INT64_ATOMIC_ALL_OPS),
        (Can::SHADER_FLOAT32_ATOMIC, Has::SHADER_FLOAT32_ATOMIC),
        (Can::TEXTURE_ATOMIC, Has::TEXTURE_ATOMIC),
        (Can::SUBGROUP, Has::SUBGROUP),
    ] {
        capabilities.set(can, features.contains(has));
    }
    capabilities
}
