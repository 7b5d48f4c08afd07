#include "runner/checkpoints/graph_bytes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/serial.h"

namespace gradwire::runner {
namespace {

template <class T>
void put_all(std::ostream& out, const std::vector<T>& values) {
  put_span(out, std::span<const T>(values));
}

template <class T>
void get_all(std::istream& in, std::vector<T>& values) {
  values = get_vector<T>(in);
}

/// Calls `field` for each member of a collective that has fixed size, but for its kind.
template <class Spec, class Field>
void each_spec_number(Spec& spec, Field&& field) {
  field(spec.server);
  field(spec.elements);
  field(spec.group);
  field(spec.window);
  field(spec.hop_fixed);
  field(spec.hop_per_element);
  field(spec.buffer);
}

template <class Spec, class Field>
void each_spec_list(Spec& spec, Field&& field) {
  field(spec.members);
  field(spec.neighbour_begin);
  field(spec.neighbour);
  field(spec.parent);
  field(spec.width_bits);
}

template <class Graph, class Field>
void each_column(Graph& graph, Field&& field) {
  field(graph.kind);
  field(graph.lane);
  field(graph.worker);
  field(graph.peer);
  field(graph.label);
  field(graph.meaning);
  field(graph.dependency_begin);
  field(graph.dependency);
  field(graph.bytes_begin);
}

/// [i] .. [i + 1] are ranges, one after the other, from 0 on.
bool are_begins(const std::vector<std::uint32_t>& begin) {
  return !begin.empty() && begin.front() == 0 && std::is_sorted(begin.begin(), begin.end());
}

bool is_whole(const sim::GraphTemplate& graph) {
  const std::size_t size = graph.size();
  bool whole = graph.lane.size() == size && graph.worker.size() == size &&
               graph.peer.size() == size && graph.label.size() == size &&
               graph.meaning.size() == size && graph.dependency_begin.size() == size + 1 &&
               graph.bytes_begin.size() == size + 1;
  whole = whole && are_begins(graph.dependency_begin) && are_begins(graph.bytes_begin) &&
          graph.dependency_begin.back() == graph.dependency.size() &&
          std::all_of(graph.dependency.begin(), graph.dependency.end(),
                      [&](sim::OpIndex op) { return op < size; });
  for (std::size_t op = 0; whole && op < size; ++op)
    whole = graph.label[op] < graph.labels.size() &&
            (graph.kind[op] != sim::OpKind::kCollective ||
             (graph.peer[op] >= 0 &&
              static_cast<std::size_t>(graph.peer[op]) < graph.collectives.size()));
  return whole;
}

}  // namespace

void save_graph(const sim::GraphTemplate& graph, std::ostream& out) {
  each_column(graph, [&](const auto& column) { put_all(out, column); });
  put<std::uint64_t>(out, graph.collectives.size());
  for (const sim::CollectiveSpec& spec : graph.collectives) {
    put(out, sim::number_of(spec.kind));
    each_spec_number(spec, [&](const auto& number) { put(out, number); });
    each_spec_list(spec, [&](const auto& list) { put_all(out, list); });
  }
  put<std::uint64_t>(out, graph.labels.size());
  for (const std::string& label : graph.labels) put_text(out, label);
  put(out, graph.hosts);
}

sim::GraphPtr load_graph(std::istream& in) {
  auto graph = std::make_unique<sim::GraphTemplate>();
  each_column(*graph, [&](auto& column) { get_all(in, column); });
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    sim::CollectiveSpec spec;
    const auto kind = get<std::uint8_t>(in);
    if (kind >= sim::collective_kinds().size()) refuse_checkpoint("a graph in it is not whole");
    spec.kind = sim::collective_numbered(kind);
    each_spec_number(spec, [&](auto& number) { number = get<std::decay_t<decltype(number)>>(in); });
    each_spec_list(spec, [&](auto& list) { get_all(in, list); });
    graph->collectives.push_back(std::move(spec));
  }
  for (auto left = get<std::uint64_t>(in); left > 0; --left) graph->labels.push_back(get_text(in));
  graph->hosts = get<int>(in);
  if (!is_whole(*graph)) refuse_checkpoint("a graph in it is not whole");
  return graph;
}

}  // namespace gradwire::runner
