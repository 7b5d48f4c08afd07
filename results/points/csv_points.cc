#include "results/points/csv_points.h"

#include <cmath>

#include "base/error.h"
#include "results/prediction/step_model.h"

namespace gradwire::results {
namespace {

constexpr UnitColumn kColumns[] = {
    {"name", Dimension::kText},
    {"workers", Dimension::kCount},
    {"step_time", Dimension::kTime},
    {"samples_per_second", Dimension::kNumber},
    {"images_per_second", Dimension::kNumber},
    {"batch_per_worker", Dimension::kNumber},
    {"relative_error", Dimension::kShare},
    {"exchange", Dimension::kText},
    {"group", Dimension::kCount},
    {"message", Dimension::kBytes},
    {"prelude", Dimension::kBytes},
    {"buckets", Dimension::kCount},
    {"overlap", Dimension::kFlag},
    {"compute", Dimension::kTime},
    {"forward", Dimension::kTime},
    {"backward", Dimension::kTime},
    {"encode", Dimension::kTime},
    {"decode", Dimension::kTime},
    {"add", Dimension::kTime},
    {"update", Dimension::kTime},
    {"compute_spread", Dimension::kShare},
    {"bandwidth", Dimension::kRate},
    {"server_bandwidth", Dimension::kRate},
    {"delay", Dimension::kTime},
    {"loss", Dimension::kShare},
    {"rate_spread", Dimension::kShare},
    {"provenance", Dimension::kText},
};

constexpr double kMostBuckets = 10'000;
constexpr double kForwardShare = 1.0 / 3;  ///< a backward pass costs about two forward passes

/// One row becomes one point.
class Row {
 public:
  Row(const UnitColumns& columns, std::size_t row, const LinkFacts& facts)
      : columns_(columns), row_(row), facts_(facts) {}

  StepPoint point() const {
    StepPoint point;
    const std::string name = columns_.text(row_, "name");
    const std::string line = "line " + std::to_string(columns_.table().line(row_));
    point.name = name.empty() ? line : line + " (" + name + ")";
    point.step = step();
    point.seconds = seconds(point.step.workers);
    point.relative_error = value("relative_error", 0);
    point.provenance = provenance();
    if (!(step_time(point.step, usual_constants()).total_s > 0))
      columns_.refuse(row_, "message", "nothing is computed or exchanged in this row");
    return point;
  }

 private:
  double value(std::string_view name, double missing) const {
    return columns_.value(row_, name).value_or(missing);
  }

  double needed(std::string_view name, const std::optional<double>& fact) const {
    const auto given = columns_.value(row_, name);
    if (!given && fact) return *fact;
    if (!given) columns_.refuse(row_, name, "it is empty", "fill it in");
    return *given;
  }

  StepSummary step() const {
    StepSummary step;
    step.workers = static_cast<int>(needed("workers", std::nullopt));
    step.exchange = exchange();
    step.group = static_cast<int>(value("group", step.group));
    step.overlap = value("overlap", 1) != 0;
    step.update_s = value("update", 0);
    step.compute_spread = value("compute_spread", 0);
    step.bandwidth = needed("bandwidth", facts_.bandwidth);
    if (step.bandwidth <= 0) columns_.refuse(row_, "bandwidth", "it is not above 0");
    step.server_bandwidth = value("server_bandwidth", 0);
    step.delay_s = needed("delay", facts_.delay_s);
    step.loss = value("loss", facts_.loss.value_or(0));
    if (step.loss >= 1) columns_.refuse(row_, "loss", "nothing arrives");
    step.rate_spread = value("rate_spread", 0);
    step.forward_s = value("forward", value("compute", 0) * kForwardShare);
    step.buckets = buckets();
    return step;
  }

  std::vector<BucketSummary> buckets() const {
    const double count = value("buckets", 1);
    if (count > kMostBuckets) columns_.refuse(row_, "buckets", "more than 10,000");
    if (columns_.value(row_, "compute") &&
        (columns_.value(row_, "forward") || columns_.value(row_, "backward")))
      columns_.refuse(row_, "compute", "it stands beside forward or backward",
                      "give the whole, or its parts");
    BucketSummary bucket;
    bucket.message_bytes = needed("message", std::nullopt) / count;
    bucket.prelude_bytes = value("prelude", 0) / count;
    bucket.backward_s = value("backward", value("compute", 0) * (1 - kForwardShare)) / count;
    bucket.encode_s = value("encode", 0) / count;
    bucket.decode_s = value("decode", 0) / count;
    bucket.add_s = value("add", 0) / count;
    return std::vector<BucketSummary>(static_cast<std::size_t>(count), bucket);
  }

  ExchangeKind exchange() const {
    const std::string name = columns_.text(row_, "exchange");
    if (name.empty() && facts_.exchange) return *facts_.exchange;
    ExchangeKind kind{};
    if (!exchange_kind(name, kind))
      columns_.refuse(row_, "exchange",
                      name.empty() ? "it is empty" : "nobody knows \"" + name + "\"",
                      "for example ring, all-gather, server, tree, halving-doubling, two-level");
    return kind;
  }

  double seconds(int workers) const {
    const auto given = columns_.value(row_, "step_time");
    const auto samples = columns_.value(row_, "samples_per_second");
    const auto rate = samples ? samples : columns_.value(row_, "images_per_second");
    if (given.has_value() == rate.has_value())
      columns_.refuse(row_, "step_time",
                      given ? "the row has a step time and a throughput"
                            : "the row has neither a step time nor a throughput",
                      "give one of step_time, samples_per_second and images_per_second");
    if (given && *given <= 0) columns_.refuse(row_, "step_time", "it is not above 0");
    if (given) return *given;
    return workers * needed("batch_per_worker", std::nullopt) / *rate;
  }

  Provenance provenance() const {
    const std::string name = columns_.text(row_, "provenance");
    if (name.empty()) return Provenance::kMeasured;
    for (const Provenance known : {Provenance::kMeasured, Provenance::kSimulated,
                                   Provenance::kEmulated, Provenance::kPublished})
      if (name == name_of(known)) return known;
    columns_.refuse(row_, "provenance", "\"" + name + "\" is no source of points",
                    "measured, simulated, emulated or published");
  }

  const UnitColumns& columns_;
  std::size_t row_;
  const LinkFacts& facts_;
};

void need_column(const UnitColumns& columns, std::string_view name, bool fact,
                 const std::string& remedy) {
  if (columns.has(name) || fact) return;
  throw Error(ErrorKind::kFailure, "read", columns.table().file(),
              "the column " + std::string(name) + " is missing", remedy);
}

}  // namespace

std::span<const UnitColumn> point_columns() {
  return kColumns;
}

PointList points_from_csv(std::string_view text, const std::string& file, const LinkFacts& facts) {
  const CsvTable table(text, file);
  const UnitColumns columns(table, kColumns);
  need_column(columns, "workers", false, "how many exchanged");
  need_column(columns, "message", false, "one worker's encoded bytes a step, such as message_MB");
  need_column(columns, "exchange", facts.exchange.has_value(), "or give --exchange");
  need_column(columns, "bandwidth", facts.bandwidth.has_value(), "or give --bandwidth");
  need_column(columns, "delay", facts.delay_s.has_value(), "or give --delay");
  PointList list;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    list.points.push_back(Row(columns, row, facts).point());
    list.points.back().name = file + " " + list.points.back().name;
  }
  check_points(list);
  return list;
}

}  // namespace gradwire::results
