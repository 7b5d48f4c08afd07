#include "runner/prediction/recorded_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.h"

namespace gradwire::runner {
namespace {

using bridge::CallKind;
using bridge::Event;
using Sizes = std::vector<std::int64_t>;  ///< elements of fp32 of each all-reduce, in their order

/// Of one rank. Seconds.
struct Step {
  Sizes sizes;
  std::vector<double> before;     ///< computed before each all-reduce, since the one before
  double after = 0;               ///< the last one
  std::optional<CallKind> other;  ///< a call that is no data parallelism's
};

class Steps {
 public:
  explicit Steps(const bridge::Recording& recording) : recording_(recording) {
    for (const auto& events : recording.events) {
      step_ = {};
      for (const Event& event : events) take(event);
    }
  }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  void take(const Event& event) {
    step_.after += event.compute.value();
    if (event.kind == Event::Kind::kCall) take_call(event.call);
    if (event.kind != Event::Kind::kStep) return;
    steps_.push_back(std::move(step_));
    step_ = {};
  }

  void take_call(const bridge::Call& call) {
    if (call.kind == CallKind::kBroadcast || call.kind == CallKind::kBarrier) return;
    const auto group = recording_.groups.find(call.group);
    const bool all =
        group == recording_.groups.end() || std::ssize(group->second) == recording_.header.world;
    if (call.kind != CallKind::kAllReduce || !all) {
      step_.other = call.kind;
      return;
    }
    step_.sizes.push_back(std::max<std::int64_t>(1, call.bytes().count() / 4));
    step_.before.push_back(step_.after);
    step_.after = 0;
  }

  const bridge::Recording& recording_;
  Step step_;
  std::vector<Step> steps_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kFailure, "take advice from", path, reason,
              "gradwire torch --network NET --replay " + path +
                  " tells its time and what would help, whatever it calls");
}

/// Those that count.
std::vector<const Step*> usual(const std::vector<Step>& steps, const std::string& path) {
  std::map<Sizes, std::vector<const Step*>> alike;
  std::optional<CallKind> other;
  for (const Step& step : steps) {
    if (step.other) other = step.other;
    if (!step.other && !step.sizes.empty()) alike[step.sizes].push_back(&step);
  }
  if (steps.empty()) refuse(path, "no rank tells where a step ends");
  if (alike.empty())
    refuse(path, other ? "in its steps ranks call " + std::string(bridge::name_of(*other)) +
                             ", which data parallelism does not"
                       : "its ranks reduce nothing in a step");
  const auto most =
      std::ranges::max_element(alike, {}, [](const auto& entry) { return entry.second.size(); });
  return most->second;
}

scenarios::WorkloadProfile::Layer layer_of(std::size_t index, std::int64_t elements, double forward,
                                           double backward) {
  scenarios::WorkloadProfile::Layer layer;
  layer.name = "bucket" + std::to_string(index);
  layer.kind = "bucket";
  layer.elements = elements;
  layer.has_times = true;
  layer.forward_per_sample = Seconds(forward);
  layer.backward_per_sample = Seconds(backward);
  return layer;
}

}  // namespace

scenarios::WorkloadProfile recorded_table(const bridge::Recording& recording,
                                          const std::string& path) {
  const Steps all(recording);
  const std::vector<const Step*> steps = usual(all.steps(), path);
  const Sizes& sizes = steps.front()->sizes;
  const double count = static_cast<double>(steps.size());
  std::vector<double> before(sizes.size());
  double passes = 0, update = 0;
  for (const Step* step : steps) {
    for (std::size_t i = 0; i < sizes.size(); ++i) before[i] += step->before[i] / count;
    update += step->after / count;
  }
  for (const double seconds : before) passes += seconds;
  const double forward = std::min(passes / 3, before.front());
  before.front() -= forward;
  scenarios::WorkloadProfile table;
  table.origin.name = std::filesystem::path(path).stem().string();
  table.origin.source = "measured";
  table.origin.note =
      "Of a trace: " + std::to_string(recording.header.world) + " ranks, " +
      std::to_string(steps.size()) +
      " steps of a rank; a sample is a rank's whole batch; the forward pass is taken "
      "to be a third of both.";
  table.update = Seconds(update);
  for (std::size_t i = sizes.size(); i-- > 0;)
    table.layers.push_back(
        layer_of(i, sizes[i], forward / static_cast<double>(sizes.size()), before[i]));
  return table;
}

}  // namespace gradwire::runner
