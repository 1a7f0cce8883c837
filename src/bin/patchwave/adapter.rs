//! Which adapters there are, whether they serve, and which one a verb runs on.

use clap::Args;

/// The environment variable that names an adapter where `--adapter` does not.
const VARIABLE: &str = "PATCHWAVE_ADAPTER";

/// The choice of an adapter, shared by all verbs.
#[derive(Args, Clone, Debug)]
pub(crate) struct AdapterChoice {
    /// The adapter to use: part of its name or driver in any case, or its number in 'patchwave info' [default:
    /// $PATCHWAVE_ADAPTER, else the first that serves]
    #[arg(long = "adapter", value_name = "NAME")]
    name: Option<String>,
}

/// One adapter and what matters of it.
pub(crate) struct Candidate {
    /// wgpu's handle.
    pub(crate) adapter: wgpu::Adapter,
    /// Name, driver, backend.
    pub(crate) info: wgpu::AdapterInfo,
    /// Each limit that matters, in a fixed order.
    pub(crate) limits: Vec<LimitRow>,
    /// Abilities beyond limits that patchwave needs and the adapter does not have.
    pub(crate) missing: Vec<&'static str>,
}

/// One limit of an adapter beside what patchwave needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitRow {
    /// wgpu's name of the limit.
    pub(crate) key: &'static str,
    /// The same in words.
    pub(crate) words: &'static str,
    /// What the adapter has.
    pub(crate) has: u64,
    /// What WebGPU's default is, which patchwave needs.
    pub(crate) needs: u64,
    /// Whether a smaller value is better, as with alignments.
    pub(crate) at_most: bool,
}

impl LimitRow {
    /// Whether the adapter has what is needed.
    pub(crate) fn suffices(&self) -> bool {
        if self.at_most { self.has <= self.needs } else { self.has >= self.needs }
    }
}

impl Candidate {
    fn new(adapter: wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let limits = limit_rows(&adapter.limits());
        let flags = adapter.get_downlevel_capabilities().flags;
        let missing = [
            (wgpu::DownlevelFlags::COMPUTE_SHADERS, "compute shaders"),
            (wgpu::DownlevelFlags::INDIRECT_EXECUTION, "indirect dispatch and draw"),
        ]
        .into_iter()
        .filter(|(flag, _)| !flags.contains(*flag))
        .map(|(_, words)| words)
        .collect();
        Self { adapter, info, limits, missing }
    }

    /// The same adapter once more.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.adapter.clone())
    }

    /// Whether patchwave runs on it.
    pub(crate) fn serves(&self) -> bool {
        self.lacking().is_empty()
    }

    /// What it lacks, in words; empty where it serves.
    pub(crate) fn lacking(&self) -> Vec<String> {
        let limits = self.limits.iter().filter(|row| !row.suffices()).map(|row| {
            let LimitRow { words, has, needs, at_most, .. } = row;
            format!("{words}: {has}, at {} {needs} needed", if *at_most { "most" } else { "least" })
        });
        self.missing.iter().map(|words| format!("no {words}")).chain(limits).collect()
    }

    /// The backend as it is written in lists.
    pub(crate) fn backend(&self) -> &'static str {
        self.info.backend.to_str()
    }

    /// The device type as it is written in lists.
    pub(crate) fn device_type(&self) -> &'static str {
        match self.info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => "CPU",
            wgpu::DeviceType::Other => "other",
        }
    }

    /// What `--adapter` with a text that is not a number asks for.
    fn answers_to(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.info.name.to_lowercase().contains(&name) || self.info.driver.to_lowercase().contains(&name)
    }

    /// Where it stands in the list: those that serve first, real GPUs before emulated ones, OpenGL after other ways to
    /// the same GPU.
    fn rank(&self) -> (bool, u8, bool) {
        let by_type = match self.info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        (!self.serves(), by_type, self.info.backend == wgpu::Backend::Gl)
    }
}

