#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/flow/flow_network.h"

namespace gradwire::runner {

/// How much a message of `bytes` is to simulate: 1, and .1 for each of its packets.
double work_of_message(double bytes);

/// How many of the first `items` can be simulated for `most_work`: at least one, unless that alone
/// is `kOneItem` times as much.
inline constexpr double kOneItem = 2;
template <class Item, class Work>
std::size_t affordable(const std::vector<Item>& items, double most_work, Work work_of) {
  if (items.empty() || work_of(items.front()) > kOneItem * most_work) return 0;
  double work = work_of(items.front());
  std::size_t count = 1;
  while (count < items.size() && (work += work_of(items[count])) <= most_work) ++count;
  return count;
}

/// Messages that the flow executor carries, each begun when it was planned to.
class SampledMessages {
 public:
  /// `cluster` must outlive it.
  SampledMessages(const sim::Cluster& cluster, const sim::TransportSettings& transport);

  /// Message `id` begins at `time`, s, not before now.
  void plan(double time, std::int64_t id, int source, int destination, double bytes);
  /// Until nothing is left: `received(id, time)` may plan further messages.
  void run(const std::function<void(std::int64_t id, double time)>& received);

 private:
  struct Begin {
    double time;
    std::int64_t id;
    int source, destination;
    Bytes bytes;
    bool operator>(const Begin& other) const {
      return std::tie(time, id) > std::tie(other.time, other.id);
    }
  };
  void start_due();

  sim::FlowNetwork network_;
  std::priority_queue<Begin, std::vector<Begin>, std::greater<>> agenda_;
};

/// Takes `times`, ascending, from `known`, which has the first of them or none; the others go on as
/// they did, stretched by what the later half of the first took in one and in the other: workers
/// that begin together are not as they are later.
void follow(const std::vector<double>& known, std::vector<double>& times);

}  // namespace gradwire::runner
