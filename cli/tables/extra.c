/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections show beside the published cells: KV bytes of all known models, memory
 * operations over the loads of ACL Table 3, capacity over the loads of ACL Table 4, and the user's
 * own case. */
#include "cli/tables/tables.h"

#include <math.h>

#define CHUNK_SIZE 64 /* the papers' c, and their completion length below */
#define COMPLETION 512

static const int batch_sizes[] = {1, 2, 8, 32, 128};
static const int prompt_sizes[] = {1024, 2048, 4096}; /* all of it shared */
#define N_BATCHES 5
#define N_PROMPTS 3

const char *cp_case_check(const struct cp_case *c) {
    if (c->dims.heads % c->dims.kv_heads != 0) {
        return "--heads must be a multiple of --kv-heads";
    }
    if (c->shared > c->prompt) {
        return "--shared must not exceed --prompt";
    }
    return NULL;
}

static struct cp_kernel_shape kernel_shape(int i) {
    return (struct cp_kernel_shape){.b = 32,
                                    .h = 32,
                                    .d = 128,
                                    .c = CHUNK_SIZE,
                                    .n = cp_kernel_loads[i][0],
                                    .n_shared = cp_kernel_loads[i][1]};
}

static void print_kernels(FILE *file) {
    fprintf(file,
            "\nMillions of numbers read and written by one decoding step at b 32, h 32, d 128, "
            "c 64\n%8s%8s%12s%12s%12s%12s%14s\n",
            "n", "shared", "naive (4)", "(3) line 1", "(3) line 2", "exact", "naive/exact");
    for (int i = 0; i < cp_n_kernel_loads; i++) {
        struct cp_kernel_shape s = kernel_shape(i);
        fprintf(file, "%8.0f%8.0f%12.3f%12.3f%12.3f%12.3f%14.2f\n", s.n, s.n_shared,
                cp_mops_naive(&s) / 1e6, cp_mops_chunk_line_1(&s) / 1e6,
                cp_mops_chunk_line_2(&s) / 1e6, cp_mops_two_phase(&s) / 1e6,
                cp_mops_naive(&s) / cp_mops_two_phase(&s));
    }
}

static json_t *kernels_json(void) {
    json_t *list = json_array();
    for (int i = 0; i < cp_n_kernel_loads; i++) {
        struct cp_kernel_shape s = kernel_shape(i);
        json_array_append_new(
            list, json_pack("{s:f,s:f,s:f,s:f,s:f,s:f}", "n", s.n, "n_shared", s.n_shared, "naive",
                            cp_mops_naive(&s), "line_1", cp_mops_chunk_line_1(&s), "line_2",
                            cp_mops_chunk_line_2(&s), "exact", cp_mops_two_phase(&s)));
    }
    return list;
}

static void print_gains(FILE *file) {
    fprintf(file,
            "\nHow many times more sequences fit where b fit unshared: (1 - r/b)/(1 - r); "
            "n_s = n_p, n_c = %d\n%8s%8s",
            COMPLETION, "n_p", "r");
    for (int j = 0; j < N_BATCHES; j++) {
        fprintf(file, "     b %-4d", batch_sizes[j]);
    }
    fprintf(file, "%12s\n", "1/(1 - r)");
    for (int i = 0; i < N_PROMPTS; i++) {
        double n = prompt_sizes[i] + COMPLETION;
        fprintf(file, "%8d%8.4f", prompt_sizes[i], prompt_sizes[i] / n);
        for (int j = 0; j < N_BATCHES; j++) {
            fprintf(file, "%11.4f", cp_capacity_gain(batch_sizes[j], n, prompt_sizes[i]));
        }
        fprintf(file, "%12.4f\n", cp_capacity_gain_limit(n, prompt_sizes[i]));
    }
}

static json_t *gains_json(void) {
    json_t *list = json_array();
    for (int i = 0; i < N_PROMPTS; i++) {
        for (int j = 0; j < N_BATCHES; j++) {
            double n = prompt_sizes[i] + COMPLETION;
            json_array_append_new(
                list, json_pack("{s:i,s:f,s:f,s:i,s:f,s:f}", "n_shared", prompt_sizes[i], "n", n,
                                "r", prompt_sizes[i] / n, "batch", batch_sizes[j], "gain",
                                cp_capacity_gain(batch_sizes[j], n, prompt_sizes[i]), "gain_limit",
                                cp_capacity_gain_limit(n, prompt_sizes[i])));
        }
    }
    return list;
}

static void print_model(FILE *file, const struct cp_dims *m) {
    double bytes = cp_kv_bytes(m);
    fprintf(file, "%-13s%7d%7d%10d%10d%6d%12.0f%9.4f%9.4f%15.4f\n", m->title, m->layers, m->heads,
            m->kv_heads, m->head_dim, m->number_bytes, bytes, bytes / 1e6, bytes / CP_MIB,
            cp_kv_bytes_all_heads(m) / CP_MIB);
}

static void print_models(FILE *file, const struct cp_case *c) {
    fprintf(file,
            "\nKV of one token; all heads: if every query head had a KV head of its own\n"
            "%-13s%7s%7s%10s%10s%6s%12s%9s%9s%15s\n",
            "model", "layers", "heads", "KV heads", "head dim", "bytes", "KV bytes", "MB", "MiB",
            "all heads MiB");
    for (int i = 0; cp_dims_at(i) != NULL; i++) {
        print_model(file, cp_dims_at(i));
    }
    if (c->is_custom) {
        print_model(file, &c->dims);
    }
}

