#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradwire::sim {

/// A queue in one block of memory that grows by doubling and never shrinks: no allocation in steady
/// state. Elements keep their numbers: the first one pushed is 0.
template <typename T>
class NumberedQueue {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  /// Number of the first element, and one past the last.
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }

  T& operator[](std::uint64_t number) { return items_[number & (items_.size() - 1)]; }
  const T& operator[](std::uint64_t number) const { return items_[number & (items_.size() - 1)]; }
  T& front() { return (*this)[begin_]; }
  const T& front() const { return (*this)[begin_]; }
  T& back() { return (*this)[end_ - 1]; }

  void push(const T& item) {
    if (size() == items_.size()) grow();
    items_[end_++ & (items_.size() - 1)] = item;
  }
  void pop() { ++begin_; }
  void clear() { begin_ = end_; }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 2 : 2 * items_.size());
    for (std::uint64_t i = begin_; i != end_; ++i) larger[i & (larger.size() - 1)] = (*this)[i];
    items_.swap(larger);
  }

  std::vector<T> items_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace gradwire::sim
