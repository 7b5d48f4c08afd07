#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hub/control.h"
#include "emulator/hub/namespaces.h"
#include "emulator/hub/priority.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/lab_hosts.h"
#include "emulator/lab/lab_transfers.h"
#include "emulator/shaper/link_process.h"

namespace gradwire::emulator {
namespace {

using nlohmann::json;

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return std::string(name.sysname) + " " + name.release;
}

LabResult run(const LabPlan& plan) {
  LabResult result;
  result.priority = raise_priority();
  enter_hub_namespace();
  sharpen_timers();
  std::vector<std::pair<int, int>> peers;
  for (const LabChain& chain : plan.chains) peers.emplace_back(chain.source, chain.destination);
  const LabHosts hosts(plan.hosts, peers, plan.buffer);
  LinkProcess links(PacketSocket(), hosts.devices(), plan.routes_by_pair(), plan.network(),
                    LinkProcess::Patience::kAwake);
  LabTransfers transfers(plan, hosts);
  links.set_live(true, monotonic_now().value());
  transfers.run([&links] { return links.take_worst(); });
  result.transfers = transfers.transfers();
  result.late_in = transfers.late_in();
  result.retransmissions = transfers.retransmissions();
  const LinkProcess::Report report = links.finish();
  result.late_50 = report.lateness.quantile(0.5);
  result.late_99 = report.lateness.quantile(0.99);
  result.late_most = report.lateness.largest();
  result.frames = report.counts.entered;
  result.dropped = report.counts.dropped;
  result.lost = report.counts.lost;
  result.missed = report.missed;
  result.kernel = kernel_release();
  return result;
}

std::string read_all(int descriptor) {
  const FileDescriptor in(descriptor);
  std::string text;
  std::byte block[1 << 14];
  while (const std::size_t got = in.read_some(block, "the lab's plan"))
    text.append(reinterpret_cast<const char*>(block), got);
  return text;
}

}  // namespace

int run_lab_process() {
  json answer;
  try {
    answer = to_json(run(lab_plan_from_json(json::from_cbor(read_all(STDIN_FILENO)))));
  } catch (const std::exception& error) {
    answer = error_message(error);
  }
  const std::vector<std::uint8_t> bytes = json::to_cbor(answer);
  FileDescriptor(STDOUT_FILENO).write_all(std::as_bytes(std::span(bytes)), "the lab's result");
  return answer.at("kind") == "error" ? 1 : 0;
}

}  // namespace gradwire::emulator
