#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "sim/flow/tcp/bbr.h"
#include "sim/flow/tcp/delivery_rate.h"
#include "sim/flow/tcp/output.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::sim {

/// What BBR draws from in a session of that seed; any numbers where there is no BBR.
inline StreamNumbers phases_of(const TransportSettings& transport, std::uint64_t seed) {
  const bool paced = transport.congestion_control == TransportSettings::CongestionControl::kBbr;
  return paced ? StreamNumbers::of_bbr(seed) : StreamNumbers();
}

/// How fast a sender with BBR sends, not only how much. Once the initial window has been sent, the
/// next segment waits after each for
///     its payload / pacing rate
/// but what a recovery sends at once.
class PacedSender {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit PacedSender(const Bbr::Settings& settings)
      : bbr_(settings), round_trip_(settings.round_trip), least_round_trip_(settings.round_trip) {}

  void set_draws(const StreamNumbers& draws) { bbr_.set_draws(draws); }
  /// s: when the next segment may go out; infinite: at once.
  double timer() const { return timer_; }
  /// It goes off. Returns its time.
  double take_timer() { return std::exchange(timer_, kNever); }
  /// Of the timer and an acknowledgement at `ack`, whose last hop takes so long. Segments that are
  /// paced bring acknowledgements in their own rhythm, so that both often fall on one instant: then
  /// what was begun first comes first, the waiting or the acknowledgement's last hop.
  bool is_before(double ack, double last_hop) const {
    constexpr double kSameInstant = 1e-10;  // s
    if (std::abs(ack - timer_) > kSameInstant) return timer_ < ack;
    return timer_set_ <= ack - last_hop;
  }

  /// A message has been written: there may be less to send than the network would take.
  void on_write(TcpOutput& out);
  /// There is room, and perhaps nothing in flight.
  void before_send(const TcpOutput& out, double now) {
    if (in_flight_ == 0 && (out.unsent() > 0 || out.board().lost() > 0)) bbr_.on_start(now);
  }
  void on_sent(const TcpOutput& out, double now, std::int64_t number);
  /// Looks how much is in flight.
  void look(const TcpOutput& out) { in_flight_ = out.board().in_flight(); }
  void measured(double round_trip) { round_trip_ = round_trip; }
  /// What an acknowledgement is about to tell: segments beyond the first gap, then those before it.
  void note_delivered(const TcpOutput& out, double now, std::uint64_t ack_number, std::int64_t upto,
                      const TcpReceiver::OutOfOrderQueue& arrived);
  /// It has told so many bytes.
  void on_ack(TcpOutput& out, double now, std::int64_t delivered, bool recovering);
  void enter_recovery(std::int64_t delivered) { bbr_.enter_recovery(in_flight_, delivered); }
  void leave_recovery() { bbr_.leave_recovery(); }
  void time_out(const TcpOutput& out, bool recovering) {
    bbr_.on_timeout(recovering);
    timer_ = kNever;
    look(out);
  }

 private:
  Bbr bbr_;
  DeliveryRate rate_;
  double timer_ = kNever;
  double timer_set_ = 0;              ///< s: when that was decided
  double round_trip_;                 ///< s, the last one that was measured
  double least_round_trip_;           ///< s, of the smoothed ones
  std::int64_t in_flight_ = 0;        ///< bytes, as last looked at
  std::int64_t prior_in_flight_ = 0;  ///< ... before the acknowledgement at hand
  std::int64_t prior_lost_ = 0;
};

}  // namespace gradwire::sim
