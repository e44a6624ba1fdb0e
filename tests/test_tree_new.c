/* SPDX-License-Identifier: Apache-2.0 */
/* What a tree or batch is called when it is made (spec/plan.md, PLAN-5), in ref/ and in opt/. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "chunkproof/memory.h"
#include "chunkproof/opt_tree.h"

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define N_TREES 64

static const struct cp_opt_sizes small = {1, 1, 1, 1, 0, 0};

/* The name that a new tree gets; the tree is freed. */
static unsigned long long new_name(void) {
    struct cp_tree *tree;
    assert_int_equal(cp_tree_new(&tree, 1, 1, 0), CP_OK);
    unsigned long long name = tree->stamp.tree;
    cp_tree_free(tree);
    return name;
}

static unsigned long long new_opt_name(void) {
    struct cp_opt_tree *tree;
    assert_int_equal(cp_opt_tree_new(&tree, &small), CP_OK);
    unsigned long long name = tree->stamp.tree;
    cp_opt_tree_free(tree);
    return name;
}

static unsigned long long new_batch_name(void) {
    struct cp_batch *batch;
    assert_int_equal(cp_batch_new(&batch, 1, 1), CP_OK);
    unsigned long long name = batch->stamp.tree;
    cp_batch_free(batch);
    return name;
}

static unsigned long long drawn_name(void) {
    unsigned long long name;
    assert_int_equal(cp_tree_draw_name(&name), CP_OK);
    return name;
}

/* Trees made one after the other, as a rule at one address, have different names; and every bit of
 * a name is sometimes 0 and sometimes 1. Of 64 right draws, that fails once in 2^56 runs. */
static void names_differ_in_every_bit(void **unused) {
    unsigned long long (*const make[])(void) = {new_name, new_opt_name, new_batch_name, drawn_name};
    (void)unused;
    for (size_t way = 0; way < sizeof make / sizeof *make; way++) {
        unsigned long long name[N_TREES], ones = 0, zeros = 0;
        for (int i = 0; i < N_TREES; i++) {
            name[i] = make[way]();
            ones |= name[i];
            zeros |= ~name[i];
            for (int j = 0; j < i; j++) {
                assert_true(name[i] != name[j]);
            }
        }
        assert_true(ones == ~0ULL);
        assert_true(zeros == ~0ULL);
    }
}

/* Two trees in memory of the caller, with equal operations: only their names tell them apart. */
static void the_caller_names_a_tree_in_its_own_memory(void **unused) {
    struct cp_tree *tree[2];
    struct cp_plan *plan;
    struct cp_joined joined;
    const int token[] = {1, 2};
    const unsigned long long name[][2] = {{0, 1}, {1, 1ULL << 32 | 1}, {1, 1ULL << 63 | 1}};
    (void)unused;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        for (int t = 0; t < 2; t++) {
            tree[t] = cp_memory_new(sizeof *tree[t], CP_ON_DEMAND);
            assert_non_null(tree[t]);
            cp_tree_init(tree[t], 4, 1, 0, name[i][t]);
            assert_false(cp_plan_is_current(plan, tree[t]->stamp)); /* a new plan is nobody's */
            assert_int_equal(cp_tree_join(tree[t], token, 2, 0, 7, NULL, &joined), CP_OK);
        }
        cp_plan_build(plan, tree[0]);
        assert_true(cp_plan_is_current(plan, tree[0]->stamp));
        assert_false(cp_plan_is_current(plan, tree[1]->stamp));
        assert_int_equal(cp_plan_update(plan, tree[1]), 1);
        cp_memory_free(tree[0], sizeof *tree[0]);
        cp_memory_free(tree[1], sizeof *tree[1]);
    }
    cp_plan_free(plan);
}

#ifdef __linux__
/* From now on the system draws nothing for this process; 0 when that cannot be had. */
static int stop_draws(void) {
    struct sock_filter step[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof step / sizeof *step, step};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
#else
static int stop_draws(void) {
    return 0;
}
#endif

/* The last test: the process stays without. */
static void without_a_name_there_is_no_tree(void **unused) {
    struct cp_tree *tree = NULL;
    struct cp_opt_tree *opt_tree = NULL;
    struct cp_batch *batch = NULL;
    unsigned long long name = 5;
    (void)unused;
    if (!stop_draws()) {
        skip();
    }
    assert_int_equal(cp_tree_draw_name(&name), CP_ERROR_UNSUPPORTED);
    assert_true(name == 5);
    assert_int_equal(cp_tree_new(&tree, 1, 1, 0), CP_ERROR_UNSUPPORTED);
    assert_null(tree);
    assert_int_equal(cp_opt_tree_new(&opt_tree, &small), CP_ERROR_UNSUPPORTED);
    assert_null(opt_tree);
    assert_int_equal(cp_batch_new(&batch, 1, 1), CP_ERROR_UNSUPPORTED);
    assert_null(batch);
    assert_int_equal(cp_tree_new(&tree, 0, 1, 0), CP_ERROR_ARGUMENT); /* comes first */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_differ_in_every_bit),
        cmocka_unit_test(the_caller_names_a_tree_in_its_own_memory),
        cmocka_unit_test(without_a_name_there_is_no_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
