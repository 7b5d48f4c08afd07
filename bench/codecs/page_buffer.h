#pragma once
#include <cstddef>
#include <span>

namespace gradwire::bench {

/// Memory from the system in whole pages, zeroed and touched. The first byte stands `offset` bytes
/// into a page, so that arrays used together do not fall into the same lines of a cache. Huge pages
/// where the system has them: else the first to touch an array pays for the page tables that others
/// threw out of the caches, which is no matter of the call measured.
class PageBuffer {
 public:
  PageBuffer() = default;
  PageBuffer(std::size_t bytes, std::size_t offset);
  ~PageBuffer();
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;

  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {begin_, size_}; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(begin_), size_ / sizeof(T)};
  }

 private:
  void* pages_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gradwire::bench
