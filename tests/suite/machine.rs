//! The emulated machine on the CPU: budgets and plans, default parameters, and parameters that cannot be.

use patchwave::hardware::{
    DefaultThreshold, Instances, LdsBudget, LimitedBy, ParameterError, ParameterWarning, PatchFootprint, PatchRounding,
    PipelineStateFlags, PlanError, Profile, Readings, TessellationParameters, ThreadgroupPlan,
    default_factor_threshold,
};
use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};

/// 16 input control points of a position each, 16 output control points, a quad's factors.
const BICUBIC: PatchFootprint = PatchFootprint {
    input_points: 16,
    input_stride: 16,
    output_points: 16,
    output_stride: 16,
    constants_stride: 32,
    pass_through: false,
    factors: 6,
};

const KIB: u32 = 1024;

#[test]
fn an_lds_budget_field_by_field() {
    let profile = Profile::xbox_one();
    let budget = LdsBudget::new(&profile, &BICUBIC, 10);
    // 10 patches of 16 · 16 + 16 · 16 + 32 bytes are 5,440; in granules of 512 bytes that is 5,632.
    assert_eq!([budget.input_points, budget.output_points, budget.constants], [2560, 2560, 320]);
    assert_eq!([budget.total, budget.allocated], [5440, 5632]);
    // 64 KiB hold eleven of them.
    assert_eq!((budget.patches, budget.threadgroups_per_compute_unit), (10, 11));

    // A position of 12 bytes takes a slot of 16, a point of 20 bytes two slots; without a hull function the output lies
    // where the input does.
    let odd =
        PatchFootprint { input_stride: 12, output_stride: 12, constants_stride: 20, pass_through: true, ..BICUBIC };
    let budget = LdsBudget::new(&profile, &odd, 3);
    assert_eq!([budget.input_points, budget.output_points, budget.constants], [768, 0, 96]);
    assert_eq!([budget.total, budget.allocated], [864, 1024]);
}

#[test]
fn a_plan_says_what_bound_it() {
    let profile = Profile::xbox_one();
    let plan = |footprint: &PatchFootprint, limit: u32| {
        let plan = ThreadgroupPlan::maximised(&profile, footprint, limit).expect("a patch fits");
        assert!(plan.wgsl_workgroup_bytes <= u64::from(limit));
        assert_eq!(plan.budget, LdsBudget::new(&profile, footprint, plan.patches));
        assert_eq!(plan.budget.allocated, plan.profile_lds_bytes);
        (plan.patches, plan.limited_by)
    };
    // 256 lanes / 16 control points.
    assert_eq!(plan(&BICUBIC, 64 * KIB), (16, LimitedBy::Lanes));
    // One control point: neither lanes (256) nor LDS (32 KiB / 48) but the most there may be.
    let one = PatchFootprint { input_points: 1, output_points: 1, ..BICUBIC };
    assert_eq!(plan(&one, 64 * KIB), (64, LimitedBy::MaxPatches));
    // 4 points of 256 bytes, in and out, and constants: 2,080 bytes. 32 KiB of LDS hold 15; 16 KiB of workgroup memory
    // hold 7, though the adapter has 64.
    let fat = PatchFootprint { input_points: 4, input_stride: 256, output_points: 4, output_stride: 256, ..BICUBIC };
    assert_eq!(u64::from(32 * KIB) / fat.profile_bytes(), 15);
    assert_eq!(plan(&fat, 64 * KIB), (7, LimitedBy::PreferredWorkgroupMemory));
    // An adapter with less than the profile caps the plan, and it says so.
    assert_eq!(plan(&fat, 16 * KIB), (7, LimitedBy::AdapterWorkgroupMemory));
    assert_eq!(plan(&fat, 8 * KIB), (3, LimitedBy::AdapterWorkgroupMemory));
    assert_eq!(plan(&BICUBIC, 4 * KIB), (6, LimitedBy::AdapterWorkgroupMemory));
    // One patch of more than 16 KiB gets what it needs where the adapter has it: D3D's maximum.
    let most = PatchFootprint {
        input_points: 32,
        input_stride: 512,
        output_points: 32,
        output_stride: 128,
        constants_stride: 512,
        ..BICUBIC
    };
    assert_eq!(plan(&most, 32 * KIB).0, 1);
    let error = ThreadgroupPlan::maximised(&profile, &most, 16 * KIB);
    let needed = most.workgroup_bytes(1);
    assert_eq!(error, Err(PlanError::PatchTooLarge { needed, available: u64::from(16 * KIB) }));

    // A block of the off-chip buffer, and the factor ring: one control word and 6 factors a patch.
    let small = Profile { off_chip_block_bytes: 1000, ..profile };
    let plan = ThreadgroupPlan::maximised(&small, &BICUBIC, 64 * KIB).expect("a patch fits");
    assert_eq!((plan.patches, plan.limited_by), (3, LimitedBy::OffChipBlock));
    let small = Profile { factor_ring_words: 1 + 6 * 5 + 5, ..profile };
    let plan = ThreadgroupPlan::maximised(&small, &BICUBIC, 64 * KIB).expect("a patch fits");
    assert_eq!((plan.patches, plan.limited_by), (5, LimitedBy::FactorRing));
    let small = Profile { threadgroup_lds_bytes: 544 * 4, ..profile };
    let plan = ThreadgroupPlan::maximised(&small, &BICUBIC, 64 * KIB).expect("a patch fits");
    assert_eq!((plan.patches, plan.limited_by), (4, LimitedBy::ProfileLds));
    // Nothing to hold: no division by the 0 bytes of a patch.
    let nothing = PatchFootprint {
        input_points: 1,
        input_stride: 0,
        output_points: 0,
        output_stride: 0,
        constants_stride: 0,
        pass_through: true,
        factors: 2,
    };
    assert_eq!(ThreadgroupPlan::maximised(&profile, &nothing, 16 * KIB).map(|plan| plan.patches), Ok(64));
}

