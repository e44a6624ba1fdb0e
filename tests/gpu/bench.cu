/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the versions of the kernels are, beside what the device can do: a line of CSV for each
 * load, version and cutting of the paths (make bench-gpu; scripts/gpu.py makes tables and pictures
 * of it).
 *
 *     bench               the loads of the papers' Table 3 and figures 3 and 4, trees of two
 *                         and three levels, GQA
 *     bench --small       a load that a CPU can do
 *
 * A load is decoding: a query for each sequence. Latency is between two events around
 * cp_cuda_attend(), after the second-level cache was overwritten; median, and the spread from the
 * 10th to the 90th percentile. The limit is the larger of distinct bytes of Q, K, V and output over
 * the bandwidth of a large copy (bytes read and written) or of reading alone, whichever is faster,
 * and 4 b h n d operations over the rate of mma.m16n8k16 from registers, all measured here. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "chunkproof/cuda.h"
#include "chunkproof/number.h"
#include "chunkproof/plan.h"
#include "kernels/simt/cuda.h"
#include "kernels/simt/host.h"
#include "tests/gpu/program.h"

/* b sequences of n tokens each. Level l of the tree: `tokens` that n_groups groups of neighbours
 * share. */
struct Level {
    int n_groups, tokens;
};

struct Load {
    std::string name;
    int b, n, n_heads, n_kv_heads;
    std::vector<Level> levels;
};

static const int HEAD_DIM = 128, CHUNK_SIZE = 64, N_VERSIONS = 3;

static void must(cudaError_t error) {
    if (error != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(error));
    }
}

static void must(int status, const char *text) {
    if (status != CP_OK) {
        throw std::runtime_error(text);
    }
}

/* Device memory. */
struct Memory {
    void *address = nullptr;
    std::size_t bytes;
    explicit Memory(std::size_t n) : bytes(n) {
        must(cudaMalloc(&address, n));
    }
    ~Memory() {
        (void)cudaFree(address);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
};

/* ---- Timing ---- */

struct Times {
    double median, low, high; /* microseconds; 10th and 90th percentile */
};

struct Clock {
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;
    Memory cache; /* larger than the second-level cache */
    bool small;

    explicit Clock(bool is_small) : cache(is_small ? 4096 : 256 << 20), small(is_small) {
        must(cudaStreamCreate(&stream));
        must(cudaEventCreateWithFlags(&from, cudaEventDefault));
        must(cudaEventCreateWithFlags(&to, cudaEventDefault));
    }
    ~Clock() {
        (void)cudaEventDestroy(from);
        (void)cudaEventDestroy(to);
        (void)cudaStreamDestroy(stream);
    }

    template <class Run> double once(const Run &run) {
        float milliseconds = 0.0f;
        must(cudaMemsetAsync(cache.address, 1, cache.bytes, stream));
        must(cudaEventRecord(from, stream));
        run();
        must(cudaEventRecord(to, stream));
        must(cudaEventSynchronize(to));
        must(cudaEventElapsedTime(&milliseconds, from, to));
        return 1e3 * static_cast<double>(milliseconds);
    }

    /* 50 times, or for a tenth of a second, but 5 times at least. */
    template <class Run> Times times(const Run &run) {
        std::vector<double> all;
        double sum = 0.0;
        once(run);
        once(run);
        while (all.size() < 5 || (!small && all.size() < 50 && sum < 1e5)) {
            all.push_back(once(run));
            sum += all.back();
        }
        std::sort(all.begin(), all.end());
        std::size_t n = all.size();
        return {all[n / 2], all[n / 10], all[n - 1 - n / 10]};
    }
};

/* ---- What the device can do ---- */

struct Bandwidth {
    double copy, read; /* bytes per microsecond */
};

/* Reads n vectors, n a multiple of 8 times the threads: eight loads of 16 bytes at once. The sum
 * keeps the compiler from leaving them out. */
__global__ void read_all(const uint4 *from, unsigned long long n, unsigned *sums) {
    unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    unsigned long long first =
        static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned long long i = first; i < n; i += 8 * step) {
        SIMT_UNROLL
        for (unsigned long long j = 0; j < 8; j++) {
            uint4 one = from[i + j * step];
            sum += one.x ^ one.y ^ one.z ^ one.w;
        }
    }
    sums[first] = sum;
}

