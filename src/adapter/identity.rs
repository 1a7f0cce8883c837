//! Which adapters are one GPU.
//!
//! wgpu lists a GPU once for each backend. Before adapters are counted as nodes, those of one GPU have to be told from
//! those of several.

/// What tells a GPU from others, as far as its backend says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The operating system's locally unique id: Direct3D 12, and Vulkan under Windows.
    pub luid: Option<[u8; 8]>,
    /// Which of the devices that are linked under that id: one bit, of Vulkan's `deviceNodeMask`, or Direct3D 12's node 0,
    /// the one that wgpu reaches.
    pub luid_node_mask: Option<u32>,
    /// Vulkan's `deviceUUID`. All zeros, which a driver without one reports, counts as none.
    pub uuid: Option<[u8; 16]>,
    /// Where on the PCI bus it is, as `domain:bus:device.function`; from Vulkan only, since what wgpu has on Direct3D 12
    /// is the same text for two cards of one model.
    pub pci_bus_id: Option<String>,
    /// Metal's `registryID`.
    pub metal_registry_id: Option<u64>,
    /// Vendor id; 0 where the backend has none.
    pub vendor: u32,
    /// Device id; 0 where the backend has none.
    pub device: u32,
    /// The name, as the driver writes it.
    pub name: String,
}

/// The best of an [`Identity`], in the order in which they are preferred.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IdentityKey {
    /// The operating system's id of the adapter, and which of its linked devices it is: one bit.
    Luid {
        /// The id.
        luid: [u8; 8],
        /// The bit; 1 where nobody says.
        node_mask: u32,
    },
    /// Vulkan's id of the device.
    Uuid([u8; 16]),
    /// The place on the PCI bus.
    PciBusId(String),
    /// Metal's id of the device.
    MetalRegistryId(u64),
    /// Vendor, device and name: two cards of one model look like one.
    Weak {
        /// Vendor id; 0 where the backend has none.
        vendor: u32,
        /// Device id; 0 where the backend has none.
        device: u32,
        /// The name without what only one API adds to it.
        name: String,
    },
}

impl IdentityKey {
    /// Whether two GPUs may have the same key.
    pub fn is_weak(&self) -> bool {
        matches!(self, Self::Weak { .. })
    }
}

/// How [`same_gpu`] decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuMatch {
    /// A unique id agrees: one GPU.
    Same,
    /// No unique id is known of both, and vendor, device and name agree: one GPU, or two of one model.
    Alike,
    /// Different GPUs.
    Different,
}

impl Identity {
    /// What `wgpu::AdapterInfo` tells.
    pub fn from_info(info: &wgpu::AdapterInfo) -> Self {
        let bus = (info.backend == wgpu::Backend::Vulkan && !info.device_pci_bus_id.is_empty())
            .then(|| info.device_pci_bus_id.to_lowercase());
        Self {
            luid: None,
            luid_node_mask: None,
            uuid: None,
            pci_bus_id: bus,
            metal_registry_id: None,
            vendor: info.vendor,
            device: info.device,
            name: info.name.clone(),
        }
    }

    /// The best key there is.
    pub fn key(&self) -> IdentityKey {
        if let Some(luid) = self.luid {
            IdentityKey::Luid { luid, node_mask: self.luid_node_mask.unwrap_or(1) }
        } else if let Some(uuid) = self.unique_uuid() {
            IdentityKey::Uuid(uuid)
        } else if let Some(bus) = &self.pci_bus_id {
            IdentityKey::PciBusId(bus.clone())
        } else if let Some(id) = self.metal_registry_id {
            IdentityKey::MetalRegistryId(id)
        } else {
            IdentityKey::Weak { vendor: self.vendor, device: self.device, name: plain_name(&self.name) }
        }
    }

    fn unique_uuid(&self) -> Option<[u8; 16]> {
        self.uuid.filter(|uuid| uuid.iter().any(|&byte| byte != 0))
    }
}

