//! Every vertex format of wgpu, value by value: what the GPU fetches against the conversion on the CPU.

use patchwave::Error;
use wgpu::VertexFormat as F;

use super::assembler_model::{Case, FORMATS, Stream, decode};
use super::rig::Rig;

/// A draw of all the elements of one stream, 32 to a patch; padded with zeros.
fn all_of(attributes: Vec<(u64, F)>, stride: u64, mut bytes: Vec<u8>) -> Case {
    let size = stride as usize;
    let elements = bytes.len().div_ceil(size).next_multiple_of(32);
    let end = attributes.iter().map(|(offset, format)| offset + format.size()).max().unwrap_or(0);
    bytes.resize((elements - 1) * size + (end as usize).max(size), 0);
    Case {
        points: 32,
        streams: vec![Stream { stride, per_instance: false, attributes, bytes }],
        indices: None,
        vertices: 0..elements as u32,
        base_vertex: 0,
        instances: 0..1,
    }
}

/// Bytes that have to do with each other in no way.
fn noise(count: usize, mut seed: u32) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Doubles where their conversion changes: around every power of two that matters, halfway between floats and next to it.
fn doubles() -> Vec<f64> {
    let mut values = vec![0.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX, 5e-324, 0.1, 1.0 / 3.0];
    let floats = [0u32, 1, 2, 3, 0x7f_fffe, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x3f80_0000, 0x4b7f_ffff, 0x7f7f_ffff];
    for float in floats.into_iter().chain((0..255).map(|exponent| (exponent << 23) | 0x2a_aaaa)) {
        let low = f64::from(f32::from_bits(float));
        let high = if float == 0x7f7f_ffff { 2f64.powi(128) } else { f64::from(f32::from_bits(float + 1)) };
        let middle = (low + high) / 2.0;
        values.extend([low, middle, middle.next_up(), middle.next_down(), low.next_up(), high.next_down()]);
    }
    let negative: Vec<f64> = values.iter().map(|value| -value).collect();
    values.extend(negative);
    values
}

/// The features under which wgpu's own or patchwave's formats of doubles are to be had.
const DOUBLES: wgpu::Features = wgpu::Features::VERTEX_ATTRIBUTE_64BIT.union(wgpu::Features::SHADER_F64);

/// Each format alone: all values of components of 8, 10 and 16 bits (in 32-bit words of their own and packed tightly), and
/// what is special of the wider ones.
#[test]
fn every_value_of_every_format() {
    let rig = Rig::with_features(DOUBLES);
    let has_doubles = rig.device.features().intersects(DOUBLES);
    for format in FORMATS {
        let size = format.size() as usize;
        let name = format!("{format:?}");
        let mut bytes: Vec<u8> = if name.contains("64") {
            doubles().into_iter().flat_map(f64::to_le_bytes).collect()
        } else if name.contains("16") {
            (0..=u16::MAX).flat_map(u16::to_le_bytes).collect()
        } else if name.contains("10") {
            (0..4096u32)
                .map(|i| (i << 20) | ((1023 - i % 1024) << 10) | (i % 1024))
                .flat_map(u32::to_le_bytes)
                .collect()
        } else if name.contains('8') {
            (0..=u8::MAX).collect()
        } else {
            [0u32, 1, 0x8000_0000, 0x7f80_0000, 0xff80_0001, 0x7fc0_0000, 0xffff_ffff, 1 << 22, 0x3f80_0000]
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .collect()
        };
        bytes.extend(noise(64 * size, size as u32));
        bytes.truncate(bytes.len() / size * size);
        let case = all_of(vec![(0, format)], size as u64, bytes.clone());
        if name.contains("64") && !has_doubles {
            assert!(matches!(case.run(&rig), Err(Error::MissingFeature { .. })));
            continue;
        }
        case.check(&rig);
        if size < 4 {
            let apart = bytes.chunks(size).flat_map(|own| [own, &[0xee; 4][size..]].concat()).collect();
            all_of(vec![(0, format)], 4, apart).check(&rig);
        }
    }
}

