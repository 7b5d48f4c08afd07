#pragma once
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "trainers/channel/broadcast.h"
#include "trainers/channel/client_states.h"
#include "trainers/schedules/event_trainer.h"
#include "trainers/schedules/set_updates.h"

/// Federated rounds (FedAvg, arXiv 1602.05629, algorithm 1). In round t the server draws some
/// clients and sends each its model x_t. Client k, with n_k samples, takes local steps from there:
///
///   w_k,0 = x_t;   w_k,h+1 = update(w_k,h, gradient of its next batch at w_k,h)
///
/// its update rule being the scenario's optimiser, fresh in every round. It sends w_k, or, with a
/// codec, what the codec makes of w_k - x_t. Of those that arrived, A:
///
///   x_t+1 = sum over A of (n_k / n) w_k,   n = sum over A of n_k   (equal weights: 1 / |A|)
///
/// With a codec, a server rate r, a server momentum m (arXiv 1909.06335), or an update of an
/// earlier round among them, the same is written as v <- m v + sum (n_k / n)(w_k - x sent to k),
/// x_t+1 = x_t + r v.
///
/// A method whose server encodes what it changes (SetPlan::down) has clients that keep copies of
/// the model: x_t+1 = x_t + r v becomes x_t+1 = x_t + what a message says of r v and of what
/// earlier messages left out, and a client downloads the messages that it missed, or the model
/// (trainers/channel/broadcast.h). Equal copies are one here: what differs is their version. A
/// client has a round's version once its training ends; in a round in which nobody arrives there
/// is no message.
///
/// A client's trip is a graph for download, training and encoding, and one for upload and adding,
/// submitted with its true size when the first has ended. A round is over when all of its clients
/// have arrived, or at its deadline. Who is late then is cut off: its work is lost, and its codec's
/// memory stays as it was before the round, since the server never acknowledged the upload; unless
/// the method has what an upload would have said go back into that memory. Or late
/// clients are kept: they go on, take part in no other round meanwhile, and the round in which they
/// arrive takes them; or a round ends with its first K updates (FedBuff, arXiv 2106.06639), the
/// others go on likewise, and the next round draws others in the place of those that arrived. Their
/// part in the mean may be discounted by the rounds that have passed. A client that drops out takes
/// the model and is not heard of again; the server, which cannot know, waits until the deadline. A
/// round in which nobody arrives leaves the model as it was.
///
/// Clients with equal weights train side by side ahead of the instant at which their training ends;
/// what comes out does not depend on it, nor on where clients' states lie. Layers with running
/// statistics keep those of the first client of each round that trains.
namespace gradwire::trainers {

class RoundsTrainer final : public EventTrainer {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other.
  RoundsTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  /// Sums over the run of a round's figures.
  std::vector<scenarios::Figure> figures() const override;

  void start(scenarios::Session& session) override;
  void on(const sim::Event& event, scenarios::Session& session) override;
  void on_wake(std::uint64_t token, scenarios::Session& session) override;
  /// A client that cannot be reached is late.
  bool survives_failures() const override { return has_deadline(); }

  const Layout& layout() const { return learner_.layout(); }
  const ClientStates& clients() const { return clients_; }
  /// Null where clients are sent the model.
  const Broadcast* broadcast() const { return broadcast_ ? &*broadcast_ : nullptr; }

 private:
  /// Of wake-ups: the round, which nobody could begin, begins then.
  static constexpr std::uint64_t kBeginsLater = std::uint64_t{1} << 63;

  enum class Stage : std::uint8_t { kTraining, kUploading, kArrived, kFailed };
  /// What a client made of the model.
  struct LocalUpdate {
    std::vector<std::byte> message;
    double loss = 0;  ///< mean over its local steps
  };
  struct Trip {
    int client = 0;
    std::int64_t round = 0;
    Stage stage = Stage::kTraining;
    bool drops_out = false, records = false;
    std::int64_t version = 0;  ///< of the model that it was sent, in messages of broadcast_
    Bytes download{0};
    std::int64_t messages = 0;          ///< of broadcast_ that it is sent; 0: the model
    std::vector<sim::GraphId> graphs;   ///< the one for training, the one for the upload
    std::optional<LocalUpdate> update;  ///< trained, whether or not that has ended in virtual time
  };
  using Trips = std::map<std::int64_t, Trip>;  ///< by number, in the order of their starts
  struct Counts {
    std::int64_t sampled = 0, arrived = 0, late = 0, dropped_out = 0, busy = 0, arrived_late = 0;
    std::int64_t down = 0, up = 0;  ///< payload bytes of trips that are over

