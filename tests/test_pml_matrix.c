/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The matrices of a picture of prompts: which part sees which (MOD-3). Squares are compared with
 * the JSON of the same prompt, and with drawings by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/base/text.h"
#include "cli/prompt/report.h"
#include "tests/pml_case.h"

#define ROOM 64

/* What is drawn of a prompt: by rows and columns. */
struct drawn {
    char *svg;
    char *matrix; /* from the prompt's heading on */
    int n;
    double x[ROOM], y[ROOM]; /* of the triangles */
    int square[ROOM][ROOM];
    int n_squares;
    int held[ROOM]; /* squares of brackets */
    int n_held;
    double lane[ROOM]; /* of a bracket: where the last such square of the row is */
};

static void read_case(struct pml_case *c, const char *schema, const char *prompt) {
    if (pml_case_schema(c, "words", "none", schema, strlen(schema)) != 0 ||
        pml_case_prompt(c, prompt, strlen(prompt)) != 0) {
        fail_msg("refused: %s", c->said);
    }
}

static char *print(int (*report)(FILE *, const struct pml_schema *, const struct pml_prompt *, int),
                   const struct pml_case *c, int n) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report(out, &c->schema, &c->prompt, n), 0);
    (void)fclose(out);
    return text;
}

static int find(const double *value, int n, double wanted) {
    for (int i = 0; i < n; i++) {
        if (value[i] > wanted - 0.01 && value[i] < wanted + 0.01) {
            return i;
        }
    }
    fail_msg("nothing at %g", wanted);
    return -1;
}

static void draw(struct drawn *d, const struct pml_case *c) {
    const char *heading = ">p.xml</text>", *triangle = "<path class=\"sees\" d=\"M";
    const char *square = "<rect class=\"sees\"", *held = "<rect class=\"held\"";
    double x, y;
    memset(d, 0, sizeof *d);
    d->svg = print(report_svg, c, 1);
    d->matrix = strstr(d->svg, heading);
    assert_non_null(d->matrix);
    for (char *at = d->matrix; (at = strstr(at, triangle)) != NULL; at++) {
        assert_in_range(d->n, 0, ROOM - 1);
        assert_int_equal(sscanf(at + strlen(triangle), "%lf %lf", &d->x[d->n], &d->y[d->n]), 2);
        d->n++;
    }
    for (char *at = d->matrix; (at = strstr(at, square)) != NULL; at++) {
        assert_int_equal(sscanf(at + strlen(square), " x=\"%lf\" y=\"%lf\"", &x, &y), 2);
        d->square[find(d->y, d->n, y)][find(d->x, d->n, x)]++;
        d->n_squares++;
    }
    for (char *at = d->matrix; (at = strstr(at, held)) != NULL; at++) {
        assert_int_equal(sscanf(at + strlen(held), " x=\"%lf\" y=\"%lf\"", &x, &y), 2);
        int row = find(d->y, d->n, y - 3);
        d->held[row]++;
        d->lane[row] = x;
        d->n_held++;
    }
}

/* A row for each part: # all of it, \ itself, . nothing; then | where a scaffold counts. */
static void looks(const char *schema, const char *prompt, const char *wanted) {
    struct pml_case c;
    struct drawn d;
    char found[ROOM * (ROOM + 3) + 1], *to = found;
    read_case(&c, schema, prompt);
    draw(&d, &c);
    for (int i = 0; i < d.n; i++) {
        for (int k = 0; k < d.n; k++) {
            *to++ = d.square[i][k] ? '#' : i == k ? '\\' : '.';
        }
        *to++ = d.held[i] ? '|' : ' ';
        *to++ = '\n';
    }
    *to = '\0';
    assert_string_equal(found, wanted);
    free(d.svg);
    pml_case_free(&c);
}

/* ---- By the JSON ---- */

