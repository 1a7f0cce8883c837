//! What verbs that draw share: a device, the scenes and their modes, a camera, the studio that the teapot stands in, and the
//! picture that comes out.

pub(crate) mod camera;
pub(crate) mod gpu;
pub(crate) mod grid;
pub(crate) mod mode;
pub(crate) mod named;
pub(crate) mod picture;
pub(crate) mod stopwatch;
pub(crate) mod studio;
pub(crate) mod teapot;

use std::str::FromStr;

use patchwave::hardware::{Policy, TessellationParameters};
use patchwave::tessellator::Partitioning;

/// What a scene's pipeline is compiled for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) partitioning: Partitioning,
    pub(crate) policy: Policy,
    /// At most; as many as fit where not given.
    pub(crate) patches_per_threadgroup: Option<u32>,
}

impl Choice {
    /// A partitioning, and the driver's defaults.
    pub(crate) fn new(partitioning: Partitioning) -> Self {
        Self { partitioning, policy: Policy::Driver, patches_per_threadgroup: None }
    }

    /// As the library takes them; thresholds go with a mode, which takes no compiling.
    pub(crate) fn parameters(&self) -> TessellationParameters {
        TessellationParameters {
            patches_per_threadgroup: self.patches_per_threadgroup,
            ..TessellationParameters::default()
        }
    }
}

/// Width and height of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    pub(crate) fn aspect(self) -> f32 {
        self.width as f32 / self.height as f32
    }

    pub(crate) fn extent(self) -> wgpu::Extent3d {
        wgpu::Extent3d { width: self.width, height: self.height, depth_or_array_layers: 1 }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // 8192 is WebGPU's default limit on a texture's sides.
        let side = |side: &str| side.parse().ok().filter(|side| (1..=8192).contains(side));
        text.split_once(['x', 'X'])
            .and_then(|(width, height)| Some(Self { width: side(width)?, height: side(height)? }))
            .ok_or_else(|| format!("'{text}' is no size; write width x height, each 1 to 8192, like 1280x960"))
    }
}
