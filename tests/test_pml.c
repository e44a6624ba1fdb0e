/* SPDX-License-Identifier: Apache-2.0 */
/* What schemas and prompts mean, clause by clause (spec/pml.md). Expected values are from the
 * clauses, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/prompt/report.h"
#include "tests/pml_case.h"

#define MODULE CP_PART_MODULE
#define UNION  CP_PART_UNION
#define TEXT   CP_PART_TEXT
#define PARAM  CP_PART_PARAM

static void read_schema(struct pml_case *c, const char *tokens, const char *template,
                        const char *text) {
    if (pml_case_schema(c, tokens, template, text, strlen(text)) != 0) {
        fail_msg("refused: %s", c->said);
    }
    assert_string_equal(c->said, "");
}

static void read_prompt(struct pml_case *c, const char *text) {
    if (pml_case_prompt(c, text, strlen(text)) != 0) {
        fail_msg("refused: %s", c->said);
    }
    assert_string_equal(c->said, "");
}

static void is_part(const struct pml_case *c, int x, int kind, int parent, int size) {
    assert_in_range(x, 0, c->schema.n_parts - 1);
    assert_int_equal(c->schema.part[x].kind, kind);
    assert_int_equal(c->schema.part[x].parent, parent);
    assert_int_equal(c->schema.part[x].size, size);
}

static void is_text(const struct pml_case *c, int x, int parent, const char *text) {
    assert_int_equal(c->schema.part[x].kind, TEXT);
    assert_int_equal(c->schema.part[x].parent, parent);
    assert_string_equal(pml_case_text(&c->schema.texts, &c->schema.about[x].text), text);
    assert_int_equal(c->schema.about[x].text.size, strlen(text));
}

/* The one text of a schema in bytes; NULL: it has none. */
static void means(const char *content, const char *text) {
    char schema[512];
    struct pml_case c;
    assert_in_range(snprintf(schema, sizeof schema, "<schema name='s'>%s</schema>", content), 1,
                    sizeof schema - 1);
    read_schema(&c, "bytes", "none", schema);
    assert_int_equal(c.schema.n_parts, text != NULL ? 2 : 1);
    if (text != NULL) {
        is_text(&c, 1, 0, text);
        assert_int_equal(c.schema.part[1].size, strlen(text));
    }
    pml_case_free(&c);
}

/* Run i of the prompt. */
static void is_run(const struct pml_case *c, int i, enum pml_run_kind kind, int begin, int size,
                   int from) {
    assert_in_range(i, 0, c->prompt.n_runs - 1);
    assert_int_equal(c->prompt.run[i].kind, kind);
    assert_int_equal(c->prompt.run[i].begin, begin);
    assert_int_equal(c->prompt.run[i].size, size);
    assert_int_equal(c->prompt.run[i].from, from);
}

static void is_segment(const struct pml_case *c, int i, int behind, int placed, const char *text) {
    assert_in_range(i, 0, c->prompt.n_segments - 1);
    assert_int_equal(c->prompt.segment[i].behind, behind);
    assert_int_equal(c->prompt.segment[i].placed, placed);
    assert_string_equal(pml_case_text(&c->prompt.texts, &c->prompt.segment[i].text), text);
}

/* ---- Files and text ---- */

/* PML-1 */
static void text_is_what_xml_says(void **unused) {
    (void)unused;
    means("a<!-- x -->b", "ab");
    means("&lt;&gt;&amp;&quot;&apos;&#65;&#x42;", "<>&\"'AB");
    means("a <![CDATA[<b> & c]]> d", "a <b> & c d");
    means("caf\xC3\xA9", "caf\xC3\xA9");
    struct pml_case c;
    read_schema(&c, "words", "none",
                "\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?>\n<!-- x --><schema name='s'/>"
                "<!-- y -->");
    assert_int_equal(c.schema.n_parts, 1);
    assert_int_equal(c.schema.size[0], 0);
    pml_case_free(&c);
}

