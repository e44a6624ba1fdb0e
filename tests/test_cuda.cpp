/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher (chunkproof/cuda.h) on the CPU's device (kernels/simt/device.h): right results from
 * every version, no more copied than has changed, nothing changed before it was copied, every call
 * that can fail reported, graphs, limits. The kernels are compiled so that each of their loads and
 * stores is checked. */
#include "tests/kernels/accept.h"

#include <climits>
#include <functional>

#include "kernels/simt/device.h"
#include "tests/kernels/rig.h"

/* On the CPU's device. What a kernel did wrong there is said. */
struct Late {
    simt::Device device;
};

struct LateRig : Late, Rig {
    explicit LateRig(const shape &s, int seed = 1, int chunks_per_task = CHUNKS_PER_TASK)
        : Rig(s, seed, chunks_per_task) {
        device.copies = device.pageable_copies = device.waits = 0;
        device.copied_bytes = 0;
    }

    void judge_results(int version) {
        accepted(c, version, judged(version));
    }
};

enum { NANS = CASE_POISON_NAN, LARGE = CASE_POISON_HUGE };
/* b, depth, c, h, h_kv, d; no widths; types; queries, values, poison */
static const shape shapes[] = {
    {5, 4, 16, 4, 2, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL, NANS},
    {4, 3, 5, 3, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_SEVERAL, CASE_ONE_HOT, NANS},
    {3, 2, 64, 2, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_MORE, CASE_MASSIVE, LARGE},
    {4, 3, 16, 4, 2, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP32, CASE_OWN, CASE_NORMAL, NANS},
    {0, 3, 16, 2, 1, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL, NANS},
    {5, 4, 16, 4, 2, 64, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_BF16, CASE_DECODE, CASE_NORMAL, NANS},
    {4, 3, 5, 3, 1, 64, 0, 0, 0, 0, CP_BF16, CP_BF16, CP_FP32, CASE_SEVERAL, CASE_MASSIVE, LARGE},
};
static const shape &plain_shape = shapes[0];

/* For what has nothing to do with the size. */
static shape small(int head_dim) {
    return {3, 3, 16,      2,       1,       head_dim,    0,           0,
            0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL, NANS};
}

/* ---- Results ---- */

static void every_version_is_within_the_tolerance(void **) {
    for (const shape &s : shapes) {
        for (int version = 1; version <= N_VERSIONS; version++) {
            LateRig rig(s, version);
            rig.start();
            rig.attention.version = version;
            rig.must(rig.attend());
            rig.judge_results(version);
        }
    }
}

static void judge_each_version(LateRig &rig) {
    rig.start();
    for (int version = 1; version <= N_VERSIONS; version++) {
        rig.attention.version = version;
        rig.attended();
        rig.judge_results(version);
    }
}

/* SCORE-1 to 5, through the launcher: all ways to have a cap, slopes, sinks and a table. */
static void scores_are_changed(void **) {
    for (int seed = 0; seed < 32; seed++) {
        LateRig rig(small(64), 1 + seed);
        score_case drawn;
        rig.change_scores(drawn, seed);
        judge_each_version(rig);
    }
}

/* NUM-18, through the launcher, in calls of both types of Q, also with changed scores. */
static void caches_have_8_bits(void **) {
    for (int seed = 0; seed < 27; seed++) {
        shape s = small(64);
        s.q_type = s.kv_type = seed % 2 == 0 ? CP_FP16 : CP_BF16;
        s.out_type = seed % 4 < 2 ? s.q_type : CP_FP32;
        LateRig rig(s, 1 + seed);
        score_case drawn;
        if (seed % 5 == 0) {
            rig.change_scores(drawn, seed);
        }
        rig.change_cache(seed);
        judge_each_version(rig);
    }
}

static void lse_may_be_left_out(void **) {
    LateRig rig(plain_shape);
    rig.start();
    rig.attention.lse = nullptr;
    rig.must(rig.attend());
    rig.fetch(rig.attention.out, rig.out_bytes);
}

