/* drive KERNEL.so CASES [SEED]: random calls of merge_kernel.h; each number is compared with merged
 * results in double (computed here), within cp_merging_tolerance(). Prints one line. */
#include <chunkproof/chunkproof.h>
#include <chunkproof/merge_kernel.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long rs = 1;
static unsigned rnd(void)
{
    rs ^= rs << 13, rs ^= rs >> 7, rs ^= rs << 17;
    return (unsigned)(rs >> 20);
}
static int upto(int n) { return (int)(rnd() % (unsigned)n); }
static double uni(void) { return (rnd() + 0.5) / 4294967296.0; }
static double gauss(void) { return sqrt(-2 * log(uni())) * cos(6.283185307179586 * uni()); }

struct array {
    unsigned char *base, *at;
    size_t size;
};
static struct array make(size_t size, int fill)
{
    struct array a = {.size = size};
    const size_t all = (size + 63) / 64 * 64 + 256 + 8448;
    a.base = aligned_alloc(64, all);
    memset(a.base, fill, all);
    a.at = a.base + 256;
    return a;
}
static int guards(const struct array *a, int fill)
{
    for (int i = 0; i < 8192; i++)
        if (a->base[i % 256] != fill || a->at[a->size + (size_t)i] != fill) return 0;
    return 1;
}

/* strides of n axes, from the innermost on: order[] has axes */
static long long strides(const int *order, int n, const long long *size, long long inner, int gaps,
                         long long *stride)
{
    long long at = inner;
    for (int i = 0; i < n; i++) {
        if (gaps) at += upto(3) ? upto(9) : 0;
        stride[order[i]] = at;
        at *= size[order[i]] > 0 ? size[order[i]] : 1;
    }
    return at;
}
static void shuffle(int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = upto(i + 1), t = a[i];
        a[i] = a[j], a[j] = t;
    }
}
static const struct cp_merge_kernel *k;
static char what[200];
static long long judged, infinite;
static double worst;

