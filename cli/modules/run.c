/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/interrupt.h"
#include "cli/base/text.h"
#include "cli/modules/events.h"

/* What all prompts use. */
struct server {
    const struct modules_settings *settings;
    const struct modules_items *items;
    struct modules_drawing *drawing;
    struct modules_cache cache;
    int *batch_of; /* [n items]: the last batch that took it, counted from 1 */
    struct modules_run *run;
};

/* ---- One prompt ---- */

static void count(struct modules_counts *counts, int tokens) {
    counts->items++;
    counts->tokens += tokens;
}

/* The prompt takes an item. */
static void take(struct server *server, int item, struct modules_work *work) {
    int is_first = work->tokens == 0;
    const struct modules_item *it = &server->items->item[item];
    struct modules_run *run = server->run;
    struct modules_taken taken = modules_cache_take(&server->cache, item);
    count(&run->from[taken.from], it->tokens);
    run->to_host += taken.to_host;
    for (int i = 0; i < taken.n_gone; i++) {
        run->left[taken.gone[i].tier]++;
    }
    work->tokens += it->tokens;
    if (taken.from == MODULES_NOWHERE) {
        work->computed += it->tokens;
        work->pairs += it->pairs;
    } else {
        work->cached += it->tokens;
    }
    if (taken.from == MODULES_CPU) {
        work->copied += it->tokens;
    }
    if (!taken.is_in_gpu && !taken.is_in_cpu) {
        count(&run->unkept, it->tokens);
    }
    if (server->batch_of[item] != run->batches + 1) {
        server->batch_of[item] = run->batches + 1;
        run->shared.sum += it->tokens;
    }
    modules_event_take(server->settings->events, is_first, item, &taken);
}

/* The item of a module that the prompt imports, or -1. */
static int item_of(const struct server *server, int module) {
    const struct modules_drawing *drawing = server->drawing;
    const struct pml_prompt prompt = {.schema = drawing->schema, .imported = drawing->imported};
    int scaffold = drawing->schema->n_scaffolds > 0 ? pml_mask_scaffold(&prompt, module) : -1;
    return modules_item_find(server->items, module, scaffold);
}

/* Tokens that the prompt adds, behind `before` others, all of which they see (MOD-3). */
static void add_new(struct modules_work *work, long long before, long long n) {
    work->tokens += n;
    work->computed += n;
    work->pairs += n * before + n * (n + 1) / 2;
}

/* Arguments stand between the texts, new text behind all of them. */
static long long add_arguments(const struct server *server, struct modules_work *work) {
    const struct modules_drawing *drawing = server->drawing;
    const struct pml_schema *s = drawing->schema;
    long long before = 0, arguments = 0;
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_TEXT && drawing->imported[s->part[x].parent]) {
            before += s->part[x].size;
        } else if (s->part[x].kind == CP_PART_PARAM) {
            add_new(work, before, drawing->argument[x]);
            before += drawing->argument[x];
            arguments += drawing->argument[x];
        }
    }
    add_new(work, before, server->settings->new);
    return arguments;
}

static void add_time(struct modules_time *sum, const struct modules_time *time) {
    sum->linear += time->linear;
    sum->attention += time->attention;
    sum->reading += time->reading;
    sum->copying += time->copying;
    sum->joining += time->joining;
}

/* All of the prompt in one causal pass, without a cache. */
static struct modules_work full_work(const struct modules_work *work) {
    long long n = work->tokens;
    return (struct modules_work){.tokens = n, .computed = n, .pairs = n * (n + 1) / 2};
}

static void do_prompt(struct server *server) {
    const struct modules_settings *settings = server->settings;
    struct modules_run *run = server->run;
    struct modules_drawing *drawing = server->drawing;
    struct modules_work work = {0};
    modules_draw(drawing);
    modules_event_prompt(settings->events, run->prompts, run->batches);
    for (int x = 0; x < drawing->schema->n_parts; x++) {
        int is_imported = drawing->schema->part[x].kind == CP_PART_MODULE && drawing->imported[x];
        int item = is_imported ? item_of(server, x) : -1;
        if (item >= 0) {
            take(server, item, &work);
        }
    }
    long long arguments = add_arguments(server, &work);
    struct modules_work full = full_work(&work);
    struct modules_time cached_time =
        modules_machine_time(&settings->machine, &settings->model, &work);
    struct modules_time full_time =
        modules_machine_time(&settings->machine, &settings->model, &full);
    run->dropped += drawing->dropped;
    run->arguments += arguments;
    run->own.sum += work.tokens;
    run->shared.sum += arguments + settings->new;
    add_time(&run->cached, &cached_time);
    add_time(&run->full, &full_time);
    run->cached_ns[run->prompts] = cached_time.ns;
    run->full_ns[run->prompts++] = full_time.ns;
    modules_event_end(settings->events, drawing, arguments, &work, cached_time.ns, full_time.ns);
}

/* ---- All of them ---- */

static void do_batch(struct server *server) {
    struct modules_run *run = server->run;
    long long own = run->own.sum, shared = run->shared.sum;
    int left = server->settings->prompts - run->prompts;
    for (int i = 0; i < server->settings->batch && i < left; i++) {
        do_prompt(server);
    }
    run->batches++;
    own = run->own.sum - own;
    shared = run->shared.sum - shared;
    run->own.most = own > run->own.most ? own : run->own.most;
    run->shared.most = shared > run->shared.most ? shared : run->shared.most;
    run->is_broken = !modules_cache_check(&server->cache);
    modules_cache_release(&server->cache);
}

void modules_simulate(struct modules_run *run, const struct modules_settings *settings,
                      const struct modules_items *items, struct modules_drawing *drawing) {
    size_t n = (size_t)settings->prompts;
    struct server server = {settings, items, drawing, .run = run};
    *run = (struct modules_run){0};
    run->cached_ns = cli_allocate(NULL, n, sizeof *run->cached_ns);
    run->full_ns = cli_allocate(NULL, n, sizeof *run->full_ns);
    server.batch_of = cli_allocate(NULL, (size_t)items->n + 1, sizeof *server.batch_of);
    memset(server.batch_of, 0, ((size_t)items->n + 1) * sizeof *server.batch_of);
    modules_cache_new(&server.cache, items->n, settings->capacity);
    for (int i = 0; i < items->n; i++) {
        modules_cache_size(&server.cache, i, items->item[i].tokens);
        modules_event_item(settings->events, items, i);
    }
    while (run->prompts < settings->prompts && !interrupted && !run->is_broken) {
        do_batch(&server);
    }
    for (int t = 0; t < MODULES_TIERS; t++) {
        run->peak[t] = server.cache.tier[t].peak;
    }
    modules_cache_free(&server.cache);
    free(server.batch_of);
}

void modules_run_free(struct modules_run *run) {
    free(run->cached_ns);
    free(run->full_ns);
    *run = (struct modules_run){0};
}
