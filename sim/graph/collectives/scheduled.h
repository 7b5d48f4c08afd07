#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "sim/graph/collective.h"

/// Collectives in which each rank has a list of sends, in order, each of which waits for a number
/// of the rank's receives. The lists are computed, never stored.
namespace gradwire::sim {

/// One send of a rank.
struct PlannedSend {
  std::int32_t destination = 0;
  std::int32_t hop = 0;
  std::int32_t block = 0;
  std::int32_t contributors = 1;
  bool reduce = false;
  std::int32_t needs = 0;  ///< the rank's first so many receives come before it
};

class ScheduledGenerator : public CollectiveGenerator {
 public:
  ScheduledGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : spec_(spec),
        ranks_(static_cast<std::int32_t>(spec.members.size())),
        bytes_(bytes.begin(), bytes.end()),
        state_(spec.members.size()) {}

  /// Sends of a rank, and the i-th of them.
  virtual std::int32_t sends(std::int32_t rank) const = 0;
  virtual PlannedSend send(std::int32_t rank, std::int32_t index) const = 0;
  virtual std::int32_t receives(std::int32_t rank) const = 0;

  std::int32_t ranks() const { return ranks_; }
  /// All of a rank's sends, appended to `list`; returns it.
  std::vector<HopTransfer>& all_sends(std::int32_t rank, std::vector<HopTransfer>& list) const;

  std::int64_t transfers_total() const final;
  std::int64_t incoming(int rank) const final { return rank < 0 ? 0 : receives(rank); }
  void on_ready(int rank, std::vector<HopTransfer>& start) final;
  void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>& start) final;
  void on_sent(const HopTransfer& hop, std::vector<HopTransfer>& start) final;
  bool wants_sent() const final { return window() > 0; }
  bool expects(const HopTransfer& hop) const final;
  bool rank_done(int rank) const final;

 protected:
  /// Place of `hop` among its destination's receives, which count in that order: sums are the same
  /// whoever is faster. -1: any order will do (nothing is added, and no send waits).
  virtual std::int32_t receive_index(const HopTransfer&) const { return -1; }
  virtual Bytes size_of(std::int32_t rank, const PlannedSend& planned) const;
  /// Sends of a rank that may be on their way at once; 0 = all.
  virtual std::int32_t window() const { return 0; }

  const CollectiveSpec& spec_;
  std::int32_t ranks_;
  std::vector<Bytes> bytes_;

 private:
  struct RankState {
    std::int32_t received = 0;
    std::int32_t sent = 0;
    std::int32_t arrived = 0;  ///< of those sent
    bool ready = false;
  };
  struct Early {
    std::int32_t rank = 0;
    std::int32_t index = 0;
  };
  HopTransfer hop_of(std::int32_t rank, const PlannedSend& planned) const;
  bool take_early(std::int32_t rank, std::int32_t index);
  void send_what_may(std::int32_t rank, std::vector<HopTransfer>& start);

  std::vector<RankState> state_;
  std::vector<Early> early_;
};

/// What all ranks send together.
Bytes payload_of(const ScheduledGenerator& schedule);
/// Ranks to which `rank` sends, each once, ascending.
std::vector<std::int32_t> destinations_of(const ScheduledGenerator& schedule, std::int32_t rank);

/// The functions of a descriptor, by the class of its generator.
template <typename Generator>
struct Scheduled {
  static std::unique_ptr<CollectiveGenerator> generator(const CollectiveSpec& spec,
                                                        std::span<const Bytes> bytes) {
    return std::make_unique<Generator>(spec, bytes);
  }
  static Bytes payload(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
    return payload_of(Generator(spec, bytes));
  }
  /// The server takes no part.
  static std::vector<std::int32_t> destinations(const CollectiveSpec& spec, int rank) {
    if (rank < 0) return {};
    const std::vector<Bytes> no_bytes(spec.byte_slots());
    return destinations_of(Generator(spec, no_bytes), rank);
  }
};

}  // namespace gradwire::sim
