#include "scenarios/checks.h"
#include "scenarios/calibrations.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "scenarios/executor_checks.h"
#include "scenarios/layer_times.h"
#include "scenarios/methods.h"
#include "scenarios/pointer.h"
#include "scenarios/profile.h"
#include "scenarios/repeated_checks.h"
#include "scenarios/share.h"
#include "sim/topologies/topologies.h"

namespace gradwire::scenarios {
namespace {

class Rules {
 public:
  Rules(const Scenario& scenario, const ReadResult& read, const Places& places,
        ScheduleFiles& files, ProblemList& problems, std::vector<Problem>& warnings)
      : scenario_(scenario),
        read_(read),
        places_(places),
        files_(files),
        problems_(problems),
        warnings_(warnings) {}

  void check() {
    const WorkloadKind kind = scenario_.workload.kind;
    if (kind == WorkloadKind::kTraining) check_data();
    if (kind == WorkloadKind::kTraining || kind == WorkloadKind::kProfile) check_method();
    if (kind == WorkloadKind::kProfile) check_profile();
    if (kind == WorkloadKind::kTransfers) check_transfers();
    if (read_.sound({"/workload", "/cluster/workers"})) check_repeated(scenario_, told());
    check_stragglers();
    if (read_.sound({"/cluster"})) check_absences(scenario_, told());
    check_background();
    check_device();
    if (scenario_.network.topology == "explicit") check_explicit();
    if (scenario_.network.topology == "wan") check_sites();
    check_schedules();
    check_in_network();
    check_size();
    check_server_link();
    check_transport();
    if (read_.sound({"/executor", "/network"})) check_executor(scenario_, told(), warned());
    check_queues();
  }

 private:
  void refuse(const std::string& pointer, std::string message, std::string allowed = "",
              std::string suggestion = "") {
    problems_.add(
        places_.problem(pointer, std::move(message), std::move(allowed), std::move(suggestion)));
  }
  void warn(const std::string& pointer, std::string message) {
    warnings_.push_back(places_.problem(pointer, std::move(message)));
  }

  Told told() {
    return [this](const std::string& pointer, const std::string& message,
                  const std::string& allowed) { refuse(pointer, message, allowed); };
  }
  Told warned() {
    return [this](const std::string& pointer, const std::string& message, const std::string&) {
      warn(pointer, message);
    };
  }

