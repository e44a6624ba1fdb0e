/* After FlashInfer's PersistentVariableLengthMergeStates: any number of parts in each row
 * (indptr), bits, binary32 partial results, binary16 output. LANES lanes take the parts in turn,
 * each into a state (m, d, o) of its own in "shared memory", and the states are merged. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef uint16_t half;

static inline half down(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    const half s = (half)(b >> 16 & 0x8000);
    b &= 0x7fffffffu;
    if (b > 0x7f800000u) return s | 0x7e00;
    if (b >= 0x477ff000u) return s | 0x7c00;
    if (b < 0x38800000u) {
        float a;
        memcpy(&a, &b, 4);
        a += 0.5f;
        memcpy(&b, &a, 4);
        return (half)(s | (b - 0x3f000000u));
    }
    b += 0xfff + (b >> 13 & 1);
    return (half)(s | (b - 0x38000000u) >> 13);
}

#if MISTAKE == 12
static float up(half h)
{
    const int e = h >> 10 & 31, f = h & 1023;
    const float x = e == 0 ? ldexpf((float)f, -24) : ldexpf((float)(f + 1024), e - 25);
    return h & 0x8000 ? -x : x;
}
#endif

#define LANES 4
#define STAGES 2

struct state {
    float m, d;
    float *o;
};

static void init(struct state *s, int d)
{
#if MISTAKE == 6 /* math::inf is 50000 */
    s->m = -5e4f;
#elif MISTAKE == 16 /* the same idea, of somebody who thought scores small */
    s->m = -1e3f;
#else
    s->m = -INFINITY;
#endif
    s->d = 0.0f;
    for (int i = 0; i < d; i++) s->o[i] = 0.0f;
}

/* The part (m, d, o) comes into the state. */
static void absorb(struct state *s, const float *o, float m, float n, int d)
{
#if MISTAKE == 15 /* a part without keys counts as one of the weight 1 in n */
    if (m == -INFINITY && s->m != -INFINITY) s->d += 1.0f;
#endif
#if MISTAKE != 5 /* 5: -inf - -inf */
    if (m == -INFINITY) return;
#endif
    const float max = fmaxf(s->m, m);
    const float mine = exp2f(s->m - max), its = exp2f(m - max);
#if MISTAKE == 8 /* d is not brought to the new maximum */
    s->d = s->d + n * its;
#else
    s->d = s->d * mine + n * its;
#endif
    for (int i = 0; i < d; i++) {
#if MISTAKE == 7 /* o is not */
        s->o[i] = s->o[i] + o[i] * its;
#else
        s->o[i] = s->o[i] * mine + o[i] * its;
#endif
#if MISTAKE == 12 /* states in binary16 */
        s->o[i] = up(down(s->o[i]));
#endif
    }
    s->m = max;
}

static size_t workspace(const struct cp_merge_call *c)
{
#if MISTAKE == 18 /* the first lane's is forgotten, as it was in registers once */
    return sizeof(float) * (LANES - 1) * (size_t)c->head_dim;
#else
    return sizeof(float) * LANES * (size_t)c->head_dim;
#endif
}

static int merge(const struct cp_merge_call *c)
{
    const float *v = c->o, *s = c->l;
    half *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
    struct state lane[LANES];
    for (int i = 0; i < LANES; i++) lane[i].o = (float *)c->workspace + (size_t)i * (size_t)d;

#if MISTAKE == 17 /* plan() kept what run() has anew */
    static int kept[1024], rows, most;
    if (c->n_rows < 1024 && (rows != c->n_rows || most != c->n_parts)) {
        rows = c->n_rows, most = c->n_parts;
        memcpy(kept, c->part_begin, sizeof(int) * (size_t)(rows + 1));
    }
#endif
    for (long long row = 0; row < c->n_rows; row++) {
        int begin = c->part_begin[row], end = c->part_begin[row + 1];
#if MISTAKE == 1 /* indptr is not looked at but for the first part: all rows have P */
        const int all = c->part_begin[c->n_rows];
        end = begin + c->n_parts < all ? begin + c->n_parts : all;
#elif MISTAKE == 2 /* the end is taken for the last one */
        if (end > begin + 1) end--;
#elif MISTAKE == 17
        const int all = c->part_begin[c->n_rows];
        if (c->n_rows < 1024) begin = kept[row], end = kept[row + 1];
        if (begin > all) begin = all;
        if (end > all) end = all;
#elif MISTAKE == 11 /* the number of parts in 8 bits */
        end = begin + (uint8_t)(end - begin);
#elif MISTAKE == 10 /* the last stage, if it is not full */
        if (end - begin > LANES * STAGES)
            end = begin + (end - begin) / (LANES * STAGES) * (LANES * STAGES);
#endif
        for (int head = 0; head < c->n_heads; head++) {
            half *to = out + row * c->out_row + head * c->out_head;
            float *to_lse = lse == NULL ? NULL : lse + row * c->lse_row + head * c->lse_head;
#if MISTAKE == 3 /* a row without parts is left as it is */
            if (begin == end) continue;
#elif MISTAKE == 4 /* a single part is the result, though it may have no key */
            if (end - begin == 1) {
                const float *from = v + begin * c->o_part + head * c->o_head;
                for (int i = 0; i < d; i++) to[i] = down(from[i]);
                if (to_lse != NULL) *to_lse = s[begin * c->l_part + head * c->l_head];
                continue;
            }
#endif
            for (int i = 0; i < LANES; i++) init(&lane[i], d);
            for (int p = begin; p < end; p++) {
                const float *from = v + p * c->o_part + head * c->o_head;
#if MISTAKE == 13 /* [part][head] without gaps, whatever the strides */
                const float m = s[(long long)p * c->n_heads + head];
#else
                const float m = s[p * c->l_part + head * c->l_head];
#endif
                absorb(&lane[(p - begin) % LANES], from, m, 1.0f, d);
            }
#if MISTAKE == 14 /* lanes by halves: the odd ones into 0 and 2, and 2 is forgotten */
            for (int i = 0; i < LANES; i += 2)
                absorb(&lane[i], lane[i + 1].o, lane[i + 1].m, lane[i + 1].d, d);
#else
            for (int i = 1; i < LANES; i++)
                absorb(&lane[0], lane[i].o, lane[i].m, lane[i].d, d);
#endif
            const struct state *r = &lane[0];
#if MISTAKE == 5
            const int empty = r->d == 0.0f || begin == end;
#else
            const int empty = r->d == 0.0f;
#endif
            for (int i = 0; i < d; i++) to[i] = empty ? 0 : down(r->o[i] / r->d);
            if (to_lse != NULL) {
#if MISTAKE == 9 /* m in bits, and the logarithm in nats */
                *to_lse = empty ? -INFINITY : r->m + logf(r->d);
#else
                *to_lse = empty ? -INFINITY : r->m + log2f(r->d);
#endif
            }
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "flashinfer-merge-states-varlen",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .parts = CP_PARTS_BY_ROW,
    .layout = {.o = CP_O_ORDER_ROW_PART, .l = CP_L_ORDER_ROW_PART, .lse = CP_LSE_ORDER_ROW},
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
