#pragma once
#include <string>
#include <string_view>
#include <vector>

/// How far predicted times lie from those that others measured on their own machines:
/// scenarios/published/prediction-errors.csv, a row a source (one program, workload, device and
/// precision), written by `gradwire-bench-measured --errors`. Each source's steps are predicted as
/// `predict` and `advise` predict a scenario's, on a device profile without the source's own rows,
/// as a planner's cluster is.
namespace gradwire::results {

struct PublishedErrors {
  std::string source;     ///< "pytorch-torchtitan"
  std::string workload;   ///< name of a layer table: "resnet50"
  std::string family;     ///< scenarios::family_of
  std::string device;     ///< name of a device profile
  std::string precision;  ///< a scenario's
  int least_workers = 1, most_workers = 1;
  int rows = 0;
  double median = 0, worst = 0;  ///< shares: |predicted / measured - 1|
  double inside = 0;             ///< share of the rows inside their 90 % band
};

/// Throws Error naming line and column.
std::vector<PublishedErrors> read_published_errors(std::string_view csv, const std::string& file);

/// What a prediction is about.
struct PredictionQuestion {
  std::string model;   ///< name of a layer table
  std::string family;  ///< scenarios::family_of
  std::string device;  ///< of whose profile the compute times are; empty: they are measured here
  std::string precision = {};  ///< empty: any
  int workers = 0;             ///< 0: any number
};

/// The sources that say most about the question: the nearest of its family, and the nearest on its
/// chip where that is another. Near is, the first most: the same model, or one of its name ("bert",
/// "gpt", "llama"); the same device, chip or generation (device_kin.h); the precision; how many
/// times more or fewer workers. Empty without a device.
std::vector<PublishedErrors> nearest_published(const std::vector<PublishedErrors>& all,
                                               const PredictionQuestion& question);

/// One or more sentences with the errors of `nearest`, and what they do not cover; empty where
/// nothing is near.
std::string published_errors_words(const std::vector<PublishedErrors>& nearest,
                                   const PredictionQuestion& question);

}  // namespace gradwire::results
