#include "bridge/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bridge/alike.h"
#include "bridge/chakra/traces.h"
#include "bridge/kineto/folder.h"

namespace gradwire::bridge {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostCalls = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::size_t kLongestText = 4096;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::kFailure, "understand", what, why);
}

const json& member(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end())
    refuse("a line of a recording", std::string("it has no \"") + key + "\"");
  return *found;
}

std::int64_t whole_number(const json& value, const char* key, std::int64_t least,
                          std::int64_t most) {
  if (!value.is_number_integer() || value < least || value > most)
    refuse(std::string("\"") + key + "\" of a recording",
           value.dump() + " is no whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
  return value.get<std::int64_t>();
}

std::int64_t whole_number(const json& line, const char* key, std::int64_t least, std::int64_t most,
                          std::int64_t otherwise) {
  const auto found = line.find(key);
  return found == line.end() ? otherwise : whole_number(*found, key, least, most);
}

std::string text(const json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end()) return {};
  if (!found->is_string() || found->get_ref<const std::string&>().size() > kLongestText)
    refuse(std::string("\"") + key + "\" of a recording", "it is no text, or a very long one");
  return found->get<std::string>();
}

Seconds seconds(const json& line) {
  const auto found = line.find("s");
  if (found == line.end()) return Seconds(0);
  const bool sound = found->is_number() && *found >= 0 && *found < 1e9;
  if (!sound) refuse("\"s\" of a recording", found->dump() + " is no time in seconds");
  return Seconds(found->get<double>());
}

std::optional<double> flops_per_second(const json& line) {
  const auto found = line.find("flops_per_s");
  if (found == line.end()) return std::nullopt;
  const bool sound = found->is_number() && *found > 0 && *found < 1e18;
  if (!sound)
    refuse("\"flops_per_s\" of a recording", found->dump() + " is no rate above 0 and below 1e18");
  return found->get<double>();
}

std::vector<std::int64_t> numbers(const json& line, const char* key, std::int64_t least,
                                  std::int64_t most) {
  const json& list = member(line, key);
  if (!list.is_array()) refuse(std::string("\"") + key + "\" of a recording", "it is no list");
  std::vector<std::int64_t> values;
  for (const json& value : list) values.push_back(whole_number(value, key, least, most));
  return values;
}

/// Elements to each rank; their sum is what the call sends.
void take_parts(const json& line, Call& call) {
  call.parts = numbers(line, "parts", 0, kMostElements);
  call.elements = 0;
  for (const std::int64_t part : call.parts)
    call.elements = std::min(kMostElements, call.elements + part);
}

Call call_of(const json& line, int world) {
  Call call;
  call.number = whole_number(member(line, "c"), "c", 1, kMostCalls);
  call.group = text(line, "g");
  const std::string kind = text(line, "k");
  const auto known = call_named(kind);
  if (!known) refuse("\"k\" of a recording", "there is no call \"" + kind + "\"");
  call.kind = *known;
  call.elements = whole_number(line, "n", 0, kMostElements, 0);
  call.width = static_cast<int>(whole_number(line, "w", 1, 16, 4));
  call.type = text(line, "t");
  call.reduction = text(line, "o");
  call.peer = static_cast<int>(whole_number(line, "p", 0, world - 1, -1));
  call.tag = static_cast<int>(whole_number(line, "tag", std::numeric_limits<int>::min(),
                                           std::numeric_limits<int>::max(), 0));
  if (call.kind == CallKind::kAllToAll) take_parts(line, call);
  call.place = text(line, "at");
  return call;
}

int rank_of(const json& line, int world) {
  return static_cast<int>(whole_number(member(line, "r"), "r", 0, world - 1));
}

Event::Kind kind_of(const std::string& name) {
  if (name == "call") return Event::Kind::kCall;
  if (name == "wait") return Event::Kind::kWait;
  if (name == "step") return Event::Kind::kStep;
  if (name == "end") return Event::Kind::kEnd;
  refuse("\"e\" of a recording", "there is no event \"" + name + "\"");
}

/// Reads a recording line by line.
class Reader {
 public:
  void take(const json& line) {
    const std::string event = text(line, "e");
    if (recording_.header.world == 0) return begin(line, event);
    const int world = recording_.header.world;
    if (event == "group") {
      GroupLine group = group_of(line, world);
      const auto [known, added] = recording_.groups.try_emplace(group.name, group.ranks);
      if (!added && known->second != group.ranks)
        refuse("group \"" + group.name + "\" of a recording", "its ranks do not agree on it");
      return;
    }
    Event next = event_of(line, world);
    recording_.events[static_cast<std::size_t>(next.rank)].push_back(std::move(next));
  }

