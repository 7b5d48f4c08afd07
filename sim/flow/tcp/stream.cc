#include "sim/flow/tcp/stream.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

/// Segments that `packet` keeps in a socket before they are sent: no message can take them back.
constexpr std::int64_t kInSocket = 256;

}  // namespace

TcpStream::TcpStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
                     SegmentCarrier* carrier)
    : out_(path, transport), receiver_(path->quickness), ns3_(out_) {
  if (carrier) out_.set_carrier(*carrier);
  if (transport.constants.kernel_recovery) linux_ = std::make_unique<LinuxSender>();
}

void TcpStream::note_handshake(double sent, double answered) {
  if (linux_) return;
  out_.round_trip().start(path().between(path().stamp(sent), path().stamp(answered)), path());
  ns3_.start(out_);
}

void TcpStream::write(double now, std::uint64_t id, std::int64_t bytes, bool more) {
  out_.messages().write(id, bytes);
  linux_ ? linux_->on_write(out_, now) : ns3_.on_write(out_, now, more);
}

void TcpStream::cancel(double now, std::uint64_t id) {
  const std::int64_t in_socket = linux_ ? 0 : kInSocket * path().segment;
  out_.messages().cancel(id, out_.sent(), out_.sent() + in_socket);
  out_.messages().arrive(received_, now);
}

/// All before the receiver's next segment has arrived: from segment `before` on it had not.
inline void TcpStream::note_arrival(std::int64_t before, double time) {
  for (; before < receiver_.next(); ++before) received_ += out_.original(before);
  out_.messages().arrive(received_, time);
}

void TcpStream::arrive(double time, std::int64_t number, std::int32_t wire, std::int32_t sent) {
  const std::int64_t before = receiver_.next();
  const bool is_last = unsent() == 0 && number + 1 == out_.board().end();
  const bool wanted = out_.constants().acknowledge_messages && is_last;
  receiver_.arrive(number, time, sent, wanted || (linux_ && linux_->ends_bundle(number)),
                   out_.segments_with(number, wire));
  note_arrival(before, time);
}

void TcpStream::take_over(double now, std::int64_t bytes, std::int32_t sent, double arrival) {
  out_.take_over(now, bytes);
  const std::int64_t before = receiver_.next();
  receiver_.arrive(out_.board().end() - 1, arrival, sent);
  note_arrival(before, arrival);
}

void TcpStream::acknowledge(double now, std::uint64_t number) {
  auto& acks = receiver_.acknowledgements();
  while (!acks.empty() && acks.begin() < number) acks.pop();
  if (acks.begin() != number || acks.empty()) return;
  const Acknowledgement next = acks.front();
  acks.pop();
  out_.know_offer();
  if (linux_) {
    linux_->on_ack(out_, now, next, number, receiver_.out_of_order());
  } else {
    ns3_.on_ack(out_, now, next, number, receiver_.out_of_order());
  }
}

bool TcpStream::run_timer(double ack) {
  if (!linux_) return ns3_.run_timer(out_, ack);
  if (ack <= out_.timer()) return false;
  linux_->on_timer(out_, receiver_);
  return true;
}

}  // namespace gradwire::sim
