/* SPDX-License-Identifier: Apache-2.0 */
/* The templates of PML-8. */
#include <string.h>

#include "cli/prompt/pml.h"

const char *const pml_role_names[PML_ROLES + 1] = {"system", "user", "assistant", NULL};

const struct pml_template pml_templates[] = {
    {"none", {{"", ""}, {"", ""}, {"", ""}}, {NULL}},
    {"chatml",
     {{"<|im_start|>system\n", "<|im_end|>\n"},
      {"<|im_start|>user\n", "<|im_end|>\n"},
      {"<|im_start|>assistant\n", "<|im_end|>\n"}},
     {"<|im_start|>", "<|im_end|>", NULL}},
    {"llama2",
     {{"<s>[INST] <<SYS>>\n", "\n<</SYS>>\n\n"}, {"", " [/INST]"}, {" ", " </s><s>[INST] "}},
     {"<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", NULL}},
    {NULL, {{"", ""}, {"", ""}, {"", ""}}, {NULL}},
};

int pml_marker_check(const struct pml_document *document, size_t offset,
                     const struct pml_template *template, const char *what, const char *text) {
    for (int i = 0; template->markers[i] != NULL; i++) {
        if (strstr(text, template->markers[i]) != NULL) {
            return pml_document_error(document, offset,
                                      "the %s has %s in it, by which the template %s divides "
                                      "roles. Remove it, or choose the template none.",
                                      what, template->markers[i], template->name);
        }
    }
    return 0;
}
