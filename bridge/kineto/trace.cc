#include "bridge/kineto/trace.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bridge/kineto/trace_json.h"

namespace gradwire::bridge::kineto {

void refuse_trace(const std::string& path, const std::string& why, const std::string& hint) {
  throw Error(ErrorKind::kFailure, "read trace", path, why, hint);
}

namespace {

using nlohmann::json;

bool is_time(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() && found->get<double>() >= 0 &&
         found->get<double>() < 1e18;
}

std::int64_t number_of(const json& object, const char* key, std::int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                             : otherwise;
}

/// A collective of a trace before its parts are put together: what the call, the record of its
/// parameters and the backend's work say.
struct Found {
  RawEvent event;
  Mentioned mentioned;
};

/// Takes the events of a file one by one, in any order.
class Collector {
 public:
  explicit Collector(std::string path) : path_(std::move(path)) {}

  void take(const json& event) {
    if (!event.is_object() || text_of(event, "ph") != "X" || !is_time(event, "ts") ||
        !is_time(event, "dur"))
      return;
    const double begin = event["ts"].get<double>();
    RawEvent raw{.category = text_of(event, "cat"),
                 .name = text_of(event, "name"),
                 .span = {begin, begin + event["dur"].get<double>()},
                 .thread = number_of(event, "tid", 0)};
    const auto found = event.find("args");
    const json& args = found != event.end() && found->is_object() ? *found : no_args_;
    if (raw.category == "cpu_op")
      take_operation(std::move(raw), args);
    else if (raw.category == "user_annotation")
      take_annotation(std::move(raw), args);
    else if (raw.category == "kernel" || raw.category.starts_with("gpu_mem"))
      take_kernel(raw, args);
    else if (raw.category == "cuda_runtime" || raw.category == "cuda_driver")
      launches_[number_of(args, "correlation", -1)] = raw.span.begin;
  }

  Trace finish(const json& info, const TracedRank& rank);

 private:
  void take_operation(RawEvent raw, const json& args) {
    if (auto call = mentioned_by_call(raw, args)) {
      calls_.push_back({raw, *call});
    } else if (auto record = mentioned_by_record(raw, args)) {
      records_.push_back({raw, *record});
    } else if (raw.name.ends_with("reducer::copy_bucket_to_grad")) {
      const auto dims = args.find("Input Dims");
      const auto elements = dims == args.end() ? std::nullopt : elements_of(*dims);
      trace_.uses.push_back({raw.span.begin, elements.value_or(0), raw.thread});
    }
    trace_.operations[raw.thread].push_back({raw.span, raw.name == "aten::as_strided"});
  }
  void take_annotation(RawEvent raw, const json& args) {
    if (raw.name.starts_with("ProfilerStep#"))
      trace_.steps.push_back(raw.span);
    else if (raw.name.starts_with("Optimizer.step#"))
      trace_.optimiser_steps.push_back(raw.span);
    else if (auto work = mentioned_by_work(raw, args))
      works_.push_back({std::move(raw), *work});
  }
  void take_kernel(const RawEvent& raw, const json& args) {
    const std::int64_t correlation = number_of(args, "correlation", -1);
    if (raw.name.starts_with("nccl") || raw.name.starts_with("rccl"))
      arrivals_[correlation] = {raw.span.end, number_of(args, "External id", -1)};
    else
      kernels_.push_back({raw.span, correlation});
  }

  struct TracedKernel {
    Span span;
    std::int64_t correlation = 0;
  };
  struct Arrival {
    double at = 0;
    std::int64_t external = 0;
  };

  void take_groups(const json& info);
  void complete_groups();
  void join_calls();
  void join_kernels();
  TracedCall joined(const Found& call, const Found* record, const Found* work) const;
  void take_group(const Mentioned& mentioned, Call& call) const;

