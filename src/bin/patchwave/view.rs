//! `patchwave view`: a scene in a window, to turn round and to turn the knobs of. The feature `view` has it.

#[cfg(feature = "view")]
mod args;
#[cfg(feature = "view")]
mod compiler;
#[cfg(feature = "view")]
mod engine;
#[cfg(feature = "view")]
mod memory;
#[cfg(feature = "view")]
mod news;
#[cfg(feature = "view")]
mod orbit;
#[cfg(feature = "view")]
mod painter;
#[cfg(feature = "view")]
mod panel;
#[cfg(feature = "view")]
mod screen;
#[cfg(feature = "view")]
mod screenshot;
#[cfg(feature = "view")]
mod state;
#[cfg(feature = "view")]
mod subject;
#[cfg(feature = "view")]
mod times;
#[cfg(feature = "view")]
mod window;

#[cfg(feature = "view")]
pub(crate) use args::{Args, run};

/// Show a scene in a window (not in this build: cargo install --path . --features view)
#[cfg(not(feature = "view"))]
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Whatever the viewer takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<std::ffi::OsString>,
}

/// Says how to build it.
#[cfg(not(feature = "view"))]
pub(crate) fn run(_: &Args) -> anyhow::Result<crate::Outcome> {
    anyhow::bail!("this patchwave was built without the viewer; build it with: cargo install --path . --features view")
}