/* PML-4 */
static void indentation_is_nothing_and_blanks_are_one(void **unused) {
    (void)unused;
    means("", NULL);
    means("  \t \r\n  ", NULL);
    means("<!-- x -->  ", NULL);
    means("\n    a  b\n\n\tc\n  ", "a b c");
    means(" a ", " a ");
    means("  a\t", " a ");
    means("a&#10;b&#13;c&#9;d", "a b c d");
    means("<![CDATA[  a\n\n b ]]>", " a b ");
    means("a\xC2\xA0 b", "a\xC2\xA0 b"); /* a blank that is not one of XML's */
}

/* PML-4 */
static void white_space_is_kept_where_it_is_asked_for(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(
        &c, "bytes", "none",
        "<schema name='s' xml:space='preserve'>\n"
        "<module name='a' xml:space='default'> x\n</module><module name='b'> x\r\n\ty </module>"
        "<union>\n<module name='c'><module name='d'> </module></module> </union>"
        "</schema>");
    is_text(&c, 1, 0, "\n");
    is_part(&c, 2, MODULE, 0, 0);
    is_text(&c, 3, 2, " x");
    is_text(&c, 5, 4, " x\n\ty ");
    is_part(&c, 6, UNION, 0, 0);
    is_text(&c, 9, 8, " ");
    assert_int_equal(c.schema.n_parts, 10);
    pml_case_free(&c);
}

/* PML-2, PML-4: white space alone, and comments, even where white space is kept. */
static void an_empty_element_may_have_white_space(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(
        &c, "words", "none",
        "<?xml version='1.1'?><schema name='s'><param name='p' len='3' xml:space='preserve'>"
        "\n<!-- x -->&#9;</param><module name='m'/><scaffold modules='m'>\n</scaffold>"
        "</schema>");
    is_part(&c, 1, PARAM, 0, 3);
    is_part(&c, 2, MODULE, 0, 0);
    assert_int_equal(c.schema.n_parts, 3);
    assert_int_equal(c.schema.n_scaffolds, 1);
    /* PML-4: white space in an argument is one blank. */
    read_prompt(&c, "<prompt schema='s' p=' x \n y&#10;&#9;z '/>");
    assert_string_equal(pml_case_text(&c.prompt.texts, &c.prompt.argument[0].text), "x y z");
    pml_case_free(&c);
}

/* PML-5 */
static void words_are_what_white_space_divides(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'>one two<union/>two\n one, three <union/>"
                "<module name='m' xml:space='preserve'> \n </module></schema>");
    const int tokens[] = {0, 1, 1, 2, 3};
    is_part(&c, 1, TEXT, 0, 2);
    is_part(&c, 3, TEXT, 0, 3);
    assert_int_equal(c.schema.texts.n_tokens, 5);
    assert_memory_equal(c.schema.texts.token, tokens, sizeof tokens);
    is_part(&c, 6, TEXT, 5, 0); /* a text without tokens is a part */
    read_prompt(&c, "<prompt schema='s'>three four one</prompt>");
    const int others[] = {3, 4, 0};
    assert_memory_equal(c.prompt.texts.token, others, sizeof others);
    pml_case_free(&c);
}

/* PML-5: more words than the table begins with, and equal ones far apart. */
static void many_words_keep_their_numbers(void **unused) {
    (void)unused;
    struct pml_tokenizer t = pml_tokens_words();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            char word[16];
            int token;
            int size = snprintf(word, sizeof word, "w%d", i);
            assert_int_equal(t.encode(t.state, word, (size_t)size, 0, &token), 1);
            assert_int_equal(token, i);
        }
    }
    pml_tokenizer_free(&t);
}

/* PML-5 */
static void bytes_are_their_numbers(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "bytes", "none", "<schema name='s'>a\xC3\xA9</schema>");
    const int tokens[] = {0x61, 0xC3, 0xA9};
    is_part(&c, 1, TEXT, 0, 3);
    assert_memory_equal(c.schema.texts.token, tokens, sizeof tokens);
    pml_case_free(&c);
}

/* ---- Schemas ---- */

