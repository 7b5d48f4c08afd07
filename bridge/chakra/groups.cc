#include "bridge/chakra/groups.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/file_descriptor.h"
#include "bridge/chakra/rank_trace.h"

namespace gradwire::bridge::chakra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Empty where the file is about something else.
std::optional<Groups> parse_groups(const std::string& path, int world) {
  const json file = json::parse(read_file(path), nullptr, false);
  if (!file.is_object() || file.empty()) return std::nullopt;
  Groups groups;
  for (const auto& [name, ranks] : file.items()) {
    if (!ranks.is_array()) return std::nullopt;
    std::vector<int>& members = groups[name];
    for (const json& rank : ranks) {
      if (!rank.is_number_integer()) return std::nullopt;
      if (rank < 0 || rank >= world)
        refuse_trace(path, "its group \"" + name + "\" has rank " + rank.dump() +
                               ", and there are traces of " + std::to_string(world) + " ranks");
      members.push_back(rank.get<int>());
    }
    const std::set<int> different(members.begin(), members.end());
    if (members.empty() || different.size() != members.size())
      refuse_trace(path, "its group \"" + name + "\" is empty, or has a rank twice");
  }
  return groups;
}

std::string counted_text(std::int64_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

}  // namespace

Groups groups_in(const std::string& folder, int world, std::vector<std::string>& other) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  Groups groups;
  for (const std::string& path : paths) {
    const auto read = parse_groups(path, world);
    if (!read) other.push_back(path);
    for (const auto& [name, ranks] : read.value_or(Groups())) {
      const auto [known, added] = groups.try_emplace(name, ranks);
      if (!added && known->second != ranks)
        refuse_trace(path, "another file says otherwise of who is in group \"" + name + "\"");
    }
  }
  return groups;
}

void Survey::add(const RankTrace& trace, int rank) {
  for (const Node& node : trace.nodes()) {
    if (is_call(node)) {
      callers_[text(node, kGroup)].insert(rank);
      continue;
    }
    const bool memory = node.type() == MEM_LOAD_NODE || node.type() == MEM_STORE_NODE;
    if (trace.is_own() || !(memory || node.type() == COMP_NODE)) continue;
    const bool timed = node.duration_micros() > 0, counted = number(node, kOperations) > 0;
    sized_ += !timed && number(node, kTensorSize) > 0;
    if (memory) {
      silent_memory_ += !timed;
      continue;
    }
    ++(timed && counted ? both_ : timed ? timed_ : counted ? counted_ : silent_);
  }
}

void Survey::complete(Groups& groups, std::vector<std::string>& notes) const {
  std::vector<int> all(static_cast<std::size_t>(world_));
  std::iota(all.begin(), all.end(), 0);
  const auto unnamed = static_cast<std::size_t>(callers_.contains(""));
  for (const auto& [name, callers] : callers_) {
    if (groups.contains(name)) continue;
    std::vector<int>& members = groups[name];
    members.assign(callers.begin(), callers.end());
    if (name.empty() || callers_.size() - unnamed == 1) members = all;
    if (name.empty() || static_cast<int>(members.size()) == world_) continue;
    notes.push_back("no comm_group.json says who is in group \"" + name + "\": taken to be the " +
                    std::to_string(members.size()) + " ranks that call in it");
  }
}

std::int64_t Survey::counted(const std::string& folder) const {
  if (counted_ > 0 && timed_ + both_ > 0)
    refuse_trace(folder,
                 std::to_string(counted_) + " of its " +
                     std::to_string(counted_ + timed_ + both_ + silent_) +
                     " computing nodes have operations (num_ops) and no duration "
                     "(duration_micros), and " +
                     std::to_string(timed_ + both_) + " have one",
                 "give all of them durations, or operations alone");
  return counted_;
}

void Survey::note_unused(std::vector<std::string>& notes) const {
  const auto note = [&](std::int64_t count, const char* what) {
    if (count > 0) notes.push_back(counted_text(count, what));
  };
  note(silent_,
       "computing nodes have neither a duration nor operations (num_ops), and take no time");
  note(silent_memory_, "memory nodes have no duration, and take no time");
  note(both_, "computing nodes have operations (num_ops) beside a duration; those are not used");
  note(sized_,
       "nodes without a duration say how large their tensors are (tensor_size), which is not used");
}

}  // namespace gradwire::bridge::chakra
