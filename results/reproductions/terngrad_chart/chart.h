#pragma once
#include <string>
#include <string_view>
#include <vector>

/// A published scalability chart: throughput by model, method and number of GPUs.
namespace gradwire::results {

struct ChartBar {
  std::string model;
  std::string method;
  int gpus = 0;
  double images_per_second = 0;
  double read_step =
      0;  ///< images/s: a multiple of it is the nearest that could be read; 0 = exact
};

/// What a chart says about a model beside its bars.
struct ChartWorkload {
  std::string model;
  double batch_per_gpu = 0;   ///< samples; 0 = not said
  double gradient_bytes = 0;  ///< fp32, all parameters; 0 = not said
};

struct Chart {
  std::string file;
  std::string note;  ///< the file's comment: source and how it was read
  std::vector<ChartBar> bars;
  std::vector<ChartWorkload> workloads;  ///< one a model, in order of appearance
  std::vector<std::string> warnings;     ///< repeated bars
  const ChartWorkload& workload(std::string_view model) const;
  /// The method that others are compared with: a model's first.
  const std::string& baseline(std::string_view model) const;
  /// Throughput, or 0 where there is no such bar.
  double rate(std::string_view model, std::string_view method, int gpus) const;
};

/// CSV with a header line: columns model, method, gpus, images_per_second and, where known,
/// batch_per_gpu, gradient_bytes and read_step (may be empty); lines that start with # are the
/// note. Throws Error naming file, line and column: a missing or unknown column, a number that is
/// none, is not finite or not positive, one bar given with two values.
Chart read_chart(std::string_view csv, const std::string& file);

}  // namespace gradwire::results