static int one(void)
{
    static const int few[] = {1, 3, 7, 17, 33, 50, 66, 121, 130};
    const int by_row = k->parts == CP_PARTS_BY_ROW;
    const int kind = upto(12);
    const int least = k->least_parts ? k->least_parts : 1;
    const int most = k->most_parts ? k->most_parts : CP_MERGE_MOST_PARTS;
    int P = least + upto((most < 20 ? most : 20) - least + 1);
    if (upto(12) == 0) P = least + upto(most - least + 1);
    if (kind == 10 && most > 65) P = 65 + upto(most - 64);
    int rows = 1 + upto(6), heads = 1 + upto(5);
    int d = upto(11) == 0 ? few[upto(9)] : 16 + 4 * upto(upto(3) ? 16 : 77);
    if (P > 100) d = 16 + 4 * upto(4), rows = 1 + upto(3), heads = 1 + upto(2);
    else if (upto(12) == 0) rows = 300, heads = 1 + upto(2), d = 16, P = P > 20 ? 20 : P;
    else if (upto(12) == 0) heads = 32 + upto(9), d = 16 + 4 * upto(3), P = P > 40 ? 40 : P, rows = 1 + upto(3);
    struct cp_merge_call c = {.n_rows = rows, .n_heads = heads, .head_dim = d};
    struct array begin = make(sizeof(int) * (size_t)(rows + 1), 7);
    int *pb = (int *)begin.at;
    long long total = 0, mostP = 0;
    for (int r = 0; r < rows; r++) {
        pb[r] = (int)total;
        long long n = P;
        if (by_row) n = upto(5) == 0 ? 0 : upto(3) == 0 ? P : least + upto(P - least + 1);
        if (n > mostP) mostP = n;
        total += n;
    }
    pb[rows] = (int)total;
    if (by_row) P = mostP > 0 ? (int)mostP : 1;
    c.n_parts = P;
    const int inp = k->in_place != 0;
    const int there = P - inp; /* parts in o */
    const int gaps = k->layout.gaps == CP_GAPS_NONE ? 0 : upto(2);

    /* axes: 0 part, 1 row, 2 head */
    long long size[3] = {by_row ? total : there, by_row ? 1 : rows, heads}, so[3], sl[3], se[3];
    int order[3];
    long long no, nl, ne, nout;
    if (k->layout.o == CP_O_ORDER_PART_ROW) order[0] = 2, order[1] = 1, order[2] = 0;
    else if (k->layout.o == CP_O_ORDER_ROW_PART) order[0] = 2, order[1] = 0, order[2] = 1;
    else order[0] = 0, order[1] = 1, order[2] = 2, shuffle(order, 3);
    no = strides(order, 3, size, d, gaps, so);
    if (k->layout.l == CP_L_ORDER_PART_ROW) order[0] = 2, order[1] = 1, order[2] = 0;
    else if (k->layout.l == CP_L_ORDER_PART_HEAD) order[0] = 1, order[1] = 2, order[2] = 0;
    else if (k->layout.l == CP_L_ORDER_ROW_PART) order[0] = 2, order[1] = 0, order[2] = 1;
    else order[0] = 0, order[1] = 1, order[2] = 2, shuffle(order, 3);
    nl = strides(order, 3, size, 1, gaps, sl);
    c.o_part = so[0], c.o_row = by_row ? 0 : so[1], c.o_head = so[2];
    c.l_part = sl[0], c.l_row = by_row ? 0 : sl[1], c.l_head = sl[2];
    long long size2[3] = {1, rows, heads}, st[3];
    order[0] = 2, order[1] = 1;
    nout = strides(order, 2, size2, d, gaps, st);
    c.out_row = st[1], c.out_head = st[2];
    if (k->layout.lse == CP_LSE_ORDER_HEAD || (k->layout.lse == CP_LSE_ORDER_ANY && upto(2)))
        order[0] = 1, order[1] = 2;
    ne = strides(order, 2, size2, 1, gaps, se);
    c.lse_row = se[1], c.lse_head = se[2];

    const int to = k->o_type, tl = k->l_type, tout = k->arithmetic.out_type,
              te = k->arithmetic.lse_type;
    if (inp && (to != tout || tl != te)) return sprintf(what, "types in place"), 1;
    const size_t bo = cp_number_size(to), bl = cp_number_size(tl), bout = cp_number_size(tout),
                 be = cp_number_size(te);
    struct array o = make(bo * (size_t)no, 0xff), l = make(bl * (size_t)nl, 0xff);
    struct array out[2], lse[2];
    const int asked = k->lse == CP_LSE_ALWAYS || inp || (k->lse == CP_LSE_ASKED && upto(3) > 0);
    for (int i = 0; i < 2; i++)
        out[i] = make(bout * (size_t)nout, 0x5a + i), lse[i] = make(be * (size_t)ne, 0x5a + i);
    unsigned char *used = calloc(1, bout * (size_t)nout + 1), *usede = calloc(1, be * (size_t)ne + 1);

    /* values, in double, of [row][head][part] */
    const long long R = (long long)rows * heads;
    double **O = malloc(sizeof *O * (size_t)R), **L = malloc(sizeof *L * (size_t)R);
    const double unit = k->base == CP_BASE_2 ? log(2.0) : 1.0;
    const double cap = tout == CP_FP16 || to == CP_FP16 ? 300 : 3000;
    for (int r = 0; r < rows; r++)
        for (int a = 0; a < heads; a++) {
            const long long ra = (long long)r * heads + a;
            const int n = by_row ? pb[r + 1] - pb[r] : P;
            O[ra] = malloc(sizeof(double) * ((size_t)n * (size_t)d + 1));
            L[ra] = malloc(sizeof(double) * ((size_t)n + 1));
            const double off = kind == 5 ? -90 - 19900 * uni() * uni() : kind == 6 ? 90 + 19900 * uni() * uni() : kind == 9 ? (double[]){0, 3, -3, 300, -300}[upto(5)] : 0;
            const int heavy = n ? upto(n) : 0;
            double walk = 20 * gauss();
            for (int p = 0; p < n; p++) {
                double x = off + 2 * gauss(), g = 1;
                if (kind == 0) x = log(1 + upto(4));
                if (kind == 1) x = p == heavy ? 30 + uni() : 5 * uni();
                if (kind == 3) x = L[ra][0] = p ? L[ra][0] : 3 * gauss();
                if (kind == 4) x = p == heavy ? 0 : -16 * uni(), g = fmin(exp(-x), 4096);
                if (kind == 7 || kind == 8) x = walk, walk += (kind == 7 ? 1 : -1) * (2 + (n > 64 ? 3 : 40) * uni() * uni());
                if (kind == 11) x = 3000 * gauss();
                L[ra][p] = x / unit;
                for (int i = 0; i < d; i++) {
                    double v = g * gauss();
                    if (kind == 0 || kind == 10) v = i % n == p || (i % 7) == p % 7 ? 1 + p % 2 : 0;
                    if (kind == 1) v = 1 + upto(61);
                    if (fabs(v) > cap) v = v > 0 ? cap : -cap;
                    O[ra][(size_t)p * (size_t)d + (size_t)i] = v;
                }
            }
            if ((kind == 9 || upto(4) == 0) && !(k->never & CP_NEVER_EMPTY_PARTS)) {
                const int how = upto(5), but = n ? upto(n) : 0;
                for (int p = 0; p < n; p++)
                    if (how == 0 ? p == 0 : how == 1 ? p == n - 1 : how == 2 ? upto(2) : how == 3 ? p != but : 1)
                        L[ra][p] = -INFINITY;
            }
            for (int p = 0; p < n; p++) {
                /* to memory, and back as rounded */
                void *ob = o.at, *lb = l.at;
                long long q = by_row ? pb[r] + p : p - inp;
                long long ao = q * c.o_part + r * c.o_row + a * c.o_head;
                long long al = q * c.l_part + r * c.l_row + a * c.l_head;
                int two = 1;
                if (inp && p == 0) two = 2, ao = r * c.out_row + a * c.out_head, al = r * c.lse_row + a * c.lse_head;
                const int junk = upto(4);
                for (int t = 0; t < two; t++) {
                    if (two == 2) ob = out[t].at, lb = lse[t].at;
                    for (int i = 0; i < d; i++) {
                        double *v = &O[ra][(size_t)p * (size_t)d + (size_t)i], w = *v;
                        if (L[ra][p] == -INFINITY && t == 0) {
                            if (k->empty_o == CP_EMPTY_O_ANY)
                                w = junk == 0 ? NAN : junk == 1 ? INFINITY : junk == 2 ? 6e4 : 1;
                            else w = junk == 0 ? 6e4 : -3;
                            *v = w;
                        }
                        cp_number_store(ob, to, (size_t)(ao + i), w);
                        if (t == two - 1) *v = L[ra][p] == -INFINITY ? 0 : cp_number_load(ob, to, (size_t)(ao + i));
                    }
                    cp_number_store(lb, tl, (size_t)al, L[ra][p]);
                }
                L[ra][p] = cp_number_load(lb, tl, (size_t)al);
            }
        }
    if (by_row) c.part_begin = pb;
    const struct array o0 = o, l0 = l;
    unsigned char *oc = malloc(o.size + 1), *lc = malloc(l.size + 1);
    memcpy(oc, o.at, o.size), memcpy(lc, l.at, l.size);

    int bad = 0;
    const char *no_thanks = k->refuses ? k->refuses(&c) : NULL;
    const size_t ws = k->workspace ? k->workspace(&(struct cp_merge_call){
        .n_parts = c.n_parts, .n_rows = rows, .n_heads = heads, .head_dim = d,
        .o_part = c.o_part, .o_row = c.o_row, .o_head = c.o_head, .l_part = c.l_part, .l_row = c.l_row,
        .l_head = c.l_head, .out_row = c.out_row, .out_head = c.out_head, .lse_row = c.lse_row,
        .lse_head = c.lse_head}) : 0;
    for (int t = 0; t < 2 && !no_thanks && !bad; t++) {
        const int fill = t ? 0xff : 0x3c;
        struct array w = make(ws, fill);
        c.o = o0.at, c.l = l0.at, c.out = out[t].at, c.lse = asked ? lse[t].at : NULL;
        c.workspace = ws ? w.at : NULL, c.workspace_size = ws;
        if (k->merge(&c)) bad = sprintf(what, "returned");
        for (int i = 0; i < 8192; i++)
            if (w.base[i % 256] != fill || w.at[ws + (size_t)i] != fill) bad = sprintf(what, "workspace overrun");
        if (!guards(&out[t], 0x5a + t) || !guards(&lse[t], 0x5a + t)) bad = sprintf(what, "write outside");
        if (memcmp(oc, o.at, o.size) || memcmp(lc, l.at, l.size)) bad = sprintf(what, "input written");
        free(w.base);
    }
    double *scratch = malloc(sizeof(double) * (size_t)(5 * P + 5)), *ex = malloc(sizeof(double) * (size_t)d),
           *bo2 = malloc(sizeof(double) * (size_t)d);
    for (int r = 0; r < rows && !bad && !no_thanks; r++)
        for (int a = 0; a < heads && !bad; a++) {
            const long long ra = (long long)r * heads + a;
            const int n = by_row ? pb[r + 1] - pb[r] : P;
            double el, bl2;
            struct cp_merging_row row = {.n_parts = n, .head_dim = d, .base = k->base, .o = O[ra], .lse = L[ra]};
            if (cp_merging_tolerance(&k->arithmetic, &row, scratch, ex, bo2, &el, &bl2) != CP_OK) {
                bad = sprintf(what, "class refused");
                break;
            }
            /* own double arithmetic */
            double m = -INFINITY, W = 0;
            for (int p = 0; p < n; p++) m = fmax(m, L[ra][p]);
            for (int p = 0; p < n && m > -INFINITY; p++) W += exp((L[ra][p] - m) * unit);
            for (int i = 0; i < d; i++) {
                double s = 0;
                for (int p = 0; p < n && m > -INFINITY; p++)
                    s += exp((L[ra][p] - m) * unit) / W * O[ra][(size_t)p * (size_t)d + (size_t)i];
                if (!(fabs(s - ex[i]) <= 1e-9 * (1 + fabs(s)))) { bad = sprintf(what, "drive and library differ: %g %g", s, ex[i]); break; }
                const long long at = r * c.out_row + a * c.out_head + i;
                memset(used + (size_t)at * bout, 1, bout);
                if (m == -INFINITY && k->empty_out == CP_EMPTY_UNSPECIFIED) continue;
                const double y = cp_number_load(out[0].at, tout, (size_t)at);
                if (m == -INFINITY) {
                    if (k->empty_out == CP_EMPTY_NAN ? !isnan(y) : y != 0) { bad = sprintf(what, "kind %d: empty row has %g (P %d)", kind, y, P); break; }
                } else {
                    judged++;
                    if (isinf(bo2[i])) infinite++;
                    else if (bo2[i] > 0 && fabs(y - ex[i]) / bo2[i] > worst && fabs(y - ex[i]) <= bo2[i]) worst = fabs(y - ex[i]) / bo2[i];
                    if (!(fabs(y - ex[i]) <= bo2[i]) && !isinf(bo2[i])) { bad = sprintf(what, "kind %d: out %g for %g within %g (P %d d %d rows %d heads %d gaps %d)", kind, y, ex[i], bo2[i], P, d, rows, heads, gaps); break; }
                }
                if (memcmp(out[0].at + (size_t)at * bout, out[1].at + (size_t)at * bout, bout)) { bad = sprintf(what, "other bits"); break; }
            }
            if (!asked || bad) continue;
            const long long at = r * c.lse_row + a * c.lse_head;
            memset(usede + (size_t)at * be, 1, be);
            if (m == -INFINITY && k->empty_lse == CP_EMPTY_UNSPECIFIED) continue;
            const double y = cp_number_load(lse[0].at, te, (size_t)at);
            if (m == -INFINITY) {
                const double e = k->empty_lse == CP_EMPTY_VALUE ? k->empty_value : -INFINITY;
                if (k->empty_lse == CP_EMPTY_NAN ? !isnan(y) : y != e) bad = sprintf(what, "kind %d: empty lse %g (P %d)", kind, y, P);
            } else {
                judged++;
                if (isinf(bl2)) infinite++;
                else if (!(fabs(y - el) <= bl2)) bad = sprintf(what, "kind %d: lse %.9g for %.9g within %g (P %d rows %d heads %d gaps %d)", kind, y, el, bl2, P, rows, heads, gaps);
                else if (fabs(y - el) / bl2 > worst) worst = fabs(y - el) / bl2;
            }
            if (!bad && memcmp(lse[0].at + (size_t)at * be, lse[1].at + (size_t)at * be, be)) bad = sprintf(what, "lse other bits");
        }
    for (size_t i = 0; i < bout * (size_t)nout && !bad && !no_thanks; i++)
        if (!used[i] && out[0].at[i] != 0x5a) bad = sprintf(what, "gap of out written");
    for (size_t i = 0; i < be * (size_t)ne && !bad && !no_thanks; i++)
        if (!usede[i] && lse[0].at[i] != 0x5a) bad = sprintf(what, "gap of lse written");
    for (long long i = 0; i < R; i++) free(O[i]), free(L[i]);
    free(O), free(L), free(used), free(usede), free(oc), free(lc), free(scratch), free(ex), free(bo2);
    free(begin.base), free(o.base), free(l.base);
    for (int i = 0; i < 2; i++) free(out[i].base), free(lse[i].base);
    return bad != 0;
}

int main(int argc, char **argv)
{
    const int cases = argc > 2 ? atoi(argv[2]) : 100;
    const unsigned long long seed = argc > 3 ? strtoull(argv[3], 0, 10) : 1;
    void *h = dlopen(argv[1], RTLD_NOW);
    if (!h) return puts(dlerror()), 2;
    k = dlsym(h, "cp_merge_kernel");
    if (!k || k->abi != CP_MERGE_ABI) return puts("no kernel, or abi"), 2;
    int wrong = 0;
    char first[260] = "";
    for (int i = 0; i < cases; i++) {
        rs = 0x9e3779b97f4a7c15ull * (seed * 100003 + (unsigned)i + 1) | 1;
        for (int j = 0; j < 8; j++) rnd();
        if (one() && wrong++ == 0) snprintf(first, sizeof first, "case %d: %s", i, what);
    }
    printf("%4d of %d wrong, bound infinite for %.2f%%, worst right %.3f %s\n", wrong, cases,
           judged ? 100.0 * (double)infinite / (double)judged : 0, worst, first);
    return wrong ? 1 : 0;
}
