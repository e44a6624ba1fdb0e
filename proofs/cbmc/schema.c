/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas, imports and segments of any content (schema.h): what each check says of them, where the
 * parts and segments stand, and that no two of a prompt have one position. */
#include "chunkproof/schema.h"

#include "model.h"

#define N        CP_MAX_PARTS
#define SEGMENTS 2

static struct cp_part part[N];
static int begin[N], size[N], imported[N];
static struct cp_segment segment[SEGMENTS];
static int placed[SEGMENTS];
static int n; /* parts */

/* From -8 to 23, around the limits of a small harness; with -DWIDE any number. */
static int any_number(void) {
#ifdef WIDE
    return nondet_int();
#else
    return (nondet_byte() & 31) - 8;
#endif
}

/* Any part; with -DUNION part x of a union of two members, each with a text or param. */
static struct cp_part any_part(int x) {
    struct cp_part any = {any_number(), any_number(), any_number()};
#ifdef UNION
    static const int parent[] = {-1, 0, 1, 2, 1, 4};
    any.parent = parent[x];
    any.kind = x == 1             ? CP_PART_UNION
               : x == 3 || x == 5 ? (nondet_bool() ? CP_PART_TEXT : CP_PART_PARAM)
                                  : CP_PART_MODULE;
#endif
    return any;
}

static int kind_of(int x) {
    return part[x].kind;
}

static int is_inside(int y, int x) {
    for (int i = 0; i < N; i++) {
        y = y > x ? part[y].parent : y;
    }
    return y == x;
}

/* ---- The parts ---- */

static int size_is_right(int x) {
    return kind_of(x) == CP_PART_TEXT    ? part[x].size >= 0
           : kind_of(x) == CP_PART_PARAM ? part[x].size >= 1
                                         : part[x].size == 0;
}

/* What stands between a part and its parent is inside of the parent. */
static int is_in_order(int x) {
    int right = 1;
    for (int z = 0; z < N; z++) {
        right = right && (z <= part[x].parent || z >= x || part[z].parent >= part[x].parent);
    }
    return right;
}

static int part_is_right(int x) {
    int parent = part[x].parent;
    if (kind_of(x) < CP_PART_MODULE || kind_of(x) > CP_PART_PARAM || !size_is_right(x)) {
        return 0;
    }
    if (x == 0) {
        return kind_of(0) == CP_PART_MODULE && parent == -1;
    }
    return parent >= 0 && parent < x &&
           (kind_of(parent) == CP_PART_MODULE ||
            (kind_of(parent) == CP_PART_UNION && kind_of(x) == CP_PART_MODULE)) &&
           is_in_order(x);
}

static int first_wrong_part(void) {
    for (int x = 0; x < N; x++) {
        if (x < n && !part_is_right(x)) {
            return x;
        }
    }
    return -1;
}

/* ---- The layout ---- */

/* MOD-1, of the sizes below the limit: each is that of what is in it. */
static void check_sizes(void) {
    for (int x = 0; x < N; x++) {
        long long sum = 0, most = 0;
        for (int y = 0; y < N; y++) {
            int is_part = y < n && part[y].parent == x;
            sum += is_part ? size[y] : 0;
            most = is_part && size[y] > most ? size[y] : most;
        }
        long long right = kind_of(x) == CP_PART_MODULE  ? sum
                          : kind_of(x) == CP_PART_UNION ? most
                                                        : part[x].size;
        CHECK("MOD-1: a part has the size of what is in it", x >= n || size[x] == right);
    }
}

