#include "trainers/data/data_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trainers/data/sampling.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

void gather_images(const DataSet& data, std::span<const std::uint32_t> samples, Batch& batch) {
  const std::size_t plane = data.features() / static_cast<std::size_t>(data.channels);
  batch.inputs.resize(samples.size() * data.features());
  batch.targets.resize(samples.size());
  float* out = batch.inputs.data();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint8_t* in = data.pixels.data() + samples[i] * data.features();
    for (const std::array<float, 256>& level : data.levels) {
      for (std::size_t p = 0; p < plane; ++p) *out++ = level[*in++];
    }
    batch.targets[i] = data.labels[samples[i]];
  }
}

void gather_text(const DataSet& data, std::span<const std::uint32_t> samples, Batch& batch) {
  const auto length = static_cast<std::size_t>(data.sequence);
  batch.tokens.resize(samples.size() * length);
  batch.targets.resize(samples.size() * length);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint8_t* in = data.tokens.data() + samples[i] * length;
    std::copy(in, in + length, batch.tokens.begin() + static_cast<std::ptrdiff_t>(i * length));
    std::copy(in + 1, in + 1 + length,
              batch.targets.begin() + static_cast<std::ptrdiff_t>(i * length));
  }
}

}  // namespace

void gather(const DataSet& data, std::span<const std::uint32_t> samples, Batch& batch) {
  batch.count = static_cast<int>(samples.size());
  data.is_text() ? gather_text(data, samples, batch) : gather_images(data, samples, batch);
}

void split_by_seed(DataSet& data, std::size_t samples, std::size_t held_out, std::uint64_t seed) {
  const std::vector<std::uint32_t> order =
      permutation(samples, RandomStream{seed, 0, 0, kSplitStream});
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(held_out);
  data.held_out.assign(order.begin(), cut);
  data.train.assign(cut, order.end());
  std::sort(data.held_out.begin(), data.held_out.end());
  std::sort(data.train.begin(), data.train.end());
}

void normalise(DataSet& data) {
  const std::size_t plane = data.features() / static_cast<std::size_t>(data.channels);
  data.levels.resize(static_cast<std::size_t>(data.channels));
  for (std::size_t c = 0; c < data.levels.size(); ++c) {
    std::array<std::uint64_t, 256> histogram{};
    for (const std::uint32_t sample : data.train) {
      const std::uint8_t* in = data.pixels.data() + sample * data.features() + c * plane;
      for (std::size_t p = 0; p < plane; ++p) ++histogram[in[p]];
    }
    // Integer sums: the same mean and deviation in whatever order samples come.
    std::uint64_t count = 0, sum = 0, squares = 0;
    for (std::uint64_t value = 0; value < 256; ++value) {
      count += histogram[value];
      sum += histogram[value] * value;
      squares += histogram[value] * value * value;
    }
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    const double variance = static_cast<double>(squares) / static_cast<double>(count) - mean * mean;
    const double deviation = variance > 0 ? std::sqrt(variance) : 1.0;
    for (std::size_t value = 0; value < 256; ++value) {
      data.levels[c][value] = static_cast<float>((static_cast<double>(value) - mean) / deviation);
    }
  }
}

DataSet load_data_set(const std::string& name, const std::string& path, std::uint64_t seed) {
  if (name == "digits" && path.empty()) return load_digits(seed);
  if (path.empty()) {
    throw TrainerError("load data set", name, "no path is given",
                       "set /workload/data/path; only digits are built in");
  }
  if (name == "mnist") return load_mnist(path, seed);
  if (name == "cifar10") return load_cifar10(path);
  if (name == "text") return load_text(path);
  if (name == "digits") {
    throw TrainerError("load data set", path, "the digits are built in and take no path",
                       "leave out /workload/data/path");
  }
  throw TrainerError("load data set", name, "there is no such set",
                     "choose digits, mnist, cifar10 or text");
}

}  // namespace gradwire::trainers
