/* SPDX-License-Identifier: Apache-2.0 */
/* K packed by 8 numbers, [page][K/V head][d / 8][slot][8], and V by one, [page][K/V head][d][slot],
 * in pages of 32 by a table (CONV-12). */
#include "page_rows.h"

#define PAGE 32
#define PACK 8

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int page = call->page_table[(long long)s * call->page_table_width + j / PAGE], slot = j % PAGE;
    return (struct key_place){page * call->k_chunk + kv_head * call->k_head + slot * PACK,
                              page * call->v_chunk + kv_head * call->v_head + slot};
}

static long long k_step(const struct cp_kernel_call *call, int i) {
    return i / PACK * call->k_group + i % PACK;
}

static long long v_step(const struct cp_kernel_call *call, int i) {
    return i * call->v_group;
}

const struct cp_kernel cp_kernel = {
    PAGE_KERNEL, .name = "page-packed",
    .layout = {.pages = CP_PAGES_OWN, .page_size = PAGE, .k_pack = PACK, .v_pack = 1}};
