#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bridge/order.h"
#include "bridge/recording.h"

namespace gradwire::trainers {

/// A recording cut into the steps of its script: step k is what each rank did between its k-th
/// optimiser step (bridge::Event::Kind::kStep) and the one before. What follows the last one is a
/// step of its own where the script ran to its end and called something in it. The first has the
/// script's set-up in it.
///
/// Ranks that are not in step are joined: where one waits in its step k for a call that another
/// makes in its step k + 1, both are one step, and so is what no rank calls anything in with what
/// follows it.
class RecordedSteps {
 public:
  /// Throws Error(kScenario) naming `path` where calls are not alike, or where no whole step is
  /// left.
  RecordedSteps(const bridge::Recording& recording, const std::string& path);

  const bridge::Recording& recording() const { return recording_; }
  const bridge::Order& order() const { return order_; }
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// Events [begin, end) of the rank belong to the step.
  std::size_t begin(std::int64_t step, int rank) const;
  std::size_t end(std::int64_t step, int rank) const;
  /// Whether an optimiser told where steps end.
  bool told() const { return told_; }
  /// Whether the last one is what follows the optimiser's last.
  bool has_tail() const;
  /// Calls of whole steps, all ranks.
  std::int64_t calls() const;

 private:
  void follow();
  void cut();
  void drop_what_is_not_whole();
  void join_entangled();
  void join_silent();
  void keep(const std::vector<bool>& ends_step);
  std::vector<std::vector<std::int64_t>> steps_of_events() const;

  const bridge::Recording& recording_;
  bridge::Order order_;
  std::vector<std::vector<std::size_t>> ends_;  ///< [step][rank]
  bool told_ = false;
};

}  // namespace gradwire::trainers
