//! The golden vectors that are compiled in: a reader of what `assets/vectors/pack.py` writes.

use std::io::Read;

use super::{Case, GoldenError, Lists, location_bits};
use crate::tessellator::{Domain, OutputTopology, Partitioning};

const PACKED: &[u8] = include_bytes!("../../assets/vectors/tessellator.bin");

/// The magic word that the packed vectors begin with; its last byte is the version of the format.
const MAGIC: &[u8] = b"PWGOLD\0\x01";

/// Takes the packed data apart from its beginning on.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], GoldenError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| damaged("they end too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], GoldenError> {
        self.take(N)?.try_into().map_err(|_| damaged("they end too early"))
    }

    fn u16(&mut self) -> Result<u16, GoldenError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, GoldenError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, GoldenError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A column: its length, the length it is deflated to, and that.
    fn column(&mut self) -> Result<Vec<u8>, GoldenError> {
        let length = self.u32()?;
        let deflated = self.u32()? as usize;
        let mut column = Vec::with_capacity(length as usize);
        flate2::read::ZlibDecoder::new(self.take(deflated)?)
            .take(u64::from(length) + 1)
            .read_to_end(&mut column)
            .map_err(|error| damaged(&error.to_string()))?;
        if column.len() != length as usize {
            return Err(damaged("a column has another length than it says"));
        }
        Ok(column)
    }
}

fn damaged(reason: &str) -> GoldenError {
    GoldenError::Packed(reason.to_owned())
}

/// One of all, by its number.
fn numbered<T: Copy>(all: &[T], number: u8) -> Result<T, GoldenError> {
    all.get(usize::from(number)).copied().ok_or_else(|| damaged("a number that names nothing"))
}

/// The golden vectors that are compiled in, all 4,551.
pub fn packed() -> Result<Vec<Case>, GoldenError> {
    unpack(PACKED)
}

fn unpack(packed: &[u8]) -> Result<Vec<Case>, GoldenError> {
    let mut packed = Bytes(packed);
    if packed.take(MAGIC.len())? != MAGIC {
        return Err(damaged("they do not begin as they should"));
    }
    let count = packed.u32()?;
    let ids = String::from_utf8(packed.column()?).map_err(|error| damaged(&error.to_string()))?;
    let heads = packed.column()?;
    let factors = packed.column()?;
    let hashes = packed.column()?;
    let [low, middle, high] = [packed.column()?, packed.column()?, packed.column()?];
    let indices = packed.column()?;

    let (mut ids, mut heads, mut factors, mut hashes) = (ids.lines(), Bytes(&heads), Bytes(&factors), Bytes(&hashes));
    let (mut low, mut middle, mut high, mut indices) = (Bytes(&low), Bytes(&middle), Bytes(&high), Bytes(&indices));
    let mut cases = Vec::new();
    for _ in 0..count {
        let [domain, partitioning, topology, flags] = heads.array()?;
        let domain = numbered(&Domain::ALL, domain)?;
        let mut case = Case {
            id: ids.next().ok_or_else(|| damaged("they end too early"))?.to_owned(),
            domain,
            partitioning: numbered(&Partitioning::ALL, partitioning)?,
            topology: numbered(&OutputTopology::ALL, topology)?,
            factor_bits: (0..domain.factor_count()).map(|_| factors.u32()).collect::<Result<_, _>>()?,
            culled: flags & 1 != 0,
            points: u32::from(heads.u16()?),
            indices: u32::from(heads.u16()?),
            uv_hash: hashes.u64()?,
            index_hash: hashes.u64()?,
            lists: None,
        };
        if flags & 2 != 0 {
            let components = 2 * case.points as usize;
            let planes = low.take(components)?.iter().zip(middle.take(components)?).zip(high.take(components)?);
            let locations: Vec<u32> = planes
                .map(|((&low, &middle), &high)| location_bits(u32::from_le_bytes([low, middle, high, 0])))
                .collect();
            let uv = locations.chunks_exact(2).filter_map(|uv| uv.try_into().ok()).collect();
            // Each entry is stored as its distance from the one before it.
            let index = indices.take(case.indices as usize)?.iter().scan(0u8, |entry, &distance| {
                *entry = entry.wrapping_add(distance);
                Some(u32::from(*entry))
            });
            case.lists = Some(Lists { uv, index: index.collect() });
        }
        cases.push(case);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_an_error() {
        assert!(unpack(&[]).is_err());
        assert!(unpack(MAGIC).is_err());
        let mut other = PACKED.to_vec();
        other[0] ^= 1;
        assert!(unpack(&other).is_err());
        // Damage within the deflated columns is found by their checksums or lengths.
        for place in (20..PACKED.len()).step_by(PACKED.len() / 64) {
            let mut other = PACKED.to_vec();
            other[place] ^= 0x10;
            assert!(unpack(&other).is_err(), "at {place}");
            assert!(unpack(&PACKED[..place]).is_err(), "cut at {place}");
        }
    }
}
