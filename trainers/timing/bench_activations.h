#pragma once
#include <cstdint>
#include <string>

/// What compressed activations (method comet) cost in a step, and what they save. No LibTorch
/// headers here: the module of bench_training.h exports it.
namespace gradwire::trainers {

struct ActivationsBenchSettings {
  std::uint64_t seed = 1;
  std::string model = "lenet5";  ///< on made-up 28x28 images
  int batch = 32;
  int steps = 4;   ///< of each half of a pair
  int pairs = 15;  ///< interleaved: plain and compressed halves take turns in going first
};

/// Whole steps of one worker: pass and update.
struct ActivationsBenchResult {
  double ratio = 0;  ///< compressed / plain time, median over pairs; 1.5 is the bar
  double ratio_low = 0, ratio_high = 0;        ///< quartiles
  double plain_step_s = 0, packed_step_s = 0;  ///< medians
  double plain_bytes = 0, packed_bytes = 0;    ///< kept between forward and backward pass
};

using ActivationsBench = void (*)(const ActivationsBenchSettings& settings,
                                  ActivationsBenchResult& result);
inline constexpr const char* kActivationsBenchSymbol = "gradwire_bench_activations";

}  // namespace gradwire::trainers
