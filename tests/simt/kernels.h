/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of tests/simt/, in the namespace KERNELS: `checked`, compiled so that the executor
 * sees each load and store, and `plain`. This file is included once for each, so it has no
 * guard. A kernel with a parameter `right` is wrong in one line when `right` is false. */
#include "kernels/simt/cuda.h"

namespace KERNELS {

/* How blocks hand over what they wrote; the first four ways are right. */
enum class HandOver {
    one_fences,
    all_fence,
    warps_fence,
    another_fences,
    no_fence,
    fence_too_early,
    no_barrier,
    no_atomic
};

/* wrong.cu: what each check must report */
__global__ void missing_barrier(int *out, bool right);
__global__ void write_write(int *out, bool right);
__global__ void write_after_read(int *out, bool right);
__global__ void warp_exchange(int *out, bool right);
__global__ void warps_exchange(int *out, bool right);
__global__ void halves_exchange(int *out, bool right);
__global__ void one_reads_one_writes(int *out, bool right);
__global__ void order_in_a_chain(int *out, bool right);
__global__ void shuffle_orders(int *out);
__global__ void bytes_apart(unsigned char *out, bool right);
__global__ void missing_wait(const float *in, float *out, bool right);
__global__ void wait_without_barrier(const float *in, float *out, bool right);
__global__ void wrong_group(const float *in, float *out, bool right);
__global__ void write_in_flight(const float *in, float *out, bool right);
__global__ void branch_barriers(int *out, bool right);
__global__ void two_barriers(int *out, bool right);
__global__ void short_barrier(int *out, bool right);
__global__ void counts_differ(int *out, bool right);
__global__ void divergent_shuffle(int *out, bool right);
__global__ void masks_differ(int *out, bool right);
__global__ void not_in_mask(int *out, bool right);
__global__ void inactive_lane(int *out, bool right);
__global__ void half_a_warp_mma(float *out, bool right);
__global__ void read_outside(int *out, bool right);
__global__ void write_outside(int *out, bool right);
__global__ void dynamic_outside(int *out, bool right);
__global__ void read_unwritten(int *out, bool right);
__global__ void copy_struct(float4 *out, bool right);
__global__ void endless(int *out, bool right);
__global__ void endless_votes(int *out, bool right);
__global__ void blocks_collide(int *out, bool right);
__global__ void neighbours_collide(int *out, bool right);
__global__ void atomic_and_plain(int *out, bool right);
__global__ void hand_over(int *partial, int *done, int *sum, HandOver how);
__global__ void global_outside(const int *in, int *out, bool right);
__global__ void writes_constant(int *in, int *out, bool right);
__global__ void crooked_copy(const float *in, float *out, bool right);
__global__ void crooked_vector(const float *in, float *out, bool right);

/* right.cu: each feature */
__global__ void indices(unsigned *out);
__global__ void shuffles(int *out);
__global__ void shuffles_of_types(float *f, unsigned *u, unsigned long long *w, double *d);
__global__ void votes(unsigned *out);
__global__ void part_of_a_warp(int *out);
__global__ void named_barriers(int *out);
__global__ void threads_end_early(int *out);
__global__ void wait_for_flag(int *out);
__global__ void tickets(int *counter, int *out);
__global__ void counts(int *out);
__global__ void atomics(int *sum, unsigned *greatest, int *swapped, float *real);
__global__ void bit_atomics(unsigned *u, int *i, unsigned long long *w, float *f);
__global__ void arrays_of_instances(int *out);
__global__ void halves(const float *in, float *out);
__global__ void bfloats(const float *in, float *out);
__global__ void async_copies(const char *in, char *out);
__global__ void load_matrices(const __half *in, unsigned *out);
__global__ void multiply(const unsigned *a, const unsigned *b, const float *c, float *d);
__global__ void multiply_bfloats(const unsigned *a, const unsigned *b, const float *c, float *d);
__global__ void multiply_often(float *out, int times);
__global__ void pass_often(int *out, int times);
__global__ void decode(const __half *q, const __half *k, const __half *v, float *out, float scale);

} // namespace KERNELS
