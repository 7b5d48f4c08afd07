#include "scenarios/scenario.h"

#include <algorithm>

#include "base/file_descriptor.h"
#include "base/plain_text.h"
#include "scenarios/build/build.h"
#include "scenarios/build/build_parts.h"
#include "scenarios/checks/checks.h"
#include "scenarios/document/document.h"
#include "scenarios/document/overrides.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/reader.h"
#include "scenarios/document/values.h"
#include "scenarios/fields/fields.h"
#include "scenarios/methods.h"
#include "scenarios/networks/access_networks.h"
#include "scenarios/networks/calibrations.h"
#include "scenarios/sweep.h"
#include "sim/transport/transport_settings.h"
#include "trainers/methods/catalogue.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;
using Origins = std::map<std::string, std::string>;

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

/// Drops what was noted at or below the pointer. Keys below it lie together in the map.
void forget_origins(const std::string& pointer, Origins& origins) {
  constexpr char kAfterSlash = '/' + 1;
  origins.erase(pointer);
  origins.erase(origins.lower_bound(pointer + '/'), origins.lower_bound(pointer + kAfterSlash));
}

/// Notes where the leaves of a value come from.
void note_leaves(const ordered_json& value, const std::string& pointer, const char* origin,
                 Origins& origins) {
  if (!value.is_structured() || value.empty()) {
    origins[pointer] = origin;
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      note_leaves(value[i], child_pointer(pointer, i), origin, origins);
  } else {
    for (const auto& [key, member] : value.items())
      note_leaves(member, child_pointer(pointer, key), origin, origins);
  }
}

