/* SPDX-License-Identifier: Apache-2.0 */
/* Each check of kernels/simt/: it reports a wrong kernel, and finds nothing in the same kernel
 * when it is right. Both run in ascending order and in 20 others. */
#include "tests/simt/kernels_twice.h"

#include <cstring>
#include <string>

#include "kernels/simt/clock.h"
#include "kernels/simt/device.h"

using simt::Config;
using simt::Finding;
using simt::Report;

static const int seeds = 20;

/* `launch(config, right)` with each seed: nothing when right, else this finding. Returns the report
 * of the wrong kernel in ascending order. */
template <class Launch> static Report reports(Finding finding, Config config, Launch launch) {
    Report first;
    for (int seed = 0; seed <= seeds; seed++) {
        config.seed = static_cast<std::uint64_t>(seed);
        assert_ok(launch(config, true));
        Report wrong = launch(config, false);
        if (wrong.finding != finding) {
            fail_msg("seed %d: expected %s, found %s: %s", seed, simt::finding_name(finding),
                     simt::finding_name(wrong.finding), wrong.text.c_str());
        }
        first = seed == 0 ? wrong : first;
    }
    print_message("    %s\n", first.text.c_str());
    return first;
}

/* A kernel of (int *out, bool right), one block. */
static Report reports_one(Finding finding, unsigned threads, void (*kernel)(int *, bool)) {
    std::vector<int> out(threads);
    Config config = block_of(threads);
    config.buffers = {writable("out", out)};
    return reports(finding, config, [&](const Config &with, bool right) {
        return simt::launch(with, kernel, out.data(), right);
    });
}

/* A kernel of (const float *in, float *out, bool right), one warp. */
static Report reports_copy(Finding finding, void (*kernel)(const float *, float *, bool)) {
    alignas(16) static float memory[64];
    std::vector<float> out(32);
    Config config = block_of(32);
    config.buffers = {{"in", memory, sizeof memory, false}, writable("out", out)};
    return reports(finding, config, [&](const Config &with, bool right) {
        return simt::launch(with, kernel, static_cast<const float *>(memory), out.data(), right);
    });
}

/* Of a race, two different ones, and its text has both. */
static bool has_both_places(const Report &report) {
    const char *first = strstr(report.text.c_str(), " in code+0x");
    return report.code != nullptr && report.other_code != nullptr &&
           report.code != report.other_code && first != nullptr &&
           strstr(first + 1, " in code+0x") != nullptr;
}

static void shared_races(void **) {
    Report report = reports_one(Finding::race_shared, 64, checked::missing_barrier);
    assert_int_equal(report.thread, 32);
    assert_int_equal(report.other_thread, 0);
    assert_int_equal(report.size, 4);
    assert_non_null(report.address);
    assert_true(has_both_places(report));
    assert_non_null(strstr(report.text.c_str(), "tile+"));
    report = reports_one(Finding::race_shared, 64, checked::write_write);
    assert_int_equal(report.thread, 1);
    assert_int_equal(report.other_thread, 0);
    assert_non_null(strstr(report.text.c_str(), "last+0 (4 bytes)"));
    report = reports_one(Finding::race_shared, 64, checked::write_after_read);
    assert_non_null(strstr(report.text.c_str(), "tests/simt/wrong.cu:"));
}

static void warp_races(void **) {
    reports_one(Finding::race_shared, 32, checked::warp_exchange);
    reports_one(Finding::race_shared, 64, checked::warps_exchange);
    reports_one(Finding::race_shared, 32, checked::halves_exchange);
    reports_one(Finding::race_shared, 32, checked::one_reads_one_writes);
    reports_one(Finding::race_shared, 32, checked::order_in_a_chain);
}

static void shuffles_order_memory_if_asked(void **) {
    std::vector<int> out(32);
    Config config = block_of(32);
    assert_ok(simt::launch(config, checked::shuffle_orders, out.data()));
    config.shuffles_order_memory = false;
    Report report = simt::launch(config, checked::shuffle_orders, out.data());
    assert_true(report.finding == Finding::race_shared);
}

/* Two bytes of one cell are two places. */
static void bytes_are_told_apart(void **) {
    std::vector<unsigned char> out(64);
    reports(Finding::race_shared, block_of(64), [&](const Config &with, bool right) {
        return simt::launch(with, checked::bytes_apart, out.data(), right);
    });
}

