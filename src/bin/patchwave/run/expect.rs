//! What a scene file expects, against what came out.

use anyhow::Context;
use patchwave::shader::{ScalarKind, SurfaceMember};

use super::buffers::read_file;
use super::file::{ExpectImage, ExpectIndices, ExpectMember, ExpectPatch, ExpectSame, SceneFile};
use super::pack::pack;
use super::place::{Complaint, Place, SceneText, suggestion};
use super::report::Counts;
use super::session::{Ran, RanDraw};
use super::textures::decode;
use super::value::{Value, numbers};
use crate::scene::gpu::Gpu;

/// What did not hold, a line each.
pub(crate) type Mismatches = Vec<String>;

/// More of one kind are not told.
const MOST_TOLD: usize = 3;

/// Compares everything but images, errors and modes.
pub(crate) fn compare(gpu: &Gpu, file: &SceneFile, ran: &Ran, of_mode: bool) -> anyhow::Result<Mismatches> {
    let mut mismatches = Vec::new();
    let Some(expect) = &file.expect else { return Ok(mismatches) };
    let counts = Counts::of(&ran.draws);
    for (what, expected, found) in [
        ("patches", expect.patches, counts.patches),
        ("culled", expect.culled, counts.culled),
        ("vertices", expect.vertices, counts.vertices),
        ("primitives", expect.primitives, counts.primitives),
        ("threadgroups", expect.threadgroups, counts.threadgroups),
        // In another mode than the file's it is another number.
        ("off_chip_threadgroups", expect.off_chip_threadgroups.filter(|_| of_mode), counts.off_chip_threadgroups),
        ("chunks", expect.chunks, counts.chunks),
    ] {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            mismatches.push(format!("{what}: expected {expected}, found {found}"));
        }
    }
    let place = Place::new("expect");
    for (i, member) in expect.member.iter().enumerate() {
        let place = place.key("member").at(i);
        compare_member(member, draw_of(ran, member.draw, &place)?, &place, &mut mismatches)?;
    }
    for (i, indices) in expect.indices.iter().enumerate() {
        let place = place.key("indices").at(i);
        compare_indices(indices, draw_of(ran, indices.draw, &place)?, &place, &mut mismatches)?;
    }
    for (i, patch) in expect.patch.iter().enumerate() {
        let place = place.key("patch").at(i);
        compare_patch(patch, draw_of(ran, patch.draw, &place)?, &place, &mut mismatches)?;
    }
    for (i, same) in expect.same.iter().enumerate() {
        let place = place.key("same").at(i);
        compare_same(same, draw_of(ran, same.draw, &place)?, &place, &mut mismatches)?;
    }
    for (name, expected) in &expect.buffers {
        compare_buffer(gpu, ran, name, &expected.value, &place.key("buffers").key(name), &mut mismatches)?;
    }
    Ok(mismatches)
}

fn draw_of<'a>(ran: &'a Ran, draw: usize, place: &Place) -> Result<&'a RanDraw, Complaint> {
    let message = || format!("there is no draw {draw}; there are {}, from 0", ran.draws.len());
    ran.draws.get(draw).ok_or_else(|| place.key("draw").complain(message()))
}

/// What is expected of one component.
#[derive(Clone, Copy)]
struct Expected {
    bits: u32,
    kind: ScalarKind,
    tolerance: f64,
}

impl Expected {
    fn met_by(self, found: u32) -> bool {
        if self.kind != ScalarKind::Float {
            return self.bits == found;
        }
        let (expected, found) = (f32::from_bits(self.bits), f32::from_bits(found));
        // Which NaN an operation gives is left open. 0 and -0 are told apart only where the bits are given.
        expected == found
            || expected.is_nan() && found.is_nan()
            || (f64::from(expected) - f64::from(found)).abs() <= self.tolerance
    }
}

