#include "trainers/routes/exchange.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "sim/cluster/topologies/topologies.h"
#include "tests/trainers/routes/exchange_fixture.h"
#include "tests/trainers/support.h"
#include "trainers/routes/sparse_sum.h"
#include "trainers/routes/tensor_parts.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

TEST_CASE("without compression the result is the mean, and the short cut equals moving every hop") {
  for (const int workers : {1, 2, 3, 4, 7}) {
    for (const bool server : {false, true}) {
      Fixture fixture(workers);
      ExchangeSettings settings = settings_for("none", server);
      settings.dense_through_terms = true;
      const Outcome moved = exchange_once(fixture, settings);
      settings.dense_through_terms = false;
      settings.every_replica = false;
      const Outcome direct = exchange_once(fixture, settings);
      const std::vector<double> exact = fixture.exact_mean();
      for (std::size_t e = 0; e < exact.size(); ++e) {
        CHECK(direct.mean[e] == Approx(exact[e]).margin(1e-6));
      }
      CHECK(bits_equal(direct.mean, moved.mean));
      for (const auto& replica : moved.replicas) CHECK(bits_equal(replica, moved.mean));
      CHECK(direct.payload == moved.payload);
      settings.workers = workers;
      CHECK(direct.payload == dense_bytes(settings, fixture.layout));
    }
  }
}

const sim::CollectiveKind kAllReduces[] = {
    sim::CollectiveKind::kRingAllReduce, sim::CollectiveKind::kTreeAllReduce,
    sim::CollectiveKind::kHalvingDoublingAllReduce, sim::CollectiveKind::kTwoLevelAllReduce};

ExchangeSettings all_reduce_settings(const char* codec, sim::CollectiveKind kind) {
  ExchangeSettings settings = settings_for(codec);
  settings.all_reduce = kind;
  settings.all_gather = sim::CollectiveKind::kDirectAllGather;
  settings.group = 3;
  return settings;
}

TEST_CASE("every all-reduce gives the mean on every replica, for any number of workers") {
  for (const sim::CollectiveKind kind : kAllReduces) {
    for (const int workers : {1, 2, 3, 4, 5, 6, 7, 8, 13}) {
      CAPTURE(sim::name_of(kind), workers);
      Fixture fixture(workers);
      const std::vector<double> exact = fixture.exact_mean();
      const Outcome none = exchange_once(fixture, all_reduce_settings("none", kind));
      double worst = 0;
      for (std::size_t e = 0; e < exact.size(); ++e)
        worst = std::max(worst, std::abs(none.mean[e] - exact[e]));
      CHECK(worst < 2e-6);
      for (const char* codec : {"none", "fp16", "bf16", "terngrad"}) {
        const Outcome outcome = exchange_once(fixture, all_reduce_settings(codec, kind));
        for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
      }
    }
  }
}

TEST_CASE("integer sums do not depend on the way: every all-reduce gives the same ternary mean") {
  for (const int workers : {3, 6, 8}) {
    Fixture fixture(workers);
    const Outcome ring = exchange_once(fixture, settings_for("terngrad"));
    for (const sim::CollectiveKind kind : kAllReduces) {
      CHECK(bits_equal(exchange_once(fixture, all_reduce_settings("terngrad", kind)).mean,
                       ring.mean));
    }
  }
}