#define FORTY                                                                                      \
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "            \
    "31 32 33 34 35 36 37 38 39 40"
#define THIRTY "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30"

static const char travel[] =
    "<schema name=\"travel\">\n  You are a travel guide.\n  <module name=\"trip-plan\">\n"
    "    Plan a trip of\n    <param name=\"duration\" len=\"4\"/>\n  </module>\n  <union>\n"
    "    <module name=\"tokyo\">" FORTY "</module>\n    <module name=\"miami\">" THIRTY
    "</module>\n  </union>\n  Answer in a few short words.\n</schema>\n";

/* PML-6: the parts of the table that begins spec/modules.md. */
static void the_example_has_the_parts_of_the_chapter_on_modules(void **unused) {
    (void)unused;
    static const struct cp_part example[11] = {
        {MODULE, -1, 0}, {TEXT, 0, 5},  {MODULE, 0, 0}, {TEXT, 2, 4},  {PARAM, 2, 4}, {UNION, 0, 0},
        {MODULE, 5, 0},  {TEXT, 6, 40}, {MODULE, 5, 0}, {TEXT, 8, 30}, {TEXT, 0, 6},
    };
    const int begins[11] = {0, 0, 5, 5, 9, 13, 13, 13, 13, 13, 53};
    struct pml_case c;
    read_schema(&c, "words", "none", travel);
    assert_int_equal(c.schema.n_parts, 11);
    assert_memory_equal(c.schema.part, example, sizeof example);
    assert_memory_equal(c.schema.begin, begins, sizeof begins);
    pml_case_free(&c);
}

/* PML-6, PML-2 */
static void a_role_is_no_part_and_no_scope(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'><system>a<module name='m'/></system><module name='n'><user>"
                "<param name='p' len='2'/><union><module name='o'/></union>b c</user></module>"
                "</schema>");
    is_part(&c, 1, TEXT, 0, 1);
    is_part(&c, 2, MODULE, 0, 0);
    is_part(&c, 3, MODULE, 0, 0);
    is_part(&c, 4, PARAM, 3, 2);
    is_part(&c, 5, UNION, 3, 0);
    is_part(&c, 6, MODULE, 5, 0);
    is_part(&c, 7, TEXT, 3, 2);
    assert_int_equal(c.schema.n_parts, 8);
    read_prompt(&c, "<prompt schema='s'><m/><n p='x'><o/></n></prompt>");
    pml_case_free(&c);
}

/* PML-6: as if the tags were not there, but that a text ends at them. */
static void a_module_without_a_name_is_no_part_and_no_scope(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'>a<module>b<module name='m'>c<module xml:space='preserve'> "
                "<module name='n'/></module></module></module><module><param name='p' len='1'/>"
                "</module></schema>");
    is_text(&c, 1, 0, "a");
    is_text(&c, 2, 0, "b");
    is_part(&c, 3, MODULE, 0, 0);
    is_text(&c, 4, 3, "c");
    is_text(&c, 5, 3, " ");
    is_part(&c, 6, MODULE, 3, 0);
    is_part(&c, 7, PARAM, 0, 1);
    assert_int_equal(c.schema.n_parts, 8);
    read_prompt(&c, "<prompt schema='s' p='x'><m><n/></m></prompt>");
    pml_case_free(&c);
}

