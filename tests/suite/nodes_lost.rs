//! Nodes that are lost while a draw is tessellated over them or gathered: the error names the node, and the other goes on.

use patchwave::adapter::nodes::{NodeBuffer, NodeError, Split};
use patchwave::{Domain, Mesh};

use super::nodes_rig::{NodeRig, pattern};
use super::nodes_tessellation::{POINTS, Scene, Shape, over_nodes, plain};

/// Two nodes with a draw that takes a while, and what node 0 has besides.
struct Losing {
    rig: NodeRig,
    scenes: Vec<Scene>,
    shape: Shape,
    kept: NodeBuffer,
    /// What node 0 makes alone.
    one: Mesh,
}

impl Losing {
    fn new(patches: u32) -> Self {
        let rig = NodeRig::new();
        let factors: Vec<_> = (0..patches).map(|i| [(8 + i % 40) as f32; 6]).collect();
        let scenes: Vec<_> = rig.rigs.iter().map(|rig| Scene::new(rig, Domain::Quad, false, &factors)).collect();
        let shape = plain(0..patches * POINTS);
        let one = shape.with(&scenes[0], |draw| rig.rigs[0].mesh(&scenes[0].pipeline, &draw));
        let kept = rig.buffer(0, 1, &pattern(10_000, 1));
        Self { rig, scenes, shape, kept, one }
    }

    /// Destroys a node's device after so many milliseconds of `run`.
    fn lose_during<T>(&mut self, node: usize, after: u64, run: impl FnOnce(&mut Self) -> T) -> T {
        let device = self.rig.rigs[node].device.clone();
        let (start, go) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            go.recv().expect("the test begins");
            std::thread::sleep(std::time::Duration::from_millis(after));
            device.destroy();
        });
        start.send(()).expect("the thread waits");
        let made = run(self);
        other.join().expect("it ends");
        made
    }

    /// Node 0 has its data and goes on.
    fn check_node_0(&mut self) {
        while self.rig.nodes.finish_blocking().is_err() {}
        assert!(self.rig.bytes(&self.kept) == pattern(10_000, 1));
        let copy = self.rig.buffer(0, 1, &[0; 10_000]);
        self.rig.run(0, |list| list.copy_resource(&copy, &self.kept)).expect("node 0 copies");
        assert!(self.rig.bytes(&copy) == pattern(10_000, 1));
        let Self { rig, scenes, shape, one, .. } = self;
        let mesh = shape.with(&scenes[0], |draw| rig.rigs[0].mesh(&scenes[0].pipeline, &draw));
        assert!(mesh == *one, "node 0 tessellates");
    }
}

/// Whether an error is of node 1, whose device was lost.
fn is_of_node_1(error: &NodeError) -> bool {
    matches!(error, NodeError::Lost { node: 1, .. })
}

/// A device that is lost before or while a draw is counted and tessellated.
#[test]
fn a_node_lost_while_tessellating() {
    let even = [None, Some(0), Some(1), Some(3), Some(8), Some(20)];
    for (split, cases) in [(Split::Even, &even[..]), (Split::Measured, &even[..4])] {
        let mut lost = 0;
        for after in cases.iter().copied() {
            let mut losing = Losing::new(400);
            let run = |losing: &mut Losing| over_nodes(&mut losing.rig, &losing.scenes, &losing.shape, split);
            let made = match after {
                None => {
                    losing.rig.rigs[1].device.destroy();
                    run(&mut losing)
                }
                Some(after) => losing.lose_during(1, after, run),
            };
            match made {
                Err(error) => {
                    eprintln!("{split:?} {after:?}: {error}");
                    assert!(is_of_node_1(&error), "{error:?}");
                    lost += 1;
                }
                Ok(made) => assert_eq!(made.vertices(), losing.one.vertex_count() as u64),
            }
            losing.check_node_0();
        }
        assert!(lost > 0, "no device was lost in time");
    }
}

/// A device that is lost before or while its share is gathered: what the other node has stays.
#[test]
fn a_node_lost_while_gathering() {
    let mut lost = 0;
    for after in [None, Some(0), Some(1), Some(3), Some(8)] {
        let mut losing = Losing::new(400);
        let made = over_nodes(&mut losing.rig, &losing.scenes, &losing.shape, Split::Even)
            .unwrap_or_else(|error| panic!("tessellating: {error}"));
        let share = |losing: &Losing| {
            let (_, own) = made.parts().find(|(node, _)| *node == 0).expect("a share");
            losing.rig.rigs[0].read(own)
        };
        let before = share(&losing);
        let run = |losing: &mut Losing| losing.rig.nodes.gather_blocking(&made, 0);
        let gathered = match after {
            None => {
                losing.rig.rigs[1].device.destroy();
                run(&mut losing)
            }
            Some(after) => losing.lose_during(1, after, run),
        };
        match gathered {
            Err(error) => {
                eprintln!("{after:?}: {error}");
                assert!(is_of_node_1(&error), "{error:?}");
                lost += 1;
            }
            Ok(mesh) => {
                let vertices = losing.rig.bytes(&mesh.vertices);
                assert!(vertices[..losing.one.vertices.len()] == losing.one.vertices[..]);
            }
        }
        losing.check_node_0();
        assert!(share(&losing) == before, "node 0's share");
        let error = losing.rig.nodes.read_mesh_blocking(&made).expect_err("node 1's share is gone");
        assert!(is_of_node_1(&error), "{error:?}");
    }
    assert!(lost > 0, "no device was lost in time");
}
