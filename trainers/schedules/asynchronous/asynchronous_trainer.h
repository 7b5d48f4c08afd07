#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "trainers/schedules/asynchronous/staleness.h"
#include "trainers/schedules/event_trainer.h"
#include "trainers/schedules/set_updates.h"

/// Asynchronous data parallelism at a parameter server (Downpour SGD: Dean et al., "Large scale
/// distributed deep networks", 2012). The server has weights x and counts its updates: version v.
/// A worker's trip:
///
///   it is sent x_s, version s;   g = gradient of its next batch at x_s
///   it sends encode(g); when the server has added it up, at version v >= s:
///   x_v+1 = update(x_v, decode(encode(g))), with rate(v) * factor(v - s)
///
/// and the next trip starts with x_v+1. v - s is the update's staleness: what others' updates have
/// done meanwhile, so it is measured, by stragglers, links and absences, and not drawn. The
/// optimiser's state is the server's, codecs' is each worker's. With a bound b a worker that has
/// had b more updates applied than the slowest one waits for that one (stale-synchronous parallel:
/// Ho et al. 2013).
///
/// In the graphs a trip is one for the pull and the passes, and one for messages, adding and the
/// update, submitted with true sizes when the first bucket's gradient is ready. A row of the store
/// is an update. A worker whose transfers can never end is lost, and the others go on.
///
/// Workers train side by side ahead of the instant at which their passes end, as the weights that
/// they were sent do not change; whose turn it is depends on virtual time alone, not on host
/// threads. Layers with running statistics keep worker 0's.
///
/// Where a real clock drives it (TrainerOptions::trains_ahead), a pass begins on threads of its own
/// when its trip does, and is waited for when the network needs its message; evaluations are made
/// beside the clock, too. What is learnt from a given order of arrivals is the same.
namespace gradwire::trainers {

class AsynchronousTrainer final : public EventTrainer {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other.
  AsynchronousTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                      std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  /// Of the run's updates: `staleness_mean`, `_p50`, `_p90`, `_p99`, `_max`; `workers_lost`.
  std::vector<scenarios::Figure> figures() const override;

  void start(scenarios::Session& session) override;
  void on(const sim::Event& event, scenarios::Session& session) override;
  void stop(scenarios::Session& session) override {
    if (beside_) beside_->stop(session);
  }
  bool survives_failures() const override { return true; }

  const Layout& layout() const { return learner_.layout(); }

 private:
  enum class Stage : std::uint8_t { kWaiting, kComputing, kSending, kLost };
  /// A worker, and the trip that it is on.
  struct Worker {
    Stage stage = Stage::kWaiting;
    bool computed = false;
    std::int64_t trips = 0;    ///< whose update the server has made
    std::int64_t version = 0;  ///< of the weights that it was sent
    std::uint64_t order = 0;   ///< of its start among all trips
    double loss = 0;
    std::vector<Bytes> messages;     ///< by bucket
    std::vector<std::byte> message;  ///< what they hold, where payloads are kept
    /// The weights that it was sent; once computed, the gradient as the server decodes it, unless
    /// `gradients` has it.
    std::vector<float> values;
    std::unique_ptr<Gradients> gradients;  ///< as its pass left them; no codec changes them
    sim::GraphId computing = 0, sending = 0;
  };
  /// What a trip of a worker submits; the sizes of its messages are filled in.
  struct Graphs {
    scenarios::Work compute, send;       ///< sizes of `send`: by bucket
    sim::OpIndex pull = 0;               ///< of `compute`
    std::vector<sim::OpIndex> backward;  ///< of `compute`, by bucket
    std::vector<sim::OpIndex> first;     ///< of `send`, by bucket: what awaits its gradient
    std::vector<sim::OpIndex> push;      ///< of `send`, by bucket
  };
  /// What a host thread works with.
  struct Bench {
    std::unique_ptr<Gradients> gradients;  ///< null from a plain channel, as the next
    std::vector<float> flat;
    std::vector<std::byte> message;
  };

  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  Graphs& graphs_of(int worker);
  Graphs make_graphs(int worker) const;
  /// The backward pass of the bucket after which messages are on their way.
  sim::OpIndex trigger(int worker);
  /// Of the worker's lane, from the first pass to the end of that one.
  Seconds time_to_trigger(int worker);
  /// What is submitted, with what its messages hold where payloads are kept.
  scenarios::Work pull_and_passes(int worker);
  scenarios::Work messages_and_update(int worker);

  /// Trips of those that the bound lets go.
  std::int64_t most_trips() const;
  void start_waiting(scenarios::Session& session);
  void start_trip(int worker, scenarios::Session& session);
  void send(int worker, scenarios::Session& session);
  void apply(int worker, scenarios::Session& session);
  void lose(int worker, scenarios::Session& session);

  /// The gradient of that worker, and of others whose turn comes later.
  void compute_ahead(int due);
  void compute(int worker, int thread);
  /// The same beside a real clock, from now on.
  void begin_pass(int worker, Seconds now);
  /// The message, and what the server has of it.
  void encode(Worker& worker, int number, Bench& bench);
  void keep_gradients(Worker& worker) const;
  GradientView gradient_of(const Worker& worker) const;
  std::unique_ptr<Gradients> take_spare();

  void save_content(std::ostream& out) const override;
  void load_content(std::istream& in) override;

  SetUpdates updates_;
  std::vector<Bench> benches_;                     ///< [thread]
  std::vector<std::unique_ptr<Gradients>> spare_;  ///< of workers whose updates are made
  std::vector<Worker> workers_;
  std::vector<std::optional<Graphs>> graphs_;  ///< [worker], made when first used
  std::map<sim::GraphId, int> worker_of_;
  std::int64_t version_ = 0;
  std::uint64_t started_ = 0;
  StalenessCounts staleness_;
  std::unique_ptr<BesideClock> beside_;  ///< null without a real clock
};

}  // namespace gradwire::trainers
