/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a fast decoder: all that its runs need. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "opt/decoder_internal.h"

/* NULL: there is not so much, or it cannot be counted. */
static void *array(int rows, int columns, size_t size) {
    size_t n = (size_t)rows * (size_t)columns;
    return n == 0 ? malloc(1) : n > PTRDIFF_MAX / size ? NULL : malloc(n * size);
}

static float *numbers(int rows, int columns) {
    return array(rows, columns, sizeof(float));
}

static int largest(int a, int b) {
    return a > b ? a : b;
}

static int make_rows(struct cp_opt_decoder *f) {
    const struct cp_decoder_shape *s = &f->decoder->shape;
    int n = f->most_new, heads = s->n_heads * s->d_head, kv = s->n_kv_heads * s->d_head;
    int widest = largest(largest(s->d_model, heads), s->d_hidden);
    size_t room = cp_opt_project_room(n, widest);
    f->x = numbers(n, s->d_model);
    f->y = numbers(n, s->d_model);
    f->q = numbers(n, heads);
    f->out = numbers(n, heads);
    f->k = numbers(n, kv);
    f->v = numbers(n, kv);
    f->up = numbers(n, s->d_hidden);
    f->gate = numbers(n, s->d_hidden);
    f->cosine = numbers(n, s->n_pairs);
    f->sine = numbers(n, s->n_pairs);
    f->room = room > PTRDIFF_MAX / sizeof(float) ? NULL : malloc(room * sizeof(float));
    return f->x != NULL && f->y != NULL && f->q != NULL && f->out != NULL && f->k != NULL &&
           f->v != NULL && f->up != NULL && f->gate != NULL && f->cosine != NULL &&
           f->sine != NULL && f->room != NULL;
}

static int make_rest(struct cp_opt_decoder *f) {
    const struct cp_decoder_shape *s = &f->decoder->shape;
    f->angle = array(2, s->n_pairs, sizeof *f->angle);
    f->moved = numbers(f->capacity, s->d_head);
    f->slot_of_old = array(1, f->capacity, sizeof(int));
    f->behind = array(1, f->capacity, sizeof(int));
    f->slot_of_new = array(1, f->most_new, sizeof(int));
    if (f->angle == NULL || f->moved == NULL || f->slot_of_old == NULL || f->behind == NULL ||
        f->slot_of_new == NULL || cp_plan_new(&f->plan) != CP_OK) {
        return 0;
    }
    f->plan->capacity = f->capacity / f->chunk_size;
    f->plan->chunk_size = f->chunk_size;
    f->plan->n_sequences = f->plan->n_served = 1;
    for (int chunk = 0; chunk < f->plan->capacity; chunk++) {
        f->plan->sequence[0].run[chunk] =
            (struct cp_run){chunk, f->chunk_size, chunk * f->chunk_size};
    }
    f->workspace_size = cp_opt_decoder_attention_size(f);
    f->workspace = f->workspace_size > 0 ? malloc(f->workspace_size) : NULL;
    return f->workspace != NULL;
}

int cp_opt_decoder_new(struct cp_opt_decoder **fast, struct cp_opt *opt,
                       const struct cp_decoder *decoder, int most_new, int chunk_size,
                       int capacity) {
    int layer;
    if (fast == NULL) {
        return CP_ERROR_ARGUMENT;
    }
    *fast = NULL;
    if (opt == NULL || decoder == NULL || most_new < 1 || most_new > capacity) {
        return CP_ERROR_ARGUMENT;
    }
    if (cp_decoder_check(decoder, &layer) != NULL ||
        cp_opt_cache_numbers(&decoder->shape, chunk_size, capacity) == 0) {
        return CP_ERROR_SHAPE;
    }
    if (decoder->shape.positions == CP_POSITIONS_ALIBI ||
        fabs(decoder->shape.scale) > (double)FLT_MAX) {
        return CP_ERROR_UNSUPPORTED;
    }
    struct cp_opt_decoder *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    made->opt = opt;
    made->decoder = decoder;
    made->most_new = most_new;
    made->chunk_size = chunk_size;
    made->capacity = capacity;
    if (!make_rows(made) || !make_rest(made)) {
        cp_opt_decoder_free(made);
        return CP_ERROR_NO_MEMORY;
    }
    *fast = made;
    return CP_OK;
}

void cp_opt_decoder_free(struct cp_opt_decoder *fast) {
    if (fast == NULL) {
        return;
    }
    if (fast->plan != NULL) {
        cp_plan_free(fast->plan);
    }
    float *const rows[] = {fast->x,  fast->y,    fast->q,      fast->out,  fast->k,    fast->v,
                           fast->up, fast->gate, fast->cosine, fast->sine, fast->room, fast->moved};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        free(rows[i]);
    }
    free(fast->angle);
    free(fast->slot_of_old);
    free(fast->behind);
    free(fast->slot_of_new);
    free(fast->workspace);
    free(fast);
}
