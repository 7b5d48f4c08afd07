#pragma once
#include <limits>
#include <vector>

#include "sim/cluster/link.h"

namespace gradwire::sim {

/// What one channel carries as time goes on: its link's schedule, and its outages. A cursor: it
/// moves forward from change to change, or is put anywhere.
class RateFollower {
 public:
  /// `link` must outlive it. A Mahimahi trace counts IP packets: its opportunity of 1,500 bytes
  /// carries one with its framing, so that `wire_segment` bytes pass as wire_segment - kFraming.
  RateFollower(const Link& link, ChannelId channel, double wire_segment);
  static constexpr double kFraming = 38;  ///< Ethernet's, preamble and gap: bytes of a packet

  /// Whether the direction `channel` of the link ever changes; a station's always may.
  static bool is_needed(const Link& link, ChannelId channel) {
    const RateSchedulePtr& schedule = link.schedule(channel);
    const bool is_steady = !schedule || (link.cell < 0 && schedule->pieces().size() == 1 &&
                                         schedule->opportunities().empty());
    return !is_steady || !link.spec.outages.empty();
  }

  /// Stands at `now` >= 0 from here on.
  void seek(double now);
  /// Moves over all changes up to `now`, which is not before where it stands. Changes within a
  /// relative 1e-12 of `now` count as reached.
  void advance(double now);
  /// Bytes a second until the time next().
  double rate() const { return in_outage() ? 0 : rate_; }
  /// s, when the rate may change; infinity: never again.
  double next() const;
  bool in_outage() const;

 private:
  double piece_end() const;
  void take_piece() { rate_ = (*pieces_)[piece_].rate.value() * scale_; }

  const std::vector<RateSchedule::Piece>* pieces_ = nullptr;
  const std::vector<Outage>* outages_;
  double period_ = 0;
  double offset_ = 0;
  double scale_ = 1.0 / 8;  ///< bits of the schedule to bytes on the wire
  double rate_ = 0;
  double cycle_ = 0;  ///< of the schedule's repetitions
  double now_ = 0;
  std::size_t piece_ = 0;
  std::size_t outage_ = 0;  ///< the first that has not ended
};

}  // namespace gradwire::sim
