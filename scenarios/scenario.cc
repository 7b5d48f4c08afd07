#include "scenarios/scenario.h"

#include <algorithm>

#include "base/file_descriptor.h"
#include "base/plain_text.h"
#include "scenarios/build/build.h"
#include "scenarios/build/build_parts.h"
#include "scenarios/build/computed_defaults.h"
#include "scenarios/checks/checks.h"
#include "scenarios/document/document.h"
#include "scenarios/document/origins.h"
#include "scenarios/document/overrides.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/reader.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"
#include "scenarios/networks/access_networks.h"
#include "scenarios/networks/calibrations.h"
#include "scenarios/sweep.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Overrides overrides_of(const Pairs& pairs) {
  Overrides overrides;
  for (const auto& [pointer, text] : pairs) overrides.push_back({pointer, text});
  return overrides;
}

/// An override's value: JSON if it parses and the field does not want a text, else the text itself.
ordered_json override_value(const FieldTable::Node& node, const std::string& text) {
  const ordered_json parsed = ordered_json::parse(text, nullptr, false);
  const Field& field = node.field();
  const bool wants_text = field.shape == Shape::kValue && (field.spec.type == OptionType::kText ||
                                                           field.spec.type == OptionType::kChoice);
  return parsed.is_discarded() || (wants_text && !parsed.is_string()) ? ordered_json(text) : parsed;
}

/// An override that has a place in the file.
struct Replacement {
  std::string pointer;
  ordered_json value;
  std::string origin;
};

/// Reads one file: its base, its sweep, and every run.
class FileReader {
 public:
  FileReader(const Document& document, std::span<const Override> overrides, ProblemList& problems)
      : document_(document), places_(document), problems_(problems), base_(document.root) {
    result_.path = document.file;
    apply_overrides(overrides);
  }

  ScenarioFile read() {
    if (is_json_schema() || is_too_new()) return std::move(result_);
    const Sweep sweep = read_sweep(member("sweep"), overridden_, places_, problems_);
    const std::vector<std::uint64_t> seeds = read_seeds(member("seeds"), places_, problems_);
    if (base_.contains("seeds")) origins_["/seeds/0"] = "scenario";
    base_.erase("sweep");
    base_["seeds"] = ordered_json::array({1});
    for (const auto& [key, value] : base_.items())
      if (key != "seeds") note_origin(value, child_pointer("", key), "scenario", origins_);
    for (const auto& [pointer, value, origin] : values_)
      note_origin(value, pointer, origin.c_str(), origins_);
    for (const char* pointer : {"/sweep", "/seeds/count"}) forget_origins(pointer, origins_);
    const bool usable = problems_.empty();
    for (const Axis& axis : sweep.axes) result_.swept.push_back(axis.pointer);
    read_runs(usable ? sweep : Sweep{}, usable ? seeds : std::vector<std::uint64_t>{1});
    finish();
    return std::move(result_);
  }

 private:
  ordered_json member(const char* key) const {
    const auto found = base_.find(key);
    return found == base_.end() ? ordered_json() : *found;
  }

  void apply_overrides(std::span<const Override> overrides) {
    for (const auto& [pointer, text, origin] : overrides) {
      places_.override_at(pointer, origin);
      const FieldTable::Node* node = scenario_table().find(pointer);
      const bool known = node && !pointer.empty() && pointer.find('*') == std::string::npos;
      if (!is_utf8(text)) {
        problems_.add(places_.problem(pointer, "the value is not UTF-8: " + printable(text)));
        continue;
      }
      const ordered_json value = known ? override_value(*node, text) : ordered_json();
      if (!known)
        problems_.add(places_.problem(pointer, "there is no such field", "JSON pointers of fields",
                                      scenario_table().nearest_pointer(pointer)));
      else if (assign_at(base_, pointer, value))
        values_.push_back({pointer, value, origin}), overridden_.push_back(pointer);
      else
        problems_.add(places_.problem(pointer, "there is no such list item in the scenario"));
    }
  }

  /// `validate scenarios/*.json` meets the schema too: one clear word instead of one for each key.
  bool is_json_schema() {
    const ordered_json schema = member("$schema");
    if (!schema.is_string() || !base_.contains("$defs")) return false;
    problems_.add(places_.problem("/$schema", "this is a JSON Schema, not a scenario"));
    return true;
  }

  bool is_too_new() {
    const ordered_json version = member("schema_version");
    if (!version.is_number_integer() || version.get<double>() <= kSchemaVersion) return false;
    problems_.add(places_.problem("/schema_version",
                                  "written for version " + version.dump() +
                                      " of the format, which is newer than this program knows",
                                  "up to " + std::to_string(kSchemaVersion)));
    return true;
  }