/// The limits that decide whether and how well patchwave runs.
fn limit_rows(has: &wgpu::Limits) -> Vec<LimitRow> {
    let needs = wgpu::Limits::default();
    let row = |key, words, of: fn(&wgpu::Limits) -> u64, at_most| LimitRow {
        key,
        words,
        has: of(has),
        needs: of(&needs),
        at_most,
    };
    vec![
        row(
            "max_compute_workgroup_storage_size",
            "workgroup memory (LDS), bytes",
            |l| l.max_compute_workgroup_storage_size.into(),
            false,
        ),
        row(
            "max_compute_invocations_per_workgroup",
            "invocations a workgroup",
            |l| l.max_compute_invocations_per_workgroup.into(),
            false,
        ),
        row("max_compute_workgroup_size_x", "workgroup size in x", |l| l.max_compute_workgroup_size_x.into(), false),
        row(
            "max_compute_workgroups_per_dimension",
            "workgroups a dimension",
            |l| l.max_compute_workgroups_per_dimension.into(),
            false,
        ),
        row(
            "max_storage_buffers_per_shader_stage",
            "storage buffers a stage",
            |l| l.max_storage_buffers_per_shader_stage.into(),
            false,
        ),
        row("max_storage_buffer_binding_size", "storage binding, bytes", |l| l.max_storage_buffer_binding_size, false),
        row("max_buffer_size", "buffer, bytes", |l| l.max_buffer_size, false),
        row("max_bind_groups", "bind groups", |l| l.max_bind_groups.into(), false),
        row(
            "min_storage_buffer_offset_alignment",
            "storage offset alignment, bytes",
            |l| l.min_storage_buffer_offset_alignment.into(),
            true,
        ),
    ]
}

/// All adapters, in the order in which they are numbered.
pub(crate) fn all() -> Vec<Candidate> {
    all_of(&wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env()))
}

fn all_of(instance: &wgpu::Instance) -> Vec<Candidate> {
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut candidates: Vec<_> = adapters.into_iter().map(Candidate::new).collect();
    candidates.sort_by_key(Candidate::rank);
    candidates
}

impl AdapterChoice {
    /// What was asked for, and by what; `None` where anything that serves will do.
    fn asked(&self) -> Option<(String, &'static str)> {
        if let Some(name) = &self.name {
            return Some((name.clone(), "--adapter"));
        }
        let name = std::env::var_os(VARIABLE)?;
        // An empty variable is an unset one, as shells cannot easily pass the latter on.
        (!name.is_empty()).then(|| (name.to_string_lossy().into_owned(), VARIABLE))
    }

    /// Whether an adapter is among those asked for, where several may be: any is where none is named.
    pub(crate) fn answered_by(&self, candidate: &Candidate) -> bool {
        self.asked().is_none_or(|(name, _)| candidate.answers_to(&name))
    }

    /// Whether one adapter is asked for rather than any that serves.
    pub(crate) fn is_given(&self) -> bool {
        self.asked().is_some()
    }

    /// The adapter that is asked for, serving or not, by its place in the list.
    pub(crate) fn find(&self, candidates: &[Candidate]) -> anyhow::Result<usize> {
        anyhow::ensure!(
            !candidates.is_empty(),
            "there is no adapter: no Vulkan, Metal, Direct3D 12 or OpenGL driver was found; install one \
             (on Debian and Ubuntu the package mesa-vulkan-drivers has a software one)"
        );
        let Some((name, by)) = self.asked() else {
            return Ok(0);
        };
        let by_number = name.parse::<usize>().ok().filter(|&number| number < candidates.len());
        by_number.or_else(|| candidates.iter().position(|candidate| candidate.answers_to(&name))).ok_or_else(|| {
            let there = candidates.iter().enumerate().map(|(number, c)| format!("{number} {}", c.info.name));
            let there = there.collect::<Vec<_>>().join(", ");
            anyhow::anyhow!("no adapter answers to {by} '{name}'; there is: {there}; give part of a name, or a number")
        })
    }

    /// The adapter to run on that can show its pictures on a surface: where none is named, the first that can.
    #[cfg(feature = "view")]
    pub(crate) fn choose_for(
        &self,
        instance: &wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> anyhow::Result<Candidate> {
        let mut candidates = all_of(instance);
        let shows = |candidate: &Candidate| candidate.adapter.is_surface_supported(surface);
        if !self.is_given() && candidates.iter().any(|candidate| candidate.serves() && shows(candidate)) {
            candidates.retain(shows);
        }
        let chosen = self.chosen(candidates)?;
        anyhow::ensure!(
            shows(&chosen),
            "adapter '{}' cannot show pictures in a window here; 'patchwave info' lists the others",
            chosen.info.name
        );
        Ok(chosen)
    }

    /// The adapter to run on.
    pub(crate) fn choose(&self) -> anyhow::Result<Candidate> {
        self.chosen(all())
    }

    fn chosen(&self, mut candidates: Vec<Candidate>) -> anyhow::Result<Candidate> {
        let chosen = candidates.swap_remove(self.find(&candidates)?);
        anyhow::ensure!(
            chosen.serves(),
            "adapter '{}' does not serve ({}); 'patchwave info' lists the others",
            chosen.info.name,
            chosen.lacking().join("; ")
        );
        Ok(chosen)
    }
}
