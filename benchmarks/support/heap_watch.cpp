// The executable defines malloc and operator new, which replace the C library's. An allocation
// counts as `ours` if the return address is in libsymbind's text segment.

#include "heap_watch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include <link.h>
#include <malloc.h>
#include <sys/resource.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace symbind::bench {
namespace {

std::atomic<std::int64_t> ours{0}, all{0}, live{0};
std::atomic<std::uintptr_t> text_begin{0}, text_end{0};

int find_library(dl_phdr_info* info, std::size_t, void*) {
  if (std::strstr(info->dlpi_name, "libsymbind") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    text_begin = info->dlpi_addr + segment.p_vaddr;
    text_end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
  }
  return 1;
}

void* count(void* memory, void* caller) {
  all.fetch_add(1, std::memory_order_relaxed);
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (at >= text_begin.load(std::memory_order_relaxed) &&
      at < text_end.load(std::memory_order_relaxed))
    ours.fetch_add(1, std::memory_order_relaxed);
  if (memory != nullptr)
    live.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)),
                   std::memory_order_relaxed);
  return memory;
}

void forget(void* memory) {
  if (memory != nullptr)
    live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)),
                   std::memory_order_relaxed);
}

void* allocate_or_throw(std::size_t bytes, std::size_t align, void* caller) {
  void* memory = align == 0 ? __libc_malloc(bytes) : __libc_memalign(align, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return count(memory, caller);
}

}  // namespace

HeapCounts heap_counts() {
  if (text_begin == 0) dl_iterate_phdr(find_library, nullptr);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {ours.load(), all.load(), live.load(), usage.ru_minflt};
}

}  // namespace symbind::bench

using symbind::bench::allocate_or_throw;
using symbind::bench::count;
using symbind::bench::forget;

extern "C" {
void* malloc(std::size_t n) { return count(__libc_malloc(n), __builtin_return_address(0)); }
void* calloc(std::size_t n, std::size_t m) {
  return count(__libc_calloc(n, m), __builtin_return_address(0));
}
void* realloc(void* p, std::size_t n) {
  forget(p);
  return count(__libc_realloc(p, n), __builtin_return_address(0));
}
void* memalign(std::size_t a, std::size_t n) {
  return count(__libc_memalign(a, n), __builtin_return_address(0));
}
void* aligned_alloc(std::size_t a, std::size_t n) {
  return count(__libc_memalign(a, n), __builtin_return_address(0));
}
int posix_memalign(void** p, std::size_t a, std::size_t n) {
  *p = count(__libc_memalign(a, n), __builtin_return_address(0));
  return *p == nullptr ? 12 : 0;
}
void free(void* p) {
  forget(p);
  __libc_free(p);
}
}

void* operator new(std::size_t n) { return allocate_or_throw(n, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 0, __builtin_return_address(0)); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a), __builtin_return_address(0));
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, std::size_t) noexcept { free(p); }
void operator delete[](void* p, std::size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { free(p); }
