#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>

#include <map>
#include <mutex>
#include <thread>

#include "trainers/passes/network.h"
#include "trainers/passes/script_file.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Where a tensor of a module lies: an attribute of it or of a part of it.
struct Place {
  c10::intrusive_ptr<c10::ivalue::Object> object;
  std::size_t slot = 0;

  at::Tensor tensor() const { return object->getSlot(slot).toTensor(); }
  void set(const at::Tensor& value) const { object->setSlot(slot, value); }
};

/// A tensor that has a name, at every place where it lies: tied weights lie at several.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
  std::vector<Place> places;

  void set(const at::Tensor& value) const {
    for (const Place& place : places) place.set(value);
  }
};

void add_place(std::vector<NamedTensor>& tensors, const std::string& name, const Place& place) {
  const at::Tensor tensor = place.tensor();
  for (NamedTensor& known : tensors)
    if (known.tensor.is_same(tensor)) return known.places.push_back(place);
  tensors.push_back({name, tensor, {place}});
}

/// The tensors of a module and its parts, in the order of its source.
void find_tensors(const torch::jit::Module& module, const std::string& prefix,
                  std::vector<NamedTensor>& parameters, std::vector<NamedTensor>& buffers) {
  const auto type = module.type();
  for (std::size_t slot = 0; slot < type->numAttributes(); ++slot) {
    const std::string name = prefix + type->getAttributeName(slot);
    const c10::IValue value = module._ivalue()->getSlot(slot);
    if (value.isObject() && type->getAttribute(slot)->is_module()) {
      find_tensors(torch::jit::Module(value.toObject()), name + ".", parameters, buffers);
    } else if (value.isTensor()) {
      add_place(type->is_parameter(slot) ? parameters : buffers, name, {module._ivalue(), slot});
    }
  }
}

/// A module of its own for a thread: its tensors are put in place before each pass.
struct Bound {
  torch::jit::Module module;
  std::vector<NamedTensor> parameters;  ///< those that are trained
  std::vector<NamedTensor> statistics;  ///< buffers of floats
  std::vector<NamedTensor> counters;    ///< other buffers, which each pass finds as they were saved
  std::vector<at::Tensor> counters_at_first;
  bool training = true;
};

Bound bind(const torch::jit::Module& source, at::Device device) {
  Bound bound;
  bound.module = source.deepcopy();
  bound.module.to(device);
  bound.module.train();
  std::vector<NamedTensor> parameters, buffers;
  find_tensors(bound.module, "", parameters, buffers);
  for (const NamedTensor& each : parameters)
    if (each.tensor.requires_grad()) bound.parameters.push_back(each);
  for (const NamedTensor& each : buffers)
    (each.tensor.scalar_type() == at::kFloat ? bound.statistics : bound.counters).push_back(each);
  for (const NamedTensor& each : bound.counters)
    bound.counters_at_first.push_back(each.tensor.clone());
  return bound;
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kCPU).contiguous();
  const float* first = flat.const_data_ptr<float>();
  return {first, first + flat.numel()};
}

class ScriptNetwork final : public Network {
 public:
  ScriptNetwork(const std::string& path, const DataSet& data)
      : path_(path), classes_(data.classes), source_(load_script(path, at::kCPU)) {
    std::vector<NamedTensor> parameters, buffers;
    find_tensors(source_, "", parameters, buffers);
    begin_stage();
    for (const NamedTensor& each : parameters) add_parameter(each.name, each.tensor);
    if (parameters_.empty())
      throw TrainerError("train", path, "it has no trainable parameters",
                         "save it before torch.jit.freeze and with requires_grad");
    for (const NamedTensor& each : buffers)
      if (each.tensor.scalar_type() == at::kFloat)
        statistics_.push_back({each.tensor.sizes().vec(), values_of(each.tensor)});
    try_out(data);
  }

