/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs for a GPU share: the device, which is the CPU's where there is no other, and
 * their one option. */
#ifndef CHUNKPROOF_TESTS_GPU_PROGRAM_H
#define CHUNKPROOF_TESTS_GPU_PROGRAM_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef __CUDACC__
#include "kernels/simt/device.h"
#endif

struct Program {
#ifndef __CUDACC__
    simt::Device device;
#endif
    bool small; /* what a CPU can do */

    /* Ends the program, with status 2, when the arguments are others than perhaps --small. */
    Program(int n, char **arguments) : small(n == 2 && std::strcmp(arguments[1], "--small") == 0) {
        if (n > 1 && !small) {
            std::fprintf(stderr, "usage: %s [--small]\n", arguments[0]);
            std::exit(2);
        }
    }
};

#endif