  void check_data() {
    const Workload& workload = scenario_.workload;
    if (!read_.sound({"/workload/model", "/workload/data"})) return;
    if ((workload.model == "char-lstm") != (workload.data_set == "text"))
      refuse("/workload/data/set",
             "model " + workload.model + " cannot learn from data set " + workload.data_set,
             workload.model == "char-lstm" ? "text" : "digits, mnist, cifar10");
    if (workload.data_path.empty()) {
      if (workload.data_set != "digits")
        refuse("/workload/data/path", "data set " + workload.data_set + " is not built in",
               "the path of its files");
      return;
    }
    const std::string path = relative_to_file(workload.data_path, scenario_.file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      refuse("/workload/data/path", "there is no file or folder " + path);
  }

  void check_method() {
    const Method& method = scenario_.method;
    if (!read_.sound({"/method"})) return;
    const compressors::CodecPlan plan = codec_plan(method);
    if (plan.error_feedback && loses_nothing(plan))
      refuse("/method/error_feedback", "nothing is lost with method none, so nothing is fed back",
             "false");
    if (plan.momentum_correction) check_momentum(plan);
    try {
      const compressors::CodecPtr codec = make_method_codec(method);
      if (!read_.sound({"/exchange/collective"})) return;
      const std::string conflict =
          exchange_conflict(codec->policy(), scenario_.exchange.collective);
      if (!conflict.empty()) refuse("/exchange/collective", plan.codec.name + ": " + conflict);
    } catch (const Error& error) {  // options that do not go together
      refuse("/method", error.what());
    }
  }

  static bool loses_nothing(const compressors::CodecPlan& plan) {
    return plan.codec.name == "none" && !plan.momentum_correction &&
           std::all_of(plan.rules.begin(), plan.rules.end(),
                       [](const auto& rule) { return rule.codec.name == "none"; });
  }

  void check_momentum(const compressors::CodecPlan& plan) {
    const std::string at = "/method/momentum_correction";
    if (!plan.error_feedback)
      refuse("/method/error_feedback",
             "momentum correction keeps what was not sent, which is error feedback", "true");
    if (!read_.sound({"/workload/optimizer"})) return;
    const Workload& workload = scenario_.workload;
    if (workload.kind == WorkloadKind::kTraining && workload.optimizer != "sgd")
      refuse(at, "workers apply the momentum of sgd, not of " + workload.optimizer,
             "/workload/optimizer/name sgd");
    if (workload.momentum > 0 && plan.momentum_correction->momentum != workload.momentum)
      refuse(at + "/momentum",
             "differs from the optimiser's momentum, in whose place the workers apply it",
             "the same as /workload/optimizer/momentum, or leave either out");
  }

  void check_profile() {
    if (!read_.sound({"/workload/profile"})) return;
    try {
      check_layer_times(load_workload_profile(scenario_.workload.profile, scenario_.file));
    } catch (const Error& error) {
      refuse("/workload/profile", error.what());
    }
  }

  void check_layer_times(const WorkloadProfile& workload) {
    if (!read_.sound({"/cluster/device", "/workload/precision"})) return;
    const std::string& device = scenario_.cluster.device;
    std::optional<DeviceProfile> profile;
    try {
      if (device != "cpu" && device != "cuda")
        profile = load_device_profile(device, scenario_.file);
    } catch (const Error&) {
      return;  // check_device says so
    }
    const std::string why =
        why_no_layer_times(workload, profile ? &*profile : nullptr, scenario_.workload.precision);
    if (why.empty()) return;
    refuse("/cluster/device", why,
           devices_with_peak() + ", or what `gradwire profile` measured on this machine");
  }

  void check_device() {
    const std::string& device = scenario_.cluster.device;
    if (device == "cpu" || device == "cuda" || !read_.sound({"/cluster/device"})) return;
    try {
      const DeviceProfile profile = load_device_profile(device, scenario_.file);
      const std::string& model = scenario_.workload.model;
      if (scenario_.workload.kind == WorkloadKind::kTraining && !profile.models.contains(model) &&
          read_.sound({"/workload/model"}))
        refuse("/cluster/device", "profile " + device + " has no times for model " + model);
      const std::string codec = codec_plan(scenario_.method).codec.name;
      if (!profile.codecs.contains(codec) && read_.sound({"/method"}))
        refuse("/cluster/device", "profile " + device + " has no times for codec " + codec);
    } catch (const Error& error) {
      refuse("/cluster/device", error.what(), "cpu, cuda, a device profile");
    }
  }

  void check_stragglers() {
    if (!read_.sound({"/cluster"}) || !scenario_.json.contains("cluster")) return;
    const auto& cluster = scenario_.json["cluster"];
    if (!cluster.contains("stragglers")) return;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < cluster["stragglers"].size(); ++i) {
      const std::string at = child_pointer("/cluster/stragglers", i) + "/worker";
      const auto worker = cluster["stragglers"][i]["worker"].get<std::int64_t>();
      if (worker >= scenario_.cluster.workers)
        refuse(at, "there is no worker " + std::to_string(worker),
               "0 to " + std::to_string(scenario_.cluster.workers - 1));
      if (!seen.insert(worker).second)
        refuse(at, "worker " + std::to_string(worker) + " stands twice in the list");
    }
  }

  void check_background() {
    if (!read_.sound({"/network", "/cluster", "/workload", "/exchange"})) return;
    const std::vector<NetworkPlan::Background>& background = scenario_.network.background;
    for (std::size_t i = 0; i < background.size(); ++i) {
      const std::string at = child_pointer("/network/background", i);
      const bool from = check_host(at + "/from", background[i].from);
      const bool to = check_host(at + "/to", background[i].to);
      if (from && to && background[i].from == background[i].to)
        refuse(at + "/to", "a host sends to itself");
    }
  }

  void check_transfers() {
    if (!read_.sound({"/workload/transfers", "/network", "/cluster"})) return;
    const std::vector<Workload::Transfer>& transfers = scenario_.workload.transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const std::string at = child_pointer("/workload/transfers", i);
      const bool from = check_host(at + "/from", transfers[i].source);
      const bool to = check_host(at + "/to", transfers[i].destination);
      if (from && to && transfers[i].source == transfers[i].destination)
        refuse(at + "/to", "a host sends to itself");
    }
  }

