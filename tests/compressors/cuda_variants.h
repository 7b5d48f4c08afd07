#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gradwire::compressors::testing {

using Options = std::map<std::string, std::string>;

/// Codecs with a CUDA version, and what is set of their options.
inline const std::vector<std::pair<const char*, Options>> kVariants = {
    {"none", {}},
    {"fp16", {}},
    {"fp16", {{"overflow", "saturate"}}},
    {"bf16", {}},
    {"bf16", {{"overflow", "saturate"}}},
    {"int8", {}},
    {"int8", {{"rounding", "stochastic"}}},
    {"minmax", {}},
    {"minmax", {{"bits", "3"}, {"bucket", "100"}, {"rounding", "stochastic"}}},
    {"minmax", {{"bits", "8"}, {"bucket", "10000"}}},
    {"minmax", {{"bits", "1"}, {"bucket", "1"}}},
    {"rowquant", {}},
    {"rowquant", {{"bits", "3"}, {"rounding", "stochastic"}}},
    {"rowquant", {{"bits", "5"}, {"grid", "released"}}},
    {"natural", {}},
    {"natural", {{"bits", "8"}}},
    {"dither", {}},
    {"dither", {{"p", "infinity"}, {"levels", "3"}, {"norm", "natural"}}},
    {"qsgd", {}},
    {"qsgd", {{"bits", "8"}, {"norm", "2"}, {"bucket", "9000"}}},
    {"qsgd", {{"levels", "5"}, {"bucket", "77"}}},
    {"terngrad", {}},
    {"terngrad", {{"clip", "0"}}},
    {"terngrad", {{"scale", "released"}, {"code", "base3"}}},
    {"ternary", {}},
    {"ternary", {{"form", "base3"}}},
    {"ternary", {{"bits", "5"}, {"dead_zone", "0.7"}}},
    {"sign", {}},
    {"sign", {{"block", "1001"}}},
    {"sign", {{"block", "10000"}}},
    {"sign", {{"scale", "none"}}},
    {"log", {}},
    {"topk", {{"ratio", "0.01"}}},
    {"topk", {{"ratio", "0.7"}}},
    {"topk", {{"k", "7"}}},
    {"topk", {{"ratio", "0.01"}, {"selection", "sampled"}}},
    {"topk", {{"ratio", "0.3"}, {"selection", "sampled"}, {"sample", "0.01"}}},
    {"randomk", {}},
    {"randomk", {{"ratio", "0.2"}, {"shared", "false"}, {"unbiased", "true"}}},
    {"dgc", {}},
    {"dgc", {{"selection", "exact"}, {"k", "1"}}},
    {"stc", {}},
    {"stc", {{"ratio", "0.2"}, {"count", "ceil"}, {"stored_count", "true"}}},
};

}  // namespace gradwire::compressors::testing
