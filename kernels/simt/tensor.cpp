/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix and mma.sync.m16n8k16 (PTX ISA, "Warp-level matrix instructions"). For lane l let
 * g = l / 4 and t = l % 4. A register of two binary16 holds the element of the smaller index in its
 * lower half.
 *
 *   ldmatrix, matrix i of 8 x 8 binary16: row r begins where lane 8 i + r points, 16 bytes, aligned
 *   to 16
 *     register i            elements (g, 2t) (g, 2t + 1)
 *     .trans                elements (2t, g) (2t + 1, g)
 *
 *   mma.m16n8k16: D = A B + C, with A 16 x 16 and B 16 x 8 in binary16, or both in bfloat16, C and
 *   D 16 x 8 in binary32
 *     A  register 0         (g,     2t) (g,     2t + 1)
 *        register 1         (g + 8, 2t) (g + 8, 2t + 1)
 *        register 2         (g,     2t + 8) (g,     2t + 9)
 *        register 3         (g + 8, 2t + 8) (g + 8, 2t + 9)
 *     B  register 0         (2t,     g) (2t + 1, g)        row, the index of the sum, first
 *        register 1         (2t + 8, g) (2t + 9, g)
 *     C, D  numbers 0, 1    (g,     2t) (g,     2t + 1)
 *           numbers 2, 3    (g + 8, 2t) (g + 8, 2t + 1)
 *
 * Products of binary16 are exact in binary32, and so are those of bfloat16 that are normal numbers
 * of binary32. How they are added is left open by PTX; here one after the other, in ascending order
 * of the index, to C, each sum rounded to nearest, ties to even. */
#include <cstring>

#include "kernels/simt/cuda_bfloat.h"
#include "kernels/simt/cuda_half.h"
#include "kernels/simt/machine.h"

