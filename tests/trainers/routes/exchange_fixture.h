#pragma once
#include <cstring>
#include <map>
#include <vector>

#include "base/philox.h"
#include "trainers/routes/exchange.h"

namespace gradwire::trainers {

/// Four tensors in two buckets, and gradients of some workers for them.
struct Fixture {
  std::vector<Parameter> parameters{{"a", {37, 11}}, {"b", {37}}, {"c", {5, 37}}, {"d", {5}}};
  Layout layout{parameters, Bytes(1000)};
  StateStore states;
  std::vector<std::vector<std::vector<float>>> gradients;  ///< [worker][tensor]

  explicit Fixture(int workers) {
    for (int w = 0; w < workers; ++w) {
      gradients.emplace_back();
      for (const TensorSlot& slot : layout.tensors()) {
        gradients.back().push_back(values(slot, static_cast<std::uint32_t>(w)));
      }
    }
  }
  /// Roughly bell-shaped, zero mean.
  static std::vector<float> values(const TensorSlot& slot, std::uint32_t worker) {
    std::vector<float> out(static_cast<std::size_t>(slot.count));
    const RandomStream stream{77, 0, worker, static_cast<std::uint32_t>(slot.parameter)};
    for (std::size_t e = 0; e < out.size(); ++e) {
      out[e] =
          uniform(stream, 4 * e) + uniform(stream, 4 * e + 1) + uniform(stream, 4 * e + 2) - 1.5f;
    }
    return out;
  }
  std::vector<std::span<const float>> spans(int worker) const {
    const auto& own = gradients[static_cast<std::size_t>(worker)];
    return {own.begin(), own.end()};
  }
  std::vector<double> exact_mean() const {
    std::vector<double> mean;
    for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
      for (std::size_t e = 0; e < gradients[0][t].size(); ++e) {
        double sum = 0;
        for (const auto& worker : gradients) sum += worker[t][e];
        mean.push_back(sum / static_cast<double>(gradients.size()));
      }
    }
    return mean;
  }
};

struct Outcome {
  std::vector<float> mean;
  std::vector<Bytes> bytes;
  Bytes payload{0};
  std::vector<std::vector<float>> replicas;
};

/// One step of an exchange over the fixture's gradients.
inline Outcome exchange_once(Fixture& fixture, ExchangeSettings settings, std::int64_t step = 0) {
  settings.workers = static_cast<int>(fixture.gradients.size());
  const auto exchange = make_exchange(settings, fixture.layout, fixture.states);
  std::vector<std::vector<Stage>> stages;
  for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b) {
    stages.push_back(exchange->stages(b, Seconds(0)));
  }
  const StepTemplate plan(settings.workers, stages, true, settings.shards);
  Outcome outcome;
  outcome.mean.resize(static_cast<std::size_t>(fixture.layout.elements()));
  StepTraffic traffic(plan, outcome.bytes);
  for (int w = 0; w < settings.workers; ++w) exchange->propose(w, fixture.spans(w));
  if (exchange->shares_scales()) exchange->agree(traffic);
  for (int w = 0; w < settings.workers; ++w) exchange->encode(w, fixture.spans(w), step);
  exchange->combine(traffic, outcome.mean);
  outcome.payload = traffic.payload();
  for (int w = 0; settings.every_replica && w < settings.workers; ++w) {
    const auto replica = exchange->replica(w);
    outcome.replicas.emplace_back(replica.begin(), replica.end());
  }
  return outcome;
}

inline ExchangeSettings settings_for(const char* codec, bool server = false,
                                     const std::map<std::string, std::string>& options = {}) {
  ExchangeSettings settings;
  settings.server = server;
  settings.codec = compressors::make_codec(codec, options);
  settings.every_replica = true;
  return settings;
}

inline bool bits_equal(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

}  // namespace gradwire::trainers
