#include "sim/transport/tcp_constants.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace gradwire::sim {

const TcpConstants& shared_constants(const TcpConstants& constants) {
  static std::mutex mutex;
  static std::list<TcpConstants> sets;  // a few: calibrations, and those that a fit tries
  const std::lock_guard lock(mutex);
  const auto found = std::find(sets.begin(), sets.end(), constants);
  if (found == sets.end()) return sets.emplace_front(constants);
  sets.splice(sets.begin(), sets, found);
  return sets.front();
}

}  // namespace gradwire::sim