TEST_CASE("bytes of an exchange are those of its all-reduce's formula, N not a power of two") {
  // 687 elements in two buckets. N = 6, so P = 4; groups of 3, so M = 2.
  Fixture fixture(6);
  const std::int64_t all = 4 * fixture.layout.elements();
  const auto sent = [&](sim::CollectiveKind kind) {
    return exchange_once(fixture, all_reduce_settings("none", kind)).payload.count();
  };
  CHECK(sent(sim::CollectiveKind::kRingAllReduce) == 2 * 5 * all);
  CHECK(sent(sim::CollectiveKind::kTreeAllReduce) == 2 * 5 * all);
  // Of the six, two pairs: each pair's spare rank sends its vector and gets the sum, 2 x 2 E; the
  // four others 2 (4 - 1) / 4 E each, together 6 E.
  CHECK(sent(sim::CollectiveKind::kHalvingDoublingAllReduce) == (4 + 6) * all);
  // Four members up and down, 8 E; two leaders round a ring, 2 (2 - 1) / 2 E each, 2 E.
  CHECK(sent(sim::CollectiveKind::kTwoLevelAllReduce) == (8 + 2) * all);
  for (const sim::CollectiveKind kind : kAllReduces) {
    ExchangeSettings settings = all_reduce_settings("none", kind);
    settings.workers = 6;
    CHECK(dense_bytes(settings, fixture.layout).count() == sent(kind));
  }
}

TEST_CASE("switches that add give the mean on every replica, E up and E down") {
  for (const int workers : {1, 3, 6}) {
    for (const int racks : {0, 2}) {
      if (racks > workers) continue;
      CAPTURE(workers, racks);
      Fixture fixture(workers);
      ExchangeSettings settings =
          all_reduce_settings("none", sim::CollectiveKind::kInNetworkAllReduce);
      settings.parent = racks > 0 ? sim::two_tier_aggregation({workers, racks, 1, {}, {}}).parent
                                  : sim::star_aggregation(workers).parent;
      const Outcome none = exchange_once(fixture, settings);
      const std::vector<double> exact = fixture.exact_mean();
      double worst = 0;
      for (std::size_t e = 0; e < exact.size(); ++e)
        worst = std::max(worst, std::abs(none.mean[e] - exact[e]));
      CHECK(worst < 1e-6);
      // Workers E each way; with racks, each leaf E to the root and E back.
      CHECK(none.payload.count() == 2 * (workers + racks) * 4 * fixture.layout.elements());
      for (const char* codec : {"none", "fp16", "terngrad"}) {
        settings.codec = compressors::make_codec(codec);
        const Outcome outcome = exchange_once(fixture, settings);
        for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
        if (settings.codec->name() != "terngrad") continue;
        CHECK(bits_equal(outcome.mean, exchange_once(fixture, settings_for(codec)).mean));
      }
    }
  }
}

TEST_CASE("gathered messages reach everybody directly as round a ring") {
  for (const char* codec : {"topk", "qsgd"}) {
    for (const int workers : {1, 3, 6}) {
      Fixture fixture(workers), again(workers);
      const Outcome ring = exchange_once(fixture, settings_for(codec));
      ExchangeSettings settings = settings_for(codec);
      settings.all_gather = sim::CollectiveKind::kDirectAllGather;
      const Outcome direct = exchange_once(again, settings);
      CHECK(bits_equal(direct.mean, ring.mean));
      CHECK(direct.payload == ring.payload);
      for (const auto& replica : direct.replicas) CHECK(bits_equal(replica, direct.mean));
    }
  }
}

TEST_CASE("replicas are bit-equal under every codec and exchange") {
  for (const char* codec : {"fp16", "terngrad", "topk"}) {
    for (const bool server : {false, true}) {
      for (const int workers : {1, 3, 4}) {
        Fixture fixture(workers);
        const Outcome outcome = exchange_once(fixture, settings_for(codec, server));
        REQUIRE(outcome.replicas.size() == static_cast<std::size_t>(workers));
        for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
      }
    }
  }
}

