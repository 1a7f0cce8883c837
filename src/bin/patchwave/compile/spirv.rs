//! SPIR-V by naga's writer, with the checks that wgpu has it make.

use anyhow::Context;
use naga::back::spv::{Options, WriterFlags, ZeroInitializeWorkgroupMemoryMode};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// The words of a module with all its entry points, little-endian. `bounds_loops` puts counters into loops that end them.
///
/// # Errors
/// Where an override has neither a default nor a value, or the writer refuses.
pub(super) fn write(wgsl: &str, constants: &[(&str, f64)], bounds_loops: bool) -> anyhow::Result<Vec<u8>> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| anyhow::anyhow!("{}", error.message()))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .subgroup_stages(ShaderStages::COMPUTE)
        .subgroup_operations(SubgroupOperationSet::all())
        .validate(&module)
        .context("the kernel is not valid")?;
    // Kernels without the shader's overrides are none of their business.
    let declared = |key: &str| {
        module
            .overrides
            .iter()
            .any(|(_, one)| one.name.as_deref() == Some(key) || one.id.is_some_and(|id| id.to_string() == key))
    };
    let values = constants.iter().filter(|(key, _)| declared(key)).map(|(key, value)| ((*key).to_owned(), *value));
    let (module, info) = naga::back::pipeline_constants::process_overrides(&module, &info, None, &values.collect())
        .context("an override needs a value; say --constant KEY=VALUE")?;
    let options = Options {
        lang_version: (1, 3),
        flags: WriterFlags::LABEL_VARYINGS | WriterFlags::FORCE_POINT_SIZE,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: bounds_loops,
        ..Options::default()
    };
    let words = naga::back::spv::write_vec(&module, &info, &options, None).context("naga does not write it")?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}