  std::string path_;
  Trace trace_;
  json no_args_ = json::object();
  std::vector<Found> calls_, records_, works_;
  std::vector<TracedKernel> kernels_;
  std::unordered_map<std::int64_t, double> launches_;   ///< by correlation
  std::unordered_map<std::int64_t, Arrival> arrivals_;  ///< by correlation
};

void Collector::take_groups(const json& info) {
  trace_.backend = text_of(info, "backend");
  const auto groups = info.find("pg_config");
  if (groups == info.end() || !groups->is_array()) return;
  for (const json& group : *groups) {
    if (!group.is_object()) continue;
    const auto ranks = group.find("ranks");
    std::vector<int> members;
    if (ranks != group.end() && ranks->is_array())
      for (const json& rank : *ranks)
        if (rank.is_number_integer() && rank >= 0 && rank < trace_.world)
          members.push_back(rank.get<int>());
    if (!members.empty()) trace_.groups[text_of(group, "pg_name")] = std::move(members);
  }
}

/// Those that calls' records name, and where nothing names any, as before PyTorch 2.3: the world.
void Collector::complete_groups() {
  for (const Found& record : records_)
    if (!record.mentioned.ranks.empty())
      trace_.groups.try_emplace(record.mentioned.group, record.mentioned.ranks);
  const bool named = std::ranges::any_of(
      records_, [](const Found& record) { return !record.mentioned.group.empty(); });
  if (!trace_.groups.empty() || named || (calls_.empty() && records_.empty())) return;
  trace_.names_groups = false;
  std::vector<int>& all = trace_.groups[""];
  for (int rank = 0; rank < trace_.world; ++rank) all.push_back(rank);
}

/// Which group it is in: the one that its record names, or the only one there is.
void Collector::take_group(const Mentioned& mentioned, Call& call) const {
  if (!mentioned.group.empty() || !mentioned.ranks.empty()) {
    call.group = mentioned.group;
  } else if (trace_.groups.size() == 1) {
    call.group = trace_.groups.begin()->first;
  } else {
    refuse_trace(path_, "it does not say in which of its " + std::to_string(trace_.groups.size()) +
                            " process groups it calls " + std::string(name_of(call.kind)));
  }
}

TracedCall Collector::joined(const Found& found, const Found* record, const Found* work) const {
  Mentioned all = found.mentioned;
  for (const Found* more : {record, work}) {
    if (more == nullptr) continue;
    const Mentioned& said = more->mentioned;
    if (!all.elements || more == record)
      all.elements = said.elements ? said.elements : all.elements;
    if (all.type.empty() || more == record) all.type = said.type.empty() ? all.type : said.type;
    if (!said.group.empty()) all.group = said.group;
    if (!said.ranks.empty()) all.ranks = said.ranks;
    if (!said.parts.empty()) all.parts = said.parts;
    if (said.peer >= 0) all.peer = said.peer;
  }
  if (!all.elements)
    refuse_trace(path_, "it does not say how large a " + std::string(name_of(all.kind)) + " is",
                 "record it with record_shapes=True");
  TracedCall traced{.called = found.event.span.begin,
                    .returned = found.event.span.end,
                    .arrived = work != nullptr ? work->event.span.end : kNever,
                    .waits = all.waits.value_or(is_point_to_point(all.kind)),
                    .thread = found.event.thread};
  Call& call = traced.call;
  call.kind = all.kind;
  call.elements = *all.elements;
  call.type = all.type.empty() ? "float" : all.type;
  call.width = std::max(1, width_of(call.type));
  call.parts = all.parts;
  call.peer = all.peer;
  take_group(all, call);
  return traced;
}

/// Records lie within their calls; works come in the order of calls.
void Collector::join_calls() {
  const auto by_begin = [](const Found& a, const Found& b) {
    return a.event.span.begin < b.event.span.begin;
  };
  for (auto* list : {&calls_, &records_, &works_}) std::ranges::stable_sort(*list, by_begin);
  // A backend that is asked for directly leaves records alone.
  if (calls_.empty()) calls_ = records_;
  std::size_t record = 0;
  std::deque<const Found*> works;
  for (const Found& work : works_) works.push_back(&work);
  for (const Found& call : calls_) {
    const Found* recorded = nullptr;
    while (record < records_.size() && records_[record].event.span.begin <= call.event.span.end) {
      const Found& candidate = records_[record++];
      if (candidate.event.span.begin >= call.event.span.begin && recorded == nullptr &&
          candidate.mentioned.kind == call.mentioned.kind)
        recorded = &candidate;
    }
    const Found* worked = nullptr;
    const auto next = std::ranges::find_if(works, [&](const Found* work) {
      return work->mentioned.kind == call.mentioned.kind &&
             work->event.span.end >= call.event.span.begin;
    });
    if (next != works.end()) worked = *next, works.erase(next);
    trace_.calls.push_back(joined(call, recorded, worked));
  }
}

/// When each kernel was launched, and when the data of each collective's had arrived: kernels of
/// collectives follow one another in the order of their calls.
void Collector::join_kernels() {
  for (const TracedKernel& kernel : kernels_) {
    const auto launch = launches_.find(kernel.correlation);
    trace_.kernels.push_back(
        {kernel.span, launch == launches_.end() ? kernel.span.begin : launch->second});
  }
  std::ranges::stable_sort(trace_.kernels, {}, &Kernel::launched);
  std::vector<std::pair<double, double>> arrived;  // launched, at
  for (const auto& [correlation, arrival] : arrivals_)
    if (const auto launch = launches_.find(correlation); launch != launches_.end())
      arrived.emplace_back(launch->second, arrival.at);
  std::ranges::sort(arrived);
  std::size_t next = 0;
  for (TracedCall& call : trace_.calls) {
    while (next < arrived.size() && arrived[next].first < call.called) ++next;
    while (next < arrived.size() && arrived[next].first <= call.returned)
      call.arrived = arrived[next++].second;
  }
}

Trace Collector::finish(const json& info, const TracedRank& rank) {
  trace_.rank = rank.rank;
  trace_.world = rank.world;
  take_groups(info);
  complete_groups();
  join_calls();
  join_kernels();
  const auto by_begin = [](const Span& a, const Span& b) { return a.begin < b.begin; };
  for (auto* spans : {&trace_.steps, &trace_.optimiser_steps}) std::ranges::sort(*spans, by_begin);
  for (auto& [thread, spans] : trace_.operations) std::ranges::sort(spans, by_begin);
  std::ranges::sort(trace_.uses, {}, &Use::at);
  for (Use& use : trace_.uses) {
    const auto& operations = trace_.operations[use.thread];
    auto next = std::ranges::lower_bound(operations, use.at, {}, &Operation::begin);
    while (next != operations.begin() && std::prev(next)->views) use.at = (--next)->begin;
  }
  return std::move(trace_);
}

/// Takes the events as they come, and gives the rest of the file: a whole trace in memory is ten
/// times the file.
template <class TakeEvent>
json read_events(std::string_view text, const std::string& path, TakeEvent&& take) {
  const auto filter = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth != 2 || event != json::parse_event_t::object_end || !parsed.contains("ph"))
      return true;
    take(parsed);
    return false;
  };
  try {
    json rest = json::parse(text, filter);
    if (!rest.is_object() || !rest.contains("traceEvents"))
      refuse_trace(path, "it has no \"traceEvents\"");
    return rest;
  } catch (const json::exception& error) {
    refuse_trace(path, "it is no JSON: " + std::string(error.what()));
  }
}

