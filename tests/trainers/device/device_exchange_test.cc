#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "tests/quantities.h"
#include "trainers/routes/exchange.h"

/// Exchanges whose gradients lie on a device, with a device that the CPU codecs stand in for: the
/// same bytes cross and the same mean results as with gradients on the host.
namespace gradwire::trainers {
namespace {

using Gradients = std::vector<std::vector<std::vector<float>>>;  ///< [worker][tensor]

/// Knows the true gradients itself: what exchanges are handed is poison to whoever reads it. What
/// it made can be read only after wait().
class FakeEncoder final : public DeviceEncoder {
 public:
  FakeEncoder(compressors::CodecPtr codec, const Layout& layout, const Gradients& gradients,
              bool packs_exactly)
      : codec_(std::move(codec)),
        layout_(layout),
        gradients_(gradients),
        packs_exactly_(packs_exactly) {}

  bool packs_exactly() const override { return packs_exactly_; }
  void choose(DevicePayload form) override { form_ = form; }
  void propose(int worker, GradientSpans) override {
    waited_ = false;
    for (std::size_t t = 0; t < layout_.tensors().size(); ++t) {
      scales_[worker].push_back(codec_->local_scale(view(worker, t)));
    }
  }
  void encode(int worker, GradientSpans, std::span<const float> scales,
              std::int64_t step) override {
    waited_ = false;
    for (std::size_t t = 0; t < layout_.tensors().size(); ++t) {
      payloads_[worker].push_back(encoded(worker, t, scales.empty() ? -1.0f : scales[t], step));
    }
  }
  void wait() override { waited_ = true; }
  std::span<const float> scales(int worker) const override {
    REQUIRE(waited_);
    return scales_.at(worker);
  }
  Message payload(int worker, std::size_t tensor) const override {
    REQUIRE(waited_);
    return payloads_.at(worker)[tensor];
  }
  Times time_bucket(std::size_t, GradientSpans gradients, int) override {
    scales_[-1].clear();
    payloads_[-1].clear();
    if (codec_->wants_shared_scale()) propose(-1, gradients);
    encode(-1, gradients, scales_[-1], 0);
    waited_ = true;
    return {Seconds(codec_->wants_shared_scale() ? 1 : 0), Seconds(2)};
  }
  void save_states(StateStore&) const override {}
  void load_states(StateStore&) override {}
  void next_step() {
    scales_.clear();
    payloads_.clear();
  }

 private:
  compressors::TensorView view(int worker, std::size_t t) const {
    const TensorSlot& slot = layout_.tensors()[t];
    return {slot.name, slot.shape, gradients_[static_cast<std::size_t>(std::max(worker, 0))][t]};
  }
  std::vector<std::byte> encoded(int worker, std::size_t t, float scale, std::int64_t step) {
    const compressors::TensorView tensor = view(worker, t);
    const auto parameter = layout_.tensors()[t].parameter;
    const std::size_t n = tensor.data.size();
    const compressors::Draws draws{RandomStream{1, static_cast<std::uint32_t>(step),
                                                static_cast<std::uint32_t>(worker),
                                                static_cast<std::uint32_t>(parameter)}};
    if (form_ == DevicePayload::kValues) {
      const auto bytes = std::as_bytes(tensor.data);
      return {bytes.begin(), bytes.end()};
    }
    if (form_ == DevicePayload::kMessage) return message(worker, parameter, tensor, draws);
    std::vector<std::uint32_t> terms(n);
    codec_->sum_terms()->to_terms(tensor, {scale}, draws, terms);
    if (form_ == DevicePayload::kTerms) {
      const auto bytes = std::as_bytes(std::span(terms));
      return {bytes.begin(), bytes.end()};
    }
    std::vector<std::byte> packed(codec_->sum_terms()->packed_size(n, 1));
    codec_->sum_terms()->pack(terms, 1, packed);
    return packed;
  }
  std::vector<std::byte> message(int worker, int parameter, const compressors::TensorView& tensor,
                                 const compressors::Draws& draws) {
    const std::size_t n = tensor.data.size();
    std::vector<std::byte> payload(codec_->max_encoded_size(n));
    std::vector<std::uint64_t> scratch(codec_->scratch_size(n) / 8 + 1);
    compressors::EncodeJob job;
    job.tensor = tensor;
    job.draws = draws;
    job.state = states_.at({worker, parameter}, codec_->state_size(n));
    job.payload = payload;
    payload.resize(codec_->encode(job, std::as_writable_bytes(std::span(scratch))));
    return payload;
  }

  compressors::CodecPtr codec_;
  const Layout& layout_;
  const Gradients& gradients_;
  bool packs_exactly_;
  DevicePayload form_ = DevicePayload::kMessage;
  bool waited_ = false;
  StateStore states_;
  std::map<int, std::vector<float>> scales_;
  std::map<int, std::vector<std::vector<std::byte>>> payloads_;
};

struct Fixture {
  std::vector<Parameter> parameters{{"a", {37, 11}}, {"b", {37}}, {"c", {5, 37}}, {"d", {5}}};
  Layout layout{parameters, Bytes(1000)};
  Gradients gradients;

