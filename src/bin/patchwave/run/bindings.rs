//! The user's resources: uniforms, storage buffers, textures and samplers, by their variables' names.

use std::path::Path;

use patchwave::shader::{BindingKind, Reflection, TextureSample, UserBinding};

use super::buffers::read_file;
use super::camera::Names;
use super::file::{Address, Binding, Compare, Filter, SceneFile};
use super::pack::pack;
use super::place::{Complaint, Place, suggestion};
use super::textures::{TextureData, view_dimension};
use super::value::Value;
use crate::scene::gpu::Gpu;

/// WebGPU's last bind group is patchwave's.
const GROUPS: u32 = 3;

/// A resource of the shader's, with what the file gives for it.
struct Resource<'a> {
    declared: UserBinding,
    given: &'a Binding,
    texture: Option<TextureData>,
}

/// The resources of a shader, checked against the file, before the pipeline is made.
pub(crate) struct Resources<'a> {
    all: Vec<Resource<'a>>,
    pub(crate) layouts: Vec<Option<wgpu::BindGroupLayout>>,
}

/// The bind groups, and the buffers among their resources by name.
pub(crate) struct Bound {
    pub(crate) groups: Vec<Option<wgpu::BindGroup>>,
    pub(crate) buffers: Vec<(String, wgpu::Buffer)>,
}

impl<'a> Resources<'a> {
    pub(crate) fn new(
        gpu: &Gpu,
        reflection: &Reflection,
        file: &'a SceneFile,
        folder: &Path,
    ) -> Result<Self, Complaint> {
        let place = Place::new("bindings");
        let known = || reflection.bindings.iter().map(|binding| binding.name.as_str());
        if let Some(name) = file.bindings.keys().find(|name| !known().any(|known| known == name.as_str())) {
            let hint = suggestion(name, known());
            return Err(place.key(name).complain(format!("the shader has no resource '{name}'{hint}")));
        }
        let mut all = Vec::new();
        for declared in &reflection.bindings {
            let Some(given) = file.bindings.get(&declared.name) else {
                if declared.used {
                    let UserBinding { name, line, .. } = declared;
                    let message = format!("the shader uses '{name}' (line {line}); give [bindings.{name}]");
                    return Err(place.complain(message));
                }
                continue;
            };
            let place = place.key(&declared.name);
            check_keys(&declared.kind, given, &place)?;
            let texture = match declared.kind {
                BindingKind::Texture { dimension, sample, .. } => {
                    let texture = TextureData::new(given, dimension, folder, &place)?;
                    if sample != TextureSample::Kind(texture.kind()) {
                        let message =
                            format!("the shader's texture gives {sample:?} and this one {:?}", texture.kind());
                        return Err(place.key("format").complain(message));
                    }
                    Some(texture)
                }
                _ => None,
            };
            all.push(Resource { declared: declared.clone(), given, texture });
        }
        let layouts = (0..GROUPS).map(|group| {
            let entries: Vec<_> = all.iter().filter(|one| one.declared.group == group).map(entry).collect();
            (!entries.is_empty()).then(|| {
                let label = Some("scene");
                gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
            })
        });
        Ok(Self { layouts: layouts.collect(), all })
    }

