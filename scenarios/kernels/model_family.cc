#include "scenarios/kernels/model_family.h"

#include <algorithm>

namespace gradwire::scenarios {

std::string family_of(const WorkloadProfile& profile) {
  const auto has = [&](const char* kind) {
    return std::ranges::any_of(profile.layers,
                               [&](const auto& layer) { return layer.kind == kind; });
  };
  if (has("matrix-product") || has("causal-attention")) return "attention";
  if (has("convolution")) return "convolutional";
  return has("lstm") ? "recurrent" : "dense";
}

bool trained_by_adam(const WorkloadProfile& profile) {
  return family_of(profile) == "attention";
}

}  // namespace gradwire::scenarios
