#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradwire::sim {

/// Events by (time, order of insertion). What comes in order of time, as most events do, waits in a
/// queue at no cost; the rest in a 4-ary min-heap. Flat storage: nothing is allocated once it has
/// grown. `Item` has a `time` and a std::uint64_t `order`, which push() sets.
template <class Item>
class EventHeap {
 public:
  using Time = decltype(Item::time);

  bool empty() const { return first_ == end_ && heap_.empty(); }
  const Item& top() const { return queue_is_next() ? queue_[first_] : heap_.front(); }

  void push(const Item& item) {
    Item& place = insert(item.time);
    const std::uint64_t order = place.order;
    place = item;
    place.order = order;
  }

  /// An event at that time, whose other members the caller sets: written in place, since reading
  /// back what was just written in smaller parts stalls a processor. Valid until the next change.
  Item& insert(Time time) {
    Item* place = nullptr;
    if (first_ == end_ || time >= queue_[end_ - 1].time) {
      if (end_ == queue_.size()) make_room();
      place = &queue_[end_++];
    } else {
      place = &heap_[open_in_heap(time)];
    }
    place->time = time;
    place->order = next_order_++;
    return *place;
  }

  /// The order of an event that may be pushed later, as if it were now.
  std::uint64_t reserve() { return next_order_++; }
  /// An event of a reserved order, which the item has.
  void push_reserved(const Item& item) {
    std::size_t at = heap_.size();
    heap_.emplace_back();
    for (; at > 0 && before(item, heap_[(at - 1) / 4]); at = (at - 1) / 4)
      heap_[at] = heap_[(at - 1) / 4];
    heap_[at] = item;
  }

  Item pop() {
    if (!queue_is_next()) return pop_heap();
    const std::size_t at = first_++;
    if (first_ == end_) first_ = end_ = 0;
    return queue_[at];
  }

 private:
  static bool before(const Item& a, const Item& b) {
    return a.time < b.time || (a.time == b.time && a.order < b.order);
  }
  bool queue_is_next() const {
    return heap_.empty() || (first_ < end_ && before(queue_[first_], heap_.front()));
  }

  /// At the queue's end.
  [[gnu::noinline]] void make_room() {
    if (2 * first_ < queue_.size() || queue_.empty()) {
      queue_.resize(std::max<std::size_t>(2 * queue_.size(), kFirstSize));
      return;
    }
    std::copy(queue_.begin() + static_cast<std::ptrdiff_t>(first_), queue_.end(), queue_.begin());
    end_ -= first_;
    first_ = 0;
  }

  /// Where the event belongs, which comes after all others of its time.
  [[gnu::noinline]] std::size_t open_in_heap(Time time) {
    std::size_t at = heap_.size();
    heap_.emplace_back();
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (heap_[parent].time <= time) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    return at;
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

  static constexpr std::size_t kFirstSize = 8;

  std::vector<Item> queue_;  // [first_, end_), in order
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::vector<Item> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace gradwire::sim
