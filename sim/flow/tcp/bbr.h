#pragma once
#include <cstdint>

#include "sim/flow/tcp/delivery_rate.h"
#include "sim/flow/tcp/stream_numbers.h"

/// BBR, version 1 (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: BBR: Congestion-Based Congestion
/// Control, ACM Queue 14, 2016; draft-cardwell-iccrg-bbr-congestion-control-00), with the numbers
/// and the departures of ns-3 3.44's TcpBbr.
///
///     B  bandwidth: the largest delivery rate (delivery_rate.h) of 10 round trips, bits/s
///     R  round trip: the least one measured in 10 s
///     target = w B R + 3 segments (2 more while g = 1.25) + what acknowledgements come in bursts
///     window   grows by what is acknowledged, up to the target; 4 segments at least
///     pacing   0.99 g B, at most 4 Gbps; while the pipe is not full it never falls
///     start-up         g = w = 2.89, until B grew by less than a quarter in each of 3 round trips
///     drain            g = 1 / 2.89, w = 2.89, until no more than B R + 3 segments are in flight
///     probe bandwidth  w = 2, g = 1.25, 0.75, 1, 1, 1, 1, 1, 1 in turn, each for R or longer: 1.25
///                      until so much is in flight or something lost, 0.75 only until no more than
///                      B R + 3 segments are; it starts in a phase drawn from all but 0.75 and the
///                      one after it
///     probe round trip 4 segments at most, for 200 ms and a round trip, when R is older than 10 s
///     recovery         for a round trip as much is sent as is acknowledged; at the end the window
///                      of before, but the threshold (B R at the first drain) takes its place
/// ns-3's departures, kept: 2.89 is the paper's 2 / ln 2; R is measured in ticks of
/// 1 ms, so that on local links B R is next to nothing and the window stays at a few segments; a
/// recovery in start-up leaves a window without limit; a change of what counts as lost, in either
/// direction, is a loss; bursts of acknowledgements count for two segments at most; all
/// connections of a run draw the same phases (stream_numbers.h).
namespace gradwire::sim {

class Bbr {
 public:
  struct Settings {
    std::int64_t segment = 0;         ///< bytes
    std::int64_t initial_window = 0;  ///< bytes
    double round_trip = 0;            ///< s, that the handshake took
  };
  /// What an acknowledgement changed; bytes of payload.
  struct Acked {
    double now = 0;
    std::int64_t bytes = 0;            ///< delivered by the acknowledgement
    std::int64_t lost = 0;             ///< change of what counts as lost
    std::int64_t in_flight = 0;        ///< in flight after the acknowledgement
    std::int64_t prior_in_flight = 0;  ///< in flight before the acknowledgement
    std::int64_t delivered = 0;        ///< delivered in all
    double round_trip = 0;             ///< s, the last one measured
    bool recovering = false;
  };

  explicit Bbr(const Settings& settings);

  /// What chooses the first phases of probing; before anything is sent.
  void set_draws(const StreamNumbers& draws) { draws_ = draws; }

  std::int64_t window() const { return window_; }        ///< bytes
  double pacing_rate() const;                            ///< bytes/s of payload
  std::int64_t threshold() const { return threshold_; }  ///< bytes

  void on_ack(const Acked& acked, const RateSample& sample);
  /// Before a recovery begins, `in_flight` bytes and `acked` by the acknowledgement that shows it.
  void enter_recovery(std::int64_t in_flight, std::int64_t acked);
  /// A recovery ends: all that was sent before it began is acknowledged.
  void leave_recovery();
  /// `recovering`: during recovery. One segment is left.
  void on_timeout(bool recovering);
  /// Sending begins while nothing is in flight.
  void on_start(double now);

 private:
  enum class Mode : std::uint8_t { kStartUp, kDrain, kProbeBandwidth, kProbeRoundTrip };

  double product(double gain) const;
  std::int64_t in_flight_at(double gain) const;
  void set_pacing(double gain);
  void save_window(bool recovering);
  void count_round(const RateSample& sample, std::int64_t delivered);
  void count_bursts(const Acked& acked);
  void advance_phase(double now);
  bool ends_phase(const Acked& acked) const;
  void look_whether_full(const RateSample& sample);
  void drain(const Acked& acked);
  void probe_bandwidth(double now);
  void update_round_trip(const Acked& acked);
  void probe_round_trip(const Acked& acked);
  void end_round_trip_probe(double now);
  void set_window(const Acked& acked);

  std::int64_t segment_;
  std::int64_t initial_;
  Mode mode_ = Mode::kStartUp;
  std::int64_t window_;
  std::int64_t threshold_;
  std::int64_t prior_window_;
  double pacing_gain_;
  double window_gain_;
  std::int64_t pacing_ = 0;  ///< bits/s
  WindowedMax bandwidth_;    ///< bits/s
  double round_trip_;        ///< R, s
  double round_trip_time_ = 0;
  bool round_trip_expired_ = false;
  std::uint32_t round_ = 0;
  bool round_starts_ = false;
  std::int64_t round_end_ = 0;  ///< bytes delivered
  bool is_full_ = false;
  std::int64_t full_bandwidth_ = 0;
  int full_rounds_ = 0;
  bool conserves_ = false;
  int phase_ = 0;
  double phase_time_ = 0;
  StreamNumbers draws_;
  double probe_end_ = -1;  ///< s; < 0: the window has not come down yet
  bool probe_round_done_ = false;
  bool has_probed_ = false;  ///< a round trip, ever
  bool was_idle_ = false;
  // Bursts of acknowledgements
  std::int64_t bursts_[2] = {0, 0};  ///< bytes, of this and the former few rounds
  int burst_ = 0;                    ///< which of them is this
  int burst_rounds_ = 0;
  double burst_time_ = 0;
  std::int64_t burst_acked_ = 0;
};

}  // namespace gradwire::sim