/* What a device can do, and the version that 0 is there; 0: there is none. */
static void version_0_is_the_highest_that_can(void **) {
    const struct {
        int head_dim, capability, shared_kb, version;
    } devices[] = {{64, 90, 227, 3}, {64, 80, 163, 3},  {64, 75, 64, 0},
                   {48, 90, 227, 1}, {256, 90, 227, 3}, {256, 86, 99, 2}};
    for (const auto &d : devices) {
        LateRig rig(small(d.head_dim));
        rig.device.capability = d.capability;
        rig.device.most_shared = d.shared_kb * 1024;
        rig.start();
        std::vector<unsigned char> chosen;
        if (d.version == 0) {
            assert_int_equal(rig.attend(), CP_ERROR_UNSUPPORTED);
        } else {
            chosen = rig.attended();
        }
        for (int version = 1; version <= N_VERSIONS; version++) {
            rig.attention.version = version;
            if (version <= d.version) {
                bool same = rig.attended() == chosen;
                assert_int_equal(same, version == d.version);
            } else {
                assert_int_equal(rig.attend(), CP_ERROR_UNSUPPORTED);
                assert_non_null(std::strstr(cp_cuda_text(rig.cuda), "version"));
            }
        }
    }
}

/* ---- Copies ---- */

static void only_what_has_changed_is_copied(void **) {
    LateRig rig(plain_shape);
    rig.must(rig.make());
    assert_int_equal(cp_cuda_generation(rig.cuda), 0);
    rig.must(rig.update());
    Schedule schedule(rig.c, CHUNKS_PER_TASK);
    std::size_t all = schedule.numbers.size() * sizeof(int);
    assert_int_equal(rig.device.copies, 1);
    assert_int_equal(rig.device.copied_bytes, all);
    assert_int_equal(cp_cuda_generation(rig.cuda), 1);

    rig.must(rig.update()); /* nothing */
    assert_int_equal(rig.device.copies, 1);

    rig.change_lengths(-1);
    rig.must(rig.update());
    assert_int_equal(rig.device.copies, 2);
    std::size_t lengths = (schedule.of.n_tasks + rig.c.n_rows) * sizeof(int); /* and positions */
    assert_int_equal(rig.device.copied_bytes, all + lengths);
    assert_int_equal(cp_cuda_generation(rig.cuda), 1);

    rig.c.plan->stamp.epoch++;
    rig.must(rig.update());
    assert_int_equal(rig.device.copied_bytes, 2 * all + lengths);
    assert_int_equal(cp_cuda_generation(rig.cuda), 2);

    rig.c.plan->stamp.tree++;
    rig.must(rig.update());
    assert_int_equal(rig.device.copied_bytes, 3 * all + lengths);
    assert_int_equal(rig.device.pageable_copies, 0);
}

static void other_query_ranges_are_copied(void **) {
    LateRig rig(shapes[1]);
    rig.start();
    std::vector<int> other(rig.c.plan->n_sequences + 1, 0); /* no query but in the last sequence */
    other.back() = 1;
    rig.must(cp_cuda_update(rig.cuda, rig.c.plan, other.data(), nullptr, rig.stream));
    assert_int_equal(cp_cuda_generation(rig.cuda), 2);
    rig.must(rig.update());
    assert_int_equal(cp_cuda_generation(rig.cuda), 3);
    rig.attention.version = 1;
    rig.must(rig.attend());
    rig.judge_results(1);
}

/* PREFILL-1: a row that has moved, the last one alone, is copied with the lengths; and all rows are
 * when the caller no longer places them. */
static void other_positions_are_copied(void **) {
    LateRig rig(shapes[3]);
    rig.start();
    assert_true(rig.c.n_rows > 1);
    rig.must(rig.update()); /* nothing */
    assert_int_equal(rig.device.copies, 1);
    for (int place : {0, INT_MAX, -1}) {
        rig.c.position[rig.c.n_rows - 1] = place;
        rig.must(rig.update());
        rig.must(rig.attend());
        rig.judge_results(3);
    }
    assert_int_equal(rig.device.copies, 4);
    assert_int_equal(cp_cuda_generation(rig.cuda), 1);
    rig.c.attention.position = nullptr;
    rig.must(cp_cuda_update(rig.cuda, rig.c.plan, rig.c.query_begin, nullptr, rig.stream));
    rig.must(rig.attend());
    rig.judge_results(3);
    assert_int_equal(rig.device.copies, 5);
}

