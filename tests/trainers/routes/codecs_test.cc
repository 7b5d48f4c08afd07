#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "tests/quantities.h"
#include "tests/trainers/codec_plans.h"
#include "tests/trainers/routes/exchange_fixture.h"
#include "trainers/routes/tensor_parts.h"

/// Every gradient codec of the catalogue through every exchange, by itself and decorated.
namespace gradwire::trainers {
namespace {

ExchangeSettings settings_of(const compressors::CodecPlan& plan, bool server) {
  ExchangeSettings settings;
  settings.server = server;
  settings.codec = compressors::make_codec(plan);
  settings.every_replica = true;
  return settings;
}

TEST_CASE("every codec, ring and server: replicas are bit-equal, bytes are the encoders'") {
  for (const compressors::CodecPlan& plan : all_plans()) {
    for (const bool server : {false, true}) {
      for (const int workers : {1, 2, 3}) {
        Fixture fixture(workers);
        const ExchangeSettings settings = settings_of(plan, server);
        INFO(settings.codec->name() << (server ? " server " : " ring ") << workers);
        for (std::int64_t step = 0; step < 2; ++step) {
          const Outcome outcome = exchange_once(fixture, settings, step);
          if (plan.codec.name != "none") {
            REQUIRE(outcome.replicas.size() == static_cast<std::size_t>(workers));
            for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
          }
          for (const float value : outcome.mean) CHECK(std::isfinite(value));
          // Interpreting asserts that each payload has the size that is charged for it.
          CHECK((outcome.payload > Bytes(0)) == (workers > 1 || server));
        }
      }
    }
  }
}

/// Decodes the first element wrongly.
class BrokenCodec final : public compressors::Codec {
 public:
  explicit BrokenCodec(compressors::CodecPtr inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return "broken"; }
  compressors::AggregatePolicy policy() const override { return inner_->policy(); }
  std::size_t max_encoded_size(const compressors::TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t scratch_size(const compressors::TensorSpec& tensor) const override {
    return inner_->scratch_size(tensor);
  }
  std::size_t encode(compressors::EncodeJob& job, std::span<std::byte> scratch) const override {
    return inner_->encode(job, scratch);
  }
  void decode(const compressors::DecodeJob& job, std::span<std::byte> scratch) const override {
    inner_->decode(job, scratch);
    job.values[0] += 1;
  }
  void decode_accumulate(const compressors::DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    inner_->decode_accumulate(job, factor, scratch);
    job.values[0] += factor;
  }

 private:
  compressors::CodecPtr inner_;
};

/// Largest distance of an outcome from the exact mean.
double worst_error(const Fixture& fixture, const Outcome& outcome) {
  const std::vector<double> exact = fixture.exact_mean();
  double worst = 0;
  for (std::size_t e = 0; e < exact.size(); ++e)
    worst = std::max(worst, std::abs(outcome.mean[e] - exact[e]));
  return worst;
}

TEST_CASE("topk of everything is exact through an exchange; a broken decoder is seen") {
  for (const bool server : {false, true}) {
    Fixture fixture(3);
    ExchangeSettings settings = settings_of({.codec = {"topk", {{"ratio", "1"}}}}, server);
    CHECK(worst_error(fixture, exchange_once(fixture, settings)) < 1e-6);
    settings.codec = std::make_shared<BrokenCodec>(settings.codec);
    CHECK(worst_error(fixture, exchange_once(fixture, settings)) > 0.9);
  }
}

TEST_CASE("a bucket is cut at multiples of 4 within tensors, or between rows") {
  // Backward order d(5) c(5 x 37) b(37) a(37 x 11); the first bucket holds d, c and b: 227.
  const Fixture fixture(1);
  REQUIRE(fixture.layout.buckets()[0].count == 227);
  for (const bool rows : {false, true}) {
    for (const int chunks : {1, 2, 3, 7, 300}) {
      std::int64_t next = 0;
      const auto cut = cut_bucket(fixture.layout, 0, chunks, rows);
      REQUIRE(cut.size() == static_cast<std::size_t>(chunks));
      for (const auto& parts : cut) {
        for (const TensorPart& part : parts) {
          const TensorSlot& slot = fixture.layout.tensors()[part.tensor];
          CHECK(slot.first + part.first == next);
          CHECK(part.count > 0);
          next += part.count;
          CHECK(part.first % (rows && slot.shape.size() > 1 ? slot.shape.back() : 4) == 0);
          std::int64_t product = 1;
          for (const std::int64_t extent : part.shape) product *= extent;
          CHECK(product == part.count);
        }
      }
      CHECK(next == 227);
    }
  }
}

/// Halves a mean's distance to the exact one only if both quantisations are as fine as they say.
TEST_CASE("scatter-reduce: an owner adds what it is sent to its own, and encodes the sum once") {
  Fixture fixture(4);
  const ExchangeSettings settings = settings_of({.codec = {"minmax", {{"bits", "8"}}}}, false);
  REQUIRE(settings.codec->policy() == compressors::AggregatePolicy::kRequantize);
  const Outcome outcome = exchange_once(fixture, settings);
  // Gradients lie within +-1.5: a bucket's unit is at most 3 / 255; the sum of four within +-6:
  // 12 / 255. Three senders' halves of a unit, and the owner's, over four workers.
  CHECK(worst_error(fixture, outcome) <= (3 * 1.5 / 255 + 6.0 / 255) / 4 * 1.001);
  CHECK(worst_error(fixture, outcome) > 0);
  // Round a ring each worker sends 2 (N - 1) / N of a message, not N - 1 of them.
  ExchangeSettings gathered = settings;
  gathered.codec = compressors::with_clipping(settings.codec, {compressors::ClipBy::kNorm, 1e30});
  REQUIRE(gathered.codec->policy() == compressors::AggregatePolicy::kGather);
  const double ratio = static_cast<double>(outcome.payload.count()) /
                       static_cast<double>(exchange_once(fixture, gathered).payload.count());
  CHECK(ratio > 0.5);
  CHECK(ratio < 0.7);  // 1/2, and the lengths and headers of more parts
}

TEST_CASE("what a replay charges for scattering is what a step sends, where sizes are fixed") {
  for (const int workers : {1, 2, 5}) {
    Fixture fixture(workers);
    ExchangeSettings settings = settings_of({.codec = {"minmax", {}}}, false);
    settings.workers = workers;
    const Outcome outcome = exchange_once(fixture, settings);
    const auto exchange = make_exchange(settings, fixture.layout, fixture.states);
    std::vector<std::vector<Stage>> stages;
    for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b)
      stages.push_back(exchange->stages(b, Seconds(0)));
    const StepTemplate plan(workers, stages, true);
    std::vector<Bytes> bytes;
    StepTraffic traffic(plan, bytes);
    exchange->charge(traffic);
    CHECK(bytes == outcome.bytes);
    CHECK(traffic.payload() == outcome.payload);
  }
}

}  // namespace
}  // namespace gradwire::trainers
