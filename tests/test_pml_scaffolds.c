/* SPDX-License-Identifier: Apache-2.0 */
/* PML-9 and MOD-3 by all prompts of small random schemas: which scaffolds are allowed, which counts
 * for a module, and what is seen then. The rule is that of the clause, said by prompts: two
 * scaffolds are refused when one prompt has both, they hold a module in common, and neither has all
 * modules of the other; one is refused when it counts for no module of any prompt. */
#define _DEFAULT_SOURCE /* open_memstream() */
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

#define ROUNDS       20000
#define MOST_MODULES 8 /* besides part 0 */
#define MOST_PARTS   (2 * MOST_MODULES + 1)
#define SCAFFOLDS    3

/* Sets of parts are bits. */
struct world {
    struct cp_part part[MOST_PARTS];
    int n;
    unsigned around[MOST_PARTS]; /* of a module: it and the modules around it, but for part 0 */
    unsigned scaffold[SCAFFOLDS];
    int n_prompts;
    unsigned prompt[1 << MOST_MODULES]; /* all sets of modules that one may import */
};

static int has(unsigned set, int x) {
    return (set >> x & 1) != 0;
}

static int count(unsigned set) {
    int n = 0;
    for (; set != 0; set &= set - 1) {
        n++;
    }
    return n;
}

static void add(struct world *w, int kind, int parent) {
    unsigned up = w->part[parent].kind == CP_PART_UNION ? w->around[w->part[parent].parent]
                                                        : w->around[parent];
    w->around[w->n] = up | (kind == CP_PART_MODULE ? 1U << w->n : 0);
    w->part[w->n++] = (struct cp_part){kind, parent, 0};
}

static void make_parts(struct world *w, unsigned long long *seed) {
    int modules = 2 + random_below(seed, MOST_MODULES - 1);
    w->part[0] = (struct cp_part){CP_PART_MODULE, -1, 0};
    w->around[0] = 0;
    w->n = 1;
    while (modules > 0) {
        int parent = w->n - 1;
        while (parent > 0 && random_below(seed, 2) == 0) {
            parent = w->part[parent].parent;
        }
        if (w->part[parent].kind == CP_PART_MODULE && w->n < MOST_PARTS - modules &&
            random_below(seed, 3) == 0) {
            add(w, CP_PART_UNION, parent);
        } else {
            add(w, CP_PART_MODULE, parent);
            modules--;
        }
    }
}

/* All sets of modules for which cp_prompt_check(), which is proved, finds nothing. */
static void find_prompts(struct world *w) {
    unsigned modules = 0;
    w->n_prompts = 0;
    for (int x = 1; x < w->n; x++) {
        modules |= w->part[x].kind == CP_PART_MODULE ? 1U << x : 0;
    }
    for (unsigned set = modules;; set = (set - 1) & modules) {
        int imported[MOST_PARTS] = {1};
        for (int x = 1; x < w->n; x++) {
            imported[x] = has(set, x);
        }
        if (cp_prompt_check(w->part, w->n, imported) == -1) {
            w->prompt[w->n_prompts++] = set;
        }
        if (set == 0) {
            break;
        }
    }
}

static void make_scaffolds(struct world *w, unsigned long long *seed) {
    for (int i = 0; i < SCAFFOLDS; i++) {
        do {
            w->scaffold[i] = 0;
            for (int x = 1; x < w->n; x++) {
                if (w->part[x].kind == CP_PART_MODULE && random_below(seed, 3) == 0) {
                    w->scaffold[i] |= 1U << x;
                }
            }
        } while (w->scaffold[i] == 0);
    }
}

/* ---- The rule ---- */

static int holds(const struct world *w, unsigned scaffold, int module) {
    return (w->around[module] & scaffold) != 0;
}

