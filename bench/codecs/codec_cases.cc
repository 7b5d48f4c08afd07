#include "bench/codecs/codec_cases.h"

#include <algorithm>
#include <cmath>

namespace gradwire::bench {
namespace {

using compressors::CodecFamily;
using compressors::CodecInfo;

/// What is special about a codec; all others are measured with their defaults, in one pass.
const std::vector<CodecCase>& special_cases() {
  static const std::vector<CodecCase> cases = {
      {.label = "int8", .codec = "int8", .passes = 2},
      {.label = "minmax", .codec = "minmax"},
      {.label = "minmax_random",
       .codec = "minmax",
       .options = {{"rounding", "stochastic"}},
       .encode_only = true},
      {.label = "dither", .codec = "dither", .passes = 2},
      {.label = "qsgd", .codec = "qsgd"},
      {.label = "qsgd_dense", .codec = "qsgd", .options = {{"format", "dense"}}},
      {.label = "terngrad", .codec = "terngrad", .passes = 2},
      {.label = "terngrad_shared", .codec = "terngrad", .shared_scale = true, .encode_only = true},
      {.label = "log", .codec = "log", .passes = 2},
      {.label = "powersgd", .codec = "powersgd", .passes = 2, .square = true},
      {.label = "csr", .codec = "csr", .tensor = TensorKind::kSparse},
      // The mean, five sums of products, the codes.
      {.label = "lowbit", .codec = "lowbit", .passes = 7},
      {.label = "binary", .codec = "binary", .tensor = TensorKind::kSigns},
      {.label = "kbit", .codec = "kbit"},
      {.label = "kbit_planes", .codec = "kbit", .options = {{"layout", "planes"}}},
      {.label = "sz", .codec = "sz", .tensor = TensorKind::kActivation},
  };
  return cases;
}

bool wanted(const CodecCase& codec_case, std::span<const std::string> only) {
  return only.empty() || std::find(only.begin(), only.end(), codec_case.codec) != only.end() ||
         std::find(only.begin(), only.end(), codec_case.label) != only.end();
}

/// Error feedback is for gradient codecs that lose something on average.
bool takes_feedback(const CodecInfo& info) {
  const bool gradients = info.family == CodecFamily::kDense || info.family == CodecFamily::kSparse;
  return gradients && !info.unbiased && info.float_bits != 32 && !info.needs_mask;
}

void add_cases_of(const CodecInfo& info, std::vector<CodecCase>& cases) {
  const std::size_t first = cases.size();
  for (const CodecCase& special : special_cases())
    if (special.codec == info.name) cases.push_back(special);
  if (cases.size() == first) cases.push_back({.label = info.name, .codec = info.name});
  for (std::size_t i = first; i < cases.size(); ++i)
    cases[i].sparse = info.family == CodecFamily::kSparse;
  if (!takes_feedback(info)) return;
  CodecCase feedback = cases[first];
  feedback.label += "_ef";
  feedback.feedback = feedback.encode_only = true;
  cases.push_back(feedback);
}

void require_known(std::span<const CodecCase> cases, std::span<const std::string> only) {
  std::vector<std::string> names;
  for (const CodecCase& codec_case : cases)
    for (const std::string& name : {codec_case.codec, codec_case.label})
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string nearest = nearest_name(name, names);
    throw Error(ErrorKind::kUsage, "measure the codec", name, "there is none of that name",
                nearest.empty() ? "see gradwire codec list" : "did you mean " + nearest + "?");
  }
}

Traffic encode_traffic(const CodecCase& codec_case, double payload) {
  const double more_passes = codec_case.passes - 1;
  if (!codec_case.feedback) return {.reads = 4 + 4 * more_passes, .writes = payload};
  // The first pass adds the tensor to the residual; each further one subtracts what is sent.
  return {.writes = payload, .updates = 8 * more_passes, .adds = 12};
}

/// Bytes that an update in place moves, an element: whole lines of 16 floats that hold an entry.
double touched_bytes(const CodecCase& codec_case, double density) {
  return codec_case.sparse ? 8 * (1 - std::pow(1 - density, 16)) : 8;
}

}  // namespace

std::vector<CodecCase> codec_cases(std::span<const std::string> only) {
  std::vector<CodecCase> cases;
  for (const CodecInfo& info : compressors::codec_catalogue()) add_cases_of(info, cases);
  require_known(cases, only);
  std::erase_if(cases, [&](const CodecCase& c) { return !wanted(c, only); });
  return cases;
}

const char* name_of(CodecOperation operation) {
  switch (operation) {
    case CodecOperation::kEncode:
      return "encode";
    case CodecOperation::kDecode:
      return "decode";
    case CodecOperation::kAccumulate:
      return "decode_add";
  }
  return "";
}

Traffic traffic_of(const CodecCase& codec_case, CodecOperation operation, double payload,
                   double density) {
  if (operation == CodecOperation::kEncode) return encode_traffic(codec_case, payload);
  if (operation == CodecOperation::kDecode) return {.reads = payload, .writes = 4};
  return {.reads = payload, .updates = touched_bytes(codec_case, density)};
}

}  // namespace gradwire::bench
