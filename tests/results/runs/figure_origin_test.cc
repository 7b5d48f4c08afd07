#include "results/runs/figure_origin.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "results/export/export.h"
#include "results/prediction/stored_summary.h"
#include "results/runs/collective_choice.h"
#include "results/runs/fields.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Json = nlohmann::ordered_json;

namespace {

/// Names of numbers among a table's fields that the table of origins does not have.
std::set<std::string> unlabelled(const std::string& exported) {
  std::set<std::string> names;
  const Json rows = Json::parse(exported).at("rows");
  for (const Json& row : rows)
    for (const auto& [name, value] : row.items())
      if (value.is_number() && !origin_of(name)) names.insert(name);
  return names;
}

const std::set<std::string> kNone;

}  // namespace

TEST_CASE("each figure of a run has an origin, once", "[origin]") {
  for (const Field& field : run_fields()) {
    CAPTURE(field.name);
    if (field.numeric()) CHECK(origin_of(field.name).has_value());
  }
  std::set<std::string_view> names;
  for (const FigureOrigin& each : figure_origins()) {
    CAPTURE(each.name);
    CHECK(names.insert(each.name).second);
  }
  CHECK_FALSE(origin_of("ratio"));           // it had two meanings
  CHECK_FALSE(origin_of("made_up_figure"));  // the check can fail
}

TEST_CASE("each number that is exported has an origin", "[origin]") {
  const BegunRun run(1);
  const auto& [folder, store, id] = run;
  StepRow step = sample_step(0);
  step.exposed_codec_s = 0.01;
  store->append(id, std::vector{step},
                std::vector<MetricRow>{{0, "accuracy", 0.5, "", Provenance::kMeasured}});
  store->put_timeline(id, "simulated",
                      std::vector<TimelineSegment>{{0, 1, 1, "forward", 0, 0.1, 5}});
  store->put_links(id, std::vector<LinkSeries>{{3, "a -> b", 1e9, {{0, 1, 100}}}});
  store->finish_run(id, RunStatus::kFinished, "", "", "",
                    std::vector<MetricRow>{{-1, "step_time_s", 1, "s", Provenance::kSimulated}});
  CHECK(unlabelled(export_steps(*store, id, ExportFormat::kJson)) == kNone);
  CHECK(unlabelled(export_metrics(*store, id, ExportFormat::kJson)) == kNone);
  CHECK(unlabelled(export_timeline(*store, id, ExportFormat::kJson)) == kNone);
  CHECK(unlabelled(export_links(*store, id, ExportFormat::kJson)) == kNone);
  CHECK(unlabelled(export_runs(store->runs(), ExportFormat::kJson)) == kNone);
}

TEST_CASE("figures are labelled one by one, as the run came about", "[origin]") {
  // A replay by an assumed device profile, over an emulated network.
  const RunOrigins origins{Provenance::kEmulated, Provenance::kPredicted, Provenance::kAssumed,
                           Provenance::kMeasured};
  StepSummary step;
  step.workers = 4;
  step.loss = 0.01;
  step.delay_s = 1e-4;
  step.buckets = {{0.1, 0.01, 0.02, 0.03, 100, 0, 0}, {0.2, 0.01, 0.02, 0.03, 200, 0, 0}};
  step.correction.add(1000, 1.1);
  std::map<std::string, Provenance> labels;
  for (const MetricRow& row : summary_metrics(step, origins)) labels[row.name] = row.provenance;
  for (const char* given :
       {"summary_bandwidth_bytes_per_s", "summary_path_delay_s", "summary_path_loss",
        "summary_overlap", "summary_group", "summary_workers", "summary_exchange_ring-all-reduce"})
    CHECK(labels.at(given) == Provenance::kGiven);
  CHECK(labels.at("summary_forward_s") == Provenance::kAssumed);
  CHECK(labels.at("summary_backward_s_1") == Provenance::kAssumed);
  CHECK(labels.at("summary_encode_s") == Provenance::kMeasured);
  CHECK(labels.at("summary_message_bytes_0") == Provenance::kPredicted);
  CHECK(labels.at("summary_correction_factor_0") == Provenance::kSimulated);
  CHECK(provenance_in("wire_bytes", origins) == Provenance::kEmulated);
  CHECK(provenance_in("accuracy", origins) == Provenance::kMeasured);
  CHECK(provenance_in(choice_metric("ring"), origins) == Provenance::kSimulated);
  // What was stored is read back under its new names, and under those of earlier versions.
  auto rows = summary_metrics(step, origins);
  CHECK(stored_summary(rows)->loss == 0.01);
  for (MetricRow& row : rows) {
    if (row.name == "summary_path_loss") row.name = "summary_loss";
    if (row.name == "summary_path_delay_s") row.name = "summary_delay_s";
  }
  CHECK(stored_summary(rows)->loss == 0.01);
  CHECK(stored_summary(rows)->delay_s == 1e-4);
}
