/* SPDX-License-Identifier: Apache-2.0 */
/* Random schemas and prompts, written as XML and read again (PML-4, PML-6, PML-10, PML-11), and
 * input that means harm (PML-1). The seed is printed when something is wrong. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/pml_case.h"
#include "tests/random.h"

#define ROUNDS     2000
#define MOST_PARTS 40
#define MOST_WORDS 12
#define MOST_ADDED (2 * MOST_PARTS)
#define MODULE     CP_PART_MODULE
#define UNION      CP_PART_UNION
#define TEXT       CP_PART_TEXT
#define PARAM      CP_PART_PARAM

/* A file that is being written. */
struct writer {
    FILE *out;
    char *text;
    size_t size;
    unsigned long long seed;
};

static void begin(struct writer *w, unsigned long long seed) {
    w->out = open_memstream(&w->text, &w->size);
    w->seed = seed;
    assert_non_null(w->out);
}

static int below(struct writer *w, int n) {
    return random_below(&w->seed, n);
}

/* What is nothing between tags: line ends, and comments. */
static void put_nothing(struct writer *w) {
    static const char *const nothing[] = {"",     "\n  ",           "  \t", "<!-- <a> & -->",
                                          "\r\n", "<![CDATA[ \n]]>"};
    fputs(nothing[below(w, 6)], w->out);
}

/* n words, which are written in several ways. */
static void put_words(struct writer *w, int n) {
    static const char *const gaps[] = {" ", "\n", "  ", " <!-- & --> ", "&#10;", "<![CDATA[ ]]>"};
    static const char *const words[] = {"a",         "caf\xC3\xA9", "&lt;", "<![CDATA[<&]]>",
                                        "x<!---->y", "]]&gt;"};
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? gaps[below(w, 6)] : "", w->out);
        fputs(words[below(w, 6)], w->out);
    }
}

/* ---- Schemas ---- */

/* A text does not follow a text: they would be one. */
static int make_parts(struct writer *w, struct cp_part *part) {
    int n = 1 + below(w, MOST_PARTS);
    part[0] = (struct cp_part){MODULE, -1, 0};
    for (int x = 1; x < n; x++) {
        int parent = x - 1;
        while (part[parent].kind > UNION || (parent > 0 && below(w, 3) == 0)) {
            parent = part[parent].parent;
        }
        int kind = part[parent].kind == UNION ? MODULE : below(w, 4);
        if (kind == TEXT && part[x - 1].kind == TEXT && part[x - 1].parent == parent) {
            kind = PARAM;
        }
        part[x] = (struct cp_part){kind, parent, kind < TEXT ? 0 : 1 + below(w, MOST_WORDS)};
    }
    return n;
}

static void put_begin(struct writer *w, const struct cp_part *part, int x) {
    if (part[x].kind == TEXT) {
        put_words(w, part[x].size);
        return;
    }
    put_nothing(w);
    if (part[x].kind == MODULE) {
        fprintf(w->out, below(w, 2) ? "<module name='m%d'>" : "<module\nname = \"m%d\" >", x);
    } else if (part[x].kind == UNION) {
        fputs("<union>", w->out);
    } else {
        fprintf(w->out, "<param len='%d' name='p%d'/>", part[x].size, x);
    }
    put_nothing(w);
}

static void write_schema(struct writer *w, const struct cp_part *part, int n) {
    int open = 0;
    fputs("<schema name='s'>", w->out);
    put_nothing(w);
    for (int x = 1; x <= n; x++) {
        while (open > (x < n ? part[x].parent : 0)) {
            put_nothing(w);
            fputs(part[open].kind == MODULE ? "</module>" : "</union>", w->out);
            put_nothing(w);
            open = part[open].parent;
        }
        if (x < n) {
            put_begin(w, part, x);
            open = part[x].kind <= UNION ? x : open;
        }
    }
    fputs("</schema>", w->out);
    assert_int_equal(fclose(w->out), 0);
}

/* ---- Prompts ---- */

struct wanted {
    int imported[MOST_PARTS];
    int argument[MOST_PARTS]; /* tokens; -1: not given */
    int n;
    struct cp_segment segment[MOST_ADDED];
};

static int module_around(const struct cp_part *part, int x) {
    int parent = part[x].parent;
    return part[parent].kind == UNION ? part[parent].parent : parent;
}