    /// Makes the resources. `kernel` is the composed text, which has the types of the user's variables.
    pub(crate) fn bind(&self, gpu: &Gpu, kernel: &str, folder: &Path, names: &Names) -> anyhow::Result<Bound> {
        let module = parsed(kernel)?;
        let mut buffers = Vec::new();
        let mut views = Vec::new();
        let mut samplers = Vec::new();
        for Resource { declared, given, texture } in &self.all {
            let place = Place::new("bindings").key(&declared.name);
            let at = (declared.group, declared.binding);
            match (&declared.kind, texture) {
                (_, Some(texture)) => views.push((at, texture.upload(&gpu.device, &gpu.queue, &declared.name))),
                (BindingKind::Sampler { .. }, _) => samplers.push((at, sampler(gpu, given))),
                (BindingKind::UniformBuffer { size } | BindingKind::StorageBuffer { size, .. }, _) => {
                    let mut bytes = match (&given.value, &given.file, given.bytes) {
                        (Some(value), None, None) => packed(&module, declared, value, names)?,
                        (None, Some(name), None) => read_file(folder, name, &place.key("file"))?,
                        (None, None, Some(bytes)) if (1..=1 << 30).contains(&bytes) => vec![0; bytes as usize],
                        (None, None, Some(bytes)) => {
                            let message = format!("{bytes} bytes are not within 1 to {}", 1 << 30);
                            return Err(place.key("bytes").complain(message).into());
                        }
                        _ => {
                            return Err(place
                                .complain("of a buffer either value, file or bytes has to be given")
                                .into());
                        }
                    };
                    if bytes.len() < *size as usize {
                        let message = format!("it has {} bytes, and the shader's variable takes {size}", bytes.len());
                        return Err(place.complain(message).into());
                    }
                    bytes.resize(bytes.len().next_multiple_of(4), 0);
                    let usage = match declared.kind {
                        BindingKind::UniformBuffer { .. } => wgpu::BufferUsages::UNIFORM,
                        _ => wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                    };
                    buffers.push((at, declared.name.clone(), gpu.buffer(&declared.name, &bytes, usage)));
                }
                _ => return Err(unsupported(&place).into()),
            }
        }
        let groups = (0..GROUPS).zip(&self.layouts).map(|(group, layout)| {
            let layout = layout.as_ref()?;
            let mut entries = Vec::new();
            let mut add = |at: (u32, u32), resource| {
                if at.0 == group {
                    entries.push(wgpu::BindGroupEntry { binding: at.1, resource });
                }
            };
            buffers.iter().for_each(|(at, _, buffer)| add(*at, buffer.as_entire_binding()));
            views.iter().for_each(|(at, view)| add(*at, wgpu::BindingResource::TextureView(view)));
            samplers.iter().for_each(|(at, sampler)| add(*at, wgpu::BindingResource::Sampler(sampler)));
            let label = Some("scene");
            Some(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries }))
        });
        let groups = groups.collect();
        gpu.check()?;
        Ok(Bound { groups, buffers: buffers.into_iter().map(|(_, name, buffer)| (name, buffer)).collect() })
    }

    /// The bytes that the buffer called `name` has with another value.
    #[cfg(feature = "view")]
    pub(super) fn repacked(
        &self,
        module: &naga::Module,
        name: &str,
        value: &Value,
        names: &Names,
    ) -> Result<Vec<u8>, Complaint> {
        let found = self.all.iter().find(|one| one.declared.name == name);
        let found = found.ok_or_else(|| Place::new("bindings").key(name).complain("the shader has it no longer"))?;
        packed(module, &found.declared, value, names)
    }
}

/// The composed text of a kernel.
pub(super) fn parsed(kernel: &str) -> anyhow::Result<naga::Module> {
    naga::front::wgsl::parse_str(kernel).map_err(|error| anyhow::anyhow!("{}", error.message()))
}

/// The bytes of a buffer's value, with names replaced by what they stand for.
fn packed(module: &naga::Module, declared: &UserBinding, value: &Value, names: &Names) -> Result<Vec<u8>, Complaint> {
    let place = Place::new("bindings").key(&declared.name);
    let resource = Some(naga::ResourceBinding { group: declared.group, binding: declared.binding });
    let variable = module.global_variables.iter().find(|(_, one)| one.binding == resource);
    let (_, variable) = variable.ok_or_else(|| place.complain("the shader has it no longer"))?;
    let place = place.key("value");
    pack(module, variable.ty, &names.filled(value, &place)?, &place)
}

fn unsupported(place: &Place) -> Complaint {
    place.complain("scene files give uniform and storage buffers, sampled textures and samplers; this is none of them")
}