  bool check_host(const std::string& pointer, const std::string& name) {
    if (host_index(scenario_, name) >= 0) return true;
    const bool numbered = scenario_.network.topology != "explicit";
    refuse(pointer, "there is no host \"" + name + "\"",
           numbered ? "worker0 to worker" + std::to_string(scenario_.cluster.workers - 1)
                    : "names of /network/hosts",
           numbered ? "" : nearest_name(name, scenario_.network.hosts));
    return false;
  }

  void check_explicit() {
    if (!read_.sound({"/network", "/workload", "/exchange"})) return;
    if (collective_of(scenario_) == "in-network") return;  // refused
    const NetworkPlan& network = scenario_.network;
    const std::size_t before = problems_.all().size();
    std::vector<std::string> names;
    check_names("/network/hosts", network.hosts, names);
    check_names("/network/switches", network.switches, names);
    for (std::size_t i = 0; i < network.links.size(); ++i) {
      const std::string at = child_pointer("/network/links", i);
      check_end(at + "/a", network.links[i].a, names);
      check_end(at + "/b", network.links[i].b, names);
      if (network.links[i].a == network.links[i].b)
        refuse(at + "/b", "a link joins a node to itself");
    }
    for (std::size_t i = 0; i < network.routes.size(); ++i) check_route(i, names);
    check_worker_count();
    if (problems_.all().size() != before) return;
    try {
      build_cluster(scenario_);
    } catch (const sim::SimError& error) {
      const bool route =
          std::string_view(error.what()).find("the route from") != std::string_view::npos;
      refuse(route ? "/network/routes" : "/network/links", error.what());
    }
  }

  void check_route(std::size_t i, const std::vector<std::string>& names) {
    const NetworkPlan::ExplicitRoute& route = scenario_.network.routes[i];
    const std::string at = child_pointer("/network/routes", i);
    check_host(at + "/from", route.from);
    check_host(at + "/to", route.to);
    for (std::size_t v = 0; v < route.via.size(); ++v)
      check_end(child_pointer(at + "/via", v), route.via[v], names);
  }

  void check_sites() {
    if (!read_.sound({"/network", "/workload", "/exchange"})) return;
    const NetworkPlan& network = scenario_.network;
    std::vector<std::string> listed, names;
    int workers = 0;
    for (const NetworkPlan::Site& site : network.sites) {
      listed.push_back(site.name);
      workers += site.workers;
    }
    check_names("/network/sites", listed, names);
    for (std::size_t i = 0; i < network.site_links.size(); ++i) {
      const std::string at = child_pointer("/network/site_links", i);
      for (const auto& [end, name] :
           {std::pair("/a", network.site_links[i].a), std::pair("/b", network.site_links[i].b)})
        if (std::find(names.begin(), names.end(), name) == names.end())
          refuse(at + end, "there is no site \"" + name + "\"", "names of /network/sites",
                 nearest_name(name, names));
      if (network.site_links[i].a == network.site_links[i].b)
        refuse(at + "/b", "a link joins a site to itself");
    }
    if (read_.sound({"/cluster/workers"}) && scenario_.cluster.workers != workers)
      refuse("/cluster/workers",
             "the sites have " + std::to_string(workers) + " workers, not " +
                 std::to_string(scenario_.cluster.workers),
             std::to_string(workers));
  }

  /// Where a generated topology says what it cannot have.
  std::string size_pointer() const {
    const std::string& topology = scenario_.network.topology;
    if (topology == "two-tier") return "/network/racks";
    if (topology == "fat-tree") return "/network/k";
    if (topology == "torus") return "/network/columns";
    if (topology == "dumb-bell") return "/network/left";
    if (topology == "wan") return "/network/site_links";
    if (topology == "wifi-cell" || topology == "lte-cell") return "/network/cell";
    return "/network";
  }

  void check_size() {
    const std::string& topology = scenario_.network.topology;
    if (topology == "star" || topology == "explicit" || !problems_.empty()) return;
    try {
      build_cluster(scenario_);
    } catch (const sim::SimError& error) {
      refuse(size_pointer(), error.what());
    }
  }

  void check_schedules() {
    if (!read_.sound({"/network"})) return;
    scenarios::check_schedules(
        scenario_.json["network"], scenario_.file, files_,
        [&](const std::string& at, const std::string& reason) { refuse(at, reason); });
    check_calibration(
        scenario_.json["network"], scenario_.file,
        [&](const std::string& at, const std::string& reason) { refuse(at, reason); });
  }

