/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
/* What `chunkproof show` says of keys. Expected marks and ranges are the examples of
 * spec/windows.md and spec/masks.md, or counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/pages.h"
#include "cli/show/svg.h"

/* Three sequences of 10, 9 and 8 tokens. The first two share C0 and C1, and all of them C0. */
static const char script_text[] = "chunk-size 4\n"
                                  "join ann: a b c d e f g h i j\n"
                                  "join bob: a b c d e f g h k\n"
                                  "join eve: a b c d l m n o\n";

struct fixture {
    struct show_script script;
    struct show_world world;
    struct show_question question;
    struct show_keys keys;
    struct show_view view;
};

static void draw_world(struct fixture *f, const char *text) {
    assert_int_equal(show_script_from_text(&f->script, "test", text), EXIT_RIGHT);
    assert_int_equal(show_world_new(&f->world, &f->script, f->script.chunk_size, 64), EXIT_RIGHT);
    for (int i = 0; i < f->script.n_operations; i++) {
        struct show_step step;
        assert_int_equal(show_world_apply(&f->world, &f->script.operation[i], &step), EXIT_RIGHT);
        show_step_free(&step);
    }
}

static void ask(struct fixture *f, const char *text) {
    draw_world(f, text);
    assert_int_equal(show_keys_new(&f->keys, f->world.plan, &f->question), EXIT_RIGHT);
    f->view = (struct show_view){&f->world, "test", 100, 1, 0, 0, NULL, &f->keys, NULL};
}

static void end(struct fixture *f) {
    show_keys_free(&f->keys);
    show_world_free(&f->world);
    show_script_free(&f->script);
    show_question_free(&f->question);
}

/* x where the row sees the token, k where it is kept, - where it is taken, else a point. */
static void assert_sights(const struct fixture *f, int s, int row, const char *wanted) {
    char found[64];
    int n = f->world.plan->sequence[s].n_tokens;
    for (int j = 0; j < n; j++) {
        found[j] = ".xk-"[show_keys_sight(&f->keys, s, row, j)];
    }
    found[n] = '\0';
    assert_string_equal(found, wanted);
}

static void assert_prints(const struct fixture *f,
                          void (*print)(FILE *out, const struct show_view *view),
                          const char *wanted) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    print(out, &f->view);
    text_close(out);
    if (strstr(text, wanted) == NULL) {
        fail_msg("no '%s' in:\n%s", wanted, text);
    }
    free(text);
}

/* ---- Windows ---- */

/* WINDOW-1, WINDOW-2: the example of spec/windows.md, with rows at 6, 7, 8 and 9. */
static void a_window_slides_and_first_tokens_are_kept(void **unused) {
    struct fixture f = {.question = {.n_rows = 4, .window = {3, 0, 1}}};
    struct show_range range;
    (void)unused;
    ask(&f, script_text);
    assert_int_equal(show_keys_position(&f.keys, 0, 0), 6);
    assert_sights(&f, 0, 0, "k...xxx...");
    assert_sights(&f, 0, 2, "k.....xxx.");
    assert_int_equal(show_keys_of_row(&f.keys, 0, 2), 4);
    assert_int_equal(show_keys_of_run(&f.keys, 0, 2, 1), 2);
    assert_int_equal(show_keys_range(&f.keys, 0, 2, 1, 0, &range), 1);
    assert_int_equal(range.begin, 2);
    assert_int_equal(range.end, 4);
    assert_int_equal(show_keys_range(&f.keys, 0, 2, 1, range.end, &range), 0);
    end(&f);
}

/* WINDOW-1: `ahead` moves the end of what is seen alone. A key that is kept and in the window is
 * one key. */
