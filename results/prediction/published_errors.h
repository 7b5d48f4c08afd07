#pragma once
#include <string>
#include <string_view>
#include <vector>

/// How far predicted times lie from those that others measured on their own machines:
/// scenarios/published/prediction-errors.csv, a row a source (one program, workload and device),
/// written by `gradwire-bench-measured --errors`. Each source is predicted with constants from the
/// other sources alone, as a planner's cluster is.
namespace gradwire::results {

struct PublishedErrors {
  std::string source;    ///< "pytorch-torchtitan"
  std::string workload;  ///< "resnet50"; of collectives their name
  std::string family;    ///< "convolutional", "attention", "collective"
  std::string device;    ///< name of a device profile
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
};

/// The sources that say most about the question: the nearest of its family (on its device where
/// there is one, of its model where there is one), and the nearest on its device where that is
/// another. Collectives are left out. Empty without a device.
std::vector<PublishedErrors> nearest_published(const std::vector<PublishedErrors>& all,
                                               const PredictionQuestion& question);

/// One or more sentences with the errors of `nearest`, and what they do not cover; empty where
/// nothing is near.
std::string published_errors_words(const std::vector<PublishedErrors>& nearest,
                                   const PredictionQuestion& question);

}  // namespace gradwire::results
