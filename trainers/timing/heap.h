#pragma once
#include <malloc.h>

namespace gradwire::trainers {

/// Lets the heap keep what passes allocate and free: by default glibc gives large temporaries back
/// to the kernel after every pass, and each new one costs a page fault per 4 KiB.
inline void keep_heap() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace gradwire::trainers