static void structures_are_seen(void **) {
    std::vector<float4> out(64);
    Config config = block_of(64);
    config.buffers = {writable("out", out)};
    reports(Finding::race_shared, config, [&](const Config &with, bool right) {
        return simt::launch(with, checked::copy_struct, out.data(), right);
    });
}

static void missing_waits(void **) {
    Report report = reports_copy(Finding::in_flight, checked::missing_wait);
    assert_non_null(strstr(report.text.c_str(), "has not brought yet"));
    reports_copy(Finding::in_flight, checked::wrong_group);
    report = reports_copy(Finding::in_flight, checked::write_in_flight);
    assert_non_null(strstr(report.text.c_str(), "writes where"));
}

/* A wait is for the thread's own copies: another thread's need a barrier after it. */
static void wait_is_no_barrier(void **) {
    reports_copy(Finding::race_shared, checked::wait_without_barrier);
}

static void misaligned(void **) {
    reports_copy(Finding::misaligned, checked::crooked_copy);
    Report report = reports_copy(Finding::misaligned, checked::crooked_vector);
    assert_non_null(strstr(report.text.c_str(), ": 16 bytes at in+4 "));
}

static void barrier_divergence(void **) {
    Report report = reports_one(Finding::barrier_divergence, 64, checked::branch_barriers);
    assert_non_null(strstr(report.text.c_str(), "two places"));
    report = reports_one(Finding::barrier_divergence, 64, checked::two_barriers);
    assert_non_null(
        strstr(report.text.c_str(), "threads 0-31 wait at bar.sync at tests/simt/wrong.cu:"));
    assert_non_null(strstr(report.text.c_str(), "; 32-63 wait at __syncthreads at"));
    report = reports_one(Finding::barrier_divergence, 64, checked::short_barrier);
    assert_non_null(strstr(report.text.c_str(), "; 32-63 ended"));
    reports_one(Finding::barrier_divergence, 64, checked::counts_differ);
}

static void warp_divergence(void **) {
    Report report = reports_one(Finding::warp_divergence, 32, checked::divergent_shuffle);
    assert_non_null(strstr(report.text.c_str(), "__shfl_sync"));
    assert_non_null(strstr(report.text.c_str(), "__syncwarp"));
    reports_one(Finding::warp_divergence, 32, checked::masks_differ);
    reports_one(Finding::warp_divergence, 32, checked::not_in_mask);
}

static void inactive_lanes(void **) {
    Report report = reports_one(Finding::inactive_lane, 32, checked::inactive_lane);
    assert_non_null(strstr(report.text.c_str(), "thread 0 reads lane 16"));
    std::vector<float> out(32);
    reports(Finding::inactive_lane, block_of(32), [&](const Config &with, bool right) {
        return simt::launch(with, checked::half_a_warp_mma, out.data(), right);
    });
}

static void shared_bounds(void **) {
    Report report = reports_one(Finding::out_of_bounds_shared, 64, checked::read_outside);
    assert_int_equal(report.thread, 63);
    assert_non_null(strstr(report.text.c_str(), "tile+256 (256 bytes)"));
    report = reports_one(Finding::out_of_bounds_shared, 64, checked::write_outside);
    assert_int_equal(report.thread, 0);
    assert_non_null(strstr(report.text.c_str(), "tile-4 (256 bytes)"));
    std::vector<int> out(64);
    Config config = block_of(64);
    config.dynamic_bytes = 256;
    report = reports(Finding::out_of_bounds_shared, config, [&](const Config &with, bool right) {
        return simt::launch(with, checked::dynamic_outside, out.data(), right);
    });
    assert_non_null(strstr(report.text.c_str(), "dynamic+256 (256 bytes)"));
}

static void unwritten(void **) {
    Report report = reports_one(Finding::uninitialized_shared, 64, checked::read_unwritten);
    assert_int_equal(report.thread, 58);
}

static void endless_loops(void **) {
    std::vector<int> out(32);
    Config config = block_of(1);
    config.step_limit = 100000;
    reports(Finding::step_limit, config, [&](const Config &with, bool right) {
        return simt::launch(with, checked::endless, out.data(), right);
    });
    config = block_of(32);
    config.step_limit = 100000;
    Report report = reports(Finding::step_limit, config, [&](const Config &with, bool right) {
        return simt::launch(with, plain::endless_votes, out.data(), right);
    });
    assert_true(report.steps > 100000);
}