static void keys_ahead_are_seen(void **unused) {
    struct fixture f = {.question = {.n_rows = 3, .window = {3, 2, 2}}};
    (void)unused;
    ask(&f, "chunk-size 4\njoin ann: a b c d e\n");
    assert_sights(&f, 0, 0, "xxxxx");
    assert_sights(&f, 0, 1, "kxxxx");
    assert_sights(&f, 0, 2, "kkxxx");
    assert_prints(&f, show_keys_text, "|xxoa|a___|");
    assert_prints(&f, show_keys_text, "|kkxx|o___|");
    assert_prints(&f, show_keys_text, "(2 before it), and 2 ahead");
    end(&f);
}

/* PREFILL-1, PREFILL-3: more rows than keys. */
static void a_row_before_the_first_key_sees_none(void **unused) {
    struct fixture f = {.question = {.n_rows = 3}};
    (void)unused;
    ask(&f, "chunk-size 4\njoin ann: a b\njoin bob:\n");
    assert_int_equal(show_keys_position(&f.keys, 0, 0), -1);
    assert_sights(&f, 0, 0, "..");
    assert_sights(&f, 0, 2, "xx");
    assert_int_equal(show_keys_of_row(&f.keys, 1, 2), 0);
    assert_prints(&f, show_keys_phases, "q0.0: no key, so out = 0");
    end(&f);
}

/* WINDOW-4: of rows at 9, 8 and 7 with windows of 5 keys none sees C0; q0 sees slots 1 to 3 of C1,
 * q1 all of it, and eve's own chunk is seen by q2. */
static void phase_1_has_the_rows_that_see_a_key(void **unused) {
    struct fixture f = {.question = {.n_rows = 1, .window = {5, 0, 0}}};
    (void)unused;
    ask(&f, script_text);
    assert_prints(&f, show_keys_phases, "C0  x q2[3,4)  not q0 q1\n");
    assert_prints(&f, show_keys_phases, "C1  x q0[1,4) q1\n");
    assert_prints(&f, show_keys_phases, "q0: (C1)[1,4) + C2\n");
    assert_prints(&f, show_keys_phases, "q2: (C0)[3,4) + C4\n");
    assert_int_equal(show_keys_is_left_out(&f.keys, 0, 2, 0), 1);
    assert_int_equal(show_keys_is_left_out(&f.keys, 0, 3, 0), 0);
    end(&f);
}

static void a_chunk_that_nobody_sees_may_be_left_out(void **unused) {
    struct fixture f = {.question = {.n_rows = 1, .window = {2, 0, 0}, .has_sink = 1}};
    (void)unused;
    ask(&f, "chunk-size 4\njoin ann: a b c d e f g h i j\njoin eve: a b c d l m n o p q\n");
    assert_prints(&f, show_keys_phases, "C0  no row sees a key of it: the plan may leave it out\n");
    assert_prints(&f, show_keys_phases, "the plan may leave them out: C1 C3\n");
    assert_prints(&f, show_keys_phases, "q0: C2 + sink\n");
    end(&f);
}

/* ---- Masks ---- */

/* MASK-1 to MASK-3: the example of spec/masks.md: a prefix of 3, and chunks of 4. */
static void a_row_of_a_tree_sees_its_path(void **unused) {
    struct fixture f = {.question = {0}};
    struct show_range range;
    (void)unused;
    assert_int_equal(show_question_from_tree(&f.question, "0,0,1,2"), EXIT_RIGHT);
    ask(&f, "chunk-size 4\njoin ann: a b c n0 n1 n2 n3 n4\n");
    assert_sights(&f, 0, 0, "xxxx....");
    assert_sights(&f, 0, 1, "xxxxx...");
    assert_sights(&f, 0, 2, "xxxx-x..");
    assert_sights(&f, 0, 3, "xxxxx-x.");
    assert_sights(&f, 0, 4, "xxxx-x-x");
    assert_int_equal(show_keys_range(&f.keys, 0, 4, 1, 0, &range), 1);
    assert_int_equal(range.begin, 1);
    assert_int_equal(range.end, 2);
    assert_int_equal(show_keys_range(&f.keys, 0, 4, 1, 2, &range), 1);
    assert_int_equal(range.begin, 3);
    assert_prints(&f, show_keys_text, "     4       2  x.x.x  path: 0 2 4\n");
    assert_prints(&f, show_keys_text, "q0.4      7        6  |xxxx|-x-o|\n");
    assert_prints(&f, show_keys_phases, "q0.4: C0 + C1[1,2)[3,4)\n");
    end(&f);
}

