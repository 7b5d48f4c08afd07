#include <algorithm>
#include <iterator>

#include "scenarios/profiles/profile.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/scenario_update.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/pipeline/pipeline_trainer.h"
#include "trainers/timing/measure.h"
#include "trainers/trainer_error.h"

/// What the codecs between stages take, and what each stage holds. A profile has two buckets more
/// for each boundary, of activations and of their gradients, whose encode and decode are those
/// times for a whole micro-batch.
namespace gradwire::trainers {
namespace {

constexpr int kRepetitions = 5;

using Bucket = scenarios::ComputeProfile::Bucket;

/// What crosses boundaries in a pass that leaves no trace.
class Recorder final : public StageBoundaries {
 public:
  struct Crossing {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  explicit Recorder(std::size_t boundaries) : forward(boundaries), back(boundaries) {}
  void activations(std::size_t boundary, std::span<const std::int64_t> shape,
                   std::span<float> values) override {
    forward[boundary] = {{shape.begin(), shape.end()}, {values.begin(), values.end()}};
  }
  void gradients(std::size_t boundary, std::span<const std::int64_t> shape,
                 std::span<float> values) override {
    back[boundary] = {{shape.begin(), shape.end()}, {values.begin(), values.end()}};
  }
  std::vector<Crossing> forward, back;  ///< [boundary]
};

/// Of samples that both ends know.
void time_activations(BoundaryChannel& channel, std::span<const std::uint32_t> samples,
                      const Recorder::Crossing& crossing, Bucket& bucket) {
  std::vector<std::byte> message;
  std::vector<float> received(crossing.values.size());
  BoundaryLoss loss;
  const auto send = [&] {
    channel.send(samples, crossing.shape, crossing.values, {}, message, loss);
  };
  const auto receive = [&] { channel.receive(samples, crossing.shape, message, received); };
  send();
  receive();
  bucket.encode = median_time(kRepetitions, send);
  // Each reception goes with a sending.
  bucket.decode = median_time(kRepetitions, receive);
}

void time_gradients(const BoundaryChannel& channel, const Recorder::Crossing& crossing,
                    Bucket& bucket) {
  std::vector<std::byte> message;
  std::vector<float> received(crossing.values.size());
  bucket.encode = median_time(
      kRepetitions, [&] { channel.send_gradients(crossing.shape, crossing.values, {}, message); });
  bucket.decode = median_time(
      kRepetitions, [&] { channel.receive_gradients(crossing.shape, message, received); });
}

void take_times(const scenarios::DeviceProfile& device, const std::string& name,
                const compressors::CodecPlan& plan, Bucket& bucket) {
  const auto found = device.codecs.find(plan.codec.name);
  if (found == device.codecs.end())
    throw TrainerError("take times from device profile", name,
                       "it has no codec \"" + plan.codec.name + "\"",
                       "use device cpu, which is measured here, or another profile");
  bucket.encode = found->second.encode.time(bucket.elements);
  bucket.decode = found->second.decode.time(bucket.elements);
}

}  // namespace

const scenarios::ComputeProfile& PipelineTrainer::prepare() {
  if (graph_) return learner_.profile();  // frozen times were given
  learner_.prepare(*exchange_);
  scenarios::ComputeProfile profile = learner_.profile();
  time_boundaries(profile);
  use_profile(profile);
  return learner_.profile();
}

void PipelineTrainer::time_boundaries(scenarios::ComputeProfile& profile) {
  const methods::BoundaryPlan plan = boundary();
  if (channels_.empty() || (!plan.forward && !plan.backward)) return;
  const auto count = static_cast<std::size_t>(samples_of_pass(scenario_.workload));
  const auto batch = learner_.batch(0, 0).first(count);
  const std::vector<std::uint32_t> samples(batch.begin(), batch.end());
  Recorder recorder(channels_.size());
  learner_.pass_stages(samples, 0, 0, 0, false, cut_.ends, recorder, *gradients_[0]);
  const bool measured = profile.provenance == "measured";
  std::optional<scenarios::DeviceProfile> device;
  std::optional<MachineLock> alone;
  if (measured)
    alone.emplace();
  else
    device = scenarios::load_device_profile(scenario_.cluster.device, scenario_.file);
  for (std::size_t b = 0; b < channels_.size(); ++b) {
    BoundaryChannel scratch(plan, b, scenario_.seed, {});
    for (const bool back : {false, true}) {
      Bucket bucket;
      const auto& crossing = (back ? recorder.back : recorder.forward)[b];
      bucket.name = (back ? "gradients " : "activations ") + std::to_string(b);
      bucket.elements = std::ssize(crossing.values);
      const auto& codec = back ? plan.backward : plan.forward;
      if (codec && device)
        take_times(*device, scenario_.cluster.device, *codec, bucket);
      else if (codec && back)
        time_gradients(scratch, crossing, bucket);
      else if (codec)
        time_activations(scratch, samples, crossing, bucket);
      profile.buckets.push_back(bucket);
    }
  }
  if (device) profile.codec_range = device->origin.codecs;
}

BoundaryTimes PipelineTrainer::times_of_boundaries() const {
  const methods::BoundaryPlan plan = boundary();
  const std::vector<Bucket>& buckets = learner_.profile().buckets;
  const std::size_t own = layout().buckets().size();
  BoundaryTimes times;
  for (const bool back : {false, true}) {
    if (!(back ? plan.backward : plan.forward)) continue;
    for (std::size_t b = 0; b < channels_.size(); ++b) {
      const std::size_t at = own + 2 * b + (back ? 1 : 0);
      sim::PipelineCoding coding;
      if (at < buckets.size()) coding = {buckets[at].encode, buckets[at].decode};
      times[back ? 1 : 0].emplace_back(coding);
    }
  }
  return times;
}

/// A worker between two others is at an end of two boundaries; replicas part the samples.
std::int64_t PipelineTrainer::buffer_bytes() const {
  std::int64_t most = 0;
  for (std::size_t s = 0; s < cut_.ends.size(); ++s) {
    std::int64_t own = 0;
    if (s > 0) own += channels_[s - 1]->buffer_bytes();
    if (s < channels_.size()) own += channels_[s]->buffer_bytes();
    most = std::max(most, own);
  }
  return most / cut_.replicas;
}

std::vector<scenarios::Figure> PipelineTrainer::memory() const {
  std::vector<std::int64_t> elements(cut_.ends.size());
  for (const TensorSlot& slot : layout().tensors())
    elements[cut_.stage_of[static_cast<std::size_t>(slot.parameter)]] += slot.count;
  const auto most = static_cast<double>(*std::ranges::max_element(elements));
  const auto statistics = static_cast<double>(learner_.statistics().size_bytes());
  const double share = most / static_cast<double>(layout().elements());
  std::vector<scenarios::Figure> figures = {
      {"memory_parameters_bytes", 4 * most + statistics, "B"},
      {"memory_gradients_bytes", 4 * most, "B"},
      {"memory_optimizer_bytes", share * static_cast<double>(updates_.state_bytes()), "B"},
      {"memory_method_bytes",
       static_cast<double>(buffer_bytes()) +
           share * static_cast<double>(learner_.states().shares().largest),
       "B"}};
  if (const std::int64_t activations = activation_bytes(); activations > 0)
    figures.push_back({"memory_activations_bytes", static_cast<double>(activations), "B"});
  return figures;
}

/// Of the stage that keeps most: of as many micro-batches as its order of passes has it keep.
std::int64_t PipelineTrainer::activation_bytes() const {
  const std::vector<std::int64_t> of_stage = learner_.stage_activation_bytes(cut_.ends);
  const bool both = scenario_.schedule.order == "1f1b";
  std::int64_t most = 0;
  for (std::size_t s = 0; s < of_stage.size(); ++s) {
    const int kept =
        both ? std::min(cut_.stages() - static_cast<int>(s), micro_batches()) : micro_batches();
    most = std::max(most, of_stage[s] * kept);
  }
  return most;
}

std::vector<scenarios::Figure> PipelineTrainer::figures() const {
  std::vector<scenarios::Figure> figures;
  if (waits_.steps > 0) {
    const auto steps = static_cast<double>(waits_.steps);
    figures.push_back({"pipeline_bubble", waits_.bubble / steps});
    figures.push_back({"exposed_transfer_s", waits_.exposed / steps, "s"});
  }
  if (!epochs_.empty()) {
    const Row& last = epochs_.rbegin()->second;
    figures.push_back({"epoch_loss", last.loss / static_cast<double>(last.steps)});
    if (boundary().forward) {
      const auto second = epochs_.find(1);
      const double at_last = last.error.buffer_error();
      const double at_first = second == epochs_.end() ? 0 : second->second.error.buffer_error();
      if (at_first > 0) figures.push_back({"buffer_error_fall", at_last / at_first});
      figures.push_back({"buffer_error_last", at_last});
      figures.push_back({"quantiser_error_last", last.error.quantiser_error()});
    }
  }
  if (boundary().differences)
    figures.push_back({"buffer_bytes", static_cast<double>(buffer_bytes()), "B"});
  std::ranges::move(memory(), std::back_inserter(figures));
  return figures;
}

}  // namespace gradwire::trainers