/// fp16 whose owner forgets to round its own copy: the mistake that parts replicas.
class UnroundedTerms final : public compressors::SumTerms {
 public:
  explicit UnroundedTerms(const compressors::SumTerms& inner) : inner_(inner) {}
  int width_bits(int j) const override { return inner_.width_bits(j); }
  void to_terms(const compressors::TensorView& tensor, const compressors::SideInputs& side,
                const compressors::Draws& draws, std::span<std::uint32_t> terms) const override {
    inner_.to_terms(tensor, side, draws, terms);
  }
  void pack(std::span<const std::uint32_t> terms, int j,
            std::span<std::byte> payload) const override {
    inner_.pack(terms, j, payload);
  }
  void unpack_add(std::span<const std::byte> payload, int j,
                  std::span<std::uint32_t> terms) const override {
    inner_.unpack_add(payload, j, terms);
  }
  void unpack_store(std::span<const std::byte> payload, int j,
                    std::span<std::uint32_t> terms) const override {
    inner_.unpack_store(payload, j, terms);
  }
  void to_values(std::span<const std::uint32_t> terms, const compressors::SideInputs& side,
                 float factor, std::span<float> values) const override {
    inner_.to_values(terms, side, factor, values);
  }

 private:
  const compressors::SumTerms& inner_;
};

