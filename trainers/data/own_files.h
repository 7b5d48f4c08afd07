#pragma once
#include <cstdint>
#include <string>

#include "trainers/data/data_set.h"

/// Readers of a user's own samples; docs/bring-your-own.md describes the formats. They throw
/// TrainerError naming file, place (line or byte), what is expected there, and what to do.
namespace gradwire::trainers {

struct OwnFiles {
  std::string path;
  /// Held-out samples; empty: a share of those of `path`, drawn by `seed`.
  std::string held_out_path;
  double held_out = 0.2;
  bool normalise = true;  ///< by mean and deviation of the training samples
  std::uint64_t seed = 1;
};

/// One sample a line; each column but the label's is a feature. `label`: a column's name or number
/// from 1 on; empty: the last. Classes are the values of that column, numbers in ascending order,
/// else texts. A first line in which any feature is not a number is the header. `separator`: ' '
/// any number of blanks, 0 what the first two lines say.
DataSet load_csv(const OwnFiles& files, const std::string& label, char separator);

/// IDX images and their labels (see read_idx_images), plain or gzip.
DataSet load_idx(const OwnFiles& files, const std::string& labels,
                 const std::string& held_out_labels);

/// A header of text lines, then samples, then labels.
DataSet load_raw(const OwnFiles& files);

/// Marks training and held-out samples: the first `first` of `all` are those of `files.path`.
/// Throws where either part would be empty.
void split_own(const OwnFiles& files, std::size_t first, std::size_t all, DataSet& data);

/// Shifts and scales `data.numbers` to mean 0 and deviation 1 over the training samples: each
/// feature of vectors, each channel of images. What does not vary is only shifted.
void normalise_numbers(DataSet& data);

}  // namespace gradwire::trainers
