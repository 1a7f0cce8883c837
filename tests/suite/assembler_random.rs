//! Random draws on the GPU against the input assembler's model on the CPU: formats, strides, offsets, step modes, indices
//! of both widths, base vertices, strip cuts, instances, patches of all sizes.

use patchwave::hardware::TessellationParameters;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use wgpu::VertexFormat as F;

use super::assembler_model::{Case, FORMATS, IndexStream, Stream};
use super::rig::Rig;

fn format() -> impl Strategy<Value = F> {
    prop_oneof![4 => select(&FORMATS[..]), 1 => Just(F::Float32x3), 1 => Just(F::Uint32)]
}

/// A stream without its bytes, and how many it has beyond what the draw is known to read of it.
fn stream() -> impl Strategy<Value = (Stream, usize)> {
    let stride = prop_oneof![(0u64..9).prop_map(|words| words * 4), 0u64..40];
    let offset = prop_oneof![(0u64..6).prop_map(|words| words * 4), 0u64..23];
    (stride, any::<bool>(), prop::collection::vec((offset, format()), 1..4), 0usize..9).prop_map(
        |(stride, per_instance, attributes, beyond)| {
            (Stream { stride, per_instance, attributes, bytes: Vec::new() }, beyond)
        },
    )
}

/// Indices that fall within the buffers, mostly; cuts; and ones far beyond.
fn index() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0u32..30, 2 => Just(u32::MAX), 1 => any::<u32>(), 1 => 0xff00u32..0x1_0100]
}

fn indices() -> impl Strategy<Value = IndexStream> {
    (any::<bool>(), any::<bool>(), prop::collection::vec(index(), 1..120)).prop_map(|(wide, strip_cut, indices)| {
        let (format, bytes) = if wide {
            (wgpu::IndexFormat::Uint32, indices.iter().flat_map(|index| index.to_le_bytes()).collect())
        } else {
            (wgpu::IndexFormat::Uint16, indices.iter().flat_map(|index| (*index as u16).to_le_bytes()).collect())
        };
        IndexStream { format, bytes, strip_cut }
    })
}

fn base_vertex() -> impl Strategy<Value = i32> {
    prop_oneof![3 => Just(0), 3 => -10i32..10, 1 => any::<i32>(), 1 => select(&[i32::MIN, i32::MAX, -1][..])]
}

fn case() -> impl Strategy<Value = Case> {
    let points = prop_oneof![3 => 1u32..6, 1 => 1u32..33];
    let places = (0u32..20, 0u32..150, 0u32..4, 0u32..4);
    let streams = prop::collection::vec(stream(), 0..4);
    (points, streams, prop::option::weighted(0.7, indices()), places, base_vertex(), any::<u32>()).prop_map(
        |(points, streams, indices, (first, count, first_instance, instances), base_vertex, mut seed)| {
            let vertices = first..first + count;
            let instances = first_instance..first_instance + instances;
            let streams = streams.into_iter().map(|(mut stream, beyond)| {
                let end = stream.attributes.iter().map(|(offset, format)| offset + format.size()).max().unwrap_or(0);
                let elements = match (stream.per_instance, &indices) {
                    (true, _) => u64::from(instances.end),
                    (false, None) => u64::from(vertices.end),
                    // Any number will do: indices are only known on the GPU.
                    (false, Some(_)) => u64::from(seed % 40),
                };
                let bytes = (elements.max(1) - 1) * stream.stride + end;
                // One byte too short for its only element, at times.
                let bytes = if elements == 0 { bytes.max(2) - 1 } else { bytes + beyond as u64 };
                let noise = (0..bytes).map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Zeros and ones in long runs as well, for what is special of floats.
                    if seed >> 29 == 0 {
                        [0x00, 0xff, 0x80, 0x7f][((seed >> 27) & 3) as usize]
                    } else {
                        (seed >> 20) as u8
                    }
                });
                stream.bytes = noise.collect();
                stream
            });
            let streams = streams.collect();
            Case { points, streams, indices, vertices, base_vertex, instances }
        },
    )
}

#[test]
fn random_draws() {
    let doubles = wgpu::Features::VERTEX_ATTRIBUTE_64BIT | wgpu::Features::SHADER_F64;
    let rig = Rig::with_features(doubles);
    let has_doubles = rig.device.features().intersects(doubles);
    // Others on every run. A run of more is a matter of PROPTEST_CASES.
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(32);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, max_shrink_iters: 100, ..Config::default() });
    let outcome = runner.run(&case(), |case| {
        let is_double = |format: F| format!("{format:?}").contains("Float64");
        if !has_doubles && case.streams.iter().any(|s| s.attributes.iter().any(|(_, format)| is_double(*format))) {
            return Ok(());
        }
        let seen = case.run(&rig).map_err(|error| TestCaseError::fail(error.to_string()))?;
        if let Some(difference) = case.difference(&seen) {
            return Err(TestCaseError::fail(difference));
        }
        // The same bits off-chip from the first wave on, and where threadgroups decide. The first words that a device made
        // of a NaN are kept by copies.
        for (threshold, waves) in [(0.0, 0), (4.0, 1)] {
            let parameters = TessellationParameters {
                tessellation_factor_threshold: Some(threshold),
                ds_wave_threshold: Some(waves),
                ..TessellationParameters::default()
            };
            let other = case.run_with(&rig, |descriptor| *descriptor = descriptor.clone().off_chip(parameters));
            let other = other.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(other == seen, "off-chip from {} on after {} waves, and on-chip, differ", threshold, waves);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
