//! Textures between two simulated nodes: formats, mip levels, layers, volumes, blocks; and what cannot be copied.

use patchwave::adapter::nodes::{NodeError, NodeTexture, NodeTextureLocation};

use super::nodes_rig::{NodeRig, SMALL_STAGING, pattern};
use super::rig::Rig;

/// A texture of colours.
pub(crate) fn colour(width: u32, height: u32) -> wgpu::TextureDescriptor<'static> {
    of_format(wgpu::TextureFormat::Rgba8Unorm, [width, height, 1], 1)
}

pub(crate) fn of_format(
    format: wgpu::TextureFormat,
    [width, height, layers]: [u32; 3],
    mip_level_count: u32,
) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: Some("test texture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: layers },
        mip_level_count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    }
}

/// Blocks of a mip level: width, height, layers, and bytes of one.
pub(crate) fn blocks(texture: &wgpu::Texture, mip_level: u32, aspect: wgpu::TextureAspect) -> ([u32; 3], u32) {
    let level = texture.size().mip_level_size(mip_level, texture.dimension());
    let (width, height) = texture.format().block_dimensions();
    let bytes = texture.format().block_copy_size(Some(aspect)).expect("it has a size in buffers");
    ([level.width.div_ceil(width), level.height.div_ceil(height), level.depth_or_array_layers], bytes)
}

fn copy_size(texture: &wgpu::Texture, mip_level: u32) -> wgpu::Extent3d {
    texture.size().mip_level_size(mip_level, texture.dimension()).physical_size(texture.format())
}

/// Fills a level with a pattern; the bytes without the rows' padding.
pub(crate) fn fill(
    rig: &Rig,
    texture: &NodeTexture,
    mip_level: u32,
    aspect: wgpu::TextureAspect,
    seed: u32,
) -> Vec<u8> {
    let texture = texture.texture();
    let ([width, height, layers], bytes) = blocks(texture, mip_level, aspect);
    let data = pattern((width * height * layers * bytes) as usize, seed);
    rig.queue.write_texture(
        wgpu::TexelCopyTextureInfo { texture, mip_level, origin: wgpu::Origin3d::ZERO, aspect },
        &data,
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * bytes), rows_per_image: Some(height) },
        copy_size(texture, mip_level),
    );
    data
}

pub(crate) fn texels(rig: &Rig, texture: &NodeTexture, mip_level: u32, aspect: wgpu::TextureAspect) -> Vec<u8> {
    let texture = texture.texture();
    let ([width, height, layers], bytes) = blocks(texture, mip_level, aspect);
    let pitch = (width * bytes).next_multiple_of(256);
    let size = pitch * height * layers;
    let buffer = rig.buffer(&vec![0; size as usize], wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC);
    let mut encoder = rig.encoder();
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo { texture, mip_level, origin: wgpu::Origin3d::ZERO, aspect },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: Some(height) },
        },
        copy_size(texture, mip_level),
    );
    rig.queue.submit([encoder.finish()]);
    let words = rig.words(&buffer);
    let all: &[u8] = bytemuck::cast_slice(&words);
    all.chunks_exact(pitch as usize).flat_map(|row| &row[..(width * bytes) as usize]).copied().collect()
}

pub(crate) const ALL: wgpu::TextureAspect = wgpu::TextureAspect::All;

/// All levels and layers of formats of 1 to 16 bytes a texel, pushed and copied on their node, in several chunks.
#[test]
fn whole_textures() {
    let mut rig = NodeRig::new();
    use wgpu::TextureFormat as Format;
    let array = |format| of_format(format, [150, 77, 3], 4);
    let volume = wgpu::TextureDescriptor {
        dimension: wgpu::TextureDimension::D3,
        ..of_format(Format::Rgba16Float, [33, 20, 9], 3)
    };
    let line = wgpu::TextureDescriptor {
        dimension: wgpu::TextureDimension::D1,
        ..of_format(Format::R32Uint, [1_000, 1, 1], 1)
    };
    let shapes = [
        array(Format::R8Unorm),
        array(Format::Rg16Sint),
        array(Format::Rgba8Unorm),
        array(Format::Rgba32Float),
        of_format(Format::Depth16Unorm, [64, 50, 2], 2),
        of_format(Format::Stencil8, [64, 50, 2], 2),
        volume,
        line,
    ];
    for descriptor in shapes {
        let source = rig.texture(0, &descriptor);
        let targets = [rig.texture(1, &descriptor), rig.texture(0, &descriptor)];
        let mut levels = Vec::new();
        for level in 0..descriptor.mip_level_count {
            levels.push(fill(&rig.rigs[0], &source, level, ALL, level));
        }
        rig.run(0, |list| targets.iter().try_for_each(|target| list.copy_resource(target, &source)))
            .unwrap_or_else(|error| panic!("{:?}: {error}", descriptor.format));
        for target in &targets {
            for (level, data) in (0..).zip(&levels) {
                let found = texels(&rig.rigs[target.masks().node() as usize], target, level, ALL);
                assert!(found == *data, "{:?} level {level} on {}", descriptor.format, target.masks().node());
            }
        }
    }
}

