/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites plain CUDA for the executor (kernels/simt/cuda.h), because C++ has no __shared__ and no
 * <<<>>>.
 *
 *     __shared__ float tile[2][64], sum;
 *     -> SIMT_SHARED(float, tile, [2][64]); SIMT_SHARED(float, sum, );
 *
 *     extern __shared__ char rows[];
 *     -> SIMT_SHARED_DYNAMIC(char, rows);
 *
 *     kernel<T><<<grid, block, bytes, stream>>>(a, b)
 *     -> simt::launch_plain(stream, grid, block, bytes, kernel<T>, a, b)
 *
 * All else stays as it is, in the same lines. Headers of CUDA become those of
 * kernels/simt/as_cuda/. */
#ifndef CHUNKPROOF_GATE_SOURCE_CUDA_SOURCE_H
#define CHUNKPROOF_GATE_SOURCE_CUDA_SOURCE_H

/* Reads `from` and writes `to`. 0, or -1 after saying what is wrong, and where. */
int gate_cuda_source(const char *from, const char *to);

#endif
