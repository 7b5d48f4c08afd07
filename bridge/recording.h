#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/call.h"

/// A recording: what the ranks of a script told, as they told it. JSON lines, in order of arrival,
/// so that what a run that was killed has told is there; the keys are those of
/// python/gradwire_torch/messages.py. The first line says what it is:
///
///   {"e":"recording","version":1,"world":4,"torch":"2.11.0","clock":"thread CPU time",
///    "flops_per_s":9.7e10}
///   {"e":"group","r":0,"g":"0","ranks":[0,1,2,3]}
///   {"e":"call","r":0,"s":0.0123,"c":1,"g":"0","k":"all-reduce","n":1000,"w":4,"t":"float32",
///    "o":"sum","at":"train.py:42"}
///   {"e":"wait","r":0,"s":0.0004,"c":[1]}
///   {"e":"step","r":0,"s":0.0002}
///   {"e":"end","r":0,"s":0.01}
///
/// Where the first line has "alike":true, one rank stands for all (bridge/alike.h).
namespace gradwire::bridge {

inline constexpr int kRecordingVersion = 1;

struct Header {
  int world = 0;       ///< ranks of the script
  std::string torch;   ///< its version
  std::string clock;   ///< how compute was measured, in words
  bool alike = false;  ///< one rank stands for all
  /// Of fp32 matrix products in a second of one thread's processor time, by PyTorch on the machine
  /// that recorded (the first rank's; may be absent, older recordings have none).
  std::optional<double> flops_per_second = {};
  /// Of Chakra's traces: so many computing nodes tell operations in place of times. Seconds are
  /// then those of a device that makes flops_per_second of them. 0 = times are times.
  std::int64_t counted = 0;
};

struct Recording {
  Header header;
  std::map<std::string, std::vector<int>> groups;  ///< ranks by the group's name, in its order
  std::vector<std::vector<Event>> events;          ///< [world]
  bool whole = false;                              ///< every rank has told its end
  std::vector<std::string> notes;                  ///< what a reader took for granted, or left out
};

nlohmann::json to_json(const Header& header);
/// Its line's members, but for its number and group.
nlohmann::json to_json(const Call& call);
/// Both throw Error(kFailure) that says what is wrong with the message; `world`: its ranks.
Header header_of(const nlohmann::json& line);
Event event_of(const nlohmann::json& line, int world);
/// A line that tells who is in a group.
struct GroupLine {
  int rank = 0;
  std::string name;
  std::vector<int> ranks;
};
GroupLine group_of(const nlohmann::json& line, int world);

/// Reads a file, or a folder of a profiler's traces (bridge/kineto/folder.h) or of Chakra's
/// (bridge/chakra/traces.h). A last line that was
/// not finished is left out. Throws Error(kFailure) naming the file and the line.
Recording read_recording(const std::string& path);
/// Its first line alone. Throws as read_recording.
Header read_header(const std::string& path);
/// The same of a text; `path` is for messages.
Recording parse_recording(std::string_view text, const std::string& path);

}  // namespace gradwire::bridge
