//! The device that the tests run on.

/// The adapter that `PATCHWAVE_ADAPTER` names (a part of its name), else the first that wgpu offers.
pub(crate) fn device() -> (wgpu::Device, wgpu::Queue) {
    device_with(patchwave::TessellationPipeline::required_limits)
}

pub(crate) fn device_with(limits: impl Fn(&wgpu::Adapter) -> wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let adapter = adapter();
    device_of(&adapter, limits(&adapter))
}

pub(crate) fn adapter() -> wgpu::Adapter {
    // Without OpenGL, which adds no GPU: a run on an H200 in which each test opened it as well did not end.
    let backends = wgpu::Backends::PRIMARY;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapters = pollster::block_on(instance.enumerate_adapters(backends));
    let wanted = std::env::var("PATCHWAVE_ADAPTER").unwrap_or_default().to_lowercase();
    adapters
        .into_iter()
        .find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted))
        .unwrap_or_else(|| panic!("no adapter whose name has `{wanted}`; run `make test`, which installs one"))
}

pub(crate) fn device_of(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    device_with_features(adapter, required_limits, wgpu::Features::empty())
}

pub(crate) fn device_with_features(
    adapter: &wgpu::Adapter,
    required_limits: wgpu::Limits,
    required_features: wgpu::Features,
) -> (wgpu::Device, wgpu::Queue) {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("test"),
        required_limits,
        required_features,
        ..wgpu::DeviceDescriptor::default()
    };
    pollster::block_on(adapter.request_device(&descriptor)).expect("the adapter gives a device")
}