class UnroundedCodec final : public compressors::Codec {
 public:
  std::string_view name() const override { return "unrounded"; }
  compressors::AggregatePolicy policy() const override { return inner_->policy(); }
  std::size_t max_encoded_size(const compressors::TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t encode(compressors::EncodeJob& job, std::span<std::byte> scratch) const override {
    return inner_->encode(job, scratch);
  }
  void decode(const compressors::DecodeJob& job, std::span<std::byte> scratch) const override {
    inner_->decode(job, scratch);
  }
  void decode_accumulate(const compressors::DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    inner_->decode_accumulate(job, factor, scratch);
  }
  const compressors::SumTerms* sum_terms() const override { return &terms_; }

 private:
  compressors::CodecPtr inner_ = compressors::make_codec("fp16");
  UnroundedTerms terms_{*inner_->sum_terms()};
};

TEST_CASE("negative control: an owner that does not round its chunk parts the replicas") {
  for (const sim::CollectiveKind kind : kAllReduces) {
    CAPTURE(sim::name_of(kind));
    Fixture fixture(4);
    ExchangeSettings settings = all_reduce_settings("fp16", kind);
    settings.codec = std::make_shared<UnroundedCodec>();
    const Outcome outcome = exchange_once(fixture, settings);
    CHECK_FALSE(bits_equal(outcome.replicas[0], outcome.replicas[1]));
  }
}

TEST_CASE("fp16 round a ring: each hop rounds to 11 bits") {
  Fixture fixture(4);
  const Outcome outcome = exchange_once(fixture, settings_for("fp16"));
  const std::vector<double> exact = fixture.exact_mean();
  double worst = 0;
  for (std::size_t e = 0; e < exact.size(); ++e) {
    worst = std::max(worst, std::abs(outcome.mean[e] - exact[e]));
  }
  // Partial sums stay below 4 x 1.5 = 6 < 8, where half a unit in the last place is 2^-9; four
  // roundings, divided by four workers.
  CHECK(worst <= 4 * std::ldexp(1.0, -9) / 4);
  CHECK(worst > 0);
  // 16 of 32 bits, and no chunk is odd: exactly half of the dense bytes.
  ExchangeSettings settings = settings_for("none");
  settings.workers = 4;
  CHECK(outcome.payload.count() * 2 == dense_bytes(settings, fixture.layout).count());
}

TEST_CASE("values in a codec's range have a mean by every way, though their sum is beyond it") {
  // Up to 1.5 x 40000 = 60000 at every worker: sums of two are beyond 65504 already.
  for (const int workers : {2, 3, 6}) {
    Fixture fixture(workers);
    for (std::vector<float>& tensor : fixture.gradients[0])
      for (float& value : tensor) value *= 40000;
    for (auto& worker : fixture.gradients) worker = fixture.gradients[0];
    const std::vector<double> exact = fixture.exact_mean();
    std::vector<ExchangeSettings> ways;
    for (const sim::CollectiveKind kind : kAllReduces)
      ways.push_back(all_reduce_settings("fp16", kind));
    ways.push_back(all_reduce_settings("fp16", sim::CollectiveKind::kInNetworkAllReduce));
    ways.back().parent = sim::star_aggregation(workers).parent;
    ways.push_back(settings_for("fp16", true));
    // Sums that are encoded again: by owners of parts, by a server.
    const std::map<std::string, std::string> none, bits = {{"bits", "8"}};
    for (const auto& [codec, options] : {std::pair("fp16", none), std::pair("rowquant", bits)}) {
      ways.push_back(settings_for(codec, false, options));
      ways.back().scatter = true;
      ways.back().keep_rows = true;
      ways.push_back(settings_for("topk", true, {{"ratio", "1"}}));
      ways.back().answer = compressors::make_codec(codec, options);
    }
    for (std::size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(workers, way);
      const Outcome outcome = exchange_once(fixture, ways[way]);
      // A hop rounds to half a unit of the last place, at most 16 of the mean; codes of 8 bits to
      // half of 2 x 60000 / 255 on each of two ways.
      const bool coded = way >= ways.size() - 2;
      for (std::size_t e = 0; e < exact.size(); ++e)
        REQUIRE(std::abs(outcome.mean[e] - exact[e]) <= (coded ? 480 : 16 * workers));
    }
  }
}

std::int64_t packed(std::int64_t count, int width) {
  return (count * width + 7) / 8;
}

TEST_CASE("terngrad's ring carries scales, then codes as wide as each hop needs") {
  Fixture fixture(4);
  const Outcome outcome = exchange_once(fixture, settings_for("terngrad"));
  // Scales: every worker's go round the ring: 4 (4 - 1) messages of 4 bytes a tensor.
  std::int64_t expected = 12 * 4 * static_cast<std::int64_t>(fixture.layout.tensors().size());
  // Codes of j summed workers: ceil(log2(2j + 1)) = 2, 3, 3 bits on the way, 4 for the sum of 4;
  // each hop moves each of the 4 chunks once.
  for (const BucketSlot& bucket : fixture.layout.buckets()) {
    for (int chunk = 0; chunk < 4; ++chunk) {
      const std::int64_t n = sim::chunk_range(bucket.count, 4, chunk).count;
      expected += packed(n, 2) + packed(n, 3) + packed(n, 3) + 3 * packed(n, 4);
    }
  }
  CHECK(outcome.payload.count() == expected);
}

TEST_CASE("terngrad's mean is a multiple of scale / N with at most 2N + 1 values") {
  for (const bool server : {false, true}) {
    Fixture fixture(4);
    const Outcome outcome = exchange_once(fixture, settings_for("terngrad", server));
    for (const TensorSlot& slot : fixture.layout.tensors()) {
      // The shared scale: the largest over workers of what each proposes.
      const auto codec = compressors::make_codec("terngrad");
      float scale = 0;
      for (int w = 0; w < 4; ++w) {
        const auto t = fixture.layout.tensor_of(slot.parameter);
        scale = std::max(scale, codec->local_scale({slot.name, slot.shape, fixture.spans(w)[t]}));
      }
      for (std::int64_t e = slot.first; e < slot.first + slot.count; ++e) {
        const double level = outcome.mean[static_cast<std::size_t>(e)] * 4 / scale;
        CHECK(std::abs(level - std::round(level)) < 1e-5);
        CHECK(std::abs(level) < 4.001);
      }
    }
  }
}

TEST_CASE("terngrad with one scaler: 4 bytes a bucket, the largest scale of its tensors") {
  for (const bool server : {false, true}) {
    Fixture fixture(4);
    const ExchangeSettings settings = settings_for("terngrad", server, {{"scaler", "bucket"}});
    const Outcome one = exchange_once(fixture, settings);
    const Outcome each = exchange_once(fixture, settings_for("terngrad", server));
    // Scales travel 12 times round a ring of 4, up and down 4 times each at a server.
    const std::int64_t times = server ? 8 : 12;
    const auto saved = fixture.layout.tensors().size() - fixture.layout.buckets().size();
    CHECK(saved > 0);
    CHECK(each.payload.count() - one.payload.count() ==
          4 * times * static_cast<std::int64_t>(saved));
    for (const BucketSlot& bucket : fixture.layout.buckets()) {
      float scale = 0;
      for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
        for (int w = 0; w < 4; ++w) {
          const TensorSlot& slot = fixture.layout.tensors()[t];
          scale = std::max(
              scale, settings.codec->local_scale({slot.name, slot.shape, fixture.spans(w)[t]}));
        }
      for (std::int64_t e = bucket.first; e < bucket.first + bucket.count; ++e) {
        const double level = one.mean[static_cast<std::size_t>(e)] * 4 / scale;
        CHECK(std::abs(level - std::round(level)) < 1e-5);
      }
    }
  }
}

/// Decorated so that a first step encodes what the codec alone would.
std::vector<compressors::CodecPtr> decorated(const compressors::CodecPtr& codec) {
  return {compressors::with_error_feedback(codec),
          compressors::with_clipping(codec, {compressors::ClipBy::kNorm, 1e30}),
          compressors::with_clipping(compressors::with_error_feedback(codec),
                                     {compressors::ClipBy::kSigma, 1e6}),
          compressors::with_momentum_correction(codec, {.masking = false})};
}

TEST_CASE("decorators leave terngrad its exchange: scales are shared, codes are summed") {
  for (const bool server : {false, true}) {
    Fixture fixture(4);
    ExchangeSettings settings = settings_for("terngrad", server);
    const Outcome plain = exchange_once(fixture, settings);
    const auto codec = settings.codec;
    for (const compressors::CodecPtr& each : decorated(codec)) {
      INFO(each->name() << " server " << server);
      Fixture own(4);
      settings.codec = each;
      const Outcome first = exchange_once(own, settings);
      CHECK(bits_equal(first.mean, plain.mean));
      CHECK(first.bytes == plain.bytes);
      CHECK(first.payload == plain.payload);
      // What is remembered counts from the second step on, and costs no bytes.
      const Outcome second = exchange_once(own, settings, 1);
      CHECK(second.payload == plain.payload);
      for (const auto& replica : second.replicas) CHECK(bits_equal(replica, second.mean));
      Fixture again(4);
      settings.codec = codec;
      const bool remembers = each->state_size(10) > 0;
      CHECK(bits_equal(exchange_once(again, settings, 1).mean, second.mean) == !remembers);
    }
  }
}

/// terngrad, but tensors of one dimension (b and d) in fp32.
ExchangeSettings filtered_terngrad(bool server) {
  ExchangeSettings settings = settings_for("terngrad", server);
  settings.codec = compressors::make_codec(
      {.codec = {"terngrad", {}}, .rules = {{{.dimensions_below = 2}, {"none", {}}}}});
  return settings;
}

TEST_CASE("with rules the tensors of each codec are summed by themselves") {
  Fixture plain_fixture(4);
  const Outcome plain = exchange_once(plain_fixture, settings_for("terngrad"));
  std::int64_t ring = 12 * 4 * 2;  // a scale of a and of c, round the ring
  ring += 2 * 3 * 4 * (5 + 37);    // d and b in fp32: 2 (N - 1) E 4
  std::int64_t served = 2 * 4 * 4 * 2 + 2 * 4 * 4 * (5 + 37);
  for (const std::int64_t count : {185, 407}) {  // c and a, see above
    for (int chunk = 0; chunk < 4; ++chunk) {
      const std::int64_t n = sim::chunk_range(count, 4, chunk).count;
      ring += packed(n, 2) + packed(n, 3) + packed(n, 3) + 3 * packed(n, 4);
    }
    served += 4 * packed(count, 2) + 4 * packed(count, 4);
  }
  for (const int shards : {0, 1, 3}) {
    Fixture fixture(4);
    ExchangeSettings settings = filtered_terngrad(shards > 0);
    settings.shards = std::max(1, shards);
    CAPTURE(shards);
    const Outcome outcome = exchange_once(fixture, settings);
    if (shards < 2) CHECK(outcome.payload.count() == (shards == 0 ? ring : served));
    const std::vector<double> exact = fixture.exact_mean();
    for (const TensorSlot& slot : fixture.layout.tensors()) {
      for (std::int64_t e = slot.first; e < slot.first + slot.count; ++e) {
        const auto at = static_cast<std::size_t>(e);
        // The same draws, the same scale, integers: bit by bit what terngrad makes of the tensor.
        if (slot.shape.size() > 1)
          CHECK(outcome.mean[at] == plain.mean[at]);
        else
          CHECK(outcome.mean[at] == Approx(exact[at]).margin(1e-6));
      }
    }
    for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
  }
}

TEST_CASE("what a replay charges for sums with rules is what a step sends") {
  for (const int shards : {0, 1, 3}) {
    Fixture fixture(4);
    ExchangeSettings settings = filtered_terngrad(shards > 0);
    settings.shards = std::max(1, shards);
    const Outcome sent = exchange_once(fixture, settings);
    settings.workers = 4;
    const auto exchange = make_exchange(settings, fixture.layout, fixture.states);
    std::vector<std::vector<Stage>> stages;
    for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b)
      stages.push_back(exchange->stages(b, Seconds(0)));
    const StepTemplate plan(4, stages, true, settings.shards);
    std::vector<Bytes> bytes;
    StepTraffic traffic(plan, bytes);
    exchange->charge(traffic);
    CHECK(traffic.payload() == sent.payload);
    CHECK(bytes == sent.bytes);
  }
}

