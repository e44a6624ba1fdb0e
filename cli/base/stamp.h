/* SPDX-License-Identifier: Apache-2.0 */
/* Is a file still the one that it was? */
#ifndef CHUNKPROOF_CLI_BASE_STAMP_H
#define CHUNKPROOF_CLI_BASE_STAMP_H

struct file_stamp {
    unsigned long long device, inode, size;
    long long modified, changed; /* nanoseconds */
};

/* 0, or -1: there is no such file; errno says why. */
int file_stamp_take(struct file_stamp *stamp, const char *name);

int file_stamp_is(const struct file_stamp *stamp, const char *name);

#endif