/* MOD-1, MOD-2: where parts of one module, or of one union, stand to each other. */
static void check_begins(void) {
    CHECK("MOD-1: part 0 begins at 0", begin[0] == 0);
    for (int x = 1; x < N; x++) {
        int parent = part[x].parent, before = 0;
        for (int y = 1; y < N; y++) {
            int is_before = x < n && y < x && part[y].parent == parent;
            before += is_before && kind_of(parent) == CP_PART_MODULE ? size[y] : 0;
        }
        CHECK("MOD-1: a part begins behind those before it in its module",
              x >= n || begin[x] == begin[parent] + before);
    }
    for (int x = 0; x < N; x++) {
        for (int y = x + 1; y < N; y++) {
            if (y < n && is_inside(y, x)) {
                CHECK("MOD-2: a part is inside of those around it",
                      begin[x] <= begin[y] && begin[y] + size[y] <= begin[x] + size[x]);
            }
        }
    }
}

/* The size of part 0, however large. */
static long long whole(void) {
    long long of[N];
    for (int x = 0; x < N; x++) {
        of[x] = x < n ? part[x].size : 0;
    }
    for (int i = 1; i < N; i++) {
        int x = N - i, parent = x < n ? part[x].parent : 0;
        long long joined = kind_of(parent) == CP_PART_MODULE ? of[parent] + of[x]
                           : of[parent] < of[x]              ? of[x]
                                                             : of[parent];
        of[parent] = x < n ? joined : of[parent];
    }
    return of[0];
}

/* ---- A prompt ---- */

static int import_is_right(int x) {
    if (x == 0 || kind_of(x) != CP_PART_MODULE || imported[x] == 0) {
        return x != 0 || imported[0] != 0;
    }
    int parent = part[x].parent, right = 1;
    if (kind_of(parent) == CP_PART_UNION) {
        for (int y = 0; y < N; y++) {
            right = right && (y >= x || part[y].parent != parent || imported[y] == 0);
        }
        parent = part[parent].parent;
    }
    return right && imported[parent] != 0;
}

static int first_wrong_import(void) {
    for (int x = 0; x < N; x++) {
        if (x < n && !import_is_right(x)) {
            return x;
        }
    }
    return -1;
}

static int has_text(int x) {
    return x < n && (kind_of(x) == CP_PART_TEXT || kind_of(x) == CP_PART_PARAM) &&
           imported[part[x].parent] != 0;
}

static int meet(long long a, long long n_a, long long b, long long n_b) {
    return n_a > 0 && n_b > 0 && a < b + n_b && b < a + n_a;
}

static void check_texts(void) {
    for (int x = 0; x < N; x++) {
        for (int y = x + 1; y < N; y++) {
            CHECK("MOD-2: what a prompt has stands in the order of the document",
                  !has_text(x) || !has_text(y) || begin[x] + size[x] <= begin[y]);
        }
    }
}

static int segment_is_right(int i) {
    int x = segment[i].behind;
    return segment[i].size >= 0 &&
           (x == -1 || (x >= 0 && x < n && kind_of(x) == CP_PART_MODULE && imported[x] != 0));
}

static int first_wrong_segment(void) {
    for (int i = 0; i < SEGMENTS; i++) {
        if (!segment_is_right(i)) {
            return i;
        }
    }
    return -1;
}

/* MOD-6: may segment i stand behind its import? */
static int has_room(int i) {
    int x = segment[i].behind;
    long long end = x < 0 ? 0 : (long long)begin[x] + size[x], of = segment[i].size;
    int room = x >= 0;
    for (int y = 0; y < N; y++) {
        room = room && (!has_text(y) || !meet(end, of, begin[y], size[y]));
    }
    for (int j = 0; j < SEGMENTS; j++) {
        room = room && (j >= i || !meet(end, of, placed[j], segment[j].size));
    }
    return room;
}

/* MOD-6: the position of segment i, when those before it have theirs. */
static long long place_of(int i) {
    long long last = size[0];
    for (int j = 0; j < SEGMENTS; j++) {
        long long end = j < i ? (long long)placed[j] + segment[j].size : 0;
        last = end > last ? end : last;
    }
    int x = segment[i].behind;
    return has_room(i) ? (long long)begin[x] + size[x] : last;
}

