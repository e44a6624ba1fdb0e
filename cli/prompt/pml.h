/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof prompt`: schemas and prompts in the Prompt Markup Language (spec/pml.md).
 *
 *   document.h      XML: elements and texts of a file, and places in it
 *   pml_schema      the parts of MOD-1, their texts, names and scaffolds
 *   pml_prompt      what a prompt imports and adds, and where that stands
 *   pml_mask        what sees what (MOD-3)
 *
 * Nothing recurses; time is that of sorting. A message says where, what, and what would mend it. */
#ifndef CHUNKPROOF_CLI_PROMPT_PML_H
#define CHUNKPROOF_CLI_PROMPT_PML_H

#include <stddef.h>

#include "chunkproof/schema.h"
#include "cli/prompt/document.h"
#include "cli/prompt/tokens.h"

#define PML_MAX_SCAFFOLDS        256
#define PML_MAX_SCAFFOLD_MODULES 256

/* ---- Roles and templates (PML-8) ---- */

enum pml_role { PML_SYSTEM, PML_USER, PML_ASSISTANT, PML_ROLES };

struct pml_template {
    const char *name;
    struct {
        const char *before, *behind;
    } of[PML_ROLES];
    const char *markers[7]; /* what ends or begins a role; NULL behind the last */
};

/* -1 after a message: the text has a marker of the template in it (PML-8). It is a text or an
 * argument: `what`. */
int pml_marker_check(const struct pml_document *document, size_t offset,
                     const struct pml_template *template, const char *what, const char *text);

/* Three, then one without a name. */
extern const struct pml_template pml_templates[];
extern const char *const pml_role_names[PML_ROLES + 1];

/* ---- Text (PML-4, PML-5) ---- */

/* A template's text: bytes of texts->text. */
struct pml_span {
    size_t begin, end;
};

/* Texts and their tokens, one behind the other. */
struct pml_texts {
    const struct pml_tokenizer *tokenizer;
    char *text;
    size_t size, room;
    int *token;
    int n_tokens;
    size_t token_room;
    size_t *joint; /* bytes where two nodes' texts meet in one text, without a blank between */
    int n_joints;
    size_t joint_room;
    struct pml_span *template_text;
    int n_templates;
};

struct pml_text {
    size_t at, size; /* of texts->text; a NUL stands behind it */
    int first_token, n_tokens;
    int first_joint, n_joints;
    int first_template, n_templates;
};

void pml_texts_free(struct pml_texts *texts);

/* The text of an element by the rule of white space. Returns its size: 0, it is nothing. `to` has
 * room for `size` bytes. */
size_t pml_space(const char *text, size_t size, int keeps_space, char *to);

/* The same of an argument, at whose ends white space is nothing. */
size_t pml_space_argument(const char *text, size_t size, int keeps_space, char *to);

/* 1 for a text that is white space alone. */
int pml_is_blank(const struct pml_node *node);

/* Begins a text; the others add to the last one: of a template, of a node, of an argument. */
struct pml_text pml_texts_begin(struct pml_texts *texts);
void pml_texts_add_template(struct pml_texts *texts, struct pml_text *text, const char *bytes,
                            size_t size);
void pml_texts_add_node(struct pml_texts *texts, struct pml_text *text,
                        const struct pml_node *node);
void pml_texts_add_argument(struct pml_texts *texts, struct pml_text *text, const char *value,
                            int keeps_space);

/* ---- Elements and names (PML-2, PML-3) ---- */

enum pml_element {
    PML_E_SCHEMA,
    PML_E_MODULE,
    PML_E_UNION,
    PML_E_PARAM,
    PML_E_SCAFFOLD,
    PML_E_SYSTEM,
    PML_E_USER,
    PML_E_ASSISTANT,
    PML_E_PROMPT,
    PML_ELEMENTS
};

extern const char *const pml_element_names[PML_ELEMENTS + 1];

/* The element with this name; PML_ELEMENTS: there is none. */
int pml_element_of(const char *name);

/* The role of an element; PML_ROLES: it has none. */
int pml_role_of(int element);

/* Why what this element names may not be called so, or NULL. */
const char *pml_name_refused(int element, const char *name);

/* The name that is nearest to a misspelt one: pml_nearest_see() is given each name there is. */
struct pml_nearest {
    const char *wrong;
    const char *name; /* NULL: none is near */
    int cost;         /* of the letters that differ */
};
void pml_nearest_see(struct pml_nearest *nearest, const char *name);

/* " Did you mean NAME?" in brackets of its kind; or "". The caller frees it. */
char *pml_nearest_text(const struct pml_nearest *nearest, const char *before, const char *behind);

/* ---- Schemas ---- */

/* What struct cp_part does not say of a part. */
struct pml_part {
    size_t offset;        /* in the file */
    const char *name;     /* of the schema, a module or a param; else NULL */
    struct pml_text text; /* of a text */
    int role;             /* whose template this text is of; PML_ROLES: of none */
};

/* A role: the parts in it, with those of its template (PML-8). */
struct pml_role_part {
    size_t offset;
    int role;
    int first, end; /* part[first .. end) */
};

struct pml_scaffold {
    size_t offset;
    int first, n; /* module[first .. first + n) */
    int n_needed; /* these modules and those around them: what a prompt imports to have them */
};

struct pml_schema {
    struct pml_document document;
    const struct pml_template *template;
    struct pml_texts texts;
    int n_parts;
    struct cp_part *part;
    struct pml_part *about;
    int *begin, *size; /* MOD-1 */
    int n_names;
    int *named; /* modules and params, sorted for pml_find() */
    int n_roles;
    struct pml_role_part *role; /* in the order of parts; none has a part of another */
    int n_scaffolds;
    struct pml_scaffold *scaffold;
    int *module; /* of the scaffolds */
    int n_modules;
};

/* Returns 0, or -1 after a message; in any case the caller frees the schema. The tokenizer and the
 * template stay the caller's, as long as the schema is there. `document` is taken over. */
int pml_schema_from(struct pml_schema *schema, struct pml_document *document,
                    const struct pml_tokenizer *tokenizer, const struct pml_template *template);
void pml_schema_free(struct pml_schema *schema);

/* The module that part x, not part 0, stands in: around a member of a union it is around the union,
 * too. -1 for part 0. */
int pml_scope(const struct pml_schema *schema, int x);

/* Sorts the names. -1 after a message: two parts of a scope have one name. */
int pml_names_sort(struct pml_schema *schema);

/* The module or param with this name (of `size` bytes) in a module, or -1. */
int pml_find(const struct pml_schema *schema, int scope, int kind, const char *name, size_t size);

/* The name of a module with those around it, "trip-plan/overseas". The caller frees it. */
char *pml_path(const struct pml_schema *schema, int x);

/* Reads the scaffolds' elements; -1 after a message. */
int pml_scaffolds_read(struct pml_schema *schema, const int *nodes, int n_nodes);

/* ---- Prompts ---- */

struct pml_argument {
    int param;
    size_t offset;
    struct pml_text text;
};

/* New text between two imports (PML-11). */
struct pml_segment {
    int behind; /* the import before it, or -1 */
    size_t offset;
    int role;   /* the node of its first role; 0: it has none */
    int placed; /* MOD-6: its first position */
    struct pml_text text;
};

enum pml_run_kind { PML_CACHED, PML_ARGUMENT, PML_NEW };

/* Tokens of a prompt at positions in a row. */
struct pml_run {
    enum pml_run_kind kind;
    int begin, size;
    int from; /* a text's part, or the number of an argument or a segment */
};

struct prompt_answer;

struct pml_prompt {
    struct pml_document document;
    const struct pml_schema *schema;
    struct pml_texts texts;
    int *imported; /* for each part: 0, or 1 and the node that imports it */
    int n_arguments;
    struct pml_argument *argument;
    int n_segments;
    struct pml_segment *segment;
    int n_runs;
    struct pml_run *run;                /* in the order of positions */
    int n_cached, n_new;                /* tokens */
    const struct prompt_answer *answer; /* of a model (answer.h); NULL: none */
};

int pml_prompt_from(struct pml_prompt *prompt, struct pml_document *document,
                    const struct pml_schema *schema);
void pml_prompt_free(struct pml_prompt *prompt);

/* Positions of what the prompt adds, and its runs. -1 after a message. */
int pml_prompt_place(struct pml_prompt *prompt);

/* -1 after a message: texts of the placed prompt make a marker of the template (PML-8). */
int pml_markers_check(const struct pml_prompt *prompt);

/* -1 after a message: a role of the placed prompt stands within one of the schema (PML-8). */
int pml_roles_check(const struct pml_prompt *prompt);

/* ---- The mask (MOD-3) ---- */

/* The scaffold that counts for a module of a prompt, or -1. */
int pml_mask_scaffold(const struct pml_prompt *prompt, int module);

/* Does the scaffold hold this module: has it the module, or one around it? */
int pml_mask_holds(const struct pml_schema *schema, int scaffold, int module);

/* The modules whose own text a token of the module sees, in order. `scaffold` may be -1. Returns
 * how many; `seen` has room for all parts. */
int pml_mask_sees(const struct pml_schema *schema, int module, int scaffold, int *seen);

#endif
