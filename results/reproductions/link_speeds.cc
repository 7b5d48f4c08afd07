#include "results/reproductions/link_speeds.h"

#include <algorithm>

#include "base/error.h"
#include "results/export/csv.h"
#include "results/reproductions/predicted_row.h"

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

ReproductionRow judged(const Row& row, Seconds predicted, const char* what, bool control) {
  return predicted_row("paddle-dgc." + row.method + "_" +
                           published_figure(row.bandwidth.value() / 1e9) + "gbps." + what,
                       control ? "dense messages" : "compute and bits of the dense rows",
                       row.step.value(), predicted.value(), " s", kErrorAllowed, control);
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
