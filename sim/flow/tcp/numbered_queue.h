#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace gradwire::sim {

/// A queue in one block of memory that grows by a quarter and shrinks only when it is told to: no
/// allocation in steady state. Elements keep their numbers: the first one pushed is 0.
template <typename T>
class NumberedQueue {
 public:
  NumberedQueue() = default;
  NumberedQueue(NumberedQueue&& other) noexcept { *this = std::move(other); }
  NumberedQueue& operator=(NumberedQueue&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(begin_, other.begin_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Number of the first element, and one past the last.
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + size_; }

  T& operator[](std::uint64_t number) { return items_[place_of(number)]; }
  const T& operator[](std::uint64_t number) const { return items_[place_of(number)]; }
  T& front() { return (*this)[begin_]; }
  const T& front() const { return (*this)[begin_]; }
  T& back() { return (*this)[end() - 1]; }

  void push(const T& item) {
    if (size_ == capacity_) grow();
    ++size_;
    back() = item;
  }
  void pop() {
    ++begin_;
    --size_;
    if (++first_ == capacity_) first_ = 0;
  }
  /// Of an empty queue: the next element has a number more.
  void skip() { ++begin_; }
  /// Of an empty queue: gives its memory back.
  void release() {
    items_.reset();
    first_ = capacity_ = 0;
  }
  std::size_t capacity() const { return capacity_; }

 private:
  void grow() {
    const std::uint32_t capacity = capacity_ == 0 ? kFirst : capacity_ + capacity_ / 4 + 1;
    auto larger = std::make_unique<T[]>(capacity);
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = (*this)[begin_ + i];
    items_ = std::move(larger);
    capacity_ = capacity;
    first_ = 0;
  }

  std::size_t place_of(std::uint64_t number) const {
    const std::uint64_t place = first_ + (number - begin_);
    return place < capacity_ ? place : place - capacity_;
  }

  /// Of what is small there are many: a first window of segments.
  static constexpr std::uint32_t kFirst = sizeof(T) > 16 ? 1 : sizeof(T) > 8 ? 10 : 17;

  std::unique_ptr<T[]> items_;
  std::uint64_t begin_ = 0;
  std::uint32_t first_ = 0;  ///< place of the first element
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace gradwire::sim
