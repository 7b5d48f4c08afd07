#pragma once
#include <vector>

#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// What a message takes between each worker and the server where their links repeat schedules, by
/// where these stand when it begins: with TCP's windows, full queues, and timeouts that double
/// while nothing passes. Each kind of links (schedules, rates, delays, queues, losses) is simulated
/// by the flow executor with one worker alone, whose pushes and pulls begin all over the schedules'
/// periods; workers of one kind differ by how far ahead their schedules are. What workers take from
/// one another on links that they share is not in it.
class MessageTimes {
 public:
  /// Whether each worker's own link repeats its schedules, no other link on the way to the server
  /// changes, and there are few enough kinds of links.
  static bool apply(const sim::Cluster& cluster);

  /// `push_bytes`, `pull_bytes`: of a message to the server and of one back, > 0. Precondition:
  /// apply().
  MessageTimes(const sim::Cluster& cluster, const sim::TransportSettings& transport,
               double push_bytes, double pull_bytes);

  /// s, of the worker's message that begins at `begin` >= 0; `draw` tells messages apart that
  /// begin at one place of a period.
  double push(int worker, double begin, int draw) const;
  double pull(int worker, double begin, int draw) const;

 private:
  /// Of one direction, by where in its period a message begins and by draw.
  struct Samples {
    double period = 0;  ///< s
    std::vector<double> seconds;
    double at(double begin, int draw) const;
  };
  struct Kind {
    std::vector<sim::LinkSpec> links;  ///< from worker to server; offsets 0
    Samples push, pull;
  };
  struct Worker {
    std::size_t kind = 0;
    double offset = 0;  ///< s: its schedules are so far ahead
  };

  std::vector<Kind> kinds_;
  std::vector<Worker> workers_;
};

}  // namespace gradwire::runner
