/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate's runner says of files that are not kernels, and of kernels with an impossible
 * description. */
#define _GNU_SOURCE /* setenv, readlink, link */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/runner/words.h"
#include "tests/runner_files.h"

static const struct run_limits limits = {1.0, 1.0, 100000, (size_t)64 << 20, NULL, 0};

static void expect_error_of(const char *program, const char *file, const char *text) {
    struct runner *runner;
    char error[RUN_TEXT] = "";
    assert_int_equal(runner_new(&runner, program, file, &limits, error), -1);
    assert_null(runner);
    if (strstr(error, text) == NULL) {
        fail_msg("%s: %s; not ...%s...", file, error, text);
    }
}

static void expect_error(const char *name, const char *text) {
    char program[4200], file[4200];
    expect_error_of(own_program(program), beside(file, name), text);
}

static void refuses_what_is_no_kernel(void **state) {
    (void)state;
    expect_error("gate/no_such_file.so", "No such file or directory; give the path of");
    expect_error("gate", "cannot read file data: Is a directory; build it as a shared object");
    expect_error("../../Makefile-is-not-here", "No such file or directory");
    expect_error("../chunkproof", "; build it as a shared object: cc -shared -fPIC");
    expect_error("../../Makefile-is-not-here", "No such file or directory");
    expect_error("gate/undefined.so", "undefined symbol: nobody_has_this; link it with");
    expect_error("gate/no_symbol.so", "it has no symbol cp_kernel; define `const struct");
    expect_error("gate/wrong_abi.so",
                 "compiled with another chunkproof/kernel.h: cp_kernel.abi is");
    expect_error("gate/wrong_abi.so", "; recompile it, with .abi = CP_KERNEL_ABI");
    expect_error("gate/old_version.so",
                 "it was compiled with version 12 of chunkproof/kernel.h, and "
                 "this program takes version 13; recompile it; "
                 "new is CP_SCORES_BIASES, for kernels that take a table of biases");
    expect_error("gate/later_version.so",
                 "it was compiled with version 14 of chunkproof/kernel.h, and this program is "
                 "older: it takes version 13; use the program that came with that header");
    expect_error("gate/no_name.so", "cp_kernel.name is NULL; give it a name");
    expect_error("gate/no_attend.so", "cp_kernel.attend is NULL; it must be the function");
}

static void survives_constructors(void **state) {
    (void)state;
    setenv("CONSTRUCTOR", "crash", 1);
    expect_error("gate/constructor.so", "loading it failed: one of its constructors wrote address");
    setenv("CONSTRUCTOR", "exit", 1);
    expect_error("gate/constructor.so", "one of its constructors ended the process: exit(4)");
    setenv("CONSTRUCTOR", "hang", 1);
    expect_error("gate/constructor.so", "loading it did not end within 5 s: one of its constr");
    unsetenv("CONSTRUCTOR");
    expect_error("gate/constructor.so", "it has no symbol cp_kernel");
}

static void needs_its_program(void **state) {
    char file[4200];
    (void)state;
    beside(file, "gate/misbehaves.so");
    expect_error_of("/no/such/program", file, "/no/such/program cannot be started: No such file");
    expect_error_of("/bin/true", file, "is this program chunkproof");
}

/* The file may go while it is used: what needs a new process then has no verdict. */
static void kernel_disappears(void **state) {
    char program[4200], file[4200], gone[4200], name[40], text[RUN_TEXT] = "";
    struct cp_kernel_call call;
    struct runner *runner;
    struct run_report report;
    size_t workspace;
    (void)state;
    memset(&call, 0, sizeof call);
    call.scale = -1.0;
    setenv("MISBEHAVE", "refuses", 1);
    beside(file, "gate/misbehaves.so");
    (void)snprintf(name, sizeof name, "gate/gone-%d.so", (int)getpid());
    unlink(beside(gone, name));
    assert_int_equal(link(file, gone), 0);
    int failed = runner_new(&runner, own_program(program), gone, &limits, text);
    unlink(gone);
    assert_int_equal(failed, 0);
    assert_int_equal(runner_ask(runner, &call, text, &workspace, &report), -1);
    assert_int_equal(report.outcome, RUN_OUT_OF_BOUNDS);
    assert_int_equal(runner_ask(runner, &call, text, &workspace, &report), -1);
    assert_int_equal(report.outcome, RUN_DONE);
    assert_non_null(strstr(report.text, ".so: cannot open shared object file"));
    runner_free(runner);
}

