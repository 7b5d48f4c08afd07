#include "emulator/hub/hub_link.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/program_part.h"
#include "emulator/clock.h"
#include "emulator/hub/answers.h"

namespace gradwire::emulator {
namespace {

ChildProcess start(const std::string& program, int inherited) {
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kCapability, "start", program, "there is no such program",
                "it is built beside gradwire; GRADWIRE_EMULATOR_PROGRAM can name another place");
  ChildProcess::Options options;
  options.pipe_stdin = options.pipe_stdout = true;
  options.inherited = {inherited};
  return ChildProcess({program}, options);
}

}  // namespace

std::string hub_program(const std::string& option) {
  if (!option.empty()) return option;
  return part_path_or("GRADWIRE_EMULATOR_PROGRAM", "emulator", "gradwire-emulator-hub");
}

HubLink::HubLink(const std::string& program, int inherited) : process_(start(program, inherited)) {}

void HubLink::send(std::int32_t address, const nlohmann::json& message) {
  process_.stdin_pipe().write_all(encode_frame(address, message), "the emulator's hub");
}

bool HubLink::wait_readable(Seconds until) {
  for (;;) {
    pollfd polled{process_.stdout_pipe().get(), POLLIN, 0};
    const double rest = std::clamp((until - monotonic_now()).value(), 0.0, 1000.0);
    timespec time{};
    time.tv_sec = static_cast<time_t>(rest);
    time.tv_nsec = static_cast<long>((rest - std::floor(rest)) * 1e9);
    const int ready = ::ppoll(&polled, 1, &time, nullptr);
    if (ready > 0) return true;
    if (ready == 0 && monotonic_now() >= until) return false;
  }
}

std::optional<nlohmann::json> HubLink::receive(Seconds until) {
  for (;;) {
    if (const auto frame = frames_.next()) {
      nlohmann::json message = frame->message();
      kind_of(message);
      return message;
    }
    if (!wait_readable(until)) return std::nullopt;
    std::byte block[1 << 16];
    const std::size_t got = process_.stdout_pipe().read_some(block, "the emulator's hub");
    if (got == 0)
      throw Error(ErrorKind::kFailure, "go on with", "the emulation",
                  "its hub ended with code " + std::to_string(process_.wait()));
    frames_.append(std::span(block, got));
  }
}

}  // namespace gradwire::emulator