static void choose(struct writer *w, const struct cp_part *part, int n, struct wanted *p) {
    int taken[MOST_PARTS] = {0};
    memset(p, 0, sizeof *p);
    p->imported[0] = 1;
    for (int x = 1; x < n; x++) {
        int is_member = part[part[x].parent].kind == UNION;
        if (part[x].kind == MODULE && p->imported[module_around(part, x)] && below(w, 4) > 0 &&
            !(is_member && taken[part[x].parent])) {
            p->imported[x] = 1;
            taken[part[x].parent] = 1;
        }
        p->argument[x] = part[x].kind == PARAM ? below(w, part[x].size + 2) - 1 : -1;
    }
}

/* In an import a text is behind another one, and in no role. */
static void put_segment(struct writer *w, struct wanted *p, int behind, int is_prompt) {
    put_nothing(w);
    if ((is_prompt || behind >= 0) && below(w, 3) == 0) {
        int size = 1 + below(w, 4), role = below(w, 3);
        int more = is_prompt && role == 0 ? 1 + below(w, 3) : 0;
        put_words(w, size);
        if (more > 0) {
            fputs("<user>", w->out);
            put_words(w, more);
            fputs("</user>", w->out);
        }
        p->segment[p->n++] = (struct cp_segment){behind, size + more};
    }
    put_nothing(w);
}

/* The import of module x and all in it. Depth is that of the schema. */
static void write_import(struct writer *w, const struct cp_part *part, int n, int x,
                         struct wanted *p) {
    int last = -1, is_prompt = x == 0;
    fprintf(w->out, is_prompt ? "<prompt schema='s'" : "<m%d", x);
    for (int y = 1; y < n; y++) {
        if (part[y].kind == PARAM && part[y].parent == x && p->argument[y] >= 0) {
            fprintf(w->out, " p%d='", y);
            for (int i = 0; i < p->argument[y]; i++) {
                fputs(i > 0 ? " \n &amp;" : " w", w->out);
            }
            fputs("'", w->out);
        }
    }
    fputs(">", w->out);
    put_segment(w, p, -1, is_prompt);
    for (int k = 1; k < n; k++) {
        int y = below(w, 2) ? k : n - k; /* in any order; what is left out comes below */
        if (part[y].kind == MODULE && p->imported[y] == 1 && module_around(part, y) == x) {
            p->imported[y] = 2;
            write_import(w, part, n, y, p);
            last = y;
            put_segment(w, p, last, is_prompt);
        }
    }
    for (int y = 1; y < n; y++) {
        if (part[y].kind == MODULE && p->imported[y] == 1 && module_around(part, y) == x) {
            p->imported[y] = 2;
            write_import(w, part, n, y, p);
            last = y;
            put_segment(w, p, last, is_prompt);
        }
    }
    fprintf(w->out, is_prompt ? "</prompt>" : "</m%d>", x);
}

/* No two tokens have one position; and what is there is all that the prompt has. */
static void check_runs(const struct pml_case *c, const struct cp_part *part, int n,
                       const struct wanted *p) {
    int cached = 0, new = 0, end = 0;
    for (int x = 1; x < n; x++) {
        int has = p->imported[part[x].parent] != 0;
        cached += part[x].kind == TEXT && has ? part[x].size : 0;
        new += part[x].kind == PARAM &&has && p->argument[x] > 0 ? p->argument[x] : 0;
    }
    for (int i = 0; i < p->n; i++) {
        new += p->segment[i].size;
    }
    for (int i = 0; i < c->prompt.n_runs; i++) {
        assert_true(c->prompt.run[i].begin >= end);
        end = c->prompt.run[i].begin + c->prompt.run[i].size;
    }
    assert_int_equal(c->prompt.n_cached, cached);
    assert_int_equal(c->prompt.n_new, new);
}

