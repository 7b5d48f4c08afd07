#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <type_traits>

#include "emulator/exchange/exchange.h"

/// What emulator/exchange/exchange.cc and exchange_read.cc share: the message on the wire and the
/// state of a connection.
namespace gradwire::emulator {

enum class MessageKind : std::uint32_t { kHello = 0x47570001, kData, kPing, kPong };

/// In host byte order: both ends are processes of one machine.
struct MessageHeader {
  MessageKind kind = MessageKind::kData;
  std::int32_t source_host = 0;
  GraphId graph = 0;
  sim::HopTransfer hop;
  OpIndex op = 0;
  std::uint32_t payload = 0;  ///< 0: of the pattern; else its row of the graph's payloads, plus 1
};

static_assert(std::is_trivially_copyable_v<MessageHeader> &&
              sizeof(MessageHeader) == kMessageHeaderBytes);

/// A message on its way out; `done` bytes of header and payload are with the kernel.
struct UnsentMessage {
  MessageHeader header;
  std::span<const std::byte> payload;
  std::size_t done = 0;
};

struct Exchange::Outgoing {
  FileDescriptor socket;
  std::deque<UnsentMessage> queue;
  std::int64_t retransmissions_told = 0;
};

struct Exchange::Incoming {
  FileDescriptor socket;
  int host = -1;  ///< known after its hello
  MessageHeader header;
  std::size_t header_done = 0;
  sim::WireMessage message;
  std::span<const std::byte> expected;  ///< of the payload
  std::size_t payload_done = 0;
  int low_water = 1;
};

}  // namespace gradwire::emulator