static void global_races(void **) {
    std::vector<int> out(64);
    Config config = block_of(64);
    config.grid = 4;
    config.buffers = {writable("out", out)};
    auto collide = [&](const Config &with, bool right) {
        return simt::launch(with, checked::blocks_collide, out.data(), right);
    };
    Report report = reports(Finding::race_global, config, collide);
    assert_int_equal(report.block.x, 1);
    assert_int_equal(report.other_block.x, 0);
    assert_int_equal(report.other_thread, 0);
    config.blocks_race = false;
    assert_ok(collide(config, false));
    reports_one(Finding::race_global, 64, checked::neighbours_collide);
    report = reports_one(Finding::race_global, 32, checked::atomic_and_plain);
    assert_true(has_both_places(report));
}

static void hand_over(void **) {
    const unsigned threads = 64, blocks = 5;
    std::vector<int> partial(threads * blocks), done(1), sum(threads);
    Config config = block_of(threads);
    config.grid = blocks;
    config.buffers = {writable("partial", partial), writable("done", done), writable("sum", sum)};
    for (checked::HandOver how : {checked::HandOver::no_fence, checked::HandOver::fence_too_early,
                                  checked::HandOver::no_barrier, checked::HandOver::no_atomic}) {
        reports(Finding::race_global, config, [&](const Config &with, bool right) {
            const checked::HandOver ways[] = {
                checked::HandOver::one_fences, checked::HandOver::all_fence,
                checked::HandOver::warps_fence, checked::HandOver::another_fences};
            checked::HandOver way = right ? ways[with.seed % 4] : how;
            done[0] = 0;
            Report report = simt::launch(with, checked::hand_over, partial.data(), done.data(),
                                         sum.data(), way);
            for (unsigned t = 0; right && t < threads; t++) {
                assert_int_equal(sum[t], t * blocks + blocks * (blocks - 1) / 2);
            }
            return report;
        });
    }
}

/* A block that has taken what a second one released has what a first one handed over to that,
 * too. */
static void hand_over_in_a_chain(void **) {
    simt::Clocks clocks;
    clocks.restart(0, 32);
    clocks.fence(0);
    clocks.begin_atomic(0);
    std::uint32_t atomic = clocks.epoch(0);
    clocks.end_atomic(0, 8);
    std::uint32_t behind = clocks.epoch(0);
    clocks.restart(1, 32);
    assert_false(clocks.handed(0, 0, 1, 3));
    clocks.begin_atomic(3);
    clocks.end_atomic(3, 8);
    assert_true(clocks.handed(0, 0, 1, 3));
    assert_true(clocks.handed(0, 0, atomic, 3));
    assert_false(clocks.handed(0, 0, behind, 3));
    assert_false(clocks.handed(0, 1, 1, 3));
    assert_false(clocks.handed(0, 0, 1, 4));
    clocks.join({3, 4});
    assert_true(clocks.handed(0, 0, 1, 4));
    clocks.fence(4);
    clocks.begin_atomic(4);
    clocks.end_atomic(4, 16);
    clocks.restart(2, 32);
    clocks.begin_atomic(9);
    clocks.end_atomic(9, 24);
    assert_false(clocks.handed(1, 3, 1, 9));
    clocks.begin_atomic(9);
    clocks.end_atomic(9, 16);
    assert_true(clocks.handed(1, 3, 1, 9));
    assert_true(clocks.handed(0, 0, 1, 9));
    assert_false(clocks.handed(1, 5, 1, 9));
}

/* A fence hands over to those that know of it alone: not when it comes after the atomic's thread
 * has last met them. */
static void late_fence(void **) {
    simt::Clocks clocks;
    clocks.restart(0, 32);
    clocks.join({0, 1});
    clocks.fence(0);
    clocks.fence(1);
    clocks.begin_atomic(0);
    clocks.end_atomic(0, 8);
    clocks.restart(1, 32);
    clocks.begin_atomic(0);
    clocks.end_atomic(0, 8);
    assert_true(clocks.handed(0, 1, 1, 0));
    assert_false(clocks.handed(0, 1, 2, 0));
    assert_true(clocks.handed(0, 0, 2, 0));
}

static void global_bounds(void **) {
    std::vector<int> in(64);
    std::vector<int> out(64);
    Config config = block_of(64);
    config.buffers = {constant("in", in), writable("out", out)};
    Report report =
        reports(Finding::out_of_bounds_global, config, [&](const Config &with, bool right) {
            return simt::launch(with, checked::global_outside, in.data(), out.data(), right);
        });
    assert_ptr_equal(report.address, in.data() + 64);
    report = reports(Finding::write_to_constant, config, [&](const Config &with, bool right) {
        return simt::launch(with, checked::writes_constant, in.data(), out.data(), right);
    });
    assert_ptr_equal(report.address, in.data());
}