fn shown(bits: &[u32], kind: ScalarKind) -> String {
    let one = |bits: &u32| match kind {
        ScalarKind::Float => f32::from_bits(*bits).to_string(),
        ScalarKind::Sint => (*bits as i32).to_string(),
        ScalarKind::Uint => bits.to_string(),
    };
    format!("[{}]", bits.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The values of a member, one after the other.
fn member_values(value: &Value, member: &SurfaceMember, place: &Place) -> Result<Vec<Vec<u32>>, Complaint> {
    let components = member.components as usize;
    let flat = numbers(value, place)?;
    if flat.is_empty() || !flat.len().is_multiple_of(components) {
        let message = format!("there are {} values, and '{}' has {components} components", flat.len(), member.name);
        return Err(place.complain(message));
    }
    let word = |(value, place): &(&Value, Place)| value.word(member.kind).map_err(|message| place.complain(message));
    flat.chunks(components).map(|one| one.iter().map(word).collect()).collect()
}

/// A member of the output struct, and its values of all vertices.
fn member_of<'a>(
    draw: &'a RanDraw,
    name: &str,
    place: &Place,
) -> Result<(&'a SurfaceMember, Vec<Vec<u32>>), Complaint> {
    let members = &draw.mesh.surface.members;
    members.iter().find(|member| member.name == name).zip(draw.mesh.member_bits(name)).ok_or_else(|| {
        let hint = suggestion(name, members.iter().map(|member| member.name.as_str()));
        place.key("name").complain(format!("the output struct has no member '{name}'{hint}"))
    })
}

fn compare_same(
    expect: &ExpectSame,
    draw: &RanDraw,
    place: &Place,
    mismatches: &mut Mismatches,
) -> Result<(), Complaint> {
    let (member, found) = member_of(draw, &expect.name, place)?;
    let mut wrong = Vec::new();
    for (i, [a, b]) in expect.vertices.iter().enumerate() {
        let (Some(one), Some(other)) = (found.get(*a), found.get(*b)) else {
            let message = format!("there is no such vertex; the draw has {}", found.len());
            return Err(place.key("vertices").at(i).complain(message));
        };
        if one != other {
            let [one, other] = [one, other].map(|bits| shown(bits, member.kind));
            wrong.push(format!("{} of vertices {a} and {b}: {one} and {other} differ", expect.name));
        }
    }
    tell(wrong, mismatches);
    Ok(())
}

fn compare_member(
    expect: &ExpectMember,
    draw: &RanDraw,
    place: &Place,
    mismatches: &mut Mismatches,
) -> Result<(), Complaint> {
    let mesh = &draw.mesh;
    let (member, found) = member_of(draw, &expect.name, place)?;
    let patch = |number: usize| {
        let message = || format!("there is no patch {number}; the draw has {}, from 0", mesh.patches.len());
        mesh.patches.get(number).ok_or_else(|| place.key("patch").complain(message()))
    };
    // Vertices with what is expected of each.
    let mut wanted: Vec<(usize, Vec<u32>)> = Vec::new();
    let (begin, end) = match expect.patch {
        Some(number) => {
            let patch = patch(number)?;
            (patch.first_vertex as usize, (patch.first_vertex + patch.vertices) as usize)
        }
        None => (0, found.len()),
    };
    if let Some(values) = &expect.values {
        let values = member_values(values, member, &place.key("values"))?;
        wanted.extend((begin + expect.vertex..).zip(values));
        if let Some((last, _)) = wanted.last().filter(|(last, _)| *last >= end) {
            mismatches.push(format!("{}: vertex {last} is expected and there are {end}", expect.name));
            return Ok(());
        }
    }
    if let Some(values) = &expect.patches {
        let values = member_values(values, member, &place.key("patches"))?;
        for (number, value) in (expect.patch.unwrap_or(0)..).zip(values) {
            let patch = patch(number)?;
            if patch.vertices == 0 {
                mismatches.push(format!("{}: patch {number} has no vertices", expect.name));
            }
            wanted
                .extend((patch.first_vertex..patch.first_vertex + patch.vertices).map(|i| (i as usize, value.clone())));
        }
    }
    if let Some(value) = &expect.all {
        let values = member_values(value, member, &place.key("all"))?;
        let [value] = &values[..] else {
            return Err(place.key("all").complain("one value is expected, of all vertices"));
        };
        wanted.extend((begin..end).map(|i| (i, value.clone())));
    }
    if expect.values.is_none() && expect.patches.is_none() && expect.all.is_none() && expect.finite.is_none() {
        return Err(place.complain("it expects nothing; give values, patches, all or finite"));
    }
    let name = &expect.name;
    let mut wrong = Vec::new();
    for (vertex, expected) in &wanted {
        let Some(found) = found.get(*vertex) else { continue };
        let met = |(bits, found): (&u32, &u32)| {
            Expected { bits: *bits, kind: member.kind, tolerance: expect.tolerance }.met_by(*found)
        };
        if !expected.iter().zip(found).all(met) {
            let [expected, found] = [expected, found].map(|bits| shown(bits, member.kind));
            wrong.push(format!("{name} of vertex {vertex}: expected {expected}, found {found}"));
        }
    }
    if let Some(finite) = expect.finite {
        for (i, value) in found.iter().enumerate().take(end).skip(begin) {
            if value.iter().all(|bits| f32::from_bits(*bits).is_finite()) != finite {
                let expected = if finite { "finite" } else { "not finite" };
                wrong.push(format!("{name} of vertex {i}: expected {expected}, found {}", shown(value, member.kind)));
            }
        }
    }
    tell(wrong, mismatches);
    Ok(())
}

/// Tells of the first few.
fn tell(wrong: Vec<String>, mismatches: &mut Mismatches) {
    let more = wrong.len().saturating_sub(MOST_TOLD);
    mismatches.extend(wrong.into_iter().take(MOST_TOLD));
    if more > 0 {
        mismatches.push(format!("… and {more} more of this kind"));
    }
}

fn compare_indices(
    expect: &ExpectIndices,
    draw: &RanDraw,
    place: &Place,
    mismatches: &mut Mismatches,
) -> Result<(), Complaint> {
    let place = place.key("values");
    let mut wrong = Vec::new();
    for (i, (value, place)) in numbers(&expect.values, &place)?.iter().enumerate() {
        let expected = value.word(ScalarKind::Uint).map_err(|message| place.complain(message))?;
        let at = expect.first + i;
        match draw.mesh.indices.get(at) {
            Some(found) if *found == expected => {}
            Some(found) => wrong.push(format!("index {at}: expected {expected}, found {found}")),
            None => wrong.push(format!("index {at}: expected {expected}, and there are {}", draw.mesh.indices.len())),
        }
    }
    tell(wrong, mismatches);
    Ok(())
}

fn compare_patch(
    expect: &ExpectPatch,
    draw: &RanDraw,
    place: &Place,
    mismatches: &mut Mismatches,
) -> Result<(), Complaint> {
    let number = expect.patch;
    let Some(patch) = draw.mesh.patches.get(number) else {
        mismatches.push(format!("patch {number} is expected and there are {}", draw.mesh.patches.len()));
        return Ok(());
    };
    for (what, expected, found) in
        [("vertices", expect.vertices, patch.vertices), ("primitives", expect.primitives, patch.primitives)]
    {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            mismatches.push(format!("{what} of patch {number}: expected {expected}, found {found}"));
        }
    }
    if let Some(factors) = &expect.factors {
        let place = place.key("factors");
        let wanted = numbers(factors, &place)?;
        if wanted.len() != patch.factors.len() {
            return Err(place.complain(format!("there are {}, and a patch has {}", wanted.len(), patch.factors.len())));
        }
        for (i, ((value, place), found)) in wanted.iter().zip(&patch.factors).enumerate() {
            let bits = value.word(ScalarKind::Float).map_err(|message| place.complain(message))?;
            if !(Expected { bits, kind: ScalarKind::Float, tolerance: 0.0 }).met_by(found.to_bits()) {
                let expected = f32::from_bits(bits);
                mismatches.push(format!("factor {i} of patch {number}: expected {expected}, found {found}"));
            }
        }
    }
    Ok(())
}