/// Blocks of 4x4, at sizes that are no multiple of 4 in the small mip levels.
#[test]
fn compressed_textures() {
    let features = wgpu::Features::TEXTURE_COMPRESSION_BC;
    if !crate::gpu::adapter().features().contains(features) {
        eprintln!("skipped: the adapter has no block-compressed formats");
        return;
    }
    let adapter = crate::gpu::adapter();
    let device = || {
        let limits = patchwave::TessellationPipeline::required_limits(&adapter);
        Rig::on(crate::gpu::device_with_features(&adapter, limits, features))
    };
    let mut rig = NodeRig::of(vec![device(), device()], SMALL_STAGING);
    for format in [wgpu::TextureFormat::Bc1RgbaUnorm, wgpu::TextureFormat::Bc7RgbaUnorm] {
        let descriptor = of_format(format, [300, 212, 2], 5);
        let (source, target) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
        let levels: Vec<_> = (0..5).map(|level| fill(&rig.rigs[0], &source, level, ALL, level)).collect();
        rig.run(0, |list| list.copy_resource(&target, &source)).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        for (level, data) in (0..).zip(&levels) {
            assert!(texels(&rig.rigs[1], &target, level, ALL) == *data, "{format:?} level {level}");
        }
        // Part of a block.
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        let extent = wgpu::Extent3d { width: 6, height: 4, depth_or_array_layers: 1 };
        let error = list
            .copy_texture_region(NodeTextureLocation::new(&target, 0), NodeTextureLocation::new(&source, 0), extent)
            .expect_err("blocks are whole");
        assert!(error.to_string().contains("6 texels in x from 0 on are not whole blocks of 4"), "{error}");
    }
}

/// A box of texels goes to another place; what lies beside it stays.
#[test]
fn boxes_of_texels() {
    let mut rig = NodeRig::new();
    let descriptor = of_format(wgpu::TextureFormat::Rgba8Unorm, [700, 90, 4], 1);
    let source = rig.texture(0, &descriptor);
    let from = fill(&rig.rigs[0], &source, 0, ALL, 1);
    for node in [0, 1] {
        let target = rig.texture(node, &descriptor);
        let mut expected = fill(&rig.rigs[node as usize], &target, 0, ALL, 2);
        let at = |x, y, z| wgpu::Origin3d { x, y, z };
        let extent = wgpu::Extent3d { width: 501, height: 60, depth_or_array_layers: 2 };
        rig.run(0, |list| {
            let location = |texture, origin| NodeTextureLocation { origin, ..NodeTextureLocation::new(texture, 0) };
            list.copy_texture_region(location(&target, at(100, 30, 2)), location(&source, at(7, 5, 1)), extent)?;
            // Nothing, and yet checked.
            let none = wgpu::Extent3d { width: 0, ..extent };
            list.copy_texture_region(location(&target, at(700, 0, 0)), location(&source, at(0, 0, 0)), none)
        })
        .unwrap_or_else(|error| panic!("the box: {error}"));
        let place = |x: usize, y: usize, z: usize| ((z * 90 + y) * 700 + x) * 4;
        for z in 0..2 {
            for y in 0..60 {
                let (to, begin) = (place(100, 30 + y, 2 + z), place(7, 5 + y, 1 + z));
                expected[to..to + 501 * 4].copy_from_slice(&from[begin..begin + 501 * 4]);
            }
        }
        assert!(texels(&rig.rigs[node as usize], &target, 0, ALL) == expected, "on node {node}");
    }
}