  Recording finish(const std::string& path) {
    if (recording_.header.world == 0) refuse("the recording", "it is empty");
    if (recording_.header.alike) fill_in_alike(recording_, path);
    recording_.whole = std::ranges::all_of(recording_.events, [](const auto& events) {
      return !events.empty() && events.back().kind == Event::Kind::kEnd &&
             events.back().failure.empty();
    });
    return std::move(recording_);
  }

 private:
  void begin(const json& line, const std::string& event) {
    if (event != "recording") refuse("the file", "its first line is not that of a recording");
    recording_.header = header_of(line);
    recording_.events.resize(static_cast<std::size_t>(recording_.header.world));
  }

  Recording recording_;
};

}  // namespace

json to_json(const Header& header) {
  json line = {{"e", "recording"},
               {"version", kRecordingVersion},
               {"world", header.world},
               {"torch", header.torch},
               {"clock", header.clock}};
  if (header.alike) line["alike"] = true;
  if (header.flops_per_second) line["flops_per_s"] = *header.flops_per_second;
  return line;
}

json to_json(const Call& call) {
  json line = {{"k", name_of(call.kind)}, {"w", call.width}, {"t", call.type}};
  if (call.kind == CallKind::kAllToAll)
    line["parts"] = call.parts;
  else
    line["n"] = call.elements;
  if (!call.reduction.empty()) line["o"] = call.reduction;
  if (call.peer >= 0) line["p"] = call.peer;
  if (call.tag != 0) line["tag"] = call.tag;
  if (!call.place.empty()) line["at"] = call.place;
  return line;
}

Header header_of(const json& line) {
  if (whole_number(member(line, "version"), "version", 1, 1'000'000) != kRecordingVersion)
    refuse("the recording", "it has version " + line["version"].dump() +
                                ", and this program reads " + std::to_string(kRecordingVersion));
  Header header;
  header.world = static_cast<int>(whole_number(member(line, "world"), "world", 1, kMostRanks));
  header.torch = text(line, "torch");
  header.clock = text(line, "clock");
  const auto alike = line.find("alike");
  header.alike = alike != line.end() && *alike == true;
  header.flops_per_second = flops_per_second(line);
  return header;
}

Event event_of(const json& line, int world) {
  Event event;
  event.kind = kind_of(text(line, "e"));
  event.rank = rank_of(line, world);
  event.compute = seconds(line);
  if (event.kind == Event::Kind::kCall) event.call = call_of(line, world);
  if (event.kind == Event::Kind::kWait) event.waited = numbers(line, "c", 1, kMostCalls);
  if (event.kind == Event::Kind::kEnd) event.failure = text(line, "failure");
  return event;
}

GroupLine group_of(const json& line, int world) {
  GroupLine group;
  group.rank = rank_of(line, world);
  group.name = text(line, "g");
  for (const std::int64_t rank : numbers(line, "ranks", 0, world - 1))
    group.ranks.push_back(static_cast<int>(rank));
  std::vector<int> sorted = group.ranks;
  std::ranges::sort(sorted);
  const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
  if (twice || !std::ranges::binary_search(sorted, group.rank))
    refuse("group \"" + group.name + "\" of a recording",
           "its ranks are not all different, or rank " + std::to_string(group.rank) +
               " is not among them");
  return group;
}

Recording parse_recording(std::string_view contents, const std::string& path) {
  Reader reader;
  std::int64_t number = 0;
  try {
    while (!contents.empty()) {
      const std::size_t end = contents.find('\n');
      if (end == std::string_view::npos) break;  // its writer was killed in the middle of it
      ++number;
      reader.take(json::parse(contents.substr(0, end)));
      contents.remove_prefix(end + 1);
    }
    return reader.finish(path);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kFailure, "read recording", path + ":" + std::to_string(number),
                "it is no JSON object: " + std::string(error.what()));
  } catch (const Error& error) {
    throw Error(ErrorKind::kFailure, "read recording", path + ":" + std::to_string(number),
                error.what());
  }
}

Header read_header(const std::string& path) {
  if (chakra::is_trace_folder(path)) return chakra::read_traces_header(path);
  if (kineto::is_trace_folder(path)) return kineto::read_traces_header(path);
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file)
    throw Error(ErrorKind::kScenario, "read recording", path, std::strerror(errno),
                "check the path");
  if (!std::getline(file, line) || file.eof()) line.clear();
  const json first = json::parse(line, nullptr, false);
  if (first.is_discarded() || text(first, "e") != "recording")
    throw Error(ErrorKind::kFailure, "read recording", path,
                "its first line is not that of a recording");
  return header_of(first);
}

Recording read_recording(const std::string& path) {
  if (chakra::is_trace_folder(path)) return chakra::read_traces(path);
  if (kineto::is_trace_folder(path)) return kineto::read_traces(path);
  return parse_recording(read_file(path), path);
}

}  // namespace gradwire::bridge
