//! Texels between textures and footprints in buffers, on a node and to another: every byte where it belongs, those between
//! the rows untouched, and Direct3D's rules of placement.

use patchwave::adapter::nodes::{NodeBuffer, NodeBufferLocation, NodeTexture, NodeTextureLocation, PlacedFootprint};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::nodes_rig::{NodeRig, SMALL_STAGING, pattern};
use super::nodes_textures::{ALL, blocks, fill, of_format, texels};
use super::rig::Rig;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    ToTexture,
    ToBuffer,
}

/// A copy between a mip level of a texture and a footprint, in blocks of the format.
#[derive(Clone, Debug)]
struct Copy {
    mip_level: u32,
    aspect: wgpu::TextureAspect,
    /// Where the box begins in the texture and in the footprint, and its extent.
    in_texture: [u32; 3],
    in_footprint: [u32; 3],
    extent: [u32; 3],
    footprint: PlacedFootprint,
}

impl Copy {
    /// Carries it out on bytes: of the buffer, and of the mip level without padding.
    fn model(&self, way: Way, texture: &wgpu::Texture, buffer: &mut [u8], texels: &mut [u8]) {
        let ([width, height, _], bytes) = blocks(texture, self.mip_level, self.aspect);
        let rows = self.footprint.height / self.footprint.format.block_dimensions().1;
        let [w, h, d] = self.extent;
        for z in 0..d {
            for y in 0..h {
                let [[tx, ty, tz], [fx, fy, fz]] = [self.in_texture, self.in_footprint];
                let row = u64::from((fz + z) * rows + fy + y) * u64::from(self.footprint.row_pitch);
                let at = (self.footprint.offset + row) as usize + (fx * bytes) as usize;
                let texel = ((((tz + z) * height + ty + y) * width + tx) * bytes) as usize;
                let size = (w * bytes) as usize;
                match way {
                    Way::ToTexture => texels[texel..texel + size].copy_from_slice(&buffer[at..at + size]),
                    Way::ToBuffer => buffer[at..at + size].copy_from_slice(&texels[texel..texel + size]),
                }
            }
        }
    }

    /// Copies from node 0 to where `to` lies and compares everything with the model.
    fn check(&self, rig: &mut NodeRig, way: Way, descriptor: &wgpu::TextureDescriptor<'_>, node: u32) {
        let (texture_node, buffer_node) = if way == Way::ToTexture { (node, 0) } else { (0, node) };
        let texture = rig.texture(texture_node, descriptor);
        let end = self.footprint.offset + self.footprint.total_bytes().expect("it is small");
        // Not a multiple of 4, where the footprint's end is none.
        let mut bytes = pattern(end as usize, 1);
        let buffer = rig.buffer(buffer_node, 3, &bytes);
        let mut level = fill(&rig.rigs[texture_node as usize], &texture, self.mip_level, self.aspect, 2);
        self.run(rig, way, &texture, &buffer).unwrap_or_else(|error| panic!("{way:?} to {node}: {error}: {self:?}"));
        self.model(way, texture.texture(), &mut bytes, &mut level);
        assert!(rig.bytes(&buffer) == bytes, "the buffer, {way:?} to node {node}: {self:?} of {descriptor:?}");
        let found = texels(&rig.rigs[texture_node as usize], &texture, self.mip_level, self.aspect);
        assert!(found == level, "the texture, {way:?} to node {node}: {self:?} of {descriptor:?}");
    }

    fn run(
        &self,
        rig: &mut NodeRig,
        way: Way,
        texture: &NodeTexture,
        buffer: &NodeBuffer,
    ) -> Result<(), patchwave::adapter::nodes::NodeError> {
        let (block_width, block_height) = texture.texture().format().block_dimensions();
        let origin = |[x, y, z]: [u32; 3]| wgpu::Origin3d { x: x * block_width, y: y * block_height, z };
        let extent = wgpu::Extent3d {
            width: self.extent[0] * block_width,
            height: self.extent[1] * block_height,
            depth_or_array_layers: self.extent[2],
        };
        let texture = NodeTextureLocation {
            texture,
            mip_level: self.mip_level,
            aspect: self.aspect,
            origin: origin(self.in_texture),
        };
        let buffer = NodeBufferLocation { buffer, footprint: self.footprint, origin: origin(self.in_footprint) };
        rig.run(0, |list| match way {
            Way::ToTexture => list.copy_texture_region(texture, buffer, extent),
            Way::ToBuffer => list.copy_texture_region(buffer, texture, extent),
        })
    }
}

