/* SPDX-License-Identifier: Apache-2.0 */
/* The status of an operation. Every operation that can fail returns one of these. Unless it returns
 * CP_OK, it leaves everything unchanged (spec/tree.md, TREE-13), but for arrays that it fills: they
 * may then have any content. */
#ifndef CHUNKPROOF_STATUS_H
#define CHUNKPROOF_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define CP_OK                   0
#define CP_ERROR_ARGUMENT       1  /* an argument is out of its documented range */
#define CP_ERROR_POOL_FULL      2  /* fewer free chunks than the operation needs */
#define CP_ERROR_SEQUENCES_FULL 3  /* the most sequences possible are alive already */
#define CP_ERROR_TOO_LONG       4  /* a path, schema or cache would be longer than it can be */
#define CP_ERROR_NO_MEMORY      5  /* the system gave no memory */
#define CP_ERROR_STALE          6  /* the plan was built before the tree last changed */
#define CP_ERROR_SHAPE          7  /* dimensions, types or query ranges do not fit together */
#define CP_ERROR_WORKSPACE      8  /* the workspace is smaller than the implementation needs */
#define CP_ERROR_CUDA           9  /* a call to CUDA failed: cp_cuda_text() says which */
#define CP_ERROR_UNSUPPORTED    10 /* valid, but not supported by this implementation or machine */

/* One line of English for a status; never NULL. */
/*@
  assigns \nothing;
  ensures text: \valid_read(\result);
*/
const char *cp_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif
