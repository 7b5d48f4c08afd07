#include "sim/flow/tcp/paced_sender.h"

#include <algorithm>

namespace gradwire::sim {

void PacedSender::on_write(TcpOutput& out) {
  Scoreboard& board = out.board();
  const bool sends_all = board.lost() == 0 || board.next_lost() == Scoreboard::kNone;
  if (out.unsent() < out.path().segment && in_flight_ < out.congestion().size() && sends_all)
    rate_.limit(in_flight_);
}

void PacedSender::on_sent(const TcpOutput& out, double now, std::int64_t number) {
  const std::int64_t bytes = out.board().at(number).bytes;
  look(out);
  rate_.sent(now, number, in_flight_ == bytes);
  // The handshake counts as one byte.
  if (timer_ < kNever || out.sent() + 1 <= out.path().initial_window) return;
  timer_set_ = now;
  timer_ = now + static_cast<double>(bytes) / bbr_.pacing_rate();
}

void PacedSender::note_delivered(const TcpOutput& out, double now, std::uint64_t ack_number,
                                 std::int64_t upto, const TcpReceiver::OutOfOrderQueue& arrived) {
  const Scoreboard& board = out.board();
  prior_in_flight_ = in_flight_;
  prior_lost_ = board.lost();
  const auto note = [&](std::int64_t segment) {
    if (!board.at(segment).sacked) rate_.delivered(now, segment, board.at(segment).bytes);
  };
  arrived.visit([&](const TcpReceiver::OutOfOrder& each) {
    if (each.reported_by > ack_number) return false;
    if (each.segment >= upto) note(each.segment);
    return true;
  });
  for (std::int64_t i = board.first(); i < upto; ++i) note(i);
}

void PacedSender::on_ack(TcpOutput& out, double now, std::int64_t delivered, bool recovering) {
  rate_.forget_before(out.board().first());
  least_round_trip_ = std::min(least_round_trip_, out.round_trip().smoothed());
  Bbr::Acked acked;
  acked.now = now;
  acked.bytes = delivered;
  acked.lost = std::abs(out.board().lost() - prior_lost_);
  acked.in_flight = in_flight_;
  acked.prior_in_flight = prior_in_flight_;
  acked.delivered = rate_.total();
  acked.round_trip = round_trip_;
  acked.recovering = recovering;
  bbr_.on_ack(acked, rate_.sample(least_round_trip_));
  out.congestion().set_size(bbr_.window());
}

}  // namespace gradwire::sim
