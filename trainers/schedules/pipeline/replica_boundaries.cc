#include "trainers/schedules/pipeline/replica_boundaries.h"

#include <string>

#include "scenarios/diverged.h"
#include "trainers/schedules/whole_model.h"

namespace gradwire::trainers {
namespace {

constexpr const char* kActivations = "activations";
constexpr const char* kGradients = "gradient of the activations";

[[noreturn]] void diverge(std::int64_t step, const std::string& what, const std::string& reason) {
  throw scenarios::Diverged("train", "step " + std::to_string(step + 1), what + " " + reason,
                            "a smaller learning rate, or more bits, may help");
}

}  // namespace

void ReplicaBoundaries::begin_step(std::int64_t step) {
  step_ = step;
  sent_.clear();
  loss_ = {};
  plain_ = Bytes(0);
}

void ReplicaBoundaries::begin(std::size_t micro_batch, std::span<const std::uint32_t> samples,
                              std::size_t first) {
  micro_batch_ = micro_batch;
  samples_ = samples;
  first_ = first;
}

BoundaryMoment ReplicaBoundaries::moment(std::size_t sender, std::size_t each) const {
  return {step_, cut_.host(replica_, static_cast<int>(sender)), first_ * each};
}

void ReplicaBoundaries::check(std::span<const float> values, std::size_t stage,
                              const char* what) const {
  if (!all_finite(values))
    diverge(step_, "the " + std::string(what) + " of stage " + std::to_string(stage),
            "are not finite");
}

/// What a codec cannot encode, such as values beyond its scales, is what became of the training.
template <class Send>
void ReplicaBoundaries::sending(std::size_t stage, const char* what, const Send& send) const {
  try {
    send();
  } catch (const compressors::CodecError& error) {
    diverge(step_, "the " + std::string(what) + " of stage " + std::to_string(stage),
            "cannot be sent: " + std::string(error.what()));
  }
}

void ReplicaBoundaries::add(std::size_t boundary, bool back, std::size_t values, double encoded) {
  sent_.push_back({static_cast<std::size_t>(replica_), boundary, micro_batch_, back,
                   Bytes(static_cast<std::int64_t>(message_.size())), encoded});
  if (keeps_) sent_.back().content = message_;
  plain_ += Bytes(static_cast<std::int64_t>(4 * values));
}

void ReplicaBoundaries::activations(std::size_t boundary, std::span<const std::int64_t> shape,
                                    std::span<float> values) {
  check(values, boundary, kActivations);
  BoundaryChannel& channel = *channels_[boundary];
  const std::size_t each = values.size() / samples_.size();
  std::size_t encoded = 0;
  sending(boundary, kActivations, [&] {
    encoded = channel.send(samples_, shape, values, moment(boundary, each), message_, loss_);
  });
  channel.receive(samples_, shape, message_, values);
  add(boundary, false, values.size(),
      static_cast<double>(encoded) / static_cast<double>(samples_.size()));
}

void ReplicaBoundaries::gradients(std::size_t boundary, std::span<const std::int64_t> shape,
                                  std::span<float> values) {
  check(values, boundary + 1, kGradients);
  const BoundaryChannel& channel = *channels_[boundary];
  const std::size_t each = values.size() / samples_.size();
  sending(boundary + 1, kGradients,
          [&] { channel.send_gradients(shape, values, moment(boundary + 1, each), message_); });
  channel.receive_gradients(shape, message_, values);
  add(boundary, true, values.size(), channel.encodes_gradients() ? 1 : 0);
}

}  // namespace gradwire::trainers
