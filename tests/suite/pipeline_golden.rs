//! All golden vectors through the whole pipeline on the device.

use crate::gpu;

#[test]
fn golden_vectors_through_the_pipeline() {
    let cases = patchwave::golden::packed().expect("the vectors are part of the project");
    assert_eq!(cases.len(), 4551);
    let (device, queue) = gpu::device();
    let differences = patchwave::golden::gpu::run(&device, &queue, &cases).expect("the pipeline runs");
    let first: Vec<_> = differences.iter().take(5).map(|(i, why)| format!("{}: {why}", cases[*i].id)).collect();
    assert!(differences.is_empty(), "{} of {} differ: {first:#?}", differences.len(), cases.len());
}
