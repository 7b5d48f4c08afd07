#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bridge/chakra/wire.h"
#include "bridge/recording.h"

/// One rank's file of Chakra's messages, and its events.
namespace gradwire::bridge::chakra {

/// Throws Error(kFailure), "cannot read Chakra trace PATH: WHY".
[[noreturn]] void refuse_trace(const std::string& path, const std::string& why,
                               const std::string& remedy = "");

class RankTrace {
 public:
  /// Throws Error(kFailure) naming `path`: no such messages, two nodes of one number.
  RankTrace(std::string_view bytes, std::string path);

  const std::string& path() const { return path_; }
  const GlobalMetadata& metadata() const { return metadata_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Whether this program wrote it (bridge/chakra/writer.cc).
  bool is_own() const;
  /// Positions of the nodes that a node depends on, each once. Throws for one that is not there.
  std::vector<std::size_t> before(const Node& node) const;
  /// Positions in an order that dependencies allow: of those that may come calls first, then the
  /// lowest number. Throws where there is none.
  std::vector<std::size_t> order() const;

 private:
  std::string path_;
  GlobalMetadata metadata_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> position_;  ///< by number
};

bool is_call(const Node& node);

/// The groups that calls name: ranks by name. `world`: how many there are.
struct Ranks {
  int rank = 0;
  int world = 1;
  const std::map<std::string, std::vector<int>>& groups;
};

/// Of a trace that this program wrote, as they were.
std::vector<Event> own_events(const RankTrace& trace, const Ranks& ranks);

/// Of another's: nodes that compute run on the lanes of the host's processor and of the device
/// (where is_cpu_op tells them apart), calls when what they depend on is over. `counted`: seconds
/// are operations.
std::vector<Event> foreign_events(const RankTrace& trace, const Ranks& ranks, bool counted);

}  // namespace gradwire::bridge::chakra
