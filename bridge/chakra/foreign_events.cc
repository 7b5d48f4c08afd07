#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "bridge/chakra/rank_trace.h"

namespace gradwire::bridge::chakra {
namespace {

constexpr const char* kOnProcessor = "is_cpu_op";
constexpr const char* kDimensions = "involved_dim";
constexpr int kDeviceLane = 0, kProcessorLane = 1;

/// What a call says of itself.
class ForeignCall {
 public:
  ForeignCall(const RankTrace& trace, const Ranks& ranks, const Node& node)
      : trace_(trace), ranks_(ranks), node_(node) {}

  Call take() {
    call_.type = "bytes";
    call_.width = 1;
    call_.group = text(node_, kGroup);
    take_kind();
    const auto bytes = number(node_, kCommSize);
    const bool sized = bytes && *bytes >= 0 && *bytes <= kMostElements;
    if (!sized && call_.kind != CallKind::kBarrier)
      refuse("does not say how many bytes it sends (comm_size)");
    call_.elements = sized ? *bytes : 0;
    if (is_point_to_point(call_.kind)) {
      take_peer();
    } else {
      take_members();
    }
    return std::move(call_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why, const std::string& remedy = "") const {
    refuse_trace(trace_.path(), "node " + std::to_string(node_.id()) + " " + why, remedy);
  }

  void take_kind() {
    if (node_.type() == COMM_SEND_NODE) {
      call_.kind = CallKind::kSend;
    } else if (node_.type() == COMM_RECV_NODE) {
      call_.kind = CallKind::kReceive;
    } else {
      const auto type = number(node_, kCommType);
      const auto kind = type ? kind_of(*type) : std::nullopt;
      if (!kind) refuse("does not say which collective it is (comm_type)");
      call_.kind = *kind;
    }
  }

  void take_peer() {
    const bool sends = call_.kind == CallKind::kSend;
    const auto peer = number(node_, sends ? kTarget : kSource);
    if (!peer || *peer < 0 || *peer >= ranks_.world)
      refuse("does not say to or from whom it is (" + std::string(sends ? kTarget : kSource) + ")");
    call_.peer = static_cast<int>(*peer);
    call_.tag = static_cast<int>(number(node_, kTag).value_or(0) & 0x7FFFFFFF);
  }

  void take_members() {
    const Attribute* dimensions = find(node_, kDimensions);
    const bool some =
        dimensions != nullptr && std::ranges::count(dimensions->bool_list().values(), false) > 0;
    if (some && call_.group.empty())
      refuse(
          "is among the ranks of some dimensions of a topology (involved_dim), which the trace "
          "does not describe",
          "give its calls a pg_name, and say in comm_group.json who is in it");
    const std::vector<int>& group = ranks_.groups.at(call_.group);
    if (!std::ranges::count(group, ranks_.rank))
      refuse("calls in group \"" + call_.group + "\", which rank " + std::to_string(ranks_.rank) +
             " is not in");
    if (call_.kind == CallKind::kAllToAll)
      call_.set_parts(group.size(), call_.elements / static_cast<std::int64_t>(group.size()));
    if (!has_root(call_.kind)) return;
    const auto root = number(node_, kSource);
    const bool known = root && std::ranges::count(group, *root) > 0;
    call_.peer = known ? static_cast<int>(*root) : group.front();
  }

  const RankTrace& trace_;
  const Ranks& ranks_;
  const Node& node_;
  Call call_;
};

class ForeignEvents {
 public:
  ForeignEvents(const RankTrace& trace, const Ranks& ranks, bool counted)
      : trace_(trace), ranks_(ranks), counted_(counted), nodes_(trace.nodes().size()) {
    choose_lanes();
    for (const Node& node : trace.nodes())
      for (const std::size_t b : trace.before(node))
        if (lane_of(b) != lane_of(node) || is_call(node)) nodes_[b].marked = true;
  }

  std::vector<Event> take() {
    for (const std::size_t at : trace_.order()) {
      const Node& node = trace_.nodes()[at];
      is_call(node) ? call(at) : compute(at);
    }
    if (lanes_.contains(kProcessorLane)) add(kProcessorLane, Event::Kind::kWait);
    add(kDeviceLane, Event::Kind::kEnd);
    return std::move(events_);
  }

