#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/trainer.h"

/// Trained models as files (compressors/model_file.h).
namespace gradwire::runner {

/// Throws Error naming the file where it cannot be written; there is then no part of it.
void write_model(const std::string& path, std::span<const std::byte> bytes);

struct ModelScore {
  scenarios::Scenario scenario;  ///< whose held-out samples it was scored on
  scenarios::Evaluation evaluation = {};
  std::size_t file_bytes = 0;
  std::size_t parameters = 0;  ///< running statistics among them
  std::uint64_t seed = 0;      ///< of the run that trained it
  bool foreign = false;        ///< trained by none of the scenario's runs
};

/// Scores the file's model on the held-out samples of the run that trained it, or, where the file's
/// is none of them, of the only one. Throws Error for what is damaged, or of another model; where
/// several runs could be meant; as make_trainer() does.
ModelScore score_model(const scenarios::ScenarioFile& file, const std::string& path, int threads);

}  // namespace gradwire::runner