/* PML-8 */
static void a_template_adds_texts_around_a_role(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "bytes", "chatml",
                "<schema name='s'>\n<system>be kind</system>\n<module name='m'><assistant/>"
                "</module></schema>");
    is_text(&c, 1, 0, "<|im_start|>system\n");
    is_text(&c, 2, 0, "be kind");
    is_text(&c, 3, 0, "<|im_end|>\n");
    is_text(&c, 5, 4, "<|im_start|>assistant\n");
    is_text(&c, 6, 4, "<|im_end|>\n");
    assert_int_equal(c.schema.about[1].role, PML_SYSTEM);
    assert_int_equal(c.schema.about[2].role, PML_ROLES);
    assert_int_equal(c.schema.about[6].role, PML_ASSISTANT);
    assert_int_equal(c.schema.n_parts, 7);
    read_prompt(&c, "<prompt schema='s'><user>hi</user></prompt>");
    is_segment(&c, 0, -1, c.schema.size[0], "<|im_start|>user\nhi<|im_end|>\n");
    pml_case_free(&c);
    read_schema(&c, "bytes", "llama2",
                "<schema name='s'><system>S</system><user>U</user><assistant>A</assistant>"
                "</schema>");
    is_text(&c, 1, 0, "<s>[INST] <<SYS>>\n");
    is_text(&c, 3, 0, "\n<</SYS>>\n\n");
    is_text(&c, 4, 0, "U");
    is_text(&c, 5, 0, " [/INST]");
    is_text(&c, 6, 0, " ");
    is_text(&c, 8, 0, " </s><s>[INST] ");
    pml_case_free(&c);
}

/* PML-3: a name means the module of the scope. */
static void scopes_divide_names(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='module'><module name='a'><param name='a' len='1'/><module name='a'>"
                "x</module></module><module name='b'><union><module name='a'>x y</module></union>"
                "<param name='user' len='1'/></module><param name='a' len='3'/></schema>");
    read_prompt(&c, "<prompt schema='module' a='1 2 3'><b user='me'><a/></b><a a='1'/></prompt>");
    assert_int_equal(c.prompt.imported[1], 4); /* node 3 */
    assert_int_equal(c.prompt.imported[3], 0);
    assert_int_equal(c.prompt.imported[5], 2);
    assert_int_equal(c.prompt.imported[7], 3);
    assert_int_equal(c.prompt.argument[0].param, 10);
    assert_int_equal(c.prompt.argument[1].param, 9);
    assert_int_equal(c.prompt.argument[2].param, 2);
    pml_case_free(&c);
}

/* PML-9, MOD-3 */
static void scaffolds_are_sets_of_paths(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'><scaffold modules='a b'/><scaffold modules=' a \n b  a/c '/>"
                "<module name='a'>x<module name='c'>y</module></module><module name='b'>z</module>"
                "<module name='d'>w</module></schema>");
    const int modules[] = {1, 5, 1, 5, 3};
    assert_int_equal(c.schema.n_scaffolds, 2);
    assert_int_equal(c.schema.scaffold[0].n, 2);
    assert_int_equal(c.schema.scaffold[1].n, 3);
    assert_memory_equal(c.schema.module, modules, sizeof modules);
    pml_case_free(&c);
}

/* ---- The mask ---- */

static void sees(const struct pml_case *c, int module, int scaffold, int n, const int *modules) {
    int seen[64];
    assert_int_equal(pml_mask_scaffold(&c->prompt, module), scaffold);
    assert_int_equal(pml_mask_sees(&c->schema, module, scaffold, seen), n);
    assert_memory_equal(seen, modules, (size_t)n * sizeof *modules);
}

/* MOD-3: the largest scaffold that applies and holds the module counts. */
static void the_largest_scaffold_counts(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'><scaffold modules='a b'/><scaffold modules='a b d'/>"
                "<module name='a'>x<module name='c'>y</module></module><module name='b'>z</module>"
                "<module name='d'>w</module></schema>");
    read_prompt(&c, "<prompt schema='s'><a/><d/></prompt>");
    sees(&c, 0, -1, 1, (const int[]){0});
    sees(&c, 1, -1, 2, (const int[]){0, 1});
    sees(&c, 7, -1, 2, (const int[]){0, 7});
    pml_case_free_prompt(&c);
    read_prompt(&c, "<prompt schema='s'><b/><a><c/></a></prompt>");
    sees(&c, 0, -1, 1, (const int[]){0});
    sees(&c, 1, 0, 3, (const int[]){0, 1, 5});
    sees(&c, 3, 0, 4, (const int[]){0, 1, 3, 5});
    sees(&c, 5, 0, 3, (const int[]){0, 1, 5});
    pml_case_free_prompt(&c);
    read_prompt(&c, "<prompt schema='s'><b/><a><c/></a><d/></prompt>");
    sees(&c, 3, 1, 5, (const int[]){0, 1, 3, 5, 7});
    sees(&c, 7, 1, 4, (const int[]){0, 1, 5, 7});
    pml_case_free(&c);
}

