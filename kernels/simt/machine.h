/* SPDX-License-Identifier: Apache-2.0 */
/* A running launch: its threads, what they wait for, and its memory. Internal. */
#ifndef CHUNKPROOF_KERNELS_SIMT_MACHINE_H
#define CHUNKPROOF_KERNELS_SIMT_MACHINE_H

#include <memory>
#include <string>
#include <vector>

#include "kernels/simt/clock.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/runtime.h"
#include "kernels/simt/shadow.h"
#include "kernels/simt/simt.h"

namespace simt {

constexpr int warp_size = 32;
constexpr int max_threads = 1024;
constexpr int max_barriers = 16;
constexpr std::size_t max_shared_bytes = 227 * 1024; /* of a block, compute capability 9.0 */
constexpr std::size_t stack_bytes = 256 * 1024;

/* An asynchronous copy that is under way. */
struct Copy {
    char *to;
    const char *from;
    int bytes;
    int used;
    unsigned group; /* the number of the commit that closes it */
    const void *code;
};

/* Where a thread is: at the collective `name` of that source line; nowhere before the first one. */
struct Place {
    const char *name = nullptr;
    Where where = {nullptr, 0};
};

struct Thread {
    Context context;
    uint3 position = {0, 0, 0};
    bool ended = false;
    Place place; /* the collective that it waits at, or the last one that it came through */
    void *operand = nullptr;
    int vote = 0;             /* at a barrier; */
    int votes = 0;            /* of all threads that came to it */
    std::vector<Copy> copies; /* in the order of their issue */
    unsigned committed = 0;   /* groups */
};

/* How the lanes of a collective are served once all have arrived: their operands, indexed by
 * lane. */
struct Lanes {
    int first; /* thread of lane 0 */
    unsigned mask;
    void *operands[warp_size];
};
using Serve = void (*)(class Machine &machine, const Lanes &lanes);

/* A collective of a warp. */
struct Collective {
    const char *name; /* one pointer for each kind */
    Serve serve;      /* null: the lanes only meet */
    bool aligned;     /* 1: all lanes must come to the same instruction */
    bool orders;      /* the accesses to memory */
    unsigned mask;    /* the lanes that must come */
    unsigned arrived;
};

struct Barrier {
    int threads = 0; /* 0: all that have not ended */
    std::vector<int> arrived;
};

/* A shared array of the running block. */
struct Array {
    const void *site; /* null: the dynamic one */
    const char *name;
    std::size_t offset;
    std::size_t bytes;
};

class Machine {
  public:
    Machine(const Config &config, const Call &call);
    ~Machine();

    /* Runs all blocks; the report says how it went. */
    void run();

    Report report;
    Report unwritten; /* a read of bytes that nobody wrote, held back: see settle() */
    const Config &config;
    std::vector<Thread> threads;
    std::vector<unsigned> alive; /* of each warp, the lanes that have not ended */
    Clocks clocks;
    int running = 0;            /* thread */
    std::uint32_t block_number; /* linear */
    /* Set while the executor itself runs: its own loads and stores are not a kernel's, even
     * where the linker gave it an instrumented copy of an inline function. */
    bool executing = true;
    bool instrumented = false; /* some plain load or store of the kernel was seen */
    uint3 block = {0, 0, 0};

    /* schedule.cpp */
    [[noreturn]] void fail(Finding finding); /* ends the launch, from within a thread */
    void step();
    void turn(); /* lets other threads run when the slice is used up */
    void wait();
    void wake(int thread);
    void thread_main();
    Context &scheduler() {
        return home;
    }

    /* sync.cpp */
    void collective(const Collective &kind, void *operand, Where where);
    void barrier(const char *name, int id, int count, Where where);
    void thread_ended(int thread);

    /* memory.cpp */
    void *shared_array(const void *site, const char *name, std::size_t bytes,
                       std::size_t alignment);
    void *shared_dynamic();
    void access(const void *address, std::size_t bytes, bool write, bool atomic, int thread,
                const void *code);
    void atomic(const void *address, std::size_t bytes, const void *code);
    void copy_async(const Copy &copy);
    void finish_copies(Thread &thread, unsigned groups);

    /* report.cpp */
    [[noreturn]] void fail_access(Finding finding, const char *what, const void *address,
                                  std::size_t bytes, int thread, const void *code);
    [[noreturn]] void fail_race(bool shared, const void *address, std::size_t bytes, bool write,
                                int thread, const Conflict &conflict, const void *code);
    [[noreturn]] void fail_text(Finding finding, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    void describe_access(Report &to, Finding finding, const char *what, const void *address,
                         std::size_t bytes, int thread, const void *code) const;
    void divergence();
    void settle();

  private:
    struct Arena;
    struct Global {
        const Buffer *buffer;
        Shadow shadow;
    };

    /* schedule.cpp */
    bool acceptable();
    void run_block();
    void begin_block();
    void run_round();
    void unwind();
    void end_thread();
    std::uint64_t random();
    void permute(std::vector<std::uint32_t> &numbers);

    /* sync.cpp */
    Collective *joined(std::vector<Collective> &pending, const Collective &kind, unsigned lane_bit);
    void serve(int warp, std::size_t which);
    void complete_barrier(Barrier &barrier);
    [[noreturn]] void disagree(const Collective &pending, const char *name, Where where);
    void same_instruction(const std::vector<int> &members, Finding finding);
    void meet(const std::vector<int> &members, bool orders);

    /* memory.cpp */
    void begin_shared();
    void access_shared(std::size_t offset, std::size_t bytes, bool write, bool atomic, int thread,
                       const void *code);
    std::string around(std::size_t offset) const;
    void access_global(const char *address, std::size_t bytes, bool write, bool atomic, int thread,
                       const void *code);
    bool own_memory(const char *address, std::size_t bytes, bool write, int thread) const;
    Access now(int thread, bool atomic) const;
    void finish_copy(const Copy &copy);

    /* report.cpp */
    std::string thread_name(uint3 in_block, int thread) const;
    std::string who_ended() const;
    std::string place_name(const Place &place) const;
    std::string memory_name(const void *address) const;
    std::string code_name(const void *code) const;
    const void *whole(Code code) const;
    std::string who_waits() const;

    Call call;
    Context home;
    Stacks stacks;
    std::vector<std::uint32_t> ready;
    int ended = 0;
    bool stopping = false;
    std::uint64_t random_state;
    std::uint32_t slice_used = 0;
    std::vector<std::vector<Collective>> collectives; /* pending, of each warp */
    std::vector<int> members;                         /* of the collective that is served */
    Barrier barriers[max_barriers];
    std::unique_ptr<Arena> arena;
    std::vector<Array> arrays;
    std::vector<Global> globals;
};

/* Of the thread that runs. */
Machine &current();
bool is_running();

/* Enters the executor from a kernel, and leaves it. */
class Entry {
  public:
    Entry() : machine(current()) {
        machine.executing = true;
    }
    ~Entry() {
        machine.executing = false;
    }
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;

    Machine &machine;
};

} // namespace simt

#endif
