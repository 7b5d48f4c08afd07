#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Data sets in memory and their readers. No LibTorch, and no random numbers but Philox's: which
/// sample a worker sees at which step is a pure function of the seed.
namespace gradwire::trainers {

/// Samples with labels, or one long text. Images are kept as bytes (a set of 60,000 takes 47 MB,
/// not 188) and turned into normalised floats batch by batch; numbers are kept as floats, or, where
/// most are 0, as those that are not. Exactly one of pixels, numbers, entries and tokens is filled.
struct DataSet {
  std::string name;
  int classes = 0;  ///< labels are 0 .. classes - 1; for text, distinct characters

  int channels = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;  ///< [samples, channels, height, width]
  std::vector<std::uint8_t> labels;  ///< [samples]; of all but text
  /// [channels]: the normalised value of each pixel byte, (x - mean) / deviation of the training
  /// samples of that channel.
  std::vector<std::array<float, 256>> levels;

  /// [samples, channels, height, width], as a model takes them. A vector is 1 x 1 x its length.
  std::vector<float> numbers;
  struct Entry {
    std::uint32_t feature;
    float value;
  };
  std::vector<Entry> entries;            ///< of sample i: [entry_begin[i], entry_begin[i + 1])
  std::vector<std::size_t> entry_begin;  ///< [samples + 1]

  std::vector<std::uint8_t> tokens;  ///< text: characters as indices of the sorted alphabet
  int sequence = 0;                  ///< text: characters a sample; sample i starts at i * sequence

  std::vector<std::uint32_t> train;     ///< sample numbers
  std::vector<std::uint32_t> held_out;  ///< sample numbers, disjoint from `train`

  bool is_text() const { return sequence > 0; }
  std::size_t features() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
};

/// A batch as a model takes it. Buffers keep their capacity from batch to batch.
struct Batch {
  int count = 0;
  std::vector<float> inputs;          ///< images: [count, channels, height, width]
  std::vector<std::int64_t> tokens;   ///< text: [count, sequence]
  std::vector<std::int64_t> targets;  ///< images: [count]; text: [count, sequence], one later
};

/// Fills `batch` with these samples of `data`.
void gather(const DataSet& data, std::span<const std::uint32_t> samples, Batch& batch);

/// A held-out share of all samples, drawn by `seed` (Fisher-Yates on Philox); both parts ascending.
void split_by_seed(DataSet& data, std::size_t samples, std::size_t held_out, std::uint64_t seed);
/// Sets `levels` from the training samples' mean and (population) deviation, per channel.
void normalise(DataSet& data);

/// Marks the first `train` of `all` samples as training samples, the others as held out.
void split_in_order(DataSet& data, std::size_t train, std::size_t all);

/// Which data: a row of scenarios/data_sets.h and what a scenario says of it.
struct DataChoice {
  std::string set;
  std::string path;                            ///< as seen from here
  std::map<std::string, std::string> options;  ///< of the row; absent ones have their defaults
  std::uint64_t run_seed = 1;
  std::optional<std::uint64_t> seed = {};  ///< of /workload/data/seed
};

/// "digits" (embedded; 20 % held out by seed), "mnist" (a folder with IDX files, plain or gzip; the
/// official test images are held out, or where only those are present, as in the folder that ships,
/// 1,500 of them by seed), "cifar10" (a folder with the binary version), "text" (a file; its last
/// tenth is held out), a user's own files (trainers/data/own_files.h), and the generated sets of
/// trainers/data/generated.h. Throws TrainerError naming file, place and reason.
DataSet load_data_set(const DataChoice& choice);
DataSet load_data_set(const std::string& name, const std::string& path, std::uint64_t run_seed);

DataSet load_digits(std::uint64_t seed);
DataSet load_mnist(const std::string& folder, std::uint64_t seed);
DataSet load_cifar10(const std::string& folder);
DataSet load_text(const std::string& file);

/// IDX files (http://yann.lecun.com/exdb/mnist): big-endian magic 0x00000803 (images) or 0x00000801
/// (labels), sizes, then bytes. `classes`: a label must be below it.
struct IdxImages {
  int count = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};
IdxImages read_idx_images(const std::string& path);
std::vector<std::uint8_t> read_idx_labels(const std::string& path, int classes);

/// The shipped digits.csv.gz.
std::span<const std::uint8_t> embedded_digits();

}  // namespace gradwire::trainers
