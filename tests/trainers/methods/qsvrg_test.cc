#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/philox.h"
#include "compressors/codec_plan.h"
#include "trainers/methods/catalogue.h"

/// QSVRG on ridge regression, whose minimum is known: f = mean of (a_i x - b_i)^2 / 2 + l |x|^2 / 2
/// over 256 samples in 64 dimensions, 4 workers that send real messages.
using namespace gradwire;
using namespace gradwire::methods;

namespace {

constexpr std::size_t kDimensions = 64, kSamples = 256, kWorkers = 4;
constexpr double kRidge = 0.1;

float normal(std::uint64_t number) {  // twelve uniform draws less 6: mean 0, deviation 1
  const RandomStream stream{5, 0, 0, 0};
  float sum = -6;
  for (std::uint64_t draw = 0; draw < 12; ++draw) sum += uniform(stream, 12 * number + draw);
  return sum;
}

struct Ridge {
  std::vector<std::vector<double>> a;
  std::vector<double> b;
  double smoothness = 0;  ///< L: the largest |a_i|^2 + l

  Ridge() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      a.emplace_back();
      double square = 0, target = 0.3 * static_cast<double>(normal(1'000'000 + i));
      for (std::size_t d = 0; d < kDimensions; ++d) {
        a[i].push_back(static_cast<double>(normal(number++)) / std::sqrt(kDimensions));
        square += a[i][d] * a[i][d];
        target += a[i][d] * (d % 3 == 0 ? 1.0 : -0.5);
      }
      b.push_back(target);
      smoothness = std::max(smoothness, square + kRidge);
    }
  }
  double miss(std::size_t i, std::span<const double> x) const {
    double sum = -b[i];
    for (std::size_t d = 0; d < kDimensions; ++d) sum += a[i][d] * x[d];
    return sum;
  }
  double value(std::span<const double> x) const {
    double sum = 0, square = 0;
    for (std::size_t i = 0; i < kSamples; ++i) sum += miss(i, x) * miss(i, x) / 2 / kSamples;
    for (const double each : x) square += each * each;
    return sum + kRidge / 2 * square;
  }
  /// Adds `share` times the gradient of sample i.
  void add_gradient(std::size_t i, std::span<const float> x, double share,
                    std::vector<double>& sum) const {
    const std::vector<double> at(x.begin(), x.end());
    const double miss_of_i = miss(i, at);
    for (std::size_t d = 0; d < kDimensions; ++d)
      sum[d] += share * (miss_of_i * a[i][d] + kRidge * at[d]);
  }
  /// By gradient descent from 0, 4,000 steps: the distance falls by at least 1 - l / L a step.
  double minimum() const {
    std::vector<float> unused;
    std::vector<double> x(kDimensions);
    for (int step = 0; step < 4000; ++step) {
      std::vector<double> gradient(kDimensions);
      for (std::size_t i = 0; i < kSamples; ++i) {
        const double miss_of_i = miss(i, x);
        for (std::size_t d = 0; d < kDimensions; ++d) gradient[d] += miss_of_i * a[i][d] / kSamples;
      }
      for (std::size_t d = 0; d < kDimensions; ++d)
        x[d] -= (gradient[d] + kRidge * x[d]) / smoothness;
    }
    return value(x);
  }
};

/// Each worker draws its samples from all, as in the paper.
class RidgePasses final : public WorkerPasses {
 public:
  RidgePasses(const Ridge& ridge, std::size_t worker, std::int64_t step)
      : ridge_(ridge), worker_(worker), step_(step) {}
  void of_batch(std::span<const float> weights, std::span<float> gradient) {
    const RandomStream stream{9, static_cast<std::uint32_t>(step_),
                              static_cast<std::uint32_t>(worker_), 0};
    const auto i = static_cast<std::size_t>(uniform(stream, 0) * kSamples);
    std::vector<double> sum(kDimensions);
    ridge_.add_gradient(i, weights, 1, sum);
    std::ranges::copy(sum, gradient.begin());
  }
  double subtract_batch(std::span<const float> weights, std::span<const float> from,
                        std::span<float> difference) override {
    of_batch(weights, difference);
    for (std::size_t d = 0; d < kDimensions; ++d) difference[d] = from[d] - difference[d];
    return 0;
  }
  double add_batch(std::span<const float> weights, std::span<float> sum) override {
    std::vector<float> gradient(kDimensions);
    of_batch(weights, gradient);
    for (std::size_t d = 0; d < kDimensions; ++d) sum[d] += gradient[d];
    return 0;
  }
  double of_all(std::span<const float> weights, std::span<float> gradient) override {
    std::vector<double> sum(kDimensions);
    const std::size_t own = kSamples / kWorkers;
    for (std::size_t i = worker_ * own; i < (worker_ + 1) * own; ++i)
      ridge_.add_gradient(i, weights, 1.0 / static_cast<double>(own), sum);
    std::ranges::copy(sum, gradient.begin());
    return 0;
  }

