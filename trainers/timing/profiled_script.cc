#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>

#include <charconv>

#include "trainers/passes/script_file.h"
#include "trainers/timing/profiled_model.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr const char* kShapes =
    "a shape of one sample, such as 3x224x224, or 128:30522 for 128 token numbers below 30,522";

[[noreturn]] void refuse_input(const std::string& text, const std::string& reason) {
  throw TrainerError("read the input", "\"" + text + "\"", reason, std::string("give ") + kShapes,
                     ErrorKind::kUsage);
}

std::int64_t parse_extent(const std::string& text, const std::string& whole) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < 1 || value > 1 << 30)
    refuse_input(whole, "\"" + text + "\" is no extent");
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Sums the means of all floating-point tensors in a result, whatever holds them.
void add_means(const c10::IValue& value, at::Tensor& sum) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.is_floating_point() || !tensor.requires_grad()) return;
    sum = sum.defined() ? sum + tensor.mean() : tensor.mean();
  } else if (value.isTuple()) {
    for (const c10::IValue& part : value.toTupleRef().elements()) add_means(part, sum);
  } else if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) add_means(part, sum);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) add_means(entry.value(), sum);
  }
}

class ProfiledScript final : public ProfiledModel {
 public:
  ProfiledScript(const ModelProfileRequest& request, at::Device device)
      : path_(request.model), module_(load_script(request.model, device)) {
    // As written: fused or specialised graphs would hide which operation takes how long.
    torch::jit::setGraphExecutorOptimize(false);
    module_.train();
    for (const auto& parameter : module_.named_parameters())
      if (parameter.value.requires_grad()) named_.emplace_back(parameter.name, parameter.value);
    if (named_.empty())
      throw TrainerError("profile", path_, "it has no trainable parameters",
                         "save it before torch.jit.freeze and with requires_grad");
    if (request.input.empty())
      throw TrainerError("profile", path_, "a TorchScript file does not say its input's shape",
                         std::string("add --input with ") + kShapes, ErrorKind::kUsage);
    for (const InputSpec& spec : parse_inputs(request.input))
      inputs_.emplace_back(drawn(spec, request.batch, device));
  }

  at::Tensor loss() override {
    at::Tensor sum;
    try {
      add_means(module_.forward(inputs_), sum);
    } catch (const std::exception& error) {
      throw TrainerError("run a pass of", path_, script_message(error),
                         "check --input: the batch is put before the sample's shape");
    }
    if (!sum.defined())
      throw TrainerError("profile", path_, "no result of it depends on its parameters");
    return sum;
  }
  const Named& parameters() const override { return named_; }

 private:
  static at::Tensor drawn(const InputSpec& spec, int batch, at::Device device) {
    std::vector<std::int64_t> shape = {batch};
    shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
    if (spec.tokens > 0) return at::randint(spec.tokens, shape, at::kLong).to(device);
    return at::randn(shape).to(device);
  }

  std::string path_;
  torch::jit::Module module_;
  std::vector<c10::IValue> inputs_;
  Named named_;
};

}  // namespace

std::vector<InputSpec> parse_inputs(const std::string& text) {
  std::vector<InputSpec> specs;
  for (const std::string& input : split(text, ',')) {
    const std::vector<std::string> halves = split(input, ':');
    if (halves.size() > 2) refuse_input(text, "there is more than one \":\"");
    InputSpec& spec = specs.emplace_back();
    for (const std::string& extent : split(halves[0], 'x'))
      spec.shape.push_back(parse_extent(extent, text));
    if (halves.size() == 2) spec.tokens = parse_extent(halves[1], text);
  }
  return specs;
}

std::unique_ptr<ProfiledModel> profiled_script(const ModelProfileRequest& request,
                                               at::Device device) {
  return std::make_unique<ProfiledScript>(request, device);
}

}  // namespace gradwire::trainers