/// What of each axis is copied, from where to where: of `has` blocks, with so many beside them in the footprint.
fn axis(has: u32, [first, size, place, beside]: [u32; 4]) -> [u32; 4] {
    let begin = first % has;
    let size = size % (has - begin + 1);
    let place = place % 4;
    [begin, place, size, (place + size + beside % 3).max(1)]
}

/// Boxes of any place and size between textures and footprints of any pitch, on both nodes and both ways, in several chunks.
#[test]
fn any_box_to_any_place() {
    use wgpu::TextureFormat as Format;
    let rig = std::cell::RefCell::new(NodeRig::new());
    let formats = [Format::R8Unorm, Format::Rg8Uint, Format::Rgba8Unorm, Format::Rgba16Float, Format::Rgba32Float];
    let strategy = (
        prop::sample::select(formats.to_vec()),
        [1u32..300, 1u32..90, 1u32..4],
        any::<bool>(),
        0u32..2,
        prop::array::uniform3(prop::array::uniform4(any::<u32>())),
        (0u64..3, 0u32..3),
    );
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(format, size, volume, mip_level, axes, (place, more))| {
            let mip_level_count = 1 + mip_level.min(size[0].max(size[1]).ilog2());
            let descriptor = wgpu::TextureDescriptor {
                dimension: if volume { wgpu::TextureDimension::D3 } else { wgpu::TextureDimension::D2 },
                ..of_format(format, size, mip_level_count)
            };
            let mip_level = mip_level_count - 1;
            let level = descriptor.mip_level_size(mip_level).expect("there is one");
            let bytes = format.block_copy_size(None).expect("it has a size");
            let has = [level.width, level.height, level.depth_or_array_layers];
            let [x, y, z] = [0, 1, 2].map(|i| axis(has[i], axes[i]));
            let footprint = PlacedFootprint {
                offset: place * 512,
                format,
                width: x[3],
                height: y[3],
                depth: z[3],
                row_pitch: (x[3] * bytes).next_multiple_of(256) + more * 256,
            };
            let copy = Copy {
                mip_level,
                aspect: ALL,
                in_texture: [x[0], y[0], z[0]],
                in_footprint: [x[1], y[1], z[1]],
                extent: [x[2], y[2], z[2]],
                footprint,
            };
            for node in [0, 1] {
                for way in [Way::ToTexture, Way::ToBuffer] {
                    copy.check(&mut rig.borrow_mut(), way, &descriptor, node);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// All of each level, by the footprint that is asked for: block-compressed formats too, whose small levels end in the middle
/// of a block, and planes.
#[test]
fn whole_levels_by_their_footprints() {
    use wgpu::TextureAspect::{DepthOnly, StencilOnly};
    use wgpu::TextureFormat as Format;
    let adapter = crate::gpu::adapter();
    let features = adapter.features() & wgpu::Features::TEXTURE_COMPRESSION_BC;
    let device = || {
        let limits = patchwave::TessellationPipeline::required_limits(&adapter);
        Rig::on(crate::gpu::device_with_features(&adapter, limits, features))
    };
    let mut rig = NodeRig::of(vec![device(), device()], SMALL_STAGING);
    let mut formats = vec![
        (Format::Rgba8UnormSrgb, ALL),
        (Format::Depth16Unorm, DepthOnly),
        (Format::Stencil8, StencilOnly),
        (Format::Depth24PlusStencil8, StencilOnly),
    ];
    if features.is_empty() {
        eprintln!("not of block-compressed formats: the adapter has none");
    } else {
        formats.extend([(Format::Bc1RgbaUnorm, ALL), (Format::Bc7RgbaUnormSrgb, ALL)]);
    }
    for (format, aspect) in formats {
        // Bc formats of wgpu begin in whole blocks.
        let descriptor = of_format(format, [300, 212, 2], 5);
        let likeness = rig.texture(0, &descriptor);
        for mip_level in 0..5 {
            let footprint = likeness.copyable_footprint(mip_level, aspect, 1_024).expect("it has one");
            let (extent, _) = blocks(likeness.texture(), mip_level, aspect);
            let copy = Copy { mip_level, aspect, in_texture: [0; 3], in_footprint: [0; 3], extent, footprint };
            for node in [0, 1] {
                for way in [Way::ToTexture, Way::ToBuffer] {
                    copy.check(&mut rig, way, &descriptor, node);
                }
            }
        }
    }
}

/// Depth that a buffer cannot write it can still be given.
#[test]
fn depth_of_32_bits_goes_to_buffers() {
    let mut rig = NodeRig::new();
    let descriptor = wgpu::TextureDescriptor {
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        ..of_format(wgpu::TextureFormat::Depth32Float, [70, 30, 1], 1)
    };
    let (near, far) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
    let mut encoder = rig.rigs[0].encoder();
    let view = near.texture().create_view(&wgpu::TextureViewDescriptor::default());
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &view,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.25), store: wgpu::StoreOp::Store }),
            stencil_ops: None,
        }),
        ..wgpu::RenderPassDescriptor::default()
    });
    rig.rigs[0].queue.submit([encoder.finish()]);
    let footprint = PlacedFootprint {
        format: wgpu::TextureFormat::R32Float,
        ..near.copyable_footprint(0, ALL, 512).expect("it has one")
    };
    let size = (512 + footprint.total_bytes().expect("it is small")) as usize;
    let whole = wgpu::Extent3d { width: 70, height: 30, depth_or_array_layers: 1 };
    let mut expected = pattern(size, 1);
    for row in 0..30 {
        let begin = 512 + row * footprint.row_pitch as usize;
        expected[begin..begin + 280].copy_from_slice(&0.25f32.to_le_bytes().repeat(70));
    }
    for node in [0, 1] {
        let buffer = rig.buffer(node, 3, &pattern(size, 1));
        rig.run(0, |list| {
            let to = NodeBufferLocation::new(&buffer, footprint);
            list.copy_texture_region(to, NodeTextureLocation::new(&near, 0), whole)
        })
        .unwrap_or_else(|error| panic!("to node {node}: {error}"));
        assert!(rig.bytes(&buffer) == expected, "on node {node}");
    }
    let source = rig.buffer(0, 1, &pattern(size, 1));
    let error = rig
        .run(0, |list| {
            let from = NodeBufferLocation::new(&source, footprint);
            list.copy_texture_region(NodeTextureLocation::new(&far, 0), from, whole)
        })
        .expect_err("no buffer writes it");
    assert!(error.to_string().contains("DepthOnly of Depth32Float cannot be copied from a buffer"), "{error}");
}

