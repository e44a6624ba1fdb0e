/* SPDX-License-Identifier: Apache-2.0 */
/* The tree and the plan with the names of what is in them. */
#include "cli/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "cli/base/command.h"
#include "cli/base/text.h"

int show_world_new(struct show_world *world, const struct show_script *script, int chunk_size,
                   int capacity) {
    memset(world, 0, sizeof *world);
    world->script = script;
    int status = cp_tree_new(&world->tree, capacity, chunk_size, 0);
    if (status == CP_OK) {
        status = cp_plan_new(&world->plan);
    }
    if (status != CP_OK) {
        fprintf(stderr, "chunkproof show: %s\n", cp_status_text(status));
        return EXIT_BAD_USE;
    }
    cp_plan_update(world->plan, world->tree);
    size_t most = (size_t)script->n_operations;
    world->name = cli_allocate(NULL, most, sizeof *world->name);
    world->tenant = cli_allocate(NULL, most, sizeof *world->tenant);
    show_words_new(&world->words, script->n_words);
    return EXIT_RIGHT;
}

void show_world_free(struct show_world *world) {
    cp_tree_free(world->tree);
    cp_plan_free(world->plan);
    free(world->name);
    free(world->tenant);
    show_words_free(&world->words);
}

/* ---- Names ---- */

const char *show_sequence_name(const struct show_world *world, int sequence) {
    return world->name[world->tree->sequence[sequence].id];
}

const char *show_tenant_name(const struct show_world *world, int sequence) {
    unsigned long long salt = world->tree->sequence[sequence].salt;
    return salt > 0 ? world->tenant[salt - 1] : NULL;
}

const char *show_token_word(const struct show_world *world, int chunk, int slot) {
    return world->words.word[world->tree->tokens[chunk].token[slot]];
}

int show_find_sequence(const struct show_world *world, const char *name) {
    int s = 0;
    while (s < world->tree->n_sequences && strcmp(show_sequence_name(world, s), name) != 0) {
        s++;
    }
    return s < world->tree->n_sequences ? s : -1;
}

unsigned long long show_salt(struct show_world *world, const char *tenant) {
    int k = 0;
    if (tenant == NULL) {
        return 0;
    }
    while (k < world->n_tenants && strcmp(world->tenant[k], tenant) != 0) {
        k++;
    }
    if (k == world->n_tenants) {
        world->tenant[world->n_tenants++] = tenant;
    }
    return (unsigned long long)k + 1;
}
