/* SPDX-License-Identifier: Apache-2.0 */
/* What sees what, by modules (MOD-3). */
#include "cli/prompt/pml.h"

static int applies(const struct pml_prompt *p, const struct pml_scaffold *f) {
    for (int i = 0; i < f->n; i++) {
        if (p->imported[p->schema->module[f->first + i]] == 0) {
            return 0;
        }
    }
    return 1;
}

int pml_mask_holds(const struct pml_schema *s, int scaffold, int module) {
    const struct pml_scaffold *f = &s->scaffold[scaffold];
    for (int x = module; x > 0; x = pml_scope(s, x)) {
        for (int i = 0; i < f->n; i++) {
            if (s->module[f->first + i] == x) {
                return 1;
            }
        }
    }
    return 0;
}

int pml_mask_scaffold(const struct pml_prompt *prompt, int module) {
    const struct pml_schema *s = prompt->schema;
    int found = -1;
    for (int i = 0; i < s->n_scaffolds; i++) {
        const struct pml_scaffold *f = &s->scaffold[i];
        if ((found < 0 || f->n > s->scaffold[found].n) && applies(prompt, f) &&
            pml_mask_holds(s, i, module)) {
            found = i;
        }
    }
    return found;
}

/* Puts the module and those around it among the seen, which are in order. */
static int see(const struct pml_schema *s, int module, int *seen, int n) {
    for (int x = module; x >= 0; x = pml_scope(s, x)) {
        int at = n;
        while (at > 0 && seen[at - 1] > x) {
            at--;
        }
        if (at > 0 && seen[at - 1] == x) {
            continue;
        }
        for (int i = n++; i > at; i--) {
            seen[i] = seen[i - 1];
        }
        seen[at] = x;
    }
    return n;
}

int pml_mask_sees(const struct pml_schema *schema, int module, int scaffold, int *seen) {
    int n = see(schema, module, seen, 0);
    if (scaffold >= 0) {
        const struct pml_scaffold *f = &schema->scaffold[scaffold];
        for (int i = 0; i < f->n; i++) {
            n = see(schema, schema->module[f->first + i], seen, n);
        }
    }
    return n;
}
