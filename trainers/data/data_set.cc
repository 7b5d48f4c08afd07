#include "trainers/data/data_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/joined_texts.h"
#include "scenarios/data_sets.h"
#include "scenarios/share.h"
#include "trainers/data/generated.h"
#include "trainers/data/own_files.h"
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

void gather_numbers(const DataSet& data, std::span<const std::uint32_t> samples, Batch& batch) {
  const std::size_t features = data.features();
  batch.inputs.resize(samples.size() * features);
  batch.targets.resize(samples.size());
  if (!data.entry_begin.empty()) std::fill(batch.inputs.begin(), batch.inputs.end(), 0.0f);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t sample = samples[i];
    float* out = batch.inputs.data() + i * features;
    if (data.entry_begin.empty()) {
      std::copy_n(data.numbers.data() + sample * features, features, out);
    } else {
      for (std::size_t e = data.entry_begin[sample]; e < data.entry_begin[sample + 1]; ++e) {
        out[data.entries[e].feature] = data.entries[e].value;
      }
    }
    batch.targets[i] = data.labels[sample];
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
  if (data.is_text()) return gather_text(data, samples, batch);
  data.pixels.empty() ? gather_numbers(data, samples, batch) : gather_images(data, samples, batch);
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

void split_in_order(DataSet& data, std::size_t train, std::size_t all) {
  data.train.resize(train);
  data.held_out.resize(all - train);
  std::iota(data.train.begin(), data.train.end(), 0u);
  std::iota(data.held_out.begin(), data.held_out.end(), static_cast<std::uint32_t>(train));
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

namespace {

OwnFiles own_files(const DataChoice& choice, const OptionValues& options, std::uint64_t seed) {
  OwnFiles files{choice.path, options.text("held_out_path"), options.number("held_out"), true,
                 seed};
  if (options.all().contains("normalise")) files.normalise = options.boolean("normalise");
  return files;
}

char separator_of(const OptionValues& options) {
  const std::string& name = options.text("separator");
  return name.size() == 1      ? name[0]
         : name == "comma"     ? ','
         : name == "semicolon" ? ';'
         : name == "tab"       ? '\t'
         : name == "blanks"    ? ' '
                               : 0;
}

using Loader = DataSet (*)(const DataChoice&, const OptionValues&, std::uint64_t seed);

constexpr std::pair<const char*, Loader> kLoaders[] = {
    {"digits",
     [](const DataChoice&, const OptionValues&, std::uint64_t seed) { return load_digits(seed); }},
    {"mnist", [](const DataChoice& choice, const OptionValues&,
                 std::uint64_t seed) { return load_mnist(choice.path, seed); }},
    {"cifar10", [](const DataChoice& choice, const OptionValues&,
                   std::uint64_t) { return load_cifar10(choice.path); }},
    {"text", [](const DataChoice& choice, const OptionValues&,
                std::uint64_t) { return load_text(choice.path); }},
    {"csv",
     [](const DataChoice& choice, const OptionValues& o, std::uint64_t seed) {
       return load_csv(own_files(choice, o, seed), o.text("label"), separator_of(o));
     }},
    {"idx",
     [](const DataChoice& choice, const OptionValues& o, std::uint64_t seed) {
       return load_idx(own_files(choice, o, seed), o.text("labels"), o.text("held_out_labels"));
     }},
    {"raw", [](const DataChoice& choice, const OptionValues& o,
               std::uint64_t seed) { return load_raw(own_files(choice, o, seed)); }},
    {"gaussian-clusters",
     [](const DataChoice&, const OptionValues& o, std::uint64_t seed) {
       return make_gaussian_clusters(o.integer("samples"), o.integer("held_out"), seed);
     }},
    {"sparse-linear",
     [](const DataChoice&, const OptionValues& o, std::uint64_t seed) {
       return make_sparse_linear(o.integer("samples"), o.integer("held_out"), seed);
     }},
    {"glyph",
     [](const DataChoice&, const OptionValues& o, std::uint64_t seed) {
       return make_glyph(o.integer("samples"), o.integer("held_out"), o.number("sigma"), seed);
     }},
    {"markov",
     [](const DataChoice&, const OptionValues& o, std::uint64_t seed) {
       return make_markov(o.integer("tokens"), o.integer("held_out_tokens"), seed);
     }},
    {"sparse-logit",
     [](const DataChoice&, const OptionValues& o, std::uint64_t seed) {
       return make_sparse_logit(o.integer("samples"), o.integer("held_out"), seed);
     }},
};

void check_path(const scenarios::DataSetInfo& info, const std::string& path) {
  if (info.files == scenarios::DataFiles::kRequired && path.empty()) {
    throw TrainerError("load data set", info.name, "no path is given",
                       "set /workload/data/path to its file or folder");
  }
  if (info.files == scenarios::DataFiles::kNone && !path.empty()) {
    throw TrainerError("load data set", path, info.name + " has no files and takes no path",
                       "leave out /workload/data/path");
  }
}

}  // namespace

DataSet load_data_set(const DataChoice& choice) {
  const scenarios::DataSetInfo* info = scenarios::find_data_set(choice.set);
  const auto loader = std::find_if(std::begin(kLoaders), std::end(kLoaders),
                                   [&](const auto& row) { return row.first == choice.set; });
  if (!info)
    throw TrainerError("load data set", choice.set, "there is no such set",
                       "choose one of " + joined_texts(scenarios::data_set_names(), ", "));
  GRADWIRE_ASSERT(loader != std::end(kLoaders));
  check_path(*info, choice.path);
  DataChoice found = choice;
  if (info->files == scenarios::DataFiles::kShipped && choice.path.empty())
    found.path = scenarios::share_folder() + "/" + info->shipped;
  const std::uint64_t seed = choice.seed.value_or(info->drawn_by_run ? choice.run_seed : 1);
  return loader->second(found, OptionValues(info->options, choice.options), seed);
}

DataSet load_data_set(const std::string& name, const std::string& path, std::uint64_t run_seed) {
  return load_data_set(DataChoice{name, path, {}, run_seed});
}

}  // namespace gradwire::trainers
