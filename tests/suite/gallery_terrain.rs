//! The terrain of the gallery: neither cracks nor overlaps, and nothing of what is out of view.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use glam::{Mat4, Vec3};
use patchwave::{Domain, Draw, Indices, Mesh, Partitioning, TessellationPipelineDescriptor};
use wgpu::util::DeviceExt;

use crate::cli::folder;
use crate::gallery::{assert_draws, complaint, run};
use crate::rig::Rig;

/// Patches along a side.
const SIDE: usize = 64;
/// Steps of a domain location, and so of places on the map.
const UNIT: f32 = 65536.0;
/// What the example's map covers, and how far up a metre goes.
const EXTENT: Vec3 = Vec3::new(402.0 * 0.0746, 343.0 * 0.0925, 0.0025);

const SHADER: &str = concat!(
    include_str!("../../assets/shaders/terrain.heights.wgsl"),
    include_str!("../../assets/shaders/terrain.wgsl")
);

/// As the shader has it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    world_from_clip: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    extent: [f32; 3],
    tolerance: f32,
}

/// An eye over the valley, and what it sees.
fn view() -> (Vec3, Mat4) {
    let eye = Vec3::new(12.0, -6.0, 2.5);
    let look = glam::camera::rh::view::look_at_mat4(eye, Vec3::new(3.0, -1.5, 0.6), Vec3::Z);
    (eye, glam::camera::rh::proj::directx::perspective(0.53, 4.0 / 3.0, 0.5, 200.0) * look)
}

/// Everything, from straight above.
fn above() -> Mat4 {
    Mat4::from_translation(0.5 * Vec3::Z) * Mat4::from_scale(Vec3::new(1.0 / EXTENT.x, 1.0 / EXTENT.y, -0.1))
}

/// The example's shader on the example's map. Factors are for `eye`; patches outside `clip_from_world` are left out.
fn terrain(eye: Vec3, clip_from_world: Mat4) -> Mesh {
    terrain_of(SHADER, eye, clip_from_world)
}

fn terrain_of(shader: &str, eye: Vec3, clip_from_world: Mat4) -> Mesh {
    let rig = Rig::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/jacksboro_fault_dem.png");
    let image::DynamicImage::ImageLuma16(map) = image::open(file).expect("the map is there") else {
        panic!("the map has 16 bits of grey");
    };
    let texels: Vec<f32> = map.as_raw().iter().map(|texel| f32::from(*texel)).collect();
    let texture = rig.device.create_texture_with_data(
        &rig.queue,
        &wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: map.width(), height: map.height(), depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        },
        wgpu::util::TextureDataOrder::LayerMajor,
        bytemuck::cast_slice(&texels),
    );
    let settings = Settings {
        clip_from_world: clip_from_world.to_cols_array(),
        world_from_clip: clip_from_world.inverse().to_cols_array(),
        eye: eye.to_array(),
        pixels_per_unit: 1300.0,
        extent: EXTENT.to_array(),
        tolerance: 0.25,
    };
    let settings = rig.buffer(bytemuck::bytes_of(&settings), wgpu::BufferUsages::UNIFORM);
    let entry =
        |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None };
    let layout = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[
            entry(
                0,
                wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            ),
            entry(
                1,
                wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
            ),
        ],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: settings.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&view) },
        ],
    });
    let pipeline = rig.pipeline(&TessellationPipelineDescriptor {
        bind_group_layouts: &[Some(&layout)],
        partitioning: Partitioning::FractionalOdd,
        indices: Indices::Never,
        ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 4)
    });
    let groups = [Some(&group)];
    let vertices = (SIDE * SIDE * 4) as u32;
    rig.mesh(&pipeline, &Draw { bind_groups: &groups, ..Draw::new(0..vertices) })
}

/// Places on the map in whole steps.
fn steps(mesh: &Mesh) -> Vec<[i64; 2]> {
    let grid = mesh.member("grid").expect("the surface has a place on the map");
    let step = |x: f32| {
        let steps = x * UNIT;
        assert_eq!(steps, steps.round(), "{x} is no multiple of 1/65536");
        steps as i64
    };
    grid.iter().map(|place| [step(place[0]), step(place[1])]).collect()
}

