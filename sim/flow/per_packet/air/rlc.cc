#include "sim/flow/per_packet/air/rlc.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kStatusProhibit = 10e-3;  // s
constexpr double kReportAgain = 20e-3;
constexpr double kPollAgain = 20e-3;
constexpr double kRlcBuffer = 1e6;  // bytes
constexpr double kStatusBytes = 4;
constexpr double kRlcFraming = 38;  // of a packet on a wire, which the air does not carry
constexpr double kPdcpHeader = 2, kRlcHeader = 4;
constexpr double kLongest = 2047;  // that 11 bits of a length can say

double air_bytes(const AirPacket& packet) {
  return packet.wire - kRlcFraming + kPdcpHeader;
}

}  // namespace

void Rlc::report(double now) {
  const Report now_told{bytes_, again_bytes_ + unacknowledged_bytes_,
                        may_report_status(now) ? kStatusBytes : 0};
  if (now_told.sum() <= 0) return;
  told_ = now_told;
  news_ = true;
}

bool Rlc::has_room(const AirPacket& packet) const {
  return bytes_ + air_bytes(packet) <= kRlcBuffer;
}

bool Rlc::push(double now, const AirPacket& packet) {
  const bool fits = has_room(packet);
  if (fits) {
    waiting_.push_back(packet);
    bytes_ += air_bytes(packet);
  }
  report(now);
  report_at_ = now + kReportAgain;
  return fits;
}

Rlc::Pdu Rlc::send(double now, double bytes) {
  Pdu pdu;
  if (may_report_status(now)) {
    owes_ = false;
    silent_until_ = now + kStatusProhibit;
    pdu.is_status = true;
    pdu.number = received_;
    return pdu;
  }
  if (!again_.empty()) {
    if (again_.front().bytes > bytes) return pdu;  // it waits for more
    const Sent sent = again_.front();
    again_.pop_front();
    again_bytes_ -= sent.bytes;
    unacknowledged_bytes_ += sent.bytes;
    pdu.polls = (again_.empty() && waiting_.empty()) || polls_next_;
    if (pdu.polls) {
      poll_at_ = now + kPollAgain;
      polls_next_ = false;
    }
    pdu.number = sent.number;
    unacknowledged_.push_back(sent);
    return pdu;
  }
  return waiting_.empty() ? pdu : send_data(now, bytes);
}

Rlc::Pdu Rlc::send_data(double now, double bytes) {
  Pdu pdu;
  pdu.number = next_++;
  double left = bytes - kRlcHeader;
  bool goes_on = true;
  for (int count = 1; goes_on && left > 0 && !waiting_.empty(); ++count) {
    const double rest = air_bytes(waiting_.front()) - begun_;
    const double part = std::min(rest, left);
    bytes_ -= part;
    left -= part;
    if (part < rest) {
      begun_ += part;
      break;
    }
    begun_ = 0;
    pdu.packets.push_back(waiting_.front());
    waiting_.pop_front();
    // The last one's length is not said, nor that of one too long for the field; two lengths share
    // three bytes.
    goes_on = left > 2 && rest <= kLongest && !waiting_.empty();
    if (goes_on) left -= count % 2 == 1 ? 2 : 1;
  }
  if (waiting_.empty()) bytes_ = 0;
  const double size = bytes - std::max(0.0, left);
  unacknowledged_.push_back({pdu.number, size});
  unacknowledged_bytes_ += size;
  poll_at_ = now + kPollAgain;
  polls_next_ = false;
  pdu.polls = true;
  return pdu;
}

/// Bytes of those that are acknowledged.
double Rlc::acknowledge(std::deque<Sent>& sent, std::int64_t before) {
  double bytes = 0;
  std::erase_if(sent, [&](const Sent& each) {
    if (each.number >= before) return false;
    bytes += each.bytes;
    return true;
  });
  return bytes;
}

void Rlc::receive(double now, const Pdu& pdu, std::vector<AirPacket>& through) {
  if (pdu.is_status) {
    unacknowledged_bytes_ -= acknowledge(unacknowledged_, pdu.number);
    again_bytes_ -= acknowledge(again_, pdu.number);
    if (pdu.number >= next_) poll_at_ = kNever;
    return;
  }
  owes_ = owes_ || pdu.polls;
  if (pdu.polls && now >= silent_until_ - kSameTime) report(now);
  received_ = std::max(received_, pdu.number + 1);
  through.insert(through.end(), pdu.packets.begin(), pdu.packets.end());
}

void Rlc::run(double now) {
  if (poll_at_ <= now + kSameTime) {
    poll_at_ = kNever;
    polls_next_ = true;
    if (waiting_.empty() && again_.empty()) {
      again_.swap(unacknowledged_);
      again_bytes_ = std::exchange(unacknowledged_bytes_, 0);
    }
    report(now);
  }
  if (report_at_ <= now + kSameTime) {
    const bool any = bytes_ + unacknowledged_bytes_ + again_bytes_ > 0;
    if (any) report(now);
    report_at_ = any ? now + kReportAgain : kNever;
  }
}

}  // namespace gradwire::sim
