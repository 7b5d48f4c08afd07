#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradwire::sim {

/// Times of small dense numbers, at most one each, which can be changed or taken away. A 4-ary
/// min-heap of groups: numbers that are set one after the other to the same time share one entry,
/// in which they are linked in a circle, so that thousands of equal events cost no sifting. Nothing
/// is allocated once it has grown.
///
/// Heaps over the same numbers may share their nodes, if a number is in one of them at a time.
class IndexedHeap {
 public:
  struct Entry {
    double time = 0;
    std::int32_t number = 0;
  };
  static constexpr std::int32_t kAbsent = -1;
  struct Node {
    std::int32_t place = kAbsent;  ///< in the entries, of a group's first number
    std::int32_t next = 0;         ///< of the group, in a circle
    std::int32_t previous = 0;
  };
  using Nodes = std::vector<Node>;  ///< [numbers]

  explicit IndexedHeap(Nodes& nodes) : nodes_(&nodes) {}

  bool empty() const { return entries_.empty(); }
  double first_time() const { return entries_.front().time; }
  std::int32_t first() const { return entries_.front().number; }

  void set(std::int32_t number, double time) {
    if (node(number).place == kAbsent && joins(number, time)) {
      append(number, last_set_);
    } else {
      move(number, time);
    }
  }

  void remove(std::int32_t number) {
    if (node(number).place != kAbsent) take_out(number);
  }

  /// Takes out all that are due until `limit`, in order of (time, number).
  void take_until(double limit, std::vector<Entry>& taken) {
    taken.clear();
    std::size_t second_run = 0;  // where the order first breaks
    bool more_runs = false;
    while (!entries_.empty() && entries_.front().time <= limit) {
      const Entry group = entries_.front();
      erase(0);
      std::int32_t number = group.number;
      do {
        const Entry entry = {group.time, number};
        if (!taken.empty() && before(entry, taken.back())) {
          more_runs = second_run > 0;
          second_run = taken.size();
        }
        taken.push_back(entry);
        node(number).place = kAbsent;
        number = node(number).next;
      } while (number != group.number);
    }
    last_set_ = -1;
    sort(taken, second_run, more_runs);
  }

 private:
  static constexpr std::int32_t kFollows = -2;

  static bool before(const Entry& a, const Entry& b) {
    return a.time < b.time || (a.time == b.time && a.number < b.number);
  }
  Node& node(std::int32_t number) { return (*nodes_)[static_cast<std::size_t>(number)]; }

  [[gnu::noinline]] void move(std::int32_t number, double time) {
    Node& own = node(number);
    const bool alone = own.place >= 0 && own.next == number;
    if (own.place != kAbsent && !alone) unlink(number);
    if (joins(number, time)) {
      if (alone) erase(own.place);
      append(number, last_set_);
    } else if (alone) {
      change(static_cast<std::size_t>(own.place), {time, number});
      set_last(number, time);
    } else {
      own = {0, number, number};
      entries_.push_back({time, number});
      sift_up(entries_.size() - 1, {time, number});
      set_last(number, time);
    }
  }

  [[gnu::noinline]] void take_out(std::int32_t number) {
    Node& own = node(number);
    if (own.next != number) {
      unlink(number);
    } else {
      erase(own.place);
    }
    own.place = kAbsent;
    if (last_set_ == number) last_set_ = -1;
  }

  /// Rings and the like come in two ordered runs: those are merged.
  void sort(std::vector<Entry>& taken, std::size_t second_run, bool more_runs) {
    if (second_run == 0) return;
    if (more_runs) {
      std::sort(taken.begin(), taken.end(), before);
      return;
    }
    const auto middle = taken.begin() + static_cast<std::ptrdiff_t>(second_run);
    merged_.resize(taken.size());
    std::merge(taken.begin(), middle, middle, taken.end(), merged_.begin(), before);
    taken.swap(merged_);
  }

  void set_last(std::int32_t number, double time) {
    last_set_ = number;
    last_time_ = time;
  }

  /// Whether `number`, if set to `time`, shares the entry of the number set before it.
  bool joins(std::int32_t number, double time) const {
    return last_time_ == time && last_set_ >= 0 && last_set_ != number;
  }

  void append(std::int32_t number, std::int32_t first) {
    const std::int32_t last = node(first).previous;
    node(number) = {kFollows, first, last};
    node(last).next = number;
    node(first).previous = number;
  }

  /// Out of a group of two or more.
  void unlink(std::int32_t number) {
    const Node own = node(number);
    node(own.previous).next = own.next;
    node(own.next).previous = own.previous;
    node(number).place = kAbsent;
    if (own.place < 0) return;
    node(own.next).place = own.place;
    entries_[static_cast<std::size_t>(own.place)].number = own.next;
    if (last_set_ == number) last_set_ = own.next;
  }

  void erase(std::int32_t at) {
    const auto place = static_cast<std::size_t>(at);
    const Entry last = entries_.back();
    entries_.pop_back();
    if (place < entries_.size()) change(place, last);
  }

  void change(std::size_t place, const Entry& entry) {
    if (place > 0 && before(entry, entries_[(place - 1) / 4])) {
      sift_up(place, entry);
    } else {
      sift_down(place, entry);
    }
  }

  void put(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    node(entry.number).place = static_cast<std::int32_t>(at);
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
    const std::size_t size = entries_.size();
    const Entry* const all = entries_.data();
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= size) break;
      std::size_t least = first;
      if (first + 4 <= size) {
        const std::size_t left = first + (before(all[first + 1], all[first]) ? 1 : 0);
        const std::size_t right = first + (before(all[first + 3], all[first + 2]) ? 3 : 2);
        least = before(all[right], all[left]) ? right : left;
      } else {
        for (std::size_t child = first + 1; child < size; ++child) {
          if (before(all[child], all[least])) least = child;
        }
      }
      if (!before(all[least], entry)) break;
      put(at, all[least]);
      at = least;
    }
    put(at, entry);
  }

  std::vector<Entry> entries_;  // of groups, by their first number
  Nodes* nodes_;
  std::int32_t last_set_ = -1;  // first number of the group of the latest set()
  double last_time_ = 0;        // of that group
  std::vector<Entry> merged_;
};

}  // namespace gradwire::sim