/* The fastest of some grids. Of 4 GiB, so that the start of a kernel is less than a hundredth. */
static Bandwidth bandwidth_of(Clock &clock) {
    std::size_t bytes = clock.small ? 1 << 16 : 1ull << 32;
    unsigned threads = clock.small ? 32 : 512, most = clock.small ? 4 : 1 << 14;
    Memory from(bytes), to(bytes), sums(most * threads * sizeof(unsigned));
    must(cudaMemsetAsync(from.address, 0x5A, bytes, clock.stream));
    Times copy = clock.times([&] {
        must(cudaMemcpyAsync(to.address, from.address, bytes, cudaMemcpyDeviceToDevice,
                             clock.stream));
    });
    double read = 0.0;
    for (unsigned blocks = clock.small ? 1 : 1 << 9; blocks <= most; blocks *= 2) {
        Times t = clock.times([&] {
            must(simt::launch_on(clock.stream, blocks, threads, 0, read_all,
                                 static_cast<const uint4 *>(from.address), bytes / sizeof(uint4),
                                 static_cast<unsigned *>(sums.address)));
        });
        read = std::max(read, static_cast<double>(bytes) / t.median);
    }
    return {2.0 * static_cast<double>(bytes) / copy.median, read};
}

/* Eight products in a row, each of which does not wait for the one before. */
__global__ void multiply_many(float *out, int times) {
    float c[8][4] = {};
    unsigned a[4] = {threadIdx.x, threadIdx.x, 1, 2}, b[2] = {3, threadIdx.x};
    for (int i = 0; i < times; i++) {
        SIMT_UNROLL
        for (int x = 0; x < 8; x++) {
            simt::mma_m16n8k16(c[x], a, b, c[x]);
        }
    }
    float sum = 0.0f;
    for (int x = 0; x < 8; x++) {
        sum += c[x][0] + c[x][1] + c[x][2] + c[x][3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static double operations_per_us(Clock &clock) {
    int device = 0, multiprocessors = 0;
    must(cudaGetDevice(&device));
    must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    unsigned blocks = 8 * static_cast<unsigned>(multiprocessors), threads = clock.small ? 32 : 256;
    int times = clock.small ? 2 : 4096;
    Memory out(blocks * threads * sizeof(float));
    Times t = clock.times([&] {
        must(simt::launch_on(clock.stream, blocks, threads, 0, multiply_many,
                             static_cast<float *>(out.address), times));
    });
    return 8.0 * times * (2 * 16 * 8 * 16) * blocks * (threads / 32) / t.median;
}

/* ---- A load ---- */

/* Random numbers in binary16, between -1 and 1: signs, and exponents of 2^-1 .. 2^-4. */
__global__ void fill(std::uint16_t *to, unsigned long long n, unsigned seed) {
    unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i =
             static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < n; i += step) {
        unsigned long long x = (i + 1) * 0x9E3779B97F4A7C15ull + seed;
        x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
        x = x ^ x >> 32;
        to[i] = static_cast<std::uint16_t>((x & 0x83FF) | (11 + (x >> 16 & 3)) << 10);
    }
}

struct Tensor : Memory {
    Tensor(std::size_t n, unsigned seed, const Clock &clock) : Memory(2 * n) {
        must(simt::launch_on(clock.stream, clock.small ? 1 : 4096, clock.small ? 32 : 256, 0, fill,
                             static_cast<std::uint16_t *>(address), n, seed));
    }
};

/* The tree and the plan of a load. */
struct Planned {
    cp_tree *tree = nullptr;
    cp_plan *plan = nullptr;
    int n_chunks = 0, depth = 0;
    double distinct = 0; /* tokens */

    explicit Planned(const Load &load) {
        int per_path = (load.n + CHUNK_SIZE - 1) / CHUNK_SIZE;
        must(cp_tree_new(&tree, load.b * per_path, CHUNK_SIZE, 64), "cp_tree_new");
        must(cp_plan_new(&plan), "cp_plan_new");
        for (int s = 0; s < load.b; s++) {
            std::vector<int> tokens = tokens_of(load, s);
            cp_joined joined;
            must(cp_tree_join(tree, tokens.data(), load.n, 0, s, nullptr, &joined), "cp_tree_join");
        }
        cp_plan_update(plan, tree);
        n_chunks = plan->n_shared;
        depth = per_path;
        distinct = static_cast<double>(plan->n_shared) * CHUNK_SIZE;
        for (int s = 0; s < load.b; s++) {
            const cp_plan_sequence &path = plan->sequence[s];
            n_chunks += path.n_chunks - path.n_shared;
            distinct += path.n_tokens - path.n_shared * CHUNK_SIZE;
        }
    }
    ~Planned() {
        cp_plan_free(plan);
        cp_tree_free(tree);
    }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;

    /* Numbers of one level's group, then the sequence's own. */
    static std::vector<int> tokens_of(const Load &load, int s) {
        std::vector<int> tokens;
        int id = 1;
        for (const Level &level : load.levels) {
            int group = s * level.n_groups / load.b;
            tokens.insert(tokens.end(), level.tokens, id + group);
            id += level.n_groups;
        }
        tokens.resize(load.n, id + s);
        return tokens;
    }
};

static void run(Clock &clock, const Load &load, double bandwidth, double rate) {
    Planned planned(load);
    std::size_t d = HEAD_DIM, h = load.n_heads;
    std::size_t keys =
        static_cast<std::size_t>(planned.plan->capacity) * load.n_kv_heads * CHUNK_SIZE * d;
    Tensor q(load.b * h * d, 1, clock), k(keys, 2, clock), v(keys, 3, clock);
    Memory out(2 * load.b * h * d);
    double bytes = 4.0 * planned.distinct * load.n_kv_heads * d + 4.0 * load.b * h * d;
    double operations = 4.0 * load.b * h * load.n * d;
    double limit = std::max(bytes / bandwidth, operations / rate);
    for (int chunks_per_task : {1, 2, 4, 8, 16, 32}) {
        if (chunks_per_task > 1 && chunks_per_task > 2 * planned.depth) {
            continue;
        }
        cp_cuda_limits limits = {load.b,
                                 load.b,
                                 planned.n_chunks,
                                 planned.depth,
                                 static_cast<int>(load.levels.size()) + 1,
                                 load.n_heads,
                                 HEAD_DIM,
                                 chunks_per_task};
        Memory workspace(cp_cuda_workspace(&limits));
        cp_cuda *cuda = nullptr;
        int status = cp_cuda_new(&cuda, &limits, workspace.address, workspace.bytes);
        must(status, cp_cuda_text(cuda));
        status = cp_cuda_update(cuda, planned.plan, nullptr, nullptr, clock.stream);
        must(status, cp_cuda_text(cuda));
        for (int version = 1; version <= N_VERSIONS; version++) {
            cp_cuda_attention attention = {planned.plan->stamp,
                                           version,
                                           load.n_heads,
                                           load.n_kv_heads,
                                           HEAD_DIM,
                                           HEAD_DIM,
                                           HEAD_DIM,
                                           0.08838834764831845,
                                           q.address,
                                           k.address,
                                           v.address,
                                           CP_FP16,
                                           out.address,
                                           nullptr,
                                           {0, 0, 0},
                                           {nullptr, nullptr, nullptr},
                                           {0.0, nullptr, nullptr, {nullptr, 0, 0}},
                                           CP_FP16,
                                           CP_FP16,
                                           CP_FP16,
                                           {0, nullptr, nullptr}};
            Times t = clock.times(
                [&] { must(cp_cuda_attend(cuda, &attention, clock.stream), cp_cuda_text(cuda)); });
            int shared = 0;
            for (const Level &level : load.levels) {
                shared += level.tokens;
            }
            std::printf("%s,%d,%d,%d,%d,%d,version %d,%d,%.2f,%.2f,%.2f,%.0f,%.0f,%.2f\n",
                        load.name.c_str(), load.b, load.n, shared, load.n_heads, load.n_kv_heads,
                        version, chunks_per_task, t.median, t.low, t.high, bytes, operations,
                        limit);
            std::fflush(stdout);
        }
        cp_cuda_free(cuda);
    }
}

/* ---- The loads ---- */

static std::vector<Load> loads() {
    std::vector<Load> all;
    for (int n : {1024, 2048, 4096}) {
        for (int quarters : {0, 2, 3, 4}) {
            all.push_back({"table 3", 32, n, 32, 32, {{1, n * quarters / 4}}});
        }
    }
    for (int completed : {1, 256, 512, 1024, 2048}) { /* tokens of its own of each sequence */
        all.push_back({"figure 3", 32, 2048 + completed, 32, 32, {{1, 2048}}});
    }
    for (int b : {16, 32, 48, 64, 80, 96}) {
        all.push_back({"figure 4", b, 2048 + 64, 32, 32, {{1, 2048}}});
    }
    all.push_back({"2 levels", 32, 2560, 32, 32, {{1, 1024}, {4, 1024}}});
    all.push_back({"3 levels", 64, 3072, 32, 32, {{1, 1024}, {4, 1024}, {16, 512}}});
    for (int shared : {0, 2048}) {
        all.push_back({"gqa 32/8", 32, 2048, 32, 8, {{1, shared}}});
        all.push_back({"gqa 64/8", 32, 2048, 64, 8, {{1, shared}}});
    }
    return all;
}

int main(int n, char **arguments) {
    Program program(n, arguments);
    try {
        Clock clock(program.small);
        Bandwidth both = bandwidth_of(clock);
        double bandwidth = std::max(both.copy, both.read), rate = operations_per_us(clock);
        std::fprintf(stderr, "copy %.1f GB/s, read %.1f GB/s, mma.m16n8k16 %.1f TFLOP/s\n",
                     both.copy * 1e-3, both.read * 1e-3, rate * 1e-6);
        std::printf("load,b,n_p,n_s,h,h_kv,kernel,chunks_per_task,median_us,p10_us,p90_us,bytes,"
                    "operations,limit_us\n");
        if (program.small) {
            run(clock, {"small", 3, 130, 2, 1, {{1, 64}}}, bandwidth, rate);
        } else {
            for (const Load &load : loads()) {
                run(clock, load, bandwidth, rate);
            }
        }
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "failed: %s\n", exception.what());
        return 1;
    }
    return 0;
}