static int attend(const struct cp_kernel_call *call) {
    return call->n_rows;
}

static struct cp_kernel good_kernel(void) {
    struct cp_kernel kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.abi = CP_KERNEL_ABI;
    kernel.name = "good";
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.weights = CP_FP32;
    kernel.arithmetic.partials = CP_FP32;
    kernel.arithmetic.tanh_error = 0x1p-22;
    kernel.attend = attend;
    return kernel;
}

static void names_the_wrong_field(void **state) {
    struct cp_kernel kernel = good_kernel();
    char text[RUN_TEXT];
    struct {
        int *field;
        int bad, good;
        const char *text;
    } fields[] = {
        {&kernel.q_type, 4, CP_BF16,
         "q_type is 4; it may be CP_FP16 (0), CP_FP32 (1), CP_FP64 (2)"},
        {&kernel.kv_type, -1, CP_FP64, "kv_type is -1; it may be"},
        {&kernel.widths, 2, CP_WIDTHS_ANY, "widths is 2; it may be CP_WIDTHS_EQUAL (0) or"},
        {&kernel.out_type, 1000, CP_FP32, "out_type is 1000; it may be"},
        {&kernel.lse_type, CP_FP16, CP_FP64, "lse_type is 0; it may be CP_NO_LSE (-1), CP_FP32"},
        {&kernel.lse_type, -2, CP_NO_LSE, "lse_type is -2; it may be"},
        {&kernel.arithmetic.score, 5, CP_SUM_BF16, "arithmetic.score is 5; it may be CP_SUM_FP32"},
        {&kernel.arithmetic.weights, CP_FP64, CP_BF16, "weights is 2; it may be CP_FP32 (1: not"},
        {&kernel.arithmetic.values, -1, CP_SUM_FP16, "arithmetic.values is -1; it may be"},
        {&kernel.arithmetic.partials, CP_FP64, CP_BF16, "arithmetic.partials is 2; it may be"},
        {&kernel.arithmetic.normalises, 2, 0, "arithmetic.normalises is 2; it may be 0 or 1"},
        {&kernel.arithmetic.factors, 3, 2, "arithmetic.factors is 3; it may be CP_FACTORS_FP32"},
        {&kernel.arithmetic.rounded_sum, 2, 1, "arithmetic.rounded_sum is 2; it may be 0 or 1"},
        {&kernel.arithmetic.divides, 3, 2, "arithmetic.divides is 3; it may be 0, 1 or 2"},
        {&kernel.arithmetic.in_bits, 2, 1, "arithmetic.in_bits is 2; it may be 0 or 1"},
        {&kernel.arithmetic.truncates, 7, 1, "arithmetic.truncates is 7; it may be 0 or 1"},
        {&kernel.arithmetic.flushes, 2, 1, "arithmetic.flushes is 2; it may be 0 or 1"},
        {&kernel.arithmetic.scales, 3, 2, "arithmetic.scales is 3; it may be CP_SCALES_SCORES (0)"},
        {&kernel.conventions.lse_base, 2, 1, "conventions.lse_base is 2; it may be CP_LSE_NATURAL"},
        {&kernel.conventions.empty_out, 2, 3, "conventions.empty_out is 2; it may be CP_EMPTY_N"},
        {&kernel.conventions.empty_lse, 4, 2, "conventions.empty_lse is 4; it may be CP_EMPTY_N"},
        {&kernel.conventions.never, 16, 15, "conventions.never is 16; it may be a sum of CP_NEVER"},
        {&kernel.conventions.never, -1, 0, "conventions.never is -1; it may be a sum of CP_NEVER"},
        {&kernel.conventions.window, 2, 1, "conventions.window is 2; it may be CP_WINDOW_OF_KEYS"},
        {&kernel.masks, CP_MASKS_KEPT, 7, "masks is 4; it may be a sum of CP_MASKS_WINDOW (1)"},
        {&kernel.masks, CP_MASKS_KEPT | CP_MASKS_AHEAD, 5, "masks is 6; it may be a sum of"},
        {&kernel.masks, 16, 15, "masks is 16; it may be a sum of CP_MASKS_WINDOW (1)"},
        {&kernel.masks, 12, 11, "masks is 12; it may be a sum of CP_MASKS_WINDOW (1)"},
        {&kernel.masks, 14, 13, "masks is 14; it may be a sum of CP_MASKS_WINDOW (1)"},
        {&kernel.masks, -1, 0, "masks is -1; it may be a sum of CP_MASKS_WINDOW (1)"},
        {&kernel.scores, 16, 15, "scores is 16; it may be a sum of CP_SCORES_CAP (1), CP_SCORES_"},
        {&kernel.scores, -1, 0, "scores is -1; it may be a sum of CP_SCORES_CAP (1), CP_SCORES_SL"},
        {&kernel.cache.k, 7, 6, "cache.k is 7; it may be CP_CACHE_PLAIN (0), CP_CACHE_E4M3 (4)"},
        {&kernel.cache.v, 1, 4, "cache.v is 1; it may be CP_CACHE_PLAIN (0), CP_CACHE_E4M3 (4)"},
        {&kernel.cache.scales, 3, 2, "cache.scales is 3; it may be CP_CACHE_SCALE_TENSOR (0), CP"},
        {&kernel.arithmetic.k_dequantised, 2, 1, "arithmetic.k_dequantised is 2; it may be CP_"},
        {&kernel.arithmetic.v_dequantised, 4, 3, "arithmetic.v_dequantised is 4; it may be CP_"},
        {&kernel.conventions.cap, 2, 1, "conventions.cap is 2; it may be CP_CAP_FIRST (0) or CP_"},
        {&kernel.conventions.bias, 3, 2, "conventions.bias is 3; it may be CP_BIAS_SIGNED (0), CP"},
        {&kernel.conventions.sink, 2, 1, "conventions.sink is 2; it may be CP_SINK_IN_LSE (0) or "},
        {&kernel.conventions.invariant, 3, 2, "conventions.invariant is 3; it may be CP_INVARIANT"},
        {&kernel.arithmetic.step, -1, 64, "arithmetic.step is -1; it may be 0 (a chunk), 1 (key"},
    };
    static const double errors[] = {-1e-300, 0x1.0001p-6, NAN, INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i].field = fields[i].bad;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, fields[i].text));
        assert_int_equal(strncmp(text, "mine.so: cp_kernel.", 19), 0);
        *fields[i].field = fields[i].good;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    }
    for (int i = 0; i < 4; i++) {
        kernel.arithmetic.exp_error = errors[i];
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, "; it may be from 0 to 0x1p-6 (0.015625)"));
    }
    kernel.arithmetic.exp_error = 0x1p-6;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
}