TEST_CASE("a ring and a server give the same ternary mean") {
  Fixture fixture(5);
  const Outcome ring = exchange_once(fixture, settings_for("terngrad", false));
  const Outcome server = exchange_once(fixture, settings_for("terngrad", true));
  CHECK(bits_equal(ring.mean, server.mean));
}

TEST_CASE("terngrad at a server: 4 bytes a tensor both ways, 2 bits up, ceil(log2(2N+1)) down") {
  Fixture fixture(4);
  const Outcome outcome = exchange_once(fixture, settings_for("terngrad", true));
  std::int64_t expected = 2 * 4 * 4 * static_cast<std::int64_t>(fixture.layout.tensors().size());
  for (const BucketSlot& bucket : fixture.layout.buckets()) {
    expected += 4 * packed(bucket.count, 2) + 4 * packed(bucket.count, 4);
  }
  CHECK(outcome.payload.count() == expected);
}

TEST_CASE(
    "topk's messages: their own lengths and each encoder's bytes, N - 1 times round the ring") {
  Fixture fixture(3);
  const auto codec = compressors::make_codec("topk");
  const Outcome outcome = exchange_once(fixture, settings_for("topk"));
  std::int64_t expected = 0;
  std::vector<double> mean(outcome.mean.size());
  for (int w = 0; w < 3; ++w) {
    for (std::size_t t = 0; t < fixture.layout.tensors().size(); ++t) {
      const TensorSlot& slot = fixture.layout.tensors()[t];
      const auto n = static_cast<std::size_t>(slot.count);
      std::vector<std::byte> payload(codec->max_encoded_size(n)), state(codec->state_size(n));
      std::vector<std::uint64_t> scratch(codec->scratch_size(n) / 8 + 1);
      compressors::EncodeJob job;
      job.tensor = {slot.name, slot.shape, fixture.spans(w)[t]};
      job.state = state;
      job.payload = payload;
      const std::size_t size = codec->encode(job, std::as_writable_bytes(std::span(scratch)));
      expected += 2 * (4 + static_cast<std::int64_t>(size));
      std::vector<float> values(n);
      codec->decode({std::span(payload).first(size), {}, values},
                    std::as_writable_bytes(std::span(scratch)));
      for (std::size_t e = 0; e < n; ++e) {
        mean[static_cast<std::size_t>(slot.first) + e] += values[e] / 3.0;
      }
    }
  }
  CHECK(outcome.payload.count() == expected);
  for (std::size_t e = 0; e < mean.size(); ++e) {
    CHECK(outcome.mean[e] == Approx(mean[e]).margin(1e-6));
  }
}

