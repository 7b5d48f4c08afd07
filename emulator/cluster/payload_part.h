#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "emulator/exchange/payload_store.h"
#include "emulator/hosts/host_view.h"

/// How a host on a machine of its own, which shares no memory with the executor, comes to know what
/// a graph's messages hold: it is told over its control connection, in pieces, before it hears of
/// the graph, and keeps what it was told in a PayloadStore of its own.
namespace gradwire::emulator {

/// Of one host: the table of all messages, so that a row has one number everywhere, and behind it
/// the bytes of those that the host sends or receives. Other rows lead nowhere.
struct PayloadPart {
  std::uint64_t rows = 0;  ///< 0: the host has no message
  std::vector<std::byte> table_and_bytes;
};
PayloadPart part_of(const sim::Payloads& payloads, const HostView& view, int host);

/// Calls `send` with each of the part's pieces in turn; the host answers each of them, so that
/// nobody keeps more than one beside what the host has.
void send_part(sim::GraphId graph, const PayloadPart& part,
               const std::function<void(nlohmann::json)>& send);

/// A host's end.
class PayloadIntake {
 public:
  const PayloadStore& store() const { return store_; }
  /// A piece of send_part(); with the last one the graph's payloads are there.
  void take(const nlohmann::json& piece);
  void remove(sim::GraphId graph) { store_.remove(graph); }

 private:
  PayloadStore store_;
  std::vector<std::byte> so_far_;  ///< of the graph whose pieces come
};

}  // namespace gradwire::emulator