static void check_places(void) {
    int before[SEGMENTS], stops = -1;
    for (int i = 0; i < SEGMENTS; i++) {
        before[i] = placed[i] = nondet_int();
    }
    int status = cp_prompt_place(part, n, begin, size, imported, segment, SEGMENTS, placed);
    for (int i = 0; i < SEGMENTS && stops < 0; i++) {
        long long at = place_of(i);
        int fits = at + segment[i].size <= CP_MAX_POSITIONS;
        CHECK("MOD-6: a segment stands behind its import, or behind everything",
              placed[i] == (fits ? at : -1));
        stops = fits ? -1 : i;
        REACH("a segment in place of a part that is left out",
              fits && segment[i].size > 0 && at < size[0]);
        REACH("a segment without room", fits && segment[i].behind >= 0 && !has_room(i));
        REACH("a segment without tokens inside", fits && segment[i].size == 0 && at < size[0]);
        REACH("the second segment behind the first's import",
              i == 1 && segment[1].behind >= 0 && segment[0].behind == segment[1].behind);
    }
    CHECK("MOD-6: refused exactly when one does not fit",
          status == (stops < 0 ? CP_OK : CP_ERROR_TOO_LONG));
    for (int i = 0; i < SEGMENTS; i++) {
        CHECK("MOD-6: what is behind a refused one stays",
              stops < 0 || i <= stops || placed[i] == before[i]);
        for (int y = 0; y < N; y++) {
            CHECK("MOD-6: no two tokens of a prompt have one position",
                  stops >= 0 || !has_text(y) ||
                      !meet(placed[i], segment[i].size, begin[y], size[y]));
        }
    }
    CHECK("MOD-6: nor of two segments",
          stops >= 0 || !meet(placed[0], segment[0].size, placed[1], segment[1].size));
    REACH("the second segment is too long", stops == 1);
    REACH("both segments", stops < 0 && segment[0].size > 0 && segment[1].size > 0);
}

int main(void) {
    n = any_number();
    for (int x = 0; x < N; x++) {
        part[x] = any_part(x);
        imported[x] = any_number();
    }
    if (n < 1 || n > N) {
        CHECK("no part, or too many", cp_schema_check(part, n) == (n < 1 ? 0 : CP_MAX_PARTS));
        return 0;
    }
    int wrong = cp_schema_check(part, n);
    CHECK("MOD-1: the first part that is wrong", wrong == first_wrong_part());
    REACH("a wrong part behind right ones", wrong == N - 1);
    if (wrong >= 0) {
        return 0;
    }
    int status = cp_schema_layout(part, n, begin, size);
    CHECK("MOD-1: refused exactly when it is too long",
          status == (whole() > CP_MAX_POSITIONS ? CP_ERROR_TOO_LONG : CP_OK));
    REACH("a schema that is too long", status == CP_ERROR_TOO_LONG);
    REACH("a schema as long as may be", status == CP_OK && size[0] == CP_MAX_POSITIONS);
    if (status != CP_OK) {
        return 0;
    }
    check_sizes();
    check_begins();
    int wrong_import = cp_prompt_check(part, n, imported);
    CHECK("MOD-2: the first import that is wrong", wrong_import == first_wrong_import());
    REACH("two members of a union",
          wrong_import > 0 && kind_of(part[wrong_import].parent) == CP_PART_UNION);
    if (wrong_import >= 0) {
        return 0;
    }
    check_texts();
    for (int i = 0; i < SEGMENTS; i++) {
        segment[i] = (struct cp_segment){any_number(), any_number()};
    }
    int wrong_segment = cp_segments_check(part, n, imported, segment, SEGMENTS);
    CHECK("MOD-6: the first segment that is wrong", wrong_segment == first_wrong_segment());
    REACH("a wrong segment behind a right one", wrong_segment == 1);
    if (wrong_segment < 0) {
        check_places();
    }
    return 0;
}