/* Nothing waits when the copy before is done. */
static void update_waits_only_for_the_copy_before(void **) {
    LateRig rig(plain_shape);
    rig.start();
    assert_int_equal(rig.device.waits, 0);
    rig.settle();
    rig.device.waits = 0;
    rig.change_lengths(-1);
    rig.must(rig.update());
    assert_int_equal(rig.device.waits, 0);
    rig.must(rig.attend());
    rig.change_lengths(+1);
    rig.must(rig.update());
    assert_int_equal(rig.device.waits, 1);
}

/* The plan changes while the device has done nothing yet: it must see what was meant. */
static void a_late_device_sees_the_plan_of_then(void **) {
    LateRig rig(plain_shape);
    rig.start();
    std::vector<unsigned char> longer = rig.attended();
    rig.change_lengths(-1);
    rig.must(rig.update());
    std::vector<unsigned char> shorter = rig.attended();
    assert_true(longer != shorter);

    void *first = rig.attention.out, *second = rig.poisoned(rig.out_bytes);
    rig.settle();
    rig.must(rig.attend());
    rig.change_lengths(+1);
    rig.must(rig.update());
    rig.attention.out = second;
    rig.must(rig.attend());
    rig.change_lengths(-1);
    rig.must(rig.update());
    rig.c.plan->sequence[0].n_tokens = 1 << 20; /* it is not the launcher's any more */
    std::vector<unsigned char> a = rig.fetch(first, rig.out_bytes);
    std::vector<unsigned char> b = rig.fetch(second, rig.out_bytes);
    assert_true(std::equal(a.begin(), a.end(), shorter.begin()));
    assert_true(std::equal(b.begin(), b.end(), longer.begin()));
}

static void stale_plans_are_refused(void **) {
    LateRig rig(plain_shape);
    rig.must(rig.make());
    assert_int_equal(rig.attend(), CP_ERROR_STALE);
    rig.must(rig.update());
    for (unsigned long long cp_stamp::*part :
         {&cp_stamp::tree, &cp_stamp::epoch, &cp_stamp::step}) {
        rig.attention.stamp = rig.c.plan->stamp;
        rig.attention.stamp.*part += 1;
        assert_int_equal(rig.attend(), CP_ERROR_STALE);
        assert_non_null(std::strstr(cp_cuda_text(rig.cuda), "cp_cuda_update"));
    }
    assert_int_equal(rig.device.launches, 0);
    rig.attention.stamp = rig.c.plan->stamp;
    rig.must(rig.attend());
}

/* ---- Calls that fail ---- */

/* The n-th call of a life fails; after that the same life goes on and everything is right. False:
 * it has no n-th. */
static bool survives_a_failure(int n) {
    LateRig rig(small(64));
    std::size_t live = rig.device.live();
    bool failed = false;
    auto insist = [&](const std::function<int()> &call) {
        int before = rig.device.fail_at, status = call();
        bool now = before > 0 && rig.device.fail_at == 0;
        assert_int_equal(status, now ? CP_ERROR_CUDA : CP_OK);
        if (now) {
            assert_true(std::strlen(cp_cuda_text(rig.cuda)) > 10);
            failed = true;
        }
        return status;
    };
    auto retry = [&](const std::function<int()> &call) {
        if (insist(call) != CP_OK) {
            rig.must(call());
        }
    };
    rig.device.fail_at = n;
    if (insist([&] { return rig.make(); }) != CP_OK) {
        cp_cuda_free(rig.cuda);
        assert_int_equal(rig.device.live(), live);
        rig.must(rig.make());
    }
    retry([&] { return rig.update(); });
    retry([&] { return rig.attend(); });
    for (bool paths : {false, true}) {
        cp_stamp before = rig.c.plan->stamp;
        rig.change_lengths(paths ? +1 : -1);
        rig.c.plan->stamp.epoch += paths;
        rig.attention.stamp = rig.c.plan->stamp;
        if (insist([&] { return rig.update(); }) != CP_OK) {
            rig.attention.stamp = before; /* half of it may be gone */
            assert_int_equal(rig.attend(), CP_ERROR_STALE);
            rig.attention.stamp = rig.c.plan->stamp;
            rig.must(rig.update());
        }
        retry([&] { return rig.attend(); });
    }
    rig.device.fail_at = 0;
    rig.judge_results(N_VERSIONS);
    cp_cuda_free(rig.cuda);
    rig.cuda = nullptr;
    assert_int_equal(rig.device.live(), live);
    return failed;
}

