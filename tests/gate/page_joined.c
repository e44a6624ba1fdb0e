/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a power of two by a list, K and V in the halves of one tensor, each by its pointer and
 * strides (CONV-11, CONV-12). */
#include "page_rows.h"

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int page = call->page_list[call->page_begin[s] + j / call->page_size];
    return (struct key_place){k_at(call, page, kv_head, j % call->page_size),
                              v_at(call, page, kv_head, j % call->page_size)};
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
    PAGE_KERNEL, .name = "page-joined",
    .layout = {.pages = CP_PAGES_OWN, .page_unit = 8, .tensors = CP_TENSORS_HALVES}};
