#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/step_graph.h"
#include "sim/session/executor.h"

/// What travels between a packet executor and its `gradwire-packet` program: frames of a 4-byte
/// length (little-endian) and that many bytes of CBOR, one request and one answer at a time. Before
/// an answer any number of {"progress": {"now", "events"}} may come, each proving that simulated
/// packets move. Arrays of numbers are byte strings in the machine's own layout: both ends are
/// always of one build, on one machine, and `open` compares kProtocolVersion.
///
/// | request | fields | answer |
/// |---|---|---|
/// | open | protocol, cluster, options | simulator |
/// | submit | template (an id), graph (where the id is new), drop (ids), bytes, seconds, | |
/// |  | not_before, after | graph, now |
/// | advance | until | more, now, events |
/// | cancel, forget | graph | now |
/// | timeline | graph | timeline |
/// | missing | graph | missing |
/// | unfinished | graph | text |
/// | channels | | channels |
/// | close | | |
/// | statistics | | events, segments |
///
/// An answer {"error": {"kind", "message"}} stands for an exception.
namespace gradwire::sim {

inline constexpr int kProtocolVersion = 4;
inline constexpr std::uint32_t kLargestFrame = 1u << 30;

nlohmann::json encode_cluster(const Cluster& cluster);
Cluster decode_cluster(const nlohmann::json& value);
nlohmann::json encode_options(const ExecutorOptions& options);
ExecutorOptions decode_options(const nlohmann::json& value);
nlohmann::json encode_graph(const GraphTemplate& graph);
GraphPtr decode_graph(const nlohmann::json& value);
nlohmann::json encode_events(const std::vector<Event>& events);
void decode_events(const nlohmann::json& value, std::vector<Event>& events);
nlohmann::json encode_timeline(const Timeline& timeline);
Timeline decode_timeline(const nlohmann::json& value);

nlohmann::json encode_missing(std::span<const MissingData> missing);
std::vector<MissingData> decode_missing(const nlohmann::json& value);

/// A frame, length included. Throws Error(kCapability) where it would be `limit` bytes or more.
std::vector<std::byte> encode_frame(const nlohmann::json& value, std::size_t limit = kLargestFrame);
std::uint32_t frame_length(const std::byte* four_bytes);

}  // namespace gradwire::sim
