#pragma once
#include <map>
#include <memory>

#include "emulator/emulator.h"
#include "emulator/exchange/payload_store.h"
#include "emulator/hosts/host_view.h"
#include "emulator/hub/answers.h"
#include "emulator/hub/hub_link.h"
#include "emulator/hub/priority.h"
#include "emulator/incident.h"
#include "emulator/link_choice.h"

namespace gradwire::emulator {

/// The executor: hands graphs to the workers and merges what they report into timelines. Instants
/// of the session are seconds since `epoch_`, workers speak CLOCK_MONOTONIC.
class EmulatorSession final : public Emulator {
 public:
  EmulatorSession(const sim::Cluster& cluster, const EmulatorOptions& options);

  std::string_view name() const override { return "emulator"; }
  std::string_view provenance() const override {
    if (on_machines()) return "measured";
    return report_.missing.empty() ? "emulated" : "partly emulated";
  }
  sim::GraphId submit(const sim::Submission& submission) override;
  bool advance(Seconds until, std::vector<sim::Event>& events) override;
  void cancel(sim::GraphId graph) override;
  Seconds now() const override;
  const sim::Timeline& timeline(sim::GraphId graph) const override;
  void forget(sim::GraphId graph) override;
  std::vector<sim::ChannelRecord> channels() const override;
  std::string describe_unfinished(sim::GraphId graph) const override;

  const EmulatorReport& report() const override { return report_; }
  Seconds measure_base_rtt(int from_host, int to_host, int rounds) override;
  std::vector<std::string> run_programs(const std::vector<std::vector<std::string>>& commands,
                                        Seconds limit) override;
  std::optional<GlooTimes> time_gloo(int turns, int element_bytes) override;
  LinkReport links() override;
  std::string why_invalid() override;
  PayloadCounts payloads() const override { return sent_payloads_; }
  Reactions reactions() const override;

 private:
  struct Template {
    std::uint64_t id = 0;
    nlohmann::json graph;  ///< as workers are told it
    std::shared_ptr<const HostView> view;
  };
  struct Run {
    std::shared_ptr<const HostView> view;
    sim::Timeline timeline;
    std::vector<std::uint32_t> missing;  ///< [operations] reports still to come
    std::vector<bool> own;               ///< [operations] whose messages are the method's
    std::size_t unfinished = 0;
    double longest = 0;  ///< seconds of its longest operation
    bool cancelled = false;
  };

  bool on_machines() const { return !options_.rendezvous.empty(); }
  void set_up();
  void set_up_machines();
  void read_clocks();
  void take_kernel_links(const Shaping& shaping);
  void take_wires(double frame_rate);
  void measure_neighbours();
  void connect_servers();
  void note_exchanged(const sim::GraphTemplate& graph);
  /// Before hosts hear of the graph: on machines of their own each is told its part.
  void tell_payloads(sim::GraphId graph, const sim::Payloads& payloads, const HostView& view);
  struct Way {
    Seconds time{0};  ///< of a small message, as far as links make it
    int links = 0;
  };
  Way way_of(int from, int to) const;
  int rounds_in_time(int from, int to) const;
  Seconds overhead_of(int from, int to, Seconds round_trip) const;
  bool by_process() const { return report_.shaper == "link"; }
  bool is_idle() const;
  /// Connections are opened over links that are steady and lose nothing.
  void calm_links();
  void start_clock();
  void stop_clock();
  /// Signals of incidents that are due; when the next one is, of the machine's clock.
  Seconds fire_incidents();
  bool stands_still() const;
  void note_reaction();
  void await_connections(const Template& told);
  const Template& template_of(const sim::GraphPtr& graph);
  void check(const sim::Submission& submission) const;
  std::vector<sim::ChannelRecord> read_channels();
  std::vector<sim::ChannelRecord> read_wires();
  nlohmann::json await(std::string_view kind);
  void take(const nlohmann::json& message);
  void take_report(const OperationReport& report);
  void source_ended(Run& run, sim::OpIndex op, std::uint32_t source, Seconds time);
  void end_operation(Run& run, sim::OpIndex op);
  void emit(sim::EventKind kind, sim::GraphId graph, sim::OpIndex op, int host, Seconds time);
  Seconds patience() const;
  bool deliver(std::vector<sim::Event>& events, Seconds until);
  [[noreturn]] void give_up(Seconds waited);
  Run& get(sim::GraphId graph) const;

  EmulatorOptions options_;
  std::vector<Incident> incidents_;
  sim::Cluster cluster_;
  LinkChoice choice_;
  std::vector<sim::ChannelId> up_channel_;  ///< [hosts], host to switch; of a star
  IncidentPlan plan_;                       ///< of incidents_, once the hosts' processes are known
  PayloadStore payloads_;
  PayloadCounts sent_payloads_;
  Reactions reactions_;
  Seconds reacted_to_{-1}, counted_{0};  ///< the instant of the last submission, its share of them
  Urgency urgency_;                      ///< of the caller's thread, while the clock goes on
  std::unique_ptr<HubLink> hub_;
  EmulatorReport report_;
  Seconds epoch_{0};
  Seconds last_news_{0};
  Seconds last_event_{0};
  mutable Seconds latest_{0};        ///< that now() has said
  std::vector<Template> templates_;  ///< the workers have them; oldest first
  std::uint64_t next_template_ = 1;
  std::map<sim::GraphId, std::unique_ptr<Run>> runs_;
  sim::GraphId next_id_ = 1;
  std::vector<std::int64_t> exchanged_;  ///< elements of the latest graph's collectives
  bool live_ = false;                    ///< the link process's links are as planned
  std::vector<sim::Event> events_;       ///< known, not yet delivered
};

}  // namespace gradwire::emulator
