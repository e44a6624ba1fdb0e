/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/shadow.h"

#include <algorithm>

namespace simt {

/* Judges accesses of one thread now. */
struct Shadow::Judge {
    Access who;
    Code code;
    const Clocks &clocks;
    bool across_blocks;

    /* Does the earlier access precede this one, or was there none? */
    bool ordered(Access earlier) const {
        if (earlier.word == 0) {
            return true;
        }
        if (earlier.block() != who.block() && !across_blocks) {
            return true;
        }
        return (earlier.block() == who.block() &&
                clocks.ordered(earlier.thread(), earlier.epoch(), who.thread())) ||
               clocks.handed(earlier.block(), earlier.thread(), earlier.epoch(), who.thread());
    }

    bool races(Access earlier, unsigned bytes) const {
        return (earlier.bytes() & bytes) != 0 && !(earlier.atomic() && who.atomic()) &&
               !ordered(earlier);
    }

    /* Records the access in `slot`; bytes that the same thread touched in the same epoch stay
     * there. */
    void enter(Access &slot, Code &slot_code, unsigned bytes) const {
        unsigned kept = (slot.word ^ who.word) >> 2 == 0 ? slot.bytes() : 0;
        slot.word = who.word | kept | bytes;
        slot_code = code;
    }

    void enter_read(Cell &cell, unsigned bytes) const {
        if (cell.reads[0].word == 0 || cell.reads[0].same_thread(who) || ordered(cell.reads[0])) {
            enter(cell.reads[0], cell.read_codes[0], bytes);
        } else {
            enter(cell.reads[1], cell.read_codes[1], bytes);
        }
    }

    bool read(Cell &cell, unsigned bytes, Conflict &found) const {
        if (races(cell.write, bytes)) {
            found = {cell.write, true, cell.write_code};
            return true;
        }
        enter_read(cell, bytes);
        return false;
    }

    bool write(Cell &cell, unsigned bytes, Conflict &found) const {
        if (races(cell.write, bytes)) {
            found = {cell.write, true, cell.write_code};
            return true;
        }
        for (int i = 0; i < 2; i++) {
            if (races(cell.reads[i], bytes)) {
                found = {cell.reads[i], false, cell.read_codes[i]};
                return true;
            }
        }
        enter(cell.write, cell.write_code, bytes);
        if (bytes == 3) {
            cell.reads[0] = cell.reads[1] = {};
        }
        return false;
    }
};

Shadow::Shadow(const void *memory, std::size_t size)
    : base(reinterpret_cast<std::uintptr_t>(memory)), cells(size / 2 + 2) {}

void Shadow::forget(std::size_t offset, std::size_t count) {
    if (count > 0) {
        std::fill(cells.get() + cell_of(offset), cells.get() + cell_of(offset + count - 1) + 1,
                  Cell{});
    }
}

/* Which bytes of a cell lie in first .. end-1 of an array of bytes, cells beginning at even
 * places. */
static unsigned bytes_of(std::uintptr_t cell, std::uintptr_t first, std::uintptr_t end) {
    return (2 * cell >= first ? 1u : 0u) | (2 * cell + 1 < end ? 2u : 0u);
}

bool Shadow::access(std::size_t offset, std::size_t count, bool write, Access who, Code code,
                    const Clocks &clocks, bool across_blocks, Conflict &found) {
    Judge judge = {who, code, clocks, across_blocks};
    std::uintptr_t first = base + offset;
    std::uintptr_t end = first + count;
    for (std::uintptr_t place = first >> 1; place <= (end - 1) >> 1; place++) {
        Cell &cell = cells.get()[place - (base >> 1)];
        unsigned bytes = bytes_of(place, first, end);
        if (write ? judge.write(cell, bytes, found) : judge.read(cell, bytes, found)) {
            return true;
        }
    }
    return false;
}

} // namespace simt
