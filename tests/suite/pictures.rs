//! Pictures against references in tests/references.

use std::path::Path;

/// Least likeness to the reference, 1 being the same picture, as image-compare's hybrid comparison has it.
///
/// Set by llvmpipe (LLVM 15.0.6, 256 bits), which gives the references again bit for bit; other versions of LLVM may round
/// a pixel otherwise.
const LIKENESS: f64 = 0.999;

/// Whether the adapter under test is llvmpipe, to which the references belong; says so where it is not.
pub(crate) fn references_are_ours() -> bool {
    let wanted = std::env::var("PATCHWAVE_ADAPTER").unwrap_or_default();
    let ours = "llvmpipe".contains(&wanted.to_lowercase());
    if !ours {
        eprintln!("skipped: the references belong to llvmpipe, and the adapter under test is '{wanted}'");
    }
    ours
}

/// Compares with the picture of that name under tests/references; a difference is written beside the picture.
#[track_caller]
pub(crate) fn assert_like_reference(picture: &Path, name: &str) {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/references").join(name);
    let read = |path: &Path| match image::open(path) {
        Ok(image) => image.into_rgb8(),
        Err(error) => panic!("{}: {error}; the picture rendered now is {}", path.display(), picture.display()),
    };
    let (expected, actual) = (read(&reference), read(picture));
    assert_eq!(expected.dimensions(), actual.dimensions(), "{}", picture.display());
    let likeness = image_compare::rgb_hybrid_compare(&expected, &actual).expect("they are of the same size");
    if likeness.score < LIKENESS {
        let difference = picture.with_file_name("difference.png");
        likeness.image.to_color_map().save(&difference).expect("the difference can be written");
        panic!(
            "{} is like {} by {}, at least {LIKENESS} wanted; see {}; where the change is meant, copy it over",
            picture.display(),
            reference.display(),
            likeness.score,
            difference.display(),
        );
    }
}
