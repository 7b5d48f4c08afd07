#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/graph/collective.h"
#include "sim/graph/step_graph.h"

namespace gradwire::sim {

/// What the messages of one use of a graph hold, for executors that really send them; the others
/// pass over it. Either all of an operation's messages are there or none.
class Payloads {
 public:
  struct Message {
    OpIndex op = 0;
    HopTransfer hop;           ///< its size too; of a plain transfer as the interpreter has it
    std::uint64_t offset = 0;  ///< in bytes()
  };

  /// Copies `bytes`, hop.bytes of them. A message that is passed on as it came is stored once.
  void add(OpIndex op, const HopTransfer& hop, std::span<const std::byte> bytes);
  /// Of a plain transfer.
  void add(OpIndex op, std::span<const std::byte> bytes);

  std::span<const Message> messages() const { return messages_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<Message> messages_;
  std::vector<std::byte> bytes_;
  /// By where the bytes of the current operation lay: their place here.
  std::map<const std::byte*, std::uint64_t> stored_;
};

}  // namespace gradwire::sim
