/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of ref/ for drift.ml: one tree, one plan that follows it, and one plan for
 * whatever is to be checked. Numbers come and go in arrays; reference.ml says what they mean. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

#include "chunkproof/attend.h"
#include "chunkproof/limits.h"
#include "chunkproof/plan.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/tree.h"

#define MAX_TOKENS (CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE + CP_MAX_CHUNK_SIZE)

static struct cp_tree tree;
static struct cp_plan plan, judged;
static int tokens[MAX_TOKENS];
static int sequences[MAX_TOKENS];
static unsigned long long hashes[MAX_TOKENS];

/* How many numbers of an OCaml array came to `to`. */
static int numbers_of(value array, int *to) {
    size_t n = Wosize_val(array);
    if (n > MAX_TOKENS) {
        caml_failwith("stubs.c: too many numbers");
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = Int_val(Field(array, i));
    }
    return (int)n;
}

static value array_of(int n, const long long *number) {
    value array = n == 0 ? Atom(0) : caml_alloc((mlsize_t)n, 0);
    for (int i = 0; i < n; i++) {
        Store_field(array, i, Val_long(number[i]));
    }
    return array;
}

value x_limits(value unit) {
    (void)unit;
    return array_of(
        4, (long long[]){CP_MAX_CHUNKS, CP_MAX_SEQUENCES, CP_MAX_DEPTH, CP_MAX_CHUNK_SIZE});
}

value x_open(value capacity, value chunk_size, value hash_bits) {
    cp_tree_init(&tree, Int_val(capacity), Int_val(chunk_size), Int_val(hash_bits), 1);
    memset(&plan, 0, sizeof plan);
    return Val_unit;
}

value x_lookup(value array, value salt, value hashed) {
    int n = numbers_of(array, tokens);
    cp_tree_hash_prompt(&tree, tokens, n, hashes);
    struct cp_match match = cp_tree_lookup(&tree, tokens, n, (unsigned long long)Long_val(salt),
                                           Bool_val(hashed) ? hashes : NULL);
    return array_of(3, (long long[]){match.n_chunks, match.n_tokens, match.sequence});
}

value x_join(value array, value salt, value id, value hashed) {
    struct cp_joined joined = {-1, -1};
    int n = numbers_of(array, tokens);
    cp_tree_hash_prompt(&tree, tokens, n, hashes);
    int status = cp_tree_join(&tree, tokens, n, (unsigned long long)Long_val(salt), Long_val(id),
                              Bool_val(hashed) ? hashes : NULL, &joined);
    return array_of(3, (long long[]){status, joined.sequence, joined.n_shared});
}

value x_append(value to, value array) {
    int n = numbers_of(to, sequences);
    (void)numbers_of(array, tokens);
    return Val_int(cp_tree_append_each(&tree, n, sequences, tokens));
}

value x_leave(value sequence) {
    return Val_int(cp_tree_leave(&tree, Int_val(sequence)));
}

value x_fork(value sequence, value id) {
    struct cp_forked forked = {-1, -1, -1};
    int status = cp_tree_fork(&tree, Int_val(sequence), Long_val(id), &forked);
    return array_of(4, (long long[]){status, forked.sequence, forked.copy_from, forked.copy_to});
}

value x_tree_valid(value unit) {
    (void)unit;
    return Val_bool(cp_tree_is_valid(&tree));
}

value x_tree(value unit) {
    (void)unit;
    return array_of(4, (long long[]){tree.n_sequences, tree.pool.n_free,
                                     (long long)tree.stamp.epoch, (long long)tree.stamp.step});
}

value x_sequence(value s) {
    long long number[2 + CP_MAX_DEPTH];
    const struct cp_sequence *sequence = &tree.sequence[Int_val(s)];
    number[0] = sequence->id;
    number[1] = (long long)sequence->salt;
    for (int k = 0; k < sequence->n_chunks; k++) {
        number[2 + k] = sequence->chunk[k];
    }
    return array_of(2 + sequence->n_chunks, number);
}

value x_chunk(value chunk) {
    long long number[4 + CP_MAX_CHUNK_SIZE];
    int x = Int_val(chunk);
    number[0] = tree.begin[x];
    number[1] = tree.end[x];
    number[2] = tree.depth[x];
    number[3] = tree.fill[x];
    for (int i = 0; i < tree.fill[x]; i++) {
        number[4 + i] = tree.tokens[x].token[i];
    }
    return array_of(4 + tree.fill[x], number);
}

value x_plan_update(value anew) {
    if (Bool_val(anew)) {
        cp_plan_build(&plan, &tree);
        return Val_int(1);
    }
    return Val_int(cp_plan_update(&plan, &tree));
}

value x_plan(value unit) {
    (void)unit;
    return array_of(5, (long long[]){plan.capacity, plan.chunk_size, plan.n_sequences,
                                     plan.n_shared, cp_plan_is_valid(&plan)});
}