 private:
  const Ridge& ridge_;
  std::size_t worker_;
  std::int64_t step_;
};

/// What the others read of a worker's message.
void add_sent(const compressors::CodecPlan& plan, std::span<const float> values, std::int64_t step,
              std::size_t worker, std::span<float> mean) {
  const auto codec = compressors::make_codec(plan);
  const std::int64_t shape[] = {kDimensions};
  std::vector<std::byte> payload(codec->max_encoded_size(kDimensions));
  std::vector<std::uint64_t> words(codec->scratch_size(kDimensions) / 8 + 1);
  const auto scratch = std::as_writable_bytes(std::span(words));
  compressors::EncodeJob job{.tensor = {"x", shape, values}, .payload = payload};
  job.draws.stream = {3, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(worker), 0};
  const std::size_t size = codec->encode(job, scratch);
  codec->decode_accumulate({.payload = std::span(payload).first(size), .values = mean},
                           1.0f / kWorkers, scratch);
}

/// Gaps to the minimum after each epoch; `variance_reduced` false: QSGD in its place.
std::vector<double> gaps(const Ridge& ridge, const std::string& levels, int epochs,
                         bool variance_reduced) {
  const double minimum = ridge.minimum();
  const auto inner = static_cast<std::int64_t>(20 * ridge.smoothness / kRidge);
  const MethodRow* row = find_method("qsvrg");
  const auto method =
      row->make({.options = OptionValues(row->options, {{"inner_steps", std::to_string(inner)},
                                                        {"levels", levels},
                                                        {"norm", "2"},
                                                        {"bucket", "64"}})});
  std::vector<std::vector<float>> buffers(method->buffers(), std::vector<float>(kDimensions));
  const std::vector<std::span<float>> memory(buffers.begin(), buffers.end());
  std::vector<float> x(kDimensions), gradient(kDimensions);
  const auto rate = static_cast<float>(0.1 / ridge.smoothness);
  std::vector<double> result;
  for (std::int64_t step = 0; step < epochs * (inner + 1); ++step) {
    const Moment moment{.step = step};
    const std::size_t phase = method->phase(moment);
    std::vector<float> mean(kDimensions);
    for (std::size_t w = 0; w < kWorkers; ++w) {
      RidgePasses passes(ridge, w, step);
      if (variance_reduced)
        method->compute(passes, moment, x, memory, gradient);
      else
        passes.of_batch(x, gradient);
      add_sent(method->plan(0, variance_reduced ? phase : 1).up, gradient, step, w, mean);
    }
    if (!variance_reduced || method->before_update(moment, mean, memory))
      for (std::size_t d = 0; d < kDimensions; ++d) x[d] -= rate * mean[d];
    if (variance_reduced) method->after_update(moment, x, memory);
    if ((step + 1) % (inner + 1) == 0)
      result.push_back(ridge.value(std::vector<double>(x.begin(), x.end())) - minimum);
  }
  return result;
}

}  // namespace

TEST_CASE("qsvrg converges linearly where qsgd stalls", "[methods]") {
  // Theorem: with rate 0.1 / L and 20 L / l inner steps an epoch leaves at most 0.9 of the gap.
  const Ridge ridge;
  for (const char* levels : {"8", "3"}) {
    INFO(levels);
    const std::vector<double> reduced = gaps(ridge, levels, 12, true);
    for (std::size_t epoch = 1; epoch < reduced.size() && reduced[epoch - 1] > 1e-9; ++epoch) {
      INFO(epoch << ": " << reduced[epoch - 1] << " -> " << reduced[epoch]);
      CHECK(reduced[epoch] <= 0.9 * reduced[epoch - 1]);
    }
    CHECK(reduced.back() < 1e-9);
    // The negative control: the same messages of plain gradients.
    CHECK(gaps(ridge, levels, 12, false).back() > 1e-5);
  }
}

TEST_CASE("qsvrg's epoch is one full gradient and its inner steps", "[methods]") {
  const MethodRow* row = find_method("qsvrg");
  const auto method = row->make({.options = OptionValues(row->options, {{"inner_steps", "3"}})});
  CHECK(method->phases_alternate());
  for (std::int64_t step = 0; step < 9; ++step)
    CHECK(method->phase({.step = step}) == (step % 4 == 0 ? 0u : 1u));
  CHECK(method->plan(0, 0).up.codec.name == "none");
  CHECK(method->plan(0, 1).up.codec.name == "qsgd");
  // 10 batches in a worker's samples: 10 passes, then one at each of two points.
  CHECK(method->passes_in(0, 10) == 10);
  CHECK(method->passes_in(1, 10) == 2);
}
