/* SPDX-License-Identifier: Apache-2.0 */
/* Translation of CUDA to the executor's names (gate/source/cuda_source.h): text in, text out.
 * The kernels of GATE-9 are translated this way. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, dup */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/source/cuda_source.h"

struct files {
    char directory[64], from[80], to[80], said[80];
};

static int set_up(void **state) {
    struct files *f = calloc(1, sizeof *f);
    *state = f;
    if (f == NULL) {
        return -1;
    }
    (void)snprintf(f->directory, sizeof f->directory, "/tmp/test_cuda_source-XXXXXX");
    if (mkdtemp(f->directory) == NULL) {
        return -1;
    }
    (void)snprintf(f->from, sizeof f->from, "%s/a.cu", f->directory);
    (void)snprintf(f->to, sizeof f->to, "%s/a.cpp", f->directory);
    (void)snprintf(f->said, sizeof f->said, "%s/said", f->directory);
    return 0;
}

static int tear_down(void **state) {
    struct files *f = *state;
    (void)unlink(f->from);
    (void)unlink(f->to);
    (void)unlink(f->said);
    (void)rmdir(f->directory);
    free(f);
    return 0;
}

static void read_text(const char *name, char *text, size_t size) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

/* What it returns; what it writes to standard error is in a file. */
static int translate(const struct files *f, const char *source) {
    FILE *file = fopen(f->from, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(source, 1, strlen(source), file), strlen(source));
    assert_int_equal(fclose(file), 0);
    int before = dup(STDERR_FILENO), said = open(f->said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(before >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0);
    int result = gate_cuda_source(f->from, f->to);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    (void)close(said);
    return result;
}

/* The lines behind the two that it begins with. */
static void becomes(const struct files *f, const char *source, const char *expected) {
    char text[4096], *body = text;
    assert_int_equal(translate(f, source), 0);
    read_text(f->to, text, sizeof text);
    for (int line = 0; line < 2; line++) {
        body = strchr(body, '\n');
        assert_non_null(body);
        body++;
    }
    assert_string_equal(body, expected);
}

static void is_refused(const struct files *f, const char *source, const char *expected) {
    char text[4096];
    assert_int_equal(translate(f, source), -1);
    read_text(f->said, text, sizeof text);
    assert_non_null(strstr(text, expected));
}

static void shared_memory_is_declared(void **state) {
    becomes(*state, "void f() { __shared__ float tile[2][64]; }",
            "void f() { SIMT_SHARED(float, tile, [2][64]);  }");
    becomes(*state, "void f() { __shared__ int flag; }", "void f() { SIMT_SHARED(int, flag, );  }");
    becomes(*state, "void f() { __shared__ float a[3], b, c[D + 1]; }",
            "void f() { SIMT_SHARED(float, a, [3]); SIMT_SHARED(float, b, ); "
            "SIMT_SHARED(float, c, [D + 1]);  }");
    becomes(*state, "void f() { static __shared__ volatile float x[4]; }",
            "void f() { SIMT_SHARED(volatile float, x, [4]);  }");
    becomes(*state, "void f() { __shared__ __align__(16) uint4 x[a[1]]; }",
            "void f() { SIMT_SHARED(uint4, x, [a[1]]);  }");
    becomes(*state, "void f() { __align__(16) __shared__ unsigned char x[8]; }",
            "void f() { SIMT_SHARED(unsigned char, x, [8]);  }");
    becomes(*state, "void f() { __shared__ struct state s[2]; }",
            "void f() { SIMT_SHARED(struct state, s, [2]);  }");
}

static void a_type_with_a_comma_gets_a_name(void **state) {
    char text[4096];
    const struct files *f = *state;
    assert_int_equal(translate(f, "void f() { __shared__ std::pair<int, float> p[4]; }"), 0);
    read_text(f->to, text, sizeof text);
    assert_non_null(strstr(text, "= std::pair<int, float>; SIMT_SHARED(simt_type_"));
}

static void dynamic_shared_memory_is_declared(void **state) {
    becomes(*state, "void f() { extern __shared__ float o[]; }",
            "void f() { SIMT_SHARED_DYNAMIC(float, o);  }");
    becomes(*state, "void f() { extern __shared__ __align__(16) unsigned char bytes[]; }",
            "void f() { SIMT_SHARED_DYNAMIC(unsigned char, bytes);  }");
}

static void launches_are_calls(void **state) {
    becomes(*state, "void f() { k<<<g, b>>>(x, y); }",
            "void f() { simt::launch_plain(nullptr, g, b, 0, k, x, y); }");
    becomes(*state, "void f() { k<<<g, b, n>>>(); }",
            "void f() { simt::launch_plain(nullptr, g, b, n, k); }");
    becomes(*state, "void f() { a::k<float, 64> <<<dim3(n, m), b, h(1, 2) > 3, s>>> (x); }",
            "void f() { simt::launch_plain(s, dim3(n, m), b, h(1, 2) > 3, a::k<float, 64> , x); }");
    becomes(*state, "if (x) k<<<1, 32>>>(p[1 << 3], q >> 2);",
            "if (x) simt::launch_plain(nullptr, 1, 32, 0, k, p[1 << 3], q >> 2);");
}

static void all_else_stays(void **state) {
    static const char *const same[] = {
        "",
        "int a = b << 3, c = d >> 2;\n",
        "// __shared__ int x;\n/* k<<<1, 2>>>(3) */\n",
        "const char *s = \"__shared__ k<<<1, 2>>>(3)\\\"\", c = '\"';\n",
        "extern int x; static float y; int my__shared__ = 1;\n",
        "template <class T> __global__ void k(T *x);\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        becomes(*state, same[i], same[i]);
    }
}

/* So that a compiler's messages, and the executor's, name the line that it is in. */
static void lines_stay_where_they_are(void **state) {
    becomes(*state, "void f() {\n__shared__ float\n  x[4],\n  y;\nint z;\n}",
            "void f() {\nSIMT_SHARED(float, x, [4]); SIMT_SHARED(float, y, ); \n\n\nint z;\n}");
    becomes(*state, "void f() { __shared__ float x[4 * // four\n  2]; }\nint z;",
            "void f() { SIMT_SHARED(float, x, [4 *     2]); \n }\nint z;");
    becomes(*state, "k<<<\n  1 /* one */ / 1,\n  32>>>(\n  x);\nint z;",
            "simt::launch_plain(nullptr, 1   / 1, 32, 0, k, \n\n\n  x);\nint z;");
    becomes(*state, "void f() {\n#define X __shared__ float x \\\n  [4];\n}",
            "void f() {\n#define X SIMT_SHARED(float, x  , [4]); \\\n\n}");
    char text[4096];
    const struct files *f = *state;
    assert_int_equal(translate(f, "x"), 0);
    read_text(f->to, text, sizeof text);
    char line[128];
    (void)snprintf(line, sizeof line, "#line 1 \"%s\"\nx", f->from);
    assert_non_null(strstr(text, line));
}

static void what_cannot_be_is_said(void **state) {
    is_refused(*state, "\n\n__shared__ float x[4];\n", "a.cu:3: __shared__ outside of a function");
    is_refused(*state, "void f() { __shared__ x; }", "a.cu:1: __shared__: a type, names and ';'");
    is_refused(*state, "void f() { __shared__ float x",
               "a.cu:1: __shared__: a type, names and ';'");
    is_refused(*state, "void f() {\n k<<<1>>>(x); }", "a.cu:2: a launch is kernel<<<");
    is_refused(*state, "void f() { k<<<1, 2, 3, 4, 5>>>(x); }", "a launch is kernel<<<");
    is_refused(*state, "void f() { k<<<1, 2>>>; }", "a launch is kernel<<<");
    is_refused(*state, "<<<1, 2>>>(x)", "a launch is kernel<<<");
    is_refused(*state, "void f() { k<<<1, 2", "a launch is kernel<<<");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shared_memory_is_declared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_type_with_a_comma_gets_a_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dynamic_shared_memory_is_declared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_are_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_else_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_stay_where_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_said, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
