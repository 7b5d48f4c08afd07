#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "trainers/schedules/asynchronous/staleness.h"
#include "trainers/schedules/event_trainer.h"
#include "trainers/schedules/gossip/gossip_models.h"

/// Gossip without lockstep: a late neighbour is used as it last was. Worker i repeats, its steps
/// counted by t:
///
///   x_i <- update(x_i, gradient at x_i of its next batch)
///   it encodes a message and sends it along each edge that is free
///   it waits until messages of its neighbours' step t or later are there, /schedule/patience at
///   most, and mixes: x_i <- x_i + step sum over j of W_ij (y_ij - y_i)
///
/// y_ij being what i has heard of j, and y_i what its own messages say. A neighbour that it has not
/// heard of yet stands in as itself (y_ij = y_i). An edge carries one message at a time: a step
/// that ends while the one before is on its way is not sent along it. Where messages are
/// differences the next one is then of what the receiver knows, encoded for that edge.
///
/// Ages come from speeds and links, and are measured at the end of a mixing: staleness, how many
/// steps j has made since what i used of it, and how long ago that was. Mixing at different times
/// does not keep the mean of all models; `mean_drift` says what it did to it. With equal speeds and
/// links, and more patience than a message takes, all is as in lockstep, bit for bit.
///
/// A row of the store is as many steps as there are workers, whoever made them. An edge whose
/// transfer can never end is given up, and its ends go on.
///
/// On a real clock passes and evaluations are made beside it, as AsynchronousTrainer's are.
namespace gradwire::trainers {

class AsynchronousGossip final : public EventTrainer {
 public:
  /// Throws as GossipTrainer's does.
  AsynchronousGossip(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                     std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  /// As GossipTrainer's, and of all mixings and edges: `staleness_mean`, `_p50`, `_p90`, `_p99`,
  /// `_max`; `neighbour_age_s`, the mean; `messages_left_out`, `edges_lost`.
  std::vector<scenarios::Figure> figures() const override;
  scenarios::Evaluation evaluate() override;
  std::uint64_t learning_hash() const override;

  void start(scenarios::Session& session) override;
  void on(const sim::Event& event, scenarios::Session& session) override;
  void on_wake(std::uint64_t token, scenarios::Session& session) override;
  void stop(scenarios::Session& session) override {
    if (beside_) beside_->stop(session);
  }
  bool survives_failures() const override { return true; }

  const GossipModels& models() const { return models_; }

 private:
  enum class Stage : std::uint8_t { kComputing, kEncoding, kWaiting, kMixing };
  struct Worker {
    Stage stage = Stage::kComputing;
    bool computed = false;
    std::int64_t step = 0;      ///< of its own, under way
    std::int64_t learned = -1;  ///< the last one whose update it has made
    std::uint64_t order = 0;    ///< of its start among all steps
    double loss = 0;
    std::vector<float> gradient;  ///< once computed
    sim::GraphId graph = 0;       ///< what it does; waiting: none
  };
  /// An edge of the mixing, and what its receiver has heard of its sender.
  struct Edge {
    std::int64_t version = -1;  ///< the sender's step that it knows; -1: nothing yet
    std::int64_t used = -1;     ///< in the mixing that is under way
    std::int64_t sent = -1;     ///< of the message on its way
    Seconds made{0}, used_made{0}, sent_made{0};  ///< when the sender had made those steps
    bool busy = false, lost = false;
    bool all = true;  ///< it has had every message so far
    std::vector<float> known;
    std::vector<std::byte> message;  ///< on its way
    sim::GraphId graph = 0;
  };
  /// Whose graph that is.
  struct Owner {
    bool edge = false;
    std::size_t number = 0;
  };
  /// What the row that is being filled has so far.
  struct Row {
    std::int64_t steps = 0, messages = 0;
    double loss = 0, staleness = 0, age = 0;
    std::int64_t used = 0;
    Bytes payload{0};
  };

  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  std::pair<std::size_t, std::size_t> edges_into(int worker) const {
    return {mixing_.first_into(worker), mixing_.first_into(worker + 1)};
  }
  int ends_at(std::size_t edge) const { return mixing_.edges()[edge].to; }
  double slowdown(int worker) const {
    return learner_.scenario().cluster.slowdown[static_cast<std::size_t>(worker)];
  }

  void start_step(int worker, scenarios::Session& session);
  /// The gradient of that worker, and of others whose turn comes later.
  void compute_ahead(int due);
  void compute(int worker, int thread);
  /// The same beside a real clock.
  void begin_pass(int worker, Seconds now);
  void finish_pass(int worker, scenarios::Session& session);
  /// What leaves along which edges; gives how many messages were encoded.
  int choose_messages(int worker, std::vector<std::size_t>& chosen);
  void send(std::size_t edge, const std::vector<sim::CrossEdge>& after,
            scenarios::Session& session);
  void arrive(std::size_t edge, scenarios::Session& session);
  void give_up(std::size_t edge, scenarios::Session& session);

  bool hears_all(int worker) const;
  /// Mixes, or waits for who is late.
  void wait(int worker, scenarios::Session& session);
  void go_on(int worker, scenarios::Session& session);
  void mix(int worker, scenarios::Session& session);
  void finish_step(int worker, scenarios::Session& session);
  scenarios::StepReport take_row(Seconds now);
  std::vector<float> scored_weights() override { return models_.mean(); }

  scenarios::Work passes_of(int worker) const;
  scenarios::Work one_operation(int worker, sim::OpKind kind, const char* label,
                                Seconds time) const;
  void submit(int worker, scenarios::Work work, scenarios::Session& session);

  void save_content(std::ostream& out) const override;
  void load_content(std::istream& in) override;

  sim::Mixing mixing_;
  GossipModels models_;
  std::vector<Worker> workers_;
  std::vector<Edge> edges_;                         ///< in the mixing's order
  std::vector<std::vector<std::size_t>> edges_of_;  ///< [worker]: those that it sends along
  std::map<sim::GraphId, Owner> owners_;            ///< of what is under way
  std::vector<sim::GraphId> ended_;                 ///< of the row
  std::vector<double> change_;                      ///< the row's mixings did this to the mean
  Row row_;
  std::int64_t rows_ = 0;
  std::uint64_t started_ = 0;
  StalenessCounts staleness_;
  double ages_ = 0;  ///< sum over what staleness_ counts
  std::int64_t left_out_ = 0;
  double distance_ = 0, drift_ = 0, edge_bytes_ = 0;  ///< the last row's, the largest, the last
  std::vector<double> local_accuracy_;
  std::unique_ptr<BesideClock> beside_;  ///< null without a real clock
};

}  // namespace gradwire::trainers
