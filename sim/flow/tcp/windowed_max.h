#pragma once
#include <cstdint>

namespace gradwire::sim {

/// The largest of the values of the last `window` rounds, kept as three candidates of ever later
/// parts of the window (Nichols' filter, as Linux's lib/win_minmax.c describes it): one that is not
/// beaten is forgotten a window after it came.
class WindowedMax {
 public:
  /// The best is `start` until the first value.
  WindowedMax(std::uint32_t window, std::int64_t start)
      : window_(window), candidates_{{start, 0}, {start, 0}, {start, 0}} {}

  std::int64_t best() const { return candidates_[0].value; }
  /// `value` > 0; rounds never go back.
  void update(std::int64_t value, std::uint32_t round);

 private:
  struct Candidate {
    std::int64_t value = 0;
    std::uint32_t round = 0;
  };

  std::uint32_t age(const Candidate& candidate, std::uint32_t round) const {
    return round - candidate.round;
  }
  void expire(const Candidate& fresh);

  std::uint32_t window_;
  bool started_ = false;
  Candidate candidates_[3];  ///< best first
};

}  // namespace gradwire::sim
