//! The draws of a scene, and the workspace that holds them.

use std::ops::Range;

use patchwave::pipeline::{ChunkCapacity, IndirectDraw};
use patchwave::{Draw, IndexBuffer, TessellationPipeline, Workspace, WorkspaceDescriptor};

use super::buffers::{IndexData, VertexData};
use super::file::{DrawEntry, SceneFile, WorkspaceSizes};
use super::place::{Complaint, Place};
use crate::scene::gpu::Gpu;

/// A draw call with its numbers.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Direct(Numbers),
    Indirect(Records),
}

/// The numbers of a direct draw, or of one record of an indirect one.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) vertices: Range<u32>,
    pub(crate) base_vertex: i32,
    pub(crate) instances: Range<u32>,
}

/// An indirect draw.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    /// What the records say.
    pub(crate) numbers: Vec<Numbers>,
    /// The buffer that they lie in.
    pub(crate) bytes: Vec<u8>,
    pub(crate) offset: u64,
    pub(crate) stride: u64,
    pub(crate) most_patches: u32,
    pub(crate) most_instances: u32,
}

impl Numbers {
    pub(crate) fn patches_per_instance(&self, control_points: u32) -> u32 {
        (self.vertices.end - self.vertices.start).checked_div(control_points).unwrap_or(0)
    }

    fn instances(&self) -> u32 {
        self.instances.end - self.instances.start
    }

    /// Patches and threadgroups, as many as fit 32 bits.
    fn counts(&self, control_points: u32, per_threadgroup: u32) -> [u32; 2] {
        let (patches, instances) = (self.patches_per_instance(control_points), self.instances());
        [patches.saturating_mul(instances), patches.div_ceil(per_threadgroup).saturating_mul(instances)]
    }
}

impl Call {
    /// The draws of a file; where it has none, one of everything.
    pub(crate) fn all(
        file: &SceneFile,
        vertex: &[VertexData],
        index: Option<&IndexData>,
    ) -> Result<Vec<Self>, Complaint> {
        let place = Place::new("draws");
        let one = [DrawEntry::default()];
        let entries = if file.draws.is_empty() { &one[..] } else { &file.draws[..] };
        let calls = entries.iter().enumerate().map(|(i, entry)| {
            let place = if file.draws.is_empty() { place.clone() } else { place.at(i) };
            match &entry.indirect {
                None => Self::direct(entry, vertex, index, &place),
                Some(records) => Self::indirect(entry, records, file.state.input_control_points, index, &place),
            }
        });
        calls.collect()
    }

    fn direct(
        entry: &DrawEntry,
        vertex: &[VertexData],
        index: Option<&IndexData>,
        place: &Place,
    ) -> Result<Self, Complaint> {
        let wrong = match index {
            Some(_) => [("vertices", entry.vertices.is_some()), ("first_vertex", entry.first_vertex.is_some())],
            None => [("indices", entry.indices.is_some()), ("first_index", entry.first_index.is_some())],
        };
        let only_indirect = [
            ("offset", entry.offset.is_some()),
            ("stride", entry.stride.is_some()),
            ("most_patches", entry.most_patches.is_some()),
            ("most_instances", entry.most_instances.is_some()),
        ];
        if let Some((key, _)) = only_indirect.iter().find(|(_, given)| *given) {
            return Err(place.key(key).complain("this goes with indirect = [[…], …], which the draw does not have"));
        }
        if let Some((key, _)) = wrong.iter().find(|(_, given)| *given) {
            let message = match index {
                Some(_) => "the scene has [indices]: write indices and first_index",
                None => "the scene has no [indices]: write vertices and first_vertex",
            };
            return Err(place.key(key).complain(message));
        }
        if index.is_none() && entry.base_vertex.is_some() {
            return Err(place.key("base_vertex").complain("it is added to indices, and the scene has no [indices]"));
        }
        let (first, count) = match index {
            Some(index) => {
                let first = entry.first_index.unwrap_or(0);
                (first, entry.indices.unwrap_or(index.count.saturating_sub(first)))
            }
            None => {
                let first = entry.first_vertex.unwrap_or(0);
                let of_buffers = vertex.iter().filter(|one| one.step == wgpu::VertexStepMode::Vertex);
                let fewest = of_buffers.map(|one| u32::try_from(one.elements).unwrap_or(u32::MAX)).min();
                let count = entry.vertices.or_else(|| fewest.map(|fewest| fewest.saturating_sub(first)));
                (first, count.ok_or_else(|| place.complain("how many vertices? there is no vertex buffer to tell"))?)
            }
        };
        let instances = entry.first_instance.unwrap_or(0);
        Ok(Self::Direct(Numbers {
            vertices: range(first, count, place)?,
            base_vertex: entry.base_vertex.unwrap_or(0),
            instances: range(instances, entry.instances.unwrap_or(1), place)?,
        }))
    }

