#include "results/prediction/stored_summary.h"

#include <algorithm>
#include <map>
#include <string>

#include "results/report/data.h"
#include "results/runs/scenario_view.h"
#include "results/runs/summary.h"

namespace gradwire::results {
namespace {

constexpr const char* kPrefix = "summary_";

/// Of more buckets only totals are kept.
constexpr std::size_t kMostBuckets = 256;

struct BucketField {
  const char* name;
  const char* unit;
  double BucketSummary::*value;
};
constexpr BucketField kBucketFields[] = {
    {"backward_s", "s", &BucketSummary::backward_s},
    {"encode_s", "s", &BucketSummary::encode_s},
    {"decode_s", "s", &BucketSummary::decode_s},
    {"add_s", "s", &BucketSummary::add_s},
    {"message_bytes", "B", &BucketSummary::message_bytes},
    {"pull_bytes", "B", &BucketSummary::pull_bytes},
    {"prelude_bytes", "B", &BucketSummary::prelude_bytes},
    {"scale_s", "s", &BucketSummary::scale_s},
};

struct StepField {
  const char* name;
  const char* unit;
  double StepSummary::*value;
};
constexpr StepField kStepFields[] = {
    {"forward_s", "s", &StepSummary::forward_s},
    {"update_s", "s", &StepSummary::update_s},
    {"compute_spread", "", &StepSummary::compute_spread},
    {"slowest", "", &StepSummary::slowest},
    {"bandwidth_bytes_per_s", "B/s", &StepSummary::bandwidth},
    {"server_bandwidth_bytes_per_s", "B/s", &StepSummary::server_bandwidth},
    {"path_delay_s", "s", &StepSummary::delay_s},
    {"forwarding_s", "s", &StepSummary::forwarding_s},
    {"path_loss", "", &StepSummary::loss},
    {"rate_spread", "", &StepSummary::rate_spread},
    {"segment_bytes", "B", &StepSummary::segment_bytes},
    {"wire_segment_bytes", "B", &StepSummary::wire_segment_bytes},
    {"timeout_s", "s", &StepSummary::timeout_s},
    {"delayed_ack_s", "s", &StepSummary::delayed_ack_s},
};

/// Of what was assumed; stored only where something was.
struct RangeField {
  const char* name;
  PlausibleRange AssumedFigures::*range;
};
constexpr RangeField kRangeFields[] = {
    {"compute_range", &AssumedFigures::compute},
    {"coding_range", &AssumedFigures::coding},
};

/// Names of a path's figures, and what databases before schema version 3 call them.
constexpr std::pair<const char*, const char*> kRenamed[] = {{"path_delay_s", "delay_s"},
                                                            {"path_loss", "loss"}};

double total(const StepSummary& step, double BucketSummary::*value) {
  double sum = 0;
  for (const BucketSummary& bucket : step.buckets) sum += bucket.*value;
  return sum;
}

/// "message_bytes_3": the figure of the fourth bucket.
std::string name_in_bucket(const BucketField& field, std::size_t bucket) {
  return std::string(field.name) + "_" + std::to_string(bucket);
}

bool all_equal(const StepSummary& step, double BucketSummary::*value) {
  for (const BucketSummary& bucket : step.buckets)
    if (bucket.*value != step.buckets.front().*value) return false;
  return true;
}

/// The buckets as equal ones, and as what they are where they differ.
std::vector<BucketSummary> buckets_of(const std::map<std::string, double>& figures) {
  const auto figure = [&](const std::string& name) {
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional(found->second);
  };
  const double count = *figure("buckets");
  std::vector<BucketSummary> buckets(static_cast<std::size_t>(count));
  for (std::size_t b = 0; b < buckets.size(); ++b)
    for (const BucketField& field : kBucketFields)
      buckets[b].*field.value =
          figure(name_in_bucket(field, b)).value_or(figure(field.name).value_or(0) / count);
  return buckets;
}

/// "way_2_ring-all-reduce": the third bucket goes another way than most bytes.
std::string name_of_way(std::size_t bucket, ExchangeKind way) {
  return "way_" + std::to_string(bucket) + "_" + std::string(name_of(way));
}

void take_ways(const std::map<std::string, double>& figures, std::vector<BucketSummary>& buckets) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const std::string start = "way_" + std::to_string(b) + "_";
    const auto found = figures.lower_bound(start);
    ExchangeKind way{};
    if (found != figures.end() && found->first.starts_with(start) &&
        exchange_kind(found->first.substr(start.size()), way))
      buckets[b].exchange = way;
  }
}

