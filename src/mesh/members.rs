//! Which members of the output struct an exported file takes.

use std::io;

use super::Mesh;
use crate::shader::{ScalarKind, Surface, SurfaceMember, SurfaceSlot};

/// Which members of the output struct an exported file takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportMembers<'a> {
    /// The member with the position, its first three components, 0 for those that it lacks; by default the
    /// `@builtin(position)`.
    pub position: Option<&'a str>,
    /// The member with the normal, its first three components; none by default.
    pub normal: Option<&'a str>,
    /// The member with the texture coordinates, its first two components, v = 0 at the top of a picture as in WebGPU; none
    /// by default.
    pub uv: Option<&'a str>,
}

/// Names of a position in the world. The builtin may be called `position` as well; it is in clip space and comes last.
const POSITIONS: [&str; 4] = ["world_position", "position_world", "world", "position"];
const NORMALS: [&str; 2] = ["world_normal", "normal"];
const UVS: [&str; 5] = ["uv", "uv0", "texcoord", "tex_coord", "texture_coordinates"];

impl<'a> ExportMembers<'a> {
    /// The members by their names, of those that are floats.
    ///
    /// - The position is the first there is of `world_position`, `position_world`, `world` and `position` at a location,
    ///   with two components or more; else the `@builtin(position)`, which is in clip space.
    /// - The normal is the first of `world_normal` and `normal` with three components.
    /// - The texture coordinates are the first of `uv`, `uv0`, `texcoord`, `tex_coord` and `texture_coordinates` with two.
    #[must_use]
    pub fn by_name(surface: &'a Surface) -> Self {
        let floats = || surface.members.iter().filter(|member| member.kind == ScalarKind::Float);
        let find = |names: &[&str], fits: fn(&SurfaceMember) -> bool| {
            let named = |name: &&str| floats().find(|member| member.name == **name && fits(member));
            names.iter().find_map(named).map(|member| member.name.as_str())
        };
        let at_location = |member: &SurfaceMember| member.slot != SurfaceSlot::Position && member.components >= 2;
        Self {
            position: find(&POSITIONS, at_location),
            normal: find(&NORMALS, |member| member.components == 3),
            uv: find(&UVS, |member| member.components == 2),
        }
    }
}

/// The values of an exported file's vertices.
pub(super) struct Columns {
    pub(super) positions: Vec<[f32; 3]>,
    /// One a vertex, or none.
    pub(super) normals: Option<Vec<[f32; 3]>>,
    /// One a vertex, or none.
    pub(super) uvs: Option<Vec<[f32; 2]>>,
}

impl Columns {
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] where the output struct has no such member.
    pub(super) fn new(mesh: &Mesh, members: &ExportMembers<'_>) -> io::Result<Self> {
        let missing = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("the mesh has no {what}"));
        let position = members
            .position
            .or_else(|| mesh.position_member())
            .ok_or_else(|| missing("position; name the member that is one"))?;
        let positions = column(mesh, position).ok_or_else(|| missing(position))?;
        let normals = members.normal.map(|name| column(mesh, name).ok_or_else(|| missing(name))).transpose()?;
        let uvs = members.uv.map(|name| column(mesh, name).ok_or_else(|| missing(name))).transpose()?;
        Ok(Self { positions, normals, uvs })
    }
}

/// The first components of a member of all vertices.
fn column<const N: usize>(mesh: &Mesh, name: &str) -> Option<Vec<[f32; N]>> {
    let take = |value: Vec<f32>| std::array::from_fn(|i| value.get(i).copied().unwrap_or(0.0));
    Some(mesh.member(name)?.into_iter().map(take).collect())
}
