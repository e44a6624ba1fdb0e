/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of any size by a table: block_table, seq_lens and query_start_loc (CONV-11). It goes by
 * strides, and takes any order of K and of V. */
#include "page_rows.h"

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int size = call->page_size;
    int page = call->page_table[(long long)s * call->page_table_width + j / size];
    return (struct key_place){k_at(call, page, kv_head, j % size),
                              v_at(call, page, kv_head, j % size)};
}

static long long k_step(const struct cp_kernel_call *call, int i) {
    (void)call;
    return i;
}

static long long v_step(const struct cp_kernel_call *call, int i) {
    (void)call;
    return i;
}

const struct cp_kernel cp_kernel = {PAGE_KERNEL, .name = "page-table",
                                    .layout = {.pages = CP_PAGES_OWN}};