static json_int_t number(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

/* The row of a module in a prompt's mask. */
static const json_t *row_of(const json_t *prompt, json_int_t module) {
    const json_t *mask = json_object_get(prompt, "mask");
    for (size_t i = 0; i < json_array_size(mask); i++) {
        if (number(json_array_get(mask, i), "module") == module) {
            return json_array_get(mask, i);
        }
    }
    fail_msg("no row of %d", (int)module);
    return NULL;
}

static int has(const json_t *numbers, json_int_t wanted) {
    int n = 0;
    for (size_t i = 0; i < json_array_size(numbers); i++) {
        n += json_integer_value(json_array_get(numbers, i)) == wanted;
    }
    return n;
}

/* Each square, each row where a scaffold counts, and how many there are. */
static void is_the_mask_of_json(const char *schema, const char *prompt, int n_squares, int n_held) {
    struct pml_case c;
    struct drawn d;
    json_int_t module[ROOM]; /* of each part of the prompt; -1: it is computed */
    int n = 0, squares = 0;
    read_case(&c, schema, prompt);
    draw(&d, &c);
    char *text = print(report_json, &c, 1);
    json_t *report = json_loads(text, 0, NULL);
    const json_t *parts = json_object_get(json_object_get(report, "schema"), "parts");
    const json_t *asked = json_array_get(json_object_get(report, "prompts"), 0);
    const json_t *runs = json_object_get(asked, "runs");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        int is_cached = strcmp(json_string_value(json_object_get(run, "from")), "cache") == 0;
        json_int_t of =
            is_cached ? number(json_array_get(parts, (size_t)number(run, "part")), "in") : -1;
        if (!is_cached || n == 0 || module[n - 1] != of) {
            module[n++] = of;
        }
    }
    assert_int_equal(d.n, n);
    for (int i = 0; i < n; i++) {
        const json_t *row = module[i] >= 0 ? row_of(asked, module[i]) : NULL;
        for (int k = 0; k < n; k++) {
            int sees = k < i && (row == NULL || has(json_object_get(row, "sees"), module[k]));
            assert_int_equal(d.square[i][k], sees);
            squares += sees;
        }
        assert_int_equal(d.held[i], row != NULL && !json_is_null(json_object_get(row, "scaffold")));
    }
    assert_int_equal(d.n_squares, squares);
    assert_int_equal(d.n_squares, n_squares);
    assert_int_equal(d.n_held, n_held);
    json_decref(report);
    free(text);
    free(d.svg);
    pml_case_free(&c);
}

static const char travel[] =
    "<schema name='travel'>You are a guide.<module name='plan'>Plan <param name='days' len='4'/>"
    "</module><union><module name='tokyo'>Tokyo is large.</module><module name='miami'>Miami is "
    "warm.</module></union>Answer.<scaffold modules='plan tokyo'/></schema>";

static const char nested[] =
    "<schema name='s'><system>a</system><user>b</user><module name='m'>c <param name='p' len='3'/>"
    " d<union><module name='n'>e</module><module name='o'>f g</module></union></module>"
    "<module name='q'>h</module><user>i</user><scaffold modules='m/n q'/></schema>";

/* MOD-3 */
static void squares_are_the_mask_of_the_json(void **unused) {
    (void)unused;
    is_the_mask_of_json(travel, "<prompt schema='travel'><plan days='3 days'/><miami/>Go.</prompt>",
                        10, 0);
    is_the_mask_of_json(travel, "<prompt schema='travel'><plan days='3 days'/><tokyo/>Go.</prompt>",
                        11, 2);
    is_the_mask_of_json(nested, "<prompt schema='s'><m p='x'><n/></m><q/>Why?</prompt>", 20, 2);
    is_the_mask_of_json(nested, "<prompt schema='s'><m p='x'><o/></m><q/>Why?</prompt>", 17, 0);
}

/* ---- By hand ---- */

/* MOD-3: the schema, plan, the argument, the city, the schema's last text, the question. */
static void a_scaffold_adds_squares_and_is_marked(void **unused) {
    (void)unused;
    looks(travel, "<prompt schema='travel'><plan days='3 days'/><tokyo/>Go.</prompt>",
          "\\..... \n"
          "#\\....|\n"
          "##\\... \n"
          "##.\\..|\n"
          "#...\\. \n"
          "#####\\ \n");
    looks(travel, "<prompt schema='travel'><plan/><miami/></prompt>",
          "\\... \n"
          "#\\.. \n"
          "#.\\. \n"
          "#..\\ \n");
}