/// Whether two adapters are one GPU, by the best id that is known of both: LUID, UUID, place on the PCI bus, Metal's
/// registry id, else vendor, device and name. An id that only one of them has decides nothing; a vendor or device of 0 agrees
/// with any, and so does the vendor Mesa, which OpenGL drivers give whatever the hardware. Devices that are linked under one
/// LUID are different GPUs.
pub fn same_gpu(a: &Identity, b: &Identity) -> GpuMatch {
    let verdict = |equal| if equal { GpuMatch::Same } else { GpuMatch::Different };
    if let (Some(own), Some(other)) = (a.luid, b.luid) {
        let linked = |identity: &Identity| identity.luid_node_mask.unwrap_or(1);
        return verdict(own == other && linked(a) == linked(b));
    }
    if let (Some(a), Some(b)) = (a.unique_uuid(), b.unique_uuid()) {
        return verdict(a == b);
    }
    if let (Some(a), Some(b)) = (&a.pci_bus_id, &b.pci_bus_id) {
        return verdict(a == b);
    }
    if let (Some(a), Some(b)) = (a.metal_registry_id, b.metal_registry_id) {
        return verdict(a == b);
    }
    let agree = |a: u32, b: u32| a == b || a == 0 || b == 0;
    let vendor = |identity: &Identity| if identity.vendor == MESA { 0 } else { identity.vendor };
    if agree(vendor(a), vendor(b)) && agree(a.device, b.device) && plain_name(&a.name) == plain_name(&b.name) {
        GpuMatch::Alike
    } else {
        GpuMatch::Different
    }
}

/// Khronos's id of Mesa, of software rasterizers and of OpenGL drivers whose vendor string is Mesa's.
const MESA: u32 = 0x10005;

/// For each adapter, the first in the list that is the same GPU: its own place where it is the first of its GPU.
///
/// Adapters that are merely alike ([`GpuMatch::Alike`]) count as one GPU: an adapter too few is an inconvenience, one
/// GPU taken for two is a wrong answer. But an adapter that a unique id tells from any of a GPU's adapters is not of that
/// GPU, however alike it is to another of them.
pub fn distinct_gpus(identities: &[Identity]) -> Vec<usize> {
    let mut first: Vec<usize> = Vec::with_capacity(identities.len());
    for (place, identity) in identities.iter().enumerate() {
        let of =
            |gpu: usize| identities.iter().zip(&first).filter(move |(_, own)| **own == gpu).map(|(other, _)| other);
        let gpus = || (0..place).filter(|&earlier| first[earlier] == earlier);
        let same = |gpu: &usize| of(*gpu).any(|other| same_gpu(other, identity) == GpuMatch::Same);
        let alike = |gpu: &usize| of(*gpu).all(|other| same_gpu(other, identity) == GpuMatch::Alike);
        let gpu = gpus().find(same).or_else(|| gpus().find(alike)).unwrap_or(place);
        first.push(gpu);
    }
    first
}

/// What layers over another API put before the name of the GPU that they are on, which stands in brackets then.
const LAYERS: [&str; 5] = ["zink ", "d3d12 (", "microsoft direct3d12 (", "virgl (", "virtio-gpu venus ("];