#[test]
fn a_profile_from_limits() {
    let webgpu = Profile::from_limits(16 * KIB, 256);
    assert_eq!((webgpu.threadgroup_lds_bytes, webgpu.lds_bytes, webgpu.threadgroup_lanes), (16_384, 32_768, 256));
    assert_eq!((webgpu.compute_units, webgpu.wave_slots()), (12, 40));
    let limits = wgpu::Limits::default();
    assert_eq!(patchwave::pipeline::profile_of(&limits), webgpu);
    // No number makes anything panic.
    for profile in [Profile::from_limits(0, 0), Profile::from_limits(u32::MAX, u32::MAX)] {
        let plan = ThreadgroupPlan::maximised(&profile, &BICUBIC, u32::MAX).expect("workgroup memory suffices");
        assert!(plan.patches >= 1);
    }
}

#[test]
fn default_thresholds_from_the_closed_form() {
    let quad = |t: u32| (t + 1) * (t + 1);
    let tri = |t: u32| if t.is_multiple_of(2) { 3 * t * t / 4 + 3 * t / 2 + 1 } else { 3 * (t + 1) * (t + 1) / 4 };
    let isoline = |t: u32| t * (t + 1);
    for t in 1..=64u16 {
        for (domain, form) in
            [(Domain::Quad, quad(t.into())), (Domain::Tri, tri(t.into())), (Domain::Isoline, isoline(t.into()))]
        {
            let bits = vec![f32::from(t).to_bits(); domain.factor_count()];
            let patch = TessellatedPatch::new(domain, Partitioning::Integer, OutputTopology::Point, &bits);
            assert_eq!(patch.map(|patch| patch.point_count()), Ok(form), "{domain} {t}");
        }
    }
    for n in 1..=64u32 {
        let smallest =
            |points: &dyn Fn(u32) -> u32| (1..=64).find(|t| n * points(*t) >= 256).expect("64 is enough") as f32;
        assert_eq!(default_factor_threshold(Domain::Quad, n), smallest(&quad), "quad, {n} patches");
        assert_eq!(default_factor_threshold(Domain::Tri, n), smallest(&tri), "tri, {n} patches");
        assert_eq!(default_factor_threshold(Domain::Isoline, n), smallest(&isoline), "isoline, {n} patches");
    }
    // The table of docs/hardware.md.
    let patches = [1, 2, 4, 8, 10, 12, 16, 20, 32, 40, 64];
    let thresholds = |domain| patches.map(|n| default_factor_threshold(domain, n) as u32);
    assert_eq!(thresholds(Domain::Quad), [15, 11, 7, 5, 5, 4, 3, 3, 2, 2, 1]);
    assert_eq!(thresholds(Domain::Tri), [18, 13, 9, 6, 5, 5, 4, 4, 3, 2, 2]);
}

