// Which of the two entries of a draw in `slots` its passes count in, and where its output begins.
//
// `now` is written by the first pass of a draw and read by those after it, `next` the other way round, so that no pass
// writes what its own workgroups read. The last pass clears the entry that is not in use. All this is the GPU's own doing:
// a draw that was encoded and never submitted leaves everything as it is. Both begin as zeros, as buffers do.
//
// Composed after pw_state.

// In the first pass of a draw.
fn pw_slot_next(slot: u32) -> u32 {
    return slot * 2u + pw_state.slots[slot * 2u].next;
}

// In the passes after it.
fn pw_slot_now(slot: u32) -> u32 {
    return slot * 2u + pw_state.slots[slot * 2u].now;
}

// By one lane of the first pass.
fn pw_begin_slot(slot: u32) {
    pw_state.slots[slot * 2u].now = pw_state.slots[slot * 2u].next;
}

// By one lane of the last pass of a draw that counted in entry `now`.
fn pw_end_slot(slot: u32, now: u32) {
    let next = 1u - (now & 1u);
    pw_state.slots[slot * 2u].next = next;
    let cleared = slot * 2u + next;
    atomicStore(&pw_state.slots[cleared].vertices, 0u);
    atomicStore(&pw_state.slots[cleared].vertices_high, 0u);
    atomicStore(&pw_state.slots[cleared].primitives, 0u);
    atomicStore(&pw_state.slots[cleared].primitives_high, 0u);
    atomicStore(&pw_state.slots[cleared].queue, 0u);
    atomicStore(&pw_state.slots[cleared].off_chip, 0u);
    atomicStore(&pw_state.slots[cleared].overflow, 0u);
    atomicStore(&pw_state.slots[cleared].connectivity, 0u);
}

// What has been taken of a chunk. Where the draw is the first one since the reset, nothing is.
fn pw_chunk_used(chunk: u32, is_first: u32) -> PwUsed {
    if (is_first != 0u) {
        return PwUsed(0u, 0u);
    }
    return pw_state.used[chunk];
}
