/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of 16 by lists: indptr, indices and last_page_len (CONV-11). K and V are one tensor without
 * gaps, [page][2][K/V head][slot][d], of which it has one pointer (CONV-12). */
#include "page_rows.h"

#define PAGE 16

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int first = call->page_begin[s], pages = call->page_begin[s + 1] - first;
    int keys = (pages - 1) * PAGE + call->last_page_tokens[s];
    int page = j < keys ? call->page_list[first + j / PAGE] : -1;
    long long half = (long long)call->n_kv_heads * PAGE * call->head_dim;
    long long at = 2 * half * page + ((long long)kv_head * PAGE + j % PAGE) * call->head_dim;
    return (struct key_place){at, at};
}

static long long k_step(const struct cp_kernel_call *call, int i) {
    (void)call;
    return i;
}

/* By the pointer of K. */
static long long v_step(const struct cp_kernel_call *call, int i) {
    const uint16_t *v = (const uint16_t *)call->k + call->v_offset;
    return v - (const uint16_t *)call->v + i;
}

const struct cp_kernel cp_kernel = {PAGE_KERNEL, .name = "page-lists",
                                    .layout = {.pages = CP_PAGES_OWN,
                                               .page_size = PAGE,
                                               .order = CP_ORDER_HND,
                                               .gaps = CP_GAPS_NONE,
                                               .tensors = CP_TENSORS_PAGES}};