  void read_runs(const Sweep& sweep, const std::vector<std::uint64_t>& seeds) {
    for (const std::vector<std::size_t>& combination : combinations(sweep)) {
      ordered_json run = base_;
      Origins origins = origins_;
      Places places = places_;
      for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        const Axis& axis = sweep.axes[i];
        const ordered_json& value = axis.values[combination[i]];
        if (!assign_at(run, axis.pointer, value))
          problems_.add(places_.problem(child_pointer("/sweep", axis.pointer),
                                        "there is no such list item in the scenario"));
        places.move(axis.pointer, axis.sources[combination[i]]);
        note_origin(value, axis.pointer, "sweep", origins);
      }
      // An override below a swept object wins over each of the sweep's values.
      for (const auto& [pointer, value, origin] : values_) {
        assign_at(run, pointer, value);
        note_origin(value, pointer, origin.c_str(), origins);
      }
      if (is_excluded(sweep, run)) continue;
      read_run(run, places, std::move(origins), seeds);
      if (result_.runs.size() > kMostRuns) {
        problems_.add(
            places_.problem("/sweep", "more than " + std::to_string(kMostRuns) + " runs"));
        return;
      }
    }
    if (result_.runs.empty() && problems_.empty())
      problems_.add(places_.problem("/sweep/exclude", "every combination is excluded"));
  }

  /// The kinds that the workload's keys say; several (and a problem) if they are mixed.
  KindMask kinds_of(const ordered_json& run, const Places& places) {
    const ordered_json* workload = find_at(run, "/workload");
    KindMask kinds = 0;
    std::string first;
    for (unsigned i = 0; i < kWorkloadKeys.size(); ++i) {
      if (!workload || !workload->is_object() || !workload->contains(kWorkloadKeys[i])) continue;
      if (kinds)
        problems_.add(
            places.problem(std::string("/workload/") + kWorkloadKeys[i],
                           "mixes two kinds of workload: " + first + " and " + kWorkloadKeys[i],
                           "one of model, profile, collective, transfers, pipeline, federated"));
      else
        first = kWorkloadKeys[i];
      kinds |= 1u << i;
    }
    return kinds ? kinds : mask_of(WorkloadKind::kTraining);
  }

  void read_run(ordered_json& run, const Places& places, Origins origins,
                const std::vector<std::uint64_t>& seeds) {
    const KindMask kinds = kinds_of(run, places);
    add_computed_defaults(run, kinds);
    if (run.contains("network") && run["network"].is_object()) {
      add_access_networks(run["network"]);
      add_rdma_segments(run);
      add_schedule_hashes(run["network"], document_.file, files_);
      add_calibration_hash(run["network"], document_.file);
    }
    ReadResult read = read_by_table(scenario_table(), run, kinds, places, problems_);
    if (read.value.contains("expected")) result_.expected = read.value["expected"];
    Scenario scenario;
    scenario.file = document_.file;
    scenario.origins = std::move(origins);
    scenario.json = std::move(read.value);
    scenario.json.erase("$schema");
    scenario.json.erase("expected");
    fill_from_json(scenario, files_);
    std::vector<Problem> warnings = std::move(read.suspicious);
    check_rules({scenario, read, places, files_, problems_, warnings});
    for (const Problem& warning : warnings) add_warning(format_problem(warning));
    if (!problems_.empty()) return;
    for (const std::uint64_t seed : seeds) {
      scenario.seed = seed;
      scenario.json["seeds"] = ordered_json::array({seed});
      result_.runs.push_back(scenario);
    }
  }

  void add_warning(const std::string& text) {
    if (std::find(result_.warnings.begin(), result_.warnings.end(), text) == result_.warnings.end())
      result_.warnings.push_back(text);
  }

  void finish() {
    if (result_.runs.empty()) return;
    result_.name = result_.runs.front().name;
    result_.description = result_.runs.front().description;
    const auto expected = result_.expected.find("runs");
    const auto count = static_cast<std::int64_t>(result_.runs.size());
    if (result_.expected.is_object() && expected != result_.expected.end() && values_.empty() &&
        *expected != count)
      problems_.add(places_.problem("/expected/runs", "the scenario has " + std::to_string(count) +
                                                          " runs, not " + expected->dump()));
  }

  const Document& document_;
  Places places_;
  ProblemList& problems_;
  ScheduleFiles files_;
  ordered_json base_;
  std::vector<std::string> overridden_;
  std::vector<Replacement> values_;
  Origins origins_;
  ScenarioFile result_;
};

void add_rows(const ordered_json& value, const std::string& pointer, const Scenario& scenario,
              std::vector<ResolvedValue>& rows) {
  if (value.is_structured()) {
    for (const auto& [key, member] : value.items())
      add_rows(member, child_pointer(pointer, key), scenario, rows);
    return;
  }
  const FieldTable::Node* node = scenario_table().find(pointer);
  GRADWIRE_ASSERT(node != nullptr);
  const auto origin = scenario.origins.find(pointer);
  rows.push_back({pointer, value.is_string() ? value.get<std::string>() : value.dump(),
                  node->field().unit,
                  origin == scenario.origins.end() ? "default" : origin->second});
}

}  // namespace

ScenarioFile read_scenario_text(std::string_view text, const std::string& path,
                                std::span<const Override> overrides) {
  ProblemList problems;
  const Document document = parse_document(text, path, problems);
  problems.throw_if_any();
  if (!document.root.is_object()) {
    problems.add(Places(document).problem("", "an object is needed"));
    problems.throw_if_any();
  }
  ScenarioFile file = FileReader(document, overrides, problems).read();
  problems.throw_if_any();
  return file;
}

ScenarioFile read_scenario_file(const std::string& path, std::span<const Override> overrides) {
  return read_scenario_text(read_file(path), path, overrides);
}

ScenarioFile read_scenario_text(std::string_view text, const std::string& path,
                                const Pairs& overrides) {
  return read_scenario_text(text, path, overrides_of(overrides));
}

ScenarioFile read_scenario_file(const std::string& path, const Pairs& overrides) {
  return read_scenario_file(path, overrides_of(overrides));
}

std::vector<ResolvedValue> resolved_values(const Scenario& scenario) {
  std::vector<ResolvedValue> rows;
  add_rows(scenario.json, "", scenario, rows);
  return rows;
}

}  // namespace gradwire::scenarios
