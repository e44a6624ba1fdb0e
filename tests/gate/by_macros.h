/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the types that the macros of by_macros.c name, and where results are written. Not
 * every kernel needs all of them. */
#ifndef CHUNKPROOF_TESTS_GATE_BY_MACROS_H
#define CHUNKPROOF_TESTS_GATE_BY_MACROS_H

static inline float h2f(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float x;
    memcpy(&x, &bits, 4);
    x *= 0x1p112F;
    if ((half & 0x7C00) == 0x7C00)
        x = (half & 0x3FF) ? NAN : INFINITY;
    return half >> 15 ? -x : x;
}
static inline uint16_t f2h(double d) { /* one rounding, from double */
    int sign = signbit(d) ? 1 << 15 : 0, exponent = -13;
    double size = fabs(d);
    if (!(size < 65520.0))
        return (uint16_t)(sign | (isnan(d) ? 0x7E00 : 0x7C00));
    if (size >= 0x1p-14)
        frexp(size, &exponent);
    int fraction = (int)rint(ldexp(size, 11 - exponent));
    return (uint16_t)(sign | (((exponent + 13) << 10) + fraction));
}
static inline float b2f(uint16_t b) {
    uint32_t u = (uint32_t)b << 16;
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static inline uint16_t f2b(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if (isnan(f))
        return (uint16_t)((u >> 16) | 0x40);
    return (uint16_t)((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}
static inline uint16_t f2bt(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return (uint16_t)(u >> 16);
}
static inline float r16(float x) {
    return h2f(f2h(x));
}
static inline float rb16(float x) {
    return b2f(f2b(x));
}
static inline float rb16t(float x) {
    return b2f(f2bt(x));
}
static inline REAL ld(const void *a, int t, long long i) {
    return t == CP_FP16   ? h2f(((const uint16_t *)a)[i])
           : t == CP_BF16 ? b2f(((const uint16_t *)a)[i])
           : t == CP_FP32 ? ((const float *)a)[i]
                          : (REAL)((const double *)a)[i];
}
static inline void st(void *a, int t, long long i, double x) {
    if (t == CP_FP16)
        ((uint16_t *)a)[i] = f2h(x);
    else if (t == CP_BF16)
        ((uint16_t *)a)[i] = f2b((float)x);
    else if (t == CP_FP32)
        ((float *)a)[i] = (float)x;
    else
        ((double *)a)[i] = x;
}
static inline void put_out(const struct cp_kernel_call *c, int row, int head, int i, double x) {
    st(c->out, OT, row * c->out_row + head * c->out_head + i, x);
}
static inline void put_lse(const struct cp_kernel_call *c, int row, int head, double x) {
    if (c->lse != NULL && LT >= 0)
        st(c->lse, LT, row * c->lse_row + head * c->lse_head, x);
}
#ifndef EMPTY
#define EMPTY                                                                                      \
    for (int i = 0; i < d; i++)                                                                    \
        put_out(call, row, head, i, OUT0);                                                         \
    put_lse(call, row, head, LSE0);
#endif
/* average of V over all keys of the sequence, as a finite mask gives it */
static inline double meanv(const struct cp_kernel_call *c, int s, int head, int i) {
    double sum = 0;
    int g = c->n_heads / c->n_kv_heads;
    const long long b = (long long)s * c->table_width;
    for (int r = 0; c->table[b + r] >= 0; r++)
        for (int t = 0; t < c->table_tokens[b + r]; t++)
            sum += ld(c->v, KT,
                      c->table[b + r] * c->v_chunk + head / g * c->v_head + t * c->v_slot + i);
    return c->n_tokens[s] > 0 ? sum / c->n_tokens[s] : 0;
}

#endif