static void check_prompt(struct pml_case *c, unsigned long long seed, const struct cp_part *part,
                         int n) {
    struct writer w;
    struct wanted p;
    int placed[MOST_ADDED];
    begin(&w, seed);
    choose(&w, part, n, &p);
    write_import(&w, part, n, 0, &p);
    assert_int_equal(fclose(w.out), 0);
    if (pml_case_prompt(c, w.text, w.size) != 0) {
        fail_msg("refused: %s\n%s", c->said, w.text);
    }
    for (int x = 0; x < n; x++) {
        assert_int_equal(c->prompt.imported[x] != 0, p.imported[x] != 0);
    }
    for (int i = 0; i < c->prompt.n_arguments; i++) {
        assert_int_equal(c->prompt.argument[i].text.n_tokens,
                         p.argument[c->prompt.argument[i].param]);
    }
    assert_int_equal(c->prompt.n_segments, p.n);
    if (p.n > 0) {
        assert_int_equal(cp_prompt_place(part, n, c->schema.begin, c->schema.size, p.imported,
                                         p.segment, p.n, placed),
                         CP_OK);
    }
    for (int i = 0; i < p.n; i++) {
        assert_int_equal(c->prompt.segment[i].behind, p.segment[i].behind);
        assert_int_equal(c->prompt.segment[i].text.n_tokens, p.segment[i].size);
        assert_int_equal(c->prompt.segment[i].placed, placed[i]);
    }
    check_runs(c, part, n, &p);
    free(w.text);
}

/* PML-4, PML-6, PML-7, PML-10, PML-11 */
static void what_is_written_is_read_again(void **unused) {
    (void)unused;
    for (unsigned long long seed = 1; seed <= ROUNDS; seed++) {
        struct cp_part part[MOST_PARTS];
        struct writer w;
        struct pml_case c;
        begin(&w, seed);
        int n = make_parts(&w, part);
        write_schema(&w, part, n);
        if (pml_case_schema(&c, "words", "none", w.text, w.size) != 0) {
            fail_msg("seed %llu: refused: %s\n%s", seed, c.said, w.text);
        }
        if (c.schema.n_parts != n || memcmp(c.schema.part, part, (size_t)n * sizeof *part) != 0) {
            fail_msg("seed %llu: other parts: %s", seed, w.text);
        }
        check_prompt(&c, w.seed, part, n);
        pml_case_free(&c);
        free(w.text);
    }
}

/* ---- Harm ---- */

static const char example[] =
    "<?xml version='1.0'?>\n<!-- \xE2\x82\xAC --><schema name='s'>a &amp; <module name='m'>"
    "<![CDATA[<x>]]><param name='p' len='3'/><user>b</user></module><union><module name='n'/>"
    "</union><scaffold modules='m n'/></schema>";

/* The file is refused, with one message. */
static void is_refused(const char *text, size_t size) {
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", "none", text, size), -1);
    const char *end = strchr(c.said, '\n');
    assert_non_null(end);
    assert_int_equal(end[1], '\0');
    pml_case_free(&c);
}

/* PML-1 */
static void a_file_that_ends_early_is_refused(void **unused) {
    (void)unused;
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", "none", example, sizeof example - 1), 0);
    assert_int_equal(pml_case_prompt(&c, "<prompt schema='s'/>", 20), 0);
    pml_case_free(&c);
    for (size_t size = 0; size < sizeof example - 1; size++) {
        is_refused(example, size);
    }
}

/* PML-1: each byte of the example, replaced by each of some. It is accepted, or there is a message
 * of one line. */
static void a_changed_byte_does_no_harm(void **unused) {
    (void)unused;
    static const unsigned char bytes[] = {0, '<', '>', '"', '\'', '&', ' ', '/', 'x', 0x80, 0xFF};
    char text[sizeof example];
    for (size_t i = 0; i < sizeof example - 1; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            struct pml_case c;
            memcpy(text, example, sizeof text);
            text[i] = (char)bytes[k];
            int status = pml_case_schema(&c, "words", "none", text, sizeof text - 1);
            size_t n = strlen(c.said);
            assert_int_equal(n > 0, status != 0);
            assert_true(n == 0 || strchr(c.said, '\n') == c.said + n - 1);
            pml_case_free(&c);
        }
    }
}

/* PML-1: what a document type could do. */
static void nothing_is_expanded_and_nothing_is_fetched(void **unused) {
    (void)unused;
    static const char *const files[] = {
        "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
        "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;'>"
        "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'>]><schema name='s'>&e;&e;&e;&e;</schema>",
        "<!DOCTYPE s [<!ENTITY f SYSTEM 'file:///etc/hostname'>]><schema name='s'>&f;</schema>",
        "<!DOCTYPE s [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/p'> %p;]><schema name='s'/>",
        "<!DOCTYPE s SYSTEM '/dev/zero'><schema name='s'/>",
        "<schema name='s' xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include/></schema>",
        "<?xml-stylesheet href='file:///etc/hostname'?><schema name='s'/>",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        is_refused(files[i], strlen(files[i]));
    }
}