    fn indirect(
        entry: &DrawEntry,
        records: &[Vec<i64>],
        control_points: u32,
        index: Option<&IndexData>,
        place: &Place,
    ) -> Result<Self, Complaint> {
        let direct = [
            ("vertices", entry.vertices.is_some()),
            ("first_vertex", entry.first_vertex.is_some()),
            ("indices", entry.indices.is_some()),
            ("first_index", entry.first_index.is_some()),
            ("base_vertex", entry.base_vertex.is_some()),
            ("instances", entry.instances.is_some()),
            ("first_instance", entry.first_instance.is_some()),
        ];
        if let Some((key, _)) = direct.iter().find(|(_, given)| *given) {
            return Err(place.key(key).complain("an indirect draw has this in its records"));
        }
        let wanted: &[&str] = match index {
            Some(_) => &["indices", "instances", "first index", "base vertex", "first instance"],
            None => &["vertices", "instances", "first vertex", "first instance"],
        };
        let size = 4 * wanted.len() as u64;
        let (offset, stride) = (entry.offset.unwrap_or(0), entry.stride.unwrap_or(size));
        if let Some((key, value)) = [("offset", offset), ("stride", stride)].into_iter().find(|(_, v)| *v > 1 << 20) {
            return Err(place.key(key).complain(format!("{value} is more than 1 MiB")));
        }
        let mut numbers = Vec::with_capacity(records.len());
        let mut bytes: Vec<u8> = vec![0; offset as usize];
        for (i, record) in records.iter().enumerate() {
            let place = place.key("indirect").at(i);
            if record.len() != wanted.len() {
                let message = format!("the record has {} numbers, and it takes {}", record.len(), wanted.join(", "));
                return Err(place.complain(message));
            }
            let mut words = Vec::with_capacity(record.len());
            for (j, (number, what)) in record.iter().zip(wanted).enumerate() {
                let word = match *what {
                    "base vertex" => i32::try_from(*number).ok().map(|number| number as u32),
                    _ => u32::try_from(*number).ok(),
                };
                let message = || format!("{number} is no 32-bit number of {what}");
                words.push(word.ok_or_else(|| place.at(j).complain(message()))?);
            }
            // Bytes between records are not 0, so that a record read from them shows.
            bytes.resize(offset as usize + i * stride as usize, 0xa5);
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            let base_vertex = if index.is_some() { words[3] as i32 } else { 0 };
            let first_instance = words[words.len() - 1];
            numbers.push(Numbers {
                vertices: range(words[2], words[0], &place)?,
                base_vertex,
                instances: range(first_instance, words[1], &place)?,
            });
        }
        let most = |of: fn(&Numbers, u32) -> u32| numbers.iter().map(|one| of(one, control_points)).max().unwrap_or(0);
        let most_patches = most(|one, points| one.counts(points, 1)[0]);
        let most_instances = most(|one, _| one.instances());
        Ok(Self::Indirect(Records {
            numbers,
            bytes,
            offset,
            stride,
            most_patches: entry.most_patches.unwrap_or(most_patches),
            most_instances: entry.most_instances.unwrap_or(most_instances),
        }))
    }

    /// The numbers of each draw that it comes to.
    pub(crate) fn numbers(&self) -> &[Numbers] {
        match self {
            Self::Direct(numbers) => std::slice::from_ref(numbers),
            Self::Indirect(records) => &records.numbers,
        }
    }
}

fn range(first: u32, count: u32, place: &Place) -> Result<Range<u32>, Complaint> {
    let end = first.checked_add(count);
    let message = || format!("{count} from {first} on end beyond 32 bits");
    end.map(|end| first..end).ok_or_else(|| place.complain(message()))
}

/// What all draws of a scene share.
pub(crate) struct Inputs<'a> {
    pub(crate) vertex_buffers: &'a [wgpu::BufferSlice<'a>],
    pub(crate) index_buffer: Option<IndexBuffer<'a>>,
    pub(crate) bind_groups: &'a [Option<&'a wgpu::BindGroup>],
}

