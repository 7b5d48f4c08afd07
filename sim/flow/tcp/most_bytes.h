#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace gradwire::sim {

/// Which of many numbers has the most bytes: a tree of the larger of two, so that a change costs
/// the logarithm of how many there are.
class MostBytes {
 public:
  /// Begins anew, for `count` numbers of nothing.
  void keep(std::size_t count) {
    leaves_ = std::bit_ceil(std::max<std::size_t>(count, 2));
    tree_.assign(2 * leaves_, 0);
  }
  void forget() { leaves_ = 0; }
  /// Numbers below this one are kept.
  std::size_t room() const { return leaves_; }

  void set(std::size_t number, double bytes) {
    std::size_t at = leaves_ + number;
    tree_[at] = bytes;
    while (at > 1) {
      at /= 2;
      const double larger = std::max(tree_[2 * at], tree_[2 * at + 1]);
      if (tree_[at] == larger) return;
      tree_[at] = larger;
    }
  }
  /// Of several, the least number.
  std::size_t first() const {
    std::size_t at = 1;
    while (at < leaves_) at = 2 * at + (tree_[2 * at] == tree_[at] ? 0 : 1);
    return at - leaves_;
  }

 private:
  std::size_t leaves_ = 0;
  std::vector<double> tree_;  ///< the root is 1
};

}  // namespace gradwire::sim
