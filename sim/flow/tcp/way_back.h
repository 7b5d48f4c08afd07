#pragma once
#include <algorithm>
#include <limits>

namespace gradwire::sim {

/// What delays a connection's acknowledgements on their way to the sender, beside distance: a slow
/// link, which they pass one after the other, and outages, before which they wait:
///     arrives(k) = max(sent(k) + latency, arrives(k - 1) + spacing)
///
/// Where it breaks down: one outage at a time, and what waited for its end comes at once; the queue
/// before a slow link drops none.
class WayBack {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `spacing`: s, of acknowledgements on their slowest link.
  explicit WayBack(double spacing) : spacing_(spacing) {}

  /// When the next acknowledgement arrives, which by distance alone would at `direct`; infinite: it
  /// waits for the end of an outage. Those before it have been passed to arrived().
  double arrival(double direct) const {
    if (direct == kNever || direct - behind_ >= closed_since_) return kNever;
    return std::max(direct, last_ + spacing_);
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
  double last_ = -kNever;
  double closed_since_ = kNever;
  double behind_ = 0;
};

}  // namespace gradwire::sim