/* MASK-1: bits are taken of what the window has, and keep their places where a row has a range. */
static void a_mask_and_a_window_both_count(void **unused) {
    struct fixture f = {.question = {0}};
    char path[] = "/tmp/show-mask-XXXXXX";
    int descriptor = mkstemp(path);
    (void)unused;
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    fputs("# two rows\nx 1 0 1\n\n0.1x # the last\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(show_question_from_mask(&f.question, path), EXIT_RIGHT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(f.question.n_rows, 2);
    assert_int_equal(f.question.n_bits, 4);
    f.question.window = (struct cp_window){5, 0, 1};
    ask(&f, "chunk-size 4\njoin ann: a b c d e f g h\n");
    assert_sights(&f, 0, 0, "k.xxxx-.");
    assert_sights(&f, 0, 1, "k..x--xx");
    end(&f);
}

/* The same bits as from a file; the stream stays open, as it is not the mask's alone. */
static void a_mask_comes_from_standard_input(void **unused) {
    struct show_question question = {0};
    char path[] = "/tmp/show-mask-XXXXXX";
    int descriptor = mkstemp(path);
    (void)unused;
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "1.1\n.11\n", 8), 8);
    assert_int_equal(close(descriptor), 0);
    assert_non_null(freopen(path, "r", stdin));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(show_question_from_mask(&question, "-"), EXIT_RIGHT);
    assert_int_equal(question.n_rows, 2);
    assert_int_equal(question.n_bits, 3);
    assert_memory_equal(question.is_left, ((unsigned char[]){1, 0, 1, 0, 1, 1}), 6);
    assert_int_equal(fgetc(stdin), EOF);
    assert_true(feof(stdin));
    show_question_free(&question);
}

static void assert_refuses_tree(const char *parents) {
    struct show_question question = {0};
    assert_int_equal(show_question_from_tree(&question, parents), EXIT_BAD_USE);
    show_question_free(&question);
}

