#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "sim/graph/step_graph.h"
#include "sim/graph/timeline.h"

/// What hub, workers and lab say, read as one reads what others write: whatever they send is taken
/// or is an Error.
namespace gradwire::emulator {

/// What `read` gives. Throws Error where it meets a field that is missing, or is of another kind.
template <class Read>
auto understood(std::string_view what, Read&& read) {
  const auto refuse = [&](const std::exception& reason) {
    return Error(ErrorKind::kFailure, "read", what,
                 std::string("it makes no sense: ") + reason.what(),
                 "the process that sent it is broken, or no part of this version of gradwire");
  };
  try {
    return std::forward<Read>(read)();
  } catch (const nlohmann::json::exception& reason) {
    throw refuse(reason);
  } catch (const std::out_of_range& reason) {
    throw refuse(reason);
  }
}

/// A host's report of what it saw of an operation.
struct OperationReport {
  sim::GraphId graph = 0;
  sim::OpIndex op = 0;
  double start = -1;                      ///< s, of the machine's clock; < 0: not seen here
  std::array<std::int64_t, 4> sent = {};  ///< payload and wire bytes, transfers, retransmissions
  int source = -1;                        ///< rank whose part ended here; < 0: none
  double end = -1;                        ///< s: when it did
};
/// Throws Error.
OperationReport operation_report_from_json(const nlohmann::json& message);

/// What one host's connections have carried.
struct HostCounters {
  struct Connection {
    std::size_t peer = 0;
    std::int64_t bytes = 0;
    std::int64_t segments = 0;
  };
  std::size_t host = 0;
  std::vector<Connection> connections;
};
/// Throws Error also for hosts beyond `hosts`.
HostCounters host_counters_from_json(const nlohmann::json& message, std::size_t hosts);

/// A message's kind. Throws Error where it has none, and the Error that it carries where that is
/// "error".
std::string kind_of(const nlohmann::json& message);

}  // namespace gradwire::emulator
