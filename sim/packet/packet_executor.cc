#include "sim/packet/packet_executor.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "base/program_part.h"
#include "sim/packet/packed.h"
#include "sim/packet/packet_process.h"
#include "sim/packet/wire_format.h"

namespace gradwire::sim {
namespace {

using nlohmann::json;

/// Templates kept on both sides before those that nobody else holds are dropped.
constexpr std::size_t kTemplates = 64;

std::string runnable_program(const ExecutorOptions& options) {
  const std::string program = packet_program(options);
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(ErrorKind::kCapability, "use", "executor 'packet'",
                program + " is not there (it is built where ns-3 was found)",
                part_advice("packet") + ", or take executor 'flow'");
  return program;
}

class PacketExecutor final : public Executor {
 public:
  PacketExecutor(const Cluster& cluster, const ExecutorOptions& options)
      : process_(std::make_unique<PacketProcess>(runnable_program(options), options.wall_limit,
                                                 options.on_progress)) {
    call(json{{"open",
               {{"protocol", kProtocolVersion},
                {"cluster", encode_cluster(cluster)},
                {"options", encode_options(options)}}}},
         "open");
    loses_ = options.transport.protocol == TransportSettings::Protocol::kUdpLossy;
    writes_at_end_ = !options.pcap_folder.empty() || !options.flow_monitor.empty();
  }

  ~PacketExecutor() override {
    if (!writes_at_end_) return;
    try {
      process_->call(json{{"close", json::object()}}, "close");
    } catch (const std::exception&) {
      // A program that died has been reported; what it had not written is lost.
    }
  }

  std::string_view name() const override { return "packet"; }
  std::string_view provenance() const override { return "simulated"; }
  Seconds now() const override { return now_; }

  GraphId submit(const Submission& submission) override {
    json request{{"bytes", pack(submission.bytes)},
                 {"seconds", pack(submission.seconds)},
                 {"not_before", submission.not_before.value()},
                 {"after", pack(submission.after)}};
    name_template(submission.graph, request);
    return ask(json{{"submit", request}}, "submit a graph to",
               [](const json& answer) { return answer.at("graph").get<GraphId>(); });
  }

  bool advance(Seconds until, std::vector<Event>& events) override {
    const std::size_t before = events.size();
    const bool more = ask(json{{"advance", {{"until", until.value()}}}}, "advance",
                          [&events](const json& answer) {
                            decode_events(answer.at("events"), events);
                            return answer.at("more").get<bool>();
                          });
    for (std::size_t i = before; i < events.size(); ++i)
      if (events[i].kind == EventKind::kGraphEnded) ended_.insert(events[i].op.graph);
    return more;
  }

  void cancel(GraphId graph) override {
    call(json{{"cancel", {{"graph", graph}}}}, "cancel a graph in");
  }

  const Timeline& timeline(GraphId graph) const override {
    const auto known = timelines_.find(graph);
    if (known != timelines_.end() && final_.contains(graph)) return known->second;
    Timeline timeline =
        process_->ask(json{{"timeline", {{"graph", graph}}}}, "read a timeline of",
                      [](const json& answer) { return decode_timeline(answer.at("timeline")); });
    if (ended_.contains(graph)) final_.insert(graph);
    return timelines_[graph] = std::move(timeline);
  }

  std::span<const MissingData> missing(GraphId graph) const override {
    if (!loses_) return {};
    return missing_ = process_->ask(
               json{{"missing", {{"graph", graph}}}}, "ask about",
               [](const json& answer) { return decode_missing(answer.at("missing")); });
  }

  void forget(GraphId graph) override {
    timelines_.erase(graph);
    ended_.erase(graph);
    final_.erase(graph);
    call(json{{"forget", {{"graph", graph}}}}, "forget a graph of");
  }

  std::string describe_unfinished(GraphId graph) const override {
    return process_->ask(json{{"unfinished", {{"graph", graph}}}}, "ask about",
                         [](const json& answer) { return answer.at("text").get<std::string>(); });
  }

  std::vector<ChannelRecord> channels() const override {
    return process_->ask(
        json{{"channels", json::object()}}, "read the links of",
        [](const json& answer) { return unpack<ChannelRecord>(answer.at("channels")); });
  }

  PacketStatistics statistics() const {
    return process_->ask(
        json{{"statistics", json::object()}}, "read the statistics of", [](const json& answer) {
          return PacketStatistics{.events = answer.at("events"),
                                  .segments = unpack<SegmentBooks>(answer.at("segments")).at(0)};
        });
  }

 private:
  /// Asks for something that may move the clock.
  template <class Read>
  std::invoke_result_t<Read, const json&> ask(const json& request, std::string_view attempted,
                                              Read read) {
    return process_->ask(request, attempted, [&](const json& answer) {
      if (answer.contains("now")) now_ = Seconds(answer.at("now").get<double>());
      return read(answer);
    });
  }
  void call(const json& request, std::string_view attempted) {
    ask(request, attempted, [](const json&) { return 0; });
  }

  /// Adds the template's id, and the template itself the first time.
  void name_template(const GraphPtr& graph, json& request) {
    GRADWIRE_ASSERT(graph);
    const auto known = template_ids_.find(graph);
    if (known != template_ids_.end()) {
      request["template"] = known->second;
      return;
    }
    if (template_ids_.size() >= kTemplates) request["drop"] = drop_templates();
    template_ids_[graph] = ++last_template_;
    request["template"] = last_template_;
    request["graph"] = encode_graph(*graph);
  }

  json drop_templates() {
    json dropped = json::array();
    std::erase_if(template_ids_, [&dropped](const auto& entry) {
      const bool unused = entry.first.use_count() == 1;
      if (unused) dropped.push_back(entry.second);
      return unused;
    });
    return dropped;
  }

  std::unique_ptr<PacketProcess> process_;
  std::map<GraphPtr, std::uint64_t> template_ids_;
  std::uint64_t last_template_ = 0;
  mutable std::unordered_map<GraphId, Timeline> timelines_;
  std::unordered_set<GraphId> ended_;
  mutable std::unordered_set<GraphId> final_;  ///< ended, and read since
  Seconds now_{0};
  mutable std::vector<MissingData> missing_;
  bool loses_ = false;  ///< data may be missing
  bool writes_at_end_ = false;
};

}  // namespace

namespace {

/// An installed gradwire-packet finds ns-3 by LD_LIBRARY_PATH: its wheel lies in the user's folder.
void find_ns3_libraries() {
  if (!is_installed()) return;
  const std::string folder = fetched_wheels("packet");
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string others = before ? before : "";
  if (folder.empty() || others.find(folder) != std::string::npos) return;
  ::setenv("LD_LIBRARY_PATH", (others.empty() ? folder : folder + ":" + others).c_str(), 1);
}

}  // namespace

PacketStatistics packet_statistics(const Executor& executor) {
  const auto* packet = dynamic_cast<const PacketExecutor*>(&executor);
  GRADWIRE_ASSERT(packet);
  return packet->statistics();
}

std::string packet_program(const ExecutorOptions& options) {
  if (!options.packet_program.empty()) return options.packet_program;
  const char* variable = std::getenv("GRADWIRE_PACKET_PROGRAM");
  if (variable && *variable) return variable;
  find_ns3_libraries();
  return part_path("packet", "gradwire-packet");
}

std::unique_ptr<Executor> make_packet_executor(const Cluster& cluster,
                                               const ExecutorOptions& options) {
  return std::make_unique<PacketExecutor>(cluster, options);
}

}  // namespace gradwire::sim
