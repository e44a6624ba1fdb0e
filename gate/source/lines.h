/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a kernel's source, for what the executor of CUDA kernels found. */
#ifndef CHUNKPROOF_GATE_SOURCE_LINES_H
#define CHUNKPROOF_GATE_SOURCE_LINES_H

#include <stddef.h>

/* Each "code+0x1a2b" of the text, a place in the object, becomes "mine.cu:14": the line that was
 * written there, and not that of a header of the executor's which it calls. What addr2line does not
 * know stays as it is, and so does what would be too long for `size` bytes. */
void gate_name_lines(const char *object, char *text, size_t size);

#endif
