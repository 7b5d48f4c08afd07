#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace gradwire::sim {

/// What delays a connection's acknowledgements on their way to the sender, beside distance: a slow
/// link, which they pass one after the other, jitter, and outages, before which they wait. None
/// overtakes another:
///     arrives(k) = max(sent(k) + latency + jitter(k), arrives(k - 1) + spacing)
///
/// Where it breaks down: one outage at a time, and what waited for its end comes at once; the queue
/// before a slow link drops none.
class WayBack {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `spacing`: s, of acknowledgements on their slowest link. `jitters`: s, by hop.
  WayBack(double spacing, std::vector<double> jitters, const RandomStream& draws)
      : spacing_(spacing), jitters_(std::move(jitters)), draws_(draws) {}

  /// When acknowledgement `number` arrives, which by distance alone would at `direct`; infinite: it
  /// waits for the end of an outage. Those before it have been passed to arrived().
  double arrival(double direct, std::uint64_t number) const {
    if (direct == kNever || direct - behind_ >= closed_since_) return kNever;
    double time = direct;
    for (std::size_t hop = 0; hop < jitters_.size(); ++hop)
      time += jitters_[hop] * static_cast<double>(uniform(draws_, number * jitters_.size() + hop));
    return std::max(time, last_ + spacing_);
  }
  void arrived(double time) { last_ = std::max(last_, time); }

  bool is_closed() const { return closed_since_ < kNever; }
  double behind() const { return behind_; }
  /// An outage begins at `now`, s; from its link on acknowledgements take `behind` more, s.
  void close(double now, double behind) {
    closed_since_ = now;
    behind_ = behind;
  }
  /// It ends at `now`: what would have come by distance at `direct` comes then.
  double released(double now, double direct) const {
    return direct - behind_ >= closed_since_ ? std::max(direct, now + behind_) : direct;
  }
  void open() { closed_since_ = kNever; }

 private:
  double spacing_;
  std::vector<double> jitters_;
  RandomStream draws_;
  double last_ = -kNever;
  double closed_since_ = kNever;
  double behind_ = 0;
};

}  // namespace gradwire::sim
