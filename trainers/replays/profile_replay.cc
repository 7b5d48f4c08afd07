#include "trainers/replays/profile_replay.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compressors/decorators/rules.h"
#include "scenarios/methods.h"
#include "scenarios/profiles/layer_times.h"
#include "trainers/replays/drawn_sizes.h"
#include "trainers/routes/auto_collective.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/routes/weight_gather.h"
#include "trainers/scenario_update.h"
#include "trainers/timing/codec_costs.h"
#include "trainers/timing/compute_times.h"
#include "trainers/timing/measure.h"
#include "trainers/timing/offload.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using scenarios::ComputeProfile;
using scenarios::Scenario;
using scenarios::StepPlan;
using scenarios::Workload;

constexpr std::int64_t kMostMeasured = std::int64_t{1} << 22;
constexpr int kCodecRepetitions = 3;

std::vector<Parameter> tensors_of(const scenarios::WorkloadProfile& workload) {
  std::vector<Parameter> parameters;
  for (const auto& layer : workload.layers) {
    for (const auto& tensor : layer.tensors)
      parameters.push_back({layer.name + "." + tensor.name, tensor.shape});
    // A layer without parameters only takes time; its tensor would be an empty message.
    if (layer.tensors.empty() && layer.elements > 0)
      parameters.push_back({.name = layer.name, .shape = {layer.elements}, .whole_layer = true});
  }
  return parameters;
}

/// Codecs whose payloads have no size of their own are charged for what drawn values take.
bool has_fixed_sizes(const compressors::Codec& codec, const Layout& layout) {
  std::set<const compressors::Codec*> chosen;  // a few, whatever the number of tensors
  for (const auto& slot : layout.tensors())
    chosen.insert(&compressors::chosen_codec(codec, spec_of(slot)));
  return std::all_of(chosen.begin(), chosen.end(),
                     [](const auto* one) { return has_fixed_size(*one); });
}

std::optional<scenarios::DeviceProfile> device_of(const Scenario& scenario) {
  if (scenario.cluster.device == "cpu") return std::nullopt;
  return scenarios::load_device_profile(scenario.cluster.device, scenario.file);
}

class ProfileReplay final : public scenarios::Trainer {
 public:
  explicit ProfileReplay(const Scenario& scenario)
      : workload_(scenarios::load_workload_profile(scenario.workload.profile, scenario.file)),
        device_(device_of(scenario)),
        method_(scenarios::training_method(scenario)),
        parameters_(tensors_of(workload_)),
        layout_(parameters_, scenario.exchange.bucket, sets_of(*method_, parameters_)),
        choice_(choose_collective(scenario, layout_)),
        scenario_(with_choice(scenario, choice_)),
        settings_(exchange_settings(scenario_)),
        exchange_(exchange_of([](const auto& codec) { return codec; })) {
    scenario_.cluster.slowdown.resize(static_cast<std::size_t>(scenario.cluster.workers), 1.0);
    if (!has_fixed_sizes(*settings_.codec, layout_)) charged_ = exchange_of(with_drawn_sizes);
    plan_of(compute_times());  // refuses at once what no formula can size
  }

  const ComputeProfile& prepare() override {
    if (frozen_) return profile_;
    ComputeProfile times = compute_times();
    if (device_) {
      take_codec_times(*method_, layout_, *exchange_, *device_, scenario_.cluster.device, times);
      times.device += ", codec times of " + device_->origin.name;
    } else {
      measure_codec(times);
    }
    use_profile(times);
    return profile_;
  }

  void use_profile(const ComputeProfile& profile) override {
    plan_of(profile);
    frozen_ = true;
  }

  bool next(StepPlan& plan) override {
    if (step_ == steps_total()) return false;
    plan = plan_;
    plan.step = step_++;
    plan.after = template_->edges_from(last_graph_, template_->ends());
    return true;
  }