/// How often each of `pixels` by `pixels` points of the map is covered. A point on an edge belongs to the triangle that has
/// it to its left or as its top, as in every rasteriser; all in whole numbers.
fn coverage(mesh: &Mesh, pixels: i64) -> Vec<u32> {
    let places = steps(mesh);
    let pitch = SIDE as i64 * UNIT as i64 / pixels;
    let mut covered = vec![0; (pixels * pixels) as usize];
    for corners in mesh.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|i| places[corners[i] as usize]);
        let turn =
            |a: [i64; 2], b: [i64; 2], p: [i64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
        let area = turn(a, b, c);
        assert!(area >= 0, "triangle {a:?} {b:?} {c:?} is turned over");
        let inside = |a: [i64; 2], b: [i64; 2], p| {
            let is_top_left = b[1] < a[1] || (b[1] == a[1] && b[0] > a[0]);
            turn(a, b, p) >= i64::from(!is_top_left)
        };
        let range = |axis: usize| {
            let of = [a[axis], b[axis], c[axis]];
            let [low, high] = [of.iter().min(), of.iter().max()].map(|x| *x.expect("there are three"));
            low / pitch..=(high / pitch).min(pixels - 1)
        };
        for y in range(1) {
            for x in range(0) {
                let p = [x * pitch + pitch / 2, y * pitch + pitch / 2];
                if area > 0 && inside(a, b, p) && inside(b, c, p) && inside(c, a, p) {
                    covered[(y * pixels + x) as usize] += 1;
                }
            }
        }
    }
    covered
}

/// Along an edge between patches: the place on it, and the bits of the vertex there.
type Border = BTreeMap<i64, Vec<u32>>;

/// The vertices of a patch on its edges U==0, V==0, U==1, V==1.
fn borders(mesh: &Mesh, places: &[[i64; 2]], patch_id: usize, bits: &[Vec<u32>]) -> [Border; 4] {
    let origin = [patch_id % SIDE, patch_id / SIDE].map(|cell| cell as i64 * UNIT as i64);
    let own = &mesh.patches[patch_id];
    let own = own.first_vertex as usize..(own.first_vertex + own.vertices) as usize;
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(axis, far)| {
        let line = origin[axis] + far * UNIT as i64;
        own.clone().filter(|k| places[*k][axis] == line).map(|k| (places[k][1 - axis], bits[k].clone())).collect()
    })
}

/// Patches whose vertices on the edge between them differ, and how many segments edges have.
fn cracks(mesh: &Mesh) -> (Vec<[usize; 2]>, BTreeSet<usize>) {
    let places = steps(mesh);
    let world = mesh.member_bits("world_position").expect("a position in the world");
    let clip = mesh.member_bits("position").expect("a position in clip space");
    let bits: Vec<Vec<u32>> = world.into_iter().zip(clip).map(|(world, clip)| [world, clip].concat()).collect();
    let all: Vec<[Border; 4]> = (0..SIDE * SIDE).map(|id| borders(mesh, &places, id, &bits)).collect();
    let mut cracks = Vec::new();
    let mut segments = BTreeSet::new();
    for (id, own) in all.iter().enumerate() {
        if id % SIDE + 1 < SIDE && own[2] != all[id + 1][0] {
            cracks.push([id, id + 1]);
        }
        if all.get(id + SIDE).is_some_and(|south| own[3] != south[1]) {
            cracks.push([id, id + SIDE]);
        }
        segments.extend(own.iter().map(|border| border.len() - 1));
    }
    (cracks, segments)
}