/// An extent of 0 on any axis copies nothing, of any format and to either node, parts of planes too; where it begins is
/// checked all the same.
#[test]
fn extents_of_zero() {
    use wgpu::TextureFormat as Format;
    let mut rig = NodeRig::new();
    for format in [Format::Rgba8Unorm, Format::Depth16Unorm, Format::Stencil8] {
        let descriptor = of_format(format, [40, 30, 2], 1);
        let source = rig.texture(0, &descriptor);
        let from = fill(&rig.rigs[0], &source, 0, ALL, 1);
        for node in [0, 1] {
            let target = rig.texture(node, &descriptor);
            let old = fill(&rig.rigs[node as usize], &target, 0, ALL, 2);
            let at = |texture, origin: [u32; 3]| NodeTextureLocation {
                origin: wgpu::Origin3d { x: origin[0], y: origin[1], z: origin[2] },
                ..NodeTextureLocation::new(texture, 0)
            };
            for [width, height, depth_or_array_layers] in [[0, 30, 2], [40, 0, 2], [40, 30, 0], [0, 0, 0]] {
                let extent = wgpu::Extent3d { width, height, depth_or_array_layers };
                rig.run(0, |list| list.copy_texture_region(at(&target, [0; 3]), at(&source, [0; 3]), extent))
                    .unwrap_or_else(|error| panic!("{format:?} {extent:?} to node {node}: {error}"));
                // One texel behind the end.
                let ends = [41 - width, 31 - height, 3 - depth_or_array_layers];
                for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                    let mut origin = [0; 3];
                    origin[i] = ends[i];
                    let mut list = rig.nodes.create_command_list(1).expect("a list");
                    let error = list
                        .copy_texture_region(at(&target, origin), at(&source, [0; 3]), extent)
                        .expect_err("it begins beyond the end");
                    let words = format!("texels in {axis} from {} on end beyond the destination's", ends[i]);
                    assert!(error.to_string().contains(&words), "{error}");
                }
            }
            assert!(texels(&rig.rigs[node as usize], &target, 0, ALL) == old, "{format:?} on node {node}");
        }
        assert!(texels(&rig.rigs[0], &source, 0, ALL) == from);
    }
}

/// The table of planes: which depth and stencil formats can be pushed.
#[test]
fn depth_and_stencil() {
    use wgpu::TextureAspect::{DepthOnly, StencilOnly};
    use wgpu::TextureFormat as Format;
    let mut rig = NodeRig::new();
    let whole = wgpu::Extent3d { width: 64, height: 50, depth_or_array_layers: 1 };
    for (format, aspect, goes) in [
        (Format::Depth16Unorm, DepthOnly, true),
        (Format::Depth24Plus, DepthOnly, false),
        (Format::Depth32Float, DepthOnly, false),
        (Format::Depth24PlusStencil8, DepthOnly, false),
        (Format::Depth24PlusStencil8, StencilOnly, true),
        (Format::Stencil8, StencilOnly, true),
    ] {
        let descriptor = of_format(format, [64, 50, 1], 1);
        let (source, target) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
        let location = |texture| NodeTextureLocation { aspect, ..NodeTextureLocation::new(texture, 0) };
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        let answer = list.copy_texture_region(location(&target), location(&source), whole);
        if !goes {
            let error = answer.expect_err("no buffer holds it");
            assert!(error.to_string().contains("cannot be pushed to another node: of depth formats only"), "{error}");
            list.close().expect_err("the error sticks");
            // All of it, on its node: that is a copy between textures.
            if format != Format::Depth24PlusStencil8 {
                let near = rig.texture(0, &descriptor);
                rig.run(0, |list| list.copy_resource(&near, &source)).expect("copied on its node");
            }
            continue;
        }
        answer.unwrap_or_else(|error| panic!("{format:?}: {error}"));
        let data = fill(&rig.rigs[0], &source, 0, aspect, 1);
        rig.nodes.execute(list.close().expect("it is right")).expect("it starts");
        rig.nodes.finish_blocking().expect("it ends");
        assert!(texels(&rig.rigs[1], &target, 0, aspect) == data, "{format:?} {aspect:?}");
        // Planes are copied whole.
        let part = wgpu::Extent3d { width: 32, ..whole };
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        let error = list.copy_texture_region(location(&target), location(&source), part).expect_err("a part");
        assert!(error.to_string().contains("are copied by whole subresources"), "{error}");
    }
    // Of the two planes of copy_resource one cannot go, so neither goes.
    let descriptor = of_format(Format::Depth24PlusStencil8, [64, 50, 1], 1);
    let (source, target) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
    fill(&rig.rigs[0], &source, 0, StencilOnly, 1);
    let old = fill(&rig.rigs[1], &target, 0, StencilOnly, 2);
    let error = rig.run(0, |list| list.copy_resource(&target, &source)).expect_err("the depth stays");
    assert!(error.to_string().starts_with("copy_resource: the depth of Depth24PlusStencil8"), "{error}");
    assert!(texels(&rig.rigs[1], &target, 0, StencilOnly) == old);
}

