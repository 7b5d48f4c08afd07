#pragma once
#include <string>

#include "results/prediction/step_summary.h"

namespace gradwire::results {

/// What a compressed exchange is held against.
enum class Baseline { kNone, kFp32, kFp16 };

/// One way to exchange the gradients of a model among workers, and the step that it makes.
struct Candidate {
  std::string method;      ///< label: "none", "topk 1% +ef"
  std::string collective;  ///< as /exchange/collective: "ring", "parameter-server"
  double bucket_bytes = 0;
  Baseline baseline = Baseline::kNone;
  StepSummary step;
  std::string method_json;    ///< /method of a scenario, as it was asked for
  std::string resolved_json;  ///< the same with every default filled in; empty = method_json
};

/// What of the bytes of fp32 gradients a worker's messages are (0.01 = a hundredth). `elements`:
/// the model's parameters.
inline double ratio_of(const Candidate& candidate, double elements) {
  return candidate.step.message_bytes() / (4 * elements);
}

}  // namespace gradwire::results