  void on_submitted(const StepPlan&, sim::GraphId graph) override { last_graph_ = graph; }
  scenarios::Evaluation evaluate() override { return {}; }
  std::int64_t steps_total() const override { return scenario_.workload.steps; }
  std::int64_t parameters() const override { return layout_.elements(); }
  scenarios::CollectiveChoice collective_choice() const override { return choice_; }
  std::vector<std::string> notes() const override {
    const std::string note = scenarios::policy_note(scenario_);
    return note.empty() ? std::vector<std::string>{} : std::vector<std::string>{note};
  }
  std::uint64_t learning_hash() const override { return 0; }
  void save(std::ostream&) const override {}
  void load(std::istream&) override {}

 private:
  /// That of the method's last phase, with codecs changed by `change`.
  template <typename Change>
  std::unique_ptr<Exchange> exchange_of(Change&& change) {
    return make_set_exchange(scenario_, *method_, method_->phases() - 1, layout_, states_,
                             [&](ExchangeSettings& settings) {
                               settings.codec = change(settings.codec);
                               if (settings.requantizer)
                                 settings.requantizer = change(settings.requantizer);
                             });
  }
  ComputeProfile compute_times() const;
  void measure_codec(ComputeProfile& times) const;
  void plan_of(const ComputeProfile& profile);

  scenarios::WorkloadProfile workload_;
  std::optional<scenarios::DeviceProfile> device_;  ///< none: codecs are measured here
  std::unique_ptr<methods::Method> method_;
  std::vector<Parameter> parameters_;
  Layout layout_;
  scenarios::CollectiveChoice choice_;
  Scenario scenario_;  ///< with the collective that was chosen
  StateStore states_;
  ExchangeSettings settings_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Exchange> charged_;  ///< by drawn sizes; null where sizes are fixed
  ComputeProfile profile_;
  std::unique_ptr<StepTemplate> template_;
  StepPlan plan_;  ///< all steps are equal but for their number and their edges
  bool frozen_ = false;
  std::int64_t step_ = 0;
  std::optional<sim::GraphId> last_graph_;
};

/// Of each bucket, the layer nearest to the input that has a tensor in it: its gradients are ready
/// when the backward pass is through with that one.
std::vector<std::size_t> first_layers(const scenarios::WorkloadProfile& workload,
                                      const Layout& layout) {
  std::vector<std::size_t> layer_of;  // by parameter, as tensors_of() makes them
  for (std::size_t l = 0; l < workload.layers.size(); ++l) {
    const auto& layer = workload.layers[l];
    const std::size_t tensors =
        layer.tensors.empty() && layer.elements > 0 ? 1 : layer.tensors.size();
    layer_of.insert(layer_of.end(), tensors, l);
  }
  std::vector<std::size_t> first(layout.buckets().size(), workload.layers.size());
  for (std::size_t b = 0; b < first.size(); ++b)
    for (std::size_t t = layout.buckets()[b].first_tensor; t < layout.buckets()[b].end_tensor; ++t)
      first[b] =
          std::min(first[b], layer_of[static_cast<std::size_t>(layout.tensors()[t].parameter)]);
  return first;
}

/// Of a table's times: its own, a device's where counts and peaks give them, or both.
PlausibleRange compute_range(const scenarios::WorkloadProfile& workload,
                             const scenarios::DeviceProfile* device, const Workload& settings) {
  const bool own = std::any_of(workload.layers.begin(), workload.layers.end(),
                               [](const auto& layer) { return layer.has_times; });
  const PlausibleRange table = own ? workload.origin.compute : PlausibleRange{};
  if (!scenarios::needs_peak(workload)) return table;
  return scenarios::range_of_times(workload, *device, settings.precision, samples_of_pass(settings))
      .with(table);
}

/// A layer's forward pass once more before its backward pass, where activations are not kept.
void compute_again(scenarios::WorkloadTimes& times) {
  for (auto& layer : times.layers) layer.backward += layer.forward;
}

