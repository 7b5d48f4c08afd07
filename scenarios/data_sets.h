#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"

/// The data sets and models of training workloads, by row: fields of scenarios, checks and pages
/// derive from these. The readers, generators and networks are in trainers/.
namespace gradwire::scenarios {

/// What a sample is, and so which models take it.
enum class SampleKind {
  kNumbers,  ///< a vector of numbers with a class
  kImage,    ///< channels x height x width with a class
  kText,     ///< a sequence of tokens; each next one is the class
};

enum class DataFiles {
  kNone,      ///< generated, or embedded in the program
  kShipped,   ///< /workload/data/path, or `shipped` without it
  kRequired,  ///< /workload/data/path
};

struct DataSetInfo {
  std::string name;
  SampleKind kind;
  DataFiles files;
  std::string help;  ///< a clause
  OptionTable options = {};
  std::string shipped = {};  ///< file or folder below that of the shipped scenarios
  /// What is drawn (a split into training and held-out samples) is drawn by the run's seed where
  /// the scenario gives no /workload/data/seed; else by seed 1, so that runs learn from the same
  /// data.
  bool drawn_by_run = false;
};

struct ModelInfo {
  std::string name;
  std::vector<SampleKind> takes;
  std::string help;  ///< a clause
  /// Parts of which activation checkpointing makes segments; 0: it cannot be cut.
  int stages = 0;
  /// How many of them are hidden layers, where a scenario may have another number of those.
  int hidden_stages = 0;
};

/// With the hidden layers that a scenario gives, if any.
int stages_of(const ModelInfo& model, const std::optional<std::vector<std::int64_t>>& hidden);

const std::vector<DataSetInfo>& data_set_catalogue();
const std::vector<ModelInfo>& model_catalogue();

/// Whether an option of a data set is the path of a file.
bool is_path_option(std::string_view name);

/// Null if there is none of that name.
const DataSetInfo* find_data_set(std::string_view name);
const ModelInfo* find_model(std::string_view name);

/// Names in the order of the catalogues; `which`: those for which it holds.
std::vector<std::string> data_set_names(bool (*which)(const DataSetInfo&) = nullptr);
std::vector<std::string> model_names();

bool takes(const ModelInfo& model, const DataSetInfo& data);

}  // namespace gradwire::scenarios
