#include "bridge/alike.h"

#include <algorithm>
#include <numeric>

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

constexpr std::size_t kMostEvents = 10'000'000;  ///< some 3 GB

void require_room(std::size_t ranks, std::size_t events, const std::string& source) {
  if (events == 0 || ranks <= kMostEvents / events) return;
  throw Error(ErrorKind::kFailure, "read recording", source,
              std::to_string(ranks) + " ranks with " + std::to_string(events) +
                  " events each are more than " + std::to_string(kMostEvents),
              "take fewer ranks, or record fewer steps");
}

void resize(Call& call, std::int64_t before, std::int64_t ranks) {
  const bool block = call.kind == CallKind::kAllGather || call.kind == CallKind::kGather ||
                     call.kind == CallKind::kScatter;
  if (block) call.elements = (call.elements * before + ranks - 1) / ranks;
  if (call.kind == CallKind::kAllToAll)
    call.set_parts(static_cast<std::size_t>(ranks), (call.elements + ranks - 1) / ranks);
  if (call.peer >= ranks) call.peer = 0;
}

}  // namespace

int fill_in_alike(Recording& recording, const std::string& source) {
  const auto told = [](const auto& events) { return !events.empty(); };
  const auto missing = recording.events.size() -
                       static_cast<std::size_t>(std::ranges::count_if(recording.events, told));
  const auto given = std::ranges::find_if(recording.events, told);
  if (missing == 0 || given == recording.events.end()) return 0;
  refuse_what_is_not_alike(recording, source);
  require_room(missing, given->size(), source);
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

Recording with_ranks(Recording recording, int ranks, const std::string& source) {
  fill_in_alike(recording, source);
  const int before = recording.header.world;
  if (ranks == before) return recording;
  refuse_what_is_not_alike(recording, source);
  recording.header.world = ranks;
  for (auto& [name, members] : recording.groups) {
    members.resize(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
  }
  auto recorded = std::move(recording.events);
  recording.events.clear();
  require_room(static_cast<std::size_t>(ranks), recorded.front().size(), source);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& events = recording.events.emplace_back(recorded[static_cast<std::size_t>(rank % before)]);
    for (Event& event : events) {
      event.rank = rank;
      if (event.kind == Event::Kind::kCall) resize(event.call, before, ranks);
    }
  }
  return recording;
}

}  // namespace gradwire::bridge
