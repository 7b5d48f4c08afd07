#include "results/prediction/link_speeds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "results/export/csv.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr double kErrorAllowed = 0.1;

struct Row {
  std::string method;
  BitsPerSecond bandwidth{0};
  double share = 1;
  Seconds step{0};
};

std::vector<Row> rows_of(const CsvTable& table) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.rows(); ++i)
    rows.push_back({table.text(i, "method"), BitsPerSecond(1e9 * table.positive(i, "gbps")),
                    table.positive(i, "share"), Seconds(table.positive(i, "step_s"))});
  return rows;
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

ReproductionRow judged(const Row& row, Seconds predicted, const char* what, bool control) {
  ReproductionRow result;
  result.name =
      "paddle-dgc." + row.method + "_" + figure(row.bandwidth.value() / 1e9) + "gbps." + what;
  result.method = control ? "dense messages" : "compute and bits of the dense rows";
  result.claim =
      "measured " + figure(row.step.value()) + " s, here " + figure(predicted.value()) + " s";
  result.value = std::abs(predicted.value() / row.step.value() - 1);
  result.provenance = name_of(Provenance::kPredicted);
  result.pass_mark = PassMark{{}, kErrorAllowed};
  result.negative_control = control;
  return result;
}

}  // namespace

LinkStep link_step_of(BitsPerSecond fast, Seconds with_fast, BitsPerSecond slow,
                      Seconds with_slow) {
  const double bits = (with_slow - with_fast).value() / (1 / slow.value() - 1 / fast.value());
  return {with_fast - Seconds(bits / fast.value()), bits};
}

std::vector<ReproductionRow> reproduce_paddle_dgc(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"method", "gbps", "share", "step_s"}, {});
  std::vector<Row> dense, others;
  for (Row& row : rows_of(table)) (row.share == 1 ? dense : others).push_back(std::move(row));
  std::ranges::sort(dense, [](const Row& a, const Row& b) { return a.bandwidth > b.bandwidth; });
  if (dense.size() < 3 || dense[0].bandwidth == dense[1].bandwidth)
    throw Error(ErrorKind::kFailure, "reproduce", file,
                "it has no dense steps at three bandwidths");
  const LinkStep step =
      link_step_of(dense[0].bandwidth, dense[0].step, dense[1].bandwidth, dense[1].step);
  std::vector<ReproductionRow> rows;
  for (std::size_t i = 2; i < dense.size(); ++i)
    rows.push_back(judged(dense[i], step.time(dense[i].bandwidth), "error", false));
  for (const Row& row : others)
    rows.push_back(judged(row, step.time(row.bandwidth, row.share), "error", false));
  const auto slowest = std::ranges::min_element(
      others, [](const Row& a, const Row& b) { return a.bandwidth < b.bandwidth; });
  if (slowest != others.end())
    rows.push_back(judged(*slowest, step.time(slowest->bandwidth), "as_if_dense", true));
  return rows;
}

}  // namespace gradwire::results
