/* SPDX-License-Identifier: Apache-2.0 */
/* No role of a prompt stands within a role of its schema (PML-8): by examples, and for random
 * schemas and prompts, in which each position is looked at. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/pml_case.h"
#include "tests/random.h"

#define ROUNDS     3000
#define MODULES    7
#define MOST_WORDS 3
#define POSITIONS  (MODULES * (MOST_WORDS + 1) + 1)

/* ---- Examples ---- */

static const char schema[] =
    "<schema name='s'>x\n"
    "<system>be <module name='a'>a</module><module name='b'>b b b</module>"
    "<param name='q' len='1'/></system><user><module name='c'>c</module></user>"
    "<module name='d'><user>d<module name='e'>e e</module>"
    "<param name='p' len='2'/></user></module></schema>";

/* `said`: words of the message, or NULL where the prompt is accepted. */
static void is_judged(const char *template, const char *prompt, const char *said) {
    struct pml_case c;
    assert_int_equal(pml_case_schema(&c, "words", template, schema, strlen(schema)), 0);
    int status = pml_case_prompt(&c, prompt, strlen(prompt));
    if ((status != 0) != (said != NULL) || (said != NULL && strstr(c.said, said) == NULL)) {
        fail_msg("%s, template %s: %s", prompt, template, status == 0 ? "accepted" : c.said);
    }
    pml_case_free(&c);
}

static void a_role_in_a_gap_of_a_role_is_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *prompt, *said; /* with chatml */
    } prompts[] = {
        {"<prompt schema='s'>\n<a/><user>hi</user></prompt>",
         "p.xml:2:5: <user> would stand within the <system> of s.xml:2:1, in the room of what is "
         "left out there. Put <user> before all imports"},
        {"<prompt schema='s'><a/>hi <assistant></assistant></prompt>",
         "p.xml:1:27: <assistant> would stand within the <system> of s.xml:2:1,"},
        {"<prompt schema='s'><a/>hi</prompt>", NULL},                    /* it has no role */
        {"<prompt schema='s'><a/><user>hi there</user></prompt>", NULL}, /* it has no room */
        {"<prompt schema='s'><a/><b/><user>hi</user></prompt>", NULL},
        {"<prompt schema='s'><c/><user>hi</user></prompt>", NULL},
        {"<prompt schema='s'><user>hi</user><a/></prompt>", NULL},
        {"<prompt schema='s'><d><e/></d><user>hi</user></prompt>", NULL},
    };
    for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
        is_judged("chatml", prompts[i].prompt, prompts[i].said);
    }
    /* Without a template a role has the tokens in it alone: here none behind a, or an argument. */
    is_judged("none", "<prompt schema='s'><a/><user>1 2 3</user></prompt>", NULL);
    is_judged("none", "<prompt schema='s' q='1'><a/><user>1 2 3</user></prompt>", "p.xml:1:30: <");
    is_judged("none", "<prompt schema='s' q='1'><a/>1 2 3</prompt>", NULL);
    is_judged("none", "<prompt schema='s' q='1'><a/><user xml:space='preserve'> </user></prompt>",
              NULL);
    is_judged("none", "<prompt schema='s' q='1'><a/>1\n<user>2</user><system>3</system></prompt>",
              "p.xml:2:1: <user> would");
}

/* ---- Random schemas and prompts ---- */

/* A module of the schema, and words behind it that stand in the same role, or in none. */
struct module {
    int words, behind;
    int role; /* 0: none; neighbours with the same number stand in one role */
    int begin;
};

struct text {
    int module, words, has_role; /* no words: the module is imported, and nothing follows */
};

static void put_words(FILE *out, int n) {
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? " w" : "w", out);
    }
}

/* Returns how many positions the schema has. */
static int make_schema(FILE *out, struct module *module, unsigned long long *random) {
    int role = 0, n_roles = 0, end = 0;
    fputs("<schema name='s'>\n", out);
    for (int k = 0; k < MODULES; k++) {
        int next = random_below(random, 3) > 0 ? role : random_below(random, 4) > 0 ? ++n_roles : 0;
        int behind = random_below(random, 4) == 0;
        module[k] = (struct module){random_below(random, MOST_WORDS + 1), behind, next, end};
        fputs(next != role && role > 0 ? "</system>" : "", out);
        fputs(next != role && next > 0 ? "<system>" : "", out);
        role = next;
        fprintf(out, "<module name='m%d'>", k);
        put_words(out, module[k].words);
        fputs("</module>", out);
        put_words(out, behind);
        end += module[k].words + behind;
    }
    fputs(role > 0 ? "</system></schema>" : "</schema>", out);
    return end;
}

