/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits, as caches of K and V have them (spec/number.md): the formats E4M3 and E5M2 of
 * the Open Compute Project (OFP8), and integers. They are types of number.h, too. Most come with a
 * scale (NUM-18), which is not here. */
#ifndef CHUNKPROOF_NUMBER8_H
#define CHUNKPROOF_NUMBER8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CP_E4M3 4 /* sign 1, exponent 4, fraction 3: up to 448, no infinities, two NaNs */
#define CP_E5M2 5 /* sign 1, exponent 5, fraction 2: up to 57344, infinities and NaNs */
#define CP_INT8 6 /* two's complement: -128 .. 127 */

/* What of a cache has a scale of its own (NUM-18). */
#define CP_CACHE_SCALE_TENSOR 0 /* K, and V */
#define CP_CACHE_SCALE_HEAD   1 /* each K/V head */
#define CP_CACHE_SCALE_TOKEN  2 /* each token and K/V head */

/* NUM-16. Exact for all 256 values of a format. Zeros keep their sign; each NaN is a quiet NaN. */
double cp_number8_to_double(uint8_t x, int format);

/* NUM-17. The nearest number of the format, ties to the even last bit, whatever the rounding mode.
 * What is beyond the largest number, an infinity too, becomes that. A NaN becomes a NaN, 0x7F, and
 * of CP_INT8 0. */
uint8_t cp_number8_from_double(double x, int format);

/* The largest number of a format (NUM-16). */
/*@
  assigns \nothing;
  ensures num_16_e4m3: format == CP_E4M3 ==> \result == 448.0;
  ensures num_16_e5m2: format == CP_E5M2 ==> \result == 57344.0;
  ensures num_16_int8: format == CP_INT8 ==> \result == 127.0;
*/
double cp_number8_largest(int format);

#ifdef __cplusplus
}
#endif

#endif
