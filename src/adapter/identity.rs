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
    /// The operating system's id of the adapter.
    Luid([u8; 8]),
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
            IdentityKey::Luid(luid)
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
/// registry id, else vendor, device and name. An id that only one of them has decides nothing; a vendor or device of 0 agrees with any.
pub fn same_gpu(a: &Identity, b: &Identity) -> GpuMatch {
    let verdict = |equal| if equal { GpuMatch::Same } else { GpuMatch::Different };
    if let (Some(a), Some(b)) = (a.luid, b.luid) {
        return verdict(a == b);
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
    if agree(a.vendor, b.vendor) && agree(a.device, b.device) && plain_name(&a.name) == plain_name(&b.name) {
        GpuMatch::Alike
    } else {
        GpuMatch::Different
    }
}

/// For each adapter, the first in the list that is the same GPU: its own place where it is the first of its GPU.
///
/// Adapters that are merely alike ([`GpuMatch::Alike`]) count as one GPU: an adapter too few is an inconvenience, one
/// GPU taken for two is a wrong answer.
pub fn distinct_gpus(identities: &[Identity]) -> Vec<usize> {
    let mut first = Vec::with_capacity(identities.len());
    for (place, identity) in identities.iter().enumerate() {
        let before = || (0..place).filter(|&earlier| first[earlier] == earlier);
        let found = |wanted| before().find(|&earlier| same_gpu(&identities[earlier], identity) == wanted);
        let gpu = found(GpuMatch::Same).or_else(|| found(GpuMatch::Alike)).unwrap_or(place);
        first.push(gpu);
    }
    first
}

/// A name without what APIs add differently: trade marks, Mesa's prefix, and what stands in brackets or behind a slash,
/// where OpenGL and Vulkan drivers put chips, compilers and buses.
fn plain_name(name: &str) -> String {
    let mut text = name.to_lowercase();
    for mark in ["(r)", "(tm)", "(c)"] {
        text = text.replace(mark, "");
    }
    let text = text.strip_prefix("mesa ").unwrap_or(&text);
    let end = text.find(['(', '/']).filter(|&end| end > 0).unwrap_or(text.len());
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
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
        ] {
            assert_eq!(plain_name(vulkan), plain_name(gl));
        }
        assert_ne!(plain_name("NVIDIA H100"), plain_name("NVIDIA H200"));
        assert_eq!(plain_name("(odd)"), "(odd)");
    }
}