struct PathField {
  const char* name;
  double HopPath::*value;
};
constexpr PathField kPathFields[] = {
    {"bandwidth", &HopPath::bandwidth}, {"shared", &HopPath::shared},
    {"latency", &HopPath::latency},     {"delay", &HopPath::delay},
    {"loss", &HopPath::loss},           {"alike", &HopPath::alike},
};

/// Of closed forms: since 2 links that differ have their own paths, before they had their mean.
constexpr const char* kForm = "form";
constexpr double kThisForm = 2;

/// "path_ring-all-reduce_0_1_": the second path of the first hops.
std::string name_of_path(ExchangeKind kind, std::size_t hop, std::size_t path) {
  return "path_" + std::string(name_of(kind)) + "_" + std::to_string(hop) + "_" +
         std::to_string(path) + "_";
}

/// Empty where the figures have no such path.
std::optional<HopPath> path_of(const std::map<std::string, double>& figures,
                               const std::string& name) {
  HopPath path;
  for (const PathField& field : kPathFields) {
    const auto found = figures.find(name + field.name);
    if (found == figures.end()) return std::nullopt;
    path.*field.value = found->second;
  }
  return path;
}

void take_paths(const std::map<std::string, double>& figures, StepSummary& step) {
  for (int k = 0; k <= static_cast<int>(ExchangeKind::kScatterReduce); ++k) {
    ExchangePaths paths{static_cast<ExchangeKind>(k), {}};
    while (path_of(figures, name_of_path(paths.kind, paths.hops.size(), 0))) {
      std::vector<HopPath>& hop = paths.hops.emplace_back();
      while (const auto path =
                 path_of(figures, name_of_path(paths.kind, paths.hops.size() - 1, hop.size())))
        hop.push_back(*path);
    }
    if (!paths.hops.empty()) step.paths.push_back(std::move(paths));
  }
}

constexpr const char* kCorrection = "correction_";
constexpr const char* kPreludeCorrection = "prelude_correction_";

/// "correction_bytes_0", "correction_factor_0", ...
Correction correction_of(const std::map<std::string, double>& figures, const std::string& name) {
  Correction correction;
  for (int i = 0;; ++i) {
    const auto bytes = figures.find(name + "bytes_" + std::to_string(i));
    const auto factor = figures.find(name + "factor_" + std::to_string(i));
    if (bytes == figures.end() || factor == figures.end()) return correction;
    correction.add(bytes->second, factor->second);
  }
}

}  // namespace

std::vector<MetricRow> summary_metrics(const StepSummary& step, const RunOrigins& origins) {
  std::vector<MetricRow> rows;
  const auto add = [&](const std::string& name, double value, const char* unit) {
    rows.push_back(labelled(-1, kPrefix + name, value, unit, origins));
  };
  add("exchange_" + std::string(name_of(step.exchange)), 1, "");
  add("workers", step.workers, "");
  add("group", step.group, "");
  add("overlap", step.overlap ? 1 : 0, "");
  add("buckets", static_cast<double>(step.buckets.size()), "");
  for (const StepField& field : kStepFields) add(field.name, step.*field.value, field.unit);
  for (const RangeField& field : kRangeFields) {
    const PlausibleRange& range = step.assumed.*field.range;
    if (range.certain()) continue;
    add(std::string(field.name) + "_low", range.low, "");
    add(std::string(field.name) + "_high", range.high, "");
  }
  for (const BucketField& field : kBucketFields) {
    add(field.name, total(step, field.value), field.unit);
    if (step.buckets.size() > kMostBuckets || all_equal(step, field.value)) continue;
    for (std::size_t b = 0; b < step.buckets.size(); ++b)
      add(name_in_bucket(field, b), step.buckets[b].*field.value, field.unit);
  }
  for (std::size_t b = 0; b < step.buckets.size() && step.buckets.size() <= kMostBuckets; ++b)
    if (const auto way = step.buckets[b].exchange) add(name_of_way(b, *way), 1, "");
  add(kForm, kThisForm, "");
  for (const ExchangePaths& paths : step.paths)
    for (std::size_t h = 0; h < paths.hops.size(); ++h)
      for (std::size_t p = 0; p < paths.hops[h].size(); ++p)
        for (const PathField& field : kPathFields)
          add(name_of_path(paths.kind, h, p) + field.name, paths.hops[h][p].*field.value, "");
  const auto add_correction = [&](const std::string& name, const Correction& correction) {
    for (std::size_t i = 0; i < correction.value.size(); ++i) {
      add(name + "bytes_" + std::to_string(i), correction.value[i], "B");
      add(name + "factor_" + std::to_string(i), correction.factor[i], "");
    }
  };
  add_correction(kCorrection, step.correction);
  add_correction(kPreludeCorrection, step.prelude_correction);
  return rows;
}