/// Everything that cannot be, with the destination as it was.
#[test]
fn refused_textures() {
    let mut rig = NodeRig::new();
    let descriptor = of_format(wgpu::TextureFormat::Rgba8Unorm, [40, 30, 2], 2);
    let (source, target) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
    fill(&rig.rigs[0], &source, 0, ALL, 1);
    let old = fill(&rig.rigs[1], &target, 0, ALL, 2);
    let samples = wgpu::TextureDescriptor {
        sample_count: 4,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        ..of_format(wgpu::TextureFormat::Rgba8Unorm, [40, 30, 1], 1)
    };
    let (many, many_there, many_here) = (rig.texture(0, &samples), rig.texture(1, &samples), rig.texture(0, &samples));
    let other = rig.texture(1, &of_format(wgpu::TextureFormat::Rg16Uint, [40, 30, 2], 2));
    let at = |texture, mip_level, x, z| NodeTextureLocation {
        origin: wgpu::Origin3d { x, y: 0, z },
        ..NodeTextureLocation::new(texture, mip_level)
    };
    let extent = |width, layers| wgpu::Extent3d { width, height: 10, depth_or_array_layers: layers };
    let depth_of_colour =
        NodeTextureLocation { aspect: wgpu::TextureAspect::DepthOnly, ..NodeTextureLocation::new(&source, 0) };
    let whole = wgpu::Extent3d { width: 40, height: 30, depth_or_array_layers: 1 };
    let cases = [
        (at(&source, 0, 0, 0), at(&target, 0, 0, 0), extent(4, 1), "copy source: that needs TIER_2"),
        (at(&target, 2, 0, 0), at(&source, 0, 0, 0), extent(4, 1), "mip level 2 of the destination, which has 2"),
        (
            at(&target, 0, 38, 0),
            at(&source, 0, 0, 0),
            extent(4, 1),
            "4 texels in x from 38 on end beyond the destination's 40",
        ),
        (
            at(&target, 0, 0, 0),
            at(&source, 1, 0, 0),
            extent(21, 1),
            "21 texels in x from 0 on end beyond the source's 20",
        ),
        (
            at(&target, 0, 0, 1),
            at(&source, 0, 0, 0),
            extent(4, 2),
            "2 texels in z from 1 on end beyond the destination's 2",
        ),
        (at(&target, 0, u32::MAX, 0), at(&source, 0, 0, 0), extent(u32::MAX, 1), "end beyond the destination's 40"),
        (
            at(&other, 0, 0, 0),
            at(&source, 0, 0, 0),
            extent(4, 1),
            "from Rgba8Unorm to Rg16Uint; the formats must be the same",
        ),
        (at(&target, 0, 0, 0), depth_of_colour, extent(4, 1), "Rgba8Unorm has no plane DepthOnly"),
        (at(&source, 0, 20, 0), at(&source, 0, 0, 0), extent(4, 1), "source and destination are one subresource"),
        (
            at(&many_there, 0, 0, 0),
            at(&many, 0, 0, 0),
            whole,
            "a texture of 4 samples cannot be pushed to another node",
        ),
        (at(&many_here, 0, 0, 0), at(&many, 0, 0, 0), extent(4, 1), "copied by whole subresources"),
        (at(&target, 0, 0, 0), at(&many, 0, 0, 0), whole, "from 4 samples to 1; they must be the same"),
    ];
    for (to, from, extent, words) in cases {
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        let error = list.copy_texture_region(to, from, extent).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(list.close().expect_err("it sticks").to_string(), error.to_string());
    }
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    let larger = rig.texture(1, &of_format(wgpu::TextureFormat::Rgba8Unorm, [40, 31, 2], 2));
    let error = list.copy_resource(&larger, &source).expect_err("sizes differ");
    assert!(matches!(error, NodeError::Copy { operation: "copy_resource", .. }), "{error}");
    // Samples are copied on their node, layers of one array to one another.
    rig.run(0, |list| {
        list.copy_resource(&many_here, &many)?;
        list.copy_texture_region(at(&source, 0, 0, 1), at(&source, 0, 0, 0), extent(4, 1))
    })
    .expect("both can be");
    assert!(texels(&rig.rigs[1], &target, 0, ALL) == old);
}
