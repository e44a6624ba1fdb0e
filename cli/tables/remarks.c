/* SPDX-License-Identifier: Apache-2.0 */
/* What no single cell shows. The numbers in these lines are checked by tests/test_tables.c. */
#include "cli/tables/tables.h"

#include <stddef.h>

static const char *const remark[] = {
    "ICLR Tables 1 to 3, output projection: all its cells follow from H x 32000, the vocabulary; "
    "the text means the H x H projection after attention (34.36, not 268.44, at 1024 tokens).",
    "That H x H projection is in no table; nor are softmax, rotary embedding and norms in the "
    "FLOPs.",
    "Prefill attention counts all n x n scores; a causal kernel needs n (n + 1) / 2 of them.",
    "At the same 2048 context tokens ICLR Table 3 counts 2048 keys, ACL Table 1 counts 2049.",
    "The self-attention bytes count the scores, written and read: 2bhn numbers more than formula "
    "(4).",
    "Formula (5): \"batch size of n >= 2\" means b >= 2.",
    "1/(1 - r) is a factor, and the limit for many sequences: b become b (1 - r/b)/(1 - r).",
    "All papers write MB and GB for KV sizes and mean MiB and GiB: GPT-3's 4.5 MB are 4.72e6 "
    "bytes.",
    "Prompt Cache Table 2 truncates digits instead of rounding: 0.0352, 0.1875, 1.875.",
    "The papers disagree: Llama 70B 2.5 and 0.31, Falcon 40B 1.87 and 0.12 MiB a token. The "
    "smaller "
    "ones are right: both models have 8 KV heads.",
    "Prompt Cache 5.4: 5K tokens of Llama2 7B from host to device in 5.34 ms would be 491 GB/s; "
    "one "
    "layer of the 32 in that time is 15.3 GB/s.",
};

const char *cp_remark_at(int i) {
    int n = sizeof remark / sizeof remark[0];
    return i >= 0 && i < n ? remark[i] : NULL;
}
