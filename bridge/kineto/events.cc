#include "bridge/kineto/events.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::bridge::kineto {
namespace {

constexpr double kIdleBefore = 100;  ///< us between an arrival and what had waited for it

/// When the compute lane did something: the calling threads' operations, or the device's kernels.
class Lane {
 public:
  explicit Lane(const Trace& trace) : trace_(trace), device_(!trace.kernels.empty()) {
    for (const auto* steps : {&trace.steps, &trace.optimiser_steps})
      for (const Span& step : *steps) end_ = std::max(end_, step.end);
    double began = 0, ended = 0;
    for (const Kernel& kernel : trace.kernels) {
      began_.push_back(began = std::max(began, kernel.span.begin));
      ended_.push_back(ended = std::max(ended, kernel.span.end));
    }
    for (const auto& [thread, operations] : trace.operations) {
      auto& ends = ends_[thread];
      for (const Operation& operation : operations) ends.push_back(operation.end);
      std::ranges::sort(ends);
    }
  }

  /// The lane's time when the host is at `host`.
  double at(double host) const { return std::max(host, device_ ? ended_before(host) : host); }

  /// The lane did nothing around the host's time `host`, from an operation's end to the next one's
  /// begin, of that thread.
  Span idle_around(double host, std::int64_t thread) const {
    if (device_) {
      const auto next = std::ranges::lower_bound(trace_.kernels, host, {}, &Kernel::launched);
      const double begin = ended_before(host);
      return {begin, next == trace_.kernels.end() ? at(host) : std::max(begin, next->span.begin)};
    }
    const auto operations = trace_.operations.find(thread);
    if (operations == trace_.operations.end()) return {host, host};
    const auto& ends = ends_.at(thread);
    const auto ended = std::ranges::upper_bound(ends, host);
    const auto next = std::ranges::lower_bound(operations->second, host, {}, &Operation::begin);
    return {ended == ends.begin() ? host : *std::prev(ended),
            next == operations->second.end() ? std::max(host, end_) : next->begin};
  }

  /// The first time from `from` to `until` at which the lane had been idle for the moment `moment`
  /// and went on within kIdleBefore; its idle span. None: an empty one at kNever.
  Span idle_until(double moment, double from, double until, std::int64_t thread) const {
    if (moment == kNever || moment < from || moment > until) return {kNever, kNever};
    const Span idle = device_ ? device_idle_at(moment) : idle_around(moment, thread);
    const bool waited =
        idle.begin < moment && idle.end >= moment && idle.end - moment <= kIdleBefore;
    return waited && idle.begin >= from ? idle : Span{kNever, kNever};
  }

 private:
  double ended_before(double host) const {
    const auto next = std::ranges::lower_bound(trace_.kernels, host, {}, &Kernel::launched);
    return next == trace_.kernels.begin()
               ? host
               : ended_[static_cast<std::size_t>(next - trace_.kernels.begin()) - 1];
  }
  /// A kernel that was not even launched while the device was idle had been waited for by nobody.
  Span device_idle_at(double moment) const {
    const auto at =
        static_cast<std::size_t>(std::ranges::lower_bound(began_, moment) - began_.begin());
    if (at == 0 || at == began_.size()) return {kNever, kNever};
    const Kernel& next = trace_.kernels[at];
    const double ended = ended_[at - 1];
    return next.launched < ended ? Span{ended, next.span.begin} : Span{kNever, kNever};
  }

  const Trace& trace_;
  bool device_;
  double end_ = 0;             ///< of the last step
  std::vector<double> began_;  ///< [kernel]: when the latest of it and those before it began
  std::vector<double> ended_;  ///< [kernel]: when it and all before it had ended
  std::unordered_map<std::int64_t, std::vector<double>> ends_;
};

/// An event with its place on the lane.
struct Placed {
  double at = 0;
  double blocked = 0;  ///< what follows begins so much later
  int order = 0;       ///< of those at one moment
  Event event;
};

class Placing {
 public:
  Placing(const Trace& trace, const std::string& path) : trace_(trace), lane_(trace), path_(path) {
    find_steps();
    copied_.push_back(0);
    for (const Use& use : trace.uses) copied_.push_back(copied_.back() + use.elements);
  }

  std::vector<Event> events() {
    place_calls();
    for (const Span& step : steps_) place({lane_.at(step.end), 0, 0, event(Event::Kind::kStep)});
    std::ranges::stable_sort(placed_, [](const Placed& a, const Placed& b) {
      return a.at != b.at ? a.at < b.at : a.order < b.order;
    });
    std::vector<Event> events;
    double now = lane_.at(steps_.front().begin);
    for (Placed& placed : placed_) {
      placed.event.compute = Seconds(std::max(0.0, placed.at - now) * 1e-6);
      now = std::max(now, placed.at + placed.blocked);
      events.push_back(std::move(placed.event));
    }
    events.push_back(event(Event::Kind::kEnd));
    return events;
  }

