/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp, memmem, ST_NOEXEC */

#include "gate/source/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "gate/source/words.h"

/* ---- C ---- */

static int compile_c(const struct gate_object *object, const char *source) {
    const char *cc = getenv("CC"), *flags = getenv("CFLAGS");
    struct gate_words words = {.n = 0};
    char include[GATE_MOST_PATH], library[GATE_MOST_PATH];
    if (gate_find(include, "include/chunkproof/kernel.h", "include/chunkproof/kernel.h") != 0 ||
        gate_find_built(library, "libchunkproof.a") != 0) {
        return -1;
    }
    *strstr(include, "/chunkproof/kernel.h") = '\0';
    gate_words_split(&words, cc != NULL ? cc : "cc");
    gate_words_split(&words, flags != NULL ? flags : "-O2");
    gate_words_split(&words, "-shared -fPIC");
    gate_words_add(&words, "-I%s", include);
    gate_words_add(&words, "-o");
    gate_words_add(&words, "%s", object->file);
    gate_words_add(&words, "%s", source);
    gate_words_add(&words, "%s", library);
    gate_words_add(&words, "-lm");
    return gate_words_run(&words, object->seconds);
}

/* ---- The object ---- */

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* Makes the directory. 0, or -1: errno says why not. */
static int make_directory(struct gate_object *object) {
    const char *tmp = getenv("TMPDIR");
    int length = snprintf(object->directory, sizeof object->directory, "%s/chunkproof-XXXXXX",
                          tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    errno = ENAMETOOLONG;
    if (length >= (int)sizeof object->directory || mkdtemp(object->directory) == NULL) {
        return -1;
    }
    (void)snprintf(object->file, sizeof object->file, "%s/kernel.so", object->directory);
    return 0;
}

static int compile(struct gate_object *object, const char *kernel, int is_cuda,
                   enum gate_place place, const char *command) {
    if (access(kernel, R_OK) != 0) {
        fprintf(stderr, "chunkproof %s: %s: %s\n", command, kernel, strerror(errno));
        return -1;
    }
    if (make_directory(object) != 0) {
        fprintf(stderr,
                "chunkproof %s: %s: no directory can be made there ($TMPDIR sets the place): %s\n",
                command, object->directory, strerror(errno));
        object->directory[0] = '\0';
        return -1;
    }
    int status = is_cuda ? gate_compile_cuda(object, kernel, place) : compile_c(object, kernel);
    if (status > 0) { /* else it was not tried, and said why */
        fprintf(stderr,
                "chunkproof %s: %s: it does not compile (the environment variables %s set the "
                "compiler and its options)\n",
                command, kernel, is_cuda ? "CXX and CXXFLAGS, or NVCC," : "CC and CFLAGS");
    }
    return status == 0 ? 0 : -1;
}

/* ---- A shared object ---- */

/* Copies the file. 1: it names a library by the directory that it is in; -1: no copy. */
static int copy(const char *from, const char *to) {
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    enum { OVERLAP = 16 }; /* bytes of the last piece, before this one */
    char piece[OVERLAP + (1 << 16)] = {0};
    FILE *in = fopen(from, "rb"), *out = in != NULL ? fopen(to, "wb") : NULL;
    size_t n = 0;
    int has_origin = 0, failed = out == NULL;
    while (!failed && !has_origin &&
           (n = fread(piece + OVERLAP, 1, sizeof piece - OVERLAP, in)) > 0) {
        failed = fwrite(piece + OVERLAP, 1, n, out) != n;
        for (size_t i = 0; i < 2; i++) {
            has_origin = has_origin || memmem(piece, OVERLAP + n, origins[i], strlen(origins[i]));
        }
        memmove(piece, piece + n, OVERLAP);
    }
    failed = failed || ferror(in);
    failed = (out != NULL && fclose(out) != 0) || failed;
    if (in != NULL) {
        (void)fclose(in);
    }
    return failed ? -1 : has_origin;
}

static int may_be_loaded_from(const char *directory) {
    struct statvfs about;
    return statvfs(directory, &about) == 0 && (about.f_flag & ST_NOEXEC) == 0;
}

/* Takes the file as it is: what cannot be copied, or does not work as a copy. */
static int take_in_place(struct gate_object *object, const char *kernel, const char *command) {
    gate_object_free(object);
    object->in_place = 1;
    if (snprintf(object->file, sizeof object->file, "%s", kernel) >= (int)sizeof object->file ||
        file_stamp_take(&object->stamp, kernel) != 0) {
        fprintf(stderr, "chunkproof %s: %s: %s; give the path of a shared object\n", command,
                kernel, strerror(errno));
        return -1;
    }
    return 0;
}

static int take_copy(struct gate_object *object, const char *kernel, const char *command) {
    struct stat about;
    if (stat(kernel, &about) != 0 || !S_ISREG(about.st_mode)) { /* the loader says more */
        return take_in_place(object, kernel, command);
    }
    if (make_directory(object) != 0) {
        object->directory[0] = '\0';
        return take_in_place(object, kernel, command);
    }
    return copy(kernel, object->file) == 0 && may_be_loaded_from(object->directory)
               ? 0
               : take_in_place(object, kernel, command);
}

static int is_cpp(const char *kernel) {
    return ends_with(kernel, ".cpp") || ends_with(kernel, ".cc") || ends_with(kernel, ".cxx");
}

int gate_object_new(struct gate_object *object, const char *kernel, enum gate_place place,
                    double seconds, const char *command) {
    int is_cuda = ends_with(kernel, ".cu"), is_c = ends_with(kernel, ".c");
    memset(object, 0, sizeof *object);
    object->seconds = seconds;
    if (!is_cuda && place != GATE_ANYWHERE) {
        fprintf(stderr, "chunkproof %s: %s: --on applies only to a source in CUDA (*.cu); %s\n",
                command, kernel,
                is_c ? "this one runs on the CPU" : "a shared object runs where it was built for");
        return -1;
    }
    if (is_cpp(kernel)) {
        fprintf(stderr,
                "chunkproof %s: %s: sources in C and CUDA alone are compiled here; build it as a "
                "shared object: c++ -shared -fPIC -o mine.so mine.cpp\n",
                command, kernel);
        return -1;
    }
    int result = is_cuda || is_c ? compile(object, kernel, is_cuda, place, command)
                                 : take_copy(object, kernel, command);
    if (result != 0) {
        gate_object_free(object);
    }
    return result;
}

void gate_object_free(struct gate_object *object) {
    static const char *const files[] = {"kernel.so", "kernel.o", "kernel.cpp"};
    if (object->directory[0] != '\0') {
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            char name[sizeof object->directory + 16];
            (void)snprintf(name, sizeof name, "%s/%s", object->directory, files[i]);
            (void)unlink(name);
        }
        (void)rmdir(object->directory);
        object->directory[0] = '\0';
    }
}