/* One import a line, in any order, and texts behind some. Returns how many lines. */
static int make_prompt(FILE *out, struct text *text, unsigned long long *random) {
    int n = 0, turn = random_below(random, MODULES);
    fputs("<prompt schema='s'>\n", out);
    for (int i = 0; i < MODULES; i++) {
        int k = (turn + 3 * i) % MODULES;
        if (random_below(random, 2) > 0) {
            text[n] = (struct text){.module = k, .words = random_below(random, MOST_WORDS)};
            text[n].has_role = random_below(random, 2);
            fprintf(out, "<m%d/>", k);
            fputs(text[n].words > 0 && text[n].has_role ? "<user>" : "", out);
            put_words(out, text[n].words);
            fputs(text[n].words > 0 && text[n].has_role ? "</user>\n" : "\n", out);
            n++;
        }
    }
    fputs("</prompt>", out);
    return n;
}

/* Which role the token at each position is of; -1: there is none. */
static void find_owners(const struct module *module, const struct text *text, int n, int *owner) {
    int imported[MODULES] = {0};
    for (int i = 0; i < POSITIONS; i++) {
        owner[i] = -1;
    }
    for (int i = 0; i < n; i++) {
        imported[text[i].module] = 1;
    }
    for (int k = 0; k < MODULES; k++) {
        int from = imported[k] ? 0 : module[k].words, end = module[k].words + module[k].behind;
        for (int i = from; i < end; i++) {
            owner[module[k].begin + i] = module[k].role;
        }
    }
}

static int stands_within_a_role(const int *owner, int position) {
    for (int i = 0; i < position; i++) {
        for (int j = position; j < POSITIONS && owner[i] > 0; j++) {
            if (owner[j] == owner[i]) {
                return 1;
            }
        }
    }
    return 0;
}

/* MOD-6: where each text stands. Returns the line of the first role that stands within a role of
 * the schema; 0: none does. */
static int first_wrong_line(const struct module *module, const struct text *text, int n, int size) {
    int owner[POSITIONS], taken[POSITIONS];
    find_owners(module, text, n, owner);
    memcpy(taken, owner, sizeof taken);
    for (int i = 0; i < n; i++) {
        const struct module *m = &module[text[i].module];
        int begin = m->begin + m->words, is_free = begin + text[i].words <= POSITIONS;
        for (int k = 0; k < text[i].words && is_free; k++) {
            is_free = taken[begin + k] < 0;
        }
        if (text[i].words > 0 && is_free) {
            for (int k = 0; k < text[i].words; k++) {
                taken[begin + k] = 0;
            }
            size = begin + text[i].words > size ? begin + text[i].words : size;
            if (text[i].has_role && stands_within_a_role(owner, begin)) {
                return i + 2;
            }
        } else {
            size += text[i].words;
        }
    }
    return 0;
}

static void a_role_stands_in_none_of_a_random_schema(void **unused) {
    (void)unused;
    unsigned long long random = 8;
    int n_refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct module module[MODULES];
        struct text text[MODULES];
        struct pml_case c;
        char *files[2], said[64];
        size_t sizes[2];
        FILE *out = open_memstream(&files[0], &sizes[0]);
        int size = make_schema(out, module, &random);
        assert_int_equal(fclose(out), 0);
        out = open_memstream(&files[1], &sizes[1]);
        int line = first_wrong_line(module, text, make_prompt(out, text, &random), size);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(pml_case_schema(&c, "words", "none", files[0], sizes[0]), 0);
        assert_int_equal(c.schema.size[0], size);
        int status = pml_case_prompt(&c, files[1], sizes[1]);
        (void)snprintf(said, sizeof said, "p.xml:%d:6: <user> would stand", line);
        if ((status != 0) != (line > 0) || (line > 0 && strstr(c.said, said) != c.said)) {
            fail_msg("round %d: line %d, and said is: %s\n%s\n%s", round, line, c.said, files[0],
                     files[1]);
        }
        n_refused += line > 0;
        pml_case_free(&c);
        free(files[0]);
        free(files[1]);
    }
    assert_true(n_refused > ROUNDS / 50 && n_refused < ROUNDS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_in_a_gap_of_a_role_is_refused),
        cmocka_unit_test(a_role_stands_in_none_of_a_random_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
