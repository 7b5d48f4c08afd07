#include "trainers/data/own_files.h"

#include <algorithm>
#include <cmath>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {

void split_own(const OwnFiles& files, std::size_t first, std::size_t all, DataSet& data) {
  if (!files.held_out_path.empty()) return split_in_order(data, first, all);
  if (all < 2) {
    throw TrainerError("split samples of", files.path,
                       "it has " + std::to_string(all) +
                           " samples, and one is needed for training and one to evaluate on",
                       "give more samples, or /workload/data/held_out_path");
  }
  const auto share =
      static_cast<std::size_t>(std::llround(static_cast<double>(all) * files.held_out));
  split_by_seed(data, all, std::clamp(share, std::size_t{1}, all - 1), files.seed);
}

void normalise_numbers(DataSet& data) {
  const std::size_t features = data.features();
  const bool vector = data.channels == 1 && data.height == 1;
  const std::size_t group = vector ? 1 : features / static_cast<std::size_t>(data.channels);
  const std::size_t samples = data.numbers.size() / features;
  for (std::size_t begin = 0; begin < features; begin += group) {
    double sum = 0, squares = 0;
    const auto over_training = [&](const auto& take) {
      for (const std::uint32_t sample : data.train)
        for (std::size_t f = begin; f < begin + group; ++f)
          take(data.numbers[sample * features + f]);
    };
    over_training([&](float x) { sum += double{x}; });
    const auto count = static_cast<double>(data.train.size() * group);
    const double mean = sum / count;
    over_training([&](float x) { squares += (double{x} - mean) * (double{x} - mean); });
    const double deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    for (std::size_t sample = 0; sample < samples; ++sample)
      for (std::size_t f = begin; f < begin + group; ++f) {
        float& x = data.numbers[sample * features + f];
        x = static_cast<float>((double{x} - mean) / deviation);
      }
  }
}

DataSet load_idx(const OwnFiles& files, const std::string& labels,
                 const std::string& held_out_labels) {
  DataSet data;
  data.name = "idx";
  data.channels = 1;
  const auto append = [&](const std::string& path, const std::string& labels_path) {
    const IdxImages images = read_idx_images(path);
    const std::vector<std::uint8_t> its = read_idx_labels(labels_path, 256);
    if (its.size() != static_cast<std::size_t>(images.count)) {
      throw TrainerError("read IDX files", path,
                         "it has " + std::to_string(images.count) + " images, but " + labels_path +
                             " has " + std::to_string(its.size()) + " labels",
                         "give files that belong together");
    }
    if (!data.labels.empty() && (images.height != data.height || images.width != data.width)) {
      throw TrainerError("read IDX file", path,
                         "byte 8: its images are " + std::to_string(images.height) + "x" +
                             std::to_string(images.width) + ", those of " + files.path + " " +
                             std::to_string(data.height) + "x" + std::to_string(data.width),
                         "give files with images of one size");
    }
    data.height = images.height;
    data.width = images.width;
    data.pixels.insert(data.pixels.end(), images.pixels.begin(), images.pixels.end());
    data.labels.insert(data.labels.end(), its.begin(), its.end());
  };
  append(files.path, labels);
  const std::size_t first = data.labels.size();
  if (!files.held_out_path.empty()) append(files.held_out_path, held_out_labels);
  data.classes = 1 + *std::max_element(data.labels.begin(), data.labels.end());
  if (data.classes < 2) {
    throw TrainerError("read IDX file", labels, "all its labels are 0",
                       "give samples of two classes or more");
  }
  split_own(files, first, data.labels.size(), data);
  normalise(data);
  return data;
}

}  // namespace gradwire::trainers
