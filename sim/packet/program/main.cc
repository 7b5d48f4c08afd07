// SPDX-License-Identifier: GPL-2.0-only
// gradwire-packet: a session of step graphs on ns-3, spoken to over a pipe
// (sim/packet/wire_format.h).
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>

#include "base/file_descriptor.h"
#include "sim/packet/packed.h"
#include "sim/packet/program/packet_server.h"
#include "sim/packet/wire_format.h"

namespace gradwire::sim {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::duration<double> kProgressInterval(0.5);

bool read_request(const FileDescriptor& in, json& request) {
  std::byte head[4];
  if (!in.read_exact(head, "the request pipe")) return false;
  const std::uint32_t length = frame_length(head);
  if (length >= kLargestFrame)
    throw Error(ErrorKind::kUsage, "read", "a request", "it is no frame",
                "this program is started by gradwire, not by hand");
  std::vector<std::byte> body(length);
  if (length > 0 && !in.read_exact(body, "the request pipe")) return false;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(body.data());
  request = json::from_cbor(begin, begin + body.size());
  return true;
}

json error_answer(ErrorKind kind, const char* message) {
  return json{{"error", {{"kind", static_cast<int>(kind)}, {"message", message}}}};
}

json answer_to(PacketServer& server, const json& request) {
  try {
    return server.handle(request);
  } catch (const Error& error) {
    return error_answer(error.kind(), error.what());
  } catch (const std::exception& error) {
    return error_answer(ErrorKind::kFailure, error.what());
  }
}

/// What does not fit into a frame is an error.
std::vector<std::byte> framed(const json& answer) {
  try {
    return encode_frame(answer);
  } catch (const Error& error) {
    return encode_frame(error_answer(error.kind(), error.what()));
  }
}

void serve(const FileDescriptor& in, const FileDescriptor& out) {
  auto last = Clock::now();
  PacketServer server([&](Seconds now, std::uint64_t events) {
    // Often enough for the parent, which kills after wall_limit of silence.
    const std::chrono::duration<double> patience(server.wall_limit().value() / 4);
    if (Clock::now() - last < std::min(kProgressInterval, patience)) return;
    last = Clock::now();
    out.write_all(encode_frame(json{{"progress", {{"now", now.value()}, {"events", events}}}}),
                  "the answer pipe");
  });
  json request;
  while (read_request(in, request)) {
    last = Clock::now();
    out.write_all(framed(answer_to(server, request)), "the answer pipe");
  }
}

}  // namespace
}  // namespace gradwire::sim

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--version") {
    std::puts("gradwire-packet, ns-3 3.44");
    return 0;
  }
  // The terminal's interrupt is for the program that started this one.
  ::signal(SIGINT, SIG_IGN);
  // A simulation lives on small pieces of memory: keep what is freed (10 % faster).
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_TOP_PAD, 64 << 20);
  try {
    // Whatever ns-3 prints must not come between the frames.
    const gradwire::FileDescriptor out(::dup(1));
    ::dup2(2, 1);
    const gradwire::FileDescriptor in(::dup(0));
    gradwire::sim::serve(in, out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gradwire-packet: %s\n", error.what());
    return 1;
  }
  return 0;
}