fn compare_buffer(
    gpu: &Gpu,
    ran: &Ran,
    name: &str,
    value: &Value,
    place: &Place,
    mismatches: &mut Mismatches,
) -> anyhow::Result<()> {
    let known = || ran.buffers.iter().filter(|(_, buffer)| buffer.usage().contains(wgpu::BufferUsages::COPY_SRC));
    let Some((_, buffer)) = known().find(|(known, _)| known == name) else {
        let hint = suggestion(name, known().map(|(known, _)| known.as_str()));
        return Err(place.complain(format!("the scene gives no storage buffer '{name}'{hint}")).into());
    };
    let module = naga::front::wgsl::parse_str(&ran.pipeline.kernels().threadgroup);
    let module = module.map_err(|error| anyhow::anyhow!("{}", error.message()))?;
    let variable = module.global_variables.iter().find(|(_, one)| one.name.as_deref() == Some(name));
    let (_, variable) = variable.with_context(|| format!("the shader has no variable '{name}' any more"))?;
    let expected = pack(&module, variable.ty, value, &place.key("value"))?;
    let readable = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(name),
        size: buffer.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(name) });
    encoder.copy_buffer_to_buffer(buffer, 0, &readable, 0, buffer.size());
    gpu.queue.submit([encoder.finish()]);
    let found = gpu.read(&readable)?;
    let words = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, u32>(bytes);
    let (expected, found) = (words(&expected), words(&found));
    let wrong = expected.iter().zip(&found).enumerate().filter(|(_, (expected, found))| expected != found);
    tell(wrong.map(|(i, (e, f))| format!("word {i} of {name}: expected {e}, found {f}")).collect(), mismatches);
    if expected.len() > found.len() {
        mismatches.push(format!("{name}: {} words are expected, and it has {}", expected.len(), found.len()));
    }
    Ok(())
}

