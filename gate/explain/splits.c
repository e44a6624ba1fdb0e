/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a row in parts (splits, chunks), each weighed by itself: parts that were merged with wrong factors, are
 * missing or there twice, and sums that are no longer rescaled behind the first tiles of a part. Each of these is a factor
 * of each key in the two sums: they are looked at quickly, in a few elements, before they are tried. */
#include <math.h>

#include "chunkproof/number.h"
#include "gate/explain/explain.h"

#define MOST_TILE   256
#define MOST_SPLITS 32
#define MOST_TILES  8           /* behind which a sum may no longer be rescaled */
#define LONG        2048        /* keys of a row in which that is not tried */
#define LONGEST     4096        /* and in which none of this is */
#define KEPT        500000000LL /* of x->work, for what else there is */

/* ---- Parts ---- */

enum parts { WHOLE, CHUNKS, SHARED, SHARED_CHUNKS, HALVES, TILES, HALVES_OF_TILES, SPLITS };

/* a: which parts + 8 * most splits; keys of a tile; what is done; behind so many tiles. */
static int end_of_part(const struct explain *x, const int *a, int from) {
    int tile = a[1], splits = a[0] / 8, end = x->m;
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    switch ((enum parts)(a[0] % 8)) {
    case WHOLE:
        break;
    case CHUNKS:
        end = (from / x->c + 1) * x->c;
        break;
    case SHARED:
        end = from < shared ? shared : x->m;
        break;
    case SHARED_CHUNKS:
        end = from < shared ? (from / x->c + 1) * x->c : x->m;
        break;
    case HALVES:
        end = from == 0 ? (x->m + 1) / 2 : x->m;
        break;
    case TILES:
        end = from + tile;
        break;
    case HALVES_OF_TILES:
        end = from == 0 && x->m > tile ? (x->m + tile - 1) / tile / 2 * tile : x->m;
        break;
    default:
        end = from + ((x->m + splits - 1) / splits + tile - 1) / tile * tile;
    }
    return end < x->m ? end : x->m;
}

static void name_parts(const int *a, char *text, size_t size) {
    static const char *const words[] = {
        "the keys", "the chunks", "the shared chunks and the sequence's own",
        "each shared chunk and the sequence's own", "both halves of the keys"};
    int splits = a[0] / 8;
    switch ((enum parts)(a[0] % 8)) {
    case TILES:
        (void)snprintf(text, size, "splits of %d keys", a[1]);
        return;
    case HALVES_OF_TILES:
        (void)snprintf(text, size, "both halves of the keys (the first one of whole tiles of %d)",
                       a[1]);
        return;
    case SPLITS:
        (void)snprintf(text, size, "up to %d splits (each of a multiple of %d %s)", splits, a[1],
                       a[1] == 1 ? "key" : "keys");
        return;
    default:
        (void)snprintf(text, size, "%s", words[a[0] % 8]);
    }
}

/* ---- Factors ---- */

enum done {
    ADDED_DIVIDED, /* o / n of each part is added up, not weighted; */
    ADDED,         /* and o as it is */
    BOTH_ADDED,    /* o and n as they are */
    BY_MAXIMA, /* o / n of each part is weighted by exp(its maximum), not by exp(its log-sum-exp) */
    SUMS_ADDED,   /* n of each part is not rescaled */
    BY_NUMBER,    /* what is weighted right is divided by the number of parts */
    AVERAGED,     /* o / n of each part counts the same, and lse is that of the number of parts */
    NATS_AS_BITS, /* each part's log-sum-exp is in nats, and the merge takes it for one in bits; */
    BITS_AS_NATS, /* and the other way round */
    M_IN_HALF, /* the maximum of each part but its own was rounded to binary16 when it was kept; */
    M_IN_HALF_BITS, /* times log2(e); */
    M_IN_BFLOAT,    /* to bfloat16 */
    M_IN_BFLOAT_BITS,
    FIRST_TWICE,
    LAST_TWICE,
    FIRST_MISSING,
    LAST_MISSING,
    OVERLAP, /* at the border of two parts */
    OVERLAP_BEFORE,
    GAP,
    GAP_BEFORE,
    N_CARRIED, /* sums of a part go on from those of the one before */
    O_CARRIED,
    BOTH_CARRIED,
    N_NOT_RESCALED, /* behind the first tiles of each part; */
    O_NOT_RESCALED,
    LAZILY /* sums keep their reference while the maximum is not so far above it; weights do not */
};

