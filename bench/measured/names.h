#pragma once
#include <optional>
#include <string>

/// What tables name, by the names that this project has for it, however it is written:
/// "NVIDIA A100-SXM4-80GB" is a100-80gb, "ResNet-50 v1.5" resnet50, "float16" fp16. What has no
/// name here stays as it is written, so that a reason can say it.
namespace gradwire::bench {

/// A device profile's name. Words of vendors and of the board's form are left out; those that name
/// another chip's rates ("pcie") are not.
std::string device_named(const std::string& written);
/// A layer table's or a transformer's name (transformer_shape.h).
std::string workload_named(const std::string& written);
/// fp32, tf32, amp, fp16, bf16, fp8.
std::string precision_named(const std::string& written);
/// all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all.
std::string collective_named(const std::string& written);
/// "", selective, full.
std::string checkpointing_named(const std::string& written);
/// "", zero-1, zero-2, fsdp.
std::string sharding_named(const std::string& written);
/// "", or a method.
std::string method_named(const std::string& written);

/// What the metric of a step counts.
struct Metric {
  enum class Counts { kSeconds, kSteps, kSamples, kTokens };
  Counts counts = Counts::kSeconds;  ///< seconds of a step; or what is done in a second
  double unit = 1;                   ///< of the value, in seconds where it is a time
  bool per_gpu = false;
};
/// Empty where the metric is not known. "images/sec", "samples_per_s" and "sequences per second"
/// are one.
std::optional<Metric> metric_named(const std::string& written);
inline constexpr const char* kMetrics =
    "step_s, step_ms, steps_per_s, samples_per_s, samples_per_s_per_gpu, tokens_per_s or "
    "tokens_per_s_per_gpu";

}  // namespace gradwire::bench