namespace simt {
namespace runtime {

static const unsigned all_lanes = 0xFFFFFFFFu;

struct LoadOperand {
    unsigned *to;
    int count;
    bool transposed;
    const char *row;
    const void *code; /* the address after the call */
};

/* Reads the rows of one matrix, each on behalf of the lane that points there. */
static void read_rows(Machine &machine, const Lanes &lanes, int matrix,
                      std::uint16_t (*element)[8]) {
    for (int r = 0; r < 8; r++) {
        int lane = 8 * matrix + r;
        if ((lanes.mask >> lane & 1) == 0) {
            machine.fail_text(Finding::inactive_lane,
                              "ldmatrix: lane %d, which gives row %d of matrix %d, has ended", lane,
                              r, matrix);
        }
        const LoadOperand &one = *static_cast<const LoadOperand *>(lanes.operands[lane]);
        if (reinterpret_cast<std::uintptr_t>(one.row) % 16 != 0) {
            machine.fail_access(Finding::misaligned, "gives ldmatrix a misaligned row", one.row, 16,
                                lanes.first + lane, one.code);
        }
        machine.access(one.row, 16, false, false, lanes.first + lane, one.code);
        std::memcpy(element[r], one.row, 16);
    }
}

static void serve_load(Machine &machine, const Lanes &lanes) {
    const LoadOperand &any = *static_cast<LoadOperand *>(lanes.operands[__builtin_ctz(lanes.mask)]);
    for (int matrix = 0; matrix < any.count; matrix++) {
        std::uint16_t element[8][8];
        read_rows(machine, lanes, matrix, element);
        for (int lane = 0; lane < warp_size; lane++) {
            if ((lanes.mask >> lane & 1) != 0) {
                int g = lane / 4;
                int t = lane % 4;
                unsigned low = any.transposed ? element[2 * t][g] : element[g][2 * t];
                unsigned high = any.transposed ? element[2 * t + 1][g] : element[g][2 * t + 1];
                static_cast<LoadOperand *>(lanes.operands[lane])->to[matrix] = low | high << 16;
            }
        }
    }
}

void load_matrices(unsigned *to, int count, bool transposed, const void *row, Where where) {
    static const char *const names[2][3] = {
        {"ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4"},
        {"ldmatrix.x1.trans", "ldmatrix.x2.trans", "ldmatrix.x4.trans"}};
    LoadOperand one = {to, count, transposed, static_cast<const char *>(row),
                       __builtin_return_address(0)};
    Entry entry;
    Machine &machine = entry.machine;
    bool orders = machine.config.shuffles_order_memory;
    machine.collective({names[transposed][count / 2], serve_load, true, orders, all_lanes, 0}, &one,
                       where);
}

/* What the elements of A and B are: binary16, bfloat16, or any of 16 bits, with a sum of the
 * caller's. */
struct Halves {
    typedef float Number;
    static Number number(unsigned bits) {
        return half_to_float(static_cast<std::uint16_t>(bits));
    }
};

struct Bfloats {
    typedef float Number;
    static Number number(unsigned bits) {
        return bfloat_to_float(static_cast<std::uint16_t>(bits));
    }
};

struct Any {
    typedef unsigned Number;
    static Number number(unsigned bits) {
        return bits;
    }
};

template <class E> struct MultiplyOperand {
    typename E::Number *d;
    const unsigned *a;
    const unsigned *b;
    const typename E::Number *c;
    AddProduct add;
};

/* The matrices of a warp, gathered from the lanes. */
template <class T> struct Fragments {
    T a[16][16];
    T b[16][8];
    T c[16][8];
};

template <class E>
static void put_pair(unsigned pair, typename E::Number &low, typename E::Number &high) {
    low = E::number(pair & 0xFFFFu);
    high = E::number(pair >> 16);
}

template <class E>
static void gather(const MultiplyOperand<E> &one, int lane, Fragments<typename E::Number> &m) {
    int g = lane / 4;
    int t = lane % 4;
    for (int i = 0; i < 4; i++) {
        int row = g + 8 * (i & 1);
        int column = 2 * t + 8 * (i >> 1);
        put_pair<E>(one.a[i], m.a[row][column], m.a[row][column + 1]);
    }
    for (int i = 0; i < 2; i++) {
        put_pair<E>(one.b[i], m.b[2 * t + 8 * i][g], m.b[2 * t + 8 * i + 1][g]);
        m.c[g + 8 * i][2 * t] = one.c[2 * i];
        m.c[g + 8 * i][2 * t + 1] = one.c[2 * i + 1];
    }
}

static float sum_of(AddProduct, float sum, float a, float b) {
    return sum + a * b;
}

static unsigned sum_of(AddProduct add, unsigned sum, unsigned a, unsigned b) {
    return add(sum, a, b);
}

template <class T> static void multiply(Fragments<T> &m, AddProduct add) {
    for (int row = 0; row < 16; row++) {
        for (int k = 0; k < 16; k++) {
            for (int column = 0; column < 8; column++) {
                m.c[row][column] = sum_of(add, m.c[row][column], m.a[row][k], m.b[k][column]);
            }
        }
    }
}

template <class E> static void serve_multiply(Machine &machine, const Lanes &lanes) {
    if (lanes.mask != all_lanes) {
        machine.fail_text(Finding::inactive_lane,
                          "mma.m16n8k16: only lanes 0x%08x of the warp are there", lanes.mask);
    }
    Fragments<typename E::Number> m;
    for (int lane = 0; lane < warp_size; lane++) {
        gather(*static_cast<MultiplyOperand<E> *>(lanes.operands[lane]), lane, m);
    }
    multiply(m, static_cast<MultiplyOperand<E> *>(lanes.operands[0])->add);
    for (int lane = 0; lane < warp_size; lane++) {
        typename E::Number *d = static_cast<MultiplyOperand<E> *>(lanes.operands[lane])->d;
        for (int i = 0; i < 4; i++) {
            d[i] = m.c[lane / 4 + 8 * (i >> 1)][2 * (lane % 4) + (i & 1)];
        }
    }
}

template <class E> static void multiply_together(MultiplyOperand<E> one, Where where) {
    Entry entry;
    Machine &machine = entry.machine;
    bool orders = machine.config.shuffles_order_memory;
    static const char *const name = "mma.m16n8k16";
    machine.collective({name, serve_multiply<E>, true, orders, all_lanes, 0}, &one, where);
}

void multiply_add(float *d, const unsigned *a, const unsigned *b, const float *c, Where where) {
    multiply_together<Halves>({d, a, b, c, nullptr}, where);
}

void multiply_add_bfloats(float *d, const unsigned *a, const unsigned *b, const float *c,
                          Where where) {
    multiply_together<Bfloats>({d, a, b, c, nullptr}, where);
}

void multiply_add(unsigned *d, const unsigned *a, const unsigned *b, const unsigned *c,
                  AddProduct add, Where where) {
    multiply_together<Any>({d, a, b, c, add}, where);
}

} // namespace runtime
} // namespace simt
