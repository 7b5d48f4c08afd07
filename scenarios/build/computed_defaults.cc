#include "scenarios/build/computed_defaults.h"

#include <algorithm>

#include "base/error.h"
#include "scenarios/build/build.h"
#include "scenarios/build/build_parts.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"
#include "scenarios/methods.h"
#include "sim/transport/transport_settings.h"
#include "trainers/methods/catalogue.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

/// A whole number that is there and in a sensible range, else 0 (what is wrong is told later).
std::int64_t integer_at(const ordered_json& run, const char* pointer) {
  const ordered_json* value = find_at(run, pointer);
  if (!value || !value->is_number_integer()) return 0;
  const double number = value->get<double>();
  return number > 0 && number <= 65536 ? value->get<std::int64_t>() : 0;
}

bool is_topology(const ordered_json& run, const char* name) {
  const ordered_json* topology = find_at(run, "/network/topology");
  return topology && *topology == name;
}

/// With the options that are given; by the usual ones where those do not go together.
bool feeds_back(const methods::MethodRow& row, const ordered_json& choice) {
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

std::optional<double> given_momentum(const ordered_json& run) {
  const ordered_json* momentum = find_at(run, "/workload/optimizer/momentum");
  if (!momentum || !momentum->is_number()) return std::nullopt;
  return momentum->get<double>();
}

double momentum_of_optimizer(const ordered_json& run) {
  const double momentum = given_momentum(run).value_or(0);
  return momentum > 0 ? momentum : 0.9;
}

void add_method_defaults(ordered_json& run) {
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
    assign_at(run, "/method/error_feedback", row ? feeds_back(*row, *choice) : sparse || corrects);
  const bool trains = !find_at(run, "/workload/profile");
  if (row && row->takes_momentum && !find_at(run, "/method/momentum"))
    assign_at(run, "/method/momentum", given_momentum(run).value_or(trains ? 0.0 : 0.9));
  if (corrects && find_at(run, momentum)->is_object() &&
      !find_at(run, momentum)->contains("momentum"))
    assign_at(run, "/method/momentum_correction/momentum", momentum_of_optimizer(run));
}

/// Hosts that are no workers.
std::int64_t servers_of(const ordered_json& run, bool steps) {
  if (find_at(run, "/workload/federated")) return 1;
  const ordered_json* collective =
      find_at(run, steps ? "/exchange/collective" : "/workload/collective");
  if (!collective || *collective != "parameter-server") return 0;
  return std::max<std::int64_t>(1,
                                integer_at(run, steps ? "/exchange/shards" : "/workload/shards"));
}

/// As many as the topology has places for, where it says so.
std::int64_t default_workers(const ordered_json& run, std::int64_t servers) {
  std::int64_t hosts = 4 + servers;
  const ordered_json* names = find_at(run, "/network/hosts");
  const ordered_json* sites = find_at(run, "/network/sites");
  if (is_topology(run, "explicit") && names && names->is_array())
    hosts = static_cast<std::int64_t>(names->size());
  const std::int64_t grid = integer_at(run, "/network/columns") * integer_at(run, "/network/rows");
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

/// The group of a two-level all-reduce: a machine's workers, where machines are described.
void add_group_default(ordered_json& run, const char* choice, const char* two_level,
                       const char* group) {
  const ordered_json* collective = find_at(run, choice);
  if (!collective || *collective != two_level || find_at(run, group)) return;
  const std::int64_t node = integer_at(run, "/network/gpus_per_node");
  assign_at(run, group, is_topology(run, "gpu-nodes") && node > 0 ? node : 8);
}

void add_topology_defaults(ordered_json& run, std::int64_t servers) {
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

}  // namespace

void add_computed_defaults(ordered_json& run, KindMask kinds) {
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

void add_rdma_segments(ordered_json& run) {
  const ordered_json* protocol = find_at(run, "/network/transport/protocol");
  if (!protocol || *protocol != "rdma") return;
  for (const auto& [pointer, size] :
       {std::pair("/network/transport/segment", sim::kRdmaSegment),
        std::pair("/network/transport/wire_segment", sim::kRdmaWireSegment)})
    if (!find_at(run, pointer)) assign_at(run, pointer, std::to_string(size.count()) + "B");
}

}  // namespace gradwire::scenarios
