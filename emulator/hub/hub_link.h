#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/child_process.h"
#include "base/units.h"
#include "emulator/hub/frame.h"

/// The executor's end of the pipes to the hub.
namespace gradwire::emulator {

class HubLink {
 public:
  /// Starts the hub, which has the descriptor `inherited`, too. Throws Error(kCapability) if its
  /// program is missing.
  HubLink(const std::string& program, int inherited);

  void send(std::int32_t address, const nlohmann::json& message);
  /// The next message, or nothing if none comes until the instant (CLOCK_MONOTONIC). Throws what
  /// hub or workers report as an error, and Error(kFailure) when the hub has ended.
  std::optional<nlohmann::json> receive(Seconds until);
  /// Ends the hub and all workers at once.
  void kill() { process_.kill_and_reap(); }
  int pid() const { return process_.pid(); }

 private:
  bool wait_readable(Seconds until);

  ChildProcess process_;
  FrameBuffer frames_;
};

/// The program's path as EmulatorOptions::program says.
std::string hub_program(const std::string& option);

}  // namespace gradwire::emulator