/* A file of `n` times `text` between begin and end. */
static char *repeated(const char *first, const char *text, size_t n, const char *last,
                      size_t *size) {
    size_t length = strlen(text);
    *size = strlen(first) + n * length + strlen(last);
    char *file = malloc(*size + 1), *at = file;
    assert_non_null(file);
    at = strcpy(at, first) + strlen(first);
    for (size_t i = 0; i < n; i++, at += length) {
        memcpy(at, text, length);
    }
    strcpy(at, last);
    return file;
}

/* PML-1: limits. */
static void what_is_too_much_is_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *first, *text;
        size_t n;
        const char *last;
    } files[] = {
        {"<schema name='s'>", "<module name='m'>", 64, ""},
        {"<schema name='s'>", "<module name='m'>", 50000, ""},
        {"<schema name='s'", " a=''", 1001, "/>"},
        {"<schema name='s'", " a=''", 300000, "/>"},
        {"<schema name='", "n", 256, "'/>"},
        {"<schema name='", "n", 500000, "'/>"},
        {"", " ", PML_MAX_BYTES + 1, ""},
        {"<schema name='s'>", "<!-- >", 300000, ""},
        {"<schema name='s'>", "<![CDATA[>", 200000, ""},
        {"<schema name='s'>", "<union/>", CP_MAX_PARTS, "</schema>"},
        {"<schema name='s'>", "<module name='m'/>", 50000, "</schema>"},
        {"<schema name='s'>", "&#60;&lt;", 200000, "</schema"},
        {"<schema name='s'>", "x ", CP_MAX_POSITIONS + 1, "</schema>"},
        {"<schema name='s'><module name='m'/>", "<scaffold modules='m'/>", 257, "</schema>"},
        {"\xFF\xFE", "<\0", 1, ""},
        {"\xFE\xFF", "x", 8, ""},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t size;
        char *file = repeated(files[i].first, files[i].text, files[i].n, files[i].last, &size);
        is_refused(file, size);
        free(file);
    }
}

/* Processor time for the file, the least of three times; at least a millisecond, below which a
 * clock says little. */
static double seconds_for(const char *first, const char *text, size_t n) {
    double least = INFINITY;
    size_t size;
    char *file = repeated(first, text, n, "", &size);
    for (int i = 0; i < 3; i++) {
        clock_t before = clock();
        is_refused(file, size);
        least = fmin(least, (double)(clock() - before) / CLOCKS_PER_SEC);
    }
    free(file);
    return fmax(least, 1e-3);
}

/* PML-1: 32 times as much takes about 32 times as long. Where each byte is looked at again for
 * each other one, it is about 1,000 times. */
static void time_does_not_grow_with_the_square_of_a_size(void **unused) {
    (void)unused;
    static const struct {
        const char *first, *text;
    } files[] = {
        {"<schema name='s'>", "<!-- >"}, {"<schema name='s'>", "<![CDATA[>"},
        {"<schema name='s'>", "<? >"},   {"<schema name='s'>", "&#60;&lt;"},
        {"<schema name='s'>", "<m>"},    {"<schema name='s'>", "<m a='"},
        {"<schema name='s'", " a=''"},   {"<schema name='", "n"},
        {"<schema name='s'>", "x "},     {"<schema name='s'>", "<module name='m'/>"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        double once = seconds_for(files[i].first, files[i].text, 8192);
        double more = seconds_for(files[i].first, files[i].text, 32 * 8192);
        if (!(more <= 200 * once)) {
            fail_msg("%s%s...: %f seconds, then %f", files[i].first, files[i].text, once, more);
        }
    }
}

/* PML-1: as many as are allowed. */
static void what_is_just_allowed_is_read(void **unused) {
    (void)unused;
    struct pml_case c;
    size_t size;
    for (size_t n = 63; n <= 64; n++) {
        char *end = repeated("", "</module>", n, "</schema>", &size);
        char *file = repeated("<schema name='s'>", "<module name='m'>", n, end, &size);
        assert_int_equal(pml_case_schema(&c, "words", "none", file, size), n == 63 ? 0 : -1);
        if (n == 63) {
            assert_int_equal(c.schema.n_parts, 64);
        } else {
            assert_non_null(strstr(c.said, "<module> stands in 64 elements. Use fewer levels."));
        }
        pml_case_free(&c);
        free(file);
        free(end);
    }
    char *words = repeated("<schema name='s'>", "x ", CP_MAX_POSITIONS, "</schema>", &size);
    assert_int_equal(pml_case_schema(&c, "words", "none", words, size), 0);
    assert_int_equal(c.schema.size[0], CP_MAX_POSITIONS);
    pml_case_free(&c);
    free(words);
    char *name = repeated("<schema name='", "n", 255, "'/>", &size);
    assert_int_equal(pml_case_schema(&c, "words", "none", name, size), 0);
    pml_case_free(&c);
    free(name);
}

/* PML-1: a file of 10^7 bytes, almost all of which are one thing; and one byte more. */
static void a_file_may_be_one_thing(void **unused) {
    (void)unused;
    static const struct {
        const char *first, *last;
        const char *said;
    } things[] = {{"<schema name='s'><!--", "--></schema>", ""},
                  {"<schema name='s'><![CDATA[", "]]></schema>", ""},
                  {"<schema name='s'>", "</schema>", ""},
                  {"<schema name='s'", "/>", ""},
                  {"<schema name='s'/>", "", ""},
                  {"<schema name='", "s'/>", "is longer than 255 bytes"}};
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        size_t n = 10000000 - strlen(things[i].first) - strlen(things[i].last), size;
        for (size_t more = 0; more <= 1; more++) {
            struct pml_case c;
            char *file = repeated(things[i].first, " ", n + more, things[i].last, &size);
            const char *said = more > 0 ? "more than 10000000 bytes" : things[i].said;
            int status = pml_case_schema(&c, "words", "none", file, size);
            assert_int_equal(status, said[0] != '\0' ? -1 : 0);
            assert_non_null(strstr(c.said, said));
            pml_case_free(&c);
            free(file);
        }
    }
}

