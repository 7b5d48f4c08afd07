#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bridge/chakra/groups.h"
#include "bridge/chakra/rank_trace.h"
#include "bridge/chakra/traces.h"

namespace gradwire::bridge::chakra {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClockOfOthers = "Chakra execution traces";

std::vector<int> ranks_in(const std::string& text, int world, const std::string& path) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int rank = -1;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error != std::errc() || rank < 0 || rank >= world)
      refuse_trace(path, "\"" + text + "\" are no ranks");
    ranks.push_back(rank);
    at = stop == end ? end : stop + 1;
  }
  return ranks;
}

/// By rank. The number in the name: NAME.RANK.et.
std::vector<std::string> files_in(const std::string& folder) {
  std::map<int, std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".et") continue;
    const std::string number = entry.path().stem().extension().string();
    int rank = -1;
    if (number.size() < 2 ||
        std::from_chars(number.data() + 1, number.data() + number.size(), rank).ec != std::errc() ||
        rank < 0)
      refuse_trace(entry.path().string(), "its name has no rank: NAME.RANK.et");
    if (!files.try_emplace(rank, entry.path().string()).second)
      refuse_trace(folder, "two of its files are of rank " + std::to_string(rank));
  }
  std::vector<std::string> paths;
  for (const auto& [rank, path] : files) {
    if (rank != static_cast<int>(paths.size()))
      refuse_trace(folder, "it has no file of rank " + std::to_string(paths.size()));
    paths.push_back(path);
  }
  if (paths.empty() || paths.size() > static_cast<std::size_t>(kMostRanks))
    refuse_trace(folder, "it has no trace (*.et), or more than " + std::to_string(kMostRanks));
  return paths;
}

void take_metadata(const GlobalMetadata& metadata, Recording& recording, const std::string& path) {
  for (const Attribute& attribute : metadata.attributes()) {
    const std::string_view name = attribute.name(), prefix = kGroupPrefix;
    if (name == kClock) recording.header.clock = attribute.string_value();
    if (name.starts_with(prefix))
      recording.groups[std::string(name.substr(prefix.size()))] =
          ranks_in(attribute.string_value(), recording.header.world, path);
  }
}

std::vector<Event> events_of(const RankTrace& trace, const Ranks& ranks, bool counted) {
  return trace.is_own() ? own_events(trace, ranks) : foreign_events(trace, ranks, counted);
}

/// All but the events, of which a first look at each file is enough.
Recording surveyed(const std::string& folder, const std::vector<std::string>& paths) {
  Recording recording;
  recording.header.world = static_cast<int>(paths.size());
  recording.header.clock = kClockOfOthers;
  std::vector<std::string> other;
  recording.groups = groups_in(folder, recording.header.world, other);
  for (const std::string& path : other) recording.notes.push_back(path + " is not read");
  Survey survey(recording.header.world);
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    const RankTrace trace(read_file(paths[rank]), paths[rank]);
    take_metadata(trace.metadata(), recording, paths[rank]);
    survey.add(trace, static_cast<int>(rank));
  }
  survey.complete(recording.groups, recording.notes);
  survey.note_unused(recording.notes);
  recording.header.counted = survey.counted(folder);
  if (recording.header.counted > 0) recording.header.flops_per_second = 1;
  return recording;
}

}  // namespace

bool is_trace_folder(const std::string& path) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".et") return true;
  return false;
}

std::vector<Event> parse_trace(std::string_view bytes, int rank, int world,
                               const std::string& path) {
  const RankTrace trace(bytes, path);
  Recording recording;
  recording.header.world = world;
  take_metadata(trace.metadata(), recording, path);
  Survey survey(world);
  survey.add(trace, rank);
  survey.complete(recording.groups, recording.notes);
  return events_of(trace, {rank, world, recording.groups}, survey.counted(path) > 0);
}

Recording read_traces(const std::string& folder) {
  const auto paths = files_in(folder);
  Recording recording = surveyed(folder, paths);
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    const RankTrace trace(read_file(paths[rank]), paths[rank]);
    const Ranks ranks{static_cast<int>(rank), recording.header.world, recording.groups};
    recording.events.push_back(events_of(trace, ranks, recording.header.counted > 0));
  }
  recording.whole = true;
  return recording;
}

Header read_traces_header(const std::string& folder) {
  return surveyed(folder, files_in(folder)).header;
}

}  // namespace gradwire::bridge::chakra
