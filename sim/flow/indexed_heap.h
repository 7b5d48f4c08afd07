#pragma once
#include <cstdint>
#include <vector>

namespace gradwire::sim {

/// A 4-ary min-heap over small dense numbers, at most one entry each, ordered by (time, number);
/// a number's time can be changed or taken away. Nothing is allocated once it has grown.
class IndexedHeap {
 public:
  struct Entry {
    double time = 0;
    std::int32_t number = 0;
  };

  bool empty() const { return entries_.empty(); }
  const Entry& top() const { return entries_.front(); }
  void make_room(std::int32_t numbers) { place_.resize(static_cast<std::size_t>(numbers), -1); }

  void set(std::int32_t number, double time) {
    std::int32_t& at = place_[static_cast<std::size_t>(number)];
    if (at < 0) {
      entries_.push_back({time, number});
      sift_up(entries_.size() - 1, {time, number});
      return;
    }
    const auto place = static_cast<std::size_t>(at);
    if (time < entries_[place].time) {
      sift_up(place, {time, number});
    } else {
      sift_down(place, {time, number});
    }
  }

  void remove(std::int32_t number) {
    const std::int32_t at = place_[static_cast<std::size_t>(number)];
    if (at < 0) return;
    place_[static_cast<std::size_t>(number)] = -1;
    const Entry last = entries_.back();
    entries_.pop_back();
    const auto place = static_cast<std::size_t>(at);
    if (place == entries_.size()) return;
    if (place > 0 && before(last, entries_[(place - 1) / 4])) {
      sift_up(place, last);
    } else {
      sift_down(place, last);
    }
  }

 private:
  static bool before(const Entry& a, const Entry& b) {
    return a.time < b.time || (a.time == b.time && a.number < b.number);
  }
  void put(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    place_[static_cast<std::size_t>(entry.number)] = static_cast<std::int32_t>(at);
  }

  void sift_up(std::size_t at, const Entry& entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(entry, entries_[parent])) break;
      put(at, entries_[parent]);
      at = parent;
    }
    put(at, entry);
  }

  void sift_down(std::size_t at, const Entry& entry) {
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = first + 4 < entries_.size() ? first + 4 : entries_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(entries_[child], entries_[least])) least = child;
      }
      if (!before(entries_[least], entry)) break;
      put(at, entries_[least]);
      at = least;
    }
    put(at, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::int32_t> place_;  // by number; -1 = absent
};

}  // namespace gradwire::sim
