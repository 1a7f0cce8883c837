//! Good shaders reflect to exactly these values.

use super::*;
use crate::tessellator::Domain;

const BICUBIC: &str = include_str!("../../assets/shaders/bicubic.wgsl");

fn layout(type_name: &str, size: u32, stride: u32, alignment: u32, scalars: u32) -> PointLayout {
    PointLayout {
        type_name: type_name.to_owned(),
        stride,
        size,
        alignment,
        scalars,
    }
}

#[test]
fn bicubic_quad() {
    let names = StageNames::default();
    let reflection = reflect(BICUBIC, &names, Domain::Quad).unwrap();
    let expected = Reflection {
        source: BICUBIC.to_owned(),
        names,
        lines: StageLines {
            vertex: 18,
            hull: Some(22),
            patch_constants: 26,
            domain: 63,
        },
        attributes: Some(Attributes {
            type_name: "Attributes".to_owned(),
            members: vec![AttributeMember {
                name: "position".to_owned(),
                location: 0,
                kind: ScalarKind::Float,
                components: 3,
            }],
        }),
        takes_vertex_id: false,
        input_point: layout("ControlPoint", 16, 16, 16, 3),
        output_point: layout("ControlPoint", 16, 16, 16, 3),
        constants: layout("PatchConstants", 32, 32, 16, 6),
        factors_member: "factors".to_owned(),
        surface: Surface {
            type_name: "Surface".to_owned(),
            stride: 32,
            members: vec![
                SurfaceMember {
                    name: "position".to_owned(),
                    slot: SurfaceSlot::Position,
                    kind: ScalarKind::Float,
                    components: 4,
                    offset: 0,
                    interpolate: String::new(),
                    invariant: false,
                },
                SurfaceMember {
                    name: "normal".to_owned(),
                    slot: SurfaceSlot::Location(0),
                    kind: ScalarKind::Float,
                    components: 3,
                    offset: 16,
                    interpolate: String::new(),
                    invariant: false,
                },
            ],
        },
        private_variables: vec![],
        private_resets: vec![],
        bindings: vec![UserBinding {
            name: "settings".to_owned(),
            group: 0,
            binding: 0,
            is_storage_buffer: false,
            kind: BindingKind::UniformBuffer { size: 4 },
            used: true,
            line: 5,
        }],
        overrides: vec![],
    };
    assert_eq!(reflection, expected);
}