/* CONV-11, CONV-12: what does not go together is named. */
static void names_a_wrong_layout(void **state) {
    const struct {
        struct cp_kernel_layout layout;
        int plans, keys, k_cache;
        const char *words; /* NULL: right */
        int widths;
    } of[] = {
        {{.pages = CP_PAGES_OWN, .page_size = 16, .k_pack = 8, .v_pack = 1}, 0, 0, 0, NULL, 0},
        {{.pages = CP_PAGES_RAGGED, .tensors = CP_TENSORS_HALVES, .order = 1}, 0, 0, 0, NULL, 0},
        {{.pages = CP_PAGES_OWN}, CP_PLANS_LISTS, 0, 0, "pages needs .plans = CP_PLANS_TREES", 0},
        {{.pages = CP_PAGES_OWN}, 0, CP_KEYS_LOCAL, 0, "pages needs keys that have positions", 0},
        {{.pages = CP_PAGES_OWN}, 0, CP_KEYS_RAW, 0, NULL, 0},
        {{.pages = CP_PAGES_OWN, .page_size = 4097},
         0,
         0,
         0,
         "page_size may be from 1 to CP_MOST",
         0},
        {{.pages = CP_PAGES_OWN, .page_size = -1},
         0,
         0,
         0,
         "page_size may be from 1 to CP_MOST",
         0},
        {{.page_size = 16}, 0, 0, 0, "page_size, or .page_unit, needs .pages = CP_PAGES_OWN", 0},
        {{.page_unit = 16}, 0, 0, 0, "page_size, or .page_unit, needs .pages = CP_PAGES_OWN", 0},
        {{.pages = CP_PAGES_OWN, .page_unit = 8}, 0, 0, 0, NULL, 0},
        {{.pages = CP_PAGES_OWN, .page_unit = -8},
         0,
         0,
         0,
         "page_unit may be from 1 to CP_MOST",
         0},
        {{.pages = CP_PAGES_OWN, .page_unit = 8, .page_size = 8}, 0, 0, 0, "page_unit may be", 0},
        {{.k_pack = 257}, 0, 0, 0, "k_pack and .v_pack may be from 1 to 256", 0},
        {{.v_pack = -1}, 0, 0, 0, "k_pack and .v_pack may be from 1 to 256", 0},
        {{.v_pack = 1, .order = CP_ORDER_NHD},
         0,
         0,
         0,
         "k_pack and .v_pack are for pages by K/V",
         0},
        {{.pages = CP_PAGES_RAGGED, .k_pack = 8}, 0, 0, 0, "not with CP_ORDER_NHD, nor ragged", 0},
        {{.pages = CP_PAGES_RAGGED, .order = CP_ORDER_HND},
         0,
         0,
         0,
         "order is CP_ORDER_HND, and",
         0},
        {{.tensors = CP_TENSORS_PAGES, .k_pack = 8},
         0,
         0,
         0,
         "tensors has K and V in one: .k_pack",
         0},
        {{.tensors = CP_TENSORS_PAGES}, 0, 0, CP_CACHE_INT8, "must be alike, and .cache.k and", 0},
        {{.tensors = CP_TENSORS_PAGES, .pages = CP_PAGES_RAGGED}, 0, 0, 0, NULL, 0},
        {{.scale_order = 1},
         0,
         0,
         CP_CACHE_INT8,
         "scale_order needs .cache.scales = CP_CACHE_SCA",
         0},
        {{.scale_order = 2},
         0,
         0,
         0,
         "layout.scale_order is 2; it may be CP_SCALES_BY_HEAD (0)",
         0},
        {{.pages = 3}, 0, 0, 0, "layout.pages is 3; it may be CP_PAGES_CHUNKS (0)", 0},
        {{.order = 3}, 0, 0, 0, "layout.order is 3; it may be CP_ORDER_ANY (0)", 0},
        {{.gaps = 3}, 0, 0, 0, "layout.gaps is 3; it may be CP_GAPS_ANY (0)", 0},
        {{.tensors = 4}, 0, 0, 0, "layout.tensors is 4; it may be CP_TENSORS_TWO (0)", 0},
        {{.tensors = CP_TENSORS_PAGES}, 0, 0, 0, "so that .widths must be CP_WIDTHS_EQUAL", 1},
        {{.tensors = CP_TENSORS_HALVES}, 0, 0, 0, "so that .widths must be CP_WIDTHS_EQUAL", 1},
        {{.tensors = CP_TENSORS_KEYS}, 0, CP_KEYS_RAW, 0, "values in keys need .keys = CP_KEYS", 1},
        {{.tensors = CP_TENSORS_KEYS}, 0, 0, CP_CACHE_INT8, "must be alike, and .cache.k and", 0},
        {{.tensors = CP_TENSORS_KEYS, .pages = CP_PAGES_RAGGED}, CP_PLANS_TREES, 0, 0, NULL, 1},
        {{.tensors = CP_TENSORS_KEYS, .k_pack = 8, .v_pack = 8}, CP_PLANS_LISTS, 0, 0, NULL, 0},
    };
    char text[RUN_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct cp_kernel kernel = good_kernel();
        kernel.plans = of[i].plans;
        kernel.keys = of[i].keys;
        kernel.cache.k = of[i].k_cache;
        kernel.layout = of[i].layout;
        kernel.widths = of[i].widths;
        int result = run_check_kernel(&kernel, "mine.so", text);
        assert_int_equal(result, of[i].words == NULL ? 0 : -1);
        if (of[i].words != NULL) {
            assert_non_null(strstr(text, "mine.so: cp_kernel.layout."));
            assert_non_null(strstr(text, of[i].words));
        }
    }
}