/* MOD-3: a module's text behind an argument sees its text before it, and not the argument. */
static void texts_of_a_module_in_a_row_are_one_part(void **unused) {
    (void)unused;
    looks(nested, "<prompt schema='s'><m p='x'><o/></m><q/></prompt>",
          "\\...... \n"
          "#\\..... \n"
          "##\\.... \n"
          "##.\\... \n"
          "##.#\\.. \n"
          "#....\\. \n"
          "#.....\\ \n");
    looks(nested, "<prompt schema='s'><m p='x'><n/></m><q/></prompt>",
          "\\...... \n"
          "#\\..... \n"
          "##\\.... \n"
          "##.\\... \n"
          "##.#\\..|\n"
          "##.##\\.|\n"
          "#.....\\ \n");
}

/* ---- Names ---- */

/* Of the matrix, in this order. */
static void names(const struct drawn *d, const char *const *wanted) {
    const char *at = d->matrix;
    for (int i = 0; wanted[i] != NULL; i++) {
        at = strstr(at, wanted[i]);
        if (at == NULL) {
            fail_msg("no %s in:\n%s", wanted[i], d->matrix);
        }
    }
}

static void parts_and_scaffolds_are_named(void **unused) {
    struct pml_case c;
    struct drawn d;
    (void)unused;
    read_case(&c, nested, "<prompt schema='s'><m p='x'><n/></m><q/></prompt>");
    draw(&d, &c);
    names(&d, (const char *const[]){
                  ">the schema (1 of 2)</text>", ">m (1 of 2)</text>", ">argument m/p</text>",
                  "<title>argument m/p sees the schema "
                  "(1 of 2)</title>",
                  ">m (2 of 2)</text>", ": positions 6 .. 6, tokens: 1</title>", ">m/n</text>",
                  ">q</text>", ">the schema (2 of 2)</text>", ">scaffold 0: m/n, q</text>", NULL});
    free(d.svg);
    pml_case_free(&c);
}

static const char *last_text(const char *svg) {
    const char *at = svg, *last = NULL;
    while ((at = strstr(at, "<text ")) != NULL) {
        last = at++;
    }
    return last;
}

/* All of a matrix is in the picture: letters have 7.23 of 12 pixels in DejaVu Sans Mono. */
static void fits(const struct drawn *d) {
    const char *last = last_text(d->svg);
    double width, height, x, y, deepest = 0;
    assert_int_equal(
        sscanf(strstr(d->svg, "width="), "width=\"%lf\" height=\"%lf\"", &width, &height), 2);
    for (const char *at = d->matrix; at <= last && (at = strstr(at, "<text ")) != NULL; at++) {
        const char *begin = strchr(at, '>') + 1;
        assert_int_equal(sscanf(strstr(at, " x="), " x=\"%lf\" y=\"%lf\"", &x, &y), 2);
        char *text = strndup(begin, (size_t)(strchr(begin, '<') - begin));
        if (x + text_columns(text) * 7.23 > width - 19) {
            fail_msg("too wide, at %g: %s", x, text);
        }
        free(text);
        deepest = y > deepest ? y : deepest;
    }
    for (int i = 0; i < d->n; i++) {
        deepest = d->y[i] + 14 > deepest ? d->y[i] + 14 : deepest;
    }
    assert_true(deepest + 20 <= height && height <= deepest + 35);
}

static void a_long_name_is_cut_and_in_its_title(void **unused) {
    struct pml_case c;
    struct drawn d;
    (void)unused;
    read_case(
        &c,
        "<schema name='s'><module name='abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'>"
        "a</module><module name='b'>b</module><scaffold modules="
        "'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'/></schema>",
        "<prompt schema='s'><abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz/><b/>"
        "</prompt>");
    draw(&d, &c);
    names(&d, (const char *const[]){">abcdefghijklmnopqrstuvwxyzabc…</text>",
                                    "<title>abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz: "
                                    "positions 0 .. 0, tokens: 1</title>",
                                    NULL});
    fits(&d);
    free(d.svg);
    pml_case_free(&c);
}

/* ---- Many ---- */

