/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in scripts. */
#include <string.h>

#include "cli/show/show.h"

struct example {
    const char *name;
    const char *text;
};

static const struct example examples[] = {
    {"figure1",
     "# The papers' figure 1: three prompts with the same instruction and examples and with\n"
     "# questions of their own. The questions end inside a chunk: some slots stay unused.\n"
     "chunk-size 6\n"
     "join ann: Translate English to French as shown bread => pain ; sea => mer ; cheese => "
     "fromage ; milk =>\n"
     "join bob: Translate English to French as shown bread => pain ; sea => mer ; cheese => "
     "fromage ; good morning =>\n"
     "join eve: Translate English to French as shown bread => pain ; sea => mer ; cheese => "
     "fromage ; see you tomorrow =>\n"},
    {"figure2",
     "# The papers' figure 2: S0, S1 and S2 share C0, C1 and C2. C3 is S0's own, C4 and C6 are\n"
     "# S1's, C5 and C7 are S2's: the questions of S1 and S2 fill C4 and C5, so that their first\n"
     "# completion tokens go to C6 and C7.\n"
     "chunk-size 4\n"
     "join ann: You are a helpful travel guide . Answer in two short sentences Museums ?\n"
     "join bob: You are a helpful travel guide . Answer in two short sentences Is the sea warm\n"
     "join eve: You are a helpful travel guide . Answer in two short sentences Which dish is "
     "best\n"
     "append-all The Yes Try\n"
     "append-all old , the\n"},
    {"forest", "# Two system prompts make two trees. Equal prompts, a prompt that is the beginning "
               "of another,\n"
               "# a tenant who shares with nobody, a fork, a sequence that leaves.\n"
               "chunk-size 2\n"
               "join a1: You are a poet . Hello\n"
               "join b1: Translate this text\n"
               "join a2: You are a poet . Hello\n"
               "join a3: You are a poet\n"
               "join a4: You are a cook\n"
               "join t1 in acme: You are a cook\n"
               "fork b1 as b2\n"
               "append-all Hi ! Roses Stir please now Fry\n"
               "leave a1\n"
               "append b1 !\n"},
};

#define N_EXAMPLES (sizeof examples / sizeof examples[0])

const char *show_example(const char *name) {
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        if (strcmp(examples[i].name, name) == 0) {
            return examples[i].text;
        }
    }
    return NULL;
}

const char *show_example_names(void) {
    return "figure1, figure2, forest";
}