static void names_a_wrong_tanh(void **state) {
    static const double errors[] = {-1e-300, 0x1.0001p-6, NAN, INFINITY};
    char text[RUN_TEXT];
    struct cp_kernel kernel = good_kernel();
    (void)state;
    for (int i = 0; i < 4; i++) {
        kernel.arithmetic.tanh_error = errors[i];
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, "mine.so: cp_kernel.arithmetic.tanh_error is"));
        kernel.arithmetic.tanh_error = 0x1p-6;
        kernel.arithmetic.tanh_absolute = errors[i];
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, "mine.so: cp_kernel.arithmetic.tanh_absolute is"));
        kernel.arithmetic.tanh_absolute = 0x1p-6;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    }
    kernel.arithmetic.tanh_error = kernel.arithmetic.tanh_absolute = 0.0;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    kernel.scores = CP_SCORES_CAP;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
    assert_non_null(strstr(text, "tanh_error is 0, and scores are capped: no tanh is exact"));
}

/* GATE-15: a division that errs, what is added to n, and what excludes what. */
/* NUM-20: 0 to 1024 products, of sums in 16 bits. */
static void names_a_wrong_short_sum(void **state) {
    struct cp_kernel kernel = good_kernel();
    struct cp_kernel_class *a = &kernel.arithmetic;
    char text[RUN_TEXT];
    (void)state;
    const struct {
        int score, score_promotes, values, values_promotes;
        const char *words; /* NULL: right */
    } of[] = {
        {CP_SUM_FP16, 1024, CP_SUM_BF16, 1, NULL},
        {CP_SUM_FP16, 0, CP_SUM_FP32, 0, NULL},
        {CP_SUM_FP16, -1, CP_SUM_FP32, 0, "score_promotes is -1; it may be from 1 to 1024, the"},
        {CP_SUM_FP16, 1, CP_SUM_FP16, 1025, "values_promotes is 1025; it may be from 1 to 1024"},
        {CP_SUM_FP32, 16, CP_SUM_FP16, 16, "score_promotes needs .score = CP_SUM_FP16 or CP_SU"},
        {CP_SUM_FP16, 16, CP_SUM_TENSOR_CORE, 8, "values_promotes needs .values = CP_SUM_FP16 or"},
        {CP_SUM_FP64, 16, CP_SUM_FP64, 0, "score_promotes needs .score = CP_SUM_FP16 or CP_SUM"},
    };
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        a->score = of[i].score;
        a->score_promotes = of[i].score_promotes;
        a->values = of[i].values;
        a->values_promotes = of[i].values_promotes;
        int wrong = run_check_kernel(&kernel, "/tmp/mine.so", text);
        assert_int_equal(wrong, of[i].words == NULL ? 0 : -1);
        assert_true(of[i].words == NULL || strstr(text, of[i].words) != NULL);
    }
}

