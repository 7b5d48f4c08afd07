#include "sim/packet/wire_format.h"

#include <algorithm>
#include <utility>

#include "sim/packet/link_wire_format.h"
#include "sim/packet/packed.h"

namespace gradwire::sim {
namespace {

using nlohmann::json;

json encode_collective(const CollectiveSpec& spec) {
  return json{{"kind", number_of(spec.kind)},
              {"members", pack(spec.members)},
              {"server", spec.server},
              {"elements", spec.elements},
              {"group", spec.group},
              {"window", spec.window},
              {"neighbour_begin", pack(spec.neighbour_begin)},
              {"neighbour", pack(spec.neighbour)},
              {"parent", pack(spec.parent)},
              {"width_bits", pack(spec.width_bits)},
              {"hop_fixed", spec.hop_fixed.value()},
              {"hop_per_element", spec.hop_per_element.value()},
              {"buffer", spec.buffer}};
}

CollectiveSpec decode_collective(const json& value) {
  CollectiveSpec spec;
  spec.kind = collective_numbered(value.at("kind").get<std::uint8_t>());
  spec.members = unpack<std::int32_t>(value.at("members"));
  spec.server = value.at("server");
  spec.elements = value.at("elements");
  spec.group = value.at("group");
  spec.window = value.at("window");
  spec.neighbour_begin = unpack<std::int32_t>(value.at("neighbour_begin"));
  spec.neighbour = unpack<std::int32_t>(value.at("neighbour"));
  spec.parent = unpack<std::int32_t>(value.at("parent"));
  spec.width_bits = unpack<std::uint8_t>(value.at("width_bits"));
  spec.hop_fixed = Seconds(value.at("hop_fixed").get<double>());
  spec.hop_per_element = Seconds(value.at("hop_per_element").get<double>());
  spec.buffer = value.at("buffer");
  return spec;
}

/// [host, spread, absences] of each that is not plain.
json encode_host_plans(const Cluster& cluster) {
  json plans = json::array();
  for (int host = 0; host < cluster.host_count(); ++host)
    if (const HostPlan* plan = cluster.host_plan(host))
      plans.push_back(json::array({host, plan->spread, pack(plan->absences)}));
  return plans;
}

}  // namespace

json encode_cluster(const Cluster& cluster) {
  json nodes = json::array();
  for (std::size_t node = 0; node < cluster.node_names().size(); ++node)
    nodes.push_back(
        json::array({cluster.node_names()[node], cluster.is_host(static_cast<NodeId>(node))}));
  json routes = json::array();
  for (const FixedRoute& route : cluster.fixed_routes())
    routes.push_back(json::array({route.source, route.destination, pack(route.via)}));
  const Routing& routing = cluster.routing();
  return json{{"nodes", nodes},
              {"network", encode_links(cluster)},
              {"servers", cluster.servers()},
              {"routes", routes},
              {"host_plans", encode_host_plans(cluster)},
              {"background", pack(cluster.background())},
              {"routing", {static_cast<int>(routing.kind), routing.columns, routing.rows}}};
}

Cluster decode_cluster(const json& value) {
  Cluster cluster;
  for (const json& node : value.at("nodes")) {
    const std::string name = node.at(0);
    node.at(1).get<bool>() ? cluster.add_host(name) : cluster.add_switch(name);
  }
  decode_links(value.at("network"), cluster);
  for (const json& route : value.at("routes"))
    cluster.add_route({route.at(0), route.at(1), unpack<NodeId>(route.at(2))});
  const json& routing = value.at("routing");
  cluster.set_routing(
      {static_cast<Routing::Kind>(routing.at(0).get<int>()), routing.at(1), routing.at(2)});
  cluster.finish(value.at("servers"));
  for (const json& plan : value.at("host_plans"))
    cluster.set_host_plan(plan.at(0), {plan.at(1), unpack<HostPlan::Absence>(plan.at(2))});
  for (const auto& traffic : unpack<BackgroundTraffic>(value.at("background")))
    cluster.add_background(traffic);
  return cluster;
}

json encode_options(const ExecutorOptions& options) {
  const TransportSettings& transport = options.transport;
  return json{{"congestion_control", static_cast<int>(transport.congestion_control)},
              {"transport", static_cast<int>(transport.protocol)},
              {"segment", transport.segment.count()},
              {"wire_segment", transport.wire_segment.count()},
              {"initial_window", transport.initial_window},
              {"delayed_ack", transport.delayed_ack.value()},
              {"min_rto", transport.min_rto.value()},
              {"initial_rto", transport.initial_rto.value()},
              {"buffer", transport.buffer.count()},
              {"connections", transport.connections},
              {"deadline", transport.deadline ? json(transport.deadline->value()) : json()},
              {"seed", options.seed},
              {"transfer_limit", options.transfer_limit.value()},
              {"wall_limit", options.wall_limit.value()},
              {"count_segments", options.count_segments},
              {"pcap_folder", options.pcap_folder},
              {"flow_monitor", options.flow_monitor}};
}

ExecutorOptions decode_options(const json& value) {
  ExecutorOptions options;
  TransportSettings& transport = options.transport;
  transport.congestion_control =
      static_cast<TransportSettings::CongestionControl>(value.at("congestion_control").get<int>());
  transport.protocol = static_cast<TransportSettings::Protocol>(value.at("transport").get<int>());
  transport.segment = Bytes(value.at("segment").get<std::int64_t>());
  transport.wire_segment = Bytes(value.at("wire_segment").get<std::int64_t>());
  transport.initial_window = value.at("initial_window");
  transport.delayed_ack = Seconds(value.at("delayed_ack").get<double>());
  transport.min_rto = Seconds(value.at("min_rto").get<double>());
  transport.initial_rto = Seconds(value.at("initial_rto").get<double>());
  transport.buffer = Bytes(value.at("buffer").get<std::int64_t>());
  transport.connections = value.at("connections");
  if (const json& deadline = value.at("deadline"); !deadline.is_null())
    transport.deadline = Seconds(deadline.get<double>());
  options.seed = value.at("seed");
  options.transfer_limit = Seconds(value.at("transfer_limit").get<double>());
  options.wall_limit = Seconds(value.at("wall_limit").get<double>());
  options.count_segments = value.at("count_segments");
  options.pcap_folder = value.at("pcap_folder");
  options.flow_monitor = value.at("flow_monitor");
  return options;
}

json encode_graph(const GraphTemplate& graph) {
  json collectives = json::array();
  for (const CollectiveSpec& spec : graph.collectives)
    collectives.push_back(encode_collective(spec));
  return json{{"kind", pack(graph.kind)},
              {"lane", pack(graph.lane)},
              {"worker", pack(graph.worker)},
              {"peer", pack(graph.peer)},
              {"dependency_begin", pack(graph.dependency_begin)},
              {"dependency", pack(graph.dependency)},
              {"bytes_begin", pack(graph.bytes_begin)},
              {"collectives", collectives},
              {"label", pack(graph.label)},
              {"labels", graph.labels},
              {"hosts", graph.hosts}};
}

GraphPtr decode_graph(const json& value) {
  auto graph = std::make_shared<GraphTemplate>();
  graph->kind = unpack<OpKind>(value.at("kind"));
  graph->lane = unpack<Lane>(value.at("lane"));
  graph->worker = unpack<std::int32_t>(value.at("worker"));
  graph->peer = unpack<std::int32_t>(value.at("peer"));
  graph->dependency_begin = unpack<std::uint32_t>(value.at("dependency_begin"));
  graph->dependency = unpack<OpIndex>(value.at("dependency"));
  graph->bytes_begin = unpack<std::uint32_t>(value.at("bytes_begin"));
  for (const json& spec : value.at("collectives"))
    graph->collectives.push_back(decode_collective(spec));
  graph->label = unpack<std::uint32_t>(value.at("label"));
  graph->labels = value.at("labels").get<std::vector<std::string>>();
  graph->hosts = value.at("hosts");
  graph->meaning.resize(graph->kind.size());  // data do not move here
  return graph;
}

json encode_events(const std::vector<Event>& events) {
  json result = json::array();
  for (const Event& event : events)
    result.push_back(json::array({event.time.value(), static_cast<int>(event.kind), event.op.graph,
                                  event.op.op, event.host}));
  return result;
}

void decode_events(const json& value, std::vector<Event>& events) {
  for (const json& item : value) {
    Event event;
    event.time = Seconds(item.at(0).get<double>());
    event.kind = static_cast<EventKind>(item.at(1).get<int>());
    event.op = OpRef{item.at(2).get<GraphId>(), item.at(3).get<OpIndex>()};
    event.host = item.at(4);
    events.push_back(event);
  }
}

json encode_timeline(const Timeline& timeline) {
  json ranks = json::array();
  for (const auto& times : timeline.rank_done) ranks.push_back(pack(times));
  return json{{"graph", timeline.graph},
              {"ops", pack(timeline.ops)},
              {"rank_done", ranks},
              {"start", timeline.start.value()},
              {"end", timeline.end.value()}};
}

Timeline decode_timeline(const json& value) {
  Timeline timeline;
  timeline.graph = value.at("graph");
  timeline.ops = unpack<OpRecord>(value.at("ops"));
  for (const json& times : value.at("rank_done"))
    timeline.rank_done.push_back(unpack<Seconds>(times));
  timeline.start = Seconds(value.at("start").get<double>());
  timeline.end = Seconds(value.at("end").get<double>());
  return timeline;
}

json encode_missing(std::span<const MissingData> missing) {
  json list = json::array();
  for (const MissingData& each : missing)
    list.push_back(json::array({each.op, pack(std::span(&each.hop, 1)), pack(each.ranges)}));
  return list;
}

std::vector<MissingData> decode_missing(const json& value) {
  std::vector<MissingData> missing;
  for (const json& each : value)
    missing.push_back({each.at(0).get<OpIndex>(), unpack<HopTransfer>(each.at(1)).at(0),
                       unpack<ByteRange>(each.at(2))});
  return missing;
}

std::vector<std::byte> encode_frame(const json& value, std::size_t limit) {
  std::vector<std::uint8_t> body(4);
  json::to_cbor(value, body);
  const std::size_t length = body.size() - 4;
  if (length >= limit)
    throw Error(ErrorKind::kCapability, "pass", "a message between gradwire and gradwire-packet",
                "it has " + std::to_string(length) + " bytes, and " + std::to_string(limit) +
                    " are too many",
                "take fewer workers or operations a step, or executor 'flow'");
  for (std::size_t i = 0; i < 4; ++i) body[i] = static_cast<std::uint8_t>(length >> (8 * i));
  std::vector<std::byte> frame(body.size());
  std::memcpy(frame.data(), body.data(), body.size());
  return frame;
}

std::uint32_t frame_length(const std::byte* four_bytes) {
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = (length << 8) | static_cast<std::uint32_t>(four_bytes[i]);
  return length;
}

}  // namespace gradwire::sim