/* What collectives and asynchronous copies see needs no instrumented loads and stores. */
static void without_instrumentation(void **) {
    std::vector<int> out(64);
    Config config = block_of(64);
    assert_ok(simt::launch(config, plain::branch_barriers, out.data(), true));
    Report report = simt::launch(config, plain::branch_barriers, out.data(), false);
    assert_true(report.finding == Finding::barrier_divergence);
    config.block = 32;
    report = simt::launch(config, plain::divergent_shuffle, out.data(), false);
    assert_true(report.finding == Finding::warp_divergence);
}

static void nothing_but_the_launch(int *) {}

static void bad_launches(void **) {
    std::vector<int> out(64);
    Config config = block_of(1025);
    auto launched = [&]() { return simt::launch(config, nothing_but_the_launch, out.data()); };
    assert_true(launched().finding == Finding::bad_launch);
    config.block = dim3(1024, 1024, 4096);
    assert_true(launched().finding == Finding::bad_launch);
    config.block = dim3(0, 1, 1);
    assert_true(launched().finding == Finding::bad_launch);
    config = block_of(32);
    config.grid = dim3(1u << 31, 1u << 31, 4);
    assert_true(launched().finding == Finding::bad_launch);
    config = block_of(32);
    config.dynamic_bytes = 227 * 1024 + 1;
    assert_true(launched().finding == Finding::bad_launch);
    config.dynamic_bytes = 227 * 1024;
    assert_ok(launched());
    Report report = simt::launch(config, checked::missing_barrier, out.data(), true);
    assert_true(report.finding == Finding::bad_launch);
}

/* The same seed, the same run, to the letter; another seed, another order. */
static void repeatable(void **) {
    std::vector<int> out(64);
    bool differs = false;
    std::string first;
    for (int seed = 0; seed <= seeds; seed++) {
        Config config = block_of(64);
        config.seed = static_cast<std::uint64_t>(seed);
        Report one = simt::launch(config, checked::missing_barrier, out.data(), false);
        Report two = simt::launch(config, checked::missing_barrier, out.data(), false);
        assert_string_equal(one.text.c_str(), two.text.c_str());
        assert_int_equal(one.steps, two.steps);
        assert_int_equal(one.switches, two.switches);
        first = seed == 0 ? one.text : first;
        differs = differs || one.text != first;
    }
    assert_true(differs);
}

/* Neither memory of the device nor of the host, whatever its size. */
static void freed_memory_stays_foreign(void **) {
    simt::Device device;
    std::uintptr_t freed[32][2];
    int n_freed = 0;
    for (std::size_t bytes : {4096, 1, 65536, 1 << 20}) {
        for (int i = 0; i < 8; i++) {
            void *memory = nullptr;
            assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
            std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory);
            for (int j = 0; j < n_freed; j++) {
                assert_true(begin + bytes <= freed[j][0] || begin >= freed[j][1]);
            }
            assert_int_equal(cudaFree(memory), cudaSuccess);
            assert_int_equal(cudaFree(memory), cudaErrorInvalidValue);
            freed[n_freed][0] = begin;
            freed[n_freed++][1] = begin + bytes;
        }
    }
    assert_int_equal(device.live(), 0);
}

int main() {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_memory_stays_foreign),
        cmocka_unit_test(shared_races),
        cmocka_unit_test(warp_races),
        cmocka_unit_test(shuffles_order_memory_if_asked),
        cmocka_unit_test(bytes_are_told_apart),
        cmocka_unit_test(structures_are_seen),
        cmocka_unit_test(missing_waits),
        cmocka_unit_test(wait_is_no_barrier),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(barrier_divergence),
        cmocka_unit_test(warp_divergence),
        cmocka_unit_test(inactive_lanes),
        cmocka_unit_test(shared_bounds),
        cmocka_unit_test(unwritten),
        cmocka_unit_test(endless_loops),
        cmocka_unit_test(global_races),
        cmocka_unit_test(hand_over),
        cmocka_unit_test(hand_over_in_a_chain),
        cmocka_unit_test(late_fence),
        cmocka_unit_test(global_bounds),
        cmocka_unit_test(without_instrumentation),
        cmocka_unit_test(bad_launches),
        cmocka_unit_test(repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
