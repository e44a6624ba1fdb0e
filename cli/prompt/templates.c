/* SPDX-License-Identifier: Apache-2.0 */
/* The templates of PML-8. */
#include "cli/prompt/pml.h"

const char *const pml_role_names[PML_ROLES + 1] = {"system", "user", "assistant", NULL};

const struct pml_template pml_templates[] = {
    {"none", {{"", ""}, {"", ""}, {"", ""}}},
    {"chatml",
     {{"<|im_start|>system\n", "<|im_end|>\n"},
      {"<|im_start|>user\n", "<|im_end|>\n"},
      {"<|im_start|>assistant\n", "<|im_end|>\n"}}},
    {"llama2",
     {{"<s>[INST] <<SYS>>\n", "\n<</SYS>>\n\n"}, {"", " [/INST]"}, {" ", " </s><s>[INST] "}}},
    {NULL, {{"", ""}, {"", ""}, {"", ""}}},
};
