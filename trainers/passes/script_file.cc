#include "trainers/passes/script_file.h"

#include <filesystem>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::string script_message(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  const std::string marker = "RuntimeError: ";  // of the script's own trace
  const std::size_t at = text.find(marker);
  const std::string rest = at == std::string::npos ? text : text.substr(at + marker.size());
  return rest.substr(0, rest.find('\n'));
}

torch::jit::Module load_script(const std::string& path, at::Device device) {
  if (!std::filesystem::is_regular_file(path))
    throw TrainerError("read TorchScript file", path, "there is no such file");
  try {
    return torch::jit::load(path, device);
  } catch (const std::exception& error) {
    throw TrainerError("read TorchScript file", path, script_message(error),
                       "save the model by torch.jit.script(model).save(path) or torch.jit.trace");
  }
}

}  // namespace gradwire::trainers
