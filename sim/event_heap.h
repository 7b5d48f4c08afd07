#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace gradwire::sim {

/// A 4-ary min-heap of events by (time, order of insertion). Flat storage: nothing is allocated
/// once it has grown. `Item` has a double `time` and a std::uint64_t `order`, which push() sets.
template <class Item>
class EventHeap {
 public:
  bool empty() const { return items_.empty(); }
  const Item& top() const { return items_.front(); }

  void push(Item item) {
    item.order = next_order_++;
    std::size_t at = items_.size();
    items_.push_back(item);
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(item, items_[parent])) break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = item;
  }

  Item pop() {
    const Item result = items_.front();
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) sift_down(last);
    return result;
  }

 private:
  static bool before(const Item& a, const Item& b) {
    return a.time < b.time || (a.time == b.time && a.order < b.order);
  }

  void sift_down(const Item& item) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= items_.size()) break;
      const std::size_t end = first + 4 < items_.size() ? first + 4 : items_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(items_[child], items_[least])) least = child;
      }
      if (!before(items_[least], item)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = item;
  }

  std::vector<Item> items_;
  std::uint64_t next_order_ = 0;
};

}  // namespace gradwire::sim
