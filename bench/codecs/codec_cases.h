#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/codecs/roof.h"
#include "compressors/codec.h"

/// What `bench codecs` measures: every codec of the catalogue, some of them in more than one way.
namespace gradwire::bench {

enum class TensorKind {
  kGradient,    ///< normal, standard deviation 0.01
  kActivation,  ///< smooth along rows, half of it zero, as behind a ReLU
  kSparse,      ///< normal, nine of ten zero
  kSigns,       ///< +-1
};

struct CodecCase {
  std::string label;  ///< the codec's name, or with what is special: terngrad_shared, topk_ef
  std::string codec = {};
  std::map<std::string, std::string> options = {};
  bool shared_scale = false;  ///< the scale is known before: encode need not look for it
  bool feedback = false;      ///< encode_with_residual
  bool encode_only = false;   ///< decoding is that of another case
  /// How often encode must read its input from memory: 2 where a property of the whole tensor must
  /// be known first.
  int passes = 1;
  TensorKind tensor = TensorKind::kGradient;
  bool square = false;  ///< shape near-square instead of rows of 1,024
  bool sparse = false;  ///< decode_accumulate touches only the lines that hold entries
};

/// Cases of all codecs of the catalogue, in its order; of those in `only` (codecs or labels),
/// unless that is empty. Throws Error(kUsage) for a name in `only` that there is not.
std::vector<CodecCase> codec_cases(std::span<const std::string> only);

enum class CodecOperation { kEncode, kDecode, kAccumulate };
inline constexpr CodecOperation kOperations[] = {CodecOperation::kEncode, CodecOperation::kDecode,
                                                 CodecOperation::kAccumulate};
const char* name_of(CodecOperation operation);  ///< "encode", "decode", "decode_add"

/// Bytes that must move, an element, where the payload takes `payload` bytes an element and a share
/// `density` of the decoded values is not zero.
Traffic traffic_of(const CodecCase& codec_case, CodecOperation operation, double payload,
                   double density);

}  // namespace gradwire::bench