static void every_failing_call_is_reported(void **) {
    int n = 1;
    while (survives_a_failure(n)) {
        n++;
    }
    assert_true(n > 25);
}

/* Freeing what never came to be. */
static void nothing_is_freed_twice(void **) {
    cp_cuda_free(nullptr);
    assert_non_null(cp_cuda_text(nullptr));
    LateRig rig(plain_shape);
    cp_cuda *cuda = nullptr;
    assert_int_equal(cp_cuda_new(&cuda, nullptr, rig.workspace, 1), CP_ERROR_ARGUMENT);
    assert_non_null(cuda);
    assert_string_equal(cp_cuda_text(cuda), "limits is NULL");
    cp_cuda_free(cuda);
}

/* ---- Graphs ---- */

static void a_graph_walks_the_lengths_of_its_launch(void **) {
    LateRig rig(plain_shape);
    rig.start();
    std::vector<unsigned char> longer = rig.attended();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    assert_int_equal(cudaStreamBeginCapture(rig.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    rig.must(rig.attend());
    assert_int_equal(rig.update(), CP_OK); /* nothing to copy */
    assert_int_equal(cudaStreamEndCapture(rig.stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&executable, graph), cudaSuccess);

    rig.change_lengths(-1);
    rig.must(rig.update());
    assert_int_equal(cp_cuda_generation(rig.cuda), 1);
    assert_int_equal(cudaGraphLaunch(executable, rig.stream), cudaSuccess);
    std::vector<unsigned char> shorter = rig.results();
    assert_true(shorter != longer);
    assert_true(shorter == rig.attended());
    rig.change_lengths(+1);
    rig.must(rig.update());
    assert_int_equal(cudaGraphLaunch(executable, rig.stream), cudaSuccess);
    assert_true(longer == rig.results());
}

static void an_update_is_not_captured(void **) {
    LateRig rig(plain_shape);
    rig.start();
    rig.change_lengths(-1);
    cudaGraph_t graph = nullptr;
    assert_int_equal(cudaStreamBeginCapture(rig.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_equal(rig.update(), CP_ERROR_ARGUMENT);
    assert_non_null(std::strstr(cp_cuda_text(rig.cuda), "captured"));
    assert_int_equal(cudaStreamEndCapture(rig.stream, &graph),
                     cudaSuccess); /* it was not spoiled */
    rig.must(rig.update());
    rig.must(rig.attend());
}

/* ---- Limits and arguments ---- */

/* limits_of() is exact in its numbers, the workspace is not a byte larger than that, and the
 * kernels stay within. */
static void a_stream_has_known_flags(void **) {
    LateRig rig(plain_shape);
    cudaStream_t stream = nullptr;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, 2), cudaErrorInvalidValue);
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

static void the_limits_of_a_plan_suffice(void **) {
    for (int seed = 1; seed <= 12; seed++) {
        shape s = shapes[seed % 4];
        s.b = 7;
        s.max_depth = 6;
        s.n_heads = s.n_kv_heads = 1;
        LateRig rig(s, seed, 1 + seed % 4);
        rig.start();
        rig.attention.version = 1 + seed % 3;
        rig.must(rig.attend());
        rig.settle();
    }
}

static void each_limit_is_kept(void **) {
    int cp_cuda_limits::*const parts[] = {&cp_cuda_limits::n_rows, &cp_cuda_limits::n_chunks,
                                          &cp_cuda_limits::depth};
    for (auto part : parts) {
        LateRig rig(plain_shape);
        rig.limits.*part /= 2;
        rig.must(rig.make());
        assert_int_equal(rig.update(), CP_ERROR_WORKSPACE);
        assert_non_null(std::strstr(cp_cuda_text(rig.cuda), "the limits allow"));
        assert_int_equal(rig.device.copies, 0);
        assert_int_equal(rig.attend(), CP_ERROR_STALE);
    }
    LateRig rig(plain_shape);
    rig.start();
    rig.attention.n_heads *= 2;
    assert_int_equal(rig.attend(), CP_ERROR_WORKSPACE);
    rig.attention.n_heads /= 2;
    rig.attention.head_dim *= 2;
    assert_int_equal(rig.attend(), CP_ERROR_WORKSPACE);
}

static void impossible_limits_are_refused(void **) {
    int cp_cuda_limits::*const parts[] = {
        &cp_cuda_limits::n_sequences,     &cp_cuda_limits::n_rows,  &cp_cuda_limits::n_chunks,
        &cp_cuda_limits::depth,           &cp_cuda_limits::levels,  &cp_cuda_limits::n_heads,
        &cp_cuda_limits::chunks_per_task, &cp_cuda_limits::head_dim};
    LateRig rig(plain_shape);
    for (auto part : parts) {
        for (int wrong : {0, -1, INT_MAX}) {
            cp_cuda_limits limits = rig.limits;
            limits.*part = wrong;
            cp_cuda *cuda = nullptr;
            assert_int_equal(cp_cuda_workspace(&limits), 0);
            assert_int_equal(cp_cuda_new(&cuda, &limits, rig.workspace, SIZE_MAX),
                             CP_ERROR_ARGUMENT);
            assert_non_null(std::strstr(cp_cuda_text(cuda), "limits"));
            cp_cuda_free(cuda);
        }
    }
    assert_int_equal(cp_cuda_workspace(nullptr), 0);
    cp_cuda_limits largest = {
        CP_MAX_SEQUENCES, 1 << 20, CP_MAX_CHUNKS, CP_MAX_DEPTH, 3, 128, 1024, 8};
    assert_true(cp_cuda_workspace(&largest) > 1ull << 40);
}

static void wrong_arguments_are_refused(void **) {
    LateRig rig(plain_shape);
    std::size_t size = cp_cuda_workspace(&rig.limits);
    assert_int_equal(cp_cuda_new(nullptr, &rig.limits, rig.workspace, size), CP_ERROR_ARGUMENT);
    const struct {
        void *workspace;
        std::size_t size;
        int status;
    } workspaces[] = {{nullptr, size, CP_ERROR_ARGUMENT},
                      {static_cast<char *>(rig.workspace) + 16, size, CP_ERROR_ARGUMENT},
                      {rig.workspace, size - 1, CP_ERROR_WORKSPACE}};
    for (const auto &w : workspaces) {
        cp_cuda *cuda = nullptr;
        assert_int_equal(cp_cuda_new(&cuda, &rig.limits, w.workspace, w.size), w.status);
        assert_non_null(std::strstr(cp_cuda_text(cuda), "workspace"));
        cp_cuda_free(cuda);
    }
    rig.must(rig.make());
    assert_int_equal(cp_cuda_update(nullptr, rig.c.plan, nullptr, nullptr, rig.stream),
                     CP_ERROR_ARGUMENT);
    assert_int_equal(cp_cuda_update(rig.cuda, nullptr, nullptr, nullptr, rig.stream),
                     CP_ERROR_ARGUMENT);
    std::vector<int> ranges(rig.c.plan->n_sequences + 1, 1);
    assert_int_equal(cp_cuda_update(rig.cuda, rig.c.plan, ranges.data(), nullptr, rig.stream),
                     CP_ERROR_SHAPE);
    assert_int_equal(cp_cuda_attend(nullptr, &rig.attention, rig.stream), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_cuda_attend(rig.cuda, nullptr, rig.stream), CP_ERROR_ARGUMENT);
    rig.must(rig.update());
    rig.device.number = 1;
    assert_int_equal(rig.attend(), CP_ERROR_ARGUMENT);
    assert_non_null(std::strstr(cp_cuda_text(rig.cuda), "device 1 is current, not 0"));
    rig.device.number = 0;
    rig.must(rig.attend());
}

template <class T = float> static const T *at(std::uintptr_t address) {
    return reinterpret_cast<const T *>(address);
}

static void wrong_attention_is_refused(void **) {
    LateRig rig(plain_shape);
    rig.start();
    rig.attention.scores.biases = {at<double>(8), 1, 0}; /* a right one */
    typedef cp_cuda_attention A;
    const struct {
        const char *text;
        int status;
        std::function<void(A &)> change;
    } wrong[] = {
        {"q is NULL", CP_ERROR_ARGUMENT, [](A &a) { a.q = nullptr; }},
        {"k is NULL", CP_ERROR_ARGUMENT, [](A &a) { a.k = nullptr; }},
        {"v is NULL", CP_ERROR_ARGUMENT, [](A &a) { a.v = nullptr; }},
        {"out is NULL", CP_ERROR_ARGUMENT, [](A &a) { a.out = nullptr; }},
        {"k is not aligned", CP_ERROR_ARGUMENT, [](A &a) { a.k = at(8); }},
        {"scale is nan", CP_ERROR_ARGUMENT, [](A &a) { a.scale = NAN; }},
        {"scale is inf", CP_ERROR_ARGUMENT, [](A &a) { a.scale = INFINITY; }},
        {"scale is 1e+39", CP_ERROR_ARGUMENT, [](A &a) { a.scale = 1e39; }},
        {"window.keys is -1", CP_ERROR_ARGUMENT, [](A &a) { a.window.keys = -1; }},
        {"window.ahead is -2", CP_ERROR_ARGUMENT, [](A &a) { a.window.ahead = -2; }},
        {"kept is 1073741825", CP_ERROR_ARGUMENT, [](A &a) { a.window.kept = CP_MAX_WINDOW + 1; }},
        {"scores.cap is -1", CP_ERROR_ARGUMENT, [](A &a) { a.scores.cap = -1.0; }},
        {"scores.cap is nan", CP_ERROR_ARGUMENT, [](A &a) { a.scores.cap = NAN; }},
        {"scores.cap is inf", CP_ERROR_ARGUMENT, [](A &a) { a.scores.cap = INFINITY; }},
        {"scores.cap is 1e-38", CP_ERROR_ARGUMENT, [](A &a) { a.scores.cap = 1e-38; }},
        {"scores.cap is 8.5e+37", CP_ERROR_ARGUMENT, [](A &a) { a.scores.cap = 8.5e37; }},
        {"slopes is not aligned", CP_ERROR_ARGUMENT, [](A &a) { a.scores.slopes = at<double>(4); }},
        {"sinks is not aligned", CP_ERROR_ARGUMENT, [](A &a) { a.scores.sinks = at<double>(4); }},
        {"biases.bias is", CP_ERROR_ARGUMENT, [](A &a) { a.scores.biases.bias = at<double>(4); }},
        {"own is 1, and n is 1", CP_ERROR_ARGUMENT, [](A &a) { a.scores.biases.own = 1; }},
        {"own is -1, and n is 1", CP_ERROR_ARGUMENT, [](A &a) { a.scores.biases.own = -1; }},
        {"n_heads 0", CP_ERROR_SHAPE, [](A &a) { a.n_heads = 0; }},
        {"n_kv_heads 3", CP_ERROR_SHAPE, [](A &a) { a.n_kv_heads = 3; }},
        {"n_kv_heads 0", CP_ERROR_SHAPE, [](A &a) { a.n_kv_heads = 0; }},
        {"head_dim -1", CP_ERROR_SHAPE, [](A &a) { a.head_dim = -1; }},
        {"q_type 1 is neither", CP_ERROR_UNSUPPORTED, [](A &a) { a.q_type = CP_FP32; }},
        {"k_type 3", CP_ERROR_UNSUPPORTED, [](A &a) { a.k_type = CP_BF16; }},
        {"v_type 1", CP_ERROR_UNSUPPORTED, [](A &a) { a.v_type = CP_FP32; }},
        {"v_type 0 are", CP_ERROR_UNSUPPORTED, [](A &a) { a.q_type = a.k_type = CP_BF16; }},
        {"k_type 4 and v_type 0", CP_ERROR_UNSUPPORTED, [](A &a) { a.k_type = CP_E4M3; }},
        {"k_type 0 and v_type 6", CP_ERROR_UNSUPPORTED, [](A &a) { a.v_type = CP_INT8; }},
        {"k_type 7", CP_ERROR_UNSUPPORTED, [](A &a) { a.k_type = a.v_type = CP_INT8 + 1; }},
        {"scales.v: only", CP_ERROR_UNSUPPORTED, [](A &a) { a.scales.v = at(16); }},
        {"scales.per is 3", CP_ERROR_ARGUMENT, [](A &a) { a.scales.per = 3; }},
        {"scales.per is -1", CP_ERROR_ARGUMENT, [](A &a) { a.scales.per = -1; }},
        {"scales.v is not aligned", CP_ERROR_ARGUMENT, [](A &a) { a.scales.v = at(18); }},
        {"scales.k is not aligned", CP_ERROR_ARGUMENT, [](A &a) { a.scales.k = at(18); }},
        {"out_type 3 is neither", CP_ERROR_UNSUPPORTED, [](A &a) { a.out_type = CP_BF16; }},
        {"out_type 0", CP_ERROR_UNSUPPORTED,
         [](A &a) { a.q_type = a.k_type = a.v_type = CP_BF16; }},
        {"no version 4", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = 4; }},
        {"no version -1", CP_ERROR_UNSUPPORTED, [](A &a) { a.version = -1; }},
        {"other head dimensions", CP_ERROR_UNSUPPORTED,
         [](A &a) {
             a.version = 2;
             a.head_dim = a.value_dim = a.v_row = 48;
         }},
    };
    for (const auto &w : wrong) {
        A right = rig.attention;
        w.change(rig.attention);
        assert_int_equal(rig.attend(), w.status);
        if (std::strstr(cp_cuda_text(rig.cuda), w.text) == nullptr) {
            fail_msg("\"%s\" does not say \"%s\"", cp_cuda_text(rig.cuda), w.text);
        }
        rig.attention = right;
    }
    assert_int_equal(rig.device.launches, 0);
}

/* A test of which exceptions are failures. */
template <void (*test)(void **)> static void caught(void **state) {
    std::string text;
    try {
        test(state);
        return;
    } catch (const std::exception &exception) {
        text = exception.what();
    }
    fail_msg("%s", text.c_str());
}

#define TEST(NAME)                                                                                 \
    { #NAME, caught < NAME>, nullptr, nullptr, nullptr }

int main() {
    const CMUnitTest tests[] = {
        TEST(every_version_is_within_the_tolerance),
        TEST(scores_are_changed),
        TEST(caches_have_8_bits),
        TEST(lse_may_be_left_out),
        TEST(version_0_is_the_highest_that_can),
        TEST(only_what_has_changed_is_copied),
        TEST(other_query_ranges_are_copied),
        TEST(other_positions_are_copied),
        TEST(update_waits_only_for_the_copy_before),
        TEST(a_late_device_sees_the_plan_of_then),
        TEST(stale_plans_are_refused),
        TEST(every_failing_call_is_reported),
        TEST(nothing_is_freed_twice),
        TEST(a_graph_walks_the_lengths_of_its_launch),
        TEST(an_update_is_not_captured),
        TEST(a_stream_has_known_flags),
        TEST(the_limits_of_a_plan_suffice),
        TEST(each_limit_is_kept),
        TEST(impossible_limits_are_refused),
        TEST(wrong_arguments_are_refused),
        TEST(wrong_attention_is_refused),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
