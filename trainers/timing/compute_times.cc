#include "trainers/timing/compute_times.h"

#include <algorithm>

#include "base/joined_texts.h"
#include "scenarios/methods.h"
#include "trainers/scenario_update.h"
#include "trainers/timing/measure.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using scenarios::ComputeProfile;

constexpr int kFewestPasses = 5, kMostPasses = 30, kCodecRepetitions = 5;
constexpr double kPassSeconds = 0.5;

/// Seconds from the previous bucket's readiness to each one's.
std::vector<double> bucket_times(const PassTimes& pass, const Layout& layout) {
  std::vector<double> times;
  Seconds before{0};
  for (const BucketSlot& bucket : layout.buckets()) {
    Seconds ready = before;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      ready = std::max(ready, pass.ready[t]);
    }
    if (&bucket == &layout.buckets().back()) ready = std::max(ready, pass.backward);
    times.push_back((ready - before).value());
    before = ready;
  }
  return times;
}

void measure_passes(const MeasuredParts& parts, ComputeProfile& profile) {
  for (int warm_up = 0; warm_up < 2; ++warm_up) parts.replica.time_pass(parts.batch, parts.options);
  std::vector<double> forward, whole;
  std::vector<std::vector<double>> backward(parts.layout.buckets().size());
  double spent = 0;
  for (int i = 0; i < kMostPasses && (i < kFewestPasses || spent < kPassSeconds); ++i) {
    const PassTimes pass = parts.replica.time_pass(parts.batch, parts.options);
    const std::vector<double> times = bucket_times(pass, parts.layout);
    for (std::size_t b = 0; b < times.size(); ++b) backward[b].push_back(times[b]);
    forward.push_back(pass.forward.value());
    whole.push_back((pass.forward + pass.backward).value());
    spent += whole.back();
  }
  profile.forward = Seconds(spread_of(forward).median);
  for (std::size_t b = 0; b < backward.size(); ++b) {
    profile.buckets[b].backward = Seconds(spread_of(backward[b]).median);
  }
  profile.spread = spread_of(whole).relative_range;
  profile.repetitions = static_cast<int>(whole.size());
}

void measure_codec(const MeasuredParts& parts, ComputeProfile& profile) {
  const std::unique_ptr<Gradients> gradients = parts.replica.make_gradients();
  parts.replica.train_pass(parts.batch, parts.options, *gradients);
  for (std::size_t b = 0; b < profile.buckets.size(); ++b) {
    const CodecSeconds times =
        parts.exchange.time_bucket(b, gradients->tensors(), kCodecRepetitions);
    ComputeProfile::Bucket& bucket = profile.buckets[b];
    bucket.scale = times.scale;
    bucket.encode = times.encode;
    bucket.decode = times.decode;
    bucket.aggregate = times.aggregate;
  }
}

Seconds measure_update(const MeasuredParts& parts) {
  if (parts.device_update) return parts.device_update->time(kCodecRepetitions);
  std::vector<float> weights(parts.weights.begin(), parts.weights.end());
  const std::vector<float> gradient(weights.size(), 1e-6f);
  Update update(parts.update, parts.layout);
  return median_time(kCodecRepetitions, [&] { update.step(1e-3, gradient, weights); });
}

template <typename Map>
const auto& find_row(const Map& rows, const std::string& name, const char* kind,
                     const std::string& profile) {
  const auto found = rows.find(name);
  if (found != rows.end()) return found->second;
  const std::string known = joined_texts(rows, ", ", [](const auto& row) { return row.first; });
  throw TrainerError("take times from device profile", profile,
                     "it has no " + std::string(kind) + " \"" + name + "\"; it has " + known,
                     "use device cpu, which is measured here, or another profile");
}

/// Bytes that the scenario's rule moves for each element, as a share of those of sgd with momentum,
/// which profiles' update times are of. Memory bounds every one of these rules.
double update_share(const scenarios::Scenario& scenario) {
  const int profiled = make_update_rule({"sgd", {{"momentum", "0.9"}}})->bytes_per_element();
  return static_cast<double>(make_update_rule(update_settings(scenario))->bytes_per_element()) /
         profiled;
}

}  // namespace

