/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of the kernels on the executor, in the namespace KERNELS: `checked`, compiled so
 * that the executor sees each load and store, and `plain`. This file is included once for each,
 * so it has no guard. Each namespace has its own types for the arithmetics, so that its kernels
 * are separate, too. */
#include "kernels/cache.h"
#include "kernels/field.h"
#include "kernels/mask.h"
#include "kernels/problem.h"
#include "kernels/real.h"
#include "kernels/simt/simt.h"

namespace KERNELS {

struct Nats : chunkproof::Real {};
struct Bits : chunkproof::RealInBits {};
struct BfloatNats : chunkproof::RealBf16 {};
struct BfloatBits : chunkproof::RealBf16InBits {};
struct CachedNats : chunkproof::RealCache {};
struct CachedBits : chunkproof::RealCacheInBits {};
struct BfloatCachedNats : chunkproof::RealBf16Cache {};
struct BfloatCachedBits : chunkproof::RealBf16CacheInBits {};
struct Exact : chunkproof::Field {};
struct ExactCached : chunkproof::FieldCached {};
struct ExactMasked : chunkproof::Masked<chunkproof::Field> {};
struct ExactCachedMasked : chunkproof::Masked<chunkproof::FieldCached> {};

const int n_versions = 3;

/* NUM-16: a number of a cache of 8 bits; and four pairs of them, [2][4], as the tiles of both types
 * of Q have them. */
float number_of_8_bits(int type, std::uint8_t x);
void pairs_of_8_bits(int type, unsigned low, unsigned high, unsigned (*pairs)[4]);

/* Attention by a version, 1 .. n_versions. Returns the first finding, or none. `config` gives only
 * the seed, limits and buffers. Version 1 alone has masks. In numbers, versions 1 and 2 have scores
 * in nats, version 3 in bits. */
template <class A>
simt::Report attend(int version, simt::Config config, const chunkproof::Problem<A> &problem,
                    const cp_schedule &schedule);

} // namespace KERNELS
