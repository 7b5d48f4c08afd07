#include <functional>
#include <limits>

#include "scenarios/build/build_parts.h"
#include "scenarios/networks/calibrations.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

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
  if (protocol == "rdma") transport.protocol = Protocol::kRdma;
  if (protocol == "udp-lossy") transport.protocol = Protocol::kUdpLossy;
  take(json, "segment", transport.segment);
  take(json, "wire_segment", transport.wire_segment);
  take(json, "initial_window", transport.initial_window);
  take(json, "delayed_ack", transport.delayed_ack);
  take(json, "min_rto", transport.min_rto);
  take(json, "initial_rto", transport.initial_rto);
  take(json, "buffer", transport.buffer);
  take(json, "connections", transport.connections);
  if (json.contains("deadline"))
    transport.deadline = parse_duration(json["deadline"].get<std::string>());
  std::string calibration;
  take(json, "calibration", calibration);
  if (!calibration.empty()) transport.constants = load_calibration(calibration, file).constants;
}

/// After topology, sizes and adapters are there.
void fill_library(const ordered_json& json, NetworkPlan& network) {
  std::string name = "none", gpu;
  take(json, "name", name);
  if (name != "nccl") return;
  sim::NcclSettings& nccl = network.transport.library.emplace();
  take(json, "start", nccl.start);
  take(json, "latency", nccl.latency);
  take(json, "bandwidth", nccl.bandwidth);
  take(json, "between", nccl.network);
  take(json, "gpu", gpu);
  nccl.gpu = sim::nccl_gpu(gpu);
  if (network.topology == "gpu-nodes") {
    nccl.gpus_per_node = network.gpus_per_node;
    nccl.adapters = network.adapters;
  } else if (nccl.gpu) {
    nccl.gpus_per_node = std::numeric_limits<int>::max();
  }
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

void fill_explicit(const ordered_json& json, const LinkReader& read, NetworkPlan& network) {
  network.hosts = texts_of(member(json, "hosts"));
  network.switches = texts_of(member(json, "switches"));
  network.links = links_of(member(json, "links"), read);
  for (const ordered_json& each : member(json, "routes")) {
    NetworkPlan::ExplicitRoute& route = network.routes.emplace_back();
    take(each, "from", route.from);
    take(each, "to", route.to);
    route.via = texts_of(member(each, "via"));
  }
}

void fill_sites(const ordered_json& json, const LinkReader& read, NetworkPlan& network) {
  for (const ordered_json& each : member(json, "sites")) {
    NetworkPlan::Site& site = network.sites.emplace_back();
    take(each, "name", site.name);
    take(each, "workers", site.workers);
  }
  network.site_links = links_of(member(json, "site_links"), read);
}

}  // namespace

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
  fill_sites(json, read, network);
  fill_explicit(json, read, network);
  fill_background(member(json, "background"), network);
  fill_transport(member(json, "transport"), file, network.transport);
  take(json, "fold", network.fold);
  std::string detail;
  take(json, "detail", detail);
  network.detail = sim::detail_named(detail);
  fill_library(member(json, "library"), network);
}

}  // namespace gradwire::scenarios