ComputeProfile empty_profile(const Layout& layout) {
  ComputeProfile profile;
  for (const BucketSlot& slot : layout.buckets()) {
    ComputeProfile::Bucket bucket;
    bucket.name = slot.name;
    bucket.elements = slot.count;
    profile.buckets.push_back(bucket);
  }
  return profile;
}

bool is_plain(const compressors::CodecPlan& plan) {
  return compressors::is_plain_codec(plan.codec.name) && !plan.error_feedback && !plan.decorated();
}

std::size_t timed_phase(const methods::Method& method) {
  std::size_t phase = method.phases() - 1;
  const auto encodes = [&] {
    for (std::size_t set = 0; set < method.sets(); ++set)
      if (!is_plain(method.plan(set, phase).up)) return true;
    return false;
  };
  while (phase > 0 && !encodes()) --phase;
  return encodes() ? phase : method.phases() - 1;
}

ComputeProfile in_phase(const ComputeProfile& times, const methods::Method& method,
                        std::size_t phase, const Layout& layout) {
  ComputeProfile own = times;
  if (phase == timed_phase(method)) return own;
  for (std::size_t b = 0; b < own.buckets.size(); ++b)
    if (is_plain(method.plan(layout.buckets()[b].set, phase).up))
      own.buckets[b].scale = own.buckets[b].encode = own.buckets[b].decode = Seconds(0);
  return own;
}

void take_codec_times(const methods::Method& method, const Layout& layout, const Exchange& exchange,
                      const scenarios::DeviceProfile& device, const std::string& device_name,
                      ComputeProfile& profile) {
  const std::size_t phase = timed_phase(method);
  for (std::size_t b = 0; b < profile.buckets.size(); ++b) {
    ComputeProfile::Bucket& bucket = profile.buckets[b];
    const compressors::CodecPlan plan = method.plan(layout.buckets()[b].set, phase).up;
    if (is_plain(plan)) continue;
    profile.codec_range = device.origin.codecs;
    // Other decorators are cheap beside their codec.
    const auto& codec = find_row(device.codecs, plan.codec.name, "codec", device_name);
    bucket.encode = codec.encode.time(bucket.elements);
    if (plan.error_feedback) bucket.encode += device.error_feedback.time(bucket.elements);
    if (plan.momentum_correction) bucket.encode += device.momentum_correction.time(bucket.elements);
    bucket.decode = codec.decode.time(bucket.elements);
    bucket.aggregate = codec.aggregate.time(bucket.elements);
    // Profiles do not part the two; finding the scale reads the tensor once, encoding once more.
    if (exchange.shares_scales_of(b)) bucket.scale = bucket.encode / 2;
  }
}

ComputeProfile measure_times(const MeasuredParts& parts) {
  const MachineLock alone;
  ComputeProfile profile = empty_profile(parts.layout);
  profile.provenance = "measured";
  profile.device = parts.device;
  measure_passes(parts, profile);
  measure_codec(parts, profile);
  profile.update = measure_update(parts);
  return profile;
}

ComputeProfile times_from_profile(const scenarios::Scenario& scenario,
                                  const methods::Method& method, const Layout& layout,
                                  const Exchange& exchange) {
  const std::string& name = scenario.cluster.device;
  const scenarios::DeviceProfile device = scenarios::load_device_profile(name, scenario.file);
  const auto& model = find_row(device.models, scenario.workload.model, "model", name);
  ComputeProfile profile = empty_profile(layout);
  profile.provenance = "profile";
  profile.device = device.origin.name;
  profile.compute_range = device.origin.compute;
  profile.forward = model.forward.time(samples_of_pass(scenario.workload));
  profile.update = model.update * update_share(scenario);
  Seconds backward = model.backward.time(samples_of_pass(scenario.workload));
  if (scenario.workload.checkpoint_activations > 0) backward += profile.forward;  // recomputed
  for (ComputeProfile::Bucket& bucket : profile.buckets) {
    bucket.backward =
        backward * (static_cast<double>(bucket.elements) / static_cast<double>(layout.elements()));
  }
  take_codec_times(method, layout, exchange, device, name, profile);
  return profile;
}

}  // namespace gradwire::trainers
