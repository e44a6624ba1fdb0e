/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"

/* Another sequence of random numbers than that of the prompts. */
#define SIZES 0x736368656d61ULL

static void put_words(int n, FILE *out) {
    for (int i = 0; i < n; i++) {
        fputs(i % 40 == 39 ? " w\n" : " w", out);
    }
}

void modules_schema_make(const struct modules_made *made, unsigned long long seed, FILE *out) {
    struct prng random = {seed ^ SIZES};
    int members = made->members > 1 ? made->members : 0;
    fputs("<schema name=\"made\">", out);
    put_words(made->system, out);
    fputs("\n", out);
    for (int i = 0; i < made->count; i++) {
        if (members > 0 && i % members == 0) {
            fputs("<union>\n", out);
        }
        fprintf(out, "<module name=\"m%d\">", i + 1);
        put_words(made->least + prng_below(&random, made->most - made->least + 1), out);
        if (made->param > 0) {
            fprintf(out, " <param name=\"p\" len=\"%d\"/>", made->param);
        }
        fputs("</module>\n", out);
        if (members > 0 && (i % members == members - 1 || i == made->count - 1)) {
            fputs("</union>\n", out);
        }
    }
    fputs("</schema>\n", out);
}

/* ---- Prompts ---- */

void modules_drawing_new(struct modules_drawing *drawing, const struct pml_schema *schema,
                         int imports, double zipf, unsigned long long seed) {
    size_t n_parts = (size_t)schema->n_parts;
    unsigned long long sum = 0;
    *drawing = (struct modules_drawing){.schema = schema, .random = {seed}, .imports = imports};
    drawing->module = cli_allocate(NULL, n_parts, sizeof *drawing->module);
    drawing->until = cli_allocate(NULL, n_parts, sizeof *drawing->until);
    drawing->imported = cli_allocate(NULL, n_parts, sizeof *drawing->imported);
    drawing->argument = cli_allocate(NULL, n_parts, sizeof *drawing->argument);
    drawing->member = cli_allocate(NULL, n_parts, sizeof *drawing->member);
    for (int x = 1; x < schema->n_parts; x++) {
        if (schema->part[x].kind == CP_PART_MODULE) {
            double weight = 1e9 / pow(drawing->n + 1, zipf);
            sum += weight < 1.0 ? 1 : (unsigned long long)llround(weight);
            drawing->module[drawing->n] = x;
            drawing->until[drawing->n++] = sum;
        }
    }
}

void modules_drawing_free(struct modules_drawing *drawing) {
    free(drawing->module);
    free(drawing->until);
    free(drawing->imported);
    free(drawing->argument);
    free(drawing->member);
    *drawing = (struct modules_drawing){0};
}

/* A module by its weight: the first whose sum is above a random number below all of it. The sum is
 * below 2^53, so that the remainder is as good as uniform. */
static int draw_module(struct modules_drawing *drawing) {
    unsigned long long x = prng_next(&drawing->random) % drawing->until[drawing->n - 1];
    int low = 0, high = drawing->n - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (drawing->until[middle] > x) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return drawing->module[low];
}

/* Does the prompt import another member of the union that this module is a member of? */
static int is_excluded(const struct modules_drawing *drawing, int module) {
    int parent = drawing->schema->part[module].parent;
    return drawing->member[parent] != 0 && drawing->member[parent] != module;
}

/* Imports the module with those around it, or drops it. */
static void import(struct modules_drawing *drawing, int module) {
    for (int x = module; x > 0; x = pml_scope(drawing->schema, x)) {
        if (is_excluded(drawing, x)) {
            drawing->dropped++;
            return;
        }
    }
    for (int x = module; x > 0; x = pml_scope(drawing->schema, x)) {
        int parent = drawing->schema->part[x].parent;
        drawing->imported[x] = 1;
        if (drawing->schema->part[parent].kind == CP_PART_UNION) {
            drawing->member[parent] = x;
        }
    }
}

void modules_draw(struct modules_drawing *drawing) {
    const struct pml_schema *s = drawing->schema;
    memset(drawing->imported, 0, (size_t)s->n_parts * sizeof *drawing->imported);
    memset(drawing->member, 0, (size_t)s->n_parts * sizeof *drawing->member);
    drawing->imported[0] = 1;
    drawing->dropped = 0;
    for (int i = 0; i < drawing->imports && drawing->n > 0; i++) {
        import(drawing, draw_module(drawing));
    }
    for (int x = 0; x < s->n_parts; x++) {
        int has = s->part[x].kind == CP_PART_PARAM && drawing->imported[s->part[x].parent];
        drawing->argument[x] = has ? prng_below(&drawing->random, s->part[x].size + 1) : 0;
    }
}