 private:
  struct Taken {
    bool marked = false;    ///< others than those that follow on its lane depend on its end
    std::size_t event = 0;  ///< with which it ends, if marked
    std::int64_t call = 0;  ///< its number, if it is one
  };
  struct Lane {
    double seconds = 0;             ///< since its latest event
    std::set<std::int64_t> waited;  ///< calls
  };

  /// Nodes that compute have two lanes where some are the processor's and some are not.
  void choose_lanes() {
    bool processor = false, device = false;
    for (const Node& node : trace_.nodes())
      if (computes(node)) (is_on_processor(node) ? processor : device) = true;
    both_ = processor && device;
  }
  static bool is_on_processor(const Node& node) {
    return number(node, kOnProcessor).value_or(1) != 0;
  }
  static bool computes(const Node& node) {
    return node.type() == COMP_NODE || node.type() == MEM_LOAD_NODE ||
           node.type() == MEM_STORE_NODE;
  }
  int lane_of(const Node& node) const {
    if (!computes(node)) return Event::kNoLane;
    return both_ && is_on_processor(node) ? kProcessorLane : kDeviceLane;
  }
  int lane_of(std::size_t at) const { return lane_of(trace_.nodes()[at]); }

  Event& add(int lane, Event::Kind kind) {
    Event& event = events_.emplace_back();
    event.kind = kind;
    event.rank = ranks_.rank;
    event.lane = lane;
    if (lane != Event::kNoLane) event.compute = Seconds(std::exchange(lanes_[lane].seconds, 0));
    return event;
  }

  double seconds_of(const Node& node) const {
    if (counted_) return static_cast<double>(std::max<std::int64_t>(0, operations_of(node)));
    const double seconds = 1e-6 * static_cast<double>(node.duration_micros());
    if (seconds >= 1e9)
      refuse_trace(trace_.path(), "node " + std::to_string(node.id()) + " has no time");
    return seconds;
  }
  static std::int64_t operations_of(const Node& node) {
    return number(node, kOperations).value_or(0);
  }

  /// As collectives of one group do.
  static bool follows_anyway(const Node& node, const Node& before) {
    return node.type() == COMM_COLL_NODE && before.type() == COMM_COLL_NODE &&
           text(before, kGroup) == text(node, kGroup);
  }

  /// What a node waits for before it begins, on its lane.
  struct Waits {
    std::vector<std::int64_t> calls;
    std::vector<std::size_t> events;
  };
  Waits waits_of(const Node& node) {
    Waits waits;
    const int lane = lane_of(node);
    for (const std::size_t b : trace_.before(node)) {
      const Node& before = trace_.nodes()[b];
      if (is_call(before)) {
        if (follows_anyway(node, before)) continue;
        if (lane == Event::kNoLane || lanes_[lane].waited.insert(nodes_[b].call).second)
          waits.calls.push_back(nodes_[b].call);
      } else if (lane_of(before) != lane || lane == Event::kNoLane) {
        waits.events.push_back(nodes_[b].event);
      }
    }
    return waits;
  }

  void compute(std::size_t at) {
    const Node& node = trace_.nodes()[at];
    const int lane = lane_of(node);
    Waits waits = waits_of(node);
    if (!waits.calls.empty() || !waits.events.empty() || lane == Event::kNoLane) {
      Event& wait = add(lane, Event::Kind::kWait);
      wait.waited = std::move(waits.calls);
      wait.after = std::move(waits.events);
    }
    if (lane != Event::kNoLane) {
      lanes_[lane].seconds += seconds_of(node);
      if (nodes_[at].marked) add(lane, Event::Kind::kWait);
    }
    nodes_[at].event = events_.size() - 1;
  }

  void call(std::size_t at) {
    const Node& node = trace_.nodes()[at];
    Waits waits = waits_of(node);
    Event& made = add(Event::kNoLane, Event::Kind::kCall);
    made.waited = std::move(waits.calls);
    made.after = std::move(waits.events);
    made.call = ForeignCall(trace_, ranks_, node).take();
    made.call.number = nodes_[at].call = ++calls_;
    nodes_[at].event = events_.size() - 1;
  }

  const RankTrace& trace_;
  const Ranks& ranks_;
  bool counted_;
  bool both_ = false;
  std::vector<Taken> nodes_;  ///< by position
  std::map<int, Lane> lanes_;
  std::int64_t calls_ = 0;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Event> foreign_events(const RankTrace& trace, const Ranks& ranks, bool counted) {
  return ForeignEvents(trace, ranks, counted).take();
}

}  // namespace gradwire::bridge::chakra
