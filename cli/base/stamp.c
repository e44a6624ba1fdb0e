/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* nanoseconds of stat */

#include "cli/base/stamp.h"

#include <sys/stat.h>

static long long nanoseconds(struct timespec time) {
    return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

int file_stamp_take(struct file_stamp *stamp, const char *name) {
    struct stat about;
    if (stat(name, &about) != 0) {
        return -1;
    }
    *stamp = (struct file_stamp){.device = about.st_dev,
                                 .inode = about.st_ino,
                                 .size = (unsigned long long)about.st_size,
                                 .modified = nanoseconds(about.st_mtim),
                                 .changed = nanoseconds(about.st_ctim)};
    return 0;
}

int file_stamp_is(const struct file_stamp *stamp, const char *name) {
    struct file_stamp now;
    return file_stamp_take(&now, name) == 0 && now.device == stamp->device &&
           now.inode == stamp->inode && now.size == stamp->size &&
           now.modified == stamp->modified && now.changed == stamp->changed;
}
