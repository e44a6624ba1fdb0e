/* SPDX-License-Identifier: Apache-2.0 */
/* The executor against a GPU: runs the kernels of tests/simt/right.cu and prints for each of its
 * arrays a hash of what is in it afterwards. Compiled for both; the two must print the same (make
 * gpu). What depends on the order of threads or on rounding is left out; the products of matrices
 * are those of small integers, which are exact. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/simt/host.h"
#include "tests/gpu/program.h"

#define KERNELS plain
#include "tests/simt/right.cu"

static void must(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("failed: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

/* An array on the device and what was in it at first. */
struct Array {
    void *device = nullptr;
    std::size_t bytes;

    template <class T>
    explicit Array(const std::vector<T> &first) : bytes(first.size() * sizeof(T)) {
        must(cudaMalloc(&device, bytes));
        must(cudaMemcpyAsync(device, first.data(), bytes, cudaMemcpyHostToDevice, nullptr));
    }

    /* FNV-1a */
    std::uint64_t hash() const {
        std::vector<unsigned char> now(bytes);
        must(cudaMemcpyAsync(now.data(), device, bytes, cudaMemcpyDeviceToHost, nullptr));
        must(cudaStreamSynchronize(nullptr));
        std::uint64_t hash = 0xCBF29CE484222325u;
        for (unsigned char one : now) {
            hash = (hash ^ one) * 0x100000001B3u;
        }
        return hash;
    }
};

template <class T> static Array filled(std::size_t n, T value) {
    return Array(std::vector<T>(n, value));
}

/* A pointer to an array becomes a parameter of whatever type the kernel has there. */
struct Parameter {
    const Array &array;
    template <class T> operator T *() const {
        return static_cast<T *>(array.device);
    }
};

/* Runs a kernel with these arrays as its parameters. */
template <class... P, class... A>
static void show(const char *name, dim3 grid, dim3 block, std::size_t dynamic, void (*kernel)(P...),
                 const A &...arrays) {
    must(simt::launch_on(nullptr, grid, block, dynamic, kernel, Parameter{arrays}...));
    std::printf("%s", name);
    for (std::uint64_t hash : {arrays.hash()...}) {
        std::printf(" %016llx", static_cast<unsigned long long>(hash));
    }
    std::printf("\n");
}

/* x % 16 in binary16. */
static unsigned half_of(unsigned x) {
    const unsigned bits[16] = {0x0000, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                               0x4800, 0x4880, 0x4900, 0x4980, 0x4A00, 0x4A80, 0x4B00, 0x4B80};
    return bits[x % 16];
}

/* x % 16 in bfloat16. */
static unsigned bfloat_of(unsigned x) {
    const unsigned bits[16] = {0x0000, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0,
                               0x4100, 0x4110, 0x4120, 0x4130, 0x4140, 0x4150, 0x4160, 0x4170};
    return bits[x % 16];
}

template <class Of> static unsigned pair_of(const Of &of, unsigned x) {
    unsigned mixed = x * 2654435761u;
    return of(mixed >> 16) | of(mixed >> 24) << 16;
}

template <class Of>
static void multiply_integers(const char *name, const Of &of,
                              void (*kernel)(const unsigned *, const unsigned *, const float *,
                                             float *)) {
    const unsigned blocks = 64, lanes = 32 * blocks;
    std::vector<unsigned> a(4 * lanes), b(2 * lanes);
    std::vector<float> c(4 * lanes), d(4 * lanes, -1.0f);
    for (unsigned i = 0; i < 4 * lanes; i++) {
        a[i] = pair_of(of, i);
        b[i / 2] = pair_of(of, i + 77777);
        c[i] = static_cast<float>(i % 1000) - 500.0f;
    }
    show(name, blocks, 32, 0, kernel, Array(a), Array(b), Array(c), Array(d));
}

static void copy_bytes() {
    std::vector<char> in(1536);
    for (std::size_t i = 0; i < in.size(); i++) {
        in[i] = static_cast<char>(i * 37 + i / 256);
    }
    show("async_copies", 1, 32, 1536, plain::async_copies, Array(in), filled<char>(1536, 1));
}

static void convert_numbers() {
    std::vector<float> in(32);
    for (int t = 0; t < 32; t++) {
        in[t] =
            (1.0f + 0x1p-11f * static_cast<float>(t)) * 0x1p-16f * static_cast<float>(1 << t % 24);
    }
    show("halves", 1, 32, 0, plain::halves, Array(in), filled(160, -1.0f));
    show("bfloats", 1, 32, 0, plain::bfloats, Array(in), filled(96, -1.0f));
}

static void load_matrices() {
    std::vector<std::uint16_t> in(256);
    for (unsigned i = 0; i < 256; i++) {
        in[i] = static_cast<std::uint16_t>(i + 1);
    }
    show("load_matrices", 1, 32, 0, plain::load_matrices, Array(in), filled(768, ~0u));
}

int main(int n, char **arguments) {
    Program program(n, arguments);
    (void)program;
    show("indices", dim3(3, 2, 1), dim3(4, 3, 2), 0, plain::indices, filled(144, ~0u));
    show("shuffles", 1, 32, 0, plain::shuffles, filled(288, -1));
    show("shuffles_of_types", 1, 32, 0, plain::shuffles_of_types, filled(32, -1.0f),
         filled(32, ~0u), filled(32, ~0ull), filled(32, -1.0));
    show("votes", 1, 32, 0, plain::votes, filled(128, ~0u));
    show("part_of_a_warp", 1, 40, 0, plain::part_of_a_warp, filled(40, -1));
    show("named_barriers", 1, 160, 0, plain::named_barriers, filled(160, -1));
    show("threads_end_early", 1, 64, 0, plain::threads_end_early, filled(64, -1));
    show("wait_for_flag", 1, 64, 0, plain::wait_for_flag, filled(1, 0));
    show("atomics", 3, 64, 0, plain::atomics, filled(1, 0), filled(1, 0u), filled(1, 100),
         filled(1, 0.0f));
    show("arrays_of_instances", 1, 32, 0, plain::arrays_of_instances, filled(32, -1));
    convert_numbers();
    copy_bytes();
    load_matrices();
    multiply_integers("multiply", half_of, plain::multiply);
    multiply_integers("multiply_bfloats", bfloat_of, plain::multiply_bfloats);
    return 0;
}
