/* SPDX-License-Identifier: Apache-2.0 */
/* Files that get their names once they are whole (cli/base/output.h). */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/output.h"

static char directory[] = "/tmp/chunkproof-output-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(directory) == NULL || chdir(directory) != 0 ? -1 : 0;
}

static int leave(void **state) {
    (void)state;
    return chdir("/") != 0 || rmdir(directory) != 0 ? -1 : 0;
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void check(const char *name, const char *text) {
    char read[64] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fread(read, 1, sizeof read - 1, file), strlen(text));
    assert_string_equal(read, text);
    (void)fclose(file);
}

/* Until the file is kept its name has what it had before. */
static void a_name_has_all_or_what_it_had(void **state) {
    struct output o;
    (void)state;
    put("report", "old");
    assert_int_equal(chmod("report", 0640), 0);
    assert_int_equal(output_open(&o, "report"), 0);
    fputs("new", o.file);
    assert_int_equal(fflush(o.file), 0);
    check("report", "old");
    assert_int_equal(output_keep(&o), 0);
    check("report", "new");
    struct stat about;
    assert_int_equal(stat("report", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(output_open(&o, "report"), 0);
    output_drop(&o);
    check("report", "new");
    assert_int_equal(output_open(&o, "report"), 0);
    output_remove_old(&o);
    assert_int_equal(access("report", F_OK), -1);
    output_drop(&o);
    assert_int_equal(access("report", F_OK), -1);
}

/* A disk without room, as a limit of this process. */
static void no_part_is_kept(void **state) {
    struct rlimit before, few;
    struct output o;
    (void)state;
    put("report", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t size = 100; size < 30000; size += 9000) {
        assert_int_equal(output_open(&o, "report"), 0);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
        for (size_t i = 0; i < size; i++) {
            (void)fputc('x', o.file);
        }
        int kept = output_keep(&o), why = errno;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(kept, size > 4096 ? -1 : 0);
        assert_int_equal(why, size > 4096 ? EFBIG : 0);
        assert_int_equal(access(o.part, F_OK), -1);
        put("report", "old");
    }
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(unlink("report"), 0);
}

/* A link stays a link, also one to what does not exist yet. */
static void links_are_followed(void **state) {
    struct output o;
    struct stat about;
    char name[64];
    (void)state;
    assert_int_equal(mkdir("below", 0700), 0);
    assert_int_equal(symlink("file", "below/link"), 0);
    assert_int_equal(output_follow("below/link", name, sizeof name), 0);
    assert_string_equal(name, "below/file");
    assert_int_equal(output_open(&o, "below/link"), 0);
    fputs("through", o.file);
    assert_int_equal(output_keep(&o), 0);
    check("below/file", "through");
    assert_int_equal(lstat("below/link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(unlink("below/link"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(output_open(&o, "loop"), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(unlink("loop"), 0);
    assert_int_equal(unlink("below/file"), 0);
    assert_int_equal(rmdir("below"), 0);
}

static void devices_are_written_to(void **state) {
    struct output o;
    (void)state;
    assert_int_equal(output_open(&o, "/dev/null"), 0);
    fputs("nothing", o.file);
    assert_int_equal(output_keep(&o), 0);
    assert_int_equal(output_open(&o, "/dev/full"), 0);
    fputs("much", o.file);
    assert_int_equal(output_keep(&o), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(access("/dev/full", F_OK), 0);
    assert_int_equal(output_open(&o, "none/report"), -1);
    assert_int_equal(errno, ENOENT);
}

/* Also where it is an earlier write that failed. */
static void a_full_standard_output_is_an_error(void **state) {
    FILE *file = fopen("/dev/full", "w");
    (void)state;
    assert_non_null(file);
    assert_int_equal(output_end(file, "test"), 0); /* nothing was written */
    fputs("much", file);
    assert_int_equal(output_end(file, "test"), -1);
    (void)fclose(file);
    file = fopen("/dev/full", "w");
    assert_non_null(file);
    assert_int_equal(setvbuf(file, NULL, _IONBF, 0), 0);
    assert_int_equal(fputs("much", file), EOF);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(output_end(file, NULL), -1);
    assert_int_equal(errno, ENOSPC);
    (void)fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_all_or_what_it_had),
        cmocka_unit_test(no_part_is_kept),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(devices_are_written_to),
        cmocka_unit_test(a_full_standard_output_is_an_error),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