/* Some prompt has all of these modules. */
static int is_possible(const struct world *w, unsigned modules) {
    for (int i = 0; i < w->n_prompts; i++) {
        if ((modules & ~w->prompt[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_allowed_pair(const struct world *w, unsigned s, unsigned t) {
    int common = 0;
    if (s == t) {
        return 0;
    }
    for (int x = 1; x < w->n; x++) {
        common |= w->part[x].kind == CP_PART_MODULE && holds(w, s, x) && holds(w, t, x);
    }
    return !common || (s & ~t) == 0 || (t & ~s) == 0 || !is_possible(w, s | t);
}

/* The scaffold that counts for a module of a prompt (MOD-3); 0: none does. */
static unsigned counting(const struct world *w, unsigned prompt, int module) {
    unsigned best = 0;
    for (int i = 0; i < SCAFFOLDS; i++) {
        unsigned s = w->scaffold[i];
        if ((s & ~prompt) == 0 && holds(w, s, module) && count(s) > count(best)) {
            best = s;
        }
    }
    return best;
}

static int ever_counts(const struct world *w, unsigned scaffold) {
    for (int i = 0; i < w->n_prompts; i++) {
        for (int x = 1; x < w->n; x++) {
            if (has(w->prompt[i], x) && counting(w, w->prompt[i], x) == scaffold) {
                return 1;
            }
        }
    }
    return 0;
}

static int is_allowed(const struct world *w) {
    for (int i = 0; i < SCAFFOLDS; i++) {
        if (!ever_counts(w, w->scaffold[i])) {
            return 0;
        }
        for (int k = 0; k < i; k++) {
            if (!is_allowed_pair(w, w->scaffold[i], w->scaffold[k])) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- Writing ---- */

static int put_path(char *to, const struct world *w, int module) {
    int n = 0;
    for (int x = 1; x <= module; x++) {
        if (has(w->around[module], x)) {
            n += sprintf(to + n, "%sm%d", n > 0 ? "/" : "", x);
        }
    }
    return n;
}

static void write_schema(char *to, const struct world *w) {
    int open = 0;
    to += sprintf(to, "<schema name='s'>");
    for (int x = 1; x <= w->n; x++) {
        for (; open > (x < w->n ? w->part[x].parent : 0); open = w->part[open].parent) {
            to += sprintf(to, w->part[open].kind == CP_PART_UNION ? "</union>" : "</module>");
        }
        if (x < w->n) {
            to += w->part[x].kind == CP_PART_UNION ? sprintf(to, "<union>")
                                                   : sprintf(to, "<module name='m%d'>", x);
            open = x;
        }
    }
    for (int i = 0; i < SCAFFOLDS; i++) {
        to += sprintf(to, "<scaffold modules='");
        for (int x = 1; x < w->n; x++) {
            if (has(w->scaffold[i], x)) {
                to += put_path(to, w, x);
                to += sprintf(to, " ");
            }
        }
        to += sprintf(to, "'/>");
    }
    (void)sprintf(to, "</schema>");
}

/* ---- What counts, and what is seen ---- */

static void check_module(const struct world *w, const struct pml_case *c, unsigned prompt,
                         int module) {
    unsigned best = counting(w, prompt, module), seen = w->around[module] | 1U, found = 0;
    int sees[MOST_PARTS];
    for (int x = 1; x < w->n; x++) {
        seen |= has(best, x) ? w->around[x] : 0;
    }
    int scaffold = pml_mask_scaffold(&c->prompt, module);
    assert_int_equal(scaffold >= 0 ? w->scaffold[scaffold] : 0, best);
    int n = pml_mask_sees(&c->schema, module, scaffold, sees);
    for (int i = 0; i < n; i++) {
        assert_true(i == 0 || sees[i - 1] < sees[i]);
        found |= 1U << sees[i];
    }
    assert_int_equal(found, seen);
}

/* The imports are set as a prompt that is read would set them. */
static void check_prompt(const struct world *w, struct pml_case *c, unsigned prompt) {
    int imported[MOST_PARTS] = {1};
    for (int x = 1; x < w->n; x++) {
        imported[x] = has(prompt, x);
    }
    c->prompt.schema = &c->schema;
    c->prompt.imported = imported;
    for (int x = 1; x < w->n; x++) {
        if (imported[x]) {
            check_module(w, c, prompt, x);
        }
    }
    c->prompt.imported = NULL;
}

/* PML-9, MOD-3 */
static void scaffolds_keep_the_rule_or_are_refused(void **unused) {
    (void)unused;
    int n_allowed = 0;
    for (unsigned long long round = 1; round <= ROUNDS; round++) {
        unsigned long long seed = round;
        struct world w;
        struct pml_case c;
        char text[4096];
        make_parts(&w, &seed);
        find_prompts(&w);
        make_scaffolds(&w, &seed);
        write_schema(text, &w);
        int status = pml_case_schema(&c, "words", "none", text, strlen(text));
        if ((status == 0) != is_allowed(&w)) {
            fail_msg("seed %llu: %s: %s\n%s", round, status == 0 ? "accepted" : "refused", c.said,
                     text);
        }
        for (int i = 0; status == 0 && i < w.n_prompts; i++) {
            check_prompt(&w, &c, w.prompt[i]);
        }
        n_allowed += status == 0;
        pml_case_free(&c);
    }
    assert_in_range(n_allowed, ROUNDS / 20, ROUNDS - ROUNDS / 20); /* both occur */
}

/* A schema of n modules, and of each a scaffold, or one of all. If it is refused, `said` is. */
static int is_allowed_with(int n, int of_all, const char *said) {
    struct pml_case c;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("<schema name='s'>", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "<module name='m%d'>m</module>", i);
    }
    fputs(of_all ? "<scaffold modules='" : "", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, of_all ? "m%d " : "<scaffold modules='m%d'/>", i);
    }
    fputs(of_all ? "'/></schema>" : "</schema>", out);
    assert_int_equal(fclose(out), 0);
    int status = pml_case_schema(&c, "words", "none", text, size);
    assert_true(status == 0 || strstr(c.said, said) != NULL);
    pml_case_free(&c);
    free(text);
    return status == 0;
}

static void as_many_as_there_may_be(void **unused) {
    (void)unused;
    assert_true(is_allowed_with(256, 0, ""));
    assert_false(is_allowed_with(257, 0, "more than 256 scaffolds"));
    assert_true(is_allowed_with(256, 1, ""));
    assert_false(is_allowed_with(257, 1, "more than 256 modules"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(scaffolds_keep_the_rule_or_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