/* Of each key in the sum of weights, and in that of weighted values. */
static double *of_n(const struct explain *x) {
    return x->scratch + x->room;
}

static double *of_o(const struct explain *x) {
    return x->scratch + (ptrdiff_t)2 * x->room;
}

static double largest_of(const struct explain *x, int from, int end) {
    double largest = -INFINITY;
    for (int j = from; j < end; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    return largest;
}

static double sum_of(const struct explain *x, int from, int end, double largest) {
    double sum = 0.0;
    for (int j = from; j < end; j++) {
        sum += exp(x->scratch[j] - largest);
    }
    return sum;
}

/* A part whose sum is rescaled up to the tile `behind`, not from then on: a key there counts as against the maximum at
 * that tile, or at its own. Returns whether that is another sum. */
static int stop_rescaling(const struct explain *x, const int *a, int from, int end, double *of) {
    double m = largest_of(x, from, end), so_far = -INFINITY;
    int differs = 0, kept = from + a[3] * a[1];
    double at_kept = largest_of(x, from, kept < end ? kept : end);
    for (int j = from; j < end; j++) {
        if ((j - from) % a[1] == 0) {
            so_far = fmax(so_far, largest_of(x, j, j + a[1] < end ? j + a[1] : end));
        }
        of[j] = exp(m - fmax(so_far, at_kept));
        differs |= of[j] > 1.0;
    }
    return differs;
}

/* How far a maximum may be above the reference: 2^x, or e^x. */
static const struct room {
    double nats;
    const char *words;
} rooms[] = {{5.545177444479562, "2^8"},  {8.0, "e^8"},   {2.772588722239781, "2^4"},
             {6.931471805599453, "2^10"}, {10.0, "e^10"}, {4.0, "e^4"}};

enum { ROOMS = sizeof rooms / sizeof rooms[0] };

/* A key of a tile counts as against the largest score so far, in sums that are kept against an earlier one. */
static int rescale_lazily(const struct explain *x, const int *a, int from, int end) {
    double reference = -INFINITY;
    int differs = 0;
    for (int tile = from; tile < end; tile += a[1]) {
        int end_of_tile = tile + a[1] < end ? tile + a[1] : end;
        double top = fmax(reference, largest_of(x, tile, end_of_tile));
        reference = top > reference + rooms[a[3]].nats ? top : reference;
        for (int j = tile; j < end_of_tile; j++) {
            of_n(x)[j] = of_o(x)[j] = exp(reference - top);
        }
        differs |= top > reference;
    }
    return differs;
}

static int parts_behind(const struct explain *x, const int *a, int end) {
    int parts = 0;
    for (; end < x->m; parts++) {
        end = end_of_part(x, a, end);
    }
    return parts;
}

/* What a sequence has alone needs no partial result that is kept. */
static int is_kept(const struct explain *x, const int *a, int from) {
    int parts = a[0] % 8;
    return (parts != SHARED && parts != SHARED_CHUNKS) ||
           from < x->at->problem.n_shared_chunks[x->s] * x->c;
}

/* exp() of how far a maximum is moved by being rounded. */
static double by_rounding(double m, int done) {
    int type = done == M_IN_HALF || done == M_IN_HALF_BITS ? CP_FP16 : CP_BF16;
    double unit = done == M_IN_HALF_BITS || done == M_IN_BFLOAT_BITS ? log(2.0) : 1.0;
    uint16_t kept;
    cp_number_store(&kept, type, 0, m / unit);
    return exp(cp_number_load(&kept, type, 0) * unit - m);
}

static int is_of_bases(const int *a) {
    return a[2] == NATS_AS_BITS || a[2] == BITS_AS_NATS;
}

static double unit_of(const int *a) {
    return a[2] == NATS_AS_BITS ? log(2.0) : 1.0 / log(2.0);
}

/* What a part's keys are multiplied by. `m`: the largest score of all; `top`: log-sum-exp of a part. */
static int set_part(const struct explain *x, const int *a, int from, int end, double m,
                    double top) {
    double part = largest_of(x, from, end), n = sum_of(x, from, end, part);
    double more = exp(m - part), o_times = 1.0, n_times = 1.0;
    int is_first = from == 0, is_last = end == x->m;
    switch ((enum done)a[2]) {
    case ADDED_DIVIDED:
        o_times = more / n;
        break;
    case ADDED:
        o_times = more;
        break;
    case BOTH_ADDED:
        o_times = n_times = more;
        break;
    case BY_MAXIMA:
        o_times = n_times = 1.0 / n;
        break;
    case SUMS_ADDED:
        n_times = more;
        break;
    case BY_NUMBER:
        n_times = more / n;
        break;
    case AVERAGED:
        o_times = n_times = more / n;
        break;
    case NATS_AS_BITS:
    case BITS_AS_NATS:
        o_times = n_times = more / n * exp(unit_of(a) * (part + log(n) - top));
        break;
    case M_IN_HALF:
    case M_IN_HALF_BITS:
    case M_IN_BFLOAT:
    case M_IN_BFLOAT_BITS:
        o_times = n_times = is_kept(x, a, from) ? by_rounding(part, a[2]) : 1.0;
        break;
    case FIRST_TWICE:
        o_times = n_times = 1.0 + is_first;
        break;
    case LAST_TWICE:
        o_times = n_times = 1.0 + is_last;
        break;
    case FIRST_MISSING:
        o_times = n_times = 1.0 - is_first;
        break;
    case LAST_MISSING:
        o_times = n_times = 1.0 - is_last;
        break;
    case N_CARRIED:
    case O_CARRIED:
    case BOTH_CARRIED:
        n_times = a[2] != O_CARRIED ? 1.0 + parts_behind(x, a, end) : 1.0;
        o_times = a[2] != N_CARRIED ? 1.0 + parts_behind(x, a, end) : 1.0;
        break;
    default:
        break;
    }
    for (int j = from; j < end; j++) {
        of_n(x)[j] = n_times;
        of_o(x)[j] = o_times;
    }
    if ((a[2] == OVERLAP || a[2] == GAP) && !is_first) {
        of_n(x)[from] = of_o(x)[from] = a[2] == OVERLAP ? 2.0 : 0.0;
    } else if ((a[2] == OVERLAP_BEFORE || a[2] == GAP_BEFORE) && !is_last) {
        of_n(x)[end - 1] = of_o(x)[end - 1] = a[2] == OVERLAP_BEFORE ? 2.0 : 0.0;
    }
    if (a[2] == LAZILY) {
        return rescale_lazily(x, a, from, end);
    }
    return a[2] < N_NOT_RESCALED ||
           stop_rescaling(x, a, from, end, a[2] == N_NOT_RESCALED ? of_n(x) : of_o(x));
}

/* The largest of the parts' log-sum-exps, where it is what they are weighed against. */
static double largest_lse(const struct explain *x, const int *a) {
    double largest = -INFINITY;
    for (int from = 0, end; from < x->m; from = end) {
        end = end_of_part(x, a, from);
        double m = largest_of(x, from, end);
        largest = fmax(largest, m + log(sum_of(x, from, end, m)));
    }
    return largest;
}

/* Of the scores in their place. 0: it is no mistake of this row. */
static int set_all(struct explain *x, const int *a, double *m) {
    int parts = 0, differs = 0;
    double top = is_of_bases(a) ? largest_lse(x, a) : 0.0;
    *m = largest_of(x, 0, x->m);
    for (int from = 0, end; from < x->m; from = end, parts++) {
        end = end_of_part(x, a, from);
        differs |= set_part(x, a, from, end, *m, top);
    }
    if (a[2] == ADDED_DIVIDED || a[2] == BY_NUMBER) {
        double factor = exp(*m - largest_lse(x, a));
        for (int j = 0; j < x->m; j++) {
            (a[2] == BY_NUMBER ? of_o(x) : of_n(x))[j] = factor;
        }
    }
    x->work -= (long long)4 * x->m;
    int is_of_one =
        a[2] == BY_MAXIMA || is_of_bases(a) || (a[2] >= M_IN_HALF && a[2] <= M_IN_BFLOAT_BITS);
    return differs && (parts > 1 || is_of_one || a[2] >= N_NOT_RESCALED);
}

static int merge_wrongly(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    struct explain_state s;
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    explain_begin(x, &s, 0);
    if (!set_all(x, a, &s.m)) {
        return 0;
    }
    for (int j = 0; j < x->m; j++) {
        explain_add_key(x, &s, j, of_n(x)[j], of_o(x)[j]);
    }
    if (!explain_finish(x, &s, s.n)) {
        return 0;
    }
    if (a[2] == BY_NUMBER || a[2] == BOTH_ADDED) {
        x->numbers.bound[x->d] = INFINITY;
    } else if (a[2] == ADDED_DIVIDED) {
        x->numbers.expected[x->d] = x->at->expected[at];
        x->numbers.bound[x->d] = x->at->bound[at];
    } else if (a[2] == AVERAGED) {
        x->numbers.expected[x->d] = largest_lse(x, a) + log(s.n);
    } else if (is_of_bases(a)) {
        x->numbers.expected[x->d] = unit_of(a) * largest_lse(x, a) + log(s.n);
    }
    return 1;
}

/* ---- A quick look ---- */

/* What is looked for in out, and in lse where out says nothing; and whether the scores are in their place. */
struct look {
    struct explain_test test;
    double lse; /* NaN: it is not wrong, or none */
    int has_scores;
};

static void look_at(const struct explain *x, struct look *look) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    explain_test_new(x, &look->test);
    look->lse = x->at->rightness[at] == GATE_NUMBER_WRONG ? x->at->got[at] : NAN;
    look->has_scores = 0;
}

