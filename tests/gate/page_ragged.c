/* SPDX-License-Identifier: Apache-2.0 */
/* Ragged keys without pages: cu_seqlens_k and cu_seqlens_q (CONV-11). K and V are [key][K/V
 * head][d], one behind the other, and no array has gaps. */
#include "page_rows.h"

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    long long key = call->page_begin[s] + j;
    long long at = (key * call->n_kv_heads + kv_head) * call->head_dim;
    return (struct key_place){at, at};
}

static long long k_step(const struct cp_kernel_call *call, int i) {
    (void)call;
    return i;
}

static long long v_step(const struct cp_kernel_call *call, int i) {
    (void)call;
    return i;
}

const struct cp_kernel cp_kernel = {
    PAGE_KERNEL, .name = "page-ragged",
    .layout = {.pages = CP_PAGES_RAGGED, .gaps = CP_GAPS_NONE, .tensors = CP_TENSORS_HALVES}};