TEST_CASE("error feedback: what was sent and what is kept add up to what came in") {
  Fixture fixture(2);
  ExchangeSettings settings = settings_for("topk");
  settings.codec = compressors::with_error_feedback(settings.codec);
  std::vector<double> sent(static_cast<std::size_t>(fixture.layout.elements()));
  constexpr int kSteps = 5;
  for (int step = 0; step < kSteps; ++step) {
    const Outcome outcome = exchange_once(fixture, settings, step);
    for (std::size_t e = 0; e < sent.size(); ++e) sent[e] += outcome.mean[e];
  }
  const std::vector<double> exact = fixture.exact_mean();
  for (const TensorSlot& slot : fixture.layout.tensors()) {
    const auto n = static_cast<std::size_t>(slot.count);
    std::vector<float> residual(n), other(n);
    const std::size_t size = settings.codec->state_size(n);
    std::memcpy(residual.data(), fixture.states.at({0, slot.parameter}, size).data(), 4 * n);
    std::memcpy(other.data(), fixture.states.at({1, slot.parameter}, size).data(), 4 * n);
    for (std::size_t e = 0; e < n; ++e) {
      const std::size_t at = static_cast<std::size_t>(slot.first) + e;
      CHECK(sent[at] + (residual[e] + other[e]) / 2 == Approx(kSteps * exact[at]).margin(1e-4));
    }
  }
}

