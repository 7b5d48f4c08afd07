#pragma once
#include <vector>

#include "compressors/codec_plan.h"
#include "scenarios/methods.h"

namespace gradwire::trainers {

/// Every gradient codec of the catalogue, by itself and decorated.
inline std::vector<compressors::CodecPlan> all_plans() {
  std::vector<compressors::CodecPlan> plans;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    if (!scenarios::why_no_gradient_codec(codec).empty()) continue;
    plans.push_back({.codec = {codec.name, {}}});
    if (codec.name == "none") continue;
    plans.push_back({.codec = {codec.name, {}}, .error_feedback = true});
    plans.push_back({.codec = {codec.name, {}},
                     .error_feedback = true,
                     .momentum_correction = compressors::MomentumPlan{.momentum = 0.5},
                     .clipping = compressors::Clipping{compressors::ClipBy::kNorm, 5.0},
                     .rules = {{{.elements_below = 10}, {}}}});
  }
  return plans;
}

}  // namespace gradwire::trainers
