/* SPDX-License-Identifier: Apache-2.0 */
/* Where chunks, trees and plans have their memory from (spec/pool.md, POOL-6): when a page costs
 * memory, and that all of it is given back. Linux says of each page whether the process has one of
 * its own. A page that was only read has none: it is the page of zeros that all share. */
#define _DEFAULT_SOURCE /* mincore, pread */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "chunkproof/memory.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/opt_tree.h"

/* Bits of an entry of /proc/self/pagemap. */
#define PRESENT   (1ULL << 63)
#define SWAPPED   (1ULL << 62)
#define EXCLUSIVE (1ULL << 56)

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t pages_of(size_t bytes) {
    return (bytes + page_size() - 1) / page_size();
}

/* Has the process a page of its own there? -1 where the system does not say. */
static int is_own(const void *address) {
    uint64_t entry = 0;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    off_t at = (off_t)((uintptr_t)address / page_size() * sizeof entry);
    int known = file >= 0 && pread(file, &entry, sizeof entry, at) == (ssize_t)sizeof entry;
    if (file >= 0) {
        (void)close(file);
    }
    return !known ? -1 : (entry & SWAPPED) != 0 || (entry & PRESENT && entry & EXCLUSIVE);
}

static size_t own_pages(const void *memory, size_t bytes) {
    size_t n = 0;
    for (size_t i = 0; i < pages_of(bytes); i++) {
        n += is_own((const char *)memory + i * page_size()) == 1;
    }
    return n;
}

/* Is no page mapped any more? */
static int is_gone(void *memory, size_t bytes) {
    for (size_t i = 0; i < pages_of(bytes); i++) {
        unsigned char resident;
        if (mincore((char *)memory + i * page_size(), 1, &resident) == 0 || errno != ENOMEM) {
            return 0;
        }
    }
    return 1;
}

/* Skips what needs pages to be told apart where they are not: a page that is only read, and one
 * that is written. */
static void need_pages(void) {
    volatile char *memory =
        mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    int before = is_own((const char *)memory), read = memory[page_size()];
    int after = is_own((const char *)memory + page_size());
    memory[0] = 1;
    int written = is_own((const char *)memory);
    (void)munmap((void *)(uintptr_t)memory, 2 * page_size());
    if (read != 0 || before != 0 || after != 0 || written != 1) {
        skip();
    }
}

/* Skips what needs mappings to be told apart where they are not: emulators may keep them. */
static void need_mappings(void) {
    void *memory = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && !is_gone(memory, 1));
    (void)munmap(memory, page_size());
    if (!is_gone(memory, 1)) {
        skip();
    }
}

static const size_t sizes[] = {1, 4096, 4097, 10000, 65536, 200001};

#define N_SIZES (sizeof sizes / sizeof sizes[0])

static void a_page_costs_memory_once_it_is_written(void **unused) {
    (void)unused;
    need_pages();
    for (size_t i = 0; i < N_SIZES; i++) {
        char *memory = cp_memory_new(sizes[i], CP_ON_DEMAND);
        assert_non_null(memory);
        assert_int_equal(own_pages(memory, sizes[i]), 0);
        memory[sizes[i] - 1] = 1;
        assert_int_equal(is_own(memory + sizes[i] - 1), 1);
        cp_memory_free(memory, sizes[i]);
    }
}

static void preallocated_pages_are_written_at_once(void **unused) {
    (void)unused;
    need_pages();
    for (size_t i = 0; i < N_SIZES; i++) {
        char *memory = cp_memory_new(sizes[i], CP_PREALLOCATED);
        assert_non_null(memory);
        assert_int_equal(own_pages(memory, sizes[i]), pages_of(sizes[i]));
        cp_memory_free(memory, sizes[i]);
    }
}

/* The modes differ in nothing else: the numbers are the same, and so is what is given back. */
static void memory_is_zero_and_all_of_it_is_given_back(void **unused) {
    (void)unused;
    need_mappings();
    for (size_t i = 0; i < 2 * N_SIZES; i++) {
        size_t bytes = sizes[i / 2];
        char *memory = cp_memory_new(bytes, i % 2 == 0 ? CP_ON_DEMAND : CP_PREALLOCATED);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % page_size(), 0);
        for (size_t at = 0; at < bytes; at++) {
            assert_int_equal(memory[at], 0);
        }
        memset(memory, 1, bytes);
        cp_memory_free(memory, bytes);
        assert_true(is_gone(memory, bytes));
    }
}

