#pragma once
#include <optional>
#include <vector>

#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// Workers whose own links repeat schedules, by kind: schedules, rates, delays, queues, losses.
/// Workers of one kind differ by how far ahead their schedules are.
struct RepeatedLinks {
  struct Worker {
    std::size_t kind = 0;
    double offset = 0;  ///< s: its schedules are so far ahead
  };
  std::vector<std::vector<sim::LinkSpec>> kinds;  ///< [kind]: from worker to server; offsets 0
  std::vector<Worker> workers;
};

/// None where a worker's own link does not repeat its schedules, another link on the way to the
/// server changes, there is no server, or there are too many kinds of links.
std::optional<RepeatedLinks> repeated_links(const sim::Cluster& cluster);

/// What a message takes between each worker and the server where their links repeat schedules, by
/// where these stand when it begins: with TCP's windows, full queues, and timeouts that double
/// while nothing passes. Each kind of links is simulated by the flow executor with one worker
/// alone, whose pushes and pulls begin all over the schedules' periods. What workers take from one
/// another on links that they share is not in it.
class MessageTimes {
 public:
  /// `push_bytes`, `pull_bytes`: of a message to the server and of one back, > 0.
  MessageTimes(const RepeatedLinks& links, const sim::TransportSettings& transport,
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
    Samples push, pull;
  };

  std::vector<Kind> kinds_;
  std::vector<RepeatedLinks::Worker> workers_;
};

}  // namespace gradwire::runner