static int might(struct explain *x, struct look *look, const int *a) {
    const struct explain_test *test = &look->test;
    double sum[EXPLAIN_TESTED + 1] = {0.0}, m;
    if (!look->has_scores) {
        explain_take_all(x);
        explain_score_all(x);
        look->has_scores = !x->outside;
    }
    if (x->outside || !set_all(x, a, &m)) {
        return 0;
    }
    for (int j = 0; j < x->m; j++) {
        double weight = exp(x->scratch[j] - m);
        for (int t = 0; t < test->n; t++) {
            sum[t] += weight * of_o(x)[j] * x->v[(ptrdiff_t)j * x->d + test->element[t]];
        }
        sum[test->n] += weight * of_n(x)[j];
    }
    if (test->n > 0) {
        return explain_might_give(test, sum);
    }
    double lse = (is_of_bases(a) ? unit_of(a) * largest_lse(x, a) : m) + log(sum[0]);
    return fabs(lse - look->lse) <= 1e-3 * fmax(1.0, fabs(look->lse));
}

/* ---- What is tried ---- */

static void try_merge(struct explain *x, struct look *look, const int *a, int rank) {
    static const char *const words[] = {
        "had been added up, each divided by its own sum, and not weighted by exp(its log-sum-exp - "
        "the largest)",
        "had been added up without weighting their sums of weighted values by exp(its maximum - "
        "the largest), where the sums of weights are",
        "had been added up as they are: neither sum is weighted by exp(its maximum - the largest)",
        "had been weighted by exp(its maximum), not by exp(its log-sum-exp): a part that is "
        "divided by its sum of weights n keeps m + log(n), not m",
        "had been merged without weighting their sums of weights by exp(its maximum - the "
        "largest), where the sums of weighted values are",
        "had been weighted, and then divided by how many there are, not by the sum of the weights",
        "had been averaged, each counting the same, also in lse",
        "had been merged by log-sum-exps in nats as if these were in bits, by powers of 2: what "
        "is kept and what is taken are of two bases",
        "had been merged by log-sum-exps in bits as if these were in nats, by powers of e: what "
        "is kept and what is taken are of two bases",
        "had been merged by maxima that were rounded to binary16 when they were kept: the sums "
        "belong to the unrounded ones",
        "had been merged by maxima, times log2(e), that were rounded to binary16 when they were "
        "kept: the sums belong to the unrounded ones",
        "had been merged by maxima that were rounded to bfloat16 when they were kept: the sums "
        "belong to the unrounded ones",
        "had been merged by maxima, times log2(e), that were rounded to bfloat16 when they were "
        "kept: the sums belong to the unrounded ones",
        "had been merged with the first part twice",
        "had been merged with the last part twice",
        "had been merged without the first part",
        "had been merged without the last part",
        "overlapped by a key: the first one of each part but the first counts twice",
        "overlapped by a key: the last one of each part but the last counts twice",
        "had a gap of a key: the first one of each part but the first is missing",
        "had a gap of a key: the last one of each part but the last is missing",
        "had each gone on with the sum of weights of the one before: it is not begun anew",
        "had each gone on with the sum of weighted values of the one before: it is not begun anew",
        "had each gone on with both sums of the one before: they are not begun anew"};
    char parts[120];
    if (might(x, look, a)) {
        name_parts(a, parts, sizeof parts);
        explain_try(x, merge_wrongly, a, rank + (a[2] >= FIRST_TWICE),
                    "as if the results of %s %s (MERGE-4)", parts, words[a[2]]);
        look->has_scores = 0;
    }
}

