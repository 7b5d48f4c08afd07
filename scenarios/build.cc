#include "scenarios/build.h"

#include <array>
#include <charconv>
#include <functional>

#include "base/hash.h"
#include "scenarios/calibrations.h"
#include "scenarios/fields.h"
#include "scenarios/methods.h"
#include "scenarios/pointer.h"
#include "scenarios/values.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

const ordered_json kNothing = ordered_json::object();

const ordered_json& member(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

template <class T>
void take(const ordered_json& object, const char* key, T& target) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) target = found->get<T>();
}

void take(const ordered_json& object, const char* key, Bytes& target) {
  if (object.contains(key)) target = parse_bytes(object[key].get<std::string>());
}
void take(const ordered_json& object, const char* key, Seconds& target) {
  if (object.contains(key)) target = parse_duration(object[key].get<std::string>());
}

void fill_stage(const ordered_json& json, Workload::Stage& stage) {
  take(json, "forward", stage.forward);
  take(json, "backward", stage.backward);
  take(json, "update", stage.update);
  take(json, "activations", stage.activations);
}

void fill_pipeline(const ordered_json& json, Workload::Pipeline& pipeline) {
  take(json, "schedule", pipeline.schedule);
  take(json, "micro_batches", pipeline.micro_batches);
  fill_stage(json, pipeline.stage);
  for (const ordered_json& each : member(json, "stages")) {
    pipeline.stages.push_back(pipeline.stage);
    fill_stage(each, pipeline.stages.back());
  }
}

void fill_federated(const ordered_json& json, Workload::Federated& federated) {
  take(json, "sample", federated.sample);
  take(json, "download", federated.download);
  take(json, "upload", federated.upload);
  take(json, "compute", federated.compute);
  take(json, "aggregate", federated.aggregate);
  take(json, "deadline", federated.deadline);
  take(json, "drop_out", federated.drop_out);
}

void fill_gossip(const ordered_json& json, Workload& workload) {
  take(json, "graph", workload.graph);
  take(json, "degree", workload.degree);
  for (const ordered_json& each : member(json, "edges")) {
    std::pair<int, int> edge;
    take(each, "a", edge.first);
    take(each, "b", edge.second);
    workload.edges.push_back(edge);
  }
}

void fill_workload(const ordered_json& json, Workload& workload) {
  for (std::size_t kind = 0; kind < kWorkloadKeys.size(); ++kind)
    if (json.contains(kWorkloadKeys[kind])) workload.kind = static_cast<WorkloadKind>(kind);
  take(json, "model", workload.model);
  take(member(json, "data"), "set", workload.data_set);
  take(member(json, "data"), "path", workload.data_path);
  take(json, "batch_per_worker", workload.batch_per_worker);
  take(json, "steps", workload.steps);
  take(member(json, "optimizer"), "name", workload.optimizer);
  take(member(json, "optimizer"), "lr", workload.learning_rate);
  take(member(json, "optimizer"), "momentum", workload.momentum);
  take(member(json, "optimizer"), "weight_decay", workload.weight_decay);
  take(json, "evaluate_every", workload.evaluate_every);
  take(json, "target_accuracy", workload.target_accuracy);
  take(json, "profile", workload.profile);
  take(json, "precision", workload.precision);
  take(json, "collective", workload.collective);
  take(json, "bytes", workload.collective_bytes);
  take(json, "group", workload.group);
  take(json, "shards", workload.shards);
  take(json, "repetitions", workload.repetitions);
  take(json, "compute", workload.compute);
  fill_gossip(json, workload);
  fill_pipeline(member(json, "pipeline"), workload.pipeline);
  fill_federated(member(json, "federated"), workload.federated);
  for (const ordered_json& each : member(json, "transfers")) {
    Workload::Transfer transfer;
    take(each, "from", transfer.source);
    take(each, "to", transfer.destination);
    take(each, "bytes", transfer.bytes);
    take(each, "start", transfer.start);
    workload.transfers.push_back(transfer);
  }
}

/// As a user would write it ("0", not "0.0").
std::string option_text(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value.get<double>()).ptr;
  return {text.data(), end};
}

compressors::CodecChoice choice_of(const ordered_json& json) {
  compressors::CodecChoice choice;
  for (const auto& [key, value] : json.items()) {
    if (key == "name")
      choice.name = value.get<std::string>();
    else
      choice.options[key] = option_text(value);
  }
  return choice;
}