static void names_a_wrong_division(void **state) {
    struct cp_kernel kernel = good_kernel();
    char text[RUN_TEXT];
    static const double none[] = {-1e-300, 0x1.0001p-6, NAN, INFINITY};
    (void)state;
    for (int i = 0; i < 4; i++) {
        kernel.arithmetic.divide_error = none[i];
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, "arithmetic.divide_error is "));
        kernel.arithmetic.divide_error = 0x1p-6;
        kernel.arithmetic.epsilon = none[i];
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(strstr(text, "arithmetic.epsilon is "));
        kernel.arithmetic.epsilon = 0x1p-6;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    }
    kernel.arithmetic.divides = 1; /* each is divided by n and epsilon */
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    kernel.arithmetic.normalises = 1;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
    assert_non_null(strstr(text, "arithmetic.normalises needs .divides = 0, and it is 1"));
    kernel.arithmetic.divides = 0;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    kernel.arithmetic.rounded_sum = 1;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
    assert_non_null(strstr(text, "arithmetic.normalises needs .rounded_sum = 0"));
}

/* NUM-21: 0 to 11 nats, and only of states that are divided at the end. */
static void names_a_wrong_distance(void **state) {
    static const double none[] = {-1e-300, 0x1.6001p3, NAN, INFINITY};
    char text[RUN_TEXT];
    (void)state;
    for (int is_behind = 0; is_behind < 2; is_behind++) {
        struct cp_kernel kernel = good_kernel();
        struct cp_kernel_class *a = &kernel.arithmetic;
        double *distance = is_behind ? &a->behind : &a->above;
        for (int i = 0; i < 4; i++) {
            *distance = none[i];
            assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
            assert_non_null(strstr(text, is_behind ? ".behind is " : ".above is "));
        }
        *distance = 11.0;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
        a->divides = 1; /* partial results, which have log-sum-exps from then on */
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
        a->divides = 0;
        a->normalises = 1;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
        assert_non_null(
            strstr(text, is_behind ? "behind needs .normalises" : "above needs .normalises"));
    }
}