    void add(const Counts& other);
  };
  /// What a host thread works with.
  struct Bench {
    std::unique_ptr<Gradients> gradients;
    std::vector<float> change;     ///< the difference to be encoded
    std::vector<std::byte> state;  ///< of the client's codec
  };

  // Settings.
  bool has_deadline() const { return choice().deadline > Seconds(0); }
  bool buffers() const { return choice().buffer > 0; }
  bool keeps_late() const { return choice().late == "kept" || buffers(); }

  // Who takes part, in rounds_draw.cc.
  void begin_round(scenarios::Session& session);
  std::vector<bool> away(Seconds now) const;
  std::vector<int> candidates(Seconds now) const;
  void wait_for_anyone(scenarios::Session& session);

  // Trips, and the end of a round.
  Seconds training_time(int client) const;
  void submit_broadcast(scenarios::Session& session);
  void add_trip(int client, bool away, bool records);
  void submit_training(Trip& trip, std::int64_t number, scenarios::Session& session);
  std::vector<std::byte> download_of(const Trip& trip) const;
  void submit_upload(Trip& trip, std::int64_t number, scenarios::Session& session);
  void arrive(std::int64_t number);
  void lose(const Trip& trip);
  void close_if_complete(scenarios::Session& session);
  void close_round(scenarios::Session& session);
  void cut_off_late(bool last, scenarios::Session& session, std::vector<std::int64_t>& over);
  void forget(const std::vector<std::int64_t>& trips);

  // A client's part, in rounds_clients.cc.
  std::int64_t local_steps(int client) const;
  Moment moment(std::int64_t round, std::int64_t local_step) const;
  /// Trains the client of that trip, and others of its round whose turn comes later.
  void train_ahead(Trip& due);
  /// Trains all clients of the round, before any of them is sent its model.
  void train_round();
  LocalUpdate train(const Trip& trip, int thread);
  double local_step(const Trip& trip, int thread, std::int64_t h, SetUpdates& rule);
  void mask_upload(std::span<const float> trained, std::span<float> upload) const;
  void encode(const Trip& trip, int thread, LocalUpdate& update);

  // The server's part, in rounds_server.cc.
  void update_model();
  std::vector<float> shares() const;
  void average(const std::vector<float>& shares);
  void move_by_changes(const std::vector<float>& shares);

  // What is reported, in rounds_figures.cc.
  scenarios::StepReport report_of(const std::vector<std::int64_t>& over,
                                  scenarios::Session& session);
  std::vector<scenarios::Figure> as_figures(const Counts& counts) const;
  void measure_fairness();

  void save_content(std::ostream& out) const override;
  void load_content(std::istream& in) override;

  std::optional<Broadcast> broadcast_;   ///< where the server encodes what it changes
  std::map<int, std::int64_t> held_;     ///< by client that has one: its model's version
  bool new_message_ = false;             ///< the last round ended with one
  std::optional<sim::GraphId> encoded_;  ///< the server's work on the message before this round
  ClientStates clients_;        ///< their codecs': proposed when encoded, accepted on arrival
  std::vector<Bench> benches_;  ///< [thread]
  struct UploadOf {
    std::size_t set = 0;
    bool weights = false;  ///< clients send them, not what they changed
  };
  std::vector<UploadOf> uploads_;            ///< by tensor
  std::vector<scenarios::Figure> fairness_;  ///< of the run, once its last round is over
  std::int64_t round_ = 0;
  /// Mean of the latest round in which somebody arrived.
  double last_loss_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<float> velocity_;                      ///< the server's v; empty without momentum
  std::map<std::int64_t, std::vector<float>> sent_;  ///< models of rounds under way, by round
  Trips trips_;                                      ///< under way, or arrived in this round
  std::int64_t next_trip_ = 0;
  std::map<sim::GraphId, std::int64_t> trip_of_;
  std::set<int> busy_;  ///< clients on a trip
  Counts now_, all_;
};

}  // namespace gradwire::trainers