/// Compares a picture, red, green and blue of each pixel, with the reference.
pub(crate) fn compare_image(
    expect: &ExpectImage,
    scene: &SceneText,
    pixels: &[u8],
    size: [u32; 2],
    mismatches: &mut Mismatches,
) -> Result<(), Complaint> {
    let place = Place::new("expect").key("image");
    let outliers = expect.outliers.unwrap_or(0.001);
    if !(0.0..=1.0).contains(&outliers) {
        return Err(place.key("outliers").complain(format!("{outliers} is no share within 0 to 1")));
    }
    // That there is nothing to compare with is a failure of the test, not of the file.
    let bytes = match read_file(scene.folder(), &expect.file, &place) {
        Ok(bytes) => bytes,
        Err(_) => {
            mismatches.push(format!("image: there is no {}; 'patchwave run … -o' makes one to look at", expect.file));
            return Ok(());
        }
    };
    let reference =
        decode(&bytes).map_err(|message| place.complain(format!("cannot read {}: {message}", expect.file)))?;
    if [reference.width(), reference.height()] != size {
        let [width, height] = size;
        let found = format!("{width}x{height}");
        mismatches.push(format!("image: expected {}x{}, found {found}", reference.width(), reference.height()));
        return Ok(());
    }
    let tolerance = expect.tolerance.unwrap_or(4);
    let pairs = reference.pixels().zip(pixels.chunks_exact(3));
    let differing = pairs
        .filter(|(reference, found)| reference.0.iter().zip(found.iter()).any(|(a, b)| a.abs_diff(*b) > tolerance));
    let (differing, all) = (differing.count(), size[0] as usize * size[1] as usize);
    if differing as f64 > outliers * all as f64 {
        mismatches.push(format!(
            "image: {differing} of {all} pixels differ by more than {tolerance} from {}, and {} may",
            expect.file,
            (outliers * all as f64).floor()
        ));
    }
    Ok(())
}