  void check_names(const std::string& list, const std::vector<std::string>& added,
                   std::vector<std::string>& names) {
    for (std::size_t i = 0; i < added.size(); ++i) {
      if (std::find(names.begin(), names.end(), added[i]) != names.end())
        refuse(child_pointer(list, i), "the name \"" + added[i] + "\" stands twice");
      names.push_back(added[i]);
    }
  }

  void check_end(const std::string& pointer, const std::string& name,
                 const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse(pointer, "there is no host or switch \"" + name + "\"",
             "names of /network/hosts and /network/switches", nearest_name(name, names));
  }

  void check_worker_count() {
    const int servers = server_count(scenario_);
    const int workers = static_cast<int>(scenario_.network.hosts.size()) - servers;
    if (workers < 1)
      refuse("/network/hosts", "no host is left for a worker beside the parameter server");
    else if (read_.sound({"/cluster/workers"}) && scenario_.cluster.workers != workers)
      refuse("/cluster/workers",
             "the explicit topology has " + std::to_string(workers) + " worker hosts, not " +
                 std::to_string(scenario_.cluster.workers),
             std::to_string(workers));
  }

  void check_in_network() {
    if (!read_.sound({"/network", "/workload", "/exchange", "/cluster"})) return;
    if (collective_of(scenario_) != "in-network") return;
    const bool steps = scenario_.workload.kind != WorkloadKind::kCollective;
    const std::string pointer = steps ? "/exchange/collective" : "/workload/collective";
    const std::string& topology = scenario_.network.topology;
    if (topology != "star" && topology != "two-tier")
      refuse(pointer, "switches of a " + topology + " network are not known to form a tree",
             "topology star or two-tier");
    if (scenario_.executor == "emulator")
      refuse(pointer, "the emulator has no switches that add",
             "another collective, or executor model, flow or packet");
  }

  void check_server_link() {
    if (scenario_.network.server_link && collective_of(scenario_) != "parameter-server" &&
        scenario_.workload.kind != WorkloadKind::kFederated &&
        read_.sound({"/exchange", "/workload"}))
      refuse("/network/server_link", "no parameter server takes part",
             "only with collective parameter-server, or federated rounds");
  }

  void check_transport() {
    const sim::TransportSettings& transport = scenario_.network.transport;
    if (read_.sound({"/network/transport"}) && transport.wire_segment < transport.segment)
      refuse("/network/transport/wire_segment", "a segment on the wire is smaller than its payload",
             ">= " + std::to_string(transport.segment.count()) + "B");
  }

  void check_queue(const std::string& pointer, const sim::LinkSpec& link) {
    const Bytes segment = scenario_.network.transport.wire_segment;
    if (link.queue > Bytes(0) && link.queue < segment)
      refuse(pointer + "/queue", "not one full segment fits into the queue",
             "0B (automatic) or >= " + std::to_string(segment.count()) + "B");
  }

  void check_queues() {
    if (!read_.sound({"/network"})) return;
    for (const auto& [pointer, link] : given_links(scenario_.network)) check_queue(pointer, link);
  }

  const Scenario& scenario_;
  const ReadResult& read_;
  const Places& places_;
  ScheduleFiles& files_;
  ProblemList& problems_;
  std::vector<Problem>& warnings_;
};

}  // namespace

std::string exchange_conflict(compressors::AggregatePolicy policy, std::string_view collective) {
  using compressors::AggregatePolicy;
  if (collective == "parameter-server" ||
      (collective == "ring" && policy != AggregatePolicy::kServer))
    return "";
  if (policy == AggregatePolicy::kServer)
    return "only a server can combine its messages; use parameter-server";
  if (collective == "scatter-reduce" || collective == "auto") return "";
  if (policy == AggregatePolicy::kSum && collective == "direct")
    return "its messages add up on the way and are not gathered; use ring, tree, "
           "halving-doubling, two-level, in-network or parameter-server";
  if (policy != AggregatePolicy::kSum && collective != "direct")
    return "its messages do not add up on the way; use ring, direct or parameter-server";
  return "";
}

void check_rules(const Scenario& scenario, const ReadResult& read, const Places& places,
                 ScheduleFiles& files, ProblemList& problems, std::vector<Problem>& warnings) {
  Rules(scenario, read, places, files, problems, warnings).check();
}

}  // namespace gradwire::scenarios
