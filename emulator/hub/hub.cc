#include "emulator/hub/hub.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hub/control.h"
#include "emulator/hub/namespaces.h"
#include "emulator/hub/priority.h"
#include "emulator/hub/relay.h"
#include "emulator/hub/tool.h"
#include "emulator/shaper/link_plan.h"

namespace gradwire::emulator {
namespace {

using nlohmann::json;

/// Frames of `kind` from every worker; passes an error of one on by throwing it.
void await_workers(Relay& relay, const std::string& kind) {
  for (int missing = relay.workers(); missing > 0;) {
    const auto frame = relay.next(false);
    if (!frame) throw Error(ErrorKind::kInterrupted, "set up", "the emulator", "its user has gone");
    const json message = frame->message();
    if (message.at("kind") == "error") throw_error(message);
    if (message.at("kind") == kind) --missing;
  }
}

/// Whether the kernel has a queueing discipline: tried on the bridge, then removed.
bool kernel_has(const std::string& discipline, const std::string& options) {
  const ToolResult added =
      run_tool("tc", {"-batch", "-"}, "qdisc add dev gwbr root " + discipline + options + "\n");
  if (added.exit_code != 0) return false;
  run_tool("tc", {"-batch", "-"}, "qdisc del dev gwbr root\n");
  return true;
}

Shaping choose_shaping(const std::string& wanted, bool real_time, std::size_t hosts) {
  Shaping shaping;
  if (real_time) shaping.timers_late = Seconds(kLateTimersRealTime);
  if (hosts <= std::thread::hardware_concurrency())
    shaping.timers_late = shaping.timers_late * kOwnProcessor;
  const bool htb = wanted != "tbf" && kernel_has("htb", "");
  if (!htb && (wanted == "htb" || !kernel_has("tbf", " rate 1gbit burst 16000 limit 100000")))
    throw Error(ErrorKind::kCapability, "shape", "the emulated links",
                "this kernel lacks the queueing discipline " +
                    (wanted == "auto" ? std::string("htb, and tbf too") : wanted),
                "load the modules sch_htb or sch_tbf, or use --executor flow or packet");
  shaping.shaper = htb ? "htb" : "tbf";
  shaping.netem = kernel_has("netem", " delay 1us");
  return shaping;
}

/// Builds bridge and links in the hub's namespace. The workers must have entered theirs.
Shaping build_star(const Relay& relay, const std::vector<HostLink>& links,
                   const std::string& shaper, bool real_time) {
  std::vector<int> pids;
  for (int worker = 0; worker < relay.workers(); ++worker) pids.push_back(relay.pid(worker));
  set_network_parameter("ipv6/conf/all/disable_ipv6", "1");
  set_network_parameter("ipv6/conf/default/disable_ipv6", "1");
  // No detour of bridged packets through IP's packet filter (module br_netfilter).
  set_network_parameter("bridge/bridge-nf-call-iptables", "0");
  require_tool("ip", {"-batch", "-"}, bridge_ip_script(), "create", "the emulated switch");
  const Shaping shaping = choose_shaping(shaper, real_time, links.size());
  require_tool("ip", {"-batch", "-"}, hub_ip_script(links, pids, shaping), "create",
               "the emulated links");
  require_tool("tc", {"-batch", "-"}, hub_tc_script(links, shaping), "shape", "the emulated links");
  if (const std::string rules = hub_nft_script(links); !rules.empty())
    require_tool("nft", {"-f", "-"}, rules, "lose packets on", "the emulated links");
  return shaping;
}

void set_up(Relay& relay) {
  const auto frame = relay.next(true);
  if (!frame) throw Error(ErrorKind::kInterrupted, "set up", "the emulator", "its user has gone");
  json setup = frame->message();
  const std::vector<HostLink> links = links_from_json(setup.at("links"));
  const std::string priority = setup.at("raise_priority") ? raise_priority() : "normal";
  const std::string space = enter_hub_namespace();
  for (std::size_t host = 0; host < links.size(); ++host) {
    ChildProcess::Options options;
    options.pipe_stdin = options.pipe_stdout = true;
    relay.add_worker(std::make_unique<ChildProcess>(
        std::vector<std::string>{executable_path(), "worker", std::to_string(host)}, options));
  }
  await_workers(relay, "hello");
  const Shaping shaping = build_star(relay, links, setup.at("shaper"), priority == "real-time");
  setup["shaper"] = shaping.shaper;
  setup["netem"] = shaping.netem;
  setup["timers_late"] = shaping.timers_late.value();
  for (int worker = 0; worker < relay.workers(); ++worker) relay.to_worker(worker, setup);
  await_workers(relay, "ready");
  relay.to_executor({{"kind", "ready"},
                     {"namespace", space},
                     {"priority", priority},
                     {"shaper", shaping.shaper},
                     {"netem", shaping.netem},
                     {"timers_late", shaping.timers_late.value()}});
}

}  // namespace

int run_hub() {
  Relay relay(FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
              FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)));
  try {
    set_up(relay);
    while (relay.next(true)) {
    }
    return 0;
  } catch (const std::exception& error) {
    relay.to_executor(error_message(error));
    relay.flush();
    return 1;
  }
}

}  // namespace gradwire::emulator