/* Of keys and of values. */
static void a_store_has_its_mode(void **unused) {
    const size_t bytes = sizeof(float) * 5 * 2 * 16 * 33;
    (void)unused;
    need_pages();
    for (int mode = CP_ON_DEMAND; mode <= CP_PREALLOCATED; mode++) {
        struct cp_kv kv;
        assert_int_equal(cp_kv_new(&kv, 5, 2, 16, 33, CP_FP32, mode), CP_OK);
        size_t wanted = mode == CP_ON_DEMAND ? 0 : pages_of(bytes);
        assert_int_equal(own_pages(kv.k, bytes), wanted);
        assert_int_equal(own_pages(kv.v, bytes), wanted);
        cp_kv_free(&kv);
    }
}

static void a_store_gives_all_of_it_back(void **unused) {
    const size_t bytes = sizeof(float) * 5 * 2 * 16 * 33;
    (void)unused;
    need_mappings();
    for (int mode = CP_ON_DEMAND; mode <= CP_PREALLOCATED; mode++) {
        struct cp_kv kv;
        assert_int_equal(cp_kv_new(&kv, 5, 2, 16, 33, CP_FP32, mode), CP_OK);
        void *k = kv.k, *v = kv.v;
        cp_kv_free(&kv);
        assert_true(is_gone(k, bytes));
        assert_true(is_gone(v, bytes));
    }
}

/* A new tree of small sizes has written little of its arrays. All of them are given back. */
static void trees_and_plans_are_on_demand(void **unused) {
    const struct cp_opt_sizes many = {1 << 16, 1 << 10, 16, 64, 0, 0};
    struct {
        void *memory;
        size_t bytes;
    } made[5];
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_batch *batch;
    struct cp_opt_tree *opt_tree;
    struct cp_opt_plan *opt_plan;
    (void)unused;
    need_pages();
    need_mappings();
    assert_int_equal(cp_tree_new(&tree, 1, 1, 0), CP_OK);
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    assert_int_equal(cp_batch_new(&batch, 1, 1), CP_OK);
    assert_int_equal(cp_opt_tree_new(&opt_tree, &many), CP_OK);
    assert_int_equal(cp_opt_plan_new(&opt_plan, &many), CP_OK);
    made[0].memory = tree, made[0].bytes = sizeof *tree;
    made[1].memory = plan, made[1].bytes = sizeof *plan;
    made[2].memory = batch, made[2].bytes = sizeof *batch;
    made[3].memory = opt_tree, made[3].bytes = opt_tree->bytes;
    made[4].memory = opt_plan, made[4].bytes = opt_plan->bytes;
    for (int i = 0; i < 5; i++) {
        size_t some = made[i].bytes < 1U << 24 ? made[i].bytes : 1U << 24; /* at its end */
        const char *end = (const char *)made[i].memory + pages_of(made[i].bytes) * page_size();
        assert_true(is_own(made[i].memory) == 1);
        assert_true(4 * own_pages(end - pages_of(some) * page_size(), some) < pages_of(some));
    }
    cp_tree_free(tree);
    cp_plan_free(plan);
    cp_batch_free(batch);
    cp_opt_tree_free(opt_tree);
    cp_opt_plan_free(opt_plan);
    for (int i = 0; i < 5; i++) {
        const char *end =
            (const char *)made[i].memory + (pages_of(made[i].bytes) - 1) * page_size();
        assert_true(is_gone(made[i].memory, 1));
        assert_true(is_gone((void *)(uintptr_t)end, 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_costs_memory_once_it_is_written),
        cmocka_unit_test(preallocated_pages_are_written_at_once),
        cmocka_unit_test(memory_is_zero_and_all_of_it_is_given_back),
        cmocka_unit_test(a_store_has_its_mode),
        cmocka_unit_test(a_store_gives_all_of_it_back),
        cmocka_unit_test(trees_and_plans_are_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
