#include "emulator/shaper/link_server.h"

#include <net/if.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hub/control.h"
#include "emulator/hub/priority.h"
#include "emulator/shaper/frame_rate.h"
#include "emulator/shaper/link_plan.h"
#include "emulator/shaper/link_process.h"
#include "emulator/shaper/link_report.h"
#include "emulator/shaper/wire_hosts.h"
#include "emulator/shaper/wire_plan.h"

namespace gradwire::emulator {
namespace {

using nlohmann::json;

int device_named(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) throw system_error("find", "the emulated device " + name, errno);
  return static_cast<int>(index);
}

class LinkServer {
 public:
  LinkServer() : outbox_(duplicate(STDOUT_FILENO)) {}

  void run();
  void say(const json& message) { outbox_.send(kExecutor, message); }
  void flush() { outbox_.flush(); }

 private:
  void handle(const json& message);
  void make_links(const json& message);
  void make_live(double epoch);
  void tell();

  Outbox outbox_;
  std::optional<LinkProcess> links_;
};

void LinkServer::run() {
  say({{"kind", "hello"}});
  const FileDescriptor input = duplicate(STDIN_FILENO);
  FrameBuffer frames;
  std::vector<std::byte> block(1 << 16);
  while (const std::size_t got = input.read_some(block, "the emulator's hub")) {
    frames.append(std::span(block).first(got));
    while (const auto frame = frames.next())
      if (frame->address == kLinks) handle(frame->message());
  }
}

void LinkServer::handle(const json& message) {
  const std::string kind = message.at("kind");
  if (kind == "wires")
    make_links(message);
  else if (kind == "live")
    make_live(message.at("epoch"));
  else if (kind == "calm")
    links_.value().set_live(false, 0);
  else if (kind == "links")
    tell();
}

void LinkServer::make_links(const json& message) {
  const WirePlan plan = wire_plan_from_json(message.at("plan"));
  PacketSocket socket;
  const double frame_rate =
      measure_frame_rate(socket, device_named(kProbeDevice), device_named(kProbePeer));
  std::vector<int> devices;
  for (int host = 0; host < plan.hosts; ++host) devices.push_back(device_named(port_name(host)));
  links_.emplace(std::move(socket), std::move(devices), plan.routes_by_pair(), plan.network(),
                 LinkProcess::Patience::kAsleep);
  say({{"kind", "wired"}, {"frame_rate", frame_rate}});
}

void LinkServer::make_live(double epoch) {
  links_.value().set_live(true, epoch);
  say({{"kind", "live"}});
}

void LinkServer::tell() {
  const LinkProcess::Report seen = links_.value().report();
  LinkReport report;
  report.late_50 = seen.lateness.quantile(0.5);
  report.late_99 = seen.lateness.quantile(0.99);
  report.late_most = seen.lateness.largest();
  report.late_worst = links_->take_worst();
  report.late = seen.lateness.bins();
  report.counts = seen.counts;
  report.channels = seen.channels;
  report.missed = seen.missed;
  report.missed_opportunities = seen.missed_opportunities;
  say(to_json(report));
}

}  // namespace

int run_link_server() {
  rise_above_workers();
  sharpen_timers();
  auto* server = new LinkServer;  // never destroyed: its threads may be anywhere at the end
  try {
    server->run();
  } catch (const std::exception& error) {
    server->say(error_message(error));
    server->flush();
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace gradwire::emulator