#[test]
fn the_terrain_has_neither_holes_nor_overlaps_nor_cracks() {
    let mesh = terrain(view().0, above());
    assert_eq!(mesh.patches.len(), SIDE * SIDE);
    assert!(mesh.patches.iter().all(|patch| patch.primitives >= 2), "from above everything is in view");
    // A power of two, whose points lie on edges and corners, and a number whose points do not.
    for pixels in [1024, 1000] {
        let covered = coverage(&mesh, pixels);
        let count = |times: fn(u32) -> bool| covered.iter().filter(|found| times(**found)).count();
        assert_eq!((count(|n| n == 0), count(|n| n > 1)), (0, 0), "holes and overlaps of {pixels}x{pixels} points");
    }

    // From above no crack shows that only differs in height.
    let (cracks, segments) = cracks(&mesh);
    assert!(cracks.is_empty(), "{cracks:?}: patches that differ on the edge between them");
    assert!(segments.len() > 8, "edges of few kinds say little: segments {segments:?}");
}

#[test]
fn cracks_of_a_terrain_would_be_found() {
    let torn = SHADER.replace("let edges = vec4f(", "let edges = f32(1u + patch_id % 2u) * vec4f(");
    assert_ne!(torn, SHADER);
    assert!(cracks(&terrain_of(&torn, view().0, above())).0.len() > 1000);
}

#[test]
fn patches_of_the_terrain_that_are_out_of_view_give_nothing() {
    let (eye, clip_from_world) = view();
    let (all, seen) = (terrain(eye, above()), terrain(eye, clip_from_world));
    let world = all.member("world_position").expect("a position in the world");
    let mut left_out = 0;
    for (id, (own, whole)) in seen.patches.iter().zip(&all.patches).enumerate() {
        if own.factors[0] != 0.0 {
            assert_eq!((own.vertices, own.primitives), (whole.vertices, whole.primitives), "patch {id}");
            assert_eq!(own.factors, whole.factors, "patch {id}");
            continue;
        }
        left_out += 1;
        assert_eq!((own.vertices, own.primitives), (0, 0), "patch {id}");
        // Its whole surface is behind one plane of the view.
        let outside = (whole.first_vertex..whole.first_vertex + whole.vertices).fold(63, |outside, k| {
            let place = &world[k as usize];
            let clip = clip_from_world * Vec3::new(place[0], place[1], place[2]).extend(1.0);
            let behind = [clip.x + clip.w, clip.w - clip.x, clip.y + clip.w, clip.w - clip.y, clip.z, clip.w - clip.z];
            outside & behind.iter().enumerate().fold(0, |code, (i, away)| code | u32::from(*away < 0.0) << i)
        });
        assert_ne!(outside, 0, "patch {id} is left out and can be seen");
    }
    // The eye stands over the land and looks across a quarter of it.
    assert!((2000..3800).contains(&left_out), "{left_out} of {} patches are left out", SIDE * SIDE);
}

#[test]
fn the_terrain_is_drawn() {
    assert_draws("terrain", "terrain", &[]);
}

#[test]
fn a_height_map_that_is_none_is_one_line() {
    let folder = folder("gallery-heights");
    let tiny = folder.join("tiny.png");
    image::ImageBuffer::<image::Luma<u16>, _>::from_raw(1, 3, vec![1u16, 2, 3])
        .expect("three texels")
        .save(&tiny)
        .expect("a file in the test's folder");
    let broken = folder.join("broken.png");
    let whole = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/jacksboro_fault_dem.png")).expect("the map");
    fs::write(&broken, &whole[..5000]).expect("a file in the test's folder");
    for (file, words) in [
        ("no/such/file.png", "cannot read no/such/file.png"),
        ("Cargo.toml", "Cargo.toml is no PNG file"),
        ("assets/images/teapot.png", "Rgb8 texels; a height map has 16 bits of grey"),
        (tiny.to_str().expect("a plain path"), "is 1x3 texels; this adapter takes 2x2 to"),
        (broken.to_str().expect("a plain path"), "broken.png is no PNG file"),
    ] {
        let output = run("terrain", &["--size", "8x8", "--heights", file]);
        let error = complaint(&output);
        assert!(error.contains(words), "{error}");
    }
}