  explicit Fixture(int workers) : gradients(static_cast<std::size_t>(workers)) {
    for (std::size_t w = 0; w < gradients.size(); ++w) {
      for (const TensorSlot& slot : layout.tensors()) {
        const RandomStream stream{77, 0, static_cast<std::uint32_t>(w),
                                  static_cast<std::uint32_t>(slot.parameter)};
        std::vector<float> values(static_cast<std::size_t>(slot.count));
        for (std::size_t e = 0; e < values.size(); ++e) values[e] = uniform(stream, e) - 0.5f;
        gradients[w].push_back(values);
      }
    }
  }
};

struct Outcome {
  std::vector<float> mean;
  std::vector<Bytes> bytes;
  Bytes payload{0};
};

/// Three steps; the last one's outcome.
Outcome exchange_steps(const Fixture& fixture, ExchangeSettings settings, FakeEncoder* device) {
  settings.workers = static_cast<int>(fixture.gradients.size());
  settings.device = device;
  StateStore states;
  const auto exchange = make_exchange(settings, fixture.layout, states);
  std::vector<std::vector<Stage>> stages;
  for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b) {
    stages.push_back(exchange->stages(b, Seconds(0)));
  }
  const StepTemplate plan(settings.workers, stages, true);
  Gradients handed = fixture.gradients;
  for (auto& worker : handed) {
    for (auto& values : worker) {
      if (device) std::fill(values.begin(), values.end(), NAN);
    }
  }
  const auto spans = [&](int w) {
    const auto& own = handed[static_cast<std::size_t>(w)];
    return std::vector<std::span<const float>>{own.begin(), own.end()};
  };
  Outcome outcome;
  outcome.mean.resize(static_cast<std::size_t>(fixture.layout.elements()));
  for (std::int64_t step = 0; step < 3; ++step) {
    if (device) device->next_step();
    StepTraffic traffic(plan, outcome.bytes);
    if (exchange->shares_scales()) {
      for (int w = 0; w < settings.workers; ++w) exchange->propose(w, spans(w));
      exchange->agree(traffic);
    }
    for (int w = 0; w < settings.workers; ++w) exchange->encode(w, spans(w), step);
    exchange->combine(traffic, outcome.mean);
    outcome.payload = traffic.payload();
  }
  return outcome;
}

ExchangeSettings settings_for(const std::string& codec, bool error_feedback, bool server) {
  ExchangeSettings settings;
  settings.codec = compressors::make_codec(codec);
  if (error_feedback) settings.codec = compressors::with_error_feedback(settings.codec);
  settings.server = server;
  return settings;
}

bool same_mean(const Outcome& a, const Outcome& b) {
  return a.mean.size() == b.mean.size() &&
         std::memcmp(a.mean.data(), b.mean.data(), 4 * a.mean.size()) == 0;
}

TEST_CASE("gradients on a device give the bytes and the mean of gradients on the host") {
  for (const int workers : {1, 3, 4}) {
    const Fixture fixture(workers);
    for (const bool server : {false, true}) {
      for (const std::string codec : {"none", "fp16", "terngrad", "topk"}) {
        for (const bool error_feedback : {false, true}) {
          INFO(codec << (error_feedback ? "+ef" : "") << " of " << workers << " server " << server);
          const ExchangeSettings settings = settings_for(codec, error_feedback, server);
          FakeEncoder device(settings.codec, fixture.layout, fixture.gradients, codec != "fp16");
          const Outcome on_host = exchange_steps(fixture, settings, nullptr);
          const Outcome on_device = exchange_steps(fixture, settings, &device);
          CHECK(same_mean(on_host, on_device));
          CHECK(on_host.bytes == on_device.bytes);
          CHECK(on_host.payload == on_device.payload);
        }
      }
    }
  }
}

// Negative control: a worker's own term must not be rounded before a ring's hop adds to it.
TEST_CASE("packed fp16 terms would change a ring's sum") {
  const Fixture fixture(4);
  const ExchangeSettings settings = settings_for("fp16", false, false);
  FakeEncoder device(settings.codec, fixture.layout, fixture.gradients, true);
  CHECK_FALSE(same_mean(exchange_steps(fixture, settings, nullptr),
                        exchange_steps(fixture, settings, &device)));
}

TEST_CASE("encoding on a device is timed there, the rest on the host") {
  const Fixture fixture(2);
  for (const std::string codec : {"none", "fp16", "terngrad", "topk"}) {
    INFO(codec);
    ExchangeSettings settings = settings_for(codec, false, false);
    settings.workers = 2;
    FakeEncoder device(settings.codec, fixture.layout, fixture.gradients, codec != "fp16");
    settings.device = &device;
    StateStore states;
    const auto exchange = make_exchange(settings, fixture.layout, states);
    std::vector<std::span<const float>> spans(fixture.layout.tensors().size());
    const CodecSeconds times = exchange->time_bucket(0, spans, 1);
    // The fake says 1 s to propose and 2 s to encode; both count where scales are shared.
    const bool shares = exchange->shares_scales();
    CHECK(times.encode.value() == Approx(shares ? 3.0 : 2.0));
    CHECK(times.aggregate.value() < 1.0);
  }
}

}  // namespace
}  // namespace gradwire::trainers