  /// The whole module.
  at::Tensor stage(std::size_t, const at::Tensor& input, const Layers& layers) const override {
    const std::vector<at::Tensor>& parameters = layers.parameters();
    const Statistics& statistics = layers.statistics();
    // As written: optimised graphs differ from pass to pass, and between threads.
    torch::jit::setGraphExecutorOptimize(false);
    Bound& bound = bound_of(input.device());
    for (std::size_t p = 0; p < parameters.size(); ++p) bound.parameters[p].set(parameters[p]);
    const bool kept = !statistics.training || statistics.record;
    for (std::size_t s = 0; s < statistics.values.size(); ++s) {
      const at::Tensor& values = statistics.values[s];
      bound.statistics[s].set((kept ? values : values.clone()).view(statistics_[s].shape));
    }
    for (std::size_t c = 0; c < bound.counters.size(); ++c)
      bound.counters[c].set(bound.counters_at_first[c].clone());
    if (bound.training != statistics.training) bound.module.train(statistics.training);
    bound.training = statistics.training;
    try {
      const at::Tensor result = bound.module.forward({input}).toTensor();
      return result.reshape({-1, result.size(-1)});
    } catch (const std::exception& error) {
      throw TrainerError("run a pass of", path_, script_message(error),
                         "it must take a batch of the data set's samples and give one tensor");
    }
  }

  const std::vector<StatisticsTensor>& statistics() const override { return statistics_; }
  bool has_layers() const override { return false; }

 private:
  void add_parameter(const std::string& name, const at::Tensor& tensor) {
    if (!tensor.requires_grad()) return;
    if (tensor.scalar_type() != at::kFloat)
      throw TrainerError("train", path_, "parameter " + name + " is not of 32-bit floats",
                         "save model.float()");
    Parameter parameter;
    parameter.name = name;
    parameter.shape = tensor.sizes().vec();
    parameter.initial = values_of(tensor);
    parameters_.push_back(std::move(parameter));
  }

  /// Modules are not for several threads at once, and hold the tensors of one pass.
  Bound& bound_of(at::Device device) const {
    const std::lock_guard lock(mutex_);
    const auto key = std::make_pair(std::this_thread::get_id(), device.str());
    auto found = bound_.find(key);
    if (found == bound_.end()) found = bound_.emplace(key, bind(source_, device)).first;
    return found->second;
  }

  /// Two passes over two samples: what cannot be trained says so before a run begins.
  void try_out(const DataSet& data) const {
    Batch batch;
    const std::size_t samples = std::min<std::size_t>(2, data.train.size());
    gather(data, std::span(data.train).first(samples), batch);
    const at::Tensor input = input_tensor(data, batch);
    std::vector<at::Tensor> parameters;
    for (const Parameter& parameter : parameters_)
      parameters.push_back(at::tensor(parameter.initial).view(parameter.shape).requires_grad_());
    Statistics statistics;
    for (const StatisticsTensor& each : statistics_)
      statistics.values.push_back(at::tensor(each.initial));
    statistics.training = true;
    const at::Tensor first = forward(parameters, input, statistics);
    const auto expected = static_cast<std::int64_t>(batch.targets.size());
    if (first.size(0) != expected || first.size(1) != classes_)
      throw TrainerError("train", path_,
                         "for " + std::to_string(samples) + " samples it gives " +
                             std::to_string(first.size(0)) + " x " + std::to_string(first.size(1)) +
                             " values",
                         "it must give " + std::to_string(expected) + " x " +
                             std::to_string(classes_) + ": a value for each class");
    if (!at::equal(first, forward(parameters, input, statistics)))
      throw TrainerError("train", path_,
                         "two passes over the same samples differ: it draws random "
                         "numbers, as dropout does, which no seed here decides",
                         "save it without dropout");
    first.square().sum().backward();
    for (std::size_t p = 0; p < parameters.size(); ++p)
      if (!parameters[p].grad().defined())
        throw TrainerError("train", path_,
                           "parameter " + parameters_[p].name + " has no part in the result",
                           "remove it, or set requires_grad to False before saving");
  }

  std::string path_;
  std::int64_t classes_;
  torch::jit::Module source_;
  std::vector<StatisticsTensor> statistics_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::thread::id, std::string>, Bound> bound_;
};

}  // namespace

std::unique_ptr<Network> make_script_network(const std::string& path, const DataSet& data) {
  return std::make_unique<ScriptNetwork>(path, data);
}

}  // namespace gradwire::trainers