json distributed_info(const json& rest) {
  const auto info = rest.find("distributedInfo");
  return info != rest.end() && info->is_object() ? *info : json::object();
}

/// The object that begins at the front of the text; empty where it does not end.
std::string_view object_at_front(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return text.substr(0, i + 1);
    }
  }
  return {};
}

TracedRank rank_in(const json& info, const std::string& path) {
  const auto rank = number_of(info, "rank", -1), world = number_of(info, "world_size", -1);
  if (world < 1 || world > kMostRanks || rank < 0 || rank >= world)
    refuse_trace(path, "it does not say which rank of how many it is of (\"distributedInfo\")",
                 "record it after init_process_group");
  return {static_cast<int>(rank), static_cast<int>(world)};
}

}  // namespace

Trace parse_trace(std::string_view text, const std::string& path) {
  Collector collector(path);
  try {
    const json rest = read_events(text, path, [&](const json& event) { collector.take(event); });
    const json info = distributed_info(rest);
    return collector.finish(info, rank_in(info, path));
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(path) != std::string_view::npos) throw;
    throw Error(ErrorKind::kFailure, "read trace", path, error.what());
  }
}

TracedRank parse_rank(std::string_view text, const std::string& path) {
  // Its object alone: a trace may have a gigabyte.
  const std::size_t named = text.find("\"distributedInfo\"");
  const std::size_t begin = named == std::string_view::npos ? named : text.find('{', named);
  json info = json::object();
  if (begin != std::string_view::npos)
    info = json::parse(object_at_front(text.substr(begin)), nullptr, false);
  return rank_in(info.is_object() ? info : json::object(), path);
}

}  // namespace gradwire::bridge::kineto
