#pragma once
#include <string>

/// CUDA at run time: one program for machines with and without a GPU. No CUDA or LibTorch headers.
namespace gradwire::trainers {

/// Loads the driver and LibTorch's CUDA library once; returns the GPU's name. Throws
/// TrainerError(kCapability) saying what is missing.
std::string load_cuda();

}  // namespace gradwire::trainers
