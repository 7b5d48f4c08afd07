#include "trainers/schedules/kept_model.h"

#include <algorithm>

#include "base/hash.h"
#include "compressors/model_file.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using compressors::ModelFile;
using compressors::StoredTensor;

constexpr std::string_view kStatistics = "statistics";

std::string text_of(std::string_view name, std::span<const std::int64_t> shape) {
  std::string text(name);
  text += " of ";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d == 0 ? "" : "x") + std::to_string(shape[d]);
  return text;
}

[[noreturn]] void refuse(std::string_view subject, const std::string& reason) {
  throw TrainerError("evaluate model file", subject, reason,
                     "name the scenario that it was trained by");
}

/// What the file should have in that place.
void require(const StoredTensor& tensor, std::string_view name, std::span<const std::int64_t> shape,
             std::string_view subject) {
  if (tensor.name == name && std::ranges::equal(tensor.shape, shape)) return;
  refuse(subject, "it has " + text_of(tensor.name, tensor.shape) + " where this model has " +
                      text_of(name, shape));
}

void require_count(const ModelFile& file, std::size_t count, std::string_view subject) {
  if (file.tensors.size() != count)
    refuse(subject, "it has " + std::to_string(file.tensors.size()) +
                        " tensors, and this model has " + std::to_string(count));
}

}  // namespace

std::vector<std::byte> keep_model(const Learner& learner, std::span<const float> weights) {
  ModelFile file{.seed = learner.scenario().seed, .scenario = hash_of_hex(learner.scenario().hash)};
  const Layout& layout = learner.layout();
  int parameter = 0;
  for (const methods::TensorInfo& info : tensor_infos(learner.model().parameters())) {
    const TensorSlot& slot = layout.tensors()[layout.tensor_of(parameter++)];
    file.tensors.push_back(compressors::store_tensor({info.name, info.shape, slice(weights, slot)},
                                                     learner.method().stored_as(info)));
  }
  const std::span<const float> statistics = learner.statistics();
  const std::int64_t shape[] = {static_cast<std::int64_t>(statistics.size())};
  if (!statistics.empty())
    file.tensors.push_back(compressors::store_tensor({kStatistics, shape, statistics}, {}));
  return compressors::write_model_file(file);
}

KeptModel read_kept(const Learner& learner, std::span<const std::byte> bytes,
                    std::string_view subject) {
  const ModelFile file = compressors::read_model_file(bytes, subject);
  const std::span<const Parameter> parameters = learner.model().parameters();
  KeptModel model;
  model.weights.resize(learner.weights().size());
  model.statistics.resize(learner.statistics().size());
  require_count(file, parameters.size() + (model.statistics.empty() ? 0 : 1), subject);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    require(file.tensors[p], parameters[p].name, parameters[p].shape, subject);
    const Layout& layout = learner.layout();
    const TensorSlot& slot = layout.tensors()[layout.tensor_of(static_cast<int>(p))];
    compressors::load_tensor(file.tensors[p], slice(model.weights, slot));
  }
  if (model.statistics.empty()) return model;
  const std::int64_t shape[] = {static_cast<std::int64_t>(model.statistics.size())};
  require(file.tensors.back(), kStatistics, shape, subject);
  compressors::load_tensor(file.tensors.back(), model.statistics);
  return model;
}

scenarios::Evaluation evaluate_kept(Learner& learner, std::span<const std::byte> file,
                                    std::string_view subject) {
  KeptModel model = read_kept(learner, file, subject);
  return learner.evaluate_with(model.weights, model.statistics);
}

}  // namespace gradwire::trainers