/* PML-1: attributes are counted, and quotes in comments and CDATA sections are none. */
static void attributes_have_a_limit(void **unused) {
    (void)unused;
    static char text[1 << 15];
    struct pml_case c;
    for (int n = 1000; n <= 1001; n++) {
        char *at = text + sprintf(text, "<schema name='s'");
        for (int i = 1; i < n; i++) {
            at += sprintf(at, " a%d='\"'", i);
        }
        strcpy(at, "/>");
        assert_int_equal(pml_case_schema(&c, "words", "none", text, strlen(text)), -1);
        assert_non_null(strstr(c.said, n == 1000 ? "has no attribute a1." : "has 1001 attributes"));
        pml_case_free(&c);
    }
    size_t size;
    char *quotes = repeated("<schema name='s'><!--", "'' \"\"", 2000, "--><![CDATA[", &size);
    char *more = repeated(quotes, "''", 2000, "]]></schema>", &size);
    assert_int_equal(pml_case_schema(&c, "words", "none", more, size), 0);
    assert_int_equal(c.schema.size[0], 1);
    pml_case_free(&c);
    free(quotes);
    free(more);
}

/* PML-11: the segments of a prompt. */
static void segments_have_a_limit(void **unused) {
    (void)unused;
    struct pml_case c;
    static char schema[1 << 19], prompt[1 << 19];
    char *s = schema + sprintf(schema, "<schema name='s'>");
    char *p = prompt + sprintf(prompt, "<prompt schema='s'>");
    for (int i = 0; i < 4097; i++) {
        s += sprintf(s, "<module name='m%d'/>", i);
        p += sprintf(p, "<m%d/>x", i);
    }
    strcpy(s, "</schema>");
    strcpy(p, "</prompt>");
    assert_int_equal(pml_case_schema(&c, "words", "none", schema, strlen(schema)), 0);
    assert_int_equal(pml_case_prompt(&c, prompt, strlen(prompt)), -1);
    assert_non_null(strstr(c.said, "more than 4096 texts"));
    pml_case_free_prompt(&c);
    strcpy(strstr(prompt, "<m4096/>"), "</prompt>");
    assert_int_equal(pml_case_prompt(&c, prompt, strlen(prompt)), 0);
    assert_int_equal(c.prompt.n_segments, 4096);
    pml_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_file_that_ends_early_is_refused),
        cmocka_unit_test(a_changed_byte_does_no_harm),
        cmocka_unit_test(nothing_is_expanded_and_nothing_is_fetched),
        cmocka_unit_test(what_is_too_much_is_refused),
        cmocka_unit_test(time_does_not_grow_with_the_square_of_a_size),
        cmocka_unit_test(what_is_just_allowed_is_read),
        cmocka_unit_test(a_file_may_be_one_thing),
        cmocka_unit_test(attributes_have_a_limit),
        cmocka_unit_test(segments_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
