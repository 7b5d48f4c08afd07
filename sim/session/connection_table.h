#pragma once
#include <cstdint>
#include <vector>

namespace gradwire::sim {

/// Numbers the ordered pairs of hosts that ever talk: 0, 1, 2, ... in order of first use. One flat
/// array with open addressing; a look-up is one probe as a rule.
class ConnectionTable {
 public:
  ConnectionTable() : cells_(kFirstSize) {}

  /// Number of the pair; a new one is count() - 1.
  std::int32_t find_or_add(int source, int destination) {
    const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 |
                              static_cast<std::uint32_t>(destination);
    Cell* cell = &probe(key);
    if (cell->number >= 0) return cell->number;
    if (2 * static_cast<std::size_t>(count_ + 1) > cells_.size()) {
      grow();
      cell = &probe(key);
    }
    *cell = {key, count_};
    return count_++;
  }
  std::int32_t count() const { return count_; }

 private:
  static constexpr std::size_t kFirstSize = 64;
  struct Cell {
    std::uint64_t key = 0;
    std::int32_t number = -1;
  };

  Cell& probe(std::uint64_t key) {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & mask;
    while (cells_[at].number >= 0 && cells_[at].key != key) at = (at + 1) & mask;
    return cells_[at];
  }

  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (const Cell& cell : old) {
      if (cell.number >= 0) probe(cell.key) = cell;
    }
  }

  std::vector<Cell> cells_;
  std::int32_t count_ = 0;
};

}  // namespace gradwire::sim
