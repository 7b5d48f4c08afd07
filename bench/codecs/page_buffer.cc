#include "bench/codecs/page_buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace gradwire::bench {

PageBuffer::PageBuffer(std::size_t bytes, std::size_t offset)
    : mapped_(bytes + offset + 64), size_(bytes) {
  pages_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) {
    pages_ = nullptr;
    throw system_error("reserve memory for the benchmark", std::to_string(mapped_ >> 20) + " MiB",
                       errno, "leave out the largest of --sizes");
  }
  ::madvise(pages_, mapped_, MADV_HUGEPAGE);  // where there are none, ordinary ones do
  std::memset(pages_, 0, mapped_);
  begin_ = static_cast<std::byte*>(pages_) + offset;
}

PageBuffer::~PageBuffer() {
  if (pages_) ::munmap(pages_, mapped_);
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept {
  *this = std::move(other);
}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(mapped_, other.mapped_);
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace gradwire::bench