TEST_CASE("scatter-reduce: every codec's sum, the owner's very bytes on every replica") {
  for (const char* codec : {"none", "fp16", "terngrad", "topk", "qsgd"}) {
    for (const int workers : {1, 3, 4, 6}) {
      CAPTURE(codec, workers);
      Fixture fixture(workers);
      ExchangeSettings settings = settings_for(codec);
      settings.scatter = true;
      const Outcome outcome = exchange_once(fixture, settings);
      for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
    }
  }
  Fixture fixture(6);
  ExchangeSettings settings = settings_for("none");
  settings.scatter = true;
  const Outcome outcome = exchange_once(fixture, settings);
  const std::vector<double> exact = fixture.exact_mean();
  double worst = 0;
  for (std::size_t e = 0; e < exact.size(); ++e)
    worst = std::max(worst, std::abs(outcome.mean[e] - exact[e]));
  CHECK(worst < 1e-6);
  // Each worker sends every other its chunk, 5/6 of E, and its own sum to all, together 5/6 of E
  // each way; and 4 B of length with each part of a tensor.
  std::int64_t parts = 0;
  for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b)
    for (const auto& chunk : cut_bucket(fixture.layout, b, 6, false))
      parts += static_cast<std::int64_t>(chunk.size());
  CHECK(outcome.payload.count() == 2 * 5 * (4 * fixture.layout.elements() + 4 * parts));
}

TEST_CASE("shards of a server: sums and dense bytes are those of one server") {
  for (const char* codec : {"none", "fp16", "terngrad"}) {
    for (const int workers : {1, 3, 6}) {
      Fixture fixture(workers);
      ExchangeSettings settings = settings_for(codec, true);
      settings.dense_through_terms = true;
      const Outcome one = exchange_once(fixture, settings);
      for (const int shards : {2, 3, 7}) {
        CAPTURE(codec, workers, shards);
        settings.shards = shards;
        const Outcome spread = exchange_once(fixture, settings);
        CHECK(bits_equal(spread.mean, one.mean));
        for (const auto& replica : spread.replicas) CHECK(bits_equal(replica, spread.mean));
        // Whole bytes a part: at most one more up and one down for each shard and bucket but one.
        const std::int64_t more = spread.payload.count() - one.payload.count();
        CHECK(more >= 0);
        CHECK(more <= 2 * workers * (shards - 1) *
                          static_cast<std::int64_t>(fixture.layout.buckets().size()));
      }
    }
  }
}

