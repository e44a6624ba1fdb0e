/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof simulate --modules` from the inside: machines, prompts that are drawn, and runs whose
 * figures are counted by hand (spec/caches.md). tests/modules_model.py derives whole runs again. */
#define _GNU_SOURCE /* open_memstream, fopencookie */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/interrupt.h"
#include "cli/modules/report.h"
#include "tests/pml_case.h"

/* ---- Machines ---- */

/* 10^9 of everything in a second. A token has 4 bytes, a pair 4 FLOPs, a weight 2 bytes. */
static const struct modules_machine even = {.flops_per_second = 1e9,
                                            .bytes_per_second = 1e9,
                                            .copy_bytes_per_second = 1e9,
                                            .join_bytes_per_second = 0.0};
static const struct cp_dims small = {
    .parameters = 1e6, .layers = 1, .heads = 1, .kv_heads = 1, .head_dim = 1, .number_bytes = 2};

/* CACHE-4: the clause's example. */
static void a_prompts_time_by_hand(void **unused) {
    (void)unused;
    struct modules_work work = {
        .tokens = 1010, .computed = 10, .pairs = 10055, .copied = 1000, .cached = 1000};
    struct modules_time time = modules_machine_time(&even, &small, &work);
    assert_int_equal(time.ns, 20000000 + 40220 + 4000);
    work = (struct modules_work){.tokens = 1010, .computed = 1010, .pairs = 1010LL * 1011 / 2};
    assert_int_equal(modules_machine_time(&even, &small, &work).ns, 2020000000 + 2042220);
}

/* CACHE-4. */
static void flops_hide_reading_or_reading_hides_flops(void **unused) {
    (void)unused;
    struct modules_machine machine = even;
    struct modules_work work = {.tokens = 100, .computed = 1, .pairs = 100, .cached = 99};
    machine.bytes_per_second = 1e6; /* 2.0004 s for weights, keys and values */
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 2000400000);
    machine.join_bytes_per_second = 1e6; /* 99 tokens of 4 bytes */
    machine.fixed_us = 7.0;
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 2000400000 + 396000 + 7000);
    machine.flops_per_second = 1e3; /* 2000.4 s */
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns,
                     2000400000000LL + 396000 + 7000);
}

/* CACHE-4: at least a nanosecond, and rounded to one; at most 10^18. */
static void a_time_is_a_whole_number_of_nanoseconds(void **unused) {
    (void)unused;
    struct modules_machine machine = {1.6e-3, 1e18, 1e18, 1e18, 0.0};
    struct modules_work work = {.tokens = 1, .computed = 1, .pairs = 1};
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 2);
    machine.fixed_us = 0.0;
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 1);
    work.cached = 2; /* of 4 bytes, one in a second */
    machine.join_bytes_per_second = 1.0;
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 8000000000);
    machine.fixed_us = 1e18;
    assert_int_equal(modules_machine_time(&machine, &small, &work).ns, 1000000000000000000);
}

/* What is printed is a file, also at the least and the most that a number may be. */
static void a_machine_that_is_printed_is_read(void **unused) {
    (void)unused;
    static const struct modules_machine machines[] = {
        {0.0, 1.0, 1.0, 1.0, 1.0}, {1e18, 1e18, 1e18, 1e18, 1e18}, {2.5, 3e9, 4e9, 5e9, 0.0}};
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        char path[] = "/tmp/machine-XXXXXX";
        struct modules_machine machine;
        int file = mkstemp(path);
        FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
        assert_non_null(out);
        modules_machine_print(&machines[i], out);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(modules_machine_load(&machine, path), 0);
        assert_memory_equal(&machine, &machines[i], sizeof machine);
        assert_int_equal(unlink(path), 0);
    }
}

/* The presets are what spec/caches.md says of them. */
static void presets_are_what_they_come_from(void **unused) {
    (void)unused;
    struct cp_dims model = *cp_dims_find("llama-7b");
    struct modules_work prefill = {.tokens = 3072, .computed = 3072, .pairs = 3072LL * 3073 / 2};
    struct modules_work next = {.tokens = 0};
    const struct modules_machine *measured = modules_machine_find("rtx4090");
    assert_int_equal(modules_machine_time(measured, &model, &prefill).ns, 900000000);
    assert_int_equal(modules_machine_time(measured, &model, &next).ns, 32000000);
    double layer = 5000.0 * cp_kv_bytes(&model) / model.layers;
    double more = 3072.0 * (cp_kv_bytes(cp_dims_find("llama-13b")) - cp_kv_bytes(&model));
    assert_true(fabs(more / measured->copy_bytes_per_second - 30e-3) < 1e-12);
    assert_true(fabs(layer / measured->join_bytes_per_second - 0.23e-3) < 1e-12);
    assert_true(fabs(modules_machine_find("a100")->copy_bytes_per_second - 0.8 * 31.5e9) < 1.0);
    assert_null(modules_machine_find("a1000"));
    for (int i = 0; modules_machine_name(i) != NULL; i++) {
        assert_non_null(modules_machine_find(modules_machine_name(i)));
    }
}

/* What the rates of rtx4090 were not made from: 3K tokens that are cached in the CPU's memory took
 * 90 ms (Prompt Cache 5.4). The formula says 93.6, as spec/caches.md does. */
static void the_preset_foretells_another_time_of_the_paper(void **unused) {
    (void)unused;
    struct modules_work work = {
        .tokens = 3073, .computed = 1, .pairs = 3073, .copied = 3072, .cached = 3072};
    struct modules_time time =
        modules_machine_time(modules_machine_find("rtx4090"), cp_dims_find("llama-7b"), &work);
    assert_true(93.55e6 < (double)time.ns && (double)time.ns < 93.75e6);
}

/* ---- Schemas that are made up ---- */

static char *made_text(const struct modules_made *made, unsigned long long seed) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    modules_schema_make(made, seed, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void check_made(const struct modules_made *made, unsigned long long seed) {
    struct pml_case c;
    char *text = made_text(made, seed);
    int n = 0, n_unions = 0, members = 0;
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
    const struct cp_part *part = c.schema.part;
    for (int x = 1; x < c.schema.n_parts; x++) {
        int size = 0, param = 0;
        for (int y = x + 1; y < c.schema.n_parts && part[y].parent == x; y++) {
            size += part[y].kind == CP_PART_TEXT ? part[y].size : 0;
            param += part[y].kind == CP_PART_PARAM ? part[y].size : 0;
        }
        if (part[x].kind == CP_PART_MODULE) {
            assert_true(made->least <= size && size <= made->most);
            assert_int_equal(param, made->param);
            members += part[part[x].parent].kind == CP_PART_UNION;
            n++;
        }
        n_unions += part[x].kind == CP_PART_UNION;
    }
    assert_int_equal(n, made->count);
    assert_int_equal(members, made->members > 1 ? made->count : 0);
    assert_int_equal(n_unions,
                     made->members > 1 ? (made->count + made->members - 1) / made->members : 0);
    assert_int_equal(part[1].kind, made->system > 0 ? CP_PART_TEXT : part[1].kind);
    assert_int_equal(part[1].size, made->system > 0 ? made->system : part[1].size);
    free(text);
    pml_case_free(&c);
}

/* CACHE-6. */
static void a_schema_that_is_made_up_has_what_was_asked_for(void **unused) {
    (void)unused;
    check_made(&(struct modules_made){.count = 1, .least = 1, .most = 1}, 1);
    check_made(&(struct modules_made){.count = 3, .members = 1, .least = 1, .most = 2}, 1);
    check_made(&(struct modules_made){.count = 40, .least = 3, .most = 9, .system = 41}, 2);
    check_made(&(struct modules_made){.count = 10, .members = 3, .least = 90, .most = 90}, 3);
    check_made(
        &(struct modules_made){.count = 9, .members = 3, .least = 1, .most = 200, .param = 5}, 4);
    struct modules_made made = {.count = 20, .least = 1, .most = 100};
    char *one = made_text(&made, 1), *again = made_text(&made, 1), *other = made_text(&made, 2);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    free(one);
    free(again);
    free(other);
}

/* ---- Prompts that are drawn ---- */

static const char unions[] =
    "<schema name='s'>s<module name='a'>a<union><module name='x'>x</module>"
    "<module name='y'>y<module name='z'>z<param name='p' len='2'/></module></module></union>"
    "</module><union><module name='b'>b</module><module name='c'>c</module></union>"
    "<param name='q' len='3'/></schema>";

/* CACHE-6, MOD-2: whatever is drawn may be imported together, and arguments fit. */
static void what_is_drawn_is_a_prompt(void **unused) {
    (void)unused;
    struct pml_case c;
    struct modules_drawing drawing;
    long long dropped = 0, sizes[3] = {0}, n_z = 0;
    assert_int_equal(pml_case_schema(&c, "words", "none", unions, strlen(unions)), 0);
    int a = pml_find(&c.schema, 0, CP_PART_MODULE, "a", 1);
    int y = pml_find(&c.schema, a, CP_PART_MODULE, "y", 1);
    int z = pml_find(&c.schema, y, CP_PART_MODULE, "z", 1);
    int p = pml_find(&c.schema, z, CP_PART_PARAM, "p", 1);
    modules_drawing_new(&drawing, &c.schema, 4, 0.5, 9);
    assert_int_equal(drawing.n, 6);
    for (int i = 0; i < 3000; i++) {
        modules_draw(&drawing);
        assert_int_equal(cp_prompt_check(c.schema.part, c.schema.n_parts, drawing.imported), -1);
        for (int x = 0; x < c.schema.n_parts; x++) {
            int has =
                c.schema.part[x].kind == CP_PART_PARAM && drawing.imported[c.schema.part[x].parent];
            assert_true(drawing.argument[x] >= 0 &&
                        drawing.argument[x] <= (has ? c.schema.part[x].size : 0));
        }
        dropped += drawing.dropped;
        n_z += drawing.imported[z];
        sizes[drawing.argument[p]] += drawing.imported[z];
    }
    assert_true(dropped > 1000);
    assert_true(sizes[0] > n_z / 4 && sizes[1] > n_z / 4 && sizes[2] > n_z / 4);
    modules_drawing_free(&drawing);
    modules_drawing_new(&drawing, &c.schema, 1, 0.5, 9);
    for (int i = 0; i < 100; i++) { /* one draw excludes none, whatever was imported before */
        modules_draw(&drawing);
        assert_int_equal(drawing.dropped, 0);
    }
    modules_drawing_free(&drawing);
    pml_case_free(&c);
}

/* CACHE-6: module r with a weight of 1/r^x. Of n draws with probability q the number of hits is
 * within 6 standard deviations, but for one time in 10^8; the seed is fixed. */
static void popularity_falls_with_the_rank(void **unused) {
    (void)unused;
    enum { N = 20000, COUNT = 10 };
    struct modules_made made = {.count = COUNT, .least = 1, .most = 1};
    struct pml_case c;
    char *text = made_text(&made, 1);
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
    for (int x = 0; x <= 2; x++) {
        struct modules_drawing drawing;
        int hits[COUNT] = {0};
        double all = 0.0;
        modules_drawing_new(&drawing, &c.schema, 1, x, 5);
        for (int r = 1; r <= COUNT; r++) {
            all += 1.0 / pow(r, x);
        }
        for (int i = 0; i < N; i++) {
            modules_draw(&drawing);
            for (int r = 0; r < COUNT; r++) {
                hits[r] += drawing.imported[drawing.module[r]];
            }
        }
        for (int r = 0; r < COUNT; r++) {
            double q = 1.0 / pow(r + 1, x) / all;
            assert_true(fabs(hits[r] - N * q) < 6.0 * sqrt(N * q * (1.0 - q)));
        }
        modules_drawing_free(&drawing);
    }
    free(text);
    pml_case_free(&c);
}

/* CACHE-6: the weights, max(1, round(10^9 / r^x)), and that each number below their sum counts. */
static void weights_are_rounded_and_never_nothing(void **unused) {
    (void)unused;
    static const unsigned long long weight[] = {1000000000, 500000000, 333333333, 250000000,
                                                200000000,  166666667, 142857143, 125000000,
                                                111111111,  100000000};
    enum { N = 20000, COUNT = 10 };
    struct modules_made made = {.count = COUNT, .least = 1, .most = 1};
    struct modules_drawing drawing;
    struct pml_case c;
    char *text = made_text(&made, 1);
    unsigned long long sum = 0;
    int hits[COUNT] = {0};
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
    modules_drawing_new(&drawing, &c.schema, 1, 1.0, 5);
    for (int r = 0; r < COUNT; r++) {
        sum += weight[r];
        assert_true(drawing.until[r] == sum);
    }
    modules_drawing_free(&drawing);
    modules_drawing_new(&drawing, &c.schema, 1, 10.0, 5); /* 10^9 / 8^10 is 0.93, then less */
    assert_true(drawing.until[7] == drawing.until[6] + 1);
    assert_true(drawing.until[9] == drawing.until[6] + 3);
    for (int r = 0; r < COUNT; r++) {
        drawing.until[r] = (unsigned long long)r + 1; /* as if all weights were 1 */
    }
    for (int i = 0; i < N; i++) {
        modules_draw(&drawing);
        for (int r = 0; r < COUNT; r++) {
            hits[r] += drawing.imported[drawing.module[r]];
        }
    }
    for (int r = 0; r < COUNT; r++) {
        assert_true(fabs(hits[r] - N * 0.1) < 6.0 * sqrt(N * 0.1 * 0.9));
    }
    modules_drawing_free(&drawing);
    free(text);
    pml_case_free(&c);
}

/* CACHE-6: two draws of three modules as likely import c in 1 - (2/3)^2 of the prompts. A draw in
 * place of one that a and b exclude would make that 17/27. */
static void a_dropped_draw_stays_dropped(void **unused) {
    (void)unused;
    static const char text[] = "<schema name='s'><union><module name='a'>a</module>"
                               "<module name='b'>b</module></union><module name='c'>c</module>"
                               "</schema>";
    enum { N = 20000 };
    struct modules_drawing drawing;
    struct pml_case c;
    long long dropped = 0;
    int n = 0;
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
    int module = pml_find(&c.schema, 0, CP_PART_MODULE, "c", 1);
    modules_drawing_new(&drawing, &c.schema, 2, 0.0, 6);
    for (int i = 0; i < N; i++) {
        modules_draw(&drawing);
        n += drawing.imported[module];
        dropped += drawing.dropped;
    }
    double q = 5.0 / 9.0, of_dropped = 2.0 / 9.0;
    assert_true(fabs(n - N * q) < 6.0 * sqrt(N * q * (1.0 - q)));
    assert_true(fabs((double)dropped - N * of_dropped) <
                6.0 * sqrt(N * of_dropped * (1.0 - of_dropped)));
    modules_drawing_free(&drawing);
    pml_case_free(&c);
}

/* ---- Runs ---- */

static struct modules_summary run_of(struct modules_run *run, const char *text, int imports,
                                     const struct modules_settings *settings) {
    struct pml_case c;
    struct modules_items items;
    struct modules_drawing drawing;
    assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), 0);
    modules_items_build(&items, &c.schema);
    modules_drawing_new(&drawing, &c.schema, imports, 1.0, 1);
    modules_simulate(run, settings, &items, &drawing);
    modules_drawing_free(&drawing);
    modules_items_free(&items);
    pml_case_free(&c);
    return modules_summarise(settings, run);
}

static struct modules_settings settings_of(int prompts, int batch, int new) {
    return (struct modules_settings){.prompts = prompts,
                                     .batch = batch,
                                     .new = new,
                                     .capacity = {1000000, 1000000},
                                     .machine = even,
                                     .model = small};
}

/* CACHE-5, ERRATA-50: 100 prompts of 2048 tokens that share 1024. */
static void a_hundred_prompts_of_the_same_module_need_half(void **unused) {
    (void)unused;
    struct modules_made made = {.count = 1, .least = 1024, .most = 1024};
    struct modules_settings settings = settings_of(100, 100, 1024);
    struct modules_run run;
    char *text = made_text(&made, 1);
    struct modules_summary summary = run_of(&run, text, 1, &settings);
    assert_int_equal(run.own.sum, 200 * 1024);
    assert_int_equal(run.shared.sum, 101 * 1024);
    assert_int_equal(run.own.most, run.own.sum);
    assert_true(fabs(summary.reduction - 0.495) < 1e-12);
    assert_int_equal(run.from[MODULES_NOWHERE].items, 1);
    assert_int_equal(run.from[MODULES_GPU].items, 99);
    assert_int_equal(run.from[MODULES_GPU].tokens, 99 * 1024);
    assert_int_equal(run.peak[MODULES_GPU], 1024);
    assert_int_equal(run.peak[MODULES_CPU], 0);
    modules_run_free(&run);
    free(text);
}

/* CACHE-3, CACHE-4: two prompts of the schema's two tokens and 3 new ones. The GPU has no room
 * for an item, and the CPU has. */
static void two_prompts_by_hand(void **unused) {
    (void)unused;
    struct modules_settings settings = settings_of(2, 1, 3);
    struct modules_run run;
    settings.capacity[MODULES_GPU] = 1;
    settings.machine.fixed_us = 5.0; /* of both times */
    struct modules_summary summary = run_of(&run, "<schema name='s'>a b</schema>", 3, &settings);
    assert_int_equal(run.batches, 2);
    assert_int_equal(run.from[MODULES_NOWHERE].tokens, 2);
    assert_int_equal(run.from[MODULES_CPU].tokens, 2);
    assert_int_equal(run.to_host, 2);
    assert_int_equal(run.unkept.items, 0);
    assert_int_equal(run.own.sum, 10);
    assert_int_equal(run.shared.sum, 10);
    /* The first computes 5 tokens and 1 + 2 + 3 + 4 + 5 pairs, as if there was no cache. The second
     * computes 3 tokens and 3 + 4 + 5 pairs, and copies 2 tokens of 4 bytes. In the order of time,
     * the second comes first. */
    assert_int_equal(run.cached_ns[1], 5000 + 10000000 + 4 * 15);
    assert_int_equal(run.full_ns[0], 5000 + 10000000 + 4 * 15);
    assert_int_equal(run.cached_ns[0], 5000 + 6000000 + 4 * 12 + 8);
    assert_true(fabs(summary.cached.mean - (10.00506 + 6.005056) / 2) < 1e-9);
    assert_true(fabs(summary.cached.p50 - 6.005056) < 1e-12);
    assert_true(fabs(summary.cached.p99 - 10.00506) < 1e-12);
    assert_true(fabs(summary.faster - summary.full.mean / summary.cached.mean) < 1e-12);
    assert_true(fabs(run.cached.copying - 8e-9) < 1e-20);
    modules_run_free(&run);
}

/* CACHE-3: items are taken in the order of the schema, so that its own text is in the GPU's memory,
 * and the module finds no room beside it. */
static void items_are_taken_in_the_order_of_the_schema(void **unused) {
    (void)unused;
    struct modules_settings settings = settings_of(1, 1, 1);
    struct modules_run run;
    settings.capacity[MODULES_GPU] = 2;
    (void)run_of(&run, "<schema name='s'>a<module name='m'>b b</module></schema>", 1, &settings);
    assert_int_equal(run.from[MODULES_NOWHERE].items, 2);
    assert_int_equal(run.peak[MODULES_GPU], 1);
    assert_int_equal(run.peak[MODULES_CPU], 2);
    assert_int_equal(run.to_host, 2);
    modules_run_free(&run);
}

/* CACHE-4, CACHE-6: what an argument sees, and what sees it. */
static void arguments_stand_between_the_texts(void **unused) {
    (void)unused;
    struct modules_settings settings = settings_of(40, 1, 1);
    struct modules_run run;
    char *text = NULL;
    size_t size;
    settings.events = open_memstream(&text, &size);
    assert_non_null(settings.events);
    (void)run_of(&run,
                 "<schema name='s'><module name='m'>a b<param name='p' len='2'/>c d e</module>"
                 "</schema>",
                 3, &settings);
    assert_int_equal(fclose(settings.events), 0);
    /* a b p.. c d e new: an argument of n tokens sees 2 + itself, new text all 5 + n + itself. */
    const char *line = strstr(text, "\"prompt\": 1,"); /* the first one encodes the module */
    int n_found[3] = {0};
    for (int i = 1; i < 40; i++) {
        int n = 0, pairs = 0;
        assert_non_null(line);
        assert_int_equal(sscanf(strstr(line, "\"arguments\""), "\"arguments\": %d", &n), 1);
        assert_int_equal(sscanf(strstr(line, "\"pairs\""), "\"pairs\": %d", &pairs), 1);
        assert_int_equal(pairs, 2 * n + n * (n + 1) / 2 + 5 + n + 1);
        n_found[n]++;
        line = strstr(line, "\"event\": \"prompt\"");
        line = line != NULL ? line + 1 : NULL;
    }
    assert_true(n_found[0] > 0 && n_found[1] > 0 && n_found[2] > 0);
    modules_run_free(&run);
    free(text);
}

/* CACHE-7: a run that is interrupted has whole batches. */
static void an_interrupted_run_ends_behind_a_batch(void **unused) {
    (void)unused;
    struct modules_settings settings = settings_of(10, 4, 1);
    struct modules_run run;
    interrupted = 1;
    struct modules_summary summary = run_of(&run, "<schema name='s'>a b</schema>", 0, &settings);
    interrupted = 0;
    assert_int_equal(run.prompts, 0);
    assert_int_equal(run.batches, 0);
    assert_true(summary.cached.mean <= 0.0 && summary.faster <= 0.0);
    modules_run_free(&run);
    (void)run_of(&run, "<schema name='s'>a b</schema>", 0, &settings);
    assert_int_equal(run.prompts, 10);
    assert_int_equal(run.batches, 3);
    assert_int_equal(run.own.most, 4 * 3);
    modules_run_free(&run);
}

/* Ends the run at the sixth line: an item, and then prompts. */
static ssize_t end_at_the_sixth(void *context, const char *text, size_t size) {
    int *lines = context;
    for (size_t i = 0; i < size; i++) {
        *lines += text[i] == '\n';
    }
    interrupted = *lines >= 6;
    return (ssize_t)size;
}

/* CACHE-7: a batch is finished, though it is interrupted. */
static void a_batch_is_finished(void **unused) {
    (void)unused;
    struct modules_settings settings = settings_of(10, 4, 1);
    struct modules_run run;
    int lines = 0;
    settings.events = fopencookie(&lines, "w", (cookie_io_functions_t){.write = end_at_the_sixth});
    assert_non_null(settings.events);
    setbuf(settings.events, NULL);
    (void)run_of(&run, "<schema name='s'>a b</schema>", 0, &settings);
    assert_int_equal(fclose(settings.events), 0);
    interrupted = 0;
    assert_int_equal(run.prompts, 8);
    assert_int_equal(run.batches, 2);
    modules_run_free(&run);
}

/* ---- The command line ---- */

static int parse(struct modules_options *options, const char *first, const char *second) {
    static char words[3][40];
    char *argv[] = {words[0], words[1], words[2], NULL};
    (void)snprintf(words[0], sizeof words[0], "--modules");
    (void)snprintf(words[1], sizeof words[1], "%s", first);
    (void)snprintf(words[2], sizeof words[2], "%s", second);
    return modules_options_parse(options, second[0] == '\0' ? 2 : 3, argv);
}

static void options_set_what_they_name(void **unused) {
    (void)unused;
    struct modules_options o;
    assert_int_equal(parse(&o, "--batch", "17"), 0);
    assert_int_equal(o.batch, 17);
    assert_int_equal(parse(&o, "--gpu-memory", "0.5"), 0);
    assert_true(o.memory[MODULES_GPU] > 0.49 && o.memory[MODULES_GPU] < 0.51);
    assert_int_equal(parse(&o, "--cpu-memory", "0"), 0);
    assert_true(o.memory[MODULES_CPU] <= 0.0 && o.memory[MODULES_GPU] > 7.9);
    assert_int_equal(parse(&o, "--heads", "8"), 0);
    assert_int_equal(o.model.kv_heads, 8);
    assert_int_equal(parse(&o, "--parameters", "5e8"), 0);
    assert_true(fabs(o.model.parameters - 5e8) < 1.0);
    assert_int_equal(parse(&o, "--union", "3"), 0);
    assert_int_equal(o.made.members, 3);
    assert_int_equal(parse(&o, "schema.xml", ""), 0);
    assert_string_equal(o.schema, "schema.xml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompts_time_by_hand),
        cmocka_unit_test(flops_hide_reading_or_reading_hides_flops),
        cmocka_unit_test(a_time_is_a_whole_number_of_nanoseconds),
        cmocka_unit_test(a_machine_that_is_printed_is_read),
        cmocka_unit_test(presets_are_what_they_come_from),
        cmocka_unit_test(the_preset_foretells_another_time_of_the_paper),
        cmocka_unit_test(a_schema_that_is_made_up_has_what_was_asked_for),
        cmocka_unit_test(what_is_drawn_is_a_prompt),
        cmocka_unit_test(popularity_falls_with_the_rank),
        cmocka_unit_test(weights_are_rounded_and_never_nothing),
        cmocka_unit_test(a_dropped_draw_stays_dropped),
        cmocka_unit_test(a_hundred_prompts_of_the_same_module_need_half),
        cmocka_unit_test(two_prompts_by_hand),
        cmocka_unit_test(items_are_taken_in_the_order_of_the_schema),
        cmocka_unit_test(arguments_stand_between_the_texts),
        cmocka_unit_test(an_interrupted_run_ends_behind_a_batch),
        cmocka_unit_test(a_batch_is_finished),
        cmocka_unit_test(options_set_what_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