compressors::Clipping clipping_of(const ordered_json& json) {
  using compressors::ClipBy;
  std::string by;
  compressors::Clipping clipping;
  take(json, "by", by);
  take(json, "threshold", clipping.threshold);
  clipping.by = by == "value" ? ClipBy::kValue : by == "sigma" ? ClipBy::kSigma : ClipBy::kNorm;
  return clipping;
}

compressors::MomentumPlan momentum_of(const ordered_json& json) {
  compressors::MomentumPlan plan;
  take(json, "momentum", plan.momentum);
  take(json, "nesterov", plan.nesterov);
  take(json, "masking", plan.masking);
  return plan;
}

compressors::RulePlan rule_of(const ordered_json& json) {
  compressors::RulePlan rule;
  take(json, "tensors", rule.tensors.names);
  take(json, "elements_from", rule.tensors.elements_from);
  take(json, "elements_below", rule.tensors.elements_below);
  take(json, "dimensions_from", rule.tensors.dimensions_from);
  take(json, "dimensions_below", rule.tensors.dimensions_below);
  rule.codec = choice_of(member(json, "codec"));
  return rule;
}

void fill_compressed(const ordered_json& json, Method& method) {
  method.plan.codec = choice_of(member(json, "codec"));
  method.plan.error_feedback = method.error_feedback;
  if (json.contains("momentum_correction"))
    method.plan.momentum_correction = momentum_of(json["momentum_correction"]);
  if (json.contains("clip")) method.plan.clipping = clipping_of(json["clip"]);
  for (const ordered_json& rule : member(json, "rules")) method.plan.rules.push_back(rule_of(rule));
}

void fill_method(const ordered_json& json, Method& method) {
  take(json, "name", method.name);
  take(json, "error_feedback", method.error_feedback);
  if (method.name == "compressed") return fill_compressed(json, method);
  for (const auto& [key, value] : json.items()) {
    if (key == "name" || key == "error_feedback") continue;
    method.options[key] = option_text(value);
  }
}

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

void fill_transport(const ordered_json& json, const std::string& file,
                    sim::TransportSettings& transport) {
  std::string control = "cubic";
  take(json, "congestion_control", control);
  using Control = sim::TransportSettings::CongestionControl;
  transport.congestion_control = control == "reno"  ? Control::kReno
                                 : control == "bbr" ? Control::kBbr
                                                    : Control::kCubic;
  using Protocol = sim::TransportSettings::Protocol;
  std::string protocol;
  take(json, "protocol", protocol);
  if (protocol == "ideal") transport.protocol = Protocol::kIdeal;
  if (protocol == "udp-lossy") transport.protocol = Protocol::kUdpLossy;
  take(json, "segment", transport.segment);
  take(json, "wire_segment", transport.wire_segment);
  take(json, "initial_window", transport.initial_window);
  take(json, "delayed_ack", transport.delayed_ack);
  take(json, "min_rto", transport.min_rto);
  take(json, "initial_rto", transport.initial_rto);
  take(json, "buffer", transport.buffer);
  std::string calibration;
  take(json, "calibration", calibration);
  if (!calibration.empty()) transport.constants = load_calibration(calibration, file).constants;
}

using LinkReader = std::function<sim::LinkSpec(const ordered_json&)>;

std::vector<std::string> texts_of(const ordered_json& list) {
  std::vector<std::string> texts;
  for (const ordered_json& each : list)
    texts.push_back(each.is_string() ? each.get<std::string>() : "");
  return texts;
}

std::vector<NetworkPlan::ExplicitLink> links_of(const ordered_json& list, const LinkReader& read) {
  std::vector<NetworkPlan::ExplicitLink> links;
  for (const ordered_json& each : list) {
    NetworkPlan::ExplicitLink link;
    take(each, "a", link.a);
    take(each, "b", link.b);
    link.spec = read(each);
    links.push_back(link);
  }
  return links;
}

void fill_sizes(const ordered_json& json, NetworkPlan& network) {
  take(json, "racks", network.racks);
  take(json, "spines", network.spines);
  take(json, "k", network.k);
  take(json, "columns", network.columns);
  take(json, "rows", network.rows);
  take(json, "left", network.left);
  take(json, "gpus_per_node", network.gpus_per_node);
  take(json, "adapters", network.adapters);
}

