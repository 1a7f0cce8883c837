//! What a descriptor is refused for before anything is compiled.

use super::descriptor::TessellationPipelineDescriptor;
use crate::Error;
use crate::shader::Reflection;
use crate::shader::fetch::Bindings;

fn in_range(what: &'static str, value: u32, low: u32, high: u32) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::OutOfRange { what, value: value.to_string(), expected: format!("{low} to {high}") })
}

pub(super) fn check_fixed_function(descriptor: &TessellationPipelineDescriptor<'_>) -> Result<(), Error> {
    in_range("input_control_points", descriptor.input_control_points, 1, 32)?;
    in_range("output_control_points", descriptor.output_control_points, 0, 32)?;
    let pass_through = descriptor.names.hull.is_none();
    let (input, output) = (descriptor.input_control_points, descriptor.output_control_points);
    if pass_through && output != 0 && output != input {
        return Err(Error::OutOfRange {
            what: "output_control_points",
            value: output.to_string(),
            expected: format!("0 or {input} (the input's) in a pipeline without a hull function"),
        });
    }
    if !(1.0..=64.0).contains(&descriptor.maximum_factor) {
        return Err(Error::OutOfRange {
            what: "maximum_factor",
            value: descriptor.maximum_factor.to_string(),
            expected: "1 to 64".to_owned(),
        });
    }
    if !descriptor.output_topology.is_valid_for(descriptor.domain) {
        return Err(Error::TopologyMismatch { topology: descriptor.output_topology, domain: descriptor.domain });
    }
    Ok(())
}

pub(super) fn check_constants(reflection: &Reflection, constants: &[(&str, f64)]) -> Result<(), Error> {
    for (key, value) in constants {
        if !reflection.overrides.iter().any(|declared| declared.key == *key) {
            let known: Vec<&str> = reflection.overrides.iter().map(|declared| declared.key.as_str()).collect();
            let reason = if known.is_empty() {
                "the shader declares none".to_owned()
            } else {
                format!("the shader declares {}", known.join(", "))
            };
            return Err(Error::Constant { key: (*key).to_owned(), reason });
        }
        if !value.is_finite() {
            return Err(Error::Constant { key: (*key).to_owned(), reason: format!("its value {value} is not finite") });
        }
    }
    for declared in &reflection.overrides {
        if !declared.has_default && !constants.iter().any(|(key, _)| *key == declared.key) {
            let reason = format!("`{}` (line {}) has no default and was given no value", declared.name, declared.line);
            return Err(Error::Constant { key: declared.key.clone(), reason });
        }
    }
    Ok(())
}

pub(super) fn check_bind_groups(
    reflection: &Reflection,
    layouts: &[Option<&wgpu::BindGroupLayout>],
) -> Result<(), Error> {
    if layouts.len() > 3 {
        return Err(Error::OutOfRange {
            what: "bind_group_layouts",
            value: format!("{} layouts", layouts.len()),
            expected: "at most 3: group 3 is patchwave's".to_owned(),
        });
    }
    for binding in reflection.bindings.iter().filter(|binding| binding.used) {
        if layouts.get(binding.group as usize).copied().flatten().is_none() {
            return Err(Error::MissingBindGroup {
                group: binding.group,
                binding: binding.name.clone(),
                line: binding.line,
            });
        }
    }
    Ok(())
}

/// The user's storage buffers that the stages reach.
fn user_storage_buffers(reflection: &Reflection) -> u32 {
    reflection.bindings.iter().filter(|binding| binding.is_storage_buffer && binding.used).count() as u32
}

/// State, off-chip buffer and vertices of ours, then the index buffer, the vertex buffers and the user's.
pub(super) fn storage_buffers(reflection: &Reflection, bindings: &Bindings) -> u32 {
    3 + bindings.count() + user_storage_buffers(reflection)
}

/// Whether a stage of the device can have them all.
pub(super) fn check_storage_buffers(
    reflection: &Reflection,
    bindings: &Bindings,
    limits: &wgpu::Limits,
) -> Result<(), Error> {
    let user = user_storage_buffers(reflection);
    let vertex_buffers = bindings.vertex_buffers().len();
    let ours = 3 + bindings.count() - vertex_buffers as u32;
    let needed = storage_buffers(reflection, bindings);
    if needed > limits.max_storage_buffers_per_shader_stage {
        return Err(Error::LimitExceeded {
            what: format!(
                "the kernel ({ours} of patchwave's storage buffers, {vertex_buffers} vertex buffers, {user} of the shader's)"
            ),
            limit: "max_storage_buffers_per_shader_stage",
            needed: u64::from(needed),
            available: u64::from(limits.max_storage_buffers_per_shader_stage),
            advice: "interleave vertex buffers, put several into one buffer and say so in shared_vertex_buffers and \
                     indices, use uniform buffers or textures, or request a higher limit",
        });
    }
    Ok(())
}

/// Scalars of all output control points of a patch (`D3D11_HS_OUTPUT_CONTROL_POINTS_MAX_TOTAL_SCALARS`).
const OUTPUT_SCALARS: u64 = 3968;
/// Scalars of the patch constants, factors included (32 registers: `D3D11_HS_OUTPUT_PATCH_CONSTANT_REGISTER_COUNT`).
const CONSTANT_SCALARS: u64 = 128;

/// Direct3D's own limits, for devices whose workgroup memory would hold more.
pub(super) fn check_scalars(reflection: &Reflection, output_points: u32) -> Result<(), Error> {
    let points = u64::from(output_points) * u64::from(reflection.output_point.scalars);
    let constants = u64::from(reflection.constants.scalars);
    for (what, scalars, most, limit) in [
        ("output control points", points, OUTPUT_SCALARS, "D3D11_HS_OUTPUT_CONTROL_POINTS_MAX_TOTAL_SCALARS"),
        ("patch constants", constants, CONSTANT_SCALARS, "4 × D3D11_HS_OUTPUT_PATCH_CONSTANT_REGISTER_COUNT"),
    ] {
        if scalars > most {
            return Err(Error::OutOfRange {
                what,
                value: format!("{scalars} scalars a patch"),
                expected: format!("at most {most}, Direct3D's limit ({limit})"),
            });
        }
    }
    Ok(())
}