/// What Direct3D refuses, and a footprint of the largest numbers; sides of both nodes keep what they have.
#[test]
fn refused_footprints() {
    let mut rig = NodeRig::new();
    let descriptor = of_format(wgpu::TextureFormat::Rgba8Unorm, [40, 30, 2], 2);
    let (texture, far_texture) = (rig.texture(0, &descriptor), rig.texture(1, &descriptor));
    let depth = rig.texture(0, &of_format(wgpu::TextureFormat::Depth16Unorm, [40, 30, 1], 1));
    let samples = wgpu::TextureDescriptor {
        sample_count: 4,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        ..of_format(wgpu::TextureFormat::Rgba8Unorm, [40, 30, 1], 1)
    };
    let samples = rig.texture(0, &samples);
    let old = pattern(20_000, 2);
    let level = fill(&rig.rigs[1], &far_texture, 0, ALL, 3);
    let (buffer, far_buffer) = (rig.buffer(0, 3, &old), rig.buffer(1, 3, &old));
    let hidden = rig.buffer(1, 2, &old);
    let right = texture.copyable_footprint(0, ALL, 512).expect("it has one");
    assert_eq!((right.width, right.height, right.depth, right.row_pitch), (40, 30, 2, 256));
    // 512 + 59 * 256 + 160 bytes.
    assert_eq!(right.total_bytes(), Some(15_264));
    let one = PlacedFootprint { depth: 1, ..right };
    let whole = wgpu::Extent3d { width: 40, height: 30, depth_or_array_layers: 1 };
    let plane = PlacedFootprint { format: wgpu::TextureFormat::R16Uint, ..one };
    let cases = [
        (PlacedFootprint { offset: 256, ..one }, whole, "begins at byte 256, no multiple of 512"),
        (PlacedFootprint { offset: 513, ..one }, whole, "begins at byte 513, no multiple of 512"),
        (PlacedFootprint { row_pitch: 160, ..one }, whole, "a row pitch of 160 bytes: it must be a multiple of 256"),
        (PlacedFootprint { row_pitch: 0, ..one }, whole, "a row pitch of 0 bytes"),
        (PlacedFootprint { width: 65, ..one }, whole, "must be a multiple of 256 and hold a row's 260"),
        (PlacedFootprint { height: 0, ..one }, whole, "is 40x0x1 texels of Rgba8Unorm: it must be at least one block"),
        (PlacedFootprint { offset: 12_800, ..one }, whole, "ends beyond the buffer's 20000 bytes"),
        (PlacedFootprint { offset: u64::MAX - 511, ..one }, whole, "ends beyond the buffer's 20000 bytes"),
        (
            PlacedFootprint { height: u32::MAX, depth: u32::MAX, row_pitch: u32::MAX - 255, ..one },
            whole,
            "ends beyond the buffer's 20000 bytes",
        ),
        (PlacedFootprint { width: 39, ..one }, whole, "40 texels in x from 0 on end beyond the"),
        (one, wgpu::Extent3d { depth_or_array_layers: 2, ..whole }, "2 texels in z from 0 on end beyond the"),
        (
            PlacedFootprint { format: wgpu::TextureFormat::Rg16Uint, ..one },
            whole,
            "between texels of Rgba8Unorm and a footprint of Rg16Uint",
        ),
        (
            PlacedFootprint { format: wgpu::TextureFormat::Depth24PlusStencil8, ..one },
            whole,
            "buffers hold no texels of Depth24PlusStencil8",
        ),
        (
            PlacedFootprint { format: wgpu::TextureFormat::Bc1RgbaUnorm, height: 30, ..one },
            whole,
            "it must be at least one block and whole ones, of 4x4",
        ),
        // Nothing is copied, and yet it is checked.
        (PlacedFootprint { row_pitch: 100, ..one }, wgpu::Extent3d::default(), "a row pitch of 100 bytes"),
        (one, wgpu::Extent3d { width: 0, height: 31, ..whole }, "31 texels in y from 0 on end beyond the"),
    ];
    for (footprint, extent, words) in cases {
        for (texture, buffer) in [(&texture, &far_buffer), (&far_texture, &buffer), (&texture, &buffer)] {
            for to_buffer in [true, false] {
                let mut list = rig.nodes.create_command_list(1).expect("a list");
                let (at, texels) = (NodeBufferLocation::new(buffer, footprint), NodeTextureLocation::new(texture, 0));
                let pull = if to_buffer { texture.masks().node() == 1 } else { buffer.masks().node() == 1 };
                let made = if to_buffer {
                    list.copy_texture_region(at, texels, extent)
                } else {
                    list.copy_texture_region(texels, at, extent)
                };
                let error = made.expect_err(words);
                let expected = if pull { "as copy source: that needs TIER_2" } else { words };
                assert!(error.to_string().contains(expected), "{error}");
                assert_eq!(list.close().expect_err("it sticks").to_string(), error.to_string());
            }
        }
    }
    let refused = |to_texture: bool, texture: &NodeTexture, at: NodeBufferLocation<'_>, extent, words: &str| {
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        let texels = NodeTextureLocation::new(texture, 0);
        let made = if to_texture {
            list.copy_texture_region(texels, at, extent)
        } else {
            list.copy_texture_region(at, texels, extent)
        };
        let error = made.expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    };
    let at = |buffer, footprint| NodeBufferLocation::new(buffer, footprint);
    refused(false, &samples, at(&far_buffer, one), whole, "a texture of 4 samples cannot be copied to a buffer");
    refused(false, &texture, at(&hidden, one), whole, "its visible node mask 0x2 lacks node 0");
    let part = wgpu::Extent3d { width: 39, ..whole };
    refused(true, &depth, at(&buffer, plane), part, "planes of depth and stencil are copied by whole subresources");
    let beside = NodeBufferLocation {
        origin: wgpu::Origin3d { x: 1, y: 0, z: 0 },
        ..at(&buffer, PlacedFootprint { width: 41, ..plane })
    };
    refused(true, &depth, beside, whole, "planes of depth and stencil are copied by whole subresources");
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    let error = list.copy_texture_region(at(&far_buffer, one), at(&buffer, one), whole).expect_err("two buffers");
    assert_eq!(error.to_string(), "copy_texture_region: both sides are buffers; copy_buffer_region copies those");
    assert!(texture.copyable_footprint(2, ALL, 0).is_err() && samples.copyable_footprint(0, ALL, 0).is_err());
    // A buffer that was made for something else.
    let masks = rig.nodes.heap_masks(2, 3).expect("the masks go together");
    let plain = rig.rigs[1].buffer(&old, wgpu::BufferUsages::STORAGE);
    let plain = rig.nodes.adopt_buffer(masks, "plain", &plain).expect("it is taken");
    refused(false, &texture, at(&plain, one), whole, "buffer 'plain' was made without");

    // Nothing to copy, and right.
    for extent in [wgpu::Extent3d { width: 0, ..whole }, wgpu::Extent3d { depth_or_array_layers: 0, ..whole }] {
        rig.run(0, |list| {
            list.copy_texture_region(at(&far_buffer, one), NodeTextureLocation::new(&texture, 0), extent)?;
            list.copy_texture_region(NodeTextureLocation::new(&far_texture, 0), at(&buffer, one), extent)
        })
        .expect("it is nothing");
    }
    rig.nodes.finish_blocking().expect("there is nothing to do");
    for buffer in [&buffer, &far_buffer, &hidden] {
        assert!(rig.bytes(buffer) == old);
    }
    assert!(texels(&rig.rigs[1], &far_texture, 0, ALL) == level);
}