void fill_cell(const ordered_json& json, NetworkPlan::Cell& cell) {
  take(json, "width", cell.width);
  take(json, "exponent", cell.exponent);
  for (const ordered_json& each : member(json, "stations")) {
    sim::RadioCellPlan::Place place;
    take(each, "distance", place.distance);
    take(each, "speed", place.speed);
    cell.places.push_back(place);
  }
}

void fill_traces(const ordered_json& json, const std::string& file, ScheduleFiles& files,
                 NetworkPlan::Traces& traces) {
  for (const std::string& path : texts_of(member(json, "up")))
    traces.up.push_back(files.load(path, file).schedule);
  for (const std::string& path : texts_of(member(json, "down")))
    traces.down.push_back(files.load(path, file).schedule);
  take(json, "offset", traces.offset);
}

void fill_background(const ordered_json& list, NetworkPlan& network) {
  for (const ordered_json& each : list) {
    NetworkPlan::Background source;
    std::string pattern;
    take(each, "from", source.from);
    take(each, "to", source.to);
    take(each, "pattern", pattern);
    using Pattern = sim::BackgroundTraffic::Pattern;
    source.traffic.pattern = pattern == "on-off" ? Pattern::kOnOff : Pattern::kPoisson;
    if (each.contains("bandwidth"))
      source.traffic.rate = parse_rate(each["bandwidth"].get<std::string>());
    take(each, "size", source.traffic.size);
    take(each, "on", source.traffic.on);
    take(each, "off", source.traffic.off);
    network.background.push_back(source);
  }
}

void fill_network(const ordered_json& json, const std::string& file, ScheduleFiles& files,
                  NetworkPlan& network) {
  const LinkReader read = [&](const ordered_json& link) { return link_of(link, file, files); };
  take(json, "topology", network.topology);
  fill_sizes(json, network);
  network.link = read(member(json, "link"));
  if (json.contains("server_link")) network.server_link = read(json["server_link"]);
  if (json.contains("uplink")) network.uplink = read(json["uplink"]);
  network.bottleneck = read(member(json, "bottleneck"));
  network.intra_link = read(member(json, "intra_link"));
  fill_cell(member(json, "cell"), network.cell);
  fill_traces(member(json, "traces"), file, files, network.traces);
  for (const ordered_json& each : member(json, "sites")) {
    NetworkPlan::Site site;
    take(each, "name", site.name);
    take(each, "workers", site.workers);
    network.sites.push_back(site);
  }
  fill_background(member(json, "background"), network);
  network.site_links = links_of(member(json, "site_links"), read);
  network.hosts = texts_of(member(json, "hosts"));
  network.switches = texts_of(member(json, "switches"));
  network.links = links_of(member(json, "links"), read);
  for (const ordered_json& each : member(json, "routes")) {
    NetworkPlan::ExplicitRoute route;
    take(each, "from", route.from);
    take(each, "to", route.to);
    route.via = texts_of(member(each, "via"));
    network.routes.push_back(route);
  }
  fill_transport(member(json, "transport"), file, network.transport);
}

/// Options at their defaults say nothing: one that a codec gains later must not change what older
/// scenarios hash to.
void drop_default_options(ordered_json& choice) {
  if (!choice.is_object()) return;
  for (auto& [key, value] : choice.items()) {
    if (key == "codec") drop_default_options(value);
    for (auto rule = value.begin(); key == "rules" && rule != value.end(); ++rule)
      drop_default_options(*rule);
  }
  const auto name = choice.find("name");
  const bool named = name != choice.end() && name->is_string();
  const compressors::CodecInfo* codec = named ? find_codec(name->get<std::string>()) : nullptr;
  if (!codec) return;
  for (const OptionSpec& option : codec->options) {
    const auto given = choice.find(option.name);
    Field field;
    field.spec = option;
    if (given != choice.end() && *given == default_value(field)) choice.erase(option.name);
  }
}

}  // namespace

std::string scenario_hash(const ordered_json& canonical) {
  ordered_json part = canonical;
  for (const Field& field : scenario_table().fields())
    if (field.free_of_hash && pointer_tokens(field.pointer).size() == 1)
      part.erase(field.spec.name);
  if (part.contains("method")) drop_default_options(part["method"]);
  Hasher hasher;
  hasher.add_text(part.dump());
  return hasher.hex();
}

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
  scenario.hash = scenario_hash(json);
}

}  // namespace gradwire::scenarios