/* n modules of a token each, which the prompt imports. Scaffold i has modules i and n - 1 - i, or
 * 2 i and 2 i + 1. */
static void read_many(struct pml_case *c, int n, int n_scaffolds, int are_nested) {
    char *schema, *prompt;
    size_t size;
    FILE *out = open_memstream(&schema, &size);
    fputs("<schema name='s'>", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "<module name='module-%d'>a</module>", i);
    }
    for (int i = 0; i < n_scaffolds; i++) {
        fprintf(out, "<scaffold modules='module-%d module-%d'/>", are_nested ? i : 2 * i,
                are_nested ? n - 1 - i : 2 * i + 1);
    }
    fputs("</schema>", out);
    (void)fclose(out);
    out = open_memstream(&prompt, &size);
    fputs("<prompt schema='s'>", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "<module-%d/>", i);
    }
    fputs("</prompt>", out);
    (void)fclose(out);
    read_case(c, schema, prompt);
    free(schema);
    free(prompt);
}

static void draws_of_many(int n, int n_drawn, const char *said) {
    struct pml_case c;
    struct drawn d;
    read_many(&c, n, 0, 0);
    draw(&d, &c);
    assert_int_equal(d.n, n_drawn);
    assert_int_equal(strstr(d.matrix, "not drawn") != NULL, said != NULL);
    assert_true(said == NULL || strstr(d.matrix, said) != NULL);
    fits(&d);
    free(d.svg);
    pml_case_free(&c);
}

static void at_most_40_parts_are_drawn(void **unused) {
    (void)unused;
    draws_of_many(1, 1, NULL);
    draws_of_many(40, 40, NULL);
    draws_of_many(41, 40, ">1 more parts are not drawn<");
    draws_of_many(57, 40, ">17 more parts are not drawn<");
}

static void brackets_that_overlap_stand_side_by_side(void **unused) {
    struct pml_case c;
    struct drawn d;
    (void)unused;
    read_many(&c, 40, 20, 1);
    draw(&d, &c);
    assert_int_equal(d.n_held, 40);
    for (int i = 0; i < 20; i++) {
        assert_true(d.lane[i] == d.lane[39 - i]);
        assert_true(i == 0 || d.lane[i] > d.lane[i - 1] + 2);
    }
    fits(&d);
    free(d.svg);
    pml_case_free(&c);
    read_many(&c, 40, 20, 0);
    draw(&d, &c);
    for (int i = 0; i < 40; i++) {
        assert_true(d.lane[i] == d.lane[0]);
        assert_int_equal(d.held[i], 1);
    }
    fits(&d);
    free(d.svg);
    pml_case_free(&c);
}

/* ---- Without ---- */

static void a_legend_says_what_is_drawn(void **unused) {
    struct pml_case c;
    (void)unused;
    read_case(&c, travel, "<prompt schema='travel'><miami/></prompt>");
    char *svg = print(report_svg, &c, 1), *none = print(report_svg, &c, 0);
    assert_non_null(strstr(svg, "Which part of a prompt sees which"));
    assert_non_null(strstr(svg, "a scaffold of the schema"));
    assert_null(strstr(none, "Which part of a prompt sees which"));
    free(svg);
    free(none);
    pml_case_free(&c);
    read_case(&c, "<schema name='s'><module name='m'/></schema>",
              "<prompt schema='s'><m/></prompt>");
    svg = print(report_svg, &c, 1);
    assert_non_null(strstr(svg, "Which part of a prompt sees which"));
    assert_null(strstr(svg, "a scaffold of the schema"));
    assert_null(strstr(svg, ">p.xml</text>")); /* no token, no matrix */
    free(svg);
    pml_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_the_mask_of_the_json),
        cmocka_unit_test(a_scaffold_adds_squares_and_is_marked),
        cmocka_unit_test(texts_of_a_module_in_a_row_are_one_part),
        cmocka_unit_test(parts_and_scaffolds_are_named),
        cmocka_unit_test(a_long_name_is_cut_and_in_its_title),
        cmocka_unit_test(at_most_40_parts_are_drawn),
        cmocka_unit_test(brackets_that_overlap_stand_side_by_side),
        cmocka_unit_test(a_legend_says_what_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
