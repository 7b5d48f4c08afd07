#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainers/routes/exchange_fixture.h"
#include "trainers/routes/sparse_weights.h"
#include "trainers/trainer_error.h"

/// What a parameter server sends back where a method says so: the sum encoded, or new weights.
namespace gradwire::trainers {
namespace {

std::vector<std::byte> written(const std::vector<float>& weights) {
  std::vector<std::byte> message;
  write_weights(weights, message);
  return message;
}

}  // namespace

TEST_CASE("weights go with a bitmap where that is smaller, else whole") {
  // 9 elements, 2 of them not zero: 4 + 2 bytes of bits + 2 x 4.
  const std::vector<float> sparse = {0, 1.5f, 0, 0, 0, 0, 0, 0, -2};
  const std::vector<std::byte> message = written(sparse);
  REQUIRE(message.size() == 14);
  CHECK(message[0] == std::byte{2});
  CHECK(message[4] == std::byte{0x02});  // element 1
  CHECK(message[5] == std::byte{0x01});  // element 8
  std::vector<float> read(9, 7);
  read_weights(message, read);
  CHECK(read == sparse);
  // 3 elements, all there: 4 + 12 bytes, not 4 + 1 + 12.
  const std::vector<float> dense = {1, 2, 3};
  CHECK(written(dense).size() == 16);
  read.resize(3);
  read_weights(written(dense), read);
  CHECK(read == dense);
  const std::vector<float> none(40, 0.0f);
  CHECK(written(none).size() == 9);
}

TEST_CASE("weights of any length and share of zeros are read as they were written") {
  std::vector<std::byte> message;  // the same for all: what was there before does not show
  for (const std::size_t n : {1u, 63u, 64u, 65u, 128u, 1000u})
    for (const std::size_t every : {1u, 2u, 40u, 2000u})
      for (const bool zero : {true, false}) {
        std::vector<float> weights(n), read(n, 7.0f);
        for (std::size_t e = 0; e < n; ++e)
          if ((e % every == 0) != zero) weights[e] = static_cast<float>(e) - 20.5f;
        write_weights(weights, message);
        CHECK(message == written(weights));
        read_weights(message, read);
        REQUIRE(read == weights);
        weights[n - 1] += 1;
        REQUIRE(message != written(weights));
      }
}

TEST_CASE("a damaged message of weights is refused where it is damaged") {
  // 130 elements, two of them not zero: 4 + 17 bytes of bits + 8. Element 70 too is in byte 4 + 8.
  std::vector<float> weights(130), read(130);
  weights[1] = weights[65] = 1;
  std::vector<std::byte> message = written(weights);
  REQUIRE(message.size() == 29);
  message[12] |= std::byte{1} << 6;
  CHECK_THROWS_WITH(read_weights(message, read), Catch::Matchers::Contains("byte 12: more bits"));
}

TEST_CASE("a damaged message of weights is refused") {
  std::vector<float> read(9);
  const std::vector<std::byte> good = written({0, 1.5f, 0, 0, 0, 0, 0, 0, -2});
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_THROWS_AS(read_weights(std::span(good).first(size), read), TrainerError);
  std::vector<std::byte> bad = good;
  bad[4] = std::byte{0x06};  // three bits for two values
  CHECK_THROWS_AS(read_weights(bad, read), TrainerError);
  bad[4] = std::byte{0};  // one for two
  CHECK_THROWS_AS(read_weights(bad, read), TrainerError);
}

TEST_CASE("a server's answer is the sum encoded, the same at every worker") {
  for (const int workers : {1, 3, 4}) {
    for (const int shards : {1, 2}) {
      INFO(workers << " workers, " << shards << " shards");
      Fixture fixture(workers);
      ExchangeSettings settings = settings_for("natural", true);
      settings.answer = compressors::make_codec("natural");
      settings.shards = shards;
      const Outcome both = exchange_once(fixture, settings);
      for (const auto& replica : both.replicas) CHECK(bits_equal(replica, both.mean));
      // Powers of two over the number of workers: of 4 workers, powers of two.
      for (std::size_t e = 0; workers == 4 && e < both.mean.size(); ++e) {
        int exponent = 0;
        const float fraction = std::frexp(both.mean[e], &exponent);
        CHECK((fraction == 0 || std::fabs(fraction) == 0.5f));
      }
      settings.answer = nullptr;
      const Outcome up = exchange_once(fixture, settings);
      // Of one worker the sum is what it sent, which natural compression leaves as it is.
      CHECK(bits_equal(up.mean, both.mean) == (workers == 1));
      CHECK(both.payload < up.payload);
    }
  }
}

TEST_CASE("the bytes of natural compression both ways are 9 bits an element each way") {
  // Tensors of 407, 37, 185 and 5 elements: 458, 42, 209 and 6 bytes with a length of 4 each, so
  // 731 a message; 4 workers, up and down.
  Fixture fixture(4);
  ExchangeSettings settings = settings_for("natural", true);
  settings.answer = compressors::make_codec("natural");
  CHECK(exchange_once(fixture, settings).payload == Bytes(2 * 4 * 731));
}

TEST_CASE("an encoded answer is unbiased") {
  Fixture fixture(2);
  ExchangeSettings settings = settings_for("natural", true);
  settings.answer = compressors::make_codec("natural");
  const std::vector<double> exact = fixture.exact_mean();
  std::vector<double> sum(exact.size());
  constexpr int kDraws = 400;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Outcome outcome = exchange_once(fixture, settings, draw);
    for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += static_cast<double>(outcome.mean[e]);
  }
  // Variances: up at most 1/8 x^2 of each of two, down 1/8 of the square of their sum, which is at
  // most 3 each: below (2 x 1.5^2 / 8 + 1.2 x 9 / 8) / 4 = 0.48; over 400 draws a deviation of
  // 0.035, of which 5 are 0.17.
  for (std::size_t e = 0; e < sum.size(); ++e) CHECK(std::fabs(sum[e] / kDraws - exact[e]) < 0.17);
}