value x_plan_shared(value i) {
    const struct cp_shared_chunk *shared = &plan.shared[Int_val(i)];
    return array_of(5, (long long[]){shared->chunk, shared->begin, shared->end, shared->n_tokens,
                                     shared->position});
}

value x_plan_sequence(value s) {
    long long number[3 + CP_MAX_DEPTH];
    const struct cp_plan_sequence *sequence = &plan.sequence[Int_val(s)];
    number[0] = sequence->n_tokens;
    number[1] = sequence->n_chunks;
    number[2] = sequence->n_shared;
    for (int k = 0; k < sequence->n_chunks; k++) {
        number[3 + k] = sequence->run[k].chunk;
    }
    return array_of(3 + sequence->n_chunks, number);
}

/* Run k of a sequence as its length says (PLAN-7), whatever that is: the model knows of chunks. */
static struct cp_run run_of(const struct cp_plan_sequence *sequence, int k, int chunk) {
    long long position = (long long)k * judged.chunk_size;
    long long left = sequence->n_tokens - position;
    int full = k + 1 < sequence->n_chunks;
    return (struct cp_run){chunk, full ? judged.chunk_size : (int)left, (int)position};
}

/* Arrays as x_plan, x_plan_shared and x_plan_sequence give them, changed in whatever way. */
value x_plan_check(value header, value shared, value sequence) {
    int n[5 + CP_MAX_DEPTH];
    memset(&judged, 0, sizeof judged);
    (void)numbers_of(header, n);
    judged.capacity = n[0];
    judged.chunk_size = n[1];
    judged.n_sequences = judged.n_served = n[2];
    for (int s = 0; s < judged.n_served && s < CP_MAX_SERVED; s++) {
        judged.served[s] = s; /* PLAN-1: the model knows of ranges */
    }
    judged.n_shared = n[3];
    for (int i = 0; i < judged.n_shared; i++) {
        (void)numbers_of(Field(shared, i), n);
        judged.shared[i] = (struct cp_shared_chunk){n[0], n[1], n[2], n[3], n[4]};
    }
    for (int s = 0; s < judged.n_sequences; s++) {
        struct cp_plan_sequence *to = &judged.sequence[s];
        (void)numbers_of(Field(sequence, s), n);
        to->n_tokens = n[0];
        to->n_chunks = n[1];
        to->n_shared = n[2];
        for (int k = 0; k < (int)Wosize_val(Field(sequence, s)) - 3; k++) {
            to->run[k] = run_of(to, k, n[3 + k]);
        }
    }
    return Val_bool(cp_plan_is_valid(&judged));
}

/* Is there no room for these arrays, or for a run of the sequence? */
static void must_fit(int fits) {
    if (!fits) {
        caml_failwith("stubs.c: a plan that is too large");
    }
}

/* As lists.ml has them. A sequence has as many tokens as its runs: the model does not count. */
static void judge_runs(struct cp_plan_sequence *to, const int *n, int size) {
    to->n_shared = n[0];
    to->n_chunks = (size - 1) / 3;
    must_fit(to->n_chunks <= CP_MAX_DEPTH);
    for (int k = 0; k < to->n_chunks; k++) {
        to->run[k] = (struct cp_run){n[1 + 3 * k], n[2 + 3 * k], n[3 + 3 * k]};
        to->n_tokens += to->run[k].n_tokens;
    }
}

value x_runs_check(value header, value served, value shared, value sequence) {
    int n[MAX_TOKENS];
    memset(&judged, 0, sizeof judged);
    (void)numbers_of(header, n);
    judged.capacity = n[0];
    judged.chunk_size = n[1];
    must_fit(Wosize_val(served) <= CP_MAX_SERVED && Wosize_val(shared) <= CP_MAX_CHUNKS &&
             Wosize_val(sequence) <= CP_MAX_SEQUENCES);
    judged.n_served = numbers_of(served, judged.served);
    judged.n_shared = (int)Wosize_val(shared);
    for (int i = 0; i < judged.n_shared; i++) {
        (void)numbers_of(Field(shared, i), n);
        judged.shared[i] = (struct cp_shared_chunk){n[0], n[1], n[2], n[3], n[4]};
    }
    judged.n_sequences = (int)Wosize_val(sequence);
    for (int s = 0; s < judged.n_sequences; s++) {
        int size = numbers_of(Field(sequence, s), n);
        judge_runs(&judged.sequence[s], n, size);
    }
    return Val_bool(cp_plan_check_runs(&judged) == NULL);
}

/* The numbers of an OCaml array in one of the formats of number.h; the array has them then as
 * rounded. The caller frees the result. */
static void *stored(value array, int type) {
    size_t n = Wosize_val(array) / Double_wosize;
    void *to = calloc(n + 1, cp_number_size(type));
    if (to == NULL) {
        caml_raise_out_of_memory();
    }
    for (size_t i = 0; i < n; i++) {
        cp_number_store(to, type, i, Double_flat_field(array, i));
        Store_double_flat_field(array, i, cp_number_load(to, type, i));
    }
    return to;
}

