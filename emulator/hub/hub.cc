#include "emulator/hub/hub.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/cluster/rendezvous.h"
#include "emulator/hub/control.h"
#include "emulator/hub/namespaces.h"
#include "emulator/hub/priority.h"
#include "emulator/hub/relay.h"
#include "emulator/hub/tool.h"
#include "emulator/shaper/link_plan.h"
#include "emulator/shaper/wire_hosts.h"

namespace gradwire::emulator {
namespace {

using nlohmann::json;

/// `count` frames of `kind`; passes an error of a process on by throwing it. The last one.
json await(Relay& relay, const std::string& kind, int count) {
  for (;;) {
    const auto frame = relay.next(false);
    if (!frame) throw Error(ErrorKind::kInterrupted, "set up", "the emulator", "its user has gone");
    const json message = frame->message();
    if (message.at("kind") == "error") throw_error(message);
    if (message.at("kind") == kind && --count == 0) return message;
  }
}

/// Whether the kernel has a queueing discipline: tried on the namespace's own device, then removed.
bool kernel_has(const std::string& discipline, const std::string& options) {
  const ToolResult added =
      run_tool("tc", {"-batch", "-"}, "qdisc add dev lo root " + discipline + options + "\n");
  if (added.exit_code != 0) return false;
  run_tool("tc", {"-batch", "-"}, "qdisc del dev lo root\n");
  return true;
}

Shaping choose_buckets(bool netem, bool real_time, std::size_t hosts) {
  Shaping shaping;
  shaping.netem = netem;
  if (real_time) shaping.timers_late = Seconds(kLateTimersRealTime);
  if (hosts <= std::thread::hardware_concurrency())
    shaping.timers_late = shaping.timers_late * kOwnProcessor;
  if (kernel_has("htb", "")) return shaping;
  shaping.shaper = "tbf";
  if (!kernel_has("tbf", " rate 1gbit burst 16000 limit 100000"))
    throw Error(ErrorKind::kCapability, "shape", "the emulated links",
                "this kernel lacks the queueing disciplines htb and tbf",
                "load the modules sch_htb or sch_tbf, or use --executor flow or packet");
  return shaping;
}

/// Whether the link process makes the links: as asked, or where the kernel cannot.
bool is_for_process(const json& setup, bool netem) {
  const std::string wanted = setup.at("shaper");
  if (wanted == "netem" && !netem)
    throw Error(ErrorKind::kCapability, "delay", "the emulated links",
                "this kernel has no netem (module sch_netem)", "use --shaper link");
  if (wanted != "auto") return wanted == "link";
  return setup.contains("wires") && !(setup.contains("links") && netem);
}

std::vector<int> pids_of(const Relay& relay) {
  std::vector<int> pids;
  for (int worker = 0; worker < relay.workers(); ++worker) pids.push_back(relay.pid(worker));
  return pids;
}

/// Builds bridge and links in the hub's namespace. The workers must have entered theirs.
Shaping build_star(const Relay& relay, const std::vector<HostLink>& links, const Shaping& shaping) {
  // No detour of bridged packets through IP's packet filter (module br_netfilter).
  set_network_parameter("bridge/bridge-nf-call-iptables", "0");
  require_tool("ip", {"-batch", "-"}, bridge_ip_script(), "create", "the emulated switch");
  require_tool("ip", {"-batch", "-"}, hub_ip_script(links, pids_of(relay), shaping), "create",
               "the emulated links");
  require_tool("tc", {"-batch", "-"}, hub_tc_script(links, shaping), "shape", "the emulated links");
  if (const std::string rules = hub_nft_script(links); !rules.empty())
    require_tool("nft", {"-f", "-"}, rules, "lose packets on", "the emulated links");
  return shaping;
}

std::unique_ptr<ChildProcess> start_part(std::vector<std::string> arguments,
                                         std::vector<int> inherited = {}) {
  ChildProcess::Options options;
  options.inherited = std::move(inherited);
  options.pipe_stdin = options.pipe_stdout = true;
  arguments.insert(arguments.begin(), executable_path());
  return std::make_unique<ChildProcess>(arguments, options);
}

/// The link process's links. What it says of itself.
json build_wires(Relay& relay, const json& plan) {
  require_tool("ip", {"-batch", "-"}, wire_hub_script(pids_of(relay)), "create",
               "the emulated links");
  relay.set_links(start_part({"links"}));
  relay.to_links({{"kind", "wires"}, {"plan", plan}});
  return await(relay, "wired", 1);
}

/// Builds the links, and adds to `setup` what hosts must know of them. What the executor must.
json build_links(Relay& relay, json& setup, bool real_time) {
  const bool netem = setup.at("shaper") != "link" && kernel_has("netem", " delay 1us");
  setup["by_process"] = is_for_process(setup, netem);
  json ready = {{"kind", "ready"}, {"netem", netem}, {"timers_late", 0.0}};
  if (setup["by_process"]) {
    ready["shaper"] = "link";
    ready["frame_rate"] = build_wires(relay, setup.at("wires")).at("frame_rate");
    return ready;
  }
  const std::vector<HostLink> links = links_from_json(setup.at("links"));
  const Shaping shaping = build_star(relay, links, choose_buckets(netem, real_time, links.size()));
  ready["shaper"] = setup["shaper"] = shaping.shaper;
  ready["timers_late"] = setup["timers_late"] = shaping.timers_late.value();
  setup["netem"] = shaping.netem;
  return ready;
}

/// Workers on machines of their own, which come here and are told of each other.
void set_up_machines(Relay& relay, const json& setup) {
  const int hosts = setup.at("hosts");
  std::vector<Arrival> arrivals =
      gather_ranks(parse_rendezvous(setup.at("rendezvous").get<std::string>()), hosts);
  const std::vector<std::string> addresses = addresses_among(arrivals);
  for (Arrival& arrival : arrivals) relay.add_worker(std::move(arrival.connection));
  await(relay, "hello", hosts);
  json peers = json::array();
  std::set<std::string> congestion_controls;
  for (int worker = 0; worker < hosts; ++worker) {
    relay.to_worker(worker, setup);
    const json ready = await(relay, "ready", 1);
    peers.push_back({addresses[static_cast<std::size_t>(worker)], ready.at("port")});
    congestion_controls.insert(ready.at("congestion_control").get<std::string>());
  }
  for (int worker = 0; worker < hosts; ++worker)
    relay.to_worker(worker, {{"kind", "peers"}, {"peers", peers}});
  relay.to_executor(
      {{"kind", "ready"}, {"addresses", addresses}, {"congestion_controls", congestion_controls}});
}

void set_up(Relay& relay) {
  const auto frame = relay.next(true);
  if (!frame) throw Error(ErrorKind::kInterrupted, "set up", "the emulator", "its user has gone");
  json setup = frame->message();
  if (setup.contains("rendezvous")) return set_up_machines(relay, setup);
  const std::string priority = setup.at("raise_priority") ? raise_priority() : "normal";
  const std::string space = enter_hub_namespace();
  set_network_parameter("ipv6/conf/all/disable_ipv6", "1");
  set_network_parameter("ipv6/conf/default/disable_ipv6", "1");
  const int hosts = setup.at("hosts");
  for (int host = 0; host < hosts; ++host)
    relay.add_worker(
        start_part({"worker", std::to_string(host)}, {setup.at("payloads").get<int>()}));
  await(relay, "hello", hosts);
  json ready = build_links(relay, setup, priority == "real-time");
  setup.erase("wires");
  for (int worker = 0; worker < relay.workers(); ++worker) relay.to_worker(worker, setup);
  await(relay, "ready", hosts);
  ready["namespace"] = space;
  ready["priority"] = priority;
  ready["pids"] = pids_of(relay);
  relay.to_executor(ready);
}

}  // namespace

int run_hub() {
  Relay relay(duplicate(STDIN_FILENO), duplicate(STDOUT_FILENO));
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