/// A layer's gradients are ready together: it holds up the first bucket that has any of them. One
/// without parameters adds to the bucket that is ready after it. Of one part of a batch in parts.
ComputeProfile ProfileReplay::compute_times() const {
  const Workload& settings = scenario_.workload;
  const auto* device = device_ ? &*device_ : nullptr;
  if (const auto why = why_no_layer_times(workload_, device, settings.precision); !why.empty()) {
    throw TrainerError("replay profile", settings.profile, why,
                       "choose a device that has: " + scenarios::devices_with_peak(),
                       ErrorKind::kScenario);
  }
  scenarios::WorkloadTimes layers = layer_times(
      workload_, device, settings.precision, samples_of_pass(settings), scenario_.cluster.workers);
  if (settings.checkpoint_activations > 0) compute_again(layers);
  ComputeProfile times = empty_profile(layout_);
  times.provenance = "profile";
  times.device = workload_.origin.name + " (" + workload_.origin.source + ")";
  if (charged_) times.device += ", messages sized by drawn values";
  times.compute_range = compute_range(workload_, device, settings);
  times.update = layers.update;
  const std::vector<std::size_t> first = first_layers(workload_, layout_);
  std::size_t bucket = 0;
  for (std::size_t l = workload_.layers.size(); l-- > 0;) {
    while (bucket + 1 < layout_.buckets().size() && first[bucket] > l) ++bucket;
    times.forward += layers.layers[l].forward;
    times.buckets[bucket].backward += layers.layers[l].backward;
  }
  return times;
}

/// One tensor of the largest bucket's size, or 4 Mi elements, stands for all: times go by elements.
void ProfileReplay::measure_codec(ComputeProfile& times) const {
  times.device += ", codec times measured on " + cpu_model_name();
  if (compressors::is_plain_codec(settings_.codec->name())) return;
  std::int64_t count = 0;
  for (const BucketSlot& bucket : layout_.buckets()) count = std::max(count, bucket.count);
  count = std::min(count, kMostMeasured);
  const std::vector<Parameter> one = {{"drawn", {count}}};
  const Layout layout(one, Bytes(4 * count));
  StateStore states;
  const auto exchange = make_exchange(settings_, layout, states);
  const std::vector<float> values = drawn_values(count);
  const std::span<const float> gradient = values;
  const MachineLock alone;
  const CodecSeconds measured = exchange->time_bucket(0, {&gradient, 1}, kCodecRepetitions);
  for (ComputeProfile::Bucket& bucket : times.buckets) {
    const double factor = static_cast<double>(bucket.elements) / static_cast<double>(count);
    bucket.scale = measured.scale * factor;
    bucket.encode = measured.encode * factor;
    bucket.decode = measured.decode * factor;
    bucket.aggregate = measured.aggregate * factor;
  }
}

void ProfileReplay::plan_of(const ComputeProfile& profile) {
  template_ = make_step_template(scenario_, layout_, *exchange_, profile);
  profile_ = profile;
  plan_.graph = template_->graph();
  ComputeProfile times = profile;
  // Parts of a batch but the last pass before it, and send nothing.
  Seconds pass = profile.forward;
  for (const ComputeProfile::Bucket& bucket : profile.buckets) pass += bucket.backward;
  times.forward += pass * (scenario_.workload.micro_batches - 1);
  take_update_times(scenario_, layout_, times);
  plan_.seconds = template_->seconds(times, scenario_.cluster.slowdown);
  StepTraffic traffic(*template_, plan_.bytes);
  (charged_ ? *charged_ : *exchange_).charge(traffic);
  charge_gathers(traffic, layout_, scenario_.cluster.workers, zero_stage(scenario_));
  plan_.payload = traffic.payload();
  plan_.dense_payload = dense_bytes(settings_, layout_);
  plan_.dense_messages = dense_messages(settings_, layout_);
}

}  // namespace

std::unique_ptr<scenarios::Trainer> make_profile_replay(const Scenario& scenario) {
  if (scenario.cluster.device == "cuda") {
    throw TrainerError("replay a profile on", "device cuda",
                       "a codec is timed on a GPU only where a model is trained there",
                       "use device cpu or a device profile", ErrorKind::kScenario);
  }
  return std::make_unique<ProfileReplay>(scenario);
}

}  // namespace gradwire::trainers
