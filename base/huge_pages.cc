#include "base/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace gradwire {
namespace {

constexpr std::size_t kLeast = std::size_t{4} << 20;  ///< of which one huge page or more is whole

}  // namespace

void prefer_huge_pages(void* begin, std::size_t bytes) {
  if (bytes < kLeast) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (from + page - 1) / page * page, last = (from + bytes) / page * page;
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // refused: as before
}

}  // namespace gradwire
