#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scenarios/profiles/profile.h"

namespace gradwire::trainers {

/// Times of every gradient codec (or those in `only`) on this processor, one thread, default
/// options: fixed and per-element seconds through the medians at 4,096 and 1,048,576 drawn
/// elements, as four workers exchange them. A fixed part that would be negative is 0. Alone on the
/// machine (trainers/timing/measure.h). `progress`: codecs done, codecs, the next one's name.
std::map<std::string, scenarios::DeviceProfile::Codec> measure_codec_costs(
    const std::function<void(int, int, const std::string&)>& progress,
    const std::vector<std::string>& only = {});

/// What error feedback adds to encoding: fp16 with it less fp16 without.
scenarios::DeviceProfile::Cost measure_error_feedback();

/// Values that stand for gradients: triangular on (-1, 1). No codec's time or size depends on more
/// than that values differ.
std::vector<float> drawn_values(std::int64_t count);

}  // namespace gradwire::trainers
