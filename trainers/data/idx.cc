#include <filesystem>

#include "base/gzip.h"
#include "trainers/data/data_set.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::uint32_t kImageMagic = 0x00000803;
constexpr std::uint32_t kLabelMagic = 0x00000801;

std::string hex(std::uint32_t value) {
  std::string text = "0x00000000";
  for (std::size_t digit = 0; digit < 8; ++digit, value >>= 4) {
    text[9 - digit] = "0123456789abcdef"[value & 15];
  }
  return text;
}

/// Takes big-endian words and runs of bytes from a file's contents, checking every length.
class IdxReader {
 public:
  explicit IdxReader(const std::string& path) : path_(path), bytes_(read_maybe_gzip(path)) {}

  std::uint32_t word(const char* meaning) {
    if (bytes_.size() - at_ < 4) fail("ends within its header, in the " + std::string(meaning));
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | bytes_[at_++];
    return value;
  }

  void magic(std::uint32_t expected) {
    if (const std::uint32_t found = word("magic number"); found != expected) {
      at_ -= 4;
      fail("the magic number is " + hex(found) + " where " + hex(expected) + " is expected");
    }
  }

  std::vector<std::uint8_t> rest(std::uint64_t expected) {
    const std::uint64_t found = bytes_.size() - at_;
    if (found != expected) {
      at_ += std::min(found, expected);
      fail("its header promises " + std::to_string(expected) + " bytes of data, " +
           std::to_string(found) + " are there");
    }
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(at_), bytes_.end()};
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw TrainerError("read IDX file", path_, "byte " + std::to_string(at_) + ": " + reason);
  }

 private:
  std::string path_;
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

struct Part {
  IdxImages images;
  std::vector<std::uint8_t> labels;
};

Part read_part(const std::string& images, const std::string& labels) {
  Part part{read_idx_images(images), read_idx_labels(labels, 10)};
  if (part.labels.size() != static_cast<std::size_t>(part.images.count)) {
    throw TrainerError("read IDX files", images,
                       "it has " + std::to_string(part.images.count) + " images, but " + labels +
                           " has " + std::to_string(part.labels.size()) + " labels");
  }
  return part;
}

/// A file of the set, plain or gzip; required files that are missing are named.
std::string find_part(const std::string& folder, const std::string& name, bool required) {
  std::string path = find_plain_or_gzip((std::filesystem::path(folder) / name).string());
  if (path.empty() && required) {
    throw TrainerError("load data set mnist from", folder, name + " (or .gz) is not there",
                       "set /workload/data/path to the folder with the IDX files");
  }
  return path;
}

void append(DataSet& data, Part&& part) {
  if (!data.labels.empty() &&
      (data.height != part.images.height || data.width != part.images.width)) {
    throw TrainerError("load data set", data.name,
                       "training and test images differ in height or width");
  }
  data.height = part.images.height;
  data.width = part.images.width;
  data.pixels.insert(data.pixels.end(), part.images.pixels.begin(), part.images.pixels.end());
  data.labels.insert(data.labels.end(), part.labels.begin(), part.labels.end());
}

}  // namespace

IdxImages read_idx_images(const std::string& path) {
  IdxReader reader(path);
  reader.magic(kImageMagic);
  const std::uint64_t count = reader.word("number of images");
  const std::uint64_t height = reader.word("height");
  const std::uint64_t width = reader.word("width");
  if (count == 0 || height == 0 || width == 0 || count > 1u << 26 || height > 4096 ||
      width > 4096) {
    reader.fail("the header's sizes " + std::to_string(count) + " x " + std::to_string(height) +
                " x " + std::to_string(width) + " make no sense");
  }
  return {static_cast<int>(count), static_cast<int>(height), static_cast<int>(width),
          reader.rest(count * height * width)};
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path, int classes) {
  IdxReader reader(path);
  reader.magic(kLabelMagic);
  const std::uint32_t count = reader.word("number of labels");
  std::vector<std::uint8_t> labels = reader.rest(count);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < classes) continue;
    throw TrainerError("read IDX file", path,
                       "byte " + std::to_string(8 + i) + ": label " + std::to_string(labels[i]) +
                           " is out of range 0.." + std::to_string(classes - 1));
  }
  return labels;
}

DataSet load_mnist(const std::string& folder, std::uint64_t seed) {
  DataSet data;
  data.name = "mnist";
  data.classes = 10;
  data.channels = 1;
  const std::string train_images = find_part(folder, "train-images-idx3-ubyte", false);
  if (!train_images.empty()) {
    append(data, read_part(train_images, find_part(folder, "train-labels-idx1-ubyte", true)));
  }
  const std::size_t train = data.labels.size();
  append(data, read_part(find_part(folder, "t10k-images-idx3-ubyte", true),
                         find_part(folder, "t10k-labels-idx1-ubyte", true)));
  const std::size_t all = data.labels.size();
  if (train == 0) {
    split_by_seed(data, all, all * 3 / 20, seed);
  } else {
    split_in_order(data, train, all);
  }
  normalise(data);
  return data;
}

}  // namespace gradwire::trainers