fn resolve(
    parameters: TessellationParameters,
    flags: PipelineStateFlags,
    readings: Readings,
) -> Result<(patchwave::hardware::ResolvedParameters, Vec<ParameterWarning>), ParameterError> {
    let profile = Profile::xbox_one();
    let plan = ThreadgroupPlan::maximised(&profile, &BICUBIC, 64 * KIB).expect("a patch fits");
    parameters.resolve(&plan, flags, Domain::Quad, &profile, readings)
}

const OFF_CHIP: PipelineStateFlags = PipelineStateFlags::GsOnchipTsOffchip;

#[test]
fn the_driver_s_defaults() {
    let (resolved, warnings) =
        resolve(TessellationParameters::default(), OFF_CHIP, Readings::default()).expect("valid");
    assert_eq!((resolved.patches_per_threadgroup, resolved.ds_wave_threshold, resolved.on_chip_waves), (16, 4, 4));
    assert_eq!((resolved.tessellation_factor_threshold, resolved.off_chip, warnings.len()), (3.0, true, 0));

    let readings = Readings {
        default_threshold: DefaultThreshold::PerPatch,
        wave_threshold: patchwave::hardware::WaveThreshold::PerSimd,
        ..Readings::default()
    };
    let (resolved, _) = resolve(TessellationParameters::default(), OFF_CHIP, readings).expect("valid");
    // 16 × 16 points of one patch, and 4 waves on each of 4 SIMDs.
    assert_eq!((resolved.tessellation_factor_threshold, resolved.on_chip_waves), (15.0, 16));
}

#[test]
fn patches_rounded_to_four() {
    let readings = Readings { patch_rounding: PatchRounding::OffChipToFour, ..Readings::default() };
    let taken = |asked: u32, flags| {
        let parameters = TessellationParameters { patches_per_threadgroup: Some(asked), ..Default::default() };
        let (resolved, warnings) = resolve(parameters, flags, readings).expect("valid");
        let patches = resolved.patches_per_threadgroup;
        let expected = ParameterWarning::PatchesRounded { asked, taken: patches };
        assert_eq!(warnings, if patches == asked { vec![] } else { vec![expected] });
        patches
    };
    let rounded: Vec<u32> = (1..=16).map(|asked| taken(asked, OFF_CHIP)).collect();
    assert_eq!(rounded, [4, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 16, 16, 16]);
    assert_eq!(taken(6, PipelineStateFlags::None), 6, "on-chip pipelines are not rounded");
}

#[test]
fn parameters_that_cannot_be() {
    let of = |patches, threshold, waves| TessellationParameters {
        patches_per_threadgroup: patches,
        tessellation_factor_threshold: threshold,
        ds_wave_threshold: waves,
    };
    for flags in [PipelineStateFlags::None, OFF_CHIP, PipelineStateFlags::GsOffchipTsOffchip] {
        let refused = |parameters| resolve(parameters, flags, Readings::default()).expect_err("refused");
        for asked in [0, 17, u32::MAX] {
            let expected = ParameterError::PatchesPerThreadgroup { asked, most: 16 };
            assert_eq!(refused(of(Some(asked), None, None)), expected);
        }
        for asked in [16, u32::MAX] {
            assert_eq!(refused(of(None, None, Some(asked))), ParameterError::WaveThreshold { asked });
        }
        for asked in [-1.0, -0.001, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(refused(of(None, Some(asked), None)), ParameterError::FactorThreshold { asked });
        }
        let nan = refused(of(None, Some(f32::NAN), None));
        assert!(matches!(nan, ParameterError::FactorThreshold { asked } if asked.is_nan()));
        let readings = Readings { instances: Instances::Span, ..Readings::default() };
        assert_eq!(resolve(TessellationParameters::default(), flags, readings), Err(ParameterError::InstancesSpan));
    }
    for (patches, threshold, waves) in [(1, 0.0, 0), (16, f32::MAX, 15), (16, -0.0, 4)] {
        let (resolved, warnings) =
            resolve(of(Some(patches), Some(threshold), Some(waves)), OFF_CHIP, Readings::default()).expect("valid");
        assert_eq!((resolved.patches_per_threadgroup, resolved.ds_wave_threshold), (patches, waves));
        assert!(warnings.is_empty());
    }
    // Off-chip parameters mean nothing on-chip.
    let (_, warnings) =
        resolve(of(None, Some(3.0), Some(2)), PipelineStateFlags::None, Readings::default()).expect("valid");
    assert_eq!(warnings, [ParameterWarning::FactorThresholdIgnored, ParameterWarning::WaveThresholdIgnored]);
}
