#include "runner/training/model_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "compressors/model_file.h"
#include "runner/training/trainer_module.h"

namespace gradwire::runner {
namespace {

std::vector<std::byte> read_all(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw Error(ErrorKind::kUsage, "read model file", path, "it is a folder",
                "name the files in it, as run-1.grwm");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw system_error("read model file", path, errno, "check the path");
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw system_error("read model file", path, errno);
  const auto all = std::as_bytes(std::span(bytes));
  return {all.begin(), all.end()};
}

bool trained(const scenarios::Scenario& scenario, const compressors::ModelFile& model) {
  return scenario.seed == model.seed && hash_of_hex(scenario.hash) == model.scenario;
}

const scenarios::Scenario& run_of(const scenarios::ScenarioFile& file,
                                  const compressors::ModelFile& model, const std::string& path) {
  const auto found = std::ranges::find_if(
      file.runs, [&](const scenarios::Scenario& each) { return trained(each, model); });
  if (found != file.runs.end()) return *found;
  if (file.runs.size() == 1) return file.runs.front();
  throw Error(ErrorKind::kUsage, "evaluate model file", path,
              "none of the scenario's " + std::to_string(file.runs.size()) +
                  " runs trained it (the seed was " + std::to_string(model.seed) + ")",
              "choose one run with --set and --seed");
}

}  // namespace

void write_model(const std::string& path, std::span<const std::byte> bytes) {
  const std::string unfinished = path + ".part";
  std::ofstream out(unfinished, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  const int error = errno;
  if (!out) {
    std::remove(unfinished.c_str());
    throw system_error("write model file", path, error, "name another folder with --models");
  }
  std::filesystem::rename(unfinished, path);
}

ModelScore score_model(const scenarios::ScenarioFile& file, const std::string& path, int threads) {
  trainer_module_symbol(scenarios::kTrainerFactorySymbol);  // says first what this build lacks
  const std::vector<std::byte> bytes = read_all(path);
  const compressors::ModelFile model = compressors::read_model_file(bytes, path);
  ModelScore score{.scenario = run_of(file, model, path), .file_bytes = bytes.size()};
  score.seed = model.seed;
  score.foreign = !trained(score.scenario, model);
  for (const compressors::StoredTensor& tensor : model.tensors)
    score.parameters += tensor.elements();
  score.evaluation = make_trainer(score.scenario, {.threads = threads})->evaluate_file(bytes, path);
  return score;
}

}  // namespace gradwire::runner
