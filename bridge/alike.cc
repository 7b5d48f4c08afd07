#include "bridge/alike.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::bridge {
namespace {

void refuse_what_is_not_alike(const Recording& recording, const std::string& source) {
  const auto world = static_cast<std::size_t>(recording.header.world);
  for (const auto& events : recording.events)
    for (const Event& event : events) {
      if (event.kind != Event::Kind::kCall) continue;
      const auto group = recording.groups.find(event.call.group);
      const bool all = group != recording.groups.end() && group->second.size() == world;
      if (all && !is_point_to_point(event.call.kind)) continue;
      throw Error(ErrorKind::kFailure, "read recording", source,
                  "ranks that told nothing cannot be taken to be like others, since rank " +
                      std::to_string(event.rank) + " calls " + describe(event.call) +
                      " among some of them",
                  "record all ranks");
    }
}

}  // namespace

int fill_in_alike(Recording& recording, const std::string& source) {
  const auto told = [](const auto& events) { return !events.empty(); };
  const auto missing = recording.events.size() -
                       static_cast<std::size_t>(std::ranges::count_if(recording.events, told));
  const auto given = std::ranges::find_if(recording.events, told);
  if (missing == 0 || given == recording.events.end()) return 0;
  refuse_what_is_not_alike(recording, source);
  const std::vector<Event>* like = &*given;
  for (std::size_t rank = 0; rank < recording.events.size(); ++rank) {
    auto& events = recording.events[rank];
    if (events.empty()) {
      events = *like;
      for (Event& event : events) event.rank = static_cast<int>(rank);
    }
    like = &events;
  }
  return static_cast<int>(missing);
}

}  // namespace gradwire::bridge
