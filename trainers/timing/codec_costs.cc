#include "trainers/timing/codec_costs.h"

#include <algorithm>

#include "base/philox.h"
#include "compressors/codec.h"
#include "scenarios/methods.h"
#include "trainers/routes/exchange.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using Cost = scenarios::DeviceProfile::Cost;

constexpr std::int64_t kSmall = 4096, kLarge = 1 << 20;
constexpr int kRepetitions = 3;

scenarios::Scenario scenario_of(const compressors::CodecInfo& codec, bool feedback) {
  scenarios::Scenario scenario;
  scenario.method.name = codec.name;
  scenario.method.error_feedback = feedback;
  scenario.cluster.workers = 4;
  const bool ring = scenarios::exchange_conflict(codec.policy, "ring").empty();
  scenario.exchange.collective = ring ? "ring" : "parameter-server";
  return scenario;
}

CodecSeconds times_of(const compressors::CodecInfo& codec, std::int64_t count,
                      bool feedback = false) {
  // A matrix, so that codecs that factor tensors have something to factor.
  const std::vector<Parameter> one = {{"drawn", {count / 64, 64}}};
  const Layout layout(one, Bytes(4 * count));
  StateStore states;
  const auto exchange =
      make_exchange(exchange_settings(scenario_of(codec, feedback)), layout, states);
  const std::vector<float> values = drawn_values(count);
  const std::span<const float> gradient = values;
  return exchange->time_bucket(0, {&gradient, 1}, kRepetitions);
}

Cost line_through(Seconds small, Seconds large) {
  const double slope = (large - small).value() / static_cast<double>(kLarge - kSmall);
  const double per_element = std::max(0.0, slope);
  const double fixed = small.value() - per_element * static_cast<double>(kSmall);
  return {Seconds(std::max(0.0, fixed)), Seconds(per_element)};
}

}  // namespace

std::vector<float> drawn_values(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const RandomStream stream{1, 0, 0, 0};
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = uniform(stream, 2 * e) + uniform(stream, 2 * e + 1) - 1.0f;
  }
  return values;
}

std::map<std::string, scenarios::DeviceProfile::Codec> measure_codec_costs(
    const std::function<void(int, int, const std::string&)>& progress,
    const std::vector<std::string>& only) {
  std::vector<const compressors::CodecInfo*> codecs;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    if (scenarios::why_no_gradient_codec(codec).empty() &&
        (only.empty() || std::find(only.begin(), only.end(), codec.name) != only.end()))
      codecs.push_back(&codec);
  const MachineLock alone;
  std::map<std::string, scenarios::DeviceProfile::Codec> costs;
  for (const compressors::CodecInfo* codec : codecs) {
    if (progress)
      progress(static_cast<int>(costs.size()), static_cast<int>(codecs.size()), codec->name);
    const CodecSeconds small = times_of(*codec, kSmall), large = times_of(*codec, kLarge);
    costs[codec->name] = {line_through(small.encode, large.encode),
                          line_through(small.decode, large.decode),
                          line_through(small.aggregate, large.aggregate)};
  }
  return costs;
}

scenarios::DeviceProfile::Cost measure_error_feedback() {
  const compressors::CodecInfo& codec = *compressors::find_codec("fp16");
  const MachineLock alone;
  const auto added = [&](std::int64_t count) {
    const Seconds with = times_of(codec, count, true).encode,
                  without = times_of(codec, count).encode;
    return std::max(Seconds(0), with - without);
  };
  return line_through(added(kSmall), added(kLarge));
}

}  // namespace gradwire::trainers
