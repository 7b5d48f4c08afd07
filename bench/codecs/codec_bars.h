#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "bench/codecs/codec_cases.h"

/// The figures that the codecs must reach, in one table.
namespace gradwire::bench {

enum class Metric { kSpeed, kTraffic, kRoofShare, kCycles, kCallTime, kTorchRatio };

/// Row name's last part and the unit, such as "roof_share" and "".
const char* name_of(Metric metric);
const char* unit_of(Metric metric);

struct Bar {
  double value = 0;
  bool at_most = false;
  bool has_alternative = false;  ///< the demand can be met in another way, see BenchRow::either
  bool alternative = false;      ///< this is the other way
};

/// `instructions` as in compressors/instruction_sets.h. Empty where nothing is demanded.
std::optional<Bar> codec_bar(std::string_view instructions, std::string_view label,
                             CodecOperation operation, Metric metric, std::size_t bytes,
                             int threads);

/// Million symbols a second and core that an entropy coder must reach; empty = nothing demanded.
std::optional<double> coder_bar(std::string_view coder);

}  // namespace gradwire::bench