/// ... in place of what was noted at or below it.
void note_origin(const ordered_json& value, const std::string& pointer, const char* origin,
                 Origins& origins) {
  forget_origins(pointer, origins);
  note_leaves(value, pointer, origin, origins);
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

  /// With the options that are given; by the usual ones where those do not go together.
  static bool feeds_back(const methods::MethodRow& row, const ordered_json& choice) {
    Method method;
    method.name = row.name;
    for (const OptionSpec& option : row.options)
      if (const ordered_json* value = find_at(choice, "/" + option.name);
          value && value->is_primitive() && !value->is_null())
        method.options[option.name] = option_text(*value);
    try {
      return row.feeds_back || codec_plan(method).error_feedback;
    } catch (const Error&) {  // their own checks say so
      return feeds_back_by_default(row);
    }
  }

  static void add_method_defaults(ordered_json& run) {
    const ordered_json* name = find_at(run, "/method/name");
    const bool compressed = name && *name == "compressed";
    const methods::MethodRow* row =
        name && name->is_string() ? methods::find_method(name->get<std::string>()) : nullptr;
    const ordered_json* choice = find_at(run, compressed ? "/method/codec" : "/method");
    const ordered_json* codec = choice ? find_at(*choice, "/name") : nullptr;
    const bool sparse =
        codec && codec->is_string() && feeds_back_by_default(codec->get<std::string>(), *choice);
    const char* momentum = "/method/momentum_correction";
    const bool corrects = compressed && find_at(run, momentum);
    if (!find_at(run, "/method/error_feedback"))
      assign_at(run, "/method/error_feedback",
                row ? feeds_back(*row, *choice) : sparse || corrects);
    const bool trains = !find_at(run, "/workload/profile");
    if (row && row->takes_momentum && !find_at(run, "/method/momentum"))
      assign_at(run, "/method/momentum", given_momentum(run).value_or(trains ? 0.0 : 0.9));
    if (corrects && find_at(run, momentum)->is_object() &&
        !find_at(run, momentum)->contains("momentum"))
      assign_at(run, "/method/momentum_correction/momentum", momentum_of_optimizer(run));
  }

  static std::optional<double> given_momentum(const ordered_json& run) {
    const ordered_json* momentum = find_at(run, "/workload/optimizer/momentum");
    if (!momentum || !momentum->is_number()) return std::nullopt;
    return momentum->get<double>();
  }

  static double momentum_of_optimizer(const ordered_json& run) {
    const double momentum = given_momentum(run).value_or(0);
    return momentum > 0 ? momentum : 0.9;
  }

  /// Defaults that depend on other fields (Field::computed_default says them in words).
  static void add_computed_defaults(ordered_json& run, KindMask kinds) {
    const bool steps = kinds & (mask_of(WorkloadKind::kTraining) | mask_of(WorkloadKind::kProfile));
    const auto open = [&](const char* object) {
      return !run.contains(object) || run[object].is_object();
    };
    if (steps && open("method")) add_method_defaults(run);
    const std::int64_t servers = servers_of(run, steps);
    if (open("cluster") && !find_at(run, "/cluster/workers"))
      assign_at(run, "/cluster/workers", default_workers(run, servers));
    add_group_default(run, "/workload/collective", "two-level-all-reduce", "/workload/group");
    if (steps) add_group_default(run, "/exchange/collective", "two-level", "/exchange/group");
    if (open("network")) add_topology_defaults(run, servers);
  }

  /// The group of a two-level all-reduce: a machine's workers, where machines are described.
  static void add_group_default(ordered_json& run, const char* choice, const char* two_level,
                                const char* group) {
    const ordered_json* collective = find_at(run, choice);
    if (!collective || *collective != two_level || find_at(run, group)) return;
    const std::int64_t node = integer_at(run, "/network/gpus_per_node");
    assign_at(run, group, is_topology(run, "gpu-nodes") && node > 0 ? node : 8);
  }

  /// Hosts that are no workers.
  static std::int64_t servers_of(const ordered_json& run, bool steps) {
    if (find_at(run, "/workload/federated")) return 1;
    const ordered_json* collective =
        find_at(run, steps ? "/exchange/collective" : "/workload/collective");
    if (!collective || *collective != "parameter-server") return 0;
    return std::max<std::int64_t>(1,
                                  integer_at(run, steps ? "/exchange/shards" : "/workload/shards"));
  }

  /// A whole number that is there and in a sensible range, else 0 (what is wrong is told later).
  static std::int64_t integer_at(const ordered_json& run, const char* pointer) {
    const ordered_json* value = find_at(run, pointer);
    if (!value || !value->is_number_integer()) return 0;
    const double number = value->get<double>();
    return number > 0 && number <= 65536 ? value->get<std::int64_t>() : 0;
  }

  /// A packet of RDMA is larger than a segment of TCP.
  static void add_rdma_segments(ordered_json& run) {
    const ordered_json* protocol = find_at(run, "/network/transport/protocol");
    if (!protocol || *protocol != "rdma") return;
    for (const auto& [pointer, size] :
         {std::pair("/network/transport/segment", sim::kRdmaSegment),
          std::pair("/network/transport/wire_segment", sim::kRdmaWireSegment)})
      if (!find_at(run, pointer)) assign_at(run, pointer, std::to_string(size.count()) + "B");
  }

  static bool is_topology(const ordered_json& run, const char* name) {
    const ordered_json* topology = find_at(run, "/network/topology");
    return topology && *topology == name;
  }

  /// As many as the topology has places for, where it says so.
  static std::int64_t default_workers(const ordered_json& run, std::int64_t servers) {
    std::int64_t hosts = 4 + servers;
    const ordered_json* names = find_at(run, "/network/hosts");
    const ordered_json* sites = find_at(run, "/network/sites");
    if (is_topology(run, "explicit") && names && names->is_array())
      hosts = static_cast<std::int64_t>(names->size());
    const std::int64_t grid =
        integer_at(run, "/network/columns") * integer_at(run, "/network/rows");
    if (is_topology(run, "torus") && grid > 0) hosts = grid;
    const ordered_json* stages = find_at(run, "/workload/pipeline/stages");
    if (stages && stages->is_array() && !stages->empty())
      hosts = static_cast<std::int64_t>(stages->size());
    const std::int64_t k = integer_at(run, "/network/k");
    if (is_topology(run, "fat-tree") && k > 1) hosts = k * k * k / 4;
    if (is_topology(run, "wan") && sites && sites->is_array()) {
      hosts = servers;
      for (std::size_t i = 0; i < sites->size(); ++i) {
        const std::string at = "/network/sites/" + std::to_string(i) + "/workers";
        hosts += find_at(run, at) ? integer_at(run, at.c_str()) : 1;
      }
    }
    return std::clamp<std::int64_t>(hosts - servers, 1, 65536);
  }

  static void add_topology_defaults(ordered_json& run, std::int64_t servers) {
    const std::int64_t workers = integer_at(run, "/cluster/workers");
    if (is_topology(run, "fat-tree") && !find_at(run, "/network/k")) {
      std::int64_t k = 2;
      while (k * k * k / 4 < workers + servers) k += 2;
      assign_at(run, "/network/k", k);
    }
    if (is_topology(run, "dumb-bell") && !find_at(run, "/network/left"))
      assign_at(run, "/network/left", std::max<std::int64_t>(1, workers / 2));
    for (const auto& [name, width] : {std::pair("wifi-cell", 80.0), std::pair("lte-cell", 10.0)}) {
      const ordered_json* cell = find_at(run, "/network/cell");
      const bool open = !cell || (cell->is_object() && !cell->contains("width"));
      if (is_topology(run, name) && open) assign_at(run, "/network/cell/width", width);
    }
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