static void parents_come_before_their_children(void **unused) {
    (void)unused;
    assert_refuses_tree("1");
    assert_refuses_tree("0,2");
    assert_refuses_tree("0,-1");
    assert_refuses_tree("0,0,");
    assert_refuses_tree("0 0");
    assert_refuses_tree("");
    assert_refuses_tree("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                        "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
}

/* ---- Pictures ---- */

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

static void assert_squares(const char *text, const char *class, int wanted) {
    char box[64];
    snprintf(box, sizeof box, "<rect class=\"%s\"", class);
    assert_int_equal(count(text, box), wanted);
}

/* Rows at 9, 8 and 7, windows of 5, the first key kept. Each look stands in the legend once more.
 * Of 10 + 9 + 8 keys each row sees 5 and the kept one; chunks have 2, 3 and 0 unused slots. */
static void the_picture_has_a_square_for_each_key(void **unused) {
    struct fixture f = {.question = {.n_rows = 1, .window = {5, 0, 1}}};
    struct show_svg svg;
    (void)unused;
    ask(&f, script_text);
    show_svg_begin(&svg);
    show_svg_keys(&svg, &f.view);
    fflush(svg.out);
    assert_squares(svg.text, "seen", 3 * 4 + 1);
    assert_squares(svg.text, "its-own", 3 + 1);
    assert_squares(svg.text, "kept", 3 + 1);
    assert_squares(svg.text, "hidden", 27 - 3 * 6 + 1);
    assert_squares(svg.text, "unused", 2 + 3 + 1);
    assert_squares(svg.text, "ahead", 0);
    assert_int_equal(count(svg.text, "the row sees the key"), 1);
    show_svg_end(&svg, NULL, "test");
    end(&f);
}

/* C0 is seen by q2 alone, one key of it: two rows have no partial result there. */
static void the_picture_of_phase_1_has_parts_where_a_row_sees_a_key(void **unused) {
    struct fixture f = {.question = {.n_rows = 1, .window = {5, 0, 0}}};
    char *text;
    size_t size;
    struct show_svg svg;
    (void)unused;
    ask(&f, script_text);
    show_svg_begin(&svg);
    show_svg_frame(&svg, &f.view, 1);
    FILE *out = text_open(&text, &size);
    show_svg_end(&svg, out, "test");
    text_close(out);
    assert_int_equal(count(text, ">none</text>"), 2);
    assert_int_equal(count(text, ">1 of 4</text>"), 1);
    assert_int_equal(count(text, ">3 of 4</text>"), 1);
    assert_int_equal(count(text, ">m,n,o</text>"), 1);
    assert_int_equal(count(text, ">merge 1 partial</text>"), 3);
    free(text);
    end(&f);
}

/* Each look of the picture stands in its legend, with words beside it. */
static void the_picture_has_a_legend(void **unused) {
    static const char *const looks[][2] = {
        {"\"shared\"", "several sequences"}, {"\"own\"", "one sequence alone"},
        {"\"query\"", "a query q"},          {"\"slot\"", "a token"},
        {"\"unused\"", "nobody uses"},       {"\"part\"", "a partial result"},
    };
    struct fixture f = {.question = {.n_rows = 1, .window = {5, 0, 0}}};
    struct show_svg svg;
    (void)unused;
    ask(&f, script_text);
    show_svg_begin(&svg);
    show_svg_frame(&svg, &f.view, 1);
    fflush(svg.out);
    const char *legend = strstr(svg.text, ">Legend</text>");
    assert_non_null(legend);
    assert_int_equal(count(legend, "<rect "), sizeof looks / sizeof looks[0]);
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        const char *box = strstr(legend, looks[i][0]);
        assert_non_null(box);
        assert_true(box > legend && strstr(svg.text, looks[i][0]) < legend); /* it is drawn */
        const char *words = strstr(box, "</text>");
        const char *said = strstr(box, looks[i][1]);
        assert_true(said != NULL && said < words);
    }
    show_svg_end(&svg, NULL, "test");
    end(&f);
}

/* ---- Pages ---- */

static void page(struct fixture *f, struct show_pages *pages, const char *text, int size) {
    draw_world(f, text);
    show_pages_new(pages, f->world.plan, size);
    f->view = (struct show_view){&f->world, "test", 100, 1, 0, 0, NULL, NULL, pages};
}

static void end_pages(struct fixture *f, struct show_pages *pages) {
    show_pages_free(pages);
    show_world_free(&f->world);
    show_script_free(&f->script);
}

/* CONV-11: the example of spec/conventions.md, there with other numbers of pages. */
static void sequences_share_full_pages(void **unused) {
    struct fixture f = {.question = {0}};
    struct show_pages pages;
    (void)unused;
    page(&f, &pages, "chunk-size 4\njoin a: a b c d e f\njoin b: a b c d g\njoin c:\n", 4);
    assert_int_equal(pages.n, 3);
    assert_int_equal(pages.n_owners[0], 2);
    assert_int_equal(pages.n_owners[2], 1);
    assert_int_equal(show_pages_stored(&pages), 4 + 2 + 1);
    assert_prints(&f, show_pages_arrays,
                  "    block_table    0 1\n                   0 2\n                   -1 -1\n"
                  "    seq_lens       6 5 0\n");
    assert_prints(&f, show_pages_arrays,
                  "    indptr         0 2 4 4\n    indices        0 1 0 2\n"
                  "    last_page_len  2 1 0\n"
                  "Stored: 7 keys in 3 pages; 7 in 3 chunks\n");
    end_pages(&f, &pages);
}

