#pragma once
#include <functional>
#include <string>
#include <vector>

#include "scenarios/profiles/profile.h"

/// What a model's layers send, compute and move, and how long they take here: one pass of the real
/// model, watched operation by operation. No LibTorch headers; the module exports the function.
///
/// A row of the result is an operation that LibTorch was asked for (a convolution, an addition);
/// views are part of the operation after them. Rows stand in the order of the forward pass.
/// Counts are of one sample: what a batch counts, divided by the batch. FLOPs are exact for
/// convolutions, matrix products, recurrences and attention; other operations count one an element.
///
/// Times. Of the forward pass: from one operation's end to the next one's. Of the backward pass:
/// from one autograd node's end to the next one's, charged to the operation that made the node. So
/// rows sum to the whole pass; on a GPU both are times of device events in the stream. Medians over
/// 5 to 30 passes after 2 that do not count, one intra-op thread on the CPU, alone on the machine
/// (trainers/timing/measure.h). The update is SGD with momentum.
namespace gradwire::trainers {

struct ModelProfileRequest {
  std::string model;     ///< "logistic", ..., or the path of a TorchScript file (ends in ".pt")
  std::string data_set;  ///< of a model by name: its data; a TorchScript file has none
  std::string data_path;
  std::string input;  ///< of a TorchScript file: "3x224x224"; "128:30522" = token numbers below it
  std::string device = "cpu";  ///< cpu, cuda
  int batch = 32;
  bool measure = true;  ///< else only counts
};

struct ModelProfileResult {
  scenarios::WorkloadProfile table;  ///< without name and note
  std::string device;                ///< processor or GPU
  Seconds forward{0};                ///< of the batch, median
  Seconds backward{0};
  double spread = 0;  ///< relative interquartile range of whole passes
  int repetitions = 0;
  std::vector<std::string> unused;  ///< parameters that no operation of a pass takes
};

/// Called with passes done and passes at most.
using ModelProfileProgress = std::function<void(int done, int total)>;

/// The symbol: the same, with the result written to the last argument.
using ModelProfiler = void (*)(const ModelProfileRequest& request,
                               const ModelProfileProgress& progress, ModelProfileResult& result);
inline constexpr const char* kModelProfilerSymbol = "gradwire_profile_model";

/// Throws TrainerError for a file that is no TorchScript, an input that does not fit, a model
/// without trainable parameters, one whose passes differ from each other, or a missing device.
ModelProfileResult profile_model(const ModelProfileRequest& request,
                                 const ModelProfileProgress& progress);

/// Peak figures of this device, the fastest of a few: FLOP/s of large matrix products or of a 3 x 3
/// convolution, whichever is more (fp32; on a GPU tf32 and fp16 too), the share of it that the mean
/// of both reaches, memory bandwidth of a copy (read and written), and the time of a tiny
/// operation. One thread on the CPU. Throws TrainerError for a missing device.
scenarios::DeviceProfile::Peak measure_peak(const std::string& device);

/// Called with parts done, all parts, and what comes next.
using DeviceProgress = std::function<void(int done, int total, const std::string& doing)>;

/// The symbol: peak figures and, of the CPU, codecs and error feedback
/// (trainers/timing/codec_costs.h).
using DeviceMeasurer = void (*)(const std::string& device, const DeviceProgress& progress,
                                scenarios::DeviceProfile& result);
inline constexpr const char* kDeviceMeasurerSymbol = "gradwire_measure_device";

/// True for a path of a TorchScript file.
inline bool is_torchscript(const std::string& model) {
  return model.ends_with(".pt") || model.ends_with(".pth") || model.ends_with(".ts");
}

}  // namespace gradwire::trainers
