#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/trainers/methods/lockstep_run.h"
#include "tests/trainers/routes/exchange_fixture.h"
#include "trainers/methods/catalogue.h"
#include "trainers/methods/rigl_masks.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// RigL: densities, how masks move, what is sent, and what stays 0.
namespace gradwire::trainers {
namespace {

using methods::Shape;
using Options = std::map<std::string, std::string>;

TEST_CASE("Erdos-Renyi-kernel densities of three layers", "[rigl]") {
  const std::int64_t a[] = {100, 50}, b[] = {50, 50}, c[] = {50, 10}, kernel[] = {8, 4, 3, 3};
  const std::vector<Shape> shapes = {a, b, c};
  // epsilon (150 + 100 + 60) = 0.2 x 8000, so epsilon = 5.16129; density = epsilon sum / product.
  const std::vector<double> most = methods::erk_densities(shapes, 0.8);
  CHECK(most[0] == Approx(0.154839).epsilon(1e-5));
  CHECK(most[1] == Approx(0.206452).epsilon(1e-5));
  CHECK(most[2] == Approx(0.619355).epsilon(1e-5));
  // With half of all, epsilon = 4000 / 310 would make the third layer 1.55 dense: it is dense, and
  // epsilon = (4000 - 500) / 250 = 14.
  const std::vector<double> half = methods::erk_densities(shapes, 0.5);
  CHECK(half[0] == Approx(0.42));
  CHECK(half[1] == Approx(0.56));
  CHECK(half[2] == 1);
  // 5000, 2500 and 500 elements; the whole budget within one element a layer.
  CHECK(std::abs(methods::kept_of(most[0], 5000) + methods::kept_of(most[1], 2500) +
                 methods::kept_of(most[2], 500) - 1600) <= 3);
  // A kernel's extents all count: 8 + 4 + 3 + 3 = 18 of 288.
  const std::vector<Shape> kernels = {kernel, kernel};
  CHECK(methods::erk_densities(kernels, 0.9)[0] == Approx(0.1));
  CHECK(methods::uniform_densities(3, 0.9) == std::vector<double>{1, 1 - 0.9, 1 - 0.9});
  for (const double density : methods::erk_densities(shapes, 0)) CHECK(density == Approx(1));
}

TEST_CASE("the share that moves falls as a cosine", "[rigl]") {
  const std::pair<std::int64_t, double> expected[] = {{0, 0.3},        {250, 0.256066}, {500, 0.15},
                                                      {750, 0.043934}, {1000, 0},       {2000, 0}};
  for (const auto& [step, fraction] : expected)
    CHECK(methods::update_fraction(0.3, step, 1000) == Approx(fraction).epsilon(1e-5));
}

TEST_CASE("a mask moves from small weights to large gradients", "[rigl]") {
  std::vector<float> weights = {.5f, -.1f, 0, .8f, 0, .05f, 0, -.3f};
  std::vector<float> mask = {1, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<float> gradient = {.1f, .9f, -.7f, 0, .2f, .3f, -.4f, .2f};
  // k = floor(0.4 x 5) = 2: elements 5 and 1 go, 1 (0.9) comes back with its weight, 2 (0.7) is
  // new.
  const std::vector<std::size_t> gone = methods::move_mask(2, gradient, mask, weights);
  CHECK(gone == std::vector<std::size_t>{5});
  CHECK(mask == std::vector<float>{1, 1, 1, 1, 0, 0, 0, 1});
  CHECK(weights == std::vector<float>{.5f, -.1f, 0, .8f, 0, 0, 0, -.3f});
  // As a file: 8 bytes, a bitmap of 1 byte, 5 values of 4.
  const auto codec = compressors::make_codec("masked", {{"format", "record"}});
  std::vector<std::uint8_t> bits = {0x8F};
  std::vector<std::byte> payload(codec->max_encoded_size(weights.size()));
  compressors::EncodeJob job{
      .tensor = {"w", {}, weights}, .side = {.mask = bits}, .payload = payload};
  CHECK(codec->encode(job, {}) == 29);
  CHECK(payload[8] == std::byte{0x8F});
}

TEST_CASE("ties go to the lower index", "[rigl]") {
  std::vector<float> weights = {.1f, .1f, .1f, 0, 0, 0}, mask = {1, 1, 1, 0, 0, 0};
  methods::move_mask(1, std::vector<float>{0, 0, 0, .5f, -.5f, .5f}, mask, weights);
  CHECK(mask == std::vector<float>{0, 1, 1, 1, 0, 0});
}

TEST_CASE("a first mask has as many elements as asked for, others with another seed", "[rigl]") {
  const auto drawn = [](std::uint64_t seed, std::int64_t kept) {
    std::vector<float> mask(1000, 0);
    methods::draw_mask({seed, 0, 0, 1}, kept, mask);
    return mask;
  };
  for (const std::int64_t kept : {1, 100, 1000})
    CHECK(std::ranges::count(drawn(1, kept), 1.0f) == kept);
  CHECK(drawn(1, 100) == drawn(1, 100));
  CHECK(drawn(1, 100) != drawn(2, 100));
}

/// Masks of half the elements of the fixture's tensors, by parameter.
struct Masked {
  std::vector<std::int64_t> kept;
  std::vector<float> mask;

  explicit Masked(const Fixture& fixture) {
    for (std::size_t p = 0; p < fixture.parameters.size(); ++p) {
      const std::int64_t count = fixture.parameters[p].count();
      kept.push_back((count + 1) / 2);
      std::vector<float> own(static_cast<std::size_t>(count), 0);
      methods::draw_mask({3, 0, 0, static_cast<std::uint32_t>(p)}, kept.back(), own);
      mask.insert(mask.end(), own.begin(), own.end());
    }
  }
  ExchangeSettings in(ExchangeSettings settings) const {
    settings.kept = kept;
    settings.mask = mask;
    return settings;
  }
};

TEST_CASE("a masked exchange gives the mean in the mask, 0 elsewhere, alike at all workers",
          "[rigl]") {
  for (const bool server : {false, true}) {
    for (const int workers : {1, 3, 4}) {
      CAPTURE(server, workers);
      Fixture fixture(workers);
      const Masked masked(fixture);
      ExchangeSettings settings = masked.in(settings_for("none", server));
      settings.dense_through_terms = true;  // so that each worker has its own mean
      const Outcome outcome = exchange_once(fixture, settings);
      const std::vector<double> exact = fixture.exact_mean();
      std::size_t first = 0;  // by parameter
      for (int p = 0; p < static_cast<int>(fixture.parameters.size()); ++p) {
        const TensorSlot& slot = fixture.layout.tensors()[fixture.layout.tensor_of(p)];
        for (std::int64_t e = 0; e < slot.count; ++e) {
          const auto at = static_cast<std::size_t>(slot.first + e);
          const bool kept = masked.mask[first + static_cast<std::size_t>(e)] == 1;
          CHECK(outcome.mean[at] == Approx(kept ? exact[at] : 0).margin(1e-6));
        }
        first += static_cast<std::size_t>(slot.count);
      }
      for (const auto& replica : outcome.replicas) CHECK(bits_equal(replica, outcome.mean));
      std::int64_t sent = 0;
      for (const std::int64_t kept : masked.kept) sent += kept;
      // 2 (N - 1) values an element round a ring, 2 N to and from a server.
      CHECK(outcome.payload == Bytes(4 * sent * 2 * (server ? workers : workers - 1)));
    }
  }
}

TEST_CASE("a mask of all elements is a dense exchange, bit for bit", "[rigl]") {
  Fixture fixture(3);
  const Outcome dense = exchange_once(fixture, settings_for("none"));
  ExchangeSettings settings = settings_for("none");
  for (const Parameter& parameter : fixture.parameters) settings.kept.push_back(parameter.count());
  const std::vector<float> ones(static_cast<std::size_t>(fixture.layout.elements()), 1);
  settings.mask = ones;
  const Outcome masked = exchange_once(fixture, settings);
  CHECK(bits_equal(masked.mean, dense.mean));
  CHECK(masked.payload == dense.payload);
}

scenarios::Scenario scenario_with(const Options& options, int steps) {
  scenarios::Scenario scenario = digits_scenario("mlp", "rigl");
  scenario.method.options = options;
  scenario.workload.steps = steps;
  return scenario;
}

std::vector<float> weights_of(const LockstepRun& run, int parameter) {
  const Layout& layout = run.lockstep().layout();
  const TensorSlot& slot = layout.tensors()[layout.tensor_of(parameter)];
  const auto own = slice(run.lockstep().weights(), slot);
  return {own.begin(), own.end()};
}

/// The mlp on digits: matrices 64 x 256, 256 x 128 and 128 x 10 with 9 in 10 weights 0. ERK:
/// epsilon (320 + 384 + 138) = 5043.2, epsilon = 5.98955; 1916.7, 2300.0 and 826.6 elements.
const std::int64_t kKept[] = {1917, 2300, 827};
const std::int64_t kSent = 1917 + 2300 + 827 + 256 + 128 + 10;

std::int64_t not_zero(const std::vector<float>& values) {
  return std::ranges::count_if(values, [](float value) { return value != 0; });
}

TEST_CASE("weights outside masks are 0 in every step, masks move and keep their sizes", "[rigl]") {
  LockstepRun run(scenario_with({{"every", "5"}, {"end", "40"}}, 50));
  std::vector<float> first = weights_of(run, 2);
  CHECK(not_zero(first) == kKept[1]);
  for (int step = 0; step < 50; ++step) {
    CAPTURE(step);
    run.steps(1);
    const bool moves = step > 0 && step < 40 && step % 5 == 0;
    const std::int64_t sent = moves ? 16384 + 32768 + 1280 + 256 + 128 + 10 : kSent;
    CHECK(run.plan.payload == Bytes(2 * 3 * 4 * sent));  // round a ring of 4
    for (int layer = 0; layer < 3; ++layer)
      CHECK(not_zero(weights_of(run, 2 * layer)) <= kKept[layer]);
  }
  const std::vector<float> last = weights_of(run, 2);
  std::int64_t moved = 0;
  for (std::size_t e = 0; e < last.size(); ++e) moved += first[e] == 0 && last[e] != 0;
  CHECK(moved > 100);
  CHECK(run.trainer->figures().front().name == "kept_weights");
  CHECK(run.trainer->figures().front().value == Approx(double(kSent) / 50826));
  // The negative control: with the first masks none moves.
  LockstepRun still(scenario_with({{"every", "5"}, {"end", "40"}, {"grow", "none"}}, 50));
  first = weights_of(still, 2);
  still.steps(50);
  const std::vector<float> end = weights_of(still, 2);
  for (std::size_t e = 0; e < end.size(); ++e)
    if (first[e] == 0) CHECK(end[e] == 0);
}

TEST_CASE("a step that moves masks changes weights by dropping alone", "[rigl]") {
  LockstepRun run(scenario_with({{"every", "5"}, {"end", "40"}}, 10));
  run.steps(5);
  const std::vector<float> before = weights_of(run, 0), bias = weights_of(run, 1);
  run.steps(1);  // step 5
  const std::vector<float> after = weights_of(run, 0);
  std::int64_t dropped = 0;
  for (std::size_t e = 0; e < after.size(); ++e) {
    CHECK((after[e] == before[e] || after[e] == 0));
    dropped += after[e] != before[e];
  }
  // f(5) = 0.15 (1 + cos(pi / 8)) = 0.28858: at most floor(0.28858 x 1917) = 553 go.
  CHECK(dropped > 0);
  CHECK(dropped <= 553);
  CHECK(weights_of(run, 1) == bias);
}

TEST_CASE("what optimisers remember of weights outside masks is 0", "[rigl]") {
  for (const char* optimizer : {"sgd", "adam"}) {
    CAPTURE(optimizer);
    scenarios::Scenario scenario = scenario_with({{"every", "3"}, {"end", "100"}}, 13);
    scenario.workload.optimizer = optimizer;
    scenario.workload.learning_rate = 0.01;
    LockstepRun run(scenario);
    // Whatever is remembered of a weight that is dropped would move it away from 0 in the next
    // step.
    for (int step = 0; step < 13; ++step) {
      run.steps(1);
      for (int layer = 0; layer < 3; ++layer)
        CHECK(not_zero(weights_of(run, 2 * layer)) <= kKept[layer]);
    }
  }
}

TEST_CASE("masks are equal on all ranks, as they come of the mean", "[rigl]") {
  Fixture fixture(4);
  const Outcome outcome = exchange_once(fixture, settings_for("none"));
  const auto moved = [&](std::span<const float> gradient) {
    std::vector<float> mask(gradient.size(), 0), weights(gradient.size());
    methods::draw_mask({9, 0, 0, 0}, 200, mask);
    for (std::size_t e = 0; e < weights.size(); ++e)
      weights[e] = mask[e] * (0.01f * static_cast<float>(e) + 0.1f);
    methods::move_mask(60, gradient, mask, weights);
    return mask;
  };
  for (const std::vector<float>& replica : outcome.replicas)
    CHECK(moved(replica) == moved(outcome.mean));
  // The negative control: workers' own gradients would move them apart.
  const auto flat = [&](int worker) {
    std::vector<float> all;
    for (const auto tensor : fixture.spans(worker))
      all.insert(all.end(), tensor.begin(), tensor.end());
    return all;
  };
  CHECK(moved(flat(0)) != moved(flat(1)));
}

TEST_CASE("rigl without sparsity is plain training, but for the steps that move masks", "[rigl]") {
  const auto hash_of = [](const scenarios::Scenario& scenario) {
    LockstepRun run(scenario);
    run.steps(scenario.workload.steps);
    std::vector<std::vector<float>> weights;
    for (int p = 0; p < 6; ++p) weights.push_back(weights_of(run, p));
    return weights;
  };
  scenarios::Scenario plain = scenario_with({}, 8);
  plain.method = {};
  plain.method.name = "none";
  plain.exchange.collective =
      "parameter-server";  // a server adds in one order, whatever the buckets
  scenarios::Scenario dense = scenario_with({{"sparsity", "0"}}, 8);
  dense.exchange.collective = "parameter-server";
  CHECK(hash_of(dense) == hash_of(plain));
  dense.method.options["sparsity"] = "0.1";  // negative control
  CHECK(hash_of(dense) != hash_of(plain));
}

TEST_CASE("rigl learns the same on any number of threads and from a checkpoint", "[rigl]") {
  for (const char* growth : {"gradient", "random"}) {
    CAPTURE(growth);
    const scenarios::Scenario scenario =
        scenario_with({{"every", "4"}, {"end", "100"}, {"grow", growth}}, 20);
    LockstepRun whole(scenario);
    whole.steps(20);
    CHECK(LockstepRun(scenario, 2).steps(20).trainer->learning_hash() ==
          whole.trainer->learning_hash());
    for (const int until : {8, 11, 17}) {  // 8: the next step moves masks
      LockstepRun first(scenario), second(scenario);
      first.steps(until);
      std::stringstream checkpoint;
      first.trainer->save(checkpoint);
      second.trainer->load(checkpoint);
      second.steps(20 - until);
      CHECK(second.trainer->learning_hash() == whole.trainer->learning_hash());
    }
  }
}

}  // namespace
}  // namespace gradwire::trainers