/// Without the device feature, formats of doubles are refused, with what to request.
#[test]
fn doubles_need_their_feature() {
    let rig = Rig::new();
    let error = all_of(vec![(0, F::Float64x3)], 24, vec![0; 24]).run(&rig).expect_err("the device has no doubles");
    assert!(matches!(error, Error::MissingFeature { .. }), "{error}");
    assert!(error.to_string().contains("VERTEX_ATTRIBUTE_64BIT"), "{error}");
}

/// The twin itself, at values that the specifications spell out.
#[test]
fn what_the_specifications_spell_out() {
    let f32s = |format, bytes: &[u8]| decode(format, bytes).into_iter().map(f32::from_bits).collect::<Vec<_>>();
    assert_eq!(f32s(F::Snorm8x4, &[0x80, 0x81, 0, 0x7f]), [-1.0, -1.0, 0.0, 1.0]);
    assert_eq!(f32s(F::Snorm16x2, &[0, 0x80, 1, 0x80]), [-1.0, -1.0]);
    assert_eq!(f32s(F::Unorm8x4Bgra, &[0, 51, 255, 102]), [1.0, 0.2, 0.0, 0.4]);
    assert_eq!(f32s(F::Unorm10_10_10_2, &0x4010_03ff_u32.to_le_bytes()), [1.0, 0.0, 1.0 / 1023.0, 1.0 / 3.0]);
    assert_eq!(
        f32s(F::Float16x4, &[0, 0x3c, 1, 0, 0xff, 0x7b, 0, 0xfc]),
        [1.0, 5.960_464_5e-8, 65504.0, -f32::INFINITY]
    );
    assert_eq!(decode(F::Sint8x2, &[0x80, 0x7f]), [-128i32 as u32, 127]);
    assert_eq!(f32s(F::Float64, &1e300f64.to_le_bytes()), [f32::INFINITY]);
}

/// Attributes at every offset from a word's beginning, in elements of every stride from one word's to the next, also 0 and
/// one smaller than the element.
#[test]
fn strides_and_offsets_of_all_kinds() {
    let rig = Rig::new();
    for (stride, attributes) in [
        (1, vec![(0, F::Uint8)]),
        (2, vec![(0, F::Snorm8), (1, F::Uint8)]),
        (3, vec![(0, F::Unorm8x2), (2, F::Sint8)]),
        (5, vec![(1, F::Float32), (0, F::Uint8)]),
        (6, vec![(0, F::Float16x2), (4, F::Sint16)]),
        (7, vec![(3, F::Unorm8x4Bgra), (0, F::Snorm16)]),
        (8, vec![(1, F::Sint8), (2, F::Unorm8x2), (3, F::Uint16x2), (5, F::Uint8x2)]),
        (9, vec![(1, F::Uint16x4)]),
        (10, vec![(0, F::Uint32x2), (8, F::Unorm16)]),
        (12, vec![(0, F::Float32x3)]),
        (13, vec![(1, F::Float32x3)]),
        (16, vec![(1, F::Sint32x3), (3, F::Unorm10_10_10_2), (13, F::Uint8x2)]),
        (18, vec![(2, F::Uint32x4)]),
        (20, vec![(2, F::Sint16x4), (3, F::Snorm8x4), (7, F::Uint32x3)]),
        // Elements that overlap, as only D3D allows.
        (3, vec![(2, F::Uint32x2), (0, F::Uint16)]),
        (4, vec![(0, F::Uint32x3), (2, F::Uint16x4)]),
    ] {
        let case = all_of(attributes, stride, noise(48 * stride as usize, stride as u32));
        case.check(&rig);
    }
    // All vertices take the one element that there is, whatever their number.
    let mut case = all_of(vec![(1, F::Unorm8x2), (3, F::Uint16)], 4, noise(8, 3));
    case.streams[0].stride = 0;
    case.streams[0].bytes.truncate(5);
    case.vertices = u32::MAX - 64..u32::MAX;
    case.check(&rig);
}