std::optional<StepSummary> stored_summary(std::span<const MetricRow> metrics) {
  std::map<std::string, double> figures;
  StepSummary step;
  bool known = false;
  const std::string exchange = std::string(kPrefix) + "exchange_";
  for (const MetricRow& row : metrics) {
    if (row.name.starts_with(exchange))
      known = exchange_kind(row.name.substr(exchange.size()), step.exchange);
    else if (row.name.starts_with(kPrefix))
      figures[row.name.substr(std::string(kPrefix).size())] = row.value;
  }
  if (!known || figures["buckets"] < 1) return std::nullopt;
  for (const auto& [name, earlier] : kRenamed)
    if (const auto old = figures.find(earlier); old != figures.end())
      figures.try_emplace(name, old->second);
  step.workers = static_cast<int>(figures["workers"]);
  step.group = static_cast<int>(figures["group"]);
  step.overlap = figures["overlap"] != 0;
  // Earlier runs do not say these.
  figures.try_emplace("slowest", step.slowest);
  figures.try_emplace("segment_bytes", step.segment_bytes);
  figures.try_emplace("wire_segment_bytes", step.wire_segment_bytes);
  figures.try_emplace("timeout_s", step.timeout_s);
  figures.try_emplace("delayed_ack_s", step.delayed_ack_s);
  for (const StepField& field : kStepFields) step.*field.value = figures[field.name];
  for (const RangeField& field : kRangeFields) {
    const auto low = figures.find(std::string(field.name) + "_low"),
               high = figures.find(std::string(field.name) + "_high");
    if (low != figures.end() && high != figures.end())
      step.assumed.*field.range = {low->second, high->second};
  }
  step.buckets = buckets_of(figures);
  take_ways(figures, step.buckets);
  take_paths(figures, step);
  step.correction = correction_of(figures, kCorrection);
  step.prelude_correction = correction_of(figures, kPreludeCorrection);
  return step;
}

std::optional<StepSummary> stored_summary(std::span<const MetricRow> metrics,
                                          const std::string& scenario_json) {
  const bool of_this_form = std::ranges::any_of(metrics, [](const MetricRow& row) {
    return row.name == std::string(kPrefix) + kForm && row.value == kThisForm;
  });
  // A star's links are all alike, and have the same figures in both forms.
  if (!of_this_form && scenario_value(scenario_json, "/network/topology") != "star")
    return std::nullopt;
  return stored_summary(metrics);
}

std::vector<StepPoint> stored_points(const Store& store, std::span<const RunId> runs,
                                     std::vector<std::string>& left_out) {
  std::vector<StepPoint> points;
  for (const RunId id : runs) {
    const auto run = store.run(id);
    if (!run || run->status != RunStatus::kFinished || !run->step_time_s) continue;
    const std::string name = "run " + std::to_string(id);
    const auto metrics = store.metrics(id);
    const auto step = stored_summary(metrics, run->header.scenario_json);
    if (!step) {
      left_out.push_back(name + (stored_summary(metrics)
                                     ? ": an earlier version summed its step up, where links that "
                                       "differ had their mean; run it again"
                                     : ": no summary of its step is stored"));
      continue;
    }
    const auto times = step_times_of(store.steps(id));
    points.push_back({name, *step, *run->step_time_s, relative_error_of(statistic(times)),
                      provenance_of(time_provenance(run->header, metrics)),
                      static_cast<int>(times.size())});
  }
  return points;
}

}  // namespace gradwire::results
