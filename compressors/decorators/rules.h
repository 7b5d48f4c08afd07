#pragma once
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compressors/codec.h"

/// Per-layer rules: which codec a tensor takes, by its name, size and number of dimensions.
namespace gradwire::compressors {

/// Which tensors a rule is for: those that meet all of it.
struct TensorRule {
  std::string names = "*";        ///< pattern of the whole name: * any characters, ? one
  std::size_t elements_from = 0;  ///< at least so many elements
  std::size_t elements_below = std::numeric_limits<std::size_t>::max();
  std::size_t dimensions_from = 0;  ///< at least so many; an empty shape has one
  std::size_t dimensions_below = std::numeric_limits<std::size_t>::max();

  bool matches(const TensorSpec& tensor) const;
};

/// True if `text` as a whole fits `pattern`. Linear in text for each * of the pattern.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// Each call goes to the codec of the first rule that its tensor meets, else to `otherwise`; the
/// same on both sides, since both know name, shape and n. CGX's filter (arXiv 2111.08617), fp32
/// where a tensor has one dimension or fewer than 1,024 elements, is two rules:
/// {dimensions_below 2: none}, {elements_below 1024: none}.
///
/// Policy: the weakest among the codecs, from strong to weak kSum, kRequantize, kGather, kServer.
/// Where all are kSum, each tensor's codec has the terms: see chosen_codec. wants_shared_scale:
/// whether any does. Name: that of `otherwise` and "+rules". Without rules it is `otherwise`
/// itself.
CodecPtr with_rules(std::vector<std::pair<TensorRule, CodecPtr>> rules, CodecPtr otherwise);

/// The codec that a rules decorator (outermost) takes for this tensor; any other codec is itself.
/// For callers that encode a tensor in parts, whose size and shape must not decide.
const Codec& chosen_codec(const Codec& codec, const TensorSpec& tensor);

using CodecChange = std::function<CodecPtr(const CodecPtr&)>;

/// A rules decorator (outermost) with every codec of its rules replaced by change(codec); any other
/// codec is replaced itself. Rules go on deciding by what they are asked about.
CodecPtr with_each_codec(const CodecPtr& codec, const CodecChange& change);

}  // namespace gradwire::compressors