/* header: h, h_kv, d, type of q, type of k and v, variant, d_v, v_row; qkv: scale, q, k, v. The
 * result: out, as doubles, and behind it lse. */
value x_attend(value header, value query_begin, value scale, value qkv) {
    CAMLparam4(header, query_begin, scale, qkv);
    CAMLlocal1(result);
    int n[8], begin[CP_MAX_SEQUENCES + 1];
    (void)numbers_of(header, n);
    int n_begin = numbers_of(query_begin, begin);
    struct cp_attention attention = {.plan = &plan,
                                     .stamp = tree.stamp,
                                     .n_heads = n[0],
                                     .n_kv_heads = n[1],
                                     .head_dim = n[2],
                                     .value_dim = n[6],
                                     .v_row = n[7],
                                     .scale = Double_val(scale),
                                     .query_begin = n_begin == 0 ? NULL : begin,
                                     .q_type = n[3],
                                     .k_type = n[4],
                                     .v_type = n[4],
                                     .out_type = CP_FP64,
                                     .variant = n[5]};
    int rows = n_begin == 0 ? plan.n_sequences : begin[n_begin - 1];
    size_t n_lse = (size_t)rows * (size_t)n[0];
    size_t n_out = n_lse * (size_t)n[6];
    void *q = stored(Field(qkv, 0), n[3]);
    void *k = stored(Field(qkv, 1), n[4]);
    void *v = stored(Field(qkv, 2), n[4]);
    double *out = calloc(n_out + n_lse + 1, sizeof *out);
    attention.q = q;
    attention.k = k;
    attention.v = v;
    attention.out = out;
    attention.lse = out + n_out;
    attention.workspace_size = cp_attend_workspace(&attention);
    attention.workspace = malloc(attention.workspace_size);
    int status = cp_attend(&attention);
    result = caml_alloc_float_array(n_out + n_lse);
    for (size_t i = 0; i < n_out + n_lse; i++) {
        Store_double_flat_field(result, i, out[i]);
    }
    free(q);
    free(k);
    free(v);
    free(out);
    free(attention.workspace);
    if (status != CP_OK) {
        caml_failwith(cp_status_text(status));
    }
    CAMLreturn(result);
}

/* A copy of the numbers of an OCaml array, which the caller frees. */
static double *doubles_of(value array) {
    size_t n = Wosize_val(array) / Double_wosize;
    double *to = calloc(n + 1, sizeof *to);
    if (to == NULL) {
        caml_raise_out_of_memory();
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = Double_flat_field(array, i);
    }
    return to;
}

/* fields: as `field_names` of bound.ml; numbers: n, d and `number_names`; row: scale, q, k, v, and
 * shifts with their errors, or no number twice. The result: expected, bound, lse, lse_bound. */
value x_tolerance(value fields, value numbers, value row) {
    CAMLparam3(fields, numbers, row);
    CAMLlocal1(result);
    int n[10];
    double *f = doubles_of(fields), *q = doubles_of(Field(row, 1));
    double *k = doubles_of(Field(row, 2)), *v = doubles_of(Field(row, 3));
    double *shift = doubles_of(Field(row, 4)), *shift_error = doubles_of(Field(row, 5));
    int shifted = Wosize_val(Field(row, 4)) > 0;
    (void)numbers_of(numbers, n);
    size_t d = (size_t)n[1];
    double *out = calloc(2 * d + 2 + 3 * (size_t)n[0], sizeof *out);
    if (out == NULL) {
        caml_raise_out_of_memory();
    }
    struct cp_arithmetic class = {
        .score = {f[0], f[1], f[2], f[3], n[6], n[7], f[4], f[5], n[8]},
        .u_arg = f[6],
        .u_ref = f[7],
        .u_move = f[8],
        .eps = f[9],
        .kappa = f[10],
        .weights = {f[11], f[12], INFINITY},
        .rounded_sum = n[9],
        .u_n = f[13],
        .eta_n = f[14],
        .u_o = f[15],
        .eta_o = f[16],
        .u_part = f[17],
        .u_div = f[18],
        .eta_div = f[19],
        .output = {f[20], f[21], f[27]},
        .above = f[22],
        .below = f[23],
    };
    struct cp_counts counts = {n[2], n[3], n[4], n[5], f[24], f[25]};
    struct cp_tolerance_row of_row = {
        n[0],
        n[1],
        n[1],
        Double_val(Field(row, 0)),
        q,
        k,
        v,
        out + 2 * d + 2,
        shifted ? shift : NULL,
        shifted ? shift_error : NULL,
    };
    cp_tolerance(&class, &counts, &of_row, f[26], out, out + d, out + 2 * d, out + 2 * d + 1);
    result = caml_alloc_float_array(2 * d + 2);
    for (size_t i = 0; i < 2 * d + 2; i++) {
        Store_double_flat_field(result, i, out[i]);
    }
    free(f);
    free(q);
    free(k);
    free(v);
    free(shift);
    free(shift_error);
    free(out);
    CAMLreturn(result);
}