TEST_CASE("where weights come down, the mean stays at the server and they become what arrived") {
  for (const int shards : {1, 2}) {
    INFO(shards);
    Fixture fixture(3);
    ExchangeSettings settings = settings_for("topk", true, {{"ratio", "0.1"}});
    settings.shards = shards;
    settings.workers = 3;
    const Outcome sums = exchange_once(fixture, settings);
    settings.weights_down = true;
    const auto exchange = make_exchange(settings, fixture.layout, fixture.states);
    REQUIRE(exchange->answers_weights());
    std::vector<std::vector<Stage>> stages;
    for (std::size_t b = 0; b < fixture.layout.buckets().size(); ++b)
      stages.push_back(exchange->stages(b, Seconds(0)));
    const StepTemplate plan(3, stages, true, shards);
    std::vector<Bytes> bytes;
    StepTraffic traffic(plan, bytes);
    for (int w = 0; w < 3; ++w) exchange->encode(w, fixture.spans(w), 0);
    std::vector<float> mean(static_cast<std::size_t>(fixture.layout.elements()));
    exchange->combine(traffic, mean);
    CHECK(bits_equal(mean, sums.mean));
    const Bytes up = traffic.payload();
    // Every tenth weight is not zero: of a range of n elements 4 + ceil(n / 8) + 4 kept.
    std::vector<float> weights(mean.size());
    for (std::size_t e = 0; e < weights.size(); e += 10) weights[e] = static_cast<float>(e) + 1;
    const std::vector<float> before = weights;
    exchange->answer(traffic, weights);
    CHECK(bits_equal(weights, before));
    const Bytes down = traffic.payload() - up;
    if (shards == 1) {
      std::int64_t expected = 0;
      for (const BucketSlot& bucket : fixture.layout.buckets()) {
        std::int64_t kept = 0;
        for (std::int64_t e = bucket.first; e < bucket.first + bucket.count; ++e)
          kept += e % 10 == 0;
        expected += 3 * (4 + (bucket.count + 7) / 8 + 4 * kept);
      }
      CHECK(down == Bytes(expected));
    }
    CHECK(down > Bytes(0));
  }
}

}  // namespace gradwire::trainers