impl Inputs<'_> {
    pub(crate) fn draw(&self, numbers: &Numbers) -> Draw<'_> {
        Draw {
            vertex_buffers: self.vertex_buffers,
            index_buffer: self.index_buffer.clone(),
            bind_groups: self.bind_groups,
            vertices: numbers.vertices.clone(),
            base_vertex: numbers.base_vertex,
            instances: numbers.instances.clone(),
            first_patch: 0,
        }
    }

    pub(crate) fn indirect<'a>(&'a self, records: &Records, arguments: &'a wgpu::Buffer) -> IndirectDraw<'a> {
        IndirectDraw {
            vertex_buffers: self.vertex_buffers,
            index_buffer: self.index_buffer.clone(),
            bind_groups: self.bind_groups,
            arguments,
            offset: records.offset,
            stride: records.stride,
            records: records.numbers.len() as u32,
            most_patches: records.most_patches,
            most_instances: records.most_instances,
        }
    }

    /// A workspace for all draws: as large as the file says, and else as large as the draws measure.
    pub(crate) fn workspace(
        &self,
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        calls: &[Call],
        control_points: u32,
        sizes: Option<&WorkspaceSizes>,
    ) -> anyhow::Result<Workspace> {
        let none = WorkspaceSizes::default();
        let sizes = sizes.unwrap_or(&none);
        let (device, queue) = (&gpu.device, &gpu.queue);
        let is_measured = sizes.vertices.is_none() || sizes.primitives.is_none();
        let only = match calls {
            [Call::Direct(only)] => Some(only),
            _ => None,
        };
        let given = [sizes.patches, sizes.threadgroups, sizes.off_chip_threadgroups, sizes.draws];
        let others = given.iter().chain([&sizes.vertices, &sizes.primitives]).any(Option::is_some);
        if sizes.chunk_bytes.is_some() && (others || only.is_none()) {
            let place = Place::new("workspace").key("chunk_bytes");
            return Err(place.complain("it goes with one direct draw and no other size, since it is measured").into());
        }
        let measure = |i: usize, numbers: &Numbers| {
            let measured = pipeline.measure_blocking(device, queue, &self.draw(numbers));
            measured.map_err(|error| Place::new("draws").at(i).relay(&error))
        };
        // One draw alone may come out in several chunks.
        if let (Some(only), false) = (only, others) {
            let measured = measure(0, only)?;
            let descriptor = match sizes.chunk_bytes {
                None => WorkspaceDescriptor::for_measurement(pipeline, &measured)?,
                Some(bytes) => WorkspaceDescriptor::for_measurement_within(pipeline, &measured, bytes)?,
            };
            return Ok(Workspace::new(device, pipeline, descriptor)?);
        }
        let per_threadgroup = pipeline.parameters().patches_per_threadgroup;
        let (mut sums, mut most_threadgroups, mut draws) = ([0u64; 4], 0, 0);
        for (i, call) in calls.iter().enumerate() {
            for numbers in call.numbers() {
                let [patches, threadgroups] = match call {
                    Call::Direct(numbers) => numbers.counts(control_points, per_threadgroup),
                    Call::Indirect(records) => {
                        let own = records.most_patches / per_threadgroup;
                        [records.most_patches, own.saturating_add(records.most_instances)]
                    }
                };
                let measured = if is_measured && numbers.counts(control_points, 1)[0] > 0 {
                    let measured = measure(i, numbers)?;
                    [measured.vertices(), measured.primitives()]
                } else {
                    [0; 2]
                };
                for (sum, more) in sums.iter_mut().zip([patches.into(), threadgroups.into(), measured[0], measured[1]])
                {
                    *sum += more;
                }
                most_threadgroups = threadgroups.max(most_threadgroups);
                draws += 1;
            }
        }
        let [patches, threadgroups, vertices, primitives] = sums.map(|sum| u32::try_from(sum).unwrap_or(u32::MAX));
        let threadgroups = sizes.threadgroups.unwrap_or(threadgroups);
        let descriptor = WorkspaceDescriptor {
            label: "scene".to_owned(),
            patches: sizes.patches.unwrap_or(patches),
            threadgroups,
            off_chip_threadgroups: sizes.off_chip_threadgroups.unwrap_or(most_threadgroups),
            draws: sizes.draws.unwrap_or(draws),
            chunks: vec![ChunkCapacity {
                threadgroups: 0..threadgroups,
                vertices: sizes.vertices.unwrap_or(vertices),
                primitives: sizes.primitives.unwrap_or(primitives),
            }],
        };
        Ok(Workspace::new(device, pipeline, descriptor)?)
    }
}
