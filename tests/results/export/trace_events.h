#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// The Trace Event Format, as strictly as Perfetto's importer and Chrome's viewer need it of the
/// events that traces here have: complete events (X), counters (C) and metadata (M).
/// Source: "Trace Event Format", D. Sinclair and others, 2016; what an importer does with slices
/// that overlap is Perfetto's (it drops the later one and counts an error).
namespace gradwire::testing {

class TraceCheck {
 public:
  using Json = nlohmann::json;

  /// What is wrong; empty for a trace that viewers take whole.
  static std::vector<std::string> faults(const Json& trace) {
    TraceCheck check;
    check.take(trace);
    return std::move(check.faults_);
  }

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;
  struct Slice {
    std::int64_t start_ns, end_ns;
    std::string name;
  };

  void fault(const std::string& what) { faults_.push_back(at_ + what); }
  bool need(bool holds, const std::string& what) {
    if (!holds) fault(what);
    return holds;
  }

  void take(const Json& trace) {
    if (!need(trace.is_object() && trace.contains("traceEvents") && trace["traceEvents"].is_array(),
              "no array traceEvents"))
      return;
    for (const auto& [key, value] : trace.items())
      need(key == "traceEvents" || (key == "displayTimeUnit" && (value == "ms" || value == "ns")) ||
               (key == "otherData" && value.is_object()),
           "unknown member " + key);
    std::size_t i = 0;
    for (const Json& event : trace["traceEvents"]) {
      at_ = "event " + std::to_string(i++) + ": ";
      take_event(event);
    }
    at_.clear();
    need(i > 0, "no event");
    for (const auto& [thread, slices] : slices_) check_nesting(thread, slices);
    check_names();
  }

  void take_event(const Json& event) {
    if (!need(event.is_object(), "no object")) return;
    const std::string phase = event.value("ph", Json()).is_string() ? event["ph"] : "";
    need(event.value("name", Json()).is_string() && event["name"] != "", "no name");
    if (!need(event.value("pid", Json()).is_number_integer(), "pid is no integer")) return;
    if (phase != "C" && !need(event.value("tid", Json()).is_number_integer(), "tid is no integer"))
      return;
    need(event.value("args", Json()).is_object(), "no args");
    if (phase == "X") return take_slice(event);
    if (phase == "C") return take_counter(event);
    if (phase == "M") return take_metadata(event);
    fault("ph \"" + phase + "\"");
  }

  /// Times are in microseconds of three decimals: whole nanoseconds.
  bool is_time(const Json& event, const char* key) {
    if (!need(event.value(key, Json()).is_number(), std::string(key) + " is no number"))
      return false;
    const double ns = 1e3 * event[key].get<double>();
    return need(std::isfinite(ns) && ns >= 0, std::string(key) + " is negative") &&
           need(std::abs(ns - std::round(ns)) <= 1e-6 + 1e-12 * ns,
                std::string(key) + " is no whole nanosecond");
  }

  void only(const Json& event, const std::set<std::string>& keys) {
    for (const auto& [key, value] : event.items())
      need(keys.contains(key), "unknown member " + key);
  }

  void take_slice(const Json& event) {
    only(event, {"name", "ph", "cat", "ts", "dur", "pid", "tid", "args"});
    need(event.value("cat", Json()).is_string() && event["cat"] != "", "no category");
    if (!is_time(event, "ts") || !is_time(event, "dur")) return;
    const auto ns = [&](const char* key) {
      return static_cast<std::int64_t>(std::llround(1e3 * event[key].get<double>()));
    };
    slices_[thread_of(event)].push_back({ns("ts"), ns("ts") + ns("dur"), event["name"]});
  }

  void take_counter(const Json& event) {
    only(event, {"name", "ph", "ts", "pid", "args"});
    if (!is_time(event, "ts")) return;
    need(!event["args"].empty(), "a counter without a value");
    for (const auto& [key, value] : event["args"].items())
      need(value.is_number(), "the counter's " + key + " is no number");
    double& last = counters_.try_emplace({event["pid"], event["name"]}, 0.0).first->second;
    need(event["ts"].get<double>() >= last, "the counter goes back in time");
    last = event["ts"];
  }

  void take_metadata(const Json& event) {
    only(event, {"name", "ph", "pid", "tid", "args"});
    const std::string name = event["name"];
    const bool sorts = name == "process_sort_index" || name == "thread_sort_index";
    if (!need(sorts || name == "process_name" || name == "thread_name", "metadata " + name)) return;
    const Json value = event["args"].value(sorts ? "sort_index" : "name", Json());
    need(event["args"].size() == 1 && (sorts ? value.is_number_integer() : value.is_string()),
         "the wrong args of " + name);
    const Thread thread = {event["pid"],
                           name.starts_with("thread") ? event["tid"].get<std::int64_t>() : -1};
    need(named_.insert({name, thread}).second, name + " is given twice");
  }

  static Thread thread_of(const Json& event) { return {event["pid"], event["tid"]}; }

  /// Slices of a thread lie behind each other, or one whole within another.
  void check_nesting(const Thread& thread, std::vector<Slice> slices) {
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    });
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end_ns <= slice.start_ns) open.pop_back();
      need(open.empty() || slice.end_ns <= open.back().end_ns,
           slice.name + " overlaps " + (open.empty() ? "" : open.back().name) + " on thread " +
               std::to_string(thread.second) + " of process " + std::to_string(thread.first));
      open.push_back(slice);
    }
  }

  void check_names() {
    const auto named = [&](const char* what, std::int64_t process, std::int64_t thread) {
      need(named_.contains({what, {process, thread}}), "process " + std::to_string(process) +
                                                           ", thread " + std::to_string(thread) +
                                                           ": no " + what);
    };
    for (const auto& [thread, slices] : slices_) {
      named("process_name", thread.first, -1);
      named("thread_name", thread.first, thread.second);
    }
    for (const auto& [counter, last] : counters_) named("process_name", counter.first, -1);
  }

  std::string at_;
  std::vector<std::string> faults_;
  std::map<Thread, std::vector<Slice>> slices_;
  std::map<std::pair<std::int64_t, std::string>, double> counters_;
  std::set<std::pair<std::string, Thread>> named_;
};

}  // namespace gradwire::testing
