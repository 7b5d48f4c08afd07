#include "scenarios/fields/scenario_rows.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

constexpr const char* kName = "/workload/optimizer/name";
const std::string kSchedule = "/workload/optimizer/schedule";
const std::string kShape = kSchedule + "/name";

bool same(const OptionSpec& a, const OptionSpec& b) {
  return a.name == b.name && a.default_text == b.default_text && a.help == b.help;
}

/// The options of every update rule; rules that share one share its row.
void add_rule_options(Rows& rows) {
  const std::size_t first = rows.size();
  for (const trainers::UpdateInfo& rule : trainers::update_catalogue()) {
    for (const OptionSpec& option : rule.options) {
      std::size_t r = first;
      while (r < rows.size() && !same(rows[r].spec, option)) ++r;
      if (r < rows.size()) {
        rows[r].when->values.push_back(rule.name);
        continue;
      }
      Field row{.pointer = "/workload/optimizer/" + option.name,
                .spec = option,
                .kinds = kTraining,
                .when = Condition{kName, {rule.name}}};
      if (option.name == "weight_decay") {
        row.suspicious_above = 0.1;
        row.suspicious_why = "the penalty usually outweighs the loss";
      }
      rows.push_back(row);
    }
  }
}

Field in_schedule(std::string name, OptionSpec spec, std::vector<std::string> shapes = {}) {
  Field row{.pointer = kSchedule + "/" + std::move(name), .spec = std::move(spec)};
  row.kinds = kTraining;
  if (!shapes.empty()) row.when = Condition{kShape, std::move(shapes)};
  return row;
}

OptionSpec number(std::string help, std::string default_text, double min, double max,
                  bool min_exclusive = false) {
  return {.type = OptionType::kNumber,
          .default_text = std::move(default_text),
          .help = std::move(help),
          .min = min,
          .max = max,
          .min_exclusive = min_exclusive};
}

OptionSpec choice(std::string help, std::vector<std::string> choices) {
  return {.type = OptionType::kChoice,
          .default_text = choices.front(),
          .help = std::move(help),
          .choices = std::move(choices)};
}

void add_warm_up(Rows& rows) {
  rows.push_back(in_schedule(
      "unit", choice("What `warm_up`, `over`, `time` and milestones count.", {"steps", "epochs"})));
  rows.push_back(in_schedule(
      "warm_up", number("Length of the linear warm-up to the full rate (arXiv 1706.02677, 2.2).",
                        "0", 0, 1e9)));
  rows.push_back(in_schedule("warm_up_from",
                             number("Rate of step 0, as a share of the full rate.", "", 0, 1)));
  rows.back().computed_default =
      "with `scaling` that of `lr`, so that warm-up starts at `lr`; else 0";
  rows.push_back(in_schedule(
      "scaling", choice("Full rate for a batch k times as large as `reference_batch`: lr, k lr "
                        "(linear, arXiv 1706.02677) or sqrt(k) lr (square-root, arXiv 1904.00962).",
                        {"none", "linear", "square-root"})));
  rows.push_back(
      in_schedule("reference_batch",
                  number("Samples of all workers in a step for which `lr` is meant.", "", 1, 1e9),
                  {"linear", "square-root"}));
  rows.back().when->pointer = kSchedule + "/scaling";
  rows.back().computed_default = "`batch_per_worker`";
  rows.back().unit = "samples";
}

void add_decay(Rows& rows) {
  rows.push_back(list_row(kSchedule + "/milestones",
                          "When the rate is multiplied by `factor`, in rising order.", kTraining));
  rows.back().when = Condition{kShape, {"step"}};
  rows.back().required = true;
  rows.push_back(in_schedule("milestones/*", number("Steps or epochs.", "", 0, 1e9, true)));
  rows.push_back(
      in_schedule("factor", number("Factor at each milestone.", "0.1", 0, 1, true), {"step"}));
  const std::vector<std::string> ending = {"cosine", "polynomial"};
  rows.push_back(
      in_schedule("over",
                  number("When the rate has come to its end, warm-up included; it then stays.", "",
                         0, 1e9, true),
                  ending));
  rows.back().computed_default = "the run's length";
  rows.push_back(
      in_schedule("final", number("Last rate, as a share of the full rate.", "0", 0, 1), ending));
  rows.push_back(
      in_schedule("power",
                  number("Power p of (1 - x)^p: 2 for LARS (arXiv 1708.03888), 1 for LAMB (arXiv "
                         "1904.00962).",
                         "1", 0, 100, true),
                  {"polynomial"}));
  rows.push_back(in_schedule(
      "time", number("T of lr / (1 + t / T), t counted from the warm-up's end.", "", 0, 1e9, true),
      {"inverse-time"}));
  rows.back().required = true;
}

void add_schedule(Rows& rows) {
  rows.push_back(object_row(kSchedule, "How the learning rate changes.", kTraining));
  rows.back().optional = true;
  rows.push_back(in_schedule(
      "name", choice("After the warm-up: constant; step: times `factor` at each milestone; cosine: "
                     "half a cosine down to `final` (arXiv 1608.03983); polynomial: (1 - x)^power; "
                     "inverse-time: lr / (1 + t / `time`).",
                     {"constant", "step", "cosine", "polynomial", "inverse-time"})));
  add_warm_up(rows);
  add_decay(rows);
}

}  // namespace

void add_optimizer(Rows& rows) {
  rows.push_back(
      object_row("/workload/optimizer", "How the summed gradient is applied.", kTraining));
  std::vector<std::string> names;
  for (const trainers::UpdateInfo& rule : trainers::update_catalogue()) names.push_back(rule.name);
  rows.push_back(
      {.pointer = kName,
       .spec = choice("Update rule; docs/methods/optimisers.md has the equations.", names),
       .kinds = kTraining});
  rows.push_back({.pointer = "/workload/optimizer/lr",
                  .spec = number("Learning rate.", "0.05", 0, 1000, true),
                  .kinds = kTraining});
  add_rule_options(rows);
  add_schedule(rows);
}

}  // namespace gradwire::scenarios