TEST_CASE("shards of a server without compression: the short cut is what moving gives") {
  Fixture fixture(5);
  ExchangeSettings settings = settings_for("none", true);
  settings.shards = 3;
  settings.dense_through_terms = true;
  const Outcome moved = exchange_once(fixture, settings);
  settings.dense_through_terms = settings.every_replica = false;
  const Outcome direct = exchange_once(fixture, settings);
  CHECK(bits_equal(direct.mean, moved.mean));
  CHECK(direct.bytes == moved.bytes);
  // 2 N E 4 B, as with one server: shard s takes its third of each bucket from every worker.
  CHECK(direct.payload.count() == 2 * 5 * 4 * fixture.layout.elements());
}

TEST_CASE("shards of a server select, encode and add part by part") {
  for (const char* codec : {"topk", "qsgd"}) {
    Fixture fixture(4);
    ExchangeSettings settings = settings_for(codec, true);
    settings.shards = 3;
    const Outcome outcome = exchange_once(fixture, settings);
    for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
    CHECK(outcome.bytes.size() == 2 * 2 * 3 * 4);  // buckets, push and pull, shards, workers
  }
  // With everything kept the mean is exact, wherever tensors are cut.
  Fixture fixture(4);
  ExchangeSettings settings = settings_for("topk", true, {{"ratio", "1"}});
  settings.shards = 3;
  settings.codec = compressors::with_error_feedback(settings.codec);
  const Outcome all = exchange_once(fixture, settings);
  const std::vector<double> exact = fixture.exact_mean();
  double worst = 0;
  for (std::size_t e = 0; e < exact.size(); ++e)
    worst = std::max(worst, std::abs(all.mean[e] - exact[e]));
  CHECK(worst < 1e-6);
}

TEST_CASE("a server's sum is sparse where that is smaller") {
  std::vector<std::byte> message;
  std::vector<float> values(10);
  // Two of ten: 4 + 2 * 8 = 20 bytes; dense 4 + 40.
  const std::vector<float> sparse{0, 0, 3, 0, 0, -1, 0, 0, 0, 0};
  write_sum(sparse, message);
  CHECK(message.size() == 20);
  read_sum(message, 0.5f, values);
  CHECK(values == std::vector<float>{0, 0, 1.5f, 0, 0, -0.5f, 0, 0, 0, 0});
  // Five of ten would take 44 as well: dense.
  const std::vector<float> dense{1, 2, 3, 4, 5, 0, 0, 0, 0, 0};
  write_sum(dense, message);
  CHECK(message.size() == 44);
  read_sum(message, 1.0f, values);
  CHECK(values == dense);
  message.pop_back();
  CHECK_THROWS_AS(read_sum(message, 1.0f, values), TrainerError);
  write_sum(sparse, message);
  message[4] = std::byte{10};
  CHECK_THROWS_WITH(read_sum(message, 1.0f, values), Catch::Contains("byte 4: element 10 of 10"));
}

TEST_CASE("not finite gradients are refused by the codec, with the tensor's name") {
  Fixture fixture(2);
  fixture.gradients[1][0][3] = std::nanf("");
  for (const char* codec : {"fp16", "terngrad", "topk"}) {
    CHECK_THROWS_WITH(exchange_once(fixture, settings_for(codec)), Catch::Contains("3"));
  }
}

}  // namespace
}  // namespace gradwire::trainers
