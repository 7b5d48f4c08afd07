#include <nlohmann/json.hpp>
#include <set>

#include "bridge/chakra/rank_trace.h"

namespace gradwire::bridge::chakra {
namespace {

class OwnEvents {
 public:
  OwnEvents(const RankTrace& trace, const Ranks& ranks) : trace_(trace), ranks_(ranks) {}

  std::vector<Event> take() {
    for (const std::size_t i : trace_.order()) take(i);
    events_.push_back(event(Event::Kind::kEnd));
    return std::move(events_);
  }

 private:
  Event event(Event::Kind kind) {
    Event event;
    event.kind = kind;
    event.rank = ranks_.rank;
    event.compute = Seconds(std::exchange(seconds_, 0));
    return event;
  }

  void take(std::size_t at) {
    const Node& node = trace_.nodes()[at];
    wait_for(node);
    if (is_call(node)) return call(at);
    const Attribute* exact = find(node, kSeconds);
    const double seconds = exact != nullptr ? exact->double_value()
                                            : 1e-6 * static_cast<double>(node.duration_micros());
    if (!(seconds >= 0 && seconds < 1e9))
      refuse_trace(trace_.path(), "node " + std::to_string(node.id()) + " has no time");
    seconds_ += seconds;
    if (find(node, kStep) != nullptr) events_.push_back(event(Event::Kind::kStep));
  }

  /// Of what it depends on, the calls that have not been waited for. Those of one group follow one
  /// another anyway.
  void wait_for(const Node& node) {
    std::vector<std::int64_t> waited;
    for (const std::size_t b : trace_.before(node)) {
      const Node& before = trace_.nodes()[b];
      if (!is_call(before) || waited_.contains(b)) continue;
      if (is_call(node) && text(before, kGroup) == text(node, kGroup)) continue;
      waited_.insert(b);
      waited.push_back(numbers_.at(b));
    }
    if (waited.empty()) return;
    Event wait = event(Event::Kind::kWait);
    wait.waited = std::move(waited);
    events_.push_back(std::move(wait));
  }

  void call(std::size_t at) {
    const auto number = static_cast<std::int64_t>(numbers_.size()) + 1;
    numbers_[at] = number;
    Event made = event(Event::Kind::kCall);
    nlohmann::json line = nlohmann::json::parse(text(trace_.nodes()[at], kCall), nullptr, false);
    if (!line.is_object())
      refuse_trace(trace_.path(), std::string("a ") + kCall + " is no JSON object");
    line["e"] = "call";
    line["r"] = ranks_.rank;
    line["c"] = 1;
    made.call = event_of(line, ranks_.world).call;
    made.call.number = number;
    made.call.group = text(trace_.nodes()[at], kGroup);
    events_.push_back(std::move(made));
  }

  const RankTrace& trace_;
  const Ranks& ranks_;
  std::unordered_map<std::size_t, std::int64_t> numbers_;  ///< of calls, by position
  std::set<std::size_t> waited_;
  double seconds_ = 0;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Event> own_events(const RankTrace& trace, const Ranks& ranks) {
  return OwnEvents(trace, ranks).take();
}

}  // namespace gradwire::bridge::chakra