/// A name without what APIs add differently: trade marks, the prefixes of Mesa's drivers, the layer that a driver is (ANGLE,
/// Zink, Direct3D under Mesa, virtual machines), and what stands in brackets or behind a slash, where OpenGL and Vulkan
/// drivers put chips, compilers and buses.
fn plain_name(name: &str) -> String {
    let mut text = name.to_lowercase();
    for mark in ["(r)", "(tm)", "(c)"] {
        text = text.replace(mark, "");
    }
    let mut text = text.as_str();
    // ANGLE (vendor, renderer, version), where the renderer may be of another API.
    if let Some((_, renderer)) = text.strip_prefix("angle (").and_then(|rest| rest.split_once(", ")) {
        text = renderer.strip_prefix("angle metal renderer: ").unwrap_or(renderer);
        text = text.rsplit_once(", ").map_or(text, |(renderer, _)| renderer);
        text = text.split_once(" direct3d").map_or(text, |(gpu, _)| gpu);
        text = inner(text, "vulkan ");
    }
    for layer in LAYERS {
        text = inner(text, layer);
    }
    let text = ["mesa ", "turnip "].into_iter().fold(text, |text, prefix| text.strip_prefix(prefix).unwrap_or(text));
    let end = text.find(['(', '/']).filter(|&end| end > 0).unwrap_or(text.len());
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What stands in brackets in a name that begins so.
fn inner<'a>(name: &'a str, layer: &str) -> &'a str {
    let brackets = name.starts_with(layer).then(|| name.split_once('(')).flatten();
    brackets.map_or(name, |(_, gpu)| gpu.strip_suffix(')').unwrap_or(gpu))
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_are_the_same_across_apis() {
        for (vulkan, gl) in [
            ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe (LLVM 15.0.6, 256 bits)"),
            ("NVIDIA H200", "NVIDIA H200/PCIe/SSE2"),
            ("Intel(R) UHD Graphics 630 (CFL GT2)", "Mesa Intel(R) UHD Graphics 630 (CFL GT2)"),
            (
                "AMD Radeon RX 6800 (RADV NAVI21)",
                "AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.6, DRM 3.49, 6.1.0-13-amd64)",
            ),
            // Layers: ANGLE on four APIs, Zink, Direct3D 12 under Mesa, virtual machines.
            (
                "NVIDIA GeForce RTX 3080",
                "ANGLE (NVIDIA, NVIDIA GeForce RTX 3080 Direct3D11 vs_5_0 ps_5_0, D3D11-31.0.15.3179)",
            ),
            (
                "NVIDIA GeForce RTX 3080",
                "ANGLE (NVIDIA, NVIDIA GeForce RTX 3080 (0x00002206) Direct3D11 vs_5_0 ps_5_0, D3D11)",
            ),
            (
                "NVIDIA GeForce RTX 3080",
                "ANGLE (NVIDIA, Vulkan 1.3.224 (NVIDIA GeForce RTX 3080 (0x00002206)), NVIDIA-525.60.11)",
            ),
            ("Apple M1", "ANGLE (Apple, ANGLE Metal Renderer: Apple M1, Unspecified Version)"),
            (
                "Intel(R) UHD Graphics 630 (CFL GT2)",
                "ANGLE (Intel, Mesa Intel(R) UHD Graphics 630 (CFL GT2), OpenGL 4.6 (Core Profile) Mesa 22.3.6)",
            ),
            ("NVIDIA GeForce RTX 3080", "zink Vulkan 1.3(NVIDIA GeForce RTX 3080 (NVIDIA_PROPRIETARY))"),
            ("Microsoft Direct3D12 (NVIDIA GeForce RTX 3080)", "D3D12 (NVIDIA GeForce RTX 3080)"),
            ("Virtio-GPU Venus (AMD Radeon RX 6800 (RADV NAVI21))", "virgl (AMD Radeon RX 6800 (radeonsi, navi21))"),
            ("Turnip Adreno (TM) 740", "Adreno (TM) 740"),
        ] {
            assert_eq!(plain_name(vulkan), plain_name(gl));
        }
        assert_ne!(plain_name("NVIDIA H100"), plain_name("NVIDIA H200"));
        // GPUs that one layer is on are told apart.
        assert_ne!(plain_name("D3D12 (NVIDIA H100)"), plain_name("D3D12 (NVIDIA H200)"));
        assert_ne!(plain_name("ANGLE (Intel, Intel(R) Arc, D3D11)"), plain_name("ANGLE (NVIDIA, NVIDIA H200, D3D11)"));
        assert_eq!(plain_name("ANGLE ("), "angle");
        assert_eq!(plain_name("(odd)"), "(odd)");
    }
}
