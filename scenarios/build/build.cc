#include "scenarios/build/build.h"

#include "base/exact_text.h"
#include "scenarios/build/build_parts.h"
#include "scenarios/scenario_hash.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

void fill_cluster(const ordered_json& json, ClusterPlan& cluster) {
  take(json, "workers", cluster.workers);
  take(json, "device", cluster.device);
  cluster.slowdown.assign(static_cast<std::size_t>(cluster.workers), 1.0);
  for (const ordered_json& each : member(json, "stragglers")) {
    std::size_t worker = 0;
    take(each, "worker", worker);
    if (worker < cluster.slowdown.size()) take(each, "factor", cluster.slowdown[worker]);
  }
  take(json, "spread", cluster.spread);
  for (const ordered_json& each : member(json, "absences")) {
    ClusterPlan::Absence absence{0, {Seconds(0), sim::kNeverReturns}};
    take(each, "worker", absence.worker);
    take(each, "from", absence.time.begin);
    take(each, "to", absence.time.end);
    cluster.absences.push_back(absence);
  }
}

void fill_schedule(const ordered_json& json, ScheduleChoice& schedule) {
  take(json, "kind", schedule.kind);
  take(json, "local_steps", schedule.local_steps);
  take(json, "local_epochs", schedule.local_epochs);
  take(json, "sample", schedule.sample);
  take(json, "sample_decay", schedule.sample_decay);
  take(json, "sample_least", schedule.sample_least);
  take(json, "draw", schedule.draw);
  take(json, "proximal", schedule.proximal);
  take(json, "buffer", schedule.buffer);
  take(json, "deadline", schedule.deadline);
  take(json, "drop_out", schedule.drop_out);
  take(json, "late", schedule.late);
  take(json, "weighting", schedule.weighting);
  take(json, "server_rate", schedule.server_rate);
  take(json, "server_momentum", schedule.server_momentum);
  take(json, "staleness", schedule.staleness);
  take(json, "staleness_power", schedule.staleness_power);
  take(json, "most_stale", schedule.most_stale);
  take(json, "graph", schedule.graph);
  take(json, "degree", schedule.degree);
  take(json, "directed", schedule.directed);
  take(json, "final_mixing", schedule.final_mixing);
  take(json, "patience", schedule.patience);
  take(json, "stages", schedule.stages);
  take(json, "order", schedule.order);
  for (const ordered_json& each : member(json, "cut"))
    if (each.is_number_integer()) schedule.cut.push_back(each.get<int>());
  for (const ordered_json& each : member(json, "edges")) {
    sim::GivenEdge& edge = schedule.edges.emplace_back();
    take(each, "a", edge.from);
    take(each, "b", edge.to);
    take(each, "weight", edge.weight);
  }
}

}  // namespace

std::string option_text(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  return exact_text(value.get<double>());
}

namespace {

void fill_offload(const ordered_json& json, Exchange& exchange) {
  const auto found = json.find("offload");
  if (found == json.end()) return;
  Exchange::Offload& offload = exchange.offload.emplace(Exchange::Offload{});
  const auto take_rate = [&](const char* key, BitsPerSecond& rate) {
    if (found->contains(key)) rate = parse_rate((*found)[key].get<std::string>());
  };
  take_rate("bandwidth", offload.bandwidth);
  take_rate("memory_bandwidth", offload.memory_bandwidth);
}

}  // namespace

void fill_from_json(Scenario& scenario, ScheduleFiles& files) {
  const ordered_json& json = scenario.json;
  take(json, "name", scenario.name);
  take(json, "description", scenario.description);
  take(json, "executor", scenario.executor);
  fill_workload(member(json, "workload"), scenario.workload);
  fill_method(member(json, "method"), scenario.method);
  fill_cluster(member(json, "cluster"), scenario.cluster);
  fill_network(member(json, "network"), scenario.file, files, scenario.network);
  const ordered_json& exchange = member(json, "exchange");
  take(exchange, "collective", scenario.exchange.collective);
  take(exchange, "group", scenario.exchange.group);
  take(exchange, "shards", scenario.exchange.shards);
  take(exchange, "bucket", scenario.exchange.bucket);
  take(exchange, "overlap", scenario.exchange.overlap);
  take(exchange, "zero", scenario.exchange.zero);
  fill_offload(exchange, scenario.exchange);
  fill_schedule(member(json, "schedule"), scenario.schedule);
  scenario.hash = scenario_hash(json);
}

}  // namespace gradwire::scenarios