/// Refuses keys that do not go with the kind of resource.
fn check_keys(kind: &BindingKind, given: &Binding, place: &Place) -> Result<(), Complaint> {
    let keys = [
        ("value", given.value.is_some()),
        ("file", given.file.is_some()),
        ("bytes", given.bytes.is_some()),
        ("format", given.format.is_some()),
        ("size", given.size.is_some()),
        ("texels", given.texels.is_some()),
        ("filter", given.filter.is_some()),
        ("address", given.address.is_some()),
        ("compare", given.compare.is_some()),
    ];
    let (what, allowed): (_, &[&str]) = match kind {
        BindingKind::UniformBuffer { .. } | BindingKind::StorageBuffer { .. } => {
            ("buffer", &["value", "file", "bytes"])
        }
        BindingKind::Texture { multisampled: false, .. } => ("texture", &["file", "format", "size", "texels"]),
        BindingKind::Sampler { comparison: false } => ("sampler", &["filter", "address"]),
        BindingKind::Sampler { comparison: true } => ("comparison sampler", &["filter", "address", "compare"]),
        _ => return Err(unsupported(place)),
    };
    match keys.iter().find(|(key, given)| *given && !allowed.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            Err(place.key(key).complain(format!("the shader has a {what} here, which takes {}", allowed.join(", "))))
        }
    }
}

fn entry(resource: &Resource<'_>) -> wgpu::BindGroupLayoutEntry {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let ty = match (&resource.declared.kind, &resource.texture) {
        (BindingKind::StorageBuffer { read_only, .. }, _) => {
            buffer(wgpu::BufferBindingType::Storage { read_only: *read_only })
        }
        (BindingKind::Sampler { comparison: true }, _) => {
            wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison)
        }
        (BindingKind::Sampler { .. }, _) if resource.given.filter == Some(Filter::Linear) => {
            wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)
        }
        (BindingKind::Sampler { .. }, _) => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::NonFiltering),
        (_, Some(texture)) => wgpu::BindingType::Texture {
            sample_type: match texture.kind() {
                patchwave::shader::ScalarKind::Float => {
                    wgpu::TextureSampleType::Float { filterable: texture.filterable() }
                }
                patchwave::shader::ScalarKind::Sint => wgpu::TextureSampleType::Sint,
                patchwave::shader::ScalarKind::Uint => wgpu::TextureSampleType::Uint,
            },
            view_dimension: view_dimension(texture.dimension),
            multisampled: false,
        },
        _ => buffer(wgpu::BufferBindingType::Uniform),
    };
    wgpu::BindGroupLayoutEntry {
        binding: resource.declared.binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty,
        count: None,
    }
}

fn sampler(gpu: &Gpu, given: &Binding) -> wgpu::Sampler {
    let address = match given.address.unwrap_or(Address::Clamp) {
        Address::Clamp => wgpu::AddressMode::ClampToEdge,
        Address::Repeat => wgpu::AddressMode::Repeat,
        Address::Mirror => wgpu::AddressMode::MirrorRepeat,
    };
    let filter = match given.filter.unwrap_or(Filter::Nearest) {
        Filter::Nearest => wgpu::FilterMode::Nearest,
        Filter::Linear => wgpu::FilterMode::Linear,
    };
    gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("scene"),
        address_mode_u: address,
        address_mode_v: address,
        address_mode_w: address,
        mag_filter: filter,
        min_filter: filter,
        compare: given.compare.map(|compare| match compare {
            Compare::Never => wgpu::CompareFunction::Never,
            Compare::Less => wgpu::CompareFunction::Less,
            Compare::Equal => wgpu::CompareFunction::Equal,
            Compare::LessEqual => wgpu::CompareFunction::LessEqual,
            Compare::Greater => wgpu::CompareFunction::Greater,
            Compare::NotEqual => wgpu::CompareFunction::NotEqual,
            Compare::GreaterEqual => wgpu::CompareFunction::GreaterEqual,
            Compare::Always => wgpu::CompareFunction::Always,
        }),
        ..wgpu::SamplerDescriptor::default()
    })
}