 private:
  void find_steps() {
    steps_ = trace_.steps;
    if (!steps_.empty()) return;
    // From the end of one of the optimiser's steps to the end of the next.
    for (std::size_t i = 1; i < trace_.optimiser_steps.size(); ++i) {
      const double begin = trace_.optimiser_steps[i - 1].end;
      if (steps_.empty() || begin >= steps_.back().end)
        steps_.push_back({begin, trace_.optimiser_steps[i].end});
    }
    if (steps_.empty())
      refuse_trace(
          path_, "it has no whole step: no ProfilerStep, and fewer than two steps of an optimiser",
          "call step() of the profiler after each step");
  }

  Event event(Event::Kind kind) const {
    Event event;
    event.kind = kind;
    event.rank = trace_.rank;
    return event;
  }
  void place(Placed placed) {
    placed.order = static_cast<int>(placed_.size());
    placed_.push_back(std::move(placed));
  }

  /// Where the host comes to the optimiser's step, or to the end of the profiler's.
  double latest_wait(double called) const {
    double latest = steps_.back().end;
    for (const Span& step : steps_)
      if (step.end > called) {
        latest = step.end;
        break;
      }
    for (const Span& step : trace_.optimiser_steps)
      if (step.begin > called) return std::min(latest, step.begin);
    return latest;
  }

  /// Where the bucket of `call` is copied back; kNever where that is not seen. Buckets are copied
  /// in the order of their calls, each completely.
  double copied_back(const TracedCall& call) {
    if (call.call.kind != CallKind::kAllReduce) return kNever;
    const auto& uses = trace_.uses;
    const auto first = static_cast<std::size_t>(
        std::ranges::lower_bound(uses.begin() + static_cast<std::ptrdiff_t>(next_use_), uses.end(),
                                 call.called, {}, &Use::at) -
        uses.begin());
    const std::int64_t whole = copied_[first] + call.call.elements;
    const auto end = std::ranges::lower_bound(copied_.begin() + static_cast<std::ptrdiff_t>(first),
                                              copied_.end(), whole);
    if (end == copied_.end() || *end != whole || first == uses.size()) return kNever;
    next_use_ = static_cast<std::size_t>(end - copied_.begin());
    return uses[first].at;
  }

  void place_calls() {
    std::int64_t number = 0;
    for (const TracedCall& traced : trace_.calls) {
      if (traced.called < steps_.front().begin || traced.called >= steps_.back().end) continue;
      Event call = event(Event::Kind::kCall);
      call.call = traced.call;
      call.call.number = ++number;
      place({lane_.at(traced.called), 0, 0, call});
      Event wait = event(Event::Kind::kWait);
      wait.waited = {number};
      place_wait(traced, std::move(wait));
    }
  }

  void place_wait(const TracedCall& call, Event wait) {
    const double latest = latest_wait(call.called), ready = lane_.at(call.called);
    if (call.waits) return place_wait_at(call, call.returned, std::move(wait));
    if (const double copied = copied_back(call); copied <= latest)
      return place_wait_at(call, copied, std::move(wait));
    if (const Span idle = lane_.idle_until(call.arrived, ready, lane_.at(latest), call.thread);
        idle.begin != kNever)
      return place({idle.begin, idle.end - idle.begin, 0, std::move(wait)});
    place_wait_at(call, latest, std::move(wait));
  }

  void place_wait_at(const TracedCall& call, double host, Event wait) {
    const Span idle = lane_.idle_around(host, call.thread);
    // A call that ends an operation begins the idle time after it.
    const double begin = std::max(idle.begin, lane_.at(call.called));
    const double blocked =
        std::clamp(std::min(idle.end, call.arrived) - begin, 0.0, std::max(0.0, idle.end - begin));
    place({std::max(begin, idle.begin), blocked, 0, std::move(wait)});
  }

  const Trace& trace_;
  Lane lane_;
  std::string path_;
  std::vector<Span> steps_;
  std::vector<Placed> placed_;
  std::vector<std::int64_t> copied_;  ///< [use]: elements of all uses before it
  std::size_t next_use_ = 0;
};

}  // namespace

std::vector<Event> events_of(const Trace& trace, const std::string& path) {
  return Placing(trace, path).events();
}

}  // namespace gradwire::bridge::kineto
