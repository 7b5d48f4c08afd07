#include <filesystem>

#include "base/gzip.h"
#include "trainers/data/data_set.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;
constexpr std::size_t kRecord = 1 + kPixels;

/// One file of the binary version (https://www.cs.toronto.edu/~kriz/cifar.html): records of a label
/// byte and 3,072 pixel bytes, red, green and blue plane.
void append_file(const std::string& folder, const std::string& name, DataSet& data) {
  const std::string path = find_plain_or_gzip((std::filesystem::path(folder) / name).string());
  if (path.empty()) {
    throw TrainerError("load data set cifar10 from", folder, name + " (or .gz) is not there",
                       "set /workload/data/path to the folder of the binary version");
  }
  const std::vector<std::uint8_t> bytes = read_maybe_gzip(path);
  if (bytes.empty() || bytes.size() % kRecord != 0) {
    throw TrainerError("read CIFAR-10 file", path,
                       "byte " + std::to_string(bytes.size()) +
                           ": it ends within a record (records have " + std::to_string(kRecord) +
                           " bytes)");
  }
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
    if (bytes[at] >= data.classes) {
      throw TrainerError("read CIFAR-10 file", path,
                         "byte " + std::to_string(at) + ": label " + std::to_string(bytes[at]) +
                             " is out of range 0..9");
    }
    data.labels.push_back(bytes[at]);
    data.pixels.insert(data.pixels.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at + 1),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + kRecord));
  }
}

}  // namespace

DataSet load_cifar10(const std::string& folder) {
  DataSet data;
  data.name = "cifar10";
  data.classes = 10;
  data.channels = 3;
  data.height = data.width = 32;
  for (int part = 1; part <= 5; ++part) {
    append_file(folder, "data_batch_" + std::to_string(part) + ".bin", data);
  }
  const std::size_t train = data.labels.size();
  append_file(folder, "test_batch.bin", data);
  split_in_order(data, train, data.labels.size());
  normalise(data);
  return data;
}

}  // namespace gradwire::trainers
