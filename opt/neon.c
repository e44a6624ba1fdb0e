/* SPDX-License-Identifier: Apache-2.0 */
/* NEON: 4 numbers in a vector, 32 vectors. All that it needs every 64-bit ARM processor has. */
#include "opt/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES         4
#define MOST          8
#define EACH_MOST(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8)
#define DOTS          4
#define EACH_DOTS(DO) DO(1) DO(2) DO(3) DO(4)

typedef float32x4_t vec;

static inline vec v_zero(void) {
    return vdupq_n_f32(0.0F);
}

static inline vec v_set(float x) {
    return vdupq_n_f32(x);
}

static inline vec v_load(const float *from) {
    return vld1q_f32(from);
}

static inline void v_store(float *to, vec a) {
    vst1q_f32(to, a);
}

static inline vec v_add(vec a, vec b) {
    return vaddq_f32(a, b);
}

static inline vec v_sub(vec a, vec b) {
    return vsubq_f32(a, b);
}

static inline vec v_mul(vec a, vec b) {
    return vmulq_f32(a, b);
}

static inline vec v_div(vec a, vec b) {
    return vdivq_f32(a, b);
}

static inline vec v_fma(vec a, vec b, vec c) {
    return vfmaq_f32(c, a, b);
}

/* Not vmaxq_f32(), which gives a NaN where any of the two is one. */
static inline vec v_max(vec a, vec b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline float v_sum(vec a) {
    return vaddvq_f32(a);
}

static inline float v_largest(vec a) {
    return vmaxvq_f32(a);
}

static inline vec v_load_16(const uint16_t *from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

static inline vec v_load_b16(const uint16_t *from) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from), 16));
}

/* Four bytes, and no more, each in 16 bits. */
static inline uint16x4_t load_bytes(const uint8_t *from) {
    uint32_t four;
    memcpy(&four, from, sizeof four);
    return vget_low_u16(vmovl_u8(vcreate_u8(four)));
}

/* E5M2 is the upper half of a binary16. */
static inline vec v_load_e5(const uint8_t *from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vshl_n_u16(load_bytes(from), 8)));
}

/* E4M3 has an exponent of 4 bits, counted from 7, not from 15: as a binary16 it is 2^8 times too
 * small. Its only NaN is all ones but the sign. */
static inline vec v_load_e4(const uint8_t *from) {
    uint16x4_t bits = load_bytes(from), ones = vdup_n_u16(0x7F);
    uint16x4_t number = vand_u16(bits, ones);
    uint16x4_t sign = vshl_n_u16(vand_u16(bits, vdup_n_u16(0x80)), 8);
    uint16x4_t nan = vand_u16(vceq_u16(number, ones), vdup_n_u16(0x7C00));
    uint16x4_t half = vorr_u16(vorr_u16(sign, nan), vshl_n_u16(number, 7));
    return v_mul(vcvt_f32_f16(vreinterpret_f16_u16(half)), v_set(0x1p8F));
}

static inline vec v_load_i8(const uint8_t *from) {
    uint32_t four;
    memcpy(&four, from, sizeof four);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(four)))));
}

static inline void v_store_16(uint16_t *to, vec a) {
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(a)));
}

/* Neighbours are added, twice. */
static inline void v_sum_4(float *to, vec a, vec b, vec c, vec d) {
    v_store(to, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
}

static inline vec v_below(vec a, vec b, vec yes, vec no) {
    return vbslq_f32(vcltq_f32(a, b), yes, no);
}

static inline vec v_lane(void) {
    static const float lane[LANES] = {0.0F, 1.0F, 2.0F, 3.0F};
    return v_load(lane);
}

/* By half of n, exactly, then by the rest: 2^n alone may be below the normal numbers. */
static inline vec v_power(vec p, vec shifted) {
    int32x4_t n =
        vsubq_s32(vreinterpretq_s32_f32(shifted), vreinterpretq_s32_f32(v_set(0x1.8p23F)));
    int32x4_t half = vshrq_n_s32(n, 1), one = vdupq_n_s32(127);
    int32x4_t left = vshlq_n_s32(vaddq_s32(half, one), 23);
    int32x4_t right = vshlq_n_s32(vaddq_s32(vsubq_s32(n, half), one), 23);
    return v_mul(v_mul(p, vreinterpretq_f32_s32(left)), vreinterpretq_f32_s32(right));
}

#include "opt/vector.h"

struct cp_opt_kernels cp_opt_neon(void) {
    return kernels(4);
}

int cp_opt_has_neon(void) {
    return 1;
}

#else

struct cp_opt_kernels cp_opt_neon(void) {
    return cp_opt_portable();
}

int cp_opt_has_neon(void) {
    return 0;
}

#endif