static void try_merges(struct explain *x, struct look *look, int parts, int tile, int rank) {
    int last = tile == 1 ? LAST_MISSING : BOTH_CARRIED; /* a key is no border of parts of a key */
    for (int done = ADDED_DIVIDED; done <= last; done++) {
        const int a[EXPLAIN_NUMBERS] = {parts, tile, done};
        try_merge(x, look, a, rank);
    }
}

static void try_rescaling(struct explain *x, struct look *look, int parts, int tile, int rank) {
    char words[120];
    for (int behind = 1; behind <= MOST_TILES && behind * tile < x->n && x->n <= LONG; behind++) {
        for (int done = N_NOT_RESCALED; done <= O_NOT_RESCALED; done++) {
            const int a[EXPLAIN_NUMBERS] = {parts, tile, done, behind};
            if ((parts % 8 == WHOLE && behind == 1) || !might(x, look, a)) {
                continue;
            }
            const char *sum = done == N_NOT_RESCALED ? "weights" : "weighted values";
            name_parts(a, words, sizeof words);
            if (behind == 1) {
                explain_try(x, merge_wrongly, a, rank + behind,
                            "as if the sum of %s had not been rescaled when the maximum grew "
                            "(MERGE-4), in tiles of %d keys within each part: %s",
                            sum, tile, words);
                look->has_scores = 0;
                continue;
            }
            explain_try(x, merge_wrongly, a, rank + behind,
                        "as if the sum of %s had been rescaled when the maximum grew in the first "
                        "%d tiles of %d keys of %s%s, and not behind them (MERGE-4)",
                        sum, behind, tile, parts % 8 == WHOLE ? "" : "each part: ", words);
            look->has_scores = 0;
        }
    }
}

