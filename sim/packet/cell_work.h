#pragma once
#include <vector>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// Work of ns-3's radios for packets that cross cells; n stations in the cell:
///
///     Wi-Fi   (3.8 + 2.8 n) events a segment, its acknowledgements included: every station hears
///             every frame
///     LTE     (25 + 2 n) a segment, and 7,300 n for each second in which the cell is busy: the air
///             time of what is sent, up or down, whichever is more
///
/// Fitted to counts of 1 to 20 stations (Wi-Fi) and 1 to 50 (LTE). An event of a radio takes as
/// long as kRadioEffort of a wire's.
class CellWork {
 public:
  explicit CellWork(const Cluster& cluster)
      : cluster_(cluster), air_(2 * cluster.cells().size(), 0.0) {}

  /// Segments of `bytes` in all that cross a cell's channel: their events, less those of busy air.
  double add(ChannelId channel, double segments, Bytes bytes);
  /// Events of the time in which cells are busy, so far.
  double busy_events() const;

  static constexpr double kRadioEffort = 1.8;

 private:
  double stations(std::size_t cell) const {
    return static_cast<double>(cluster_.cells()[cell].stations.size());
  }

  const Cluster& cluster_;
  std::vector<double> air_;  ///< s, [2 * cell + (0: up, 1: down)]
};

}  // namespace gradwire::sim
