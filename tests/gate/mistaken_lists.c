/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of explain: mistaken.c on prompts with modules. */
#define MISTAKEN_PLANS CP_PLANS_LISTS
#define MISTAKEN_NAME  "mistaken-lists"
#include "mistaken.c"
