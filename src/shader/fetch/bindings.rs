//! Which storage bindings the input assembler reads from. Each costs one of the 8 that a stage has by default, so what
//! lies in one buffer is bound once.

/// First binding of the vertex buffers in group 3; slot i is bound at this plus i. The index buffer lies before them.
pub(crate) const FIRST_VERTEX_BUFFER_BINDING: u32 = 5;
/// The index buffer's binding in group 3.
pub(crate) const INDEX_BUFFER_BINDING: u32 = 4;

/// Where the kernel finds indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexPlace {
    /// In a binding of their own.
    Own,
    /// In the binding of this vertex buffer slot.
    VertexBuffer(u32),
    /// Draws have none.
    Never,
}

/// The bindings of a pipeline's vertex and index buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings {
    /// For each slot that the vertex function reads of, the slot whose binding serves: the first of those in the same
    /// buffer.
    slots: Vec<Option<u32>>,
    pub(crate) index: IndexPlace,
}

impl Bindings {
    /// `groups` has equal numbers for slots in the same buffer, `read` says which slots the vertex function reads of, and
    /// `index` where the caller would have the indices.
    pub(crate) fn new(groups: &[u32], read: &[bool], index: IndexPlace) -> Self {
        let serves = |slot: usize| {
            let group = groups.get(slot)?;
            groups.iter().zip(read).position(|(other, read)| *read && other == group).map(|first| first as u32)
        };
        let slots = (0..groups.len()).map(|slot| serves(slot).filter(|_| read.get(slot) == Some(&true))).collect();
        let index = match index {
            // Where no attribute comes out of that buffer, it is bound for the indices alone.
            IndexPlace::VertexBuffer(slot) => serves(slot as usize).map_or(IndexPlace::Own, IndexPlace::VertexBuffer),
            other => other,
        };
        Self { slots, index }
    }

    /// The slots that have a binding, in order.
    pub(crate) fn vertex_buffers(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.slots.iter().copied().flatten().collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The slot whose binding serves `slot`.
    pub(crate) fn of_slot(&self, slot: u32) -> u32 {
        self.slots.get(slot as usize).copied().flatten().unwrap_or(slot)
    }

    /// Storage buffers that are bound: the vertex buffers, and the index buffer where it has a binding of its own.
    pub(crate) fn count(&self) -> u32 {
        self.vertex_buffers().len() as u32 + u32::from(self.index == IndexPlace::Own)
    }
}
