#include "emulator/hub/graph_json.h"

#include "emulator/hub/frame.h"

namespace gradwire::emulator {
namespace {

template <typename T>
nlohmann::json blob(const std::vector<T>& values) {
  return to_blob(std::span<const T>(values));
}

nlohmann::json spec_to_json(const sim::CollectiveSpec& spec) {
  return {{"kind", sim::number_of(spec.kind)},
          {"members", blob(spec.members)},
          {"server", spec.server},
          {"elements", spec.elements},
          {"group", spec.group},
          {"window", spec.window},
          {"neighbour_begin", blob(spec.neighbour_begin)},
          {"neighbour", blob(spec.neighbour)},
          {"parent", blob(spec.parent)},
          {"width_bits", blob(spec.width_bits)},
          {"hop_fixed", spec.hop_fixed.value()},
          {"hop_per_element", spec.hop_per_element.value()},
          {"buffer", spec.buffer}};
}

sim::CollectiveSpec spec_from_json(const nlohmann::json& json) {
  sim::CollectiveSpec spec;
  spec.kind = sim::collective_numbered(json.at("kind").get<std::uint8_t>());
  spec.members = from_blob<std::int32_t>(json.at("members"));
  spec.server = json.at("server").get<std::int32_t>();
  spec.elements = json.at("elements").get<std::int64_t>();
  spec.group = json.at("group").get<std::int32_t>();
  spec.window = json.at("window").get<std::int32_t>();
  spec.neighbour_begin = from_blob<std::int32_t>(json.at("neighbour_begin"));
  spec.neighbour = from_blob<std::int32_t>(json.at("neighbour"));
  spec.parent = from_blob<std::int32_t>(json.at("parent"));
  spec.width_bits = from_blob<std::uint8_t>(json.at("width_bits"));
  spec.hop_fixed = Seconds(json.at("hop_fixed").get<double>());
  spec.hop_per_element = Seconds(json.at("hop_per_element").get<double>());
  spec.buffer = json.at("buffer").get<std::int32_t>();
  return spec;
}

}  // namespace

nlohmann::json to_json(const sim::GraphTemplate& graph) {
  nlohmann::json collectives = nlohmann::json::array();
  for (const sim::CollectiveSpec& spec : graph.collectives)
    collectives.push_back(spec_to_json(spec));
  return {{"op_kind", blob(graph.kind)},
          {"lane", blob(graph.lane)},
          {"worker", blob(graph.worker)},
          {"peer", blob(graph.peer)},
          {"label", blob(graph.label)},
          {"meaning", blob(graph.meaning)},
          {"dependency_begin", blob(graph.dependency_begin)},
          {"dependency", blob(graph.dependency)},
          {"bytes_begin", blob(graph.bytes_begin)},
          {"collectives", std::move(collectives)},
          {"labels", graph.labels},
          {"hosts", graph.hosts}};
}

sim::GraphPtr graph_from_json(const nlohmann::json& json) {
  auto graph = std::make_shared<sim::GraphTemplate>();
  graph->kind = from_blob<sim::OpKind>(json.at("op_kind"));
  graph->lane = from_blob<sim::Lane>(json.at("lane"));
  graph->worker = from_blob<std::int32_t>(json.at("worker"));
  graph->peer = from_blob<std::int32_t>(json.at("peer"));
  graph->label = from_blob<std::uint32_t>(json.at("label"));
  graph->meaning = from_blob<sim::TransferMeaning>(json.at("meaning"));
  graph->dependency_begin = from_blob<std::uint32_t>(json.at("dependency_begin"));
  graph->dependency = from_blob<sim::OpIndex>(json.at("dependency"));
  graph->bytes_begin = from_blob<std::uint32_t>(json.at("bytes_begin"));
  for (const nlohmann::json& spec : json.at("collectives"))
    graph->collectives.push_back(spec_from_json(spec));
  graph->labels = json.at("labels").get<std::vector<std::string>>();
  graph->hosts = json.at("hosts").get<int>();
  return graph;
}

}  // namespace gradwire::emulator
