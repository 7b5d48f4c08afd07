#include "bridge/kineto/folder.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/gzip.h"
#include "base/joined_texts.h"
#include "base/plain_text.h"
#include "bridge/alike.h"
#include "bridge/kineto/events.h"
#include "bridge/kineto/trace.h"

namespace gradwire::bridge::kineto {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClock = "wall time of a profiler's traces";

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why,
                                const std::string& hint = "") {
  throw Error(ErrorKind::kFailure, "read traces", folder, why, hint);
}

/// As the profiler names them: *.json, or *.json.gz.
bool is_trace(const fs::path& path) {
  return path.extension() == ".json" ||
         (path.extension() == ".gz" && path.stem().extension() == ".json");
}

/// `other`: names of files that are none.
std::vector<std::string> traces_in(const std::string& folder, std::vector<std::string>& other) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (is_trace(entry.path()))
      paths.push_back(entry.path().string());
    else
      other.push_back(entry.path().filename().string());
  }
  if (error) refuse_folder(folder, error.message());
  if (paths.empty()) refuse_folder(folder, "it has no trace (*.json, *.json.gz)");
  std::ranges::sort(paths);
  std::ranges::sort(other);
  return paths;
}

/// A trace may have a gigabyte: it is copied where it is unpacked alone.
std::string read_bytes(const std::string& path) {
  if (fs::path(path).extension() != ".gz") return read_file(path);
  const std::vector<std::uint8_t> bytes = read_maybe_gzip(path);
  return {bytes.begin(), bytes.end()};
}

std::string read_text(const std::string& path) {
  std::string text = read_bytes(path);
  if (const auto wide = wide_encoding(text); !wide.empty())
    refuse_trace(path, "it is " + std::string(wide), "save it as UTF-8");
  return text;
}

/// Ranks in the world's numbers, and members that traces leave out.
void complete(Call& call, int rank, const std::vector<int>& group, const std::string& path) {
  if (!std::ranges::count(group, rank))
    refuse_trace(
        path, "its rank " + std::to_string(rank) + " calls in a process group that it is not in");
  if (is_point_to_point(call.kind) && call.peer < 0)
    refuse_trace(path,
                 "it does not say to or from whom a " + std::string(name_of(call.kind)) + " is");
  if (has_root(call.kind) && call.peer < 0) call.peer = 0;
  if (call.peer >= 0) {
    if (static_cast<std::size_t>(call.peer) >= group.size())
      refuse_trace(path, "a " + std::string(name_of(call.kind)) + " names rank " +
                             std::to_string(call.peer) + " of a group of " +
                             std::to_string(group.size()));
    call.peer = group[static_cast<std::size_t>(call.peer)];
  }
  if (call.kind == CallKind::kAllReduce || call.kind == CallKind::kReduceScatter ||
      call.kind == CallKind::kReduce)
    call.reduction = "sum";
  if (call.kind == CallKind::kAllToAll && call.parts.size() != group.size())
    call.set_parts(group.size(), call.elements / static_cast<std::int64_t>(group.size()));
}

class Joining {
 public:
  explicit Joining(const std::string& folder) : folder_(folder) {}

  void take(Trace trace, const std::string& path) {
    Recording& all = recording_;
    if (all.header.world == 0) {
      all.header.world = trace.world;
      all.events.resize(static_cast<std::size_t>(trace.world));
    }
    if (trace.world != all.header.world)
      refuse_folder(folder_, "its traces are of " + std::to_string(all.header.world) + " and of " +
                                 std::to_string(trace.world) + " ranks");
    auto& events = all.events[static_cast<std::size_t>(trace.rank)];
    if (!events.empty())
      refuse_folder(folder_, "two of its traces are of rank " + std::to_string(trace.rank));
    for (const auto& [name, ranks] : trace.groups) {
      const auto [known, added] = all.groups.try_emplace(name, ranks);
      if (!added && known->second != ranks)
        refuse_folder(folder_, "its traces do not agree on process group \"" + name + "\"");
    }
    groupless_ = groupless_ || !trace.names_groups;
    events = events_of(trace, path);
    std::size_t calls = 0;
    for (Event& event : events)
      if (event.kind == Event::Kind::kCall) {
        complete(event.call, trace.rank, group_of(event.call.group, path), path);
        ++calls;
      }
    left_out_ += trace.calls.size() - calls;
  }

  Recording finish() {
    recording_.header.clock = kClock;
    if (const int missing = fill_in_alike(recording_, folder_); missing > 0)
      recording_.header.clock += "; " + std::to_string(missing) + " ranks taken to be like others";
    recording_.whole = true;
    if (groupless_)
      note(
          "the traces name no process groups, as PyTorch before 2.3 writes them: each call is "
          "taken "
          "to be among all " +
          std::to_string(recording_.header.world) + " ranks");
    if (left_out_ > 0)
      note(std::to_string(left_out_) +
           " calls lie before the first whole step or behind the last, "
           "and are left out");
    return std::move(recording_);
  }

  void note(const std::string& text) { recording_.notes.push_back(text); }

 private:
  const std::vector<int>& group_of(const std::string& name, const std::string& path) const {
    const auto group = recording_.groups.find(name);
    if (group == recording_.groups.end())
      refuse_trace(path, "it does not say who is in process group \"" + name + "\"");
    return group->second;
  }

  std::string folder_;
  Recording recording_;
  bool groupless_ = false;    ///< a trace names no groups
  std::size_t left_out_ = 0;  ///< calls
};

}  // namespace

bool is_trace_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Recording read_traces(const std::string& folder) {
  Joining joining(folder);
  std::vector<std::string> other;
  for (const std::string& path : traces_in(folder, other))
    joining.take(parse_trace(read_text(path), path), path);
  if (!other.empty())
    joining.note("of the folder not read, since they are no *.json: " +
                 joined_texts(other, ", ", [](const std::string& name) { return name; }));
  return joining.finish();
}

Header read_traces_header(const std::string& folder) {
  std::vector<std::string> other;
  const std::string path = traces_in(folder, other).front();
  return {.world = parse_rank(read_text(path), path).world, .torch = "", .clock = kClock};
}

}  // namespace gradwire::bridge::kineto