/* ---- Prompts ---- */

/* PML-7, PML-10, PML-11: the example of the chapter. */
static void the_example_is_cached_but_for_what_it_adds(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none", travel);
    read_prompt(&c, "<prompt schema=\"travel\">\n  <trip-plan duration=\"3 days\"/>\n  <miami/>\n"
                    "  Highlight the surf spots.\n</prompt>\n");
    assert_int_equal(c.prompt.n_runs, 6);
    is_run(&c, 0, PML_CACHED, 0, 5, 1);
    is_run(&c, 1, PML_CACHED, 5, 4, 3);
    is_run(&c, 2, PML_ARGUMENT, 9, 2, 0);
    is_run(&c, 3, PML_CACHED, 13, 30, 9);
    is_run(&c, 4, PML_NEW, 43, 4, 0);
    is_run(&c, 5, PML_CACHED, 53, 6, 10);
    is_segment(&c, 0, 8, 43, "Highlight the surf spots.");
    assert_int_equal(c.prompt.n_cached, 45);
    assert_int_equal(c.prompt.n_new, 6);
    pml_case_free(&c);
}

/* PML-7 */
static void an_argument_may_be_missing_or_empty(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "bytes", "none",
                "<schema name='s'><module name='m'><param name='p' len='6'/><param name='q' "
                "len='1'/></module></schema>");
    read_prompt(&c, "<prompt schema='s'><m p=''/></prompt>");
    assert_int_equal(c.prompt.n_arguments, 1);
    assert_int_equal(c.prompt.n_runs, 0);
    pml_case_free_prompt(&c);
    read_prompt(&c, "<prompt schema='s'><m q='y' p=' a&#10;\n  &amp;b '/></prompt>");
    is_run(&c, 0, PML_ARGUMENT, 0, 4, 1);
    is_run(&c, 1, PML_ARGUMENT, 6, 1, 0);
    assert_string_equal(pml_case_text(&c.prompt.texts, &c.prompt.argument[1].text), "a &b");
    pml_case_free_prompt(&c);
    read_prompt(&c, "<prompt schema='s'><m p=' a&#10;  ' xml:space='preserve'/></prompt>");
    assert_string_equal(pml_case_text(&c.prompt.texts, &c.prompt.argument[0].text), " a\n  ");
    pml_case_free(&c);
}

/* PML-10: positions are those of the schema. */
static void imports_come_in_any_order(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'><module name='a'>1</module><module name='b'>2 3</module>"
                "</schema>");
    read_prompt(&c, "<prompt schema='s'><b/><a/>x</prompt>");
    is_run(&c, 0, PML_CACHED, 0, 1, 2);
    is_run(&c, 1, PML_CACHED, 1, 2, 4);
    is_run(&c, 2, PML_NEW, 3, 1, 0); /* behind a there is no room */
    is_segment(&c, 0, 1, 3, "x");
    pml_case_free(&c);
}

/* PML-11 */
static void text_between_imports_is_one_segment(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "chatml",
                "<schema name='s'><module name='a'>1 2<module name='b'>3</module><module name='c'>"
                "4 5 6</module></module><module name='d'>7 8 9 10 11 12</module></schema>");
    read_prompt(&c, "<prompt schema='s'>\n zero <!-- --> one <user> two\n</user> three\n"
                    "<a>\n <b/> four <!-- --> five\n </a>\n six<user>seven</user>\n</prompt>");
    assert_int_equal(c.prompt.n_segments, 3);
    is_segment(&c, 0, -1, 12, "zero one <|im_start|>user\n two<|im_end|>\n three");
    is_segment(&c, 1, 3, 3, " four five");
    is_segment(&c, 2, 1, 6, "six<|im_start|>user\nseven<|im_end|>\n");
    pml_case_free(&c);
}

