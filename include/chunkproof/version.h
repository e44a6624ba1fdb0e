/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_VERSION_H
#define CHUNKPROOF_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define CP_VERSION_MAJOR 0
#define CP_VERSION_MINOR 1
#define CP_VERSION_PATCH 0
#define CP_VERSION       "0.1.0"

/* The version of the library that was linked, for example "0.1.0". CP_VERSION is the version of the
 * headers: compare the two. */
/*@
  assigns \nothing;
  ensures text: \valid_read(\result);
*/
const char *cp_version(void);

#ifdef __cplusplus
}
#endif

#endif
