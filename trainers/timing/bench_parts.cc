#include "trainers/timing/bench_parts.h"

#include <algorithm>

#include "base/philox.h"

namespace gradwire::trainers {
namespace {

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

PairedRatios ratios_of(const PairedTimes& times) {
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < times.first.size(); ++pair)
    ratios.push_back(times.second[pair] / times.first[pair]);
  return {spread_of(ratios).median, quantile(ratios, 0.25), quantile(ratios, 0.75)};
}

DataSet made_up_images(std::size_t samples, std::uint64_t seed) {
  DataSet data;
  data.name = "made-up images";
  data.classes = 10;
  data.channels = 1;
  data.height = data.width = 28;
  data.pixels.resize(samples * data.features());
  const RandomStream stream{seed, 0, 0, kFirstReservedTensor};
  for (std::size_t i = 0; i < data.pixels.size(); ++i)
    data.pixels[i] = static_cast<std::uint8_t>(philox_word(stream, i));
  for (std::size_t i = 0; i < samples; ++i)
    data.labels.push_back(static_cast<std::uint8_t>(data.pixels[i * data.features()] % 10));
  split_by_seed(data, samples, samples / 10, seed);
  normalise(data);
  return data;
}

}  // namespace gradwire::trainers
