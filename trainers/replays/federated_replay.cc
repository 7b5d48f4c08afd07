#include "trainers/replays/federated_replay.h"

#include <algorithm>

#include "trainers/replays/client_sampling.h"
#include "trainers/replays/repeated_step.h"

namespace gradwire::trainers {
namespace {

using scenarios::Figure;
using scenarios::Scenario;
using scenarios::StepOutcome;
using scenarios::StepPlan;
using sim::OpIndex;

struct Counts {
  int sampled = 0, arrived = 0, late = 0, dropped_out = 0;

  std::vector<Figure> figures() const {
    return {{"clients_sampled", static_cast<double>(sampled), "clients"},
            {"clients_arrived", static_cast<double>(arrived), "clients"},
            {"clients_late", static_cast<double>(late), "clients"},
            {"clients_dropped_out", static_cast<double>(dropped_out), "clients"}};
  }
};

/// Makes a round's graph.
class Round {
 public:
  Round(const Scenario& scenario, StepPlan& plan)
      : federated_(scenario.workload.federated),
        slowdown_(scenario.cluster.slowdown),
        server_(scenario.cluster.workers),
        plan_(plan) {}

  void add_client(int client, bool drops_out) {
    const OpIndex down = transfer(server_, client, "download", federated_.download, {});
    const OpIndex work =
        operation(sim::OpKind::kCompute, sim::Lane::kCompute, client, "local training",
                  federated_.compute * slowdown_[static_cast<std::size_t>(client)], {down});
    if (drops_out) return;
    const OpIndex up = transfer(client, server_, "upload", federated_.upload, {work});
    added_.push_back(operation(sim::OpKind::kAggregate, sim::Lane::kCodec, server_, "aggregate",
                               federated_.aggregate, {up}));
  }

  /// The server waits for a client that is not heard of again.
  void add_deadline() {
    operation(sim::OpKind::kCompute, sim::Lane::kNone, server_, "deadline", federated_.deadline,
              {});
  }

  /// The updates' last operations.
  std::vector<OpIndex> finish() {
    plan_.graph = builder_.finish();
    plan_.dense_payload = plan_.payload;
    plan_.alone = true;
    if (federated_.deadline > Seconds(0)) plan_.deadline = federated_.deadline;
    return std::move(added_);
  }

 private:
  OpIndex transfer(int from, int to, const char* label, Bytes bytes, std::vector<OpIndex> after) {
    plan_.seconds.emplace_back(0);
    plan_.bytes.push_back(bytes);
    plan_.payload += bytes;
    return builder_.add_transfer(from, to, label, {}, after);
  }
  OpIndex operation(sim::OpKind kind, sim::Lane lane, int host, const char* label, Seconds time,
                    std::vector<OpIndex> after) {
    plan_.seconds.push_back(time);
    return builder_.add_operation(kind, lane, host, label, after);
  }

  const scenarios::Workload::Federated& federated_;
  const std::vector<double>& slowdown_;
  int server_;
  StepPlan& plan_;
  sim::GraphBuilder builder_;
  std::vector<OpIndex> added_;
};

class FederatedReplay final : public RepeatedStep {
 public:
  explicit FederatedReplay(const Scenario& scenario)
      : RepeatedStep({}, scenario.workload.repetitions, {}), scenario_(scenario) {
    set_given_compute(scenario.workload.federated.compute);
  }

  bool next(StepPlan& plan) override {
    if (!RepeatedStep::next(plan)) return false;
    const auto& federated = scenario_.workload.federated;
    const int clients = scenario_.cluster.workers;
    const int wanted = federated.sample > 0 ? federated.sample : clients;
    Round graph(scenario_, plan);
    now_ = {};
    for (const int client : sample_clients(clients, wanted, scenario_.seed, plan.step)) {
      const bool away = drops_out(client, federated.drop_out, scenario_.seed, plan.step);
      graph.add_client(client, away);
      ++now_.sampled;
      now_.dropped_out += away ? 1 : 0;
    }
    if (now_.dropped_out > 0) graph.add_deadline();
    added_ = graph.finish();
    return true;
  }

  std::vector<Figure> on_step_ended(const StepPlan&, const StepOutcome& outcome) override {
    for (const OpIndex op : added_)
      ++(outcome.timeline.ops[op].end >= Seconds(0) ? now_.arrived : now_.late);
    all_.sampled += now_.sampled;
    all_.arrived += now_.arrived;
    all_.late += now_.late;
    all_.dropped_out += now_.dropped_out;
    return now_.figures();
  }

  std::vector<Figure> figures() const override { return all_.figures(); }

 private:
  Scenario scenario_;
  std::vector<OpIndex> added_;
  Counts now_, all_;
};

}  // namespace

std::unique_ptr<scenarios::Trainer> make_federated_replay(const Scenario& scenario) {
  return std::make_unique<FederatedReplay>(scenario);
}

}  // namespace gradwire::trainers