/* PML-11, MOD-6: two texts do not get one place, as in the paper's prototype. */
static void no_text_overwrites_another(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "none",
                "<schema name='s'><module name='a'>1 2</module><module name='b'>3 4 5 6</module>"
                "<module name='c'>7</module></schema>");
    read_prompt(&c, "<prompt schema='s'><a/>i j k<c/>l m n</prompt>");
    is_segment(&c, 0, 1, 2, "i j k");
    is_segment(&c, 1, 5, 7, "l m n");
    is_run(&c, 0, PML_CACHED, 0, 2, 2);
    is_run(&c, 1, PML_NEW, 2, 3, 0);
    is_run(&c, 2, PML_CACHED, 6, 1, 6);
    is_run(&c, 3, PML_NEW, 7, 3, 1);
    pml_case_free(&c);
}

/* PML-4, PML-11 */
static void white_space_alone_in_an_import_is_nothing(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "bytes", "none",
                "<schema name='s'><module name='a'><module name='b'>x</module></module></schema>");
    read_prompt(&c, "<prompt schema='s' xml:space='preserve'> <a> <b> </b> </a>\n</prompt>");
    assert_int_equal(c.prompt.n_segments, 2);
    is_segment(&c, 0, -1, 1, " ");
    is_segment(&c, 1, 1, 2, "\n");
    pml_case_free(&c);
}

static void is_reported(const struct pml_texts *texts, const struct pml_text *text,
                        const char *words) {
    char *line = report_words(texts, text);
    assert_string_equal(line, words);
    free(line);
}

/* PML-11: in a report, the texts of two roles of one segment are not glued. */
static void roles_of_a_segment_are_divided_in_a_report(void **unused) {
    (void)unused;
    struct pml_case c;
    read_schema(&c, "words", "llama2", "<schema name='s'><assistant>x</assistant></schema>");
    is_reported(&c.schema.texts, &c.schema.about[1].text, "\" \"");
    is_reported(&c.schema.texts, &c.schema.about[2].text, "x");
    pml_case_free(&c);
    read_schema(&c, "words", "none", "<schema name='s'/>");
    read_prompt(&c, "<prompt schema='s'><assistant>Great.</assistant><user>a<!-- b -->c</user>"
                    "<user/>Are <user>you</user> sure?</prompt>");
    is_segment(&c, 0, -1, 0, "Great.acAre you sure?");
    is_reported(&c.prompt.texts, &c.prompt.segment[0].text, "Great. | ac | Are you sure?");
    pml_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_what_xml_says),
        cmocka_unit_test(indentation_is_nothing_and_blanks_are_one),
        cmocka_unit_test(white_space_is_kept_where_it_is_asked_for),
        cmocka_unit_test(an_empty_element_may_have_white_space),
        cmocka_unit_test(words_are_what_white_space_divides),
        cmocka_unit_test(many_words_keep_their_numbers),
        cmocka_unit_test(bytes_are_their_numbers),
        cmocka_unit_test(the_example_has_the_parts_of_the_chapter_on_modules),
        cmocka_unit_test(a_role_is_no_part_and_no_scope),
        cmocka_unit_test(a_module_without_a_name_is_no_part_and_no_scope),
        cmocka_unit_test(a_template_adds_texts_around_a_role),
        cmocka_unit_test(scopes_divide_names),
        cmocka_unit_test(scaffolds_are_sets_of_paths),
        cmocka_unit_test(the_largest_scaffold_counts),
        cmocka_unit_test(the_example_is_cached_but_for_what_it_adds),
        cmocka_unit_test(an_argument_may_be_missing_or_empty),
        cmocka_unit_test(imports_come_in_any_order),
        cmocka_unit_test(text_between_imports_is_one_segment),
        cmocka_unit_test(no_text_overwrites_another),
        cmocka_unit_test(roles_of_a_segment_are_divided_in_a_report),
        cmocka_unit_test(white_space_alone_in_an_import_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
