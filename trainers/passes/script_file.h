#pragma once
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <exception>
#include <string>

namespace gradwire::trainers {

/// A model that torch.jit saved. Throws TrainerError naming the file.
torch::jit::Module load_script(const std::string& path, at::Device device);

/// What an error of LibTorch says: its messages carry a trace of its own sources, the first line
/// is what happened.
std::string script_message(const std::exception& error);

}  // namespace gradwire::trainers
