/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/schema.h"

static int is_segment(const struct cp_part *schema, int n_parts, const int *imported,
                      struct cp_segment segment) {
    int x = segment.behind;
    return segment.size >= 0 && x < n_parts &&
           (x == -1 || (x >= 0 && schema[x].kind == CP_PART_MODULE && imported[x] != 0));
}

int cp_segments_check(const struct cp_part *schema, int n_parts, const int *imported,
                      const struct cp_segment *segments, int n_segments) {
    for (int i = 0; i < n_segments; i++) {
        if (!is_segment(schema, n_parts, imported, segments[i])) {
            return i;
        }
    }
    return -1;
}

/* 1 when the prompt has tokens of its schema in part x, or may have: a param counts whole. */
static int has_tokens(const struct cp_part *schema, const int *imported, int x) {
    return (schema[x].kind == CP_PART_TEXT || schema[x].kind == CP_PART_PARAM) &&
           schema[x].size > 0 && imported[schema[x].parent] != 0;
}

/* 1 when no text or param of the prompt has one of the n positions from the end of import x on. By
 * MOD-2 those before x and in it end there, or before; and of those behind it the first is next. */
static int texts_leave_room(const struct cp_part *schema, int n_parts, const int *begin,
                            const int *size, const int *imported, int x, int n) {
    int end = begin[x] + size[x];
    for (int y = x + 1; y < n_parts; y++) {
        if (has_tokens(schema, imported, y) && begin[y] >= end) {
            return begin[y] - end >= n;
        }
    }
    return 1;
}

/* 1 when none of the first i segments has one of the n positions from `end` on. */
static int segments_leave_room(const struct cp_segment *segments, const int *placed, int i, int end,
                               int n) {
    for (int j = 0; j < i; j++) {
        int has_any = n > 0 && segments[j].size > 0;
        if (has_any && placed[j] < end + n && end < placed[j] + segments[j].size) {
            return 0;
        }
    }
    return 1;
}

int cp_prompt_place(const struct cp_part *schema, int n_parts, const int *begin, const int *size,
                    const int *imported, const struct cp_segment *segments, int n_segments,
                    int *placed) {
    int last = size[0]; /* the first position behind everything */
    for (int i = 0; i < n_segments; i++) {
        int x = segments[i].behind;
        int n = segments[i].size;
        int at = last;
        if (x >= 0) {
            int end = begin[x] + size[x];
            if (n <= CP_MAX_POSITIONS - end &&
                texts_leave_room(schema, n_parts, begin, size, imported, x, n) &&
                segments_leave_room(segments, placed, i, end, n)) {
                at = end;
            }
        }
        if (n > CP_MAX_POSITIONS - at) {
            placed[i] = -1;
            return CP_ERROR_TOO_LONG;
        }
        placed[i] = at;
        last = last < at + n ? at + n : last;
    }
    return CP_OK;
}
