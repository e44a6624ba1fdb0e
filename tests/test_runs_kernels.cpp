/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA kernels on plans of runs (spec/runs.md), through their launcher, on the executor: random
 * prompts of modules, whose descriptors serve any lists of sequences. All scores are 0, so that
 * weights are exact, and each key that a row sees shows in a column of its own. */
#include "tests/kernels/accept.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

extern "C" {
#include "tests/mask_case.h"
#include "tests/runs_case.h"
}

#include "chunkproof/cuda.h"
#include "kernels/real.h"
#include "kernels/simt/device.h"
#include "tests/random.h"
#include "tests/runs_plan.h"

static const int N_VERSIONS = 3;
static const int MOST_ROWS = RUNS_SEQUENCES * 3;
static const int MOST_HEADS = 9; /* so that a list has more rows with heads than a tile */

/* Memory on the device, and a stream. */
struct Memory {
    cudaStream_t stream = nullptr;
    std::vector<void *> all;

    Memory() {
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    }

    ~Memory() {
        for (void *one : all) {
            (void)cudaFree(one);
        }
        (void)cudaStreamDestroy(stream);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    template <class T> T *loaded(const std::vector<T> &numbers) {
        void *to = nullptr;
        assert_int_equal(cudaMalloc(&to, numbers.size() * sizeof(T)), cudaSuccess);
        all.push_back(to);
        assert_int_equal(cudaMemcpyAsync(to, numbers.data(), numbers.size() * sizeof(T),
                                         cudaMemcpyHostToDevice, stream),
                         cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        return static_cast<T *>(to);
    }

    template <class T> std::vector<T> fetched(const T *from, std::size_t n) const {
        std::vector<T> numbers(n);
        assert_int_equal(
            cudaMemcpyAsync(numbers.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
        return numbers;
    }
};

static std::vector<__half> halves(const std::vector<double> &numbers) {
    std::vector<__half> to;
    for (double x : numbers) {
        to.push_back(__float2half_rn(static_cast<float>(x)));
    }
    return to;
}

/* NUM-18: K and V in bytes with a scale for each token, of which the numbers are exact multiples.
 * Those of slots without a token are NaNs. */
struct Bytes {
    std::vector<std::uint8_t> numbers;
    std::vector<float> scales;

    Bytes(const std::vector<double> &exact, int type) : numbers(exact.size()) {
        for (std::size_t at = 0; at < exact.size() / RUNS_POSITIONS; at++) {
            const double *of_token = &exact[at * RUNS_POSITIONS];
            const double scale = std::isnan(of_token[0]) ? NAN : std::ldexp(1.0, -(at % 5));
            scales.push_back(static_cast<float>(scale));
            for (std::size_t i = 0; i < RUNS_POSITIONS; i++) {
                numbers[at * RUNS_POSITIONS + i] =
                    cp_number8_from_double(of_token[i] / scale, type);
            }
        }
    }
};

/* Results [rows][n_heads]. */
static void expect_rows(const prompts &p, const std::vector<float> &out,
                        const std::vector<double> &lse, int n_heads) {
    for (int s = 0; s < p.plan->n_sequences; s++) {
        for (int row = p.rows[s]; row < p.rows[s + 1]; row++) {
            for (int at = row * n_heads; at < (row + 1) * n_heads; at++) {
                for (int j = 0; j < RUNS_POSITIONS; j++) {
                    assert_true(out[at * RUNS_POSITIONS + j] ==
                                static_cast<float>(prompts_output(&p, s, row, j)));
                }
                assert_true(lse[at] == prompts_lse(&p, s, row));
            }
        }
    }
}

/* Scores that are changed. A cap makes 0 of 0. Each head has a slope, n entries of a table, or
 * both. */
struct Changes {
    int n_heads, n, own;
    std::vector<double> slopes, sinks, biases;

    Changes(int n_heads_, int n_, int own_, bool has_slopes) : n_heads(n_heads_), n(n_), own(own_) {
        unsigned long long random = static_cast<unsigned>(1000 * n + own);
        for (int head = 0; head < n_heads; head++) {
            if (has_slopes) {
                slopes.push_back((head % 5 - 2) / 16.0);
            }
            sinks.push_back(head % 3 * 1.5 - 1.0);
        }
        for (int i = 0; i < n_heads * n; i++) {
            biases.push_back((random_below(&random, 1024) - 512) / 64.0);
        }
    }

    /* SCORE-2, SCORE-5: of a key so far from the row. */
    double of(int head, int distance) const {
        double bias = slopes.empty() ? 0.0 : slopes[head] * distance;
        return biases.empty()
                   ? bias
                   : bias + biases[head * n + std::min(std::max(own - distance, 0), n - 1)];
    }
};

/* Weights are no longer exact. Each is an exponential of a score with 9 roundings (NUM-15: 6 of the
 * slope, 3 of the entry and its addition), which is below 20 in magnitude, and is multiplied by
 * another one for each tile and task that comes behind. Version 3 rounds it to binary16, and what
 * is below its smallest normal number is off by 2^-25. They are added up. All are positive:
 * relative errors add up. */
static void expect_changed(const prompts &p, const Changes &changes, const std::vector<float> &out,
                           const std::vector<double> &lse, int version) {
    const double u = 0x1p-24;
    const int n_heads = changes.n_heads;
    for (int s = 0; s < p.plan->n_sequences; s++) {
        double steps = p.plan->sequence[s].n_chunks + 4.0;
        double off = (RUNS_POSITIONS + 8.0 * steps + steps * 9.0 * 20.0) * u;
        double rounded = version == 3 ? 0x1.01p-11 : 0.0, tiny = version == 3 ? 0x1p-24 : 0.0;
        for (int at = p.rows[s] * n_heads; at < p.rows[s + 1] * n_heads; at++) {
            int row = at / n_heads, head = at % n_heads;
            double weight[RUNS_POSITIONS], sum = std::exp(changes.sinks[head]), largest = sum;
            for (int j = 0; j < RUNS_POSITIONS; j++) {
                bool seen = prompts_output(&p, s, row, j) > 0.0;
                weight[j] = seen ? std::exp(changes.of(head, j - p.position[row])) : 0.0;
                largest = std::fmax(largest, weight[j]);
                sum += weight[j];
            }
            for (int j = 0; j < RUNS_POSITIONS; j++) {
                double right = weight[j] / sum, x = out[at * RUNS_POSITIONS + j];
                double bound = (off + rounded) * right + (right > 0.0 ? tiny * largest / sum : 0.0);
                assert_true(std::fabs(x - right) <= bound);
            }
            assert_true(std::fabs(lse[at] - std::log(sum)) <= off * (1.0 + 20.0));
        }
    }
}

/* Does a piece of a sequence begin at the keys from `position` on, behind a chunk whose n_tokens
 * keys begin at `first`? */
static int begins_piece(const cp_plan *plan, int n_tokens, int first, int position) {
    return n_tokens != plan->chunk_size || first + n_tokens != position;
}

/* In descriptors of sequence s. */
static int shared_pieces(const cp_plan *plan, int s) {
    int pieces = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        const cp_shared_chunk &one = plan->shared[i];
        if (std::count(plan->served + one.begin, plan->served + one.end, s) > 0) {
            const cp_shared_chunk &before = plan->shared[i > 0 ? i - 1 : 0];
            pieces += i == 0 || before.begin != one.begin || before.end != one.end ||
                      begins_piece(plan, before.n_tokens, before.position, one.position);
        }
    }
    return pieces;
}

/* Limits that the plan just needs. */
static cp_cuda_limits limits_of(const cp_plan *plan, int n_rows, int n_heads, int chunks_per_task) {
    cp_cuda_limits l = {plan->n_sequences, std::max(n_rows, 1), plan->n_shared, 1, 1,
                        n_heads,           RUNS_POSITIONS,      chunks_per_task};
    for (int s = 0; s < plan->n_sequences; s++) {
        const cp_plan_sequence &one = plan->sequence[s];
        int pieces = shared_pieces(plan, s);
        for (int k = one.n_shared; k < one.n_chunks; k++) {
            pieces +=
                k == one.n_shared || begins_piece(plan, one.run[k - 1].n_tokens,
                                                  one.run[k - 1].position, one.run[k].position);
        }
        l.n_chunks += one.n_chunks - one.n_shared;
        l.depth = std::max(l.depth, one.n_chunks);
        l.levels = std::max(l.levels, pieces);
    }
    l.n_chunks = std::max(l.n_chunks, 1);
    return l;
}

/* MASK-1: bits for the rows of all prompts, of all positions, in memory of the device. */
struct Bits {
    mask_case of;

    Bits(prompts &p, int seed) {
        const std::vector<int> n_keys(MOST_ROWS, RUNS_POSITIONS);
        mask_case_make(&of, p.rows[p.plan->n_sequences], n_keys.data(), seed / 3 % MASK_N_KIND,
                       static_cast<unsigned long long>(seed));
        p.mask = of.mask;
    }
    ~Bits() {
        mask_case_free(&of);
    }
    Bits(const Bits &) = delete;
    Bits &operator=(const Bits &) = delete;
};

static cp_mask loaded(Memory &memory, const prompts &p) {
    const cp_mask &mask = p.mask;
    const std::size_t rows = static_cast<std::size_t>(p.rows[p.plan->n_sequences]);
    std::size_t bits = 0;
    for (std::size_t row = 0; row < rows; row++) {
        int n = RUNS_POSITIONS - (mask.begin == nullptr ? 0 : mask.begin[row]);
        bits = std::max(bits, mask.first[row] + static_cast<std::size_t>(std::max(n, 0)));
    }
    return {memory.loaded(std::vector<unsigned char>(mask.bits, mask.bits + (bits + 7) / 8)),
            memory.loaded(std::vector<std::size_t>(mask.first, mask.first + rows)),
            mask.begin == nullptr ? nullptr
                                  : memory.loaded(std::vector<int>(mask.begin, mask.begin + rows))};
}

/* Every version on one plan, with a mask version 1. `changes`: NULL, or what changes its scores.
 * cached: 8 bits. */
static void try_plan(const prompts &p, const cp_plan *plan, const int *position, int n_heads,
                     int chunks_per_task, const Changes *changes = nullptr, bool cached = false) {
    simt::Device device;
    Memory memory;
    std::size_t keys = std::size_t{RUNS_CAPACITY} * p.plan->chunk_size * RUNS_POSITIONS;
    std::size_t results = static_cast<std::size_t>(MOST_ROWS) * n_heads;
    std::vector<double> k(keys), v(keys);
    prompts_fill(p.plan, k.data(), v.data());
    cp_cuda_limits limits = limits_of(plan, p.rows[p.plan->n_sequences], n_heads, chunks_per_task);
    std::size_t size = cp_cuda_workspace(&limits);
    char *workspace = memory.loaded(std::vector<char>(size, '\xFF'));
    cp_cuda *cuda = nullptr;
    cp_cuda_attention a = {};
    a.stamp = plan->stamp;
    a.n_heads = n_heads;
    a.n_kv_heads = 1;
    a.head_dim = a.value_dim = a.v_row = RUNS_POSITIONS;
    a.scale = 1.0;
    a.window = p.window;
    a.mask = p.mask.bits == nullptr ? p.mask : loaded(memory, p);
    a.q = memory.loaded(halves(std::vector<double>(results * RUNS_POSITIONS)));
    a.k = memory.loaded(halves(k));
    a.v = memory.loaded(halves(v));
    a.out_type = CP_FP32;
    if (cached) {
        const Bytes of_k(k, CP_E4M3), of_v(v, CP_INT8);
        a.k_type = CP_E4M3;
        a.v_type = CP_INT8;
        a.k = memory.loaded(of_k.numbers);
        a.v = memory.loaded(of_v.numbers);
        a.scales = {CP_CACHE_SCALE_TOKEN, memory.loaded(of_k.scales), memory.loaded(of_v.scales)};
    }
    if (changes != nullptr) {
        a.scores = {
            3.0, nullptr, memory.loaded(changes->sinks), {nullptr, changes->n, changes->own}};
        a.scores.slopes = changes->slopes.empty() ? nullptr : memory.loaded(changes->slopes);
        a.scores.biases.bias = changes->biases.empty() ? nullptr : memory.loaded(changes->biases);
    }
    assert_int_equal(cp_cuda_new(&cuda, &limits, workspace, size), CP_OK);
    assert_int_equal(cp_cuda_update(cuda, plan, p.rows, position, memory.stream), CP_OK);
    for (int version = 1; version <= (a.mask.bits == nullptr ? N_VERSIONS : 1); version++) {
        float *out = memory.loaded(std::vector<float>(results * RUNS_POSITIONS, NAN));
        double *lse = memory.loaded(std::vector<double>(results, NAN));
        a.version = version;
        a.out = out;
        a.lse = lse;
        assert_int_equal(cp_cuda_attend(cuda, &a, memory.stream), CP_OK);
        std::vector<float> got = memory.fetched(out, results * RUNS_POSITIONS);
        if (changes != nullptr) {
            expect_changed(p, *changes, got, memory.fetched(lse, results), version);
        } else {
            expect_rows(p, got, memory.fetched(lse, results), n_heads);
        }
    }
    cp_cuda_free(cuda);
}

/* Narrow and wide ones, with keys ahead and first tokens kept, and without. */
static cp_window window_of(int seed) {
    const int keys[] = {1, 2, 4, 5, 9, 30, 0}, ahead[] = {0, 3, 0, 40}, kept[] = {0, 1, 6, 0, 15};
    return {keys[seed % 7], ahead[seed / 7 % 4], kept[seed % 5]};
}

/* Slopes, a table or both. A table is of few entries, or of more than there are distances. The
 * row's own is any of them, and the first one where rows see keys ahead. */
static Changes changes_of(int seed, int ahead) {
    unsigned long long random = static_cast<unsigned>(seed);
    int n = 1 + random_below(&random, seed % 4 < 2 ? 9 : 2 * RUNS_POSITIONS);
    int own = ahead > 0 ? 0 : random_below(&random, n);
    return Changes(MOST_HEADS, seed % 3 == 0 ? 0 : n, own, seed % 3 != 1);
}

static void serve_lists(bool windows, bool changed, bool cached = false, bool masked = false) {
    static prompts p;
    int position[MOST_ROWS];
    cp_plan *plan = nullptr;
    int descriptors = 0;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    prompts_new(&p);
    for (int seed = 1; seed <= 24; seed++) {
        prompts_make(&p, static_cast<unsigned long long>(seed));
        p.window = windows ? window_of(seed) : cp_window{0, 0, 0};
        p.mask = {nullptr, nullptr, nullptr};
        std::unique_ptr<Bits> bits(masked ? new Bits(p, seed) : nullptr);
        runs_as_plan(plan, p.plan, RUNS_LISTS);
        plan->stamp.step = static_cast<unsigned long long>(seed);
        int by = changed && seed % 4 == 1 ? CP_MAX_WINDOW - seed : 0;
        p.window.kept = by > 0 ? 0 : p.window.kept;
        runs_move(plan, by);
        std::transform(p.position, p.position + MOST_ROWS, position, [&](int t) { return t + by; });
        bool is_many = seed % 4 == 0 || changed;
        const Changes changes = changes_of(seed, p.window.ahead);
        try_plan(p, plan, position, is_many ? MOST_HEADS : 1, 1 + seed % 3,
                 changed ? &changes : nullptr, cached);
        descriptors += plan->n_shared;
    }
    assert_true(descriptors > 30);
    prompts_free(&p);
    cp_plan_free(plan);
}

/* RUNS-2, RUNS-5 */
static void every_version_serves_lists(void **) {
    serve_lists(false, false);
}

/* WINDOW-1 to 3: lists of sequences that see different parts of a run. */
static void every_version_has_windows_over_runs(void **) {
    serve_lists(true, false);
}

/* SCORE-2, SCORE-3, SCORE-5: distances to positions of runs, in any order and with gaps, also far
 * away; one sink. */
static void every_version_changes_scores_over_runs(void **) {
    serve_lists(false, true);
    serve_lists(true, true);
}

/* NUM-18: the scale of each token of a run, wherever it lies. */
static void every_version_has_caches_over_runs(void **) {
    serve_lists(false, false, true);
    serve_lists(true, false, true);
}

/* MASK-1 to 3: bits of positions, in any run; in a list of sequences each row has its own. */
static void version_1_has_masks_over_runs(void **) {
    serve_lists(false, false, false, true);
    serve_lists(true, false, true, true);
}

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_version_serves_lists),
        cmocka_unit_test(every_version_has_windows_over_runs),
        cmocka_unit_test(every_version_changes_scores_over_runs),
        cmocka_unit_test(every_version_has_caches_over_runs),
        cmocka_unit_test(version_1_has_masks_over_runs),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