/* CONV-11: "a chunk of 5 keys and pages of 4 share one page, and each sequence has the fifth key in
 * a page of its own". With pages of 3 it is one page, too. */
static void a_page_that_ends_behind_shared_chunks_is_not_shared(void **unused) {
    struct fixture f = {.question = {0}};
    struct show_pages pages;
    (void)unused;
    page(&f, &pages, "chunk-size 5\njoin a: a b c d e f\njoin b: a b c d e g\n", 4);
    assert_int_equal(pages.n, 3);
    assert_int_equal(show_pages_table(&pages, 0, 1), 1);
    assert_int_equal(show_pages_table(&pages, 1, 0), 0);
    assert_int_equal(show_pages_table(&pages, 1, 1), 2);
    assert_int_equal(show_pages_stored(&pages), 4 + 2 + 2);
    assert_prints(&f, show_pages_text, "chunk |(C0)-----|C1_______|\n");
    assert_prints(&f, show_pages_text, "page  |(P0)---|P1-____|\n");
    end_pages(&f, &pages);
}

/* A sequence that ends with a full chunk, within a page: the longer one has the page for itself.
 * CONV-11: 16 keys in pages of 16 are one page with 16 keys in it. */
static void a_full_last_page_has_all_its_keys(void **unused) {
    struct fixture f = {.question = {0}};
    struct show_pages pages;
    (void)unused;
    page(&f, &pages,
         "chunk-size 4\njoin a: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\njoin b: 1 2 3 4\n", 16);
    assert_int_equal(pages.n, 2);
    assert_int_equal(pages.last_tokens[0], 16);
    assert_int_equal(pages.last_tokens[1], 4);
    end_pages(&f, &pages);
}

/* Chunks C0 and P0 are shared, each drawn twice. Two pages, of 2 and 1 keys, have unused slots, and
 * so have the chunks at their places. */
static void the_picture_has_a_box_for_each_page(void **unused) {
    struct fixture f = {.question = {0}};
    struct show_pages pages;
    struct show_svg svg;
    (void)unused;
    page(&f, &pages, "chunk-size 4\njoin a: a b c d e f\njoin b: a b c d g\n", 4);
    show_svg_begin(&svg);
    show_svg_pages(&svg, &f.view);
    fflush(svg.out);
    assert_squares(svg.text, "shared", 4);
    assert_squares(svg.text, "own", 4);
    assert_squares(svg.text, "unused", 4);
    assert_int_equal(count(svg.text, ">(P0)</text>"), 2);
    show_svg_end(&svg, NULL, "test");
    end_pages(&f, &pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_slides_and_first_tokens_are_kept),
        cmocka_unit_test(keys_ahead_are_seen),
        cmocka_unit_test(a_row_before_the_first_key_sees_none),
        cmocka_unit_test(phase_1_has_the_rows_that_see_a_key),
        cmocka_unit_test(a_chunk_that_nobody_sees_may_be_left_out),
        cmocka_unit_test(a_row_of_a_tree_sees_its_path),
        cmocka_unit_test(a_mask_and_a_window_both_count),
        cmocka_unit_test(a_mask_comes_from_standard_input),
        cmocka_unit_test(parents_come_before_their_children),
        cmocka_unit_test(sequences_share_full_pages),
        cmocka_unit_test(a_page_that_ends_behind_shared_chunks_is_not_shared),
        cmocka_unit_test(a_full_last_page_has_all_its_keys),
        cmocka_unit_test(the_picture_has_a_box_for_each_page),
        cmocka_unit_test(the_picture_has_a_square_for_each_key),
        cmocka_unit_test(the_picture_has_a_legend),
        cmocka_unit_test(the_picture_of_phase_1_has_parts_where_a_row_sees_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
