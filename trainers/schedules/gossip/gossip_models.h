#pragma once
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

#include "sim/graph/mixing.h"
#include "trainers/channel/tensor_channel.h"
#include "trainers/schedules/gossip/gossip_mixer.h"
#include "trainers/schedules/learner.h"
#include "trainers/schedules/set_updates.h"

namespace gradwire::trainers {

/// The models of workers that gossip, whoever waits for whom: each worker has weights x_i, an
/// update rule with a state, a codec's state, and y_i, what its messages so far say to all who have
/// them (methods::GossipPlan). The receivers of a message and its sender make the same of its
/// bytes, so one y_i stands for all of their copies.
class GossipModels {
 public:
  /// `learner`: with ReplicaWeights::kPlaced, its method is for gossip. Both must outlive it. All
  /// workers start with the learner's weights.
  GossipModels(Learner& learner, const sim::Mixing& mixing);

  /// A step of the worker by itself: x_i <- update(x_i, gradient of its batch); gives the loss.
  /// This and encode(): different workers may do it side by side.
  double learn(int worker, int thread, std::int64_t step);
  /// Its two halves, for who does other things between them: the gradient, flat, and the update by
  /// it at the rate of that step. learn() gives the same bits.
  double pass(int worker, int thread, std::int64_t step, std::span<float> gradient);
  void update(int worker, std::int64_t step, std::span<const float> gradient);
  /// Its message about x_i, and y_i with it.
  void encode(int worker, int thread, std::int64_t step);
  /// By worker and bucket of the layout.
  std::span<const std::byte> message(int worker, std::size_t bucket) const;

  /// All of its message.
  std::span<const std::byte> message(int worker) const;
  /// To who knows `known` of it, and not y_i: messages are differences.
  std::vector<std::byte> message_to(std::span<const float> known, int worker, std::int64_t step);
  /// `known` is what a receiver knows of the sender; the message is added or takes its place.
  void hear(std::span<const std::byte> message, std::span<float> known) const;
  bool says_differences() const { return plan_.differences; }

  /// All workers mix what they have; `learned`: since learn().
  MixOutcome mix_all(std::int64_t step, bool learned);

  /// The worker mixes what it knows (mix_one()); `step`: that of its update.
  void mix_alone(int worker, std::int64_t step, std::span<const std::span<const float>> known,
                 std::span<double> change);
  ModelSpread spread();

  /// Of all x_i.
  std::vector<float> mean();
  /// The learner's weights become that mean.
  void take_mean();
  std::span<const float> weights(int worker) const { return x_[static_cast<std::size_t>(worker)]; }
  std::span<float> weights(int worker) { return x_[static_cast<std::size_t>(worker)]; }
  /// What its neighbours have of it; of plain messages its weights.
  std::span<const float> known(int worker) const;
  const TensorChannel& channel() const { return channel_; }
  /// Messages are weights as they are, and what is mixed are weights.
  bool plain() const { return channel_.plain() && !plan_.differences; }

  /// What a worker remembers beside weights and gradients: its update rule; it and its codec.
  std::int64_t optimizer_bytes() const { return updates_.front().state_bytes(); }
  std::int64_t method_bytes() const;
  /// Weights before a step, if the rule looks at them.
  std::int64_t start_bytes() const {
    return start_.empty() ? 0 : static_cast<std::int64_t>(4 * x_.front().size());
  }

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  double rate(std::int64_t step) const { return learner_.rate(learner_.moment_at(step)); }
  void cut(int worker);

  Learner& learner_;
  const sim::Mixing& mixing_;
  methods::GossipPlan plan_;
  TensorChannel channel_;
  std::vector<SetUpdates> updates_;        ///< [worker]
  std::vector<std::vector<float>> x_;      ///< [worker]
  std::vector<std::vector<float>> y_;      ///< [worker]; of plain messages empty
  std::vector<std::vector<float>> start_;  ///< [worker]: x_i before its step, if a rule looks at it
  std::vector<std::vector<std::byte>> messages_;                ///< [worker]
  std::vector<std::vector<std::span<const std::byte>>> parts_;  ///< [worker][bucket]
  std::vector<std::unique_ptr<Gradients>> gradients_;           ///< [thread]
  std::vector<std::vector<float>> change_;                      ///< [thread]
};

}  // namespace gradwire::trainers
