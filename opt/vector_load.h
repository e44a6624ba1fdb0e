/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of any type in vectors: the part of vector.h, and included by it alone, that knows how K,
 * V and Q are stored. */
/* Loads LANES numbers; or n of them, fewer than LANES, and zeros: nothing beyond them is read. */
static inline vec load_typed(const void *from, int type, size_t at) {
    return type == CP_FP16   ? v_load_16((const uint16_t *)from + at)
           : type == CP_BF16 ? v_load_b16((const uint16_t *)from + at)
           : type == CP_FP32 ? v_load((const float *)from + at)
           : type == CP_E4M3 ? v_load_e4((const uint8_t *)from + at)
           : type == CP_E5M2 ? v_load_e5((const uint8_t *)from + at)
                             : v_load_i8((const uint8_t *)from + at);
}

INLINE size_t bytes_of(int type, int n) {
    return (size_t)n * (type == CP_FP32                      ? sizeof(float)
                        : type == CP_FP16 || type == CP_BF16 ? sizeof(uint16_t)
                                                             : sizeof(uint8_t));
}

/* A function of its own: gcc's address sanitizer does not align vectors in a frame that has an
 * array, too. */
__attribute__((noinline)) static vec load_some(const void *from, int type, size_t at, int n) {
    float room[LANES] = {0}; /* large enough for each type */
    memcpy(room, (const char *)from + at * bytes_of(type, 1), bytes_of(type, n));
    return load_typed(room, type, 0);
}

/* With the type as a constant in each. */
#define BY_TYPE(CALL)                                                                              \
    if (type == CP_FP16) {                                                                         \
        CALL(CP_FP16);                                                                             \
    } else if (type == CP_BF16) {                                                                  \
        CALL(CP_BF16);                                                                             \
    } else if (type == CP_FP32) {                                                                  \
        CALL(CP_FP32);                                                                             \
    } else if (type == CP_E4M3) {                                                                  \
        CALL(CP_E4M3);                                                                             \
    } else if (type == CP_E5M2) {                                                                  \
        CALL(CP_E5M2);                                                                             \
    } else {                                                                                       \
        CALL(CP_INT8);                                                                             \
    }

INLINE vec load_up_to(const void *from, int type, size_t at, int n) {
    return n < LANES ? load_some(from, type, at, n) : load_typed(from, type, at);
}
