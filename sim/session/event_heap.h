#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradwire::sim {

/// Events by (time, order of insertion). What comes in order of time, as most events do, waits in a
/// queue at no cost; the rest in a 4-ary min-heap. Flat storage: nothing is allocated once it has
/// grown. `Item` has a double `time` and a std::uint64_t `order`, which push() sets.
template <class Item>
class EventHeap {
 public:
  bool empty() const { return first_ == queue_.size() && heap_.empty(); }
  const Item& top() const { return queue_is_next() ? queue_[first_] : heap_.front(); }

  void push(Item item) {
    item.order = next_order_++;
    if (first_ == queue_.size() || item.time >= queue_.back().time) {
      enqueue(item);
    } else {
      push_heap(item);
    }
  }

  Item pop() {
    if (!queue_is_next()) return pop_heap();
    const Item result = queue_[first_++];
    if (first_ == queue_.size()) {
      queue_.clear();
      first_ = 0;
    }
    return result;
  }

 private:
  static bool before(const Item& a, const Item& b) {
    return a.time < b.time || (a.time == b.time && a.order < b.order);
  }
  bool queue_is_next() const {
    return heap_.empty() || (first_ < queue_.size() && before(queue_[first_], heap_.front()));
  }

  void enqueue(const Item& item) {
    if (queue_.size() == queue_.capacity() && 2 * first_ >= queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    queue_.push_back(item);
  }

  void push_heap(const Item& item) {
    std::size_t at = heap_.size();
    heap_.push_back(item);
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(item, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = item;
  }

  Item pop_heap() {
    const Item result = heap_.front();
    const Item last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
    return result;
  }

  void sift_down(const Item& item) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = first + 4 < heap_.size() ? first + 4 : heap_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(heap_[child], heap_[least])) least = child;
      }
      if (!before(heap_[least], item)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = item;
  }

  std::vector<Item> queue_;  // [first_, size()), in order
  std::size_t first_ = 0;
  std::vector<Item> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace gradwire::sim