/* GATE-2, NUM-22. */
static void names_wrong_parts(void **state) {
    struct cp_kernel kernel = good_kernel();
    struct cp_kernel_class *a = &kernel.arithmetic;
    int *const number[] = {&a->n_parts, &a->part_keys};
    const char *const name[] = {".n_parts is ", ".part_keys is "};
    char text[RUN_TEXT];
    (void)state;
    a->score = a->values = CP_SUM_FP32;
    a->weights = a->rotated = a->k_dequantised = a->v_dequantised = a->partials = CP_FP32;
    kernel.q_type = kernel.kv_type = CP_FP32;
    for (int i = 0; i < 2; i++) {
        const int none[] = {-1, (1 << 20) + 1};
        for (int j = 0; j < 2; j++) {
            *number[i] = none[j];
            assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
            assert_non_null(strstr(text, name[i]));
            assert_non_null(strstr(text, "it may be from 1 to 1048576, the "));
        }
        *number[i] = 1 << 20;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    }
    a->part_lse = CP_PART_LSE_BF16;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
    assert_non_null(strstr(text, "part_lse needs .divides = 1 or 2: only a partial result"));
    a->divides = 2;
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), 0);
    a->part_lse = CP_FP32; /* a type by mistake */
    assert_int_equal(run_check_kernel(&kernel, "mine.so", text), -1);
    assert_non_null(strstr(text, "part_lse is 1; it may be CP_PART_LSE_FP32 (0), "));
}

/* CONV-2: a value counts where it is declared, and must be one of lse_type. */
static void names_a_wrong_value(void **state) {
    struct cp_kernel kernel = good_kernel();
    char text[RUN_TEXT];
    const struct {
        int lse_type, empty_lse;
        double value;
        int result;
    } of[] = {{CP_FP32, CP_EMPTY_VALUE, -1e30, 0},   {CP_FP32, CP_EMPTY_VALUE, -1e39, -1},
              {CP_FP64, CP_EMPTY_VALUE, -1e39, 0},   {CP_FP32, CP_EMPTY_VALUE, NAN, -1},
              {CP_FP64, CP_EMPTY_VALUE, NAN, -1},    {CP_FP32, CP_EMPTY_VALUE, -INFINITY, 0},
              {CP_FP32, CP_EMPTY_NEUTRAL, 0.0, 0},   {CP_FP32, CP_EMPTY_NEUTRAL, -1e30, -1},
              {CP_FP32, CP_EMPTY_NAN, INFINITY, -1}, {CP_FP32, CP_EMPTY_VALUE, 0.0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        kernel.lse_type = of[i].lse_type;
        kernel.conventions.empty_lse = of[i].empty_lse;
        kernel.conventions.empty_value = of[i].value;
        assert_int_equal(run_check_kernel(&kernel, "mine.so", text), of[i].result);
        if (of[i].result != 0) {
            assert_non_null(strstr(text, "mine.so: cp_kernel.conventions.empty_value is "));
        }
    }
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_kernel), cmocka_unit_test(survives_constructors),
        cmocka_unit_test(needs_its_program),         cmocka_unit_test(kernel_disappears),
        cmocka_unit_test(names_the_wrong_field),     cmocka_unit_test(names_a_wrong_value),
        cmocka_unit_test(names_a_wrong_layout),      cmocka_unit_test(names_a_wrong_tanh),
        cmocka_unit_test(names_a_wrong_short_sum),   cmocka_unit_test(names_a_wrong_division),
        cmocka_unit_test(names_a_wrong_distance),    cmocka_unit_test(names_wrong_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
