#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "emulator/exchange/exchange_state.h"

/// The reading half of Exchange: cuts each connection's stream into messages and checks them.
namespace gradwire::emulator {
namespace {

/// Long messages are taken in pieces of this size: a piece is copied and checked while the next one
/// is on its way, and a wake-up a piece is cheap.
constexpr int kPiece = 64 * 1024;

/// Bytes read; 0 = nothing there now; -1 = the other end has closed.
std::ptrdiff_t read_into(const FileDescriptor& socket, std::byte* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::recv(socket.get(), to, size, MSG_DONTWAIT);
    if (got > 0) return got;
    if (got == 0 || errno == ECONNRESET) return -1;
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) throw system_error("receive from", "another worker", errno);
  }
}

[[noreturn]] void damaged(int host, const std::string& what) {
  throw Error(ErrorKind::kFailure, "receive from", "host " + std::to_string(host),
              "what arrived is not what was sent: " + what);
}

}  // namespace

void Exchange::read_some(Incoming& incoming) {
  const auto step = [&] {
    return incoming.header_done < sizeof(MessageHeader) ? read_header(incoming)
                                                        : read_payload(incoming);
  };
  while (incoming.socket.valid() && step()) {
  }
  if (!incoming.socket.valid()) return;
  const std::size_t left = incoming.header_done < sizeof(MessageHeader)
                               ? sizeof(MessageHeader) - incoming.header_done
                               : incoming.expected.size() - incoming.payload_done;
  const int wanted = static_cast<int>(std::min<std::size_t>(left, kPiece));
  if (wanted == incoming.low_water) return;
  incoming.low_water = wanted;
  set_low_water(incoming.socket, wanted);
}

bool Exchange::read_header(Incoming& incoming) {
  auto* bytes = reinterpret_cast<std::byte*>(&incoming.header);
  const std::ptrdiff_t got = read_into(incoming.socket, bytes + incoming.header_done,
                                       sizeof(MessageHeader) - incoming.header_done);
  if (got < 0) incoming.socket.close();
  if (got <= 0) return false;
  incoming.header_done += static_cast<std::size_t>(got);
  if (incoming.header_done == sizeof(MessageHeader)) begin_message(incoming);
  return true;
}

void Exchange::begin_message(Incoming& incoming) {
  const MessageHeader& header = incoming.header;
  if (header.kind < MessageKind::kHello || header.kind > MessageKind::kPong ||
      header.hop.bytes.count() < 0)
    damaged(incoming.host, "a header makes no sense");
  incoming.payload_done = 0;
  incoming.expected = {};
  if (header.kind == MessageKind::kData) {
    const auto size = static_cast<std::size_t>(header.hop.bytes.count());
    incoming.expected = expected_of(header, incoming.host);
    incoming.message = {header.op, header.hop, std::vector<std::byte>(size)};
  }
  if (incoming.expected.empty()) end_message(incoming);
}

std::span<const std::byte> Exchange::expected_of(const MessageHeader& header, int host) {
  const auto size = static_cast<std::size_t>(header.hop.bytes.count());
  if (header.payload == 0) return pattern_.slice(pattern_offset(header.op, header.hop), size);
  const auto found = payloads_ ? payloads_->row(header.graph, header.payload - 1) : std::nullopt;
  if (!found || !is_same_message(*found->message, header.op, header.hop))
    damaged(host, "its header names another message than the payload that it promises");
  return found->bytes;
}

bool Exchange::read_payload(Incoming& incoming) {
  std::byte* to = incoming.message.payload.data() + incoming.payload_done;
  const std::size_t size =
      std::min<std::size_t>(incoming.expected.size() - incoming.payload_done, kPiece);
  const std::ptrdiff_t got = read_into(incoming.socket, to, size);
  if (got < 0) damaged(incoming.host, "its connection ended in the middle of a message");
  if (got == 0) return false;
  const auto count = static_cast<std::size_t>(got);
  if (std::memcmp(to, incoming.expected.data() + incoming.payload_done, count) != 0)
    damaged(incoming.host, "payload differs within bytes " + std::to_string(incoming.payload_done) +
                               " to " + std::to_string(incoming.payload_done + count));
  incoming.payload_done += count;
  if (incoming.payload_done == incoming.expected.size()) end_message(incoming);
  return true;
}

void Exchange::end_message(Incoming& incoming) {
  incoming.header_done = 0;
  const MessageHeader& header = incoming.header;
  switch (header.kind) {
    case MessageKind::kHello:
      incoming.host = header.source_host;
      return;
    case MessageKind::kPing: {
      MessageHeader answer = header;
      answer.kind = MessageKind::kPong;
      answer.source_host = host_;
      enqueue(outgoing_to(header.source_host), answer, {});
      return;
    }
    case MessageKind::kPong:
      ++pongs_;
      changed_.notify_all();
      return;
    case MessageKind::kData:
      break;
  }
  if (cancelled_.contains(header.graph)) return;
  inbox_[{header.graph, header.op}].push_back(std::move(incoming.message));
  changed_.notify_all();
  on_message_(header.graph, header.op);
}

}  // namespace gradwire::emulator
