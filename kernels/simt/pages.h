/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory from the system; a page costs something only once it is touched. */
#ifndef CHUNKPROOF_KERNELS_SIMT_PAGES_H
#define CHUNKPROOF_KERNELS_SIMT_PAGES_H

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace simt {

/* An array of `count` zeros; T is a type of which zero bytes are a value. */
template <class T> class Pages {
  public:
    explicit Pages(std::size_t count) : bytes(count * sizeof(T)) {
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
    }
    ~Pages() {
        if (memory != nullptr) {
            munmap(memory, bytes);
        }
    }
    Pages(Pages &&other) noexcept
        : memory(std::exchange(other.memory, nullptr)), bytes(other.bytes) {}
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    T *get() const {
        return static_cast<T *>(memory);
    }

  private:
    void *memory;
    std::size_t bytes;
};

} // namespace simt

#endif
