#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// The lost segments of a connection over links that lose in bursts (Gilbert 1960, Elliott 1963).
/// Each bursty channel of the path has a chain that moves once a segment; a segment is lost with
///     1 - product over the path of (1 - loss of that channel's present state).
/// All chains start in the good state. The chains of one connection are its own: two connections
/// over one link do not meet the same bursts. Of several chains one moves at a time.
///
/// Draws: with loss l and probability m that a chain moves, the first lost segment of a state is
/// geometric in l and the state's last one geometric in m, so that whole runs are one draw each.
/// Keyed by (seed, connection): the same whatever transfers the segments belong to.
class BurstChain {
 public:
  BurstChain(const Cluster& cluster, std::span<const ChannelId> route, std::uint64_t seed,
             std::uint32_t connection);

  static bool is_needed(const Cluster& cluster, std::span<const ChannelId> route);

  /// The first lost segment from number `from` of the connection on. `from` never falls.
  double next_lost(double from);

 private:
  struct Channel {
    BurstLoss burst;
    double good_loss = 0;
    bool bad = false;
    double move() const { return bad ? burst.leave : burst.enter; }
    double loss() const { return bad ? burst.loss : good_loss; }
  };
  double draw();
  double run(double p);
  void take_state();
  void move_one();
  double gap();

  std::vector<Channel> channels_;
  double plain_kept_ = 1;  ///< probability to pass the channels without bursts
  double loss_ = 0;        ///< of the present state
  double move_ = 0;
  double next_ = -1;  ///< the last one told
  RandomStream stream_;
  std::uint64_t draws_ = 0;
};

}  // namespace gradwire::sim