static void try_lazily(struct explain *x, struct look *look, int parts, int tile) {
    char words[120];
    for (int room = 0; room < ROOMS && tile < x->n && x->n <= LONG; room++) {
        const int a[EXPLAIN_NUMBERS] = {parts, tile, LAZILY, room};
        if (might(x, look, a)) {
            name_parts(a, words, sizeof words);
            explain_try(
                x, merge_wrongly, a, 47,
                "as if weights had been taken against the largest score so far, in tiles of "
                "%d %s, and the sums rescaled only where it had grown by more than %s, so "
                "that they belong to another maximum until then: %s%s (MERGE-4)",
                tile, tile == 1 ? "key" : "keys", rooms[room].words,
                parts % 8 == WHOLE ? "" : "each part, ", words);
            look->has_scores = 0;
        }
    }
}

void explain_try_splits(struct explain *x) {
    struct look look;
    if (x->n == 0 || x->n > LONGEST || x->work < KEPT) {
        return;
    }
    look_at(x, &look);
    if (look.test.n == 0 && isnan(look.lse)) {
        return;
    }
    for (int parts = CHUNKS; parts <= HALVES; parts++) {
        try_merges(x, &look, parts, 0, 45);
    }
    for (int tile = 1; tile <= MOST_TILE; tile *= 2) {
        if (tile > 1) {
            try_merges(x, &look, TILES, tile, 46);
        }
        try_merges(x, &look, HALVES_OF_TILES, tile, 48);
        try_rescaling(x, &look, WHOLE, tile, 48);
        try_lazily(x, &look, WHOLE, tile);
        try_lazily(x, &look, HALVES_OF_TILES, tile);
        try_rescaling(x, &look, HALVES_OF_TILES, tile, 58);
    }
    for (int splits = 2; splits <= MOST_SPLITS; splits *= 2) {
        for (int tile = 1; tile <= MOST_TILE / 2; tile *= 2) {
            try_merges(x, &look, SPLITS + 8 * splits, tile, 50);
            try_lazily(x, &look, SPLITS + 8 * splits, tile);
            if (tile >= 8) {
                try_rescaling(x, &look, SPLITS + 8 * splits, tile, 58);
            }
        }
    }
}
