//! The JSON-lines reader.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::{Case, GoldenError, Lists};

/// A line as it is written. What is there for reading alone (`outer`, `inner`) is passed over.
#[derive(Deserialize)]
struct Line {
    id: String,
    domain: String,
    partitioning: String,
    topology: String,
    factor_bits: Vec<String>,
    culled: bool,
    points: u32,
    indices: u32,
    uv_fnv1a64: String,
    index_fnv1a64: String,
    uv: Option<Vec<[String; 2]>>,
    index: Option<Vec<u32>>,
}

fn hex32(digits: &str) -> Result<u32, String> {
    u32::from_str_radix(digits, 16).map_err(|error| format!("`{digits}` is not 8 hex digits: {error}"))
}

fn hex64(digits: &str) -> Result<u64, String> {
    u64::from_str_radix(digits, 16).map_err(|error| format!("`{digits}` is not 16 hex digits: {error}"))
}

/// The case that a line holds, or what is wrong with it.
fn case(text: &str) -> Result<Case, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let domain: crate::tessellator::Domain = line.domain.parse().map_err(|error| format!("{error}"))?;
    if line.factor_bits.len() != domain.factor_count() {
        return Err(format!(
            "{domain} has {} tessellation factors, not {}",
            domain.factor_count(),
            line.factor_bits.len()
        ));
    }
    let lists = match (line.uv, line.index) {
        (Some(uv), Some(index)) => {
            if (uv.len(), index.len()) != (line.points as usize, line.indices as usize) {
                return Err(format!(
                    "{} points and {} index entries listed, {} and {} counted",
                    uv.len(),
                    index.len(),
                    line.points,
                    line.indices
                ));
            }
            let uv = uv.iter().map(|[u, v]| Ok([hex32(u)?, hex32(v)?])).collect::<Result<_, String>>()?;
            Some(Lists { uv, index })
        }
        (None, None) => None,
        _ => return Err("`uv` and `index` go together".to_owned()),
    };
    Ok(Case {
        domain,
        partitioning: line.partitioning.parse().map_err(|error| format!("{error}"))?,
        topology: line.topology.parse().map_err(|error| format!("{error}"))?,
        factor_bits: line.factor_bits.iter().map(|bits| hex32(bits)).collect::<Result<_, _>>()?,
        culled: line.culled,
        points: line.points,
        indices: line.indices,
        uv_hash: hex64(&line.uv_fnv1a64)?,
        index_hash: hex64(&line.index_fnv1a64)?,
        lists,
        id: line.id,
    })
}

/// The cases of one JSON-lines file; empty lines are passed over.
pub fn read_file(path: &Path) -> Result<Vec<Case>, GoldenError> {
    let text = fs::read_to_string(path).map_err(|source| GoldenError::Io { path: path.to_owned(), source })?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| case(line).map_err(|reason| GoldenError::Line { path: path.to_owned(), line: i + 1, reason }))
        .collect()
}

/// The cases of all `.jsonl` files of a folder, in the order of the files' names.
pub fn read_folder(path: &Path) -> Result<Vec<Case>, GoldenError> {
    let io = |source| GoldenError::Io { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(io)? {
        let file = entry.map_err(io)?.path();
        if file.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(GoldenError::Empty { path: path.to_owned() });
    }
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        cases.extend(read_file(&file)?);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id":"a","domain":"isoline","partitioning":"integer","topology":"line","outer":[1,"NaN"],
        "inner":[],"factor_bits":["3f800000","7fc00000"],"culled":true,"points":0,"indices":0,
        "uv_fnv1a64":"cbf29ce484222325","index_fnv1a64":"cbf29ce484222325","uv":[],"index":[]}"#;

    #[test]
    fn a_line_is_a_case() {
        let case = case(LINE).expect("a case");
        assert_eq!(case.factor_bits, [0x3f80_0000, 0x7fc0_0000]);
        assert_eq!(case.lists, Some(Lists { uv: vec![], index: vec![] }));
        assert_eq!(case.check(), Ok(()));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        for (from, to, reason) in [
            ("isoline", "cube", "`cube` is no domain"),
            ("\"line\"", "\"strip\"", "`strip` is no output topology"),
            ("7fc00000\"", "7fc00000\",\"0\"", "isoline has 2 tessellation factors, not 3"),
            ("7fc00000", "7fc0000g", "`7fc0000g` is not 8 hex digits"),
            ("\"uv\":[]", "\"uv\":[[\"0\",\"0\"]]", "1 points and 0 index entries listed, 0 and 0 counted"),
            (",\"index\":[]", "", "`uv` and `index` go together"),
            ("\"culled\":true,", "", "missing field `culled`"),
        ] {
            let told = case(&LINE.replace(from, to)).expect_err(reason);
            assert!(told.contains(reason), "`{told}` does not say `{reason}`");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(matches!(read_folder(Path::new("no/such/folder")), Err(GoldenError::Io { .. })));
    }
}
