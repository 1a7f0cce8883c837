//! A reader of OBJ files that keeps all bits, for the tests of those that write them.

/// Positions, normals, texture coordinates and primitives of an OBJ file.
pub(crate) struct Obj {
    pub(crate) vectors: [Vec<Vec<u32>>; 3],
    pub(crate) primitives: Vec<(String, Vec<u32>)>,
}

pub(crate) fn read_obj(bytes: &[u8]) -> Obj {
    let text = std::str::from_utf8(bytes).expect("an OBJ is text");
    let mut obj = Obj { vectors: Default::default(), primitives: Vec::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (keyword, rest) = line.split_once(' ').expect("a keyword");
        match ["v", "vn", "vt"].iter().position(|known| *known == keyword) {
            Some(kind) => obj.vectors[kind]
                .push(rest.split(' ').map(|number| number.parse::<f32>().expect("a number").to_bits()).collect()),
            None => {
                let corner =
                    |corner: &str| corner.split('/').next().and_then(|n| n.parse::<u32>().ok()).expect("an index") - 1;
                obj.primitives.push((keyword.to_owned(), rest.split(' ').map(corner).collect()));
            }
        }
    }
    obj
}
