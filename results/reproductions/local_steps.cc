#include "results/reproductions/local_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "results/export/csv.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr double kBackwardShare = 2.0 / 3;
constexpr double kGridStep = 4.0 / 49;  // of log10: 50 bandwidths from 0.1 to 1,000 Gbit/s
constexpr double kStepsAllowed = 2;     // two papers of the same authors differ by up to two
constexpr double kEntriesWithin = 0.9;
constexpr double kPointsAllowed = 0.002;  // of utilisation, which is printed to 0.1 points

double hidden_of(const LocalStepsPlan& plan) {
  return (kBackwardShare + plan.overlap) * plan.step.value();
}
double bits_of(const LocalStepsPlan& plan) {
  return plan.bits * plan.parameters / plan.parts;
}

LocalStepsPlan plan_at(const CsvTable& table, std::size_t row) {
  LocalStepsPlan plan;
  plan.parameters = table.positive(row, "parameters");
  plan.step = Seconds(table.positive(row, "step_s"));
  plan.parts = table.positive(row, "parts");
  plan.period = table.positive(row, "local_steps") / plan.parts;
  plan.bits = table.positive(row, "bits");
  plan.overlap = table.positive(row, "overlap_steps", 0);
  return plan;
}

/// In steps of the authors' grid.
double steps_off(const LocalStepsPlan& plan, double utilisation, double published_gbps) {
  return std::log10(bandwidth_for(plan, utilisation).value() / (published_gbps * 1e9)) / kGridStep;
}

ReproductionRow row_of(const char* name, std::string method, std::string claim, double value,
                       const PassMark& mark, bool control) {
  ReproductionRow row;
  row.name = name;
  row.method = std::move(method);
  row.claim = std::move(claim);
  row.value = value;
  row.provenance = name_of(Provenance::kPredicted);
  row.pass_mark = mark;
  row.negative_control = control;
  return row;
}

struct Entry {
  LocalStepsPlan plan;
  double utilisation = 0, gbps = 0;
};

/// Share of entries near enough, with each plan changed by `change`.
template <class Change>
double share_within(const std::vector<Entry>& entries, Change&& change) {
  const auto near = std::ranges::count_if(entries, [&](Entry entry) {
    change(entry.plan);
    return std::abs(steps_off(entry.plan, entry.utilisation, entry.gbps)) <= kStepsAllowed;
  });
  return static_cast<double>(near) / static_cast<double>(entries.size());
}

std::string explanation(const CsvTable& table, std::size_t row, const Entry& entry) {
  char text[200];
  std::snprintf(
      text, sizeof text, "%s of %s at %g %%: %.4g Gbit/s published, %.4g here, %+.1f steps",
      table.text(row, "method").c_str(), table.text(row, "model").c_str(), 100 * entry.utilisation,
      entry.gbps, bandwidth_for(entry.plan, entry.utilisation).value() / 1e9,
      steps_off(entry.plan, entry.utilisation, entry.gbps));
  return text;
}

}  // namespace

double utilisation_of(const LocalStepsPlan& plan, BitsPerSecond bandwidth) {
  const double exposed = std::max(0.0, bits_of(plan) / bandwidth.value() - hidden_of(plan));
  const double computing = plan.period * plan.step.value();
  return computing / (computing + exposed);
}

BitsPerSecond bandwidth_for(const LocalStepsPlan& plan, double utilisation) {
  const double exposed = plan.period * plan.step.value() * (1 / utilisation - 1);
  return BitsPerSecond(bits_of(plan) / (exposed + hidden_of(plan)));
}

std::vector<ReproductionRow> reproduce_streaming_diloco(std::string_view csv,
                                                        const std::string& file,
                                                        std::vector<std::string>& explained) {
  const CsvTable table(csv, file);
  table.expect({"model", "method", "parameters", "step_s", "local_steps", "parts", "bits",
                "overlap_steps", "utilisation", "gbps"},
               {});
  std::vector<Entry> entries;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double utilisation = table.positive(row, "utilisation");
    if (utilisation >= 1) table.refuse(row, "utilisation", "is a share below 1");
    entries.push_back({plan_at(table, row), utilisation, table.positive(row, "gbps")});
    explained.push_back(explanation(table, row, entries.back()));
  }
  if (entries.empty()) throw Error(ErrorKind::kFailure, "reproduce", file, "it has no entry");
  const std::string claim =
      std::to_string(entries.size()) + " bandwidths for a utilisation, simulated by the authors";
  const PassMark mark{kEntriesWithin, {}};
  return {
      row_of("streaming-diloco.within_two_steps", "arithmetic", claim,
             share_within(entries, [](LocalStepsPlan&) {}), mark, false),
      row_of("streaming-diloco.nothing_hidden", "exchanges beside no compute", claim,
             share_within(entries, [](LocalStepsPlan& plan) { plan.overlap = -kBackwardShare; }),
             mark, true),
      row_of("streaming-diloco.fp32_on_the_wire", "32 bits a parameter", claim,
             share_within(entries, [](LocalStepsPlan& plan) { plan.bits = 32; }), mark, true)};
}

std::vector<ReproductionRow> reproduce_intellect(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"region", "local_steps_s", "all_reduce_s", "utilisation"}, {});
  std::vector<ReproductionRow> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double computing = table.positive(row, "local_steps_s");
    const double published = table.positive(row, "utilisation");
    rows.push_back(row_of(("intellect-1." + table.text(row, "region") + ".utilisation").c_str(),
                          "local steps over local steps and all-reduce",
                          "measured " + table.text(row, "utilisation"),
                          computing / (computing + table.positive(row, "all_reduce_s")),
                          {published - kPointsAllowed, published + kPointsAllowed}, false));
  }
  return rows;
}

}  // namespace gradwire::results
