/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the language: elements, what a name may be (PML-3), and the name that a misspelt one
 * may have meant. */
#define _POSIX_C_SOURCE 200809L /* strncasecmp */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

#define MOST_LETTER 64 /* a longer name is compared with none */

/* What it costs to make one name of another. */
#define COST_MOVED   200 /* a letter put in or taken out, or two neighbours swapped */
#define COST_CHANGED 300
#define COST_CASE    1
#define MOST_COST    100 /* for each letter of the misspelt name */

const char *const pml_element_names[PML_ELEMENTS + 1] = {"schema",   "module", "union", "param",
                                                         "scaffold", "system", "user",  "assistant",
                                                         "prompt",   NULL};

int pml_element_of(const char *name) {
    int element = 0;
    while (element < PML_ELEMENTS && strcmp(name, pml_element_names[element]) != 0) {
        element++;
    }
    return element;
}

int pml_role_of(int element) {
    switch (element) {
    case PML_E_SYSTEM:
        return PML_SYSTEM;
    case PML_E_USER:
        return PML_USER;
    case PML_E_ASSISTANT:
        return PML_ASSISTANT;
    default:
        return PML_ROLES;
    }
}

/* ---- What a name may be ---- */

struct range {
    long first, last;
};

/* Letters of XML 1.0, fifth edition: NameStartChar without the colon. */
static const struct range letters[] = {
    {'A', 'Z'},       {'_', '_'},       {'a', 'z'},       {0xC0, 0xD6},     {0xD8, 0xF6},
    {0xF8, 0x2FF},    {0x370, 0x37D},   {0x37F, 0x1FFF},  {0x200C, 0x200D}, {0x2070, 0x218F},
    {0x2C00, 0x2FEF}, {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
};

/* What else may stand behind the first: NameChar. */
static const struct range others[] = {
    {'-', '-'}, {'.', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040},
};

static int is_in(const struct range *ranges, size_t n, long character) {
    for (size_t i = 0; i < n; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return 1;
        }
    }
    return 0;
}

static int is_xml_name(const char *name) {
    const unsigned char *at = (const unsigned char *)name;
    int is_first = 1;
    while (*at != '\0') {
        long character = text_next_character(&at);
        if (!is_in(letters, sizeof letters / sizeof letters[0], character) &&
            (is_first || !is_in(others, sizeof others / sizeof others[0], character))) {
            return 0;
        }
        is_first = 0;
    }
    return 1;
}

const char *pml_name_refused(int element, const char *name) {
    if (name[0] == '\0') {
        return "is empty";
    }
    if (strlen(name) > PML_MAX_NAME) {
        return "is longer than 255 bytes";
    }
    if (!is_xml_name(name)) {
        return "cannot be an element's name: it begins with a letter or _, and has letters, "
               "digits and . - _ alone";
    }
    if (strncasecmp(name, "xml", 3) == 0) {
        return "begins with xml, which XML reserves";
    }
    if (element == PML_E_MODULE && pml_element_of(name) < PML_ELEMENTS) {
        return "is an element of the language";
    }
    return element == PML_E_PARAM && strcmp(name, "schema") == 0
               ? "is the attribute of <prompt> that names the schema"
               : NULL;
}

/* ---- The nearest name ---- */

static int least(int a, int b) {
    return a < b ? a : b;
}

static int small(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int changed(char a, char b) {
    return a == b ? 0 : small(a) == small(b) ? COST_CASE : COST_CHANGED;
}

/* The least cost to make b of a, or some number above `most`: then it is not looked for to its end.
 * Row i has the costs to make each begin of b of the first i letters of a. */
static int distance(const char *a, size_t n, const char *b, size_t m, int most) {
    int rows[3][MOST_LETTER + 1], *two_up = rows[0], *up = rows[1], *row = rows[2];
    int least_up = 0;
    for (size_t j = 0; j <= m; j++) {
        up[j] = (int)j * COST_MOVED;
    }
    for (size_t i = 1; i <= n; i++) {
        int least_here = (int)i * COST_MOVED;
        row[0] = least_here;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(up[j - 1] + changed(a[i - 1], b[j - 1]),
                           least(up[j], row[j - 1]) + COST_MOVED);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], two_up[j - 2] + COST_MOVED);
            }
            least_here = least(least_here, row[j]);
        }
        if (least_here > most && least_up > most) {
            return least_here;
        }
        least_up = least_here;
        int *free_row = two_up;
        two_up = up;
        up = row;
        row = free_row;
    }
    return up[m];
}

/* A file has at most PML_MAX_BYTES of names, and that bounds the work. */
void pml_nearest_see(struct pml_nearest *nearest, const char *name) {
    size_t n = strlen(nearest->wrong), m = strlen(name);
    int most = (int)n * MOST_COST + (int)n * COST_CASE;
    if (nearest->name != NULL && nearest->cost <= most) {
        most = nearest->cost - 1;
    }
    if (n > MOST_LETTER || m > MOST_LETTER || abs((int)n - (int)m) * COST_MOVED > most) {
        return;
    }
    int cost = distance(nearest->wrong, n, name, m, most);
    if (cost <= most) {
        nearest->name = name;
        nearest->cost = cost;
    }
}

char *pml_nearest_text(const struct pml_nearest *nearest, const char *before, const char *behind) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    if (nearest->name != NULL) {
        fprintf(out, " Did you mean %s%s%s?", before, PML_SHORT(nearest->name), behind);
    }
    text_close(out);
    return text;
}
