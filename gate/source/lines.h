/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines for the findings of the executor of CUDA kernels. */
#ifndef CHUNKPROOF_GATE_SOURCE_LINES_H
#define CHUNKPROOF_GATE_SOURCE_LINES_H

#include <stddef.h>

/* Replaces each "code+0x1a2b" of the text, a place in the object, by "mine.cu:14". That is the line
 * of the kernel's own source, not of a header of the executor that it calls. A place that addr2line
 * does not know stays as it is, and so does one whose line would not fit into `size` bytes. */
void gate_name_lines(const char *object, char *text, size_t size);

#endif
