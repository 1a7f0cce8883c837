// The parameters as the passes read them, and what follows from them alone.

@group(3) @binding(0) var<uniform> pw_params: PwParams;

// First patch record and number of patches of threadgroup `group` of the draw; threadgroups never span instances.
fn pw_group_patches(group: u32) -> vec2u {
    let instance = group / pw_params.threadgroups_per_instance;
    let first = (group - instance * pw_params.threadgroups_per_instance) * pw_params.patches_per_threadgroup;
    return vec2u(
        instance * pw_params.patches_per_instance + first,
        min(pw_params.patches_per_threadgroup, pw_params.patches_per_instance - first),
    );
}

fn pw_group_record(group: u32) -> u32 {
    return pw_params.threadgroup_records + group * PW_GROUP_WORDS;
}

fn pw_patch_record(patch_record: u32) -> u32 {
    return pw_params.patch_records + patch_record * PW_PATCH_WORDS;
}