static json_t *model_json(const struct cp_dims *m) {
    return json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:f,s:f,s:f}", "model", m->name, "layers", m->layers,
                     "heads", m->heads, "kv_heads", m->kv_heads, "head_dim", m->head_dim,
                     "number_bytes", m->number_bytes, "kv_bytes", cp_kv_bytes(m), "kv_mib",
                     cp_kv_bytes(m) / CP_MIB, "kv_mib_all_heads",
                     cp_kv_bytes_all_heads(m) / CP_MIB);
}

static json_t *models_json(const struct cp_case *c) {
    json_t *list = json_array();
    for (int i = 0; cp_dims_at(i) != NULL; i++) {
        json_array_append_new(list, model_json(cp_dims_at(i)));
    }
    if (c->is_custom) {
        json_array_append_new(list, model_json(&c->dims));
    }
    return list;
}

static struct cp_capacity case_capacity(const struct cp_case *c) {
    return cp_capacity_in_chunks(c->batch, (long long)c->prompt + c->completion, c->shared,
                                 c->chunk_size);
}

static void print_case(FILE *file, const struct cp_case *c) {
    double n = (double)c->prompt + c->completion;
    double chunk_gib = c->chunk_size * cp_kv_bytes(&c->dims) / CP_GIB;
    struct cp_capacity k = case_capacity(c);
    fprintf(file, "\nYour case: %s, b %d, n_p %d, n_s %d, n_c %d, c %d\n", c->dims.title, c->batch,
            c->prompt, c->shared, c->completion, c->chunk_size);
    fprintf(file, "  sharing ratio r                  %.6f\n", c->shared / n);
    fprintf(file, "  1/(1 - r)                        %.4f\n",
            cp_capacity_gain_limit(n, c->shared));
    fprintf(file, "  exact gain (1 - r/b)/(1 - r)     %.4f\n",
            cp_capacity_gain(c->batch, n, c->shared));
    fprintf(file, "  chunks without, with sharing     %lld, %lld (%.3f, %.3f GiB)\n",
            k.chunks_unshared, k.chunks_shared, chunk_gib * (double)k.chunks_unshared,
            chunk_gib * (double)k.chunks_shared);
    if (k.fits < 0) {
        fprintf(file, "  sequences in the former          any number: everything is shared\n");
    } else {
        fprintf(file, "  sequences in the former          %lld\n", k.fits);
    }
    fprintf(file, "  shared tokens stored again       %lld\n", k.stored_again);
    fprintf(file, "  unused slots in last chunks      %lld\n", k.padding);
}

/* JSON has no infinity: null where any number of sequences fits. */
static json_t *finite(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *case_json(const struct cp_case *c) {
    double n = (double)c->prompt + c->completion;
    struct cp_capacity k = case_capacity(c);
    return json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:f,s:o,s:o,s:I,s:I,s:o,s:I,s:I,s:f}", "model",
                     c->dims.name, "batch", c->batch, "n_prompt", c->prompt, "n_shared", c->shared,
                     "n_completion", c->completion, "chunk_size", c->chunk_size, "r", c->shared / n,
                     "gain_limit", finite(cp_capacity_gain_limit(n, c->shared)), "gain",
                     finite(cp_capacity_gain(c->batch, n, c->shared)), "chunks_unshared",
                     (json_int_t)k.chunks_unshared, "chunks_shared", (json_int_t)k.chunks_shared,
                     "fits", k.fits < 0 ? json_null() : json_integer(k.fits), "stored_again",
                     (json_int_t)k.stored_again, "padding", (json_int_t)k.padding, "chunk_bytes",
                     c->chunk_size * cp_kv_bytes(&c->dims));
}

void cp_extra_print_text(FILE *file, int section, const struct cp_case *c) {
    if (section == CP_SECTION_KERNEL_MOPS) {
        print_kernels(file);
    }
    if (section == CP_SECTION_KV_BYTES) {
        print_models(file, c);
    }
    if (section == CP_SECTION_CAPACITY) {
        print_gains(file);
        if (c->has_load || c->has_model) {
            print_case(file, c);
        }
    }
    if (section == CP_SECTION_PROMPT_CACHE) {
        cp_prompt_cache_print_text(file);
    }
    fprintf(file, "\n");
}

json_t *cp_extra_json(int section, const struct cp_case *c) {
    if (section == CP_SECTION_KERNEL_MOPS) {
        return json_pack("{s:o}", "kernels", kernels_json());
    }
    if (section == CP_SECTION_KV_BYTES) {
        return json_pack("{s:o}", "models", models_json(c));
    }
    if (section == CP_SECTION_CAPACITY && (c->has_load || c->has_model)) {
        return json_pack("{s:o,s:o}", "gains", gains_json(), "case", case_json(c));
    }
    if (section == CP_SECTION_CAPACITY) {
        return json_pack("{s:o}", "gains", gains_json());
    }
    return section == CP_SECTION_PROMPT_CACHE ? cp_prompt_cache_json() : json_object();
}
